"""Turns the C headers into pages: each comment with the declarations below it, by subject."""
import re
from pathlib import Path
from typing import Iterator, List, NamedTuple, Tuple

INCLUDE = Path(__file__).resolve().parents[2] / "include"

# The pages, and the sections of the headers that each has: the header, the first words of the
# banner, and the title. "" is what stands above the first banner.
PAGES = {
    "c": ("C: overview, errors, version", [("nystream.h", "", "")]),
    "c-context": ("C: contexts", [("nystream.h", "2. Context", "Contexts")]),
    "c-options": ("C: options and reports",
                  [("nystream.h", "Options, by the names", "Options"),
                   ("nystream.h", "Calls report this", "Reports")]),
    "c-store": ("C: stores, fits and files",
                [("nystream.h", "3. Store", "Stores and fits"),
                 ("nystream.h", "1. One call", "A file in, a file out")]),
    "c-memory": ("C: rows, results and models in memory",
                 [("nystream_memory.h", "Rows in", "Rows in"),
                  ("nystream_memory.h", "One call", "A table in, an embedding and a model out"),
                  ("nystream_memory.h", "Parts out", "Parts out"),
                  ("nystream_memory.h", "New rows", "Models and new rows")]),
    "c-sums": ("C: sums of many machines", [("nystream_sums.h", "5. Sums", "Sums")]),
}
BANNER = re.compile(r"^/\* -{60,}\n(.*?)\n \* -{60,} \*/\n", re.MULTILINE | re.DOTALL)
ITEM = re.compile(r"/\*.*?\*/|(?:enum|struct)[^;{]*\{.*?\n?\};|[^\s#/][^;]*;", re.DOTALL)


class Group(NamedTuple):
    """A comment and the declarations that it is about."""

    comment: str
    functions: List[str]
    types: List[Tuple[str, str]]  # name ("struct ny_table") and definition


def bare(comment: str) -> str:
    """Return the text of a comment without its frame."""
    text = re.sub(r"^/\*+ ?\n?|\s*\*/$", "", comment)
    return re.sub(r"^ \* ?", "", text, flags=re.MULTILINE)


def escape(text: str) -> str:
    """Return a text as Markdown shows it to the letter, with names of the library as links."""
    text = re.sub(r"([\\`*<>\[\]|])", r"\\\1", text)
    text = re.sub(r"\\`([^`]*?)\\`", lambda found: "`" + found[1].replace("\\", "") + "`", text)
    text = re.sub(r"\b(ny_[a-z_0-9]+)\(\)", r"{c:func}`\1`", text)
    return re.sub(r"(?<![`\w])(NY_[A-Z0-9_]+)\b", r"`\1`", text)


def prose(text: str) -> str:
    """Return a comment's paragraphs as Markdown; indented lines are code."""
    parts: List[str] = []
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        lines = block.split("\n")
        code = next((k for k, line in enumerate(lines) if line.startswith("    ")), len(lines))
        if all(line.startswith(("    ", "  ")) for line in lines):
            parts.append("\n".join("    " + line for line in lines))
            continue
        parts.append(escape("\n".join(lines[:code])))
        if code < len(lines):
            parts.append("\n".join(lines[code:]))
    return "\n\n".join(parts)


def sections(name: str) -> Iterator[Tuple[str, str]]:
    """Give the sections of a header: the text of the banner, and what stands below it."""
    text = (INCLUDE / name).read_text(encoding="utf-8")
    parts = BANNER.split(text)
    yield "", parts[0]
    for banner, body in zip(parts[1::2], parts[2::2]):
        yield re.sub(r"^ \* ?", "", banner, flags=re.MULTILINE), body


def groups(body: str) -> Iterator[Group]:
    """Give the groups of a section; preprocessor lines are left out, with their continuations."""
    body = re.sub(r'^extern "C" \{$|^\}$', "", body, flags=re.MULTILINE)
    body = re.sub(r"^ *#(.*\\\n)*.*\n", "", body, flags=re.MULTILINE)
    group = Group("", [], [])
    for item in ITEM.findall(body):
        if item.startswith("/*"):
            if group.functions or group.types:
                yield group
            group = Group(bare(item), [], [])
        elif item.startswith("NY_API"):
            group.functions.append(re.sub(r"\s+", " ", item[len("NY_API "):-1]))
        else:
            kind = re.match(r"typedef void (\w+)|((?:enum|struct)(?: \w+)?)", item)
            assert kind, item
            group.types.append((kind[1] or kind[2], item))
    if group.functions or group.types:
        yield group


def type_block(kind: str, definition: str) -> str:
    """Return a type as an entry of the index with its definition."""
    word, _, name = kind.partition(" ")
    code = f"```c\n{definition}\n```"
    if word == "struct":
        inside = "" if definition == f"{kind};" else f"\n{code}\n"
        return f"````{{c:struct}} {name}\n{inside}````"
    return f"````{{c:{'enum' if name else 'type'}}} {name or 'void ' + word}\n\n{code}\n````" \
        if word != "enum" or name else code


def group_text(group: Group, told: set) -> str:
    """Return a group as Markdown: signatures, the comment below the last, and definitions."""
    parts = []
    text = prose(group.comment)
    if group.functions:
        parts += [f"```{{c:function}} {function}\n```" for function in group.functions[:-1]]
        parts.append(f"`````{{c:function}} {group.functions[-1]}\n\n{text}\n`````")
    elif text:
        parts.append(text)
    for kind, definition in group.types:
        opaque = definition == f"{kind};"
        if not (opaque and kind in told):
            told.add(kind)
            parts.append(type_block(kind, definition))
    return "\n\n".join(parts)


def statuses() -> str:
    """Return the table of status codes, which are the exit codes of the command."""
    text = (INCLUDE / "nystream.h").read_text(encoding="utf-8")
    rows = re.findall(r'X\((NY_\w+), (\d+), "([^"]+)", "([^"]+)"\)', text)
    lines = "\n".join(f"| `{code}` | `{name}` | `{kind}` | {meaning} |"
                      for name, code, kind, meaning in rows)
    return f"| code | in C | in JSON | meaning |\n|---|---|---|---|\n{lines}\n"


def write(folder: Path) -> None:
    """Write the pages of the C interface."""
    found = {(name, banner): body for name in ("nystream.h", "nystream_memory.h", "nystream_sums.h")
             for banner, body in sections(name)}
    defined = {kind for body in found.values() for group in groups(body)
               for kind, definition in group.types if definition != f"{kind};"}
    told = set(defined)
    for page, (title, wanted) in PAGES.items():
        text = f"# {title}\n"
        for name, start, subject in wanted:
            banner, body = next((key[1], body) for key, body in found.items()
                                if key[0] == name and key[1].startswith(start)
                                and bool(key[1]) == bool(start))
            if start:
                text += f"\n## {subject}\n" if len(wanted) > 1 else ""
                text += f"\n{prose(re.sub('^[0-9]. ', '', banner))}\n"
                text += f"\nDeclared in `{name}`.\n"
            else:  # the comment that the header begins with
                text += f"\n{prose(bare(ITEM.search(body)[0]))}\n\n## Status and version\n"
            for group in groups(body):
                text += "\n" + group_text(group, told) + "\n"
        (folder / f"{page}.md").write_text(text, encoding="utf-8")
