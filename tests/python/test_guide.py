"""The examples of the guide give the outputs that stand there."""
import doctest
import re
from pathlib import Path

import pytest

GUIDE = Path(__file__).resolve().parents[2] / "src" / "guide"
PAGES = sorted(page for page in GUIDE.glob("*.md") if ">>> " in page.read_text(encoding="utf-8"))


def test_there_are_pages():
    """The pages for users of Python are among them."""
    names = {page.stem for page in PAGES}
    assert names >= {"from-scikit-learn", "bigger-than-memory", "pipelines"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page(page, tmp_path, monkeypatch):
    """The examples of a page, in an empty folder; a fence ends an output as an empty line does."""
    monkeypatch.chdir(tmp_path)
    text = re.sub(r"^```.*$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    examples = doctest.DocTestParser().get_doctest(text, {}, page.stem, str(page), 0)
    wrong = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(examples, out=wrong.append)
    assert examples.examples and not wrong, "".join(wrong)
