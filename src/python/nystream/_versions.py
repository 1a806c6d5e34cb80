"""Versions of scikit-learn that the estimators are written for."""
import importlib.metadata
import importlib.util
import re

SUPPORTED = (1, 2), (1, 6)  # from the first to below the second


def is_supported(version: str) -> bool:
    """Return whether the estimators are for this version of scikit-learn."""
    found = tuple(map(int, re.findall(r"\d+", version)[:2]))
    return SUPPORTED[0] <= found < SUPPORTED[1]


def has_sklearn() -> bool:
    """Return whether the estimators can be imported, without importing scikit-learn."""
    if importlib.util.find_spec("sklearn") is None:
        return False
    try:
        return is_supported(importlib.metadata.version("scikit-learn"))
    except importlib.metadata.PackageNotFoundError:
        return True
