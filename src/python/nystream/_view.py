"""Views: parts of a store or a result, opened once and read into numpy arrays."""
from __future__ import annotations

import ctypes as C
import os
import threading
from typing import Any, Dict, Iterator, NamedTuple, Optional, Tuple

import numpy as np

from nystream import _batch, _lib
from nystream._context import Context, free_with
from nystream._errors import DataError, UsageError, usage_error
from nystream._lib import lib
from nystream.report import Report, values_prepared

# Types of parts that the library gives as uint64, with 2^64 - 1 for none: that is -1 of int64.
SIGNED: Dict[str, str] = {"clusters": "int64"}


class Shape(NamedTuple):
    """Rows, columns (0: a list of numbers) and type of a part."""

    rows: int
    columns: int
    dtype: "np.dtype[Any]"


class View:
    """The points of a store, or a result, as they are at the first look.

    It has a context of its own, so that it can be read while a fit runs, and is opened anew in a
    process that was forked, or that it was sent to. One of rows that a context holds has theirs.
    """

    def __init__(self, path: bytes, name: Optional[str],
                 context: Optional[Context] = None) -> None:
        self.path, self.name, self._given = path, name, context
        self._opened = False
        self._lock = threading.RLock()
        self._pid = os.getpid()

    def __getstate__(self) -> Dict[str, Any]:
        if self._given is not None:
            return {"path": self.path, "name": self.name, "context": self._given}
        return {"path": os.path.abspath(self.path), "name": self.name}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def close(self) -> None:
        """Forget what was seen: the next look opens the store anew.

        It waits for a thread that reads.
        """
        with self._in_use:
            if self._opened:
                self._release()
            self._opened = False

    @property
    def _in_use(self) -> Any:
        """Held while the handle is used; a process that was forked has its own lock, and handle."""
        if os.getpid() != self._pid:
            self._opened, self._pid, self._lock = False, os.getpid(), threading.RLock()
        return self._lock

    def _open(self) -> C.c_void_p:
        """Return the handle, opened where that was not done yet; `_in_use` is held."""
        if not self._opened:
            self._context = self._given or Context(progress=False)
            self._pointer = C.c_void_p()
            self._shapes: Dict[str, Shape] = {}
            name = None if self.name is None else self.name.encode()
            self._context.call(lib.ny_view_open, C.byref(self._pointer), self._context.pointer,
                               self.path, name)
            self._release = free_with(self, lib.ny_view_free, self._pointer, self._context)
            self._opened = True
        return self._pointer

    def look(self, seen: Report) -> Report:
        """Open the result whose report was seen, and return the report of what is read.

        One that was not done then, or was updated since, is seen as it is now; UsageError where it
        was fitted anew.
        """
        with self._in_use:
            if self._opened or self.name is None:
                return seen
            self._open()
            now = Report(self._context.report(lib.ny_result_report, self._context.pointer,
                                              self.path, self.name.encode(), long=False))
            is_later = (now.get("updates") or 0) > (seen.get("updates") or 0)
            if seen.get("status") == "done" and not is_later and any(
                    seen.get(key) != now.get(key) for key in ("total_seconds", "n", "updates")):
                self.close()
                raise usage_error(f"'{self.name}' in {os.fsdecode(self.path)} was fitted anew, "
                                  "updated or removed since it was opened; open it again")
        return now

    def shape(self, part: str) -> Shape:
        """Return rows, columns and type of a part."""
        with self._in_use:
            pointer = self._open()
            if part not in self._shapes:
                rows, columns, dtype = C.c_uint64(), C.c_uint64(), C.c_int()
                self._context.call(lib.ny_view_shape, pointer, part.encode(), C.byref(rows),
                                   C.byref(columns), C.byref(dtype))
                name = SIGNED.get(part, _lib.DTYPES[dtype.value])
                self._shapes[part] = Shape(rows.value, columns.value, np.dtype(name))
            return self._shapes[part]

    def _numbers(self, function: Any, part: str, count: int, *rows: Any) -> Any:
        """Return so many rows of a part, which the function finds by `rows`."""
        shape = self.shape(part)
        sizes = (count, shape.columns) if shape.columns else (count,)
        out = _batch.result_array(sizes, shape.dtype)
        if count:
            self._context.run(function, self._open(), part.encode(), *rows, out.ctypes.data)
        return out

    def read(self, part: str, first: int, count: int) -> Any:
        """Return rows first … first + count - 1 of a part."""
        with self._in_use:
            if self.shape(part).dtype == object:
                return self._read_names(part, first, count)
            return self._numbers(lib.ny_view_read, part, count, first, count)

    def _read_names(self, part: str, first: int, count: int) -> Any:
        """Return names as an array of str."""
        text, size = C.c_void_p(), C.c_uint64()
        self._context.run(lib.ny_view_names, self._open(), part.encode(), first, count,
                          C.byref(text), C.byref(size))
        names = C.string_at(text, size.value).split(b"\0")[:-1]
        out = np.empty(count, dtype=object)
        out[:] = [name.decode("utf-8", "replace") for name in names]
        return out

    def _gather_names(self, part: str, rows: Any) -> Any:
        """Return the names that are listed, run by run of rows that lie together."""
        runs = np.split(rows, np.flatnonzero(np.diff(rows.astype(np.int64)) != 1) + 1)
        read = [self._read_names(part, int(run[0]), len(run)) for run in runs if len(run)]
        return np.concatenate(read) if read else np.empty(0, dtype=object)

    def gather(self, part: str, rows: Any) -> Any:
        """Return the rows of a part whose numbers are listed, in that order."""
        rows = np.ascontiguousarray(rows, dtype=np.uint64)
        with self._in_use:
            if self.shape(part).dtype == object:
                return self._gather_names(part, rows)
            return self._numbers(lib.ny_view_gather, part, len(rows), rows.ctypes.data, len(rows))

    def read_sparse(self, first: int, count: int, entries: int) -> Tuple[Any, Any, Any]:
        """Return values, column numbers and row starts of sparse points, as scipy has them.

        `entries` are those of all points, which may be more than memory holds: room is made for
        some more than rows have on the average, and for more of rows that are fuller.
        """
        starts = np.zeros(count + 1, dtype=np.uint64)
        with self._in_use:
            shape = self.shape("points")
            most = min(entries, 1024 + 2 * entries * count // max(1, shape.rows))
            while True:
                columns, values = np.empty(most, np.uint32), np.empty(most, shape.dtype)
                room = _lib.CCsrRoom(starts.ctypes.data, columns.ctypes.data, values.ctypes.data,
                                     most)
                try:
                    self._context.run(lib.ny_view_read_sparse, self._open(), first, count,
                                      C.byref(room))
                    break
                except UsageError:  # there are more
                    if most == entries:
                        raise
                    most = min(entries, 4 * most)
        used = int(starts[-1])
        return values[:used], columns[:used].astype(np.int64), starts.astype(np.int64)


class Part:
    """A part of a store or a result, such as its embedding: read when it is indexed.

    It has the shape and type of an array, and `numpy.asarray(part)` reads all of it; so does
    `part[:]`. `dask.array.from_array(part)` and the like work.
    """

    _imported: Any = None  # the store of one call whose rows they are

    def __init__(self, view: View, name: str) -> None:
        self._view, self._name = view, name
        view.shape(name)  # it must be there

    @property
    def shape(self) -> Tuple[int, ...]:
        """(rows, columns), or (rows,) of a list of numbers."""
        shape = self._view.shape(self._name)
        return (shape.rows, shape.columns) if shape.columns else (shape.rows,)

    @property
    def dtype(self) -> "np.dtype[Any]":
        """Type of the values."""
        return self._view.shape(self._name).dtype

    @property
    def ndim(self) -> int:
        """1 or 2."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of values."""
        return int(np.prod(self.shape))

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        for batch in self.batches():
            yield from batch

    def __repr__(self) -> str:
        return f"<{self._name}: {' × '.join(map(str, self.shape))}, {self.dtype}>"

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Any:
        if copy is False:
            raise ValueError(f"{self._name} is on disk, so an array of it is a copy")
        return np.asarray(self._view.read(self._name, 0, len(self)), dtype=dtype)

    def __getitem__(self, key: Any) -> Any:
        rows, *columns = key if isinstance(key, tuple) else (key,)
        if rows is Ellipsis:
            rows = slice(None)
        values = self._rows(rows)
        if not columns:
            return values
        places: Any = slice(None)
        if not isinstance(rows, slice):
            chosen = values.shape[:values.ndim - self.ndim + 1]  # the shape of the row numbers
            values = values.reshape(-1, *self.shape[1:])
            places = np.arange(len(values)).reshape(chosen)
        whole = (places, *columns)
        return values[whole]

    def batches(self, rows: Optional[int] = None) -> Iterator[Any]:
        """Read all rows, an array of some of them at a time.

        Parameters
        ----------
        rows : int, optional
            Rows of an array, but for the last; by default about 16 MB of them.
        """
        shape = self._view.shape(self._name)
        step = rows or max(1, _batch.SLICE_BYTES // (max(1, shape.columns) * shape.dtype.itemsize))
        for first in range(0, shape.rows, step):
            yield self._view.read(self._name, first, min(step, shape.rows - first))

    def _rows(self, rows: Any) -> Any:
        count = len(self)
        if isinstance(rows, slice):
            first, stop, step = rows.indices(count)
            if step == 1:
                return self._view.read(self._name, first, max(0, stop - first))
            return self._view.gather(self._name, np.arange(first, stop, step))
        rows = np.asarray(rows)
        if rows.dtype == bool:
            if rows.shape != (count,):
                raise IndexError(f"the mask has the shape {rows.shape}, but {self._name} has "
                                 f"{count} rows")
            rows = np.flatnonzero(rows)
        if rows.dtype.kind not in "iu" and rows.size:
            raise IndexError("rows are chosen by an integer, a slice, a list of integers or a mask")
        if rows.dtype != np.uint64:
            rows = rows.astype(np.int64)  # a narrow type may not hold `count`
        wanted = np.where(rows < 0, rows + count, rows).astype(np.int64)
        if rows.size and (wanted.min() < 0 or wanted.max() >= count):
            raise IndexError(f"{self._name} has rows 0 to {count - 1}")
        values = self._view.gather(self._name, wanted.ravel())
        return values[0] if rows.ndim == 0 else values.reshape(rows.shape + values.shape[1:])


def check_prepared_once(X: Any, fitted: Optional[str]) -> None:
    """DataError where X is of a store that prepares values, and the fit prepares them once more.

    `fitted` is how the fit prepares its rows, as `values_prepared` of its report says it.
    """
    points = X if isinstance(X, Part) else getattr(X, "points", None)
    if not fitted or not isinstance(points, Part) or points._name != "points":
        return
    path, context = points._view.path, points._view._given or Context(progress=False)
    values = values_prepared(Report(context.report(lib.ny_store_report, context.pointer, path)))
    if values:
        raise DataError(
            f"the rows of {os.fsdecode(path)} are read with values={values!r}, and "
            "the fit prepares the rows that it places itself, so that they would be prepared "
            "twice. Give the rows as they came; result(NAME).embedding of the fitted store has the "
            "places of its rows")
