"""Lists the keys of --json: all facts of reports, and what each verb prints in a small session."""
import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
UNITS = {"PLAIN": "", "BYTES": "bytes", "SECONDS": "seconds", "FLOPS": "operations",
         "COUNT": "a number of them", "FLOP_RATE": "operations a second",
         "BYTE_RATE": "bytes a second", "RATE": "a second"}

# Each line of the session runs; its key is the title that its keys have on the page.
SESSION = {
    "import": "import points.nys points.csv --label-column class --json",
    "info STORE": "info points.nys --json",
    "verify": "verify points.nys --json",
    "plan": "plan points.nys --landmarks 100 --json",
    "plan --gamma-grid": "plan points.nys --landmarks 100 --gamma-grid 0.1,1 --json",
    "fit, info STORE NAME": "fit points.nys map --landmarks 100 --probe 8 --json",
    "fit --update": "fit points.nys map --update frozen --json",
    "graph": "graph points.nys near --neighbors 8 --connect --sweep 4,8 --json",
    "path": "path points.nys near --from 0 --to 1 --json",
    "eval": "eval points.nys map --json",
    "transform": "transform points.nys map --input new.csv -o placed.npy --json",
    "repair": "repair points.nys --json",
    "compact": "compact points.nys --json",
    "list": "list points.nys --json",
}


def facts():
    """Return the table of facts: key, words, unit, and what an update makes of it."""
    text = (TREE / "src" / "results" / "facts.h").read_text(encoding="utf-8")
    return re.findall(r'X\("(\w+)", (?:"([^"]*)"|NULL), (?:"[^"]*"|NULL), (\w+), \d+, (\w+)\)', text)


def run_session():
    """Run the session in a folder of its own, and return what each line printed."""
    command = Path(os.environ.get("NYSTREAM_BUILD", TREE / "build")).absolute() / "nystream"
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        rows = [(k % 10 + k * k % 7 / 9, k % 13, k * k % 17, k % 3) for k in range(600)]
        text = "".join(f"{a},{b},{c},{label}\n" for a, b, c, label in rows)
        (Path(folder) / "points.csv").write_text("a,b,c,class\n" + text)
        (Path(folder) / "new.csv").write_text("1,2,3\n4,5,6\n")
        for title, line in SESSION.items():
            if title == "fit --update":
                subprocess.run([command, *"import points.nys points.csv --label-column class "
                                "--append --quiet".split()], cwd=folder, check=True)
            made = subprocess.run([command, *line.split()], cwd=folder, check=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            found[title] = line, made.stdout.decode()
    return found


def shown(value):
    """Return an example of a value, short enough for a table."""
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        return f"[{', '.join(shown(item) for item in value[:2])}{', …' * (len(value) > 2)}]"
    if isinstance(value, dict):
        return "{" + ", ".join(value) + "}"
    return json.dumps(value, ensure_ascii=False)


def session_text(words):
    """Return the keys that each verb of the session prints, with an example of each."""
    text = ""
    for title, (line, printed) in run_session().items():
        try:
            report = json.loads(printed)
        except json.JSONDecodeError:
            continue
        text += f"\n## {title}\n\n```sh\nnystream {line}\n```\n\n| key | example | |\n|---|---|---|\n"
        for key, value in (report[0] if isinstance(report, list) else report).items():
            example = shown(value).replace("|", "\\|")
            text += f"| `{key}` | `{example[:60] + '…' * (len(example) > 60)}` | {words.get(key, '')} |\n"
    return text


def page():
    """Return the page of JSON keys."""
    table = facts()
    words = {key: label for key, label, _, _ in table if label}
    rows = "".join(f"| `{key}` | {label} | {UNITS[unit]} |\n" for key, label, unit, _ in table)
    return ("# JSON\n\nWith `--json` a verb prints its report as one object, or an error as one "
            "(see [exit codes](exit-codes.md)). Keys that are not known, or do not apply, are "
            "null. Units are bytes, seconds and floating-point operations. Reports of Python and "
            "of C have the same keys.\n" + session_text(words) +
            "\n## All facts\n\nThe words are those of the lines that `info` prints.\n\n"
            "| key | words | unit |\n|---|---|---|\n" + rows)
