"""The C library: where it is found, and those of its functions that the package calls.

The declarations repeat include/nystream.h. A function that fails returns a status, which
`nystream._context.Context.check` turns into an exception.
"""
from __future__ import annotations

import ctypes as C
import os
import warnings
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

__version__ = "1.2.0"

# Values of enum ny_dtype and NY_U64, and the names that numpy has for them. A store without rows
# has 0; genotypes have 5, and come as bytes.
DTYPES: Dict[int, str] = {5: "uint8", 0: "float32", 1: "uint8", 2: "int16", 3: "float32",
                          4: "float64", 6: "uint64", 7: "object"}
NUMBERS: Dict[str, int] = {name: number for number, name in DTYPES.items() if number}

# enum ny_status
EINTERRUPTED = 130

# enum ny_option_group
IMPORT, FIT, SELECT, COMMON, READ, EMBED, PLAN = 1, 2, 4, 8, 16, 32, 64
UPDATE, GRAPH, PATH, EVALUATE, PLOT, REPORT, THREADS = 128, 256, 512, 1024, 2048, 4096, 16384
STORED = 32768

LOG_WARNING, LOG_NOTE = 1, 2


class CError(C.Structure):  # struct ny_error
    _fields_ = [("status", C.c_int), ("message", C.c_char_p), ("file", C.c_char_p),
                ("line", C.c_uint64), ("has_line", C.c_int), ("option", C.c_char_p)]


class CProgress(C.Structure):  # struct ny_progress
    _fields_ = [("stage", C.c_char_p), ("fraction", C.c_double), ("rows_per_s", C.c_double),
                ("bytes_per_s", C.c_double), ("flops_per_s", C.c_double), ("eta_s", C.c_double),
                ("rows_done", C.c_uint64), ("rows_total", C.c_uint64),
                ("job_fraction", C.c_double), ("job_eta_s", C.c_double)]


class COptionInfo(C.Structure):  # struct ny_option_info
    _fields_ = [("name", C.c_char_p), ("argument", C.c_char_p), ("fallback", C.c_char_p),
                ("summary", C.c_char_p), ("section", C.c_char_p), ("groups", C.c_uint),
                ("kernels", C.c_char_p)]


class CTable(C.Structure):  # struct ny_table
    _fields_ = [("struct_bytes", C.c_size_t), ("name", C.c_char_p), ("dtype", C.c_int),
                ("index_bytes", C.c_uint), ("rows", C.c_uint64), ("columns", C.c_uint64),
                ("values", C.c_void_p), ("row_bytes", C.c_uint64), ("row_start", C.c_void_p),
                ("column", C.c_void_p), ("entries", C.c_uint64), ("labels", C.c_void_p),
                ("row_names", C.c_void_p), ("column_names", C.c_void_p),
                ("class_names", C.c_void_p), ("classes", C.c_uint64),
                ("label_column", C.c_char_p)]


class CCsrRoom(C.Structure):  # struct ny_csr_room
    _fields_ = [("row_start", C.c_void_p), ("column", C.c_void_p), ("values", C.c_void_p),
                ("entries", C.c_uint64)]


class CDenseRoom(C.Structure):  # struct ny_dense_room
    _fields_ = [("dtype", C.c_int), ("values", C.c_void_p)]


class CPlacesRoom(C.Structure):  # struct ny_places_room
    _fields_ = [("dtype", C.c_int), ("values", C.c_void_p), ("components", C.c_uint64)]


class CNeighborsRoom(C.Structure):  # struct ny_neighbors_room
    _fields_ = [("neighbors", C.c_size_t), ("numbers", C.c_void_p), ("distances", C.c_void_p),
                ("recall", C.c_double), ("found", C.c_double)]


LOG_FN = C.CFUNCTYPE(None, C.c_void_p, C.c_int, C.c_char_p)
PROGRESS_FN = C.CFUNCTYPE(None, C.c_void_p, C.POINTER(CProgress))
PLAN_FN = C.CFUNCTYPE(None, C.c_void_p, C.c_void_p)

_P, _S, _U64, _STATUS = C.c_void_p, C.c_char_p, C.c_uint64, C.c_int
_OUT = C.POINTER(C.c_void_p)
_TABLE = C.POINTER(CTable)

# Functions by what they return and their arguments.
_FUNCTIONS: List[Tuple[List[Any], List[str]]] = [
    ([_STATUS, _OUT], ["ny_context_new"]),
    ([_STATUS, _OUT, _P], ["ny_options_new"]),
    ([_STATUS, _P, _S, _S], ["ny_options_set", "ny_temporary", "ny_remove", "ny_sums_add_result"]),
    ([_STATUS, _P, _S, _TABLE], ["ny_options_set_table"]),
    ([_STATUS, _P, _S, C.POINTER(_S), C.c_size_t, _P, _OUT], ["ny_import"]),
    ([_STATUS, _P, _S, _TABLE, _P, _OUT], ["ny_append", "ny_borrow"]),
    ([_STATUS, _P, _S, _P, C.POINTER(C.c_size_t)], ["ny_results_image"]),
    ([_STATUS, _P, _S, _P, C.c_size_t], ["ny_results_load"]),
    ([_STATUS, _OUT, _P, _S, _P], ["ny_appender_open"]),
    ([_STATUS, _P, _TABLE], ["ny_appender_put", "ny_sums_add"]),
    ([_STATUS, _P, _OUT], ["ny_appender_commit", "ny_model_report", "ny_sums_report"]),
    ([_STATUS, _P, _S, _OUT], ["ny_store_report", "ny_verify", "ny_repair", "ny_compact"]),
    ([_STATUS, _P, _S, _S, _OUT], ["ny_result_report", "ny_resume"]),
    ([_STATUS, _P, _S, _U64, C.c_int, _OUT], ["ny_truncate"]),
    ([_STATUS, _OUT, _P, _S, _S], ["ny_view_open", "ny_model_open"]),
    ([_STATUS, _P, _S, C.POINTER(_U64), C.POINTER(_U64), C.POINTER(C.c_int)], ["ny_view_shape"]),
    ([_STATUS, _P, _S, _U64, _U64, _P], ["ny_view_read"]),
    ([_STATUS, _P, _S, _P, _U64, _P], ["ny_view_gather"]),
    ([_STATUS, _P, _S, _U64, _U64, C.POINTER(C.c_void_p), C.POINTER(_U64)], ["ny_view_names"]),
    ([_STATUS, _P, _U64, _U64, C.POINTER(CCsrRoom)], ["ny_view_read_sparse"]),
    ([_STATUS, _P, _S, _P, _OUT], ["ny_plan", "ny_gamma_grid"]),
    ([_STATUS, _P, _S, _S, _P, _OUT], ["ny_fit", "ny_select", "ny_graph", "ny_path",
                                       "ny_evaluate"]),
    ([_STATUS, _P, _S, _S, _P, C.POINTER(CDenseRoom), _OUT], ["ny_fit_into"]),
    ([_STATUS, _P, _S, _S, _S, _S, _P], ["ny_transform"]),
    ([_STATUS, _P, _S, _S, _TABLE, _P], ["ny_clusters_of"]),
    ([_STATUS, _P, _S, _S, _TABLE, C.POINTER(CNeighborsRoom)], ["ny_neighbors_of"]),
    ([_STATUS, _P, _S, _S, _TABLE, C.POINTER(CPlacesRoom)], ["ny_place_rows"]),
    ([_STATUS, _P, _S, _S, _S, _S], ["ny_export"]),
    ([_STATUS, _P, _S, _S, _S, _S, C.POINTER(_U64)], ["ny_export_undamaged"]),
    ([_STATUS, _P, _S, _S, _S, _P], ["ny_plot"]),
    ([_STATUS, _P, _S, C.POINTER(_S), C.c_size_t, _S, _P], ["ny_write_report"]),
    ([_STATUS, _OUT, _P, _S, C.c_size_t], ["ny_model_load", "ny_sums_load"]),
    ([_STATUS, _OUT, _P, _S], ["ny_model_load_file"]),
    ([_STATUS, _P, _OUT, C.POINTER(C.c_size_t)], ["ny_model_image", "ny_model_column_names",
                                                  "ny_sums_column_names", "ny_sums_image"]),
    ([_STATUS, _P, _S], ["ny_model_save_file"]),
    ([_STATUS, _P, _TABLE, C.c_int, _P, _U64], ["ny_model_place"]),
    ([_STATUS, _OUT, _P, _P], ["ny_sums_new"]),
    ([_STATUS, _P, _P], ["ny_sums_merge"]),
    ([_STATUS, _P, _OUT, _OUT], ["ny_sums_solve"]),
    ([_S], ["ny_version", "ny_blas_coretype"]),
    ([None], ["ny_guard_sigbus"]),
    ([_S, C.c_int], ["ny_status_kind"]),
    ([C.POINTER(COptionInfo), C.c_int], ["ny_option_at"]),
    ([None, _P], ["ny_context_free", "ny_give_back", "ny_options_free", "ny_appender_free",
                  "ny_report_free", "ny_view_free", "ny_model_free", "ny_sums_free"]),
    ([_U64, _P], ["ny_context_memory", "ny_model_dimensions", "ny_model_components"]),
    ([None, _P, _U64], ["ny_context_set_memory"]),
    ([C.c_uint, _P], ["ny_context_threads"]),
    ([None, _P, C.c_uint], ["ny_context_set_threads"]),
    ([None, _P, LOG_FN, _P], ["ny_context_set_log"]),
    ([None, _P, PROGRESS_FN, _P], ["ny_context_set_progress"]),
    ([None, _P, PLAN_FN, _P], ["ny_context_set_plan"]),
    ([None, _P, C.c_int], ["ny_context_interrupt"]),
    ([C.POINTER(CError), _P], ["ny_context_error"]),
    ([_S, _P], ["ny_report_json"]),
]


class Option(NamedTuple):
    """An entry of the library's table of options."""

    name: str                 # its spelling on the command line, such as "row-normalize"
    argument: Optional[str]   # "M", "svd|pca|kpca", …; None: a switch
    fallback: Optional[str]   # its default; None: none, or one that others decide
    groups: int
    kernels: Tuple[str, ...]  # kernels that it is a parameter of


def _load() -> C.CDLL:
    beside = Path(__file__).with_name("libnystream.so.1")
    name = os.environ.get("NYSTREAM_LIBRARY") or (str(beside) if beside.exists() else beside.name)
    try:
        library = C.CDLL(name)
        for (result, *arguments), functions in _FUNCTIONS:
            for function in functions:
                getattr(library, function).restype = result
                getattr(library, function).argtypes = arguments
    except OSError as error:
        raise ImportError(
            f"the library of nystream cannot be loaded: {error}. Install it (make install, or the "
            "Debian package), or set the environment variable NYSTREAM_LIBRARY to the path of "
            "libnystream.so") from error
    except AttributeError as error:
        raise ImportError(f"{name} is older than the Python package nystream {__version__}, which "
                          f"calls what it lacks ({error}); install them together") from error
    version = library.ny_version().decode()
    if version.split(".")[0] != __version__.split(".")[0]:
        raise ImportError(f"{name} is nystream {version}, but the Python package {__version__}: "
                          "the first numbers must agree; install them together")
    return library


lib = _load()


def _read_options() -> Dict[str, Option]:
    table: Dict[str, Option] = {}
    while True:
        entry = lib.ny_option_at(len(table))
        if not entry:
            return table
        info = entry.contents
        argument = info.argument.decode() if info.argument else None
        kernels = tuple(info.kernels.decode().split("|")) if info.kernels else ()
        fallback = info.fallback.decode() if info.fallback else None
        option = Option(info.name.decode(), argument, fallback, info.groups, kernels)
        table[option.name] = option


OPTIONS = _read_options()


def check_blas(stack_level: int) -> None:
    """Warn where OpenBLAS does not know this CPU and computes at a fraction of its speed.

    It reads OPENBLAS_CORETYPE when it is loaded. numpy has loaded that of the system before, and
    that of a wheel must be there to be asked, so that only the user can set the variable.
    """
    core = lib.ny_blas_coretype()
    if core:
        warnings.warn(f"OpenBLAS does not know this CPU and is several times slower than it could "
                      f"be; start Python with OPENBLAS_CORETYPE={core.decode()} in its environment",
                      RuntimeWarning, stacklevel=stack_level)
