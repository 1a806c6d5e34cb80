"""Principal components of a dense matrix in a file, for the table of tests/bench/wide.

usage: dense.py make ROWS COLUMNS OUT.npy              60 factors that fall, and noise, in f32
       dense.py incremental FILE.npy COUNT VALUES.npy  scikit-learn's IncrementalPCA, 1,000 rows at a time
       dense.py windows FILE.npy COUNT VALUES.npy EXACT.npy ERROR
                                   the algorithm of PCAone (Li, Meisner & Albrechtsen 2023) on a mapped file,
                                   until the error against EXACT.npy is ERROR

VALUES: variances of the components. The solvers print seconds, and MB of the process at most.
"""
import resource
import sys
import time

import numpy as np

BATCH = 1000


def make(rows, columns, path):
    out = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(rows, columns))
    rng = np.random.default_rng(1)
    factors = rng.standard_normal((60, columns), dtype=np.float32) * (0.93 ** np.arange(60, dtype=np.float32))[:, None]
    for first in range(0, rows, BATCH):
        count = min(BATCH, rows - first)
        out[first:first + count] = rng.standard_normal((count, 60), dtype=np.float32) @ factors
        out[first:first + count] += 3 + rng.standard_normal((count, columns), dtype=np.float32)


def incremental(X, count):
    from sklearn.decomposition import IncrementalPCA

    pca = IncrementalPCA(count)
    for first in range(0, len(X) - len(X) % BATCH, BATCH):
        pca.partial_fit(X[first:first + BATCH])
    return pca.explained_variance_


def windows(X, count, exact, error):
    """Each epoch has half as many, and twice as large, windows, after which the basis is renewed."""
    n, d = X.shape
    bands, size = 64, count + 10
    step = -(-n // bands)
    mean = sum(X[first:first + step].sum(0, dtype=np.float64) for first in range(0, n, step)).astype(np.float32) / n
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((d, size), dtype=np.float32))[0]
    window = 1
    while True:
        window = min(2 * window, bands)
        halves = [np.zeros((d, size), np.float32), np.zeros((d, size), np.float32)]
        G = np.empty((n, size), np.float32)
        turn = 0
        for band in range(bands):
            rows = slice(band * step, min((band + 1) * step, n))
            A = X[rows] - mean
            G[rows] = A @ Q
            halves[turn] += A.T @ G[rows]
            if (band + 1) % (window // 2 or 1) == 0 and window < bands:
                Q = np.linalg.qr(halves[0] + halves[1])[0]
                turn = 1 - turn
                halves[turn][:] = 0
        H = halves[0] + halves[1]
        # On the last windows G = AQ for one Q, so that A ≈ G(GᵀG)⁻¹Hᵀ
        if window == bands:
            R = np.linalg.qr(G)[1]
            values = np.linalg.svd(np.linalg.solve(R.T.astype(np.float64), H.T.astype(np.float64)), compute_uv=False)
            found = values[:count] ** 2 / (n - 1)
            if np.max(np.abs(found - exact) / exact) <= error:
                return found
        Q = np.linalg.qr(H)[0]


if __name__ == "__main__":
    what, path = sys.argv[1], sys.argv[2]
    if what == "make":
        make(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
    else:
        X = np.load(path, mmap_mode="r")
        count = int(sys.argv[3])
        began = time.perf_counter()
        if what == "incremental":
            values = incremental(X, count)
        else:
            values = windows(X, count, np.load(sys.argv[5]), float(sys.argv[6]))
        seconds = time.perf_counter() - began
        np.save(sys.argv[4], values)
        print(seconds, round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000))
