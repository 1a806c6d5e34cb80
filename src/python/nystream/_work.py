"""Calls of the library: one in a thread of its own, Ctrl-C meanwhile, and the end of Python."""
from __future__ import annotations

import atexit
import contextlib
import ctypes as C
import os
import signal
import threading
import time
import weakref
from typing import Any, Dict, Iterator, List, Optional, Tuple

from nystream._lib import lib

_running: Dict[object, C.c_void_p] = {}  # the contexts of the calls that run
_stopped: List[threading.Thread] = []  # they end once they have removed what they made
_is_ending = False
UNWOUND_S = 5  # the time that each of them has for that


@contextlib.contextmanager
def running(pointer: C.c_void_p) -> Iterator[None]:
    """Let the end of the interpreter stop the call in this block, and the daemon thread with it."""
    call = object()
    _running[call] = pointer  # before the look at _is_ending: _end_calls() does it the other way
    try:
        if not _ends_here():
            yield
    finally:
        if _ends_here():
            lib.ny_context_interrupt(pointer, 0)
            _stopped.append(threading.current_thread())
        _running.pop(call, None)
        if _ends_here():
            raise SystemExit  # which ends a thread without a word


def _ends_here() -> bool:
    return _is_ending and threading.current_thread() is not threading.main_thread()


def _end_calls() -> None:
    """Stop the calls that daemon threads are in, and wait: Python and OpenBLAS end behind this."""
    global _is_ending
    _is_ending = True
    while _running:
        for pointer in list(_running.values()):
            lib.ny_context_interrupt(pointer, 2)
        time.sleep(0.01)
    for thread in _stopped:
        with contextlib.suppress(AssertionError, RuntimeError):  # a thread that is not Python's own
            thread.join(UNWOUND_S)


# The function that is registered last runs first. That of weakref, which removes temporary folders,
# is registered with the first finalizer, and has to run behind _end_calls().
weakref.finalize(lib, bool)
atexit.register(_end_calls)
os.register_at_fork(after_in_child=_running.clear)


class Work(threading.Thread):
    """A call in a thread of its own; `status` or `error` is there when `done` is set."""

    def __init__(self, function: Any, arguments: Tuple[Any, ...]) -> None:
        super().__init__(name="nystream", daemon=True)
        self.done = threading.Event()
        self.status = 0
        self.error: Optional[BaseException] = None
        self._call = function, arguments
        self._gate, self._begun, self._cancelled = threading.Lock(), False, False

    def run(self) -> None:
        """Make the call, unless it was cancelled before."""
        with self._gate:
            self._begun = not self._cancelled
        function, arguments = self._call
        try:
            if self._begun:
                self.status = function(*arguments)
        except BaseException as error:  # ctypes refuses an argument
            self.error = error
        finally:
            self.done.set()

    def cancel(self) -> bool:
        """Return whether the call has not begun; it then never does."""
        with self._gate:
            self._cancelled = not self._begun
            return self._cancelled


class Interrupts:
    """Counts Ctrl-C while a call runs, and tells the library, in place of KeyboardInterrupt.

    KeyboardInterrupt could come between two lines and lose what runs. Only the main thread gets
    signals, and a handler that a program has set itself stays; what it raises stops the call, too.
    """

    def __init__(self, pointer: C.c_void_p) -> None:
        self.count, self._pointer = 0, pointer
        self._mine = (threading.current_thread() is threading.main_thread()
                      and signal.getsignal(signal.SIGINT) is signal.default_int_handler)

    def __enter__(self) -> "Interrupts":
        if self._mine:
            signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(self, *_error: object) -> None:
        if self._mine:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _interrupt(self, _signal: int, _frame: object) -> None:
        self.count += 1
        lib.ny_context_interrupt(self._pointer, 2)
