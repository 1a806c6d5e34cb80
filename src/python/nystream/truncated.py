"""TruncatedSVD: the leading singular vectors of the rows as they are, such as of documents."""
from __future__ import annotations

from typing import Any, Dict

import numpy as np

from nystream import _data
from nystream._parameters import STORED, takes
from nystream._sources import give_back
from nystream.estimators import AxesEmbedder
from nystream.result import Result
from nystream.store import Store


def column_variances(X: Any, columns: int) -> Any:
    """Return the variance of each column of rows of any kind, which are read once.

    Dense rows are counted from the mean of the first of them, and sparse ones from 0.
    """
    count, origin = 0, np.zeros(columns)
    sums, squares = np.zeros(columns), np.zeros(columns)
    for batch in _data.batches(X)[1]:
        if batch.indptr is not None:
            values = batch.values.astype(np.float64)
            sums += np.bincount(batch.indices, values, columns)
            squares += np.bincount(batch.indices, values ** 2, columns)
            count += batch.rows
            continue
        for first in range(0, batch.rows, _data.SLICE_ROWS):
            piece = batch.values[first:first + _data.SLICE_ROWS]
            rows = piece.astype(np.float64)
            give_back(piece)
            if count == 0:
                origin = rows.mean(axis=0)
            rows -= origin
            sums += rows.sum(axis=0)
            squares += np.einsum("ij,ij->j", rows, rows)
            count += len(rows)
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
