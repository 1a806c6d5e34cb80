"""Time and memory against the number of points, log-log, from the CSV of tests/bench/beside.

usage: beside_plot.py FILE.csv… >OUT.svg

A column for each task and data of more than one size. A cross is where a tool came to no end, at the
limit of time or memory that it met.
"""
import csv
import math
import sys

OURS, OTHERS = ["#0072b2", "#56b4e9"], ["#d55e00", "#009e73", "#cc79a7", "#c58a00"]  # by Okabe & Ito
WIDTH, HEIGHT, LEFT, TOP, GAP = 124, 150, 46, 34, 20  # a panel, and the room around it


def read(paths):
    """{(task, data): {tool: rows}} in the order of the files."""
    columns = {}
    for row in (row for path in paths for row in csv.DictReader(open(path))):
        if row["tool"].endswith(" (f64)"):  # has the shape of the curve of f32
            continue
        row["n"] = int(row["n"])
        columns.setdefault((row["task"], row["data"]), {}).setdefault(row["tool"], []).append(row)
    return {key: tools for key, tools in columns.items() if len({row["n"] for row in rows_of(tools)}) > 1}


def rows_of(tools):
    return [row for rows in tools.values() for row in rows]


def colours(tools):
    ours, others = iter(OURS), iter(OTHERS)
    return {tool: next(ours if tool.startswith("nystream") else others) for tool in tools}


def seconds(row):
    """Return the seconds of a run: the limit if it was ended, 0 if memory ended it."""
    if row["outcome"].startswith("> "):
        return float(row["outcome"].split()[1])
    return float(row["seconds"] or 0)


def mebibytes(row):
    """Return the peak of a run: the limit if it died of it, 0 if it was refused or failed."""
    if row["outcome"].startswith("dies: out of "):
        return float(row["outcome"].split()[3])
    return float(row["peak_mib"]) * (not row["outcome"].startswith(("refused", "fails")))


class Axis:
    """Powers of ten around the values, on so many pixels."""

    def __init__(self, values, pixels):
        self.low = math.floor(math.log10(min(values)) + 0.01)
        self.high = max(math.ceil(math.log10(max(values)) - 0.01), self.low + 1)
        self.pixels = pixels

    def at(self, value):
        return self.pixels * (math.log10(value) - self.low) / (self.high - self.low)

    def ticks(self):
        return [(10.0**power, f"10<tspan dy='-4' font-size='7'>{power}</tspan>") for power in range(self.low, self.high + 1)]


def text(x, y, words, anchor="middle", colour="#333", more=""):
    return f"<text x='{x:.0f}' y='{y:.0f}' text-anchor='{anchor}' fill='{colour}'{more}>{words}</text>"


def panel(tools, of, across, up, names):
    """Marks, lines and scales, with the origin in the lower left corner."""
    parts = [f"<path d='M0,{-HEIGHT}V0H{WIDTH}' fill='none' stroke='#333'/>"]
    for value, words in across.ticks():
        parts.append(text(across.at(value), 14, words))
    for value, words in up.ticks():
        y = -up.at(value)
        parts.append(f"<path d='M0,{y:.1f}H{WIDTH}' stroke='#ddd'/>")
        if names:
            parts.append(text(-4, y + 3, words, "end"))
    for tool, colour in reversed(colours(tools).items()):
        points = [(across.at(row["n"]), -up.at(of(row)), row["outcome"]) for row in tools[tool] if of(row)]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in points)
        parts.append(f"<polyline points='{line}' fill='none' stroke='{colour}' stroke-width='1.5'/>")
        for x, y, outcome in points:
            cross = f"<path d='M{x - 4:.1f},{y - 4:.1f}l8,8m0,-8l-8,8' stroke='{colour}' stroke-width='2.5'/>"
            parts.append(cross if outcome else f"<circle cx='{x:.1f}' cy='{y:.1f}' r='2.5' fill='{colour}'/>")
    return "\n".join(parts)


def main(*paths):
    columns = read(paths)
    every = [row for tools in columns.values() for row in rows_of(tools)]
    legend = max(len(tools) for tools in columns.values())
    width, height = LEFT + len(columns) * (WIDTH + GAP), TOP + 2 * (HEIGHT + 2 * GAP) + 12 * (legend + 1)
    print(f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' font-family='sans-serif' font-size='9'>")
    print(f"<rect width='{width}' height='{height}' fill='#fff'/>")
    for column, ((task, data), tools) in enumerate(columns.items()):
        left = LEFT + column * (WIDTH + GAP)
        across = Axis([row["n"] for row in rows_of(tools)], WIDTH)
        print(text(left + WIDTH / 2, 12, task, more=" font-weight='bold'"), text(left + WIDTH / 2, 24, data))
        for band, (of, words) in enumerate(((seconds, "seconds"), (mebibytes, "peak MiB"))):
            bottom = TOP + HEIGHT + band * (HEIGHT + 2 * GAP)
            up = Axis([of(row) for row in every if of(row)], HEIGHT)
            if not column:
                print(text(0, 0, words, more=f" transform='translate(12,{bottom - HEIGHT // 2})rotate(-90)'"))
            print(f"<g transform='translate({left},{bottom})'>{panel(tools, of, across, up, not column)}</g>")
        for i, (tool, colour) in enumerate(colours(tools).items()):
            print(text(left, bottom + 28 + 12 * i, "● " + tool, "start", colour))
    print("</svg>")


if __name__ == "__main__":
    main(*sys.argv[1:])
