"""Parts of stores that are read: numpy's shapes, and threads that read while others close."""
import threading
import time

import numpy as np
import pytest

import nystream
from nystream._lib import lib


@pytest.mark.parametrize("key", [
    (np.array([[0, 3], [-1, 7], [5, 5]]),), (np.array([[2]]), 1),
    (np.array([[0, 3], [1, 7]]), [1, 2]),
    ([0, 3, 5], [1, 2, 0]), (np.array([[0], [9]]), [4, 1, 0]), (3, [1, 2]), (-2, 1), (4, Ellipsis),
    ([1, 2], slice(1, 4)), (np.array([[1, 2]]), slice(None, None, 2)), (slice(2, 9, 3), [0, 1]),
    (np.arange(2000) % 700 == 5, 2), (np.empty((0, 3), int),), (Ellipsis, 1)], ids=str)
def test_indices_give_the_shapes_of_numpy(store, rows, key):
    expected = rows[key]
    found = store.points[key if len(key) > 1 else key[0]]
    assert np.shape(found) == expected.shape and np.array_equal(found, expected)


def test_a_store_is_not_read_row_by_row(store, rows, monkeypatch):
    monkeypatch.setattr(lib, "ny_view_gather", lambda *_: pytest.fail("it reads chosen rows"))
    assert np.array_equal(np.asarray(store), rows)
    assert np.asarray(store, dtype="float32").dtype == np.float32
    assert np.array_equal(np.stack(list(store)), rows)


def test_numbers_of_rows_in_a_table_give_labels_in_one(store):
    wanted = np.array([[0, 1], [2, 4]])
    assert np.array_equal(store.labels[wanted], wanted % 3)
    with pytest.raises(IndexError):
        store.labels[0, 1]


def test_rows_come_one_by_one(store, result, monkeypatch):
    monkeypatch.setattr(nystream._batch, "SLICE_BYTES", 3000)  # some rows of a batch
    assert np.array_equal(list(result.embedding), result.embedding[:])
    assert list(store.labels) == [row % 3 for row in range(2000)]
    pandas = pytest.importorskip("pandas")
    assert np.array_equal(pandas.DataFrame(result.embedding), result.embedding[:])
    assert np.array_equal(pandas.Series(store.labels), store.labels[:])


@pytest.mark.parametrize("end", [lambda store: store.close(),
                                 lambda store: store.append(np.ones((3, 6)))],
                         ids=["close", "append"])
def test_a_view_is_closed_when_no_thread_reads_it(tmp_path, rows, monkeypatch, end):
    read, free, reading, log = lib.ny_view_read, lib.ny_view_free, threading.Event(), []

    def slow_read(*arguments):
        log.append("read")
        reading.set()
        time.sleep(0.2)
        status = read(*arguments)
        log.append("done")
        return status

    def logged_free(pointer):
        log.append("free")
        free(pointer)

    monkeypatch.setattr(lib, "ny_view_free", logged_free)
    store = nystream.open(tmp_path / "s.nys")
    store.append(rows)
    assert len(store.points) == 2000
    monkeypatch.setattr(lib, "ny_view_read", slow_read)
    found = []
    thread = threading.Thread(target=lambda: found.append(store.points[5:9]))
    log.clear()
    thread.start()
    assert reading.wait(10)
    end(store)
    thread.join()
    assert log == ["read", "done", "free"]
    assert np.array_equal(found[0], rows[5:9])


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint64"])
def test_rows_are_chosen_by_integers_of_any_type(store, rows, dtype):
    chosen = np.array([3, 100, 7], dtype)
    if hasattr(np, "_set_promotion_state"):  # numpy 1 with the rules of numpy 2
        before = np._get_promotion_state()
        np._set_promotion_state("weak")
    try:
        assert np.array_equal(store[chosen], rows[chosen])
    finally:
        if hasattr(np, "_set_promotion_state"):
            np._set_promotion_state(before)
