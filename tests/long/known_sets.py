"""Rows of known sets, made-up and real, and their kernels.

Real sets are read from the folder NYSTREAM_DATA, as by the papers' scripts (data-tools/papers).
"""
import os
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "data-tools" / "papers"), str(ROOT / "src" / "python")]
build = Path(os.environ.get("NYSTREAM_BUILD", ROOT / "build"))
os.environ.setdefault("NYSTREAM_LIBRARY", str(build / "libnystream.so"))

from common import Absent  # noqa: E402, F401  (for those who import this)
from real_sets import REAL, Kernels  # noqa: E402, F401  (they are found by the lines above)

EVERY_KERNEL = ("rbf", "laplacian", "polynomial", "linear", "cosine")
# Sparse rows have too many columns for distances of each (laplacian).
KERNELS = {"pbmc": ("rbf", "linear", "cosine"), "tdt2": ("cosine",)}


def blobs(n):
    """Rows of five clusters that overlap a little."""
    random = np.random.default_rng(1)
    centres = 4 * random.random((5, 8))
    return (centres[random.integers(5, size=n)] + 0.3 * random.normal(size=(n, 8))).astype("f4")


def duplicates(n):
    """Rows of which most come several times, of bytes."""
    random = np.random.default_rng(2)
    pixels = 128 + 30 * random.normal(size=(400, 1)) + 8 * random.normal(size=(400, 3))
    rows = (400 * random.random(n) * random.random(n)).astype(int)
    return np.clip(pixels[rows], 0, 255).astype("u1")


def far_away(n):
    """Rows about a million."""
    return 1e6 + 5 * np.random.default_rng(3).normal(size=(n, 4))


SETS = {"blobs": blobs, "duplicates": duplicates, "offset": far_away, **REAL}


def rows_of(name, n):
    """The rows of a set, as they are stored."""
    return SETS[name](n)
