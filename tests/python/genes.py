"""Scanpy's choice of variable genes, transcribed; scanpy itself is in few distributions."""
import numpy as np
import scipy.sparse


def variable(counts, total, count):
    """The genes of scanpy's highly_variable_genes, flavor "seurat", of counts scaled to a total."""
    n = counts.shape[0]
    X = scipy.sparse.diags(total / np.asarray(counts.sum(axis=1)).ravel()) @ counts
    X = X.astype(np.float32).log1p()
    X.data = np.expm1(X.data.astype(np.float64))
    mean = np.asarray(X.mean(axis=0)).ravel()
    variance = (np.asarray(X.power(2).mean(axis=0)).ravel() - mean ** 2) * n / (n - 1)
    mean[mean == 0] = 1e-12
    dispersion = variance / mean
    dispersion[dispersion == 0] = np.nan
    dispersion, mean = np.log(dispersion), np.log1p(mean)
    edges = np.linspace(mean.min(), mean.max(), 21)  # pandas.cut(mean, 20)
    edges[0] -= (mean.max() - mean.min()) * 0.001
    bins = np.searchsorted(edges, mean, side="left") - 1
    score = np.full(len(mean), -np.inf)
    for i in range(20):
        known = (bins == i) & ~np.isnan(dispersion)
        if known.sum() == 1:
            score[known] = 1
        elif known.any():
            of = dispersion[known]
            score[known] = (of - of.mean()) / of.std(ddof=1)
    return np.sort(np.lexsort((np.arange(len(mean)), -score))[:count])
