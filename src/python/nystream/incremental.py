"""Kernel PCA of rows that come in batches, for scikit-learn: sums that grow, solved when asked."""
from __future__ import annotations

from typing import Any, Dict, Iterator, Optional

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from nystream import _data
from nystream._columns import Columns
from nystream._context import warn
from nystream._embed import held_rows
from nystream._errors import renamed, usage_error
from nystream._estimator import (KERNEL, LANDMARKS, RUN, RowsEstimator, count_threads, has_width,
                                 kernel_options, most_landmarks, takes)
from nystream._sources import ENTRY_BYTES, with_length
from nystream.model import Model
from nystream.report import Report
from nystream.store import Store
from nystream.sums import BATCH_BYTES, Sums

# Decided by the first batch.
FIXED = ("n_components", "kernel", *KERNEL)
CHOICE = 4  # the first batch has so many rows for each landmark that it chooses


@takes("n_components", n_components=2, kernel="rbf", **KERNEL, **LANDMARKS, batch_size=None, **RUN)
class IncrementalKernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, RowsEstimator):
    """Kernel PCA of rows that come in batches, and are kept nowhere.

    The first batch chooses the landmarks and the width of the kernel, unless they are given: it
    should be a sample of the rows to come, such as the first of rows that were shuffled, and of
    several thousand rows. Each batch is summed up over the landmarks; the sums are solved when
    something is asked of them. What comes out is the KernelPCA of all rows over these landmarks, up
    to rounding, in whatever batches they came.

    Parameters
    ----------
    n_components : int
    kernel, kernel_params, and what else kernels have : as KernelPCA
    gamma : of the kernel; gamma=None is chosen by the first batch
    n_landmarks : int
        Landmarks that the first batch chooses among its rows, at most all of them.
    selection : {"rpcholesky", "greedy", "uniform", "weighted"}, optional
        How they are chosen; None: rpcholesky.
    landmarks : array of shape (m, n_features), optional
        The landmarks themselves, in place of n_landmarks and selection.
    batch_size : int, optional
        Rows of a batch of fit(); None: as many as take about 64 MB, and of the first at least four
        times n_landmarks.
    others : see `nystream.estimators`

    Attributes
    ----------
    eigenvalues_ : array (n_components,), of the centred kernel matrix of all rows
    gamma_ : float or None
    landmarks_ : array (m, n_features), the landmarks
    trace_error_ : float, the share of the trace of K that the landmarks leave out
    n_samples_seen_ : int
    """

    # ---- rows ----------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> "IncrementalKernelPCA":
        """Forget the rows before, and take in those of X in batches of batch_size.

        X is an array, matrix, dataset, Store, or file (.npy, .npz, .h5ad, .csv …).
        """
        rows = with_length(self._check_rows(X, reset=True))
        sums = None
        for batch in self._batches(rows):
            sums = self._add(sums, batch)
        return self._take(sums)

    def partial_fit(self, X: Any, y: Any = None) -> "IncrementalKernelPCA":
        """Take in rows, of which fit() tells; the first call chooses landmarks and width.

        Raises
        ------
        UsageError
            n_components or the kernel are others than those of the batches before.
        """
        first = not hasattr(self, "_sums")
        for name, before in ({} if first else self._begun).items():
            if getattr(self, name) != before:
                raise usage_error(f"{name}={getattr(self, name)!r}, but earlier batches had "
                                  f"{name}={before!r}; call fit() to start over", name)
        rows = with_length(self._check_rows(X, reset=first))
        return self._take(self._add(None if first else self._sums, rows))

    def _take(self, sums: Any) -> "IncrementalKernelPCA":
        """Keep the sums, with what is told of them."""
        self._sums: Sums = sums
        self._begun = {name: getattr(self, name) for name in FIXED}
        self.n_samples_seen_ = sums.rows
        self.gamma_ = self._sums.report["gamma"]
        return self

    def _batches(self, rows: Any) -> Iterator[Any]:
        """Cut rows into batches, the first of which has landmarks to choose from."""
        (n, d), size = rows.shape, self.batch_size
        wanted = 0 if self.landmarks is not None else most_landmarks(self, n)
        if size is None:
            row_bytes = ENTRY_BYTES * rows.nnz // n if hasattr(rows, "nnz") else 8 * d
            size = max(2, BATCH_BYTES // max(1, int(row_bytes)))
            first = max(size, CHOICE * wanted)
        elif size < 2:
            raise ValueError(f"batch_size={size} is less than 2, too few to choose landmarks from")
        else:
            first = size
            if size < wanted:
                warn(f"batch_size={size} is less than n_landmarks={wanted}, which are chosen in "
                     "the first batch: there are no more landmarks than it has rows")
        starts = [0, *range(min(first, n), n, size)]
        for at, end in zip(starts, [*starts[1:], n]):
            yield rows[at:end]

    def _add(self, sums: Optional[Sums], rows: Any) -> Sums:
        """Add a batch to the sums; None: begin them with it."""
        with renamed(self._parameters):
            if sums is None:
                sums = self._begin(rows)
            return sums.add(rows)

    def _begin(self, rows: Any) -> Sums:
        """Make sums without rows, over landmarks and of the width that a first batch chooses."""
        self.seed_ = self._seed()
        kernel = kernel_options(self, self.kernel)
        names = getattr(self, "feature_names_in_", None)
        known = Columns(None if names is None else list(names), "X", what="landmarks")
        landmarks = known.select(self.landmarks)  # columns in the order of X
        if landmarks is None or "gamma" not in kernel:
            with held_rows(rows, self._context(), self.tmpdir) as store:
                landmarks = self._choose(store, kernel, landmarks)
        dtype = "float64" if rows.dtype == np.float64 else "float32"
        self.landmarks_ = landmarks if _data.is_sparse(landmarks) else np.asarray(landmarks, dtype)
        return Sums(self.landmarks_, dtype=dtype, precision="f64" if dtype == "float64" else "f32",
                    map="kpca", components=self.n_components, memory=self.memory,
                    tmpdir=self.tmpdir, threads=count_threads(self.n_jobs),
                    progress=self.verbose or None, **kernel)

    def _choose(self, store: Store, kernel: Dict[str, Any], landmarks: Any) -> Any:
        """Return the landmarks that are given, or chosen of the store; complete the kernel."""
        if "gamma" not in kernel and has_width(kernel["kernel"]):
            kernel["gamma"] = store.select("width", landmarks=1, seed=self.seed_,
                                           **kernel).report["gamma"]
        if landmarks is not None:
            return landmarks
        options = {} if self.selection == "uniform" else kernel  # which looks at no row
        return store.select("landmarks", landmarks=most_landmarks(self, len(store)),
                            select=self.selection, seed=self.seed_, **options).landmark_points

    # ---- the solution --------------------------------------------------------------------------

    def _solved(self) -> Model:
        """Solve the sums, where rows have come since; AttributeError where there were none."""
        if "_sums" not in self.__dict__:
            raise AttributeError(f"this {type(self).__name__} has seen no rows yet")
        with renamed(self._parameters):
            return self._sums.solve()

    @property
    def report_(self) -> Report:
        """Figures of the fit of all rows so far."""
        solution = self._solved().solution
        assert solution is not None
        return solution

    eigenvalues_ = property(lambda self: np.asarray(self.report_["eigenvalues"]),
                            doc="Eigenvalues of the centred kernel matrix of all rows so far.")
    trace_error_ = property(lambda self: float(self.report_["trace_error"]),
                            doc="Share of the trace of the matrix that the landmarks leave out.")
    _n_features_out = property(lambda self: self._solved().components)

    def transform(self, X: Any) -> Any:
        """Place rows, of any kind that fit() takes, by all that have come so far."""
        check_is_fitted(self, "n_samples_seen_")
        return self._solved().transform(self._check_rows(X, reset=False))
