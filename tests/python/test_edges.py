"""Graphs from elsewhere, compared with scipy.sparse.csgraph, and graphs as sparse matrices."""
import numpy as np
import pytest
import scipy.io
import scipy.sparse
from scipy.sparse import csgraph
from conftest import refuses

import nystream

pytestmark = pytest.mark.filterwarnings("ignore:the graph has")


def random_graph(seed, nodes=300, entries=500):
    """Return entries (i, j, length) of a random graph: loops, repeats and both directions too."""
    random = np.random.default_rng(seed)
    ends = random.integers(0, nodes, (entries, 2))
    ends[: entries // 20, 1] = ends[: entries // 20, 0]
    again = random.integers(0, entries, entries // 10)
    ends = np.concatenate([ends, ends[again], ends[again][:, ::-1]])
    return ends, random.integers(1, 64, len(ends)) / 8


def least(ends, lengths, nodes):
    """Return the symmetric matrix of the shortest of each pair, without loops."""
    found = {}
    for (i, j), length in zip(np.sort(ends, axis=1).tolist(), lengths):
        if i != j:
            found[i, j] = min(length, found.get((i, j), np.inf))
    i, j = np.array(list(found)).T
    half = scipy.sparse.csr_matrix((list(found.values()), (i, j)), (nodes, nodes))
    return half + half.T


def total(ends, weights, nodes):
    """Return affinities: sums of each direction, and the mean of the two where both are there."""
    other = ends[:, 0] != ends[:, 1]
    way = scipy.sparse.coo_matrix((weights[other], ends[other].T), (nodes, nodes)).tocsr()
    both = (way != 0).multiply(way.T != 0)
    return (way + way.T) - (way + way.T).multiply(both) / 2


def write(path, ends, lengths, nodes):
    """Write entries as a file of the format that the name says."""
    if path.suffix == ".mtx":
        scipy.io.mmwrite(path, scipy.sparse.coo_matrix((lengths, ends.T), (nodes, nodes)),
                         symmetry="general")
    else:
        between = {".csv": ",", ".tsv": "\t"}.get(path.suffix, " ")
        path.write_text("".join(f"{i}{between}{j}{between}{length!r}\n"
                                for (i, j), length in zip(ends.tolist(), lengths.tolist())))
    return path


def same_matrix(ours, theirs):
    difference = abs(ours - theirs)
    assert difference.nnz == 0 or difference.max() <= 1e-6 * abs(theirs).max()
    assert ours.nnz == theirs.nnz


@pytest.mark.parametrize("seed, end", [(0, ".txt"), (1, ".csv"), (2, ".mtx"), (3, ".tsv")])
def test_components_and_paths_are_those_of_csgraph(tmp_path, seed, end):
    nodes = 300
    ends, lengths = random_graph(seed)
    store = nystream.open(tmp_path / "g.nys")
    graph = store.graph("g", edges=write(tmp_path / f"e{end}", ends, lengths, nodes), nodes=nodes)
    wanted = least(ends, lengths, nodes)
    same_matrix(graph.graph_matrix(), wanted)
    assert graph.report["self_loops"] == np.sum(ends[:, 0] == ends[:, 1])
    assert graph.report["n"] == nodes and graph.report["edges"] == wanted.nnz // 2
    count, of = csgraph.connected_components(wanted, directed=False)
    ours = graph.part("components")[:]
    assert graph.report["components"] == count == ours.max() + 1
    assert len(set(zip(ours.tolist(), of.tolist()))) == count  # one partition
    far = csgraph.dijkstra(wanted, directed=False)
    random = np.random.default_rng(seed)
    for a, b in random.integers(0, nodes, (20, 2)).tolist():
        if np.isinf(far[a, b]):
            refuses(nystream.DataError, "no path from row", graph.path, a, b)
            continue
        rows, along = graph.path(a, b)
        assert along[-1] == far[a, b]  # eighths add up exactly
        steps = [wanted[i, j] for i, j in zip(rows[:-1], rows[1:])]
        assert np.array_equal(np.cumsum(steps), along[1:])


@pytest.mark.parametrize("seed", [4, 5])
def test_affinities_add_up(tmp_path, seed):
    ends, weights = random_graph(seed)
    store = nystream.open(tmp_path / "g.nys")
    file = write(tmp_path / "e.txt", ends, weights, 300)
    graph = store.graph("g", edges=file, nodes=300, edge_weights="affinity")
    wanted = total(ends, weights, 300)
    same_matrix(graph.graph_matrix(), wanted)
    assert graph.report["edge_values"] == "affinities"


def grid(height=25, width=30):
    """Return the matrix of a grid whose edges have lengths about 1, one direction of each."""
    random = np.random.default_rng(7)
    node = np.arange(height * width).reshape(height, width)
    ends = np.concatenate([np.stack([node[:, :-1].ravel(), node[:, 1:].ravel()], 1),
                           np.stack([node[:-1].ravel(), node[1:].ravel()], 1)])
    return scipy.sparse.csr_matrix((1 + random.random(len(ends)) / 8, ends.T), (node.size,) * 2)


def test_a_matrix_is_taken_and_given_back(tmp_path):
    half = grid()
    store = nystream.open(tmp_path / "g.nys")
    graph = store.graph("g", edges=half)
    same_matrix(graph.graph_matrix(), half + half.T)
    assert graph.graph_matrix().dtype == np.float32 and graph.graph_matrix().has_sorted_indices
    store.graph("g", edges=half)  # is done already
    again = store.graph("h", edges=graph.graph_matrix().tocsc())
    assert (again.graph_matrix() != graph.graph_matrix()).nnz == 0
    refuses(nystream.UsageError, "", store.graph, "g", edges=2 * half)
    with pytest.raises(ValueError, match="a file or a matrix of scipy.sparse, not ndarray"):
        store.graph("k", edges=np.eye(3))
    refuses(nystream.DataError, "", store.graph, "k", edges=-1 * scipy.sparse.eye(3, k=1))
    refuses(nystream.UsageError, "has no points, only graphs", store.fit, "k")
    refuses(nystream.UsageError, "has no neighbors", graph.graph_matrix, both=False)
    assert store.results == ["g", "h"]


def test_maps_are_those_of_the_matrices(tmp_path):
    half = grid(15, 18)
    whole = half + half.T
    store = nystream.open(tmp_path / "g.nys")
    store.graph("g", edges=half)
    store.graph("a", edges=half, edge_weights="affinity")
    nodes = whole.shape[0]
    iso = store.fit("iso", map="isomap", graph="g", approx="exact", components=2)
    squares = csgraph.dijkstra(whole, directed=False) ** 2
    centred = -0.5 * (squares - squares.mean(0) - squares.mean(1)[:, None] + squares.mean())
    assert np.allclose(iso.eigenvalues, np.linalg.eigvalsh(centred)[:-3:-1], rtol=1e-4)
    laplacian = csgraph.laplacian(whole, normed=True).toarray()
    values = np.linalg.eigvalsh(laplacian)[:3]
    eig = store.fit("eig", map="eigenmaps", graph="a", components=2)
    assert np.allclose(eig.part("eigenvalues")[:], values, atol=1e-6)
    assert len(eig.embedding) == nodes and eig.report["edge_weights"] == "affinity"
    diffused = store.fit("dif", map="diffusion", graph="a", components=2)
    assert np.allclose(diffused.part("eigenvalues")[:], 1 - values, atol=1e-6)


def test_a_graph_of_neighbours_is_a_matrix(store, rows):
    graph = store.graph("near", neighbors=4)
    lists = graph.graph_matrix()
    assert np.array_equal(lists.indices[lists.indptr[:-1]], np.arange(2000))
    assert np.array_equal(np.diff(lists.indptr), np.full(2000, 5))
    assert np.array_equal(lists.indices.reshape(2000, 5)[:, 1:], graph.neighbors[:])
    assert np.array_equal(lists.data.reshape(2000, 5)[:, 1:], graph.distances[:])
    limited = store.graph("limited", neighbors=4, max_distance=float(np.median(lists.data)))
    assert limited.graph_matrix().nnz == 2000 + np.isfinite(limited.distances[:]).sum()
    both = graph.graph_matrix(both=True)
    same_matrix(both, lists.maximum(lists.T) - scipy.sparse.diags(lists.diagonal()))
    back = store.graph("back", edges=both)
    assert (back.graph_matrix() != both).nnz == 0 and back.report["n"] == 2000


def test_entries_that_come_more_than_once(tmp_path):
    """The least of lengths counts, as in a file of entries."""
    matrix = scipy.sparse.coo_matrix(([3.0, 1.0, 2.0], ([0, 0, 1], [1, 1, 2])), (3, 3))
    graph = nystream.open(tmp_path / "g.nys").graph("g", edges=matrix)
    assert graph.report.repeats == 1 and graph.path(0, 2)[1][-1] == 3.0


def test_messages_name_the_matrix_as_it_was_given(tmp_path):
    """It is in a temporary file while the call runs, of which nobody knows."""
    store = nystream.open(tmp_path / "g.nys")
    matrix = scipy.sparse.coo_matrix(([3.0, 1.0], ([0, 1], [1, 2])), (3, 3))
    refuses(nystream.DataError, "", store.graph, "g", edges=-matrix)
    refuses(nystream.DataError, "", store.graph, "g", edges=matrix.tocsr()[:2])
    store.graph("g", edges=matrix)
    with pytest.raises(nystream.FileError, match=r"^the matrix that edges= was .* give it again"):
        store.graph("g", restart=True)
    assert store.result("g").path(0, 2)[1][-1] == 4.0
    assert store.graph("g", edges=2 * matrix, restart=True).path(0, 2)[1][-1] == 8.0
