"""Options of the library by the parameters of estimators: kernels, affinities, landmarks."""
from __future__ import annotations

import numbers
from typing import Any, Dict

import numpy as np

from nystream import _data
from nystream._errors import hint, usage_error
from nystream._estimator import as_float

KERNELS = ("rbf", "linear", "laplacian", "poly", "cosine")
KERNELS_WITH_GAMMA = ("rbf", "laplacian", "polynomial")
LANDMARKS = 1000  # the number where n_landmarks is None
NEIGHBORS = "nearest_neighbors"
AFFINITIES = ("rbf", "laplacian", "poly", "cosine", "linear", NEIGHBORS)


def kernel_options(kernel: str, gamma: Any, degree: int, coef0: float) -> Dict[str, Any]:
    """Return the options of a kernel by scikit-learn's parameters."""
    if kernel not in (*KERNELS, "polynomial"):
        raise usage_error(f"kernel= is one of {'|'.join(KERNELS)}, not {kernel!r}"
                          + (": the rows themselves are needed" if kernel == "precomputed"
                             else hint(kernel, KERNELS) if isinstance(kernel, str) else ""),
                          "kernel")
    name = {"poly": "polynomial"}.get(kernel, kernel)
    options: Dict[str, Any] = {"kernel": name}
    wanted = "a number, or None or 'auto' (the data choose)"
    if isinstance(gamma, str) and gamma != "auto":
        raise usage_error(f"gamma= is {wanted}, not {gamma!r}", "gamma")
    if not (gamma is None or isinstance(gamma, str)) and name in KERNELS_WITH_GAMMA:
        options["gamma"] = as_float("gamma", gamma, wanted)
    if name == "polynomial":
        options.update(degree=degree, coef0=as_float("coef0", coef0))
    return options


def most_landmarks(estimator: Any, n: int) -> int:
    """Return n_landmarks of an estimator of n rows, of which there are no more."""
    wanted = estimator.n_landmarks
    return min(LANDMARKS if wanted is None else int(wanted), n)


def has_rows(estimator: Any) -> bool:
    """Return whether the landmarks of an estimator are rows of X, which have numbers."""
    given = estimator.landmarks
    return given is None or (not _data.is_sparse(given) and np.ndim(given) == 1)


def landmark_options(estimator: Any, most: int) -> Dict[str, Any]:
    """Return the options of landmarks: those that are given, or at most so many that are chosen."""
    given = estimator.landmarks
    if isinstance(given, numbers.Integral):
        number = "n_landmarks" if hasattr(estimator, "n_landmarks") else "n_components"
        raise ValueError(f"landmarks= takes the landmarks themselves, points or row numbers; their "
                         f"number is {number}={given}")
    if given is None:
        return {"landmarks": most, "select": estimator.selection}
    return {"landmarks_file" if has_rows(estimator) else "landmarks_points": given}


def refuse_landmarks(estimator: Any, choice: str) -> None:
    """UsageError, in the library's words, where landmarks are given and this choice has none."""
    if estimator.landmarks is not None:
        raise usage_error(f"landmarks_points= does not act with {choice}, which takes all rows; "
                          "leave it out", "landmarks_points")


def affinity_options(estimator: Any, n: int) -> Dict[str, Any]:
    """Return the options of the affinity of a Laplacian."""
    if estimator.affinity not in (*AFFINITIES, "polynomial"):
        raise ValueError(f"affinity= is one of {'|'.join(AFFINITIES)}, not {estimator.affinity!r}; "
                         "an affinity of your own is Store.graph(edges=…)")
    if estimator.affinity == NEIGHBORS:
        refuse_landmarks(estimator, f"affinity={NEIGHBORS!r}")
        return {"map": "eigenmaps", "connect": True, "edge_weights": "binary",
                "neighbors": min(estimator.n_neighbors, n - 1)}
    return {"map": "laplacian", **landmark_options(estimator, most_landmarks(estimator, n)),
            **kernel_options(estimator.affinity, estimator.gamma, 3, 1)}
