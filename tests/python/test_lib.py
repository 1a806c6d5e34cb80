"""The library as the package sees it: versions, declarations, and what is not it."""
import ast
import ctypes
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import nystream
from nystream import _lib
from nystream._context import Context
from nystream._options import spell_value

slow = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
HEADER = ROOT / "include" / "nystream.h"


def test_the_version_is_the_librarys():
    text = HEADER.read_text(encoding="utf-8")
    number = [text.split(f"NY_VERSION_{part} ")[1].split()[0] for part in
              ("MAJOR", "MINOR", "PATCH")]
    assert nystream.__version__ == ".".join(number)
    project = (ROOT / "src" / "python" / "pyproject.toml").read_text(encoding="utf-8")
    assert f'version = "{nystream.__version__}"' in project
    assert _lib.lib.ny_version().decode() == nystream.__version__


def test_the_sources_are_for_python_3_9():
    for file in Path(nystream.__file__).parent.glob("*.py"):
        ast.parse(file.read_text(encoding="utf-8"), str(file), feature_version=(3, 9))


@slow
@pytest.mark.parametrize("library, words", [
    ("/nowhere/libnystream.so", "cannot be loaded"),
    ("libc.so.6", "older than the Python package")])
def test_a_wrong_library_is_an_import_error(library, words):
    env = {**os.environ, "NYSTREAM_LIBRARY": library,
           "PYTHONPATH": str(ROOT / "src" / "python")}
    ran = subprocess.run([sys.executable, "-c", "import nystream"], env=env, text=True,
                         stderr=subprocess.PIPE, check=False)
    assert "ImportError" in ran.stderr and words in ran.stderr


STRUCTS = {"ny_error": _lib.CError, "ny_progress": _lib.CProgress,
           "ny_option_info": _lib.COptionInfo, "ny_table": _lib.CTable,
           "ny_csr_room": _lib.CCsrRoom, "ny_places_room": _lib.CPlacesRoom,
           "ny_neighbors_room": _lib.CNeighborsRoom, "ny_dense_room": _lib.CDenseRoom}


def test_structs_are_those_of_the_header(tmp_path):
    lines = []
    for name, struct in STRUCTS.items():
        lines.append(f'printf("{name} %zu\\n", sizeof(struct {name}));')
        lines += [f'printf("{name}.{field} %zu\\n", offsetof(struct {name}, {field}));'
                  for field, _ in struct._fields_]
    (tmp_path / "a.c").write_text("#include <stdio.h>\n#include \"nystream.h\"\n"
                                  "int main(void) {" + "\n".join(lines) + "}")
    subprocess.run(["gcc", "-I", str(HEADER.parent), "-o", str(tmp_path / "a"),
                    str(tmp_path / "a.c")], check=True)
    found = subprocess.run([str(tmp_path / "a")], stdout=subprocess.PIPE, text=True, check=True)
    expected = []
    for name, struct in STRUCTS.items():
        expected.append(f"{name} {ctypes.sizeof(struct)}")
        expected += [f"{name}.{field} {getattr(struct, field).offset}"
                     for field, _ in struct._fields_]
    assert found.stdout.split("\n")[:-1] == expected


def test_functions_have_the_arguments_of_the_header():
    text = "".join(header.read_text(encoding="utf-8") for header in HEADER.parent.glob("*.h"))
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    declared = {name: arguments for name, arguments in
                re.findall(r"NY_API[^;(]*?\b(ny_\w+)\(([^;]*)\);", text)}
    for name, arguments in [(name, types[1:]) for types, names in _lib._FUNCTIONS
                            for name in names]:
        given = [] if declared[name] == "void" else declared[name].split(",")
        assert len(given) == len(arguments), name
        for argument, kind in zip(given, arguments):
            assert ("*" in argument or "_fn" in argument) == (
                ctypes.sizeof(kind) == 8 and kind not in (ctypes.c_uint64, ctypes.c_size_t)), name


def test_every_option_is_in_some_group():
    assert {"landmarks", "components", "gamma", "row-normalize"} <= set(_lib.OPTIONS)
    known = (_lib.IMPORT | _lib.FIT | _lib.SELECT | _lib.COMMON | _lib.READ | _lib.UPDATE
             | _lib.GRAPH | _lib.PATH | _lib.EVALUATE | _lib.PLOT | _lib.REPORT | _lib.THREADS)
    alone = {option.name for option in _lib.OPTIONS.values() if not option.groups & known}
    assert alone == {"gamma-grid", "shape", "tmpdir"}


@slow
def test_a_slow_openblas_is_told_once(monkeypatch, tmp_path):
    monkeypatch.setattr(_lib.lib, "ny_blas_coretype", lambda: b"SkylakeX")
    monkeypatch.setattr(Context, "_blas_checked", False)
    with pytest.warns(RuntimeWarning, match="OPENBLAS_CORETYPE=SkylakeX") as told:
        nystream.open(tmp_path / "a.nys")
        nystream.open(tmp_path / "b.nys")
    assert [warning.filename for warning in told] == [__file__]  # not a line of the package


@slow
def test_a_library_beside_the_package_is_taken(tmp_path):
    shutil.copytree(ROOT / "src" / "python" / "nystream", tmp_path / "nystream")
    shutil.copy(os.environ["NYSTREAM_LIBRARY"], tmp_path / "nystream" / "libnystream.so.1")
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    del env["NYSTREAM_LIBRARY"]
    ran = subprocess.run([sys.executable, "-c", "import nystream; print(nystream._lib.lib._name)"],
                         env=env, text=True, stdout=subprocess.PIPE, check=True)
    assert ran.stdout.strip() == str(tmp_path / "nystream" / "libnystream.so.1")


def test_truth_values_of_numpy_are_switches(monkeypatch):
    """numpy 1 calls the type bool_, and numpy 2 bool."""
    assert [spell_value(truth) for truth in (True, np.True_, np.False_)] == ["yes", "yes", "no"]
    of_numpy_2 = type("bool", (), {"__bool__": lambda self: True})
    monkeypatch.setattr(np, "bool_", of_numpy_2)
    assert spell_value(of_numpy_2()) == "yes"
