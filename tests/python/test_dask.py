"""Fits of arrays of Dask: chunks are added to a sum on each worker, and placed one by one."""
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

import checks  # noqa: E402
from conftest import refuses, stored  # noqa: E402
import nystream  # noqa: E402
import nystream.dask  # noqa: E402

SHARED = {"gamma": 0.05, "components": 3}


@pytest.fixture
def landmarks(rows):
    """40 points between rows."""
    return (rows[::50] + rows[1::50]) / 2


@pytest.fixture
def whole(store, landmarks):
    """One fit of all rows over them."""
    return store.fit("whole", landmarks_points=landmarks, **SHARED)


def close(ours, theirs, most=1e-6):
    return np.abs(ours - theirs).max() <= most * np.abs(theirs).max()


@pytest.mark.parametrize("chunks", [(2000, 6), (170, 6), ((1, 999, 1000), 4)])
def test_chunks_are_one_fit(rows, landmarks, whole, chunks):
    X = da.from_array(rows, chunks=chunks)
    with dask.config.set(scheduler="threads"):
        model = nystream.dask.fit(X, landmarks, **SHARED)
        places = nystream.dask.transform(model, X)
        assert places.chunks == (X.chunks[0], (3,)) and places.dtype == np.float32
        found = places.compute()
    assert close(found, whole.embedding[:])
    assert np.array_equal(found, model.transform(rows))
    assert model._context.threads is None  # the tasks have one
    assert model.solution.n == 2000 and model.solution.parts == len(X.chunks[0])
    assert np.allclose(model.solution.eigenvalues, whole.eigenvalues, rtol=1e-6)


def test_a_sample_chooses_landmarks_and_width(rows, store):
    exact = store.fit("exact", approx="exact", components=3)
    sparse = scipy.sparse.csr_matrix(rows)
    blocks = [dask.delayed(sparse[at:at + 500]) for at in range(0, 2000, 500)]
    sparse = da.concatenate([da.from_delayed(block, (500, 6), "f4", meta=np.empty((0, 0)))
                             for block in blocks])
    for X in (da.from_array(rows, chunks=((1, 999, 1000), 4)), sparse):
        with dask.config.set(scheduler="threads"):
            model = nystream.dask.fit(X, accuracy="2%", components=3)
            few = nystream.dask.fit(X, np.int64(20), components=3, gamma=0.05, select="uniform")
            wide = nystream.dask.fit(X, scipy.sparse.csr_matrix(rows[::50]), components=3)
        assert np.isclose(wide.report["gamma"], model.report["gamma"], rtol=0.05)
        assert np.isclose(model.report["gamma"], exact.report.gamma, rtol=0.1)
        assert np.allclose(model.solution.eigenvalues, exact.eigenvalues, rtol=0.05)
        assert model.solution.n == 2000 and few.solution.landmarks == 20
        assert few.report["gamma"] == 0.05


@pytest.mark.slow
def test_a_sample_has_as_many_of_a_hundred_of_each_chunk(monkeypatch):
    pandas, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    monkeypatch.setattr(nystream.dask, "SAMPLE_ROWS", 300)
    frame = pandas.DataFrame({"x": np.arange(3000.0)})
    for X in (da.arange(3000, chunks=((2000, 0, 900, 100),))[:, None],
              dd.from_pandas(frame, npartitions=40)):  # a frame does not know its lengths
        sample = np.concatenate(nystream.dask._Fit(X, {}, None).sample[0])[:, 0]
        assert len(np.unique(sample)) == len(sample) and 270 <= len(sample) <= 330
        parts = np.histogram(sample, [0, 2000, 2900, 3000])[0] / len(sample)
        assert np.allclose(parts, [2 / 3, 0.3, 1 / 30], atol=0.03)


@pytest.mark.slow
def test_processes(rows, landmarks, whole):
    X = da.from_array(rows, chunks=(700, 6))
    with dask.config.set(scheduler="processes", num_workers=2):
        model = nystream.dask.fit(X, landmarks, **SHARED)
        assert close(nystream.dask.transform(model, X).compute(), whole.embedding[:])


@pytest.mark.slow
def test_the_number_of_workers_does_not_change_bytes(rows, landmarks):
    X = da.from_array(rows, chunks=(150, 6))
    images = set()
    for workers in (1, 3):
        with dask.config.set(scheduler="threads", num_workers=workers):
            images.add(nystream.dask.fit(X, landmarks, sums=3, **SHARED).to_bytes())
    assert len(images) == 1


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # tornado warns distributed
def test_a_worker_that_ends_changes_no_byte(rows, landmarks, tmp_path):
    distributed = pytest.importorskip("distributed")
    ending = dask.delayed(checks.ending)
    chunks = [da.from_delayed(ending(part, str(tmp_path / "m") if k == 5 else None), part.shape,
                              part.dtype)
              for k, part in enumerate(np.array_split(rows, 8))]
    X = da.concatenate(chunks)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None,
                                  local_directory=tmp_path) as cluster:
        with distributed.Client(cluster):
            model = nystream.dask.fit(X, landmarks, **SHARED)
            assert (tmp_path / "m").exists()
            places = nystream.dask.transform(model, X).compute()
    with dask.config.set(scheduler="threads"):
        assert model.to_bytes() == nystream.dask.fit(X, landmarks, sums=2, **SHARED).to_bytes()
    assert np.array_equal(places, model.transform(rows))


def test_frames_and_double_precision(rows, landmarks, store):
    pandas, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    frame = dd.from_pandas(pandas.DataFrame(rows), npartitions=3)
    options = {**SHARED, "precision": "f64", "map": "diffusion", "averages": "landmarks"}
    model = nystream.dask.fit(frame, landmarks, **options)
    places = nystream.dask.transform(model, frame).compute()
    assert places.dtype == np.float64
    assert close(places, store.fit("f64", landmarks_points=landmarks, **options).embedding[:])


@pytest.mark.slow
def test_sparse_chunks(tmp_path):
    X = scipy.sparse.random(600, 40, 0.1, "csr", random_state=1)
    blocks = da.from_array(np.arange(600)[:, None], chunks=(200, 1)).map_blocks(
        lambda at: X[at[0, 0]:at[0, 0] + len(at)], dtype=float, chunks=((200,) * 3, 40),
        meta=np.empty((0, 0)))
    points = X[:60].toarray()
    points = points[points.any(axis=1)][:40]
    options = {"kernel": "cosine", "components": 3}
    model = nystream.dask.fit(blocks, scipy.sparse.csr_matrix(points), **options)
    store = stored(tmp_path / "s.nys", X)
    result = store.fit("m", landmarks_points=scipy.sparse.csr_matrix(points), **options)
    assert close(nystream.dask.transform(model, blocks).compute(), result.embedding[:], 1e-5)


def test_chunks_may_be_equal(rows, landmarks):
    model = nystream.dask.fit(da.from_array(np.tile(rows, (3, 1)), chunks=(500, 6)), landmarks,
                              **SHARED)
    assert model.solution.n == 6000 and model.solution.parts == 12


def test_what_is_refused(rows, landmarks):
    X = da.from_array(rows, chunks=(500, 6))
    with pytest.raises(nystream.UsageError, match='approx="randomized"'):
        nystream.dask.fit(da.where(X > 8, np.nan, X), approx="randomized")  # looks at no row
    with pytest.raises(ValueError, match="accuracy= chooses landmarks"):
        nystream.dask.fit(X, landmarks, accuracy="1%", **SHARED)
    refuses(nystream.UsageError, "kernel=", nystream.dask.fit, X, landmarks, kernel="rfb")
    with pytest.raises(nystream.DataError, match="chunk [0-3] of X.*NaN"):
        nystream.dask.fit(da.where(X > 8, np.nan, X), landmarks, **SHARED)
    for wrong in (rows, X[:, 0], [1, 2]):
        refuses(ValueError, "", nystream.dask.fit, wrong, landmarks, **SHARED)
    refuses(nystream.UsageError, "no rows yet", nystream.dask.fit, X[:0], landmarks, **SHARED)


def test_dask_is_imported_when_it_is_named():
    code = ("import sys, nystream; assert 'dask' not in sys.modules; nystream.dask.fit; "
            "assert 'dask' in dir(nystream)")
    source = str(Path(nystream.__file__).parents[1])
    subprocess.run([sys.executable, "-c", f"import sys; sys.path.insert(0, {source!r}); {code}"],
                   check=True)


@pytest.mark.slow
@pytest.mark.parametrize("fit", [
    lambda X: nystream.KernelPCA(2, n_landmarks=20).fit(X).transform(X),
    lambda X: nystream.PCA(2).fit(X).transform(X),
    lambda X: nystream.TruncatedSVD(2).fit_transform(X),
    lambda X: nystream.IncrementalKernelPCA(2, n_landmarks=20, gamma=0.01,
                                            batch_size=2000).fit(X).transform(X),
    lambda X: nystream.SpectralClustering(2, n_landmarks=20).fit_predict(X),
    lambda X: nystream.embed(X, landmarks=20),
], ids=["KernelPCA", "PCA", "TruncatedSVD", "IncrementalKernelPCA", "SpectralClustering", "embed"])
def test_estimators_hold_some_chunks_at_a_time(fit, tmp_path, monkeypatch):
    """An array of 64 MB takes less than a quarter of that, while it goes to temporary files."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    made = [da.from_delayed(dask.delayed(lambda i: np.random.default_rng(i).random((1000, 250)))(i),
                            (1000, 250), "f8") for i in range(32)]
    X = da.concatenate(made)
    fit(X[:2000])  # imports it all
    tracemalloc.start()
    try:
        with dask.config.set(scheduler="synchronous"):
            assert len(fit(X)) == 32_000
        assert tracemalloc.get_traced_memory()[1] < 16e6
    finally:
        tracemalloc.stop()
