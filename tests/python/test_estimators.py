"""Estimators: scikit-learn's own checks, its results where both are exact, pipelines, stores."""
import gc
import os
import pickle
import signal
import threading
import warnings

import numpy as np
import pytest
import scipy.sparse

sklearn = pytest.importorskip("sklearn")
import sklearn.decomposition  # noqa: E402
import sklearn.kernel_approximation  # noqa: E402
import sklearn.manifold  # noqa: E402
from sklearn.base import clone  # noqa: E402
from sklearn.datasets import load_digits, make_blobs  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.metrics import adjusted_rand_score  # noqa: E402
from sklearn.metrics.pairwise import pairwise_kernels, rbf_kernel  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402

import checks  # noqa: E402
import nystream  # noqa: E402
from conftest import cells_of, refuses, same_up_to_signs, stored  # noqa: E402
from nystream import _batch, _context, _errors, _estimator  # noqa: E402
from nystream.estimators import (DiffusionMap, Isomap, KernelPCA, Nystroem, PCA,  # noqa: E402
                                 SpectralClustering, SpectralEmbedding, TruncatedSVD)

slow = pytest.mark.slow
NEIGHBORS = {"affinity": "nearest_neighbors"}
EMBEDDERS = [KernelPCA(), PCA(), Nystroem(), SpectralEmbedding(), SpectralEmbedding(**NEIGHBORS),
             DiffusionMap(), Isomap(), TruncatedSVD()]
CLUSTERERS = [SpectralClustering(), SpectralClustering(**NEIGHBORS)]
WITHOUT_MODEL = {"Isomap", "SpectralEmbedding(affinity='nearest_neighbors')"}


def ids(estimator):
    return repr(estimator).replace("()", "")


@slow
@checks.all_checks([*EMBEDDERS, *CLUSTERERS, KernelPCA(kernel="linear", approx="nystrom"),
                    KernelPCA(approx="exact"), KernelPCA(kernel="poly")])
def test_checks_of_scikit_learn(estimator, check):
    checks.run(check, estimator)


@slow
@pytest.mark.parametrize("estimator", EMBEDDERS, ids=ids)
@pytest.mark.parametrize("check", checks.MORE)
def test_more_checks_of_scikit_learn(estimator, check):
    checks.run(getattr(checks.estimator_checks, check), type(estimator).__name__, clone(estimator))


@pytest.fixture
def blobs():
    """600 rows of 5 columns in 3 clusters, float64."""
    return make_blobs(600, 5, centers=3, random_state=2)


def test_kernel_pca_is_scikit_learns_where_both_are_exact(blobs):
    X, new = blobs[0][:500], blobs[0][500:]
    for kernel in ({"kernel": "rbf", "gamma": 0.05}, {"kernel": "poly", "gamma": 0.1, "coef0": 2},
                   {"kernel": "cosine"}, {"kernel": "linear"}):
        theirs = sklearn.decomposition.KernelPCA(3, eigen_solver="dense", **kernel).fit(X)
        ours = KernelPCA(3, approx="exact", **kernel).fit(X)
        assert np.allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-6)
        same_up_to_signs(ours.transform(X), theirs.transform(X), 1e-6)
        same_up_to_signs(ours.transform(new), theirs.transform(new), 1e-6)
        assert ours.landmarks_ is None and ours.trace_error_ == 0


def test_errors_of_components_are_those_of_the_embedding():
    X = np.random.default_rng(0).uniform(size=(600, 4))
    ours = KernelPCA(3, gamma=1, n_landmarks=40, random_state=0)
    Y = ours.fit_transform(X)
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1))
    K = K - K.mean(0) - K.mean(1)[:, None] + K.mean()
    truth = np.linalg.norm(K @ Y / ours.eigenvalues_ - Y, axis=0) / np.linalg.norm(Y, axis=0)
    off = np.abs(ours.component_errors_ - truth)
    assert truth.min() > 1e-3 and (off <= 4 * np.array(ours.report_["component_errors_se"])).all()
    assert ours.fit(X).component_errors_ is None  # which places no rows
    assert (KernelPCA(3, approx="exact").fit(X).component_errors_ == 0).all()


@slow
def test_accuracy_chooses_landmarks():
    """All components are right to the share, whatever call fits, unless n_landmarks is too few."""
    X = np.random.default_rng(5).random((3000, 6), np.float32)
    chosen = [KernelPCA(3, gamma=2, accuracy="1%", random_state=0), KernelPCA(
        3, gamma=2, accuracy=0.01, random_state=0)]
    chosen[0].fit(X)
    chosen[1].fit_transform(X)
    m = [len(pca.landmarks_) for pca in chosen]
    assert m[0] == m[1] and 0 < chosen[0].component_errors_.max() <= 0.01
    fewer = KernelPCA(3, gamma=2, n_landmarks=int(m[0] / 1.5), random_state=0)
    fewer.fit_transform(X)
    assert fewer.component_errors_.max() > 0.01
    with pytest.warns(nystream.NystreamWarning, match="accuracy"):
        most = KernelPCA(3, gamma=2, accuracy=0.01, n_landmarks=60, random_state=0).fit(X)
    assert len(most.landmarks_) == 60
    assert SpectralEmbedding(accuracy="10%", random_state=0).fit(X).component_errors_.max() <= 0.1
    refused = refuses(nystream.UsageError, "", KernelPCA(accuracy=0.01, landmarks=X[:9]).fit, X)
    assert refused.option == "accuracy"


def test_pca_is_scikit_learns(blobs):
    X, new = blobs[0][:500], blobs[0][500:]
    theirs = sklearn.decomposition.PCA(svd_solver="full").fit(X)
    for given in (X, scipy.sparse.csr_matrix(X), X.astype("float32")):
        tolerance = 1e-9 if given.dtype == np.float64 else 1e-4
        ours = PCA().fit(given)
        assert (ours.n_components_, ours.n_samples_) == (5, 500)
        for name in ("explained_variance_", "explained_variance_ratio_", "singular_values_"):
            assert np.allclose(getattr(ours, name), getattr(theirs, name), rtol=tolerance)
        assert np.allclose(ours.mean_, theirs.mean_, atol=tolerance * np.abs(X).max())
        same_up_to_signs(ours.components_.T, theirs.components_.T, tolerance)
        same_up_to_signs(ours.transform(new), theirs.transform(new), tolerance)
        back = ours.inverse_transform(ours.transform(new))
        assert np.allclose(back, new, atol=tolerance * np.abs(X).max())
    two = PCA(2).fit(X)
    theirs = sklearn.decomposition.PCA(2).fit(X)
    assert np.allclose(two.inverse_transform(two.transform(new)),
                       theirs.inverse_transform(theirs.transform(new)))
    refuses(ValueError, "n_components=6 must be between", PCA(6).fit, X)


def test_products_of_nystroem_are_the_kernel(blobs):
    X = blobs[0]
    whole = Nystroem(gamma=0.02, n_components=600, random_state=0).fit(X)
    features = whole.transform(X)
    assert np.abs(features @ features.T - rbf_kernel(X, gamma=0.02)).max() < 1e-6
    few = Nystroem(gamma=0.02, n_components=40, random_state=0).fit(X)
    assert few.components_.shape == (40, 5) and few.transform(X).shape == (600, 40)
    assert np.array_equal(few.components_, X[few.component_indices_])
    # On the landmarks the approximation is exact, in both packages.
    places = few.transform(few.components_)
    assert np.abs(places @ places.T - rbf_kernel(few.components_, gamma=0.02)).max() < 1e-6
    theirs = sklearn.kernel_approximation.Nystroem(gamma=0.02, n_components=40, random_state=0)
    of_theirs = theirs.fit_transform(X)
    error = [np.linalg.norm(Y @ Y.T - rbf_kernel(X, gamma=0.02))
             for Y in (few.transform(X), of_theirs)]
    assert error[0] < error[1]


def test_features_of_nystroem_take_one_pass_and_lose_nothing_of_the_projection(blobs):
    X = blobs[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error", nystream.NystreamWarning)
        model = Nystroem(gamma=0.02, n_components=40, random_state=0).fit(X)
    assert model.report_["passes"] == 1 and model.report_["select"] == "rpcholesky"
    projected = nystream.embed(X, map="svd", landmarks_file=model.component_indices_, gamma=0.02,
                               components=40, approx="projected", precision="f64")
    features = model.transform(X)
    assert np.abs(features @ features.T - projected @ projected.T).max() < 1e-6
    trace = 1 - (features ** 2).sum() / len(X)
    assert abs(model.trace_error_ - trace) < 1e-9


def test_warnings_name_what_an_estimator_has(blobs, tmp_path):
    X = blobs[0] * np.where(np.arange(blobs[0].shape[1]) == 1, 1e4, 1)
    with pytest.warns(nystream.NystreamWarning, match="column 1 of X .* 100 %") as seen:
        KernelPCA(n_components=2, n_landmarks=9, random_state=0).fit(X)
        nystream.IncrementalKernelPCA(n_components=2, n_landmarks=9, random_state=0).fit(X)
    for one in seen:
        assert "sklearn.preprocessing.StandardScaler in front of it gives" in str(one.message)
        assert "scale=" not in str(one.message)
    with _errors.renamed({"landmarks": "n_landmarks"}):
        assert _errors.spell_for_caller("give --landmarks 9") == "give n_landmarks=9"
    assert _errors.spell_for_caller("give --landmarks 9") == "give landmarks=9"
    store = stored(tmp_path / "rows.nys", X)
    with pytest.warns(nystream.NystreamWarning, match='scale="standard" gives'):
        store.fit("map", landmarks=9)


@pytest.mark.parametrize("estimator", [
    KernelPCA(gamma=0.02, random_state=0), DiffusionMap(gamma=0.02, random_state=0),
    SpectralEmbedding(gamma=0.02, random_state=0), Nystroem(gamma=0.02, random_state=0)])
def test_landmarks_are_points_or_row_numbers(estimator, blobs):
    X = blobs[0]
    numbers = np.arange(0, 600, 20)
    embeddings = [sklearn.base.clone(estimator).set_params(landmarks=given).fit_transform(X)
                  for given in (numbers, X[numbers])]
    assert np.array_equal(*embeddings)
    centres = (X[numbers] + X[numbers + 1]) / 2
    fitted = sklearn.base.clone(estimator).set_params(landmarks=centres).fit(X)
    assert fitted.report_["landmarks"] == 30 and len(fitted.transform(X[:3])) == 3
    if isinstance(estimator, Nystroem):
        assert np.array_equal(fitted.components_, centres) and fitted.component_indices_ is None
        places = fitted.transform(centres)
        assert np.abs(places @ places.T - rbf_kernel(centres, gamma=0.02)).max() < 1e-6
    for wrong in ([1.5], np.zeros((2, 7)), np.ones((2, 5))):
        refuses(ValueError, "", sklearn.base.clone(estimator).set_params(landmarks=wrong).fit, X)


@pytest.mark.parametrize("kernel", ["rbf", "poly", "laplacian", "linear", "cosine"])
def test_the_normalization_of_nystroem_is_what_it_multiplies_by(blobs, kernel):
    X = blobs[0]
    model = Nystroem(kernel, n_components=30, degree=2, coef0=0.5, random_state=0).fit(X)
    options = {"gamma": model.gamma_} if model.gamma_ else {}
    options.update({"degree": 2, "coef0": 0.5} if kernel == "poly" else {})
    K = pairwise_kernels(X, model.components_, metric=kernel, **options)
    places = model.transform(X)
    assert model.normalization_.shape == (len(model.components_), places.shape[1])
    assert np.abs(K @ model.normalization_ - places).max() <= 1e-6 * np.abs(places).max()
    assert np.array_equal(pickle.loads(pickle.dumps(model)).normalization_, model.normalization_)
    single = clone(model).fit(X.astype(np.float32))
    places = single.transform(X.astype(np.float32))
    K = pairwise_kernels(X, single.components_, metric=kernel, **options)
    assert np.abs(K @ single.normalization_ - places).max() <= 1e-3 * np.abs(places).max()
    assert not hasattr(clone(model), "normalization_")


def test_eigenvectors_are_read_from_a_store_that_is_kept(blobs, tmp_path):
    X = blobs[0]
    theirs = sklearn.decomposition.KernelPCA(3, kernel="rbf", gamma=0.05, eigen_solver="dense")
    ours = KernelPCA(3, gamma=0.05, approx="exact", store=tmp_path / "s.nys").fit(X)
    assert isinstance(ours.eigenvectors_, nystream.Part)
    same_up_to_signs(ours.eigenvectors_[:], theirs.fit(X).eigenvectors_, 1e-6)
    again = pickle.loads(pickle.dumps(ours))
    assert np.array_equal(again.eigenvectors_[:9], ours.eigenvectors_[:9])
    of_store = KernelPCA(3, gamma=0.05, n_landmarks=50, name="few").fit(
        nystream.open(tmp_path / "s.nys"))
    assert np.allclose(np.linalg.norm(of_store.eigenvectors_, axis=0), 1)
    lost = KernelPCA(3, gamma=0.05, approx="exact").fit(X)
    with pytest.raises(AttributeError, match="store=PATH"):
        lost.eigenvectors_  # noqa: B018  (reading it is what fails)
    assert not hasattr(KernelPCA(), "eigenvectors_")


def test_isomap_is_scikit_learns(blobs):
    X = np.random.default_rng(1).uniform(size=(400, 3))
    theirs = sklearn.manifold.Isomap(n_neighbors=8, n_components=2, eigen_solver="dense").fit(X)
    ours = Isomap(n_neighbors=8).fit(X)
    same_up_to_signs(ours.embedding_, theirs.embedding_, 1e-5)


def test_a_diffusion_map_is_its_definition(blobs):
    X = blobs[0][:200]
    ours = DiffusionMap(3, gamma=0.02, t=2, n_landmarks=200).fit(X)
    K = rbf_kernel(X, gamma=0.02)
    degrees = K.sum(axis=1)
    values, vectors = np.linalg.eigh(K / np.sqrt(np.outer(degrees, degrees)))
    assert np.allclose(ours.eigenvalues_, values[::-1][:4], atol=1e-6)
    same_up_to_signs(ours.embedding_, vectors[:, ::-1][:, 1:4] * values[::-1][1:4] ** 2, 1e-4)
    walk = DiffusionMap(3, gamma=0.02, t=2, normalize="asymmetric", n_landmarks=200).fit(X)
    right = vectors / np.sqrt(degrees)[:, None]
    right /= np.abs(right[:, -1].mean())
    same_up_to_signs(walk.embedding_, right[:, ::-1][:, 1:4] * values[::-1][1:4] ** 2, 1e-3)


def test_a_width_may_be_auto_and_no_other_word(blobs):
    X = blobs[0][:300]
    assert np.array_equal(KernelPCA(gamma="auto", random_state=0).fit_transform(X),
                          KernelPCA(random_state=0).fit_transform(X))
    with pytest.raises(nystream.UsageError, match="gamma= is a number, or None or 'auto'"):
        KernelPCA(gamma="wide").fit(X)


@pytest.mark.parametrize("options", [{}, NEIGHBORS], ids=["rbf", "neighbors"])
def test_clusters_are_found_and_predicted(blobs, options):
    X, y = blobs
    ours = SpectralClustering(3, random_state=0, **options).fit(X[:500])
    assert adjusted_rand_score(ours.labels_, y[:500]) == 1
    assert np.array_equal(ours.predict(X[:500]), ours.labels_)
    assert adjusted_rand_score(ours.predict(X[500:]), y[500:]) == 1
    assert ours.cluster_centers_.shape == (3, 2)


def test_eigenvectors_that_place_nothing_are_left_out():
    X = np.zeros((40, 3))
    X[:14] = np.random.RandomState(1).uniform(size=(14, 3))
    ours = SpectralClustering(8, random_state=0, **NEIGHBORS).fit(X)
    assert ours.cluster_centers_.shape[1] < 7 and ours.predict(X).shape == (40,)


@pytest.mark.parametrize("estimator", EMBEDDERS, ids=ids)
def test_fit_transform_and_pickles_agree(estimator, blobs):
    X, new = blobs[0][:250], blobs[0][250:300]
    estimator = clone(estimator).set_params(n_components=2, random_state=3)
    fitted = estimator.fit(X)
    again = clone(estimator)
    places = again.fit_transform(X)
    assert places.dtype == np.float64
    assert np.array_equal(fitted.transform(new), again.transform(new))
    text = pickle.dumps(fitted)
    copy = pickle.loads(text)
    assert np.array_equal(copy.transform(new), fitted.transform(new))
    assert fitted.report_.seed == fitted.seed_ == 3
    assert fitted.eigenvalues_.ndim == 1 and fitted.n_features_in_ == 5
    if ids(estimator.set_params(n_components=2)) not in WITHOUT_MODEL:
        assert np.array_equal(pickle.loads(pickle.dumps(copy)).transform(new), copy.transform(new))
    single = clone(estimator).fit(X.astype("float32"))
    assert single.transform(new.astype("float32")).dtype == np.float32


def test_a_pickle_is_the_model_and_not_the_data():
    X = np.random.default_rng(0).normal(size=(20_000, 30)).astype("float32")
    fitted = KernelPCA(5, n_landmarks=50).fit(X)
    assert len(pickle.dumps(fitted)) < 50 * (30 + 5) * 8 + 20_000 < X.nbytes / 50


@slow
@pytest.mark.parametrize("estimator", [*EMBEDDERS, *CLUSTERERS], ids=ids)
def test_nothing_stays_on_disk(estimator, blobs, folders):
    fitted = clone(estimator).set_params(random_state=0).fit(blobs[0])
    copy = pickle.loads(pickle.dumps(fitted))
    assert folders() == [] and type(copy) is type(fitted)


def test_rows_that_no_landmark_reaches_have_no_coordinates(blobs):
    X = blobs[0]
    ours = DiffusionMap(2, gamma=0.02, n_landmarks=200).fit(X)
    far = np.vstack([X[:9], np.full((1, X.shape[1]), 1e4, X.dtype)])
    with pytest.warns(UserWarning, match="1 of 10 rows, .* row 9, are too far"):
        places = ours.transform(far)
    assert np.isnan(places[9]).all() and np.isfinite(places[:9]).all()
    with pytest.raises(Exception, match="no landmark reaches 2 of 2 new rows"):
        ours.transform(np.full((2, X.shape[1]), 1e4, X.dtype))


@pytest.mark.parametrize("estimator", [DiffusionMap, SpectralEmbedding])
def test_fits_leave_rows_that_no_landmark_reaches_without_coordinates(estimator, blobs):
    X = np.vstack([blobs[0], np.full((1, 5), 1e4)])
    ours = estimator(2, gamma=0.02, n_landmarks=100, selection="uniform", random_state=0)
    with pytest.warns(UserWarning, match="1 of 601 rows, .* row 600, are too far"):
        places = ours.fit_transform(X)
    assert np.isnan(places[600]).all() and np.isfinite(places[:600]).all()


def test_seeds(blobs):
    X = blobs[0]

    def places(state):
        fitted = KernelPCA(2, n_landmarks=20, random_state=state).fit(X)
        return fitted.seed_, fitted.transform(X[:9])

    assert places(4)[0] == 4
    first, second = places(np.random.RandomState(1)), places(np.random.RandomState(1))
    assert first[0] == second[0] and np.array_equal(first[1], second[1])
    assert places(None)[0] != places(None)[0]


def test_threads_that_n_jobs_means(monkeypatch):
    monkeypatch.setattr(_estimator.os, "sched_getaffinity", lambda _pid: set(range(8)))
    assert [_estimator.count_threads(n) for n in (None, 1, 5, -1, -2, -20)] == [None, 1, 5, 8, 7, 1]
    with pytest.raises(nystream.UsageError, match="^n_jobs=0 is not a number of threads"):
        _estimator.count_threads(0)


@pytest.mark.parametrize("values, words", [
    (np.full((9, 2), np.nan), "NaN"), (np.full((9, 2), np.inf), "infinity"),
    (np.full((9, 2), 1e200), "infinity or a value too large"), (np.ones((1, 2)), "1 sample"),
    (np.ones((9, 2), complex), "Complex data not supported"), (np.ones(9), "1D array"),
    (np.array([["a", "b"]] * 9), "could not convert string|array of bytes/strings")])
def test_refusals(values, words):
    for estimator in (KernelPCA(), Isomap(), SpectralClustering(2)):
        refuses(ValueError, words, estimator.fit, values)


def test_wrong_parameters(blobs):
    X = blobs[0]
    refuses(ValueError, "precomputed", KernelPCA(kernel="precomputed").fit, X)
    refuses(ValueError, "kernel= is one of", KernelPCA(kernel="sigmoid").fit, X)
    refuses(ValueError, "n_samples=9 should be >= n_clusters=10", SpectralClustering(10).fit, X[:9])
    with pytest.raises(nystream.UsageError, match="n_components=40 needs more land") as failure:
        KernelPCA(40, n_landmarks=30).fit(X)
    assert failure.value.option == "n_components"
    failure = refuses(nystream.BudgetError, "", KernelPCA(n_landmarks=600, memory="25M").fit, X)
    assert isinstance(failure, MemoryError) and failure.needed > 25 << 20


@slow
def test_a_grid_search_over_a_pipeline():
    X, y = load_digits(return_X_y=True)
    pipeline = make_pipeline(KernelPCA(30, n_landmarks=300, random_state=0),
                             LogisticRegression(max_iter=2000))
    grid = GridSearchCV(pipeline, {"kernelpca__gamma": [1e-4, 1e-3, 1e-2]}, cv=3, n_jobs=2)
    grid.fit(X, y)
    assert grid.best_score_ > 0.9
    text = pickle.dumps(grid.best_estimator_)
    assert len(text) < 400_000
    assert np.array_equal(pickle.loads(text).predict(X[:50]), grid.predict(X[:50]))


# ---- stores, and rows that are streamed ----------------------------------------------------------


def test_a_store_is_fitted_in_place(store, rows):
    fitted = KernelPCA(3, n_landmarks=50, name="mine", random_state=0)
    places = fitted.fit_transform(store)
    assert isinstance(places, nystream.Part) and store.results == ["mine"]
    assert np.array_equal(places[:], KernelPCA(3, n_landmarks=50, random_state=0)
                          .fit_transform(rows))
    assert np.array_equal(fitted.transform(store), places[:])
    isomap = Isomap(n_neighbors=9, n_landmarks=100).fit(store)
    assert isinstance(isomap.embedding_, nystream.Part)
    assert pickle.loads(pickle.dumps(isomap)).transform(rows[:5]).shape == (5, 2)
    assert pickle.loads(pickle.dumps(isomap)).embedding_.shape == (2000, 2)
    assert SpectralClustering(3, n_landmarks=100).fit(store).labels_.shape == (2000,)
    assert np.allclose(PCA().fit(store).mean_, rows.mean(axis=0))


def test_a_named_store_goes_on_and_refuses_other_rows(tmp_path, rows):
    made = KernelPCA(store=tmp_path / "s.nys", name="a", n_landmarks=30, random_state=0)
    places = made.fit_transform(rows)
    again = clone(made).set_params(name="b")
    assert np.array_equal(again.fit_transform(rows), places)
    assert nystream.open(tmp_path / "s.nys").shape == (2000, 6)
    other = rows.copy()
    other[1999, 5] += 1e-9
    for given in (other, rows[:1999], np.r_[rows, rows[:1]], rows.astype("float32"), rows[:, :3]):
        refuses(ValueError, "holds", clone(made).fit, given)
    assert nystream.open(tmp_path / "s.nys").results == ["a", "b"]


class Presser:
    """Presses Ctrl-C once, where the progress is as `when` says; a second one may come too late."""

    def __init__(self, when):
        self.when, self.pressed = when, False

    def __call__(self, progress):
        if not self.pressed and self.when(progress):
            self.pressed = True
            os.kill(os.getpid(), signal.SIGINT)


@slow
def test_a_fit_that_is_stopped_goes_on_with_a_store(tmp_path, folders):
    X = np.random.default_rng(1).normal(size=(60_000, 32)).astype("float32")
    options = dict(n_components=4, n_landmarks=900, selection="uniform", gamma=0.02,
                   random_state=0, n_jobs=1)

    press_ctrl_c = Presser(lambda progress: progress.stage == "accumulate")

    def stop(estimator):
        press_ctrl_c.pressed = False
        with pytest.raises(KeyboardInterrupt, match="^stopped in accumulate"):
            estimator.set_params(verbose=press_ctrl_c).fit(X)
        estimator.set_params(verbose=False)

    stop(KernelPCA(**options))
    gc.collect()
    assert folders() == []
    kept = KernelPCA(store=tmp_path / "s.nys", **options)
    stop(kept)
    assert np.array_equal(kept.fit(X).transform(X[:99]), KernelPCA(**options).fit(X).transform(
        X[:99]))


def in_import(progress):
    """Return whether rows have been staged in the store, and more are to come."""
    return progress.stage == "import" and 0.4 < progress.fraction < 1


def hold_import_until_ctrl_c(monkeypatch):
    """Have the library wait in the middle of an import until it was told of Ctrl-C.

    Its thread calls back with each progress, and the main thread presses when it looks at that.
    """
    told = threading.Event()
    hear, interrupt = _context._Heard._hear_progress, _context.Interrupts._interrupt

    def hear_and_wait(self, user, progress):
        hear(self, user, progress)
        if in_import(self.progress):
            told.wait(60)

    def interrupt_and_tell(self, *arguments):
        interrupt(self, *arguments)
        told.set()

    monkeypatch.setattr(_context._Heard, "_hear_progress", hear_and_wait)
    monkeypatch.setattr(_context.Interrupts, "_interrupt", interrupt_and_tell)


@slow
def test_an_import_that_is_stopped_begins_anew_with_a_store(tmp_path, monkeypatch):
    hold_import_until_ctrl_c(monkeypatch)
    X = np.random.default_rng(1).normal(size=(600_000, 64)).astype("float32")
    options = dict(n_components=2, n_landmarks=20, gamma=0.02, random_state=0)

    press_ctrl_c = Presser(in_import)
    kept = KernelPCA(store=tmp_path / "s.nys", verbose=press_ctrl_c, **options)
    refuses(KeyboardInterrupt, "stopped in import", kept.fit, X)
    store = nystream.open(tmp_path / "s.nys")
    assert len(store) == 0 and store.shape[0] == 0 and store.dtype == np.float32
    assert len(kept.set_params(verbose=False).fit(X).transform(X[:9])) == 9
    assert len(nystream.open(tmp_path / "s.nys")) == len(X)


@slow
def test_datasets_are_streamed(tmp_path, rows, monkeypatch, h5py, zarr):
    monkeypatch.setattr(_batch, "SLICE_BYTES", 100 * 6 * 8)
    expected = KernelPCA(n_landmarks=30, random_state=0).fit_transform(rows)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        dataset = file.create_dataset("x", data=rows)
        assert _estimator.is_streamed(dataset)
        fitted = KernelPCA(n_landmarks=30, random_state=0)
        assert np.array_equal(fitted.fit_transform(dataset), expected)
        assert fitted.n_features_in_ == 6
        assert np.array_equal(fitted.transform(dataset), expected)
        with pytest.raises(ValueError, match="features"):
            fitted.transform(file.create_dataset("y", data=rows[:, :3]))
    array = zarr.array(rows)
    assert np.array_equal(clone(fitted).fit_transform(array), expected)
    anndata = pytest.importorskip("anndata")
    for values in (rows, scipy.sparse.csr_matrix(rows)):
        whole = cells_of(values, dtype="float64")
        assert np.allclose(clone(fitted).fit_transform(whole), expected, atol=1e-6)
        whole.write_h5ad(tmp_path / "x.h5ad")
        backed = anndata.read_h5ad(tmp_path / "x.h5ad", backed="r")
        assert np.allclose(clone(fitted).fit_transform(backed), expected, atol=1e-6)
        backed.file.close()
    np.save(tmp_path / "x.npy", rows)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert np.array_equal(clone(fitted).fit_transform(mapped), expected)
    assert not _estimator.is_streamed(rows)
    assert not _estimator.is_streamed(scipy.sparse.csr_matrix(rows))
    assert not _estimator.is_streamed(rows.tolist())


def test_bytes_stay_bytes(tmp_path):
    X = np.random.default_rng(0).integers(0, 255, (300, 9)).astype("uint8")
    fitted = KernelPCA(store=tmp_path / "s.nys", n_landmarks=30).fit(X)
    assert nystream.open(tmp_path / "s.nys").dtype == np.uint8
    assert fitted.transform(X).dtype == np.float32


def test_a_mapped_file_is_not_looked_at_before_it_is_read(tmp_path, rows, monkeypatch):
    """The library finds what scikit-learn's check would, in the pass that it makes anyway."""
    monkeypatch.setattr(_estimator, "check_array", None)
    np.save(tmp_path / "rows.npy", rows)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    of_file = KernelPCA(n_landmarks=40, random_state=0).fit_transform(mapped)
    monkeypatch.undo()
    assert np.array_equal(of_file, KernelPCA(n_landmarks=40, random_state=0).fit_transform(rows))
    rows[700, 3] = np.nan
    np.save(tmp_path / "rows.npy", rows)
    with pytest.raises(ValueError, match="row 700, column 3"):
        KernelPCA(n_landmarks=40).fit(np.load(tmp_path / "rows.npy", mmap_mode="r"))
