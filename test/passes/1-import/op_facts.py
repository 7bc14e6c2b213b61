"""Facts that the node cases show about each ONNX op: op_facts.json, from which docs/onnx-ops.md is rendered."""
import collections, json, re, threading

import onnx

TOLERANCE = 1e-6
LOCK = threading.Lock()
TYPES = {"FLOAT": "f32", "DOUBLE": "f64", "FLOAT16": "f16", "BFLOAT16": "bf16", "BOOL": "bool", "INT8": "i8", "INT16": "i16", "INT32": "i32",
         "INT64": "i64", "UINT8": "u8", "UINT16": "u16", "UINT32": "u32", "UINT64": "u64"}


class Facts:
    """Facts that the cases of one op have shown: versions of its domain, element types of its first operand (or of its result,
    if it has no operand), graph ops that it becomes, result dims that an axis split and dims that were tried, operands for
    which it has a gradient or a zero gradient (place -> name), and messages about missing gradients."""

    def __init__(self):
        self.versions, self.types, self.becomes, self.refused = set(), set(), set(), set()
        self.works, self.flat = {}, {}
        self.split, self.tried = 0, 0

    def record(self):
        return {"versions": sorted(self.versions), "types": sorted(self.types), "becomes": sorted(self.becomes),
                "dims": [self.split, self.tried], "works": [n for _, n in sorted(self.works.items())],
                "flat": [n for p, n in sorted(self.flat.items()) if p not in self.works], "refused": sorted(self.refused)}


def operand_name(node, version, argument):
    """Returns (place, name) of the operand that `argument` is: the name of the schema, else its number."""
    place = list(node.input).index(argument)
    domain = "" if node.domain == "ai.onnx" else node.domain
    try:
        formal = onnx.defs.get_schema(node.op_type, version, domain).inputs
    except onnx.defs.SchemaError:
        return place, str(place)
    place = min(place, len(formal) - 1)
    return place, formal[place].name


def first_type(model):
    """Returns the element type of the only node's first operand, or of its result."""
    node = model.graph.node[0]
    known = {v.name: v.type.tensor_type.elem_type for v in [*model.graph.input, *model.graph.output]}
    known.update((t.name, t.data_type) for t in model.graph.initializer)
    number = next((known[n] for n in [*node.input[:1], *node.output] if known.get(n)), 0)
    return TYPES.get(onnx.TensorProto.DataType.Name(number))


def facts_of(model, shown):
    """Returns (facts of the op that is the model's only node, its version), or None for a model of several nodes."""
    if len(model.graph.node) != 1:
        return None
    domain = model.graph.node[0].domain or "ai.onnx"
    version = max((o.version for o in model.opset_import if (o.domain or "ai.onnx") == domain), default=0)
    return shown[f"{domain} {model.graph.node[0].op_type}"], version


def add_case(model, module, splits, shown):
    """Adds the facts of one passed case: its `module` as text, and whether an axis split each result dim that was tried."""
    with LOCK:
        if not (found := facts_of(model, shown)):
            return
        op, version = found
        op.versions.add(version)
        op.types.update(filter(None, [first_type(model)]))
        op.becomes.update(set(re.findall(r"= graph\.(\w+)", module)) - {"constant"})
        op.split += sum(splits)
        op.tried += len(splits)


def add_gradients(model, text, shown):
    """Adds the facts of one case about gradients. Returns the error in the gradients, or None."""
    with LOCK:
        if found := facts_of(model, shown):
            read_gradients(model.graph.node[0], *found, text)
    for line in text.splitlines():
        if not line.startswith("refused: ") and not float(line.split(" ")[-1]) <= TOLERANCE:
            return f"gradient by {line} differs from central differences"
    return None


def read_gradients(node, op, version, text):
    for line in text.splitlines():
        if line.startswith("refused: "):
            op.refused.add(re.sub(r"'graph\.|' op", "", line[9:]))
            continue
        name, *flat, _ = line.split(" ")
        if name in node.input:
            place, formal = operand_name(node, version, name)
            (op.flat if flat else op.works)[place] = formal


def collect():
    return collections.defaultdict(Facts)


def as_text(shown):
    """Returns a line per op, so that differences are easy to read."""
    rows = [f"  {json.dumps(name)}: {json.dumps(facts.record())}" for name, facts in sorted(shown.items())]
    return "{\n" + ",\n".join(rows) + "\n}\n"


def missing(known, shown):
    """Returns the facts that some of the cases have shown and the recorded facts lack, a line per op."""
    for name, facts in sorted(shown.items()):
        record = known.get(name, {})
        for key, values in facts.record().items():
            if key == "flat":  # another case may show that a gradient flows
                values = [v for v in values if v not in record.get("works", [])]
            if key != "dims" and not set(values) <= set(record.get(key, [])):
                yield f"{name}: {key} {values}, recorded are {record.get(key)}"


def compare(path, shown, is_whole, write):
    """Checks that the facts at `path` are those of all cases, or contain those of some. With `write`, writes them."""
    text = as_text(shown)
    if write and is_whole:
        with open(path, "w") as file:
            file.write(text)
    with open(path) as file:
        recorded = file.read()
    if is_whole:
        wrong = [] if text == recorded else sorted(set(text.splitlines()) ^ set(recorded.splitlines()))
    else:
        wrong = list(missing(json.loads(recorded), shown))
    for line in wrong:
        print(f"differs: {line}")
    if wrong:
        print(f"{path} is out of date: call this for all cases with --write")
    return not wrong
