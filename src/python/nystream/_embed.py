"""Stores of rows that are fitted once, and calls without a store: an embedding, and a plan."""
from __future__ import annotations

import contextlib
import ctypes as C
import os
import tempfile
from types import MappingProxyType
from typing import Any, Dict, Iterator, Mapping, Optional, Tuple, Union

import numpy as np

from nystream import _data, _lib
from nystream._batch import stored_dtype
from nystream._context import Context, ProgressOption
from nystream._errors import (IN_MEMORY, BudgetError, NystreamError, budget_error, usage_error)
from nystream._lib import lib
from nystream._options import options_for
from nystream._sources import CsrGroup, PathLike
from nystream._view import Part, View
from nystream.report import Plan
from nystream.store import FITTING, Store

PREPARED = {"rows", "values"}  # options by which rows are prepared as they are read
GRAPH_MAPS = ("isomap", "eigenmaps")  # new rows are placed by all points and the graph


def lies_in_memory(X: Any) -> bool:
    """Return whether X is an array, be it a mapped file's, or a matrix that is read in place."""
    if _data.is_sparse(X):
        return bool(X.dtype == stored_dtype(X.dtype) and X.shape[0] > 0)
    return (isinstance(X, np.ndarray) and X.ndim == 2 and not isinstance(X, np.ma.MaskedArray)
            and X.dtype == stored_dtype(X.dtype))


def as_lent(X: Any) -> Any:
    """Return X as the library reads it: rows one after another, or a matrix in rows."""
    return X.tocsr() if _data.is_sparse(X) else np.ascontiguousarray(X)


class Held(Store):
    """A store that its context alone has, and nobody else: its rows and results have no files.

    With `in_place` it reads the rows that are appended where they are, which have to stay as they
    are as long as it is used; others it keeps in temporary files. It is pickled with all it has.
    """

    _is_held = True

    def __init__(self, context: Context, tmpdir: Optional[PathLike],
                 in_place: bool = False) -> None:
        self._begin(IN_MEMORY, context)
        self._view, self._borrows = View(self._path, None, context), in_place
        context.holds = True
        if not in_place:
            folder = os.fsencode(tempfile.gettempdir() if tmpdir is None else tmpdir)
            context.call(lib.ny_temporary, context.pointer, self._path, folder)

    def __getstate__(self) -> Dict[str, Any]:
        size = C.c_size_t()
        self._context.call(lib.ny_results_image, self._context.pointer, self._path, None,
                           C.byref(size))
        image = C.create_string_buffer(size.value)
        self._context.call(lib.ny_results_image, self._context.pointer, self._path, image,
                           C.byref(size))
        sparse = self.report["nnz"] is not None
        return {"context": self._context, "rows": self.to_csr() if sparse else self[:],
                "columns": self._columns().names, "image": image.raw}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__init__(state["context"], None)  # type: ignore[misc]
        self.append(state["rows"], layout="sparse" if _data.is_sparse(state["rows"]) else "dense",
                    column_names=state["columns"])
        self._context.call(lib.ny_results_load, self._context.pointer, self._path, state["image"],
                           len(state["image"]))

    def forget(self) -> None:
        """Have the library forget the rows, and what was made of them but models."""
        self._view.close()
        self._context.give_back()


def import_files(files: Any, context: Context, tmpdir: Optional[PathLike]) -> Held:
    """Read files as they are into a store of this context alone."""
    store = Held(context, tmpdir)
    try:
        store.append_files(files)
    except BaseException:
        store.forget()
        raise
    return store


def _shape_of(X: Any, dtype: Any) -> str:
    """Return the option `shape` of rows, or of a tuple (rows, columns)."""
    if not (isinstance(X, tuple) and all(isinstance(n, (int, np.integer)) for n in X)):
        X = _data.unwrap(X)
        dtype = getattr(X, "dtype", np.float64) if dtype is None else dtype
    elif dtype is None:
        dtype = np.float32
    shape = X if isinstance(X, tuple) else getattr(X, "shape", ())
    _data.check_shape(tuple(shape))
    counts = [int(n) for n in shape]
    if _data.is_sparse(X) or isinstance(X, CsrGroup):
        counts.append(max(1, int(X.nnz)))
    stored = stored_dtype(dtype)
    return ",".join([*map(str, counts), f"{stored.kind}{8 * stored.itemsize}"])


def plan(X: Union[Tuple[int, int], Any], *, dtype: Any = None,
         memory: Union[None, int, str] = None, threads: Optional[int] = None,
         **options: Any) -> Plan:
    """Return memory, seconds and disk of a fit of rows that are in no store yet.

    Only the shape of the rows is looked at: a plan of Store.plan, which looks at a sample of the
    values as well, foretells the time better. `store_bytes` is the most that the rows then take on
    disk.

    Parameters
    ----------
    X : tuple (rows, columns), or rows of any kind that have a shape, or the path of such
        No row is read.
    dtype : numpy type, optional
        Type of the values; by default that of X, and of a tuple float32.
    memory, threads
        See open().
    **options
        Options of Store.fit: map, components, landmarks, …

    Returns
    -------
    Plan

    Examples
    --------
    >>> nystream.plan((200_000_000, 128), memory="8G", components=20).fits
    True
    """
    if options.get("gamma_grid") not in (None, False):
        raise usage_error("gamma_grid= looks at values, but this plan knows only the shape: append "
                          "the rows to a store, and call Store.plan(gamma_grid=True)", "gamma_grid")
    context = Context(memory, threads, None)
    chosen = {**options, "shape": _shape_of(X, dtype)}
    with options_for(context, _lib.FIT | _lib.SELECT | _lib.PLAN, chosen) as pointer:
        return Plan(context.report(lib.ny_plan, context.pointer, None, pointer))


@contextlib.contextmanager
def refused_with_least(X: Any, context: Context,
                       options: Optional[Mapping[str, Any]]) -> Iterator[None]:
    """Refuse rows that find no room in the budget with the least budget of their fit.

    The error stays as it is without options, and where the fit has room. Options that a plan does
    not take are told when the fit itself meets them.
    """
    budget = context.memory_bytes
    try:
        yield
        return
    except BudgetError:
        planned = None
        with contextlib.suppress(NystreamError, TypeError, ValueError):
            if options is not None:
                planned = plan(X, memory=budget, threads=context.threads, **options)
        if planned is None or planned.fits:
            raise
    least = int(planned.memory_min_bytes)
    raise budget_error(
        f"this fit needs {least} bytes ({least / 2 ** 20:.1f} MiB), but the budget is "
        f'{budget / 2 ** 20:.1f} MiB; give memory="{(least >> 20) + 1}M"', least)


@contextlib.contextmanager
def held_rows(X: Any, context: Context, tmpdir: Optional[PathLike],
              fit: Mapping[str, Any] = MappingProxyType({}), **options: Any) -> Iterator[Store]:
    """Give a store of the rows of X, which is gone at the end.

    `fit` are the options of what will be made of them, as far as they are known. Lists of
    neighbours are large, and go to the disk.
    """
    in_place = lies_in_memory(X) and set(options) <= PREPARED
    if in_place and fit.get("map") in GRAPH_MAPS:
        options["tmpdir"] = tempfile.gettempdir() if tmpdir is None else tmpdir
    store = Held(context, tmpdir, in_place)
    try:
        with refused_with_least(X, context, fit or None):
            store.append(as_lent(X) if in_place else X, **options)
        yield store
    finally:
        store.forget()


def embed(X: Any, *, memory: Union[None, int, str] = None, threads: Optional[int] = None,
          progress: ProgressOption = None, tmpdir: Optional[PathLike] = None,
          **options: Any) -> Any:
    """Embed rows in one call.

    Parameters
    ----------
    X : rows of any kind that Store.append takes, or files as Store.append_files takes them
    memory, threads, progress
        See open().
    tmpdir : path, optional
        Folder of the temporary files.
    **options
        Options of Store.fit: map, components, landmarks, …; and of append() and append_files(),
        but for shuffle: nan, label_column, drop_columns, …. With nan="drop", rows with missing
        values are left out of the result. With nan="keep", they are rows of NaN, and so are other
        rows that cannot be placed.

    Returns
    -------
    array of shape (rows, components), float32, or float64 with precision="f64"
    """
    reading: Dict[str, Any] = {}
    for name, option in _lib.OPTIONS.items():  # which say how rows are read
        spelled = name.replace("-", "_")
        if spelled in options and option.groups & _lib.IMPORT and not option.groups & FITTING:
            reading[spelled] = options.pop(spelled)
    if reading.get("shuffle") not in (None, False, "no"):
        raise usage_error("shuffle= is for rows that stay in a store, but the rows of the result "
                          "are in the order of X; leave it out", "shuffle")
    keeps = reading.get("nan") == "keep"
    if keeps:
        reading["nan"] = "drop"
    context = Context(memory, threads, progress)
    with held_rows(X, context, tmpdir, {"components": 2, **options}, **reading) as store:
        result = store.fit("embedding", **options)
        places = result.embedding[:]
        if not keeps:
            return places
        report = store.report
        whole = np.full((report.n + report.dropped, places.shape[1]), np.nan, places.dtype)
        whole[Part(store._view, "source")[result.rows[:]]] = places
        return whole
