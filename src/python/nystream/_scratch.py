"""Scratch folders for stores of one call or one estimator, and for files between the two."""
from __future__ import annotations

import contextlib
import ctypes as C
import os
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Iterator, Optional, Union

from nystream._context import Context
from nystream._lib import CFolder, lib

MEMORY_DISK = Path("/dev/shm")
ROOM = 4  # a scratch store in memory is for at most a quarter of what is free there


def _remove(made: CFolder, pid: int) -> None:
    """Remove a folder, in the process that made it: a child that was forked leaves it alone."""
    if os.getpid() == pid:
        lib.ny_scratch_remove(C.byref(made))


def _choose_parent(data_bytes: Optional[int], results_bytes: int, budget: int) -> Optional[str]:
    """Return /dev/shm where all of it is little, and None, the default of tempfile, where not."""
    if data_bytes is None or "TMPDIR" in os.environ or not os.access(MEMORY_DISK, os.W_OK):
        return None
    free = shutil.disk_usage(MEMORY_DISK).free
    needed = (data_bytes + results_bytes) * ROOM
    return str(MEMORY_DISK) if needed < min(free, budget) else None


class Scratch:
    """A folder that is removed with its last reference, at the latest when Python ends.

    Parameters
    ----------
    tmpdir : path, optional
        Folder in which it is made; by default /dev/shm for few data and results, else what tempfile
        says. In a container that disk is small (64 MiB in Docker's).
    data_bytes : int, optional
        Bytes that it will hold, about; None: not known.
    budget : int
        Bytes of memory that the work may take.
    results_bytes : int
        Bytes of what will be made of the data there, about.
    """

    def __init__(self, tmpdir: Union[None, str, "os.PathLike[str]"] = None,
                 data_bytes: Optional[int] = None, budget: int = 0,
                 results_bytes: int = 0) -> None:
        parent = (_choose_parent(data_bytes, results_bytes, budget) if tmpdir is None
                  else os.fspath(tmpdir))
        context, made = Context(progress=False), CFolder()
        context.call(lib.ny_scratch_make, context.pointer,
                     os.fsencode(parent or tempfile.gettempdir()), C.byref(made))
        folder = os.fsdecode(made.path)
        self.path = Path(folder)
        self.remove = weakref.finalize(self, _remove, made, os.getpid())
        if data_bytes is not None and shutil.disk_usage(folder).free < data_bytes:
            self.remove()
            raise OSError(f"there is no room for {data_bytes >> 20} MiB of rows in "
                          f"{self.path.parent}; choose another folder with tmpdir=")


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
