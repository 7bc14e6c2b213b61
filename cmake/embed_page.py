#!/usr/bin/env python3
"""Writes the text of a page as C++ code (runtime/report/PageText.h), so that a library carries it and needs no file beside it.
{{NAME}} in the page stands for the content of the file NAME.

    embed_page.py RESULT.cpp PAGE.html FILE...
"""
import os
import re
import sys

CHUNK = 8000   # characters of a literal; compilers limit its length


def page(main, parts):
    """Returns the text of `main` with the text of each part in its place; every part must have one."""
    def read(path):
        with open(path, encoding="utf-8") as file:
            return file.read()
    texts = {os.path.basename(path): read(path) for path in parts}
    used = set()

    def place(match):
        used.add(match[1])
        return texts[match[1]]
    text = re.sub(r"\{\{([\w.-]+)\}\}", place, read(main))
    if unused := set(texts) - used:
        sys.exit(f"{main} has no place for {', '.join(sorted(unused))}")
    return text


def main(result, *sources):
    text = page(sources[0], sources[1:])
    pieces = [text[i:i + CHUNK] for i in range(0, len(text), CHUNK)]
    literal = "\n".join(f'R"pcc({piece})pcc"' for piece in pieces)
    with open(result, "w", encoding="utf-8") as file:
        file.write('#include "runtime/report/PageText.h"\n\n'
                   f"std::string_view pcc::runtime::pageText() {{\n  return {literal};\n}}\n")


main(*sys.argv[1:])
