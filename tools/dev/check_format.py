#!/usr/bin/env python3
"""Checks that C++ is formatted by clang-format, that clang-format leaves drawings in comments alone, that prose in comments
keeps to 80 columns, and that codespell finds no misspelt word.

    check_format.py [--fix]
"""
import re
import subprocess
import sys

import tree

FORMATTED = re.compile(r"\.(h|cpp|cu)$")
SPELLED = re.compile(r"(\.(h|cpp|cu|td|py|md|cmake|def|fbs|txt|mlir)|^tools/dev/\w+)$")
WORDS = "ans,ba,crate,fo,gather,groupt,iff,inflight,inout,nd,neight,ot,positionof,pres,te,transfert,ue,vie"
# A comment line of prose is at most this long; a drawn line is indented, or holds columns, and may be longer.
COLUMNS = 80
COMMENT = re.compile(r"\s*//[/!]?<?( *)(.*)")
DRAWING = """\
/// Shardings of a matmul, one row per choice, whose columns must stay:
///
///   choice            first operand [m, k]   second operand [k, n]   result [m, n]
///   split rows        [tp, -]                [-, -]                  [tp, -]
///   split the sum     [-, tp]                [tp, -]                 [-, -] partial sum(tp)
int choices();
"""


def keeps_drawings(root=tree.ROOT):
    """Returns whether clang-format, as configured in `root`, leaves DRAWING unchanged."""
    given = subprocess.run(["clang-format-22", "--assume-filename=choices.h"], cwd=root, input=DRAWING, capture_output=True, text=True)
    return given.stdout == DRAWING


def wide_comments(root=tree.ROOT):
    """Returns a problem for every comment line of prose with more than COLUMNS columns; clang-format does not break these
    lines."""
    problems = []
    for name in filter(FORMATTED.search, tree.files(root)):
        for number, line in enumerate(tree.lines(name, root), 1):
            m = COMMENT.fullmatch(line)
            if m and len(line) > COLUMNS and len(m.group(1)) < 3 and " " in m.group(2) and "  " not in m.group(2) and "===" not in line:
                problems.append(f"{name}:{number}: a comment of {len(line)} columns, {COLUMNS} are the most")
    return problems


def main():
    names = tree.files()
    mode = ["-i"] if "--fix" in sys.argv[1:] else ["--dry-run", "-Werror"]
    sources = [f for f in names if FORMATTED.search(f)]
    problems = wide_comments()
    if not keeps_drawings():
        problems.append(".clang-format: reflows comments, which breaks drawings: ReflowComments must be IndentOnly")
    formatted = subprocess.run(["clang-format-22", *mode, *sources], cwd=tree.ROOT) if sources else None
    spelled = subprocess.run(["codespell", "-L", WORDS, *(f for f in names if SPELLED.search(f))], cwd=tree.ROOT)
    return tree.report(problems) or (1 if spelled.returncode or (formatted and formatted.returncode) else 0)


if __name__ == "__main__":
    sys.exit(main())
