"""The words of the package: help() says where to start, and all say alike what memory= is."""
import os
import pydoc
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sklearn")

import nystream  # noqa: E402  (it is imported where scikit-learn is)

ROOT = Path(__file__).resolve().parents[2]


def first_names():
    """Return the names with which the package says to start, and what it says of each."""
    return dict(re.findall(r"^(\w+) {2,}(\S.*)$", nystream.__doc__, flags=re.MULTILINE))


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


@pytest.mark.slow
def test_help_shows_it_on_the_first_page():
    page = pydoc.plain(pydoc.render_doc(nystream)).splitlines()[:40]
    assert all(any(line.strip().startswith(name) for line in page) for name in first_names())


def in_one_line(text):
    """Return a text without the marks of a guide and the ends of lines."""
    return " ".join(text.replace("`", "").split())


def test_memory_is_defined_by_the_same_words_everywhere():
    words = ("bounds what nystream itself uses: Python, your own arrays and the pages of files "
             "that you map are not counted")
    pages = [ROOT / "README.md"] + [ROOT / "src" / "guide" / f"{name}.md" for name in (
        "python", "bigger-than-memory", "from-scikit-learn")]
    texts = {page.name: page.read_text(encoding="utf-8") for page in pages}
    for where in (nystream.open, nystream.estimators, nystream.tl):
        texts[where.__name__] = where.__doc__
    for name, text in texts.items():
        assert words in in_one_line(text), name
    for file in [*(ROOT / "src" / "python").rglob("*.py"), *(ROOT / "include").glob("*.h")]:
        assert "may occupy" not in file.read_text(encoding="utf-8"), file.name


CODE = """
import pydoc, sys
sys.modules["sklearn"] = None  # it is not installed
import nystream
from nystream import *
assert "Store" in globals() and "KernelPCA" not in dir(nystream)
assert "class Store" in pydoc.plain(pydoc.render_doc(nystream))
try:
    nystream.KernelPCA
except ImportError as error:
    print(error)
"""


@pytest.mark.slow
def test_help_needs_no_scikit_learn():
    path = str(ROOT / "src" / "python")
    ran = subprocess.run([sys.executable, "-c", CODE], env={**os.environ, "PYTHONPATH": path},
                         stdout=subprocess.PIPE, text=True, check=True)
    assert "sklearn" in ran.stdout
