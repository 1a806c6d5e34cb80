"""Embeddings and neighbours of an AnnData, under the keys that scanpy reads and writes.

    nystream.tl.pca(adata)                    # obsm["X_pca"], varm["PCs"], uns["pca"]
    nystream.tl.neighbors(adata)              # obsp["connectivities"], obsp["distances"]
    nystream.tl.spectral(adata)               # obsm["X_spectral"], uns["spectral"]
    nystream.tl.diffmap(adata)                # obsm["X_diffmap"], uns["diffmap_evals"]

Rows come from memory, or slice by slice from a backed AnnData; they go to a scratch store. All
functions take these arguments beside their own, as `nystream.embed` does:

memory : int or str, optional
    Bytes that the process may occupy, such as "8G".
threads : int, optional
progress : bool or callable, optional
tmpdir : path, optional
    Folder of the scratch store.
"""
from __future__ import annotations

import functools
import inspect
import warnings
from typing import Any, Callable, ContextManager, Dict, List, Optional, TypeVar, cast

import numpy as np

from nystream import _data
from nystream._append import PathLike
from nystream._context import Context, ProgressOption, stack_level
from nystream._embed import scratch_rows
from nystream._errors import NystreamWarning, nearest, no_attribute, renamed, usage_error
from nystream._fuzzy import fuzzy_union, lists_as_csr
from nystream._options import search_options
from nystream.store import Store

__all__ = ["diffmap", "neighbors", "pca", "spectral"]

MANY_COLUMNS = 50  # with more, distances are those of principal components, as in scanpy


class _Columns:
    """Some columns of a matrix that is read by [a:b]."""

    def __init__(self, X: Any, columns: Any) -> None:
        self._X, self._columns = X, columns
        self.shape, self.slice_rows = (X.shape[0], len(columns)), _data.slice_rows(X)

    def __getitem__(self, rows: slice) -> Any:
        return self._X[rows][:, self._columns]


# Arguments by the options of the library, and by the parameters of estimators.
NAMES = {"components": "n_comps", "n_components": "n_comps", "landmarks": "n_landmarks",
         "neighbors": "n_neighbors", "seed": "random_state", "n_jobs": "threads"}
RUN = ("memory", "threads", "progress", "tmpdir")
Function = TypeVar("Function", bound=Callable[..., Any])


def _checked(function: Function) -> Function:
    """Make a function refuse arguments that it does not have, with those that are meant.

    Messages of the library name its arguments in the place of options.
    """
    known = [*inspect.signature(function).parameters, *RUN]

    @functools.wraps(function)
    def checked(*args: Any, **given: Any) -> Any:
        for name in given:
            if name in ("nan", "min_values"):
                raise usage_error(f"{name}= would leave out rows that the AnnData keeps; leave "
                                  "them out there first: adata = adata[KEPT].copy()", name)
            if name not in known:
                meant = NAMES.get(name)
                meant = meant if meant in known else nearest(name, known)
                raise usage_error(f"{name}= is no argument of nystream.tl.{function.__name__}()"
                                  + (f"; did you mean {meant}=?" if meant else ""), name)
        with renamed(NAMES):
            return function(*args, **given)

    return cast(Function, checked)


def _stored(X: Any, *, memory: Any = None, threads: Optional[int] = None,
            progress: ProgressOption = None, tmpdir: Optional[PathLike] = None
            ) -> ContextManager[Store]:
    """Give a scratch store of the rows of X, which is removed at the end."""
    return scratch_rows(X, Context(memory, threads, progress), tmpdir)


def _choose_rows(adata: Any, use_rep: Optional[str], n_pcs: Optional[int],
                 run: Dict[str, Any]) -> Any:
    """Return the rows that scanpy would take: those named, few columns of X, or X_pca."""
    few = adata.n_vars <= MANY_COLUMNS or n_pcs == 0
    if use_rep == "X" or (use_rep is None and few):
        return _data.unwrap(adata)
    key = use_rep or "X_pca"
    if key not in adata.obsm and use_rep is None:
        warnings.warn(f"X has {adata.n_vars} columns, and there is no X_pca: principal components "
                      "are computed first; use_rep='X' takes X itself", NystreamWarning,
                      stacklevel=stack_level())
        pca(adata, min(n_pcs or 50, adata.n_obs - 1), **run)
    if key not in adata.obsm:
        raise ValueError(f"use_rep={key!r} is not 'X', and not in adata.obsm, which has "
                         f"{', '.join(adata.obsm) or 'none'}")
    rows = adata.obsm[key]
    if n_pcs is not None and n_pcs > rows.shape[1]:
        raise ValueError(f"{key} has {rows.shape[1]} columns, fewer than n_pcs={n_pcs}; call "
                         f"nystream.tl.pca(adata, n_comps={n_pcs}) first")
    return rows if n_pcs is None or hasattr(rows, "iloc") else rows[:, :n_pcs]


def _used(use_rep: Optional[str], n_pcs: Optional[int]) -> Dict[str, Any]:
    """Return what params of uns say of the rows; what is None is left out, as files have none."""
    said = {"use_rep": use_rep, "n_pcs": n_pcs}
    return {key: value for key, value in said.items() if value is not None}


# ---- principal components ----------------------------------------------------------------------


@_checked
def pca(adata: Any, n_comps: int = 50, *, layer: Optional[str] = None,
        use_highly_variable: Optional[bool] = None, random_state: int = 0,
        key_added: Optional[str] = None, copy: bool = False, **run: Any) -> Any:
    """Compute principal components exactly, as scanpy.pp.pca.

    With more columns than rows they come from the n × n products of rows, else from the d × d
    covariance: one of these is to fit in memory, so choose variable genes of many cells.

    Parameters
    ----------
    adata : AnnData, in memory or backed
    n_comps : int
    layer : str, optional
        This one of adata.layers in place of X.
    use_highly_variable : bool, optional
        Only columns that adata.var["highly_variable"] marks; None: where there is that column.
    key_added : str, optional
        Key of obsm, varm and uns in place of "X_pca", "PCs" and "pca".
    copy : bool
        Return a copy with the results, and leave adata as it is.
    random_state, **run
        See `nystream.tl`.

    Returns
    -------
    AnnData if copy, else None
    """
    adata = adata.copy() if copy else adata
    if use_highly_variable is None:
        use_highly_variable = "highly_variable" in adata.var
    elif use_highly_variable and "highly_variable" not in adata.var:
        raise ValueError("use_highly_variable=True needs adata.var['highly_variable']")
    X = _data.unwrap(adata if layer is None else adata.layers[layer])
    columns = np.arange(adata.n_vars)
    if use_highly_variable:
        columns = np.flatnonzero(np.asarray(adata.var["highly_variable"], dtype=bool))
        X = X[:, columns] if _data.is_sparse(X) else _Columns(X, columns)
    n, d = X.shape
    if not 1 <= n_comps <= min(n, d):
        raise ValueError(f"n_comps={n_comps} must be between 1 and min(rows, columns)={min(n, d)}")
    wide = d > n and not _data.is_sparse(X)  # whose columns have a larger scatter matrix than K
    how = {"map": "kpca", "kernel": "linear"} if wide else {"map": "pca"}
    with _stored(X, **run) as store:
        result = store.fit("pca", approx="exact", components=n_comps, seed=random_state, **how)
        Y, eigenvalues, trace = result.embedding[:], result.eigenvalues, result.report["trace"]
        axes = np.zeros((adata.n_vars, n_comps))
        axes[columns] = result.axes
    adata.obsm[key_added or "X_pca"] = Y
    adata.varm[key_added or "PCs"] = axes
    params: Dict[str, Any] = {"zero_center": True, "use_highly_variable": use_highly_variable}
    if layer is not None:
        params["layer"] = layer
    adata.uns[key_added or "pca"] = {
        "params": params,
        "variance": eigenvalues / (n - 1), "variance_ratio": eigenvalues / trace}
    return adata if copy else None


# ---- maps --------------------------------------------------------------------------------------


def _map(adata: Any, use_rep: Optional[str], n_pcs: Optional[int], run: Dict[str, Any],
         options: Dict[str, Any]) -> Any:
    """Return eigenvectors, those of the embedding behind the trivial one, and eigenvalues."""
    rows = _choose_rows(adata, use_rep, n_pcs, run)
    options["landmarks"] = min(options["landmarks"], adata.n_obs)
    with _stored(rows, **run) as store:
        result = store.fit("map", **options)
        return result.eigenvectors[:], result.eigenvalues


@_checked
def spectral(adata: Any, n_comps: int = 10, *, use_rep: Optional[str] = None,
             n_pcs: Optional[int] = None, gamma: Optional[float] = None, n_landmarks: int = 1000,
             random_state: int = 0, key_added: Optional[str] = None, copy: bool = False,
             **run: Any) -> Any:
    """Embed by the eigenvectors of the Laplacian of a Gaussian kernel, by landmarks.

    Writes obsm["X_spectral"] (rows, n_comps), without the trivial eigenvector, and uns["spectral"]
    with `eigenvalues`, the trivial first one included, and `params`.

    Parameters
    ----------
    adata : AnnData, in memory or backed
    n_comps : int
    use_rep, n_pcs
        Rows: a key of obsm, or "X"; the first columns of it. Both None: X with up to 50 columns,
        else X_pca, as in scanpy.
    gamma : float, optional
        exp(-gamma |x-y|²); None: 1/median of |x-y|² over pairs of rows.
    n_landmarks : int
    key_added : str, optional
        Key of obsm and uns in place of "X_spectral" and "spectral".
    random_state, copy, **run
        See `pca`.

    Returns
    -------
    AnnData if copy, else None
    """
    adata = adata.copy() if copy else adata
    vectors, eigenvalues = _map(adata, use_rep, n_pcs, run, {
        "map": "laplacian", "components": n_comps, "gamma": gamma, "landmarks": n_landmarks,
        "seed": random_state})
    adata.obsm[key_added or "X_spectral"] = vectors[:, 1:]
    adata.uns[key_added or "spectral"] = {
        "eigenvalues": eigenvalues,
        "params": {"n_comps": n_comps, "n_landmarks": n_landmarks, "random_state": random_state,
                   **_used(use_rep, n_pcs)}}
    return adata if copy else None


@_checked
def diffmap(adata: Any, n_comps: int = 15, *, use_rep: Optional[str] = None,
            n_pcs: Optional[int] = None, gamma: Optional[float] = None, n_landmarks: int = 1000,
            random_state: int = 0, copy: bool = False, **run: Any) -> Any:
    """Diffusion map of a Gaussian kernel between all rows, by landmarks.

    scanpy.tl.diffmap takes the kernel of a graph of neighbours instead. As there, column 0 of
    obsm["X_diffmap"] (rows, n_comps) is the trivial eigenvector, columns have length 1, and
    uns["diffmap_evals"] has the eigenvalues, 1 first.

    Parameters
    ----------
    n_comps : int
        At least 2, the trivial one included.
    adata, use_rep, n_pcs, gamma, n_landmarks, random_state, copy, **run
        See `spectral`.

    Returns
    -------
    AnnData if copy, else None
    """
    if n_comps < 2:
        raise ValueError(f"n_comps={n_comps} is below 2, and the first component is constant")
    adata = adata.copy() if copy else adata
    vectors, eigenvalues = _map(adata, use_rep, n_pcs, run, {
        "map": "diffusion", "components": n_comps - 1, "gamma": gamma, "landmarks": n_landmarks,
        "seed": random_state})
    adata.obsm["X_diffmap"] = vectors
    adata.uns["diffmap_evals"] = eigenvalues
    return adata if copy else None


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
    adata : AnnData, in memory or backed
    n_neighbors : int
        At least 2; a row counts as one of its own, as in scanpy and UMAP.
    use_rep, n_pcs
        See `spectral`.
    metric : {"euclidean", "cosine"}
    search : {"auto", "exact", "tree", "forest", "sieve"}, optional
        exact: by all pairs; tree: the same ones by boxes of rows; auto: exact or tree, whichever is
        less work; forest, sieve: 0.95 of them, in far less time. None: auto up to 100,000 rows,
        and of up to six columns.
    key_added : str, optional
        Key of uns, and what obsp's keys begin with: "KEY_distances", "KEY_connectivities".
    random_state, copy, **run
        See `pca`.

    Returns
    -------
    AnnData if copy, else None
    """
    adata = adata.copy() if copy else adata
    if n_neighbors < 2:
        raise ValueError(f"n_neighbors={n_neighbors} is below 2, and a row counts as one of its "
                         "own")
    if n_neighbors > adata.n_obs:
        n_neighbors = 1 + adata.n_obs // 2
        warnings.warn(f"n_neighbors is more than there are rows; it is {n_neighbors} now",
                      NystreamWarning, stacklevel=stack_level())
    rows = _choose_rows(adata, use_rep, n_pcs, run)
    with _stored(rows, **run) as store, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the graph has", NystreamWarning)  # components
        graph = store.graph("neighbors", neighbors=n_neighbors - 1, metric=metric,
                            **search_options(search, (len(store), store.shape[1]), metric,
                                             random_state))
        lists, distances = graph.neighbors[:].astype(np.int32), graph.distances[:]
    prefix = "" if key_added is None else f"{key_added}_"
    adata.obsp[f"{prefix}distances"] = lists_as_csr(lists, distances)
    adata.obsp[f"{prefix}connectivities"] = fuzzy_union(lists, distances)
    adata.uns[key_added or "neighbors"] = {
        "connectivities_key": f"{prefix}connectivities", "distances_key": f"{prefix}distances",
        "params": {"n_neighbors": n_neighbors, "method": "umap", "metric": metric,
                   "random_state": random_state, **_used(use_rep, n_pcs)}}
    return adata if copy else None


def __getattr__(name: str) -> Any:
    """Suggest the nearest name for one that is not here."""
    raise no_attribute("nystream.tl", name, __all__)


def __dir__() -> List[str]:
    return __all__
