"""Rows into a store: from memory, batch by batch, and from files."""
from __future__ import annotations

import contextlib
import ctypes as C
import glob as globbing
import os
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Sequence, Union

from nystream import _lib
from nystream._columns import Columns, take_known, take_labels
from nystream._context import Context
from nystream._errors import DataError, FileError, StoreError, renamed
from nystream._h5ad import is_read_here
from nystream._lib import lib
from nystream._options import Options, are_of_files
from nystream._sources import are_files, is_for_library, is_path
from nystream._view import Part, View
from nystream.report import Report

PathLike = Union[str, "os.PathLike[str]"]


def values_prepared(report: Report) -> Optional[str]:
    """Return how values are prepared as they are read, where twice is not as once; else None."""
    values: Optional[str] = report.get("prepared_values")
    return values if values in ("log1p", "sqrt") else None


def store_of(X: Any) -> Optional["Appends"]:
    """Return the store whose rows X is, by itself or as its `points`; None of other rows."""
    from nystream.store import Store

    if isinstance(X, Part):
        return Store(X._points_of) if X._points_of else None
    return X if isinstance(X, Store) else None


class Appends:
    """The methods of a store that take rows; store.Store is one."""

    path: Path
    _path: Any
    _context: Context
    _view: View
    _columns: Callable[[], Columns]
    _report: Callable[..., Report]
    _is_held = False  # by its context alone: it is in memory, and in files without names
    _borrows = False  # such a one reads one array where it is

    def append(self, X: Any, labels: Any = None, **options: Any) -> Report:
        """Append rows, all or nothing; the first append creates the store.

        Parameters
        ----------
        X : array, scipy.sparse matrix, DataFrame, AnnData, tensor, h5py or zarr dataset, array of
            Dask, table of Arrow, of shape (rows, columns), or an iterator or a list of these
            Anything with a two-dimensional `shape` that gives rows by `X[a:b]` will do, and the
            name of a file: .npy, .npz, .h5ad, and those of append_files(), also a list of these.
            Names of rows and of columns are kept of an AnnData, a DataFrame (those that are str)
            and files, and of the columns of a table of Arrow, also where these come one by one.
        labels : str, or array, list or column of shape (rows,), optional
            The name of a column of a frame (which is no column of the points then), of obs of an
            AnnData, or of a file; or one number or one word a row, NaN or None where it has none,
            in the order of the rows. A Series that has the rows of X in another order is refused.
            If X is a file, a name that is that of a file is a file of labels, one a row, and
            label_column= is always a column. Words become classes, whose numbers `labels` has, and
            `class_names` the words: in the order of their appearance, or of the categories of a
            pandas Categorical; a word of an earlier append keeps its number. Without labels, those
            of a later frame, AnnData or file are in the column of before, if it has this.
        **options
            dtype, layout, nan, shuffle, codec, dims, seed, and rows and values, which prepare what
            is read, as `nystream help import` has them; of a file those of append_files(). Rows
            take the type of the store: float64 is rounded to float32, and a store of
            whole numbers refuses any other value.
            column_names names the columns of an array or a sparse matrix, such as the terms of
            documents: a list of str, by which columns of later rows are found; for a file without
            names, it is a file with one name per line. new_columns="drop" leaves out values of
            sparse rows in columns beyond those of the store. expect_rows=N refuses to append unless
            the store has exactly N rows, so that a script that runs again adds no row twice.
            memory is the budget of this call. By default it is that of the store if open() was
            given one, and else at most 256M; more serves shuffle, and files that are to be sorted.

        Returns
        -------
        Report
            n, d, dtype, format, bytes of all rows, and rows, dropped, seconds of this call.

        Raises
        ------
        KeyboardInterrupt
            On Ctrl-C; of rows that come in pieces it says whether they were added.
        """
        named = isinstance(labels, str)
        if are_files(X) and is_path(labels):
            if Path(labels).is_file():
                return self.append_files(X, labels=labels, **options)
            if not named or are_of_files(options) or "shards" in options or not is_read_here(X):
                with renamed({"label_column": "labels"}):
                    return self.append_files(X, label_column=labels, **options)
        if are_files(X) and labels is None and (
                not is_path(X) or is_for_library(X) or are_of_files(options)):
            return self.append_files(X, **options)
        columns = options.pop("column_names", None)
        if named:
            X, labels = take_labels(X, labels)
        elif labels is None:
            X, labels = take_known(X, self._label_column)
        there = self._columns() if self._has_rows() else Columns(None, str(self.path))
        whole, found = there.read(X, labels, columns)
        # Rows are seen anew behind this, also where Ctrl-C came when they were added.
        with contextlib.closing(self._view), self._reading(options) as pointer:
            if not whole:
                return self._append_batches(found, pointer)
            batch = next(found)
            table = batch.table("X")
            add = lib.ny_borrow if self._borrows else lib.ny_append
            report = self._report(add, C.byref(table), pointer)
            self._context.borrowed = batch if self._borrows else None
        return report

    def _label_column(self) -> Optional[str]:
        """Return the column that the last labels were in, as far as it is known."""
        imports = self._report(lib.ny_store_report)["imports"] if self._has_rows() else None
        known = [each["label_column"] for each in imports or [] if each["label_column"]]
        return known[-1] if known else None

    def _reading(self, options: Dict[str, Any]) -> Options:
        """Return the options of an import, which takes the budget that open() was given.

        It takes at most 256 MB if there was none, as it rarely has a use for more.
        """
        groups = _lib.IMPORT | (_lib.EMBED if self._is_held else 0)
        return Options(self._context, groups, {"memory": self._context.memory, **options})

    def _append_batches(self, found: Any, options: C.c_void_p) -> Report:
        """Append batch by batch; what fails leaves the store as it was."""
        context, appender, before = self._context, C.c_void_p(), self._count_rows()
        context.call(lib.ny_appender_open, C.byref(appender), context.pointer, self._path, options)
        try:
            for batch in found:
                table = batch.table("X")
                context.run(lib.ny_appender_put, appender, C.byref(table))
            return Report(context.report(lib.ny_appender_commit, appender))
        except KeyboardInterrupt:  # how far one of several calls came says nothing
            told = "no row was added" if self._count_rows() == before else "the rows were added"
            raise KeyboardInterrupt(f"stopped; {told}") from None
        finally:
            lib.ny_appender_free(appender)

    def append_files(self, files: Union[PathLike, Sequence[PathLike]], **options: Any) -> Report:
        """Append rows of files: npy, csv, tsv, libsvm, mtx, idx, fvecs (.gz too), npz, h5ad, h5.

        h5ad and h5 need the program nystream-hdf5, which a wheel does not contain; append() reads
        X of one .h5ad with h5py.

        Parameters
        ----------
        files : path, pattern such as "part-*.csv.gz", or a list of these
        **options
            Options of append(), and format, header, decimal, label_column, id_column, columns,
            drop_columns, column_names (a file), labels (a file), transpose, matrix, shards.
        """
        given = [files] if isinstance(files, (str, os.PathLike)) else list(files)
        names: List[str] = []
        for path in given:
            name = os.fspath(path)
            # A file that is there is no pattern, such as "rows[1].csv".
            found = [] if os.path.lexists(name) else sorted(globbing.glob(name))
            names += found or [name]
        array = (C.c_char_p * len(names))(*map(os.fsencode, names))
        dealt = "shards" in options  # to a new store, or to one that has some of its shards
        if not dealt and self._has_rows():
            options = {"append": True, **options}
        with contextlib.closing(self._view), self._reading(options) as pointer:
            return self._report(lib.ny_import, array, len(names), pointer)

    @property
    def exists(self) -> bool:
        """Whether there is a store at the path: the first append makes it, if need be in a folder.

        An empty folder is none, and what else is there counts, be it a store or not.
        """
        if self._is_held:
            return True
        return any(self.path.iterdir()) if self.path.is_dir() else self.path.exists()

    def _has_rows(self) -> bool:
        """Return whether a store with rows is there."""
        return self._count_rows() > 0

    def _count_rows(self) -> int:
        """Return the rows of the store; 0 where it is not there yet, or its creation was killed.

        The next append makes it, or says why it cannot.
        """
        if not self.exists:
            return 0
        try:
            return int(self._report(lib.ny_store_report)["n"])
        except (FileError, StoreError):
            was_killed = (self.path / "locks" / "create.lock").exists()
            if (self.path / "points").exists() and not was_killed:
                raise
        return 0

    @property
    def _prepares(self) -> Optional[str]:
        return values_prepared(self._report(lib.ny_store_report))

    def _check_prepared_once(self, fitted: Optional[str]) -> None:
        """DataError where a fit of values that a store prepares would prepare these once more."""
        values = self._prepares if fitted else None
        if values:
            raise DataError(
                f"the rows of {self.path} are read with values={values!r}, and the fit prepares "
                "the rows that it places itself, so that they would be prepared twice. Give the "
                "rows as they came; result(NAME).embedding of the fitted store has the places of "
                "its rows")
