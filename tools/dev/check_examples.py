#!/usr/bin/env python3
"""Checks that every example that a .td description points at is there: `[example: FILE @name]` names a file of this tree and
a case in it, a symbol @name.

    check_examples.py [ROOT]
"""
import os
import re
import sys

import tree

EXAMPLE = re.compile(r"\[example: (\S+?)(?: @([\w.]+))?\]")


def problems_of(name, root):
    for number, line in enumerate(tree.lines(name, root), 1):
        for file, case in EXAMPLE.findall(line):
            if not os.path.isfile(os.path.join(root, file)):
                yield f"{name}:{number}: there is no {file}"
            elif case and not any(re.search(rf"@{re.escape(case)}\b", text) for text in tree.lines(file, root)):
                yield f"{name}:{number}: {file} has no case @{case}"


def check(root=tree.ROOT):
    return [p for name in tree.files(root) if name.endswith(".td") for p in problems_of(name, root)]


if __name__ == "__main__":
    sys.exit(tree.report(check(*sys.argv[1:])))
