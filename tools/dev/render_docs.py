#!/usr/bin/env python3
"""Renders the pages of docs/ that follow from the tree: dialects, passes, ONNX ops, options, exit codes, JSON fields and the
drawings of docs/architecture.md. It needs a build, because pages show the output of the tools.

    render_docs.py [--check] [--bin FOLDER]

FOLDER holds pcc, pcc-opt, pcc-list-gradients and pcc-import-model; by default it is build/release/bin. With --check no file is
written, and a page that differs from its rendered form is an error."""
import argparse
import concurrent.futures
import os
import sys

import draw_architecture
import tree
from pages import built, dialects, examples, exit_codes, json_fields, onnx_ops, options, passes

NOTICE = "Rendered by tools/dev/render_docs.py"


def rendered(tools):
    """Returns (path -> text of all pages, problems that no page can show)."""
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        fields = pool.submit(json_fields.render, tools)  # waits for the tools most of the time
        shown = examples.Examples(tools)
        pages = {f"docs/dialects/{name}.md": dialects.render(name, tools, shown) for name in dialects.SOURCES}
        pages.update(passes.render(shown))
        pages.update(draw_architecture.render())
        pages.update({"docs/exit-codes.md": exit_codes.render(), "docs/onnx-ops.md": onnx_ops.render(tools), "docs/options.md": options.render(tools)})
        pages["docs/json.md"], missing = fields.result()
    return pages, missing


def left_over(pages, root=tree.ROOT):
    """Returns the committed pages that were rendered once and are not rendered any more."""
    found = [n for n in tree.files(root) if n.startswith("docs/") and n.endswith((".md", ".svg")) and n not in pages]
    return [n for n in found if any(NOTICE in line for line in tree.lines(n, root)[:3])]


def differing(pages, root=tree.ROOT):
    """Yields a line for each page that differs from its rendered form."""
    for name, text in pages.items():
        if not os.path.exists(os.path.join(root, name)):
            yield f"{name} is missing"
        elif (known := tree.lines(name, root)) != text.splitlines():
            lines = zip([*known, ""], [*text.splitlines(), ""])
            number, (old, new) = next(((n, pair) for n, pair in enumerate(lines, 1) if pair[0] != pair[1]), (0, ("", "")))
            yield f"{name}:{number} is out of date:\n  found:    {old[:150]}\n  expected: {new[:150]}"
    yield from (f"{name} is not rendered any more; remove it" for name in left_over(pages, root))


def write(pages, root=tree.ROOT):
    for name, text in pages.items():
        path = os.path.join(root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    for name in left_over(pages, root):
        os.remove(os.path.join(root, name))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--bin", metavar="FOLDER", default=os.path.join(tree.ROOT, "build", "release", "bin"))
    arguments = parser.parse_args()
    try:
        pages, problems = rendered(built.Tools(os.path.abspath(arguments.bin)))
    except (built.Missing, ValueError) as error:
        return tree.report([f"render_docs: {error}"])
    if arguments.check:
        problems += list(differing(pages))
        problems += ["render them by tools/dev/render_docs.py"] if problems else []
    else:
        write(pages)
    return tree.report(problems)


if __name__ == "__main__":
    sys.exit(main())
