"""The nearest neighbours of rows, as sparse matrices that other packages take.

`KNeighborsTransformer` follows sklearn.neighbors.KNeighborsTransformer: it stands in front of
sklearn.manifold.Isomap(metric="precomputed") and the like in a pipeline, and gives scanpy, umap and
openTSNE their neighbours. The search is over rows in a store, in bounded memory.
"""
from __future__ import annotations

import warnings
from typing import Any, Dict

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from nystream._batch import matrix_of_lists
from nystream._errors import NystreamWarning
from nystream._estimator import PARAMETERS, STORE, STORED, StoreEstimator, takes
from nystream._options import search_options
from nystream.result import Result
from nystream.store import Store

METRICS = {"minkowski": "euclidean", "l2": "euclidean"}  # other names, as scikit-learn has them


@takes(mode="distance", n_neighbors=5, algorithm="auto", metric="euclidean", **STORED)
class KNeighborsTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, StoreEstimator):
    """The graph of nearest neighbours: sklearn.neighbors.KNeighborsTransformer of rows on disk.

    New rows are compared with all points, which the estimator keeps, and is pickled with.

    Parameters
    ----------
    mode : {"distance", "connectivity"}
        "distance": entries are distances, and a row has n_neighbors + 1 of them, as each row of the
        fit is its own first neighbour, at distance 0. "connectivity": entries are 1, and a row has
        n_neighbors, itself among them.
    n_neighbors : int
    algorithm : {"auto", "exact", "tree", "sieve"}
        How neighbours of the rows of the fit are found. "exact": from all pairs; "tree": the same
        ones, from boxes of rows (dense rows of few columns, euclidean); "sieve": nearly all
        of them; `report_.recall` is their share. "auto" finds all of them for up to 100,000 rows,
        and for any number of rows of up to six columns; else 0.95 of them. It takes whichever way
        is the least work, which `report_.knn` names. New rows get all of their neighbours, too, or
        0.95 of them if that share was asked for in the fit: it is measured on some of the new rows,
        and takes far less time.
    metric : {"euclidean", "cosine"}
    others : see `nystream.estimators`

    Attributes
    ----------
    n_samples_fit_ : int
    """

    _parameters = {**PARAMETERS, "knn": "algorithm"}
    _returned = ["float64"]

    def _more_tags(self) -> Dict[str, Any]:
        return {**super()._more_tags(),
                "_xfail_checks": {"check_methods_sample_order_invariance":
                                  "columns are rows of the fit, in their order"}}

    def __sklearn_tags__(self) -> Any:  # scikit-learn wants both in one class
        return super().__sklearn_tags__()

    def _options(self, n: int, d: int) -> Dict[str, Any]:
        metric = METRICS.get(self.metric, self.metric)
        return {"neighbors": min(self.n_neighbors, n - 1), "metric": metric,
                **search_options(None if self.algorithm == "auto" else self.algorithm, (n, d),
                                 metric)}

    def _make(self, store: Store, options: Dict[str, Any], rows_to: str) -> Result:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "the graph has", NystreamWarning)  # components
            return store.graph(self._name(), **options)

    def _keep(self, result: Result) -> None:
        self.report_, self._placer = result.report, result
        self.n_samples_fit_ = self._n_features_out = int(self.report_["n"])

    def _fit(self, X: Any, rows_to: str = STORE) -> Result:
        if self.mode not in ("distance", "connectivity"):
            raise ValueError(f"mode={self.mode!r} is neither 'distance' nor 'connectivity'")
        return super()._fit(X, rows_to)

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Find the neighbours of the rows of X, and return their graph.

        Returns
        -------
        scipy.sparse.csr_matrix of shape (n_samples, n_samples), float64
            A row's first entry is its own, then come the others, nearest first.
        """
        with self._fitting():
            result = self._fit(X)
            count = self._count() - 1
            shape = (self.n_samples_fit_, count + 1)
            distances, indices = np.zeros(shape), np.empty(shape, np.int64)
            indices[:, 0] = np.arange(shape[0])
            distances[:, 1:] = result.distances[:, :count]
            indices[:, 1:] = result.neighbors[:, :count].view(np.int64)
        return self._matrix(distances, indices)

    def transform(self, X: Any) -> Any:
        """Find the neighbours of new rows among the rows of the fit.

        X is of any kind that fit() takes.

        Returns
        -------
        scipy.sparse.csr_matrix of shape (n_samples, n_samples_fit_), float64
            Entries of a row stand nearest first.

        Raises
        ------
        ValueError
            More neighbours are wanted than there are rows of the fit.
        """
        check_is_fitted(self, "report_")
        rows = self._check_rows(X, reset=False)
        return self._matrix(*self._placer.kneighbors(rows, self._count()))

    def _count(self) -> int:
        """Return the entries of a row."""
        count = self.n_neighbors + (self.mode == "distance")
        if count > self.n_samples_fit_:
            raise ValueError(f"Expected n_neighbors <= n_samples, but n_samples = "
                             f"{self.n_samples_fit_}, n_neighbors = {count}")
        return int(count)

    def _matrix(self, distances: Any, indices: Any) -> Any:
        """Return the graph of these lists; a search may leave the end of a list empty."""
        graph = matrix_of_lists(indices, distances, self.n_samples_fit_)
        if self.mode == "connectivity":
            graph.data[:] = 1
        return graph
