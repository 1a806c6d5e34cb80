"""Scratch stores of rows that are fitted once, and an embedding of rows in one call."""
from __future__ import annotations

import contextlib
import numbers
import os
import re
from types import MappingProxyType
from typing import Any, Iterator, Mapping, NamedTuple, Optional, Tuple, Union

import numpy as np

from nystream import _data
from nystream._append import PathLike
from nystream._context import Context, ProgressOption
from nystream._errors import (BudgetError, DataError, NystreamError, UsageError, budget_error,
                              usage_error)
from nystream._lib import IMPORT, OPTIONS, lib
from nystream._scratch import Scratch, lost_when_stopped
from nystream._sources import is_path
from nystream._view import Part
from nystream.planning import plan
from nystream.store import FITTING, Result, Store

EMPTY_BYTES = 1 << 20  # at most, of a store without rows


def lies_in_memory(X: Any) -> bool:
    """Return whether X is an array, be it a mapped file's, that the library may read in place."""
    return (isinstance(X, np.ndarray) and X.ndim == 2 and X.flags.c_contiguous
            and _data.is_in_one_piece(X))


def count_results(X: Any, options: Mapping[str, Any]) -> int:
    """Return the bytes, about, of what a fit or graph of the rows of X keeps beside them.

    These are coordinates, neighbours, and what the landmarks share. An option that is not given, or
    is no number, counts as many as the default has, about.
    """
    usual = {"components": 64, "neighbors": 16, "landmarks": 1024}
    given = {name: value for name, value in options.items() if isinstance(value, numbers.Integral)}
    width, neighbors, landmarks = (int(given.get(name, usual[name])) for name in usual)
    n = getattr(X, "shape", (0,))[0]
    n = int(n) if isinstance(n, numbers.Integral) else 0
    return EMPTY_BYTES + 8 * n * (width + neighbors) + 8 * min(landmarks, n) ** 2


def scratch_store(X: Any, context: Context, tmpdir: Optional[PathLike],
                  kept: Optional[int] = None, results: int = 0) -> Tuple[Scratch, Store]:
    """Make an empty store for rows like X, written without waiting for the disk, and its folder.

    With `kept`, the bytes that it will hold beside the rows, the array X is not copied: it has to
    stay as it is as long as the context lives, and no other process can read the store. `results`
    are the bytes that it may need at most for results.
    """
    count = _data.count_bytes(X) if kept is None else kept
    scratch = Scratch(tmpdir, count, context.memory_bytes, results)
    lib.ny_context_set_scratch(context.pointer, 1)
    store = Store._of(scratch.path / "rows.nys", context)
    store._borrows = kept is not None
    return scratch, store


class Imported(NamedTuple):
    """A store of files that the library alone reads, and the scratch folder that it is in."""

    scratch: Scratch
    store: Store


def import_files(files: Any, context: Context, tmpdir: Optional[PathLike]) -> Imported:
    """Read files as they are into a scratch store.

    An error that advises options with which the library could read them says who takes such.
    """
    if is_path(files) and os.path.isdir(files):
        raise usage_error(f"{os.fspath(files)} is a folder, and no file of rows; if it is a store, "
                          f"give nystream.open({os.fspath(files)!r})")
    scratch, store = scratch_store(files, context, tmpdir)
    try:
        with lost_when_stopped(True):
            store.append_files(files)
    except BaseException as error:
        scratch.remove()
        if isinstance(error, (DataError, UsageError)) and re.search(r"\b[a-z_]+=", str(error)):
            error.args = (f"{error}; these are options of Store.append_files(), and an estimator "
                          "takes a store in place of the file",)
        raise
    return Imported(scratch, store)


def _refuse_plan(X: Any, context: Context, options: Mapping[str, Any]) -> Optional[BudgetError]:
    """Return the error of a fit of X that the budget has no room for; None if it has, or no shape.

    Options that a plan does not take are told when the fit itself meets them.
    """
    try:
        planned = plan(X, memory=context.memory_bytes, threads=context.threads, **options)
    except (NystreamError, TypeError, ValueError):
        return None
    if planned.fits:
        return None
    least = int(planned.memory_min_bytes)
    return budget_error(
        f"this fit needs {least} bytes ({least / 2 ** 20:.1f} MiB), but the budget is "
        f'{context.memory_bytes / 2 ** 20:.1f} MiB; give memory="{(least >> 20) + 1}M"', least)


@contextlib.contextmanager
def refused_with_least(X: Any, context: Context,
                       options: Optional[Mapping[str, Any]]) -> Iterator[None]:
    """Refuse rows that find no room in the budget with the least budget of their fit.

    The error stays as it is without options, and where the fit has room.
    """
    error = None
    try:
        yield
    except BudgetError:
        error = None if options is None else _refuse_plan(X, context, options)
        if error is None:
            raise
    if error is not None:
        raise error


@contextlib.contextmanager
def scratch_rows(X: Any, context: Context, tmpdir: Optional[PathLike],
                 fit: Mapping[str, Any] = MappingProxyType({}), **options: Any) -> Iterator[Store]:
    """Give a scratch store of the rows of X, which is removed at the end.

    `fit` are the options of what will be made of them, as far as they are known.
    """
    width = fit.get("components")
    width = int(width) if isinstance(width, numbers.Integral) else 64
    kept = 8 * width * len(X) if lies_in_memory(X) and not options else None
    scratch, store = scratch_store(X, context, tmpdir, kept, count_results(X, fit))
    try:
        with lost_when_stopped(True):
            with refused_with_least(X, context, fit or None):
                store.append(X, **options)
            yield store
    finally:
        scratch.remove()


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
        Folder of the temporary store.
    **options
        Options of Store.fit: map, components, landmarks, …; and of append() and append_files(),
        but for shuffle: nan, label_column, drop_columns, …. With nan="drop", rows with missing
        values are left out of the result. With nan="keep", they are rows of NaN, and so are other
        rows that cannot be placed.

    Returns
    -------
    array of shape (rows, components), float32, or float64 with precision="f64"
    """
    reading = {name: options.pop(name) for name in list(options) if _is_of_reading(name)}
    if reading.get("shuffle") not in (None, False, "no"):
        raise usage_error("shuffle= is for rows that stay in a store, but the rows of the result "
                          "are in the order of X; leave it out", "shuffle")
    keeps = reading.get("nan") == "keep"
    if keeps:
        reading["nan"] = "drop"
    context, fit = Context(memory, threads, progress), {"components": 2, **options}
    with scratch_rows(X, context, tmpdir, fit, **reading) as store:
        result = store.fit("embedding", **options)
        return _spread(result) if keeps else result.embedding[:]


def _is_of_reading(name: str) -> bool:
    """Return whether an option says how rows are read, and nothing of a fit."""
    option = OPTIONS.get(name.replace("_", "-"))
    return option is not None and bool(option.groups & IMPORT) and not option.groups & FITTING


def _spread(result: Result) -> Any:
    """Return places with a row for each row that was read, NaN for those that have none."""
    report, places = result.store.report, result.embedding[:]
    spread = np.full((report.n + report.dropped, places.shape[1]), np.nan, places.dtype)
    spread[Part(result.store._view, "source")[result.rows[:]]] = places
    return spread
