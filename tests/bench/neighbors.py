"""Nearest neighbours by pynndescent, hnswlib, faiss and scipy, and the recall of anyone's lists.

usage: neighbors.py TOOL POINTS.npy OUT.npy [SETTING]   prints seconds: index and all queries
       neighbors.py truth POINTS.npy TRUTH.npz          exact distances of 10,000 queries, by hash
       neighbors.py recall LISTS.npy TRUTH.npz POINTS.npy
       neighbors.py table BESIDE.csv                    seconds at a recall, read off the curves

Lists have the 10 nearest of each row, without the row itself. Tools work in two threads, in float32
as they want it, on rows that are in memory; what they compile has been compiled before. A row counts
as found where it is no farther than the tenth nearest, so that ties are nobody's loss.
"""
import csv
import math
import sys
import time

import numpy as np

T, THREADS, QUERIES = 10, 2, 10_000


def without_self(lists):
    """Return the first T of each row that are not the row."""
    other = lists != np.arange(len(lists))[:, None]
    other[other.all(1), -1] = False  # the row was not found at all: the farthest goes
    return lists[other].reshape(len(lists), -1)[:, :T]


def pynndescent(X, setting):
    from pynndescent import NNDescent

    def search(rows):
        return NNDescent(rows, n_neighbors=int(setting), n_jobs=THREADS, random_state=0).neighbor_graph[0]

    search(X[:2000])  # compiles
    return lambda: search(X)


def hnswlib(X, setting):
    import hnswlib

    construction, ef = (int(word) for word in setting.split("/"))

    def search():
        index = hnswlib.Index("l2", X.shape[1])
        index.set_num_threads(THREADS)
        index.init_index(len(X), ef_construction=construction, M=16, random_seed=0)
        index.add_items(X, num_threads=THREADS)
        index.set_ef(ef)
        return index.knn_query(X, T + 1, num_threads=THREADS)[0].astype(np.int64)

    return search


def faiss_ivf(X, setting):
    import faiss

    def search():
        cells = int(4 * math.sqrt(len(X)))
        index = faiss.IndexIVFFlat(faiss.IndexFlatL2(X.shape[1]), X.shape[1], cells)
        index.train(X[np.random.default_rng(0).choice(len(X), min(len(X), 40 * cells), replace=False)])
        index.add(X)
        index.nprobe = int(setting)
        return index.search(X, T + 1)[1]

    faiss.omp_set_num_threads(THREADS)
    return search


def faiss_flat(X, setting):
    import faiss

    def search():
        index = faiss.IndexFlatL2(X.shape[1])
        index.add(X)
        return index.search(X, T + 1)[1]

    faiss.omp_set_num_threads(THREADS)
    return search


def ckdtree(X, setting):
    from scipy.spatial import cKDTree

    X = X.astype(np.float64)
    return lambda: cKDTree(X).query(X, T + 1, workers=THREADS)[1]


TOOLS = {
    "pynndescent": pynndescent,
    "hnswlib": hnswlib,
    "faiss-ivf": faiss_ivf,
    "faiss-flat": faiss_flat,
    "ckdtree": ckdtree,
}


def timed(tool, points, out, setting=""):
    search = TOOLS[tool](np.load(points).astype(np.float32), setting)
    began = time.perf_counter()
    lists = search()
    seconds = time.perf_counter() - began
    np.save(out, without_self(np.asarray(lists)).astype(np.int32))
    print(f"{seconds:.4g}")


def queries_of(n):
    """Return rows by a hash of their number, the same for every tool and run."""
    numbers = np.arange(n, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    numbers ^= numbers >> np.uint64(29)
    return np.sort(np.argsort(numbers * np.uint64(0xBF58476D1CE4E5B9), kind="stable")[:QUERIES])


def distances(X, rows, lists):
    """Return squared distances of rows to those of their lists, in float64."""
    Q = X[rows].astype(np.float64)
    return np.stack([((X[lists[:, t]].astype(np.float64) - Q) ** 2).sum(1) for t in range(lists.shape[1])], 1)


def nearest_by_boxes(X, rows, count):
    from scipy.spatial import cKDTree

    return cKDTree(X.astype(np.float64)).query(X[rows].astype(np.float64), count, workers=THREADS)[1]


def nearest_by_products(X, rows, count):
    """Return the nearest of all in float32, a block of rows at a time."""
    shift = X[rows].astype(np.float64).mean(0).astype(np.float32)
    Q = X[rows].astype(np.float32) - shift
    best, near = np.full((len(rows), count), np.inf, np.float32), np.zeros((len(rows), count), np.int64)
    for first in range(0, len(X), 4096):
        part = X[first:first + 4096].astype(np.float32) - shift
        squares = (part**2).sum(1) - 2 * Q @ part.T
        row, column = np.nonzero(squares < best[:, -1:])
        found = np.bincount(row, minlength=len(rows))
        place = count + np.arange(len(row)) - np.repeat(np.cumsum(found) - found, found)
        wider = ((0, 0), (0, found.max()))
        best, near = np.pad(best, wider, constant_values=np.inf), np.pad(near, wider)
        best[row, place], near[row, place] = squares[row, column], first + column
        order = np.argsort(best, 1)[:, :count]
        best, near = np.take_along_axis(best, order, 1), np.take_along_axis(near, order, 1)
    return near


def truth(points, out):
    X = np.load(points, mmap_mode="r")
    rows = queries_of(len(X))
    near = (nearest_by_boxes if X.shape[1] <= 8 else nearest_by_products)(X, rows, 2 * T + 2)
    other = np.where(near == rows[:, None], np.inf, distances(X, rows, near))
    np.savez(out, rows=rows, tenth=np.sort(other, 1)[:, T - 1])


def recall(lists, truth, points):
    X, known = np.load(points, mmap_mode="r"), np.load(truth)
    rows = known["rows"]
    found = np.array(np.load(lists, mmap_mode="r")[rows], dtype=np.int64)
    near = distances(X, rows, np.maximum(found, 0)) <= known["tenth"][:, None] * (1 + 1e-6)
    print("%.5f" % (near & (found >= 0)).mean())


def at(curve, wanted):
    """Return the seconds at which a curve of (recall, seconds) reaches a recall; NaN: it does not."""
    best = []  # the lower envelope: settings that no other beats in both
    for r, s in sorted(curve, key=lambda point: point[1]):
        if not best or r > best[-1][0]:
            best.append((r, s))
    before = None
    for r, s in best:
        if r >= wanted:
            if before is None:
                return s
            share = (math.log(1 - before[0]) - math.log(1 - wanted)) / (math.log(1 - before[0]) - math.log(max(1 - r, 1e-6)))
            return math.exp(math.log(before[1]) + share * (math.log(s) - math.log(before[1])))
        before = (r, s)
    return math.nan


def curves(path):
    """Return {(data, n): {tool: [(recall, seconds)]}} of the rows of task neighbours."""
    out = {}
    for row in csv.DictReader(open(path)):
        if row["task"] == "neighbours" and row["seconds"] and row["result"]:
            tool = row["tool"].rsplit(" ", 1)[0]
            tools = out.setdefault((row["data"], int(row["n"])), {})
            tools.setdefault(tool, []).append((float(row["result"]), float(row["seconds"])))
    return out


def table(path):
    print("| points | tool | s at recall 0.95 | × nystream | s at recall 0.99 | × nystream |\n| --- | --- | --- | --- | --- | --- |")
    for (data, n), tools in curves(path).items():
        ours = [at(sum((curve for tool, curve in tools.items() if tool.startswith("nystream")), []), r) for r in (0.95, 0.99)]
        for tool, curve in tools.items():
            cells = []
            for wanted, base in zip((0.95, 0.99), ours):
                s = at(curve, wanted)
                cells += [f"{s:.3g}", f"{s / base:.1f}"] if s == s else ["not reached", ""]
            print(f"| {data}, {n:,} | {tool} | {' | '.join(cells)} |")


if __name__ == "__main__":
    OTHER = {"truth": truth, "recall": recall, "table": table}
    OTHER[sys.argv[1]](*sys.argv[2:]) if sys.argv[1] in OTHER else timed(*sys.argv[1:])
