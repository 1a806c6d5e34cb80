"""Scratch folders for stores of one call or one estimator, and for files between the two.

A process that is killed leaves its folder, and the next one removes it. Names and locks are those
of the library, whose api/scratch.c says why they are so.
"""
from __future__ import annotations

import contextlib
import fcntl
import functools
import os
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Iterator, Optional, Tuple, Union

MEMORY_DISK = Path("/dev/shm")
ROOM = 4  # a scratch store in memory is for at most a quarter of what is free there


def _remove(folder: str, held: int, pid: int) -> None:
    """Remove a folder, in the process that made it: a child that was forked leaves it alone."""
    if os.getpid() == pid:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(held)


def _prefix() -> str:
    """Return what names of folders begin with: no other machine, nor an earlier boot, has it."""
    boot = "00000000"
    with contextlib.suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")[:8]
    return f".nystream-{boot}-"


@functools.lru_cache(maxsize=None)
def _remove_stale(parent: str) -> None:
    """Remove the folders that this user has made there and no process holds; once a process."""
    try:
        names = os.listdir(parent)
    except OSError:
        return
    for folder in (os.path.join(parent, name) for name in names if name.startswith(_prefix())):
        with contextlib.suppress(OSError), _opened(folder) as held:
            if os.fstat(held).st_uid == os.geteuid():
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)  # OSError where one holds it
                shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _opened(folder: str) -> Iterator[int]:
    """Open a folder in this block."""
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        yield held
    finally:
        os.close(held)


def _make(parent: str) -> Tuple[str, int]:
    """Make a folder, and open it: no other process removes it as long as it is open."""
    while True:
        folder = tempfile.mkdtemp(prefix=_prefix(), dir=parent)
        # Another process may hold it for one that is left, until it is locked.
        with contextlib.suppress(FileNotFoundError), _opened(folder) as held:
            with contextlib.suppress(OSError):  # nobody else gets a lock then, either
                fcntl.flock(held, fcntl.LOCK_SH)
            if os.path.samestat(os.fstat(held), os.stat(folder)):
                return folder, os.dup(held)  # which shares the lock


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
        parent = parent or tempfile.gettempdir()
        for place in (str(MEMORY_DISK), parent):
            _remove_stale(place)
        folder, held = _make(parent)
        self.path = Path(folder)
        self.remove = weakref.finalize(self, _remove, folder, held, os.getpid())
        if data_bytes is not None and shutil.disk_usage(folder).free < data_bytes:
            self.remove()
            raise OSError(f"there is no room for {data_bytes >> 20} MiB of rows in "
                          f"{parent}; choose another folder with tmpdir=")


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
