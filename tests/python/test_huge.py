"""One value that stands for what is missing, such as 1e20, leaves other rows as they are."""
import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn")
import sklearn.neighbors  # noqa: E402
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel  # noqa: E402

from conftest import stored  # noqa: E402
import nystream  # noqa: E402

pytestmark = pytest.mark.slow


def rows(value, dtype, place=np.s_[77, 1], shift=0.0):
    """300 rows, one of which has the value; which others there are."""
    X = np.random.default_rng(1).normal(size=(300, 3)) + shift
    X[place] = value
    return X.astype(dtype), np.delete(np.arange(300), 77)


@pytest.mark.parametrize("value", [1e20, -9.96921e36])
@pytest.mark.parametrize("knn", ["exact", "tree", "sieve"])
def test_neighbors_are_those_of_the_other_rows(tmp_path, value, knn):
    X, others = rows(value, np.float32)
    store = stored(tmp_path / "x.nys", X)
    found = store.graph("near", neighbors=5, knn=knn).neighbors[:]
    right = sklearn.neighbors.NearestNeighbors(n_neighbors=5).fit(X[others].astype(float))
    right = others[right.kneighbors(return_distance=False)]
    np.testing.assert_array_equal(np.sort(found[others]), np.sort(right))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("kernel, theirs", [("rbf", rbf_kernel), ("laplacian", laplacian_kernel)])
@pytest.mark.parametrize("value, shift", [(1e20, 0), (-3.4e38, 0), (1e30, 4e5)])
def test_kernels_tell_the_other_rows_apart(tmp_path, kernel, theirs, value, shift):
    X, others = rows(value, np.float64, shift=shift)
    K = np.eye(300)
    K[np.ix_(others, others)] = theirs(X[others] - shift, gamma=0.1)
    store = stored(tmp_path / "x.nys", X)
    for approx in ("exact", "projected"):
        fit = store.fit(approx, map="svd", kernel=kernel, gamma=0.1, approx=approx, components=3,
                        precision="f64", landmarks=None if approx == "exact" else 300)
        np.testing.assert_allclose(fit.eigenvalues[:], np.linalg.eigvalsh(K)[:-4:-1], rtol=1e-6)


@pytest.mark.parametrize("precision, approx", [("f32", "projected"), ("f64", "projected"),
                                               ("f32", "exact")])
def test_the_row_that_has_no_finite_place_is_named(tmp_path, precision, approx):
    X, _ = rows(0, np.float64)
    store = stored(tmp_path / "x.nys", X)
    fit = store.fit("a", map="svd", kernel="polynomial", approx=approx, components=2,
                    precision=precision, landmarks=None if approx == "exact" else 20)
    new = np.tile(X, (10, 1))
    new[2317] = 1e140
    with pytest.raises(nystream.NumericError, match="row 2317 is not finite; look for huge values"):
        fit.transform(new)
