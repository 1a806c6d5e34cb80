"""The script that people write: sample, eigh of W, C, project. All in memory.

usage: nystrom.py IMAGES.gz|POINTS.npy GAMMA M K OUT.npy
"""
import gzip
import sys

import numpy as np

images, gamma, m, k, out = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
if images.endswith(".npy"):
    X = np.load(images)
else:
    X = np.frombuffer(gzip.open(images).read(), np.uint8, offset=16).reshape(-1, 784)
X = X.astype(np.float32)
n = len(X)
D = np.random.default_rng(0).choice(n, m, replace=False)
sq = (X**2).sum(1)
C = np.exp(-gamma * (sq[:, None] + sq[D] - 2 * X @ X[D].T))
W = C[D].astype(np.float64)
C = C - C.mean(1, keepdims=True) - W.mean(0).astype(np.float32) + np.float32(W.mean())
W = W - W.mean(0) - W.mean(1)[:, None] + W.mean()
values, U = np.linalg.eigh(W)
values, U = values[::-1][:k], U[:, ::-1][:, :k]
Y = C @ (U / np.sqrt(values)).astype(np.float32)
np.save(out, Y)
