"""Plans for rows that are in no store yet."""
from __future__ import annotations

from typing import Any, Optional, Tuple, Union

import numpy as np

from nystream import _lib
from nystream._batch import check_shape, stored_dtype
from nystream._context import Context
from nystream._data import is_sparse, unwrap
from nystream._errors import usage_error
from nystream._lib import lib
from nystream._options import Options
from nystream._sources import CsrGroup
from nystream.report import Plan


def _shape_of(X: Any, dtype: Any) -> str:
    """Return the option `shape` of rows, or of a tuple (rows, columns)."""
    if not (isinstance(X, tuple) and all(isinstance(n, (int, np.integer)) for n in X)):
        X = unwrap(X)
        dtype = getattr(X, "dtype", np.float64) if dtype is None else dtype
    elif dtype is None:
        dtype = np.float32
    shape = X if isinstance(X, tuple) else getattr(X, "shape", ())
    check_shape(tuple(shape))
    counts = [int(n) for n in shape]
    if is_sparse(X) or isinstance(X, CsrGroup):
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
    with Options(context, _lib.FIT | _lib.SELECT | _lib.PLAN, chosen) as pointer:
        return Plan(context.report(lib.ny_plan, context.pointer, None, pointer))
