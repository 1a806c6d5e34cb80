"""Rows that are not in memory as one array: files by their names, sparse groups, .h5ad, Dask."""
from __future__ import annotations

import ctypes as C
import glob
import importlib.util
import os
from functools import cached_property
from pathlib import Path
from typing import Any, Iterator, List, Tuple, Union

import numpy as np

from nystream import _batch
from nystream._context import Context
from nystream._errors import DataError
from nystream._lib import lib

PathLike = Union[str, "os.PathLike[str]"]
OPENED = (".npy", ".npz", ".h5ad")  # files that Python reads, too
OLD_CATEGORIES = "__categories"  # anndata before 0.8 kept the categories of all columns there
ENTRY_BYTES = 12  # an entry of a sparse matrix takes about so many


# ---- CSR in HDF5 and zarr ----------------------------------------------------------------------


class CsrRows:
    """Base of sparse rows that are not in memory, with nnz entries, which are read by [a:b]."""

    ndim = 2
    nnz: int
    shape: Tuple[int, ...]

    @property
    def slice_rows(self) -> int:
        """Rows of which the entries take about 16 MB."""
        return max(1, _batch.SLICE_BYTES * self.shape[0] // max(1, self.nnz * ENTRY_BYTES))


def _encoding_of(group: Any) -> str:
    return str(group.attrs.get("encoding-type", group.attrs.get("h5sparse_format", "")))


class CsrGroup(CsrRows):
    """A sparse matrix in a group of HDF5 or zarr, as AnnData writes it: rows are read by [a:b].

    Groups that keep columns together (CSC) are refused: a few of their rows take all of the file.
    """

    def __init__(self, group: Any) -> None:
        kind = _encoding_of(group)
        if "csc" in kind:
            raise ValueError("X is stored by columns (CSC), so a few rows cannot be read without "
                             "the rest; Store.append_files() reads such a file within its memory "
                             "budget, or read all of it (adata.to_memory() or adata[:].X.tocsr())")
        shape = group.attrs.get("shape", group.attrs.get("h5sparse_shape"))
        if "csr" not in kind or shape is None:
            raise ValueError(f"the group {getattr(group, 'name', '')!r} is not a sparse matrix; "
                             f"name one of its members: {', '.join(map(str, group))}")
        self._group, self._starts = group, group["indptr"][:]
        self.shape, self.nnz = (int(shape[0]), int(shape[1])), int(self._starts[-1])
        self.dtype = group["data"].dtype

    def __getitem__(self, rows: slice) -> Any:
        first, stop, _ = rows.indices(self.shape[0])
        starts = self._starts[first:stop + 1]
        at = slice(int(starts[0]), int(starts[-1]))
        return _batch.csr_matrix(
            (self._group["data"][at], self._group["indices"][at], starts - starts[0]),
            shape=(stop - first, self.shape[1]))


def is_sparse_group(X: Any) -> bool:
    """Return whether X is a group of HDF5 or zarr, and not a dataset."""
    return hasattr(X, "attrs") and hasattr(X, "keys") and not hasattr(X, "shape")


# ---- files by their names ----------------------------------------------------------------------


def is_path(X: Any) -> bool:
    """Return whether X names a file."""
    return isinstance(X, (str, os.PathLike))


def are_files(X: Any) -> bool:
    """Return whether X names a file, or is a list of such names."""
    return is_path(X) or (isinstance(X, (list, tuple)) and bool(X) and all(map(is_path, X)))


def are_imported(X: Any) -> bool:
    """Return whether X names files that the library alone reads, or a pattern of such."""
    if not is_path(X):
        return are_files(X)
    is_pattern = glob.has_magic(os.fspath(X)) and not os.path.lexists(X)
    return is_pattern or Path(X).suffix not in OPENED


def opened(name: Any) -> Any:
    """Open a file of rows: .npy, .npz (of scipy.sparse.save_npz, or of one array), .h5ad.

    Returns
    -------
    np.memmap, matrix of scipy.sparse, array, of two dimensions; or H5ad; all else as it is
    """
    if not is_path(name):
        return name
    if not os.path.exists(name):  # MissingFileError, as the library says it of any file
        context, model = Context(), C.c_void_p()
        context.check(lib.ny_model_load_file(C.byref(model), context.pointer, os.fsencode(name)))
    X = _open(name)
    shape: Tuple[int, ...] = tuple(getattr(X, "shape", (0, 0)))
    if len(shape) != 2:
        raise DataError(f"{os.fspath(name)} has an array of shape {shape}, and rows have two "
                        "dimensions")
    return X


def _open(name: Any) -> Any:
    """Open a file as it is, whatever its shape."""
    suffix = Path(name).suffix
    if suffix == ".npy":
        return np.load(name, mmap_mode="r")
    if suffix == ".h5ad":
        return H5ad(name)
    if suffix not in OPENED:
        raise ValueError(f"{name} is not .npy, .npz or .h5ad; nystream.embed(), the estimators and "
                         "Store.append_files() read other files, and Result.transform_file() "
                         "places their rows")
    with np.load(name) as members:
        if "format" not in members:
            if len(members.files) != 1:
                raise ValueError(f"{name} has {len(members.files)} arrays, {members.files}; give "
                                 "one of them")
            return members[members.files[0]]
    import scipy.sparse

    return scipy.sparse.load_npz(name)


def is_for_library(name: Any) -> bool:
    """Return whether the library reads a file by its name as it is.

    Not npy files of types that it does not have; those in Fortran order are mapped.
    """
    suffix = Path(name).suffix
    if suffix != ".npy" or not Path(name).is_file():
        return suffix not in (".npz", ".h5ad")
    X = np.load(name, mmap_mode="r")
    return bool(X.ndim == 2 and X.flags.c_contiguous
                and _batch.stored_dtype(X.dtype) == X.dtype)


# ---- .h5ad -------------------------------------------------------------------------------------


class H5ad:
    """The cells of an .h5ad, with those members of an AnnData that rows are read by."""

    def __init__(self, name: Any) -> None:
        import h5py

        self._file = h5py.File(name, "r")
        self.X, self.obs = self._file["X"], Obs(self._file)

    obs_names: Any = cached_property(lambda self: self._names("obs"))
    var_names: Any = cached_property(lambda self: self._names("var"))

    def _names(self, table: str) -> Any:
        """Return the names of rows or of columns, or None where they have none."""
        found = self._file.get(table)
        index = found.attrs.get("_index") if hasattr(found, "keys") else None
        texts = found.get(index) if index else None
        if hasattr(texts, "keys"):  # a type of pandas in which texts may be missing
            texts = texts.get("values")
        values = None if texts is None else _values(texts)
        return values if values is not None and values.dtype == object else None


class Obs:
    """The columns of obs in an .h5ad, which are read when they are asked for."""

    def __init__(self, file: Any) -> None:
        self._file, obs = file, file.get("obs")
        others = (obs.attrs.get("_index"), OLD_CATEGORIES) if hasattr(obs, "keys") else None
        self.columns: List[str] = [key for key in obs if key not in others] if others else []

    def __getitem__(self, column: str) -> Any:
        """Return numbers, words with None where one is missing, or Words."""
        found = self._file["obs"][column]
        if hasattr(found, "keys") and "categories" in found:
            return Words(found["codes"][:], _values(found["categories"]))
        if hasattr(found, "keys"):  # a type of pandas in which values may be missing
            values = _values(found["values"]).astype(object)
            values[found["mask"][:]] = None
            return values
        old = found.attrs.get("categories")
        return _values(found) if old is None else Words(found[:], _values(self._file[old]))


class Words:
    """A column of categories, in their order; None where a row has none."""

    def __init__(self, codes: Any, categories: Any) -> None:
        self.categories = list(categories)
        self._values = np.array([*self.categories, None], dtype=object)[codes]  # -1 is the last one

    def __array__(self, *_: Any, **__: Any) -> Any:
        return self._values


def _values(found: Any) -> Any:
    import h5py

    return found.asstr()[:] if h5py.check_string_dtype(found.dtype) else found[:]


def is_read_here(name: Any) -> bool:
    """Return whether this names an .h5ad that is there, and that Python reads slice by slice.

    A matrix that is stored by columns (CSC), and an obs of before anndata 0.7, are left to the
    library.
    """
    if not is_path(name) or Path(name).suffix != ".h5ad" or not importlib.util.find_spec("h5py"):
        return False
    try:
        cells = H5ad(name)
        return hasattr(cells._file.get("obs"), "keys") and "csc" not in _encoding_of(cells.X)
    except (OSError, KeyError):
        return False


# ---- Dask --------------------------------------------------------------------------------------


def is_dask(X: Any) -> bool:
    """Return whether X is an array or a frame of Dask."""
    return hasattr(X, "__dask_graph__") and (hasattr(X, "numblocks") or hasattr(X, "partitions"))


def with_length(X: Any) -> Any:
    """Return what is of Dask as an array whose number of rows is known, all else as it is.

    To know it, the blocks are computed once more.
    """
    if not is_dask(X):
        return X
    if not hasattr(X, "numblocks"):
        return X.to_dask_array(lengths=True)
    return X if X.shape[0] == X.shape[0] else X.copy().compute_chunk_sizes()


def dask_blocks(X: Any) -> Iterator[Any]:
    """Compute an array or a frame of Dask block of rows by block of rows."""
    if not hasattr(X, "numblocks"):
        for i in range(X.npartitions):
            yield X.partitions[i].compute()
        return
    from dask.base import compute

    _batch.check_shape(X.shape)
    for i in range(X.numblocks[0]):
        yield _batch.joined(compute(*(X.blocks[i, j] for j in range(X.numblocks[1]))), 1)
