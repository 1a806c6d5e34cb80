"""Files that are cut short below a map: an exception, and the interpreter goes on working.

Rows that numpy copies before the library reads them, such as those of another type, are not tested.
"""
import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import nystream

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]

# It reads one thing again and again until the file below it is cut.
CODE = """
import sys, warnings
import numpy as np
kind, folder = sys.argv[1:3]
if "faulthandler before" in sys.argv:
    import faulthandler
    faulthandler.enable()
import nystream
if "faulthandler behind" in sys.argv:
    import faulthandler
    faulthandler.enable()
warnings.simplefilter("ignore")

def store_fit():
    store = nystream.open(folder + "/rows.nys")
    yield
    while True:
        store.fit("m", landmarks=200, threads=2, restart=True)

def store_read():
    store = nystream.open(folder + "/rows.nys")
    result = store.fit("m", landmarks=20)
    yield
    while True:
        store[5:9000], store.labels[:9], store[[3, 60_000, 7]], result.embedding[:]
        nystream.open(folder + "/rows.nys").report

def mapped():
    return np.load(folder + "/rows.npy", mmap_mode="r")

def estimator():
    X = mapped()
    yield
    while True:
        nystream.KernelPCA(n_landmarks=100, n_jobs=2).fit_transform(X)

def exact():
    X = mapped()
    yield
    while True:
        nystream.PCA(3).fit(X)

def embed():
    X = np.load(folder + "/rows.npy", mmap_mode="c")
    yield
    while True:
        nystream.embed(X, landmarks=100, select="greedy")

def append():
    X = mapped()
    yield
    while True:
        nystream.open(folder + "/new.nys").append(X)
        nystream.open(folder + "/new.nys").truncate(9)

def place():
    X = mapped()
    model = nystream.KernelPCA(n_landmarks=20).fit(np.array(X[:500]))
    yield
    while True:
        model.transform(X)

def add():
    X = mapped()
    sums = nystream.Sums(np.array(X[:100]), gamma=0.1)
    yield
    while True:
        sums.add(X)

def sparse():
    from scipy.sparse import csr_matrix
    X = mapped()
    n, d = X.shape
    rows = csr_matrix((X.ravel(), np.tile(np.arange(d, dtype="i4"), n), np.arange(n + 1) * d),
                      shape=X.shape, copy=False)
    yield
    while True:
        nystream.open(folder + "/new.nys").append(rows, layout="sparse")
        nystream.open(folder + "/new.nys").truncate(9)

try:
    for _ in globals()[kind]():
        print("go", flush=True)
except Exception as error:
    print(type(error).__name__, flush=True)
few = np.random.default_rng(0).normal(size=(300, 4))
assert nystream.KernelPCA(2, n_landmarks=9).fit_transform(few).shape == (300, 2)
print("works", flush=True)
"""
STORED = ("store_fit", "store_read")
MAPPED = ("estimator", "exact", "embed", "append", "place", "add", "sparse")


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A folder with 100,000 rows of 32 columns, in a store and in a file."""
    folder = tmp_path_factory.mktemp("source")
    X = np.random.default_rng(0).random((100_000, 32), dtype=np.float32)
    np.save(folder / "rows.npy", X)
    nystream.open(folder / "rows.nys").append(X, labels=np.arange(len(X)) % 3)
    return folder


def run(kind, wait_s, source, folder, cut, *how):
    """Return what a process says whose file is cut in a moment, and its status."""
    file, size = cut
    subprocess.run(["cp", "-r", source, folder], check=True)
    with subprocess.Popen([sys.executable, "-c", CODE, kind, folder, *how], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env={**os.environ, "PYTHONPATH": str(ROOT / "src" / "python"),
                               "TMPDIR": str(folder)}) as ran:
        first = ran.stdout.readline()
        assert first == "go\n", ran.communicate()
        try:
            ran.communicate(timeout=wait_s)
        except subprocess.TimeoutExpired:
            pass
        os.truncate(folder / file, min(size, os.path.getsize(folder / file)))
        try:
            out, err = ran.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            ran.kill()
            out, err = "it does not end", ran.communicate()[1]
    subprocess.run(["rm", "-r", folder], check=True)
    return ran.returncode, out.removeprefix("go\n"), err


def run_all(source, tmp_path, kinds, times):
    """Return the runs that do not end with the right exception, and all that was run."""
    moments, cases, number = random.Random(3), [], 0
    for kind in kinds * times:
        number += 1
        file, sizes = "rows.npy", [0, 4096, 1 << 16, 3 << 20]
        if kind in STORED:
            file = "rows.nys/points/data.mdb"
            if moments.random() < 0.3:
                file, sizes = "rows.nys/results/data.mdb", [0, 4096]
        size = moments.choice(sizes)
        cases.append((kind, moments.uniform(0, 1), source, tmp_path / str(number), (file, size)))
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda case: run(*case), cases))
    wrong = []
    for case, (status, out, err) in zip(cases, found):
        words = ["StoreError", "FileError", "BusyError"] if case[0] in STORED else ["FileError"]
        if status or err or out not in [word + "\nworks\n" for word in words]:
            wrong.append((case[0], case[1], case[4], status, out, err))
    return wrong


def test_a_store_or_a_file_that_is_cut_is_an_exception(source, tmp_path):
    assert run_all(source, tmp_path, ("store_read", "append"), 1) == []


def test_whatever_is_cut_is_an_exception_at_any_moment(source, tmp_path):
    times = int(os.environ.get("NYSTREAM_CUTS", "2"))
    assert run_all(source, tmp_path, STORED + MAPPED, times) == []


@pytest.mark.parametrize("how", ["faulthandler before", "faulthandler behind"])
def test_beside_faulthandler(how, source, tmp_path):
    found = run("estimator", 0.3, source, tmp_path / "a", ("rows.npy", 4096), how)
    assert found == (0, "FileError\nworks\n", "")


ELSEWHERE = """
import mmap, os, sys
how, file = sys.argv[1:]
if how == "before":
    import faulthandler
    faulthandler.enable()
import nystream
if how == "behind":
    import faulthandler
    faulthandler.enable()
    nystream.open("nowhere.nys")
with open(file, "r+b") as opened:
    held = mmap.mmap(opened.fileno(), 0)
    os.truncate(file, 0)
    held[5]
"""


@pytest.mark.parametrize("how", ["none", "before", "behind"])
def test_what_others_read_is_theirs(how, tmp_path):
    """A fault elsewhere ends the process with that signal, and faulthandler tells where."""
    (tmp_path / "file").write_bytes(bytes(9999))
    ran = subprocess.run([sys.executable, "-c", ELSEWHERE, how, tmp_path / "file"], check=False,
                         timeout=60, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
                         env={**os.environ, "PYTHONPATH": str(ROOT / "src" / "python")})
    assert ran.returncode == -7
    assert ("Bus error" in ran.stderr) == (how != "none")


def test_the_signal_can_be_left_to_others(source, tmp_path, monkeypatch):
    monkeypatch.setenv("NYSTREAM_SIGBUS", "no")
    assert run("estimator", 0.3, source, tmp_path / "a", ("rows.npy", 4096))[0] == -7
