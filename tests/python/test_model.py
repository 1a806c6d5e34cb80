"""Models: rows placed without the store, from memory, files and pickles."""
import gc
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse
from conftest import stored

import nystream


def test_rows_of_the_fit_come_where_they_are(store, rows):
    single = store.fit("f32", landmarks=40)
    double = store.fit("f64", landmarks=40, precision="f64")
    assert np.array_equal(single.model().transform(rows), single.embedding[:])
    placed = double.model().transform(rows)
    assert placed.dtype == np.float64 and np.array_equal(placed, double.embedding[:])
    assert np.array_equal(double.transform(rows), double.embedding[:])
    assert np.abs(placed - single.embedding[:]).max() < 1e-3


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64"])
def test_types_of_store_and_rows(tmp_path, dtype):
    X = np.random.default_rng(2).integers(0, 90, (400, 5))
    store = stored(tmp_path / "s.nys", X.astype(dtype))
    result = store.fit("m", landmarks=30)
    model = result.model()
    assert np.array_equal(model.transform(X.astype(dtype)), result.embedding[:])
    for given in (X.tolist(), np.asfortranarray(X), X[:, ::-1][:, ::-1],
                  scipy.sparse.csr_matrix(X), (X[at:at + 90] for at in range(0, 400, 90))):
        assert np.abs(model.transform(given) - result.embedding[:]).max() < 1e-5
    assert model.transform(X[:0]).shape == (0, 2)
    assert model.transform(iter([])).shape == (0, 2)


def test_sparse_stores(tmp_path):
    X = scipy.sparse.random(300, 40, 0.1, "csr", random_state=1)
    store = stored(tmp_path / "s.nys", X)
    result = store.fit("m", landmarks=30)
    assert np.array_equal(result.model().transform(X), result.embedding[:])
    assert np.abs(result.model().transform(X.toarray()) - result.embedding[:]).max() < 1e-6


def test_bytes_files_and_pickles(result, rows, tmp_path):
    model = result.model()
    expected = model.transform(rows[:50])
    model.save(tmp_path / "m.nym")
    result.export("model", tmp_path / "same.nym")
    assert (tmp_path / "m.nym").read_bytes() == (tmp_path / "same.nym").read_bytes()
    for copy in (nystream.Model.load(tmp_path / "m.nym"), pickle.loads(pickle.dumps(model)),
                 nystream.Model.from_bytes(model.to_bytes())):
        assert np.array_equal(copy.transform(rows[:50]), expected)
        assert copy.report == model.report and repr(copy) == repr(model)
    assert len(pickle.dumps(model)) < 50 * (6 + 3) * 8 + 4096


def test_a_model_tells_what_it_is(result):
    model = result.model()
    assert (model.dimensions, model.components) == (6, 3)
    assert model.report.kernel == "rbf" and model.report.landmarks == 50
    assert repr(model).startswith("<model of 50 landmarks, 6 columns to 3 components")
    assert model.report.eigenvalues == result.report.eigenvalues
    for key in ("component_errors", "component_errors_se"):
        assert np.allclose(model.report[key], result.report[key], rtol=0, atol=6e-7)
    assert np.array_equal(model.component_errors, model.report.component_errors)
    assert abs(model.trace_error - result.trace_error) < 6e-7
    assert model.report.certificate[0] == result.report.certificate[0]


@pytest.mark.parametrize("X, words", [
    (np.ones((3, 5)), "5 columns"), (np.full((3, 6), np.nan), "NaN"), (np.ones(6), "2D")])
def test_rows_that_cannot_be_placed(result, X, words):
    with pytest.raises(ValueError, match=words):
        result.model().transform(X)


def test_a_model_outlives_its_store(store, rows):
    result = store.fit("m", landmarks=20)
    model, expected = result.model(), result.embedding[:5]
    del result, store
    gc.collect()
    assert np.array_equal(model.transform(rows[:5]), expected)


def test_a_map_of_a_graph_has_no_model(store):
    result = store.fit("g", map="isomap", connect=True, landmarks=50)
    with pytest.raises(nystream.UsageError, match=r"use transform\(\)"):
        result.model()


def test_rows_on_another_scale_are_told_once(store, rows, monkeypatch):
    result = store.fit("m", landmarks=100)
    model, estimator = result.model(), nystream.KernelPCA(n_landmarks=100).fit(rows)
    monkeypatch.setattr(nystream._batch, "SLICE_BYTES", 4096)  # many batches
    for transform in model.transform, estimator.transform, result.transform:
        with pytest.warns(nystream.NystreamWarning, match="^drift of X") as told:
            for _ in range(2):
                transform(np.asfortranarray(rows * 1000))
        assert len(told) == 2
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            transform(rows + 0.01)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.transform(1000 * rows[:16])  # so few are placed at once


def test_rows_of_a_poor_fit_are_no_drift(store, rows):
    model = store.fit("m", landmarks=5, gamma=1.0).model()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.transform(rows)


def splits():
    """Give tables of rows that are alike: normal, heavy-tailed, counts, and one column for all."""
    draw = np.random.default_rng(3)
    yield "normal", draw.normal(size=(1200, 12)) @ draw.normal(size=(12, 12)) + 5
    yield "heavy", draw.standard_t(3, size=(1200, 10)) * np.logspace(0, 2, 10)
    yield "lognormal", np.exp(draw.normal(size=(1200, 1)) + draw.normal(size=(1200, 15)))
    yield "counts", draw.poisson(np.exp(draw.normal(size=(1200, 40)) - 2)).astype(float)
    yield "classes", draw.normal(size=(1200, 6)) + 20 * draw.integers(0, 5, (1200, 1))


@pytest.mark.parametrize("kind", ["pca", "svd"])
def test_rows_like_those_of_an_exact_fit_are_no_drift(tmp_path, kind):
    for name, table in splits():
        table = np.random.default_rng(4).permutation(table)
        store = nystream.Store(tmp_path / f"{name}.nys")
        store.append(table[:900])
        result = store.fit("m", map=kind, kernel="linear", approx="exact", components=4)
        model = result.model()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for rows in (table[900:], table[900:950], table[950:970]):
                result.transform(rows)
                model.transform(rows)
        for transform in (result.transform, model.transform):
            with pytest.warns(nystream.NystreamWarning, match="^drift of X"):
                transform(table[900:] * np.where(np.arange(table.shape[1]) < 3, 1000, 1))


def pairs(rows):
    """Make rows of three pairs of columns that are nearly alike."""
    draw = np.random.default_rng(6)
    table = draw.normal(size=(rows, 3))
    return np.hstack([table, table + 0.45 * draw.normal(size=(rows, 3))])


@pytest.mark.parametrize("components", [3, 6])
def test_columns_in_another_order_are_a_drift(tmp_path, components):
    table, swapped = pairs(2400), pairs(400)[:, [1, 0, 2, 3, 4, 5]]
    store = nystream.Store(tmp_path / "s.nys")
    store.append(table[:2000])
    result = store.fit("m", map="pca", components=components)
    estimator = nystream.PCA(n_components=components).fit(table[:2000])
    for transform in (result.transform, result.model().transform, estimator.transform):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            transform(table[2000:])
        with pytest.warns(nystream.NystreamWarning, match="^drift of"):
            transform(swapped)
    store.append(table[2000:])
    assert store.fit("m", update="frozen").report.drift < 0.2
    store.append(swapped)
    with pytest.warns(nystream.NystreamWarning, match="^drift of"):
        result = store.fit("m", update="frozen")
    assert result.report.drift > 0.4


def test_an_estimator_tells_of_rows_on_another_scale(rows):
    estimator = nystream.PCA(n_components=2).fit(rows)
    with pytest.warns(nystream.NystreamWarning, match="^drift of X"):
        estimator.transform(rows * 1000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimator.transform(rows)
