"""Scratch stores of estimators: what they copy, keep and give back."""
import gc
import os

import numpy as np
import pytest

import nystream
from nystream import PCA, DiffusionMap, Isomap, KernelPCA, Nystroem, TruncatedSVD
from nystream._lib import lib

quick = pytest.mark.quick

FITS = [KernelPCA(3, n_landmarks=40, random_state=0), PCA(3, random_state=0),
        KernelPCA(3, approx="exact", random_state=0),
        DiffusionMap(3, n_landmarks=40, random_state=0),
        Nystroem(n_components=40, random_state=0), TruncatedSVD(3, random_state=0)]


def ids(estimator):
    return repr(estimator)[:40]


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(size=(500, 9)).astype(np.float32)


@pytest.fixture
def borrowed(monkeypatch):
    """Lists the tables that the library was lent."""
    found, borrow = [], lib.ny_borrow

    def spy(*arguments):
        found.append(arguments[2]._obj)
        return borrow(*arguments)

    monkeypatch.setattr(lib, "ny_borrow", spy)
    return found


@quick
def test_a_scratch_store_gives_its_memory_back_at_once(rows, folders, tmp_path):
    gc.collect()
    gc.disable()
    try:
        KernelPCA(2, n_landmarks=20).fit_transform(rows)
        files = [os.readlink(file.path) for file in os.scandir("/proc/self/fd")
                 if os.path.islink(file.path)]
    finally:
        gc.enable()
    assert [name for name in files if name.startswith(str(tmp_path))] == []


@quick
def test_scratch_stores_alone_do_not_wait_for_the_disk(rows, appends, tmp_path):
    KernelPCA(2, n_landmarks=20).fit(rows)
    Isomap(n_neighbors=9).fit(rows)
    KernelPCA(2, n_landmarks=20, store=tmp_path / "kept.nys", name="a").fit(rows)
    assert appends == [True, True, False]


@quick
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8])
@pytest.mark.parametrize("estimator", FITS, ids=ids)
def test_arrays_are_read_where_they_are(estimator, dtype, rows, borrowed, tmp_path):
    """The embedding is that of a store that has copied them, to the last bit."""
    X = (rows * 20 + 100).clip(0, 255).astype(dtype)
    kept = type(estimator)(**{**estimator.get_params(), "store": tmp_path / "kept.nys"})
    wanted = kept.fit_transform(X)
    assert not borrowed
    found = estimator.fit_transform(X)
    assert found.dtype == wanted.dtype and np.array_equal(found, wanted)
    assert [table.values for table in borrowed] == [X.ctypes.data]
    assert np.array_equal(estimator.transform(X[:50]), kept.transform(X[:50]))
    assert estimator.report_["trace_error"] == kept.report_["trace_error"]


@quick
def test_what_is_read_again_is_copied(rows, borrowed, tmp_path):
    """Maps of a graph keep their rows, and a memmap may be larger than memory."""
    Isomap(n_neighbors=9, n_components=2).fit(rows)
    np.save(tmp_path / "rows.npy", rows)
    PCA(2).fit(np.load(tmp_path / "rows.npy", mmap_mode="r"))
    nystream.open(tmp_path / "kept.nys").append(rows)
    assert not borrowed
    nystream.embed(rows, landmarks=20)
    assert len(borrowed) == 1
