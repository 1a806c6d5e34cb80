"""The kernels that scikit-learn has for Gaussian processes: Matérn and rational quadratic."""
import numpy as np
import pytest
import scipy.sparse

sklearn = pytest.importorskip("sklearn")
from sklearn.base import clone  # noqa: E402
from sklearn.decomposition import KernelPCA as Dense  # noqa: E402
from sklearn.gaussian_process.kernels import Matern, RationalQuadratic  # noqa: E402

import nystream  # noqa: E402
from conftest import same_up_to_signs, stored  # noqa: E402
from nystream.estimators import (DiffusionMap, KernelPCA, Nystroem,  # noqa: E402
                                 SpectralClustering, SpectralEmbedding)
from nystream.incremental import IncrementalKernelPCA  # noqa: E402

slow = pytest.mark.slow
LENGTH = 3.0
GAMMA = 1 / (2 * LENGTH**2)
SHAPES = [("matern", {"nu": nu}, Matern(LENGTH, nu=nu)) for nu in (0.5, 1.5, 2.5)]
SHAPES += [("rational_quadratic", {"alpha": alpha}, RationalQuadratic(LENGTH, alpha))
           for alpha in (0.5, 20)]
IDS = [f"{name}-{list(shape.values())[0]}" for name, shape, _ in SHAPES]
each = pytest.mark.parametrize("kernel, shape, theirs", SHAPES, ids=IDS)


@pytest.fixture
def rows():
    return np.random.default_rng(3).normal(size=(400, 6))


@each
def test_kernel_pca_is_that_of_the_matrix_of_scikit_learn(rows, kernel, shape, theirs):
    X, new = rows[:300], rows[300:]
    dense = Dense(3, kernel="precomputed", eigen_solver="dense").fit(theirs(X))
    ours = KernelPCA(3, kernel=kernel, gamma=GAMMA, kernel_params=shape, approx="exact").fit(X)
    assert np.allclose(ours.eigenvalues_, dense.eigenvalues_, rtol=1e-9)
    same_up_to_signs(ours.transform(new), dense.transform(theirs(new, X)), 1e-6)
    single = clone(ours).fit(X.astype(np.float32))
    assert np.allclose(single.eigenvalues_, dense.eigenvalues_, rtol=1e-6)


@each
def test_products_of_nystroem_are_the_kernel(rows, kernel, shape, theirs):
    fitted = Nystroem(kernel, gamma=GAMMA, kernel_params=shape, n_components=60).fit(rows)
    places, K = fitted.transform(rows), theirs(rows, fitted.components_)
    near = fitted.transform(fitted.components_)
    assert np.abs(places @ near.T - K).max() < 1e-6
    assert np.abs(K @ fitted.normalization_ - places).max() <= 1e-6 * np.abs(places).max()


@slow
def test_nu_is_a_parameter_of_its_own(rows):
    by_name = KernelPCA(3, kernel="matern", nu=0.5, random_state=0).fit(rows)
    others = {"kernel_params": {"nu": 0.5}, "nu": 2.5}  # the more special says
    again = KernelPCA(3, kernel="matern", random_state=0, **others).fit(rows)
    assert np.array_equal(by_name.eigenvalues_, again.eigenvalues_)
    assert clone(again).get_params()["kernel_params"] == {"nu": 0.5}
    smooth = KernelPCA(3, kernel="matern", random_state=0).fit(rows)
    explicit = clone(smooth).set_params(nu=1.5).fit(rows)
    assert np.array_equal(smooth.eigenvalues_, explicit.eigenvalues_)
    assert not np.allclose(smooth.eigenvalues_, by_name.eigenvalues_, rtol=1e-3)
    assert smooth.gamma_ == KernelPCA(3, random_state=0).fit(rows).gamma_  # that of rbf


@pytest.mark.parametrize("wrong, option", [
    ({"kernel": "matern", "nu": 1}, "nu"), ({"kernel": "matern", "nu": None}, "nu"),
    ({"kernel_params": {"nu": 1.5}}, "nu"),
    ({"kernel": "rational_quadratic", "kernel_params": {"alpha": 0}}, "alpha"),
    ({"kernel": "rational_quadratic", "kernel_params": {"nu": 1.5}}, "nu"),
    ({"kernel": "rational"}, "kernel"), ({"kernel_params": {"shape": 1}}, "shape")])
def test_parameters_of_other_kernels_are_refused(rows, wrong, option):
    with pytest.raises(nystream.UsageError, match=option):
        KernelPCA(**wrong).fit(rows)


def test_batches_are_summed_up(rows):
    options = {"kernel": "rational_quadratic", "kernel_params": {"alpha": 2}, "random_state": 0}
    batches = IncrementalKernelPCA(3, n_landmarks=40, batch_size=100, **options).fit(rows)
    whole = KernelPCA(3, landmarks=batches.landmarks_, gamma=batches.gamma_, **options).fit(rows)
    assert np.allclose(batches.eigenvalues_, whole.eigenvalues_, rtol=1e-6)
    with pytest.raises(nystream.UsageError, match="earlier batches"):
        batches.set_params(kernel_params={"alpha": 3}).partial_fit(rows)


@slow
def test_other_maps_take_them(rows):
    alpha = {"kernel_params": {"alpha": 2}, "random_state": 0}
    other = {"kernel_params": {"alpha": 20}, "random_state": 0}
    for make, key in ((DiffusionMap, "kernel"), (SpectralEmbedding, "affinity"),
                      (SpectralClustering, "affinity")):
        fits = [make(2, **{key: "rational_quadratic"}, **params).fit(rows)
                for params in (alpha, other)]
        if make is not SpectralClustering:
            assert not np.allclose(fits[0].eigenvalues_, fits[1].eigenvalues_, rtol=1e-3)


@each
def test_models_and_updates_keep_the_shape(rows, tmp_path, kernel, shape, theirs):
    name = kernel.replace("_", "-")
    store = stored(tmp_path / "s.nys", rows[:300])
    options = {"kernel": name, "gamma": GAMMA, "map": "kpca", **shape}
    store.fit("a", select="uniform", landmarks=50, **options)
    store.append(rows[300:])
    updated = store.result("a").update()
    assert updated.report["n"] == 400
    landmarks = updated.landmark_points
    once = stored(tmp_path / "t.nys", rows)
    fitted = once.fit("a", landmarks_points=landmarks,
                      **options)
    assert np.allclose(updated.report["eigenvalues"], fitted.report["eigenvalues"], rtol=1e-5)
    model = fitted.model()
    again = nystream.Model.from_bytes(model.to_bytes())
    for key, value in shape.items():
        assert again.report[key] == value
    assert np.array_equal(model.transform(rows[:9]), again.transform(rows[:9]))
    placed = np.asarray(model.transform(rows))
    assert np.allclose(placed, fitted.embedding[:], atol=1e-4 * np.abs(placed).max())


@slow
@each
def test_sparse_rows_have_the_values_of_dense_ones(kernel, shape, theirs):
    X = scipy.sparse.random(300, 40, 0.1, random_state=1, format="csr")
    options = {"kernel": kernel, "gamma": 0.5, "kernel_params": shape, "approx": "exact"}
    dense = KernelPCA(3, **options).fit(X.toarray())
    sparse = KernelPCA(3, **options).fit(X)
    assert np.allclose(dense.eigenvalues_, sparse.eigenvalues_, rtol=1e-9)
