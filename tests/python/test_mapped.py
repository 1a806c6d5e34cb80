"""Files that are mapped into memory: their pages are given back when they have been read."""
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from nystream import _data
from nystream._batch import give_back

ROOT = Path(__file__).resolve().parents[2]


def resident(file):
    """Return the bytes of a mapped file that count as resident in this process."""
    total, here = 0, False
    for line in Path("/proc/self/smaps").read_text(encoding="utf-8").splitlines():
        word = line.split()[0]
        if not word.endswith(":"):
            here = line.endswith(str(file))
        elif here and word == "Rss:":
            total += int(line.split()[1]) << 10
    return total


@pytest.mark.parametrize("order", ["C", "F"])
def test_pages_are_given_back_behind_what_is_converted(tmp_path, order):
    file = tmp_path / "x.npy"
    np.save(file, np.asarray(np.arange(6_000_000).reshape(-1, 6), "int32", order=order))
    X, rows = np.load(file, mmap_mode="r"), 0
    for batch in _data.batches(X)[1]:
        assert batch.values[0, 0] == 6 * rows
        rows += batch.rows
    assert rows == len(X) and resident(file) < X.nbytes // 2
    assert np.array_equal(X[-1], 6 * (rows - 1) + np.arange(6))


def test_what_no_file_has_stays(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((1000, 8)))
    for mode in "c", "r+":
        X = np.load(tmp_path / "x.npy", mmap_mode=mode)
        X[:] = 3
        give_back(X[:500])
        assert np.all(X == 3)
    X = np.load(tmp_path / "x.npy", mmap_mode="r")
    for rows in (X[::-1], X[:0], np.zeros((4, 2)), [[1, 2]]):
        give_back(rows)


CODE = """
import sys
import numpy as np
import nystream

def peak():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmHWM:"))

def work(X, rows, folder):
    kept = {"memory": "128M", "random_state": 0}
    pca = nystream.KernelPCA(2, n_landmarks=20, **kept)
    assert len(pca.fit_transform(X)) == rows
    assert len(pca.transform(X)) == rows
    nystream.TruncatedSVD(2, **kept).fit(X)
    store = nystream.open(folder, memory="128M")
    store.append(np.load(X, mmap_mode="r"))
    assert len(store) == rows

few, many, folder = sys.argv[1:]
work(few, 20_000, folder + "/few.nys")
before = peak()
work(many, 1_000_000, folder + "/many.nys")
print(peak() - before)
"""


@pytest.mark.slow
def test_a_file_does_not_count_as_memory(tmp_path):
    """A mapped file of 192 MB is read with a budget of 128 MB, and less than that is resident."""
    random = np.random.default_rng(0)
    np.save(tmp_path / "few.npy", random.random((20_000, 48), dtype=np.float32))
    many = np.lib.format.open_memmap(tmp_path / "many.npy", "w+", "float32", shape=(1_000_000, 48))
    for first in range(0, len(many), 100_000):
        many[first:first + 100_000] = random.random((100_000, 48), dtype=np.float32)
    del many
    code = subprocess.run([sys.executable, "-c", CODE, tmp_path / "few.npy", tmp_path / "many.npy",
                           tmp_path], check=True, stdout=subprocess.PIPE, text=True,
                          env={**os.environ, "PYTHONPATH": str(ROOT / "src" / "python")})
    assert int(code.stdout) < 110 << 20
