"""Sums over rows that are summed up apart, anywhere, and added: fits beyond one machine."""
from __future__ import annotations

import ctypes as C
import itertools
import os
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Union

import numpy as np

from nystream import _data, _lib
from nystream._batch import Batch, Names, joined, make_batch
from nystream._columns import Columns, columns_of
from nystream._context import Context, ProgressOption, column_names, free_with
from nystream._errors import DataError, renamed
from nystream._lib import lib
from nystream._options import options_for
from nystream._sources import PathLike, is_path, opened
from nystream.model import Model
from nystream.report import Report
from nystream.store import Store

BATCH_BYTES = 64 << 20  # rows that are summed up at a time
GROUPS = _lib.FIT | _lib.SELECT | _lib.STORED | _lib.EMBED
PARAMETERS = {"landmarks_points": "landmarks"}
DTYPES = {"u8": "uint8", "i16": "int16", "f32": "float32", "f64": "float64"}


class Sums:
    """Sums of a fit over rows that are never in one place.

    Each part of the rows is summed up where it is, all over the same landmarks. Sums are merged in
    any order, travel as bytes or pickles, and are solved to the model that one fit of all rows
    would have, up to rounding. They take 8 bytes times the square of the landmarks, and three times
    as much while they are solved.

        sums = nystream.Sums(landmarks, gamma=0.1, components=10)
        for file in files:
            sums.add(numpy.load(file))
        model = sums.solve()
        model.transform(X), model.solution.eigenvalues

    Parameters
    ----------
    landmarks : array or sparse matrix of shape (landmarks, columns), or the name of a file of rows
        The points that all parts share. None: the results that are added say what fit it is. The
        columns of a frame are found in frames that are added by their names, and without such
        landmarks those of the first frame in later ones.
    gamma : float
        Width of the kernel, where it has one.
    dtype : str, optional
        Type in which rows are summed up, the same for all parts: uint8, int16, float32 or float64.
        None: that of the landmarks.
    memory, threads, progress
        See nystream.open().
    **options
        Options of Store.fit: map, kernel, components, approx, precision, tmpdir, …
    """

    _release: Any = None
    _columns = Columns(None, "")

    def __init__(self, landmarks: Any = None, *, gamma: Optional[float] = None, dtype: Any = None,
                 memory: Union[None, int, str] = None, threads: Optional[int] = None,
                 progress: ProgressOption = None, **options: Any) -> None:
        self._dtype = None if dtype is None else _as_dtype(dtype)
        given = {"landmarks_points": self._own(landmarks), "gamma": gamma, **options}
        self._options = {name: value for name, value in given.items() if value is not None}
        self._begin(Context(memory, threads, progress), None)

    def _own(self, landmarks: Any) -> Any:
        """Return landmarks in the type of the sums, as a copy; the name of a file as it is."""
        if landmarks is None or is_path(landmarks):
            return landmarks
        self._columns = columns_of(landmarks, "the table of landmarks")
        batch = make_batch(_data.unwrap(landmarks))
        rows = self._convert(batch.whole())
        self._dtype = self._dtype or rows.dtype
        return rows.astype(self._dtype)

    def _begin(self, context: Context, image: Optional[bytes]) -> None:
        """Take the sums of an image, or sums without rows by the options."""
        self._context, pointer = context, C.c_void_p()
        self._model: Optional[Model] = None
        if image is not None:
            context.call(lib.ny_sums_load, C.byref(pointer), context.pointer, image, len(image))
        elif not self._options:
            context.call(lib.ny_sums_new, C.byref(pointer), context.pointer, None)
        else:
            with renamed(PARAMETERS), options_for(context, GROUPS, self._options) as options:
                context.call(lib.ny_sums_new, C.byref(pointer), context.pointer, options)
        if self._release is not None:
            self._release()  # frees the sums that these take the place of
        context.holds, self._pointer = True, pointer
        self._release = free_with(self, lib.ny_sums_free, pointer, context)

    def _learn_columns(self, whose: str) -> None:
        """Take the names of columns from the rows that are summed up, where none are known."""
        if self._columns.names is None:
            names = column_names(self._context, lib.ny_sums_column_names, self._pointer)
            self._columns = Columns(names, whose, self.report.get("format") == "sparse")

    # ---- images --------------------------------------------------------------------------------

    @classmethod
    def from_bytes(cls, image: bytes, *, memory: Union[None, int, str] = None,
                   threads: Optional[int] = None, progress: ProgressOption = None) -> "Sums":
        """Make sums of the bytes that to_bytes() gave; more rows can be added."""
        sums = cls.__new__(cls)
        sums._options, sums._dtype = {}, None
        sums._begin(Context(memory, threads, progress), image)
        sums._learn_columns("the first rows' table")
        return sums

    def to_bytes(self) -> bytes:
        """Return the sums as bytes, for a file or a message; UsageError without rows."""
        with self._context.lock:  # an add that fails takes another handle
            return self._context.image(lib.ny_sums_image, self._pointer)

    def copy(self) -> "Sums":
        """Return sums of the same rows, to which others can be added."""
        made = Sums.__new__(Sums)
        made._options, made._dtype, made._columns = self._options, self._dtype, self._columns
        made._begin(self._context.like(), None)
        return made.merge(self)

    def __getstate__(self) -> Dict[str, Any]:
        return {"options": self._options, "dtype": self._dtype, "context": self._context,
                "columns": self._columns,
                "image": self.to_bytes() if self.rows else None, "model": self._model}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self._options, self._dtype = state["options"], state["dtype"]
        self._columns = state.get("columns", self._columns)
        self._begin(state["context"], state["image"])
        self._model = state["model"]

    # ---- their figures -------------------------------------------------------------------------

    @property
    def report(self) -> Report:
        """Figures: rows, and once there are some parts, landmarks, d, dtype, map, kernel, …"""
        with self._context.lock:
            return Report(self._context.report(lib.ny_sums_report, self._pointer, long=False))

    @property
    def rows(self) -> int:
        """Number of rows that are summed up."""
        return int(self.report["rows"])

    @property
    def parts(self) -> int:
        """Number of parts that were added: batches of rows, and results."""
        return int(self.report.get("parts", 0))

    def __repr__(self) -> str:
        report = self.report
        if not report["rows"]:
            return "<sums without rows>"
        return (f"<sums of {report.rows} rows in {report.parts} parts, over {report.landmarks} "
                "landmarks>")

    # ---- adding --------------------------------------------------------------------------------

    def add(self, X: Any, part: str = "X") -> "Sums":
        """Add rows, all or nothing, in pieces of about 64 MB.

        Parameters
        ----------
        X : rows of any kind that Store.append takes, of shape (rows, columns)
            Columns that have names are put in the order of those of the landmarks, or of the first
            rows that had names.
        part : str
            Name of the part that they are, such as its number or its file: equal rows of different
            parts can be merged. Messages have it.

        Returns
        -------
        self

        Raises
        ------
        KeyboardInterrupt
            On Ctrl-C; it says whether the rows were added.
        """
        X = opened(X)
        pieces = self._pieces(X)
        begun = [*itertools.islice(pieces, 2)]
        if not begun:
            return self
        # Another thread waits: an add that fails takes back whatever came since it began.
        with self._context.lock:
            known, rows, several = self._columns, self.rows, len(begun) > 1
            before = self.to_bytes() if several and rows else None
            if known.names is None:
                self._columns = columns_of(X, "the first rows' table")
            try:
                for piece in itertools.chain(begun, pieces):
                    self._put(piece, part)
            except BaseException as error:
                self._columns = known
                if several:
                    self._begin(self._context, before)
                if isinstance(error, KeyboardInterrupt):
                    # How far one of several pieces came says nothing.
                    where = "stopped" if several else str(error).split(";", maxsplit=1)[0]
                    told = "no row was added" if self.rows == rows else "the rows were added"
                    raise KeyboardInterrupt(f"{where or 'stopped'}; {told}") from None
                raise
        return self

    def _put(self, batch: Batch, part: str) -> None:
        points: Any = self._options.get("landmarks_points")
        wanted = points.shape[1] if hasattr(points, "shape") else self.report.get("d")
        if wanted not in (None, batch.columns):  # the library sees an option, and a store
            raise DataError(f"{part} has {batch.columns} columns, but the landmarks {wanted}")
        if self._columns.names is not None:
            batch = batch._replace(column_names=Names(self._columns.names))
        table = batch.table(part)
        with self._context.lock, renamed(PARAMETERS):
            self._model = None
            self._context.run(lib.ny_sums_add, self._pointer, C.byref(table))

    def _pieces(self, X: Any) -> Iterator[Batch]:
        """Read rows in pieces of about BATCH_BYTES, in the type that is summed up."""
        kept: List[Any] = []
        size = 0
        if self._dtype is None and "dtype" in self.report:
            self._dtype = _as_dtype(self.report["dtype"])
        for batch in self._columns.batches(X):
            if not batch.rows:
                continue
            entry = (self._dtype or batch.values.dtype).itemsize
            held = batch.values.size * entry
            held += 0 if batch.indices is None else batch.indices.nbytes
            step, rows = max(1, BATCH_BYTES * batch.rows // max(1, held)), batch.whole()
            for at in range(0, batch.rows, step):
                end = min(at + step, batch.rows)
                kept.append(self._convert(rows[at:end]))
                size += held * (end - at) // batch.rows
                if size >= BATCH_BYTES or end < batch.rows:
                    yield make_batch(joined(kept))
                    kept, size = [], 0
        if kept:
            yield make_batch(joined(kept))

    def _convert(self, rows: Any) -> Any:
        """Convert rows to the type of the sums; ValueError where that cannot hold them."""
        dtype = self._dtype
        if dtype is None or rows.dtype == dtype:
            return rows
        if not np.can_cast(rows.dtype, dtype, "same_kind"):
            raise ValueError(f"rows of {rows.dtype} do not fit in sums of {dtype}; name the type "
                             "of all rows with dtype=")
        return rows.astype(dtype)

    def add_result(self, store: Union[Store, PathLike], name: str) -> "Sums":
        """Add the sums of a result of a store: a fit with until="sums", or one that is done.

        UsageError where it was added before, or is of other landmarks or options.
        """
        path = store.path if isinstance(store, Store) else Path(store)
        with self._context.lock:
            self._model = None
            self._context.run(lib.ny_sums_add_result, self._pointer, os.fsencode(path),
                              name.encode())
            self._learn_columns(f"the rows of {path}")
        return self

    def merge(self, other: "Sums") -> "Sums":
        """Add the parts of other sums, which stay; `sums += other` is the same call.

        UsageError, with nothing changed, where they are of other landmarks or options, or have a
        part in common.
        """
        first, second = sorted((self._context, other._context), key=id)
        with first.lock, second.lock:
            self._model = None
            self._context.call(lib.ny_sums_merge, self._pointer, other._pointer)
        if self._columns.names is None:
            self._columns = other._columns
        return self

    def __iadd__(self, other: "Sums") -> "Sums":
        return self.merge(other)

    # ---- solving -------------------------------------------------------------------------------

    def solve(self) -> Model:
        """Solve the sums; they stay, and more can be added.

        Returns
        -------
        Model
            It places the rows of every part. Its `solution` is the report of the fit of all rows:
            eigenvalues, trace_error, n, parts, …

        Raises
        ------
        UsageError
            There are no rows, or fewer than components.
        NumericError
            Sums in float32 are too coarse; make them again with precision="f64".
        """
        # The next solution has the rows that another thread adds meanwhile.
        with self._context.lock:
            if self._model is None:
                self._model = self._solve(self._pointer)
            return self._model

    def _solve(self, handle: C.c_void_p) -> Model:
        context, pointer = self._context, C.c_void_p()
        try:
            with renamed(PARAMETERS):
                report = context.report(lib.ny_sums_solve, handle, C.byref(pointer))
            image = context.image(lib.ny_model_image, pointer)
        finally:
            lib.ny_model_free(pointer)
        model = Model(context.like(), lib.ny_model_load, image, len(image))
        model.solution = Report(report)
        return model


def _as_dtype(dtype: Any) -> "np.dtype[Any]":
    """Return a type of rows by its name, numpy's or the library's; ValueError where it is none."""
    found = np.dtype(DTYPES.get(dtype, dtype) if isinstance(dtype, str) else dtype)
    if found.name not in DTYPES.values():
        raise ValueError(f"dtype={dtype!r} is not a type of rows; give one of "
                         f"{', '.join(DTYPES.values())}")
    return found
