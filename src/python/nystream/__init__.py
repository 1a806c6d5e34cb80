"""Spectral embeddings of data sets that do not fit in memory.

    import nystream

    nystream.plan((10**9, 128), memory="8G")                  # does it fit, how long will it take
    Y = nystream.embed(X, components=2)                       # one call
    store = nystream.open("big.nys", memory="8G")             # rows on disk, any number of fits
    store.append(X)
    result = store.fit("map", landmarks=4000, components=50)
    result.embedding[:10]                                     # read when it is indexed
    result.model().transform(X_new)

`nystream.KernelPCA` and the other estimators follow scikit-learn, and `nystream.tl` scanpy, on an
AnnData. `nystream.Sums` and `nystream.dask` are for rows that are on several machines.
"""
from __future__ import annotations

import importlib
from typing import Any, List

from nystream._context import Progress
from nystream._embed import embed
from nystream._errors import (BudgetError, BusyError, DataError, FileError, NumericError,
                              NystreamError, NystreamWarning, StoreError, UsageError,
                              no_attribute)
from nystream._lib import __version__
from nystream._view import Part
from nystream.model import Model
from nystream.planning import plan
from nystream.report import Plan, Report
from nystream.store import Result, Store, open
from nystream.sums import Sums

_ESTIMATORS = {"DiffusionMap": "estimators", "IncrementalKernelPCA": "incremental",
               "Isomap": "estimators", "KNeighborsTransformer": "neighbors",
               "KernelPCA": "estimators", "Nystroem": "estimators", "PCA": "estimators",
               "SpectralClustering": "estimators", "SpectralEmbedding": "estimators",
               "TruncatedSVD": "truncated"}
_MODULES = ("dask", "estimators", "tl")

__all__ = ["BudgetError", "BusyError", "DataError", "FileError", "Model", "NumericError",
           "NystreamError", "NystreamWarning", "Part", "Plan", "Progress", "Report", "Result",
           "Store", "StoreError", "Sums", "UsageError", "__version__", "embed", "open", "plan",
           "tl", *_ESTIMATORS]

for _error in (BudgetError, BusyError, DataError, FileError, NumericError, NystreamError,
               NystreamWarning, StoreError, UsageError):
    _error.__module__ = "nystream"  # a traceback names what a program catches


def __getattr__(name: str) -> Any:
    """Import what needs scikit-learn, scanpy's keys or Dask when it is first named."""
    if name in _MODULES:
        return importlib.import_module(f"nystream.{name}")
    if name not in _ESTIMATORS:
        raise no_attribute("nystream", name, __all__)
    return getattr(importlib.import_module(f"nystream.{_ESTIMATORS[name]}"), name)


def __dir__() -> List[str]:
    return sorted({*__all__, *_MODULES})
