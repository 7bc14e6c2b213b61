#!/usr/bin/env python3
"""Checks the descriptions of ops and passes in .td files. Each has an example, `[example: FILE @name]`, which names a file of this
tree and a case in it, a symbol @name; and besides it at least WORDS words of prose: shapes, attributes, and when it lives.

    check_examples.py [ROOT]
"""
import os
import re
import sys
import typing

import tree

WORDS = 8
EXAMPLE = re.compile(r"\[example: (\S+?)(?: @([\w.]+))?\]")
# A definition or a class, from its keyword to the brace at a line's beginning that ends it, or to the end of its line.
DEFINITION = re.compile(r"^(def|class) (\w+)\s*(?:<[^{;]*?>\s*)?:\s*([^{;]*?)(?:\{\s*\n(.*?)^\}|;)", re.M | re.S)
DESCRIPTION = re.compile(r"let description = \[\{(.*?)\}\];", re.S)


class Described(typing.NamedTuple):
    name: str
    kind: str  # "op" or "pass"
    where: str
    has_example: bool
    has_prose: bool


def kind_of(base):
    """Returns "op" or "pass" by the class from which a definition derives, or None for enums, attributes and the like."""
    if re.match(r"Pass<", base):
        return "pass"
    return "op" if re.match(r"\w*Op<", base) else None


def documented(root=tree.ROOT):
    """Returns every op and pass that a .td file defines. One without a description of its own gets the description of its
    class."""
    described, of_class = [], {}
    for name in tree.files(root):
        if not name.endswith(".td"):
            continue
        text = "\n".join(tree.lines(name, root)) + "\n"
        for m in DEFINITION.finditer(text):
            keyword, defined, base, body = m.groups()
            own = DESCRIPTION.search(body or "")
            description = own.group(1) if own else of_class.get(base.partition("<")[0], "")
            if keyword == "class":
                of_class[defined] = description
            elif kind := kind_of(base):
                described.append(Described(defined, kind, f"{name}:{text.count(chr(10), 0, m.start()) + 1}",
                                           bool(EXAMPLE.search(description)), len(EXAMPLE.sub("", description).split()) >= WORDS))
    return described


def pointer_problems(name, root):
    for number, line in enumerate(tree.lines(name, root), 1):
        for file, case in EXAMPLE.findall(line):
            if not os.path.isfile(os.path.join(root, file)):
                yield f"{name}:{number}: there is no {file}"
            elif case and not any(re.search(rf"@{re.escape(case)}\b", text) for text in tree.lines(file, root)):
                yield f"{name}:{number}: {file} has no case @{case}"


def check(root=tree.ROOT):
    problems = [p for name in tree.files(root) if name.endswith(".td") for p in pointer_problems(name, root)]
    for d in documented(root):
        if not d.has_example:
            problems.append(f"{d.where}: {d.name} has no example")
        if not d.has_prose:
            problems.append(f"{d.where}: the description of {d.name} has fewer than {WORDS} words besides its example")
    return problems


if __name__ == "__main__":
    sys.exit(tree.report(check(*sys.argv[1:])))
