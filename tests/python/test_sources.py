"""Rows that are not one array in memory: files by name, HDF5, Dask, torch."""
import gc
import logging
import tempfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from conftest import cells_of, grid, need_hdf5_reader, read_back, refuses, stored

import nystream
from nystream import _batch, _data

slow = pytest.mark.slow


# ---- files by their names ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["C", "Fortran", "int32", "labels"])
def test_npy_files(tmp_path, kind, monkeypatch):
    X = {"Fortran": np.asfortranarray, "int32": np.int32}.get(kind, np.array)(grid("float32"))
    np.save(tmp_path / "x.npy", X)
    by_name = []
    append_files = nystream.Store.append_files
    monkeypatch.setattr(nystream.Store, "append_files", lambda self, files, **options: (
        by_name.append(files), append_files(self, files, **options))[1])
    labels = np.arange(500) if kind == "labels" else None
    for name in (tmp_path / "x.npy", str(tmp_path / "x.npy")):
        assert np.array_equal(read_back(tmp_path, name, labels=labels), X)
    assert len(by_name) == (2 if kind == "C" else 0)


def test_other_files_by_name(tmp_path):
    np.savetxt(tmp_path / "x.csv", grid(), delimiter=",")
    store = nystream.open(tmp_path / "s.nys")
    for rows in (500, 1000):
        store.append(tmp_path / "x.csv")
        assert store.shape == (rows, 7)
    refuses(OSError, "nowhere.npy", store.append, tmp_path / "nowhere.npy")
    refuses(ValueError, "append_files", store.append, tmp_path / "x.csv", labels=np.zeros(500))
    assert store.shape == (1000, 7)


def test_npz_files(tmp_path):
    sparse = scipy.sparse.random(300, 80, 0.05, "csr", random_state=3)
    for kind in ("csr", "csc", "coo"):
        scipy.sparse.save_npz(tmp_path / "sparse.npz", sparse.asformat(kind))
        assert np.array_equal(read_back(tmp_path, tmp_path / "sparse.npz"), sparse.toarray())
    np.savez(tmp_path / "one.npz", grid())
    assert np.array_equal(read_back(tmp_path, str(tmp_path / "one.npz")), grid())
    np.savez(tmp_path / "two.npz", a=grid(), b=grid())
    refuses(ValueError, "2 arrays.*'a', 'b'", read_back, tmp_path, tmp_path / "two.npz")


@slow
def test_files_by_name_are_embedded_and_placed(tmp_path, rows):
    np.save(tmp_path / "x.npy", rows)
    options = {"components": 2, "landmarks": 30, "seed": 1}
    Y = nystream.embed(tmp_path / "x.npy", **options)
    assert np.array_equal(Y, nystream.embed(rows, **options))
    model = nystream.KernelPCA(2, n_landmarks=30, random_state=1).fit(tmp_path / "x.npy")
    assert np.array_equal(model.transform(tmp_path / "x.npy"), model.transform(rows))


def as_file(folder, rows, kind):
    """Write rows to files of a kind, and return what names them."""
    if kind == "svm":
        from sklearn.datasets import dump_svmlight_file

        dump_svmlight_file(rows, np.zeros(rows.shape[0]), str(folder / "x.svm"), zero_based=False)
        return folder / "x.svm"
    parts = [folder / "x-1.csv", folder / "x-2.csv"] if kind in ("list", "pattern") else [
        folder / f"x.{kind}"]
    for file, part in zip(parts, np.array_split(rows, len(parts))):
        np.savetxt(file, part, fmt="%.9g", delimiter=",")
    return {"list": parts, "pattern": folder / "x-*.csv"}.get(kind, str(parts[0]))


@slow
@pytest.mark.parametrize("kind", ["csv", "csv.gz", "pattern", "list", "svm"])
def test_estimators_read_what_append_files_reads(tmp_path, kind, folders):
    rows = np.random.default_rng(5).normal(size=(300, 4)).astype("float32")
    if kind == "svm":
        rows = scipy.sparse.random(300, 40, 0.05, "csr", "float32", random_state=3)
        last = scipy.sparse.csr_matrix(np.ones((1, 40), "float32"))
        rows = scipy.sparse.vstack([rows, last], format="csr")
    X = as_file(tmp_path, rows, kind)
    for estimator in (nystream.KernelPCA(2, n_landmarks=30, random_state=1),
                      nystream.KNeighborsTransformer(n_neighbors=4, random_state=1)):
        expected = estimator.fit_transform(rows)
        found = estimator.fit_transform(X)
        placed = estimator.transform(X)
        assert found.shape == expected.shape and found.dtype == expected.dtype
        assert abs(found - expected).max() < 1e-4
        assert abs(placed - estimator.transform(rows)).max() < 1e-4
    del estimator, found, placed
    gc.collect()
    assert not folders()


def test_names_of_columns_of_text_are_those_of_the_fit(tmp_path, pandas):
    frame = pandas.DataFrame(np.random.default_rng(5).normal(size=(120, 3)), columns=list("abc"))
    frame.to_csv(tmp_path / "x.csv", index=False)
    frame[["c", "a", "b"]].to_csv(tmp_path / "y.csv", index=False)
    fitted = nystream.PCA(2, store=tmp_path / "s.nys").fit(tmp_path / "x.csv")
    assert list(fitted.feature_names_in_) == ["a", "b", "c"]
    assert list(nystream.open(tmp_path / "s.nys").column_names) == ["a", "b", "c"]
    assert np.allclose(fitted.transform(frame), fitted.transform(tmp_path / "x.csv"), atol=1e-5)
    refuses(ValueError, "feature names", fitted.transform, tmp_path / "y.csv")
    fitted.fit(tmp_path / "x.csv")
    refuses(ValueError, "holds other rows than X", fitted.fit, tmp_path / "y.csv")


def test_files_that_need_options_go_to_a_store_first(tmp_path, folders):
    (tmp_path / "t.csv").write_text("a,b,kind\n" + "1,2,elm\n3,5,oak\n4,4,elm\n" * 20)
    fitted = nystream.PCA(1)
    for name in tmp_path / "t.csv", tmp_path:
        refuses(nystream.NystreamError, "", fitted.fit, name)
    refuses(OSError, "nowhere.csv", fitted.fit, tmp_path / "nowhere.csv")
    assert not folders()
    store = nystream.open(tmp_path / "t.nys")
    store.append_files(tmp_path / "t.csv", label_column="kind")
    assert fitted.fit(store).n_features_in_ == 2
    with pytest.raises(ValueError, match="the estimators and Store.append_files"):
        store.fit("a", map="pca", components=1).transform(tmp_path / "t.csv")


# ---- HDF5 and AnnData --------------------------------------------------------------------------


@pytest.fixture
def counts():
    """A sparse matrix of counts, with empty rows."""
    X = scipy.sparse.random(400, 90, 0.1, "csr", random_state=5, dtype=np.float32)
    X.data = np.ceil(9 * X.data)
    return scipy.sparse.vstack([X[:100], scipy.sparse.csr_matrix((3, 90), dtype="f4"), X[100:]],
                               format="csr")


@slow
def test_sparse_anndata_in_files(tmp_path, counts, monkeypatch, anndata, h5py):
    monkeypatch.setattr(_batch, "SLICE_BYTES", counts.nnz * 12 // 10)
    cells_of(counts).write_h5ad(tmp_path / "x.h5ad")
    backed = anndata.read_h5ad(tmp_path / "x.h5ad", backed="r")
    found = list(_data.batches(backed)[1])
    assert 8 <= len(found) <= 12 and all(batch.indptr is not None for batch in found)
    for X in (backed, backed.X, tmp_path / "x.h5ad"):
        assert np.array_equal(read_back(tmp_path, X), counts.toarray())
    model = nystream.KernelPCA(2, kernel="linear", n_landmarks=30, random_state=1).fit(backed)
    assert np.allclose(model.transform(backed), model.transform(counts), atol=1e-4)
    backed.file.close()
    with h5py.File(tmp_path / "x.h5ad") as file:
        assert np.array_equal(read_back(tmp_path, file["X"]), counts.toarray())
        refuses(ValueError, "not a sparse matrix.*X", read_back, tmp_path, file)


@slow
def test_h5ad_by_the_library(tmp_path, counts, anndata, pandas):
    need_hdf5_reader()
    kinds = pandas.Categorical(["b" if row % 3 else "a" for row in range(counts.shape[0])])
    obs = pandas.DataFrame({"kind": kinds}, index=[f"cell{row}" for row in range(counts.shape[0])])
    whole = cells_of(counts, obs)
    whole.layers["columns"] = counts.tocsc()
    whole.write_h5ad(tmp_path / "x.h5ad")
    for name, matrix in (("rows", "X"), ("columns", "layers/columns")):
        store = nystream.open(tmp_path / f"{name}.nys")
        store.append_files(tmp_path / "x.h5ad", matrix=matrix, label_column="kind")
        assert np.array_equal(store[:], counts.toarray())
        assert np.array_equal(store.labels[:], kinds.codes)


@slow
def test_columns_on_disk_are_refused(tmp_path, counts, anndata):
    cells_of(counts.tocsc()).write_h5ad(tmp_path / "x.h5ad")
    backed = anndata.read_h5ad(tmp_path / "x.h5ad", backed="r")
    for X in (backed, backed.X, tmp_path / "x.h5ad"):
        refuses(ValueError, "by columns .CSC.*append_files.*to_memory", read_back, tmp_path, X)
    assert np.array_equal(read_back(tmp_path, backed.to_memory()), counts.toarray())
    backed.file.close()


@slow
def test_layers_and_coordinates_of_anndata(tmp_path, counts, anndata):
    adata = cells_of(counts, layers={"double": 2 * counts},
                            obsm={"X_pca": grid(rows=403)})
    assert np.array_equal(read_back(tmp_path, adata.layers["double"]), 2 * counts.toarray())
    assert np.array_equal(read_back(tmp_path, adata.obsm["X_pca"]), grid(rows=403))
    assert np.array_equal(read_back(tmp_path, adata[100:200]), counts[100:200].toarray())


@slow
def test_sparse_groups_of_zarr(tmp_path, counts, anndata, zarr):
    cells_of(counts).write_zarr(tmp_path / "x.zarr")
    assert np.array_equal(read_back(tmp_path, zarr.open(str(tmp_path / "x.zarr"))["X"]),
                          counts.toarray())


# ---- Dask --------------------------------------------------------------------------------------


@slow
def test_arrays_of_dask(tmp_path):
    dask = pytest.importorskip("dask.array")
    X, labels = grid("float32"), np.arange(500)
    for chunks in ((100, 7), (33, 2), (500, 1), ((1, 0, 499), (3, 4))):
        made = dask.from_array(X, chunks=chunks)
        assert np.array_equal(read_back(tmp_path, made), X)
    some = made[made[:, 0] < 50]
    assert np.isnan(some.shape[0])  # Dask does not know how many
    assert np.array_equal(read_back(tmp_path, some), X[X[:, 0] < 50])
    store = stored(tmp_path / "labels.nys", made, labels=dask.from_array(labels, chunks=10))
    assert np.array_equal(store.labels[:], labels)
    refuses(ValueError, "Expected 2D array, got 1D", read_back, tmp_path, made[:, 0])


@slow
def test_a_block_of_dask_is_computed_at_a_time(tmp_path):
    dask = pytest.importorskip("dask.array")
    computed = []

    def compute(block, block_info=None):
        computed.append(block_info[0]["chunk-location"])
        return block

    made = dask.from_array(grid(), chunks=(100, 7)).map_blocks(compute, dtype="f8",
                                                               meta=np.empty((0, 0)))
    _, found = _data.batches(made)
    for i in range(5):
        next(found)
        assert computed == [(k, 0) for k in range(i + 1)]


@slow
def test_sparse_blocks_of_dask(tmp_path, counts):
    dask = pytest.importorskip("dask.array")
    for chunks in ((100, 90), (150, 40)):
        made = dask.from_array(counts.toarray(), chunks=chunks).map_blocks(scipy.sparse.csr_matrix)
        store = nystream.open(Path(tempfile.mkdtemp(dir=tmp_path)) / "s.nys")
        assert store.append(made).format == "sparse"
        assert np.array_equal(store[:], counts.toarray())


@slow
def test_frames_of_dask(tmp_path):
    frames = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    made = frames.from_pandas(pandas.DataFrame(grid()), npartitions=4)
    assert np.array_equal(read_back(tmp_path, made), grid())
    assert np.array_equal(read_back(tmp_path, made, labels=np.zeros(500)), grid())


@slow
def test_estimators_do_not_compute_all_of_dask(rows):
    dask = pytest.importorskip("dask.array")
    made = dask.from_array(rows, chunks=(300, 2))
    ours = nystream.KernelPCA(2, n_landmarks=30, random_state=1)
    assert np.array_equal(ours.fit_transform(made), ours.fit_transform(rows))
    assert np.array_equal(ours.transform(made), ours.transform(rows))


# ---- torch -------------------------------------------------------------------------------------


@slow
def test_tensors_of_torch(tmp_path, torch):
    X = torch.from_numpy(grid("float32"))
    leaf = X.clone().requires_grad_()
    for made in (X, X.T.contiguous().T, X[::3], leaf, X.to(torch.bfloat16), X.int()):
        assert np.array_equal(read_back(tmp_path, made), made.detach().float().numpy())
    Y = nystream.KernelPCA(2, n_landmarks=30, random_state=1).fit_transform(leaf)
    assert Y.shape == (500, 2)


@slow
def test_loaders_of_torch(tmp_path, torch):
    from torch.utils.data import DataLoader, TensorDataset

    X, labels = torch.from_numpy(grid("float32")), torch.arange(500)
    assert np.array_equal(read_back(tmp_path, DataLoader(X, batch_size=64)), X)
    assert np.array_equal(read_back(tmp_path, DataLoader(TensorDataset(X), batch_size=64)), X)
    store = stored(tmp_path / "labels.nys", DataLoader(TensorDataset(X, labels), batch_size=64))
    assert np.array_equal(store[:], X) and np.array_equal(store.labels[:], labels)


def test_labels_that_are_missing(tmp_path, pandas):
    store = nystream.open(tmp_path / "s.nys")
    store.append(grid(rows=3), labels=pandas.Series([1, None, 2], dtype="Int64"))
    assert np.array_equal(store.labels[:], [1, np.nan, 2], equal_nan=True)


@pytest.fixture
def table(tmp_path):
    """Write a .csv file with names, words and a row that lacks a value; return it and its rows."""
    rows = np.random.default_rng(5).normal(size=(120, 3)).astype("float32")
    lines = [f"{','.join(map(repr, row.tolist()))},r{i},elm" for i, row in enumerate(rows)]
    lines[7] = "1,,2,r7,elm"
    file = tmp_path / "t.csv"
    file.write_text("\n".join(["a,b,c,id,species", *lines]) + "\n")
    return file, rows


@slow
def test_embed_reads_what_append_files_reads(table, tmp_path):
    file, rows = table
    reading = {"id_column": "id", "label_column": "species", "nan": "drop"}
    fit = {"landmarks": 30, "seed": 4}
    store = nystream.open(tmp_path / "t.nys")
    store.append_files(file, **reading)
    expected = store.fit("e", **fit).embedding[:]
    for X in (str(file), file, tmp_path / "*.csv", [file]):
        assert np.array_equal(nystream.embed(X, **reading, **fit), expected)
    refuses(nystream.DataError, "drop_columns", nystream.embed, file, **fit)


def test_embed_drops_and_keeps_rows_with_nan(table):
    file, rows = table
    fit = {"landmarks": 30, "seed": 4}
    expected = nystream.embed(np.delete(rows, 7, axis=0), **fit)
    rows[7, 1] = np.nan
    chunks = [rows[:5], rows[5:60], rows[60:]]
    for X, reading in ((file, {"drop_columns": "id,species"}), (rows, {}), (iter(chunks), {})):
        places = nystream.embed(X, nan="keep", **reading, **fit)
        assert np.isnan(places[7]).all() and np.array_equal(np.delete(places, 7, 0), expected)
    assert np.array_equal(nystream.embed(rows, nan="drop", **fit), expected)
    refuses(nystream.DataError, 'nan="keep"|nan="drop"', nystream.embed, rows, **fit)


def test_embed_keeps_the_order_of_the_rows():
    rows = np.random.default_rng(5).normal(size=(200, 3))
    fit = {"landmarks": 30, "seed": 4}
    with pytest.raises(nystream.UsageError, match="^shuffle= .* in the order of X") as refused:
        nystream.embed(rows, shuffle=True, **fit)
    assert refused.value.option == "shuffle"
    assert np.array_equal(nystream.embed(rows, shuffle=False, **fit), nystream.embed(rows, **fit))


def test_rows_beside_the_largest_component_are_kept_as_nan():
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(200, 3))
    rows[150:] += 1000  # another component, which has no place in the map
    rows[7, 1] = np.nan
    fit = {"map": "isomap", "neighbors": 8, "approx": "exact"}
    with pytest.warns(nystream.NystreamWarning, match="component"):
        places = nystream.embed(rows, nan="keep", **fit)
        expected = nystream.embed(np.delete(rows[:150], 7, axis=0), **fit)
    assert places.shape == (200, 2)
    assert np.isnan(places[150:]).all() and np.isnan(places[7]).all()
    assert np.allclose(np.delete(places[:150], 7, axis=0), expected, atol=1e-4)


def test_labels_and_names_that_an_append_would_lose(table, tmp_path, caplog):
    file, rows = table
    first = tmp_path / "first.csv"
    header, _, lines = Path(file).read_text().partition("\n")
    first.write_text(f"{header.replace('id', 'key').replace('species', 'kind')}\n{lines}")
    store = nystream.open(tmp_path / "t.nys")
    store.append_files(first, label_column="kind", id_column="key", nan="drop")
    with caplog.at_level(logging.INFO, "nystream"):
        store.append_files(file, nan="drop")
    for lost in "have no labels", "its names are left out":
        assert sum(lost in message for message in caplog.messages) == 1
    store.append_files(file, nan="drop", id_column="id")
    result = store.fit("flat", map="pca", approx="exact")
    assert result.evaluate(measures="clusters", clusters=2).unlabelled == 2 * 119


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path):
    np.savetxt(tmp_path / "rows[1].csv", np.ones((5, 2)), delimiter=",")
    np.savetxt(tmp_path / "rows1.csv", np.zeros((3, 2)), delimiter=",")
    store = nystream.open(tmp_path / "s.nys")
    assert store.append_files(tmp_path / "rows[1].csv").rows == 5
    assert store.append_files(tmp_path / "rows[12].csv").rows == 3
    assert np.array_equal(store[:], np.repeat([[1.0, 1], [0, 0]], [5, 3], axis=0))
