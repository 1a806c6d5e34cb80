"""Estimators of rows of Dask: those of one machine, whose chunks the workers sum up and place.

`fit` computes the model: on a sample of all chunks what is to be chosen, then sums on the workers.
`transform` and `predict` of Dask's rows are lazy; rows of all other kinds are placed here.
"""
from __future__ import annotations

import math
from typing import Any, Callable, Dict

import numpy as np
import scipy.sparse
from dask.base import compute
from dask.delayed import delayed
from sklearn.utils.validation import check_is_fitted

from nystream import dask, estimators
from nystream._batch import is_sparse, stored_dtype
from nystream._context import Context
from nystream._data import centers_of, nearest_centers
from nystream._embed import held_rows
from nystream._errors import renamed, usage_error
from nystream._estimator import (KERNEL, LANDMARKS, NEIGHBORS, StoreEstimator, count_threads,
                                 takes)
from nystream._sources import is_dask
from nystream.model import Model
from nystream.report import component_errors

RUN: Dict[str, Any] = {"memory": None, "n_jobs": None, "random_state": None, "tmpdir": None}


class Solution:
    """The result of sums, as far as estimators keep one: their model, and its report."""

    def __init__(self, model: Model, points: Any) -> None:
        assert model.solution is not None
        self._model, self.report, self.landmarks = model, model.solution, points
        self.mean = np.zeros(model.dimensions)  # subtracted before the axes
        self.eigenvalues = np.asarray(self.report["eigenvalues"])

    def model(self) -> Model:
        """Return the model, which places rows of all chunks."""
        return self._model

    @property
    def axes(self) -> Any:
        """The axes of a linear model, as a store has them whose rows it places."""
        nothing: Any = np.zeros((2, self._model.dimensions), "f4")
        if self._model._sparse:
            nothing = scipy.sparse.csr_matrix(nothing)
        with held_rows(nothing, Context(), None) as store:
            return store.fit("placed", model=self._model).axes


class Chunked(StoreEstimator):
    """Base of the estimators of Dask, before the one of one machine that each has for a base."""

    _held: Any = True  # no store is kept

    def fit(self, X: Any, y: Any = None) -> Any:
        """Fit the rows of an array or a frame of Dask, chunk by chunk on the workers."""
        rows = dask._as_array(X)
        X = self._check_rows(X, reset=True)
        self.seed_ = self._seed()
        is_double = stored_dtype(rows.dtype) == np.float64
        n = rows.shape[0] if rows.shape[0] == rows.shape[0] else math.inf
        with renamed(self._parameters):
            options = {"seed": self.seed_, "precision": "f64" if is_double else "f32",
                       "tmpdir": self.tmpdir, **self._options(n, rows.shape[1])}
            if "landmarks_file" in options:
                raise usage_error("landmarks= of Dask's rows are points of shape (m, n_features), "
                                  "not numbers of rows", "landmarks")
            self._fit_chunks(dask._Fit(X, options, self.memory), "f8" if is_double else "f4")
        self.model_: Model = self._placer
        return self

    def _fit_chunks(self, fit: Any, dtype: str) -> None:
        """Sum up the chunks, solve, and keep what the solution tells."""
        model = fit.task(dtype, count_threads(self.n_jobs)).compute()
        points = (fit.chosen or fit.options).get("landmarks_points")
        self._keep(Solution(model, points))  # type: ignore[arg-type]
        if fit.chosen is not None:
            self.component_errors_ = component_errors(fit.chosen)

    def _place(self, X: Any) -> Any:
        """Place rows: those of Dask lazily, as an array of theirs."""
        if not is_dask(X):
            return super()._place(X)
        check_is_fitted(self, "report_")
        return dask.transform(self._placer, self._check_rows(X, reset=False))


class ChunkedEmbedder(Chunked, estimators.Embedder,
                      auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Base of those that transform; scikit-learn would compute what is lazy to wrap it."""

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit the rows of X, and return their embedding, lazily as transform() does."""
        return self.fit(X).transform(X)

    def transform(self, X: Any) -> Any:
        """Place rows, here or, of an array or a frame of Dask, lazily.

        Returns
        -------
        array of shape (n_samples, n_components), or a frame with the index and divisions of X
        """
        if not is_dask(X):
            return super().transform(X)
        if hasattr(X, "numblocks"):
            return self._place(X)
        check_is_fitted(self, "report_")
        X, names = self._check_rows(X, reset=False), self.get_feature_names_out()
        return X.map_partitions(dask._place_part, delayed(self._placer, pure=True), names,
                                meta=dask._place_part(X._meta, self._placer, names))


@takes("n_components", n_components=2, kernel="rbf", **KERNEL, approx="projected", **LANDMARKS,
       **RUN)
class KernelPCA(ChunkedEmbedder, estimators.KernelPCA):
    """Kernel PCA of rows of Dask: see `nystream.dask` and nystream.KernelPCA.

    approx is "projected", "column" or "orthonystrom". `landmarks_` are the points, of shape
    (n_landmarks, n_features); `eigenvalues_` and `trace_error_` are of all rows.
    """

    def _keep(self, result: Any) -> None:
        super()._keep(result)
        self.landmarks_ = result.landmarks  # points, chosen or given


class ChunkedAxes(ChunkedEmbedder, estimators.AxesEmbedder):
    """Base of those whose components are directions: inverse_transform() is lazy, too."""

    _keep_means: Callable[[Any, Any], None]  # takes a solution, means of columns

    def _fit_chunks(self, fit: Any, dtype: str) -> None:
        sums = delayed(sum)([delayed(dask._sum_columns)(block) for block in dask._blocks(fit.X)])
        model, sums = compute(fit.task(dtype, count_threads(self.n_jobs)), sums)
        solution: Any = Solution(model, None)
        self._keep_means(solution, sums / solution.report["n"])

    def inverse_transform(self, X: Any) -> Any:
        """Return the rows whose coordinates are given, lazily for an array or a frame of Dask."""
        if is_dask(X):
            check_is_fitted(self, "report_")
            return dask._as_array(X) @ self.components_ + self.mean_
        return super().inverse_transform(X)


@takes("n_components", n_components=None, **RUN)
class PCA(ChunkedAxes, estimators.PCA):
    """Principal components of dense rows of Dask, exactly: see `nystream.dask` and nystream.PCA.

    Each chunk is computed once. There are at most 8,192 columns.
    """

    def _fit_chunks(self, fit: Any, dtype: str) -> None:
        if is_sparse(getattr(fit.X, "_meta", None)):
            raise ValueError("PCA takes dense chunks; TruncatedSVD takes sparse ones")
        super()._fit_chunks(fit, dtype)

    def _keep_means(self, solution: Any, means: Any) -> None:
        solution.mean = means
        self._keep(solution)


@takes("n_components", n_components=2, **RUN)
class TruncatedSVD(ChunkedAxes, estimators.TruncatedSVD):
    """Leading singular vectors of rows of Dask: see `nystream.dask` and nystream.TruncatedSVD.

    They are exact, of dense or sparse chunks. Each is computed once, and added to sums of 8 d²
    bytes for d columns.
    """

    def _options(self, n: int, d: int) -> Dict[str, Any]:
        self._check_components(self.n_components, n, d)
        return {"map": "svd", "kernel": "linear", "components": self.n_components,
                "landmarks_points": scipy.sparse.identity(d, format="csr")}

    def _keep_means(self, solution: Any, means: Any) -> None:
        super(estimators.TruncatedSVD, self)._keep(solution)
        n = solution.report["n"]
        self._explain(self.eigenvalues_ / n - (self.components_ @ means) ** 2,
                      solution.report["trace"] / n - means @ means)


@takes("kernel", kernel="rbf", **KERNEL, n_components=100, selection=None, landmarks=None, **RUN)
class Nystroem(ChunkedEmbedder, estimators.Nystroem):
    """A feature map whose products are the kernel: see `nystream.dask` and nystream.Nystroem.

    fit() computes a sample of about 16,384 rows of all chunks, or of four for each component, and
    no sums: features are made of the landmarks and the width alone. `eigenvalues_` are estimates
    for all rows, and `report_` and `trace_error_` are of the sample.
    """

    def _fit_chunks(self, fit: Any, dtype: str) -> None:
        fit.of_sample(self._keep)
        self.component_indices_ = None
        self.eigenvalues_ *= fit.sample[1] / self.report_["n"]


@takes("n_clusters", n_clusters=8, affinity="rbf", **KERNEL, n_init=10, n_landmarks=1000,
       selection=None, **RUN)
class SpectralClustering(Chunked, estimators.SpectralClustering):
    """Spectral clustering of rows of Dask: see `nystream.dask` and nystream.SpectralClustering.

    The embedding is that of all rows, with degrees by the landmarks. k-means finds the centres in
    the places of a sample of about 16,384 rows of all chunks, and a row has the cluster whose
    centre it is nearest to. `labels_`, and predict(X), are lazy arrays of Dask. affinity is a
    kernel: the graph "nearest_neighbors" needs all rows in one place.
    """

    def _options(self, n: int, d: int) -> Dict[str, Any]:
        if self.affinity == NEIGHBORS:
            raise ValueError(f"affinity={NEIGHBORS!r} is a graph, which needs all rows in one "
                             "place; nystream.SpectralClustering makes it")
        return {**super()._options(n, d), "averages": "landmarks"}

    def _fit_chunks(self, fit: Any, dtype: str) -> None:
        super()._fit_chunks(fit, dtype)
        model: Model = self._placer
        places = np.concatenate([model.transform(rows) for rows in fit.sample[0]])
        places = places[~np.isnan(places).any(axis=1)]
        count = min(self.n_clusters, len(places))
        with held_rows(places, self._context(), self.tmpdir) as store:
            turned = store.fit("turned", map="svd", kernel="linear", approx="exact",
                               components=places.shape[1])  # distances stay
            self.cluster_centers_ = centers_of(places, self._find_clusters(turned, count), count)

    def fit(self, X: Any, y: Any = None) -> Any:
        """Fit the rows of an array or a frame of Dask; what finds their clusters stays lazy."""
        super().fit(X)
        self.labels_ = self.predict(X)
        return self

    def predict(self, X: Any) -> Any:
        """Return the cluster of each row, -1 of one without a place; lazily of what is of Dask."""
        if not is_dask(X):
            return super().predict(X)
        return self._place(X).map_blocks(nearest_centers, self.cluster_centers_, drop_axis=1,
                                         dtype=np.int64)


for _estimator in (KernelPCA, PCA, TruncatedSVD, Nystroem, SpectralClustering):
    _estimator.__module__ = dask.__name__  # users and pickles find them there
