"""The yardsticks of fits and graphs: their matrix products alone, on random data of the same shapes in memory.

usage: products.py METHOD N D M P [K [TIMES]]   or   products.py pairs N D      seconds, on one line

nystrom: kernel and projection products over all rows, and those of the randomized inner solver (K + 5 columns,
q = 2; K is P if not given). projected: kernel products of two passes and those of the projection, the tile Grams,
and the exact eigenproblem of size M for P pairs. implicit: projected with the kernel products of one more pass, for
degrees. gram32, gram64: the tile Grams in that precision and the eigenproblem alone. pairs: the products of all pairs
of rows, n²/2 of them. What is done for each row is counted TIMES times: a share of the rows then stands for all.
"""
import sys
import time

import numpy as np
from scipy.linalg import blas, eigh

TILE, OVERSAMPLE, PRODUCTS = 2048, 5, 3
KERNELS = {"nystrom": 1, "projected": 2, "implicit": 3, "gram32": 0, "gram64": 0}


def random(rows, columns, dtype=np.float32):
    return np.random.default_rng(1).random((rows, columns), dtype) - dtype(0.5)


def gram(C, G):
    """Adds CᵀC of rows in C order to a triangle of G, in its place."""
    syrk = blas.ssyrk if C.dtype == np.float32 else blas.dsyrk
    assert np.shares_memory(syrk(1, C.T, 1, G, overwrite_c=True), G)


def of_rows(method, n, d, m, p):
    kind = np.float64 if method == "gram64" else np.float32
    X, D, C, P, Y = random(TILE, d), random(m, d), random(TILE, m, kind), random(m, p), random(TILE, p)
    G = None if method == "nystrom" else random(m, m, kind).T
    start = time.perf_counter()
    for first in range(0, n, TILE):
        rows = min(TILE, n - first)
        for _ in range(KERNELS[method]):
            np.matmul(X[:rows], D.T, out=C[:rows])
        if G is not None:
            gram(C[:rows], G)
        if KERNELS[method]:
            np.matmul(C[:rows], P, out=Y[:rows])
    return time.perf_counter() - start


def once(method, m, p, k):
    W = random(m, m, np.float64)
    Q, Z, B = random(m, k + OVERSAMPLE, np.float64), np.empty((m, k + OVERSAMPLE)), np.empty((k + OVERSAMPLE,) * 2)
    if method != "nystrom":
        W = W.T + m * np.eye(m)
    start = time.perf_counter()
    if method == "nystrom":
        for _ in range(PRODUCTS):
            np.matmul(W, Q, out=Z)
        np.matmul(Q.T, Z, out=B)
        np.matmul(Q, B[:, :k])
    else:
        eigh(W, subset_by_index=[m - p, m - 1], driver="evr", overwrite_a=True, check_finite=False)
    return time.perf_counter() - start


def pairs(n, d):
    X, V = random(n, d), np.empty((TILE, TILE), np.float32)
    start = time.perf_counter()
    for p in range(0, n, TILE):
        for u in range(p, n, TILE):
            np.matmul(X[u : u + TILE], X[p : p + TILE].T, out=V[: min(TILE, n - u), : min(TILE, n - p)])
    return time.perf_counter() - start


sizes = list(map(int, sys.argv[2:7]))
if sys.argv[1] == "pairs":
    print("%.4f" % pairs(*sizes))
else:
    of_rows(sys.argv[1], TILE, *sizes[1:4])  # warm up
    seconds = of_rows(sys.argv[1], *sizes[:4])
    times = float(sys.argv[7]) if len(sys.argv) > 7 else 1
    print("%.4f" % (times * seconds + once(sys.argv[1], sizes[2], sizes[3], sizes[-1])))
