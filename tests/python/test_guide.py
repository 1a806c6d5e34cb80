"""The examples of the guide give the outputs that stand there."""
import doctest
import functools
import multiprocessing
import pickle
import re
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import nystream

pytestmark = pytest.mark.slow
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


def apart(function, *arguments):
    """Run a function in a process of its own, and return its result as a pickle."""
    fork = multiprocessing.get_context("fork")  # which takes functions that have no module
    ours, theirs = fork.Pipe(duplex=False)
    process = fork.Process(
        target=lambda: theirs.send_bytes(pickle.dumps(function(*arguments))))
    process.start()
    theirs.close()
    image = ours.recv_bytes()
    process.join()
    return image


class Rows:
    """An RDD of Spark, as far as the page needs it: partitions, lists of items, each a process."""

    def __init__(self, partitions):
        self.partitions = partitions

    def mapPartitionsWithIndex(self, function):  # noqa: N802  (Spark's name)
        """Map each partition, which comes as an iterator."""
        return Rows([pickle.loads(apart(lambda *given: list(function(*given)), number, iter(items)))
                     for number, items in enumerate(self.partitions)])

    def map(self, function):
        """Map each item."""
        return self.mapPartitionsWithIndex(lambda _, items: map(function, items))

    def treeReduce(self, function):  # noqa: N802
        """Join all items, neighbours first."""
        items = self.collect()
        while len(items) > 1:
            items = [pickle.loads(apart(functools.reduce, function, items[at:at + 2]))
                     for at in range(0, len(items), 2)]
        return items[0]

    def collect(self):
        """Return all items."""
        return [item for items in self.partitions for item in items]


class Reference(bytes):
    """A result of Ray: a pickle of what is in another process."""


class Ray(types.ModuleType):
    """Ray, as far as the page needs it: remote functions, each call of which is a process."""

    def remote(self, function):
        """Give a function the method that calls it elsewhere, whose references are looked up."""
        function.remote = lambda *given: Reference(apart(
            lambda: function(*[self.get(one) if isinstance(one, Reference) else one
                               for one in given])))
        return function

    def get(self, given):
        """Look up a reference, or a list of them."""
        return [self.get(one) for one in given] if isinstance(given, list) else pickle.loads(given)

    def put(self, value):
        """Return a reference to a value."""
        return Reference(pickle.dumps(value))


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # later Pythons warn of forks
@pytest.mark.parametrize("name", ["spark", "ray_sums"])
def test_the_lines_for(name, tmp_path, monkeypatch):
    """Sums of parts in other processes are one fit; pyspark and ray themselves are not needed."""
    text = (GUIDE / "more-than-one-machine.md").read_text(encoding="utf-8")
    code = re.search(rf"^```python {name}.py\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)[1]
    X = np.random.default_rng(0).normal(size=(3000, 6))
    items = [[X[:700], X[700:1000]], [], [X[1000:1900]], [X[1900:2500], X[2500:]]]
    found = {"landmarks": X[:60] + 0.5, "gamma": 0.05}
    if name == "spark":
        context = types.SimpleNamespace(broadcast=lambda value: types.SimpleNamespace(value=value))
        found.update(rows=Rows(items), spark=types.SimpleNamespace(sparkContext=context))
    else:
        monkeypatch.setitem(sys.modules, "ray", Ray("ray"))
        found.update(chunks=[rows for some in items for rows in some])
    exec(compile(code, f"{name}.py", "exec"), found)
    places = found["places"].collect() if name == "spark" else found["places"]
    store = nystream.open(tmp_path / "all.nys")
    store.append(X)
    whole = store.fit("map", landmarks_points=found["landmarks"], gamma=0.05, components=4)
    assert found["model"].solution.n == 3000 and found["model"].solution.parts >= 3
    off = np.abs(np.concatenate(places) - whole.embedding[:]).max()
    assert off <= 1e-5 * np.abs(whole.embedding[:]).max()
