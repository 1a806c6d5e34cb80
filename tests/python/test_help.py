"""What help() shows of the package: where to start, whatever is installed beside it."""
import os
import pydoc
import re
import subprocess
import sys
from pathlib import Path

import pytest

import nystream

ROOT = Path(__file__).resolve().parents[2]


def first_names():
    """Return the names with which the package says to start, and what it says of each."""
    return dict(re.findall(r"^(\w+) {2,}(\S.*)$", nystream.__doc__, flags=re.MULTILINE))


@pytest.mark.quick
def test_the_package_says_where_to_start():
    names = first_names()
    assert list(names) == ["embed", "KernelPCA", "open", "Store", "Result", "Model", "plan", "tl"]
    assert len(nystream.__doc__.splitlines()) < 30
    for name, text in names.items():
        assert getattr(nystream, name).__doc__, name
        if name in ("Store", "Result", "Model"):
            for method in re.findall(r"(\w+)[(\[]", text):
                assert hasattr(getattr(nystream, name), method) or method == "open", method
    for module in re.findall(r"\w+", names["tl"].split(":")[1]):
        assert hasattr(nystream.tl, module)


def test_help_shows_it_on_the_first_page():
    page = pydoc.plain(pydoc.render_doc(nystream)).splitlines()[:40]
    assert all(any(line.strip().startswith(name) for line in page) for name in first_names())


CODE = """
import pydoc, sys
sys.modules["sklearn"] = None  # as if it were not installed
import nystream
from nystream import *
assert "Store" in globals() and "KernelPCA" not in dir(nystream)
assert "class Store" in pydoc.plain(pydoc.render_doc(nystream))
try:
    nystream.KernelPCA
except ImportError as error:
    print(error)
"""


def test_help_needs_no_scikit_learn():
    path = str(ROOT / "src" / "python")
    ran = subprocess.run([sys.executable, "-c", CODE], env={**os.environ, "PYTHONPATH": path},
                         stdout=subprocess.PIPE, text=True, check=True)
    assert "sklearn" in ran.stdout
