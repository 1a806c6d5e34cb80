"""Seconds against recall of nearest neighbours, from the CSV of tests/bench/beside knn.

usage: neighbors_plot.py FILE.csv… >OUT.svg

A panel for each data of which there are curves, and a line for each tool through its settings. To the
right is better, and so is below.
"""
import math
import sys

from beside_plot import GAP, HEIGHT, LEFT, OTHERS, TOP, Axis, text
from neighbors import curves

WIDTH, RECALLS = 150, (0.5, 0.9, 0.95, 0.99, 0.999)
COLOURS = {"nystream sieve": "#0072b2", "nystream": "#000000"}


def across(recall):
    """Return the place of a recall: equal steps for a half, a tenth, a hundredth of misses."""
    low, high = -math.log10(0.6), -math.log10(0.0005)
    return WIDTH * (min(max(-math.log10(max(1 - recall, 1e-9)), low), high) - low) / (high - low)


def panel(tools, colours):
    up = Axis([seconds for curve in tools.values() for _, seconds in curve], HEIGHT)
    parts = [f"<path d='M0,{-HEIGHT}V0H{WIDTH}' fill='none' stroke='#333'/>"]
    for recall in RECALLS:
        x = across(recall)
        parts += [f"<path d='M{x:.1f},0V{-HEIGHT}' stroke='#ddd'/>", text(x, 14, f"{recall:g}"[1:])]
    for value, words in up.ticks():
        parts += [f"<path d='M0,{-up.at(value):.1f}H{WIDTH}' stroke='#ddd'/>", text(-4, 3 - up.at(value), words, "end")]
    for tool, curve in tools.items():
        points = [(across(recall), -up.at(seconds)) for recall, seconds in sorted(curve)]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f"<polyline points='{line}' fill='none' stroke='{colours[tool]}' stroke-width='1.5'/>")
        parts += [f"<circle cx='{x:.1f}' cy='{y:.1f}' r='2.5' fill='{colours[tool]}'/>" for x, y in points]
    return "\n".join(parts)


def main(*paths):
    panels = {key: tools for path in paths for key, tools in curves(path).items() if any(len(c) > 1 for c in tools.values())}
    names = list(dict.fromkeys(tool for tools in panels.values() for tool in tools))
    others = iter(OTHERS)
    colours = {name: COLOURS.get(name) or next(others) for name in names}
    width, height = LEFT + len(panels) * (WIDTH + 2 * GAP), TOP + HEIGHT + 46
    print(f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' font-family='sans-serif' font-size='9'>")
    print(f"<rect width='{width}' height='{height}' fill='#fff'/>")
    for column, ((data, n), tools) in enumerate(panels.items()):
        left = LEFT + column * (WIDTH + 2 * GAP)
        print(text(left + WIDTH / 2, 12, data, more=" font-weight='bold'"), text(left + WIDTH / 2, 24, f"{n:,} points"))
        print(f"<g transform='translate({left},{TOP + HEIGHT})'>{panel(tools, colours)}</g>")
        print(text(left + WIDTH / 2, TOP + HEIGHT + 26, "recall"))
    print(text(0, 0, "seconds", more=f" transform='translate(12,{TOP + HEIGHT // 2})rotate(-90)'"))
    for i, name in enumerate(names):
        print(text(LEFT + 100 * i, height - 6, "● " + name, "start", colours[name]))
    print("</svg>")


if __name__ == "__main__":
    main(*sys.argv[1:])
