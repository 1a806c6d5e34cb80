"""Batches of rows that the C library reads as they are: of one piece in memory, with its labels."""
from __future__ import annotations

import contextlib
import ctypes as C
import math
import mmap
import numbers
import sys
from typing import Any, Iterator, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from nystream import _lib
from nystream._errors import budget_error, usage_error

SLICE_BYTES = 16 << 20
SLICE_ROWS = 2048  # rows that are made dense at a time
TOLD = 5  # names that a message lists
WHAT = "labels are one number or one word a row"
EXACT_LIMIT = 2 ** 53  # integers beyond it are not all values of float64
MISSING = ("", "NA", "nan", "NaN", "NAN")  # CSV files have these, too


class Names:
    """Names as the library reads them: a list of pointers to texts."""

    def __init__(self, names: Any) -> None:
        texts = [str(name).encode() for name in names]
        self.count = len(texts)
        self.pointers = (C.c_char_p * max(1, len(texts)))(*texts)


class Labels(NamedTuple):
    """Labels of rows.

    values : float64 array (rows,), NaN where one is missing; of words the places in `words`, from
    0. words : Names, each of them once, or None where labels are numbers. column : the name of the
    column that they were in, or None.
    """

    values: Any
    words: Optional[Names]
    column: Optional[str] = None

    def piece(self, first: int, end: int) -> "Labels":
        """Return the labels of rows first … end - 1."""
        return self._replace(values=self.values[first:end])


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

    def whole(self) -> Any:
        """Return all rows as an array, or as a CSR matrix where they are sparse."""
        if self.indptr is None:
            return self.values
        return csr_matrix((self.values, self.indices, self.indptr),
                          shape=(self.rows, self.columns))

    def pieces(self) -> Iterator[Any]:
        """Give all rows, some at a time; pages of a mapped file go back when they were read."""
        rows = self.whole()
        for first in range(0, self.rows, SLICE_ROWS):
            piece = rows[first:first + SLICE_ROWS]
            yield piece
            give_back(piece)

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


def give_back(rows: Any) -> None:
    """Give pages of a mapped file back to the system, where these rows of it have been read.

    All of the file would count as resident in this process otherwise. They stay in the page cache.
    A mapping with mode "c" is left as it is, since it may have what no file has.
    """
    mapped = rows
    while isinstance(mapped, np.ndarray) and not isinstance(mapped, np.memmap):
        mapped = mapped.base
    if not isinstance(mapped, np.memmap) or mapped.mode == "c" or not rows.size:
        return
    if min(rows.strides) < 0:
        return
    file: Any = getattr(mapped, "_mmap")
    begin = rows.ctypes.data - np.frombuffer(file, np.uint8).ctypes.data
    end = begin + rows.itemsize + sum((n - 1) * step for n, step in zip(rows.shape, rows.strides))
    begin -= begin % mmap.PAGESIZE
    with contextlib.suppress(OSError):  # the pages then stay
        file.madvise(mmap.MADV_DONTNEED, begin, end - begin)


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


def make_batch(piece: Any) -> Batch:
    """Make a batch of one piece that is in memory."""
    if is_sparse(piece):
        csr = piece.tocsr()
        values = convert(csr.data, stored_dtype(csr.data.dtype))
        indptr, indices = csr.indptr, csr.indices
        if indptr.dtype != indices.dtype or indptr.dtype.itemsize not in (4, 8):
            indptr, indices = indptr.astype(np.int64), indices.astype(np.int64)
        return Batch(np.ascontiguousarray(values), csr.shape[1], csr.shape[0],
                     np.ascontiguousarray(indptr), np.ascontiguousarray(indices))
    values = _as_array(piece)
    check_shape(values.shape)
    values = convert(values, stored_dtype(values.dtype))
    if not lies_in_rows(values):
        values = np.ascontiguousarray(values)
    return Batch(values, values.shape[1], values.shape[0])


# ---- labels ------------------------------------------------------------------------------------


def as_labels(labels: Any, rows: Optional[int] = None) -> Optional[Labels]:
    """Return labels of any kind; rows None: any number of them.

    Words are numbered as they come, those of a pandas Categorical as its categories are. Words that
    are all numbers, such as "7", are numbers, as in a CSV file.
    """
    if labels is None:
        return None
    if hasattr(labels, "iloc") and hasattr(labels, "columns"):
        raise usage_error("labels= is a frame, and labels are one of its columns", "labels")
    found = labels if isinstance(labels, Labels) else _read(labels)
    if found.values.ndim != 1 or rows not in (None, len(found.values)):
        raise ValueError(f"{WHAT}, but have the shape {found.values.shape}"
                         + ("" if rows is None else f"; X has {rows} rows"))
    return found


def number_in(text: str) -> float:
    """Return the number that a text is, as files have it; ValueError where it is none.

    Python reads "0_1" as 1, and the digits of all scripts; "0_1" is the name of a cluster.
    """
    if "_" in text or not text.isascii():
        raise ValueError(f"{text!r} is not a number")
    return float(text)


def is_exact(values: Any) -> bool:
    """Return whether float64 holds the values of an array, as far as they are integers."""
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8 or not values.size:
        return True
    return int(values.max()) <= EXACT_LIMIT and int(values.min()) >= -EXACT_LIMIT


def _read(labels: Any) -> Labels:
    values = _label_array(labels)
    if not is_exact(values):
        raise ValueError("labels are integers beyond 2^53, which float64 does not hold, so that "
                         "some would be one class; numpy.unique(labels, return_inverse=True)[1] "
                         "numbers them")
    has_texts = values.dtype.kind in "US" or (values.dtype.kind == "O" and any(
        isinstance(value, (str, bytes)) for value in values.flat))
    with contextlib.suppress(TypeError, ValueError):  # some may be missing
        if not has_texts:
            return Labels(np.ascontiguousarray(values, dtype=np.float64), None)
    texts = [_text(value) for value in values.ravel().tolist()]
    words = None
    try:
        found = [np.nan if text is None else number_in(text) for text in texts]
    except ValueError:
        # Words of what is categorical in pandas keep the order of the categories.
        categories = getattr(getattr(labels, "cat", labels), "categories", None)
        known = [] if categories is None else filter(None, map(_text, categories))
        places = {name: place for place, name in enumerate(known)}
        found = [np.nan if text is None else places.setdefault(text, len(places))
                 for text in texts]
        words = Names(places)
    return Labels(np.array(found, dtype=np.float64).reshape(values.shape), words)


def _label_array(labels: Any) -> Any:
    """Return labels as an array of numpy, whatever its type."""
    if hasattr(labels, "iloc") and not isinstance(labels.dtype, np.dtype):  # a type of pandas
        labels = labels.to_numpy(dtype=object, na_value=None)
    return np.asarray(on_host(labels))


def is_missing(value: Any) -> bool:
    """Return whether a value is None or one of pandas that stands for a missing one."""
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _text(value: Any) -> Optional[str]:
    """Return a label as text; None where it is missing."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str):
        return None if value.strip() in MISSING else value.strip()
    if is_missing(value) or value != value:
        return None
    if isinstance(value, numbers.Real):
        return str(float(value) if isinstance(value, bool) else value)
    raise ValueError(f"{WHAT}, but one of them is {type(value).__name__}")
