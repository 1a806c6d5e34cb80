"""Stores: rows that are appended once, from memory or files, and any number of fits of them."""
from __future__ import annotations

import contextlib
import ctypes as C
import glob
import html
import operator
import os
import weakref
from pathlib import Path
from typing import Any, ContextManager, Dict, Iterator, List, Optional, Sequence, Tuple, Union

import numpy as np

from nystream import _lib
from nystream._batch import csr_matrix, result_array
from nystream._columns import Columns, take_known, take_labels
from nystream._context import Context, ProgressOption
from nystream._errors import FileError, NystreamError, StoreError, UsageError, renamed
from nystream._lib import lib
from nystream._options import are_of_files, features_of, options_for
from nystream._sources import (PathLike, are_files, is_for_library, is_path, is_read_here,
                               opened)
from nystream._view import Part, View
from nystream.report import Plan, Report
from nystream.result import Result, spell_name

FITTING = _lib.FIT | _lib.SELECT | _lib.STORED


def open(path: PathLike, *, memory: Union[None, int, str] = None, threads: Optional[int] = None,
         progress: ProgressOption = None) -> "Store":
    """Open a store, or name one that the first append creates.

    Parameters
    ----------
    path : path
        A folder, by convention NAME.nys.
    memory : int or str, optional
        Bytes, or a size such as "8G". It bounds what nystream itself uses: Python, your own arrays
        and the pages of files that you map are not counted. None: half of what is free, of which
        an append takes at most 256M.
    threads : int, optional
        By default as many as OPENBLAS_NUM_THREADS or OMP_NUM_THREADS say, else one per CPU.
    progress : bool or callable, optional
        True: a bar of tqdm; a callable gets a `Progress`.
    """
    return Store(path, memory=memory, threads=threads, progress=progress)


def _of_store(name: str, text: str) -> Any:
    """Return the property of a store that has a part, which is read when it is indexed."""
    return property(lambda store: Part(store._view, name), doc=text)


class Store:
    """Rows on disk, in a folder, and the results of fits of them.

    `store[a:b]` reads rows. Results are read by any number of processes while one writes.
    """

    _is_held = False  # by its context alone: it is in memory, and in files without names
    _borrows = False  # such a one reads one array where it is

    def __init__(self, path: PathLike, *, memory: Union[None, int, str] = None,
                 threads: Optional[int] = None, progress: ProgressOption = None) -> None:
        self._begin(path, Context(memory, threads, progress))

    @classmethod
    def _of(cls, path: PathLike, context: Context) -> "Store":
        """Return the store at a path, with a context that is there already."""
        store = cls.__new__(cls)
        store._begin(path, context)
        return store

    def _begin(self, path: PathLike, context: Context) -> None:
        self.path, self._context = Path(path), context
        self._view = View(self._path, None)
        self._seen: "weakref.WeakSet[Result]" = weakref.WeakSet()  # results that someone holds

    def __getstate__(self) -> Dict[str, Any]:
        return {"path": self.path.absolute(), "context": self._context}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self._begin(**state)

    @property
    def _path(self) -> bytes:
        return os.fsencode(self.path)

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close what is open for reading; the store can be used again all the same."""
        self._view.close()

    def __repr__(self) -> str:
        try:
            report = self.report if self.exists else None
        except NystreamError as error:
            return f"<store {self.path}: {error}>"
        if report is None or not report.n:
            return f"<store {self.path}: no rows>"
        results = ", ".join(report.results) or "none"
        return (f"<store {self.path}: {report.n:,} rows × {report.d:,} columns, {report.dtype}, "
                f"{report.format}; results: {results}>")

    def _repr_html_(self) -> str:
        try:
            table = self.report._repr_html_() if self._has_rows() else ""
        except NystreamError:  # repr() says it
            table = ""
        return f"<p>{html.escape(repr(self))}</p>{table}"

    # ---- rows ----------------------------------------------------------------------------------

    points: Part = _of_store("points", "The rows, as a lazy array; sparse ones are read as dense.")
    labels: Part = _of_store("labels", "Labels, float64, NaN where missing; those that were words "
                             "are places in class_names.")
    row_names: Part = _of_store("ids", "Names of the rows, str, empty where one came without; "
                                "UsageError where none has one.")

    def __getitem__(self, rows: Any) -> Any:
        if isinstance(rows, str):
            raise IndexError(f"store[…] reads rows; store.result({rows!r}) is the result")
        return self.points[rows]

    def __len__(self) -> int:
        return len(self.points) if self.exists else 0

    def __iter__(self) -> Iterator[Any]:
        return iter(self.points)

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Any:
        return self.points.__array__(dtype, copy)

    @property
    def shape(self) -> Tuple[int, ...]:
        """(rows, columns)."""
        return self.points.shape

    @property
    def dtype(self) -> "np.dtype[Any]":
        """Type of the stored values: uint8, int16, float32 or float64."""
        return self.points.dtype

    @property
    def class_names(self) -> Any:
        """The words of labels, an array of str (classes,); UsageError where labels are no words.

        Examples
        --------
        >>> import nystream, tempfile
        >>> store = nystream.open(tempfile.mkdtemp() + "/points.nys")
        >>> _ = store.append([[0, 1], [1, 0], [1, 1]], labels=["dog", "cat", "dog"])
        >>> [str(store.class_names[int(label)]) for label in store.labels]
        ['dog', 'cat', 'dog']
        """
        return Part(self._view, "classes")[:]

    @property
    def column_names(self) -> Any:
        """Names of the columns, an array of str (columns,); UsageError where they have none."""
        return Part(self._view, "columns")[:]

    def _columns(self) -> Columns:
        """Return the names of the columns, for new rows."""
        names: Optional[List[str]] = None
        with contextlib.suppress(UsageError):  # they have none
            names = list(self.column_names)
        if names is None:
            return Columns(None, str(self.path))
        return Columns(names, str(self.path), self.report["nnz"] is not None)

    def to_csr(self, first: int = 0, stop: Optional[int] = None) -> Any:
        """Return rows as a scipy.sparse.csr_matrix; those of a dense store lose their zeros."""
        entries = self.report["nnz"]
        if entries is None:
            return csr_matrix(self[first:stop])
        return self._read_csr(slice(first, stop), entries)

    def _read_csr(self, rows: slice, entries: int) -> Any:
        """Return rows of a sparse store, which has so many entries, as to_csr() does."""
        first, stop, _ = rows.indices(len(self))
        count = max(0, stop - first)
        found = self._view.read_sparse(first, count, entries)
        return csr_matrix(found, shape=(count, self.shape[1]))

    # ---- more rows ------------------------------------------------------------------------------

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
        X, columns = opened(X), options.pop("column_names", None)
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
        imports = self.report["imports"] if self._has_rows() else None
        known = [each["label_column"] for each in imports or [] if each["label_column"]]
        return known[-1] if known else None

    def _reading(self, options: Dict[str, Any]) -> ContextManager[C.c_void_p]:
        """Return the options of an import, which takes the budget that open() was given.

        It takes at most 256 MB if there was none, as it rarely has a use for more.
        """
        groups = _lib.IMPORT | (_lib.EMBED if self._is_held else 0)
        return options_for(self._context, groups, {"memory": self._context.memory, **options})

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
            found = [] if os.path.lexists(name) else sorted(glob.glob(name))
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
            return int(self.report["n"])
        except (FileError, StoreError):
            was_killed = (self.path / "locks" / "create.lock").exists()
            if (self.path / "points").exists() and not was_killed:
                raise
        return 0

    # ---- fits ----------------------------------------------------------------------------------

    def plan(self, **options: Any) -> Report:
        """Return the Plan of a fit with these options: memory, seconds and disk.

        With gamma_grid=True, or a list of widths, it is a Report whose `grid` has a dict of each.
        """
        options = self._with_features(options)
        grid = options.pop("gamma_grid", None)
        if grid is None or grid is False:
            with options_for(self._context, FITTING, options) as pointer:
                return Plan(self._report(lib.ny_plan, pointer))
        options["gamma_grid"] = "auto" if grid is True else grid
        with options_for(self._context, FITTING | _lib.PLAN, options) as pointer:
            return self._report(lib.ny_gamma_grid, pointer)

    def fit(self, name: str, **options: Any) -> Result:
        """Fit an embedding and keep it under a name; a call that was stopped goes on.

        Parameters
        ----------
        name : str
        **options
            map, landmarks, components, kernel, gamma … as `nystream help fit --all` has them;
            "_" stands for "-"; a switch is True or False. Given landmarks may be arrays:
            landmarks_points of shape (landmarks, columns), which need not be rows of the store, or
            landmarks_file, row numbers of shape (landmarks,). features, the columns to use, may be
            a rule such as "variable:2000", an array of numbers or names of columns, or a mask.
        """
        return self._work(lib.ny_fit, name, FITTING | _lib.UPDATE, options)

    def select(self, name: str, **options: Any) -> Result:
        """Choose landmarks alone; `fit(…, landmarks_from=name)` takes them."""
        return self._work(lib.ny_select, name, _lib.SELECT | _lib.STORED, options)

    def graph(self, name: str, **options: Any) -> Result:
        """Find the nearest neighbours of all rows, or take edges, for `fit(…, graph=name)`.

        Parameters
        ----------
        name : str
        **options
            neighbors, knn, … as `nystream help graph --all` has them: recall=0.95 finds 95 % of
            the neighbours, by whichever way is the least work. Or edges, a graph from elsewhere: a
            file (.mtx, .npz, lines i j weight), or a scipy.sparse matrix of shape (nodes, nodes).
            Weights are lengths, or affinities with edge_weights="affinity". Nodes are the rows of
            the store; if there is no store, one without rows is made.
        """
        return self._work(lib.ny_graph, name, _lib.GRAPH, options)

    def _fit_into(self, name: str, embeds: bool, **options: Any) -> Tuple[Result, Any]:
        """Fit, and return the result, and its embedding, which only a store keeps.

        The options have to have components and precision. Without `embeds` there is no embedding.
        """
        if not embeds:
            return self._work(lib.ny_fit_into, name, FITTING, options, None), None
        n, dtype = len(self), "float64" if options["precision"] == "f64" else "float32"
        values = result_array((n * int(options["components"]),), dtype)
        room = _lib.CDenseRoom(_lib.NUMBERS[dtype], values.ctypes.data)
        result = self._work(lib.ny_fit_into, name, FITTING, options, C.byref(room))
        columns = int(result.report["components"])
        return result, values[:n * columns].reshape(n, columns)

    def _with_features(self, options: Dict[str, Any]) -> Dict[str, Any]:
        """Return options with features= that has numbers of columns in place of names."""
        if options.get("features") is None:
            return options
        found = features_of(options["features"], lambda: self._columns().names,
                            lambda: self.shape[1])
        return {**options, "features": found}

    def _work(self, function: Any, name: str, groups: int, options: Dict[str, Any],
              *room: Any) -> Result:
        options = self._with_features(options)
        points = options.get("landmarks_points")
        if points is not None:
            columns = self._columns()._replace(what="landmarks_points")
            options = {**options, "landmarks_points": columns.select(points)}
        with options_for(self._context, groups, options) as pointer:
            self._report(function, spell_name(name), pointer, *room)
        for result in list(self._seen):
            if result.name == name:
                result._look_again()
        return Result(self, name)

    @property
    def results(self) -> List[str]:
        """Names of the results, sorted; none of a store that is not there yet."""
        return list(self.report["results"]) if self.exists else []

    def result(self, name: str) -> Result:
        """Return a result by its name."""
        return Result(self, name)

    @property
    def report(self) -> Report:
        """The report of the store, which `nystream info` prints."""
        return self._report(lib.ny_store_report)

    def verify(self) -> Report:
        """Read every byte; StoreError, with attribute `report`, where anything is damaged."""
        return self._report(lib.ny_verify)

    def repair(self) -> Report:
        """Set aside what verify() finds damaged; `nystream help repair` says what is lost."""
        self._view.close()
        return self._report(lib.ny_repair)

    def compact(self) -> Report:
        """Give back to the disk what removed results have held."""
        self._view.close()
        return self._report(lib.ny_compact)

    def truncate(self, rows: int, drop_results: bool = False) -> Report:
        """Keep the first rows, at least 1, as if those behind them had never been appended.

        `store.report.imports` has the `first` row of each import. Results that have rows which go
        are removed with drop_results; without, UsageError names them, and nothing is changed. The
        report has n, rows_removed, and removed, the names of results.
        """
        self._view.close()
        return self._report(lib.ny_truncate, max(0, operator.index(rows)), int(drop_results))

    def remove(self, name: str) -> None:
        """Remove a result."""
        context = self._context
        context.run(lib.ny_remove, context.pointer, self._path, spell_name(name))

    def _report(self, function: Any, *arguments: Any) -> Report:
        """Call with the context and the path in front and a report behind."""
        context = self._context
        return Report(context.report(function, context.pointer, self._path, *arguments))
