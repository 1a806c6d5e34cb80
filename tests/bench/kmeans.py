"""Lloyd's iterations by scikit-learn from given centres.

usage: kmeans.py ROWS COLUMNS CLUSTERS INITS ITERATIONS POINTS CENTRES f32|f64
"""
import sys
import time
import warnings

import numpy as np
from sklearn.cluster import KMeans

n, p, k, inits, iterations = map(int, sys.argv[1:6])
kind = {"f32": np.float32, "f64": np.float64}[sys.argv[8]]
points = np.fromfile(sys.argv[6], np.float32).reshape(n, p).astype(kind)
centres = np.fromfile(sys.argv[7], np.float32).reshape(inits, k, p).astype(kind)
warnings.simplefilter("ignore")  # that they have not converged
seconds, inertia = 0, []
for start in centres:
    kmeans = KMeans(k, init=start, n_init=1, max_iter=iterations, tol=0, algorithm="lloyd")
    began = time.perf_counter()
    kmeans.fit(points)
    seconds += time.perf_counter() - began
    inertia.append(kmeans.inertia_)
print("%.3f" % seconds, *("%.9g" % value for value in inertia))
