"""KNeighborsTransformer: scikit-learn's own checks, its matrices, and what is built on them."""
import inspect
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse

sklearn = pytest.importorskip("sklearn")
import sklearn.manifold  # noqa: E402
import sklearn.neighbors  # noqa: E402
from sklearn.datasets import load_digits, make_blobs  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402

import checks  # noqa: E402
import nystream  # noqa: E402
from nystream import KNeighborsTransformer, _options  # noqa: E402

slow = pytest.mark.slow


EXPECTED = KNeighborsTransformer()._more_tags()["_xfail_checks"]


@slow
@checks.all_checks([KNeighborsTransformer(), KNeighborsTransformer(mode="connectivity"),
                    KNeighborsTransformer(algorithm="sieve", random_state=0)], EXPECTED)
def test_checks_of_scikit_learn(estimator, check):
    checks.run(check, estimator)


def test_the_check_that_fails_is_scikit_learns():
    theirs = sklearn.neighbors.KNeighborsTransformer()
    if hasattr(theirs, "_more_tags"):  # before 1.6
        expected = theirs._more_tags()["_xfail_checks"]
    else:
        lists = pytest.importorskip("sklearn.utils._test_common.instance_generator")
        expected = lists.PER_ESTIMATOR_XFAIL_CHECKS[type(theirs)]
    assert set(EXPECTED) == set(expected)


@pytest.fixture(scope="module")
def digits():
    """The digits, which have no two rows alike, 1,500 to fit and 297 that are new."""
    X = load_digits().data
    return X[:1500], X[1500:]


def same_matrix(ours, theirs):
    """Compare matrices; columns of a row may be in another order where they are as near."""
    assert scipy.sparse.isspmatrix_csr(ours) and ours.dtype == theirs.dtype == np.float64
    assert ours.shape == theirs.shape and np.array_equal(ours.indptr, theirs.indptr)
    assert np.allclose(ours.data, theirs.data, rtol=0, atol=1e-5)
    differ = ours.indices != theirs.indices
    columns = theirs.nnz // theirs.shape[0]
    near = np.abs(np.diff(theirs.data.reshape(-1, columns), axis=1)) < 1e-9
    ties = np.zeros((theirs.shape[0], columns), bool)
    ties[:, 1:] |= near
    ties[:, :-1] |= near
    ties[:, -1] = True  # its partner may be beyond the last
    assert not (differ & ~ties.ravel()).any() and differ.mean() < 0.05


def test_components_are_no_reason_to_warn():
    X = np.random.default_rng(0).normal(size=(60, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KNeighborsTransformer(n_neighbors=4).fit(np.vstack([X, X + 1000]))


@slow
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("mode", ["distance", "connectivity"])
def test_matrices_are_scikit_learns(digits, metric, mode):
    X, new = digits
    theirs = sklearn.neighbors.KNeighborsTransformer(mode=mode, metric=metric, n_neighbors=7)
    ours = KNeighborsTransformer(mode=mode, metric=metric, n_neighbors=7)
    graph, wanted = ours.fit_transform(X), theirs.fit_transform(X)
    assert np.array_equal(graph.indices[graph.indptr[:-1]], np.arange(len(X)))
    if mode == "distance":
        assert not graph.data[graph.indptr[:-1]].any()
        same_matrix(graph, wanted)
        same_matrix(ours.transform(new), theirs.transform(new))
    else:
        assert (graph != wanted).nnz <= 0.02 * wanted.nnz  # equally near rows differ
        assert (ours.transform(new) != theirs.transform(new)).nnz <= 0.02 * 7 * len(new)
    assert ours.n_samples_fit_ == 1500 and ours.n_features_in_ == 64
    assert len(ours.get_feature_names_out()) == 1500


def test_rows_of_all_kinds(tmp_path):
    X = make_blobs(400, 5, centers=3, random_state=2)[0]
    X[np.abs(X) < 2] = 0
    wanted = KNeighborsTransformer().fit_transform(X)
    for given in (scipy.sparse.csr_matrix(X), X.tolist()):
        assert (KNeighborsTransformer().fit_transform(given) != wanted).nnz == 0
    store = nystream.open(tmp_path / "rows.nys")
    store.append(X)
    on_disk = KNeighborsTransformer(name="near")
    assert (on_disk.fit_transform(store) != wanted).nnz == 0
    assert abs(on_disk.transform(store) - wanted).max() < 1e-5
    assert store.results == ["near"]


def test_what_is_asked_for_must_be(digits):
    X = digits[0][:50]
    for parameters, words in (({"mode": "both"}, "mode='both'"), ({"n_neighbors": 0}, "at least 1"),
                              ({"metric": "l1"}, "metric"), ({"algorithm": "balls"}, "algorithm")):
        with pytest.raises(ValueError, match=words):
            KNeighborsTransformer(**parameters).fit(X)
    with pytest.raises(ValueError, match="n_samples = 50, n_neighbors = 51"):
        KNeighborsTransformer(n_neighbors=50).fit_transform(X)
    assert KNeighborsTransformer(n_neighbors=49).fit_transform(X).nnz == 2500
    one = KNeighborsTransformer(n_neighbors=1, mode="connectivity").fit_transform(X)
    assert (one != scipy.sparse.identity(50)).nnz == 0
    with pytest.raises(sklearn.exceptions.NotFittedError):
        KNeighborsTransformer().transform(X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_that_are_equally_far_go_by_their_numbers(dtype):
    """The mean of whole numbers, which is subtracted, may not make distances differ."""
    rows = np.random.default_rng(2).integers(0, 3, (300, 8)).astype(dtype)
    squares = ((rows[:, None] - rows) ** 2).sum(2)
    np.fill_diagonal(squares, -1)
    nearest = np.argsort(squares, axis=1, kind="stable")[:, :6]
    found = KNeighborsTransformer(n_neighbors=5).fit_transform(rows).indices.reshape(300, 6)
    assert (np.sort(found, axis=1) == np.sort(nearest, axis=1)).all()


def test_a_pickle_finds_the_same(digits):
    fitted = KNeighborsTransformer(n_neighbors=3).fit(digits[0][:200])
    wanted = fitted.transform(digits[1])
    copy = pickle.loads(pickle.dumps(fitted))
    del fitted
    assert (copy.transform(digits[1]) != wanted).nnz == 0


def test_a_tree_finds_the_same(monkeypatch):
    X = np.random.default_rng(0).normal(size=(6000, 3))
    exact = KNeighborsTransformer(n_neighbors=7, algorithm="exact").fit_transform(X)
    for algorithm in ("tree", "auto"):
        by_tree = KNeighborsTransformer(n_neighbors=7, algorithm=algorithm)
        assert (by_tree.fit_transform(X) != exact).nnz == 0
        assert by_tree.report_.knn == "tree"
    monkeypatch.setattr(_options, "EXACT_ROWS", 1000)
    of_many = KNeighborsTransformer(n_neighbors=7)
    assert (of_many.fit_transform(X) != exact).nnz == 0 and of_many.report_.knn == "tree"


@slow
def test_many_rows_get_nearly_all(monkeypatch):
    X = make_blobs(20_000, 24, centers=5, random_state=0)[0].astype(np.float32)
    wanted = KNeighborsTransformer(n_neighbors=10).fit_transform(X)
    monkeypatch.setattr(_options, "EXACT_ROWS", 1000)
    for algorithm in ("auto", "sieve"):
        of_many = KNeighborsTransformer(n_neighbors=10, algorithm=algorithm, random_state=0)
        found = of_many.fit_transform(X)
        assert of_many.report_.knn == "sieve"
        assert of_many.report_.recall > 0.94
        assert found.multiply(wanted > 0).nnz > 0.94 * 10 * len(X)


@slow
def test_isomap_stands_on_it(digits):
    X, new = (rows + np.random.default_rng(0).normal(size=rows.shape) / 8 for rows in digits)
    theirs = sklearn.manifold.Isomap(n_neighbors=10).fit(X)
    pipeline = make_pipeline(KNeighborsTransformer(n_neighbors=10),
                             sklearn.manifold.Isomap(n_neighbors=10, metric="precomputed"))
    for rows in (X, new):
        ours = pipeline.fit(X).transform(rows)
        wanted = theirs.transform(rows)
        ours *= np.sign((ours * wanted).sum(axis=0))
        assert np.abs(ours - wanted).max() < 1e-3 * np.abs(wanted).max()


@slow
def test_tsne_stands_on_it(digits):
    X = digits[0][:400]
    names = inspect.signature(sklearn.manifold.TSNE).parameters
    options = {"init": "random", "random_state": 0,
               "max_iter" if "max_iter" in names else "n_iter": 300}  # before scikit-learn 1.5
    pipeline = make_pipeline(KNeighborsTransformer(n_neighbors=91),
                             sklearn.manifold.TSNE(metric="precomputed", **options))
    theirs = sklearn.manifold.TSNE(**options).fit(X)
    assert pipeline.fit_transform(X).shape == (400, 2)
    assert abs(pipeline[-1].kl_divergence_ - theirs.kl_divergence_) < 0.1


@slow
def test_umap_takes_it():
    umap, pynndescent = map(pytest.importorskip, ("umap", "pynndescent"))
    X, labels = make_blobs(4200, 8, centers=5, random_state=1)  # umap computes fewer rows itself
    graph = KNeighborsTransformer(n_neighbors=14).fit_transform(X)
    lists = (graph.indices.reshape(len(X), 15), graph.data.reshape(len(X), 15))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given = umap.UMAP(n_neighbors=15, random_state=0, n_epochs=20,
                          precomputed_knn=(*lists, pynndescent.NNDescent(X[:99]))).fit(X)
    assert np.array_equal(given._knn_indices, lists[0])
    assert np.allclose(given._knn_dists, lists[1])
    centers = np.array([given.embedding_[labels == label].mean(axis=0) for label in range(5)])
    near = ((given.embedding_[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
    assert (near == labels).mean() > 0.95
