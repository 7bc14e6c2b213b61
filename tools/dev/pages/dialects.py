"""docs/dialects/NAME.md: ops, attributes and enums of a dialect, from its .td files."""
import re

import tree
from pages import examples, markdown, records

SOURCES = {"graph": "dialects/graph/GraphOps.td", "dist": "dialects/dist/DistOps.td", "pipe": "dialects/pipe/PipeOps.td",
           "rank": "dialects/rank/RankOps.td"}
ROOT = "../.."  # from a page to the root of the repository
CLASSES = f"{ROOT}/dialects/graph/README.md#classes-of-ops"
SHOWN_ELSEWHERE = ("GradientOpInterface", "CostOpInterface")  # of the classes of an op
SYNTAX = """In the syntax of an op, text in backticks is written as it stands, `$name` is an operand, an attribute or a region, `(…)?` may be
left out, and `attr-dict` is a dictionary of further attributes."""


def families(file):
    """Yields (file, its folder, the text of its banner) for each .td file with ops that `file` includes; for `file` itself if
    it includes none."""
    folder = file.rpartition("/")[0]
    names = re.findall(rf'^include "({re.escape(folder)}/ops/\w+\.td)"', "\n".join(tree.lines(file)), re.M) or [file]
    return [(name, banner(name)) for name in names]


def banner(file):
    """Returns the text of a file's banner, which says what the file contains."""
    found = re.match(r"//===- \S+ - (.*?) -*\*", tree.lines(file)[0])
    return found[1].rstrip(" -") if found else file


class Places:
    """Files that contain the rule, the gradient and the evaluator of each graph op, and its classes."""

    def __init__(self):
        rows = [line.split() for line in tree.lines("test/dialects/graph/op-classes.txt") if not line.startswith("#")]
        self.classes = {name: [f"`{c}`" for c in classes if c not in SHOWN_ELSEWHERE] for name, *classes in rows}
        self.text = {f: "\n".join(tree.lines(f)) for f in tree.files() if re.match(r"dialects/graph/\w+/\w+\.cpp$", f)}

    def find(self, folder, family, certain, likely):
        """Returns the file in `folder` that matches `certain`; otherwise the file named after the family that matches `likely`.
        """
        inside = [f for f in self.text if f.startswith(f"dialects/graph/{folder}/")]
        sure = [f for f in inside if re.search(certain, self.text[f])]
        named = [f for f in inside if f.endswith(f"/{family}.cpp") and re.search(likely, self.text[f])]
        return next(iter(sure + named), None)

    def of(self, op, has_gradient):
        family, word = op.file.removesuffix(".td"), rf"\b{op.cpp}\b"
        default = "|broadcastRule" if "`IsElementWise`" in self.classes[op.name] else ""
        found = {"sharding rule": self.find("rules", family, rf"\b{op.cpp}::getShardingRule", word + default),
                 "evaluator": self.find("reference", family, rf"\badd<[^>;]*\b{op.cpp}\b", r"(?!)")}
        if has_gradient:
            found["gradient"] = self.find("gradients", family, rf"\b{op.cpp}::buildGradients", word)
        return {what: file for what, file in found.items() if file}


class Gradients:
    """Output of pcc-list-gradients for each op: its state, the operands that have a gradient, and what is rejected."""

    def __init__(self, tools):
        files = [f for f in tree.files() if re.match(r"test/dialects/graph/[\w-]+\.mlir$", f) and "-invalid" not in f]
        rows = [line.split("\t") for line in tools.call("pcc-list-gradients", *files).splitlines()]
        self.state = {row[0]: (row[1], [int(n) for n in row[2].split()], refusals(*row)) for row in rows}

    def has(self, op):
        return self.state.get(op.name, ("none",))[0] in ("gradient", "flat")

    def cell(self, op):
        """Returns the entry of the table: whether there is a gradient, and for which operands."""
        state, places, refused = self.state.get(op.name, ("", [], ""))
        if state != "gradient":
            return {"flat": "flat", "none": "none", "refused": "refused"}.get(state, "")
        text = ", ".join(operand_names(op, places))
        return f"{text} (refused: {refused})" if refused else text


def refusals(name, state, operands, refused):
    return "; ".join(t.strip().removeprefix(f"'{name}' op ") for t in refused.split(";") if t.strip())


def operand_names(op, places):
    """Returns the names of operands by index. A variadic operand takes its own index and all later ones."""
    names = [f for f in op.fields if f.role == "operand"]
    picked = [names[min(place, len(names) - 1)].name for place in places]
    return [f"`{name}`" for name in dict.fromkeys(picked)]


def field_table(fields):
    if not fields:
        return ""
    return markdown.table(["", "name", "type"], [(f.role, markdown.code(f.name), f.meaning) for f in fields])


def places_line(file, places):
    links = [markdown.link(what, f"{ROOT}/{target}") for what, target in [("definition", file), *places.items()]]
    return "Files: " + ", ".join(links) + "."


class DialectPage:
    """Writes the page of one dialect."""

    def __init__(self, name, tools, shown):
        self.source = SOURCES[name]
        self.dialect = records.read_dialect(self.source, name)
        self.examples = shown
        self.gradients = Gradients(tools) if name == "graph" else None
        self.places = Places() if name == "graph" else None
        shown.prepare([op.description for op in self.dialect.ops])

    def text(self):
        d = self.dialect
        return markdown.page(
            markdown.notice(self.source), f"# The {d.name} dialect", markdown.sentence(d.summary), examples.prose(d.description),
            self.index(), SYNTAX, *(part for family in families(self.source) for part in self.family(*family)), *self.attributes())

    def ops_of(self, file):
        return [op for op in self.dialect.ops if op.file == file.rpartition("/")[2]]

    def index(self):
        rows = [(markdown.sentence(text), " ".join(self.reference(op) for op in self.ops_of(file))) for file, text in families(self.source)]
        return f"{len(self.dialect.ops)} ops:\n\n" + markdown.table(["family", "ops"], rows)

    def reference(self, op):
        return markdown.link(markdown.code(op.name.partition(".")[2]), "#" + markdown.anchor(op.name))

    def attributes(self):
        d, parts = self.dialect, []
        if d.attributes or d.enums:
            parts.append("## Attributes")
        for a in d.attributes:
            parts += [f"### `{a.name}`", markdown.sentence(a.summary), markdown.fenced(a.syntax) if a.syntax else "",
                      examples.prose(a.description), field_table(a.fields)]
        if d.enums:
            rows = [(f"`{e.name}`", markdown.sentence(e.summary), ", ".join(e.cases)) for e in d.enums]
            parts += ["### Enumerations", markdown.table(["name", "meaning", "values"], rows)]
        if d.discardable:
            names = ", ".join(f"`{d.name}.{f.name}` ({f.meaning})" for f in d.discardable)
            parts.append(f"Attributes that ops of any dialect may carry: {names}.")
        return parts

    def family(self, file, text):
        yield f"## {markdown.sentence(text)[:-1]}"
        groups = {}
        for op in self.ops_of(file):
            groups.setdefault((op.base, op.description, op.fields), []).append(op)
        for group in groups.values():
            yield from self.one(group[0]) if len(group) == 1 else self.several(group)

    def one(self, op):
        yield f"### `{op.name}`"
        yield markdown.sentence(op.summary)
        yield from self.body(op)
        if self.places:
            yield self.gradient_line(op)
            yield f"{markdown.link('Classes', CLASSES)}: {', '.join(self.places.classes[op.name])}."
            yield places_line(self.file_of(op), self.places.of(op, self.gradients.has(op)))
        yield examples.of(op.description, self.examples, ROOT)

    def several(self, ops):
        """Writes ops that share a class, a description and an example."""
        title = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", ops[0].base.partition("_")[2].removesuffix("Op")).lower()
        yield f"### {title.capitalize()} ops"
        head, rows = ["op", "what it does"], []
        for op in ops:
            name = f'<a id="{markdown.anchor(op.name)}"></a>`{op.name}`'
            rows.append([name, markdown.sentence(op.summary)])
            if self.gradients:
                rows[-1] += [self.gradients.cell(op), ", ".join(self.places.classes[op.name])]
        yield markdown.table(head + (["gradient by", markdown.link("classes", CLASSES)] if self.gradients else []), rows)
        yield from self.body(ops[0]._replace(syntax=ops[0].syntax.replace(ops[0].name, f"{self.dialect.name}.OP")))
        if self.places:
            yield places_line(self.file_of(ops[0]), self.places.of(ops[0], any(map(self.gradients.has, ops))))
        yield examples.of(ops[0].description, self.examples, ROOT)

    def body(self, op):
        yield markdown.fenced(op.syntax) if op.syntax else "The syntax is written in C++."
        yield examples.prose(op.description)
        yield field_table(op.fields)

    def file_of(self, op):
        return next(file for file, _ in families(self.source) if file.endswith("/" + op.file))

    def gradient_line(self, op):
        cell = self.gradients.cell(op)
        words = {"none": "none", "flat": "zero almost everywhere", "refused": "refused"}
        return f"Gradient, as tested: {words.get(cell, 'by ' + cell)}." if cell else ""


def render(name, tools, shown):
    return DialectPage(name, tools, shown).text()
