"""Nystroem + PCA of scikit-learn.

usage: nystroem.py IMAGES.gz GAMMA M P OUT.npy
"""
import gzip
import sys

import numpy as np
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import Nystroem

images, gamma, m, p, out = sys.argv[1:]
X = np.frombuffer(gzip.open(images).read(), np.uint8, offset=16).reshape(-1, 784).astype(np.float64)
features = Nystroem(kernel="rbf", gamma=float(gamma), n_components=int(m), random_state=0).fit_transform(X)
np.save(out, PCA(int(p), random_state=0).fit_transform(features).astype(np.float32))
