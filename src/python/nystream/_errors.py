"""Exceptions, one class for each status of the library, and their words.

Each is also the built-in exception that programs expect: a wrong option is a ValueError, a file
that cannot be read an OSError, a memory budget that is too small a MemoryError.
"""
from __future__ import annotations

import contextlib
import contextvars
import ctypes as C
import errno
import os
import re
from typing import Any, Dict, Iterable, Iterator, Optional, Type

from nystream._lib import OPTIONS, lib


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


class DataError(NystreamError, ValueError):
    """The data cannot be used."""


class FileError(NystreamError, OSError):
    """A file cannot be read or written, or a path is not a store."""


class MissingFileError(FileError, FileNotFoundError):
    """A file, a store or a folder is not there."""


class StoreError(NystreamError):
    """The store or the model is damaged, or a file is no model."""


class BusyError(NystreamError, BlockingIOError):
    """Another process or thread writes to the store, or has changed what was read."""


class NumericError(NystreamError, ArithmeticError):
    """The computation fails numerically."""


class BudgetError(NystreamError, MemoryError):
    """It does not fit in the memory budget, or takes longer than ``time_limit``.

    Attributes
    ----------
    needed : int or None
        Bytes with which the fit would run; None where that is not known, or time is what lacks.
    """

    needed: Optional[int] = None


CLASSES: Dict[int, Type[NystreamError]] = {
    2: UsageError, 3: DataError, 4: FileError, 5: StoreError, 6: BusyError, 7: NumericError,
    8: BudgetError}

_METHODS = {"import": "append", "eval": "evaluate", "rm": "remove", "report": "html"}
_READ = re.compile(r"--part (rows|columns)\b")  # parts that Python reads
_KEEP = re.compile(r"--keep ([0-9]+)'$")
# Rows that are read where they are have this name, and others are in a store of such a name.
IN_MEMORY = "X (in memory)"
_SCRATCH = re.compile(r"(?:/[^/\s']+)*/\.nystream-[\w-]+/rows\.nys\b")
# A matrix of edges is in such a file while the call runs, and is not kept with the graph.
_EDGES = re.compile(r"(?:/[^/\s']+)*/\.nystream-[\w-]+/edges\.npz\b")
_EDGES_GONE = re.compile(rf"cannot open {_EDGES.pattern}: .*", re.DOTALL)
_OPERAND = "the first operand names the store, and "
_COMMAND = re.compile(r"'nystream ([a-z]+)[^']*'|\(nystream ([a-z]+)\)")
_WORD = r"[0-9.]+e-?[0-9]+|[0-9][\w.]*\w|[0-9]|[A-Z]+\b|[a-z][a-z0-9]*\b|'[^']*'"
_OPTION = re.compile(rf"--(no-)?([a-z][a-z0-9]*(?:-[a-z0-9]+)*)(?: ({_WORD}))?")
# Columns by their numbers and names, and not the word with which a sentence goes on.
_COLUMNS = re.compile(r"--((?:drop-)?columns|(?:label|id)-column) "
                      r"(?!(?:[A-Z]+|to|and|or|are|both|does|leaves|say|says|takes|what)\b|--|%s|')"
                      r"((?:[^\s;,]|,(?=\S))+)")
# Words with which the library says how a result takes in new rows.
_UPDATE = re.compile(r"\bfit --update (full or )?frozen takes\b")
_RESTART = re.compile(r"\b(fit|graph) --restart\b")
# Words with which it says where a colour comes from, and those that are clearer in Python.
_COLOURS = (("'nystream import --label-column' or --labels", "append(X, labels=LABELS)"),
            ("'nystream eval --clusters'", "evaluate(clusters=K)"))
# Words with which it says what reads HDF5: Python has h5py.
_HDF5 = re.compile(r"name it in NYSTREAM_HDF5, or save the matrix with scipy\.sparse\.save_npz$")
_H5PY = ("name it in NYSTREAM_HDF5. Where h5py is installed, append(FILE), append(FILE, "
         "labels=COLUMN) and transform(FILE) read X of one .h5ad at a time without it, unless X is "
         "stored by columns; all of them also take what anndata.read_h5ad(FILE) gives")
_SWITCHES = ("drop-results",)  # arguments of calls, and no options
_RESUME = re.compile(r"resume with: nystream .*$", re.DOTALL)


def _spell_command(match: "re.Match[str]") -> str:
    verb, part = match[1] or match[2], _READ.search(match[0])
    keep = _KEEP.search(match[0])
    call = _METHODS.get(verb, verb) + "()"
    if verb == "info":
        call = "store.report"
    elif keep:
        call = f"store.truncate({keep[1]})"
    elif part:
        call = f'part("{part[1]}")'
    elif "--skip-damaged" in match[0]:
        call = "export(skip_damaged=True)"
    return call if match[1] else f"({call})"


def _spell_update(match: "re.Match[str]") -> str:
    return ("update() or " if match[1] else "") + 'update("frozen") takes'


def _spell_columns(match: "re.Match[str]") -> str:
    columns = match[2] if match[2].isdigit() else f'"{match[2]}"'
    return f"{match[1].replace('-', '_')}={columns}"


def _spell_option(match: "re.Match[str]") -> str:
    negative, name, word = match.groups()
    option = OPTIONS.get(name)
    if name in _SWITCHES:
        return match.group().replace(f"--{name}", f"{name.replace('-', '_')}=True", 1)
    if option is None:
        rest = f" {word}" if word else ""
        return f"{negative or ''}{name}".replace("-", "_") + rest
    spelled = name.replace("-", "_") + "="
    rest = f" {word}" if word else ""
    if option.argument is None:
        return f"{spelled}{not negative}{rest}"
    if word is None:
        return spelled
    if word[0] == "'":
        return spelled + word
    if word[0].isdigit():
        return spelled + (word if re.fullmatch(r"[0-9.]+(e-?[0-9]+)?", word) else f'"{word}"')
    if word.isupper():
        return spelled + word
    return f'{spelled}"{word}"' if word in option.argument.split("|") else spelled + rest


_WIDTHS = re.compile(r"(X has ([0-9]+) columns, but .* ([0-9]+); give rows of [0-9]+ columns?)$")


def _advise_widths(match: "re.Match[str]") -> str:
    """Say how further columns are left out, where X has more than are wanted."""
    text, has, wanted = match.groups()
    return (f"{text}: X[:, :{wanted}], where the others are new" if int(has) > int(wanted)
            else text)


def spell_for_python(text: str) -> str:
    """Spell options and commands in a message of the library as Python has them.

    Examples
    --------
    >>> spell_for_python("it needs 269 MiB; give --memory 269M, or --no-pilot")
    'it needs 269 MiB; give memory="269M", or pilot=False'
    """
    text = _SCRATCH.sub("X", text.replace(_OPERAND, "").replace(IN_MEMORY, "X"))
    text = _EDGES_GONE.sub("the matrix that edges= was is not kept with the graph; give it again",
                           text)
    text = _EDGES.sub("edges=", text)
    text = _HDF5.sub(_H5PY, text)
    text = _WIDTHS.sub(_advise_widths, text)
    text = _RESUME.sub("resume with: store.result(NAME).resume()", text)
    for words, call in _COLOURS:
        text = text.replace(words, call)
    text = _COMMAND.sub(_spell_command, _UPDATE.sub(_spell_update, text))
    text = _RESTART.sub(r"\1(restart=True)", text)
    return _OPTION.sub(_spell_option, _COLUMNS.sub(_spell_columns, text))


def spell_reasons(report: Dict[str, Any]) -> Dict[str, Any]:
    """Spell the reasons of a report for what it lacks as Python has them."""
    if report.get("reasons"):
        report["reasons"] = {key: spell_for_python(text)
                             for key, text in report["reasons"].items()}
    return report


# The library says so of a file, a store or a folder that is not there.
_MISSING = re.compile(rf"cannot open .*: {re.escape(os.strerror(errno.ENOENT))}|the folder of .* "
                      r"does not exist|there is no (?:file|store) ", re.DOTALL)


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
    error.status, error.kind, error.option = 2, "usage", option
    return error


def data_error(message: str) -> DataError:
    """Make the error of rows that the library would refuse in other words."""
    error = DataError(message)
    error.status, error.kind = 3, "bad-input"
    return error


def budget_error(message: str, needed: Optional[int] = None) -> BudgetError:
    """Make the error of what finds no room in memory."""
    error = BudgetError(message)
    error.status, error.kind, error.needed = 8, "budget", needed
    return error


def busy_error(message: str) -> BusyError:
    """Make the error of a call that another one does not let in."""
    error = BusyError(message)
    error.status, error.kind = 6, "busy"
    return error


def nearest(name: str, known: Iterable[str]) -> Optional[str]:
    """Return the nearest of the names that are known; None where none is near."""
    word, *names = (one.encode(errors="surrogatepass") for one in (name, *known))
    near = lib.ny_suggest(word, (C.c_char_p * len(names))(*names), len(names))
    return near.decode(errors="surrogatepass") if near else None


def hint(name: str, known: Iterable[str]) -> str:
    """Return "; did you mean 'rbf'?" where one of these is near, and else nothing."""
    near = nearest(name, known)
    return "" if near is None else f"; did you mean {near!r}?"


def no_attribute(module: str, name: str, known: Iterable[str]) -> AttributeError:
    """Make the error for a name that a module does not have, with the nearest that it has."""
    return AttributeError(f"module {module!r} has no attribute {name!r}{hint(name, known)}")


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
                (r"^('[^']*') lacks (.*); update\(\) or update\(\"frozen\"\) takes them in$",
                 r"\1 lacks \2; nystream.open(STORE).result(\1).update() takes them in, and so "
                 "does a fit with another name="),
                (r"; (?:fit\()?restart=True\)? makes it again with them",
                 "; a fit with another name= has them"),
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
