"""Contexts of the library: budgets, calls that Ctrl-C stops, progress, warnings.

A call that may take long runs in a thread of its own, and Python's thread waits for it: it takes
Ctrl-C, draws progress and hands warnings on meanwhile, so that no Python error is lost in a
callback of the library.
"""
from __future__ import annotations

import atexit
import contextlib
import ctypes as C
import json
import logging
import os
import re
import signal
import sys
import threading
import time
import warnings
import weakref
from collections import deque
from typing import (Any, Callable, Deque, Dict, Iterator, List, NamedTuple, Optional, Set, Tuple,
                    Union)

from nystream import _lib
from nystream._errors import (BudgetError, BusyError, NystreamError, NystreamWarning, error_of,
                              spell_for_caller, spell_for_python)
from nystream._lib import lib

WAIT_S = 0.05  # from one look at the signals and the progress to the next
DRAW_S = 0.1  # from one progress that is drawn to the next
logger = logging.getLogger("nystream")


class Progress(NamedTuple):
    """How far a call is; a callable given as `progress` gets one at most ten times a second, and
    the last one of each call. It may look at a store that it opens itself, and not at the one whose
    call it is, which is a BusyError.

    Fractions are from 0 to 1 and seconds are those left; both are negative where not known.
    """

    stage: str
    fraction: float
    seconds_left: float
    total_fraction: float
    total_seconds_left: float
    rows_done: int
    rows_total: int
    rows_per_second: float


ProgressOption = Union[None, bool, Callable[[Progress], object]]


def column_names(context: "Context", function: Any, handle: C.c_void_p) -> Optional[List[str]]:
    """Return the names of columns that a function of the library gives; None where there are none.

    They stand one behind another, each with its zero byte.
    """
    text, count = C.c_void_p(), C.c_size_t()
    context.call(function, handle, C.byref(text), C.byref(count))
    names, at = [], text.value or 0
    for _ in range(count.value):
        name = C.string_at(at)
        names.append(name.decode(errors="replace"))
        at += len(name) + 1
    return names or None


def _free_handle(function: Any, pointer: C.c_void_p, pid: int, *_owners: object) -> None:
    if os.getpid() == pid:
        function(pointer)


def free_with(holder: object, function: Any, pointer: C.c_void_p,
              *owners: object) -> Any:
    """Free a handle with its holder, in the process that made it; `owners` live until then.

    The end of the interpreter frees none, as a daemon thread may use it.
    """
    release = weakref.finalize(holder, _free_handle, function, pointer, os.getpid(), *owners)
    release.atexit = False
    return release


def spell_limit(value: object) -> str:
    """Spell a budget or a number of threads; a whole float, such as 2e9, is such a number."""
    whole = isinstance(value, float) and value.is_integer()
    return f"{value:.0f}" if whole else str(value)


class _Heard:
    """Keeps what the library's callbacks say until the waiting thread looks."""

    def __init__(self) -> None:
        self.log: Deque[Tuple[int, str]] = deque()
        self.progress: Optional[Progress] = None
        self.plan: Optional[str] = None
        self.log_fn = _lib.LOG_FN(self._hear_log)
        self.progress_fn = _lib.PROGRESS_FN(self._hear_progress)
        self.plan_fn = _lib.PLAN_FN(self._hear_plan)

    def _hear_log(self, _user: Any, level: int, message: bytes) -> None:
        self.log.append((level, message.decode(errors="replace")))

    def _hear_progress(self, _user: Any, progress: Any) -> None:
        p = progress.contents
        self.progress = Progress(p.stage.decode(), p.fraction, p.eta_s, p.job_fraction,
                                 p.job_eta_s, p.rows_done, p.rows_total, p.rows_per_s)

    def _hear_plan(self, _user: Any, plan: int) -> None:
        self.plan = lib.ny_report_json(plan).decode()


class _Bar:
    """A bar of tqdm for one call."""

    def __init__(self) -> None:
        from tqdm.auto import tqdm

        self._bar = tqdm(total=100, unit="%", bar_format="{desc} {percentage:3.0f}%|{bar}| "
                         "{elapsed}<{remaining}", leave=False)

    def __call__(self, progress: Progress) -> None:
        self._bar.set_description_str(progress.stage, refresh=False)
        if progress.total_fraction >= 0:
            self._bar.n = 100 * progress.total_fraction
        self._bar.refresh()

    def close(self) -> None:
        self._bar.close()


def _share_of_worker() -> Tuple[Optional[int], int]:
    """Threads that a worker of joblib or a process pool may use, and how many share the memory.

    joblib tells its workers by the variables that the libraries of linear algebra read.
    """
    told = [os.environ.get(name, "") for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")]
    threads = min((int(text) for text in told if text.isdigit() and int(text) > 0), default=None)
    process = sys.modules.get("multiprocessing.process")  # a worker has it
    if threads is None or process is None or process.parent_process() is None:
        return threads, 1
    return threads, max(1, len(os.sched_getaffinity(0)) // threads)


def stack_level() -> int:
    """Return the frames up to the first outside of this package, where warnings are shown."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] == "nystream":
        level, frame = level + 1, frame.f_back
    return level


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


def warn(message: str) -> None:
    """Give a NystreamWarning, shown where this package was called."""
    warnings.warn(message, NystreamWarning, stacklevel=stack_level())


class Context:
    """A context of the library with its budget; made anew in a process that was forked."""

    _blas_checked = False

    def __init__(self, memory: Union[None, int, str] = None, threads: Optional[int] = None,
                 progress: ProgressOption = None) -> None:
        self.memory, self.threads = memory, threads
        self.progress = progress if callable(progress) or progress is None else bool(progress)
        self._open()

    def __getstate__(self) -> Dict[str, Any]:
        return {"memory": self.memory, "threads": self.threads,
                "progress": self.progress if isinstance(self.progress, bool) else None}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def _open(self) -> None:
        # A disk that fails below a mapped file is an exception then, and not the end of Python. A
        # handler that was installed since the last call is kept behind the library's own.
        if os.environ.get("NYSTREAM_SIGBUS") != "no":
            lib.ny_guard_sigbus()
        self._pid = os.getpid()
        self._lock = threading.RLock()
        self._heard = _Heard()
        self._pointer = C.c_void_p()
        self._drawn_s = 0.0
        self._waiting: Optional[int] = None  # the thread that waits for a call
        self._told: Optional[Set[str]] = None
        self.holds = False  # rows, sums or a model in memory, which a forked process has, too
        self.borrowed: Any = None  # rows that the library reads where they are
        self.check(lib.ny_context_new(C.byref(self._pointer)))
        self._release = free_with(self, lib.ny_context_free, self._pointer, self._heard)
        lib.ny_context_set_log(self._pointer, self._heard.log_fn, None)
        lib.ny_context_set_progress(self._pointer, self._heard.progress_fn, None)
        lib.ny_context_set_plan(self._pointer, self._heard.plan_fn, None)
        threads, sharers = _share_of_worker()
        if self.threads is None and threads:
            lib.ny_context_set_threads(self._pointer, threads)
        if self.memory is None and sharers > 1:
            lib.ny_context_set_memory(self._pointer,
                                      lib.ny_context_memory(self._pointer) // sharers)
        self._set_limit("threads", self.threads)
        self._set_limit("memory", self.memory)
        if not Context._blas_checked:
            Context._blas_checked = True
            _lib.check_blas(stack_level() + 1)

    def _set_limit(self, name: str, value: object) -> None:
        """Set the budget or the threads for good, through an option, which reads "8G"."""
        options = C.c_void_p()
        if value is None:
            return
        self.check(lib.ny_options_new(C.byref(options), self._pointer))
        try:
            self.check(lib.ny_options_set(options, name.encode(), spell_limit(value).encode()))
        finally:
            lib.ny_options_free(options)

    @property
    def pointer(self) -> C.c_void_p:
        """The handle, of this process."""
        self._follow()
        return self._pointer

    def _follow(self) -> None:
        """Make the handle, or only what guards it, anew in a process that was forked."""
        if os.getpid() == self._pid:
            return
        if self.holds:
            self._pid, self._lock, self._waiting = os.getpid(), threading.RLock(), None
        else:
            self._open()

    @property
    def lock(self) -> Any:
        """Held during a call: a context serves one thread at a time.

        BusyError in what a call runs in the thread that waits for it, such as its progress.
        """
        self._follow()
        if self._waiting == threading.get_ident():
            raise BusyError("a call is still running, and what it calls itself, such as progress= "
                             "or a signal handler, cannot make another call with the same store "
                             "or model; open the store once more for that")
        return self._lock

    @property
    def memory_bytes(self) -> int:
        """The budget in bytes."""
        return int(lib.ny_context_memory(self.pointer))

    def check(self, status: int) -> None:
        """Raise the exception of a status that is not 0."""
        if status:  # no variable may hold the error: its traceback would hold this frame, and so on
            raise self._error_of(status)

    def _error_of(self, status: int) -> NystreamError:
        said = lib.ny_context_error(self._pointer).contents
        message = said.message.decode(errors="replace") if said.message else ""
        error = error_of(status, message)
        error.kind = lib.ny_status_kind(status).decode()
        error.file = os.fsdecode(said.file) if said.file else None
        error.line = said.line if said.has_line else None
        error.option = said.option.decode().replace("-", "_") if said.option else None
        if isinstance(error, BudgetError) and self._heard.plan:
            plan = json.loads(self._heard.plan)
            error.needed = None if plan["fits"] else plan["memory_min_bytes"]
        return error

    def give_back(self) -> None:
        """Have the library forget the rows that it reads where they are."""
        with self.lock:
            lib.ny_give_back(self.pointer)
        self.borrowed = None

    def call(self, function: Any, *arguments: Any) -> None:
        """Make a call that is over in milliseconds."""
        self.run(function, *arguments, long=False)

    def image(self, function: Any, handle: C.c_void_p) -> bytes:
        """Return the image that a function gives, as a copy."""
        image, count = C.c_void_p(), C.c_size_t()
        with self.lock:
            self.call(function, handle, C.byref(image), C.byref(count))
            return C.string_at(image, count.value)

    def like(self) -> "Context":
        """Return another context with the same budget, threads and progress."""
        return Context(self.memory, self.threads, self.progress)

    def run(self, function: Any, *arguments: Any, long: bool = True) -> None:
        """Make a call that may take long; Ctrl-C stops it at its next checkpoint.

        Raises
        ------
        KeyboardInterrupt
            After the call has stopped. What it has done is kept: the same call goes on.
        """
        with self.lock:
            self._heard.plan = self._heard.progress = None
            with running(self._pointer):
                status = self._run(function, arguments) if long else function(*arguments)
            self.check(status)

    def _run(self, function: Any, arguments: Tuple[Any, ...]) -> int:
        """Make the call in this thread, or in one of its own where something else is looked at."""
        if not self.progress and threading.current_thread() is not threading.main_thread():
            status: int = function(*arguments)
            self._tell(None)
            return status
        self._waiting = threading.get_ident()
        try:
            return self._wait(function, arguments)
        finally:
            self._waiting = None

    @contextlib.contextmanager
    def once(self) -> Iterator[None]:
        """Hand on each warning once in this block, whatever numbers it has."""
        with self.lock:
            self._told = set()
            try:
                yield
            finally:
                self._told = None

    def _wait(self, function: Any, arguments: Tuple[Any, ...]) -> int:
        """Run the function in a thread and wait for it; an exception meanwhile stops it."""
        work = Work(function, arguments)
        stopped: Optional[BaseException] = None
        drawer = _Bar() if self.progress is True else self.progress or None
        with Interrupts(self._pointer) as interrupts:
            try:
                work.start()
            except BaseException as error:
                if work.cancel():
                    raise
                stopped = error
                lib.ny_context_interrupt(self._pointer, 2)
            while not work.done.is_set():
                try:
                    work.done.wait(WAIT_S)
                    if stopped is None:
                        self._tell(drawer)
                except BaseException as error:
                    stopped = stopped or error
                    lib.ny_context_interrupt(self._pointer, 2)
            if stopped is None and not interrupts.count:
                try:
                    self._tell(drawer, last=True)
                except BaseException as error:
                    stopped = error
        lib.ny_context_interrupt(self._pointer, 0)
        if isinstance(drawer, _Bar):
            drawer.close()
        if work.error is not None:
            raise work.error
        if interrupts.count:
            raise KeyboardInterrupt(self._where_it_stopped(work.status))
        if stopped is not None:
            raise stopped
        return work.status

    def _where_it_stopped(self, status: int) -> str:
        if status != _lib.EINTERRUPTED:
            return "the call had already finished"
        seen = self._heard.progress
        at = f"stopped in {seen.stage}" if seen else "stopped"
        if seen and seen.total_fraction >= 0:
            at += f", at {100 * seen.total_fraction:.0f} %"
        return at

    def _tell(self, drawer: Optional[Callable[[Progress], object]], last: bool = False) -> None:
        """Hand on what the library said, on Python's thread; how far it came always at the end."""
        heard = self._heard
        while heard.log:
            level, message = heard.log.popleft()
            if level == _lib.LOG_WARNING:
                words = re.sub(r"[0-9.]+(e[+-]?[0-9]+)?", "", message)
                if self._told is None or words not in self._told:
                    warn(spell_for_caller(message))
                if self._told is not None:
                    self._told.add(words)
            else:
                logger.log(logging.INFO if level == _lib.LOG_NOTE else logging.DEBUG, "%s",
                           spell_for_caller(message))
        progress = heard.progress
        if drawer and progress and (last or time.monotonic() - self._drawn_s >= DRAW_S):
            self._drawn_s = time.monotonic()
            drawer(progress)

    def report(self, function: Any, *arguments: Any, long: bool = True) -> Dict[str, Any]:
        """Make a call whose last argument is a report, and return that."""
        report = C.c_void_p()
        try:
            self.run(function, *arguments, C.byref(report), long=long)
            return self._read(report)
        except NystreamError as error:
            error.report = self._read(report) if report else None
            raise
        finally:
            lib.ny_report_free(report)

    @staticmethod
    def _read(report: C.c_void_p) -> Dict[str, Any]:
        """Return the report; {} in a process of a job of several that has not the first shard."""
        found: Dict[str, Any] = json.loads(lib.ny_report_json(report)) if report else {}
        if found.get("reasons"):
            found["reasons"] = {key: spell_for_python(text)
                                for key, text in found["reasons"].items()}
        return found
