"""Columns of new rows, by their names: put in the order of those that the fit was made of.

Rows without names, such as those of an array, are taken as they stand.
"""
from __future__ import annotations

import warnings
from typing import Any, Iterator, List, NamedTuple, NoReturn, Optional

import numpy as np

from nystream import _data
from nystream._arrow import is_arrow
from nystream._batch import TOLD, Batch, make_batch
from nystream._context import logger, stack_level
from nystream._errors import DataError, NystreamWarning


class Columns(NamedTuple):
    """The names of columns, in their order, or None where they have none; and whose they are."""

    names: Optional[List[str]]
    whose: str

    def batches(self, X: Any) -> Iterator[Batch]:
        """Read rows of any kind, each with these columns in this order.

        Further columns that a frame, an AnnData or its file has are left out, with a warning.
        DataError where one of these is missing.
        """
        if self.names is None:
            return _data.batches(X)[1]
        if hasattr(X, "__next__"):
            return _data.batches(map(self.select, X))[1]
        if _is_frame(X):
            return _data.batches(self.select(X))[1]
        order, found = self._order(X), _data.batches(X)[1]
        return found if order is None else (_take(batch, order) for batch in found)

    def select(self, frame: Any) -> Any:
        """Return a frame with these columns alone, in their order; all else as it is."""
        if self.names is None or not _is_frame(frame) or self._order(frame) is None:
            return frame
        return frame.select(self.names) if not hasattr(frame, "iloc") else frame[self.names]

    def _order(self, X: Any) -> Optional[List[int]]:
        """Return where these columns are in X; None where they stand so, or X has no names."""
        found, names = _data.column_names(X), self.names or []
        if found is None or found == names:
            return None
        places = {name: place for place, name in enumerate(found)}
        lost = [name for name in names if name not in places]
        if lost and not hasattr(X, "iloc") and len(found) < len(names):
            return None  # one column may hold a list of numbers
        if lost:
            _refuse(f"X has no column{'s' if len(lost) > 1 else ''} {_listed(lost)}, which "
                    f"{self.whose} has; give it, or an array, whose columns are taken as they "
                    "stand")
        if len(set(names)) < len(names) or len(places) < len(found):
            _refuse(f"X has other columns than {self.whose}, and some of one name, so that their "
                    "order cannot be told; give them in its order")
        self._tell(found)
        return [places[name] for name in names]

    def _tell(self, found: List[str]) -> None:
        known = set(self.names or [])
        others = [name for name in found if name not in known]
        if others:
            warnings.warn(f"X: {len(others)} column{'s are' if len(others) > 1 else ' is'} left "
                          f"out, which {self.whose} does not have: {_listed(others)}",
                          NystreamWarning, stacklevel=stack_level())
        else:
            logger.info("X: its columns stand in another order than those of %s, and are taken by "
                        "their names", self.whose)


def _is_frame(X: Any) -> bool:
    return hasattr(X, "iloc") or (is_arrow(X) and hasattr(X, "select"))


def _listed(names: List[str]) -> str:
    """Write "'a', 'b' and 3 more"."""
    more = f" and {len(names) - TOLD} more" if len(names) > TOLD else ""
    return ", ".join(map(repr, names[:TOLD])) + more


def _refuse(message: str) -> NoReturn:
    error = DataError(message)
    error.status, error.kind = 3, "bad-input"
    raise error


def _take(batch: Batch, order: List[int]) -> Batch:
    """Return the columns that are listed, in their order."""
    return make_batch(batch.piece(0, batch.rows)[:, np.array(order)])
