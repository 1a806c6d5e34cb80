"""The estimators of nystream beside those of scikit-learn: time and memory of one call, in Markdown.

usage: scikit.py [ROWS…]                   by default 1797 10000 60000
       scikit.py cell LIBRARY JOB ROWS OUT.npy   seconds and bytes of one call, in a process of its own

1,797 rows are scikit-learn's digits in float64; more are images of Fashion-MNIST (the Debian
package dataset-fashion-mnist) in float32, both with so little noise that no two distances are
equal and neighbours are defined. Both libraries get the same array in the same type, the same
width of the kernel, uniform landmarks, and all CPUs; seconds are those of the call,
after the import and a call on 200 rows that loads what is loaded late. The peak of memory is the
process's less what it had before the call. Each cell is the quicker of two runs, of which the
libraries take turns. Matrices of all pairs that would take more than 16 GB are not begun, and a
cell ends after 300 s.
"""
import gzip
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

IMAGES = Path("/usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz")
GAMMA = {64: 4e-4, 784: 1e-7}  # about 1/median of |x-y|², of pixels to 16 and to 255
LIMIT_S, LIMIT_BYTES, RUNS = 300, 16e9, 2


def rows(count):
    """The first rows of the data of this size."""
    if count <= 1797:
        from sklearn.datasets import load_digits

        pixels = load_digits().data[:count]
    else:
        pixels = np.frombuffer(gzip.open(IMAGES).read(), np.uint8, offset=16).reshape(-1, 784)
        pixels = pixels[:count].astype(np.float32)
    noise = np.random.default_rng(0).random(pixels.shape, pixels.dtype)
    return pixels + noise / 256 * pixels.max()


# ---- jobs: each takes the rows and returns what it has found ------------------------------------


def kernel_pca(library, X):
    if library == "nystream":
        import nystream

        return nystream.KernelPCA(50, gamma=GAMMA[X.shape[1]], approx="exact").fit_transform(X)
    from sklearn.decomposition import KernelPCA

    solver = "auto" if len(X) < 2000 else "arpack"  # both exact
    return KernelPCA(50, kernel="rbf", gamma=GAMMA[X.shape[1]], eigen_solver=solver, random_state=0,
                     n_jobs=-1, copy_X=False).fit_transform(X)


def features(library, X, count, components):
    from sklearn.pipeline import make_pipeline

    if library == "nystream":
        from nystream import PCA, Nystroem

        landmarks = {"selection": "uniform"}  # scikit-learn has no others
    else:
        from sklearn.decomposition import PCA
        from sklearn.kernel_approximation import Nystroem

        landmarks = {}
    return make_pipeline(Nystroem(gamma=GAMMA[X.shape[1]], n_components=count, random_state=0,
                                  **landmarks),
                         PCA(n_components=components, random_state=0)).fit_transform(X)


def kernel_map(library, X):
    """Kernel PCA over 1,000 rows: one estimator here, the two that give the same there."""
    if library != "nystream":
        return features(library, X, 1000, 50)
    import nystream

    return nystream.KernelPCA(50, gamma=GAMMA[X.shape[1]], n_landmarks=1000, selection="uniform",
                              random_state=0).fit_transform(X)


def spectral_embedding(library, X):
    if library == "nystream":
        import nystream

        return nystream.SpectralEmbedding(10, affinity="nearest_neighbors").fit_transform(X)
    from sklearn.manifold import SpectralEmbedding

    return SpectralEmbedding(10, n_neighbors=11, random_state=0, n_jobs=-1).fit_transform(X)


def isomap(library, X):
    if library == "nystream":
        import nystream

        return nystream.Isomap(n_neighbors=10, n_landmarks=10_000).fit_transform(X)
    from sklearn.manifold import Isomap

    return Isomap(n_neighbors=10, n_jobs=-1).fit_transform(X)


def kmeans(library, X):
    if library == "nystream":
        import nystream

        return nystream.SpectralClustering(10, gamma=GAMMA[X.shape[1]], n_init=10,
                                           selection="uniform",
                                           random_state=0).fit(X).labels_
    from sklearn.cluster import KMeans

    Y = features(library, X, 1000, 9)
    return KMeans(10, n_init=10, random_state=0).fit(Y / np.linalg.norm(Y, axis=1)[:, None]).labels_


def whole(n, d):
    """Bytes of a matrix of all pairs in float64."""
    return 8 * n * n


JOBS = {  # name: (words, what is run, bytes that scikit-learn needs at least, both are exact)
    "kpca": ("KernelPCA, 50 components, exact", kernel_pca, whole, True),
    "nystroem-100": ("Nystroem(100)", lambda library, X: features(library, X, 100, 50), None, False),
    "map": ("kernel PCA over 1,000 landmarks, 50 components: here KernelPCA, there Nystroem and PCA",
            kernel_map, None, False),
    "nystroem": ("Nystroem(1,000) and PCA(50), two estimators in both", lambda library, X: features(library, X, 1000, 50),
                 None, False),
    "spectral": ("SpectralEmbedding, 10 neighbours", spectral_embedding, None, False),
    "isomap": ("Isomap, 10 neighbours", isomap, whole, True),
    "kmeans": ("embedding by 1,000 landmarks, and k-means", kmeans, None, False),
}


# ---- cells --------------------------------------------------------------------------------------


def cell(library, job, count, out):
    run = JOBS[job][1]
    X = rows(int(count))
    run(library, X[:200].copy())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    Y = run(library, X)
    seconds = time.perf_counter() - began
    np.save(out, Y)
    print(seconds, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)


def measure(library, job, count, out):
    """Return seconds and bytes of a run, or why there are none."""
    least = JOBS[job][2]
    if library != "nystream" and least and least(count, 0) > LIMIT_BYTES:
        return f"needs {least(count, 0) / 1e9:.1f} GB"
    try:
        said = subprocess.run([sys.executable, __file__, "cell", library, job, str(count), out],
                              capture_output=True, timeout=LIMIT_S, text=True)
    except subprocess.TimeoutExpired:
        return f"not done after {LIMIT_S} s"
    if said.returncode:
        return f"failed: {said.stderr.strip().splitlines()[-1]}"
    return tuple(map(float, said.stdout.split()))


def measure_both(job, count, outs):
    """Return the quickest run of each library, of which each waits while the other runs."""
    best = {}
    for _ in range(RUNS if count < 20_000 else 1):
        for library, out in outs.items():
            found = measure(library, job, count, out)
            if isinstance(found, str) or isinstance(best.get(library), str):
                best[library] = found if isinstance(found, str) else best[library]
            else:
                best[library] = min(found, best.get(library, found))
    return best["nystream"], best["scikit"]


def show(found):
    return found if isinstance(found, str) else f"{found[0]:.3g} s, {found[1] / 1e6:.0f} MB"


def difference(ours, theirs):
    """The largest difference of columns with equal signs, by the largest value."""
    Y, Z = np.load(ours), np.load(theirs)
    Y = Y * np.sign((Y * Z).sum(axis=0))
    return f"{np.abs(Y - Z).max() / np.abs(Z).max():.0e}"


def table(counts):
    print("| job | rows | nystream | scikit-learn | times as fast | largest difference |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = f"{folder}/ours.npy", f"{folder}/theirs.npy"
        for job, (words, _, _, exact) in JOBS.items():
            for count in counts:
                if job == "nystroem-100" and count > 1797:
                    continue
                a, b = measure_both(job, count, {"nystream": ours, "scikit": theirs})
                both = not isinstance(a, str) and not isinstance(b, str)
                print(f"| {words} | {count:,} | {show(a)} | {show(b)} | "
                      f"{f'{b[0] / a[0]:.3g}' if both else '–'} | "
                      f"{difference(ours, theirs) if both and exact else '–'} |", flush=True)


if sys.argv[1:2] == ["cell"]:
    cell(*sys.argv[2:])
else:
    table(list(map(int, sys.argv[1:])) or [1797, 10_000, 60_000])
