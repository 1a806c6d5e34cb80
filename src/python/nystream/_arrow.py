"""Rows of what speaks Arrow's PyCapsule protocol: pyarrow, polars, DuckDB and others, without them.

The protocol hands over three structs of the C data interface, which never change. Columns of
numbers and lists of a fixed number of them become rows; nulls become NaN.
"""
from __future__ import annotations

import ctypes as C
from typing import Any, Iterator, List, Optional, Tuple

import numpy as np

from nystream import _batch

# Formats of the interface, and the types that numpy has for them; booleans are bits.
NUMBERS = {"c": "i1", "C": "u1", "s": "i2", "S": "u2", "i": "i4", "I": "u4", "l": "i8", "L": "u8",
           "e": "f2", "f": "f4", "g": "f8"}
BITS, RECORDS, LISTS = "b", "+s", "+w:"

_RELEASE = C.CFUNCTYPE(None, C.c_void_p)
_GET = C.CFUNCTYPE(C.c_int, C.c_void_p, C.c_void_p)


class CSchema(C.Structure):
    """struct ArrowSchema."""


CSchema._fields_ = [("format", C.c_char_p), ("name", C.c_char_p), ("metadata", C.c_void_p),
                    ("flags", C.c_int64), ("n_children", C.c_int64),
                    ("children", C.POINTER(C.POINTER(CSchema))), ("dictionary", C.c_void_p),
                    ("release", _RELEASE), ("private_data", C.c_void_p)]


class CArray(C.Structure):
    """struct ArrowArray."""


CArray._fields_ = [("length", C.c_int64), ("null_count", C.c_int64), ("offset", C.c_int64),
                   ("n_buffers", C.c_int64), ("n_children", C.c_int64),
                   ("buffers", C.POINTER(C.c_void_p)),
                   ("children", C.POINTER(C.POINTER(CArray))), ("dictionary", C.c_void_p),
                   ("release", _RELEASE), ("private_data", C.c_void_p)]


class CStream(C.Structure):  # struct ArrowArrayStream
    _fields_ = [("get_schema", _GET), ("get_next", _GET),
                ("get_last_error", C.CFUNCTYPE(C.c_void_p, C.c_void_p)), ("release", _RELEASE),
                ("private_data", C.c_void_p)]


def _address(capsule: Any, name: bytes) -> int:
    """Return the address of the struct in a capsule, whose destructor releases it."""
    get = C.PYFUNCTYPE(C.c_void_p, C.py_object, C.c_char_p)(("PyCapsule_GetPointer", C.pythonapi))
    return int(get(capsule, name))


def is_arrow(X: Any) -> bool:
    """Return whether X hands out its rows by the protocol."""
    return hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__")


def _shape_of(schema: CSchema) -> Tuple["np.dtype[Any]", int]:
    """Return the type that holds the values of a column or a record, and their number a row."""
    kind = schema.format.decode()
    if not schema.dictionary:
        if kind in NUMBERS or kind == BITS:
            return _batch.stored_dtype(NUMBERS.get(kind, "bool")), 1
        if kind == RECORDS or kind.startswith(LISTS):
            found = [_shape_of(schema.children[i].contents) for i in range(schema.n_children)]
            times = 1 if kind == RECORDS else int(kind[len(LISTS):])
            types = [dtype for dtype, _ in found] or [np.dtype("float64")]
            return np.result_type(*types), times * sum(width for _, width in found)
    name = (schema.name or b"").decode()
    kind = "dictionary" if schema.dictionary else kind
    raise ValueError(f"column {name!r} of X has no numbers (its Arrow format is {kind!r}); leave "
                     "it out, or convert it to numbers")


def _has_nulls(array: CArray) -> bool:
    if array.null_count != 0 and array.n_buffers and array.buffers[0]:
        return True
    return any(_has_nulls(array.children[i].contents) for i in range(array.n_children))


def _bits(address: int, first: int, count: int) -> Any:
    """Return bits first … first + count - 1, the lowest of a byte first, as booleans."""
    start, end = first // 8, (first + count + 7) // 8
    octets = np.ctypeslib.as_array((C.c_uint8 * (end - start)).from_address(address + start))
    bits = np.unpackbits(octets, bitorder="little")
    return bits[first - 8 * start:][:count].astype(bool)


def _fill(schema: CSchema, array: CArray, first: int, out: Any) -> None:
    """Write rows first, first + 1, … of a column or a record into `out`, NaN for nulls."""
    count, at, kind = len(out), array.offset + first, schema.format.decode()
    known = None
    if array.null_count != 0 and array.n_buffers and array.buffers[0]:
        known = _bits(array.buffers[0], at, count)
    if kind == RECORDS:
        column = 0
        for i in range(schema.n_children):
            child = schema.children[i].contents
            width = _shape_of(child)[1]
            _fill(child, array.children[i].contents, at, out[:, column:column + width])
            column += width
    elif kind.startswith(LISTS):
        times = int(kind[len(LISTS):])
        inside = np.empty((count * times, out.shape[1] // times if times else 0), out.dtype)
        if inside.size:
            _fill(schema.children[0].contents, array.children[0].contents, at * times, inside)
        out[:] = inside.reshape(out.shape)
    else:
        if kind == BITS:
            values = _bits(array.buffers[1], at, count)
        else:
            size = np.dtype(NUMBERS[kind]).itemsize
            octets = (C.c_uint8 * (count * size)).from_address(array.buffers[1] + at * size)
            values = np.ctypeslib.as_array(octets).view(NUMBERS[kind])
        if known is not None:
            values = np.where(known, values, np.zeros(1, values.dtype))
        out[:, 0] = _batch.convert(values, _batch.stored_dtype(values.dtype))
    if known is not None:
        out[~known] = np.nan


def _rows_of(schema: CSchema, array: CArray) -> Iterator[Any]:
    """Give the rows of a record batch, or of an array of lists, in slices."""
    kind = schema.format.decode()
    _batch.check_shape((array.length, 1) if kind == RECORDS or kind.startswith(LISTS)
                       else (array.length,))
    dtype, width = _shape_of(schema)
    if dtype.kind in "iu" and _has_nulls(array):
        dtype = np.dtype("float32")
    step = max(1, _batch.SLICE_BYTES // (max(1, width) * dtype.itemsize))
    for first in range(0, array.length, step):
        out = np.empty((min(step, array.length - first), width), dtype)
        _fill(schema, array, first, out)
        yield out


def _stream_rows(X: Any) -> Iterator[Any]:
    """Read a stream of record batches, of which one is held at a time."""
    capsule = X.__arrow_c_stream__()
    address = _address(capsule, b"arrow_array_stream")
    stream, schema = CStream.from_address(address), CSchema()

    def get(function: Any, struct: Any) -> None:
        status = function(address, C.addressof(struct))
        if status:
            said = stream.get_last_error(address)
            words = C.string_at(said) if said else b"the stream of Arrow has failed"
            raise OSError(status, words.decode(errors="replace"))

    get(stream.get_schema, schema)
    try:
        while True:
            array = CArray()
            get(stream.get_next, array)
            if not array.release:
                return
            try:
                yield from _rows_of(schema, array)
            finally:
                array.release(C.addressof(array))
    finally:
        schema.release(C.addressof(schema))
        del capsule


def row_width(X: Any) -> Optional[int]:
    """Return how many numbers a row has, of which lists have several; None where some are none."""
    if hasattr(X, "__arrow_c_stream__"):
        capsule, schema = X.__arrow_c_stream__(), CSchema()
        address = _address(capsule, b"arrow_array_stream")
        if CStream.from_address(address).get_schema(address, C.addressof(schema)):
            return None
    else:
        capsule = X.__arrow_c_array__()
        schema = CSchema.from_address(_address(capsule[0], b"arrow_schema"))
    try:
        return _shape_of(schema)[1]
    except ValueError:
        return None
    finally:
        if hasattr(X, "__arrow_c_stream__"):
            schema.release(C.addressof(schema))
        del capsule


def are_of_columns(names: List[str], X: Any) -> bool:
    """Return whether each name is that of one column of rows: X has no column of lists."""
    return hasattr(X, "select") and row_width(X) == len(names)


def arrow_rows(X: Any) -> Iterator[Any]:
    """Give the rows of X as arrays (rows, columns) of about 16 MB.

    Raises
    ------
    ValueError
        A column that is not of numbers, or an array of single numbers, which has no columns.
    OSError
        The source of the batches has failed.
    """
    if hasattr(X, "__arrow_c_stream__"):
        yield from _stream_rows(X)
        return
    capsules = X.__arrow_c_array__()
    schema = CSchema.from_address(_address(capsules[0], b"arrow_schema"))
    yield from _rows_of(schema, CArray.from_address(_address(capsules[1], b"arrow_array")))
