"""The page that says through what training works: dialects/graph/GRADIENTS.md, made of what the tools say and the node cases show."""
import collections, os, re, subprocess, threading

import onnx

TOLERANCE = 1e-6
LOCK = threading.Lock()
HEAD = """# Gradients

Made by `test/passes/1-import/node_cases.py` with `--table` and `--write`; the test `import-node-cases` fails when it is out of date.

## Ops of the graph dialect

What each op of the dialect says when it is differentiated, in the forms of `test/dialects/graph/*.mlir`. `gradient`: by the operands
of floats that are named by their numbers, which `GradientsTest` compares with central differences in f64 (1e-6). `flat`: its slope is
0 almost everywhere. `none`: no floats lead from its operands to its results. `refused`: training through it is an error; such ops are
made behind the backward pass.

| op | is | by operands | refused |
|---|---|---|---|
"""
ONNX = """
## ONNX ops

What training does with each op that is imported, since the first version of its domain that is. `works`: gradients by these operands
were compared with central differences in f64 (1e-6) on the recorded node cases, whose versions are named. `flat`: by these operands the
slope is 0 almost everywhere. An op with neither has no floats to lead through it; one without versions has no case.

| op | since | compared at | works by | flat by | refused |
|---|---|---|---|---|---|
"""


class Shown:
    """What the cases of one op have shown: operands by name, versions, messages."""

    def __init__(self):
        self.works, self.flat, self.refused, self.versions = {}, {}, set(), set()


def operand_name(node, version, argument):
    """-> (place, name) of the operand that `argument` is: from the schema, else its number."""
    place = list(node.input).index(argument)
    domain = "" if node.domain == "ai.onnx" else node.domain
    try:
        formal = onnx.defs.get_schema(node.op_type, version, domain).inputs
    except onnx.defs.SchemaError:
        return place, str(place)
    place = min(place, len(formal) - 1)
    return place, formal[place].name


def read_case(model, text, shown):
    """Adds what one case has shown to `shown`, by op. Returns what is wrong with its gradients, or None."""
    with LOCK:
        if len(model.graph.node) == 1:
            read_node(model, text, shown)
    for line in text.splitlines():
        if not line.startswith("refused: ") and not float(line.split(" ")[-1]) <= TOLERANCE:
            return f"gradient by {line} differs from central differences"
    return None


def read_node(model, text, shown):
    node = model.graph.node[0]
    version = max((o.version for o in model.opset_import if (o.domain or "ai.onnx") == (node.domain or "ai.onnx")), default=0)
    op = shown[node.domain or "ai.onnx", node.op_type]
    op.versions.add(version)
    for line in text.splitlines():
        if line.startswith("refused: "):
            op.refused.add(re.sub(r"'graph\.|' op", "", line[9:]))
            continue
        name, *flat, _ = line.split(" ")
        if name in node.input:
            place, formal = operand_name(node, version, name)
            (op.flat if flat else op.works)[place] = formal


def ranges(numbers):
    """[1, 2, 3, 5] -> '1-3, 5'"""
    text, numbers = [], sorted(numbers)
    while numbers:
        end = 0
        while end + 1 < len(numbers) and numbers[end + 1] == numbers[end] + 1:
            end += 1
        text.append(f"{numbers[0]}-{numbers[end]}" if end else str(numbers[0]))
        numbers = numbers[end + 1:]
    return ", ".join(text)


def dialect_rows(lister, files):
    out = subprocess.run([lister, *files], capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        name, state, operands, refused = line.split("\t")
        refused = "; ".join(t.strip().removeprefix(f"'{name}' op ") for t in refused.split(";"))
        yield f"| {name.removeprefix('graph.')} | {state} | {operands} | {refused} |"


def onnx_rows(tool, shown):
    since = collections.defaultdict(list)
    for line in subprocess.run([tool, "--ops"], capture_output=True, text=True, check=True).stdout.splitlines():
        domain, op, version = line.split(" ")
        since[domain, op].append(version)
    for key, versions in sorted(since.items()):
        op = shown[key]
        name = key[1] if key[0] == "ai.onnx" else f"{key[0]} {key[1]}"
        flat = [n for p, n in sorted(op.flat.items()) if p not in op.works]
        works = [n for p, n in sorted(op.works.items())]
        yield (f"| {name} | {versions[0]} | {ranges(op.versions)} | {', '.join(works)} | {', '.join(flat)} | "
               f"{'; '.join(sorted(op.refused))} |")


def page(tool, lister, root, shown):
    folder = os.path.join(root, "test", "dialects", "graph")
    files = sorted(os.path.join(folder, f) for f in os.listdir(folder) if f.endswith(".mlir") and not f.endswith("-invalid.mlir"))
    return HEAD + "\n".join(dialect_rows(lister, files)) + "\n" + ONNX + "\n".join(onnx_rows(tool, shown)) + "\n"


def compare(path, text, write):
    """Whether the page at `path` is `text`, which it is made with `write`."""
    if write:
        with open(path, "w") as file:
            file.write(text)
    with open(path) as file:
        known = file.read().splitlines()
    new = text.splitlines()
    if known == new:
        return True
    for line in sorted(set(new) ^ set(known)):
        print(("expected: " if line in new else "found: ") + line)
    print(f"{path} is out of date: call this with --write")
    return False
