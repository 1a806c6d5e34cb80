"""Rows that are in no store: what is copied, kept and given back."""
import gc
import os
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from conftest import refuses, stored

import nystream
from nystream import PCA, DiffusionMap, Isomap, KernelPCA, Nystroem, TruncatedSVD
from nystream._lib import lib

slow = pytest.mark.slow

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


def test_rows_in_memory_are_on_no_disk(rows, folders):
    """No folder and no file with a name, and the rows are given back at once."""
    gc.collect()
    gc.disable()
    try:
        held = sys.getrefcount(rows)
        KernelPCA(2, n_landmarks=20).fit_transform(rows)
        nystream.embed(rows, map="isomap", neighbors=9)
        assert sys.getrefcount(rows) == held
    finally:
        gc.enable()
    assert folders() == []


@slow
@pytest.mark.parametrize("form", [
    lambda X: X.astype(">f4"), lambda X: iter([X[:200], X[200:]]), pd.DataFrame,
    lambda X: [sparse.csr_matrix(X[:99]), sparse.csc_matrix(X[99:])]])
def test_rows_that_come_otherwise_are_in_files_without_names(form, rows, folders, tmp_path):
    """A store which imported them has the same map, to the last bit."""
    X = np.where(rows > 1.3, rows, 0)
    for options in {"landmarks": 40, "values": "sqrt"}, {"map": "isomap", "neighbors": 30}:
        how = {name: options.pop(name) for name in {"values"} & set(options)}
        store = nystream.open(tmp_path / f"{options.get('map')}.nys")
        store.append(form(X), **how)
        assert np.array_equal(nystream.embed(form(X), seed=1, **how, **options),
                              store.fit("a", seed=1, components=2, **options).embedding[:])
    assert folders() == []


def test_files_are_read_one_behind_another(rows, folders, tmp_path):
    """Rows that are left out keep their places."""
    for name, part in ("a", rows[:200]), ("b", rows[200:]):
        np.savetxt(tmp_path / f"{name}.csv", part, delimiter=",", header="p,q,r,s,t,u,v,w,x",
                   comments="", fmt="%.9g")
    files = [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]
    fit = {"landmarks": 40, "seed": 1}
    assert np.array_equal(nystream.embed(files, **fit), nystream.embed(rows, **fit))
    with open(files[0], "a") as file:
        file.write("1,2,3,nan,5,6,7,8,9\n")
    refuses(nystream.DataError, "line 202", nystream.embed, files, **fit)
    found = nystream.embed(files, nan="keep", **fit)
    assert np.flatnonzero(np.isnan(found[:, 0])).tolist() == [200]
    with open(files[1], "w") as file:
        file.write("p,q,r,s,t,u,v,w,y\n1,2,3,4,5,6,7,8,9\n")
    refuses(nystream.DataError, "'y'", nystream.embed, files, nan="drop", **fit)
    assert folders() == []


@slow
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_a_forked_child_places_rows_by_those_that_are_held(form, rows):
    X = form(np.where(rows > 0.8, rows, 0))
    fitted = Isomap(n_neighbors=20, random_state=0).fit(X)
    wanted, (read, write) = fitted.transform(X[:9]), os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, fitted.transform(X[:9]).tobytes())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as found:
        assert found.read() == wanted.tobytes()
    os.waitpid(child, 0)


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
    refuses(ValueError, "row 7, column 2", estimator.fit, X)


def test_what_cannot_be_read_in_place_is_copied(rows, borrowed, tmp_path):
    """Estimators of a graph keep their rows; others are read in another way."""
    Isomap(n_neighbors=9, n_components=2).fit(rows)
    nystream.open(tmp_path / "kept.nys").append(rows)
    nystream.embed(rows.astype(">f4"), landmarks=20)
    nystream.embed(rows, landmarks=20, dtype="f64")
    assert not borrowed


@pytest.mark.parametrize("turned", [np.asfortranarray, lambda rows: rows[:, 1:],
                                    lambda rows: rows[::2], sparse.csr_matrix, sparse.csc_matrix,
                                    sparse.coo_matrix])
def test_rows_are_turned_in_memory(turned, rows, borrowed, tmp_path):
    X = turned(np.where(rows > 1.3, rows, 0))
    estimator = KernelPCA(2, n_landmarks=40, random_state=0)
    kept = KernelPCA(2, n_landmarks=40, random_state=0, store=tmp_path / "kept.nys")
    assert np.array_equal(estimator.fit_transform(X), kept.fit_transform(X))
    few = X.tocsr()[:9] if sparse.issparse(X) else X[:9]
    assert np.array_equal(estimator.transform(few), kept.transform(few))
    assert len(borrowed) == 1


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_rows_are_prepared_where_they_are(form, rows, borrowed, tmp_path):
    X, how = form(np.maximum(rows, 0)), {"rows": "total:10", "values": "log1p"}
    fit = {"landmarks": 20, "components": 3, "seed": 1}
    found = nystream.embed(X, **how, **fit)
    assert len(borrowed) == 1
    store = stored(tmp_path / "kept.nys", X, **how)
    assert np.array_equal(found, store.fit("a", **fit).embedding[:])


@pytest.mark.parametrize("estimator", FITS, ids=ids)
def test_fit_alone_places_rows_as_fit_transform_does(estimator, rows):
    """No place of a row is kept, nor found where it tells nothing else."""
    placed = estimator.fit_transform(rows)
    fitted = estimator.fit(rows)
    assert np.allclose(fitted.transform(rows[:300]), placed[:300], rtol=1e-3, atol=1e-5)
    assert fitted.report_["trace_error"] is not None
