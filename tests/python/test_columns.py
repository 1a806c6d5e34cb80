"""Columns by their names, whatever the rows come in: sums, iterables, pieces, Dask, landmarks."""
import pickle
import sys
import types

import arrow_made
import numpy as np
import pytest
import scipy.sparse
from conftest import cells_of, refuses, stored

import nystream
from nystream import __main__, _batch, _data

pytestmark = pytest.mark.slow
pandas = pytest.importorskip("pandas")
NAMES = ["a", "b", "c"]
SHARED = {"gamma": 0.2, "components": 2}


@pytest.fixture
def frame():
    """Return 400 rows of three columns of different spread, with names."""
    return pandas.DataFrame(np.random.default_rng(3).normal(size=(400, 3)) * (1, 3, 9),
                            columns=NAMES)


@pytest.fixture
def turned(frame):
    """Return them with the columns in another order, and one more."""
    return frame[["c", "a", "b"]].assign(more=7.0)


def close(ours, theirs):
    """Compare places that come of other sums, up to signs."""
    return np.allclose(np.abs(ours), np.abs(theirs), atol=1e-4)


class Again:
    """Gives pieces of rows each time that it is iterated, as a loader does."""

    def __init__(self, *pieces):
        self.pieces = pieces

    def __iter__(self):
        return iter(self.pieces)


class Batches:
    """Gives batches as a file or a data set of pyarrow does."""

    def __init__(self, method, *pieces):
        setattr(self, method, lambda: iter(pieces))


class ArrowBatch(arrow_made.ArrowArray):
    """Stands in for a RecordBatch of pyarrow, with names."""

    def __init__(self, frame):
        made = [arrow_made.column(name, np.ascontiguousarray(frame[name])) for name in frame]
        super().__init__(*arrow_made.record(made, len(frame)))
        self._frame, self.column_names = frame, list(frame)

    def select(self, names):
        """Return a batch of the columns of these names."""
        return ArrowBatch(self._frame[names])

    def __getitem__(self, name):
        return self._frame[name].to_numpy()


class Reader(arrow_made.ArrowStream):
    """Stands in for a RecordBatchReader of pyarrow, which has no names beside those of batches."""

    def __init__(self, frame):
        self._batch = ArrowBatch(frame)
        super().__init__(self._batch.schema, [self._batch.array])

    def read_next_batch(self):
        """Give one batch."""
        return self._batch

    def __iter__(self):
        return iter([self._batch])


def in_pieces(frame):
    """Containers of the rows of a frame."""
    half = len(frame) // 2
    return {"iterator": iter([frame[:half], frame[half:]]),
            "iterable": Again(frame[:half], frame[half:]),
            "pairs": Again((frame[:half], np.zeros(half)), [frame[half:], np.zeros(half)]),
            "lists": Again([frame[:half]], [frame[half:]]),
            "to_batches": Batches("to_batches", ArrowBatch(frame[:half]), ArrowBatch(frame[half:])),
            "iter_batches": Batches("iter_batches", ArrowBatch(frame)),
            "reader": Reader(frame)}


KINDS = ["iterator", "iterable", "pairs", "lists", "to_batches", "iter_batches", "reader"]


@pytest.mark.parametrize("kind", KINDS)
def test_pieces_are_put_in_the_order_of_a_store(tmp_path, frame, turned, kind):
    store = stored(tmp_path / "s.nys", frame, labels=np.zeros(400) if kind == "pairs" else None)
    result = store.fit("map", landmarks=50)
    expected = result.transform(frame)
    assert np.array_equal(result.transform(in_pieces(turned)[kind]), expected)
    assert np.array_equal(result.model().transform(in_pieces(turned)[kind]), expected)
    store.append(in_pieces(turned)[kind])
    assert np.array_equal(store[400:], frame)
    with pytest.raises(nystream.DataError, match="X has no column 'b', which"):
        store.append(in_pieces(frame[["a", "c"]])[kind])
    assert len(store) == 800


def test_pieces_of_a_new_store_follow_the_first(tmp_path, frame):
    for make in iter, lambda pieces: Again(*pieces):
        store = nystream.open(tmp_path / make.__name__.strip("<>"))
        store.append(make([frame[:100], frame[["b", "a", "c"]][100:]]))
        assert np.array_equal(store[:], frame)
        with pytest.raises(nystream.DataError, match="no column 'b', which the first piece has"):
            nystream.open(tmp_path / "new").append(make([frame, frame[["a", "c"]]]))
        with pytest.raises(nystream.DataError, match=f"no column 'b', which {store.path} has"):
            store.append(make([frame, frame[["a", "c"]]]))


def test_sums_find_columns_of_the_landmarks_by_name(frame, turned):
    expected = nystream.Sums(frame[:60].to_numpy(), **SHARED).add(frame.to_numpy()).solve()
    places = expected.transform(frame.to_numpy())
    for make in lambda sums: sums, lambda sums: pickle.loads(pickle.dumps(sums)), \
            lambda sums: sums.copy(), \
            lambda sums: nystream.Sums(frame[:60], **SHARED).merge(sums):
        sums = make(nystream.Sums(frame[:60], **SHARED))
        model = sums.add(frame[:200][["b", "c", "a"]]).add(frame[200:]).solve()
        assert close(model.transform(frame.to_numpy()), places)
        assert close(model.transform(frame[["c", "b", "a"]]), places)
    with pytest.raises(nystream.DataError, match="no columns 'b', 'c', which the table of landm"):
        sums.add(frame[["a"]])
    sums.add(turned)


def test_sums_find_columns_of_the_first_rows_by_name(frame):
    landmarks = frame[:60].to_numpy()
    expected = nystream.Sums(landmarks, **SHARED).add(frame.to_numpy()).solve()
    sums = nystream.Sums(landmarks, **SHARED).add(frame[:100])
    other = nystream.Sums(landmarks, **SHARED).merge(sums)
    other.add(frame[100:][["c", "b", "a"]])
    places = expected.transform(frame.to_numpy())
    assert close(other.solve().transform(frame[["b", "a", "c"]]), places)


def test_landmarks_in_a_frame_are_put_in_order(tmp_path, frame, turned):
    store = stored(tmp_path / "s.nys", frame)
    expected = store.fit("array", landmarks_points=frame[:60].to_numpy(), gamma=0.1)
    found = store.fit("frame", landmarks_points=turned[:60][["b", "c", "a"]], gamma=0.1)
    assert np.array_equal(found.embedding[:], expected.embedding[:])
    pytest.importorskip("sklearn")
    ours = [nystream.KernelPCA(gamma=0.1, landmarks=points).fit_transform(frame)
            for points in (frame[:60].to_numpy(), frame[:60][["b", "c", "a"]])]
    assert np.array_equal(*ours)
    with pytest.raises(nystream.DataError, match="^landmarks_points has no column 'b'"):
        store.fit("few", landmarks_points=frame[:60][["a", "c"]])


@pytest.mark.parametrize("gamma", [0.1, None])
def test_landmarks_of_batches_are_put_in_the_order_of_these(frame, turned, gamma):
    pytest.importorskip("sklearn")
    options = {"gamma": gamma, "batch_size": 50, "random_state": 0}
    expected = nystream.IncrementalKernelPCA(landmarks=frame[:60].to_numpy(), **options).fit(frame)
    found = nystream.IncrementalKernelPCA(landmarks=turned[:60], **options).fit(frame)
    assert np.array_equal(found.landmarks_, expected.landmarks_)
    assert np.array_equal(found.transform(frame), expected.transform(frame))
    lacking = nystream.IncrementalKernelPCA(landmarks=frame[:60][["a", "c"]], **options)
    refuses(nystream.DataError, "^landmarks has no column 'b', which X has", lacking.fit, frame)
    by_place = nystream.IncrementalKernelPCA(landmarks=turned[["c", "a", "b"]][:60], **options)
    stand = by_place.fit(frame.to_numpy()).landmarks_
    assert np.array_equal(stand[:, 1], expected.landmarks_[:, 0])


@pytest.mark.parametrize("kind", ["backed", "file"])
def test_sparse_rows_in_files_may_lack_columns(tmp_path, kind, monkeypatch, anndata):
    X = scipy.sparse.random(60, 4, 0.5, "csr", random_state=1, dtype=np.float32)
    var = pandas.DataFrame(index=["a", "b", "c", "d"])
    store = stored(tmp_path / "s.nys", cells_of(X, var=var, dtype=X.dtype), layout="sparse")
    few = cells_of(X[:, [2, 0, 1]], var=var.iloc[[2, 0, 1]], dtype=X.dtype)
    few.write_h5ad(tmp_path / "x.h5ad")
    result = store.fit("map", landmarks=20, kernel="linear")
    expected = result.transform(few)
    monkeypatch.setattr(_batch, "SLICE_BYTES", 20 * 12)
    rows = tmp_path / "x.h5ad"
    rows = rows if kind == "file" else anndata.read_h5ad(rows, backed="r")
    assert len(list(_data.batches(rows)[1])) > 3
    assert np.allclose(result.transform(rows), expected, atol=1e-6)


def test_estimators_compare_names_of_tables_of_arrow(frame):
    pytest.importorskip("sklearn")

    class Table(ArrowBatch):
        def __array__(self, dtype=None):
            return self._frame.to_numpy(dtype)

    ours = nystream.KernelPCA(n_landmarks=50).fit(Table(frame))
    assert list(ours.feature_names_in_) == NAMES
    refuses(ValueError, "in the same order", ours.transform, Table(frame[["b", "a", "c"]]))


# ---- Dask --------------------------------------------------------------------------------------


@pytest.fixture
def dask_frame(frame):
    """Return the frame in three partitions."""
    return pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=3)


def test_a_fit_of_dask_finds_columns_by_name(frame, dask_frame):
    import nystream.dask

    expected = nystream.Sums(frame[:60].to_numpy(), **SHARED).add(frame.to_numpy()).solve()
    places = expected.transform(frame.to_numpy())
    for landmarks, rows in ((frame[:60][["c", "a", "b"]], dask_frame),
                            (frame[:60], dask_frame[["b", "c", "a"]]),
                            (frame[:60].to_numpy(), dask_frame)):
        model = nystream.dask.fit(rows, landmarks, **SHARED)
        turned = nystream.dask.transform(model, dask_frame[["c", "b", "a"]]).compute()
        assert close(turned, places)


ESTIMATORS = [("KernelPCA", {"n_landmarks": 50}), ("PCA", {}), ("TruncatedSVD", {}),
              ("Nystroem", {"n_components": 20}), ("SpectralEmbedding", {"n_landmarks": 50}),
              ("DiffusionMap", {"n_landmarks": 50}), ("Isomap", {"n_landmarks": 100}),
              ("KNeighborsTransformer", {}), ("IncrementalKernelPCA", {"n_landmarks": 50})]


@pytest.mark.parametrize("name, options", ESTIMATORS, ids=[name for name, _ in ESTIMATORS])
@pytest.mark.parametrize("form", ["frame", "array"])
@pytest.mark.filterwarnings("ignore:the graph of neighbours has")
def test_estimators_take_frames_of_dask(frame, dask_frame, name, options, form):
    pytest.importorskip("sklearn")
    rows = dask_frame if form == "frame" else dask_frame.to_dask_array()  # its length is unknown
    ours = getattr(nystream, name)(**options, random_state=0).fit(rows)
    theirs = getattr(nystream, name)(**options, random_state=0).fit(frame)
    as_array = [found.toarray() if scipy.sparse.issparse(found) else found
                for found in (ours.transform(rows), theirs.transform(frame))]
    assert np.array_equal(*as_array)
    if form == "frame":
        assert list(ours.feature_names_in_) == NAMES
        refuses(ValueError, "in the same order", ours.transform, dask_frame[["b", "a", "c"]])


def test_clusters_and_embeddings_of_frames_of_dask(tmp_path, frame, dask_frame):
    pytest.importorskip("sklearn")
    options = {"n_clusters": 3, "n_landmarks": 50, "random_state": 0}
    ours = nystream.SpectralClustering(**options).fit(dask_frame)
    assert np.array_equal(ours.labels_, nystream.SpectralClustering(**options).fit(frame).labels_)
    assert np.array_equal(nystream.embed(dask_frame, landmarks=50),
                          nystream.embed(frame, landmarks=50))
    named = dask_frame.set_index(dask_frame["a"].astype(str))
    store = stored(tmp_path / "s.nys", named)
    assert np.array_equal(store[:], named.compute()) and list(store.column_names) == NAMES


def test_files_of_arrow_by_the_command(tmp_path, frame, monkeypatch, capsys):
    """`python3 -m nystream import` streams what pyarrow reads, which stands in here."""
    opened = []

    def dataset(file, format):
        opened.append((file, format))
        return Batches("to_batches", *(ArrowBatch(part.assign(kind=1)) for part in
                                       (frame[:150], frame[150:])))

    monkeypatch.setitem(sys.modules, "pyarrow", types.SimpleNamespace(
        dataset=types.SimpleNamespace(dataset=dataset)))

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["nystream", "import", *map(str, arguments)])
        return __main__.main(), capsys.readouterr().err

    path = tmp_path / "s.nys"
    assert run(path, "a.parquet", "b.feather", "--label-column", "kind",
               "--dtype", "f64") == (0, "nystream: 800 rows of 3 columns imported\n")
    store = nystream.open(path)
    assert opened == [("a.parquet", "parquet"), ("b.feather", "feather")]
    assert np.array_equal(store[:], np.concatenate([frame, frame])) and store.dtype == np.float64
    assert list(store.column_names) == list(frame) and set(store.labels[:]) == {1}
    assert run(path, "a.parquet") == (2, f"nystream: {path} has rows already; --append adds to "
                                         "them\n")
    assert run(path, "a.csv", "--append")[0] == 2
    assert run(path, "a.arrow", "--append", "--label-column", "kind")[0] == 0
    assert len(nystream.open(path)) == 3 * len(frame)
    assert run(path, "a.arrow", "--append", "--dtype", "u9")[0] == 2
    refuses(SystemExit, "2", run, path, "a.arrow", "--landmarks", "3")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert run(path, "a.parquet", "--append")[0] == 4
