"""Defaults and warnings of estimators."""
import warnings

import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn")
from sklearn.base import clone  # noqa: E402
from sklearn.datasets import make_blobs  # noqa: E402

import nystream  # noqa: E402
from nystream.estimators import (DiffusionMap, Isomap, KernelPCA,  # noqa: E402
                                 SpectralClustering, SpectralEmbedding)

quick = pytest.mark.quick
NEIGHBORS = {"affinity": "nearest_neighbors"}


@quick
@pytest.mark.parametrize("estimator", [
    Isomap(n_landmarks=None), SpectralEmbedding(n_landmarks=None), KernelPCA(n_landmarks=None),
    DiffusionMap(n_landmarks=None), SpectralClustering(3, n_landmarks=None)], ids=repr)
def test_no_number_of_landmarks_is_the_default(estimator):
    X, _ = make_blobs(300, 5, centers=3, random_state=2)
    default = clone(estimator).set_params(n_landmarks=1000, random_state=0).fit(X)
    assert np.array_equal(estimator.set_params(random_state=0).fit(X).eigenvalues_,
                          default.eigenvalues_)


@quick
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


@quick
def test_warnings_tell_columns_by_their_names():
    pandas = pytest.importorskip("pandas")
    X = np.random.default_rng(0).normal(size=(300, 3)) * (1, 1e6, 1)
    frame = pandas.DataFrame(X, columns=["age", "income", "height"])
    with pytest.warns(nystream.NystreamWarning, match="^column 'income' alone makes up"):
        fitted = KernelPCA(n_landmarks=20).fit(frame)
    assert fitted.transform(frame[:5]).shape == (5, 2)
    with pytest.warns(nystream.NystreamWarning, match=r"^column 1 of X \(from 0\) alone makes up"):
        KernelPCA(n_landmarks=20).fit(X)
