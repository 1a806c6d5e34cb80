"""The parameters of estimators: a class declares them once, and gets its __init__ of that."""
from __future__ import annotations

import inspect
from typing import Any, Callable, Dict, Optional, Type, TypeVar

from nystream import _lib

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
