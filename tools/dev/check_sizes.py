#!/usr/bin/env python3
"""Checks sizes: no file is longer than FILE_LINES, no C++ or Python function longer than FUNCTION_LINES, and no folder outside
test/ and bench/ holds more than FOLDER_FILES C++ files.

    check_sizes.py [ROOT]
"""
import ast
import collections
import os
import re
import sys

import tree

FILE_LINES, FUNCTION_LINES, FOLDER_FILES = 800, 60, 34
CODE = re.compile(r"(\.(h|cpp|cu|td|py|cmake|fbs|def|mlir|test)|CMakeLists\.txt)$")
NO_BODY = re.compile(r"\b(namespace|class|struct|enum|union|extern)\b")
LITERAL = re.compile(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])\'|//.*')


def cpp_functions(lines):
    """Yields (line number, name, number of lines) of the outermost brace bodies that follow a parameter list. Reads formatted
    code, so braces and indentation can be trusted."""
    depth, start = 0, None
    for i, line in enumerate(lines):
        bare = LITERAL.sub("", line)
        if start is None and bare.rstrip().endswith("{") and not NO_BODY.search(bare):
            head = " ".join(LITERAL.sub("", h) for h in lines[max(0, i - 4):i + 1])
            if m := re.search(r"([~\w:]+)\s*\([^;{}]*\)[^;{}]*\{\s*$", head):
                start, name, base = i, m.group(1), depth
        depth += bare.count("{") - bare.count("}")
        if start is not None and depth <= base:
            yield start + 1, name, i - start + 1
            start = None


def python_functions(lines):
    for node in ast.walk(ast.parse("\n".join(lines))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.name, node.end_lineno - node.lineno + 1


FUNCTIONS = {"cpp": cpp_functions, "h": cpp_functions, "cu": cpp_functions, "py": python_functions}


def crowded(names):
    """Returns (folder, number of C++ files) of the folders outside test/ and bench/ that hold more than FOLDER_FILES."""
    counts = collections.Counter(os.path.dirname(n) for n in names if re.search(r"\.(h|cpp)$", n) and not re.match(r"(test|bench)/", n))
    return [(folder, count) for folder, count in sorted(counts.items()) if count > FOLDER_FILES]


def check(root=tree.ROOT):
    names = tree.files(root)
    problems = [f"{folder}: {count} source files, {FOLDER_FILES} are the most: which rooms are in it?" for folder, count in crowded(names)]
    for name in filter(CODE.search, names):
        lines = tree.lines(name, root)
        if len(lines) > FILE_LINES:
            problems.append(f"{name}: {len(lines)} lines, {FILE_LINES} are the most")
        for number, function, count in FUNCTIONS.get(name.rsplit(".", 1)[-1], lambda _: [])(lines):
            if count > FUNCTION_LINES:
                problems.append(f"{name}:{number}: {function} has {count} lines, {FUNCTION_LINES} are the most")
    return problems


if __name__ == "__main__":
    sys.exit(tree.report(check(*sys.argv[1:])))
