#!/usr/bin/env python3
"""Checks that C++ is formatted by clang-format and that codespell finds no misspelt word.

    check_format.py [--fix]
"""
import re
import subprocess
import sys

import tree

FORMATTED = re.compile(r"\.(h|cpp|cu)$")
SPELLED = re.compile(r"(\.(h|cpp|cu|td|py|md|cmake|def|fbs|txt|mlir)|^tools/dev/\w+)$")
WORDS = "ans,ba,crate,fo,gather,groupt,iff,inflight,inout,nd,neight,ot,positionof,pres,te,transfert,ue,vie"


def main():
    names = tree.files()
    mode = ["-i"] if "--fix" in sys.argv[1:] else ["--dry-run", "-Werror"]
    sources = [f for f in names if FORMATTED.search(f)]
    formatted = subprocess.run(["clang-format-22", *mode, *sources], cwd=tree.ROOT) if sources else None
    spelled = subprocess.run(["codespell", "-L", WORDS, *(f for f in names if SPELLED.search(f))], cwd=tree.ROOT)
    return 1 if spelled.returncode or (formatted and formatted.returncode) else 0


if __name__ == "__main__":
    sys.exit(main())
