"""Nystroem + PCA of scikit-learn, and how far embeddings' eigenvalues are from another's.

usage: nystroem.py IMAGES.gz GAMMA M P OUT.npy f32|f64
       nystroem.py errors EXACT.npy OTHER.npy…
"""
import gzip
import sys

import numpy as np


def errors(exact, *others):
    def eigenvalues(name):  # sums of squares: scalar products of the columns
        return (np.load(name).astype(np.float64) ** 2).sum(0)

    print(", ".join("%.1e" % np.abs(eigenvalues(name) / eigenvalues(exact) - 1).max() for name in others))


def fit(images, gamma, m, p, out, kind):
    from sklearn.decomposition import PCA
    from sklearn.kernel_approximation import Nystroem

    X = np.frombuffer(gzip.open(images).read(), np.uint8, offset=16).reshape(-1, 784)
    X = X.astype({"f32": np.float32, "f64": np.float64}[kind])
    best = "covariance_eigh" if "covariance_eigh" in PCA.__doc__ else "randomized"  # the first from 1.5 on
    features = Nystroem(kernel="rbf", gamma=float(gamma), n_components=int(m), random_state=0).fit_transform(X)
    np.save(out, PCA(int(p), svd_solver=best, copy=False, random_state=0).fit_transform(features).astype(np.float32))


errors(*sys.argv[2:]) if sys.argv[1] == "errors" else fit(*sys.argv[1:])
