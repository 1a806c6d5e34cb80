"""Centres of clusters: rows without a place, clusters without rows, new rows of either."""
import numpy as np
import pytest
from conftest import cells_of

from nystream import _data, _ingest


def far_from_landmarks(X):
    """Rows that no Gaussian of the others reaches."""
    return np.full((2, X.shape[1]), 1e3) * [[1], [-1]]


def test_clusters_of_a_fit_with_rows_that_no_landmark_reaches(rows):
    pytest.importorskip("sklearn")
    from nystream.estimators import SpectralClustering

    X = np.vstack([rows, far_from_landmarks(rows)])
    ours = SpectralClustering(3, gamma=0.1, n_landmarks=100, selection="uniform", random_state=0)
    labels = ours.fit(X).labels_
    assert np.array_equal(labels[2000:], [-1, -1])
    assert sorted(set(labels[:2000])) == [0, 1, 2]
    assert np.isfinite(ours.cluster_centers_).all()
    assert all(len(set(labels[first:2000:3])) == 1 for first in range(3))
    found = ours.predict(X)
    assert (found[:2000] == labels[:2000]).mean() > 0.99
    assert np.array_equal(found[2000:], [-1, -1])
    assert found.dtype == np.int64


def test_centres_are_means_of_rows_that_have_clusters(rows):
    labels = np.arange(2000) % 4 - 1
    labels[labels == 1] = -1  # a cluster without rows
    rows[labels < 0] = np.nan
    centers = _data.centers_of(rows, labels, 4)
    assert np.allclose(centers[0], rows[labels == 0].mean(axis=0))
    assert np.allclose(centers[2], rows[labels == 2].mean(axis=0))
    assert np.isnan(centers[[1, 3]]).all()
    found = _data.nearest_centers(rows, centers)
    assert set(found) == {-1, 0, 2} and np.array_equal(found == -1, labels < 0)


def test_rows_near_zero_are_not_of_a_cluster_without_rows():
    centers = _data.centers_of(np.array([[1.0, 1], [3, 3]]), np.array([0, 2]), 3)
    assert np.array_equal(_data.nearest_centers(np.zeros((2, 2)), centers), [0, 0])


def test_no_centres_are_near():
    nothing = np.full((2, 3), np.nan)
    assert np.array_equal(_data.nearest_centers(np.ones((2, 3)), nothing), [-1, -1])


def test_new_cells_without_a_place_get_no_cluster(rows, anndata, pandas):
    import nystream

    X = rows.astype("float32")
    reference = cells_of(X, dtype=X.dtype)
    nystream.tl.spectral(reference, 3, gamma=0.1, n_landmarks=100)
    nystream.tl.clusters(reference, 3)
    reference.obs["word"] = pandas.Categorical(np.where(np.arange(2000) % 2, "odd", "even"))
    new = np.vstack([X[:6], far_from_landmarks(X)]).astype("float32")
    cells = cells_of(new, dtype=new.dtype)
    nystream.tl.ingest(cells, reference, obs=["clusters", "word"])
    assert list(cells.obs["clusters"][:6]) == list(reference.obs["clusters"][:6])
    for name in "clusters", "word":
        assert cells.obs[name][6:].isna().all()
        assert not cells.obs[name][:6].isna().any()


def test_a_cluster_without_cells_gets_no_new_ones():
    pytest.importorskip("pandas")
    anndata = pytest.importorskip("anndata")
    X = np.zeros((4, 2), "float32")
    reference = cells_of(X, dtype=X.dtype)
    reference.obs["clusters"] = "0"
    reference.uns["clusters"] = {"centers": np.array([[np.nan, np.nan], [1, 1], [4, 4]]),
                                 "params": {"use_rep": "X_pca"}}
    found = _ingest._of_clusters(reference, "clusters", {"X_pca": np.array([[0.5, 1], [5, 5]])})
    assert list(found) == ["1", "2"]


def test_cells_of_a_reference_without_a_place_are_of_no_cluster(rows, anndata, pandas):
    import nystream

    X = np.vstack([rows, 1e3 * np.eye(6)]).astype("float32")  # few landmarks do not reach all
    cells = cells_of(X, dtype=X.dtype)
    nystream.tl.spectral(cells, 3, gamma=0.1, n_landmarks=8)
    lost = np.isnan(cells.obsm["X_spectral"]).any(axis=1)
    assert lost.any() and not lost[:2000].any()
    nystream.tl.clusters(cells, 3)
    assert np.array_equal(cells.obs["clusters"].isna(), lost)
    assert all(cells.obs["clusters"][first:2000:3].nunique() == 1 for first in range(3))
    with pytest.raises(ValueError, match=f"that have a place, {2006 - lost.sum()}"):
        nystream.tl.clusters(cells, 2006)
    cells.obs["word"] = pandas.Categorical(np.where(np.arange(2006) % 3, "b", "a"))
    new = cells_of(X[:6], dtype=X.dtype)
    nystream.tl.ingest(new, cells, obs=["clusters", "word"])
    assert list(new.obs["word"]) == list("abbabb")
    assert list(new.obs["clusters"]) == list(cells.obs["clusters"][:6])
