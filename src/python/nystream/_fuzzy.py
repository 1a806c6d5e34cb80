"""The fuzzy graph of UMAP from lists of neighbours (McInnes, Healy and Melville 2018, section 3.1).

Each row gives its neighbours memberships exp(-(d - rho) / sigma), of which rho is the distance to
the nearest that is not 0, and sigma lets them sum up to log2(k), the row itself not counted; the
graph is the union of what both rows of a pair say. Constants are those of umap-learn.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from nystream._batch import matrix_of_lists

STEPS = 64  # the bisection for sigma takes so many at most
TOLERANCE = 1e-5  # the sum of memberships may be off by so much
LEAST_SCALE = 1e-3  # sigma is at least this part of a mean distance
BLOCK_ROWS = 65_536


def lists_as_csr(lists: Any, values: Any) -> Any:
    """Return a CSR matrix (rows, rows) of lists of column numbers and their values."""
    found = matrix_of_lists(lists, values, len(lists))
    found.sort_indices()
    return found


def _find_sigma(beyond: Any, target: float) -> Any:
    """Return for each row of distances beyond rho the sigma that memberships sum up to target."""
    sigma = np.ones(len(beyond))
    low, high = np.zeros(len(beyond)), np.full(len(beyond), np.inf)
    left = np.arange(len(beyond))
    for _ in range(STEPS):
        sums = np.exp(-np.maximum(beyond[left], 0) / sigma[left, None]).sum(axis=1)
        off = np.abs(sums - target) >= TOLERANCE
        left, above = left[off], sums[off] > target
        if not len(left):
            break
        high[left] = np.where(above, sigma[left], high[left])
        low[left] = np.where(above, low[left], sigma[left])
        middle = (low[left] + high[left]) / 2
        sigma[left] = np.where(np.isinf(middle), 2 * sigma[left], middle)
    return sigma


def _memberships(distances: Any, mean: float) -> Any:
    """Return memberships of the neighbours of some rows; `mean` is that of all distances."""
    count = distances.shape[1] + 1  # the row itself is one
    rho = np.min(distances, axis=1, where=distances > 0, initial=np.inf)
    rho[np.isinf(rho)] = 0
    beyond = distances - rho[:, None]
    sigma = _find_sigma(beyond, float(np.log2(count)))
    means = np.where(rho > 0, distances.sum(axis=1) / count, mean)
    sigma = np.maximum(sigma, LEAST_SCALE * means)
    sigma[sigma == 0] = 1  # all distances are 0
    return np.exp(-np.maximum(beyond, 0) / sigma[:, None])


def fuzzy_union(lists: Any, distances: Any) -> Any:
    """Return the connectivities of UMAP and scanpy.

    Parameters
    ----------
    lists : int array (rows, k - 1), numbers of the nearest neighbours, without the row itself
    distances : array (rows, k - 1), ascending in each row

    Returns
    -------
    scipy.sparse.csr_matrix (rows, rows), float32, symmetric
    """
    mean = float(distances.mean(dtype=np.float64)) * distances.shape[1] / (distances.shape[1] + 1)
    told = np.empty(distances.shape)
    for first in range(0, len(lists), BLOCK_ROWS):
        block = slice(first, first + BLOCK_ROWS)
        told[block] = _memberships(distances[block].astype(np.float64), mean)
    directed = lists_as_csr(lists, told)  # its column numbers are `lists`, which others may share
    other = directed.T.tocsr()
    union = (directed + other - directed.multiply(other)).tocsr().astype(np.float32)
    union.eliminate_zeros()
    return union
