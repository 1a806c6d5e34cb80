"""Names of rows and columns, and columns of obs, in an .h5ad that h5py reads."""
from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Any, List, Tuple

import numpy as np

OLD_CATEGORIES = "__categories"  # anndata before 0.8 kept the categories of all columns there


class Words:
    """A column of categories, in their order; None where a row has none."""

    def __init__(self, codes: Any, categories: Any) -> None:
        self.categories = list(categories)
        known = np.array([*self.categories, None], dtype=object)
        self._values = known[np.where(codes < 0, len(known) - 1, codes)]

    def __array__(self, *_: Any, **__: Any) -> Any:
        return self._values


def is_h5ad(name: Any) -> bool:
    """Return whether this is the name of an .h5ad."""
    return isinstance(name, (str, os.PathLike)) and Path(name).suffix == ".h5ad"


def is_read_here(name: Any) -> bool:
    """Return whether this names an .h5ad that is there, and that Python reads slice by slice.

    A matrix that is stored by columns (CSC) is left to the library.
    """
    if not is_h5ad(name) or not Path(name).is_file() or not importlib.util.find_spec("h5py"):
        return False
    import h5py

    try:
        with h5py.File(name, "r") as file:
            kind = file["X"].attrs.get("encoding-type", file["X"].attrs.get("h5sparse_format", ""))
            return isinstance(file.get("obs"), h5py.Group) and "csc" not in str(kind)
    except (OSError, KeyError):
        return False


def names_in_h5ad(name: Any) -> Tuple[Any, Any]:
    """Return the names of rows and of columns of an .h5ad, or None where it has none."""
    import h5py

    found: List[Any] = []
    with h5py.File(name, "r") as file:
        for table in (file.get("obs"), file.get("var")):
            index = table.attrs.get("_index") if isinstance(table, h5py.Group) else None
            texts: Any = table.get(index) if index else None
            if isinstance(texts, h5py.Group):  # a type of pandas in which texts may be missing
                texts = texts.get("values")
            is_text = isinstance(texts, h5py.Dataset) and h5py.check_string_dtype(texts.dtype)
            found.append(texts.asstr()[:] if is_text else None)
    return found[0], found[1]


def obs_columns(name: Any) -> List[str]:
    """Return the names of the columns of obs."""
    import h5py

    with h5py.File(name, "r") as file:
        obs = file.get("obs")
        if not isinstance(obs, h5py.Group):
            return []
        return [key for key in obs if key not in (obs.attrs.get("_index"), OLD_CATEGORIES)]


def obs_column(name: Any, column: str) -> Any:
    """Return a column of obs: numbers, words with None where one is missing, or Words."""
    import h5py

    with h5py.File(name, "r") as file:
        found = file["obs"][column]
        if isinstance(found, h5py.Group) and "categories" in found:
            return Words(found["codes"][:], _values(found["categories"]))
        if isinstance(found, h5py.Group):  # a type of pandas in which values may be missing
            values = _values(found["values"]).astype(object)
            values[found["mask"][:]] = None
            return values
        old = found.attrs.get("categories")
        return _values(found) if old is None else Words(found[:], _values(file[old]))


def _values(found: Any) -> Any:
    import h5py

    return found.asstr()[:] if h5py.check_string_dtype(found.dtype) else found[:]
