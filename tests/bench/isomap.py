"""scikit-learn's Isomap, and how far an embedding of ours is from it.

usage: isomap.py fit POINTS.npy T OUT.npy f32|f64    prints seconds
       isomap.py error THEIRS.npy OURS.npy      columns up to their sign: ‖difference‖/‖column‖, the largest
"""
import sys
import time

import numpy as np

if sys.argv[1] == "fit":
    from sklearn.manifold import Isomap

    points = np.load(sys.argv[2]).astype({"f32": np.float32, "f64": np.float64}[sys.argv[5]])
    start = time.time()
    np.save(sys.argv[4], Isomap(n_neighbors=int(sys.argv[3])).fit_transform(points))
    print(f"{time.time() - start:.4g}")
else:
    theirs, ours = np.load(sys.argv[2]), np.load(sys.argv[3]).astype(np.float64)
    ours *= np.sign((theirs * ours).sum(0))
    print(f"{(np.linalg.norm(theirs - ours, axis=0) / np.linalg.norm(theirs, axis=0)).max():.1e}")
