"""What the papers' experiments share: data at hand, the command, references, tables, figures.

The command is driven as a user would drive it: points go into a store of a temporary folder,
results come out as .npy files. All judging is done here, by numpy and scipy, from the formulas.
"""

import argparse
import gzip
import json
import lzma
import os
import resource
import subprocess
import sys
import tempfile
import time
from io import BytesIO
from pathlib import Path

import numpy as np
from scipy.sparse.linalg import eigsh

FOLDER = Path(__file__).resolve().parent


class Absent(Exception):
    """Data or programs that are not at hand."""


class Refused(Exception):
    """nystream ended with an exit code that is not 0."""

    def __init__(self, words, code, message):
        super().__init__(f"nystream {' '.join(words)}\n{message}exit {code}")
        self.code = code


def arguments(description, figures, on_request=()):
    """--quick, --seeds, -o and the names of the figures to make; by default all but some."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help=", ".join(figures))
    parser.add_argument("--quick", action="store_true", help="small, in seconds")
    parser.add_argument("--seeds", type=int, help="repetitions that are averaged")
    parser.add_argument("-o", metavar="DIR", dest="folder", help="where pictures go")
    options = parser.parse_args()
    for figure in options.figures:
        if figure not in figures:
            parser.error(f"{figure} is none of {', '.join(figures)}")
    options.figures = options.figures or [name for name in figures if name not in on_request]
    return options


def run(figures, options):
    """Makes the chosen figures; one whose data are absent is skipped with a sentence."""
    options.folder = Path(options.folder or tempfile.mkdtemp(prefix="nystream-papers."))
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.figures:
        began = time.monotonic()
        try:
            figures[name](options)
        except Absent as reason:
            print(f"skipped: {name}: {reason}", flush=True)
            continue
        except Refused as reason:
            sys.exit(str(reason))
        print(f"({name}: {time.monotonic() - began:.0f} s)", flush=True)


# Data sets: NYSTREAM_DATA has a folder for each.


def data_file(name):
    folder = os.environ.get("NYSTREAM_DATA")
    if not folder:
        raise Absent("NYSTREAM_DATA is not set; it names the folder of the data sets")
    path = Path(folder, name)
    if not path.exists():
        raise Absent(f"there is no {name} in NYSTREAM_DATA")
    opener = {".gz": gzip.open, ".xz": lzma.open}.get(path.suffix, open)
    with opener(path, "rb") as file:
        return file.read()


def read_npy(name):
    return np.load(BytesIO(data_file(name)))


def read_csv(name, columns):
    return np.loadtxt(BytesIO(data_file(name)), delimiter=",", skiprows=1, usecols=columns)


def read_libsvm(name, d):
    lines = data_file(name).splitlines()
    X = np.zeros((len(lines), d), np.float32)
    for i, line in enumerate(lines):
        for pair in line.split()[1:]:
            j, value = pair.split(b":")
            X[i, int(j) - 1] = float(value)
    return X


def mnist():
    """60,000 images as rows of bytes, and their digits."""
    images = data_file("mnist/train-images-idx3-ubyte.gz")
    labels = data_file("mnist/train-labels-idx1-ubyte.gz")
    n, height, width = (int.from_bytes(images[at : at + 4], "big") for at in (4, 8, 12))
    return (
        np.frombuffer(images, np.uint8, offset=16).reshape(n, height * width),
        np.frombuffer(labels, np.uint8, offset=8),
    )


def sample(n, *arrays, seed=0):
    """The same n rows of each array, at random."""
    rows = np.random.default_rng(seed).permutation(len(arrays[0]))[:n]
    return arrays[0][rows] if len(arrays) == 1 else [array[rows] for array in arrays]


# The command.


def nystream(*words):
    here = FOLDER.parents[1] / "build" / "nystream"
    name = os.environ.get("NYSTREAM") or (str(here) if here.exists() else "nystream")
    words = [str(word) for word in words]
    done = subprocess.run([name, *words], capture_output=True, text=True)
    if done.returncode != 0:
        raise Refused(words, done.returncode, done.stderr)
    return done.stdout


class Store:
    """Points in a store; lives as long as the `with` that made it."""

    def __init__(self, X):
        self._folder = tempfile.TemporaryDirectory(prefix="nystream-papers.")
        self.path = Path(self._folder.name)
        self.store = self.path / "points.nys"
        self.fits = 0
        nystream("import", self.store, self._save("points.npy", X), "-q")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._folder.cleanup()

    def _save(self, name, X):
        np.save(self.path / name, X)
        return self.path / name

    def fit(self, **options):
        """Runs `nystream fit`; keyword a_b=c is the option --a-b c."""
        self.fits += 1
        words = [w for key, value in options.items() for w in (f"--{key.replace('_', '-')}", value)]
        name = f"fit{self.fits}"
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        report = json.loads(nystream("fit", self.store, name, *words, "--json"))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return Fit(self, name, report, used)


class Fit:
    """A result: its report, its parts as `nystream export` writes them, the CPU time it took."""

    def __init__(self, store, name, report, seconds):
        self.at, self.name, self.report, self.seconds = store, name, report, seconds

    def part(self, part):
        path = self.at.path / "part.npy"
        nystream("export", self.at.store, self.name, "--part", part, "-o", path, "-q")
        return np.load(path)

    def pairs(self):
        """Û and λ̂."""
        return self.part("eigenvectors"), self.part("eigenvalues").ravel()

    def transform(self, X):
        points, path = self.at._save("new.npy", X), self.at.path / "placed.npy"
        nystream("transform", self.at.store, self.name, "--input", points, "-o", path, "-q")
        return np.load(path)


# References.


def linear(X, Y):
    return X @ Y.T


def rbf(gamma):
    def kernel(X, Y):
        squared = (X * X).sum(1)[:, None] + (Y * Y).sum(1) - 2 * (X @ Y.T)
        return np.exp(-gamma * np.maximum(squared, 0))

    return kernel


def median_gamma(X):
    """1/median of the non-zero squared distances of 20,000 random pairs."""
    i, j = np.random.default_rng(0).integers(len(X), size=(2, 20000))
    squared = ((X[i].astype(float) - X[j]) ** 2).sum(1)
    return float(f"{1 / np.median(squared[squared > 0]):.4g}")


def normalised(K):
    """D^-1/2 K D^-1/2."""
    root = np.sqrt(K.sum(1))
    return K / root[:, None] / root


def centred(K):
    return K - K.mean(0) - K.mean(1)[:, None] + K.mean()


def top_pairs(K, k):
    """The k largest eigenvalues of K, descending, and their vectors, by ARPACK."""
    values, vectors = eigsh(K, k, v0=np.ones(len(K)))
    order = np.argsort(-values)
    return vectors[:, order], values[order]


# Tables and figures.


def table(title, header, rows):
    """Prints a table; floats with four significant digits."""
    cells = [[f"{c:.4g}" if isinstance(c, float) else str(c) for c in row] for row in rows]
    header = [str(name) for name in header]
    widths = [max(map(len, column)) for column in zip(header, *cells)]
    print(f"\n{title}")
    for row in [header, *cells]:
        print("  ".join(cell.rjust(width) for cell, width in zip(row, widths)))
    sys.stdout.flush()


def figure(options, name, draw, panels=1):
    """draw(axes…) makes the picture NAME.png, where matplotlib is installed."""
    try:
        import matplotlib
    except ImportError:
        print(f"no picture {name}.png: python3-matplotlib is not installed")
        return
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    fig, axes = plt.subplots(1, panels, figsize=(5 * panels, 4), layout="constrained")
    draw(*(axes if panels > 1 else [axes]))
    fig.savefig(options.folder / f"{name}.png", dpi=100)
    plt.close(fig)
    print(f"picture: {options.folder / name}.png", flush=True)
