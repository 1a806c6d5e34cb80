"""Results that are made anew, here and elsewhere, while they are held."""
import pickle

import numpy as np
import pytest

import nystream

pytestmark = pytest.mark.slow
FIT = {"landmarks": 40, "restart": True}


def elsewhere(store):
    """Open the store as another program would."""
    return nystream.open(store.path)


def test_new_rows_are_placed_by_the_fit_that_there_is(store, result, rows):
    assert result.transform(rows[:1000]).shape == (1000, 3)
    for components in (40, 2):
        anew = elsewhere(store).fit("map", components=components, **FIT)
        places = result.transform(rows[:1000])
        assert places.shape == (1000, components)
        assert np.array_equal(places, anew.transform(rows[:1000]))
        assert result.report.components == components


def test_rows_of_two_fits_are_not_mixed(store, result):
    part = result.embedding
    before = part[:]
    elsewhere(store).fit("other", landmarks=40)
    elsewhere(store).result("map").evaluate(clusters=3)
    assert np.array_equal(part[:], before)
    elsewhere(store).fit("map", components=5, **FIT)
    for read in (lambda: part[:], lambda: part[[5, 2]], lambda: next(part.batches()),
                 lambda: np.asarray(part), lambda: result.residuals, lambda: result.eigenvalues):
        with pytest.raises(nystream.UsageError):
            read()
    assert store.result("map").embedding[:].shape == (2000, 5)


def test_a_report_is_of_the_fit_whose_parts_are_read(store, result):
    held = store.result("map")  # no part of it was read
    elsewhere(store).fit("map", components=5, **FIT)
    for read in lambda: held.embedding, lambda: held.eigenvalues:
        with pytest.raises(nystream.UsageError, match="open it again$"):
            read()
    assert held.report.components == 3
    anew = store.result("map")
    assert anew.report.components == anew.embedding.shape[1] == 5


def test_a_report_has_the_rows_of_an_update_elsewhere(store, result, rows):
    held = store.result("map")
    there = elsewhere(store)
    there.append(rows[:50])
    there.result("map").update("frozen")
    assert held.report.n == 2000
    assert len(held.embedding) == held.report.n == 2050


def test_rows_that_a_frozen_update_has_placed_have_no_residual(store, rows):
    result = store.fit("near", landmarks=50, select="greedy")
    before = result.residuals[:]
    assert np.isfinite(before).all()
    store.append(rows[:50])
    after = result.update("frozen").residuals[:]
    assert np.array_equal(after[:2000], before) and np.isnan(after[2000:]).all()
    assert np.isfinite(result.residuals[1990:2000]).all()
    measured = result.update("full").residuals[:]
    assert len(measured) == 2050 and np.isfinite(measured).all()


@pytest.mark.parametrize("mode", ["frozen", "full"])
def test_rows_from_before_an_update_elsewhere_are_read_on(store, result, rows, mode):
    part = result.embedding
    before = part[:]
    for night in range(2):
        there = elsewhere(store)
        there.append(rows[:50])
        there.result("map").update(mode)
        if night == 0 or mode == "frozen":  # frozen updates leave the rows where they are
            assert np.array_equal(part[:], before) and part.shape == before.shape
    if mode == "full":
        with pytest.raises(nystream.UsageError, match="open it again$"):
            part[:]
    assert store.result("map").embedding.shape == (2100, 3)


def test_a_graph_of_another_width_is_not_read_as_the_earlier_one(store):
    graph = store.graph("near", neighbors=5)
    assert graph.neighbors[:2].shape == (2, 5)
    elsewhere(store).graph("near", neighbors=3, restart=True)
    with pytest.raises(nystream.UsageError, match="open it again"):
        graph.neighbors[:2]


@pytest.mark.parametrize("copy", [lambda result: result,
                                  lambda result: result.store.result(result.name),
                                  lambda result: pickle.loads(pickle.dumps(result))],
                         ids=["same", "another", "pickled"])
def test_parts_see_what_their_store_has_made_anew(result, copy):
    held = copy(result)
    part = held.embedding
    assert part.shape == (2000, 3)
    held.store.fit("map", components=2, **FIT)
    assert part.shape == part[:].shape == (2000, 2) and held.report.components == 2
    held.store.append(np.ones((5, 6)))
    held.store.result("map").update("frozen")
    assert part.shape == part[:].shape == (2005, 2) and held.report.n == 2005
