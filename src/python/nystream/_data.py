"""Rows of any kind in batches that the C library reads: arrays, matrices, frames, files, iterators.

`batches` turns what a user has into `Batch` objects, each of a type that the library knows. Arrays
and CSR matrices of such types are handed over as they are, without a copy; all else in slices of
about 16 MB.
"""
from __future__ import annotations

import ctypes as C
import sys
from typing import Any, Callable, Iterable, Iterator, NamedTuple, Optional, Tuple

import numpy as np

from nystream import _lib

SLICE_BYTES = 16 << 20
SLICE_ROWS = 2048  # of what is looked at as dense rows
EXACT_LIMIT = 2 ** 53  # integers beyond it are not all values of float64


class Batch(NamedTuple):
    """Rows that the library reads as they are.

    values : array (rows, columns), rows contiguous; or the values of a CSR matrix, with `indptr`
    and `indices`. labels : float64 array (rows,) or None.
    """

    values: Any
    columns: int
    rows: int
    indptr: Any = None
    indices: Any = None
    labels: Any = None

    def dense(self, first: int, end: int) -> Any:
        """Return rows first … end - 1 as a dense array."""
        if self.indptr is None:
            return self.values[first:end]
        import scipy.sparse

        csr = scipy.sparse.csr_matrix((self.values, self.indices, self.indptr),
                                      shape=(self.rows, self.columns), copy=False)
        return csr[first:end].toarray()

    def table(self, name: str) -> _lib.CTable:
        """Describe the rows to the library; the batch must live as long as the description."""
        table = _lib.CTable(struct_bytes=C.sizeof(_lib.CTable), name=name.encode(),
                            dtype=_lib.NUMBERS[self.values.dtype.name], rows=self.rows,
                            columns=self.columns, values=self.values.ctypes.data)
        if self.indptr is None:
            table.row_bytes = self.values.strides[0] if self.rows > 1 else 0
        else:
            table.index_bytes = self.indptr.dtype.itemsize
            table.row_start, table.column = self.indptr.ctypes.data, self.indices.ctypes.data
            table.entries = len(self.indices)
        if self.labels is not None:
            table.labels = self.labels.ctypes.data
        return table


# ---- types -------------------------------------------------------------------------------------


def stored_dtype(dtype: Any) -> "np.dtype[Any]":
    """Return the type of the library that holds all values of a numpy type.

    u8, i16, f32 and f64 stay; bool becomes u8, i8 i16, f16 and u16 f32, all wider numbers f64.
    """
    dtype = np.dtype(dtype)
    if dtype.kind == "c":
        raise ValueError(f"Complex data not supported: X is {dtype}")
    if dtype.kind in "Mm":
        raise ValueError(f"X is {dtype}; dates and times are not coordinates, make numbers of them")
    if dtype.kind in "biuf":
        for known, kinds in (("uint8", "b1 u1"), ("int16", "i1 i2"), ("float32", "u2 f2 f4")):
            if f"{dtype.kind}{dtype.itemsize}" in kinds.split():
                return np.dtype(known)
    return np.dtype("float64")


def _convert(values: Any, dtype: "np.dtype[Any]") -> Any:
    """Convert an array to a type of the library; ValueError where integers do not fit."""
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8 and values.size:
        if int(values.max()) > EXACT_LIMIT or int(values.min()) < -EXACT_LIMIT:
            raise ValueError("X has integers beyond 2^53, which float64 does not hold; subtract a "
                             "constant, or give X.astype('float64')")
    if values.dtype.kind == "O" and any(isinstance(v, (complex, np.complexfloating))
                                        for v in values.flat):
        raise ValueError("Complex data not supported: X has complex numbers")
    return values.astype(dtype, copy=False)


def _lies_in_rows(values: Any) -> bool:
    """Return whether the library can read the rows of an array where they lie."""
    row = values.shape[1] * values.itemsize
    packed = values.shape[1] <= 1 or values.strides[1] == values.itemsize
    apart = values.shape[0] <= 1 or values.strides[0] >= row
    return bool(packed and apart and values.flags.aligned and values.dtype.isnative)


def check_shape(shape: Tuple[int, ...]) -> None:
    """ValueError, in scikit-learn's words, where a shape is not that of rows."""
    if len(shape) != 2:
        cure = (". Reshape your data either using array.reshape(-1, 1) if your data has a single "
                "feature or array.reshape(1, -1) if it contains a single sample"
                if len(shape) == 1 else "; give rows, such as X.reshape(len(X), -1)")
        raise ValueError(f"Expected 2D array, got {len(shape)}D array instead{cure}")


def as_labels(labels: Any, rows: int) -> Any:
    """Return labels as a float64 array (rows,), NaN where one is missing."""
    if labels is None:
        return None
    try:
        numbers = np.ascontiguousarray(np.asarray(labels), dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("labels are numbers; make them such as by "
                         "numpy.unique(labels, return_inverse=True)[1]") from None
    if numbers.shape != (rows,):
        raise ValueError(f"X has {rows} rows, and labels the shape {numbers.shape}")
    return numbers


# ---- one piece ---------------------------------------------------------------------------------


def is_sparse(X: Any) -> bool:
    """Return whether X is a matrix or an array of scipy.sparse."""
    module = sys.modules.get("scipy.sparse")
    return bool(module and module.issparse(X))


def _sparse_batch(X: Any, labels: Any) -> Batch:
    csr = X.tocsr()
    values = _convert(csr.data, stored_dtype(csr.data.dtype))
    indptr, indices = csr.indptr, csr.indices
    if indptr.dtype != indices.dtype or indptr.dtype.itemsize not in (4, 8):
        indptr, indices = indptr.astype(np.int64), indices.astype(np.int64)
    return Batch(np.ascontiguousarray(values), csr.shape[1], csr.shape[0],
                 np.ascontiguousarray(indptr), np.ascontiguousarray(indices),
                 as_labels(labels, csr.shape[0]))


def _as_array(piece: Any) -> Any:
    """Return a piece of rows as an array of numpy; masked values are refused."""
    if isinstance(piece, np.ma.MaskedArray):
        if np.any(piece.mask):
            raise ValueError("X has masked values; fill them, such as by X.filled(0), or leave "
                             "their rows out")
        piece = piece.data
    if hasattr(piece, "iloc"):
        piece = _frame_values(piece)
    if not hasattr(piece, "__array__") and hasattr(piece, "__dlpack__"):
        piece = np.from_dlpack(piece)
    return np.asarray(piece)


def _frame_values(frame: Any) -> Any:
    """Return the values of a DataFrame, NaN for what is missing."""
    kinds = [dtype for dtype in getattr(frame, "dtypes", [])]
    if all(isinstance(dtype, np.dtype) for dtype in kinds):
        return frame.to_numpy()
    return frame.to_numpy(dtype=np.float64, na_value=np.nan)


def _batch(piece: Any, labels: Any) -> Batch:
    """Make a batch of one piece that is in memory."""
    if is_sparse(piece):
        return _sparse_batch(piece, labels)
    values = _as_array(piece)
    check_shape(values.shape)
    values = _convert(values, stored_dtype(values.dtype))
    if not _lies_in_rows(values):
        values = np.ascontiguousarray(values)
    return Batch(values, values.shape[1], values.shape[0],
                 labels=as_labels(labels, values.shape[0]))


# ---- all of it ---------------------------------------------------------------------------------


def unwrap(X: Any) -> Any:
    """Return the matrix of an AnnData, and all else as it is."""
    return X.X if hasattr(X, "obs") and hasattr(X, "var") and hasattr(X, "X") else X


def _in_one_piece(X: Any) -> bool:
    """Return whether X is read where it lies, without a copy."""
    if is_sparse(X):
        return True
    if not isinstance(X, np.ndarray) or isinstance(X, np.ma.MaskedArray):
        return False
    return X.ndim != 2 or (stored_dtype(X.dtype) == X.dtype and _lies_in_rows(X))


def _slice_rows(X: Any) -> int:
    """Return the rows of a slice of about 16 MB, whole chunks of X where it has such."""
    width = int(np.prod(X.shape[1:], dtype=np.int64)) or 1
    rows = max(1, SLICE_BYTES // (width * 8))
    chunks = getattr(X, "chunks", None)
    if chunks and isinstance(chunks[0], int) and chunks[0] < rows:
        rows -= rows % chunks[0]
    return rows


def _slices(X: Any, labels: Any) -> Iterator[Batch]:
    """Read what has a shape and gives rows by [a:b], slice by slice."""
    check_shape(tuple(X.shape))
    rows, step = X.shape[0], _slice_rows(X)
    labels = as_labels(labels, rows)
    for first in range(0, rows, step):
        piece = X.iloc[first:first + step] if hasattr(X, "iloc") else X[first:first + step]
        yield _batch(piece, None if labels is None else labels[first:first + step])


def _pieces(X: Iterable[Any]) -> Iterator[Batch]:
    """Read an iterator of batches of rows, or of pairs (rows, labels)."""
    for piece in X:
        labels = None
        if isinstance(piece, (tuple, list)) and len(piece) == 2 and hasattr(piece[0], "shape"):
            piece, labels = piece
        if is_sparse(piece) or not hasattr(piece, "shape"):
            yield _batch(piece, labels)
        else:
            yield from _slices(piece, labels)


def batches(X: Any, labels: Any = None) -> Tuple[bool, Iterator[Batch]]:
    """Read rows of any kind.

    Parameters
    ----------
    X : array, scipy.sparse matrix, DataFrame, AnnData, tensor, h5py or zarr dataset, sequence of
        rows, or an iterator of any of these
        Anything that has a two-dimensional `shape` and gives rows by `X[a:b]` will do.
    labels : array of shape (rows,), optional
        One number a row; not with an iterator, which may give pairs (rows, labels).

    Returns
    -------
    whole : bool
        True: there is one batch, and it is all of X.
    batches : iterator of Batch
    """
    X = unwrap(X)
    if isinstance(X, (list, tuple)):
        X = np.asarray(X)
    if _in_one_piece(X):
        return True, iter([_batch(X, labels)])
    if hasattr(X, "shape"):
        return False, _slices(X, labels)
    if not hasattr(X, "__iter__"):
        raise ValueError(f"X is {type(X).__name__}, and not an array, a matrix, a frame, something "
                         "with a shape and rows by X[a:b], or an iterator of such")
    if labels is not None:
        raise ValueError("labels of an iterator come with its rows: let it give pairs "
                         "(rows, labels)")
    return False, _pieces(X)


def count_bytes(X: Any) -> Optional[int]:
    """Return about how many bytes the rows take in a store; None where that is not known."""
    X = unwrap(X)
    if is_sparse(X):
        return int(X.nnz) * 12
    if isinstance(X, np.ndarray):
        return X.nbytes
    shape = getattr(X, "shape", None)
    return None if shape is None else int(np.prod(shape, dtype=np.int64)) * 8


def place(X: Any, components: int, dtype: Any, put: Callable[[_lib.CTable, Any], None]) -> Any:
    """Place rows of any kind, batch by batch.

    `put` gets the description of a batch and the array (rows, components) that it fills. Returns
    them all, joined.
    """
    parts = []
    for batch in batches(X)[1]:
        parts.append(np.empty((batch.rows, components), dtype))
        if batch.rows:
            put(batch.table("X"), parts[-1])
    if not parts:
        return np.empty((0, components), dtype)
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
