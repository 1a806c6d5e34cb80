"""Rows of any kind in batches that the C library reads: arrays, matrices, frames, files, iterators.

`batches` turns what a user has into `Batch` objects, each of a type that the library knows. Arrays
and CSR matrices of such types are handed over as they are, without a copy; all else in slices of
about 16 MB.
"""
from __future__ import annotations

from typing import Any, Callable, Iterable, Iterator, List, Optional, Tuple

import numpy as np

from nystream import _batch, _lib
from nystream._arrow import are_of_columns, arrow_rows, is_arrow
from nystream._batch import (SLICE_ROWS, Batch, Labels, Names, as_labels, check_shape, check_values,
                             give_back, is_sparse, lies_in_rows, make_batch, on_host, result_array,
                             stored_dtype)
from nystream._errors import usage_error
from nystream._sources import CsrGroup, dask_blocks, is_dask, is_sparse_group, opened

__all__ = ["SLICE_ROWS", "Batch", "batches", "check_shape", "check_values", "column_names",
           "centers_of", "has_labels", "is_cells", "is_sparse", "nearest_centers", "place",
           "slice_rows", "unwrap"]


def unwrap(X: Any) -> Any:
    """Return the matrix of an AnnData or in a file, and all else as it is."""
    X = opened(X)
    X = X.X if is_cells(X) else X
    inside = getattr(X, "group", None)  # sparse datasets of anndata have one
    X = inside if inside is not None and is_sparse_group(inside) else X
    return CsrGroup(X) if is_sparse_group(X) else on_host(X)


def is_cells(X: Any) -> bool:
    """Return whether X is an AnnData, or the `raw` of one."""
    return hasattr(X, "obs_names") and hasattr(X, "var_names") and hasattr(X, "X")


def is_in_one_piece(X: Any) -> bool:
    """Return whether X is read where it lies, without a copy."""
    if is_sparse(X):
        return True
    if not isinstance(X, np.ndarray) or isinstance(X, np.ma.MaskedArray):
        return False
    return X.ndim != 2 or (stored_dtype(X.dtype) == X.dtype and lies_in_rows(X))


def slice_rows(X: Any) -> int:
    """Return the rows of a slice of about 16 MB, whole chunks of X where it has such."""
    if hasattr(X, "slice_rows"):
        return int(X.slice_rows)
    width = int(np.prod(X.shape[1:], dtype=np.int64)) or 1
    rows = max(1, _batch.SLICE_BYTES // (width * 8))
    chunks = getattr(X, "chunks", None)
    if isinstance(chunks, tuple) and chunks and isinstance(chunks[0], int) and chunks[0] < rows:
        rows -= rows % chunks[0]
    return rows


def _slices(X: Any) -> Iterator[Batch]:
    """Read what has a shape and gives rows by [a:b], slice by slice."""
    check_shape(tuple(X.shape))
    step = slice_rows(X)
    for first in range(0, X.shape[0], step):
        piece = X.iloc[first:first + step] if hasattr(X, "iloc") else X[first:first + step]
        yield make_batch(piece)
        give_back(piece)


def _are_rows(X: Any) -> bool:
    return is_arrow(X) or (hasattr(X, "shape") and len(X.shape) == 2)


def _piece(piece: Any) -> Iterator[Batch]:
    """Read one piece of an iterator, with the names that it has."""
    piece = opened(piece)
    rows = unwrap(piece)
    if is_arrow(rows) and not hasattr(rows, "iloc"):
        found: Iterator[Batch] = map(make_batch, arrow_rows(rows))
    elif is_sparse(rows) or not hasattr(rows, "shape"):
        found = iter([make_batch(rows)])
    else:
        found = _slices(rows)
    return named(piece, found, None)


def has_labels(piece: Any) -> bool:
    """Return whether a piece of an iterator is a pair (rows, labels), or a list of rows alone."""
    return isinstance(piece, (tuple, list)) and 0 < len(piece) <= 2 and _are_rows(piece[0])


def _check_label_order(X: Any, labels: Any) -> None:
    """UsageError where a Series of labels has the names of the rows of X, but in another order."""
    rows, whose = getattr(X, "index", None) if hasattr(X, "iloc") else None, "X.index"
    if is_cells(X):
        rows, whose = X.obs_names, "adata.obs_names"
    if rows is None or is_dask(X) or not hasattr(labels, "iloc") or hasattr(labels, "columns"):
        return
    found, known = list(labels.index), list(rows)
    if found != known and labels.index.is_unique and set(found) == set(known):
        raise usage_error(f"labels= has the rows in another order than {whose}: give "
                          f"labels.loc[{whose}], or labels.to_numpy(), which is taken as it "
                          "stands", "labels")


def _pieces(X: Iterable[Any]) -> Iterator[Batch]:
    """Read an iterator of batches of rows, of pairs (rows, labels), or of lists of one batch."""
    before: Optional[str] = None  # "words" or "numbers", where some row had a label
    for piece in X:
        labels = None
        if has_labels(piece):
            piece, labels = (*piece, None)[:2]
            _check_label_order(piece, labels)
            labels = as_labels(labels)
        if labels is not None and not np.isnan(labels.values).all():
            kind = "numbers" if labels.words is None else "words"
            if before not in (None, kind):
                raise ValueError(f"labels of a batch are {kind}, but those of earlier batches are "
                                 f"{before}; give labels of the same kind")
            before = kind
        yield from _labelled(_piece(piece), labels)


def _labelled(found: Iterator[Batch], labels: Optional[Labels]) -> Iterator[Batch]:
    """Give batches their labels; how many rows come is not always known before."""
    rows = 0
    for batch in found:
        part = labels and labels.piece(rows, rows + batch.rows)
        rows += batch.rows
        if part is None or len(part.values) == batch.rows:
            yield batch._replace(labels=part)
    as_labels(labels, rows)


def _parts(X: Any) -> Optional[Iterable[Any]]:
    """Return the pieces of what has a way of its own to give them; None where it has not."""
    if is_dask(X):
        return dask_blocks(X)
    if is_arrow(X) and not hasattr(X, "iloc"):
        return X if hasattr(X, "read_next_batch") else arrow_rows(X)  # whose batches have names
    for method in ("iter_batches", "to_batches"):  # files and data sets of pyarrow
        if hasattr(X, method):
            pieces: Iterable[Any] = getattr(X, method)()
            return pieces
    return None


Arrangement = Callable[[Iterable[Any]], Iterable[Any]]


def batches(X: Any, labels: Any = None,
            arrange: Arrangement = iter) -> Tuple[bool, Iterator[Batch]]:
    """Read rows of any kind.

    Parameters
    ----------
    X : array, scipy.sparse matrix, DataFrame, AnnData, tensor, h5py or zarr dataset, array or frame
        of Dask, table of Arrow (pyarrow, polars), name of a .npy, .npz or .h5ad file, sequence of
        rows, or an iterator or a list of any of these
        Anything that has a two-dimensional `shape` and gives rows by `X[a:b]` will do.
    labels : array of shape (rows,), optional
        One number or word a row; not with an iterator, which may give pairs (rows, labels).
    arrange : callable
        Changes the pieces of what comes in pieces, such as the order of their columns.

    Returns
    -------
    whole : bool
        True: there is one batch, and it is all of X.
    batches : iterator of Batch
    """
    _check_label_order(X, labels)
    X = unwrap(X)
    if isinstance(X, (list, tuple)) and not (X and _are_rows(X[0])):
        X = np.asarray(X)
    rows = (getattr(X, "shape", None) or (None,))[0]  # Dask does not always know it
    labels = as_labels(labels, rows if isinstance(rows, int) else None)
    if is_in_one_piece(X):
        return True, _labelled(iter([make_batch(X)]), labels)
    parts = _parts(X)
    if parts is not None:
        return False, _labelled((batch for part in arrange(parts) for batch in _piece(part)),
                                labels)
    if hasattr(X, "shape"):
        return False, _labelled(_slices(X), labels)
    if not hasattr(X, "__iter__"):
        raise ValueError(f"X is {type(X).__name__}, and not an array, a matrix, a frame, an object "
                         "with a shape and rows X[a:b], or an iterator over any of these")
    if labels is not None:
        raise ValueError("labels of an iterator come with its rows: let it give pairs "
                         "(rows, labels)")
    return False, _pieces(arrange(X))


def column_names(X: Any) -> Optional[List[str]]:
    """Return the names of columns of a frame, an AnnData or a table of Arrow.

    Returns None where it has none, or not all are str.
    """
    found = getattr(X, "var_names", None)
    if hasattr(X, "iloc") or is_arrow(X):
        found = getattr(X, "column_names", None)  # pyarrow's columns are arrays
        found = getattr(X, "columns", None) if found is None else found
    if found is None or not all(isinstance(name, str) for name in found):
        return None
    return [str(name) for name in found]


def named(X: Any, found: Iterator[Batch], known: Optional[List[str]]) -> Iterator[Batch]:
    """Give batches the names of rows and columns that an AnnData or a DataFrame has.

    A frame has them where its index, and all its columns, are str. `known` are the names of
    columns in whose order the batches were put; None: they stand as in X. Batches of what has no
    names keep those that they have.
    """
    rows, columns = getattr(X, "obs_names", None), column_names(X)
    if hasattr(X, "iloc") and hasattr(X, "columns") and hasattr(X, "index") and not is_dask(X):
        rows = X.index if isinstance(next(iter(X.index), None), str) else None
    if known is None and is_arrow(X) and not hasattr(X, "iloc") and columns is not None:
        columns = columns if are_of_columns(columns, X) else None
    of_columns = None if columns is None else Names(known or columns)
    first = 0
    for batch in found:
        of_rows = None if rows is None else Names(rows[first:first + batch.rows])
        first += batch.rows
        yield batch._replace(row_names=of_rows or batch.row_names,
                             column_names=of_columns or batch.column_names)


def _finite_rows(batch: Batch) -> Any:
    """Return a mask of the rows without NaN and infinity, of which no multiple is 0."""
    with np.errstate(invalid="ignore"):
        return np.concatenate([np.ravel((piece * 0).sum(axis=1) == 0) for piece in batch.pieces()])


def place(found: Iterable[Batch], components: int, dtype: Any,
          put: Callable[[_lib.CTable, Any], None], nan: str = "error") -> Any:
    """Place rows batch by batch.

    `put` gets the description of a batch and the array (rows, components) that it fills. With
    nan="keep" it gets no row with NaN or infinity, whose place is NaN. Returns them all, joined.
    """
    if nan not in ("error", "keep"):
        raise usage_error(f"nan={nan!r} is neither 'error' nor 'keep', which places rows with NaN "
                          "at NaN", "nan")
    parts = []
    for batch in found:
        parts.append(result_array((batch.rows, components), dtype))
        finite = _finite_rows(batch) if nan == "keep" and batch.rows else None
        if finite is not None and not finite.all():
            some = make_batch(batch.whole()[finite])
            some = some._replace(column_names=batch.column_names)
            parts[-1][finite] = place([some], components, dtype, put)
            parts[-1][~finite] = np.nan
        elif batch.rows:
            put(batch.table("X"), parts[-1])
    if not parts:
        return np.empty((0, components), dtype)
    if len(parts) == 1:
        return parts[0]
    whole = result_array((sum(map(len, parts)), components), dtype)
    return np.concatenate(parts, out=whole)


# ---- centres of clusters ----------------------------------------------------------------------


def centers_of(rows: Any, labels: Any, count: int) -> Any:
    """Return the means of clusters, float64 (count, columns), NaN of one without rows.

    Parameters
    ----------
    rows : array or part of shape (rows, columns)
    labels : int array (rows,), the cluster of each row, below 0 where it has none
    """
    sums, sizes = np.zeros((count, rows.shape[1])), np.zeros((count, 1))
    for at in range(0, len(labels), SLICE_ROWS):
        found = labels[at:at + SLICE_ROWS]
        some = found >= 0
        np.add.at(sums, found[some], rows[at:at + SLICE_ROWS][some])
        np.add.at(sizes, found[some], 1)
    return np.divide(sums, sizes, out=np.full_like(sums, np.nan), where=sizes > 0)


def nearest_centers(rows: Any, centers: Any) -> Any:
    """Return for each row which of the centres it is nearest to; -1 of a row with NaN.

    Centres of NaN, those of clusters without rows, are never nearest.
    """
    distances = np.square(centers).sum(axis=1) - 2 * rows.astype(np.float64) @ centers.T
    distances[np.isnan(distances)] = np.inf
    return np.where(np.isfinite(distances).any(axis=1), np.argmin(distances, axis=1), -1)
