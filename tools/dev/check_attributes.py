#!/usr/bin/env python3
"""Checks attributes: C++ spells the name of a declared attribute (*DiscardableAttrs.td) by its constant, and neither IR nor C++
names one that is not declared.

    check_attributes.py [ROOT]
"""
import collections
import re
import sys

import tree

DECLARED = re.compile(r'DiscardableAttr<"([\w.]+)"')
OP = re.compile(r'\b(Graph|Dist|Pipe|Rank)_\w*Op\w*\s*:\s*\w+<"(\w+)"')
PREFIXED = r"(?:graph|dist|pipe|rank|pcc)\.[a-z_0-9]+"
LITERAL = re.compile(rf'"({PREFIXED})"')
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
# In IR, `dist.mesh = …` and, for attributes without a value, `{…, graph.labels}`.
VALUED = re.compile(rf'(?<![\w#!@%"./*\[])({PREFIXED})\s*=(?!=)')
UNIT = re.compile(rf"[{{,]\s*({PREFIXED})\s*(?=[,}}])")
# Texts of this form that are no attributes.
OTHERS = {
    "pcc.step": "symbol of a parameter", "pcc.loss_scale": "symbol of a parameter", "pcc.finite_steps": "symbol of a parameter",
    "pcc.mesh": "ONNX metadata", "pcc.sharding": "ONNX metadata", "pcc.configuration": "ONNX metadata",
    "pcc.error": "Python module", "rank.exports": "file", "pipe.onnx": "file",
}
# Files that misspell attributes on purpose.
MISSPELT = re.compile(r"test/.*attributes-invalid\.mlir|test/pipeline/edited_dumps\.py|test/tools/checks_test\.py|tools/dev/check_attributes\.py")


def declared(sources):
    """Returns attribute name -> where it is declared. `sources` maps each file to its lines."""
    places = collections.defaultdict(list)
    for name, lines in sources.items():
        if name.startswith("dialects/") and name.endswith("DiscardableAttrs.td"):
            for number, line in enumerate(lines, 1):
                if m := DECLARED.search(line):
                    places[m.group(1)].append(f"{name}:{number}")
    return places


def ops(sources):
    """Returns the names of the ops that the dialects define."""
    return {f"{m.group(1).lower()}.{m.group(2)}" for name, lines in sources.items() if name.endswith(".td")
            for line in lines for m in OP.finditer(line)}


def named(name, line):
    """Yields (attribute, whether it is a C++ literal) for everything in `line` that may be an attribute. In C++ only strings
    are read."""
    ir = [line]
    if name.endswith((".h", ".cpp", ".def")):
        ir = STRING.findall(line.partition("//")[0])
        yield from ((m.group(1), True) for m in map(LITERAL.fullmatch, ir) if m)
    for text in ir:
        yield from ((m.group(1), False) for m in VALUED.finditer(text))
        if not re.match(r"\s*(//|#)", line):
            yield from ((m.group(1), False) for m in UNIT.finditer(text))


def problems_of(sources):
    """Yields (place, problem) for every wrong use of an attribute."""
    known, mnemonics = declared(sources), ops(sources)
    for attribute, places in sorted(known.items()):
        if len(places) > 1:
            yield places[1], f"attribute '{attribute}' is also declared at {places[0]}"
    for name, lines in sources.items():
        if MISSPELT.fullmatch(name) or not name.endswith((".h", ".cpp", ".def", ".mlir", ".test")):
            continue
        for number, line in enumerate(lines, 1):
            for attribute, literal in named(name, line):
                if attribute in known and literal:
                    yield f"{name}:{number}", f"attribute '{attribute}' is spelt out; use its constant"
                elif attribute not in known and attribute not in mnemonics and attribute not in OTHERS:
                    yield f"{name}:{number}", f"attribute '{attribute}' is not declared"


def found(root=tree.ROOT):
    names = [n for n in tree.files(root) if re.search(r"\.(td|h|cpp|def|mlir|test)$", n)]
    return list(problems_of({n: tree.lines(n, root) for n in names}))


def check(root=tree.ROOT):
    return [f"{place}: {problem}" for place, problem in found(root)]


if __name__ == "__main__":
    sys.exit(tree.report(check(*sys.argv[1:])))
