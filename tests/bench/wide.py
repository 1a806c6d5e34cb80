"""Spectra of sparse matrices in memory, for the table of tests/bench/wide.

usage: wide.py npz POINTS OUT.npz                        a .libsvm.gz, or .h5ad of counts as log1p of 10⁴ shares
       wide.py SOLVER KIND COUNT POINTS.npz VALUES.npy f32|f64   prints seconds, and MB of the process at most
       wide.py landmarks COUNT POINTS.npz                likewise, of the products with landmarks of a fit
       wide.py error VALUES.npy EXACT.npy                the largest relative error

KIND: cosine (rows of length 1), centred (columns less their means), divided (cosine, over the roots of
the degrees). SOLVER: exactly (arpack, to the end), svds and eigsh (arpack), truncated (scikit-learn's
TruncatedSVD by arpack), of rows of that type. Seconds are those of the solver.
"""
import resource
import sys
import time

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, eigsh, svds


def logarithms(counts):
    """log1p of the rows scaled to a total of 10⁴."""
    X = counts.astype(np.float64)
    X = (sp.diags(1e4 / X.sum(1).A1) @ X).tocsr()
    X.data = np.log1p(X.data)
    return X


def centred(X):
    """X less the means of its columns, as an operator."""
    mean = np.asarray(X.mean(0)).ravel()
    return LinearOperator(X.shape, lambda v: X @ v.ravel() - mean @ v.ravel(), dtype=X.dtype,
                          rmatvec=lambda v: X.T @ v.ravel() - mean * v.sum())


def convert(source, out):
    if source.endswith(".h5ad"):
        import anndata

        X = logarithms(sp.csr_matrix(anndata.read_h5ad(source).X))
    else:
        from sklearn.datasets import load_svmlight_file

        X = load_svmlight_file(source)[0]
    sp.save_npz(out, X.astype(np.float32).tocsr(), compressed=False)


def features(kind, path, dtype):
    """The matrix Z with ZZᵀ decomposed: a sparse one, or an operator."""
    X = sp.load_npz(path).astype(dtype)
    if kind == "centred":
        return centred(X)
    Z = sp.diags(1 / np.sqrt(X.multiply(X).sum(1).A1)) @ X
    if kind == "divided":
        Z = sp.diags(1 / np.sqrt(Z @ np.asarray(Z.sum(0)).ravel())) @ Z
    return Z.tocsr().astype(dtype)


def truncated(Z, count):
    from sklearn.decomposition import TruncatedSVD

    return TruncatedSVD(count, algorithm="arpack").fit(Z).singular_values_ ** 2


def by_rows(Z, count):
    operator = LinearOperator((Z.shape[0],) * 2, lambda v: Z @ (Z.T @ v.ravel()), dtype=Z.dtype)
    return eigsh(operator, count, tol=1e-4)[0]


SOLVERS = {"exactly": lambda Z, count: svds(Z, count, tol=0)[1] ** 2,
           "svds": lambda Z, count: svds(Z, count, tol=0)[1] ** 2, "truncated": truncated, "eigsh": by_rows}


def solve(solver, kind, count, path, out, dtype):
    Z = features(kind, path, {"f32": np.float32, "f64": np.float64}[dtype])
    began = time.perf_counter()
    values = SOLVERS[solver](Z, int(count))
    seconds = time.perf_counter() - began
    np.save(out, np.sort(values.astype(np.float64))[::-1])
    if solver != "exactly":
        print(seconds, round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000))


def landmarks(count, path):
    """Cosines of all rows with landmarks, by 2,048 rows, as often as a Laplacian needs them."""
    Z = features("cosine", path, np.float32)
    chosen = np.sort(np.random.default_rng(0).choice(Z.shape[0], int(count), replace=False))
    began = time.perf_counter()
    D = Z[chosen].T.tocsr()
    for _ in range(3):
        for first in range(0, Z.shape[0], 2048):
            (Z[first:first + 2048] @ D).toarray()
    print(time.perf_counter() - began, round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000))


def error(path, exact):
    wanted = np.load(exact)
    print(f"{np.max(np.abs(np.load(path) - wanted) / wanted):.2g}")


if __name__ == "__main__":
    what = sys.argv[1]
    if what == "npz":
        convert(*sys.argv[2:])
    elif what == "landmarks":
        landmarks(*sys.argv[2:])
    elif what == "error":
        error(*sys.argv[2:])
    else:
        solve(what, *sys.argv[2:])
