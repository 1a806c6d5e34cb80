"""Lists the keys of --json: all facts of reports, and what each verb prints in a small session."""
import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
KEYS = Path(__file__).with_name("keys.txt")

# Each line of the session runs; its key names what prints the keys.
SESSION = {
    "import": "import points.nys points.csv --label-column class --json",
    "info STORE": "info points.nys --json",
    "verify": "verify points.nys --json",
    "plan": "plan points.nys --landmarks 100 --time-limit 2h --json",
    "plan --accuracy": "plan points.nys --accuracy 20% --json",
    "plan --map": "plan points.nys --map isomap --landmarks 100 --json",
    "plan --shape": "plan --shape 1e6,784,u8 --json",
    "plan --gamma-grid": "plan points.nys --landmarks 100 --gamma-grid 0.1,1 --json",
    "fit": "fit points.nys map --landmarks 100 --probe 8 --json",
    "fit --update": "fit points.nys map --update frozen --json",
    "fit --until": "fit points.nys part --map pca --approx exact --until sums --json",
    "merge": "merge points.nys --name part -o part.nym --json",
    "graph": "graph points.nys near --neighbors 8 --connect --sweep 4,8 --json",
    "path": "path points.nys near --from 0 --to 1 --json",
    "eval": "eval points.nys map --json",
    "transform": "transform points.nys map --input new.csv -o placed.npy --json",
    "repair": "repair points.nys --json",
    "compact": "compact points.nys --json",
    "truncate": "truncate points.nys --keep 600 --drop-results --json",
    "graph --edges": "graph roads.nys roads --edges roads.txt --edge-weights affinity --json",
    "import --shard": "import big.nys --shard 0/1 new.csv --json",
    "fit of shards": "fit big.nys map --landmarks 2 --json",
}


def facts():
    """Return the keys of the table of facts."""
    text = (TREE / "src" / "job" / "facts.h").read_text(encoding="utf-8")
    return re.findall(r'^ +X\("(\w+)"', text, flags=re.MULTILINE)


def meanings():
    """Return the keys and what they mean, by subject."""
    found, subject = {}, None
    for line in KEYS.read_text(encoding="utf-8").splitlines():
        key, colon, meaning = line.partition(": ")
        if line.startswith("= "):
            subject = found.setdefault(line[2:], {})
        elif colon and not line.startswith("#"):
            if key in subject:
                raise SystemExit(f"{KEYS}: {key} comes twice")
            subject[key] = meaning
    return found


def run(build, folder, line):
    """Run a command in a folder and return what it printed."""
    return subprocess.run(["nystream", *line.split()], executable=build / "nystream", cwd=folder,
                          check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def run_session():
    """Run the session in a folder of its own, and return the report of each line."""
    build = Path(os.environ.get("NYSTREAM_BUILD", TREE / "build")).absolute()
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        rows = [(k % 10 + k * k % 7 / 9, k % 13, k * k % 17, k % 3) for k in range(600)]
        text = "".join(f"{a},{b},{c},{label}\n" for a, b, c, label in rows)
        (Path(folder) / "points.csv").write_text("a,b,c,class\n" + text)
        (Path(folder) / "new.csv").write_text("1,2,3\n4,5,6\n2,1,3\n")
        (Path(folder) / "roads.txt").write_text("0 1 2.5\n1 2 1\n2 0 2\n")
        for title, line in SESSION.items():
            if title == "fit --update":
                run(build, folder, "import points.nys points.csv --label-column class --append -q")
            found[title] = json.loads(run(build, folder, line))
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


def seen():
    """Return of each key of the session an example, not null if there is one, and what prints it."""
    found = {}
    for title, report in run_session().items():
        for key, value in (report[0] if isinstance(report, list) else report).items():
            example, titles = found.get(key, (None, []))
            found[key] = value if example in (None, []) else example, titles + [title]
    return found


def row(key, meaning, examples):
    """Return the line of a key."""
    value, titles = examples.get(key, (None, []))
    example = "" if value is None else shown(value).replace("|", "\\|")
    example = f"`{example[:24]}{'…' * (len(example) > 24)}`" if example else ""
    verbs = list(dict.fromkeys(title.split()[0] for title in titles))
    return f"| `{key}` | {meaning} | {example} | {', '.join(verbs)} |\n"


def page():
    """Return the page of JSON keys."""
    text = ("# JSON\n\nWith `--json` a verb prints its report as one object, or an error as one "
            "(see [exit codes](exit-codes.md)). Keys that are not known, or do not apply, are "
            "null. Units are bytes, seconds, and floating-point operations (of the machine, each "
            "of these per second). Reports of Python and of C have the same keys.\n\n"
            "The examples and the last column come from this session; `info` of a result prints what "
            "`fit` and `graph` print:\n\n```sh\n")
    text += "".join(f"nystream {line}\n" for line in SESSION.values()) + "```\n"
    examples = seen()
    for subject, keys in meanings().items():
        text += f"\n## {subject}\n\n| key | meaning | example | printed by |\n|---|---|---|---|\n"
        text += "".join(row(key, meaning, examples) for key, meaning in keys.items())
    return text
