"""Neighbours of new rows by pynndescent, hnswlib, faiss and the Python package, and their recall.

usage: queries.py split IMAGES-IDX.GZ NEW-IDX.GZ OUT     floats: OUT.points.npy, OUT.new.npy
       queries.py TOOL POINTS.npy NEW.npy OUT.npy SETTING...
           prints setting, the least seconds of three searches, and recall, a line each; OUT.npy has the truth
       queries.py recall NUMBERS.npy POINTS.npy NEW.npy OUT.npy

Each row has T nearest. An index is made, and what a tool compiles is compiled, before the seconds
begin; those of nystream hold all of it: reading the points from the store, and their codes. A row
counts as found where it is no farther than the T-th nearest.
"""
import gzip
import sys
import time

import numpy as np

T, THREADS = 10, 2


def split(points, new, out):
    for path, name in ((points, "points"), (new, "new")):
        pixels = np.frombuffer(gzip.open(path).read(), np.uint8, offset=16).reshape(-1, 784)
        np.save(f"{out}.{name}.npy", pixels.astype(np.float32))


def hnswlib(X, Q):
    import hnswlib

    index = hnswlib.Index("l2", X.shape[1])
    index.set_num_threads(THREADS)
    index.init_index(len(X), ef_construction=200, M=16, random_seed=0)
    index.add_items(X, num_threads=THREADS)

    def search(setting):
        index.set_ef(int(setting))
        return index.knn_query(Q, T, num_threads=THREADS)[0]

    return search


def pynndescent(X, Q):
    from pynndescent import NNDescent

    index = NNDescent(X, n_neighbors=30, n_jobs=THREADS, random_state=0)
    index.prepare()
    index.query(Q[:100], T)  # compiles
    return lambda setting: index.query(Q, T, epsilon=float(setting))[0]


def faiss_ivf(X, Q):
    import faiss

    faiss.omp_set_num_threads(THREADS)
    cells = int(4 * len(X) ** 0.5)
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(X.shape[1]), X.shape[1], cells)
    index.train(X)
    index.add(X)

    def search(setting):
        index.nprobe = int(setting)
        return index.search(Q, T)[1]

    return search


def faiss_flat(X, Q):
    import faiss

    faiss.omp_set_num_threads(THREADS)
    index = faiss.IndexFlatL2(X.shape[1])
    index.add(X)
    return lambda setting: index.search(Q, T)[1]


def python(X, Q):
    import tempfile

    import nystream

    folder = tempfile.mkdtemp()
    store = nystream.open(folder + "/points.nys", threads=THREADS)
    store.append(X)
    graph = store.graph("near", neighbors=T, knn="sieve")
    return lambda setting: graph.kneighbors(Q, T, recall=float(setting))[1]


TOOLS = {"hnswlib": hnswlib, "pynndescent": pynndescent, "faiss-ivf": faiss_ivf,
         "faiss-flat": faiss_flat, "python": python}


def recall(lists, X, Q, truth):
    """Return the share of the neighbours that lists have; `truth` keeps the T-th distances."""
    try:
        last = np.load(truth)
    except FileNotFoundError:
        import faiss

        near = faiss.IndexFlatL2(X.shape[1])
        near.add(X)
        last = measure(near.search(Q, 3 * T)[1], X, Q)
        last = np.sort(last, axis=1)[:, T - 1]
        np.save(truth, last)
    return (measure(lists.astype(np.int64), X, Q) <= last[:, None] * (1 + 1e-9)).mean()


def measure(lists, X, Q):
    """Return squared distances in float64."""
    return np.stack([((X[lists[:, t]].astype(np.float64) - Q) ** 2).sum(1)
                     for t in range(lists.shape[1])], 1)


def main(what, *words):
    if what == "split":
        split(*words)
    elif what == "recall":
        lists, points, new, truth = words
        print(f"{recall(np.load(lists), np.load(points), np.load(new), truth):.4f}")
    else:
        points, new, truth, *settings = words
        X, Q = np.load(points), np.load(new)
        search = TOOLS[what](X, Q)
        for setting in settings:
            seconds = []
            for _ in range(3):
                began = time.perf_counter()
                lists = search(setting)
                seconds.append(time.perf_counter() - began)
            seconds = min(seconds)
            print(setting, f"{seconds:.4g}", f"{recall(lists, X, Q, truth):.4f}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
