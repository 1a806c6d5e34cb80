"""Runs scikit-learn for the benchmark beside nystream, and judges points and results.

usage: beside.py TOOL POINTS.npy OUT.npy f32|f64 [GAMMA]   prints seconds, and the inertia of kmeans
       beside.py squares OUT                       the sum of squares of an embedding, .npy or .csv
       beside.py flat OUT FLAT.npy                 the share of these coordinates that it explains
       beside.py sample POINTS.npy OUT.npy N       N rows at equal distances, columns standardised
       beside.py text POINTS.npy OUT.csv

Seconds are from when the libraries are there until the result is written. Rows are float32, or
float64: that is what scikit-learn makes of bytes, in twice the memory. It may use all CPUs where that
helps, and spares what copies it can. PCA is by covariance_eigh, its best for many rows of few columns,
which scikit-learn has from 1.5 on; before that by its randomized and its full solver (pca-full).
"""
import sys
import time

import numpy as np

COMPONENTS, LANDMARKS, NEIGHBORS, CLUSTERS = 50, 1000, 10, 10
TYPES = {"f32": np.float32, "f64": np.float64}
dtype = np.float32


def rows(path):
    return np.load(path, mmap_mode="r").astype(dtype)


def best_solver():
    from sklearn.decomposition import PCA

    return "covariance_eigh" if "covariance_eigh" in PCA.__doc__ else "randomized"


def nystroem(path, gamma):
    from sklearn.decomposition import PCA
    from sklearn.kernel_approximation import Nystroem

    def run():
        landmarks = Nystroem(gamma=float(gamma), n_components=LANDMARKS, random_state=0)
        components = PCA(COMPONENTS, svd_solver=best_solver(), copy=False, random_state=0)
        return components.fit_transform(landmarks.fit_transform(rows(path)))

    return run


def kernel_pca(path, gamma, solver):
    from sklearn.decomposition import KernelPCA

    return lambda: KernelPCA(
        COMPONENTS, kernel="rbf", gamma=float(gamma), eigen_solver=solver, random_state=0, n_jobs=-1, copy_X=False
    ).fit_transform(rows(path))


def pca(path, solver=None):
    from sklearn.decomposition import PCA

    return lambda: PCA(COMPONENTS, svd_solver=solver or best_solver(), copy=False, random_state=0).fit_transform(rows(path))


def incremental_pca(path):
    """Out of core, as its documentation has it: the points are mapped, batches are of its default size."""
    from sklearn.decomposition import IncrementalPCA
    from sklearn.utils import gen_batches

    def run():
        X, pca = np.load(path, mmap_mode="r"), IncrementalPCA(COMPONENTS, copy=False)
        batches = list(gen_batches(len(X), 5 * X.shape[1], min_batch_size=COMPONENTS))
        for batch in batches:
            pca.partial_fit(X[batch].astype(dtype))
        return np.vstack([pca.transform(X[batch].astype(dtype)) for batch in batches])

    return run


def isomap(path):
    from sklearn.manifold import Isomap

    return lambda: Isomap(n_neighbors=NEIGHBORS, n_jobs=-1).fit_transform(rows(path))


def spectral(path, solver, tolerance):
    from sklearn.manifold import SpectralEmbedding

    def run():
        X = rows(path)
        return SpectralEmbedding(
            10, affinity="nearest_neighbors", eigen_solver=solver, eigen_tol=tolerance(len(X)), random_state=0,
            n_neighbors=NEIGHBORS + 1, n_jobs=-1,  # a row is among its own neighbours there
        ).fit_transform(X)

    return run


def kmeans(path):
    from sklearn.cluster import KMeans

    def run():
        groups = KMeans(CLUSTERS, n_init=10, random_state=0).fit(rows(path))
        return groups.labels_, groups.inertia_

    return run


TOOLS = {
    "nystroem": nystroem,
    "kernel-pca-randomized": lambda path, gamma: kernel_pca(path, gamma, "randomized"),
    "kernel-pca-arpack": lambda path, gamma: kernel_pca(path, gamma, "arpack"),
    "pca": pca,
    "pca-full": lambda path: pca(path, "full"),
    "incremental-pca": incremental_pca,
    "isomap": isomap,
    # Not lobpcg's own tolerance: eigenvalues of a surface fall as 1/n, and so residuals have to.
    "spectral-lobpcg": lambda path: spectral(path, "lobpcg", lambda n: 1 / n),
    "spectral-arpack": lambda path: spectral(path, "arpack", lambda n: "auto"),
    "kmeans": kmeans,
}


def rows_of(path):
    return np.loadtxt(path, delimiter=",") if path.endswith(".csv") else np.load(path, mmap_mode="r")


def squares(path):
    Y = rows_of(path)
    parts = np.array_split(Y, len(Y) // 65536 + 1)
    print(sum(float((part.astype(np.float64) ** 2).sum()) for part in parts))


def flat(path, truth):
    """Regress the truth on the rows: the share of its squares left over, of the worse column."""
    Y, F = (np.array(rows_of(name), np.float64) for name in (path, truth))
    Y, F = Y - Y.mean(0), F - F.mean(0)
    left = F - Y @ np.linalg.lstsq(Y, F, rcond=None)[0]
    print("%.4f" % (1 - (left**2).sum(0) / (F**2).sum(0)).min())


def sample(path, out, n):
    X = np.load(path)
    X = X[np.linspace(0, len(X) - 1, int(n)).astype(int)].astype(np.float64)
    np.save(out, ((X - X.mean(0)) / X.std(0)).astype(np.float32))


def text(path, out):
    np.savetxt(out, np.load(path), "%.9g", ",")


def timed(tool, path, out, kind, *gamma):
    global dtype
    dtype = TYPES[kind]
    run = TOOLS[tool](path, *gamma)
    began = time.perf_counter()
    Y = run()
    Y, more = Y if isinstance(Y, tuple) else (Y, "")
    np.save(out, Y)
    print(f"{time.perf_counter() - began:.4g}", more)


HELPERS = {"squares": squares, "flat": flat, "sample": sample, "text": text}
HELPERS[sys.argv[1]](*sys.argv[2:]) if sys.argv[1] in HELPERS else timed(*sys.argv[1:])
