"""Measures the Python package, one figure a call, for the table of tests/bench/python.

usage: python_rows.py import|store|append|csr|row|overhead|memmap …
"""
import os
import sys
import threading
import time
from pathlib import Path

import numpy as np


def median(seconds):
    return float(np.median(seconds))


def timed(run):
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def import_package():
    """Milliseconds that importing nystream adds to numpy's."""
    print(f"{1e3 * timed(lambda: __import__('nystream')):.3g}")


def open_store(path):
    """Milliseconds of a context and a store that is opened, in a process that has the library."""
    import nystream

    nystream.open(path).shape
    print(f"{1e3 * median([timed(lambda: nystream.open(path).shape) for _ in range(20)]):.3g}")


def append(folder, megabytes):
    """Seconds of appending an array to a new store, and those of importing its file, in pairs."""
    import nystream

    X = np.random.default_rng(0).standard_normal((int(megabytes) * 250_000 // 64, 64), np.float32)
    file, ratios = f"{folder}/rows.npy", []
    np.save(file, X)
    for i in range(3):
        a = timed(lambda: nystream.open(f"{folder}/array{i}.nys").append(X))
        b = timed(lambda: nystream.open(f"{folder}/file{i}.nys").append_files(file))
        ratios.append(b / a)
    print(f"{median(ratios):.2f}")


def append_csr(folder, entries):
    """Megabytes a second of CSR (values and column numbers) appended to a new store."""
    import nystream
    import scipy.sparse

    n, row = int(entries) // 1000, 1000
    random = np.random.default_rng(0)
    column = np.sort(random.integers(0, 20_000, (n, row), np.int32), axis=1)
    column += np.arange(row, dtype=np.int32)  # so that no column comes twice
    values = random.integers(1, 9, n * row).astype(np.float32)
    X = scipy.sparse.csr_matrix((values, column.ravel(), np.arange(n + 1) * row),
                                shape=(n, 21_000))
    found = [8e-6 * X.nnz / timed(lambda: nystream.open(f"{folder}/csr{i}.nys").append(X))
             for i in range(3)]
    print(f"{median(found):.0f}")


def place_a_row(folder):
    """Milliseconds of one row by a model of 1,500 landmarks, 784 columns and 50 components."""
    import nystream

    X = np.random.default_rng(0).random((4000, 784), np.float32)
    store = nystream.open(f"{folder}/place.nys")
    store.append(X)
    model = store.fit("map", landmarks=1500, components=50).model()
    model.transform(X[:1])
    print(f"{1e3 * median([timed(lambda: model.transform(X[i:i + 1])) for i in range(200)]):.2g}")


def embed_in_c(X, landmarks):
    """Seconds of ny_embed(), which does the work of overhead()'s estimator in one call."""
    import ctypes as C

    from nystream import _batch, _context, _lib, _options

    class Room(C.Structure):
        _fields_ = [("dtype", C.c_int), ("values", C.c_void_p)]

    context = _context.Context()
    table = _batch.make_batch(X).table("X")
    out = np.empty((len(X), 10), np.float32)
    room = Room(_lib.NUMBERS["float32"], out.ctypes.data)
    options = {"landmarks": landmarks, "components": 10, "seed": 0}
    with _options.options_for(context, _lib.FIT, options) as pointer:
        return timed(lambda: context.check(_lib.lib.ny_embed(
            context.pointer, C.byref(table), pointer, C.byref(room), None, None)))


def overhead(n, d, landmarks):
    """Milliseconds of fit_transform(), and of ny_embed() with the same options, in pairs."""
    import nystream

    X = np.random.default_rng(0).random((int(n), int(d)), np.float32)
    estimator = nystream.KernelPCA(n_components=10, n_landmarks=int(landmarks), random_state=0)
    pairs = [(timed(lambda: estimator.fit_transform(X)), embed_in_c(X, int(landmarks)))
             for _ in range(5)]
    print(*(f"{1e3 * median(seconds):.3g}" for seconds in zip(*pairs)))


def map_memory(folder, gigabytes):
    """Fit a mapped file, and print seconds and the most memory that is not of mapped files."""
    import nystream

    most = 0

    def look():
        nonlocal most
        while True:
            status = Path("/proc/self/status").read_text()
            now = sum(int(line.split()[1]) for line in status.splitlines()
                      if line.startswith(("RssAnon", "RssShmem")))
            most = max(most, now)
            time.sleep(0.02)

    shape = (int(float(gigabytes) * 1e9) // 512, 128)
    X = np.lib.format.open_memmap(f"{folder}/big.npy", "w+", "float32", shape=shape)
    random = np.random.default_rng(0)
    for first in range(0, len(X), 100_000):
        part = X[first:first + 100_000]
        part[:] = random.standard_normal(part.shape, np.float32)
    del X
    threading.Thread(target=look, daemon=True).start()
    X = np.load(f"{folder}/big.npy", mmap_mode="r")
    estimator = nystream.KernelPCA(n_landmarks=300, memory="1G", tmpdir=folder, random_state=0)
    seconds = timed(lambda: estimator.fit_transform(X))
    print(f"{seconds:.3g} {most >> 10}")
    os._exit(0)


CALLS = {"import": import_package, "store": open_store, "append": append, "csr": append_csr,
         "row": place_a_row, "overhead": overhead, "memmap": map_memory}
CALLS[sys.argv[1]](*sys.argv[2:])
