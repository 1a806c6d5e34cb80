"""Scratch stores of estimators: what they copy, keep and give back."""
import gc
import os

import numpy as np
import pytest

import nystream
from nystream import (PCA, DiffusionMap, Isomap, KernelPCA, KNeighborsTransformer, Nystroem,
                      TruncatedSVD)
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
def test_a_mapped_file_is_read_where_it_is(rows, borrowed, tmp_path):
    np.save(tmp_path / "rows.npy", rows)
    X = np.load(tmp_path / "rows.npy", mmap_mode="r")
    estimator = KernelPCA(2, n_landmarks=40, random_state=0)
    assert np.array_equal(estimator.fit_transform(X), estimator.fit_transform(rows))
    options = dict(landmarks=40, components=3, seed=1)
    assert np.array_equal(nystream.embed(X, **options), nystream.embed(rows, **options))
    assert [table.values for table in borrowed] == [X.ctypes.data, rows.ctypes.data] * 2
    X = np.load(tmp_path / "rows.npy", mmap_mode="c")
    X[7, 2] = np.nan
    with pytest.raises(ValueError, match="row 7, column 2"):
        estimator.fit(X)


@quick
def test_what_is_read_again_is_copied(rows, borrowed, tmp_path):
    """Maps of a graph keep their rows; others have to be turned round, or another type."""
    Isomap(n_neighbors=9, n_components=2).fit(rows)
    nystream.open(tmp_path / "kept.nys").append(rows)
    nystream.embed(np.asfortranarray(rows), landmarks=20)
    nystream.embed(rows.astype(">f4"), landmarks=20)
    nystream.embed(rows[:, 1:], landmarks=20)
    nystream.embed(rows, landmarks=20, dtype="f64")
    KernelPCA(2, n_landmarks=20).fit(rows[::2])
    assert not borrowed


@quick
@pytest.mark.parametrize("estimator", FITS, ids=ids)
def test_fit_alone_places_rows_as_fit_transform_does(estimator, rows):
    """No place of a row is kept, nor found where it tells nothing else."""
    placed = estimator.fit_transform(rows)
    fitted = estimator.fit(rows)
    assert np.allclose(fitted.transform(rows[:300]), placed[:300], rtol=1e-3, atol=1e-5)
    assert fitted.report_["trace_error"] is not None


@quick
def test_a_scratch_store_of_rows_in_place_needs_room_for_results_alone(rows, monkeypatch, tmp_path):
    asked = []
    made = nystream._scratch.Scratch.__init__

    def spy(self, tmpdir, data_bytes, budget, results_bytes):
        asked.append(data_bytes)
        made(self, tmpdir, data_bytes, budget, results_bytes)

    monkeypatch.setattr(nystream._scratch.Scratch, "__init__", spy)
    KernelPCA(3, n_landmarks=40).fit(rows)
    KernelPCA(3, n_landmarks=40).fit_transform(rows)
    TruncatedSVD(3).fit(rows)
    Isomap(n_neighbors=9).fit(rows)
    nystream.embed(rows, landmarks=40, components=3)
    kept = len(rows) * 3 * 8
    assert asked == [0, 0, kept, rows.nbytes, kept]


@quick
@pytest.mark.parametrize("make", [
    lambda X: KernelPCA(3, n_landmarks=400).fit(X),
    lambda X: KNeighborsTransformer(n_neighbors=100).fit(X),
    lambda X: Isomap(n_neighbors=100, n_landmarks=20).fit(X),
    lambda X: nystream.embed(X, map="isomap", neighbors=100, landmarks=20),
    lambda X: nystream.embed(X, components=100, landmarks=110),
], ids=["landmarks", "neighbors", "isomap", "embed of a graph", "many components"])
def test_results_that_a_small_memory_disk_has_no_room_for_go_elsewhere(make, rows, folders,
                                                                      monkeypatch, tmp_path):
    """A container has 64 MiB of /dev/shm, and few columns may have many neighbours."""
    made, free = [], {tmp_path / "memory": 5 << 20}
    usage, make_folder = nystream._scratch.shutil.disk_usage, lib.ny_scratch_make
    monkeypatch.delenv("TMPDIR", raising=False)
    monkeypatch.setattr(nystream._scratch.shutil, "disk_usage", lambda path: usage(path)._replace(
        free=free.get(path, 1 << 40)))

    def spy(context, parent, folder):
        made.append(os.fsdecode(parent))
        return make_folder(context, parent, folder)

    monkeypatch.setattr(lib, "ny_scratch_make", spy)
    make(rows[:, :2].copy())
    assert set(made) == {str(tmp_path / "disk")}
    made.clear()
    free.clear()
    make(rows[:, :2].copy())
    assert set(made) == {str(tmp_path / "memory")}
