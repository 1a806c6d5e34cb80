"""Settings of Sphinx for the guide; data-tools/guide/build calls it with the staged pages."""
import os
import re
from pathlib import Path

project = "nystream"
author = "the authors of nystream"
copyright = "MIT license"  # noqa: A001  (Sphinx's name)
release = os.environ["VERSION"]

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = []
myst_heading_anchors = 3
smartquotes = False

# Types in signatures are names of other packages; links of the pages themselves are checked.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
nitpicky = True
nitpick_ignore_regex = [("py:.*", ".*"), ("c:identifier", r"u?int(8|16|32|64)_t|size_t|ny_\w+_fn")]

html_theme = "furo"
html_title = f"nystream {release}"
html_static_path = ["static"]
html_css_files = ["guide.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_permalinks_icon = "#"
templates_path = []
# All of their colours have a contrast of 4.5 or more; most styles have comments and numbers of 3.
pygments_style = "default"
pygments_dark_style = "github-dark"

# A cron table and a batch script of Slurm are not languages that Pygments knows.
highlight_language = "none"


def add_lexers(app):
    """Let the names of the guide's blocks be read as the languages that they are."""
    from pygments.lexers import BashLexer

    for name in ("cron", "sbatch"):
        app.add_lexer(name, BashLexer)


SECTION = re.compile(r"^(Parameters|Returns|Yields|Raises|Attributes|Examples|Notes)\n-+\n", re.MULTILINE)


def escape(text):
    """Return plain text as reStructuredText; what stands in backticks is code."""
    text = re.sub(r"(?<!`)`([^`\n]+)`(?!`)", r"``\1``", text)
    parts = re.split(r"(``[^`]+``)", text)
    parts[::2] = [re.sub(r"(?<=\w)_(?!\w)|[*|\\]", r"\\\g<0>", part) for part in parts[::2]]
    return "".join(parts)


LONG = 80  # a type that is longer goes on in the next line, which else begins a sentence


def entries(text):
    """Return the entries of a section, a name and what is said of it each, as a list."""
    found = []
    lines = text.strip("\n").split("\n")
    for line, after in zip(lines, lines[1:] + [""]):
        if line.startswith(" ") or not line:
            found.append("  " + escape(line.strip()))
            continue
        name, colon, kind = line.partition(" : ")
        names = colon or re.fullmatch(r"[\w*, ]+", name)
        told = f"**{escape(name)}**" if names else escape(name)
        told += f": {escape(kind)}" if colon else ":" * after.startswith(" ")
        found.append(f"* {told}{'.' * bool(colon and after.startswith(' ') and len(line) < LONG)}")
    return "\n".join(found) + "\n"


def as_text(_app, _what, _name, _object, _options, lines):
    """Turn a docstring, which is plain text with sections as numpy has them, into markup."""
    parts = SECTION.split("\n".join(lines))
    # Entries may stand in a paragraph; an indented block below an empty line is code.
    paragraphs = re.split(r"\n\n(?=\S)", parts[0])
    paragraphs = [entries(text) if re.match(r"[\w, ]+ : ", text) else
                  re.sub(r"(?<=\n)\n(?=    )", "\n::\n\n", escape(text)) for text in paragraphs]
    out = ["\n\n".join(paragraphs)]
    for title, text in zip(parts[1::2], parts[2::2]):
        out.append(f"\n.. rubric:: {title}\n\n{entries(text)}\n")
    lines[:] = "".join(out).split("\n")


def join_scripts(app, error):
    """Put furo's script and the one that it imports into one file.

    Debian's furo is not bundled: a page that is opened as a file may not import, and its switch of
    colours would do nothing.
    """
    script = Path(app.outdir) / "_static" / "scripts" / "furo.js"
    if error or not script.exists():
        return
    text = script.read_text(encoding="utf-8")
    imported = re.match(r'import \w+ from "\./([\w.-]+)";\n', text)
    if imported:
        library = script.with_name(imported[1]).read_text(encoding="utf-8")
        script.write_text(library + text[imported.end():], encoding="utf-8")


def setup(app):
    """Extend Sphinx."""
    app.connect("build-finished", join_scripts)
    add_lexers(app)
    app.connect("autodoc-process-docstring", as_text)
