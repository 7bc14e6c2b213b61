#!/usr/bin/env python3
"""Checks that the targets of Markdown links exist: files of this tree, and headings of pages. README, CONTRIBUTING and the
pages of docs/ also name files in code spans; these paths must exist as well.

    check_links.py [ROOT]
"""
import glob
import os
import re
import sys

import tree

LINK = re.compile(r"!?\[[^\[\]]*\]\(([^()\s]+)\)")
HEADING = re.compile(r"#{1,6} (.*)")
GIVEN = re.compile(r'<a id="([^"]+)">')
# A path from the root in a code span. A path with a part in capitals, such as NAME.cpp, is a pattern for readers.
PATH = re.compile(r"(?:dialects|passes|runtime|tools|test|bench|python-bindings|cmake|docs)/[\w./*-]*[\w/*]")
PATTERN = re.compile(r"\b[A-Z]{3,}\b(?!\.md)")
NAMES_PATHS = re.compile(r"README\.md|CONTRIBUTING\.md|docs/.*\.md")


def anchors(lines):
    """Returns the names that links may give behind # on a page: headings, as GitHub writes them, and explicit anchors."""
    found, is_code = set(), False
    for line in lines:
        is_code ^= line.startswith("```")
        found.update(GIVEN.findall(line))
        if not is_code and (heading := HEADING.match(line)):
            found.add(re.sub(r"[^\w\- ]", "", heading[1].lower()).replace(" ", "-"))
    return found


def links(lines):
    """Yields (line number, target) for every link outside of code."""
    is_code = False
    for number, line in enumerate(lines, 1):
        is_code ^= line.startswith("```")
        if not is_code and not line.startswith("    "):
            yield from ((number, target) for target in LINK.findall(re.sub(r"`[^`]*`", "`", line)))


def named_paths(lines):
    """Yields (line number, path) for every path in a code span of a line of prose."""
    is_code = False
    for number, line in enumerate(lines, 1):
        is_code ^= line.startswith("```")
        for code in re.findall(r"`([^`]+)`", "" if is_code else line):
            yield from ((number, path) for path in code.split() if PATH.fullmatch(path) and not PATTERN.search(path))


def check(root=tree.ROOT):
    pages = {n: tree.lines(n, root) for n in tree.files(root) if n.endswith(".md")}
    problems = []
    for name, lines in pages.items():
        for number, target in links(lines):
            if re.match(r"\w+:", target):
                continue
            path, _, anchor = target.partition("#")
            to = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
            if not os.path.exists(os.path.join(root, to)):
                problems.append(f"{name}:{number}: there is no {to}")
            elif anchor and to in pages and anchor not in anchors(pages[to]):
                problems.append(f"{name}:{number}: {to} has no heading #{anchor}")
        if NAMES_PATHS.fullmatch(name):
            problems += [f"{name}:{number}: there is no {path}" for number, path in named_paths(lines)
                         if not glob.glob(os.path.join(root, path), recursive=True)]
    return problems


if __name__ == "__main__":
    sys.exit(tree.report(check(*sys.argv[1:])))
