"""AnnData: clusters, and new cells that the maps of others place."""
import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from conftest import cells_of, refuses, stored

import nystream

anndata = pytest.importorskip("anndata")
pandas = pytest.importorskip("pandas")
slow = pytest.mark.slow

PREPARED = {"rows": "total:10000", "values": "log1p"}


def make_cells(n=360, d=120, seed=3, kinds=3):
    """Counts of some kinds of cells, with genes that have names, and the kinds as words."""
    means = np.exp(np.random.default_rng(0).normal(size=(kinds, d)))
    kind = np.arange(n) % kinds
    counts = np.random.default_rng(seed).poisson(means[kind]).astype(np.float32)
    adata = cells_of(scipy.sparse.csr_matrix(counts))
    adata.var_names = [f"gene{at}" for at in range(d)]
    adata.obs["kind"] = pandas.Categorical(np.array(["B", "T", "NK"])[kind])
    return adata


def prepared_by_hand(X, total=1e4):
    """Divide each row by its sum over the total, and take ln(1 + x)."""
    dense = X.toarray().astype(float)
    return np.log1p(dense / dense.sum(axis=1, keepdims=True) * total).astype(np.float32)


def backed(adata, folder, name="x.h5ad"):
    """Return the same as a file that is read when it is indexed."""
    adata.write_h5ad(folder / name)
    return anndata.read_h5ad(folder / name, backed="r")


def same_partition(ours, theirs):
    """Return whether two lists of clusters are the same sets of rows."""
    pairs = set(zip(np.asarray(ours).tolist(), np.asarray(theirs).tolist()))
    return len(pairs) == len(set(map(str, ours))) == len(set(map(str, theirs)))


# ---- values ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["sparse", "dense", "backed"])
def test_counts_are_prepared_as_they_are_read(tmp_path, kind):
    adata = make_cells()
    if kind == "dense":
        adata.X = adata.X.toarray()
    by_hand = cells_of(prepared_by_hand(make_cells().X))
    data = backed(adata, tmp_path) if kind == "backed" else adata
    before = make_cells().X.toarray()
    for function, key in ((nystream.tl.pca, "X_pca"), (nystream.tl.spectral, "X_spectral"),
                          (nystream.tl.diffmap, "X_diffmap")):
        use = {} if function is nystream.tl.pca else {"use_rep": "X", "n_landmarks": 360}
        function(data, 3, **use, **PREPARED)
        function(by_hand, 3, **use)
        assert np.allclose(abs(data.obsm[key]), abs(by_hand.obsm[key]), atol=2e-3)
    X = data.X[:] if kind == "backed" else data.X
    assert np.array_equal(X.toarray() if scipy.sparse.issparse(X) else X, before)
    assert PREPARED.items() <= data.uns["pca"]["params"].items()


def test_genes_that_count(tmp_path):
    adata = make_cells()
    nystream.tl.pca(adata, 5, features="variable:40", **PREPARED)
    used = adata.varm["PCs"].any(axis=1)
    assert used.sum() == 40 and adata.uns["pca"]["params"]["features"] == "variable:40"
    by_hand = cells_of(prepared_by_hand(adata.X)[:, used])
    nystream.tl.pca(by_hand, 5)
    assert np.allclose(abs(adata.obsm["X_pca"]), abs(by_hand.obsm["X_pca"]), atol=2e-3)
    nystream.tl.pca(adata, 5, features=np.flatnonzero(used), **PREPARED)
    assert np.allclose(abs(adata.obsm["X_pca"]), abs(by_hand.obsm["X_pca"]), atol=2e-3)
    by_name = make_cells()
    nystream.tl.pca(by_name, 5, features=adata.var_names[used], **PREPARED)
    assert np.array_equal(by_name.obsm["X_pca"], adata.obsm["X_pca"])
    nystream.tl.spectral(by_name, 3, use_rep="X", features=list(adata.var_names[used]), **PREPARED)
    assert np.array_equal(by_name.uns["spectral"]["params"]["features"], np.flatnonzero(used))
    adata.write_h5ad(tmp_path / "kept.h5ad")
    adata.var["highly_variable"] = used
    with pytest.raises(nystream.UsageError, match="features= chooses genes, and so does"):
        nystream.tl.pca(adata, 5, features="variable:40", use_highly_variable=True)


@pytest.mark.parametrize("kind", ["sparse", "dense", "wide", "backed"])
def test_cells_are_divided_by_sums_over_all_genes(tmp_path, kind):
    """The genes that are marked as variable have another share of each cell."""
    adata = make_cells(60 if kind == "wide" else 360)
    used = np.arange(120) % 4 == 1
    by_hand = cells_of(prepared_by_hand(adata.X)[:, used])
    adata.var["highly_variable"] = used
    if kind in ("dense", "wide"):
        adata.X = adata.X.toarray()
    data = backed(adata, tmp_path) if kind == "backed" else adata
    nystream.tl.pca(by_hand, 5)
    nystream.tl.pca(data, 5, **PREPARED)
    assert np.allclose(abs(data.obsm["X_pca"]), abs(by_hand.obsm["X_pca"]), atol=2e-3)
    assert data.varm["PCs"].shape == (120, 5) and not data.varm["PCs"][~used].any()
    assert data.uns["pca"]["params"] == {"zero_center": True, "use_highly_variable": True,
                                         **PREPARED}
    new = adata[:9, ::-1].copy()
    nystream.tl.ingest(new, data)
    assert np.allclose(new.obsm["X_pca"], data.obsm["X_pca"][:9], atol=2e-3)
    with pytest.raises(ValueError, match="n_comps=31 must be between 1 and min.rows, columns.=30"):
        nystream.tl.pca(data, 31, **PREPARED)


def test_preparation_of_rows_that_are_not_counts():
    adata = make_cells()
    with pytest.warns(nystream.NystreamWarning, match="principal components"):
        nystream.tl.spectral(adata, 3, n_pcs=10, **PREPARED)
    assert PREPARED.items() <= adata.uns["pca"]["params"].items()
    with pytest.raises(nystream.UsageError, match="rows= prepares X, but the rows here are those "
                       "of X_pca; give use_rep='X', or rows= where X_pca is made"):
        nystream.tl.spectral(adata, 3, **PREPARED)
    refuses(nystream.UsageError, "log2", nystream.tl.pca, adata, 3, values="log2")


# ---- clusters ----------------------------------------------------------------------------------


@slow
def test_clusters_are_those_of_the_estimator(tmp_path):
    adata = make_cells()
    nystream.tl.pca(adata, 10, **PREPARED)
    nystream.tl.spectral(adata, 2, n_landmarks=100)
    assert nystream.tl.clusters(adata, 3) is None
    theirs = nystream.SpectralClustering(3, n_landmarks=100, random_state=0).fit(
        adata.obsm["X_pca"])
    assert same_partition(adata.obs["clusters"], theirs.labels_)
    assert list(adata.obs["clusters"].cat.categories) == ["0", "1", "2"]
    assert same_partition(adata.obs["clusters"], adata.obs["kind"])
    told = adata.uns["clusters"]
    assert told["params"] == {"n_clusters": 3, "use_rep": "X_spectral", "n_init": 10,
                              "random_state": 0}
    order = [theirs.labels_[list(adata.obs["clusters"]).index(name)] for name in "012"]
    assert np.allclose(told["centers"], theirs.cluster_centers_[order], atol=1e-5)
    assert 0.3 < told["silhouette"] <= 1
    adata.write_h5ad(tmp_path / "kept.h5ad")


@slow
@pytest.mark.parametrize("function, key", [("pca", "X_pca"), ("diffmap", "X_diffmap")])
def test_clusters_are_those_of_a_result(tmp_path, function, key):
    adata = make_cells(d=40)
    how = {"pca": {"map": "pca", "approx": "exact", "components": 4},
           "diffmap": {"map": "diffusion", "components": 3, "landmarks": 100}}[function]
    more = {} if function == "pca" else {"n_landmarks": 100}
    getattr(nystream.tl, function)(adata, 4, **more)
    nystream.tl.clusters(adata, 3, use_rep=key, key_added="mine")
    store = stored(tmp_path / "x.nys", adata)
    result = store.fit("map", **how)
    result.evaluate(clusters=3)
    assert same_partition(adata.obs["mine"], result.clusters[:])


def test_components_of_many_genes_are_not_scaled_to_length_1():
    adata = make_cells(60)
    adata.X = adata.X.toarray()
    nystream.tl.pca(adata, 4)
    adata.obsm["copy"] = adata.obsm["X_pca"].copy()
    for key in "X_pca", "copy":
        nystream.tl.clusters(adata, 3, use_rep=key, key_added=f"of {key}")
    assert np.array_equal(adata.uns["of X_pca"]["centers"], adata.uns["of copy"]["centers"])
    assert list(adata.obs["of X_pca"]) == list(adata.obs["of copy"])


def test_clusters_of_any_embedding_and_refusals():
    adata = make_cells(60)
    refuses(ValueError, "has none of X_spectral, .*nothing", nystream.tl.clusters, adata, 3)
    adata.obsm["X_umap"] = np.repeat(np.eye(3, 2, dtype="f4"), 20, axis=0)
    refuses(ValueError, "has none of X_spectral, .*, but X_umap", nystream.tl.clusters, adata, 3)
    made = nystream.tl.clusters(adata, 3, use_rep="X_umap", copy=True)
    assert "clusters" not in adata.obs
    assert same_partition(made.obs["clusters"], np.repeat([0, 1, 2], 20))
    with pytest.raises(ValueError, match="has none of X_tsne, but X_umap"):
        nystream.tl.clusters(adata, 3, use_rep="X_tsne")
    for count in 1, 61:
        with pytest.raises(ValueError, match=f"n_clusters={count} must be between 2 and .*, 60$"):
            nystream.tl.clusters(adata, count, use_rep="X_umap")
    with pytest.raises(nystream.UsageError, match="clusters= is not an argument"):
        nystream.tl.clusters(adata, clusters=3)


def test_clusters_of_a_map_of_earlier_components():
    adata = make_cells()
    nystream.tl.pca(adata, 10, **PREPARED)
    nystream.tl.spectral(adata, 2, n_landmarks=100)
    nystream.tl.clusters(adata, 3)
    nystream.tl.pca(adata, 10, values="sqrt")
    for use_rep in None, "X_spectral":
        with pytest.raises(ValueError, match="X_spectral of adata was made from an earlier X_pca "
                                             "than it has; make X_spectral again"):
            nystream.tl.clusters(adata, 3, use_rep=use_rep)
    nystream.tl.clusters(adata, 3, use_rep="X_pca")


# ---- new cells ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def reference():
    """Cells with all maps, and clusters."""
    adata = make_cells()
    nystream.tl.pca(adata, 10, features="variable:60", **PREPARED)
    nystream.tl.spectral(adata, 2, n_landmarks=100, n_pcs=8)
    nystream.tl.diffmap(adata, 3, n_landmarks=100)
    nystream.tl.clusters(adata, 3)
    return adata


@pytest.mark.parametrize("kind", ["memory", "files"])
def test_cells_of_the_reference_are_where_they_were(tmp_path, reference, kind):
    again, ref = make_cells(), reference
    if kind == "files":
        again, ref = backed(again, tmp_path), backed(ref, tmp_path, "reference.h5ad")
    assert nystream.tl.ingest(again, ref, ["clusters", "kind"]) is None
    for key in ("X_pca", "X_spectral"):
        assert np.allclose(again.obsm[key], ref.obsm[key], atol=1e-5)
    assert np.allclose(again.obsm["X_diffmap"][:, 1:], ref.obsm["X_diffmap"][:, 1:], atol=1e-5)
    assert not again.obsm["X_diffmap"][:, 0].any()
    for name in ("clusters", "kind"):
        assert list(again.obs[name]) == list(ref.obs[name])
        assert list(again.obs[name].cat.categories) == list(ref.obs[name].cat.categories)


def test_new_cells_with_genes_in_another_order(reference):
    new = make_cells(90, seed=8)
    order = np.random.default_rng(1).permutation(120)
    mixed = new[:, order].copy()
    nystream.tl.ingest(new, reference)
    nystream.tl.ingest(mixed, reference)
    assert np.array_equal(mixed.obsm["X_spectral"], new.obsm["X_spectral"])
    assert same_partition(new.obs["clusters"], new.obs["kind"])
    lacking = new[:, 5:].copy()
    with pytest.raises(nystream.DataError, match="no columns 'gene0', 'gene1'"):
        nystream.tl.ingest(lacking, reference)
    more = make_cells(90, seed=8)
    more.var_names = [*more.var_names[:-1], "another"]
    refuses(nystream.DataError, "no column 'gene119'", nystream.tl.ingest, more, reference)


def test_highly_variable_genes_alone_are_needed(tmp_path, recwarn):
    ref, new = make_cells(), make_cells(90, seed=8)
    ref.var["highly_variable"] = np.arange(120) % 2 == 0
    ref.layers["double"] = 2 * ref.X
    nystream.tl.pca(ref, 10, layer="double")
    ref.write_h5ad(tmp_path / "ref.h5ad")
    ref = anndata.read_h5ad(tmp_path / "ref.h5ad")
    with pytest.raises(ValueError, match=r"fitted on layers\['double'\], which adata does not"):
        nystream.tl.ingest(new, ref, obs="kind")
    new.layers["double"] = 2 * new.X
    wanted = new[:, ::-1].copy()
    made = nystream.tl.ingest(wanted, ref, obs="kind", copy=True)
    assert "X_pca" not in wanted.obsm
    assert list(made.obs["kind"]) == list(new.obs["kind"])
    few = wanted[:, [name for name in wanted.var_names if int(name[4:]) % 2 == 0]].copy()
    nystream.tl.ingest(few, ref)
    assert np.array_equal(few.obsm["X_pca"], made.obsm["X_pca"])


def test_a_model_is_about_as_large_as_its_numbers(tmp_path, reference):
    image = reference.uns["spectral"]["model"]["image"]
    assert image.dtype == np.uint8 and image.nbytes < 4 * 100 * (8 + 2) * 3
    assert reference.uns["pca"]["model"]["image"].nbytes < 4 * 120 * (10 + 2) * 3
    reference.write_h5ad(tmp_path / "ref.h5ad")
    again = anndata.read_h5ad(tmp_path / "ref.h5ad")
    assert np.array_equal(again.uns["spectral"]["model"]["image"], image)


def test_references_without_models(reference):
    new = make_cells(30, seed=8)
    with pytest.raises(ValueError, match="adata_ref.uns keeps no model; call nystream.tl.pca"):
        nystream.tl.ingest(new, make_cells())
    refuses(ValueError, "obs='kinds' is not in", nystream.tl.ingest, new, reference, obs="kinds")
    with pytest.raises(ValueError, match="'X_umap' is not an embedding .* X_pca, X_spectral"):
        nystream.tl.ingest(new, reference, obs="kind", use_rep="X_umap")
    theirs = reference.copy()
    del theirs.uns["pca"]["model"]
    with pytest.raises(ValueError, match="X_spectral of adata_ref was made from an earlier X_pca"):
        nystream.tl.ingest(new, theirs)
    ours = make_cells()
    ours.obsm["X_pca"] = np.asarray(reference.obsm["X_pca"])
    nystream.tl.spectral(ours, 2, n_landmarks=100)
    with pytest.raises(ValueError, match=r"made from X_pca, which nystream.tl did not make.*obsm"):
        nystream.tl.ingest(new, ours)
    new.obsm["X_pca"] = np.asarray(reference.obsm["X_pca"])[:30]
    nystream.tl.ingest(new, ours)
    assert np.allclose(new.obsm["X_spectral"], ours.obsm["X_spectral"][:30], atol=1e-5)


@slow
@pytest.mark.parametrize("components", [6, 5])
def test_clusters_of_an_earlier_embedding(tmp_path, components):
    cells, new = make_cells(), make_cells(30, seed=8)
    nystream.tl.pca(cells, 6)
    nystream.tl.clusters(cells, 3, use_rep="X_pca")
    cells.write_h5ad(tmp_path / "cells.h5ad")
    nystream.tl.ingest(new, anndata.read_h5ad(tmp_path / "cells.h5ad"))
    assert "clusters" in new.obs
    nystream.tl.pca(cells, components, values="sqrt")
    with pytest.raises(ValueError, match="clusters of an earlier X_pca .*clusters.adata_ref, 3, "):
        nystream.tl.ingest(new, cells)
    nystream.tl.ingest(new, cells, obs=[])


def test_clusters_that_were_renamed_or_merged(tmp_path, reference):
    new = make_cells(90, seed=8)
    nystream.tl.ingest(new, reference)
    number = np.asarray(new.obs["clusters"])
    kind = {name: reference.obs["kind"].iloc[list(reference.obs["clusters"]).index(name)]
            for name in "012"}
    renamed, merged, some = reference.copy(), reference.copy(), reference.copy()
    renamed.obs["clusters"] = renamed.obs["clusters"].cat.rename_categories(kind)
    renamed.write_h5ad(tmp_path / "ref.h5ad")
    for ref in renamed, anndata.read_h5ad(tmp_path / "ref.h5ad"):
        nystream.tl.ingest(new, ref, obs="clusters")
        assert list(new.obs["clusters"]) == [kind[name] for name in number]
        assert list(new.obs["clusters"].cat.categories) == [kind[name] for name in "012"]
    merged.obs["clusters"] = merged.obs["clusters"].map({"0": "a", "1": "b", "2": "a"})
    nystream.tl.ingest(new, merged)
    assert list(new.obs["clusters"]) == ["b" if name == "1" else "a" for name in number]
    some.obs["clusters"] = some.obs["clusters"].cat.remove_categories("2")
    nystream.tl.ingest(new, some)
    assert list(new.obs["clusters"].isna()) == list(number == "2")
    fewer = reference[np.asarray(reference.obs["clusters"]) != "2"].copy()
    nystream.tl.ingest(new, fewer)
    assert list(new.obs["clusters"]) == list(number)


@slow
def test_real_cells():
    """Held-out cells of pbmc3k get the types that experts gave them."""
    file = Path(os.environ.get("NYSTREAM_DATA") or "/nowhere") / "pbmc3k" / "pbmc3k.h5ad"
    if not file.exists():
        pytest.skip("NYSTREAM_DATA has no pbmc3k")
    adata = anndata.read_h5ad(file)
    held = np.arange(adata.n_obs) % 5 == 0
    ref, new = adata[~held].copy(), adata[held].copy()
    nystream.tl.pca(ref, 30, features="variable:2000", **PREPARED)
    nystream.tl.spectral(ref, 8)
    nystream.tl.clusters(ref, 8)
    truth = new.obs.pop("cell_type")
    nystream.tl.ingest(new, ref, ["clusters", "cell_type"])
    assert np.mean(np.asarray(new.obs["cell_type"]) == np.asarray(truth)) > 0.9
    table = pandas.crosstab(np.asarray(new.obs["clusters"]), np.asarray(truth))
    assert table.to_numpy().max(axis=1).sum() / len(truth) > 0.75
