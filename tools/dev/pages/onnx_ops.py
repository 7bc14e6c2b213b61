"""docs/onnx-ops.md: the ONNX ops that pcc imports, from the importer's table and the results of the node cases."""
import itertools
import json
import os
import re

import tree
from pages import markdown

FACTS = "test/passes/1-import/op_facts.json"
TYPES = "passes/1-import/build/Weights.cpp"
NO_FACTS = {"versions": [], "types": [], "becomes": [], "dims": [0, 0], "works": [], "flat": [], "refused": []}
SHORT = {"Float": "f32", "Double": "f64", "Float16": "f16", "BFloat16": "bf16", "Bool": "bool", "Int8": "i8", "Int16": "i16", "Int32": "i32",
         "Int64": "i64", "UInt8": "u8", "UInt16": "u16", "UInt32": "u32", "UInt64": "u64"}
ORDER = list(SHORT.values())


def element_types(root=tree.ROOT):
    """Returns the element types that the importer accepts."""
    body = re.search(r"^Type builtinType\(.*?^\}", "\n".join(tree.lines(TYPES, root)), re.M | re.S)[0]
    return [SHORT[name] for name in SHORT if re.search(rf"case {name}:", body)]


def forms(tools):
    """Returns (domain, op) -> the first versions of its forms, from the importer's table."""
    rows = [line.split(" ") for line in tools.call("pcc-import-model", "--ops").splitlines()]
    return {key: [int(row[2]) for row in group] for key, group in itertools.groupby(rows, key=lambda row: (row[0], row[1]))}


def ranges(numbers):
    """Formats ranges: [1, 2, 3, 5] -> '1-3, 5'."""
    text, numbers = [], sorted(numbers)
    while numbers:
        end = 0
        while end + 1 < len(numbers) and numbers[end + 1] == numbers[end] + 1:
            end += 1
        text.append(f"{numbers[0]}-{numbers[end]}" if end else str(numbers[0]))
        numbers = numbers[end + 1:]
    return ", ".join(text)


def split_cell(dims):
    split, tried = dims
    if not tried:
        return ""
    return {0: "none", tried: "all"}.get(split, f"{split} of {tried}")


def operands(names):
    return ", ".join(f"operand {n}" if n.isdigit() else f"`{n}`" for n in names)


def gradient_cell(facts):
    parts = [operands(facts["works"])] if facts["works"] else []
    parts += [f"flat: {operands(facts['flat'])}"] if facts["flat"] else []
    parts += [f"refused: {markdown.escape('; '.join(facts['refused']))}"] if facts["refused"] else []
    return "; ".join(parts)


def becomes_cell(names, graph_page):
    shown = [n for n in names if n not in ("constant", "get_parameter", "iota")]
    return " ".join(markdown.link(f"`{n}`", f"{graph_page}#graph{n}") for n in shown)


def row(op, versions, facts):
    accepted = ", ".join(map(str, versions)) + "+"
    types = " ".join(sorted(facts["types"], key=ORDER.index))
    return (op, accepted, ranges(facts["versions"]), types, split_cell(facts["dims"]), gradient_cell(facts),
            becomes_cell(facts["becomes"], "dialects/graph.md"))


HEAD = ["op", "versions", "compared at", "types", "dims split", "gradient by", "becomes"]
INTRODUCTION = """The importer's table decides what is accepted; the other columns are what the node cases of the ONNX package have shown, each of
which is imported, computed and compared with its recorded outputs (`test/passes/1-import/node_cases.py`; its long form makes
`test/passes/1-import/op_facts.json`). An op that is not in the table is an error with exit code 4 that names all such nodes.

| column | meaning |
|---|---|
| versions | versions of the domain with a form of its own; `+`: the last one holds for all later versions |
| compared at | versions at which the op was compared; empty: no case has the op as its only node |
| types | element types of the first operand (of the result where there is none) in these cases |
| dims split | result dims of these cases that a mesh axis can split so that each rank computes its part alone, of the dims of two elements or more. The other ones need an exchange within the op, as a softmax does along its dim, or are computed whole |
| gradient by | operands by which the gradient was compared with central differences in f64 (1e-6); *flat*: the slope is 0 almost everywhere; *refused*: training through it is an error; empty: no floats lead through the op |
| becomes | ops of the [graph dialect](dialects/graph.md) that the cases became, without weights and constants |"""


def render(tools):
    with open(os.path.join(tree.ROOT, FACTS), encoding="utf-8") as file:
        facts = json.load(file)
    table = forms(tools)
    parts = []
    for domain, ops in itertools.groupby(sorted(table), key=lambda key: key[0]):
        rows = [row(op, table[domain, op], facts.get(f"{domain} {op}", NO_FACTS)) for _, op in ops]
        parts += [f"## {domain}", f"{len(rows)} ops.", markdown.table(HEAD, rows)]
    types = ", ".join(f"`{t}`" for t in element_types())
    others = f"""Tensors may have the element types {types}. `If` is imported where its condition is known while compiling: the branch that it
selects takes its place."""
    return markdown.page(markdown.notice("passes/1-import/ops/*.cpp", FACTS), "# ONNX ops", INTRODUCTION, others, *parts)
