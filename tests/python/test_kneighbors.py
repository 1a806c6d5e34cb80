"""Neighbours of new rows by a graph: all of them, a share, in lots, and what cannot be."""
import numpy as np
import pytest
from conftest import refuses, stored

import nystream

slow = pytest.mark.slow


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_neighbors_of_new_rows(store, rows, metric):
    graph = store.graph("near", neighbors=4, metric=metric)
    new = rows[:300] + np.random.default_rng(1).normal(size=(300, 6)) / 8
    if metric == "cosine":
        a, b = (x / np.linalg.norm(x, axis=1)[:, None] for x in (new, rows))
        all_distances = 1 - a @ b.T
    else:
        all_distances = np.sqrt(((new[:, None] - rows[None]) ** 2).sum(axis=2))
    wanted = np.argsort(all_distances, axis=1)
    for count in (None, 11):
        distances, indices = graph.kneighbors(new, count)
        assert indices.shape == (300, count or 4) and indices.dtype == np.int64
        assert np.array_equal(indices, wanted[:, :count or 4])
        assert np.allclose(distances, np.take_along_axis(all_distances, indices, axis=1),
                           atol=1e-9)
    in_pieces = graph.kneighbors(iter([new[:100], new[100:]]), 11)
    assert np.array_equal(in_pieces[1], indices) and np.array_equal(in_pieces[0], distances)
    distances, indices = graph.kneighbors(rows[50:60], 1)
    assert np.array_equal(indices[:, 0], np.arange(50, 60)) and not distances.any()


@slow
def test_a_share_of_the_neighbors_of_new_rows(tmp_path):
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(3000, 40)).astype(np.float32)
    new = rng.normal(size=(1000, 40)).astype(np.float32)
    wide = stored(tmp_path / "wide.nys", rows)
    graph = wide.graph("near", neighbors=5)
    far, near = graph.kneighbors(new)
    wanted = np.sqrt(((new[:, None].astype(float) - rows[None]) ** 2).sum(axis=2))
    assert np.allclose(far, np.sort(wanted, axis=1)[:, :5], atol=1e-9)
    assert np.allclose(np.take_along_axis(wanted, near, axis=1), far, atol=1e-9)
    some, _ = graph.kneighbors(new, recall=0.8)
    assert 0.8 <= (some <= far[:, -1:]).mean() < 1
    share = wide.graph("share", neighbors=5, knn="sieve", recall=0.8)
    assert np.array_equal(share.kneighbors(new)[0], some)
    assert np.array_equal(share.kneighbors(new, recall=1)[0], far)
    for recall in (0, -1, 1.5, float("nan")):
        refuses(nystream.UsageError, "recall.* is a share", graph.kneighbors, new, recall=recall)


@slow
@pytest.mark.parametrize("columns", [3, 8])
def test_many_new_rows_go_in_lots(tmp_path, columns):
    rng = np.random.default_rng(4)
    store = stored(tmp_path / "s.nys", rng.normal(size=(700, columns)))
    graph = store.graph("near", neighbors=3)
    new = rng.normal(size=(17_000, columns))
    for recall in (1, 0.9):
        far, near = graph.kneighbors(new, recall=recall)
        lots = [graph.kneighbors(lot, recall=recall) for lot in (new[:16_384], new[16_384:])]
        assert np.array_equal(far, np.concatenate([lot[0] for lot in lots]))
        assert np.array_equal(near, np.concatenate([lot[1] for lot in lots]))


def test_neighbors_that_cannot_be(store, result, rows):
    refuses(nystream.UsageError, "'map' has no graph", result.kneighbors, rows[:3], 2)
    graph = store.graph("near", neighbors=4)
    for count in 2001, 0, -1:
        refuses(nystream.UsageError, "", graph.kneighbors, rows[:3], count)
    refuses(nystream.DataError, "5 columns", graph.kneighbors, rows[:3, :5])
    with pytest.raises(nystream.DataError, match="row 2, column 1"):
        graph.kneighbors(np.where(np.arange(18).reshape(3, 6) == 13, np.nan, rows[:3]))
    far = np.tile(rows, (2, 1))  # several units and strips
    far[3500, 4] = 1e300
    refuses(nystream.NumericError, "", graph.kneighbors, far, 2)


@slow
def test_rows_of_thin_cells_have_whole_lists(tmp_path):
    """Codes are sorted into cells, some of which have fewer points than neighbours are wanted."""
    rng = np.random.default_rng(0)
    centers = 40 * rng.normal(size=(50, 16))
    rows, new = (centers[np.arange(count) % 50] + rng.normal(size=(count, 16))
                 for count in (20_000, 3_000))
    store = stored(tmp_path / "s.nys", rows)
    graph = store.graph("near", neighbors=200, knn="sieve", recall=0.8)
    lists = graph.neighbors[:]
    assert lists.max() < 20_000 and np.isfinite(graph.distances[:]).all()
    assert all(len(set(near)) == 200 for near in lists)
    distances, indices = graph.kneighbors(new)
    assert indices.max() < 20_000 and np.isfinite(distances).all()
