"""Names of rows and of columns: into a store with its rows, and back."""
import pickle
import tempfile
import warnings
from pathlib import Path

import arrow_made
import numpy as np
import pytest
import scipy.sparse
from conftest import need_hdf5_reader, refuses, stored

import nystream
from nystream import _columns

pytestmark = pytest.mark.slow
CELLS, GENES = [f"cell {i}" for i in range(50)], ["a", "b", "\u03b2-actin"]


@pytest.fixture
def named(tmp_path, pandas):
    """Return a store whose rows and columns have names, from a frame of pandas."""
    store = nystream.open(tmp_path / "named.nys")
    values = np.random.default_rng(1).normal(size=(50, 3))
    store.append(pandas.DataFrame(values, index=CELLS, columns=GENES))
    return store


def test_names_of_a_frame(named):
    assert list(named.row_names[:]) == CELLS and list(named.column_names) == GENES
    assert named.row_names.shape == (50,) and named.row_names.dtype == object
    assert named.row_names[7] == "cell 7" and list(named.row_names[[49, 0, 1]]) == \
        ["cell 49", "cell 0", "cell 1"]
    assert list(named.row_names[-1:10:-20]) == ["cell 49", "cell 29"]
    assert np.concatenate(list(named.row_names.batches(7))).tolist() == CELLS
    assert named.report["row_names"] and named.report["first_column_names"] == GENES


def test_rows_and_columns_that_come_later(named, pandas):
    more = np.ones((2, 3))
    named.append(pandas.DataFrame(more, index=["x", "y"], columns=GENES))
    named.append(more)
    assert list(named.row_names[49:]) == ["cell 49", "x", "y", "", ""]
    with pytest.raises(nystream.DataError, match="X has no column 'b', which .*named.nys has"):
        named.append(pandas.DataFrame(more, index=["x", "y"], columns=["a", "c", GENES[2]]))
    with pytest.raises(nystream.DataError):
        named.append(pandas.DataFrame(more, index=["x", "y\nz"], columns=GENES))
    assert len(named) == 54


def test_results_have_the_names_of_their_rows(named):
    result = named.fit("flat", map="pca", approx="exact", kernel="linear", components=2)
    assert list(result.row_names[3:5]) == ["cell 3", "cell 4"]
    refuses(nystream.UsageError, "", result._view._read_names, "ids", 48, 3)


def test_a_store_without_names(store):
    with pytest.raises(nystream.UsageError):
        store.row_names
    with pytest.raises(nystream.UsageError):
        store.column_names
    assert store.report["row_names"] is False and store.report["first_row_names"] is None


def test_anndata_in_memory_and_in_a_file(tmp_path, anndata, pandas):
    values = np.random.default_rng(1).poisson(1.0, size=(50, 3)).astype("f4")
    whole = anndata.AnnData(values, pandas.DataFrame(index=CELLS), pandas.DataFrame(index=GENES))
    whole.write_h5ad(tmp_path / "x.h5ad")
    for name, rows in ("memory", whole), ("file", tmp_path / "x.h5ad"), \
            ("backed", anndata.read_h5ad(tmp_path / "x.h5ad", backed="r")):
        store = stored(tmp_path / f"{name}.nys", rows)
        assert list(store.row_names[:]) == CELLS and list(store.column_names) == GENES


def test_names_of_a_type_in_which_texts_may_be_missing(tmp_path, h5py):
    """The str of pandas 3 is such a type, and anndata writes a group for it."""
    need_hdf5_reader()
    with h5py.File(tmp_path / "x.h5ad", "w") as file:
        file["X"] = np.random.default_rng(1).normal(size=(50, 3))
        for table, names in ("obs", CELLS), ("var", GENES):
            group = file.create_group(f"{table}/_index")
            group["values"], group["mask"] = names, np.zeros(len(names), bool)
            file[table].attrs["_index"] = "_index"
    python, library = (nystream.open(tmp_path / f"{name}.nys") for name in "ab")
    python.append(tmp_path / "x.h5ad")
    library.append_files(tmp_path / "x.h5ad")
    for store in python, library:
        assert list(store.row_names[:]) == CELLS and list(store.column_names) == GENES


@pytest.fixture
def fitted(tmp_path, pandas):
    """Return a frame of named columns, a store of it, a result, and where the frame's rows are."""
    values = np.random.default_rng(3).normal(size=(300, 4)) * [1, 2, 3, 4]
    frame = pandas.DataFrame(values.astype("float32"), columns=list("abcd"))
    store = stored(tmp_path / "fitted.nys", frame)
    result = store.fit("map", landmarks=60)
    result.evaluate(clusters=3, measures="clusters")
    return frame, store, result, result.embedding[:]


def placers(result):
    """Return what places rows by the columns of the store."""
    model = result.model()
    return [result.transform, model.transform, pickle.loads(pickle.dumps(model)).transform]


def test_columns_in_another_order(fitted):
    frame, store, result, expected = fitted
    turned = frame[["c", "a", "d", "b"]]
    for transform in placers(result):
        assert np.array_equal(transform(turned), expected)
        chunks = (turned.iloc[at:at + 100] for at in range(0, 300, 100))
        assert np.array_equal(transform(chunks), expected)
        assert np.array_equal(transform(frame.to_numpy()), expected)
        assert np.array_equal(transform(frame.set_axis(range(4), axis=1)), expected)
    assert np.array_equal(result.predict(turned), result.clusters[:])
    graph = store.graph("near", neighbors=3)
    assert np.array_equal(graph.kneighbors(turned)[1][:, 0], np.arange(300))


def test_columns_that_are_missing_or_come_beside(fitted):
    frame, store, result, expected = fitted
    wide = frame[["d", "c", "b", "a"]].assign(species="elm", day=1)
    for transform in placers(result):
        assert np.array_equal(transform(wide), expected)
        with pytest.raises(nystream.DataError, match="X has no column 'b', which .* has"):
            transform(wide.drop(columns="b"))
        with pytest.raises(nystream.DataError, match="X has no columns 'a', 'b', which"):
            transform(frame.rename(columns={"a": "x", "b": "y"}))
        refuses(nystream.DataError, "some share a name", transform, wide.iloc[:, [0, 1, 2, 3, 0]])


def test_columns_of_an_anndata(fitted, tmp_path, anndata):
    frame, _, result, expected = fitted
    turned = anndata.AnnData(frame[["d", "c", "b", "a"]].set_axis(
        [str(i) for i in range(300)]))
    turned.write_h5ad(tmp_path / "turned.h5ad")
    sparse = anndata.AnnData(scipy.sparse.csr_matrix(turned.X), var=turned.var)
    for transform in placers(result):
        assert np.array_equal(transform(turned), expected)
        assert np.array_equal(transform(tmp_path / "turned.h5ad"), expected)
        assert np.abs(transform(sparse) - expected).max() < 1e-5


def test_a_file_of_a_model_knows_names(fitted, tmp_path):
    frame, _, result, expected = fitted
    result.model().save(tmp_path / "m.nym")
    model = nystream.Model.load(tmp_path / "m.nym")
    assert result.model().column_names == model.column_names == list("abcd")
    assert np.array_equal(model.transform(frame), expected)
    assert np.array_equal(model.transform(frame[["b", "a", "d", "c"]]), expected)


def test_an_estimator_of_a_store_knows_its_columns(fitted):
    frame, store, _, _ = fitted
    estimator = nystream.KernelPCA(n_landmarks=60, random_state=0)
    places = estimator.fit_transform(store)[:]
    assert list(estimator.feature_names_in_) == list("abcd")
    assert np.array_equal(estimator.transform(frame), places)
    refuses(ValueError, "feature names", estimator.transform, frame[["b", "a", "c", "d"]])


@pytest.mark.parametrize("kind", ["memory", "file", "backed"])
def test_an_estimator_of_an_anndata_knows_its_genes(fitted, tmp_path, kind, anndata):
    frame = fitted[0]
    cells = anndata.AnnData(frame.set_axis([str(i) for i in range(300)]))

    def given(rows):
        file = tmp_path / f"{len(list(tmp_path.iterdir()))}.h5ad"
        rows.write_h5ad(file)
        return {"memory": rows, "file": file, "backed": anndata.read_h5ad(file, backed="r")}[kind]

    estimator = nystream.PCA(n_components=2)
    places = estimator.fit_transform(given(cells))
    assert list(estimator.feature_names_in_) == list("abcd")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.allclose(estimator.transform(given(cells)), places, atol=1e-4)
        assert np.allclose(estimator.transform(frame), places, atol=1e-4)
    for other in cells[:, ::-1].copy(), cells[:, 1:].copy():
        refuses(ValueError, "feature names", estimator.transform, given(other))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        estimator.transform(frame.to_numpy())
    assert not hasattr(estimator.fit(frame.to_numpy()), "feature_names_in_")
    sums = nystream.IncrementalKernelPCA(n_components=2, n_landmarks=20)
    sums.partial_fit(given(cells))
    refuses(ValueError, "same order", sums.partial_fit, given(cells[:, ::-1].copy()))


def kinds_of(frame, folder):
    """Return rows with names of columns, of each kind that has such, by its name."""
    anndata, folder = pytest.importorskip("anndata"), Path(tempfile.mkdtemp(dir=folder))
    cells = anndata.AnnData(frame.set_axis([f"cell {i}" for i in range(len(frame))]))
    sparse = anndata.AnnData(scipy.sparse.csr_matrix(cells.X), cells.obs, cells.var)
    cells.write_h5ad(folder / "x.h5ad")
    sparse.write_h5ad(folder / "s.h5ad")
    return {"frame": frame, "AnnData": cells, "sparse": sparse, "view": cells[:, :],
            "backed": anndata.read_h5ad(folder / "x.h5ad", backed="r"),
            "backed sparse": anndata.read_h5ad(folder / "s.h5ad", backed="r"),
            "file": folder / "x.h5ad", "sparse file": folder / "s.h5ad",
            "chunks": (frame.iloc[at:at + 100] for at in range(0, len(frame), 100))}


KINDS = ["frame", "AnnData", "sparse", "view", "backed", "backed sparse", "file", "sparse file",
         "chunks"]


@pytest.mark.parametrize("kind", KINDS)
def test_columns_of_rows_to_append(fitted, tmp_path, kind, monkeypatch):
    monkeypatch.setattr(_columns, "SLICE_BYTES", 2000)  # many slices
    frame, labels = fitted[0], np.arange(300)
    store = nystream.open(tmp_path / "labelled.nys")
    store.append(frame.set_axis([f"cell {i}" for i in range(300)]), labels=labels)
    for columns in list("cadb"), ["d", "x", "c", "b", "y", "a"]:
        count, given = len(store), {"labels": labels}
        rows = kinds_of(frame.assign(x=1, y=2)[columns], tmp_path)[kind]
        if kind == "chunks":
            rows, given = zip(rows, labels.reshape(3, 100)), {}
        store.append(rows, **given)
        assert np.array_equal(store[count:], frame.to_numpy())
        assert np.array_equal(store.labels[count:], labels)
        if kind not in ("frame", "chunks"):
            assert list(store.row_names[count + 298:]) == ["cell 298", "cell 299"]
    assert list(store.column_names) == list("abcd")


@pytest.mark.parametrize("kind", KINDS)
def test_columns_that_are_missing_are_named(fitted, tmp_path, kind):
    frame, store, result, _ = fitted
    for place in store.append, result.transform, result.predict, result.model().transform:
        rows = kinds_of(frame[["d", "a"]], tmp_path)[kind]
        refuses(nystream.DataError, "X has no columns 'b', 'c', which", place, rows)
    assert len(store) == 300


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "chunks"])
def test_a_value_is_told_by_the_names_of_its_row_and_column(fitted, tmp_path, kind):
    frame, store, result, _ = fitted
    bad = frame[list("dcba")].copy()
    bad.iloc[7, 1] = np.nan
    refuses(nystream.DataError, "", store.append, bad[list("abcd")].to_numpy())
    for call in (store.append, nystream.open(tmp_path / "new.nys").append, result.transform,
                 result.model().transform):
        refuses(nystream.DataError, "", call, kinds_of(bad, tmp_path)[kind])


class ArrowTable(arrow_made.ArrowStream):
    """Stands in for a table of pyarrow: it has names of columns, and chooses some."""

    def __init__(self, columns, rows):
        schema, array = arrow_made.record(list(columns.values()), rows)
        super().__init__(schema, [array])
        self._columns, self._rows, self.column_names = columns, rows, list(columns)

    def select(self, names):
        """Return a table of the columns of these names."""
        return ArrowTable({name: self._columns[name] for name in names}, self._rows)


def arrow_columns(X, names):
    return {name: arrow_made.column(name, np.ascontiguousarray(X[:, at]))
            for at, name in enumerate(names)}


def test_columns_that_a_table_of_arrow_lacks_are_named(tmp_path):
    X = np.random.default_rng(0).normal(size=(30, 4)).astype(np.float32)
    store = nystream.open(tmp_path / "x.nys")
    pandas = pytest.importorskip("pandas")
    store.append(pandas.DataFrame(X, columns=list("abcd")))
    model = store.fit("map", landmarks=20).model()
    for call in store.append, model.transform, store.result("map").transform:
        with pytest.raises(nystream.DataError, match="X has no columns 'b', 'd', which"):
            call(ArrowTable(arrow_columns(X[:, :2], "ca"), 30))
    whole = model.transform(X)
    mixed = ArrowTable(arrow_columns(X[:, ::-1], "dcba"), 30)
    assert np.array_equal(model.transform(mixed), whole)
    listed = ArrowTable({"vector": arrow_made.lists("vector", X)}, 30)
    assert np.array_equal(model.transform(listed), whole)
    text = (arrow_made.make_schema(b"u", "word"), arrow_made.make_array(30, [None, None, None]))
    words = ArrowTable({"word": text, **arrow_columns(X[:, :2], "ca")}, 30)
    refuses(nystream.DataError, "X has no columns 'b', 'd', which", store.append, words)


def test_names_of_the_columns_of_a_sparse_matrix(tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    counts = sparse.csr_matrix(np.array([[2, 0, 1], [0, 5, 0], [1, 1, 7]] * 20))
    terms = np.array(["oak", "elm", "ash"], dtype=object)
    store = stored(tmp_path / "docs.nys", counts, column_names=terms, layout="sparse")
    assert list(store.column_names) == ["oak", "elm", "ash"]
    topics = store.fit("topics", map="svd", kernel="linear", approx="exact", components=2)
    new = sparse.csr_matrix(np.array([[9, 4, 6, 0], [0, 0, 0, 3]]))  # pine ash oak elm
    sparse.save_npz(tmp_path / "new.npz", new)
    (tmp_path / "terms.txt").write_text("pine\nash\noak\nelm\n")
    placed = tmp_path / "placed.npy"
    topics.transform_file(tmp_path / "new.npz", placed, column_names=tmp_path / "terms.txt")
    assert np.allclose(np.load(placed), topics.transform(np.array([[6.0, 0, 4], [0, 3, 0]])))
    store.append(new, column_names=["pine", "ash", "oak", "elm"])
    store.append_files(tmp_path / "new.npz", column_names=tmp_path / "terms.txt")
    assert store.points[60:].tolist() == [[6, 0, 4], [0, 3, 0]] * 2
    with pytest.raises(nystream.UsageError, match="column_names= has 2 names, but X 3 columns"):
        store.append(counts, column_names=["oak", "elm"])
    with pytest.raises(nystream.UsageError, match="is a list of names for rows in memory"):
        store.append(counts, column_names="terms.txt")
    assert len(store) == 64


def test_sparse_rows_are_0_in_named_columns_that_they_lack(tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    counts = sparse.csr_matrix(np.array([[2, 0, 1], [0, 5, 0], [1, 1, 7]] * 20))
    store = nystream.open(tmp_path / "docs.nys")
    store.append(counts, column_names=["oak", "elm", "ash"], layout="sparse")
    new = sparse.csr_matrix(np.array([[4, 9, 6], [0, 3, 0]]))  # ash pine oak
    store.append(new, column_names=["ash", "pine", "oak"])
    assert store.points[60:].tolist() == [[6, 0, 4], [0, 0, 0]]
    assert list(store.column_names) == ["oak", "elm", "ash"]
    for X, names in ((new.toarray(), ["ash", "pine", "oak"]), (new, ["x", "y", "z"])):
        with pytest.raises(nystream.DataError, match="X has no columns? .*'elm'.*, which"):
            store.append(X, column_names=names)
    dense = nystream.open(tmp_path / "dense.nys")
    dense.append(counts, column_names=["oak", "elm", "ash"], layout="dense")
    with pytest.raises(nystream.DataError, match="X has no column 'elm', which"):
        dense.append(new, column_names=["ash", "pine", "oak"])
    anndata = pytest.importorskip("anndata")
    pandas = pytest.importorskip("pandas")
    topics = store.fit("topics", map="svd", kernel="linear", approx="exact", components=2)
    cells = anndata.AnnData(new[:, ::2].astype(np.float32),
                            var=pandas.DataFrame(index=["ash", "oak"]))
    placed = topics.transform(np.array([[6.0, 0, 4], [0] * 3]))
    model = topics.model()
    again = pickle.loads(pickle.dumps(model))
    for transform in (topics.transform, model.transform, again.transform):
        assert np.allclose(transform(cells), placed)
        with pytest.raises(nystream.DataError, match="X has no column 'elm', which"):
            transform(anndata.AnnData(cells.X.toarray(), var=cells.var))


@pytest.mark.parametrize("kind", ["frames", "a list", "a reader", "AnnData", "pairs", "Dask"])
def test_names_of_rows_that_come_in_pieces(tmp_path, kind, pandas):
    rows = np.random.default_rng(4).normal(size=(60, 3)).astype("f4")
    frame = pandas.DataFrame(rows, [f"row {i:02}" for i in range(60)], ["x", "y", "z"])
    pieces = [frame[:25], frame[["z", "y", "x"]][25:]]  # the columns in another order
    if kind == "a reader":
        frame.to_csv(tmp_path / "x.csv")
        pieces = pandas.read_csv(tmp_path / "x.csv", index_col=0, chunksize=25)
    elif kind == "AnnData":
        pieces = iter(map(pytest.importorskip("anndata").AnnData, pieces))
    elif kind == "pairs":
        pieces = ((piece, ["a"] * len(piece)) for piece in pieces)
    elif kind == "Dask":
        pieces = pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=3)
    store = stored(tmp_path / "pieces.nys", iter(pieces) if kind == "frames" else pieces)
    assert list(store.column_names) == ["x", "y", "z"] and np.allclose(store[:], rows)
    assert list(store.row_names[:]) == list(frame.index)
    store.append(frame[["y", "z", "x"]])
    assert np.allclose(store[60:], rows)


def test_names_of_a_table_of_arrow(tmp_path):
    X = np.arange(15.0).reshape(5, 3)
    store = stored(tmp_path / "arrow.nys", ArrowTable(arrow_columns(X, "xyz"), 5))
    assert list(store.column_names) == ["x", "y", "z"]
    store.append(ArrowTable(arrow_columns(X[:, ::-1], "zyx"), 5))
    assert np.array_equal(store[5:], X)
    lists = ArrowTable({"vector": arrow_made.lists("vector", X)}, 5)
    store = stored(tmp_path / "lists.nys", lists)
    assert np.array_equal(store[:], X) and not store.report.column_names


def test_the_raw_of_an_anndata(tmp_path, anndata):
    cells = anndata.AnnData(np.arange(12, dtype="f4").reshape(4, 3))
    cells.raw = cells
    store = stored(tmp_path / "raw.nys", cells[:, :2].copy().raw)
    assert np.array_equal(store[:], cells.X) and list(store.column_names) == list(cells.var_names)
