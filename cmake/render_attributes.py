#!/usr/bin/env python3
"""Renders the attributes that a .td file declares (dialects/attributes/DiscardableAttrs.td): a header of their names, and the
rows of the table by which the dialect verifies them. A file that would not change is left alone.

    render_attributes.py RECORDS.json NAMES.h.inc TABLE.cpp.inc
"""
import json
import os
import sys
import textwrap


def records(path):
    """Returns the declared attributes by name."""
    with open(path, encoding="utf-8") as f:
        everything = json.load(f)
    found = [everything[name] for name in everything["!instanceof"].get("DiscardableAttr", [])]
    for record in found:
        for field in ("kind", "places"):
            refer = record[field]
            record[field] = [everything[r["def"]]["cpp"] for r in refer] if field == "places" else everything[refer["def"]]["cpp"]
    return sorted(found, key=lambda record: record["text"])


def constant(text):
    """Returns the name of the C++ constant: dist.once_per_step -> oncePerStepName."""
    first, *rest = text.partition(".")[2].split("_")
    return first + "".join(word.capitalize() for word in rest) + "Name"


def names(attributes):
    for a in attributes:
        lives = a["first"] if a["first"] == a["last"] else f"{a['first']} to {a['last']}"
        for line in textwrap.wrap(f"{a['summary']} Lives in {lives}.", 76):
            yield f"/// {line}"
        yield f"inline constexpr ::llvm::StringLiteral {constant(a['text'])} = \"{a['text']}\";"


def rows(attributes):
    for a in attributes:
        places = " | ".join(f"AttributePlace::{place}" for place in a["places"]) or "AttributePlace::None"
        yield f"{{{constant(a['text'])}, {a['kind']}, {places}, \"{' '.join(a['ops'])}\"}},"


def write(path, lines):
    text = "".join(line + "\n" for line in lines)
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            if f.read() == text:
                return
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def main(source, header, table):
    attributes = records(source)
    write(header, names(attributes))
    write(table, rows(attributes))


if __name__ == "__main__":
    main(*sys.argv[1:])
