"""Versions of scikit-learn that the estimators are written for."""
import importlib.util
import re
from pathlib import Path

SUPPORTED = (1, 2), (1, 6)  # from the first to below the second


def is_supported(version: str) -> bool:
    """Return whether the estimators are for this version of scikit-learn."""
    found = tuple(map(int, re.findall(r"\d+", version)[:2]))
    return SUPPORTED[0] <= found < SUPPORTED[1]


def has_sklearn() -> bool:
    """Return whether the estimators can be imported, without importing scikit-learn.

    The version is read off the name of its folder of metadata, since to import importlib.metadata
    takes as long as to import the rest of the package.
    """
    spec = importlib.util.find_spec("sklearn")
    if spec is None or spec.origin is None:
        return False
    folders = list(Path(spec.origin).parents[1].glob("scikit_learn-*-info"))
    return not folders or any(is_supported(folder.name) for folder in folders)
