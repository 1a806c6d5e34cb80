"""Files that Python writes in place of others: a full disk or a kill leaves the older one."""
from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path
from typing import Union


def write_file(file: Union[str, "os.PathLike[str]"], content: bytes) -> None:
    """Write a file beside the one that it replaces, sync it, and rename it in one step.

    It has the rights of the older file, and a link stays one. What is no regular file, such as a
    pipe, is written as it is.
    """
    path = Path(os.path.realpath(file))
    rights = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
    if rights is not None and not path.is_file():
        path.write_bytes(content)
        return
    beside = path.with_name(f".nystream-{secrets.token_hex(8)}.tmp")
    opened = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, rights or 0o666)
    try:
        with open(opened, "wb") as out:
            if rights is not None:
                with contextlib.suppress(PermissionError):
                    os.chmod(opened, rights)
            out.write(content)
            out.flush()
            os.fsync(opened)
        os.replace(beside, path)
    except BaseException:
        beside.unlink()
        raise
    with contextlib.suppress(OSError):  # it may not be readable, and not all file systems sync it
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
