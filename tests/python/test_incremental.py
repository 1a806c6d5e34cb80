"""Kernel PCA of batches: scikit-learn's checks, KernelPCA over the same landmarks, what is kept."""
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse

sklearn = pytest.importorskip("sklearn")
from sklearn.base import clone  # noqa: E402
from sklearn.datasets import make_blobs  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

import checks  # noqa: E402
from conftest import refuses, stored  # noqa: E402
import nystream  # noqa: E402
from nystream import incremental  # noqa: E402
from nystream.estimators import KernelPCA  # noqa: E402
from nystream.incremental import IncrementalKernelPCA  # noqa: E402

slow = pytest.mark.slow


@slow
@checks.all_checks([IncrementalKernelPCA(), IncrementalKernelPCA(kernel="linear"),
                    IncrementalKernelPCA(batch_size=7, n_landmarks=5)])
def test_checks_of_scikit_learn(estimator, check):
    checks.run(check, estimator)


@slow
@pytest.mark.parametrize("check", checks.MORE)
def test_more_checks_of_scikit_learn(check):
    check = getattr(checks.estimator_checks, check)
    checks.run(check, "IncrementalKernelPCA", IncrementalKernelPCA())


@pytest.fixture
def X():
    """900 rows of 5 columns in 3 clusters, float64, in no order."""
    return make_blobs(900, 5, centers=3, random_state=2)[0]


def agree(ours, theirs, X, most=1e-6):
    """Compare with a KernelPCA of all rows over the same landmarks."""
    expected = theirs.transform(X)
    assert np.abs(ours.transform(X) - expected).max() <= most * np.abs(expected).max()
    assert np.allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=most)
    assert abs(ours.trace_error_ - theirs.trace_error_) <= most


@pytest.mark.parametrize("options", [
    {}, {"kernel": "laplacian"}, {"kernel": "poly", "degree": 2}, {"kernel": "cosine"},
    {"gamma": 0.02, "selection": "uniform"}, {"selection": "greedy"},
    {"selection": "weighted"}], ids=lambda options: "-".join(map(str, options)))
def test_it_is_kernel_pca_over_the_same_landmarks(X, options):
    ours = IncrementalKernelPCA(3, n_landmarks=60, random_state=0, **options)
    for batch in (X[:300], X[300:301], X[301:]):
        ours.partial_fit(batch)
    kept = {name: value for name, value in options.items() if name != "selection"}
    theirs = KernelPCA(3, landmarks=ours.landmarks_, **{**kept, "gamma": ours.gamma_}).fit(X)
    assert (ours.n_samples_seen_, ours.seed_, ours.landmarks_.shape[1]) == (900, 0, 5)
    assert 5 <= len(ours.landmarks_) <= 60  # polynomials have a rank
    assert ours.gamma_ == theirs.gamma_ and ours.n_features_in_ == 5
    agree(ours, theirs, X)


def test_the_first_batch_chooses_as_kernel_pca_does(X):
    first = IncrementalKernelPCA(3, n_landmarks=60, random_state=0).partial_fit(X)
    assert first.gamma_ == KernelPCA(3, n_landmarks=60, random_state=0).fit(X).gamma_
    assert {row.tobytes() for row in first.landmarks_} <= {row.tobytes() for row in X}
    assert len(IncrementalKernelPCA().partial_fit(X[:30]).landmarks_) == 30
    given = IncrementalKernelPCA(3, landmarks=X[:40], random_state=0).partial_fit(X)
    assert np.array_equal(given.landmarks_, X[:40]) and given.gamma_ == first.gamma_
    with pytest.raises(nystream.UsageError, match="n_components=9 needs more landmarks"):
        IncrementalKernelPCA(9, n_landmarks=5).partial_fit(X)
    with pytest.raises(nystream.UsageError, match="selection="):
        IncrementalKernelPCA(selection="first").partial_fit(X)
    refuses(ValueError, "batch_size=1 ", IncrementalKernelPCA(batch_size=1).fit, X)


def test_fit_begins_anew_in_batches(X, tmp_path):
    landmarks = X[:50]
    ours = IncrementalKernelPCA(3, gamma=0.02, landmarks=landmarks, batch_size=200)
    whole = KernelPCA(3, gamma=0.02, landmarks=landmarks).fit(X)
    store = stored(tmp_path / "s.nys", X)
    np.save(tmp_path / "X.npy", X)
    for given in (X, X.tolist(), store, np.load(tmp_path / "X.npy", mmap_mode="r"),
                  scipy.sparse.csr_matrix(X)):
        ours.fit(given)
        assert ours.n_samples_seen_ == 900 and ours._sums.parts == 5
        agree(ours, whole, X)
    assert np.allclose(clone(ours).fit_transform(X), whole.transform(X), atol=1e-6)


def test_what_comes_is_in_the_next_transform(X):
    ours = IncrementalKernelPCA(2, gamma=0.02, landmarks=X[:50]).partial_fit(X[:300])
    before = ours.eigenvalues_
    early = ours.transform(X[:5])
    assert ours.report_["n"] == 300 and ours.report_ is ours.report_
    ours.partial_fit(X[300:])
    assert ours.report_["n"] == 900 and np.all(ours.eigenvalues_ > before)
    assert not np.array_equal(ours.transform(X[:5]), early)
    ours.partial_fit(X[300:])  # equal rows are other rows
    assert ours.n_samples_seen_ == 1500


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64"])
def test_types(dtype):
    X = np.random.default_rng(2).integers(0, 90, (400, 5)).astype(dtype)
    ours = IncrementalKernelPCA(n_landmarks=30, random_state=0)
    ours.partial_fit(X[:150]).partial_fit(X[150:300].astype(float)).partial_fit(X[300:])
    places = ours.transform(X)
    assert places.dtype == ("float64" if dtype == "float64" else "float32")
    theirs = KernelPCA(landmarks=ours.landmarks_, gamma=ours.gamma_).fit(X.astype(places.dtype))
    assert np.abs(places - theirs.transform(X)).max() <= 1e-5 * np.abs(places).max()


def test_sparse_rows():
    X = scipy.sparse.random(600, 40, 0.1, "csr", random_state=1)
    ours = IncrementalKernelPCA(3, kernel="cosine", n_landmarks=50, random_state=0)
    for at in range(0, 600, 200):
        ours.partial_fit(X[at:at + 200])
    theirs = KernelPCA(3, kernel="cosine", landmarks=ours.landmarks_).fit(X)
    agree(ours, theirs, X)


def test_pickles_go_on(X):
    half = pickle.loads(pickle.dumps(
        IncrementalKernelPCA(2, n_landmarks=50, random_state=0).partial_fit(X[:300])))
    whole = pickle.loads(pickle.dumps(half.partial_fit(X[300:])))
    assert whole.n_samples_seen_ == 900
    agree(whole, KernelPCA(landmarks=half.landmarks_, gamma=half.gamma_).fit(X), X)
    assert np.array_equal(whole.transform(X), half.transform(X))


@slow
def test_pipelines_and_names(X):
    made = make_pipeline(StandardScaler(), IncrementalKernelPCA(3, random_state=0)).fit(X)
    assert list(made[-1].get_feature_names_out()) == [f"incrementalkernelpca{k}" for k in range(3)]
    assert made.transform(X[:4]).shape == (4, 3)


def test_rows_that_are_refused_change_nothing(X):
    ours = IncrementalKernelPCA(2, n_landmarks=50, random_state=0)
    refuses(NotFittedError, "", ours.transform, X)
    assert not hasattr(ours, "eigenvalues_") and not hasattr(ours, "report_")
    refuses(ValueError, "1 sample", ours.partial_fit, X[:1])
    ours.partial_fit(X)
    places = ours.transform(X[:9])
    for wrong, words in ((X[:, :3], "3 features"), (np.full((3, 5), np.nan), "NaN"),
                         (X[:0], "0 sample")):
        refuses(ValueError, words, ours.partial_fit, wrong)
    assert ours.n_samples_seen_ == 900 and np.array_equal(ours.transform(X[:9]), places)


@slow
def test_batches_of_wide_sparse_rows_go_by_their_entries(tmp_path):
    X = scipy.sparse.random(900, 60_000, 2e-4, "csr", np.float32, random_state=0)
    store = stored(tmp_path / "s.nys", X)
    assert store.report.format == "sparse"
    for rows in X, store:  # 64 MB are 139 rows that are dense
        ours = IncrementalKernelPCA(n_landmarks=200, kernel="linear", random_state=0).fit(rows)
        assert len(ours.landmarks_) == 200
        assert ours.report_.parts == 1


@slow
def test_the_first_batch_has_landmarks_to_choose_from(monkeypatch, X):
    monkeypatch.setattr(incremental, "BATCH_BYTES", 8 * 5 * 20)  # 20 rows
    ours = IncrementalKernelPCA(n_landmarks=50, random_state=0).fit(X)
    assert len(ours.landmarks_) == 50 and ours.report_.parts == 1 + (900 - 200) // 20
    given = IncrementalKernelPCA(landmarks=X[:50]).fit(X)
    assert given.report_.parts == 900 // 20
    with pytest.warns(nystream.NystreamWarning, match="batch_size=30 is less than n_landmarks=50"):
        assert len(clone(ours).set_params(batch_size=30).fit(X).landmarks_) == 30
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(clone(ours).fit(X[:40]).landmarks_) == 40


@pytest.mark.parametrize("changed", [{"n_components": 3}, {"gamma": 0.2}, {"kernel": "laplacian"}])
def test_parameters_of_batches_before_cannot_change(X, changed):
    made = IncrementalKernelPCA(gamma=0.1, n_landmarks=40, random_state=0).partial_fit(X[:450])
    name, = changed
    with pytest.raises(nystream.UsageError, match=f"^{name}=.*batches had {name}=.*fit.. to start"):
        made.set_params(**changed).partial_fit(X[450:])
    assert made.n_samples_seen_ == 450
    assert made.fit(X).transform(X).shape == (900, made.n_components)
    assert made.partial_fit(X).n_samples_seen_ == 1800
