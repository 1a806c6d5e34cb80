"""Batches of rows that the C library reads as they are, and what makes one of a piece in memory."""
from __future__ import annotations

import ctypes as C
import math
import sys
from typing import Any, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from nystream import _lib
from nystream._errors import budget_error
from nystream._labels import Labels, Names, as_labels, is_exact, is_missing, number_in

SLICE_BYTES = 16 << 20
SLICE_ROWS = 2048  # rows that are made dense at a time
TOLD = 5  # names that a message lists


class Batch(NamedTuple):
    """Rows that the library reads as they are.

    values : array (rows, columns), rows contiguous; or the values of a CSR matrix, with `indptr`
    and `indices`. labels : Labels or None. row_names, column_names : Names or None.
    """

    values: Any
    columns: int
    rows: int
    indptr: Any = None
    indices: Any = None
    labels: Optional[Labels] = None
    row_names: Optional[Names] = None
    column_names: Optional[Names] = None

    def piece(self, first: int, end: int) -> Any:
        """Return rows first … end - 1 as an array, or as a CSR matrix where they are sparse."""
        if self.indptr is None:
            return self.values[first:end]
        return csr_matrix((self.values, self.indices, self.indptr),
                          shape=(self.rows, self.columns))[first:end]

    def dense(self, first: int, end: int) -> Any:
        """Return rows first … end - 1 as a dense array."""
        piece = self.piece(first, end)
        return piece if self.indptr is None else piece.toarray()

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
            table.labels = self.labels.values.ctypes.data
            table.label_column = self.labels.column and self.labels.column.encode()
            words = self.labels.words
            if words is not None:
                table.class_names, table.classes = C.addressof(words.pointers), words.count
        if self.row_names is not None:
            table.row_names = C.addressof(self.row_names.pointers)
        if self.column_names is not None:
            table.column_names = C.addressof(self.column_names.pointers)
        return table


def csr_matrix(*given: Any, **named: Any) -> Any:
    """Return a CSR matrix of scipy, which is imported when one is first made."""
    import scipy.sparse

    return scipy.sparse.csr_matrix(*given, **named)


def joined(parts: Sequence[Any], axis: int = 0) -> Any:
    """Join arrays or matrices of rows; with axis=1, of columns of the same rows."""
    if len(parts) == 1:
        return parts[0]
    if not any(map(is_sparse, parts)):
        return np.concatenate(parts, axis=axis)
    import scipy.sparse

    return (scipy.sparse.vstack, scipy.sparse.hstack)[axis](parts, format="csr")


# ---- results -----------------------------------------------------------------------------------


def result_array(shape: Tuple[int, ...], dtype: Any) -> Any:
    """Return an array for a result; BudgetError where the system has not so much."""
    try:
        return np.empty(shape, dtype)
    except MemoryError:
        count = math.prod(shape) * np.dtype(dtype).itemsize
    raise budget_error(f"the system refused {count} bytes ({count / 2 ** 30:.1f} GiB) for an array "
                       "of the result; read or place fewer rows at a time, or export to a file")


def matrix_of_lists(columns: Any, values: Any, width: int) -> Any:
    """Return a CSR matrix of lists of column numbers, without values that are not finite.

    Parameters
    ----------
    columns, values : arrays of shape (rows, entries)
    """
    there = np.isfinite(values)
    start = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
    return csr_matrix((values[there], columns[there], start), (len(columns), width))


# ---- types -------------------------------------------------------------------------------------


def stored_dtype(dtype: Any) -> "np.dtype[Any]":
    """Return the type of the library that holds all values of a numpy type.

    u8, i16, f32 and f64 stay; bool becomes u8, i8 i16, f16 and u16 f32, all wider numbers f64.
    """
    dtype = np.dtype(dtype)
    if dtype.kind == "c":
        raise ValueError(f"Complex data not supported: X is {dtype}")
    if dtype.kind in "Mm":
        raise ValueError(f"X is {dtype}; dates and times are not coordinates: convert them")
    if dtype.kind in "biuf":
        for known, kinds in (("uint8", "b1 u1"), ("int16", "i1 i2"), ("float32", "u2 f2 f4")):
            if f"{dtype.kind}{dtype.itemsize}" in kinds.split():
                return np.dtype(known)
    return np.dtype("float64")


def convert(values: Any, dtype: "np.dtype[Any]") -> Any:
    """Convert an array to a type of the library; ValueError where integers do not fit."""
    if not is_exact(values):
        raise ValueError("X has integers beyond 2^53, which float64 cannot hold; subtract a "
                         "constant, or give X.astype('float64')")
    if values.dtype.kind == "O":
        if any(isinstance(v, (complex, np.complexfloating)) for v in values.flat):
            raise ValueError("Complex data not supported: X has complex numbers")
        missing = np.array([is_missing(v) for v in values.flat], bool).reshape(values.shape)
        values = np.where(missing, np.nan, values)
    return values.astype(dtype, copy=False)


def lies_in_rows(values: Any) -> bool:
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


# ---- one piece ---------------------------------------------------------------------------------


def is_sparse(X: Any) -> bool:
    """Return whether X is a matrix or an array of scipy.sparse."""
    module = sys.modules.get("scipy.sparse")
    return bool(module and module.issparse(X))


def on_host(X: Any) -> Any:
    """Return a tensor of torch as one of the CPU that needs no gradient, all else as it is."""
    if not (hasattr(X, "detach") and hasattr(X, "cpu")):
        return X
    if str(getattr(X, "layout", "torch.strided")) != "torch.strided":
        raise ValueError(f"X is a tensor of the layout {X.layout}, whose rows cannot be read one "
                         "by one; give X.to_dense(), or a matrix of scipy.sparse")
    return X.detach().cpu()


def check_values(X: Any) -> None:
    """ValueError for masked values and dates, and for columns of a frame that hold words or dates.

    Whatever makes an array of X would take the values under the mask, or not say which column.
    """
    if isinstance(X, np.ma.MaskedArray) and np.any(X.mask):
        raise ValueError("X has masked values; fill them, such as with X.filled(0), or leave "
                         "their rows out")
    if isinstance(X, np.ndarray) and X.dtype.kind in "mM":
        stored_dtype(X.dtype)  # refuses it
    for name, column in X.items() if hasattr(X, "iloc") and hasattr(X, "columns") else ():
        kind = column.dtype.kind
        word = None if kind in "biufc" or not len(column) else _word_of(column)
        if kind in "mM" or word is not None:
            told = "times" if kind in "mM" else repr(word)
            raise ValueError(f"column {name!r} of X holds {told}, which is not a number; leave it "
                             f"out with X.drop(columns=[{name!r}]), or convert it")


def _word_of(column: Any) -> Any:
    """Return the first text, or whatever else is no number, of a column; None where all are."""
    for value in column:
        if is_missing(value) or isinstance(value, complex):
            continue
        try:
            if isinstance(value, str):
                number_in(value)
            else:
                float(value)
        except (TypeError, ValueError):
            return value
    return None


def _as_array(piece: Any) -> Any:
    """Return a piece of rows as an array of numpy; masked values are refused."""
    piece = on_host(piece)
    if str(getattr(piece, "dtype", "")) == "torch.bfloat16":  # which numpy does not have
        piece = piece.float()
    check_values(piece)
    if isinstance(piece, np.ma.MaskedArray):
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
        letters = {dtype.kind for dtype in kinds}
        if "b" in letters and len(letters) > 1 and letters <= set("biuf"):
            return frame.to_numpy(dtype=np.result_type(*kinds))  # and not objects
        return frame.to_numpy()
    if any(dtype == object or dtype.name == "string" for dtype in kinds):
        return frame.to_numpy(dtype=object)
    return frame.to_numpy(dtype=np.float64, na_value=np.nan)


def make_batch(piece: Any, labels: Any = None) -> Batch:
    """Make a batch of one piece that is in memory."""
    if is_sparse(piece):
        csr = piece.tocsr()
        values = convert(csr.data, stored_dtype(csr.data.dtype))
        indptr, indices = csr.indptr, csr.indices
        if indptr.dtype != indices.dtype or indptr.dtype.itemsize not in (4, 8):
            indptr, indices = indptr.astype(np.int64), indices.astype(np.int64)
        return Batch(np.ascontiguousarray(values), csr.shape[1], csr.shape[0],
                     np.ascontiguousarray(indptr), np.ascontiguousarray(indices),
                     as_labels(labels, csr.shape[0]))
    values = _as_array(piece)
    check_shape(values.shape)
    values = convert(values, stored_dtype(values.dtype))
    if not lies_in_rows(values):
        values = np.ascontiguousarray(values)
    return Batch(values, values.shape[1], values.shape[0],
                 labels=as_labels(labels, values.shape[0]))
