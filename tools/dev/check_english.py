#!/usr/bin/env python3
"""Checks that comment sentences of C++ begin with a verb or a noun. Sentences of three words or more that open with a word of
OPENINGS leave out their subject and have to be read twice; their share stays under SHARE. With `--list` each is printed.

    check_english.py [--list] [FILE...]
"""
import re
import sys

import tree

SHARE = 0.01
OPENINGS = re.compile(r"(What|Who|Whose|Whom|Of|Those|Such|So many|As|Nothing|None|That|How|The same|Beside)\b")
COUNTED = re.compile(r"(?!test/|bench/).*\.(h|cpp)$")


def sentences(lines):
    """(line number, sentence) of the comments, whose lines are joined block by block."""
    block, first = [], 0
    for number, line in enumerate([*lines, ""], 1):
        m = re.match(r"\s*//[/!]?<?\s?(.*)", line)
        text = m.group(1).strip() if m else ""
        if text and not text.startswith("==="):
            first = first if block else number
            block.append(text)
            continue
        yield from ((first, s) for s in re.split(r"(?<=[.:;!?])\s+", " ".join(block)) if len(s.split()) >= 3 and s[0].isupper())
        block = []


def found(names, root=tree.ROOT):
    """(sentences in all, those without a subject as `file:line: sentence`)."""
    count, odd = 0, []
    for name in filter(COUNTED.fullmatch, names):
        for number, sentence in sentences(tree.lines(name, root)):
            count += 1
            if OPENINGS.match(sentence):
                odd.append(f"{name}:{number}: {sentence}")
    return count, odd


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
