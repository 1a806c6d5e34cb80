"""Record batches and streams of Arrow made by hand, handed out as pyarrow does."""
import ctypes as C

import numpy as np

from nystream._arrow import CArray, CSchema, CStream

CODES = {"int8": b"c", "uint8": b"C", "int16": b"s", "uint16": b"S", "int32": b"i", "uint32": b"I",
         "int64": b"l", "uint64": b"L", "float16": b"e", "float32": b"f", "float64": b"g",
         "bool": b"b"}
NULLABLE = 2
released = []  # "schema" and "array", in the order of their release
_alive = []  # structs and buffers, for the time of the tests


def _release(kind, struct):
    @C.CFUNCTYPE(None, C.c_void_p)
    def release(address):
        released.append(kind)
        struct.from_address(address).release = type(release)()
    _alive.append(release)
    return release


def _pointers(kind, items):
    array = (C.POINTER(kind) * max(1, len(items)))(*map(C.pointer, items))
    _alive.append((array, items))
    return array


def make_schema(code, name="", children=()):
    made = CSchema(format=code, name=name.encode(), flags=NULLABLE, n_children=len(children),
                   children=_pointers(CSchema, children), release=_release("schema", CSchema))
    _alive.append(made)
    return made


def make_array(length, buffers, children=(), offset=0, nulls=0):
    found = [None if b is None else np.ascontiguousarray(b) for b in buffers]
    addresses = (C.c_void_p * max(1, len(found)))(
        *(None if b is None else b.ctypes.data for b in found))
    made = CArray(length=length, null_count=nulls, offset=offset, n_buffers=len(found),
                  n_children=len(children), buffers=addresses,
                  children=_pointers(CArray, children), release=_release("array", CArray))
    _alive.append((made, found, addresses))
    return made


def _valid(missing):
    return None if missing is None else np.packbits(~missing, bitorder="little")


def column(name, values, missing=None, offset=0, count_nulls=True):
    """Schema and array of a column of numbers; the first `offset` values are skipped."""
    stored = np.packbits(values, bitorder="little") if values.dtype == bool else values
    nulls = 0 if missing is None else int(missing[offset:].sum()) if count_nulls else -1
    return (make_schema(CODES[values.dtype.name], name),
            make_array(len(values) - offset, [_valid(missing), stored], offset=offset,
                       nulls=nulls))


def lists(name, values, offset=0):
    """Schema and array of lists of a fixed number of values; `values` is (rows, width)."""
    schema, inside = column("item", values.ravel())
    return (make_schema(b"+w:%d" % values.shape[1], name, [schema]),
            make_array(len(values) - offset, [None], [inside], offset=offset))


def record(columns, rows, missing=None, offset=0):
    """Schema and array of a record batch."""
    nulls = 0 if missing is None else int(missing.sum())
    return (make_schema(b"+s", "", [schema for schema, _ in columns]),
            make_array(rows, [_valid(missing)], [array for _, array in columns], offset, nulls))


def _capsule(struct, name):
    new = C.PYFUNCTYPE(C.py_object, C.c_void_p, C.c_char_p, C.c_void_p)(
        ("PyCapsule_New", C.pythonapi))
    _alive.append(name)
    return new(C.addressof(struct), name, None)


class ArrowArray:
    """Stands in for a RecordBatch of pyarrow."""

    def __init__(self, schema, array):
        self.schema, self.array = schema, array

    def __arrow_c_array__(self, requested_schema=None):
        return _capsule(self.schema, b"arrow_schema"), _capsule(self.array, b"arrow_array")


class ArrowStream:
    """Stands in for a table of pyarrow or a frame of polars; None among the arrays: a failure."""

    def __init__(self, schema, arrays):
        self.schema, self.arrays = schema, list(arrays)

    def __arrow_c_stream__(self, requested_schema=None):
        arrays, words = iter(self.arrays), C.create_string_buffer(b"the disk is gone")

        @C.CFUNCTYPE(C.c_int, C.c_void_p, C.c_void_p)
        def get_schema(_stream, out):
            C.memmove(out, C.addressof(self.schema), C.sizeof(CSchema))
            return 0

        @C.CFUNCTYPE(C.c_int, C.c_void_p, C.c_void_p)
        def get_next(_stream, out):
            array = next(arrays, CArray())
            if array is None:
                return 5
            C.memmove(out, C.addressof(array), C.sizeof(CArray))
            return 0

        @C.CFUNCTYPE(C.c_void_p, C.c_void_p)
        def get_last_error(_stream):
            return C.addressof(words)

        stream = CStream(get_schema=get_schema, get_next=get_next, get_last_error=get_last_error)
        _alive.append((stream, words, get_schema, get_next, get_last_error))
        return _capsule(stream, b"arrow_array_stream")
