"""AnnData: what nystream.tl writes is what scanpy writes, by its keys and its numbers."""
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
import sklearn.decomposition
import sklearn.neighbors
from conftest import cells_of, refuses

import nystream
from nystream import _batch
from nystream._fuzzy import fuzzy_union

anndata = pytest.importorskip("anndata")
slow = pytest.mark.slow


def make_counts(n=300, d=120, seed=3):
    """Counts of three kinds of cells, sparse float32."""
    random = np.random.default_rng(seed)
    means = np.exp(random.normal(size=(3, d)))[np.arange(n) % 3] * 0.4
    return scipy.sparse.csr_matrix(random.poisson(means).astype(np.float32))


@pytest.fixture
def adata():
    """300 cells of 120 genes."""
    return cells_of(make_counts())


def backed(adata, folder):
    """Return the same as a file that is read when it is indexed."""
    adata.write_h5ad(folder / "x.h5ad")
    return anndata.read_h5ad(folder / "x.h5ad", backed="r")


# ---- principal components ----------------------------------------------------------------------


def equal_but_signs(ours, theirs, atol):
    """Return whether columns are equal up to their signs."""
    signs = np.sign((ours * theirs).sum(axis=0))
    return np.allclose(ours * signs, theirs, atol=atol)


@slow
@pytest.mark.parametrize("shape", [(300, 120), (60, 120)], ids=["tall", "wide"])
@pytest.mark.parametrize("kind", ["csr", "csc", "dense", "backed", "backed dense"])
def test_pca_is_that_of_scikit_learn(tmp_path, shape, kind):
    X = make_counts(*shape)
    dense = X.toarray()
    given = {"csc": X.tocsc(), "dense": dense, "backed dense": dense}.get(kind, X)
    adata = cells_of(given)
    if "backed" in kind:
        adata = backed(adata, tmp_path)
    assert nystream.tl.pca(adata, 10) is None
    theirs = sklearn.decomposition.PCA(10).fit(dense.astype(float))
    assert equal_but_signs(adata.obsm["X_pca"], theirs.transform(dense), 2e-4)
    assert equal_but_signs(adata.varm["PCs"], theirs.components_.T, 2e-4)
    told = adata.uns["pca"]
    assert np.allclose(told["variance"], theirs.explained_variance_, rtol=1e-4)
    assert np.allclose(told["variance_ratio"], theirs.explained_variance_ratio_, rtol=1e-4)
    assert told["params"] == {"zero_center": True, "use_highly_variable": False}


@slow
@pytest.mark.parametrize("kind", ["csr", "dense", "backed", "backed dense"])
def test_pca_of_variable_genes(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(_batch, "SLICE_BYTES", 50_000)  # many slices
    X = make_counts()
    adata = cells_of(X.toarray() if "dense" in kind else X)
    chosen = np.arange(120) % 4 == 1
    adata.var["highly_variable"] = chosen
    adata = backed(adata, tmp_path) if "backed" in kind else adata
    nystream.tl.pca(adata, 5)
    theirs = sklearn.decomposition.PCA(5).fit_transform(X.toarray()[:, chosen].astype(float))
    assert equal_but_signs(adata.obsm["X_pca"], theirs, 1e-4)
    assert adata.varm["PCs"].shape == (120, 5) and not adata.varm["PCs"][~chosen].any()
    assert adata.uns["pca"]["params"]["use_highly_variable"] is True
    nystream.tl.pca(adata, 5, use_highly_variable=False, key_added="all")
    assert np.all(adata.varm["all"][~chosen].any(axis=1)) and "params" in adata.uns["all"]


def test_layers_copies_and_refusals_of_pca(adata):
    adata.layers["double"] = 2 * adata.X
    made = nystream.tl.pca(adata, 5, layer="double", copy=True)
    assert "X_pca" not in adata.obsm and made.uns["pca"]["params"]["layer"] == "double"
    nystream.tl.pca(adata, 5)
    assert np.allclose(made.obsm["X_pca"], 2 * adata.obsm["X_pca"], atol=1e-3)
    refuses(ValueError, "n_comps=121 must be between", nystream.tl.pca, adata, 121)
    refuses(ValueError, "highly_variable", nystream.tl.pca, adata, 5, use_highly_variable=True)
    refuses(nystream.UsageError, "threds= is not an argument", nystream.tl.pca, adata, 5, threds=1)


@pytest.mark.parametrize("marks", [[True, None] * 60, ["True", "False"] * 60])
def test_marks_of_genes_that_are_no_mask(adata, marks):
    adata.var["highly_variable"] = marks
    refuses(ValueError, "has values other than True and False", nystream.tl.pca, adata, 5)
    adata.var["highly_variable"] = np.array([1, 0] * 60)
    nystream.tl.pca(adata, 5)
    assert not adata.varm["PCs"][1::2].any()


def test_what_takes_no_results_is_refused_at_once(tmp_path, adata, monkeypatch):
    file = backed(adata, tmp_path)
    monkeypatch.setattr(nystream.Store, "append", lambda *_: pytest.fail("it read rows"))
    for call in nystream.tl.pca, nystream.tl.neighbors, nystream.tl.spectral:
        for given, options in (file[::2], {}), (file, {"copy": True}):
            refuses(ValueError, "AnnData that is backed.*to_memory", call, adata=given, **options)
    monkeypatch.undo()
    nystream.tl.pca(file[::2].to_memory(), 5)
    file.file.close()


@pytest.mark.parametrize("function, wrong", [
    ("pca", "n_components"), ("spectral", "landmarks"), ("diffmap", "seed"),
    ("neighbors", "neighbors"), ("pca", "n_jobs")])
def test_arguments_of_other_functions(adata, function, wrong):
    with pytest.raises(nystream.UsageError, match=rf"{wrong}= is not an argument of nystream.tl."
                       rf"{function}\(\)") as told:
        getattr(nystream.tl, function)(adata, **{wrong: 5})
    assert told.value.option == wrong


def test_cells_with_missing_values(adata):
    adata.X = adata.X.toarray()
    adata.X[7, 3] = np.nan
    for call in nystream.tl.pca, nystream.tl.spectral:
        with pytest.raises(nystream.DataError, match="X: row 7, column 3 .both from 0.: NaN"):
            call(adata, 5, **({"use_rep": "X"} if call is nystream.tl.spectral else {}))
        refuses(nystream.UsageError, "nan= is not an argument", call, adata, 5, nan="drop")


# ---- neighbours --------------------------------------------------------------------------------


def rows_with_duplicates(n=500, seed=0):
    """Rows in clusters of several widths, some of them several times."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 5)) * np.exp(random.normal(size=(n, 1)))
    X[10:14], X[100:130] = X[9], X[99]
    return X.astype(np.float32)


@slow
@pytest.mark.parametrize("k", [2, 3, 15, 40])
@pytest.mark.parametrize("seed", range(3))
def test_connectivities_are_those_of_umap(k, seed):
    umap = pytest.importorskip("umap.umap_")
    X = rows_with_duplicates(seed=seed)
    distances, lists = sklearn.neighbors.NearestNeighbors(n_neighbors=k).fit(X).kneighbors()
    lists, distances = lists[:, :k - 1].astype(np.int32), distances[:, :k - 1].astype(np.float32)
    own = np.arange(len(X), dtype=np.int32)[:, None]
    theirs = umap.fuzzy_simplicial_set(
        X, k, np.random.RandomState(0), "euclidean", knn_indices=np.hstack([own, lists]),
        knn_dists=np.hstack([np.zeros_like(own, "f4"), distances]))[0]
    ours = fuzzy_union(lists, distances)
    assert ours.dtype == np.float32 and abs(ours - ours.T).max() == 0
    assert abs(ours - theirs).max() < 1e-5
    # UMAP leaves out memberships that f32 rounds to 0.
    assert set(zip(*ours.nonzero())) >= set(zip(*theirs.nonzero()))


@pytest.mark.parametrize("kind", ["grid", "copies"])
def test_distances_where_memberships_vanish(kind):
    X = {"grid": np.indices((17, 17)).reshape(2, -1).T,  # four neighbours are at the same distance
         "copies": np.repeat(np.random.default_rng(2).normal(size=(50, 3)), 6, axis=0)}[kind]
    adata = cells_of(X.astype("f4"))
    nystream.tl.neighbors(adata, 15, use_rep="X")
    found = adata.obsp["distances"]
    lists, distances = found.indices.reshape(-1, 14), found.data.reshape(-1, 14)
    assert np.allclose(distances, np.linalg.norm(X[lists] - X[:, None], axis=2), atol=1e-5)
    theirs = sklearn.neighbors.NearestNeighbors(n_neighbors=14).fit(X).kneighbors()[0]
    assert np.allclose(np.sort(distances), theirs, atol=1e-5)
    assert found.has_canonical_format and np.all(adata.obsp["connectivities"].data > 0)


@slow
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_neighbors_write_the_keys_of_scanpy(tmp_path, adata, metric):
    umap = pytest.importorskip("umap.umap_")
    nystream.tl.pca(adata, 20)
    nystream.tl.neighbors(adata, 10, metric=metric, random_state=7)
    told = adata.uns["neighbors"]
    assert told == {"connectivities_key": "connectivities", "distances_key": "distances",
                    "params": {"n_neighbors": 10, "method": "umap", "metric": metric,
                               "random_state": 7}}
    search = sklearn.neighbors.NearestNeighbors(n_neighbors=9, metric=metric)
    theirs = search.fit(adata.obsm["X_pca"]).kneighbors_graph(mode="distance")
    ours = adata.obsp["distances"]
    assert np.all(np.diff(ours.indptr) == 9) and ours.has_sorted_indices
    assert abs(ours - theirs).max() < 2e-3 and ours.diagonal().max() == 0
    lists = np.argsort(np.where(theirs.toarray(), theirs.toarray(), np.inf), axis=1)[:, :9]
    near = np.take_along_axis(theirs.toarray(), lists, axis=1)
    own = np.arange(300)[:, None]
    union = umap.fuzzy_simplicial_set(
        adata.obsm["X_pca"], 10, np.random.RandomState(0), metric,
        knn_indices=np.hstack([own, lists]), knn_dists=np.hstack([0 * own, near]))[0]
    assert abs(adata.obsp["connectivities"] - union).max() < 1e-3
    adata.write_h5ad(tmp_path / "kept.h5ad")
    assert anndata.read_h5ad(tmp_path / "kept.h5ad").uns["neighbors"]["params"]["n_neighbors"] == 10


@slow
def test_rows_are_chosen_as_scanpy_does(adata):
    with pytest.warns(nystream.NystreamWarning, match="principal components"):
        nystream.tl.neighbors(adata)
    assert adata.obsm["X_pca"].shape == (300, 50)
    first = adata.obsp["distances"].copy()
    nystream.tl.neighbors(adata, n_pcs=50, key_added="again")
    assert (adata.obsp["again_distances"] != first).nnz == 0
    assert adata.uns["again"]["connectivities_key"] == "again_connectivities"
    assert adata.uns["again"]["params"]["n_pcs"] == 50
    adata.obsm["few"] = adata.obsm["X_pca"][:, :3]
    nystream.tl.neighbors(adata, use_rep="few")
    few = adata.obsp["distances"].copy()
    nystream.tl.neighbors(adata, n_pcs=3)
    assert (adata.obsp["distances"] != few).nnz == 0
    nystream.tl.neighbors(adata, use_rep="X")
    assert (adata.obsp["distances"] != few).nnz > 0
    small = cells_of(np.array(adata.obsm["few"]))
    nystream.tl.neighbors(small)
    assert (small.obsp["distances"] != few).nnz == 0
    refuses(ValueError, "'X_umap'.*X_pca, few", nystream.tl.neighbors, adata, use_rep="X_umap")
    refuses(ValueError, "n_comps=51", nystream.tl.neighbors, adata, n_pcs=51)


@pytest.mark.parametrize("kind", ["frame", "sparse"])
def test_the_first_columns_of_rows_of_any_kind(adata, kind):
    rows = np.random.default_rng(3).normal(size=(300, 8)).astype("f4")
    adata.obsm["array"] = rows
    adata.obsm["other"] = (scipy.sparse.csr_matrix(rows) if kind == "sparse" else
                           pytest.importorskip("pandas").DataFrame(rows, adata.obs_names))
    for key in "array", "other":
        nystream.tl.neighbors(adata, 5, 3, use_rep=key, key_added=key)
        nystream.tl.clusters(adata, 3, use_rep=key, key_added=f"of {key}")
    assert abs(adata.obsp["other_distances"] - adata.obsp["array_distances"]).max() < 1e-5
    assert list(adata.obs["of other"]) == list(adata.obs["of array"])
    nystream.tl.spectral(adata, 2, use_rep="other", n_pcs=3, n_landmarks=50)
    new = adata[::3].copy()
    nystream.tl.ingest(new, adata, obs=[])
    assert np.allclose(new.obsm["X_spectral"], adata.obsm["X_spectral"][::3], atol=1e-4)


def test_few_rows_have_fewer_neighbors(adata):
    few = adata[:9].copy()
    with pytest.warns(nystream.NystreamWarning, match="and is lowered to 5"):
        nystream.tl.neighbors(few, use_rep="X")
    assert few.uns["neighbors"]["params"]["n_neighbors"] == 5
    assert few.obsp["distances"].nnz == 36
    refuses(ValueError, "below 2", nystream.tl.neighbors, few, 1)


@slow
def test_a_sieve_finds_nearly_the_same(adata):
    nystream.tl.pca(adata, 10)
    nystream.tl.neighbors(adata, key_added="exact")
    nystream.tl.neighbors(adata, search="sieve")
    both = adata.obsp["exact_distances"].multiply(adata.obsp["distances"]).nnz
    assert both >= 0.9 * adata.obsp["distances"].nnz


# ---- maps --------------------------------------------------------------------------------------


@slow
def test_maps_are_those_of_the_estimators(tmp_path, adata):
    nystream.tl.pca(adata, 10)
    X = adata.obsm["X_pca"]
    nystream.tl.spectral(adata, 3, n_landmarks=60, random_state=4)
    theirs = nystream.SpectralEmbedding(3, n_landmarks=60, random_state=4).fit(X)
    ratio = adata.obsm["X_spectral"] / theirs.embedding_
    assert np.allclose(ratio, ratio[0], rtol=1e-4)
    assert np.array_equal(adata.uns["spectral"]["eigenvalues"], theirs.eigenvalues_)
    nystream.tl.diffmap(adata, 4, n_landmarks=60, random_state=4)
    theirs = nystream.DiffusionMap(3, n_landmarks=60, random_state=4).fit(X)
    vectors, values = adata.obsm["X_diffmap"], adata.uns["diffmap_evals"]
    assert vectors.shape == (300, 4) and np.array_equal(values, theirs.eigenvalues_)
    assert values[0] == pytest.approx(1) and np.allclose(np.linalg.norm(vectors, axis=0), 1)
    ratio = vectors[:, 1:] * values[1:] / theirs.embedding_
    assert np.allclose(ratio, ratio[0, 0], rtol=1e-4)
    adata.write_h5ad(tmp_path / "kept.h5ad")


@slow
def test_backed_maps_are_the_same(tmp_path, adata):
    file = backed(adata, tmp_path)
    for call in (nystream.tl.spectral, nystream.tl.diffmap, nystream.tl.neighbors):
        for data in (adata, file):
            call(data, 5, use_rep="X", random_state=2)
    for key in ("X_spectral", "X_diffmap"):
        assert np.array_equal(file.obsm[key], adata.obsm[key])
    assert (file.obsp["connectivities"] != adata.obsp["connectivities"]).nnz == 0
    file.file.close()
    refuses(ValueError, "n_comps=1", nystream.tl.diffmap, adata, 1)


@slow
def test_real_cells():
    """Types of cells of pbmc3k are neighbours: of 2,000 variable genes, as in every tutorial."""
    file = Path(os.environ.get("NYSTREAM_DATA") or "/nowhere") / "pbmc3k" / "pbmc3k.h5ad"
    if not file.exists():
        pytest.skip("NYSTREAM_DATA has no pbmc3k")
    adata = anndata.read_h5ad(file)
    X = scipy.sparse.diags(1e4 / np.asarray(adata.X.sum(axis=1)).ravel()) @ adata.X
    adata.X = X.log1p().tocsr().astype(np.float32)
    variance = np.asarray(adata.X.power(2).mean(axis=0) - np.square(adata.X.mean(axis=0))).ravel()
    adata.var["highly_variable"] = variance >= np.sort(variance)[-2000]
    nystream.tl.pca(adata)
    nystream.tl.neighbors(adata)
    types = np.unique(adata.obs.iloc[:, 0].astype(str), return_inverse=True)[1]
    votes = adata.obsp["connectivities"] @ np.eye(types.max() + 1)[types]
    assert np.mean(votes.argmax(axis=1) == types) > 0.9


@slow
def test_dir_has_what_is_for_use_alone():
    assert dir(nystream.tl) == ["clusters", "diffmap", "ingest", "neighbors", "pca", "spectral"]
    assert {"open", "embed", "KernelPCA", "tl", "dask"} <= set(dir(nystream))
    assert not [name for name in dir(nystream) if name.startswith("_") and name != "__version__"]
    assert "annotations" not in dir(nystream)


@slow
def test_tl_is_imported_when_it_is_named():
    code = ("import sys, nystream; assert 'nystream.tl' not in sys.modules; nystream.tl.pca; "
            "print('tl' in dir(nystream), [m for m in ('anndata', 'scipy', 'sklearn') "
            "if m in sys.modules])")
    path = str(Path(nystream.__file__).parents[1])
    ran = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path},
                         stdout=subprocess.PIPE, text=True, check=True)
    assert ran.stdout.strip() == "True []"


def test_what_is_no_anndata_is_refused(tmp_path, adata):
    adata.raw = adata
    adata.layers["counts"] = adata.X
    for given in str(tmp_path / "x.h5ad"), adata.raw, None, adata.X, adata.to_df():
        for name in nystream.tl.__all__:
            more = [adata] if name == "ingest" else []
            with pytest.raises(TypeError, match=rf"{name}\(\) takes an AnnData as adata, not"):
                getattr(nystream.tl, name)(given, *more)
    with pytest.raises(TypeError, match="takes an AnnData as adata_ref, not str"):
        nystream.tl.ingest(adata, adata_ref="ref.h5ad")
    refuses(nystream.UsageError, "layer='count' is not ", nystream.tl.pca, adata, 3, layer="count")
    adata.var["highly_variable"] = False
    refuses(ValueError, r"marks no gene; .*use_highly_variable=False", nystream.tl.pca, adata, 3)
