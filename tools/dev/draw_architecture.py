#!/usr/bin/env python3
"""Draws docs/phases.svg and docs/layers.svg. Their content is read from the tree: the phases and their passes from
passes/Phases.def, passes/Pipeline.cpp and README.md, the arrows between layers from the rows of check_layers.py. The positions
of boxes are given here.

    draw_architecture.py [FOLDER]    writes the drawings into FOLDER, docs by default
"""
import html
import itertools
import os
import re
import sys

import check_layers
import check_names
import tree
from pages import passes

NOTICE = "<!-- Rendered by tools/dev/render_docs.py from {}. Edit those, not this drawing. -->"
SANS, MONO = "Verdana, DejaVu Sans, Segoe UI, Helvetica, Arial, sans-serif", "DejaVu Sans Mono, Menlo, Consolas, monospace"
INK, FAINT, LINE = "#1f2933", "#52606d", "#7b8794"
# Fill and border color of each kind of box.
COLORS = {"tool": ("#fff4e0", "#d9a441"), "pass": ("#e6f0fb", "#5b8fc9"), "gate": ("#e7f6ec", "#4f9d69"), "ir": ("#f0ebf8", "#8b6fc0"),
          "runtime": ("#fdecea", "#cf7468"), "ground": ("#e3f4f2", "#4a9a94"), "file": ("#f5f7fa", "#9aa5b1"), "panel": ("#fbfcfd", "#d9e0e7")}
# Widths of letters in Verdana, the widest of the named fonts, in thousandths of the font size; other letters count 650.
WIDTHS = {**dict.fromkeys("ijl'|,.:;", 364), **dict.fromkeys("ft-()[]/ I", 455), **dict.fromkeys("rsz", 525),
          **dict.fromkeys("ceghaknoubdpqvxy", 635), **dict.fromkeys("mwMW", 975)}


def text_width(text, size, is_mono=False):
    return len(text) * size * 0.602 if is_mono else sum(WIDTHS.get(c, 650) for c in text) * size / 1000


def wrapped(text, size, width):
    """Breaks `text` into the fewest lines of at most `width`; the lines are about equally wide."""
    lines = filled(text, size, width)
    for narrower in range(int(width), 0, -4):
        balanced = filled(text, size, narrower)
        if len(balanced) > len(lines):
            break
        lines = balanced
    return lines


def filled(text, size, width):
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if text_width(longer, size) <= width or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


class Drawing:
    """Collects the elements of one SVG."""

    def __init__(self, width):
        self.width, self.parts = width, []

    def rectangle(self, x, y, width, height, kind, radius=8):
        fill, border = COLORS[kind]
        self.parts.append(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{radius}" fill="{fill}" stroke="{border}" '
                          f'stroke-width="1.2"/>')

    def text(self, x, y, text, size=12, anchor="middle", color=INK, is_mono=False, is_bold=False):
        weight = ' font-weight="bold"' if is_bold else ""
        self.parts.append(f'<text x="{x:g}" y="{y:g}" font-family="{MONO if is_mono else SANS}" font-size="{size}" text-anchor="{anchor}" '
                          f'fill="{color}"{weight}>{html.escape(text, quote=False)}</text>')

    def box(self, x, y, width, height, kind, name, lines=(), size=14):
        """Draws a box with a name and lines of text below it, centered."""
        self.rectangle(x, y, width, height, kind)
        top = y + (height - size - 16 * len(lines)) / 2 + size - 2
        self.text(x + width / 2, top, name, size, is_mono=True, is_bold=True)
        for number, line in enumerate(lines, 1):
            self.text(x + width / 2, top + 16 * number + 1, line, 11.5, color=FAINT)

    def arrow(self, points, color=LINE):
        """Draws a line through `points` with round corners and an arrowhead at its end."""
        path = f"M{points[0][0]:g} {points[0][1]:g}"
        for before, corner, after in zip(points, points[1:], points[2:]):
            start, end = toward(corner, before, 8), toward(corner, after, 8)
            path += f" L{start[0]:g} {start[1]:g} Q{corner[0]:g} {corner[1]:g} {end[0]:g} {end[1]:g}"
        path += f" L{points[-1][0]:g} {points[-1][1]:g}"
        self.parts.append(f'<path d="{path}" fill="none" stroke="{color}" stroke-width="1.6" marker-end="url(#head)"/>')

    def svg(self, height, title, *sources):
        head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {height:g}" width="{self.width}" height="{height:g}" '
                f'role="img">')
        marker = (f'<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto">'
                  f'<path d="M0 1 L10 5 L0 9 z" fill="{LINE}"/></marker></defs>')
        ground = f'<rect width="{self.width}" height="{height:g}" rx="10" fill="#ffffff"/>'
        lines = [head, NOTICE.format(", ".join(sources)), f"<title>{title}</title>", marker, ground, *self.parts, "</svg>"]
        return "\n".join(lines) + "\n"


def toward(point, other, distance):
    """Returns the point that lies `distance` from `point` on the way to `other`, or half way if that is nearer."""
    dx, dy = other[0] - point[0], other[1] - point[1]
    length = max(abs(dx), abs(dy), 1e-9)
    share = min(distance / length, 0.5)
    return point[0] + dx * share, point[1] + dy * share


# ---- phases ----

PHASE_X, PHASE_WIDTH = 24, 290
CHIPS_X, CHIPS_WIDTH, CHIP_HEIGHT = 340, 470, 26
GATE_X, GATE_WIDTH = 836, 200
GAP = 44


def gate_texts(root=tree.ROOT):
    """Returns folder -> the text that README.md has about the gate of the phase."""
    rows = [[c.strip() for c in line.strip().strip("|").split("|")] for line in tree.lines("README.md", root) if line.startswith("|")]
    return {re.sub(r"[`\[\]]|\(.*\)", "", row[0]): row[2].replace("`", "") for row in rows if len(row) > 2 and re.search(r"\d-\w+", row[0])}


def flag_of(name):
    return passes.UPSTREAM[name][0] if name in passes.UPSTREAM else check_names.flag_of(name)


def chip_rows(flags):
    """Yields lines of (x, width, flag): the flags that fit beside each other."""
    rows, x = [[]], CHIPS_X
    for flag in flags:
        width = text_width(flag, 11.5, True) + 16
        if rows[-1] and x + width > CHIPS_X + CHIPS_WIDTH:
            rows.append([])
            x = CHIPS_X
        rows[-1].append((x, width, flag))
        x += width + 8
    return rows


def draw_phase(drawing, phase, gate_text, y):
    """Draws one row: the phase, its passes, its gate. Returns the height of the row."""
    rows = chip_rows([flag_of(step.cpp) for step in phase.steps] or ["importer"])
    gate = wrapped(gate_text, 11, GATE_WIDTH - 16)
    height = max(68, len(rows) * (CHIP_HEIGHT + 6) + 10, 34 + 15 * len(gate))
    drawing.rectangle(PHASE_X - 8, y - 8, GATE_X + GATE_WIDTH - PHASE_X + 16, height + 16, "panel", 12)
    drawing.box(PHASE_X, y, PHASE_WIDTH, height, "pass", phase.folder, wrapped(phase.meaning, 11.5, PHASE_WIDTH - 24), 15)
    top = y + (height - len(rows) * (CHIP_HEIGHT + 6) + 6) / 2
    for number, row in enumerate(rows):
        for x, width, flag in row:
            line = top + number * (CHIP_HEIGHT + 6)
            drawing.rectangle(x, line, width, CHIP_HEIGHT, "file", 6)
            drawing.text(x + width / 2, line + 17, flag, 11.5, is_mono=True)
    drawing.rectangle(GATE_X, y, GATE_WIDTH, height, "gate")
    base = y + (height - 17 - 15 * len(gate)) / 2 + 13
    drawing.text(GATE_X + GATE_WIDTH / 2, base, flag_of(phase.gate), 12, is_mono=True, is_bold=True)
    for number, line in enumerate(gate, 1):
        drawing.text(GATE_X + GATE_WIDTH / 2, base + 2 + 15 * number, line, 11, color=FAINT)
    return height


def draw_step(drawing, x, y, label):
    """Draws the arrow to the next phase, with the name of the dump beside it."""
    drawing.arrow([(x, y), (x, y + GAP)])
    drawing.text(x + 14, y + GAP / 2 + 4, label, 11.5, "start", FAINT, is_mono=True)


def draw_phases(root=tree.ROOT):
    drawing, gates, center = Drawing(1060), gate_texts(root), PHASE_X + PHASE_WIDTH / 2
    for x, width, title in ((PHASE_X, PHASE_WIDTH, "phase"), (CHIPS_X, CHIPS_WIDTH, "passes, in order"), (GATE_X, GATE_WIDTH, "gate")):
        drawing.text(x + width / 2, 28, title, 13, color=FAINT, is_bold=True)
    drawing.box(PHASE_X + 60, 44, PHASE_WIDTH - 120, 36, "file", "model.onnx")
    y, label = 80, ""
    for phase in passes.phases(root):
        height = draw_phase(drawing, phase, gates[phase.folder], y + GAP)
        draw_step(drawing, center, y, label)
        y, label = y + GAP + height, f"{phase.folder}.mlir"
    draw_step(drawing, center, y, label)
    drawing.box(PHASE_X, y + GAP, PHASE_WIDTH, 54, "runtime", "model.pcc/", ["an executable per rank, and bundle.json"])
    drawing.text(CHIPS_X, y + GAP + 24, "Between two phases stands the name of the dump that --dump-ir writes there. A dump can be", 11.5, "start", FAINT)
    drawing.text(CHIPS_X, y + GAP + 42, "edited, and --start-at goes on from it. Gates run in every build.", 11.5, "start", FAINT)
    return drawing.svg(y + GAP + 78, "The phases of pcc, their passes and gates", passes.PHASES, passes.PIPELINE, "README.md")


# ---- layers ----

LEFT, RIGHT, PITCH, BOX, TOP = 24, 740, 76, 50, 96
LEFT_WIDTH, RIGHT_WIDTH = 652, 356
# Height of the lanes above row LANES_ROW, by which this row and all rows below it are moved down; GROUND_HEIGHT moves the
# ground.
LANES_ROW, LANES_HEIGHT, GROUND_HEIGHT = 2, 30, 40
# layer -> the files that belong to it
LAYERS = {
    "python-bindings": r"python-bindings/.*", "tools/pcc": r"tools/pcc/.*", "tools/pcc-opt": r"tools/pcc-(opt|lsp-server)/.*",
    "passes": r"passes/([^/]+|(driver|options|annotate)/.*)", "passes/explain": r"passes/explain/.*",
    "passes/interpret": r"passes/interpret/.*", "phases": r"passes/[1-6]-.*", "7-emit": r"passes/7-.*", "passes/plan": r"passes/plan/.*",
    "dialects": r"dialects/.*", "sharding": r"sharding/.*",
    **{f"runtime/{room}": rf"runtime/{room}/.*"
       for room in ("launch", "engine", "checkpoint", "comm", "device", "program", "timeline", "tensor", "base")},
}
# layer -> x, width, uppermost and lowest row (0 is the lowest row above the ground), kind, text
BOXES = {
    "python-bindings": (410, 250, 9, 9, "tool", "import pcc"),
    "tools/pcc": (410, 250, 8, 8, "tool", "the commands of the user"),
    "tools/pcc-opt": (LEFT + 16, 290, 8, 8, "tool", "each pass by its flag; editors"),
    "passes": (LEFT + 16, 620, 7, 7, "pass", "Compile.h, Pipeline.cpp, driver, options, annotate"),
    "passes/explain": (LEFT + 16, 432, 6, 6, "pass", "why the plan is as it is"),
    "passes/interpret": (496, 164, 6, 3, "pass", "simulated ranks: the oracle of verify"),
    "phases": (LEFT + 16, 264, 5, 3, "pass", ""),
    "7-emit": (328, 144, 5, 3, "pass", "kernels, memory plan, executables"),
    "dialects": (LEFT + 16, 356, 2, 0, "ir", ""),
    "passes/plan": (420, 240, 2, 0, "pass", ""),
    "runtime/launch": (RIGHT + 16, 330, 7, 7, "runtime", "starts ranks, tells how they ended"),
    "runtime/engine": (RIGHT + 16, 330, 6, 6, "runtime", "executes the program of a rank"),
    "runtime/checkpoint": (RIGHT + 76, 270, 5, 5, "runtime", "safetensors by logical name"),
    "runtime/comm": (RIGHT + 76, 270, 4, 4, "runtime", "thread, mpi, nccl"),
    "runtime/device": (RIGHT + 76, 270, 3, 3, "runtime", "cpu, cuda"),
    "runtime/program": (RIGHT + 76, 270, 2, 2, "runtime", "the program format"),
    "runtime/timeline": (RIGHT + 16, 152, 1, 1, "runtime", "a step over time"),
    "runtime/tensor": (RIGHT + 180, 138, 1, 1, "runtime", "types, npy, files"),
    "runtime/base": (RIGHT + 16, 302, 0, 0, "runtime", "files, clocks, shared libraries"),
    "sharding": (LEFT, RIGHT + RIGHT_WIDTH - LEFT, -1, -1, "ground", "meshes, shardings, kinds of collectives and reductions: plain C++"),
}
SHOWN = {"7-emit": "passes/7-emit", "tools/pcc-opt": "pcc-opt, pcc-lsp-server"}
# The arrows from the phases, 7-emit and interpret are joined to lanes below them. x where a lane leaves a layer, and where it
# enters one.
FROM = {"phases": 172, "7-emit": 376, "passes/interpret": 560}
INTO = {"dialects": 240, "passes/plan": 480}
TO_PROGRAM = {"7-emit": 446, "passes/interpret": 636}
# x of the arrows that pass beside boxes
BESIDE = {("runtime/engine", "runtime/timeline"): RIGHT + 46, ("runtime/program", "sharding"): RIGHT + 332}


def row_y(row):
    return TOP + (9 - row) * PITCH + (LANES_HEIGHT if row <= LANES_ROW else 0) + (GROUND_HEIGHT if row < 0 else 0)


def place(name):
    """Returns x, y, width and height of a layer's box."""
    x, width, upper, lower, _, _ = BOXES[name]
    return x, row_y(upper), width, row_y(lower) + BOX - row_y(upper)


def layer_of(file):
    return next((name for name, pattern in LAYERS.items() if re.fullmatch(pattern, file)), None)


def includes(root=tree.ROOT):
    """Returns (layer, layer) for every include between layers that check_layers.py allows and some file of the tree has."""
    files = [f for f in tree.files(root) if re.search(r"\.(h|cpp)$", f) and layer_of(f)]
    of_folder = {os.path.dirname(f): f for f in files}
    headers = [f for f in files if f.endswith(".h")]
    pairs = itertools.product(of_folder.values(), headers)
    return {(layer_of(f), layer_of(h)) for f, h in pairs if layer_of(f) != layer_of(h) and check_layers.allowed(f, h)}


def reduced(edges):
    """Returns the edges that do not follow from others (transitive reduction)."""
    below = {}
    for above, under in edges:
        below.setdefault(above, set()).add(under)

    def reaches(start, end, seen):
        return any(n == end or (n not in seen and not seen.add(n) and reaches(n, end, seen)) for n in below.get(start, ()))

    return sorted((a, b) for a, b in edges if not any(other != b and reaches(other, b, {a}) for other in below[a] if other != b))


def around(x, y, lane, end_x, end_y):
    """Returns the points of a line from (x, y) down to the height `lane`, along the lane, and down to the end."""
    return [(x, y), (x, lane), (end_x, lane), (end_x, end_y)]


def route(above, under):
    """Returns the points of the arrow from one layer to another."""
    ax, ay, aw, ah = place(above)
    bx, by, bw, bh = place(under)
    if (above, under) == ("tools/pcc", "runtime/launch"):
        return [(ax + aw, ay + ah / 2), (bx + bw / 2, ay + ah / 2), (bx + bw / 2, by)]
    if above in TO_PROGRAM and under == "runtime/program":
        return around(TO_PROGRAM[above], ay + ah, by - 37, bx + 60, by)
    if above in FROM and under in INTO:
        return around(FROM[above], ay + ah, by - 19, INTO[under], by)
    if (above, under) == ("passes/plan", "runtime/timeline"):
        return [(ax + aw, by + bh / 2), (bx, by + bh / 2)]
    x = BESIDE.get((above, under))
    if x is None:
        low, high = max(ax, bx), min(ax + aw, bx + bw)
        if low >= high:
            raise ValueError(f"draw_architecture.py has no way for the arrow from {above} to {under}, which check_layers.py allows")
        x = (low + high) / 2
    return [(x, ay + ah), (x, by)]


def draw_chips(drawing, name, title, rooms, note):
    """Draws a layer with the names of its rooms in two columns."""
    x, y, width, height = place(name)
    drawing.text(x + width / 2, y + 24, title, 14, is_mono=True, is_bold=True)
    for number, room in enumerate(rooms):
        left, top = x + 16 + number % 2 * (width - 20) / 2, y + 40 + number // 2 * 46
        drawing.rectangle(left, top, (width - 44) / 2, 36, "file", 6)
        drawing.text(left + (width - 44) / 4, top + 23, room, 12.5, is_mono=True)
    drawing.text(x + width / 2, y + height - 8, note, 11.5, color=FAINT)


def draw_dialects(drawing):
    x, y, width, height = place("dialects")
    drawing.text(x + width / 2, y + 24, "dialects", 14, is_mono=True, is_bold=True)
    rooms = (("graph", "what is computed"), ("dist", "how it is divided"), ("pipe", "stages, schedules"), ("rank", "one rank's program"))
    for number, (name, text) in enumerate(rooms):
        left, step = x + 16 + number % 2 * (width - 20) / 2, (width - 20) / 2
        drawing.box(left, y + 40 + number // 2 * 68, step - 12, 58, "file", name, [text], 13)
    drawing.text(x + width / 2, y + height - 8, "no dialect includes another one", 11.5, color=FAINT)


def draw_rooms(drawing, root=tree.ROOT):
    """Draws the contents of the boxes of layers whose rooms are shown."""
    phases = [phase.folder for phase in passes.phases(root)][:6]
    draw_chips(drawing, "phases", "passes/1-import … 6-schedule", phases, "no phase includes another one")
    rooms = sorted({f.split("/")[2] for f in tree.files(root) if re.fullmatch(r"passes/plan/[^/]+/[^/]+\.h", f)})
    draw_chips(drawing, "passes/plan", "passes/plan", rooms, "decides on plain structs; no IR")
    draw_dialects(drawing)


def draw_layers():
    drawing = Drawing(RIGHT + RIGHT_WIDTH + 24)
    bottom = row_y(0) + BOX + 16
    for x, width, title in ((LEFT, LEFT_WIDTH, "compiler: C++ on MLIR and LLVM"), (RIGHT, RIGHT_WIDTH, "runtime: no MLIR, no LLVM")):
        drawing.rectangle(x, 56, width, bottom - 56, "panel", 12)
        drawing.text(x + 16, 80, title, 13, "start", FAINT, is_bold=True)
    drawing.text(LEFT, 32, "Layers: an arrow is an include that tools/dev/check_layers.py allows", 15, "start", is_bold=True)
    for above, under in reduced(includes()):
        drawing.arrow(route(above, under))
    for name, (_, _, _, _, kind, text) in BOXES.items():
        x, y, width, height = place(name)
        if not text:
            drawing.rectangle(x, y, width, height, kind)
            continue
        drawing.box(x, y, width, height, kind, SHOWN.get(name, name), wrapped(text, 11.5, width - 16))
    draw_rooms(drawing)
    bottom = row_y(-1) + BOX
    drawing.text(LEFT, bottom + 22, "Arrows that follow from others are left out. Lines that join lead to each of the heads.", 11.5, "start", FAINT)
    return drawing.svg(bottom + 40, "The layers of pcc", "tools/dev/check_layers.py")


def render():
    """Returns path -> text of both drawings."""
    return {"docs/phases.svg": draw_phases(), "docs/layers.svg": draw_layers()}


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(tree.ROOT, "docs")
    for name, text in render().items():
        with open(os.path.join(folder, os.path.basename(name)), "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
