"""The way of the field from counts of cells to clusters, in memory, for tests/bench/beside cells.

usage: pipeline.py run FILE.h5ad GENES COMPONENTS OUT   prints seconds; GENES: how many, or all
       pipeline.py agreement FILE.h5ad THEIRS OURS      how far two results agree, in words

A transcription of what scanpy does, with what scanpy does it with: rows scaled to 10⁴, log1p, variable
genes (flavor "seurat"), singular vectors of the centred matrix to the end (arpack), 15 neighbours. OUT
is a folder of components.npy, eigenvalues.npy, neighbors.npy and distances.npy. Seconds are from when
the libraries are there until these are written.

Clusters are of either's neighbours, by the graph of UMAP and leidenalg at resolution 1. Where the cells
have a cell_type, k-means' clusters, 10 seeds, are held against it too: scikit-learn's of their
components, and those of `nystream eval` of ours.
"""
import json
import subprocess
import sys
import time
from pathlib import Path

import anndata
import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import svds

from wide import centred, logarithms

sys.path.append(str(Path(__file__).parents[1] / "python"))
from genes import variable  # noqa: E402

NEIGHBORS, SEEDS = 15, 10


def run(path, genes, components, out):
    from sklearn.neighbors import NearestNeighbors

    began = time.perf_counter()
    counts = sp.csr_matrix(anndata.read_h5ad(path).X)
    X = logarithms(counts)
    if genes != "all":
        X = X[:, variable(counts.astype(np.float64), 1e4, int(genes))]
    U, s, _ = svds(centred(X), int(components), tol=0)
    order = np.argsort(-s)
    Y = U[:, order] * s[order]
    distances, neighbors = NearestNeighbors(n_neighbors=NEIGHBORS).fit(Y).kneighbors()
    result = {"components": Y, "eigenvalues": s[order] ** 2, "neighbors": neighbors, "distances": distances}
    for name, values in result.items():
        np.save(out / f"{name}.npy", values)
    print(f"{time.perf_counter() - began:.4g}")


def leiden(part):
    import igraph
    import leidenalg
    from umap.umap_ import fuzzy_simplicial_set

    n = len(part["neighbors"])
    own = np.arange(n)[:, None]  # UMAP has a row among its own neighbours
    graph = fuzzy_simplicial_set(
        np.zeros((n, 1)), NEIGHBORS + 1, np.random.RandomState(0), "precomputed",
        knn_indices=np.hstack([own, part["neighbors"]]).astype(np.int64),
        knn_dists=np.hstack([np.zeros((n, 1)), part["distances"]]).astype(np.float32))[0].tocoo()
    once = graph.row < graph.col
    edges = igraph.Graph(n, np.column_stack([graph.row[once], graph.col[once]]).tolist())
    return leidenalg.find_partition(edges, leidenalg.RBConfigurationVertexPartition,
                                    weights=graph.data[once].tolist(), seed=0).membership


def kmeans_of_theirs(Y, types):
    from sklearn.cluster import KMeans
    from sklearn.metrics import adjusted_rand_score as ari

    k = len(np.unique(types))
    return np.mean([ari(types, KMeans(k, n_init=10, random_state=seed).fit(Y).labels_) for seed in range(SEEDS)])


def kmeans_of_ours(store):
    found = []
    for seed in range(SEEDS):
        report = subprocess.run(["nystream", "eval", store, "map", "--measures", "ari", "--seed", str(seed),
                                 "--json", "-q"], check=True, capture_output=True).stdout
        found.append(json.loads(report)["ari"])
    return np.mean(found)


def agreement(path, theirs, ours):
    from sklearn.metrics import adjusted_rand_score as ari

    names = ("components", "eigenvalues", "neighbors", "distances")
    theirs, mine = ({name: np.load(folder / f"{name}.npy") for name in names} for folder in (theirs, ours))
    P, Q = (np.linalg.qr(part["components"].astype(np.float64))[0] for part in (theirs, mine))
    angle = np.arcsin(min(1, np.linalg.norm(Q - P @ (P.T @ Q), 2)))
    values = np.max(np.abs(np.sqrt(mine["eigenvalues"] / theirs["eigenvalues"]) - 1))
    same = np.mean([len(np.intersect1d(*pair)) for pair in zip(theirs["neighbors"], mine["neighbors"])])
    groups = [leiden(part) for part in (theirs, mine)]
    print(f"largest angle {angle:.1e}; singular values to {values:.1e}; {same / NEIGHBORS:.2%} of neighbours; "
          f"ari of leiden's clusters {ari(*groups):.3f}", end="")
    obs = anndata.read_h5ad(path).obs
    if "cell_type" in obs:
        types = obs["cell_type"].astype(str)
        print(f" (with cell_type: theirs {ari(types, groups[0]):.3f} and ours {ari(types, groups[1]):.3f}; of "
              f"k-means' {kmeans_of_theirs(theirs['components'], types):.4f} and "
              f"{kmeans_of_ours(ours / 's.nys'):.4f})", end="")
    print()


if __name__ == "__main__":
    if sys.argv[1] == "run":
        Path(sys.argv[5]).mkdir(exist_ok=True)
        run(*sys.argv[2:5], Path(sys.argv[5]))
    else:
        agreement(sys.argv[2], *map(Path, sys.argv[3:]))
