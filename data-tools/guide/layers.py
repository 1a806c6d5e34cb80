#!/usr/bin/python3
"""Draws the rooms of src/ and their includes into src/README.md, between the two markers.

A room stands one line below the lowest room that it includes. In brackets are those that it
includes, without those that are reached through another of them. The wall is CORE_ROOMS of the
Makefile: a room left of it includes no room right of it.

    data-tools/guide/layers.py           writes the picture
    data-tools/guide/layers.py --check   says so, and exits with 1, if the page has another one
"""
import re
import sys
import textwrap
from collections import defaultdict
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
PAGE = TREE / "src/README.md"
BEGIN, END = "<!-- layers.py: begin -->\n", "<!-- layers.py: end -->\n"
LEFT, RIGHT = 50, 66  # columns on each side of the wall
GLUE = "\u00a0"  # a space at which no line is broken


def includes():
    """Returns, for each room, the rooms whose headers its files include."""
    rooms = defaultdict(set)
    for file in sorted((TREE / "src").glob("*/*.[ch]")):
        room = file.parent.name
        for header in re.findall(r'^ *# *include "([^"]+)"', file.read_text("utf-8"), re.MULTILINE):
            if "/" in header:
                rooms[room].add(header.split("/")[0])
            elif room == "cli" and header.startswith("nystream"):
                rooms[room].add("api")  # which has the functions of the public header
        rooms[room].discard(room)
    return rooms


def all_below(rooms, room):
    """Returns all rooms that a room reaches by includes."""
    return rooms[room].union(*(all_below(rooms, below) for below in rooms[room]))


def depth(rooms, room):
    return 1 + max((depth(rooms, below) for below in rooms[room]), default=-1)


def entry(rooms, room):
    """Returns a room with the rooms below it, as one word that is not broken."""
    through = set().union(*(all_below(rooms, below) for below in rooms[room]))
    below = sorted(rooms[room] - through, key=lambda name: (depth(rooms, name), name))
    return f"{room}({GLUE.join(below)})" if below else room


def picture():
    rooms = includes()
    core = re.search(r"^CORE_ROOMS *:= *(.*)$", (TREE / "Makefile").read_text(), re.M)[1].split()
    lines = [f"{'the engine: no store, no file, no process':{LEFT}}║ the wall, and what is beyond"]
    for level in range(1 + max(depth(rooms, room) for room in list(rooms))):
        here = sorted(room for room in rooms if depth(rooms, room) == level)
        sides = []
        for width, inside in ((LEFT, True), (RIGHT, False)):
            words = " ".join(entry(rooms, room) for room in here if (room in core) == inside)
            sides.append(textwrap.wrap(words, width - 2) or [""])
        for row in range(max(map(len, sides))):
            left, right = (side[row] if row < len(side) else "" for side in sides)
            lines.append(f"{left:{LEFT}}║ {right}".replace(GLUE, " ").rstrip())
    return "```text\n" + "\n".join(lines) + "\n```\n"


def main():
    page = PAGE.read_text("utf-8")
    try:
        rooms = picture()
    except RecursionError:
        sys.exit("rooms of src/ include one another in a circle: lint names the include")
    drawn = page.split(BEGIN)[0] + BEGIN + rooms + END + page.split(END)[1]
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(drawn, "utf-8")
    elif drawn != page:
        sys.exit("src/README.md has another picture of the rooms: run data-tools/guide/layers.py")


if __name__ == "__main__":
    main()
