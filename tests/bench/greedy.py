"""Algorithm 1 of Ouimet & Bengio (2005) written literally, one point at a time, on one thread: in f64 with M⁻¹ kept by
eq. 9, dgemv + dsymv; in f32 with L, sgemv + strsv.

usage: greedy.py IMAGES.gz GAMMA TOLERANCE [LANDMARKS.npy…]      GAMMA for bytes as they are

Prints the seconds of both, and fails where landmarks of a file are not those found in f64.
"""
import ctypes
import gzip
import os
import sys
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy as np  # noqa: E402: behind the number of threads

ROW_MAJOR, NO_TRANS, NON_UNIT, LOWER, MOST = 101, 111, 131, 122, 6000
blas = ctypes.CDLL("libopenblas.so.0")


def at(array):
    return ctypes.c_void_p(array.ctypes.data)


def literal(X, gamma, tolerance):
    """The rows that are landmarks, and the seconds."""
    is_f64, d, m, found = X.dtype == np.float64, X.shape[1], 0, []
    real = ctypes.c_double if is_f64 else ctypes.c_float
    gemv = blas.cblas_dgemv if is_f64 else blas.cblas_sgemv
    square, landmarks = np.zeros((MOST, MOST), X.dtype), np.empty((MOST, d), X.dtype)  # square: M⁻¹ or L
    norms, k, a = np.empty(MOST, X.dtype), np.empty(MOST, X.dtype), np.empty(MOST, X.dtype)
    row, squared = X.ctypes.data, (X * X).sum(1)
    at_square, at_landmarks, at_k, at_a, one, none = at(square), at(landmarks), at(k), at(a), real(1), real(0)
    gamma = X.dtype.type(gamma)
    start = time.perf_counter()
    for i in range(len(X)):
        delta = 1.0
        if m:
            gemv(ROW_MAJOR, NO_TRANS, m, d, one, at_landmarks, d, ctypes.c_void_p(row), 1, none, at_k, 1)
            near = k[:m]
            near[:] = np.exp(-gamma * np.maximum(squared[i] + norms[:m] - 2 * near, 0))
            if is_f64:
                blas.cblas_dsymv(ROW_MAJOR, LOWER, m, one, at_square, MOST, at_k, 1, none, at_a, 1)
                delta -= near @ a[:m]
            else:
                blas.cblas_strsv(ROW_MAJOR, LOWER, NO_TRANS, NON_UNIT, m, at_square, MOST, at_k, 1)
                delta -= float(near @ near)
        row += d * X.itemsize
        if delta <= tolerance:
            continue
        if is_f64:
            a[m] = -1
            blas.cblas_dsyr(ROW_MAJOR, LOWER, m + 1, real(1 / delta), at_a, 1, at_square, MOST)
        else:
            square[m, :m], square[m, m] = k[:m], np.sqrt(delta)
        landmarks[m], norms[m] = X[i], squared[i]
        found.append(i)
        m += 1
    return found, time.perf_counter() - start


X = np.frombuffer(gzip.open(sys.argv[1]).read(), np.uint8, offset=16).reshape(-1, 784).astype(np.float64)
X -= X.mean(0)
runs = [literal(rows, float(sys.argv[2]), float(sys.argv[3])) for rows in (X, X.astype(np.float32))]
print("%.3f %.3f" % (runs[0][1], runs[1][1]))
for file in sys.argv[4:]:
    if not np.array_equal(np.load(file).ravel(), runs[0][0]):
        sys.exit(f"greedy.py: {file} has other landmarks than the literal algorithm in f64")
