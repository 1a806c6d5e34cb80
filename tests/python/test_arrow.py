"""Rows by Arrow's PyCapsule protocol; pyarrow and polars are not needed."""
import arrow_made as made
import numpy as np
import pytest

import nystream
from nystream import _batch, _data


def read(X, labels=None):
    """Return the rows of X in one array."""
    found = list(_data.batches(X, labels)[1])
    return np.concatenate([batch.whole() for batch in found])


def numbers(dtype, rows=50):
    values = np.arange(rows) * 37 % 101
    return (values % 2 if dtype == "bool" else values).astype(dtype)


@pytest.mark.parametrize("dtype", made.CODES)
@pytest.mark.parametrize("offset", [0, 3, 11])
def test_columns_of_each_type(dtype, offset):
    values = numbers(dtype)
    batch = made.ArrowArray(*made.record([made.column("a", values, offset=offset)], 50 - offset))
    rows = read(batch)
    assert rows.dtype == _batch.stored_dtype(dtype)
    assert np.array_equal(rows[:, 0], values[offset:].astype(float))


def test_columns_of_several_types_and_an_offset_of_all():
    columns = [made.column("a", numbers("uint8")), made.column("b", numbers("bool"), offset=4),
               made.lists("c", numbers("float32", 150).reshape(50, 3), offset=2)]
    rows = read(made.ArrowArray(*made.record(columns, 40, offset=5)))
    assert rows.shape == (40, 5) and rows.dtype == np.float32
    assert np.array_equal(rows[:, 0], numbers("uint8")[5:45])
    assert np.array_equal(rows[:, 1], numbers("bool")[9:49])
    assert np.array_equal(rows[:, 2:], numbers("float32", 150).reshape(50, 3)[7:47])


def test_an_array_of_lists_is_rows():
    values = numbers("int64", 120).reshape(40, 3)
    rows = read(made.ArrowArray(*made.lists("", values, offset=7)))
    assert rows.dtype == np.float64 and np.array_equal(rows, values[7:])
    with pytest.raises(ValueError, match="Expected 2D array, got 1D"):
        read(made.ArrowArray(*made.column("", numbers("int64"))))


@pytest.mark.parametrize("dtype, kept", [("int16", "float32"), ("int64", "float64"),
                                         ("float32", "float32"), ("bool", "float32")])
@pytest.mark.parametrize("count_nulls", [True, False])
def test_nulls_are_nan(dtype, kept, count_nulls):
    missing = np.arange(50) % 7 == 3
    values = numbers(dtype)
    if dtype == "int64":
        values[missing] = 2 ** 62  # this value has no meaning
    nulls = made.column("a", values, missing, offset=2, count_nulls=count_nulls)
    rows = read(made.ArrowArray(*made.record([nulls, made.column("b", numbers(dtype))], 48)))
    assert rows.dtype == kept
    expected = np.where(missing, np.nan, values.astype(float))[2:]
    assert np.array_equal(rows[:, 0], expected, equal_nan=True)
    assert np.array_equal(rows[:, 1], numbers(dtype)[:48].astype(float))


def test_a_record_that_is_null_is_a_row_of_nan():
    missing = np.arange(20) == 4
    columns = [made.column("a", numbers("float32", 20)), made.column("b", numbers("uint8", 20))]
    rows = read(made.ArrowArray(*made.record(columns, 20, missing)))
    assert np.isnan(rows[4]).all() and not np.isnan(np.delete(rows, 4, axis=0)).any()


def stream(pieces):
    records = [made.record([made.column("a", piece), made.column("b", piece)], len(piece))
               for piece in pieces]
    return made.ArrowStream(records[0][0], [array for _, array in records])


def test_a_stream_is_read_batch_by_batch_and_released(tmp_path, monkeypatch):
    monkeypatch.setattr(_batch, "SLICE_BYTES", 2 * 4 * 20)  # 20 rows of float32
    X = numbers("float32", 150)
    pieces = [X[:50], X[50:51], X[51:51], X[51:]]
    made.released.clear()
    store = nystream.open(tmp_path / "s.nys")
    store.append(stream(pieces), labels=np.arange(150))
    assert np.array_equal(store[:], np.stack([X, X], axis=1))
    assert np.array_equal(store.labels[:], np.arange(150))
    assert made.released == ["array"] * 4 + ["schema"]
    assert max(batch.rows for batch in _data.batches(stream(pieces))[1]) <= 20


def test_a_file_that_gives_batches():
    class File:
        def iter_batches(self):
            for first in (0, 30):
                yield made.ArrowArray(*made.record([made.column("a", X[first:first + 30])], 30))

    X = numbers("float64", 60)
    assert np.array_equal(read(File()), X[:, None])
    assert np.array_equal(read(File(), np.zeros(60)), X[:, None])


@pytest.mark.parametrize("labels", [np.zeros(59), np.zeros(61)])
def test_labels_of_another_number(labels):
    with pytest.raises(ValueError, match="60 rows"):
        read(stream([numbers("float32", 60)]), labels)


def test_a_stream_that_fails_is_released():
    schema, array = made.record([made.column("a", numbers("float32"))], 50)
    made.released.clear()
    with pytest.raises(OSError, match="the disk is gone"):
        read(made.ArrowStream(schema, [array, None]))
    assert made.released == ["array", "schema"]


def test_columns_that_are_not_numbers_are_named():
    text = (made.make_schema(b"u", "name"), made.make_array(3, [None, np.zeros(4, "i4"), None]))
    with pytest.raises(ValueError, match="column 'name' of X has no numbers.*'u'"):
        read(made.ArrowArray(*made.record([text], 3)))
    with pytest.raises(ValueError, match="beyond 2.53"):
        read(made.ArrowArray(*made.record([made.column("a", np.array([2 ** 60]))], 1)))
