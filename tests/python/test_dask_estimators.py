"""Estimators of Dask: those of one machine, by sums of the chunks, and lazy places."""
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
pytest.importorskip("sklearn")

from sklearn.base import clone  # noqa: E402
from sklearn.metrics import adjusted_rand_score  # noqa: E402

import checks  # noqa: E402
from conftest import refuses  # noqa: E402
import nystream  # noqa: E402
import nystream.dask  # noqa: E402

CHUNKS = (300, 4)
EACH = [nystream.dask.KernelPCA(3, n_landmarks=60, gamma=0.05), nystream.dask.PCA(3),
        nystream.dask.TruncatedSVD(3), nystream.dask.Nystroem(n_components=20),
        nystream.dask.SpectralClustering(3, n_landmarks=60)]
EMBED = pytest.mark.parametrize("estimator", EACH[:4], ids=lambda each: type(each).__name__)
ALL = pytest.mark.parametrize("estimator", EACH, ids=lambda each: type(each).__name__)


@pytest.fixture(autouse=True)
def threads():
    """Run tasks in threads of this process."""
    with dask.config.set(scheduler="threads"):
        yield


@pytest.fixture
def X(rows):
    """The rows in chunks of rows and of columns."""
    return da.from_array(rows, chunks=CHUNKS)


def turned(ours, theirs):
    """Give our columns the signs of theirs."""
    return ours * np.sign((ours * theirs).sum(axis=0))


def frame_of(rows, names="abcdef"):
    """Return the rows as a frame of Dask, with an index of even numbers."""
    pandas, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    frame = pandas.DataFrame(rows, columns=list(names), index=2 * np.arange(len(rows)))
    return dd.from_pandas(frame, npartitions=5)


# ---- they are the estimators of one machine -----------------------------------------------------


@pytest.mark.parametrize("kind", ["array", "frame"])
@pytest.mark.parametrize("name", ["PCA", "TruncatedSVD"])
def test_axes_are_those_of_one_machine(name, kind, rows, X):
    here = getattr(nystream, name)(3).fit(rows)
    found = getattr(nystream.dask, name)(3).fit(X if kind == "array" else frame_of(rows))
    for attribute in ("eigenvalues_", "explained_variance_", "explained_variance_ratio_", "mean_",
                      "singular_values_"):
        assert np.allclose(getattr(found, attribute), getattr(here, attribute), rtol=1e-9)
    assert np.allclose(turned(found.components_.T, here.components_.T), here.components_.T)
    places = found.transform(X).compute() if kind == "array" else found.transform(rows)
    assert np.allclose(turned(places, here.transform(rows)), here.transform(rows), atol=1e-9)
    back = found.inverse_transform(da.from_array(places, chunks=(500, 3)))
    assert isinstance(back, da.Array)
    assert np.allclose(back.compute(), found.inverse_transform(places))
    assert np.allclose(back.compute(), here.inverse_transform(here.transform(rows)))


def test_kernel_pca_is_that_of_one_machine_over_its_landmarks(rows, X):
    found = nystream.dask.KernelPCA(3, accuracy="1%", random_state=4).fit(X)
    assert found.landmarks_.shape[1] == 6 and found.component_errors_.max() <= 0.01
    here = nystream.KernelPCA(3, landmarks=found.landmarks_, gamma=found.gamma_).fit(rows)
    assert np.allclose(found.eigenvalues_, here.eigenvalues_, rtol=1e-9)
    assert np.isclose(found.trace_error_, here.trace_error_)
    ours, theirs = found.transform(X).compute(), here.transform(rows)
    assert np.allclose(turned(ours, theirs), theirs, atol=1e-9)
    given = nystream.dask.KernelPCA(3, landmarks=found.landmarks_, gamma=found.gamma_).fit(X)
    assert np.array_equal(given.landmarks_, found.landmarks_)
    assert np.allclose(given.eigenvalues_, here.eigenvalues_) and given.component_errors_ is None
    wide = nystream.dask.KernelPCA(3, landmarks=found.landmarks_).fit(X)
    assert np.isclose(wide.gamma_, nystream.KernelPCA(3, n_landmarks=20).fit(rows).gamma_, rtol=0.1)
    with pytest.raises(AttributeError, match="eigenvectors"):
        found.eigenvectors_


def test_nystroem_has_the_kernel_of_all_rows(rows, X, monkeypatch):
    monkeypatch.setattr(nystream.dask, "SAMPLE_ROWS", 400)
    found = nystream.dask.Nystroem(n_components=50, random_state=0)
    features = found.fit_transform(X).compute()
    values = np.exp(-found.gamma_ * np.square(rows[:50, None] - rows[None, :50]).sum(axis=2))
    assert np.abs(features[:50] @ features[:50].T - values).max() < 0.1
    assert np.allclose(features[:9].astype(float),
                       nystream.Nystroem(n_components=50, landmarks=found.components_,
                                         gamma=found.gamma_).fit(rows).transform(rows[:9]))
    assert 300 < found.report_["n"] < 500 and found.component_indices_ is None
    assert np.isclose(found.eigenvalues_.sum(), 2000, rtol=0.1)  # the trace of K
    assert found.normalization_.shape == (50, 50)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["array", "frame"])
def test_clusters_are_those_of_one_machine(kind, rows, X):
    rows = rows[np.random.default_rng(0).permutation(2000)]
    X = da.from_array(rows, chunks=CHUNKS) if kind == "array" else frame_of(rows)
    found = nystream.dask.SpectralClustering(3, n_landmarks=100, random_state=0)
    labels = found.fit_predict(X)
    assert isinstance(labels, da.Array) and labels.dtype == np.int64
    here = nystream.SpectralClustering(3, n_landmarks=100, random_state=0).fit(rows)
    assert adjusted_rand_score(here.labels_, labels.compute()) > 0.98
    assert np.array_equal(found.predict(rows), labels.compute())
    if kind == "array":
        assert labels.chunks == (X.chunks[0],)
    places = found.model_.transform(rows)
    means = [places[labels.compute() == k].mean(axis=0) for k in range(3)]
    assert np.allclose(found.cluster_centers_, means, atol=0.02)


def test_sparse_chunks(X):
    whole = scipy.sparse.random(900, 40, 0.2, "csr", random_state=1, dtype="f4")
    parts = [da.from_delayed(dask.delayed(whole[at:at + 300]), (300, 40), "f4",
                             meta=scipy.sparse.csr_matrix((0, 0))) for at in range(0, 900, 300)]
    found = nystream.dask.TruncatedSVD(3).fit(da.concatenate(parts))
    here = nystream.TruncatedSVD(3).fit(whole)
    assert np.allclose(found.explained_variance_ratio_, here.explained_variance_ratio_, rtol=1e-4)
    places = found.transform(da.concatenate(parts)).compute()
    assert places.dtype == np.float32
    assert np.allclose(turned(places, here.transform(whole)), here.transform(whole), atol=1e-4)
    with pytest.raises(ValueError, match="TruncatedSVD takes sparse"):
        nystream.dask.PCA(3).fit(da.concatenate(parts))


# ---- what comes out is lazy ---------------------------------------------------------------------


@EMBED
@pytest.mark.parametrize("dtype", ["f4", "f8", "u1"])
def test_places_of_an_array_are_lazy(estimator, rows, dtype):
    X = da.from_array((8 * rows + 60).clip(0, 255).astype(dtype), chunks=CHUNKS)
    found = clone(estimator)
    if hasattr(found, "gamma"):
        found.gamma = 0.001
    places = found.fit_transform(X)
    width = found.n_components
    assert isinstance(places, da.Array) and places.chunks == (X.chunks[0], (width,))
    assert places.dtype == places.compute().dtype == ("f8" if dtype == "f8" else "f4")
    assert np.allclose(places.compute(), found.transform(X.compute()), rtol=1e-4, atol=1e-6)
    assert found.n_features_in_ == 6 and found.eigenvalues_.shape[0] == width


@EMBED
def test_places_of_a_frame_are_a_frame_with_its_index(estimator, rows, pandas):
    frame = frame_of(rows)
    found = clone(estimator).fit(frame)
    places = found.transform(frame)
    assert places.divisions == frame.divisions and places.known_divisions
    here = found.set_output(transform="pandas").transform(frame.compute())
    pandas.testing.assert_frame_equal(places.compute(), here)
    assert list(places.columns) == list(found.get_feature_names_out()) == list(here.columns)
    assert (places.dtypes == np.float64).all()  # known before it is computed
    assert list(found.feature_names_in_) == list("abcdef")
    unknown = frame.reset_index(drop=True).clear_divisions()
    assert not found.transform(unknown).known_divisions
    refuses(ValueError, "feature names", found.transform, frame[list("bacdef")])


def test_what_scikit_learn_is_told_of_outputs_computes_nothing(X):
    sklearn = pytest.importorskip("sklearn", "1.2")
    with sklearn.config_context(transform_output="pandas"):
        assert isinstance(nystream.dask.PCA(2).fit_transform(X), da.Array)


def test_fit_computes_a_chunk_once_where_no_sample_is_needed(rows):
    seen = []
    X = da.from_array(rows, chunks=(500, 6)).map_blocks(
        lambda part: seen.append(len(part)) or part, meta=np.empty((0, 0)))
    for estimator, times in ((nystream.dask.PCA(2), 1), (nystream.dask.TruncatedSVD(2), 1),
                             (nystream.dask.Nystroem(n_components=9), 1),
                             (nystream.dask.KernelPCA(2, n_landmarks=9), 2)):
        del seen[:]
        places = estimator.fit_transform(X)
        assert seen == times * [500] * 4
        assert places[:5].compute().shape[0] == 5 and len(seen) == 4 * times + 1


# ---- as scikit-learn's --------------------------------------------------------------------------


@pytest.mark.slow
@ALL
def test_parameters_and_pickles(estimator, X, rows):
    names = set(estimator.get_params())
    assert {"random_state", "memory", "n_jobs"} <= names and not {"store", "verbose"} & names
    made = clone(estimator).set_params(random_state=3)
    assert made.random_state == 3 and estimator.random_state is None
    assert repr(made).endswith("random_state=3)")
    found = made.fit(X)
    again = pickle.loads(pickle.dumps(found))
    assert type(again) is type(estimator) and type(again).__module__ == "nystream.dask"
    place = "predict" if hasattr(found, "predict") else "transform"
    assert np.array_equal(getattr(again, place)(X).compute(), getattr(found, place)(rows))
    assert again.seed_ == 3 and again.model_.to_bytes() == found.model_.to_bytes()
    assert clone(estimator).set_params(random_state=3).fit(X).model_.to_bytes() == \
        found.model_.to_bytes()


def test_the_seed_draws_the_sample(X, monkeypatch):
    monkeypatch.setattr(nystream.dask, "SAMPLE_ROWS", 400)
    few = {seed: nystream.dask.Nystroem(n_components=9, random_state=seed).fit(X).components_
           for seed in (0, 1)}
    assert not np.isin(few[0][:, 0], few[1][:, 0]).all()
    assert np.isin(few[0], X.compute()).all()
    many = nystream.dask.Nystroem(n_components=300, random_state=0).fit(X)
    assert many.report_["n"] > 1000  # four for each landmark


@pytest.mark.slow
@ALL
def test_what_is_refused(estimator, X, rows):
    refuses(ValueError, "not an array or a frame of Dask", clone(estimator).fit, rows)
    refuses(nystream.DataError, "NaN", clone(estimator).fit, da.where(X > 8, np.nan, X))
    refuses(ValueError, "2D array", clone(estimator).fit, X[:, 0])
    with pytest.raises(ValueError, match="features"):
        clone(estimator).fit(X).model_ and clone(estimator).fit(X)._place(X[:, :4])


@pytest.mark.parametrize("wrong, word", [
    (nystream.dask.KernelPCA(n_components=0), "n_components=0"),
    (nystream.dask.KernelPCA(kernel="rfb"), "kernel="),
    (nystream.dask.KernelPCA(approx="randomized"), "approx"),
    (nystream.dask.KernelPCA(landmarks=[1, 2, 3]), "landmarks= of Dask's rows are points"),
    (nystream.dask.KernelPCA(landmarks=np.ones((2, 6)), accuracy="1%"), "accuracy="),
    (nystream.dask.PCA(7), "n_components=7 must be"),
    (nystream.dask.TruncatedSVD(7), "n_components=7 must be"),
    (nystream.dask.SpectralClustering(affinity="nearest_neighbors"), "all rows in one place"),
    (nystream.dask.SpectralClustering(5000), "n_clusters=5000"),
], ids=str)
def test_parameters_that_are_refused(wrong, word, X):
    refuses(ValueError, word, wrong.fit, X)


@pytest.mark.slow
def test_names_of_the_module():
    with pytest.raises(AttributeError, match="no attribute 'Isomap'"):
        nystream.dask.Isomap
    assert {"KernelPCA", "fit"} <= set(dir(nystream.dask))
    code = ("import sys; sys.path.insert(0, sys.argv[1]); sys.modules['sklearn'] = None; "
            "import pydoc, nystream.dask as module; assert 'KernelPCA' not in dir(module); "
            "assert 'Fit the rows' in pydoc.plain(pydoc.render_doc(module)); module.fit")
    subprocess.run([sys.executable, "-c", code, str(Path(nystream.__file__).parents[1])],
                   check=True)


# ---- on workers that end ------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # tornado warns distributed
def test_a_worker_that_ends_changes_no_byte(rows, tmp_path):
    distributed = pytest.importorskip("distributed")
    ending = dask.delayed(checks.ending)
    made = [nystream.dask.PCA(2, n_jobs=1, random_state=0),
            nystream.dask.KernelPCA(2, n_landmarks=30, n_jobs=1, random_state=0),
            nystream.dask.SpectralClustering(3, n_landmarks=30, n_jobs=1, random_state=0)]
    images = []
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None,
                                  local_directory=tmp_path) as cluster:
        with distributed.Client(cluster) as client:
            for estimator in made:
                for marker in (tmp_path / type(estimator).__name__, None):
                    client.wait_for_workers(2)  # there are as many sums as workers
                    X = da.concatenate([
                        da.from_delayed(ending(part, marker if k == 5 else None), part.shape,
                                        part.dtype)
                        for k, part in enumerate(np.array_split(rows, 8))])
                    images.append(estimator.fit(X).model_.to_bytes())
                    if hasattr(estimator, "labels_"):
                        images.append(estimator.labels_.compute().tobytes())
                    assert marker is None or marker.exists()
    assert images[0] == images[1] and images[2] == images[3] and images[4:6] == images[6:8]
