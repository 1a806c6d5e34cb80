"""Settings of Sphinx for the guide; data-tools/guide/build calls it with the staged pages."""
import os
import re

project = "nystream"
author = "the authors of nystream"
copyright = "MIT license"  # noqa: A001  (Sphinx's name)
release = os.environ["VERSION"]

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = []
myst_heading_anchors = 3
smartquotes = False

# Types in signatures are names of other packages; links of the pages themselves are checked.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
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
pygments_style = "friendly"
pygments_dark_style = "monokai"

# A cron table and a batch script of Slurm are not languages that Pygments knows.
highlight_language = "none"


def add_lexers(app):
    """Let the names of the guide's blocks be read as the languages that they are."""
    from pygments.lexers import BashLexer

    for name in ("cron", "sbatch"):
        app.add_lexer(name, BashLexer)


def as_text(_app, _what, _name, _object, _options, lines):
    """Let docstrings, which are plain text, be read as reStructuredText."""
    text = "\n".join(lines)
    text = re.sub(r"(?<!`)`([^`\n]+)`(?!`)", r"``\1``", text)
    parts = re.split(r"(``[^`]+``)", text)
    parts[::2] = [re.sub(r"(?<=\w)_(?!\w)|[*|]", r"\\\g<0>", part) for part in parts[::2]]
    # An indented block below an empty line is code.
    lines[:] = re.sub(r"(?<=\n)\n(?=    )", "\n::\n\n", "".join(parts)).split("\n")


def setup(app):
    """Extend Sphinx; docstrings are mended before napoleon reads their sections."""
    add_lexers(app)
    app.connect("autodoc-process-docstring", as_text, priority=100)
