"""What the papers' experiments share: data at hand, the command, references, tables, figures.

The command is driven as a user would drive it: points go into a store of a temporary folder,
results come out as .npy files. Judging is done here, by numpy and scipy, from the formulas, or by
`nystream eval`. What an experiment finds is printed, and kept as a record (JSON) for the page.
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
from typing import Callable, NamedTuple

import numpy as np
from scipy.sparse import issparse, save_npz
from scipy.sparse.linalg import eigsh

FOLDER = Path(__file__).resolve().parent


class Experiment(NamedTuple):
    """What a name on a script's command line makes; its docstring tells our setting."""

    make: Callable
    shows: str  # the tables and figures of the script's paper
    paper: str  # the paper's setting, and what it says
    also: dict = {}  # {another paper: its tables and figures that are the same}


class Absent(Exception):
    """Data or programs that are not at hand."""


class Refused(Exception):
    """nystream ended with an exit code that is not 0."""

    def __init__(self, words, code, message):
        super().__init__(f"nystream {' '.join(words)}\n{message}exit {code}")
        self.code = code


def arguments(description, experiments, seeds, quick_seeds=1):
    """--quick, --seeds, -o and the names of the experiments; by default all."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(experiments))
    parser.add_argument("--quick", action="store_true", help="small, in seconds")
    parser.add_argument("--seeds", type=int, help="repetitions that are averaged")
    parser.add_argument("-o", metavar="DIR", dest="folder", help="where records and pictures go")
    options = parser.parse_args()
    for name in options.names:
        if name not in experiments:
            parser.error(f"{name} is none of {', '.join(experiments)}")
    options.names = options.names or list(experiments)
    options.seeds = options.seeds or (quick_seeds if options.quick else seeds)
    options.folder = Path(options.folder or tempfile.mkdtemp(prefix="nystream-papers."))
    options.folder.mkdir(parents=True, exist_ok=True)
    return options


# The tables, pictures and claims of the experiment under way; table(), figure() and claim() add to it.
record = {}


def run(experiments, options):
    """Makes the chosen experiments; one whose data are absent is skipped with a sentence."""
    script = Path(sys.argv[0]).name
    failed = False
    for name in options.names:
        command = f"data-tools/papers/{script}{' --quick' * options.quick} {name}"
        record.clear()
        record.update(command=command, quick=options.quick, seeds=options.seeds)
        record.update(claims=[], tables=[], pictures=[])
        began = time.monotonic()
        try:
            record["made"] = f"{time.strftime('%Y-%m-%d')}, {nystream('--version').strip()}"
            experiments[name].make(options)
            print(f"({name}: {time.monotonic() - began:.0f} s)", flush=True)
        except Absent as reason:
            record["skipped"] = str(reason)
            print(f"skipped: {name}: {reason}", flush=True)
        except Refused as reason:
            failed, record["failed"] = True, str(reason)
            print(f"failed: {name}: {reason}", flush=True)
        record["seconds"] = round(time.monotonic() - began, 1)
        keep(record_path(options.folder, script, name, options.quick))
    sys.exit(failed)


def record_path(folder, script, name, quick):
    return Path(folder, f"{script}-{name}{'-quick' * quick}.json")


def keep(path):
    """Writes the record, but not that of a skipped experiment over one that was made."""
    if "skipped" not in record or not path.exists():
        path.write_text(json.dumps(record, indent=1, default=float) + "\n")


def claim(words, holds, why=""):
    """What the paper says, whether it is so here, and the reason where it may not be."""
    record["claims"].append({"words": words, "holds": bool(holds), "why": why})
    print(f"{'holds' if holds else 'does NOT hold'}: {words}")
    if why and not holds:
        print(f"  because: {why}")


# Data sets: NYSTREAM_DATA has a folder for each.


def data_path(name):
    folder = os.environ.get("NYSTREAM_DATA")
    if not folder:
        raise Absent("NYSTREAM_DATA is not set; it names the folder of the data sets")
    path = Path(folder, name)
    if not path.exists():
        raise Absent(f"there is no {name} in NYSTREAM_DATA")
    return path


def data_file(name):
    path = data_path(name)
    opener = {".gz": gzip.open, ".xz": lzma.open}.get(path.suffix, open)
    with opener(path, "rb") as file:
        return file.read()


def at_hand(makers):
    """(name, what its maker gives) of those whose data are there; one of them must be."""
    missing = {}
    for name, make in makers.items():
        try:
            yield name, make()
        except Absent as reason:
            missing[name] = str(reason)
            print(f"skipped: {name}: {reason}", flush=True)
    record["without"] = missing
    if len(missing) == len(makers):
        raise Absent("; ".join(dict.fromkeys(missing.values())))


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


def command():
    """$NYSTREAM, else the build's, else the one on PATH."""
    here = FOLDER.parents[1] / "build" / "nystream"
    return os.environ.get("NYSTREAM") or (str(here) if here.exists() else "nystream")


def nystream(*words):
    words = [str(word) for word in words]
    done = subprocess.run([command(), *words], capture_output=True, text=True)
    if done.returncode != 0:
        raise Refused(words, done.returncode, done.stderr)
    return done.stdout


class Store:
    """Points in a store; lives as long as the `with` that made it."""

    def __init__(self, X, labels=None):
        self._folder = tempfile.TemporaryDirectory(prefix="nystream-papers.")
        self.path = Path(self._folder.name)
        self.store = self.path / "points.nys"
        self.fits = 0
        words = [] if labels is None else ["--labels", self._save("labels.npy", labels)]
        nystream("import", self.store, self._save("points.npy", X), *words, "-q")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._folder.cleanup()

    def _save(self, name, X):
        if issparse(X):
            save_npz(self.path / "sparse.npz", X)
            return self.path / "sparse.npz"
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


def recovered(U, near):
    """Share of the span of U that the span of `near` holds: mean squared cosine of the angles."""
    return (np.linalg.svd(U.T @ np.linalg.qr(near)[0], compute_uv=False) ** 2).mean()


# Tables and figures.


def shown(cell):
    """Floats with four significant digits."""
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)


def table(title, header, rows):
    """Prints a table."""
    record["tables"].append({"title": title, "header": header, "rows": rows})
    cells = [[shown(cell) for cell in row] for row in [header, *rows]]
    widths = [max(map(len, column)) for column in zip(*cells)]
    print(f"\n{title}")
    for row in cells:
        print("  ".join(cell.rjust(width) for cell, width in zip(row, widths)))
    sys.stdout.flush()


INK = "#010203"  # stands for the colour of the page's text


def figure(options, name, draw, panels=1):
    """draw(axes…) makes the picture NAME.svg, three panels a row, where matplotlib is installed."""
    try:
        import matplotlib
    except ImportError:
        print(f"no picture {name}.svg: python3-matplotlib is not installed")
        return
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    inks = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
    plt.rcParams.update({"svg.fonttype": "none", "legend.framealpha": 0, **{i: INK for i in inks}})
    shape = -(-panels // 3), min(panels, 3)
    size = 4.5 * shape[1], 3.6 * shape[0]
    fig, axes = plt.subplots(*shape, figsize=size, squeeze=False, layout="constrained")
    draw(*axes.flat[:panels])
    for axis in axes.flat[panels:]:
        axis.set_axis_off()
    path = options.folder / f"{name}{'-quick' * options.quick}.svg"
    fig.savefig(path, dpi=100, transparent=True, metadata={"Date": None})
    plt.close(fig)
    path.write_text(path.read_text().replace(INK, "currentColor"))
    record["pictures"].append(path.name)
    print(f"picture: {path}", flush=True)


def scatter(options, name, pictures, colours):
    """pictures: {title: two columns}, a panel each."""

    def draw(*axes):
        for axis, (title, U) in zip(axes, pictures.items()):
            axis.scatter(*U.T[:2], s=4, c=colours, cmap="rainbow", linewidths=0, rasterized=True)
            axis.set(title=title, xticks=[], yticks=[])

    figure(options, name, draw, len(pictures))
