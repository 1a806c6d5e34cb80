"""Fits of arrays of Dask: each chunk is summed up where it is, and the sums are merged in a tree.

    model = nystream.dask.fit(X, landmarks, gamma=0.1, components=10)
    Y = nystream.dask.transform(model, X)             # an array of Dask again

Landmarks and gamma are chosen beforehand, such as by `Store.select` of a sample of the rows.
"""
from __future__ import annotations

from typing import Any, List, Optional, Union

import numpy as np

from nystream._batch import check_shape
from nystream._columns import Columns
from nystream._context import Context
from nystream._data import column_names
from nystream._sources import beside
from nystream.model import Model
from nystream.sums import Sums

MERGED = 8  # sums that a task merges


def fit(X: Any, landmarks: Any, *, gamma: Optional[float] = None, dtype: Any = None,
        memory: Union[None, int, str] = None, threads: int = 1, **options: Any) -> Model:
    """Fit the rows of an array or a frame of Dask, which are never in one place.

    Parameters
    ----------
    X : array or frame of Dask, of shape (rows, columns)
        Chunks of rows are tasks. Those of columns are joined; they may be sparse matrices of scipy.
        Columns of a frame are put in the order of those of a frame of landmarks.
    landmarks, gamma, dtype
        The points that all chunks share, the width of the kernel, and the type of rows: see
        nystream.Sums.
    memory, threads : int or str and int, optional
        The budget of a task, as nystream.open() has it, and its threads. Dask runs a task for each
        CPU of a machine, by default. The last task, which solves the sums, takes all threads of its
        machine.
    **options
        Options of Store.fit: map, kernel, components, approx, precision, …

    Returns
    -------
    Model
        Its `solution` is the report of the fit: eigenvalues, trace_error, … (see Sums.solve).
    """
    from dask.delayed import delayed

    sums = Sums(landmarks, gamma=gamma, dtype=dtype, memory=memory, threads=threads, **options)
    X = sums._columns.select(X)
    if sums._columns.names is None:
        sums._columns = Columns(column_names(X), "X")
    empty = delayed(sums)
    parts = [delayed(_sum_up)(empty, block, number) for number, block in enumerate(_blocks(X))]
    while len(parts) > 1:
        parts = [delayed(_merge)(parts[at:at + MERGED]) for at in range(0, len(parts), MERGED)]
    if not parts:
        raise ValueError("X has no rows")
    model: Model = delayed(_solve)(parts[0], memory).compute()
    return model


def transform(model: Model, X: Any) -> Any:
    """Place the rows of an array or a frame of Dask, chunk by chunk.

    Returns
    -------
    array of Dask of shape (rows, components), in the chunks of rows of X
    """
    from dask.delayed import delayed

    X = _as_array(Columns(model.column_names, "the model").select(X))
    if X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    dtype = np.float64 if model.report["precision"] == "f64" else np.float32
    return X.map_blocks(_place, model=delayed(model, pure=True), dtype=dtype,
                        chunks=(X.chunks[0], (model.components,)),
                        meta=np.empty((0, 0), dtype))


def _as_array(X: Any) -> Any:
    """Return an array of Dask, of an array or a frame; ValueError where X is neither."""
    if hasattr(X, "to_dask_array"):
        X = X.to_dask_array()
    if not hasattr(X, "to_delayed") or not hasattr(X, "numblocks"):
        raise ValueError(f"X is {type(X).__name__}, and not an array or a frame of Dask; "
                         "nystream.Sums and nystream.Store take others")
    check_shape(X.shape)
    return X


def _blocks(X: Any) -> List[Any]:
    """Return the chunks of rows as delayed objects."""
    from dask.delayed import delayed

    return [row[0] if len(row) == 1 else delayed(beside)(list(row))
            for row in _as_array(X).to_delayed().tolist()]


def _sum_up(empty: Sums, rows: Any, number: int) -> Sums:
    """Sum up a chunk, the rows of which may be those of another.

    The sums that are given belong to other tasks, too.
    """
    return empty.copy().add(rows, part=f"chunk {number} of X")


def _merge(parts: List[Sums]) -> Sums:
    """Merge sums into a copy of the first: Dask may keep those that are given."""
    merged = parts[0].copy()
    for part in parts[1:]:
        merged.merge(part)
    return merged


def _solve(sums: Sums, memory: Union[None, int, str]) -> Model:
    """Solve the sums by all threads, as no other task is left."""
    return Sums(memory=memory).merge(sums).solve()


def _place(rows: Any, model: Model) -> Any:
    """Place the rows of a chunk, in one thread, beside other tasks."""
    copy = Model._of_bytes(model.to_bytes(), Context(threads=1), None)
    return copy.transform(rows)
