"""The examples of the guide give the outputs that stand there."""
import doctest
import functools
import re
import types
from pathlib import Path

import numpy as np
import pytest

import nystream

GUIDE = Path(__file__).resolve().parents[2] / "src" / "guide"
PAGES = sorted(page for page in GUIDE.glob("*.md") if ">>> " in page.read_text(encoding="utf-8"))


def test_there_are_pages():
    """The pages for users of Python are among them."""
    names = {page.stem for page in PAGES}
    assert names >= {"from-scikit-learn", "bigger-than-memory", "pipelines",
                     "more-than-one-machine"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page(page, tmp_path, monkeypatch):
    """The examples of a page, in an empty folder; a fence ends an output as an empty line does."""
    monkeypatch.chdir(tmp_path)
    for package in ("anndata", "dask", "sklearn"):
        if f"import {package}" in page.read_text(encoding="utf-8"):
            pytest.importorskip(package)
    text = re.sub(r"^```.*$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    examples = doctest.DocTestParser().get_doctest(text, {}, page.stem, str(page), 0)
    wrong = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(examples, out=wrong.append)
    assert examples.examples and not wrong, "".join(wrong)


def test_the_readme(tmp_path, monkeypatch):
    """The block of the front page runs as it stands there."""
    monkeypatch.chdir(tmp_path)
    text = (GUIDE.parents[1] / "README.md").read_text(encoding="utf-8")
    names = {"X": np.random.default_rng(0).normal(size=(500, 60))}
    exec(re.search(r"```python\n(.*?)```", text, re.DOTALL).group(1), names)  # noqa: S102
    assert names["Y"].shape == (500, 50)
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")


class Rows:
    """An RDD of Spark, as far as the page on machines needs it: partitions, lists of items."""

    def __init__(self, partitions):
        self.partitions = partitions

    def mapPartitionsWithIndex(self, function):  # noqa: N802  (Spark's name)
        """Map each partition, which comes as an iterator."""
        return Rows([list(function(number, iter(items)))
                     for number, items in enumerate(self.partitions)])

    def map(self, function):
        """Map each item."""
        return Rows([list(map(function, items)) for items in self.partitions])

    def treeReduce(self, function):  # noqa: N802
        """Join all items, neighbours first."""
        items = self.collect()
        while len(items) > 1:
            items = [functools.reduce(function, items[at:at + 2])
                     for at in range(0, len(items), 2)]
        return items[0]

    def collect(self):
        """Return all items."""
        return [item for items in self.partitions for item in items]


def test_the_lines_for_spark(tmp_path):
    """Sums of partitions, one of them empty, are one fit; pyspark itself is not needed."""
    text = (GUIDE / "more-than-one-machine.md").read_text(encoding="utf-8")
    code = re.search(r"^```python spark.py\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)[1]
    X = np.random.default_rng(0).normal(size=(3000, 6))
    rows = Rows([[X[:700], X[700:1000]], [], [X[1000:1900]], [X[1900:2500], X[2500:]]])
    shared = {"landmarks": X[:60] + 0.5, "gamma": 0.05}
    context = types.SimpleNamespace(broadcast=lambda value: types.SimpleNamespace(value=value))
    found = {**shared, "rows": rows, "spark": types.SimpleNamespace(sparkContext=context)}
    exec(compile(code, "spark.py", "exec"), found)
    places = np.concatenate(found["places"].collect())
    store = nystream.open(tmp_path / "all.nys")
    store.append(X)
    whole = store.fit("map", landmarks_points=shared["landmarks"], gamma=0.05, components=4)
    assert found["model"].solution.n == 3000
    assert np.abs(places - whole.embedding[:]).max() <= 1e-5 * np.abs(places).max()
