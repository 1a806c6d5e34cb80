"""Checks of what nystream.tl is given: an AnnData, its layers, and whether X is counts."""
from __future__ import annotations

from typing import Any, Optional

from nystream._columns import listed
from nystream._errors import usage_error


def check_is_cells(function: str, name: str, value: Any) -> None:
    """TypeError where an argument of a function of nystream.tl is no AnnData."""
    parts = ("obs", "var", "obsm", "uns", "obs_names", "var_names")
    if all(hasattr(value, part) for part in parts) and not hasattr(value, "iloc"):
        return
    raise TypeError(f"nystream.tl.{function}() takes an AnnData as {name}, not "
                    f"{type(value).__name__}")


def check_layer(adata: Any, layer: Optional[str]) -> None:
    """UsageError where the AnnData does not have this layer."""
    if layer is not None and layer not in adata.layers:
        there = listed(list(map(str, adata.layers))) or "none"
        raise usage_error(f"layer={layer!r} is not in adata.layers, which has {there}",
                          "layer")
