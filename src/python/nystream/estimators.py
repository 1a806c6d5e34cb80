"""Estimators that follow scikit-learn, on a library that needs neither K nor X in memory.

They take arrays and sparse matrices as scikit-learn does, and also datasets of h5py and zarr, a
nystream.Store, and names of files. A .npy file is mapped and read where it is, .npz and .h5ad are
opened, and all others that Store.append_files() reads, such as .csv and .csv.gz, a pattern, or a
list of names, go to temporary files first. Files with columns that are no coordinates, such as
labels, are read by append_files() and its options: fit the store then. Parameters that all have:

n_landmarks : int or None
    Landmarks of the approximation, at most as many as there are rows; None: 1,000, or as many as
    the accuracy takes.
accuracy : float or str, optional
    A share, 0.01 or "1%", to which each component is to be right: landmarks are added until
    `component_errors_` says so. `n_landmarks` is then the maximum.
selection : {"rpcholesky", "greedy", "uniform", "weighted"}, optional
    How landmarks are chosen; None: the rule that suits the approximation.
landmarks : array, optional
    The landmarks, in place of n_landmarks and selection: points of shape (m, n_features), which
    need not be rows of X, such as centres of clusters; or row numbers, integers of shape (m,).
memory : int or str, optional
    Bytes, or a size such as "8G". It bounds what nystream itself uses: Python, your own arrays and
    the pages of files that you map are not counted. None: half of what is free.
n_jobs : int, optional
    Threads; -1: one per CPU; None: as OPENBLAS_NUM_THREADS or OMP_NUM_THREADS say, else as -1.
random_state : int, RandomState or None
    An int is the seed itself, of which the same call gives the same bytes; else one is drawn. The
    seed is kept as `seed_`.
store, name : path and str, optional
    A store to keep, and the name of the result in it: a fit that was stopped goes on when it is
    called again, and the rows are not appended again. Other rows than the store has are an error.
    With random_state=None a result that is there, finished or not, says the seed.
tmpdir : path, optional
    Folder of temporary files of rows that are not in memory, where no store is named.
verbose : bool or callable
    True: a bar of tqdm; a callable gets a nystream.Progress.

A Store that is fitted has its own budget, threads and progress, unless they are given here. The
kernel "poly" may be written "polynomial", as elsewhere in nystream.

Names of columns of an AnnData, an .h5ad file or a Store are compared as scikit-learn compares those
of a DataFrame: rows to place must have those of the fit in their order, as `adata[:, names]` has.
`Result.transform` and `Model.transform` put them in this order.

float64 rows are fitted and returned in float64. `gamma=None` is 1/median of |x-y|² over pairs of
rows, not 1/n_features as in scikit-learn. After fit, all have `report_`, the figures of the fit,
`seed_`, `n_features_in_`, and of rows whose columns have names `feature_names_in_`.
"""
from __future__ import annotations

from typing import Any, Dict

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels
from sklearn.utils.validation import check_array, check_is_fitted

from nystream import _data
from nystream._data import centers_of, nearest_centers
from nystream._estimator import (FLOATS, KERNEL, LANDMARKS, NEIGHBORS, PARAMETERS, STORED,
                                 StoreEstimator, affinity_options, as_float, has_rows,
                                 kernel_options, landmark_options, most_landmarks,
                                 refuse_landmarks, takes)
from nystream._view import Part
from nystream.result import Result
from nystream.store import Store

WITHOUT_LANDMARKS = ("exact", "randomized")
MUTE = 1 - 1e-6  # the eigenvalue from which an eigenvector of a graph does not place new rows


class Embedder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, StoreEstimator):
    """Base of the estimators that transform."""

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit the rows of X, and return their embedding, (n_samples, n_components).

        Rows of a nystream.Store give a part, which is read when it is indexed.
        """
        return self._embed(X)

    def transform(self, X: Any) -> Any:
        """Place new rows, of any kind that fit() takes: (n_samples, n_components)."""
        return self._place(X)


class KeptEmbedder(Embedder):
    """Base of the estimators that keep the embedding, as `embedding_`."""

    _least_rows = 3

    def fit(self, X: Any, y: Any = None) -> Any:
        """Fit rows: an array, matrix, dataset, Store or file (.npy, .npz, .h5ad, .csv …)."""
        self._embed(X)
        return self

    def _embed(self, X: Any) -> Any:
        self.embedding_ = super()._embed(X)
        return self.embedding_


@takes("n_components", n_components=2, kernel="rbf", **KERNEL, approx="projected", **LANDMARKS,
       **STORED)
class KernelPCA(Embedder):
    """Kernel PCA by landmarks: sklearn.decomposition.KernelPCA of any number of rows.

    Parameters
    ----------
    n_components : int
    kernel : {"rbf", "linear", "laplacian", "matern", "rational_quadratic", "poly", "cosine"}
    gamma, and other parameters of kernels in the signature : of the kernels that have them
        gamma=None is not 1/n_features, but chosen by the rows. For a length scale S it is
        1/(2 S²).
    kernel_params : dict, optional
        Parameters of the kernel, as the command line names them: {"degree": 2}.
    approx : str
        "projected", "nystrom", "column", "orthonystrom" or "ensemble", by landmarks; or of K
        itself: "exact", for small n, "randomized", by products with it, or "gaussian", by one with
        n_landmarks random vectors. The last two place new rows by all rows, which the estimator
        keeps, and is pickled with.
    others : see `nystream.estimators`

    Attributes
    ----------
    eigenvalues_ : array (n_components,), of the centred kernel matrix
    component_errors_ : array (n_components,), the error of each component, about its angle to that
        of all rows in radians (see `Result.component_errors`); None after fit() of rows in memory
        without accuracy=, which places no rows: fit_transform() measures them
    eigenvectors_ : part (n_samples, n_components), of the same, read from the store when it is
        indexed; only of a fit whose store is kept
    gamma_ : float or None
    landmarks_ : array (n_landmarks,), row numbers of the landmarks; None of a method that has none,
        and where points were given
    trace_error_ : float, the share of the trace of K that the landmarks leave out; None where the
        method does not know it
    """

    _may_be_none = ("n_landmarks", "n_components")  # which _options() answers

    def _options(self, n: int, d: int) -> Dict[str, Any]:
        if self.n_components is None:
            raise ValueError("n_components=None: give a number, of at most n_landmarks; with "
                             "all of them the map is as wide as the kernel matrix")
        options = {"map": "kpca", "approx": self.approx, "components": self.n_components,
                   **kernel_options(self, self.kernel)}
        if self.approx not in WITHOUT_LANDMARKS:
            options.update(landmark_options(self, most_landmarks(self, n)))
        else:
            refuse_landmarks(self, f"approx={self.approx!r}")
        return options

    def _keep(self, result: Result) -> None:
        super()._keep(result)
        rows = has_rows(self) and self.approx not in (*WITHOUT_LANDMARKS, "gaussian")
        self.landmarks_ = result.landmarks if rows else None
        self._kept = result if self._held is None else None

    @property
    def eigenvectors_(self) -> Part:
        """Unit eigenvectors of the centred kernel matrix; AttributeError where no store is kept."""
        check_is_fitted(self, "report_")
        if self._kept is None:
            raise AttributeError("the eigenvectors were in no store; give store=PATH to "
                                 "keep them, or divide the embedding by the roots of eigenvalues_")
        return self._kept.part("eigenvectors")


class AxesEmbedder(Embedder):
    """Base of the estimators whose components are directions among the columns."""

    def _check_components(self, count: int, n: int, d: int) -> None:
        if count > min(n, d):
            raise ValueError(f"n_components={count} must be between 1 and min(n_samples, "
                             f"n_features)={min(n, d)}")

    def _keep(self, result: Result) -> None:
        super()._keep(result)
        self.singular_values_ = np.sqrt(self.eigenvalues_)
        dtype = np.float64 if self.report_["precision"] == "f64" else np.float32
        self.components_ = np.ascontiguousarray(result.axes.T, dtype)
        self.mean_ = result.mean.astype(dtype)

    def inverse_transform(self, X: Any) -> Any:
        """Return the rows whose coordinates are given, as near as the components come to them."""
        check_is_fitted(self, "report_")
        X = check_array(X, dtype=FLOATS)
        if X.shape[1] != len(self.components_):
            raise ValueError(f"X has {X.shape[1]} columns, but there are {len(self.components_)} "
                             "components")
        return X @ self.components_ + self.mean_


@takes("n_components", n_components=None, **STORED)
class PCA(AxesEmbedder):
    """Principal components, exactly, of any number of rows on disk or in memory.

    Dense rows of up to 8,192 columns take two passes. Others take ten or more, which find
    eigenvalues to 1e-4 of themselves.

    Parameters
    ----------
    n_components : int or None
        None: as many as min(n_samples, n_features).
    others : see `nystream.estimators`

    Attributes
    ----------
    components_ : array (n_components, n_features)
    mean_ : array (n_features,)
    explained_variance_, explained_variance_ratio_, singular_values_ : arrays (n_components,)
    n_components_, n_samples_ : int
    """

    _may_be_none = ("n_components",)

    def _options(self, n: int, d: int) -> Dict[str, Any]:
        count = min(n, d) if self.n_components is None else self.n_components
        self._check_components(count, n, d)
        return {"map": "pca", "approx": "exact", "components": count}

    def _keep(self, result: Result) -> None:
        super()._keep(result)
        n = int(self.report_["n"])  # the store may have more
        self.n_samples_, self.n_components_ = n, self._n_features_out
        self.explained_variance_ = self.eigenvalues_ / (n - 1)
        self.explained_variance_ratio_ = self.eigenvalues_ / self.report_["trace"]


def column_variances(X: Any, columns: int) -> Any:
    """Return the variance of each column of rows of any kind, which are read once.

    Dense rows are counted from the mean of the first of them, and sparse ones from 0.
    """
    count, origin = 0, np.zeros(columns)
    sums, squares = np.zeros(columns), np.zeros(columns)
    for batch in _data.batches(X)[1]:
        for piece in batch.pieces():
            count += piece.shape[0]
            if _data.is_sparse(piece):
                values = piece.data.astype(np.float64)
                sums += np.bincount(piece.indices, values, columns)
                squares += np.bincount(piece.indices, values ** 2, columns)
                continue
            rows = piece.astype(np.float64)
            if count == len(rows):
                origin = rows.mean(axis=0)
            rows -= origin
            sums += rows.sum(axis=0)
            squares += np.einsum("ij,ij->j", rows, rows)
    return squares / count - (sums / count) ** 2


@takes("n_components", n_components=2, tol=None, **STORED)
class TruncatedSVD(AxesEmbedder):
    """Leading singular vectors of rows that are not centred: latent semantic analysis.

    This is sklearn.decomposition.TruncatedSVD of any number of rows and columns, sparse or dense.
    Passes over the rows, where the vectors are found by these, go on until `tol` is reached.

    Parameters
    ----------
    n_components : int, at most min(n_samples, n_features)
    tol : float, optional
        Relative error of the singular vectors where they are found by passes; None: the library's.
    others : see `nystream.estimators`

    Attributes
    ----------
    components_ : array (n_components, n_features)
    singular_values_ : array (n_components,)
    explained_variance_, explained_variance_ratio_ : arrays (n_components,), of the centred rows
    """

    _reads_rows = True  # their variances are attributes

    def _options(self, n: int, d: int) -> Dict[str, Any]:
        self._check_components(self.n_components, n, d)
        return {"map": "svd", "kernel": "linear", "approx": "exact", "tol": self.tol,
                "components": self.n_components}

    def _store_of(self, X: Any, rows: Any) -> Store:
        self._variance = float(column_variances(rows, self.n_features_in_).sum())
        return super()._store_of(X, rows)

    def _keep(self, result: Result) -> None:
        super()._keep(result)
        self._explain(column_variances(result.embedding, self._n_features_out), self._variance)
        del self._variance

    def _explain(self, variances: Any, whole: float) -> None:
        """Keep the variances of the components, and their shares of that of the rows."""
        self.explained_variance_ = variances
        with np.errstate(divide="ignore", invalid="ignore"):
            self.explained_variance_ratio_ = variances / whole


@takes("kernel", kernel="rbf", **KERNEL, n_components=100, selection=None, landmarks=None, **STORED)
class Nystroem(Embedder):
    """A feature map whose products are the kernel, to the error of the landmarks.

    `n_components` is the number of landmarks and of columns, as for scikit-learn's Nystroem; so is
    the number of landmarks that are given. The columns are turned to the axes of the kernel between
    the landmarks, the widest first, and one pass over the rows is enough: KernelPCA turns them to
    the principal axes of all rows.

    Parameters
    ----------
    kernel, gamma, kernel_params, and what else kernels have : as KernelPCA
    n_components : int, at most as many as there are rows
    others : see `nystream.estimators`

    Attributes
    ----------
    components_ : array (n_components, n_features), the landmarks
    component_indices_ : array (n_components,), their row numbers; None where points were given
    normalization_ : array (n_components, columns), made when it is first read
        transform(X) is k(X, components_) @ normalization_; of float32 rows to about 1e-3.
    eigenvalues_ : array (n_components,), estimates: of the kernel between the landmarks, times
        n_samples / n_components
    gamma_, trace_error_
    """

    _parameters = {**PARAMETERS, "landmarks": "n_components"}

    def _options(self, n: int, d: int) -> Dict[str, Any]:
        given = self.landmarks
        count = min(self.n_components, n) if given is None else np.shape(given)[0]
        options = {"map": "svd", "approx": "nystrom", "components": count,
                   **landmark_options(self, count),
                   **kernel_options(self, self.kernel)}
        if given is None and self.selection is None:
            options["select"] = "rpcholesky"  # approx="nystrom" alone takes any rows
        return options

    def _keep(self, result: Result) -> None:
        super()._keep(result)
        self.component_indices_ = result.landmarks.astype(np.int64) if has_rows(self) else None
        self.components_ = result.landmark_points
        self._normalization: Any = None

    @property
    def normalization_(self) -> Any:
        """Factor of kernel values with the components: the inverse of W, times their places.

        W is the kernel between the components, of the rank that the fit has found.
        """
        check_is_fitted(self, "report_")
        if self._normalization is None:
            D, told = self.components_.astype(np.float64), self._placer.report
            T = self._placer.transform(D)
            W = T @ T.T
            if told["kernel"] in PAIRWISE_KERNEL_FUNCTIONS:  # free of the rounding of T
                W = pairwise_kernels(D, metric=told["kernel"], filter_params=True,
                                     **{name: told[name] for name in KERNEL if name in told})
            values, vectors = np.linalg.eigh(W)
            rank = self.report_["rank_effective"]
            values, vectors = values[-rank:], vectors[:, -rank:]
            self._normalization = (vectors / values) @ (vectors.T @ T)
        return self._normalization


@takes("n_components", n_components=2, affinity="rbf", **KERNEL, n_neighbors=10, **LANDMARKS,
       **STORED)
class SpectralEmbedding(KeptEmbedder):
    """Laplacian eigenmaps, with transform(): sklearn.manifold.SpectralEmbedding.

    Parameters
    ----------
    n_components : int
    affinity : "nearest_neighbors", or a kernel of KernelPCA
        A kernel between all rows, by landmarks; or the graph of nearest neighbours, exactly.
    gamma, kernel_params, and what else kernels have : as KernelPCA
    n_neighbors : int, of the graph
    others : see `nystream.estimators`

    Attributes
    ----------
    embedding_ : array (n_samples, n_components); of a Store a part
    eigenvalues_ : array, with the trivial first one
    """

    def _options(self, n: int, d: int) -> Dict[str, Any]:
        return {"components": self.n_components, **affinity_options(self, n)}


@takes("n_components", n_components=2, t=1, normalize="symmetric", kernel="rbf", **KERNEL,
       **LANDMARKS, **STORED)
class DiffusionMap(KeptEmbedder):
    """Diffusion maps (Coifman and Lafon) of a kernel by landmarks.

    Parameters
    ----------
    n_components : int
    t : float
        Steps of the walk: coordinates are eigenvectors times eigenvalues to this power.
    normalize : {"symmetric", "asymmetric"}
        Eigenvectors of D^-1/2 K D^-1/2, or of the random walk D^-1 K, as Coifman and Lafon have
        them: these are divided by the root of the rows' degrees, and differ where rows lie less
        densely in some places.
    kernel, gamma, kernel_params, and what else kernels have : as KernelPCA
    others : see `nystream.estimators`

    Attributes
    ----------
    embedding_ : array (n_samples, n_components); of a Store a part
    eigenvalues_ : array, with the trivial first one, 1
    gamma_, trace_error_
    """

    def _options(self, n: int, d: int) -> Dict[str, Any]:
        return {"map": "diffusion", "components": self.n_components, "time": as_float("t", self.t),
                "normalize": self.normalize,
                **landmark_options(self, most_landmarks(self, n)),
                **kernel_options(self, self.kernel)}


@takes(n_neighbors=5, n_components=2, metric="euclidean", n_landmarks=1000, selection=None,
       **STORED)
class Isomap(KeptEmbedder):
    """Isomap: sklearn.manifold.Isomap, by landmarks where there are more rows than n_landmarks.

    Components of the graph are joined by their shortest bridges, so that all rows have a place. New
    rows are placed by the points and the graph, which the estimator keeps, and is pickled with.

    Parameters
    ----------
    n_neighbors, n_components : int
    metric : {"euclidean", "cosine"}
    others : see `nystream.estimators`; selection may also be "maxmin"

    Attributes
    ----------
    embedding_ : array (n_samples, n_components); of a Store a part
    eigenvalues_
    """

    def _options(self, n: int, d: int) -> Dict[str, Any]:
        options = {"map": "isomap", "components": self.n_components, "connect": True,
                   "neighbors": min(self.n_neighbors, n - 1), "metric": self.metric}
        landmarks = most_landmarks(self, n)
        if n == landmarks:
            return {**options, "approx": "exact"}
        return {**options, "landmarks": landmarks, "select": self.selection}


@takes("n_clusters", n_clusters=8, affinity="rbf", **KERNEL, n_neighbors=10, n_init=10,
       n_landmarks=1000, selection=None, **STORED)
class SpectralClustering(ClusterMixin, StoreEstimator):
    """Spectral clustering, with predict(): sklearn.cluster.SpectralClustering.

    Rows are embedded by n_clusters - 1 components of the Laplacian of the affinity (of a small
    graph by fewer), a kernel's scaled to length 1, and clustered by k-means. With the constant
    eigenvector, which is no component, these are the n_clusters eigenvectors that clusters have.

    Parameters
    ----------
    n_clusters : int
    affinity, gamma, kernel_params, what else kernels have, n_neighbors : as SpectralEmbedding
    n_init : int, initialisations of k-means
    others : see `nystream.estimators`

    Attributes
    ----------
    labels_ : array (n_samples,), -1 of a row that no landmark reaches
    cluster_centers_ : array (n_clusters, components), in the embedding; NaN of one without rows
    eigenvalues_
    """

    _least_rows = 3
    landmarks = None

    def _options(self, n: int, d: int) -> Dict[str, Any]:
        if self.n_clusters > n:
            raise ValueError(f"n_samples={n} should be >= n_clusters={self.n_clusters}.")
        options = {"components": max(1, min(self.n_clusters, n - 1) - 1),
                   **affinity_options(self, n)}
        if self.affinity != NEIGHBORS:
            options["row_normalize"] = True
        return options

    def fit(self, X: Any, y: Any = None) -> Any:
        """Find clusters of rows: an array, matrix, Store, file (.npy, .npz, .h5ad, .csv …), ….

        They are kept as `labels_`.
        """
        with self._fitting():
            result = self._without_mute_vectors(self._fit(X))
            count = min(self.n_clusters, len(result.embedding))
            self.labels_ = self._find_clusters(result, count)
            self.cluster_centers_ = centers_of(result.embedding, self.labels_, count)
        return self

    def _find_clusters(self, result: Result, count: int) -> Any:
        """Return the cluster of each row, -1 of one without a place. A single one has the rest."""
        if count == 1:
            return np.where(np.isnan(result.embedding[:]).any(axis=1), -1, 0)
        result.evaluate(measures="clusters", clusters=count, n_init=self.n_init, seed=self.seed_)
        return result.clusters[:].astype(np.int64)

    def _without_mute_vectors(self, result: Result) -> Result:
        """Fit again without eigenvectors of a graph that would refuse to place new rows.

        Their eigenvalue is 1, which says nothing of a row by its neighbours; few rows have such.
        """
        told = int(np.sum(self.eigenvalues_[1:] < MUTE))
        if self.affinity != NEIGHBORS or told == self._n_features_out:
            return result
        options = {**self._options(*result.store.shape), "components": max(1, told)}
        precision = self.report_["precision"]
        again = result.store.fit(result.name, restart=True, seed=self.seed_, precision=precision,
                                 **options)
        self._keep(again)
        return again

    def predict(self, X: Any) -> Any:
        """Return the cluster of each row, of any kind that fit() takes, by the nearest centre.

        It is -1 of a row that has no place, as no landmark reaches it.
        """
        return nearest_centers(self._place(X), self.cluster_centers_)
