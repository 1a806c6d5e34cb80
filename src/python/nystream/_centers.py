"""Centres of clusters, and the clusters of new rows: those whose centres they are nearest to."""
from __future__ import annotations

from typing import Any

import numpy as np

from nystream._batch import SLICE_ROWS


def centers_of(rows: Any, labels: Any, count: int) -> Any:
    """Return the means of clusters, float64 (count, columns), NaN of one without rows.

    Parameters
    ----------
    rows : array or part of shape (rows, columns)
    labels : int array (rows,), the cluster of each row, below 0 where it has none
    """
    sums, sizes = np.zeros((count, rows.shape[1])), np.zeros((count, 1))
    for at in range(0, len(labels), SLICE_ROWS):
        found = labels[at:at + SLICE_ROWS]
        some = found >= 0
        np.add.at(sums, found[some], rows[at:at + SLICE_ROWS][some])
        np.add.at(sizes, found[some], 1)
    return np.divide(sums, sizes, out=np.full_like(sums, np.nan), where=sizes > 0)


def nearest_centers(rows: Any, centers: Any) -> Any:
    """Return for each row which of the centres it is nearest to; -1 of a row with NaN.

    Centres of NaN, those of clusters without rows, are never nearest.
    """
    distances = np.square(centers).sum(axis=1) - 2 * rows.astype(np.float64) @ centers.T
    distances[np.isnan(distances)] = np.inf
    return np.where(np.isfinite(distances).any(axis=1), np.argmin(distances, axis=1), -1)
