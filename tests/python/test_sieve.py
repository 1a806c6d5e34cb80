"""All neighbours by a sieve of codes, which auto takes where that is less work than all pairs."""
import contextlib
import os
import signal
import time

import numpy as np
import pytest

import nystream

pytestmark = pytest.mark.slow
NEIGHBORS = 6


@pytest.fixture(scope="module")
def rows():
    """Rows of many columns in a few dimensions: boxes tell little about them, and codes much."""
    rng = np.random.default_rng(7)
    rows = rng.standard_normal((20_000, 16)) @ rng.standard_normal((16, 640))
    return (rows + 0.1 * rng.standard_normal(rows.shape)).astype(np.float32)


@pytest.fixture(scope="module")
def path(tmp_path_factory, rows):
    """A store of the rows, with the graph "paired" of all pairs."""
    path = tmp_path_factory.mktemp("sieve") / "s.nys"
    store = nystream.open(path)
    store.append(rows)
    store.graph("paired", neighbors=NEIGHBORS, knn="exact")
    return path


def has_the_lists_of_all_pairs(graph, path):
    paired = nystream.open(path).result("paired")
    return (np.array_equal(graph.neighbors[:], paired.neighbors[:])
            and np.array_equal(graph.distances[:], paired.distances[:]))


def test_auto_takes_a_sieve_and_has_the_lists_of_all_pairs(path):
    store = nystream.open(path, memory="1G")
    plan = store.plan(map="isomap", neighbors=NEIGHBORS)
    assert plan["knn"] == "sieve" and "exact" in plan["knn_may_be"]
    graph = store.graph("sifted", neighbors=NEIGHBORS)
    assert graph.report["knn"] == "sieve" and graph.report["recall"] == 1
    assert has_the_lists_of_all_pairs(graph, path)


def test_a_budget_without_room_for_a_sieve_has_all_pairs(path):
    store = nystream.open(path, memory="72M")
    assert store.plan(map="isomap", neighbors=NEIGHBORS)["knn"] == "exact"
    graph = store.graph("little", neighbors=NEIGHBORS)
    assert graph.report["knn"] == "exact"
    assert has_the_lists_of_all_pairs(graph, path)


def test_codes_that_tell_nothing_give_way_to_all_pairs(tmp_path, rows):
    store = nystream.open(tmp_path / "noise.nys", memory="1G")
    store.append(np.random.default_rng(1).standard_normal(rows.shape).astype(np.float32))
    assert store.plan(map="isomap", neighbors=NEIGHBORS)["knn"] == "sieve"
    assert store.graph("near", neighbors=NEIGHBORS).report["knn"] == "exact"


def test_a_sieve_that_was_stopped_gives_way_to_all_pairs_in_a_smaller_budget(path):
    lots = []

    def press(progress):
        """Press Ctrl-C where the first lots of the rows are searched."""
        if progress.stage == "neighbors" and progress.rows_done > 17_000:
            lots.append(progress.rows_done)
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.05)  # the thread that is to hear of it may have no CPU at once

    def is_stopped(name):
        """Return whether the stop came before all lists: where this thread is in time, it does."""
        with contextlib.suppress(KeyboardInterrupt):
            nystream.open(path, memory="1G", threads=1, progress=press).graph(
                name, neighbors=NEIGHBORS)
        report = store.result(name).report
        return report["status"] != "done" and report["stage"] == "neighbors"

    store = nystream.open(path, memory="72M")
    stopped = next(name for name in map("stopped{}".format, range(9)) if is_stopped(name))
    assert lots and store.result(stopped).report["knn"] == "sieve"
    graph = store.graph(stopped, neighbors=NEIGHBORS)
    assert graph.report["knn"] == "exact"
    assert has_the_lists_of_all_pairs(graph, path)
