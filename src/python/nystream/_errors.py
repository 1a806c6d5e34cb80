"""Exceptions, one class for each status of the library, and their words.

Each is also the built-in exception that programs expect: a wrong option is a ValueError, a file
that cannot be read an OSError, a memory budget that is too small a MemoryError.
"""
from __future__ import annotations

import contextlib
import contextvars
import errno
import os
import re
from typing import Any, Dict, Iterator, Optional, Type

from nystream._lib import OPTIONS


class NystreamWarning(UserWarning):
    """A warning of the library, such as of more landmarks than there are rows."""


class NystreamError(Exception):
    """An error of the library.

    Attributes
    ----------
    status : int
        The number in nystream.h, which is the exit code of the command.
    kind : str
        "usage", "bad-input", "io", "damaged", "busy", "numerics", "budget" or "internal".
    file : str or None
        The file that it is about.
    line : int or None
        The line of a text file, from 1, or the row of other data, from 0.
    option : str or None
        The option that the message is about, such as "row_normalize".
    report : dict or None
        Findings of the call before it failed, such as the damage that verify() lists.
    """

    status: int = 9
    kind: str = "internal"
    file: Optional[str] = None
    line: Optional[int] = None
    option: Optional[str] = None
    report: Optional[Dict[str, Any]] = None


class UsageError(NystreamError, ValueError):
    """An option, a value or a name is not one."""

    status, kind = 2, "usage"


class DataError(NystreamError, ValueError):
    """The data cannot be used."""

    status, kind = 3, "bad-input"


class FileError(NystreamError, OSError):
    """A file cannot be read or written, or a path is not a store."""

    status, kind = 4, "io"


class MissingFileError(FileError, FileNotFoundError):
    """A file, a store or a folder is not there."""


class StoreError(NystreamError):
    """The store or the model is damaged, or a file is no model."""

    status, kind = 5, "damaged"


class BusyError(NystreamError, BlockingIOError):
    """Another process or thread writes to the store, or has changed what was read."""

    status, kind = 6, "busy"


class NumericError(NystreamError, ArithmeticError):
    """The computation fails numerically."""

    status, kind = 7, "numerics"


class BudgetError(NystreamError, MemoryError):
    """It does not fit in the memory budget, or takes longer than ``time_limit``.

    Attributes
    ----------
    needed : int or None
        Bytes with which the fit would run; None where that is not known, or time is what lacks.
    """

    status, kind = 8, "budget"
    needed: Optional[int] = None


CLASSES: Dict[int, Type[NystreamError]] = {
    kind.status: kind for kind in (UsageError, DataError, FileError, StoreError, BusyError,
                                   NumericError, BudgetError)}

_CALLS = {"import": "append()", "eval": "evaluate()", "rm": "remove()", "report": "html()",
          "info": "store.report"}
# Rows that are in no store of the caller have this name.
IN_MEMORY = "X (in memory)"
# A matrix of edges is in such a file while the call runs, and is not kept with the graph.
_EDGES = re.compile(r"(?:/[^/\s']+)*/\.nystream-[\w-]+/edges\.npz\b")
_EDGES_GONE = re.compile(rf"cannot open {_EDGES.pattern}: .*", re.DOTALL)
_COMMAND = re.compile(r"'nystream ([a-z]+)[^']*'|\(nystream ([a-z]+)\)")
_WORD = r"[0-9.]+e-?[0-9]+|[0-9][\w.]*\w|[0-9]|[A-Z]+\b|[a-z][a-z0-9]*\b|'[^']*'"
_OPTION = re.compile(rf"--(no-)?([a-z][a-z0-9]*(?:-[a-z0-9]+)*)(?: ({_WORD}))?")
_SIZE = re.compile(r"(?![0-9.]+(?:e-?[0-9]+)?$)[0-9]\w*")  # such as 269M or 20x30, no number
_RESUME = re.compile(r"resume with: nystream .*$", re.DOTALL)


def _spell_command(match: "re.Match[str]") -> str:
    verb = match[1] or match[2]
    call = _CALLS.get(verb, f"{verb}()")
    return call if match[1] else f"({call})"


def _spell_option(match: "re.Match[str]") -> str:
    negative, name, word = match.groups()
    option, spelled = OPTIONS.get(name), name.replace("-", "_")
    rest = f" {word}" if word else ""
    if option is None:
        return f"{negative or ''}{spelled}".replace("-", "_") + rest
    if option.argument is None:
        return f"{spelled}={not negative}{rest}"
    if not "a" <= (word or "")[:1] <= "z":
        rest = f'"{word}"' if _SIZE.fullmatch(word or "") else word or ""
    elif word in option.argument.split("|"):
        rest = f'"{word}"'
    return f"{spelled}={rest}"


def spell_for_python(text: str) -> str:
    """Spell options and commands in a message of the library as Python has them.

    Examples
    --------
    >>> spell_for_python("it needs 269 MiB; give --memory 269M, or --no-pilot")
    'it needs 269 MiB; give memory="269M", or pilot=False'
    """
    text = text.replace(IN_MEMORY, "X")
    text = _EDGES_GONE.sub("the matrix that edges= was is not kept with the graph; give it again",
                           text)
    text = _EDGES.sub("edges=", text)
    text = _RESUME.sub("resume with: store.result(NAME).resume()", text)
    text = _COMMAND.sub(_spell_command, text)
    return _OPTION.sub(_spell_option, text)


# The library says so of a file, a store or a folder that is not there.
_MISSING = re.compile(rf"cannot (?:open|write) .*: {re.escape(os.strerror(errno.ENOENT))}|"
                      r"there is no (?:file|store) ", re.DOTALL)


def error_of(status: int, message: str) -> NystreamError:
    """Make the error of a status of the library and of its message."""
    kind = CLASSES.get(status, NystreamError)
    if kind is FileError and _MISSING.match(message):
        kind = MissingFileError
    error = kind(spell_for_python(message))
    error.status = status
    if isinstance(error, MissingFileError):
        error.errno = errno.ENOENT
    return error


def usage_error(message: str, option: Optional[str] = None) -> UsageError:
    """Make the error of an option that the library would refuse in other words."""
    error = UsageError(message)
    error.option = option
    return error


def budget_error(message: str, needed: Optional[int] = None) -> BudgetError:
    """Make the error of what finds no room in memory."""
    error = BudgetError(message)
    error.needed = needed
    return error


# Parameters of the estimator that calls, by options; None: the caller gives options.
_NAMES: "contextvars.ContextVar[Optional[Dict[str, str]]]" = contextvars.ContextVar(
    "_NAMES", default=None)
_REMOVAL = r"give another name=, or remove this one: nystream.open(STORE).remove(\1)"
# Advice in place of options that no estimator has: its rows are prepared before it gets them.
_PREPARATION = ((r'nan="drop" leaves such rows out', "take such rows out of X first"),
                (r'scale="\w+"', "sklearn.preprocessing.StandardScaler in front of it"),
                (r"of the store \(from 0\)", "of X (from 0)"),
                (r"^('[^']*') (.*); give (?:restart=True to replace it, or another name|another "
                 r"name, or (?:resume with: .*|it can be resumed))$", rf"\1 \2; {_REMOVAL}"),
                (r"\b(?:begin|fit|make) it (?:anew|again) with restart=True",
                 "remove the result (nystream.open(STORE).remove(NAME)), and fit again"))


def spell_for_caller(text: str) -> str:
    """Spell a message of the library as whoever called it says options."""
    text, names = spell_for_python(text), _NAMES.get()
    return text if names is None else _rename(text, names)


def _rename(text: str, names: Dict[str, str]) -> str:
    for option, words in _PREPARATION:
        text = re.sub(option, words, text)
    return re.sub(r"\b(\w+)=", lambda match: names.get(match[1], match[1]) + "=", text)


@contextlib.contextmanager
def renamed(names: Dict[str, str]) -> Iterator[None]:
    """Spell options as parameters of an estimator in warnings and in what is raised.

    Parameters
    ----------
    names : dict
        Parameters by options, such as {"landmarks": "n_landmarks"}.
    """
    token = _NAMES.set(names)
    try:
        yield
    except NystreamError as error:
        error.args = (_rename(str(error), names),)
        error.option = names.get(error.option or "", error.option)
        raise
    finally:
        _NAMES.reset(token)
