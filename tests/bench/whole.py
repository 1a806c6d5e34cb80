"""Kernel PCA of all of K by others.

usage: whole.py points IMAGES.gz N OUT.npy
       whole.py eigsh|sklearn POINTS.npy GAMMA K EIGENVALUES.npy f32|f64
       whole.py errors EXACT.npy OTHER.npy OURS.npy
"""
import gzip
import sys

import numpy as np


def centred_kernel(X, gamma):
    sq = (X**2).sum(1)
    K = X @ X.T
    K *= -2
    K += sq[:, None]
    K += sq
    K *= -gamma
    np.exp(K, out=K)
    mean = K.mean(0)
    K -= mean
    K -= mean[:, None]
    K += mean.mean()
    return K


def errors(exact, other, ours):
    exact, other, ours = (np.load(name) for name in (exact, other, ours))
    print("%.1e and %.1e" % tuple(np.abs(v / exact - 1).max() for v in (other, ours)))


def main(what, *args):
    if what == "errors":
        return errors(*args)
    if what == "points":
        images = np.frombuffer(gzip.open(args[0]).read(), np.uint8, offset=16).reshape(-1, 784)
        return np.save(args[2], images[: int(args[1])])
    X, gamma, k = np.load(args[0]).astype({"f32": np.float32, "f64": np.float64}[args[4]]), float(args[1]), int(args[2])
    if what == "sklearn":
        from sklearn.decomposition import KernelPCA

        pca = KernelPCA(k, kernel="rbf", gamma=gamma, eigen_solver="randomized", random_state=0, copy_X=False)
        pca.fit_transform(X)
        values = pca.eigenvalues_
    else:
        from scipy.sparse.linalg import eigsh

        values = np.sort(eigsh(centred_kernel(X, gamma), k)[0])[::-1]
    np.save(args[3], values)


main(*sys.argv[1:])
