"""Scratch folders for stores of one call or one estimator, and for files between the two."""
from __future__ import annotations

import contextlib
import ctypes as C
import os
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any, Iterator, Optional, Union

from nystream._context import Context
from nystream._lib import CFolder, lib


def _remove(made: CFolder, pid: int) -> None:
    """Remove a folder, in the process that made it: a child that was forked leaves it alone."""
    if os.getpid() == pid:
        lib.ny_scratch_remove(C.byref(made))


class Scratch:
    """A folder that is removed with its last reference, at the latest when Python ends.

    Parameters
    ----------
    tmpdir : path, optional
        Folder in which it is made; by default what tempfile says.
    data_bytes : int, optional
        Bytes that it will hold, about; None: not known.
    """

    def __init__(self, tmpdir: Union[None, str, "os.PathLike[str]"] = None,
                 data_bytes: Optional[int] = None) -> None:
        parent = tempfile.gettempdir() if tmpdir is None else os.fspath(tmpdir)
        context, made = Context(progress=False), CFolder()
        context.call(lib.ny_scratch_make, context.pointer, os.fsencode(parent), C.byref(made))
        folder = os.fsdecode(made.path)
        self.path = Path(folder)
        self.remove = weakref.finalize(self, _remove, made, os.getpid())
        if data_bytes is not None and shutil.disk_usage(folder).free < data_bytes:
            self.remove()
            raise OSError(f"there is no room for {data_bytes >> 20} MiB of rows in "
                          f"{self.path.parent}; choose another folder with tmpdir=")


class Lent:
    """In place of a folder, where the library reads rows where they are."""

    def __init__(self, store: Any) -> None:
        self._store = store

    def remove(self) -> None:
        """Have the library forget the rows, and what was made of them but models."""
        self._store._view.close()
        self._store._context.give_back()


@contextlib.contextmanager
def lost_when_stopped(scratch: bool) -> Iterator[None]:
    """Say on Ctrl-C that a scratch store is lost, where the rows are in one."""
    try:
        yield
    except KeyboardInterrupt as stop:
        if not scratch:
            raise
        where = str(stop).split(";", maxsplit=1)[0]
        raise KeyboardInterrupt(f"{where or 'stopped'}; the rows were in a scratch store, so the "
                                "same call starts over (one that is given a store resumes)"
                                ) from None
