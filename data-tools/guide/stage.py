#!/usr/bin/python3
"""Lays out the sources of the guide's HTML: pages, pictures, and the reference that is generated.

    data-tools/guide/stage.py FOLDER

The pages of src/guide are plain Markdown, which any forge shows. Three things change here:
the tables of README.md become the order of the pages; links to files of the tree lead to the page
that has their content; and the file that a block is to be kept in is written above it.
"""
import re
import shutil
import sys
from pathlib import Path

import reference

TREE = Path(__file__).resolve().parents[2]
GUIDE = TREE / "src" / "guide"

# Files of the tree that are pages of the book, and the files whose content the reference has.
PAGES = {"src/README.md": "inside.md", "data-tools/papers/README.md": "papers-experiments.md"}
SOURCES = {"include/nystream.h": "reference/c.md",
           "include/nystream_memory.h": "reference/c.md",
           "include/nystream_sums.h": "reference/c.md",
           "src/api/option_table.c": "reference/options.md",
           "src/cli/verbs.c": "reference/verbs.md",
           "src/base/status.c": "reference/exit-codes.md",
           "src/job/facts.h": "reference/json.md",
           "src/python/nystream": "reference/python.md"}
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#\s]*)(#[^)\s]*)?\)")
BLOCK = re.compile(r"^```(\w+) (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| \[[^\]]*\]\(([a-z0-9-]+)\.md\)", re.MULTILINE)  # a row in a table of pages


def lead(match, page, out):
    """Return a link as it is in the book: pictures are copied, files of the tree are pages."""
    picture, text, path, anchor = match.groups(default="")
    if not path or "://" in path:
        return match[0]
    target = (page.parent / path).resolve()
    if not target.exists():
        raise SystemExit(f"{page.relative_to(TREE)}: there is no {path}")
    name = target.relative_to(TREE).as_posix()
    if picture:
        shutil.copy(target, out / "pictures" / target.name)
        return f"![{text}](pictures/{target.name})"
    found = PAGES.get(name, SOURCES.get(name, target.name if target.parent == GUIDE else None))
    if found in (None, "README.md"):
        found = {"src/guide/README.md": "index.md"}.get(name)
    return f"[{text}]({found}{anchor})" if found else f"{text} (`{name}`)"


def book_page(page, out):
    """Return the text of a page as the book has it."""
    text = page.read_text(encoding="utf-8")
    text = LINK.sub(lambda match: lead(match, page, out), text)
    return BLOCK.sub(r"```{code-block} \1\n:caption: \2\n\n\3```", text)


def contents(text):
    """Return the front page: below each table the pages that it names, in their order."""
    parts = re.split(r"^(?=## )", text, flags=re.MULTILINE)
    for k, part in enumerate(parts[1:], 1):
        title = part.splitlines()[0][3:]
        pages = "\n".join(ROW.findall(part))
        if title == "Reference":
            pages = "\n".join(f"reference/{name}" for name in reference.PAGES)
        if pages:
            parts[k] = (f"{part.rstrip()}\n\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n"
                        f"{pages}\n```\n\n")
    return "".join(parts)


def main():
    """Write all pages into a folder."""
    out = Path(sys.argv[1])
    shutil.rmtree(out, ignore_errors=True)
    (out / "pictures").mkdir(parents=True)
    for page in sorted(GUIDE.glob("*.md")):
        text = book_page(page, out)
        if page.name == "README.md":
            (out / "index.md").write_text(contents(text), encoding="utf-8")
        else:
            (out / page.name).write_text(text, encoding="utf-8")
    for name, page in PAGES.items():
        (out / page).write_text(book_page(TREE / name, out), encoding="utf-8")
    shutil.copytree(Path(__file__).parent / "static", out / "static")
    shutil.copy(Path(__file__).parent / "conf.py", out / "conf.py")
    reference.write(out / "reference")


if __name__ == "__main__":
    main()
