"""Parameters of estimators, which a class declares once, and options of the library by them."""
from __future__ import annotations

import inspect
import numbers
from typing import Any, Callable, Dict, Optional, Type, TypeVar

import numpy as np

from nystream import _data, _lib
from nystream._errors import usage_error
from nystream._estimator import as_float

POLY = {"polynomial": "poly"}  # names of scikit-learn
CHOSEN = 1000  # landmarks where n_landmarks is None
NEIGHBORS = "nearest_neighbors"
KERNELS = tuple(POLY.get(name, name).replace("-", "_")
                for name in str(_lib.OPTIONS["kernel"].argument).split("|")
                if name != "precomputed")
AFFINITIES = (*KERNELS, NEIGHBORS)
RUN: Dict[str, Any] = {"memory": None, "n_jobs": None, "random_state": None, "tmpdir": None,
                       "verbose": False}
STORED: Dict[str, Any] = {**RUN, "store": None, "name": None}
LANDMARKS: Dict[str, Any] = {"n_landmarks": None, "accuracy": None, "selection": None,
                             "landmarks": None}
Estimator = TypeVar("Estimator")


def _default(option: _lib.Option) -> Any:
    """Return the default of a kernel's parameter, None of one that the rows decide."""
    text = str(option.fallback)
    if text == "auto":
        return None
    return int(text) if text.isdigit() else float(text)


# The parameters of all kernels come from the library's table: a later kernel brings its own.
KERNEL: Dict[str, Any] = {
    **{option.name: _default(option) for option in _lib.OPTIONS.values()
       if option.kernels and option.fallback}, "kernel_params": None}


def takes(first: Optional[str] = None,
          **defaults: Any) -> Callable[[Type[Estimator]], Type[Estimator]]:
    """Give a class an __init__ that keeps these parameters; `first` may come without its name."""
    Parameter = inspect.Parameter
    signature = inspect.Signature([Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)] + [
        Parameter(name, Parameter.POSITIONAL_OR_KEYWORD if name == first
                  else Parameter.KEYWORD_ONLY, default=default)
        for name, default in defaults.items()])

    def __init__(self: Any, *given: Any, **named: Any) -> None:
        bound = signature.bind(self, *given, **named)
        bound.apply_defaults()
        for name in defaults:
            setattr(self, name, bound.arguments[name])

    def decorate(cls: Type[Estimator]) -> Type[Estimator]:
        setattr(__init__, "__signature__", signature)
        setattr(cls, "__init__", __init__)
        return cls

    return decorate


def kernel_options(estimator: Any, kernel: str) -> Dict[str, Any]:
    """Return the options of a kernel, by parameters of the estimator and its kernel_params."""
    if kernel not in (*KERNELS, "polynomial"):
        raise usage_error(f"kernel= is one of {'|'.join(KERNELS)}, not {kernel!r}"
                          + (": the rows themselves are needed" if kernel == "precomputed" else ""),
                          "kernel")
    name = "polynomial" if kernel == "poly" else kernel.replace("_", "-")
    options: Dict[str, Any] = {"kernel": name}
    for option in _lib.OPTIONS.values():
        if name in option.kernels and hasattr(estimator, option.name):
            options[option.name] = getattr(estimator, option.name)
    options.update(getattr(estimator, "kernel_params", None) or {})
    gamma = options.get("gamma", estimator.gamma)
    wanted = "a number, or None or 'auto' (the data choose)"
    if isinstance(gamma, str) and gamma != "auto":
        raise usage_error(f"gamma= is {wanted}, not {gamma!r}", "gamma")
    if "gamma" in options and (gamma is None or isinstance(gamma, str)):
        del options["gamma"]
    return {key: value if isinstance(value, (str, numbers.Integral))
            else as_float(key, value, wanted if key == "gamma" else "a number")
            for key, value in options.items()}


def has_width(kernel: str) -> bool:
    """Return whether a kernel, as the library calls it, has a gamma."""
    return kernel in _lib.OPTIONS["gamma"].kernels


def most_landmarks(estimator: Any, n: int) -> int:
    """Return n_landmarks of an estimator of n rows, of which there are no more."""
    wanted = estimator.n_landmarks
    return min(CHOSEN if wanted is None else int(wanted), n)


def has_rows(estimator: Any) -> bool:
    """Return whether the landmarks of an estimator are rows of X, which have numbers."""
    given = estimator.landmarks
    return given is None or (not _data.is_sparse(given) and np.ndim(given) == 1)


def landmark_options(estimator: Any, most: Optional[int]) -> Dict[str, Any]:
    """Return the options of landmarks: those that are given, or at most so many that are chosen."""
    given = estimator.landmarks
    accuracy = getattr(estimator, "accuracy", None)
    if given is not None and accuracy is not None:
        raise usage_error("accuracy= finds the number of landmarks; leave landmarks= out",
                          "accuracy")
    if given is None:
        if accuracy is not None and estimator.n_landmarks is None:
            most = None
        return {"accuracy": accuracy, "landmarks": most, "select": estimator.selection}
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
            **kernel_options(estimator, estimator.affinity)}
