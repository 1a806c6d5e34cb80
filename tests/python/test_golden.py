"""Sums that released versions wrote as bytes: loaded, solved, and merged with those of today."""
import json
import tarfile

import numpy as np
import pytest
import scipy.sparse
from conftest import ROOT

from nystream import Sums

KINDS = ["kpca", "laplacian", "f64", "linear", "sparse", "result"]


@pytest.fixture(scope="module")
def golden(tmp_path_factory):
    """The files of 1.1.0 (data-tools/golden)."""
    folder = tmp_path_factory.mktemp("golden")
    with tarfile.open(ROOT / "tests/golden/1.1.tar.xz") as archive:
        names = [name for name in archive.getnames() if "/sums/" in name]
        for name in names + ["1.1/points.csv", "1.1/landmarks.csv", "1.1/sums.csv"]:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(archive.extractfile(name).read())
    return folder / "1.1"


def sums_of_today(golden, kind, known):
    """The sums of this kind of the same rows, by the library that is tested."""
    landmarks = np.loadtxt(golden / "landmarks.csv", delimiter=",").astype(np.int16)
    if kind == "result":
        rows = np.loadtxt(golden / "sums.csv", delimiter=",").astype(np.int16)
        return Sums(landmarks, gamma=1e-5, components=3), rows
    rows = np.loadtxt(golden / "points.csv", delimiter=",", skiprows=1, usecols=(0, 1, 2))
    rows = rows[:900].astype(np.int16)
    if kind == "sparse":
        rows = scipy.sparse.csr_matrix(rows)
    return Sums(landmarks, components=2, **known["options"]), rows


@pytest.mark.parametrize("kind", KINDS)
def test_sums_of_1_1_are_loaded_solved_and_merged(golden, kind):
    known = json.loads((golden / "sums/values.json").read_text())[kind]
    image = (golden / ("sums/%s.sums" % kind)).read_bytes()
    old = Sums.from_bytes(image)
    assert old.rows == known["rows"] and old.parts == 1
    np.testing.assert_allclose(old.solve().solution.eigenvalues, known["eigenvalues"], rtol=1e-6)
    today, rows = sums_of_today(golden, kind, known)
    today.add(rows, part="of today")
    np.testing.assert_allclose(today.solve().solution.eigenvalues, known["eigenvalues"], rtol=1e-5)
    both = today.copy().merge(old)
    assert both.rows == 2 * known["rows"] and both.parts == 2
    other = Sums.from_bytes(image).merge(today)
    times = 1 if kind == "laplacian" else 2  # eigenvalues of D^-1/2 K D^-1/2 are shares
    for merged in both, other, Sums.from_bytes(both.to_bytes()):
        values = merged.solve().solution.eigenvalues
        np.testing.assert_allclose(values, times * np.array(known["eigenvalues"]), rtol=1e-5)


def test_sums_of_1_1_refuse_other_landmarks(golden):
    old = Sums.from_bytes((golden / "sums/kpca.sums").read_bytes())
    other = Sums(np.arange(30, dtype=np.int16).reshape(10, 3), gamma=1e-5, components=2)
    other.add(np.arange(60, dtype=np.int16).reshape(20, 3))
    with pytest.raises(ValueError):
        old.merge(other)
