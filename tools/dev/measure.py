#!/usr/bin/env python3
"""Prints measures of our own code, one row each with its limit. Sources are C++ outside test/ and bench/ unless the row says
otherwise.

    measure.py
    measure.py --draw SEED      ten comments each of passes, dialects and runtime, drawn by the seed, for a reader to judge
"""
import collections
import random
import re
import statistics
import sys

import check_attributes
import check_english
import check_examples
import check_names
import check_sizes
import tree

SOURCE = re.compile(r"(?!test/|bench/).*\.(h|cpp)$")
COMMENT = re.compile(r"\s*//")
THIN = re.compile(r"[\s{}()\[\];,.:<>&|]*$|\s*(#|//|\*)|\s*(using|import|from)\b")
# A function on one line, such as a short member in a header.
ONE_LINE = re.compile(r"\s*(?!if|for|while|switch|else|return)[\w:<>*&~,\s]+\([^{}]*\)[^{};=]*\{.*\}$")
RUN = 6


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def comment_ratio(files):
    comments = code = 0
    for lines in files.values():
        comments += sum(1 for line in lines if COMMENT.match(line))
        code += sum(1 for line in lines if line.strip() and not COMMENT.match(line))
    return comments / max(code, 1)


def exact_duplicates(files):
    """Returns pairs of files, or of places in one file, that share a run of RUN equal lines with content."""
    places = collections.defaultdict(list)
    for name, lines in files.items():
        said = [(i, " ".join(line.split())) for i, line in enumerate(lines) if not THIN.match(line)]
        for k in range(len(said) - RUN + 1):
            places["\n".join(text for _, text in said[k:k + RUN])].append((name, said[k][0]))
    pairs = set()
    for at in places.values():
        if 1 < len(at) <= 8:
            pairs.update((a[0], b[0]) for i, a in enumerate(at) for b in at[i + 1:])
    return pairs


def rows():
    names = tree.files()
    sources = {n: tree.lines(n) for n in names if SOURCE.fullmatch(n)}
    lengths = [count for lines in sources.values() for _, _, count in check_sizes.cpp_functions(lines)]
    lengths += [1 for lines in sources.values() for line in lines if ONE_LINE.match(line)]
    yield "files, lines", f"{len(sources)}, {sum(map(len, sources.values()))}", ""
    yield "file lines: median, p90, max", "{}, {}, {}".format(*(percentile([len(t) for t in sources.values()], p) for p in (0.5, 0.9, 1))), ""
    yield "function lines: median", statistics.median(lengths), "<= 7"
    yield "function lines: p90", percentile(lengths, 0.9), "<= 20"
    yield "functions over 60 lines", sum(n > 60 for n in lengths), "0"
    yield "folders over 34 source files", len(check_sizes.crowded(names)), "0"
    yield "comment:code of headers", f"{comment_ratio({n: t for n, t in sources.items() if n.endswith('.h')}):.2f}", ">= 0.5"
    yield "comment:code of sources", f"{comment_ratio({n: t for n, t in sources.items() if n.endswith('.cpp')}):.2f}", ""
    count, odd = check_english.found(names)
    yield "comment sentences without a subject", f"{100 * len(odd) / count:.1f} % of {count}", "< 1 %"
    documented = check_examples.documented()
    for kind in ("pass", "op"):
        of_kind = [d for d in documented if d.kind == kind]
        yield f"{kind} descriptions with an example", f"{sum(d.has_example for d in of_kind)} of {len(of_kind)}", "all"
        yield f"{kind} descriptions with {check_examples.WORDS} words of prose", f"{sum(d.has_prose for d in of_kind)} of {len(of_kind)}", "all"
    checks = [len(line) for n in names if n.endswith(".mlir") for line in tree.lines(n) if re.match(r"\s*//\s*[A-Z-]*CHECK", line)]
    yield "CHECK lines over 120 columns", sum(n > 120 for n in checks), "0"
    lit = [n for n in names if n.startswith("test/") and n.endswith(".mlir")]
    yield "negative lit files", f"{100 * sum('-invalid' in n for n in lit) / len(lit):.0f} %", ""
    duplicates = exact_duplicates({n: tree.lines(n) for n in names if re.search(r"\.(h|cpp|py|cmake)$|CMakeLists.txt$", n)})
    yield "pairs of files that share six equal lines", len(duplicates), "<= 25"
    yield "undeclared attributes", len(check_attributes.found()), "0"
    yield "class names in two layers", len(check_names.twice_named(sources)), "0"


def comments_of(lines):
    """Yields (line number, block of comment lines, first line of code after it) of the blocks of `lines`. Banners of files, and
    drawings of whole files, are left out, because they are no comments on code."""
    block, start = [], 0
    for number, line in enumerate([*lines, ""], 1):
        if COMMENT.match(line):
            start = start if block else number
            block.append(line.strip())
            continue
        if block and not block[0].startswith("//===") and len(" ".join(block).split()) > 4:
            yield start, block, line.strip()
        block = []


def draw(seed):
    chosen = random.Random(seed)
    for layer in ("passes", "dialects", "runtime"):
        found = [(name, *comment) for name in tree.files() if SOURCE.fullmatch(name) and name.startswith(layer + "/")
                 for comment in comments_of(tree.lines(name))]
        for name, number, block, code in chosen.sample(found, 10):
            print(f"{name}:{number}", *(f"    {line}" for line in block), f"    {code}", "", sep="\n")


def main():
    if sys.argv[1:2] == ["--draw"]:
        return draw(int(sys.argv[2]))
    table = [tuple(map(str, row)) for row in rows()]
    widths = [max(len(row[i]) for row in table) for i in range(3)]
    for row in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


if __name__ == "__main__":
    sys.exit(main())
