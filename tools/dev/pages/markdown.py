"""Functions that build Markdown as GitHub renders it."""
import re

WIDTH = 100


def notice(*sources):
    """Returns the first line of a rendered page, which says where its text comes from."""
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
    """Returns the name of a heading in links on GitHub: `graph.add` -> graphadd."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def sentence(text):
    """Returns a phrase as a sentence. A formula or code at its beginning keeps its case."""
    text = " ".join(text.split())
    if re.match(r"[a-z][a-z-]+[ ,:]", text):
        text = text[0].upper() + text[1:]
    return text + ("" if not text or text[-1] in ".:!?" else ".")


def link(text, target):
    return f"[{text}]({target})"


def page(*parts):
    """Joins the parts of a page with empty lines; empty parts are left out."""
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"
