"""Pieces of Markdown as GitHub shows it."""
import re

WIDTH = 100


def notice(*sources):
    """The first line of a rendered page: where its text comes from."""
    return f"<!-- Rendered by tools/dev/render_docs.py from {', '.join(sources)}. Edit those, not this page. -->"


def escape(cell):
    return str(cell).replace("|", "\\|").replace("\n", " ")


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(map(escape, row)) + " |" for row in rows]
    return "\n".join(lines)


def fenced(text, language=""):
    return f"```{language}\n{text.strip(chr(10))}\n```"


def code(text):
    return f"`{text}`" if text else ""


def anchor(heading):
    """What GitHub calls a heading in links: `graph.add` -> graphadd."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def sentence(text):
    """A phrase as a sentence of its own. A formula or code at its beginning keeps its case."""
    text = " ".join(text.split())
    if re.match(r"[a-z][a-z-]+[ ,:]", text):
        text = text[0].upper() + text[1:]
    return text + ("" if not text or text[-1] in ".:!?" else ".")


def link(text, target):
    return f"[{text}]({target})"


def page(*parts):
    """The text of a page: parts are separated by an empty line, empty ones are left out."""
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"
