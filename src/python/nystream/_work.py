"""One call of the library in a thread of its own, and Ctrl-C meanwhile."""
from __future__ import annotations

import contextlib
import ctypes as C
import signal
import threading
from typing import Any, Iterator, Optional, Tuple

from nystream._lib import lib


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


@contextlib.contextmanager
def nothing_when_stopped() -> Iterator[None]:
    """Say on Ctrl-C that nothing is kept of the calls in this block, be one of them over or not."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt("stopped; the same call starts over") from None
