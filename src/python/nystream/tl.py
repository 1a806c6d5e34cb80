"""Embeddings and neighbours of an AnnData, under the keys that scanpy reads and writes.

    nystream.tl.pca(adata)                    # obsm["X_pca"], varm["PCs"], uns["pca"]
    nystream.tl.neighbors(adata)              # obsp["connectivities"], obsp["distances"]
    nystream.tl.spectral(adata)               # obsm["X_spectral"], uns["spectral"]
    nystream.tl.diffmap(adata)                # obsm["X_diffmap"], uns["diffmap_evals"]
    nystream.tl.clusters(adata, 8)            # obs["clusters"], uns["clusters"]
    nystream.tl.ingest(new, adata)            # obsm and obs of new cells, too

Rows in memory are read where they are; those of a backed AnnData come slice by slice, and go to
temporary files. All functions take these arguments beside their own, as `nystream.embed` does, and
return None, or with copy=True a copy with the results, which leaves adata as it is:

adata : AnnData, in memory or backed
random_state : int
    The seed.
memory : int or str, optional
    Bytes, or a size such as "8G". It bounds what nystream itself uses: Python, your own arrays and
    the pages of files that you map are not counted. None: half of what is free.
threads : int, optional
progress : bool or callable, optional
tmpdir : path, optional
    Folder of temporary files.

`pca`, `spectral` and `diffmap` prepare counts as they are read, by the options of `nystream import`
and `fit`. New cells are prepared in the same way. adata.X is not changed, nor that of new cells:

rows : str, optional
    "total:10000": scale each cell to the sum 10,000. "unit": scale it to length 1.
values : str, optional
    "log1p", "sqrt" or "binary": transform each value after that.
features : str, array of numbers or names of genes, or a mask, optional
    Genes to use, such as "variable:2000", those that scanpy's flavor "seurat" chooses. This rule
    takes counts: of logarithms that scanpy has already made of X it chooses other genes.
"""
from __future__ import annotations

import functools
import inspect
from typing import (Any, Callable, Dict, List, Optional, Sequence, Tuple, TypeVar, Union,
                    cast)

import numpy as np

from nystream import _data
from nystream._columns import listed
from nystream._context import warn
from nystream._data import centers_of
from nystream._errors import renamed, usage_error
from nystream._fuzzy import fuzzy_union, lists_as_csr
from nystream._ingest import (Genes, Source, as_array, as_clustered, check_current, check_is_cells,
                              checksum_of, keep_model, labels_of, model_of, names_of,
                              neighbor_graph, place, stored)
from nystream._options import features_of

__all__ = ["clusters", "diffmap", "ingest", "neighbors", "pca", "spectral"]

MANY_COLUMNS = 50  # with more, distances are those of principal components, as in scanpy


# Arguments by the options of the library, and by the parameters of estimators.
NAMES = {"components": "n_comps", "n_components": "n_comps", "landmarks": "n_landmarks",
         "neighbors": "n_neighbors", "seed": "random_state", "n_jobs": "threads"}
RUN = ("memory", "threads", "progress", "tmpdir")
Function = TypeVar("Function", bound=Callable[..., Any])


def _checked(function: Function) -> Function:
    """Make a function refuse arguments that it does not have, and take copy=.

    Messages of the library name its arguments in the place of options.
    """
    known = [*inspect.signature(function).parameters, *RUN]

    @functools.wraps(function)
    def checked(adata: Any, *args: Any, copy: bool = False, **given: Any) -> Any:
        for name in given:
            if name not in known:
                raise usage_error(f"{name}= is not an argument of nystream.tl."
                                  f"{function.__name__}()", name)
        check_is_cells(function.__name__, "adata", adata)
        if adata.isbacked and (copy or adata.is_view):
            raise ValueError("an AnnData that is backed is not copied, and a view of one takes no "
                             "results; give adata.to_memory(), or adata.copy('NEW.h5ad')")
        adata = adata.copy() if copy else adata
        with renamed(NAMES):
            function(adata, *args, **given)
        return adata if copy else None

    return cast(Function, checked)


def _said(**given: Any) -> Dict[str, Any]:
    """Return what params of uns say of arguments; what is None is left out, as files have none."""
    return {name: value if isinstance(value, (str, int, np.integer)) else np.asarray(value)
            for name, value in given.items() if value is not None}


def _choose_rows(adata: Any, use_rep: Optional[str], n_pcs: Optional[int], run: Dict[str, Any],
                 **prepared: Any) -> Source:
    """Return the rows that scanpy would take: those named, few columns of X, or X_pca.

    `prepared` has rows, values and features, which say how X is prepared.
    """
    few = adata.n_vars <= MANY_COLUMNS or n_pcs == 0
    if use_rep == "X" or (use_rep is None and few):
        return Source(_data.unwrap(adata), "X", adata.n_vars, adata.var_names)
    key = use_rep or "X_pca"
    name = next(iter(_said(**prepared)), None)
    if name and (use_rep or key in adata.obsm):
        raise usage_error(f"{name}= prepares X, but the rows here are those of {key}; give "
                          f"use_rep='X', or {name}= where {key} is made", name)
    if key not in adata.obsm and use_rep is None:
        warn(f"X has {adata.n_vars} columns, and there is no X_pca: principal components are "
             "computed first; use_rep='X' takes X itself")
        pca(adata, min(n_pcs or 50, adata.n_obs - 1), **prepared, **run)
    if key not in adata.obsm:
        raise ValueError(f"use_rep={key!r} is not 'X', and not in adata.obsm, which has "
                         f"{', '.join(adata.obsm) or 'none'}")
    rows = adata.obsm[key]
    if n_pcs is not None and n_pcs > rows.shape[1]:
        raise ValueError(f"{key} has {rows.shape[1]} columns, fewer than n_pcs={n_pcs}; call "
                         f"nystream.tl.pca(adata, n_comps={n_pcs}) first")
    if n_pcs is not None:
        rows = rows.iloc[:, :n_pcs] if hasattr(rows, "iloc") else rows[:, :n_pcs]
    return Source(rows, f"obsm/{key}", rows.shape[1])


# ---- principal components ----------------------------------------------------------------------


@_checked
def pca(adata: Any, n_comps: int = 50, *, layer: Optional[str] = None,
        use_highly_variable: Optional[bool] = None, rows: Optional[str] = None,
        values: Optional[str] = None, features: Any = None, random_state: int = 0,
        key_added: Optional[str] = None, copy: bool = False, **run: Any) -> Any:
    """Compute principal components exactly, as scanpy.pp.pca.

    With more columns than rows they come from the n × n products of rows, else from the d × d
    covariance: one of these is to fit in memory, so choose variable genes of many cells.
    uns["pca"]["model"] is what `ingest` places new cells by: about n_comps numbers a gene, and of
    a dense X with fewer rows than columns as many as X has.

    Parameters
    ----------
    n_comps : int
    layer : str, optional
        This one of adata.layers in place of X.
    use_highly_variable : bool, optional
        Only columns that adata.var["highly_variable"] marks; None: where there is that column, and
        no features= is given. What rows= divides by is that of all genes, which new cells then
        need.
    rows, values, features
        How counts are prepared: see `nystream.tl`.
    key_added : str, optional
        Key of obsm, varm and uns in place of "X_pca", "PCs" and "pca".
    random_state, copy, **run
        See `nystream.tl`.
    """
    if layer is not None and layer not in adata.layers:
        there = listed(list(map(str, adata.layers))) or "none"
        raise usage_error(f"layer={layer!r} is not in adata.layers, which has {there}", "layer")
    features = _genes_by_number(adata, features)
    whole = _data.unwrap(adata if layer is None else adata.layers[layer])
    X, columns = _genes_of_pca(adata, layer, whole, use_highly_variable, features)
    params: Dict[str, Any] = {"zero_center": True, "use_highly_variable": columns is not None,
                              **_said(rows=rows, values=values, features=features)}
    n, d = X.shape
    if not 1 <= n_comps <= min(n, d):
        raise ValueError(f"n_comps={n_comps} must be between 1 and min(rows, columns)={min(n, d)}")
    if rows is not None and columns is not None:  # the sum or length is that of all genes
        X, features, columns = whole, columns, None
        d = adata.n_vars
    wide = d > n and not _data.is_sparse(X)  # whose columns have a larger scatter matrix than K
    how = {"map": "kpca", "kernel": "linear"} if wide else {"map": "pca"}
    obsm, uns = key_added or "X_pca", key_added or "pca"
    source = Source(X, "X" if layer is None else f"layers/{layer}", d,
                    adata.var_names if columns is None else adata.var_names[columns])
    with stored(X, rows=rows, values=values, **run) as store:
        result = store.fit("pca", approx="exact", components=n_comps, seed=random_state,
                           features=features, **how)
        Y, eigenvalues, trace = result.embedding[:], result.eigenvalues, result.report["trace"]
        axes = np.zeros((adata.n_vars, n_comps))
        axes[slice(None) if columns is None else columns] = result.axes
        model = keep_model(adata, result, obsm, source)
    adata.obsm[obsm] = Y
    adata.varm[key_added or "PCs"] = axes
    if layer is not None:
        params["layer"] = layer
    adata.uns[uns] = {"params": params, "variance": eigenvalues / (n - 1),
                      "variance_ratio": eigenvalues / trace, "model": model}


def _genes_by_number(adata: Any, features: Any) -> Any:
    """Return features= with the numbers of genes in place of their names."""
    return features_of(features, lambda: list(adata.var_names), lambda: int(adata.n_vars))


def _genes_of_pca(adata: Any, layer: Optional[str], X: Any, use_highly_variable: Optional[bool],
                  features: Any) -> Tuple[Any, Any]:
    """Return the chosen genes of X or a layer, the matrix X, and their numbers; None: all."""
    if use_highly_variable and features is not None:
        raise usage_error("features= chooses genes, and so does use_highly_variable=True; give one "
                          "of them", "features")
    if use_highly_variable and "highly_variable" not in adata.var:
        raise ValueError("use_highly_variable=True needs adata.var['highly_variable']")
    if use_highly_variable is None:
        use_highly_variable = "highly_variable" in adata.var and features is None
    if not use_highly_variable:
        return X, None
    if not adata.var["highly_variable"].isin([True, False]).all():
        raise ValueError("adata.var['highly_variable'] has values other than True and False, such "
                         "as missing ones; make it a mask, or give use_highly_variable=False")
    columns = np.flatnonzero(np.asarray(adata.var["highly_variable"], dtype=bool))
    if not len(columns):
        raise ValueError("adata.var['highly_variable'] marks no gene; mark some, or give "
                         "use_highly_variable=False, which takes all")
    return X[:, columns] if _data.is_sparse(X) else Genes(adata, layer, columns), columns


# ---- maps --------------------------------------------------------------------------------------


def _map(adata: Any, key: str, use_rep: Optional[str], n_pcs: Optional[int],
         prepared: Dict[str, Any], run: Dict[str, Any],
         **options: Any) -> Tuple[Any, Any, Dict[str, Any], Dict[str, Any]]:
    """Return eigenvectors, the trivial one first, eigenvalues, the model and params of uns."""
    prepared["features"] = _genes_by_number(adata, prepared["features"])
    source = _choose_rows(adata, use_rep, n_pcs, run, **prepared)
    params = {"n_landmarks": options["landmarks"], "random_state": options["seed"],
              **_said(use_rep=use_rep, n_pcs=n_pcs, **prepared)}
    options["landmarks"] = min(options["landmarks"], adata.n_obs)
    if source.rows != "X":
        prepared = {"features": None}
    features = prepared.pop("features")
    with stored(source.values, **prepared, **run) as store:
        result = store.fit("map", features=features, **options)
        return (result.eigenvectors[:], result.eigenvalues,
                keep_model(adata, result, key, source), params)


@_checked
def spectral(adata: Any, n_comps: int = 10, *, use_rep: Optional[str] = None,
             n_pcs: Optional[int] = None, gamma: Optional[float] = None,
             rows: Optional[str] = None, values: Optional[str] = None, features: Any = None,
             n_landmarks: int = 1000, random_state: int = 0, key_added: Optional[str] = None,
             copy: bool = False, **run: Any) -> Any:
    """Embed by the eigenvectors of the Laplacian of a Gaussian kernel, by landmarks.

    Writes obsm["X_spectral"] (rows, n_comps), without the trivial eigenvector, and uns["spectral"]
    with `eigenvalues`, the trivial first one included, `params`, and the `model` that `ingest`
    places new cells by: n_landmarks rows, and n_comps numbers of each.

    Parameters
    ----------
    n_comps : int
    use_rep, n_pcs
        Rows: a key of obsm, or "X"; the first columns of it. Both None: X with up to 50 columns,
        else X_pca, as in scanpy.
    gamma : float, optional
        exp(-gamma |x-y|²); None: 1/median of |x-y|² over pairs of rows.
    rows, values, features
        How counts of X are prepared, or for the X_pca that is made first: see `nystream.tl`.
    n_landmarks : int
    key_added : str, optional
        Key of obsm and uns in place of "X_spectral" and "spectral".
    random_state, copy, **run
        See `nystream.tl`.
    """
    key = key_added or "X_spectral"
    vectors, eigenvalues, model, params = _map(
        adata, key, use_rep, n_pcs, {"rows": rows, "values": values, "features": features}, run,
        map="laplacian", components=n_comps, gamma=gamma, landmarks=n_landmarks,
        seed=random_state)
    adata.obsm[key] = vectors[:, 1:]
    adata.uns[key_added or "spectral"] = {"eigenvalues": eigenvalues, "model": model,
                                          "params": {"n_comps": n_comps, **params}}


@_checked
def diffmap(adata: Any, n_comps: int = 15, *, use_rep: Optional[str] = None,
            n_pcs: Optional[int] = None, gamma: Optional[float] = None,
            rows: Optional[str] = None, values: Optional[str] = None, features: Any = None,
            n_landmarks: int = 1000, random_state: int = 0, copy: bool = False, **run: Any) -> Any:
    """Diffusion map of a Gaussian kernel between all rows, by landmarks.

    scanpy.tl.diffmap takes the kernel of a graph of neighbours instead. As there, column 0 of
    obsm["X_diffmap"] (rows, n_comps) is the trivial eigenvector, columns have length 1, and
    uns["diffmap_evals"] has the eigenvalues, 1 first. uns["diffmap"] has the model of `ingest`.

    Parameters
    ----------
    n_comps : int
        At least 2, the trivial one included.
    use_rep, n_pcs, gamma, rows, values, features, n_landmarks, random_state, copy, **run
        See `spectral`.
    """
    if n_comps < 2:
        raise ValueError(f"n_comps={n_comps} is below 2, and the first component is constant")
    vectors, eigenvalues, model, params = _map(
        adata, "X_diffmap", use_rep, n_pcs,
        {"rows": rows, "values": values, "features": features}, run, map="diffusion",
        components=n_comps - 1, gamma=gamma, landmarks=n_landmarks, seed=random_state)
    adata.obsm["X_diffmap"] = vectors
    adata.uns["diffmap_evals"] = eigenvalues
    adata.uns["diffmap"] = {"params": params, "model": {**model, "divide": eigenvalues[1:]}}


# ---- neighbours --------------------------------------------------------------------------------


@_checked
def neighbors(adata: Any, n_neighbors: int = 15, n_pcs: Optional[int] = None, *,
              use_rep: Optional[str] = None, metric: str = "euclidean",
              search: Optional[str] = None, random_state: int = 0,
              key_added: Optional[str] = None, copy: bool = False, **run: Any) -> Any:
    """Find nearest neighbours and their fuzzy graph, as scanpy.pp.neighbors(method="umap").

    Writes obsp["distances"], with n_neighbors - 1 entries a row, obsp["connectivities"], and
    uns["neighbors"], which scanpy.tl.umap, .leiden and others read.

    Parameters
    ----------
    n_neighbors : int
        At least 2; a row counts as one of its own, as in scanpy and UMAP.
    use_rep, n_pcs
        See `spectral`.
    metric : {"euclidean", "cosine"}
    search : {"auto", "exact", "tree", "sieve"}, optional
        exact: from all pairs; tree: the same ones, from boxes of rows; auto: exact or tree,
        whichever is less work; sieve: 0.95 of them, in far less time. None: auto for up to
        100,000 rows or up to six columns, else whichever finds 0.95 of them with the least work.
    key_added : str, optional
        Key of uns, and what obsp's keys begin with: "KEY_distances", "KEY_connectivities".
    random_state
        Written to uns, as scanpy does; no search is random.
    copy, **run
        See `nystream.tl`.
    """
    if n_neighbors < 2:
        raise ValueError(f"n_neighbors={n_neighbors} is below 2, but a row counts as one of its "
                         "own")
    if n_neighbors > adata.n_obs:
        n_neighbors = 1 + adata.n_obs // 2
        warn(f"n_neighbors is more than there are rows, and is lowered to {n_neighbors}")
    rows = _choose_rows(adata, use_rep, n_pcs, run).values
    with stored(rows, **run) as store:
        graph = neighbor_graph(store, n_neighbors - 1, metric, search)
        lists, distances = graph.neighbors[:].astype(np.int32), graph.distances[:]
    prefix = "" if key_added is None else f"{key_added}_"
    adata.obsp[f"{prefix}distances"] = lists_as_csr(lists, distances)
    adata.obsp[f"{prefix}connectivities"] = fuzzy_union(lists, distances)
    adata.uns[key_added or "neighbors"] = {
        "connectivities_key": f"{prefix}connectivities", "distances_key": f"{prefix}distances",
        "params": {"n_neighbors": n_neighbors, "method": "umap", "metric": metric,
                   "random_state": random_state, **_said(use_rep=use_rep, n_pcs=n_pcs)}}


# ---- clusters, and new cells -------------------------------------------------------------------


@_checked
def clusters(adata: Any, n_clusters: int = 8, *, use_rep: Optional[str] = None, n_init: int = 10,
             random_state: int = 0, key_added: str = "clusters", copy: bool = False,
             **run: Any) -> Any:
    """Find clusters of an embedding by k-means.

    Rows of `spectral` are scaled to length 1 first, as nystream.SpectralClustering does, which
    gives the same clusters of n_comps=n_clusters - 1; those of `diffmap` get their eigenvalues.
    Writes obs[key_added], a category "0", "1", …, missing for rows of NaN in the embedding, and
    uns[key_added] with `centers`, `params` and `silhouette`.

    Parameters
    ----------
    n_clusters : int, at least 2
    use_rep : str, optional
        Key of obsm; None: the first of "X_spectral", "X_diffmap", "X_pca" that is there.
    n_init : int
        Initialisations of k-means, the best of which is kept.
    key_added : str
    random_state, copy, **run
        See `nystream.tl`.
    """
    import pandas

    known = [use_rep] if use_rep else ["X_spectral", "X_diffmap", "X_pca"]
    key = next((key for key in known if key in adata.obsm), None)
    if key is None:
        raise ValueError(f"adata.obsm has none of {', '.join(known)}, but "
                         f"{', '.join(adata.obsm) or 'nothing'}")
    check_current(adata, model_of(adata, key), "adata")
    rows = as_clustered(adata, key, as_array(adata.obsm[key]))
    has_place = ~np.isnan(rows).any(axis=1)
    placed = rows[has_place]
    if not 2 <= n_clusters <= len(placed):
        raise ValueError(f"n_clusters={n_clusters} must be between 2 and the number of rows that "
                         f"have a place, {len(placed)}")
    with stored(placed, **run) as store:  # all components of rows have the distances of the rows
        result = store.fit("rows", map="pca", approx="exact", components=min(placed.shape),
                           precision="f64")
        told = result.evaluate(measures="clusters", clusters=n_clusters, n_init=n_init,
                               seed=random_state)
        found = np.full(len(rows), -1)
        found[has_place] = result.clusters[:].astype(np.int64)
    centers = centers_of(rows, found, n_clusters)
    adata.obs[key_added] = pandas.Categorical.from_codes(found, list(map(str, range(n_clusters))))
    adata.uns[key_added] = {
        "centers": centers, "behind": checksum_of(adata, key),
        "params": {"n_clusters": n_clusters, "use_rep": key, "n_init": n_init,
                   "random_state": random_state}}
    if told["silhouette"] is not None:
        adata.uns[key_added]["silhouette"] = told["silhouette"]


@_checked
def ingest(adata: Any, adata_ref: Any, obs: Union[None, str, Sequence[str]] = None, *,
           use_rep: Optional[str] = None, n_neighbors: int = 15, copy: bool = False,
           **run: Any) -> Any:
    """Place new cells in the maps of others, and carry over clusters and labels, as scanpy's.

    Writes those of obsm that `pca`, `spectral` and `diffmap` have made of adata_ref, by the models
    that it keeps in uns, also in a file. Genes are matched by name: adata must have all those of
    the matrix that the maps were made from, in any order; if it lacks some, make the maps of
    adata_ref from the genes that both have. Column 0 of X_diffmap, the trivial one, is 0.

    Parameters
    ----------
    adata : new cells, whose X, or the layer of that name, has values of the same kind
    adata_ref : AnnData
    obs : str or sequence of str, optional
        Columns of adata_ref.obs to carry over; None: those of `clusters`. A new cell is of the
        cluster whose center it is nearest to, and gets the word that most cells of this cluster
        have now, so that clusters may be renamed and merged. Of any other column it gets the word
        that most of its nearest neighbours among adata_ref have.
    use_rep : str, optional
        Key of obsm in which neighbours are looked for; None: X_pca, else the first that is placed.
    n_neighbors : int
        How many of them vote.
    copy, **run
        See `nystream.tl`.
    """
    check_is_cells("ingest", "adata_ref", adata_ref)
    names = names_of(adata_ref, obs)
    places = place(adata, adata_ref, run)
    found = labels_of(adata_ref, names, places, use_rep, n_neighbors, run)
    for key, rows in places.items():
        adata.obsm[key] = rows
    for name in names:
        adata.obs[name] = found[name]


def __dir__() -> List[str]:
    return __all__
