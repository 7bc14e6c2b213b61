#!/usr/bin/env python3
"""Checks that README.md lists the phases of passes/Phases.def: the same folders in the same order with the same meaning,
and that each folder is there with a README of its own; that the times before the first section of README.md are those of
bench/README.md; and that passes/explain/README.md lists the lints of dialects/dist/Lints.def.

    check_readme.py [ROOT]
"""
import os
import re
import sys

import tree


def phases(root):
    """Returns (folder, meaning) of every PCC_PHASE line."""
    text = "\n".join(line for line in tree.lines("passes/Phases.def", root) if not line.lstrip().startswith("//"))
    found = re.findall(r'PCC_PHASE\(\s*\w+\s*,\s*"([^"]+)"\s*,\s*((?:"[^"]*"\s*)+)', text)
    return [(folder, "".join(re.findall(r'"([^"]*)"', meaning))) for folder, meaning in found]


def table(root):
    """Returns (folder, meaning) of every row of README.md that begins with a phase."""
    rows = [[c.strip() for c in line.strip().strip("|").split("|")] for line in tree.lines("README.md", root) if line.startswith("|")]
    return [(re.sub(r"[`\[\]]|\(.*\)", "", r[0]), r[1]) for r in rows if len(r) > 1 and re.search(r"\d-\w+", r[0])]


def lints(root):
    """Returns (code, name, meaning) of every PCC_LINT line."""
    return re.findall(r'^PCC_LINT\(\w+, "([^"]+)", "([^"]+)", "([^"]+)"\)', "\n".join(tree.lines("dialects/dist/Lints.def", root)), re.M)


def lint_table(root):
    rows = [[c.strip() for c in line.strip().strip("|").split("|")] for line in tree.lines("passes/explain/README.md", root)]
    return [tuple(row) for row in rows if re.fullmatch(r"PCC-L\d+", row[0])]


def check_lints(root):
    want, got = lints(root), lint_table(root)
    return [] if want == got else [f"passes/explain/README.md: the table of lints has {got}, dialects/dist/Lints.def has {want}"]


def check_times(root):
    """Finds each time, such as 167 ms, in a row of a table of bench/README.md. Times in seconds stand there without a unit."""
    opening = "\n".join(tree.lines("README.md", root)).partition("\n## ")[0]
    times = re.findall(r"\b(\d+) ms\b|\b(\d+\.\d+) s\b", opening)
    tables = [line for line in tree.lines("bench/README.md", root) if line.startswith("|")] if times else []
    wanted = [f"{ms} ms" if ms else s for ms, s in times]
    return [f"README.md: no table of bench/README.md has {time}" for time in wanted
            if not any(re.search(rf"(?<![\d.]){re.escape(time)}(?!\d)", row) for row in tables)]


def check(root=tree.ROOT):
    want, got = phases(root), table(root)
    problems = [f"README.md: the phase table has {g}, passes/Phases.def has {w}" for w, g in zip(want, got) if w != g]
    if len(want) != len(got) or not want:
        problems.append(f"README.md: {len(got)} phases, passes/Phases.def has {len(want)}")
    problems += [f"passes/{folder}/README.md is missing" for folder, _ in want
                 if not os.path.exists(os.path.join(root, "passes", folder, "README.md"))]
    return problems + check_times(root) + check_lints(root)


if __name__ == "__main__":
    sys.exit(tree.report(check(*sys.argv[1:])))
