"""Defaults, methods, warnings and refusals of estimators."""
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse

sklearn = pytest.importorskip("sklearn")
import sklearn.decomposition  # noqa: E402
from sklearn.base import clone  # noqa: E402
from sklearn.datasets import make_blobs  # noqa: E402

from conftest import refuses, stored  # noqa: E402
import nystream  # noqa: E402
from nystream import _estimator  # noqa: E402
from nystream.estimators import (DiffusionMap, Isomap, KernelPCA, Nystroem,  # noqa: E402
                                 SpectralClustering, SpectralEmbedding)

pytestmark = pytest.mark.slow
NEIGHBORS = {"affinity": "nearest_neighbors"}


@pytest.mark.parametrize("estimator", [
    Isomap(n_landmarks=None), SpectralEmbedding(n_landmarks=None), KernelPCA(n_landmarks=None),
    DiffusionMap(n_landmarks=None), SpectralClustering(3, n_landmarks=None)], ids=repr)
def test_no_number_of_landmarks_is_the_default(estimator):
    X, _ = make_blobs(300, 5, centers=3, random_state=2)
    default = clone(estimator).set_params(n_landmarks=1000, random_state=0).fit(X)
    assert np.array_equal(estimator.set_params(random_state=0).fit(X).eigenvalues_,
                          default.eigenvalues_)


@pytest.mark.parametrize("estimator", [
    Isomap(n_neighbors=5), SpectralEmbedding(**NEIGHBORS), SpectralClustering(2, **NEIGHBORS)],
    ids=repr)
def test_a_graph_that_is_joined_is_told(estimator):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(60, 3)), rng.normal(size=(60, 3)) + 50])
    with pytest.warns(nystream.NystreamWarning,
                      match="has 2 components, which are joined by bridges.*n_neighbors="):
        clone(estimator).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clone(estimator).fit(X[:60])


def test_warnings_tell_columns_by_their_names(pandas):
    X = np.random.default_rng(0).normal(size=(300, 3)) * (1, 1e6, 1)
    frame = pandas.DataFrame(X, columns=["age", "income", "height"])
    with pytest.warns(nystream.NystreamWarning, match="^column 'income' alone makes up"):
        fitted = KernelPCA(n_landmarks=20).fit(frame)
    assert fitted.transform(frame[:5]).shape == (5, 2)
    with pytest.warns(nystream.NystreamWarning, match=r"^column 1 of X \(from 0\) alone makes up"):
        KernelPCA(n_landmarks=20).fit(X)


@pytest.mark.parametrize("estimator", [KernelPCA, nystream.PCA, nystream.TruncatedSVD, Nystroem,
                                       SpectralEmbedding, DiffusionMap, Isomap, SpectralClustering,
                                       nystream.KNeighborsTransformer,
                                       nystream.IncrementalKernelPCA])
def test_a_number_of_things_is_checked_by_its_name(estimator, monkeypatch):
    monkeypatch.setattr(nystream.Store, "append", None)  # before any work is done
    counts = set(_estimator.COUNTS) & set(estimator().get_params())
    assert counts
    for name in counts:
        optional = name == "n_landmarks" or (estimator is nystream.PCA and name == "n_components")
        for value in (0, -1, 2.5, "3", *([] if optional else [None])):
            refuses(ValueError, f"^{name}={value!r}.*(whole number|at least 1|" "give a number)",
                    estimator(**{name: value}).fit, np.eye(9))


def test_dates_are_answered_with_their_column(pandas):
    days = pandas.Series(pandas.date_range("2020-01-01", periods=9))
    for column in days, days.dt.tz_localize("UTC"), days - days[0]:
        frame = pandas.DataFrame({"a": np.arange(9.0), "when": column})
        for call in nystream.PCA(1).fit, nystream.embed:
            refuses(ValueError, "^column 'when' of X holds times", call, frame)
    with pytest.raises(ValueError, match="dates and times are not coordinates"):
        nystream.PCA(1).fit(days.to_numpy().reshape(3, 3))


# ---- methods and kernels -----------------------------------------------------------------------


@pytest.mark.parametrize("approx", ["projected", "nystrom", "column", "orthonystrom", "ensemble",
                                    "exact", "randomized", "gaussian"])
@pytest.mark.parametrize("n_landmarks", [60, None])
@pytest.mark.filterwarnings("ignore::nystream.NystreamWarning")
def test_kernel_pca_by_each_method_places_new_rows(approx, n_landmarks):
    X, _ = make_blobs(300, 5, centers=3, random_state=2)
    theirs = sklearn.decomposition.KernelPCA(2, kernel="rbf", gamma=0.02).fit_transform(X)
    ours = KernelPCA(gamma=0.02, approx=approx, n_landmarks=n_landmarks, random_state=0).fit(X)
    places = ours.transform(X)
    assert places.shape == (300, 2) and np.isfinite(places).all()
    if n_landmarks is None:  # all rows are
        assert np.abs(np.abs(places) - np.abs(theirs)).max() < 0.1 * np.abs(theirs).max()
    assert np.array_equal(pickle.loads(pickle.dumps(ours)).transform(X), places)
    with pytest.raises(nystream.UsageError, match="approx= is one of nystrom|column.*typo"):
        clone(ours).set_params(approx="typo").fit(X)
    assert approx in KernelPCA.__doc__


@pytest.mark.parametrize("estimator, choice", [
    (KernelPCA(approx="exact"), "approx='exact'"),
    (KernelPCA(approx="randomized"), "approx='randomized'"),
    (SpectralEmbedding(**NEIGHBORS), "affinity='nearest_neighbors'")], ids=repr)
def test_landmarks_of_what_takes_all_rows_are_refused(estimator, choice):
    X, _ = make_blobs(100, 3, centers=2, random_state=2)
    for landmarks in (np.arange(0, 100, 10), X[::10] + 0.1):
        with pytest.raises(nystream.UsageError, match=f"^landmarks= does not act with {choice}"):
            clone(estimator).set_params(landmarks=landmarks).fit(X)


def test_a_fit_by_all_rows_is_kept_in_a_store(tmp_path):
    X, _ = make_blobs(300, 5, centers=3, random_state=2)
    ours = KernelPCA(approx="randomized", store=tmp_path / "s.nys", random_state=0).fit(X)
    assert ours.eigenvectors_.shape == (300, 2)
    assert np.array_equal(ours.transform(X), clone(ours).set_params(store=None).fit(X).transform(X))


@pytest.mark.parametrize("estimator, parameter", [
    (KernelPCA, "kernel"), (Nystroem, "kernel"), (DiffusionMap, "kernel"),
    (SpectralEmbedding, "affinity"), (SpectralClustering, "affinity")])
def test_a_polynomial_kernel_has_both_names(estimator, parameter):
    X, _ = make_blobs(100, 3, centers=2, random_state=2)
    short, long = (estimator(**{parameter: name}, gamma=0.01, random_state=0).fit(X)
                   for name in ("poly", "polynomial"))
    assert np.array_equal(short.eigenvalues_, long.eigenvalues_)


# ---- values ------------------------------------------------------------------------------------


def test_missing_values_are_answered_with_what_takes_them(tmp_path):
    X, _ = make_blobs(100, 3, centers=2, random_state=2)
    fitted, bad = KernelPCA(n_landmarks=30).fit(X), X.copy()
    bad[3, 1] = np.nan
    for call in KernelPCA().fit, fitted.transform:
        refuses(ValueError, "^Input X contains NaN; .*nan='drop'.*nan='keep'", call, bad)
    store = stored(tmp_path / "s.nys", bad, nan="drop")
    assert KernelPCA(n_landmarks=30).fit_transform(store).shape == (99, 2)


@pytest.mark.parametrize("estimator, name", [
    (KernelPCA(gamma=[0.1]), "gamma"), (KernelPCA(kernel="poly", coef0=None), "coef0"),
    (DiffusionMap(t="two"), "t"), (KernelPCA(n_jobs="2"), "n_jobs"),
    (nystream.PCA(name=5), "name"), (KernelPCA(kernel=["rbf"]), "kernel")])
def test_parameters_of_another_type_are_told_by_name(rows, estimator, name):
    assert refuses(nystream.UsageError, rf"^{name}=.*\bnot?\b", estimator.fit, rows).option == name


@pytest.mark.parametrize("estimator", [
    Isomap(), nystream.KNeighborsTransformer(), KernelPCA(),
    SpectralEmbedding(**NEIGHBORS)])
def test_one_row_of_a_file_is_told(tmp_path, rows, estimator):
    np.save(tmp_path / "one.npy", rows[:1])
    for one in (np.load(tmp_path / "one.npy", mmap_mode="r"), tmp_path / "one.npy"):
        refuses(nystream.DataError, "^X has one row: nothing to fit", estimator.fit, one)


@pytest.mark.parametrize("estimator", [nystream.PCA(2), nystream.TruncatedSVD(2)])
def test_coordinates_that_have_no_rows_are_told(tmp_path, rows, estimator):
    store = stored(tmp_path / "s.nys", rows)
    places = estimator.fit_transform(store)  # a part, which is read where it is
    assert np.array_equal(estimator.inverse_transform(places),
                          estimator.inverse_transform(places[:]))
    with pytest.raises(ValueError, match="X has 6 columns, but there are 2 components"):
        estimator.inverse_transform(rows)
    with pytest.raises(TypeError, match="[Ss]parse .* was passed"):
        estimator.inverse_transform(scipy.sparse.csr_matrix(places[:]))


def test_rows_that_would_be_prepared_twice_are_refused(tmp_path):
    counts = np.random.default_rng(5).poisson(3.0, size=(300, 12)).astype("f4")
    store, plain = nystream.open(tmp_path / "log.nys"), nystream.open(tmp_path / "plain.nys")
    store.append(counts, rows="total:10000", values="log1p")
    plain.append(counts)
    pca = nystream.PCA(3, random_state=0)
    places = pca.fit_transform(store)[:]
    for rows in counts, plain:
        assert np.allclose(pca.transform(rows), places, atol=1e-3)
    neighbors = nystream.KNeighborsTransformer(n_neighbors=3).fit(store)
    result, graph = store.result("PCA"), store.result("KNeighborsTransformer")
    for place in (pca.transform, pickle.loads(pickle.dumps(pca)).transform, neighbors.transform,
                  result.transform, result.model().transform, graph.kneighbors):
        for rows in store, store.points:
            refuses(nystream.DataError, "values='log1p', .* would be prepared twice", place, rows)
    assert np.allclose(result.transform(plain), places, atol=1e-3)
    assert np.allclose(result.model().transform(plain), places, atol=1e-3)
    # A model of rows that are not prepared takes those of the store as they are read.
    other = stored(tmp_path / "other.nys", store[:])
    model = other.fit("a", map="pca", approx="exact").model()
    assert np.array_equal(model.transform(store), model.transform(store.points))
    # A fit of values that were prepared before it got them prepares none.
    once = clone(pca).fit(store[:])
    assert np.allclose(once.transform(store), once.transform(store[:]), atol=1e-6)


ESTIMATORS = [getattr(nystream, name) for name in (
    "KernelPCA", "PCA", "TruncatedSVD", "Nystroem", "SpectralEmbedding", "DiffusionMap", "Isomap",
    "SpectralClustering", "KNeighborsTransformer", "IncrementalKernelPCA")]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: one.__name__)
def test_names_of_files_are_told_and_taken(estimator, tmp_path):
    assert ".npy, .npz, .h5ad" in estimator.fit.__doc__
    X, _ = make_blobs(200, 5, centers=3, random_state=2)
    np.save(tmp_path / "x.npy", X)
    np.savetxt(tmp_path / "x.csv", X, delimiter=",")
    for file in (tmp_path / "x.npy", tmp_path / "x.csv"):
        fitted = estimator().set_params(random_state=0).fit(str(file))
        place = getattr(fitted, "predict" if estimator is SpectralClustering else "transform")
        assert "fit()" in place.__doc__
        assert place(file).shape[0] == 200
