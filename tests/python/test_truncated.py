"""TruncatedSVD: that of scikit-learn, of sparse and dense rows and of a store."""
import importlib
import pickle

import numpy as np
import pytest
import scipy.sparse

sklearn = pytest.importorskip("sklearn")
import sklearn.decomposition  # noqa: E402

import nystream  # noqa: E402
from nystream.estimators import TruncatedSVD  # noqa: E402

slow = pytest.mark.slow


@pytest.mark.parametrize("kind", ["dense", "float32", "sparse", "store"])
def test_truncated_svd_is_that_of_scikit_learn(tmp_path, kind):
    rng = np.random.default_rng(1)
    X = rng.random((400, 12)) ** 8 * np.arange(1, 13) + 3 * (kind != "sparse")
    theirs = sklearn.decomposition.TruncatedSVD(4, algorithm="arpack").fit(X)
    rows = {"dense": X, "float32": X.astype(np.float32), "sparse": scipy.sparse.csr_matrix(X)}
    if kind == "store":
        rows["store"] = nystream.open(tmp_path / "s.nys")
        rows["store"].append(X)
    ours = TruncatedSVD(4).fit(rows[kind])
    tolerance = 1e-4 if kind == "float32" else 1e-7
    for name in ("singular_values_", "explained_variance_", "explained_variance_ratio_"):
        assert np.allclose(getattr(ours, name), getattr(theirs, name), rtol=10 * tolerance), name
    assert np.allclose(np.abs(ours.components_), np.abs(theirs.components_), atol=10 * tolerance)
    placed = ours.transform(X[:30])
    assert np.allclose(np.abs(placed), np.abs(theirs.transform(X[:30])), atol=1e-3)
    back = ours.inverse_transform(placed)
    assert np.allclose(back, theirs.inverse_transform(theirs.transform(X[:30])), atol=1e-3)
    again = pickle.loads(pickle.dumps(ours))
    assert np.array_equal(again.transform(X[:30]), placed)
    assert importlib.import_module("nystream.truncated").TruncatedSVD is TruncatedSVD  # in pickles
    with pytest.raises(ValueError, match="n_components=13 must be between 1 and"):
        TruncatedSVD(13).fit(X)


@slow
@pytest.mark.parametrize("name, options", [
    ("TruncatedSVD", {}), ("KernelPCA", {"kernel": "linear", "n_landmarks": 40}),
    ("IncrementalKernelPCA", {"kernel": "linear", "n_landmarks": 40}),
    ("KNeighborsTransformer", {"n_neighbors": 3}), ("SpectralClustering", {"n_clusters": 2})])
def test_sparse_rows_of_a_store_stay_sparse(tmp_path, monkeypatch, name, options):
    X = scipy.sparse.random(300, 50_000, 1e-3, "csr", np.float32, random_state=0)
    store = nystream.open(tmp_path / "s.nys")
    store.append(X)
    read, dense = nystream._view.View.read, []
    monkeypatch.setattr(nystream._view.View, "read", lambda view, part, *rows: (
        dense.append(part), read(view, part, *rows))[1])
    made = getattr(nystream, name)(random_state=0, **options)
    fit = made.partial_fit if hasattr(made, "partial_fit") else made.fit
    place = made.predict if hasattr(made, "predict") else made.transform
    fit(store)
    found = place(store)
    assert "points" not in dense
    expected = place(X)
    if scipy.sparse.issparse(found):
        found, expected = found.toarray(), expected.toarray()
    assert np.allclose(found, expected, rtol=1e-4, atol=1e-6)


@slow
@pytest.mark.parametrize("shape", [(3000, 400), (400, 3000)])
@pytest.mark.parametrize("largest", [1e4, 1e6, 1e8])
def test_small_values_beside_a_large_one(shape, largest):
    """Values far below the largest are as exact as tol asks, or nan; so are their vectors."""
    rng = np.random.default_rng(0)
    n, d = shape
    s = np.r_[largest, 5, 4, 3, 2, 1, 0.9 ** np.arange(1, 395)]
    U, V = (np.linalg.qr(rng.normal(size=(rows, len(s))))[0] for rows in shape)
    X = (U * s) @ V.T
    svd = TruncatedSVD(n_components=6, random_state=0)  # one start in ten loses a digit to rounding
    if largest > 1e6:
        with pytest.warns(UserWarning, match="too small beside the largest"):
            Y = svd.fit_transform(X)
        assert np.isnan(svd.singular_values_[1:]).all() and not Y[:, 1:].any()
        return
    Y = svd.fit_transform(X)
    np.testing.assert_allclose(svd.singular_values_ ** 2, s[:6] ** 2, rtol=1e-4)
    C = svd.components_
    np.testing.assert_allclose(C @ C.T, np.eye(6), atol=1e-12)
    residuals = np.linalg.norm(X.T @ (X @ C.T) - C.T * s[:6] ** 2, axis=0) / s[:6] ** 2
    assert residuals.max() < 1e-2  # the root of tol
    U = Y / svd.singular_values_
    np.testing.assert_allclose(U.T @ U, np.eye(6), atol=1e-4)
