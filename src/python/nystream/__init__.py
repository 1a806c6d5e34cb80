"""Spectral embeddings of data sets that do not fit in memory.

Start here; help(nystream.open), and so on, tells all of one name:

embed      one call for one map: Y = nystream.embed(X, components=2)
KernelPCA  an estimator as of scikit-learn; so are PCA, Isomap, SpectralClustering, …
open       open a store: rows on disk, any number of fits of them, and their results
Store      what open() returns: append(X), fit("map", components=2), plan(), graph("near")
Result     a fit: embedding[:10], transform(X), evaluate(), plot(), export("map.npy"), update()
Model      the numbers of a fit that place new rows, without its data: transform(X), save(file)
plan       whether a fit finds room in memory=, and how long it takes, before anything runs
tl         for scanpy, on an AnnData: pca, neighbors, spectral, diffmap, clusters, ingest

    store = nystream.open("big.nys", memory="8G")
    store.append(X)
    result = store.fit("map", landmarks=4000, components=50)
    result.embedding[:10]                                     # read when it is indexed
    result.model().transform(X_new)

Sums and dask are for rows that are on several machines. Options of a fit are those of the command:
`nystream help fit --all`. All names follow in the order of the alphabet, errors and inherited
methods included, which is long; dir(nystream) lists them.
"""
from __future__ import annotations

import importlib.util
from typing import Any, List

from nystream._context import Progress
from nystream._embed import embed, plan
from nystream._errors import (BudgetError, BusyError, DataError, FileError, MissingFileError,
                              NumericError, NystreamError, NystreamWarning, StoreError,
                              UsageError)
from nystream._lib import __version__
from nystream._view import Part
from nystream.model import Model
from nystream.report import Plan, Report
from nystream.result import Result
from nystream.store import Store, open
from nystream.sums import Sums

_ESTIMATORS = {"DiffusionMap": "estimators", "IncrementalKernelPCA": "incremental",
               "Isomap": "estimators", "KNeighborsTransformer": "neighbors",
               "KernelPCA": "estimators", "Nystroem": "estimators", "PCA": "estimators",
               "SpectralClustering": "estimators", "SpectralEmbedding": "estimators",
               "TruncatedSVD": "estimators"}
_MODULES = ("dask", "estimators", "tl")
# Names that are listed can be imported: help() and an import of * ask for each of them.
_HAS_SKLEARN = importlib.util.find_spec("sklearn") is not None

__all__ = ["BudgetError", "BusyError", "DataError", "FileError", "MissingFileError", "Model",
           "NumericError", "NystreamError", "NystreamWarning", "Part", "Plan", "Progress", "Report",
           "Result", "Store", "StoreError", "Sums", "UsageError", "__version__", "embed", "open",
           "plan", "tl", *(_ESTIMATORS if _HAS_SKLEARN else ())]

for _error in (BudgetError, BusyError, DataError, FileError, MissingFileError, NumericError,
               NystreamError, NystreamWarning, StoreError, UsageError):
    _error.__module__ = "nystream"  # a traceback names what a program catches


def __getattr__(name: str) -> Any:
    """Import what needs scikit-learn, scanpy's keys or Dask when it is first named."""
    if name in _MODULES:
        return importlib.import_module(f"nystream.{name}")
    if name not in _ESTIMATORS:
        raise AttributeError(f"module 'nystream' has no attribute {name!r}")
    return getattr(importlib.import_module(f"nystream.{_ESTIMATORS[name]}"), name)


def __dir__() -> List[str]:
    listed = {*__all__, *_MODULES}
    if not _HAS_SKLEARN:
        listed.remove("estimators")
    return sorted(listed)
