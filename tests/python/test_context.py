"""Calls that are stopped, that tell how far they are, and that share the process with others."""
import logging
import multiprocessing.process
import os
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest
from conftest import refuses, stored

import nystream
from nystream import _context

slow = pytest.mark.slow


def press_ctrl_c(seconds):
    """Send SIGINT to this process after some seconds."""
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    return timer


@pytest.fixture
def large(tmp_path):
    """A store whose fit of 900 landmarks takes seconds."""
    store = nystream.open(tmp_path / "large.nys", threads=1)
    store.append(np.random.default_rng(1).normal(size=(60_000, 32)).astype("float32"))
    return store


LONG = {"landmarks": 900, "select": "uniform", "components": 4, "gamma": 0.02}


@slow
def test_ctrl_c_stops_and_the_same_call_goes_on(large):
    unbroken = large.fit("unbroken", **LONG).embedding[:]
    stops = []
    for wait in (0.15, 0.4, 0.3, 0.5):
        timer = press_ctrl_c(wait)
        try:
            large.fit("broken", **LONG)
        except KeyboardInterrupt as stop:
            stops.append(str(stop))
        finally:
            try:
                timer.join()
                time.sleep(0.01)
            except KeyboardInterrupt:
                pass
    assert stops and any("stopped" in text for text in stops)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    result = large.fit("broken", **LONG)
    assert result.status == "done" and np.array_equal(result.embedding[:], unbroken)


@slow
def test_a_stopped_result_says_so_and_resumes(large):
    stages = []

    def press_at_accumulate(progress):
        stages.append(progress.stage)
        if progress.stage == "accumulate":
            os.kill(os.getpid(), signal.SIGINT)

    store = nystream.open(large.path, threads=1, progress=press_at_accumulate)
    with pytest.raises(KeyboardInterrupt, match="^stopped in") as stop:
        store.fit("map", **LONG)
    assert "accumulate" in stages
    last = store._context._heard.progress
    far = 100 * last.total_fraction  # That of a pass is 100 % at the end of each.
    assert str(stop.value) == f"stopped in {last.stage}, at {far:.0f} %"
    result = large.result("map")
    assert result.status == "interrupted"
    assert result.resume().status == "done"


def press_in_call(monkeypatch, function):
    """Press Ctrl-C when a function of the library is about to return."""
    call = getattr(nystream._lib.lib, function)

    def press_and_return(*arguments):
        status = call(*arguments)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.1)  # the main thread hears it before this call is over
        return status

    monkeypatch.setattr(nystream._lib.lib, function, press_and_return)


@pytest.mark.parametrize("function, told, n", [
    ("ny_appender_put", "stopped; no row was added", 2000),
    ("ny_appender_commit", "stopped; the rows were added", 2100)])
def test_ctrl_c_tells_whether_pieces_were_appended(monkeypatch, store, rows, function, told, n):
    assert len(store) == 2000  # the rows have been looked at
    with monkeypatch.context() as patch:
        press_in_call(patch, function)
        with pytest.raises(KeyboardInterrupt, match=f"^{told}$"):
            store.append(piece for piece in (rows[:50], rows[50:100]))
    assert len(store) == n
    store.append(piece for piece in (rows[:50], rows[50:100]))
    assert len(store) == n + 100


def test_ctrl_c_of_a_first_append_in_pieces(monkeypatch, tmp_path, rows):
    store = nystream.open(tmp_path / "new.nys")
    with monkeypatch.context() as patch:
        press_in_call(patch, "ny_appender_put")
        with pytest.raises(KeyboardInterrupt, match="^stopped; no row was added$"):
            store.append(iter([rows[:50], rows[50:]]))
    assert store.append(iter([rows[:50], rows[50:]])).n == 2000


@slow
def test_a_handler_of_the_programs_own_stays(large):
    class Enough(Exception):
        pass

    def handler(_number, _frame):
        raise Enough

    before = signal.signal(signal.SIGINT, handler)
    try:
        timer = press_ctrl_c(0.15)
        refuses(Enough, "", large.fit, "map", **LONG)
        timer.join()
        assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert large.fit("map", **LONG).status == "done"


@pytest.mark.parametrize("begun", [False, True])
def test_an_error_while_a_call_begins(store, monkeypatch, begun):
    class Enough(Exception):
        pass

    def start(self):
        if begun:
            threading.Thread.start(self)
        raise Enough

    seen = []
    run = _context.Work.run
    monkeypatch.setattr(_context.Work, "start", start)
    monkeypatch.setattr(_context.Work, "run", lambda self: (seen.append(1), run(self)))
    refuses(Enough, "", store.fit, "map", landmarks=100)
    monkeypatch.undo()
    assert len(seen) == begun
    late = _context.Work(lambda: 5, ())
    assert late.cancel()
    late.start()
    late.join()
    assert late.status == 0 and late.done.is_set()
    assert store.fit("map", landmarks=100).status == "done"


@slow
def test_progress_is_drawn_on_the_callers_thread(large):
    seen, began = [], time.monotonic()
    store = nystream.open(large.path, threads=1, progress=lambda p: seen.append(
        (threading.current_thread(), time.monotonic(), p)))
    store.fit("map", **LONG)
    assert len(seen) >= 3 and {thread for thread, _, _ in seen} == {threading.current_thread()}
    assert 0.1 * (len(seen) - 2) <= seen[-2][1] - began  # the last one comes at once
    last = seen[-1][2]
    assert isinstance(last, nystream.Progress) and (last.stage, last.fraction) == ("project", 1)
    totals = [p.total_fraction for _, _, p in seen]
    assert totals == sorted(totals) and totals[-1] <= 1


@slow
def test_an_error_of_a_callback_stops_the_call_and_is_raised(large):
    def draw(progress):
        raise ZeroDivisionError("in the callback")

    store = nystream.open(large.path, threads=1, progress=draw)
    refuses(ZeroDivisionError, "in the callback", store.fit, "map", **LONG)
    assert large.result("map").status == "interrupted"
    assert large.fit("map", **LONG).status == "done"


@slow
def test_a_bar_is_drawn(large, capfd):
    pytest.importorskip("tqdm")
    nystream.open(large.path, progress=True, threads=1).fit("map", **LONG)
    assert "%" in capfd.readouterr().err


def test_calls_work_off_the_main_thread(store):
    found = []
    worker = threading.Thread(target=lambda: found.append(store.fit("m", landmarks=30).status))
    worker.start()
    worker.join()
    assert found == ["done"]


def test_other_threads_run_during_a_call(store):
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.wait(0.001):
            ticks.append(1)

    ticker = threading.Thread(target=tick)
    ticker.start()
    store.fit("m", landmarks=300)
    stop.set()
    ticker.join()
    assert len(ticks) > 10


def test_warnings_and_notes(tmp_path, rows, caplog):
    store = stored(tmp_path / "s.nys", rows[:200])
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        store.fit("m", landmarks=3000)
    assert {w.category for w in seen} == {nystream.NystreamWarning}
    assert str(seen[0].message).startswith("landmarks=3000 is more than the 200 rows")
    assert seen[0].filename == __file__
    caplog.set_level(logging.DEBUG, "nystream")
    store._context._heard.log.append((2, "a note on --landmarks 5"))
    store.fit("o", landmarks=10)
    assert "a note on landmarks=5" in caplog.messages
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        refuses(nystream.NystreamWarning, "", store.fit, "n", landmarks=3000)


def test_threads_of_openblas_are_as_before(store, rows):
    threadpoolctl = pytest.importorskip("threadpoolctl")

    def counts():
        return [pool["num_threads"] for pool in threadpoolctl.threadpool_info()
                if pool["internal_api"] == "openblas"]

    before = counts()
    result = store.fit("m", landmarks=200)
    result.model().transform(rows[:10])
    assert before and counts() == before


def test_a_worker_of_joblib_takes_its_share(monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    whole = nystream.store.Context()
    assert _context.lib.ny_context_threads(whole.pointer) == 1
    monkeypatch.setattr(multiprocessing.process, "parent_process", lambda: object())
    monkeypatch.setattr(_context.os, "sched_getaffinity", lambda _pid: set(range(4)))
    shared = nystream.store.Context()
    assert 0.2 < shared.memory_bytes / whole.memory_bytes < 0.3
    given = nystream.store.Context(memory="1G", threads=3)
    assert given.memory_bytes == 1 << 30
    assert _context.lib.ny_context_threads(given.pointer) == 3


def fit_in_worker(path, name):
    store = nystream.open(path)
    context = store._context
    return (os.getpid(), _context.lib.ny_context_threads(context.pointer), context.memory_bytes,
            store.fit(name, landmarks=20, seed=3).trace_error)


@slow
def test_joblib(store):
    joblib = pytest.importorskip("joblib")
    found = joblib.Parallel(n_jobs=2)(
        joblib.delayed(_import_and_fit)(os.path.dirname(__file__), store.path, name)
        for name in ("a", "b"))
    cpus = len(os.sched_getaffinity(0))
    whole = nystream.store.Context().memory_bytes
    for pid, threads, memory, error in found:
        assert pid != os.getpid() and threads == max(1, cpus // 2)
        assert memory < 0.8 * whole if cpus > 1 else memory
        assert error == found[0][3]


def _import_and_fit(folder, path, name):
    sys.path[:0] = [folder, os.path.join(folder, "..", "..", "src", "python")]
    import test_context

    return test_context.fit_in_worker(path, name)


IMPORT = """
import sys, numpy
before = set(sys.modules)
import nystream
print(*{name.split(".")[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names))
"""


@slow
def test_the_import_takes_only_numpy():
    env = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(nystream.__file__))}
    imported = subprocess.run([sys.executable, "-c", IMPORT], env=env, text=True,
                              stdout=subprocess.PIPE, check=True).stdout
    assert imported.split() == ["nystream"]


@pytest.mark.parametrize("call", [
    lambda store: store.report, lambda store: store.plan(landmarks=20, memory="64M"),
    lambda store: store.append(np.zeros((1, 6)))])
def test_progress_makes_no_call_with_the_store_that_works(store, call):
    store = nystream.open(store.path, progress=lambda _progress: call(store))
    with pytest.raises(nystream.BusyError, match="a call is still running.*open the store once"):
        store.fit("map", landmarks=50)
    store._context.progress = lambda _progress: call(nystream.open(store.path))
    assert store.fit("map", landmarks=50).status == "done"


def test_an_append_takes_the_memory_that_open_was_given(tmp_path, rows):
    np.save(tmp_path / "rows.npy", rows)
    given = nystream.open(tmp_path / "given.nys", memory="300M")
    for X in (rows, iter([rows, rows]), tmp_path / "rows.npy"):
        assert given.append(X).memory_budget_bytes == 300 << 20
    assert given.append(rows, memory="280M").memory_budget_bytes == 280 << 20
    assert given._context.memory_bytes == 300 << 20
    plain = nystream.open(tmp_path / "plain.nys")
    assert plain.append(rows).memory_budget_bytes <= 256 << 20
