#!/usr/bin/env python3
"""Checks names: a pass has one name in four places, a class name is used in one layer only, exit codes are written by name, no
name is meaningless, and nothing is marked as unfinished.

    check_names.py [ROOT]
"""
import collections
import os
import re
import sys

import tree

NOTHING = re.compile(r"(^|[/_.-])(utils?|common|misc|helpers?)(?=[/_.-]|$)", re.I)
CAMEL_NOTHING = re.compile(r"(Utils?|Common|Misc|Helpers?)(?=\.|/|$)")
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")
CLASS = re.compile(r"\s*(?:template\s*<[^>]*>\s*)?(?:class|struct|union|enum class|enum)\s+(?:\[\[\w+\]\]\s+)?(\w+)\s*(?:final)?\s*(?::[^:]|\{|$)")
CODE = re.compile(r"(\.(h|cpp|td|py|cmake|fbs|def|mlir|test|sh)|CMakeLists\.txt)$")
# An exit code that is written as a number: as the first part of a result with a text, of a call that ends in an error, or beside
# a variable or member that holds one. A number does not convert to ExitCode, so the compiler finds what this misses in passes.
NUMBER = r"(1[0-5]|[1-9])\b"
EXIT_CODE = re.compile(rf"return\s*(?:\w+\s*)?\{{\s*{NUMBER}\s*,[^;{{]*?\"|\b(?:error|fail|refuse|_?exit|diagnostics\.\w+)\(\s*{NUMBER}\s*[,)]"
                       rf"|\b(?:\w*[eE]xitCode|code)(?:\(\)|=\*/)?\s*(?:[=!]=|=|)\s*{NUMBER}")


def flag_of(stem):
    """Returns the flag of a pass: PropagateShardings -> propagate-shardings."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", stem).lower()


def pass_problems(name, text, present, root):
    """Returns the problems of one pass. If passes/4-shard/PropagateShardings.cpp defines the pass of that name, its flag must
    be --propagate-shardings, and test/passes/4-shard must have propagate-shardings.mlir and propagate-shardings-invalid.mlir."""
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


def layer_of(name):
    """Returns the layer of a file: passes (its own level), passes/4-shard, dialects/dist, runtime/comm, tools/pcc."""
    parts = name.split("/")
    return "/".join(parts[:2]) if len(parts) > 2 else parts[0]


def twice_named(sources):
    """Returns (class name, its places) for each class that two layers define. `sources` maps each C++ file to its lines."""
    places = collections.defaultdict(dict)
    for name, lines in sources.items():
        for number, line in enumerate(lines, 1):
            m = CLASS.match(line)
            if m and not line.rstrip().endswith(";"):
                places[m.group(1)].setdefault(layer_of(name), f"{name}:{number}")
    return sorted((name, list(at.values())) for name, at in places.items() if len(at) > 1)


def numbered_exit_codes(text):
    """(line number, what is written there) of the exit codes in `text`, lines of C++, that are numbers instead of names."""
    code = "\n".join(re.sub(r"//.*", "", line) for line in text)
    return [(code.count("\n", 0, m.start()) + 1, re.sub(r"\s+", " ", m.group())) for m in EXIT_CODE.finditer(code)]


def check(root=tree.ROOT):
    names = tree.files(root)
    sources = {n: tree.lines(n, root) for n in names if re.search(r"\.(h|cpp)$", n) and not re.match(r"(test|bench)/", n)}
    present, problems = set(names), [f"{at[0]}: class {name} is also at {', '.join(at[1:])}" for name, at in twice_named(sources)]
    problems += [f"{name}:{number}: {what}: write the name of the exit code (status/Status.h)"
                 for name, text in sources.items() for number, what in numbered_exit_codes(text)]
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
