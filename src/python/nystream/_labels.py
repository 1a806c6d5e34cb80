"""Labels as a user has them, numbers or words, and as the library takes them."""
from __future__ import annotations

import contextlib
import ctypes as C
import numbers
from typing import Any, NamedTuple, Optional

import numpy as np

from nystream._errors import usage_error

WHAT = "labels are one number or one word a row"
EXACT_LIMIT = 2 ** 53  # integers beyond it are not all values of float64
MISSING = ("", "NA", "nan", "NaN", "NAN")  # CSV files have these, too


class Names:
    """Names as the library reads them: a list of pointers to texts."""

    def __init__(self, names: Any) -> None:
        texts = [str(name).encode() for name in names]
        self.count = len(texts)
        self.pointers = (C.c_char_p * max(1, len(texts)))(*texts)


class Labels(NamedTuple):
    """Labels of rows.

    values : float64 array (rows,), NaN where one is missing; of words the places in `words`, from
    0. words : Names, each of them once, or None where labels are numbers. column : the name of the
    column that they were in, or None.
    """

    values: Any
    words: Optional[Names]
    column: Optional[str] = None

    def piece(self, first: int, end: int) -> "Labels":
        """Return the labels of rows first … end - 1."""
        return self._replace(values=self.values[first:end])


def as_labels(labels: Any, rows: Optional[int] = None) -> Optional[Labels]:
    """Return labels of any kind; rows None: any number of them.

    Words are numbered as they come, those of a pandas Categorical as its categories are. Words that
    are all numbers, such as "7", are numbers, as in a CSV file.
    """
    if labels is None:
        return None
    if hasattr(labels, "iloc") and hasattr(labels, "columns"):
        raise usage_error("labels= is a frame, and labels are one of its columns", "labels")
    found = labels if isinstance(labels, Labels) else _read(labels)
    if found.values.ndim != 1 or rows not in (None, len(found.values)):
        raise ValueError(f"{WHAT}, but have the shape {found.values.shape}"
                         + ("" if rows is None else f"; X has {rows} rows"))
    return found


def check_order(what: str, values: Any, names: Any, whose: str) -> None:
    """UsageError where a Series has the names of rows in its index, but in another order.

    Parameters
    ----------
    what : str, the argument that the values are, such as "labels"
    names : names of the rows, or None where they have none
    whose : str, what gives these names in Python
    """
    index = values.index if hasattr(values, "iloc") and not hasattr(values, "columns") else None
    if index is None or names is None or len(index) != len(names) or not index.is_unique:
        return
    found, known = list(index), list(names)
    if found != known and set(found) == set(known):
        raise usage_error(f"{what}= has the rows in another order than {whose}: give "
                          f"{what}.loc[{whose}], or {what}.to_numpy(), which is taken as it stands",
                          what)


def number_in(text: str) -> float:
    """Return the number that a text is, as files have it; ValueError where it is none.

    Python reads "0_1" as 1, and the digits of all scripts; "0_1" is the name of a cluster.
    """
    if "_" in text or not text.isascii():
        raise ValueError(f"{text!r} is not a number")
    return float(text)


def is_exact(values: Any) -> bool:
    """Return whether float64 holds the values of an array, as far as they are integers."""
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8 or not values.size:
        return True
    return int(values.max()) <= EXACT_LIMIT and int(values.min()) >= -EXACT_LIMIT


def _read(labels: Any) -> Labels:
    values = _as_array(labels)
    if not is_exact(values):
        raise ValueError("labels are integers beyond 2^53, which float64 does not hold, so that "
                         "some would be one class; numpy.unique(labels, return_inverse=True)[1] "
                         "numbers them")
    has_texts = values.dtype.kind in "US" or (values.dtype.kind == "O" and any(
        isinstance(value, (str, bytes)) for value in values.flat))
    with contextlib.suppress(TypeError, ValueError):  # some may be missing
        if not has_texts:
            return Labels(np.ascontiguousarray(values, dtype=np.float64), None)
    texts = [_text(value) for value in values.ravel().tolist()]
    words = None
    try:
        found = [np.nan if text is None else number_in(text) for text in texts]
    except ValueError:
        # Words of what is categorical in pandas keep the order of the categories.
        categories = getattr(getattr(labels, "cat", labels), "categories", None)
        known = [] if categories is None else filter(None, map(_text, categories))
        places = {name: place for place, name in enumerate(known)}
        found = [np.nan if text is None else places.setdefault(text, len(places))
                 for text in texts]
        words = Names(places)
    return Labels(np.array(found, dtype=np.float64).reshape(values.shape), words)


def _as_array(labels: Any) -> Any:
    """Return labels as an array of numpy, whatever its type."""
    if hasattr(labels, "detach") and hasattr(labels, "cpu"):  # a tensor of torch
        labels = labels.detach().cpu()
    if hasattr(labels, "iloc") and not isinstance(labels.dtype, np.dtype):  # a type of pandas
        labels = labels.to_numpy(dtype=object, na_value=None)
    return np.asarray(labels)


def is_missing(value: Any) -> bool:
    """Return whether a value is None or one of pandas that stands for a missing one."""
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _text(value: Any) -> Optional[str]:
    """Return a label as text; None where it is missing."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str):
        return None if value.strip() in MISSING else value.strip()
    if is_missing(value) or value != value:
        return None
    if isinstance(value, numbers.Real):
        return str(float(value) if isinstance(value, bool) else value)
    raise ValueError(f"{WHAT}, but one of them is {type(value).__name__}")
