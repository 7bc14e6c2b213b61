"""docs/json.md: the fields of all JSON that pcc writes, from samples that pcc has written and the meanings in json_meanings.py.
"""
import json
import os
import tempfile

import tree
from pages import built, markdown
from pages.json_meanings import DOCUMENTS, FOLDED, NUMBER, ROWS, SELDOM

SCRIPT = "tools/dev/pages/json_samples.py"
# Objects whose keys are names of axes or numbers of stages.
NAMED = ("mesh", "ranks[].coordinates", "ranks[].peak_live_activations")
SINGLE = {"int": "integer", "float": "number", "str": "text", "bool": "boolean", "NoneType": "null", "dict": "object"}
PLURAL = {"integer": "integers", "number": "numbers", "text": "texts", "boolean": "booleans", "object": "objects", "null": "nulls"}


class Fields:
    """Fields of all samples of one document: path -> types of its values. The elements of a list have the path of the list and
    []."""

    def __init__(self):
        self.types = {}

    def add(self, value, path=""):
        if path:
            self.types.setdefault(path, set()).add("list" if isinstance(value, list) else SINGLE[type(value).__name__])
        if isinstance(value, list):
            for element in value:
                self.add(element, f"{path}[]" if path else "")
        elif isinstance(value, dict):
            for key, element in value.items():
                name = "NAME" if path in NAMED else key
                self.add(element, f"{path}.{name}" if path else name)

    def names(self):
        """Returns the paths of fields, except those of elements of lists."""
        return [path for path in self.types if not path.endswith("[]")]

    def type_of(self, path):
        """Returns the types of a field in words: "list of integers", "text or null"."""
        types = self.types.get(path, set())
        words = sorted(types - {"list", "null"} - ({"integer"} if "number" in types else set()))
        if "list" in types:
            words.append("list" + self.of_elements(path + "[]"))
        if "null" in types:
            words.append("null" if words else "text or null")
        return " or ".join(words)

    def of_elements(self, path):
        if path not in self.types:
            return ""
        if "list" in self.types[path]:
            return " of lists" + self.of_elements(path + "[]")
        return " of " + PLURAL[self.type_of(path).split(" or ")[0]]


def read(folder):
    """Returns command -> fields of its samples."""
    documents = {}
    for command, (names, _) in DOCUMENTS.items():
        documents[command] = Fields()
        for name in names:
            with open(os.path.join(folder, f"{name}.json"), encoding="utf-8") as file:
                documents[command].add(json.load(file))
    return documents


def problems(documents, rows_of=None):
    """Returns the fields of samples without a meaning, and the meanings without a field."""
    for command, fields in documents.items():
        rows = (rows_of or ROWS)[command]
        described = {row[0] for row in rows}
        folded = [row[0] for row in rows if FOLDED in row[3:]]
        seldom = {row[0] for row in rows if SELDOM in row[3:]}
        for name in fields.names():
            is_folded = any(name.startswith((f"{f}.", f"{f}[")) for f in folded)
            if name not in described and not is_folded:
                yield f"tools/dev/pages/json_meanings.py: {command}: no row for the field {name}"
        for name in sorted(described - set(fields.names()) - seldom):
            yield f"tools/dev/pages/json_meanings.py: {command}: no sample has the field {name}"


def type_in(fields, row):
    """Returns the type of a row's field. A number that is not an integer may look like one in a sample; a time is never an
    integer."""
    words = fields.type_of(row[0]) or "number"
    return words.replace("integer", "number") if NUMBER in row[3:] or row[1] in ("seconds", "1/second") else words


def section(command, fields):
    rows = [(f"`{row[0]}`", type_in(fields, row), row[1], row[2]) for row in ROWS[command]]
    return [f"## `{command}`", DOCUMENTS[command][1], markdown.table(["field", "type", "unit", "meaning"], rows)]


INTRODUCTION = """Sizes are in bytes and times in seconds. In a field's name, `[]` stands for the elements of a list, and NAME for a key that is
the name of an axis or the number of a stage. A type that says `or null` is null where there is nothing to tell. Fields may be added; none
is renamed. Shardings are written as for `--shard`: `[tp, -]` splits the first dim over `tp` and leaves the second one whole."""


def render(tools):
    """Returns (text of the page, problems)."""
    with tempfile.TemporaryDirectory() as folder:
        built.output([built.python(), "-B", os.path.join(tree.ROOT, SCRIPT), tools.path("pcc"), folder])
        documents = read(folder)
    parts = [part for command, fields in documents.items() for part in section(command, fields)]
    text = markdown.page(markdown.notice("tools/dev/pages/json_meanings.py and the output of pcc"), "# JSON", INTRODUCTION, *parts)
    return text, list(problems(documents))
