"""Rows of every kind that append() takes: the same store, whatever they come in."""
import tempfile
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from conftest import cells_of, grid, read_back, refuses, stored

import nystream
from nystream import _batch, _data

slow = pytest.mark.slow
STORED = {"bool": "uint8", "uint8": "uint8", "int8": "int16", "int16": "int16",
          "uint16": "float32", "float16": "float32", "float32": "float32", "int32": "float64",
          "uint32": "float64", "int64": "float64", "uint64": "float64", "float64": "float64"}


@pytest.mark.parametrize("dtype", STORED)
def test_types(tmp_path, dtype):
    back = read_back(tmp_path, grid(dtype))
    assert back.dtype == STORED[dtype] and np.array_equal(back, grid(dtype))


def test_prepared(tmp_path):
    X = (grid() % 5 * (np.arange(7) % 3)).astype("uint8")
    X[3] = 0
    sums = np.where(X.sum(axis=1), X.sum(axis=1), 1)[:, None]
    want = np.log1p(X * (10000 / sums)).astype("float32")
    for given in X, scipy.sparse.csr_array(X):
        back = read_back(tmp_path, given, rows="total:10000", values="log1p")
        assert back.dtype == np.float32 and np.allclose(back, want, rtol=1e-6, atol=0)
    store = nystream.open(tmp_path / "p.nys")
    assert store.append(X, values="binary").prepared_values == "binary"
    store.append(X)
    assert np.array_equal(store[500:], X != 0)
    refuses(nystream.NystreamError, "binary", store.append, X, values="sqrt")


@pytest.mark.parametrize("sparse", [False, True])
def test_appended_to_another_type(tmp_path, monkeypatch, sparse):
    kind = scipy.sparse.csr_matrix if sparse else np.asarray
    store = stored(tmp_path / "a.nys", kind(grid("float32")))
    fine = grid() / 10
    fine[:7] = 1
    monkeypatch.setattr(_batch, "SLICE_BYTES", 64 * 7 * 8)  # many slices
    store.append(kind(grid() + 1))
    store.append(kind(fine) if sparse else fine[:, ::-1])
    assert np.array_equal(store[1000:], (fine if sparse else fine[:, ::-1]).astype("f4"))
    whole = stored(tmp_path / "b.nys", kind(grid("uint8")))
    refuses(nystream.DataError, "column 0 .both from 0.", whole.append, kind(fine))
    with pytest.raises(nystream.DataError, match="column 6 .both from 0."):
        fine[:], fine[-1, -1] = 3, -1
        whole.append(kind(fine))


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_matrix])
def test_pieces_of_a_wider_type(tmp_path, kind):
    fine = grid() / 10
    store = nystream.open(tmp_path / "a.nys")
    store.append(iter([kind(grid("float32")), kind(grid()), kind(fine), kind(fine)]))
    assert np.array_equal(store[-len(fine):], fine.astype("f4"))


LAYOUTS = {
    "reversed": lambda X: X[::-1],
    "every second row": lambda X: X[::2],
    "every second column": lambda X: X[:, ::2],
    "reversed columns": lambda X: X[:, ::-1],
    "a range of columns": lambda X: X[:, 2:5],
    "Fortran": np.asfortranarray,
    "one row": lambda X: X[3:4],
    "one column": lambda X: X[:, 3:4],
    "the same row": lambda X: np.broadcast_to(X[2], X.shape),
    "big-endian": lambda X: X.astype(X.dtype.newbyteorder(">")),
    "of a list": lambda X: X.tolist(),
    "objects": lambda X: X.astype(object),
    "masked, no mask": lambda X: np.ma.masked_invalid(X),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts(tmp_path, name):
    X = LAYOUTS[name](grid())
    assert np.array_equal(read_back(tmp_path, X), np.asarray(X, dtype=float))


def test_rows_that_lie_badly_in_memory(tmp_path):
    read_only = grid()
    read_only.flags.writeable = False
    assert np.array_equal(read_back(tmp_path, read_only), grid())
    text = b"\0" + grid().tobytes()
    misaligned = np.frombuffer(text, dtype=np.uint8)[1:].view(np.float64).reshape(500, 7)
    assert not misaligned.flags.aligned
    assert np.array_equal(read_back(tmp_path, misaligned), grid())


def test_memory_maps_and_slices_of_them(tmp_path):
    np.save(tmp_path / "x.npy", grid("float32"))
    X = np.load(tmp_path / "x.npy", mmap_mode="r")
    for part in (X, X[200:], X[:, 1:4], X[::3]):
        assert np.array_equal(read_back(tmp_path, part), part)


def test_arrays_are_not_copied():
    X = grid("float32")
    for part in (X, X[3:], X[:, 1:4], X[::2]):
        whole, found = _data.batches(part)
        assert whole and np.shares_memory(next(found).values, X)
    csr = scipy.sparse.csr_matrix(X)
    whole, found = _data.batches(csr)
    assert whole and np.shares_memory(next(found).values, csr.data)


def nothing_wrong_with(X):
    return list(_data.batches(X)[1])


@pytest.mark.parametrize("X, words", [
    (np.ones((3, 2), complex), "Complex data not supported"),
    (scipy.sparse.csr_matrix(np.ones((3, 2), complex)), "Complex data not supported"),
    (np.array([[1j, 2]], object), "Complex data not supported"),
    (np.array([["a", "b"]]), "could not convert string to float"),
    (np.array([[1.0, "b"]], object), "could not convert string to float"),
    (np.ones(3), "Expected 2D array, got 1D array instead.*Reshape your data"),
    (np.ones((3, 2, 2)), "Expected 2D array, got 3D"),
    (np.float64(3), "Expected 2D array, got 0D"),
    (np.array([[2 ** 60, 1]]), "beyond 2.53"),
    (np.array([["2020-01-01"]], "M8[D]"), "dates and times"),
    (np.ma.masked_equal(np.arange(6).reshape(3, 2), 4), "masked"),
    (7, "X is int"),
])
def test_refusals(X, words):
    refuses(ValueError, words, nothing_wrong_with, X)


def test_missing_values_of_pandas_among_objects(tmp_path, pandas):
    gaps = np.array([1, pandas.NA, 3], dtype=object)
    beside = pandas.array([4, 5, None], dtype="Int64")
    for at, X in enumerate([gaps[:, None], pandas.DataFrame({"a": gaps}),
                            pandas.DataFrame({"a": gaps, "b": beside}),
                            pandas.DataFrame({"a": pandas.array(["1", None, "3"], "string")})]):
        store = nystream.open(tmp_path / f"{at}.nys")
        refuses(ValueError, "row 1.*NaN", store.append, X)
        store.append(X, nan="drop")
        assert np.array_equal(store[:], [[[1], [3]], [[1, 4]]][at == 2])
    for kind in pandas.interval_range(0, 3), pandas.period_range("2020", periods=3), [[1, 2]] * 3:
        with pytest.raises(ValueError, match="column 'a' of X holds .*, which is not a number"):
            store.append(pandas.DataFrame({"a": kind}))


@slow
def test_sparse_tensors_are_refused_in_words(torch):
    for X in torch.eye(3).to_sparse(), [torch.eye(3).to_sparse()]:
        refuses(ValueError, "layout torch.sparse_coo.*give X.to_dense", nothing_wrong_with, X)


@pytest.mark.parametrize("dtype", ["u1", "i2"])
@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_matrix])
def test_missing_values_behind_pieces_of_whole_numbers(tmp_path, dtype, kind):
    whole = np.arange(1, 13).reshape(4, 3)
    gaps = whole.astype("f4")
    gaps[[1, 3], [2, 0]] = np.nan, np.inf
    store = nystream.open(tmp_path / "gaps.nys")
    pieces = [kind(whole.astype(dtype)), kind(gaps)]
    refuses(nystream.DataError, r"row 1, column 2 .*NaN", store.append, iter(pieces))
    report = store.append(iter(pieces), nan="drop")
    assert report.dropped == 2 and store.dtype == np.dtype(dtype)
    assert np.array_equal(store[4:], whole[[0, 2]])


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_not_finite(tmp_path, value):
    X = grid()
    X[17, 3] = value
    refuses(ValueError, r"row 17, column 3 \(both from 0\): NaN or inf", read_back, tmp_path, X)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "bsr"])
def test_sparse_matrices(tmp_path, kind):
    X = scipy.sparse.random(300, 80, 0.05, kind, random_state=3)
    store = nystream.open(tmp_path / "s.nys")
    report = store.append(X)
    assert report.format == "sparse" and report.nnz == X.nnz
    assert np.array_equal(store[:], X.toarray())
    back = store.to_csr()
    assert back.dtype == np.float64 and (back != X.tocsr()).nnz == 0
    assert np.array_equal(store.to_csr(10, 20).toarray(), X.toarray()[10:20])
    dense = stored(tmp_path / "dense.nys", X.toarray())
    assert (dense.to_csr(5, 50) != X.tocsr()[5:50]).nnz == 0


@slow
def test_some_rows_of_many_entries_take_room_for_these(tmp_path):
    X = scipy.sparse.random(20_000, 300, 0.1, "csr", np.float32, random_state=3).tolil()
    X[7] = np.ones(300, np.float32)  # fuller than others
    store = stored(tmp_path / "s.nys", X)
    store.to_csr(0, 10)  # the store is open then
    for first, stop in ((0, 10), (7, 8), (19_990, 20_000), (5, 5)):
        tracemalloc.start()
        found = store.to_csr(first, stop)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert np.array_equal(found.toarray(), X[first:stop].toarray())
        assert most < store.report.nnz  # bytes: an eighth of a copy


def test_sparse_matrices_out_of_order_and_of_other_types(tmp_path):
    A = scipy.sparse.random(60, 50, 0.2, "csr", random_state=4)
    product = A.T.tocsr() @ A
    assert not product.has_sorted_indices
    assert np.allclose(read_back(tmp_path, product), product.toarray(), rtol=1e-15)
    assert not product.has_sorted_indices  # the caller's matrix is as it was
    wide = A.copy()
    wide.indices, wide.indptr = A.indices.astype(np.int64), A.indptr.astype(np.int64)
    assert np.array_equal(read_back(tmp_path, wide), A.toarray())
    counts = (A > 0).astype(np.int64)
    assert np.array_equal(read_back(tmp_path, counts), counts.toarray())
    empty = scipy.sparse.csr_matrix((5, 3))
    empty[2, 1] = 4
    assert np.array_equal(read_back(tmp_path, empty), empty.toarray())
    array = scipy.sparse.csr_array(A)
    assert np.array_equal(read_back(tmp_path, array), A.toarray())


def test_frames(tmp_path, pandas):
    X = grid()
    assert np.array_equal(read_back(tmp_path, pandas.DataFrame(X)), X)
    mixed = pandas.DataFrame({"a": [1, 2], "b": [0.5, 1.5], "c": [True, False]})
    assert np.array_equal(read_back(tmp_path, mixed), [[1, 0.5, 1], [2, 1.5, 0]])
    flagged = pandas.DataFrame({"a": np.float32([0.5, 1.5]), "flag": [True, False]})
    assert _batch.make_batch(flagged).values.dtype == np.float32
    assert np.array_equal(read_back(tmp_path, flagged), [[0.5, 1], [1.5, 0]])
    with pytest.raises(ValueError, match="integers beyond 2.53"):
        read_back(tmp_path, pandas.DataFrame({"a": [2 ** 53 + 1, 0], "flag": [True, False]}))
    nullable = pandas.DataFrame({"a": pandas.array([1, 2], "Int64")})
    assert np.array_equal(read_back(tmp_path, nullable), [[1], [2]])
    nullable = pandas.DataFrame({"a": pandas.array([1, None], "Int64")})
    refuses(ValueError, "NaN", read_back, tmp_path, nullable)
    with pytest.raises(ValueError, match="column 'a' of X holds 'x'"):
        read_back(tmp_path, pandas.DataFrame({"a": ["x", "y"]}))
    store = nystream.open(tmp_path / "labels.nys")
    store.append(pandas.DataFrame(X), labels=pandas.Series(np.arange(500)))
    assert np.array_equal(store.labels[:3], [0, 1, 2])


@slow
def test_datasets_of_files(tmp_path, monkeypatch, h5py, zarr, anndata):
    monkeypatch.setattr(_batch, "SLICE_BYTES", 64 * 7 * 8)  # many slices
    X = grid("float32")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        made = file.create_dataset("x", data=X, chunks=(50, 7))
        assert _data.slice_rows(made) == 50
        assert np.array_equal(read_back(tmp_path, made), X)
        assert np.array_equal(read_back(tmp_path, made, labels=np.arange(500)), X)
    assert np.array_equal(read_back(tmp_path, zarr.array(X, chunks=(33, 7))), X)
    for values in (X, scipy.sparse.csr_matrix(X)):
        whole = cells_of(values)
        assert np.array_equal(read_back(tmp_path, whole), X)
        whole.write_h5ad(tmp_path / "x.h5ad")
        backed = anndata.read_h5ad(tmp_path / "x.h5ad", backed="r")
        assert np.array_equal(read_back(tmp_path, backed), X)
        backed.file.close()


def test_anything_with_a_shape_and_slices(tmp_path, monkeypatch):
    class Rows:
        shape, dtype = (500, 7), np.dtype("i4")

        def __getitem__(self, rows):
            asked.append(rows)
            return grid("int32")[rows]

    asked = []
    monkeypatch.setattr(_batch, "SLICE_BYTES", 100 * 7 * 8)
    assert np.array_equal(read_back(tmp_path, Rows()), grid())
    assert asked == [slice(first, first + 100) for first in range(0, 500, 100)]


def test_iterators(tmp_path):
    X = grid()
    pieces = [X[:100], X[100:101], X[101:101], np.asfortranarray(X[101:])]
    assert np.array_equal(read_back(tmp_path, iter(pieces)), X)
    sparse = [scipy.sparse.csr_matrix(piece) for piece in pieces]
    assert np.array_equal(read_back(tmp_path, (piece for piece in sparse)), X)
    store = nystream.open(tmp_path / "pairs.nys")
    store.append((X[first:first + 50], np.full(50, first)) for first in range(0, 500, 50))
    assert np.array_equal(store[:], X)
    assert np.array_equal(np.unique(store.labels[:]), np.arange(0, 500, 50))
    refuses(nystream.DataError, "no rows", read_back, tmp_path, iter([]))
    refuses(ValueError, "pairs", read_back, tmp_path, iter(pieces), labels=np.zeros(500))


def test_an_iterator_that_fails_leaves_nothing(tmp_path):
    def rows():
        yield grid()
        raise RuntimeError("the network is down")

    store = nystream.open(tmp_path / "s.nys")
    refuses(RuntimeError, "network", store.append, rows())
    store.append(grid()[:3])
    assert store.shape == (3, 7)


class Tensor:
    """Stands in for a tensor that speaks DLPack alone."""

    def __init__(self, values):
        self.values, self.shape = values, values.shape

    def __getitem__(self, rows):
        return Tensor(self.values[rows])

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


def test_tensors(tmp_path):
    assert np.array_equal(read_back(tmp_path, Tensor(grid("float32"))), grid())


@slow
@settings(max_examples=60, deadline=None, database=None,
          suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), dtype=st.sampled_from(sorted(STORED)), order=st.sampled_from("CF"),
       rows=st.integers(1, 60), columns=st.integers(1, 9), sparse=st.booleans(),
       labels=st.booleans())
def test_same_store_as_the_file(tmp_path, data, dtype, order, rows, columns, sparse, labels):
    """The blocks of a store are the same bytes as those of an npy file with the same rows."""
    down, right = data.draw(st.sampled_from([1, 2, -1])), data.draw(st.sampled_from([1, 2, -1]))
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    size = (2 * rows, 2 * columns)
    base = random.integers(0, 5, size) * random.integers(0, 2, size)
    made = np.array(base.astype("f4" if sparse and dtype == "float16" else dtype), order=order)
    X = made[::down, ::right][:rows, :columns]
    # scipy has no sparse float16, and files that the library reads have none of its lesser types.
    file_rows = np.ascontiguousarray(X.astype(STORED[X.dtype.name]))
    names = random.integers(0, 3, len(X)).astype(float) if labels else None
    folder = Path(tempfile.mkdtemp(dir=tmp_path))
    np.save(folder / "x.npy", file_rows)
    layout = "sparse" if sparse else "dense"
    options = {"layout": layout}
    if labels:
        np.save(folder / "y.npy", names)
        options["labels"] = folder / "y.npy"
    ours, theirs = nystream.open(folder / "a.nys"), nystream.open(folder / "b.nys")
    theirs.append_files(folder / "x.npy", **options)
    ours.append(scipy.sparse.csr_matrix(X) if sparse else X, labels=names, layout=layout)
    assert np.array_equal(ours[:], theirs[:]) and np.array_equal(ours[:], X)
    same = ["n", "d", "dtype", "format", "nnz", "bytes", "compressed_bytes", "labels",
            "mean_square_norm"]
    assert {key: ours.report[key] for key in same} == {key: theirs.report[key] for key in same}
    if labels:
        assert np.array_equal(ours.labels[:], theirs.labels[:])
