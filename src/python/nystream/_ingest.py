"""Maps that an AnnData keeps in uns, new cells placed by them, and the labels that these get.

uns[KEY]["model"] has the bytes of the model, which rows it takes, and where in obsm its places are:

image : uint8 array, what Model.to_bytes() gives
map : "pca", "kpca" (principal components, too, by the products of rows), "laplacian" or "diffusion"
obsm : key of obsm
rows : "X", "layers/NAME" or "obsm/KEY"
columns : how many columns of these it takes
names : names of the genes, of rows that are none of obsm
behind : what the rows of obsm were placed by, a checksum, 0 where no model is kept
divide : of "diffusion", by what its coordinates are divided to make them columns of length 1
"""
from __future__ import annotations

import warnings
import zlib
from typing import (Any, ContextManager, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple,
                    Union)

import numpy as np

from nystream import _data
from nystream._context import Context, ProgressOption
from nystream._data import nearest_centers
from nystream._embed import held_rows
from nystream._errors import NystreamWarning
from nystream._lib import lib
from nystream._options import search_options
from nystream._sources import PathLike
from nystream.model import Model
from nystream.result import Result
from nystream.store import Store


class Source(NamedTuple):
    """The rows of a map: what they are, and what uns says of where they come from."""

    values: Any
    rows: str
    columns: int
    names: Optional[Any] = None


class Genes:
    """Some columns of a matrix of an AnnData, with their names, that is read by [a:b]."""

    def __init__(self, adata: Any, layer: Optional[str] = None, columns: Any = None) -> None:
        self._X = _data.unwrap(adata if layer is None else adata.layers[layer])
        self._columns = columns
        self.var_names = adata.var_names if columns is None else adata.var_names[columns]
        self.shape = (self._X.shape[0], len(self.var_names))
        self.slice_rows = _data.slice_rows(self._X)

    def __getitem__(self, rows: slice) -> Any:
        piece = self._X[rows]
        return piece if self._columns is None else piece[:, self._columns]


def check_is_cells(function: str, name: str, value: Any) -> None:
    """TypeError where an argument of a function of nystream.tl is no AnnData."""
    parts = ("obs", "var", "obsm", "uns", "obs_names", "var_names")
    if not all(hasattr(value, part) for part in parts) or hasattr(value, "iloc"):
        raise TypeError(f"nystream.tl.{function}() takes an AnnData as {name}, not "
                        f"{type(value).__name__}")


def stored(X: Any, *, memory: Any = None, threads: Optional[int] = None,
           progress: ProgressOption = None, tmpdir: Optional[PathLike] = None, **reading: Any
           ) -> ContextManager[Store]:
    """Give a store of the rows of X, which is gone at the end."""
    return held_rows(X, Context(memory, threads, progress), tmpdir, **reading)


def neighbor_graph(store: Store, neighbors: int, metric: str = "euclidean",
                   search: Optional[str] = None) -> Result:
    """Return the graph of neighbours of the rows of a store, whatever components it has."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the graph has", NystreamWarning)
        return store.graph("neighbors", neighbors=neighbors, metric=metric,
                           **search_options(search, (len(store), store.shape[1]), metric))


def kept_models(adata: Any) -> List[Mapping[str, Any]]:
    """Return the models that uns keeps."""
    return [entry["model"] for entry in adata.uns.values()
            if isinstance(entry, Mapping) and isinstance(entry.get("model"), Mapping)
            and "image" in entry["model"] and "obsm" in entry["model"]]


def model_of(adata: Any, key: str) -> Optional[Mapping[str, Any]]:
    """Return the model whose places obsm has under a key; None where none is kept."""
    return next((kept for kept in kept_models(adata) if kept["obsm"] == key), None)


def keep_model(adata: Any, result: Any, key: str, source: Source) -> Dict[str, Any]:
    """Return what uns keeps of a result whose places obsm has under a key."""
    image = np.frombuffer(result.model().to_bytes(), np.uint8)
    kept: Dict[str, Any] = {"image": image, "map": str(result.report["map"]), "obsm": key,
                            "rows": source.rows, "columns": source.columns}
    if source.names is not None:
        kept["names"] = np.array(source.names, dtype=object)
    else:
        kept["behind"] = checksum_of(adata, source.rows[len("obsm/"):])
    return kept


def checksum_of(adata: Any, key: str) -> int:
    """Return a checksum of the model whose places obsm has under a key, 0 where none is kept."""
    kept = model_of(adata, key)
    return 0 if kept is None else zlib.crc32(np.asarray(kept["image"]).tobytes())


def check_current(adata: Any, kept: Optional[Mapping[str, Any]], whose: str) -> None:
    """ValueError where the rows that a map was made from have been made anew since."""
    rows = "" if kept is None else str(kept["rows"])
    if kept is None or not rows.startswith("obsm/"):
        return
    key = rows[len("obsm/"):]
    if int(kept["behind"]) != checksum_of(adata, key):
        raise ValueError(f"{kept['obsm']} of {whose} was made from an earlier {key} than it has; "
                         f"make {kept['obsm']} again")


def place(adata: Any, adata_ref: Any, run: Dict[str, Any]) -> Dict[str, Any]:
    """Return the places of cells by the models that the reference keeps, by keys of obsm."""
    models = kept_models(adata_ref)
    if not models:
        raise ValueError("adata_ref.uns keeps no model; call nystream.tl.pca(adata_ref) or "
                         "nystream.tl.spectral(adata_ref) first")
    places: Dict[str, Any] = {}
    for kept in models:
        _place_by(kept, adata, adata_ref, places, run)
    return places


def _place_by(kept: Mapping[str, Any], adata: Any, adata_ref: Any, places: Dict[str, Any],
              run: Dict[str, Any]) -> None:
    """Put the places by one model among those that are there, behind those of the rows it takes.

    Genes are matched by their names.
    """
    if str(kept["obsm"]) in places:
        return
    image = np.asarray(kept["image"], np.uint8).tobytes()
    model = Model(Context(run.get("memory"), run.get("threads"), run.get("progress")),
                  lib.ny_model_load, image, len(image))
    kind, _, key = str(kept["rows"]).partition("/")
    if kind == "obsm":
        check_current(adata_ref, kept, "adata_ref")
        behind = model_of(adata_ref, key)
        if behind is not None:
            _place_by(behind, adata, adata_ref, places, run)
        if key not in places and key not in adata.obsm:
            raise ValueError(f"{kept['obsm']} of adata_ref was made from {key}, which nystream.tl "
                             f"did not make, and adata has no obsm[{key!r}]; add it")
        rows = places[key] if key in places else as_array(adata.obsm[key])
        rows = rows[:, :int(kept["columns"])]
    else:
        if kind == "layers" and key not in adata.layers:
            raise ValueError(f"the map of adata_ref was fitted on layers[{key!r}], which adata "
                             "does not have")
        model.column_names = [str(name) for name in kept["names"]]  # others are left out
        rows = Genes(adata, key or None)
    found = model.transform(rows)
    if kept["map"] == "diffusion":  # obsm has the trivial one, too
        trivial = np.zeros((len(found), 1), found.dtype)
        found = np.hstack([trivial, found / np.asarray(kept["divide"], found.dtype)])
    places[str(kept["obsm"])] = found


def as_array(rows: Any) -> Any:
    """Return what obsm has under a key as an array."""
    return rows.toarray() if _data.is_sparse(rows) else np.asarray(rows)


def as_clustered(adata: Any, key: str, places: Any) -> Any:
    """Return places of obsm as coordinates whose distances k-means goes by."""
    kept = model_of(adata, key)
    if kept is None or kept["map"] in ("pca", "kpca"):
        return places
    if kept["map"] == "diffusion":
        return places[:, 1:] * np.asarray(kept["divide"], places.dtype)
    lengths = np.linalg.norm(places, axis=1, keepdims=True)
    return places / np.where(lengths > 0, lengths, 1)


def names_of(adata_ref: Any, obs: Union[None, str, Sequence[str]]) -> List[str]:
    """Return the columns of obs that are named; None: those of clusters()."""
    if obs is None:
        return [name for name in adata_ref.obs if has_centers(adata_ref, name)]
    names = [obs] if isinstance(obs, str) else list(obs)
    for name in names:
        if name not in adata_ref.obs:
            raise ValueError(f"obs={name!r} is not in adata_ref.obs")
    return names


def labels_of(adata_ref: Any, names: List[str], places: Dict[str, Any], use_rep: Optional[str],
              n_neighbors: int, run: Dict[str, Any]) -> Dict[str, Any]:
    """Return what new cells with these places get in columns of obs."""
    voted = [name for name in names if not has_centers(adata_ref, name)]
    found = _votes(adata_ref, voted, places, use_rep, n_neighbors, run) if voted else {}
    for name in names:
        if name not in voted:
            found[name] = _of_clusters(adata_ref, name, places)
    return found


def has_centers(adata: Any, name: str) -> bool:
    """Return whether clusters() has made a column of obs."""
    told = adata.uns.get(name)
    return name in adata.obs and isinstance(told, Mapping) and "centers" in told


def _of_clusters(adata_ref: Any, name: str, places: Dict[str, Any]) -> Any:
    """Return the clusters of new cells, whose centers they are nearest to."""
    import pandas

    told = adata_ref.uns[name]
    key, centers = str(told["params"]["use_rep"]), np.asarray(told["centers"])
    if key not in places:
        raise ValueError(f"obs={name!r} are clusters of {key}, but adata_ref keeps no model of it; "
                         f"make {key} with nystream.tl")
    now = checksum_of(adata_ref, key)
    if int(told.get("behind", now)) != now:
        raise ValueError(f"obs={name!r} are clusters of an earlier {key} than adata_ref has; make "
                         f"them again with nystream.tl.clusters(adata_ref, {len(centers)}, "
                         f"key_added={name!r})")
    known, words = _words_of_clusters(adata_ref, name, key, centers)
    found = nearest_centers(as_clustered(adata_ref, key, places[key]), centers)
    return pandas.Categorical.from_codes(np.where(found < 0, -1, known[found]), words)


def _words_of_clusters(adata_ref: Any, name: str, key: str, centers: Any) -> Tuple[Any, List[Any]]:
    """Return for each cluster which word most of its cells have now, -1 for none, and these words.

    A cluster of which the reference has no cell any more has the name that clusters() gave it.
    """
    codes, words = _category_pairs(adata_ref.obs[name])
    of_rows = np.empty(0)
    if key in adata_ref.obsm:
        rows = as_clustered(adata_ref, key, as_array(adata_ref.obsm[key]))
        of_rows = nearest_centers(rows, centers)
    elif not all(word.isdigit() for word in words):
        raise ValueError(f"obs={name!r} are clusters of {key} that have other names now, and "
                         f"adata_ref has no obsm[{key!r}], by which these are found; add it")
    known = np.full(len(centers), -1)
    for at in range(len(centers)):
        if at not in of_rows:
            words += [] if str(at) in words else [str(at)]
            known[at] = words.index(str(at))
        elif np.any(codes[of_rows == at] >= 0):
            known[at] = np.bincount(1 + codes[of_rows == at])[1:].argmax()
    return known, words


def _votes(adata_ref: Any, names: Sequence[str], places: Dict[str, Any], use_rep: Optional[str],
           n_neighbors: int, run: Dict[str, Any]) -> Dict[str, Any]:
    """Return the words of columns of obs that most neighbours of new cells have."""
    import pandas

    key = use_rep or ("X_pca" if "X_pca" in places else next(iter(places)))
    if key not in places:
        raise ValueError(f"use_rep={key!r} is not an embedding of which adata_ref keeps a model; "
                         f"it keeps those of {', '.join(places)}")
    pairs = {name: _category_pairs(adata_ref.obs[name]) for name in names}
    rows = np.asarray(adata_ref.obsm[key])
    known = ~np.isnan(rows).any(axis=1)
    count = min(n_neighbors, int(known.sum()))
    has_place = ~np.isnan(places[key]).any(axis=1)
    with stored(rows[known], **run) as store:
        graph = neighbor_graph(store, 1)
        lists = graph.kneighbors(places[key][has_place], count)[1]
    found = {}
    for name, (codes, words) in pairs.items():
        winners = np.full(len(has_place), -1)
        winners[has_place] = _vote(lists, codes[known], len(words))
        found[name] = pandas.Categorical.from_codes(winners, words)
    return found


def _vote(lists: Any, codes: Any, classes: int) -> Any:
    """Return the class that most neighbours of each row have; of several, that of nearer ones.

    Parameters
    ----------
    lists : int array (rows, neighbours), nearest first
    codes : int array, the class of each row of the reference, below 0 where it has none
    """
    winners = np.full(len(lists), -1)
    for first in range(0, len(lists), _data.SLICE_ROWS):
        found = codes[lists[first:first + _data.SLICE_ROWS]]
        votes = np.zeros((len(found), classes))
        at, rank = np.nonzero(found >= 0)
        np.add.at(votes, (at, found[at, rank]), 1 + 1 / (2.0 + rank) ** 2 / 1e3)
        some = votes.any(axis=1)
        winners[first:first + len(found)][some] = votes[some].argmax(axis=1)
    return winners


def _category_pairs(column: Any) -> Tuple[Any, List[Any]]:
    """Return the numbers of the categories of a column of obs, -1 where it has none, and these."""
    import pandas

    if getattr(column.dtype, "kind", "O") == "f":
        raise ValueError(f"obs={column.name!r} holds numbers, but neighbours vote only for words")
    found = pandas.Categorical(column)
    return np.asarray(found.codes), list(found.categories)
