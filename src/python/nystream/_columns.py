"""Columns of new rows, by their names: put in the order of those that are there.

Rows without names, such as those of an array, are taken as they stand.
"""
from __future__ import annotations

from typing import Any, Callable, Iterable, Iterator, List, NamedTuple, Optional, Tuple

import numpy as np

from nystream import _data
from nystream._arrow import are_of_columns, is_arrow, row_width
from nystream._batch import SLICE_BYTES, TOLD, Batch, Names, as_labels, is_sparse, make_batch
from nystream._errors import DataError, usage_error
from nystream._sources import CsrGroup, is_path, opened

ABSENT = -1  # in place of the number of a column that sparse rows lack


class Columns(NamedTuple):
    """The names of columns, in their order, or None where they have none; and whose they are.

    sparse: they are those of sparse rows, so that sparse rows may lack some, and are 0 there.
    what: what messages call the rows that are put in this order.
    """

    names: Optional[List[str]]
    whose: str
    sparse: bool = False
    what: str = "X"

    def read(self, X: Any, labels: Any = None, names: Any = None) -> Tuple[bool, Iterator[Batch]]:
        """Read rows of any kind as `_data.batches` does, each with these columns in this order.

        Further columns that a frame, an AnnData or its file has are left out. Batches have the
        names that X has, or `names` where columns have none. DataError where a column is missing.
        """
        X = opened(X)
        order, known = None, None if names is None else _names_given(X, names)
        if is_frame(X):
            X = self.select(X)
        elif self.names is not None:
            order = self._order(X, known or _data.column_names(X))
        whole, found = _data.batches(X, labels, self._arrange)
        if known is not None:
            found = _name(found, known)
        if order is not None:
            whole, found = False, _take(found, order, Names(self.names))
        return whole, _data.named(X, found, self.names)

    def _arrange(self, pieces: Iterable[Any]) -> Iterator[Any]:
        """Give pieces of rows with these columns; where they have no names, with the first's."""
        columns = self
        for piece in pieces:
            yield columns.select(piece)
            if columns.names is None:
                columns = Columns(_data.column_names(_rows_of(piece)), "the first piece")

    def batches(self, X: Any) -> Iterator[Batch]:
        """Read rows without labels."""
        return self.read(X)[1]

    def select(self, piece: Any) -> Any:
        """Return a frame or an AnnData, or one with its labels, with these columns in their order.

        All else stays as it is.
        """
        if _rows_of(piece) is not piece:
            return (self.select(piece[0]), *piece[1:])
        if self.names is None or not (is_frame(piece) or _data.is_cells(piece)):
            return piece
        order = self._replace(sparse=False)._order(piece, _data.column_names(piece))
        return piece if order is None else choose(piece, self.names)

    def _order(self, X: Any, found: Optional[List[str]]) -> Optional[List[int]]:
        """Return where these columns are among those found in X; None where they stand so.

        So they are taken where X or these have no names.
        """
        names = self.names
        if names is None or found is None or found == names:
            return None
        places = {name: place for place, name in enumerate(found)}
        lost = [name for name in names if name not in places]
        if lost and len(found) < len(names) and is_arrow(X) and not hasattr(X, "iloc"):
            if row_width(X) == len(names):
                return None  # a column holds a list of numbers
        if lost and not (self.sparse and len(lost) < len(names) and _is_sparse(X)):
            s, them = ("s", "them") if len(lost) > 1 else ("", "it")
            raise DataError(f"{self.what} has no column{s} {listed(lost)}, which {self.whose} "
                             f"has; give {them}, or an array, whose columns are taken in their "
                             "order")
        if len(set(names)) < len(names) or len(places) < len(found):
            raise DataError(f"{self.what} has other columns than {self.whose}, and some share a "
                             "name, so their order is not known; give them in the same order")
        return [places.get(name, ABSENT) for name in names]


def _names_given(X: Any, names: Any) -> List[str]:
    """Return names for the columns of X; UsageError where it has some."""
    if _data.column_names(X) is not None:
        raise usage_error("column_names= names the columns of arrays and sparse matrices, but "
                          "X has names of its own; leave it out", "column_names")
    if is_path(names):
        raise usage_error("column_names= is a list of names for rows in memory; it is a file "
                          "with one name a line only for rows of a file", "column_names")
    return [str(name) for name in names]


def _name(found: Iterator[Batch], names: List[str]) -> Iterator[Batch]:
    """Give columns of batches these names; UsageError where they are not as many."""
    known = Names(names)
    for batch in found:
        if len(names) != batch.columns:
            raise usage_error(f"column_names= has {len(names)} names, but X {batch.columns} "
                              "columns; give one for each", "column_names")
        yield batch._replace(column_names=known)


def is_frame(X: Any) -> bool:
    """Return whether X is a frame, whose columns are chosen by their names."""
    return hasattr(X, "iloc") or (is_arrow(X) and hasattr(X, "select"))


def choose(frame: Any, names: List[str]) -> Any:
    """Return a frame or an AnnData with the columns of these names alone."""
    if _data.is_cells(frame):
        return frame[:, names]
    return frame[names] if hasattr(frame, "iloc") else frame.select(names)


def _labels_beside(X: Any) -> Optional[List[str]]:
    """Return the columns that labels of X may be in: of obs, or of a frame; None of other rows."""
    if _data.is_cells(X):
        return list(X.obs.columns) if hasattr(X, "obs") else None
    if not is_frame(X):
        return None
    return list(X.columns) if hasattr(X, "iloc") else _data.column_names(X) or []


def take_known(X: Any, column: Callable[[], Optional[str]]) -> Tuple[Any, Any]:
    """Do as take_labels with the name that column() gives, if X has one such; else without."""
    names = _labels_beside(X)
    name = None if names is None else column()
    return take_labels(X, name) if names and name and names.count(name) == 1 else (X, None)


def take_labels(X: Any, name: str) -> Tuple[Any, Any]:
    """Return rows without their labels, and these: a column of a frame, or of obs of cells."""
    names = _labels_beside(X)
    if names is None:
        raise usage_error(f"labels={name!r} names a column, but X is {type(X).__name__}, whose "
                          "columns have no names; give a label for each row", "labels")
    table = "X" if is_frame(X) else "obs"
    if name not in names:
        raise usage_error(f"labels={name!r} is not a column of {table}, "
                          f"which has {listed(names)}", "labels")
    if names.count(name) > 1:
        raise usage_error(f"labels={name!r} names {names.count(name)} columns of "
                          f"{table}; give the others another name", "labels")
    labels = as_labels((X if is_frame(X) else X.obs)[name])
    assert labels is not None
    if hasattr(X, "iloc"):  # other columns may have one name
        X = X.drop(columns=[name])
    elif is_frame(X):
        X = choose(X, [other for other in names if other != name])
    return X, labels._replace(column=name)


def listed(names: List[str]) -> str:
    """Write "'a', 'b' and 3 more"."""
    more = f" and {len(names) - TOLD} more" if len(names) > TOLD else ""
    return ", ".join(map(repr, names[:TOLD])) + more


def _is_sparse(X: Any) -> bool:
    """Return whether X, or the matrix of an AnnData or of its file, is sparse."""
    rows = _data.unwrap(X)
    return is_sparse(rows) or isinstance(rows, CsrGroup)


def columns_of(X: Any, whose: str) -> Columns:
    """Return the columns that rows of any kind have, which messages call those of `whose`."""
    names = _data.column_names(X)
    if names and is_arrow(X) and not hasattr(X, "iloc"):
        names = names if are_of_columns(names, X) else None
    return Columns(names, whose, names is not None and _is_sparse(X))


def _rows_of(piece: Any) -> Any:
    """Return the rows of a piece that an iterator gives, which may come with their labels."""
    return piece[0] if _data.has_labels(piece) else piece


def _take(found: Iterator[Batch], order: List[int], names: Names) -> Iterator[Batch]:
    """Give the columns that are listed, in their order and with names, some rows at a time."""
    places = np.array(order)
    beside = int(ABSENT in order)  # a column without values, the last one
    step = max(1, SLICE_BYTES // (8 * len(order)))
    for batch in found:
        rows = batch._replace(columns=batch.columns + beside).whole()
        for first in range(0, batch.rows, step):
            end = min(first + step, batch.rows)
            labels = batch.labels and batch.labels.piece(first, end)
            piece = make_batch(rows[first:end][:, places])
            yield piece._replace(labels=labels, column_names=names)
