"""Generates the reference of the guide: options, verbs, JSON, exit codes, C and Python.

What it writes comes from the tables and texts of the program itself: `nystream help --json`, the
table of facts, the headers, the docstrings of the package, and runs of the command. Tests look
that nothing is missing (tests/python/test_reference.py).
"""
import json
import os
import re
import subprocess
from pathlib import Path

import c_header
import json_reference
import python_reference

TREE = Path(__file__).resolve().parents[2]
PAGES = ["verbs", "options", "json", "exit-codes", *python_reference.PAGES, *c_header.PAGES]

SECTIONS = {
    "Input": "How rows are read from files, and what is kept of them.",
    "Rows": "Which rows of a store stay in it.",
    "Embedding": "What is computed.",
    "Columns": "What columns of rows count, and how much.",
    "Kernel": "How alike two rows are, and what is made of the matrix of that.",
    "Landmarks": "The rows that stand for all.",
    "Solver": "How eigenpairs are found.",
    "Neighbours": "How a graph of nearest neighbours is made.",
    "Graphs": "Graphs that are there, or come from files.",
    "Error": "How far off the result is.",
    "Measures": "What `eval` measures.",
    "Picture": "What `plot` and `report` draw.",
    "Run": "Memory, threads, and how a job runs.",
    "Output": "What is written, and where.",
}

FORMATS = {"npy"}  # a name that has no capital

# Examples of options that the guide, help and the table of tests show in no whole command.
EXAMPLES = {
    "accuracy": "nystream fit points.nys map --accuracy 1% --components 10",
    "trace-error": "nystream fit points.nys features --trace-error 5% --components 200",
    "check-rows": "nystream fit points.nys map --check-rows 256",
    "format": "nystream import points.nys - --format csv",
    "decimal": "nystream import points.nys points.csv --decimal ,",
    "expect-rows": "nystream import points.nys today.csv --append --expect-rows 1797",
    "column-names": "nystream import docs.nys docs.npz --column-names terms.txt",
    "new-columns": "nystream import docs.nys today.npz --append --new-columns drop",
    "matrix": "nystream import cells.nys cells.h5ad --matrix layers/counts",
    "peers": "nystream fit big.nys map --peers folder:meeting",
    "peers-wait": "nystream fit big.nys map --peers folder:meeting --peers-wait 60",
    "threads": "nystream fit points.nys map --threads 2",
    "quiet": "nystream fit points.nys map --quiet",
    "strict": "nystream fit points.nys map --strict",
    "verbose": "nystream fit points.nys map --verbose",
    "help": "nystream fit --help",
    "all": "nystream help fit --all",
    "pilot": "nystream fit points.nys map --select greedy --landmarks 50 --no-pilot",
    "recall": "nystream transform points.nys near --input new.npy -o near.npy --recall 0.95",
    "shape": "nystream plan --shape 1e7,784,u8 --memory 4G",
    "time-limit": "nystream fit points.nys map --time-limit 2h",
    "labels": "nystream eval points.nys map --labels",
    "skip-damaged": "nystream export points.nys map -o map.npy --skip-damaged",
    "tmpdir": "nystream embed table.csv -o map.npy --tmpdir /var/tmp",
}


def help_tables():
    """Return the verbs of the command with their options."""
    command = Path(os.environ.get("NYSTREAM_BUILD", TREE / "build")) / "nystream"
    found = subprocess.run([command, "help", "--json"], check=True, stdout=subprocess.PIPE)
    return json.loads(found.stdout)


def escape(text):
    """Return a text of help as Markdown shows it; options and code are set as code."""
    parts = re.split(r"(`[^`]*`|--[a-z][a-z0-9-]*)", text)
    for k, part in enumerate(parts):
        if k % 2:
            parts[k] = part if part.startswith("`") else f"`{part}`"
        else:
            parts[k] = re.sub(r"([\\*<>\[\]_|^~])", r"\\\1", part)
    return "".join(parts)


def sentence(text):
    """Return a summary as a sentence: with a capital, where it does not begin with a value."""
    first = text.split()[0]
    if re.fullmatch(r"[a-z]+(-[a-z]+)?[,;]?", first) and first not in FORMATS:
        text = text[0].upper() + text[1:]
    return escape(text if text.endswith(".") else text + ".")


def spelled(option):
    """Return an option with its letter and its argument."""
    text = f"--{option['name']}"
    if option["argument"]:
        text += " " + option["argument"]
    elif option["switch_both_ways"]:
        text += f", --no-{option['name']}"
    return f"-{option['letter']}, {text}" if option["letter"] else text


def guide_commands():
    """Give the commands of the pages of the guide."""
    for page in sorted((TREE / "src" / "guide").glob("*.md")):
        text = page.read_text(encoding="utf-8").replace("\\\n", " ")
        for line in re.findall(r"^(?:    )?(nystream .*)", text, flags=re.MULTILINE):
            line = re.sub(r"  +#.*| \|\|? .*|  +", lambda m: "" if m[0].strip() else " ", line)
            if "$" not in line and "…" not in line:
                yield re.sub(r"\s+", " ", line).strip()


def test_commands():
    """Give the commands with which the tests show that each option acts."""
    text = (TREE / "tests" / "cli" / "options.bats").read_text(encoding="utf-8")
    for command, change in re.findall(r"^[a-z0-9-]+ +\| ([^|\n]+?) *\| (-[^!|\n]+?) *$", text,
                                      flags=re.MULTILINE):
        line = f" {command} {change} "
        for word, name in ((" new ", " points.nys "), (" s r ", " points.nys map "),
                           (" s f ", " points.nys map "), (" s g ", " points.nys near "),
                           (" s ", " points.nys "), (" t.csv ", " table.csv ")):
            line = line.replace(word, name)
        if " none " not in line and " now " not in line:
            yield "nystream" + line.rstrip()


def example(verbs, option, takers):
    """Return the shortest command that has an option: of the guide, of help, of a test, or ours."""
    words = {f"--{option['name']}", f"--no-{option['name']}", f"-{option['letter']}"}
    for commands in (guide_commands(), (line for verb in verbs
                                        for line in verb["examples"].split("\n")),
                     test_commands()):
        found = [line for line in commands if line.split()[1:2] and line.split()[1] in takers
                 and words & {word.partition("=")[0] for word in line.split()}]
        if found:
            return min(found, key=len)
    return EXAMPLES[option["name"]]


def gather(verbs):
    """Return the options, those of one meaning once, and the verbs that take each."""
    options = {}
    for verb in verbs:
        for option in verb["options"]:
            key = option["name"], option["section"], option["summary"]
            options.setdefault(key, (option, []))[1].append(verb["name"])
    return list(options.values())


def target(option, takers, all_options):
    """Return the anchor of an option, which names a verb where two options have one name."""
    alike = [other for other, _ in all_options if other["name"] == option["name"]]
    end = "" if alike[0] is option else f"-{takers[0]}"
    return f"option-{option['name']}{end}"


def option_text(verbs, option, takers, options):
    """Return the entry of an option."""
    every = len(takers) == len(verbs)
    of = "every verb" if every else ", ".join(f"{{ref}}`{name} <verb-{name}>`" for name in takers)
    text = f"({target(option, takers, options)})=\n### `--{option['name']}`\n\n"
    if spelled(option) != f"--{option['name']}":
        text += f"```none\n{spelled(option)}\n```\n\n"
    text += sentence(option["summary"]) + "\n\n"
    if option["default"]:
        text += f"Default: `{option['default']}`. "
    line = example(verbs, option, takers)
    text += f"Taken by {of}.\n"
    return f"{text}\n```sh\n{line}\n```\n"


def options_page(verbs):
    """Return the page of options, by subject."""
    options = gather(verbs)
    text = ("# Options\n\nAll options of the command, by subject. In Python they are keywords, "
            "with `_` for `-`; in C, {c:func}`ny_options_set` takes them by their names.\n")
    found = [option["section"] for option, _ in options]
    for section in sorted(set(found), key=list(SECTIONS).index):
        text += f"\n## {section}\n\n{SECTIONS[section]}\n"
        for option, takers in options:
            if option["section"] == section:
                text += "\n" + option_text(verbs, option, takers, options)
    return text


def verbs_page(verbs):
    """Return the page of verbs."""
    text = "# Verbs\n\nWhat the command does, verb by verb, with the options that each takes.\n"
    options = gather(verbs)
    for verb in verbs:
        synopsis = " ".join(filter(None, ["nystream", verb["name"], verb["operands"],
                                          verb["required"], "[options]"]))
        description = "\n".join(escape(line) + ("" if line.startswith("- ") else "\n")
                                for line in verb["description"].split("\n"))
        names = [f"{{ref}}`--{option['name']} <{target(option, takers, options)}>`"
                 for option, takers in options if verb["name"] in takers]
        text += (f"\n(verb-{verb['name']})=\n## {verb['name']}\n\n{sentence(verb['summary'])}\n\n"
                 f"```none\n{synopsis}\n```\n\n{description}\n"
                 f"```sh\n{verb['examples']}\n```\n\nOptions: {', '.join(names)}.\n")
    return text


def exit_codes_page():
    """Return the page of exit codes."""
    return ("# Exit codes\n\nThe command ends with one of these, functions in C return them, and "
            "Python raises the exception of the same kind ([Errors](../pipelines.md#errors)). "
            "With `--json` the command prints the error as an object, "
            "`{\"error\": {\"code\", \"kind\", \"message\", \"file\", \"line\"}}`, and `resume`, "
            "the command that goes on, where there is one.\n\n"
            + c_header.statuses() +
            "\nWith `--strict`, 9 also says that all is done, but there was a warning. After 129, 130 and 143 the same command goes on from its checkpoint, as it does "
            "after 8 with a larger `--memory`.\n")


def write(folder):
    """Write all pages of the reference into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    verbs = help_tables()
    pages = {"verbs": verbs_page(verbs), "options": options_page(verbs),
             "exit-codes": exit_codes_page(), "json": json_reference.page(),
             **python_reference.pages()}
    for name, text in pages.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    c_header.write(folder)


