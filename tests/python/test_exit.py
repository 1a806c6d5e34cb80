"""The interpreter ends while a daemon thread is in a call of the library."""
import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]

# A daemon thread runs one of these functions, most of them for ever, when the interpreter ends.
CODE = """
import atexit, sys, tempfile, threading, time
import numpy as np
import nystream

kind, wait_s, folder = sys.argv[1], float(sys.argv[2]), sys.argv[3]
X = np.random.default_rng(0).normal(size=(60_000, 8))
began = threading.Event()

def fit():
    while True:
        began.set()
        nystream.KernelPCA(n_landmarks=1000).fit(X)

def long():
    began.set()
    nystream.embed(X, landmarks=3000, progress=lambda seen: None)

def fit_with_progress():
    began.set()
    while True:
        nystream.embed(X, landmarks=1000, progress=lambda seen: None)

def fit_store():
    store = nystream.open(folder + "/s.nys")
    store.append(X)
    began.set()
    for number in range(1000):
        result = store.fit(f"m{number}", landmarks=400)
        result.embedding[:100], store[5:900], store.points[:9]

def place():
    store = nystream.open(folder + "/s.nys")
    store.append(X)
    model = store.fit("m", landmarks=1000, components=8).model()
    began.set()
    while True:
        model.transform(X), store.result("m").embedding[:]

def add():
    sums = nystream.Sums(X[:800], gamma=0.1)
    began.set()
    while True:
        sums.add(X[:9000]), sums.copy().solve()

def iterate():
    store = nystream.open(folder + "/s.nys")
    store.append(X)
    began.set()
    while True:
        for piece in store.points.batches(500):
            pass
        store.append(piece for piece in (X[:900], X[900:4000]))

def late():
    \"\"\"Hold a lock of the store that a function at the end wants.\"\"\"
    store = nystream.open(folder + "/s.nys")
    store.append(X)
    atexit.register(lambda: print(len(store), flush=True))
    began.set()
    while True:
        store.fit("m", landmarks=1000, restart=True)

if kind == "late":
    atexit.register(lambda: print("last", flush=True))
threading.Thread(target=globals()[kind], daemon=True).start()
began.wait()
time.sleep(wait_s)
print("end", flush=True)
"""
KINDS = ("fit", "fit_with_progress", "fit_store", "place", "add", "iterate", "late")


def end(kind, wait_s, folder):
    """Return what a process that ends in this way says, and its status."""
    folder.mkdir()
    # a CPU that OpenBLAS does not know is told by a RuntimeWarning
    ran = subprocess.run([sys.executable, "-X", "faulthandler", "-W", "ignore::RuntimeWarning",
                          "-c", CODE, kind, str(wait_s), folder], check=False, timeout=120,
                         text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         env={**os.environ, "PYTHONPATH": str(ROOT / "src" / "python"),
                              "TMPDIR": str(folder)})
    return ran.returncode, ran.stdout, ran.stderr


def end_all(tmp_path, kinds, times):
    """Let processes of these kinds end at random moments, two at a time."""
    wanted = {"late": "end\n60000\nlast\n"}
    moments = random.Random(7)
    cases = [(kind, moments.uniform(0, 1.2), tmp_path / f"{kind}{number}")
             for number in range(times) for kind in kinds]
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda case: end(*case), cases))
    return [(case[:2], one) for case, one in zip(cases, found)
            if one != (0, wanted.get(case[0], "end\n"), "")]


def test_the_end_of_python_stops_a_call(tmp_path):
    assert end_all(tmp_path, ("fit", "late"), 1) == []


def test_a_call_that_is_stopped_leaves_no_folder(tmp_path):
    assert end("long", 0.5, tmp_path / "a") == (0, "end\n", "")
    assert os.listdir(tmp_path / "a") == []


def test_the_end_of_python_stops_any_call_at_any_moment(tmp_path):
    assert end_all(tmp_path, KINDS, int(os.environ.get("NYSTREAM_ENDS", "5"))) == []
