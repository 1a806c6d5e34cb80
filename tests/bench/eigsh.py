"""Laplacian eigenmaps by scipy's eigsh, of neighbours and distances that nystream has exported.

usage: eigsh.py lanczos|invert NEIGHBORS.npy DISTANCES.npy P LARGEST

LARGEST: the largest eigenvalue that is wanted. Prints seconds, and the largest residual in shares of it.
"""
import sys
import time

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import eigsh

mode, p, largest = sys.argv[1], int(sys.argv[4]), float(sys.argv[5])
neighbors, distances = np.load(sys.argv[2]), np.load(sys.argv[3]).astype(np.float64)
n, t = neighbors.shape
D = sp.csr_matrix((distances.ravel(), (np.repeat(np.arange(n), t), neighbors.ravel().astype(np.int64))), (n, n))
D = D.maximum(D.T).tocsr()
start = time.time()
A = D.copy()
A.data = np.exp(-A.data**2 / np.median(A.data) ** 2)
root = sp.diags(1 / np.sqrt(np.asarray(A.sum(1)).ravel()))
S = (root @ A @ root).tocsr()
L = (sp.identity(n) - S).tocsc()
if mode == "invert":
    values, U = eigsh(L, p + 1, sigma=-largest / 10, tol=1e-2)
else:
    values, U = eigsh(S, p + 1, which="LA", tol=1e-2 * largest, ncv=6 * p, maxiter=100000)
    values = 1 - values
print(f"{time.time() - start:.4g} {np.linalg.norm(L @ U - U * values, axis=0).max() / values.max():.2g}")
