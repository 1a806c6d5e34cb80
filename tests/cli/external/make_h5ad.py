"""make_h5ad.py: writes small HDF5 files as AnnData and 10x Genomics do, and damaged ones, here."""
import anndata
import h5py
import numpy as np
import pandas as pd
import scipy.sparse as sparse

rng = np.random.default_rng(3)
counts = sparse.random(300, 400, 0.05, format="csr", random_state=rng)
counts.data = np.ceil(counts.data * 9).astype("f4")
counts[7, :] = 0
counts.eliminate_zeros()
sparse.save_npz("rows.npz", counts)
kinds = pd.Categorical(np.where(np.arange(300) % 3, "T cell", "B cell"), ["B cell", "T cell", "10"])
batches = pd.Categorical(np.where(np.arange(300) % 3, 7, -12), [7, 10, -12])
shares = pd.Categorical(np.arange(300) % 2 / 2)
obs = pd.DataFrame({"kind": kinds, "depth": np.arange(300) / 2.0, "batch": batches, "share": shares},
                   index=[f"cell{i}" for i in range(300)])
obs.loc[obs.index[5], "kind"] = np.nan
obs.loc[obs.index[9], "kind"] = "10"
whole = anndata.AnnData(counts, obs, dtype="f4")
whole.layers["columns"] = counts.tocsc()
whole.layers["dense"] = counts.toarray()
whole.layers["wide"] = counts.astype("i8")
whole.obsm["X_pca"] = counts[:, :6].toarray().astype("f8")
whole.varm["PCs"] = counts[:3].toarray().T.astype("f8")
whole.raw = whole
whole.write_h5ad("rows.h5ad")
whole.write_h5ad("packed.h5ad", compression="gzip")
order = rng.permutation(400)
beside = np.full((300, 2), np.nan, "f4")  # genes that the first file does not have, without values
turned = sparse.csr_matrix(sparse.hstack([counts[:, order[:9]], beside, counts[:, order[9:]]]))
names = [str(j) for j in order]
genes = pd.DataFrame(index=[*names[:9], "new 1", "new 2", *names[9:]])
turned = anndata.AnnData(turned, obs, genes, dtype="f4")
turned.layers["columns"] = turned.X.tocsc()
turned.layers["dense"] = turned.X.toarray()
turned.write_h5ad("turned.h5ad")
whole[:, 7:].write_h5ad("fewer.h5ad")
unlabelled = whole.copy()
del unlabelled.obs["kind"]
unlabelled.write_h5ad("unlabelled.h5ad")
with h5py.File("rows.h5ad", "r+") as file:
    file["obs"]["word"] = np.array([b"a"] * 300)


def write(name, data, indices, indptr, shape, encoding="csr_matrix"):
    """Write a sparse X as it is told."""
    with h5py.File(name, "w") as to:
        group = to.create_group("X")
        group.attrs["encoding-type"] = encoding
        group.attrs["shape"] = shape
        group["data"], group["indices"], group["indptr"] = data, indices, indptr


with h5py.File("tenx.h5", "w") as file:  # features x cells, by columns
    group = file.create_group("matrix")
    group["data"] = counts.data.astype("i4")
    group["indices"] = counts.indices.astype("i8")
    group["indptr"] = counts.indptr.astype("i8")
    group["shape"] = np.array([400, 300], "i4")
    group["barcodes"] = np.array([f"AAAC-{i}".encode() for i in range(300)])
    group["features/id"] = np.array([f"ENSG{j}".encode() for j in range(400)])
    group["features/name"] = np.array([f"gene {j}" for j in range(400)], h5py.string_dtype())
three = np.array([0, 2, 3, 4])
write("outside.h5ad", np.ones(4, "f4"), np.array([0, 5, 1, 2]), three, (3, 5))
write("negative.h5ad", np.ones(4, "f4"), np.array([0, 1, -1, 2]), three, (3, 5))
write("outside-csc.h5ad", np.ones(4, "f4"), np.array([0, 1, 1, 9]), three, (5, 3), "csc_matrix")
write("falling.h5ad", np.ones(4, "f4"), np.array([0, 1, 2, 3]), np.array([0, 3, 2, 4]), (3, 5))
write("blocks.h5ad", np.ones(4, "f4"), np.array([0, 1, 2, 3]), three, (3, 5), "bsr_matrix")
write("nan.h5ad", np.array([1, 2, np.nan, 4], "f4"), np.array([0, 1, 2, 3]), three, (3, 5))
write("huge.h5ad", np.array([1, 2, 2**60, 4]), np.array([0, 1, 2, 3]), three, (3, 5))
for name, index in ("short", [b"a", b"b"]), ("line", [b"a", b"b\nc", b"d"]), ("long", ["x" * 5000] * 3):
    write(f"{name}-names.h5ad", np.ones(4, "f4"), np.array([0, 1, 2, 3]), three, (3, 5))
    with h5py.File(f"{name}-names.h5ad", "r+") as file:
        table = file.create_group("obs")
        table.attrs["_index"] = "cells"
        table["cells"] = np.array(index) if name != "long" else np.array(index, h5py.string_dtype())
for name, cells in ("no-cells", whole[:0]), ("no-cells-dense", anndata.AnnData(np.empty((0, 3), "f4"))):
    cells.copy().write_h5ad(f"{name}.h5ad")
blank = pd.DataFrame({"kind": pd.Categorical([np.nan] * 4, ["a", "b"]), "value": [np.nan] * 4}, list("abcd"))
anndata.AnnData(np.eye(4, 5, dtype="f4"), blank, pd.DataFrame(index=list("yxzxy")), dtype="f4").write_h5ad("blank.h5ad")
anndata.AnnData(np.eye(4, dtype="f4") - 0.1, dtype="f4").write_h5ad("scaled.h5ad")
with h5py.File("empty.h5ad", "w") as file:
    file.create_group("obs")
with h5py.File("dense.h5ad", "w") as file:
    file["X"] = np.array([[1, 2], [3, np.nan], [5, 6]], "f4")
with h5py.File("other.hdf5", "w") as file:
    file["runs/images"] = np.arange(16, dtype="u1").reshape(4, 2, 2)
    file["runs/lengths"] = np.arange(-2, 3)
    file["words"] = np.array([b"a", b"b"])
    file.create_dataset("cut", (7, 3), "f4", chunks=(2, 2))[:2] = 1
    group = file.create_group("shapeless")
    group["data"], group["indices"], group["indptr"] = np.ones(4, "f4"), np.arange(4), three
with h5py.File("chunk.h5ad", "w") as file:
    file.create_dataset("X", data=np.ones((5000, 4000), "f4"), chunks=(5000, 4000), compression=1)

# AnnData before 0.7: obs and var are records, and the names of categories are in uns
records = np.zeros(300, [("index", "S9"), ("kind", "i1"), ("depth", "f8"), ("word", "S3"), ("only", "i2")])
records["index"] = [name.encode() for name in obs.index]
records["kind"] = obs["kind"].cat.codes
records["depth"] = obs["depth"]
genes = np.zeros(400, [("gene", h5py.string_dtype()), ("n", "i8")])
genes["gene"] = [f"gene {j}" for j in range(400)]
with h5py.File("old.h5ad", "w") as file:
    group = file.create_group("X")
    group.attrs["h5sparse_format"], group.attrs["h5sparse_shape"] = "csr", counts.shape
    group["data"], group["indices"], group["indptr"] = counts.data, counts.indices, counts.indptr
    file["obs"], file["var"] = records, genes
    file["uns/kind_categories"] = np.array([b"B cell", b"T cell", b"10"])
    file["uns/only_categories"] = "one"
