"""Fits of arrays of Dask: each worker adds its chunks to one sum, and the sums are merged in pairs.

    model = nystream.dask.fit(X, components=10, accuracy="1%")
    Y = nystream.dask.transform(model, X)             # an array of Dask again
"""
from __future__ import annotations

import os
from typing import Any, List, Optional, Tuple, Union

import numpy as np
from dask.sizeof import sizeof

from nystream._batch import check_shape
from nystream._columns import Columns
from nystream._context import Context
from nystream._data import column_names
from nystream._embed import held_rows
from nystream._sources import beside
from nystream.model import Model
from nystream.sums import Sums

SAMPLE_ROWS = 16384  # a fit of these tells how many landmarks one of more rows takes


@sizeof.register(Sums)  # type: ignore[misc]
def _bytes_of(sums: Sums) -> int:
    """Return the bytes of sums, which Dask would take for a small object and send around."""
    return 8 * int(sums.report.get("landmarks", 0)) ** 2


def fit(X: Any, landmarks: Any = None, *, gamma: Optional[float] = None,
        accuracy: Union[None, float, str] = None, dtype: Any = None,
        memory: Union[None, int, str] = None, threads: Optional[int] = None,
        sums: Optional[int] = None, **options: Any) -> Model:
    """Fit the rows of an array or a frame of Dask, which are never in one place.

    Parameters
    ----------
    X : array or frame of Dask, of shape (rows, columns)
        Chunks of rows are tasks. Those of columns are joined; they may be sparse matrices of scipy.
        Columns of a frame are put in the order of those of a frame of landmarks.
    landmarks : array of shape (m, columns), or int, optional
        The points that all chunks share; or how many of them a fit of a sample of the rows chooses:
        1,000 by default, or as many as the accuracy takes. The sample has about 16,384 rows at
        random from all chunks, which are computed once more for it, and come to the caller.
    gamma, accuracy : float, and float or str, optional
        The width of the kernel, and the errors that components may have, for the fit of the sample:
        see Store.fit. Landmarks that are given need a gamma, where the kernel has one.
    dtype
        The type of rows: see nystream.Sums.
    memory, threads : int or str and int, optional
        The budget of a task, as nystream.open() has it, and its threads: those of a worker, by
        default. The last task, which solves the sums, takes all threads of its machine.
    sums : int, optional
        Number of sums, each of 8 m² bytes for m landmarks, to which chunks are added one after
        another: by default one for each worker. With the same number the model has the same bytes,
        on whatever workers.
    **options
        Options of Store.fit: map, kernel, components, approx, precision, …

    Returns
    -------
    Model
        Its `solution` is the report of the fit: eigenvalues, trace_error, … (see Sums.solve).
    """
    from dask.delayed import delayed

    workers, cpus = _workers()
    if landmarks is None or isinstance(landmarks, (int, np.integer)):
        with held_rows(iter(_sample(X)), Context(memory), None) as store:
            chosen = store.fit("sample", landmarks=landmarks, gamma=gamma, accuracy=accuracy,
                               **options)
            landmarks, gamma = chosen.landmark_points, chosen.report.gamma
    elif accuracy is not None:
        raise ValueError("accuracy= chooses landmarks; leave it out, or those that are given")
    empty = Sums(landmarks, gamma=gamma, dtype=dtype, memory=memory, threads=threads or cpus,
                 **options)
    X = empty._columns.select(X)
    if empty._columns.names is None:
        empty._columns = Columns(column_names(X), "X")
    blocks = list(enumerate(_blocks(X)))
    if not blocks:
        raise ValueError("X has no rows")
    count = min(sums or workers, len(blocks))
    parts = [_chain(delayed(empty), blocks[k * len(blocks) // count:(k + 1) * len(blocks) // count])
             for k in range(count)]
    while len(parts) > 1:
        parts = [delayed(_merge)(*parts[at:at + 2]) for at in range(0, len(parts), 2)]
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


def _draw(rows: Any, share: float, number: int) -> Any:
    """Return a share of the rows of a chunk at random, rounded up or down as chance has it."""
    random, n = np.random.default_rng(number), rows.shape[0]
    return rows[random.permutation(n)[:int(share * n + random.random())]]


def _sample(X: Any) -> List[Any]:
    """Return rows at random from all chunks, in proportion to their rows."""
    from dask.base import compute
    from dask.delayed import delayed

    blocks, lengths = _blocks(X), _as_array(X).chunks[0]
    if any(np.isnan(lengths)):
        lengths = compute(*[delayed(np.shape)(block)[0] for block in blocks])
    share = min(1, SAMPLE_ROWS / max(1, sum(lengths)))
    return [rows for rows in compute(*[delayed(_draw)(block, share, number)
                                       for number, block in enumerate(blocks)]) if rows.shape[0]]


def _workers() -> Tuple[int, int]:
    """Return the number of workers, and the most CPUs of one; without a cluster it has all."""
    try:
        from distributed import default_client

        threads = list(default_client().nthreads().values())
    except (ImportError, ValueError):
        threads = []
    return max(len(threads), 1), max(threads, default=len(os.sched_getaffinity(0)))


def _chain(empty: Any, blocks: List[Tuple[int, Any]]) -> Any:
    """Add chunks to one sum, a task each, which runs where the sum is."""
    from dask.delayed import delayed

    sums = delayed(_begin)(empty)
    for number, block in blocks:
        sums = delayed(_add)(sums, block, number)
    return sums


def _begin(empty: Sums) -> Sums:
    """Return sums of a chain's own, in the place of those that other tasks have, too."""
    return empty.copy()


def _add(sums: Sums, rows: Any, number: int) -> Sums:
    """Add a chunk to sums that no other task has."""
    return sums.add(rows, part=f"chunk {number} of X")


def _merge(sums: Sums, other: Optional[Sums] = None) -> Sums:
    """Merge sums, which no other task has, into the first."""
    return sums if other is None else sums.merge(other)


def _solve(sums: Sums, memory: Union[None, int, str]) -> Model:
    """Solve the sums by all threads, as no other task is left."""
    return Sums(memory=memory).merge(sums).solve()


def _place(rows: Any, model: Model) -> Any:
    """Place the rows of a chunk, in one thread, beside other tasks."""
    copy = Model._of_bytes(model.to_bytes(), Context(threads=1), None)
    return copy.transform(rows)
