"""The reference of the guide lacks no option, function, fact or class, and has each once."""
import re
import shutil
import sys
from pathlib import Path

import pytest

import nystream

TREE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "data-tools" / "guide"))

import json_reference  # noqa: E402  (found by the path above)
import reference  # noqa: E402

pytestmark = pytest.mark.skipif(shutil.which("nystream") is None, reason="no nystream on PATH")


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Return the generated pages by name."""
    folder = tmp_path_factory.mktemp("reference")
    reference.write(folder)
    return {page.stem: page.read_text(encoding="utf-8") for page in folder.glob("*.md")}


def test_pages(pages):
    """The front page lists what is generated, and nothing else."""
    assert sorted(pages) == sorted(reference.PAGES)


def test_options(pages):
    """Each line of the option table is an entry with an example, which names it."""
    table = (TREE / "src" / "api" / "option_table.c").read_text(encoding="utf-8")
    names = re.findall(r'^ +X\("([a-z0-9-]+)", NY_', table, flags=re.MULTILINE)
    assert len(names) > 90
    entries = re.findall(r"^### `--([a-z0-9-]+)`$", pages["options"], flags=re.MULTILINE)
    # Options of the command alone have these names, too.
    own = {"labels", "neighbors", "recall", "all", "clusters", "rows"}
    assert sorted(set(names) - set(entries)) == []
    assert sorted(name for name in set(entries) if entries.count(name) != 1) == sorted(own)
    targets = re.findall(r"^\((option-\S+)\)=$", pages["options"], flags=re.MULTILINE)
    assert len(targets) == len(set(targets)) == len(entries)
    examples = re.findall(r"^```sh\n(nystream .*)\n```$", pages["options"], flags=re.MULTILINE)
    assert len(examples) == len(entries)
    for name, command in zip(entries, examples):
        assert re.search(rf"--(no-)?{name}\b|-[a-z] ", command), command


def test_verbs(pages):
    """Each verb has an entry, whose options are those of the page of options."""
    verbs = [verb["name"] for verb in reference.help_tables()]
    assert re.findall(r"^## (\w+)$", pages["verbs"], flags=re.MULTILINE) == verbs
    for target in re.findall(r"<(option-[^>]+)>", pages["verbs"]):
        assert f"({target})=" in pages["options"]


def test_symbols(pages):
    """Each exported function is described once."""
    symbols = re.findall(r"^ +(ny_\w+);", (TREE / "src" / "nystream.map").read_text(), re.MULTILINE)
    text = "".join(pages[name] for name in pages if name == "c" or name.startswith("c-"))
    found = re.findall(r"^`+\{c:function\} .*?\b(ny_\w+)\(", text, flags=re.MULTILINE)
    assert sorted(found) == sorted(symbols)


def test_python(pages):
    """Each public name of the package is described once, and so are those of its modules."""
    import nystream.dask
    import nystream.tl

    public = [name for name in nystream.__all__ if name != "tl"]
    for module in nystream.tl, nystream.dask:
        public += [f"{module.__name__[9:]}.{name}" for name in dir(module)
                   if not name.startswith("_") and callable(getattr(module, name))
                   and getattr(getattr(module, name), "__module__", "") == module.__name__]
    text = "".join(pages[name] for name in pages if name.startswith("python"))
    found = re.findall(r"^(?:\.\. auto(?:class|function)::|```\{py:data\}) nystream\.(\S+)$", text,
                       flags=re.MULTILINE)
    assert sorted(found) == sorted(public)


def test_keys(pages):
    """Each fact of reports and each key that a verb prints is told once, and no other."""
    listed = re.findall(r"^\| `(\w+)` \|", pages["json"], flags=re.MULTILINE)
    assert len(json_reference.facts()) > 140
    assert sorted(listed) == sorted(set(json_reference.facts()) | set(json_reference.seen()))


def test_exit_codes(pages):
    """Each status of the header has its line."""
    text = (TREE / "include" / "nystream.h").read_text(encoding="utf-8")
    codes = re.findall(r"X\(NY_\w+, (\d+),", text)
    assert re.findall(r"^\| `(\d+)` \|", pages["exit-codes"], flags=re.MULTILINE) == codes


def test_exit_codes_of_the_guide():
    """The page about files has the statuses that leave the library, in the words of the header."""
    text = (TREE / "include" / "nystream.h").read_text(encoding="utf-8")
    statuses = [status for status in re.findall(r'X\(NY_\w+, (\d+), "([^"]+)", "([^"]+)"\)', text)
                if status[1] != "end"]
    page = (TREE / "src" / "guide" / "files-and-formats.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| (\d+) \| `([^`]+)` \| ([^|]+) \|", page, flags=re.MULTILINE) == statuses
