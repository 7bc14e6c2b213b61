"""Tested examples: the text of a case in a lit file, as pages show it, and the output of pcc-opt for it."""
import re
import textwrap
import typing

import tree

POINTER = re.compile(r"\[example: (\S+?)(?: @([\w.]+))?\]")
SEPARATOR = re.compile(r"^// -----.*$", re.M)
# Lines that belong to the test rather than to the case.
OF_THE_TEST = re.compile(r"\s*//\s*(RUN:|[A-Z][A-Z0-9_]*(-[A-Z]+|-COUNT-\d+)*:|expected-)")
# The beginning of something at the top level of a file: an alias, an op.
BEGINNING = re.compile(r"[#!\w\"]")


class Case(typing.NamedTuple):
    file: str
    name: str       # "" for the first case of a file
    flags: tuple    # of pcc-opt: its passes
    text: str

    @property
    def command(self):
        return " ".join(["pcc-opt", *self.flags, self.file])


def flags_of(lines):
    """Returns the passes that the first RUN line gives to pcc-opt."""
    text = "\n".join(lines)
    text = re.sub(r"\\\n\s*//\s*RUN:", " ", text)
    run = re.search(r"RUN:\s*pcc-opt\s+([^|]*)", text)
    words = run[1].split() if run else []
    return tuple("--" + w.lstrip("-") for w in words if w.startswith("-") and "split-input-file" not in w)


def items_of(text):
    """Returns the top-level pieces of IR in `text`, each with the comments before it."""
    items, pending, depth = [], [], 0
    for line in text.splitlines():
        if OF_THE_TEST.match(line):
            continue
        if depth == 0 and line.startswith("//"):
            pending.append(line)
            continue
        if depth == 0 and BEGINNING.match(line):
            items.append([*pending, line])
        elif items and line.strip():
            items[-1] += [*pending, line]
        pending = []
        depth = max(0, depth + braces(line))
    return ["\n".join(item) for item in items]


def braces(line):
    """Returns how many more braces a line opens than it closes. Braces in strings and comments do not count."""
    bare = re.sub(r'"(\\.|[^"\\])*"|//.*', "", line)
    return bare.count("{") - bare.count("}")


def defined(item):
    """Returns the names that an item defines for others: its alias, its symbol."""
    first = next((line for line in item.splitlines() if not line.startswith("//")), "")
    alias = re.match(r"[#!]\w+(?= =)", first)
    return {alias[0]} if alias else set(re.findall(r"@[\w.]+", first)[:1])


def used(item):
    return set(re.findall(r"[#!@][\w.]+", item))


def with_references(items, chosen):
    """Returns `chosen` and the items to which it refers, directly or not, in the order of the file."""
    wanted, grown = {chosen}, True
    while grown:
        names = set().union(*(used(items[i]) for i in wanted))
        more = {i for i, item in enumerate(items) if defined(item) & names} - wanted
        wanted, grown = wanted | more, bool(more)
    return [items[i] for i in sorted(wanted)]


def find(file, name, root=tree.ROOT):
    """Returns the case that a pointer names: the top-level piece that defines @name, and the items to which it refers. Without
    a name, returns the first part of the file."""
    lines = tree.lines(file, root)
    chunks = [items_of(chunk) for chunk in SEPARATOR.split("\n".join(lines))]
    flags = flags_of(lines)
    if not name:
        return Case(file, "", flags, layout(chunks[0]))
    for items in chunks:
        for i, item in enumerate(items):
            if re.search(rf"@{re.escape(name)}(?![\w.])", item) and not item.startswith("#"):
                return Case(file, name, flags, layout(with_references(items, i)))
    raise ValueError(f"{file} has no case @{name}")


def layout(items):
    """Returns the items as text. Aliases are adjacent; an empty line precedes each item of several lines."""
    text = ""
    for before, item in zip(["", *items], items):
        is_apart = before and ("\n" in item or "\n" in before)
        text += ("\n" if is_apart else "") + textwrap.dedent(item) + "\n"
    return text.rstrip("\n")


def without_module(text):
    """Returns the text without the module that the printer adds, unless the module has attributes."""
    lines = text.strip("\n").splitlines()
    if "module {" not in lines or lines[-1] != "}":
        return "\n".join(lines)
    start = lines.index("module {")
    return "\n".join([*lines[:start], *textwrap.dedent("\n".join(lines[start + 1:-1])).splitlines()])


def result_of(case, tools):
    """Returns the output of pcc-opt for a case."""
    return without_module(tools.call("pcc-opt", *case.flags, text=case.text))
