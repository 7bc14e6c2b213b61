#!/usr/bin/env python3
"""Checks names: a pass has one name in four places, no name says nothing, no place is marked as unfinished.

    check_names.py [ROOT]
"""
import os
import re
import sys

import tree

NOTHING = re.compile(r"(^|[/_.-])(utils?|common|misc|helpers?)(?=[/_.-]|$)", re.I)
CAMEL_NOTHING = re.compile(r"(Utils?|Common|Misc|Helpers?)(?=\.|/|$)")
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")
CODE = re.compile(r"(\.(h|cpp|td|py|cmake|fbs|def|mlir|test|sh)|CMakeLists\.txt)$")


def flag_of(stem):
    """PropagateShardings -> propagate-shardings"""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", stem).lower()


def pass_problems(name, text, present, root):
    """passes/4-shard/PropagateShardings.cpp defines the pass of that name, its flag is --propagate-shardings, and
    test/passes/4-shard has propagate-shardings.mlir and propagate-shardings-invalid.mlir."""
    folder, stem = os.path.basename(os.path.dirname(name)), os.path.basename(name)[:-len(".cpp")]
    flag = flag_of(stem)
    for number, line in enumerate(text, 1):
        m = re.match(r"\s*#\s*define\s+GEN_PASS_DEF_(\w+)", line)
        if m and m.group(1) != stem.upper():
            yield f"{name}:{number}: defines pass {m.group(1)}, the file is called {stem}"
    table = f"passes/{folder}/Passes.td"
    if table not in present or not any(f'"{flag}"' in line for line in tree.lines(table, root)):
        yield f"{name}: {table} has no pass \"{flag}\""
    for test in (f"test/passes/{folder}/{flag}.mlir", f"test/passes/{folder}/{flag}-invalid.mlir"):
        if test not in present:
            yield f"{name}: {test} is missing"


def check(root=tree.ROOT):
    names = tree.files(root)
    present, problems = set(names), []
    for name in names:
        if NOTHING.search(name) or CAMEL_NOTHING.search(name):
            problems.append(f"{name}: this name says nothing; shared code moves down to the thing it is about")
        if not CODE.search(name):
            continue
        text = tree.lines(name, root)
        problems += [f"{name}:{n}: {m.group()}: finish it, or refuse the input with an error"
                     for n, line in enumerate(text, 1) if (m := UNFINISHED.search(line))]
        if re.match(r"passes/\d-[^/]+/[^/]+\.cpp$", name) and any("GEN_PASS_DEF" in line for line in text):
            problems += pass_problems(name, text, present, root)
    return problems


if __name__ == "__main__":
    sys.exit(tree.report(check(*sys.argv[1:])))
