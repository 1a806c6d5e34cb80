"""Fits of arrays of Dask: each worker adds its chunks to one sum, and the sums are merged in pairs.

    model = nystream.dask.fit(X, components=10, accuracy="1%")
    Y = nystream.dask.transform(model, X)             # an array of Dask again

KernelPCA, PCA, TruncatedSVD, Nystroem and SpectralClustering are the estimators of these names for
such rows: fit(X) computes the model, and transform(X) is lazy. Their parameters are those of
nystream.KernelPCA and so on, but for store, name and verbose. The width of the kernel and landmarks
are chosen on a sample, as fit() does; landmarks that are given are points. memory and n_jobs are
budget and threads of a task. Attributes are the same, too, and `model_`, a nystream.Model; of the
sample are `component_errors_`, which are None where nothing was to choose.
"""
from __future__ import annotations

import importlib.util
import os
from functools import cached_property
from typing import Any, Callable, Dict, List, Optional, Tuple, Union

import numpy as np
from dask.base import compute
from dask.delayed import delayed
from dask.sizeof import sizeof

from nystream._batch import check_shape, joined
from nystream._columns import Columns, columns_of
from nystream._context import Context
from nystream._data import column_names
from nystream._embed import held_rows
from nystream._lib import OPTIONS, lib
from nystream._sources import is_path
from nystream.model import Model
from nystream.result import Result
from nystream.sums import Sums

SAMPLE_ROWS = 16384  # a fit of these tells how many landmarks one of more rows takes
SAMPLE_SHARE = 4  # rows of a sample for each landmark, where many are wanted
OF_CHOICE = ("landmarks", "accuracy", "select")  # options that a sample has followed
ESTIMATORS = ("KernelPCA", "Nystroem", "PCA", "SpectralClustering", "TruncatedSVD")


def __getattr__(name: str) -> Any:
    """Import the estimators, which need scikit-learn, when one is first named."""
    if name not in ESTIMATORS:
        raise AttributeError(f"module 'nystream.dask' has no attribute {name!r}")
    return getattr(importlib.import_module("nystream._chunked"), name)


def __dir__() -> List[str]:
    return sorted({*globals(), *(ESTIMATORS if importlib.util.find_spec("sklearn") else ())})


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
        The width of the kernel, which the sample chooses, too, where none is given, and the errors
        that components of its fit may have: see Store.fit.
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
        Options of Store.fit: map, kernel, components, approx, precision, seed, …

    Returns
    -------
    Model
        Its `solution` is the report of the fit: eigenvalues, trace_error, … (see Sums.solve).
    """
    is_number = landmarks is None or isinstance(landmarks, (int, np.integer))
    if accuracy is not None and not is_number:
        raise ValueError("accuracy= chooses landmarks; leave it out, or those that are given")
    chosen = {"landmarks" if is_number else "landmarks_points": landmarks, "gamma": gamma}
    fitted = _Fit(X, {**options, **chosen, "accuracy": accuracy}, memory)
    model: Model = fitted.task(dtype, threads, sums).compute()
    return model


def transform(model: Model, X: Any) -> Any:
    """Place the rows of an array or a frame of Dask, chunk by chunk.

    Returns
    -------
    array of Dask of shape (rows, components), in the chunks of rows of X
    """
    X = _as_array(Columns(model.column_names, "the model").select(X))
    if X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    dtype = np.float64 if model.report["precision"] == "f64" else np.float32
    return X.map_blocks(_place, model=delayed(model, pure=True), dtype=dtype,
                        chunks=(X.chunks[0], (model.components,)),
                        meta=np.empty((0, 0), dtype))


class _Fit:
    """A fit of the rows of X by options of Store.fit, which a sample of them completes."""

    def __init__(self, X: Any, options: Dict[str, Any], memory: Union[None, int, str]) -> None:
        points = options.get("landmarks_points")
        if points is not None and not is_path(points):
            X = columns_of(points, "the table of landmarks").select(X)
        self.X, self.options, self._memory = X, options, memory
        self.chosen: Optional[Dict[str, Any]] = None  # the report of the sample, and landmarks

    @cached_property
    def sample(self) -> Tuple[List[Any], int]:
        """Rows at random from all chunks, in proportion to their rows; and how many X has."""
        blocks, lengths = _blocks(self.X), _as_array(self.X).chunks[0]
        if any(np.isnan(lengths)):
            lengths = compute(*[delayed(np.shape)(block)[0] for block in blocks])
        rows, seed = sum(lengths), self.options.get("seed") or 0
        wanted = max(SAMPLE_ROWS, SAMPLE_SHARE * (self.options.get("landmarks") or 0))
        drawn = compute(*[delayed(_draw)(block, min(1, wanted / max(1, rows)), [seed, number])
                          for number, block in enumerate(blocks)])
        return [part for part in drawn if part.shape[0]], int(rows)

    def _choose(self) -> None:
        """Let a fit of the sample choose what is not given."""
        options = self.options
        has_width = options.get("kernel", "rbf") in OPTIONS["gamma"].kernels
        is_given = options.get("gamma") is not None or not has_width
        if options.get("map") == "pca" or is_given and options.get("landmarks_points") is not None:
            return
        self._sums(landmarks_points=np.zeros((1, self.X.shape[1])),
                   gamma=options.get("gamma") or 1 if has_width else None)  # may refuse
        self.chosen = self.of_sample(lambda result: {
            **result.report, "landmarks_points": result.landmark_points})

    def of_sample(self, take: Callable[[Result], Any]) -> Any:
        """Return what `take` makes of the fit of the sample, which is gone then."""
        with held_rows(iter(self.sample[0]), Context(self._memory),
                       self.options.get("tmpdir")) as store:
            return take(store.fit("sample", **self.options))

    def _sums(self, **others: Any) -> Sums:
        """Return sums without rows, by the options with others in the place of some."""
        options: Dict[str, Any] = {**self.options, **others, "memory": self._memory}
        return Sums(options.pop("landmarks_points", None),
                    **{key: value for key, value in options.items() if key not in OF_CHOICE})

    def task(self, dtype: Any = None, threads: Optional[int] = None,
             sums: Optional[int] = None) -> Any:
        """Return the model, as a delayed object: sums of all rows, solved."""
        workers, cpus = _workers()  # which may be fewer behind the sample
        self._choose()
        chosen = self.chosen or self.options
        found = {key: chosen.get(key) for key in ("gamma", "landmarks_points")}
        empty = self._sums(dtype=dtype, threads=threads or cpus, **found)
        if empty._columns.names is None:
            empty._columns = Columns(column_names(self.X), "X")
        blocks = list(enumerate(_blocks(self.X)))
        if not blocks:
            raise ValueError("X has no rows")
        count = min(sums or workers, len(blocks))
        cuts = [k * len(blocks) // count for k in range(count + 1)]
        parts = [_chain(delayed(empty), blocks[first:end]) for first, end in zip(cuts, cuts[1:])]
        while len(parts) > 1:
            parts = [delayed(Sums.merge)(*pair) if pair[1:] else pair[0]
                     for pair in (parts[at:at + 2] for at in range(0, len(parts), 2))]
        return delayed(_solve)(parts[0], self._memory)


def _as_array(X: Any) -> Any:
    """Return an array of Dask, of an array or a frame; ValueError where X is neither."""
    if hasattr(X, "to_dask_array"):
        X = X.to_dask_array()
    if not hasattr(X, "to_delayed") or not hasattr(X, "numblocks"):
        raise ValueError(f"X is {type(X).__name__}, and not an array or a frame of Dask; "
                         "nystream.Sums, Store and the estimators of nystream take others")
    check_shape(X.shape)
    return X


def _blocks(X: Any) -> List[Any]:
    """Return the chunks of rows as delayed objects."""
    return [row[0] if len(row) == 1 else delayed(joined)(list(row), 1)
            for row in _as_array(X).to_delayed().tolist()]


def _draw(rows: Any, share: float, seed: List[int]) -> Any:
    """Return a share of the rows of a chunk at random, rounded up or down as chance has it."""
    random, n = np.random.default_rng(seed), rows.shape[0]
    return rows[random.permutation(n)[:int(share * n + random.random())]]


def _sum_columns(rows: Any) -> Any:
    return np.asarray(rows.sum(axis=0, dtype=np.float64)).ravel()


def _workers() -> Tuple[int, int]:
    """Return the number of workers, and the most CPUs of one; without a cluster it has all."""
    try:
        from distributed import default_client

        threads = list(default_client().nthreads().values())
    except (ImportError, ValueError):
        threads = []
    return max(len(threads), 1), max(threads, default=len(os.sched_getaffinity(0)))


def _chain(empty: Any, blocks: List[Tuple[int, Any]]) -> Any:
    """Add chunks to one sum, a task each, which runs where the sum is, and has it for itself."""
    sums = delayed(Sums.copy)(empty)  # which all chains begin with
    for number, block in blocks:
        sums = delayed(Sums.add)(sums, block, f"chunk {number} of X")
    return sums


def _solve(sums: Sums, memory: Union[None, int, str]) -> Model:
    """Solve the sums by all threads, as no other task is left."""
    return Sums(memory=memory).merge(sums).solve()


def _place(rows: Any, model: Model) -> Any:
    """Place the rows of a chunk, in one thread, beside other tasks."""
    image = model.to_bytes()
    return Model(Context(threads=1), lib.ny_model_load, image, len(image)).transform(rows)


def _place_part(part: Any, model: Model, names: Any) -> Any:
    """Place the rows of a partition of a frame, as a frame with its index."""
    return type(part)(_place(part, model), part.index, names)
