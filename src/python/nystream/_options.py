"""Options of calls by name, as Python spells them."""
from __future__ import annotations

import contextlib
import ctypes as C
import os
import tempfile
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, Iterator, Optional, Sequence, Tuple

import numpy as np

from nystream import _data, _lib
from nystream._batch import csr_matrix, make_batch
from nystream._columns import listed
from nystream._context import Context, spell_limit
from nystream._errors import usage_error
from nystream._lib import lib

EXACT_ROWS = 100_000  # with more, nearly all neighbours are looked for,
TREE_COLUMNS = 6  # unless rows have so few columns that a tree of boxes finds all of them sooner
RECALL = 0.95


def search_options(search: Optional[str], shape: Tuple[int, int], metric: str) -> Dict[str, Any]:
    """Return the options of a search: "auto", "exact", "tree", "sieve".

    None is auto, which finds all neighbours up to EXACT_ROWS and RECALL of them beyond.
    """
    rows, columns = shape
    boxes = columns <= TREE_COLUMNS and metric == "euclidean"
    if search or boxes or rows <= EXACT_ROWS:
        return {"knn": search or "auto"}
    return {"knn": "auto", "recall": RECALL}


@contextlib.contextmanager
def options_for(context: Context, groups: int, values: Dict[str, Any]) -> Iterator[C.c_void_p]:
    """Give the options of one call by name, such as {"row_normalize": True, "gamma": 0.5}.

    Landmarks may be arrays: landmarks_points of shape (landmarks, columns), and landmarks_file of
    integers, the row numbers, of shape (landmarks,). features may be an array of integers, the
    numbers of the columns, or a mask of them. The library copies them. model may be a Model, and
    edges a matrix of scipy.sparse, of which a temporary file is written.

    A budget or threads among them are those of the context until the end of the `with` block.
    """
    with context.lock, contextlib.ExitStack() as end:
        handle, pointer = context.pointer, C.c_void_p()
        if values.get("threads") is not None:
            end.callback(lib.ny_context_set_threads, handle, lib.ny_context_threads(handle))
        if values.get("memory") is not None:
            end.callback(lib.ny_context_set_memory, handle, lib.ny_context_memory(handle))
        context.check(lib.ny_options_new(C.byref(pointer), handle))
        end.callback(lib.ny_options_free, pointer)
        for name, value in values.items():
            if value is not None:
                _set(context, pointer, groups, name, value, end)
        yield pointer


def _set(context: Context, pointer: C.c_void_p, groups: int, spelled: str, value: Any,
         end: contextlib.ExitStack) -> None:
    """Set an option; a file that its value is written to is there until the end."""
    name = spelled.replace("_", "-")
    option, spelled = _lib.OPTIONS.get(name), name.replace("-", "_")
    if option is None:
        value = ""  # the library refuses the name
    elif not option.groups & (groups | _lib.COMMON | _lib.THREADS):
        raise usage_error(f"{spelled}= is an option of another call", spelled)
    is_file = isinstance(value, (str, os.PathLike))
    if name in TABLES and not is_file:
        batch = make_batch(_data.unwrap(TABLES[name](value)))
        table = batch.table(spelled)
        context.check(lib.ny_options_set_table(pointer, name.encode(), C.byref(table)))
        return
    if name == "model" and hasattr(value, "to_bytes"):
        content, value = value.to_bytes(), _file(end, "model.nym")
        value.write_bytes(content)
    if name == "edges" and not is_file:
        value = _write_edges(value, _file(end, "edges.npz"))
    if getattr(value, "shape", ()):
        raise usage_error(f"{spelled}= is a word or a number, not {type(value).__name__} of "
                          f"shape {value.shape}", spelled)
    text = spell_limit(value) if name == "memory" else spell_value(value)
    context.check(lib.ny_options_set(pointer, name.encode(), text.encode()))


def _file(end: contextlib.ExitStack, name: str) -> Path:
    """Return a file of this name, which is there until the end."""
    return Path(end.enter_context(tempfile.TemporaryDirectory(prefix=".nystream-")), name)


def _write_edges(matrix: Any, file: Path) -> Path:
    """Write the matrix of a graph; ValueError where it is none."""
    from scipy.sparse import issparse, save_npz

    if not issparse(matrix):
        raise ValueError(f"edges= is a file or a matrix of scipy.sparse, not "
                         f"{type(matrix).__name__}")
    rows = matrix.tocsr() if matrix.format != "coo" else _rows_of(matrix)
    save_npz(file, rows, compressed=False)
    return file


def _rows_of(matrix: Any) -> Any:
    """Return a COO matrix by rows, with entries that come more than once as they are."""
    order = np.argsort(matrix.row, kind="stable")
    starts = np.zeros(matrix.shape[0] + 1, np.int64)
    np.cumsum(np.bincount(matrix.row, minlength=matrix.shape[0]), out=starts[1:])
    return csr_matrix((matrix.data[order], matrix.col[order], starts), shape=matrix.shape)


OF_FILES = ("columns", "decimal", "drop_columns", "format", "header", "id_column", "label_column",
            "matrix", "transpose")


def are_of_files(options: Iterable[str]) -> bool:
    """Return whether one of these options says how to read a file."""
    return any(name.replace("-", "_") in OF_FILES for name in options)


def as_numbers(value: Any, what: str = "row numbers of landmarks") -> Any:
    """Return numbers as a column, an array (count, 1); ValueError where they are none."""
    numbers = np.asarray(value)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
        raise ValueError(f"{what} must be a one-dimensional array of integers, not "
                         f"of shape {numbers.shape} and type {numbers.dtype}")
    return numbers.reshape(-1, 1)


def as_columns(value: Any) -> Any:
    """Return column numbers as a column, also of a mask over all columns."""
    columns = np.asarray(value)
    if columns.ndim == 1 and columns.dtype.kind == "b":
        columns = np.flatnonzero(columns)
    return as_numbers(columns, "numbers of columns, or a mask of them,")


def features_of(features: Any, names: Callable[[], Optional[Sequence[str]]],
                columns: Callable[[], int]) -> Any:
    """Return features= with the numbers of columns in place of their names.

    UsageError for a mask of another length than there are columns, and for names of none.
    """
    if features is None or isinstance(features, (str, os.PathLike)):
        return features
    given = np.asarray(features)
    if given.dtype.kind == "b" and given.shape != (columns(),):
        raise usage_error(f"features= is a mask of shape {given.shape}, but there are "
                          f"{columns()} columns", "features")
    wanted = given.tolist()
    are_names = given.ndim == 1 and wanted and all(isinstance(name, str) for name in wanted)
    if not are_names:
        return features
    known = names()
    if known is None:
        raise usage_error("features= has names, but the columns have none; give the numbers of "
                          "the columns, or a mask", "features")
    places = {str(name): place for place, name in enumerate(known)}
    lost = [name for name in wanted if name not in places]
    if lost:
        raise usage_error(f"features= has {len(lost)} of {len(wanted)} names that no column has: "
                          f"{listed(lost)}", "features")
    if len(places) < len(known):
        raise usage_error("features= has names, but some columns share one; give the numbers of "
                          "the columns, or a mask", "features")
    return np.array([places[name] for name in wanted])


# Options whose file may be an array, each with what makes a table of it.
TABLES: Dict[str, Callable[[Any], Any]] = {
    "landmarks-file": as_numbers, "landmarks-points": lambda rows: rows, "features": as_columns}


def spell_value(value: Any) -> str:
    """Spell the value of an option as the command line has it."""
    if isinstance(value, (bool, np.bool_)):  # numpy 2 calls the type bool
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ",".join(spell_value(part) for part in value)
    if isinstance(value, float):  # numpy's float64 is one
        return repr(float(value))
    return str(os.fspath(value)) if isinstance(value, os.PathLike) else str(value)
