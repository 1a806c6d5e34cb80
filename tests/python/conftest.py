"""Fixtures of the tests of the Python package: the built library, rows, stores."""
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "src" / "python"))
build = Path(os.environ.get("NYSTREAM_BUILD", ROOT / "build"))
os.environ.setdefault("NYSTREAM_LIBRARY", str(build / "libnystream.so"))

import nystream  # noqa: E402  (it is found by the lines above)


def cells_of(X, *tables, dtype="float32", **members):
    """Return an AnnData of X as this type, to which some versions of anndata would not hold."""
    import anndata

    made = anndata.AnnData(X.astype("float32"), *tables, **members)
    made.X = X.astype(dtype)
    return made


def grid(dtype="float64", rows=500, columns=7):
    """Whole numbers, which all types but bool hold."""
    values = np.arange(rows)[:, None] * 31 + np.arange(columns) * 17
    return (values % (2 if dtype == "bool" else 101)).astype(dtype)


def stored(path, X, **options):
    """Return a new store of the rows of X."""
    made = nystream.open(path)
    made.append(X, **options)
    return made


def read_back(folder, X, **options):
    """Append X to a new store and return its rows."""
    return stored(Path(tempfile.mkdtemp(dir=folder)) / "s.nys", X, **options)[:]


def same_up_to_signs(ours, theirs, tolerance):
    """Compare components of two maps."""
    signs = np.sign((ours * theirs).sum(axis=0))
    assert np.abs(ours * signs - theirs).max() <= tolerance * np.abs(theirs).max()


def refuses(error, words, call, /, *arguments, **options):
    """Return the error of this kind that the call raises, with words that the expression finds."""
    with pytest.raises(error, match=words or None) as refused:
        call(*arguments, **options)
    return refused.value


def need_hdf5_reader():
    """Skip a test where the program is not built that reads HDF5 for the library."""
    if not Path(os.environ["NYSTREAM_LIBRARY"]).with_name("nystream-hdf5").exists():
        pytest.skip("nystream-hdf5 is not built: no libhdf5")


def module_or_skip(name):
    """Return a fixture of a module, without which a test is skipped."""
    return pytest.fixture(name=name)(lambda: pytest.importorskip(name))


anndata, h5py, pandas, torch, zarr = map(
    module_or_skip, ("anndata", "h5py", "pandas", "torch", "zarr"))


@pytest.fixture
def rows():
    """2,000 rows of 6 columns in three clusters, float64."""
    random = np.random.default_rng(7)
    return random.normal(size=(2000, 6)) + 4 * (np.arange(2000) % 3)[:, None]


@pytest.fixture
def store(tmp_path, rows):
    """A store of these rows, with labels."""
    return stored(tmp_path / "rows.nys", rows, labels=np.arange(2000) % 3)


@pytest.fixture
def result(store):
    """A fit of them, of 50 landmarks and 3 components."""
    return store.fit("map", landmarks=50, components=3)


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Lists what is in the folder of temporary files, which is one of the test."""
    parent = tmp_path / "scratch"
    parent.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(parent))
    return lambda: os.listdir(parent)


# ---- a line per test, as tests/run reads them ---------------------------------------------------


def pytest_addoption(parser):
    """Add --tap: print "ok" or "not ok" and the name of each test at the end."""
    parser.addoption("--tap", action="store_true")


def pytest_sessionfinish(session, exitstatus):
    """A file whose tests need what is not here has been skipped, and has not failed."""
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and not session.config.getoption("-m"):
        session.exitstatus = pytest.ExitCode.OK


def pytest_terminal_summary(terminalreporter, config):
    """Print the results in TAP."""
    if not config.getoption("--tap"):
        return
    kinds = {"passed": "ok", "skipped": "ok", "failed": "not ok", "error": "not ok"}
    reports = [(word, report) for kind, word in kinds.items()
               for report in terminalreporter.stats.get(kind, [])]
    terminalreporter.write_line(f"1..{len(reports)}")
    for number, (word, report) in enumerate(reports, 1):
        name = report.nodeid.rpartition("::")[2]
        reason = f" # skip {report.longrepr[2]}" if report.skipped else ""
        terminalreporter.write_line(f"{word} {number} {name}{reason}")
