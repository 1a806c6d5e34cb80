"""Clusters and labels that new cells get from those of a reference."""
from __future__ import annotations

import warnings
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from nystream import _data
from nystream._centers import nearest_centers
from nystream._errors import NystreamWarning
from nystream._ingest import as_array, as_clustered, checksum_of, stored
from nystream._options import search_options


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
    with stored(rows[known], **run) as store, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the graph has", NystreamWarning)  # components
        graph = store.graph("neighbors", neighbors=1, **search_options(
            None, (len(store), store.shape[1]), "euclidean"))
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
