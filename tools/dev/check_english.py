#!/usr/bin/env python3
"""Checks that the sentences of comments begin with a verb or a noun. Sentences of three words or more that open with a word of
OPENINGS leave out their subject and have to be read twice; their share stays under SHARE. Comments are those of C++, of tables
(.def) and schemas (.fbs), of CMake and shell scripts, and the comments and docstrings of Python. With `--list` each sentence
that is found is printed.

    check_english.py [--list] [FILE...]
"""
import ast
import os
import re
import sys

import tree

SHARE = 0.01
OPENINGS = re.compile(r"(What|Who|Whose|Whom|Of|Those|Such|So many|As|Nothing|None|That|How|The same|Beside)\b")
SLASHES, HASH = re.compile(r"\s*//[/!]?<?\s?(.*)"), re.compile(r"\s*#(?!!)\s?(.*)")
MARKS = {".h": SLASHES, ".cpp": SLASHES, ".def": SLASHES, ".fbs": SLASHES, ".py": HASH, ".cmake": HASH, ".sh": HASH}


def mark_of(name, lines):
    """Returns the pattern of a comment line in this file, or None if its comments are not read. The pattern's group is the text."""
    extension = os.path.splitext(name)[1]
    if os.path.basename(name) == "CMakeLists.txt" or not extension and lines and lines[0].startswith("#!"):
        return HASH
    return MARKS.get(extension)


def docstring_lines(lines):
    """The lines of the docstrings of a Python file, each with its number; an empty line follows each docstring."""
    for node in ast.walk(ast.parse("\n".join(lines))):
        body = getattr(node, "body", None)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and body and isinstance(body[0], ast.Expr) \
                and isinstance(body[0].value, ast.Constant) and isinstance(body[0].value.value, str):
            text = body[0].value
            yield from zip(range(text.lineno, text.end_lineno + 1), text.value.split("\n"))
            yield text.end_lineno, ""


def text_lines(name, lines):
    """(line number, text) of the lines of comments and docstrings; the text of all other lines is empty."""
    mark = mark_of(name, lines)
    if mark is None:
        return
    for number, line in enumerate(lines, 1):
        m = mark.match(line)
        yield number, m.group(1).strip() if m else ""
    if name.endswith(".py"):
        yield from ((number, text.strip()) for number, text in docstring_lines(lines))


def sentences(name, lines):
    """(line number, sentence) of a file; the lines of a block of comments are joined, and a block ends at an empty line."""
    block, first = [], 0
    for number, text in [*text_lines(name, lines), (len(lines), "")]:
        if text and not text.startswith("==="):
            first = first if block else number
            block.append(text)
            continue
        yield from ((first, s) for s in re.split(r"(?<=[.:;!?])\s+", " ".join(block)) if len(s.split()) >= 3 and s[0].isupper())
        block = []


def found(names, root=tree.ROOT):
    """(sentences in all, those without a subject as `file:line: sentence`)."""
    count, odd = 0, []
    for name in names:
        for number, sentence in sentences(name, tree.lines(name, root) if is_read(name) else []):
            count += 1
            if OPENINGS.match(sentence):
                odd.append(f"{name}:{number}: {sentence}")
    return count, odd


def is_read(name):
    """Whether the file may have comments that are read: other files need not be text."""
    extension = os.path.splitext(name)[1]
    return extension in MARKS or not extension or os.path.basename(name) == "CMakeLists.txt"


def check(root=tree.ROOT, names=None):
    count, odd = found(names or tree.files(root), root)
    if len(odd) <= SHARE * count:
        return []
    return [*odd, f"{len(odd)} of {count} comment sentences open without a subject, {SHARE:.0%} are the most"]


if __name__ == "__main__":
    given = [a for a in sys.argv[1:] if a != "--list"]
    if "--list" in sys.argv:
        print("\n".join(found(given or tree.files())[1]))
        sys.exit(0)
    sys.exit(tree.report(check(names=given or None)))
