"""Looks at pages as those do who hear them, use no mouse, or have a small screen; prints what is wrong.

    python3 page_faults.py PAGE.html…

Each page is opened in Chromium, light and dark, 400 and 1,400 pixels wide. A line is printed for
each fault, and the exit status is 1 where there are any. Chromium is asked through a pipe
(--remote-debugging-pipe), so that the standard library is enough.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

CONTROLS = {"button", "checkbox", "combobox", "link", "DisclosureTriangle", "application", "textbox", "radio"}
PICTURES = {"image", "figure", "graphics-document", "canvas"}
TABS_MOST = 400


class Browser:
    """Chromium without a screen, and one page in it."""

    def __init__(self, profile):
        commands, self.commands = os.pipe()
        self.answers, answers = os.pipe()

        def give():  # 3 and 4 are the numbers that Chromium knows; they may be taken here
            high = os.dup(commands), os.dup(answers)
            spare = [os.dup2(fd, 60 + k) for k, fd in enumerate(high)]
            os.dup2(spare[0], 3)
            os.dup2(spare[1], 4)

        self.process = subprocess.Popen(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", f"--user-data-dir={profile}",
             "--remote-debugging-pipe", "about:blank"],
            preexec_fn=give, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(commands)
        os.close(answers)
        self.number, self.rest, self.events, self.session = 0, b"", [], None
        page = next(t for t in self("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Accessibility"):
            self(f"{domain}.enable")

    def receive(self):
        """Return the next answer or event."""
        while b"\0" not in self.rest:
            some = os.read(self.answers, 1 << 20)
            if not some:
                raise SystemExit("chromium has ended")
            self.rest += some
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def __call__(self, method, **params):
        """Send a command and return its result."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.commands, data):]
        while (answer := self.receive()).get("id") != self.number:
            self.events.append(answer.get("method"))
        if "error" in answer:
            raise SystemExit(f"{method}: {answer['error']}")
        return answer["result"]

    def run(self, script):
        """Run a script in the page and return its value."""
        result = self("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise SystemExit(f"script: {result['exceptionDetails']}")
        return result["result"].get("value")

    def show(self, page, width, scheme):
        """Open a page and wait until it is drawn, with all that can be unfolded open."""
        self("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
        self("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events = []
        self("Page.navigate", url=Path(page).resolve().as_uri())
        while "Page.loadEventFired" not in self.events:
            self.events.append(self.receive().get("method"))
        self.run("""(async () => {
            const frame = () => new Promise(done => requestAnimationFrame(done));
            const drawn = () => [...document.querySelectorAll('figure.plot')].every(f => f.dataset.ready);
            for (let k = 0; k < 600 && !drawn(); k++) await frame();
            document.querySelectorAll('details').forEach(d => { d.open = true; });
            for (let k = 0; k < 3; k++) await frame();
        })()""")

    def press(self, key, modifiers=0):
        """Press a key and let it go."""
        code = {"Tab": 9, "ArrowRight": 39}[key]
        for kind in ("rawKeyDown", "keyUp"):
            self("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, modifiers=modifiers)

    def close(self):
        """End Chromium."""
        self.session = None
        self("Browser.close")
        self.process.wait(30)


class Node:
    """A node of the accessibility tree."""

    def __init__(self, node):
        self.id, self.children = node["nodeId"], node.get("childIds", [])
        self.ignored = node["ignored"]
        self.role = node.get("role", {}).get("value", "")
        self.name = node.get("name", {}).get("value", "").strip()
        self.properties = {p["name"]: p["value"].get("value") for p in node.get("properties", [])}


def below(tree, node):
    """Return all nodes below a node."""
    found, open_ = [], list(node.children)
    while open_:
        child = tree.get(open_.pop())
        if child:
            found.append(child)
            open_ += child.children
    return found


def tree_faults(nodes):
    """Yield what is wrong in an accessibility tree: landmarks, headings, names and tables."""
    tree = {node.id: node for node in nodes}
    seen = [node for node in nodes if not node.ignored]
    mains = sum(node.role == "main" for node in seen)
    if mains != 1:
        yield f"{mains} main landmarks"
    levels = [(node.properties.get("level"), node.name) for node in seen if node.role == "heading"]
    if [level for level, _ in levels].count(1) != 1:
        yield "not one heading of level 1"
    for (before, _), (level, name) in zip([(0, "")] + levels, levels):
        if level > before + 1:
            yield f"heading '{name}' of level {level} follows one of level {before}"
        if not name:
            yield f"a heading of level {level} is empty"
    for node in seen:
        if node.role in CONTROLS | PICTURES | {"table", "region"} and not node.name:
            yield f"no name: {node.role}"
        if node.role == "table":
            roles = {child.role for child in below(tree, node)}
            if not roles & {"columnheader", "rowheader"}:
                yield f"the table '{node.name}' has no header cells"


# A text is drawn on the nearest colour behind it; clear colours let the next one through.
CONTRAST = """(() => {
    const parts = color => { const v = color.match(/[0-9.]+/g).map(Number); return [v[0], v[1], v[2], v[3] ?? 1]; };
    const over = (a, b) => [0, 1, 2].map(k => a[k] * a[3] + b[k] * (1 - a[3])).concat(1);
    const light = c => c.slice(0, 3).map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
        .reduce((sum, v, k) => sum + v * [.2126, .7152, .0722][k], 0);
    const ground = e => {
        const own = parts(getComputedStyle(e).backgroundColor);
        return own[3] === 1 ? own : over(own, e.parentElement ? ground(e.parentElement)
            : matchMedia('(prefers-color-scheme: dark)').matches ? [18, 18, 18, 1] : [255, 255, 255, 1]);
    };
    const clear = e => e ? getComputedStyle(e).opacity * clear(e.parentElement) : 1;
    const faults = new Set(), walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    let count = 0;
    while (walker.nextNode()) {
        const text = walker.currentNode.data.trim(), e = walker.currentNode.parentElement;
        if (!text || e.closest('script, style, noscript, .unseen') || !e.checkVisibility()) continue;
        const style = getComputedStyle(e), ink = parts(e.closest('svg') ? style.fill : style.color), paper = ground(e);
        ink[3] *= clear(e);
        const pair = [light(over(ink, paper)), light(paper)].sort((a, b) => b - a), ratio = (pair[0] + .05) / (pair[1] + .05);
        count++;
        if (ratio < 4.5) faults.add(`contrast of "${text.slice(0, 40)}" is ${ratio.toFixed(2)}`);
    }
    return count > 20 ? [...faults] : [`there are ${count} texts`];
})()"""

# The controls that a page has, in the order of reading, numbered for the way of the Tab key.
NUMBER = """(() => {
    const all = [...document.querySelectorAll('a[href], button, select, input, summary, canvas[tabindex], [tabindex="0"]')]
        .filter(e => e.checkVisibility());
    all.forEach((e, k) => { e.dataset.stop = k; });
    return all.map(e => `${e.tagName.toLowerCase()} '${(e.ariaLabel || e.textContent || e.className).trim().slice(0, 30)}'`);
})()"""
FOCUS = """(() => {
    const e = document.activeElement, style = getComputedStyle(e);
    return [e.dataset.stop === undefined ? -1 : +e.dataset.stop, style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2];
})()"""


def tab_faults(browser):
    """Yield what the Tab key does not reach, reaches out of order, or leaves without an outline."""
    controls = browser.run(NUMBER)
    way = []
    for _ in range(min(len(controls) + 1, TABS_MOST)):
        browser.press("Tab")
        stop, outlined = browser.run(FOCUS)
        if stop < 0 or stop in way:
            break
        way.append(stop)
        if not outlined:
            yield f"{controls[stop]} has no outline when it has the focus"
    for k, control in enumerate(controls[:TABS_MOST]):
        if k not in way:
            yield f"Tab does not reach {control}"
    if way != sorted(way):
        yield f"Tab does not go in the order of reading: {way}"


def point_faults(browser):
    """Yield what is wrong in going from point to point by keys in the first plot."""
    browser.run("document.querySelector('figure.plot canvas').focus()")
    told = []
    for _ in range(3):
        browser.press("ArrowRight", modifiers=8)  # Shift
        told.append(browser.run("document.querySelector('.tip').innerText"))
    if not all(text.startswith("row ") for text in told) or len(set(told)) != len(told):
        yield f"Shift with an arrow does not go from point to point: {told}"


def faults_of(browser, page, width, scheme):
    """Yield all faults of a page."""
    browser.show(page, width, scheme)
    wide, clear = browser.run("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    if wide > clear:
        yield f"it is {wide} pixels wide in a window of {clear}"
    if not browser.run("document.documentElement.lang && document.title"):
        yield "it has no language or no title"
    yield from browser.run(CONTRAST)
    yield from tree_faults([Node(node) for node in browser("Accessibility.getFullAXTree")["nodes"]])
    if scheme == "light":
        yield from tab_faults(browser)
        if browser.run("!!document.querySelector('figure.plot')"):
            yield from point_faults(browser)


def main(pages):
    """Look at each page."""
    count = 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(profile)
        for page in pages:
            for width, scheme in ((400, "light"), (400, "dark"), (1400, "light"), (1400, "dark")):
                for fault in faults_of(browser, page, width, scheme):
                    print(f"{page}, {width} pixels, {scheme}: {fault}")
                    count += 1
        browser.close()
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
