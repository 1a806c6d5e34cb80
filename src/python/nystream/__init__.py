"""Spectral embeddings of data sets that do not fit in memory.

    import nystream

    Y = nystream.embed(X, components=2)                       # one call
    store = nystream.open("big.nys", memory="8G")             # rows on disk, any number of fits
    store.append(X)
    result = store.fit("map", landmarks=4000, components=50)
    result.embedding[:10]                                     # read when it is indexed
    result.model().transform(X_new)

`nystream.KernelPCA` and the other estimators follow scikit-learn, and `nystream.tl` scanpy, on an
AnnData.
"""
from __future__ import annotations

import importlib
from typing import Any, List

from nystream._context import Progress
from nystream._errors import (BudgetError, BusyError, DataError, FileError, NumericError,
                              NystreamError, NystreamWarning, StoreError, UsageError)
from nystream._lib import __version__
from nystream._view import Part
from nystream.model import Model
from nystream.report import Plan, Report
from nystream.store import Result, Store, embed, open
from nystream.sums import Sums

_ESTIMATORS = ("DiffusionMap", "Isomap", "KNeighborsTransformer", "KernelPCA", "Nystroem", "PCA",
               "SpectralClustering", "SpectralEmbedding")

__all__ = ["BudgetError", "BusyError", "DataError", "FileError", "Model", "NumericError",
           "NystreamError", "NystreamWarning", "Part", "Plan", "Progress", "Report", "Result",
           "Store", "StoreError", "Sums", "UsageError", "__version__", "embed", "open", "tl",
           *_ESTIMATORS]

for _error in (BudgetError, BusyError, DataError, FileError, NumericError, NystreamError,
               NystreamWarning, StoreError, UsageError):
    _error.__module__ = "nystream"  # a traceback names what a program catches


def __getattr__(name: str) -> Any:
    """Import the estimators, and with them scikit-learn, when one is first named, and so `tl`."""
    if name == "tl":
        return importlib.import_module("nystream.tl")
    if name not in _ESTIMATORS:
        raise AttributeError(f"module 'nystream' has no attribute {name!r}")
    from nystream import estimators, neighbors

    return getattr(neighbors if name == "KNeighborsTransformer" else estimators, name)


def __dir__() -> List[str]:
    return sorted({*globals(), "tl", *_ESTIMATORS})
