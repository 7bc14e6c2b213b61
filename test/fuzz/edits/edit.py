"""Edits one token of a dump, as its reader would: of how the model is divided, or of what it computes. Each function takes a random
generator and the lines of a dump, and returns the number of a line and its new text, or None if it finds nothing to edit."""
import re

ALIAS = re.compile(r"#(?!loc)[A-Za-z_]\w*")
SHARDING = re.compile(r'#dist\.sharding<"([^"]*)"')
MESH = re.compile(r"#dist\.mesh<([^>]*)>")
TYPE = re.compile(r"tensor<((?:\d+x)+)\w+>")
NAMED = re.compile(r"\b[a-z]+\.[a-z_]+ = (?:\"[^\"]*\"|\[[^]]*\]|#?[-\w]+(?: : \w+)?)")
RESULT = re.compile(r"\s*(%\w+) = (graph\.\w+) (.*?)(?: loc\(.*)?$")
#      ops that differ in nothing but what they compute of an element
ALIKE = [{"add", "sub", "mul", "div", "max", "min"}, {"exp", "tanh", "sqrt", "neg", "abs", "sigmoid", "erf", "sin", "cos", "rsqrt", "log"},
         {"softmax", "log_softmax"}]


def body(lines):
    """Returns the numbers of the lines of the program itself, without definitions of aliases and locations."""
    return [i for i, line in enumerate(lines) if line.startswith(("module", " "))]


def draw(random, lines, pattern, where=None):
    """Draws a match among the lines `where`; every line that matches is equally likely. Returns the line's number and the match."""
    found = [i for i in (where if where is not None else range(len(lines))) if pattern.search(lines[i])]
    if not found:
        return None
    i = random.choice(found)
    return i, random.choice(list(pattern.finditer(lines[i])))


def put(lines, i, match, text, group=0):
    return i, lines[i][:match.start(group)] + text + lines[i][match.end(group):]


def other(random, value, choices):
    choices = sorted({c for c in choices if c != value})
    return random.choice(choices) if choices else None


def axes(lines):
    mesh = next((m.group(1) for line in lines if (m := MESH.search(line))), "")
    return re.findall(r"(\w+) =", mesh)


def sharding(random, lines):
    """A token of a sharding, or the alias of one, becomes another."""
    if random.random() < 0.5 and (at := draw(random, lines, ALIAS, body(lines))):
        aliases = [m.group(1) for line in lines if (m := re.match(r"(#\w+) = #dist\.sharding", line))]
        by = other(random, at[1].group(), aliases)
        return by and put(lines, *at, by)
    at = draw(random, lines, SHARDING)
    if not at:
        return None
    token = random.choice(list(re.finditer(r"\w+|[-?|+@]", at[1].group(1))) or [None])
    if not token:
        return None
    names = [*axes(lines), "tq", "-", "?", "2", "3", "7", "0", "sum", "max", "partial"]
    text = at[1].group(1)
    by = other(random, token.group(), names)
    return put(lines, *at, text[:token.start()] + by + text[token.end():], 1)


def axis(random, lines):
    """A name or a size of the mesh becomes another."""
    at = draw(random, lines, re.compile(r"(?<=[<,] )?\b(\w+)(?= = \d)|(?<= = )\d+"), [i for i, line in enumerate(lines) if MESH.search(line)])
    if not at:
        return None
    by = random.choice("1 2 3 4 8 0".split()) if at[1].group().isdigit() else random.choice([*axes(lines), "tq", "pp", "mb"])
    return put(lines, *at, by) if by != at[1].group() else None


def stage(random, lines):
    """The number of a stage becomes another."""
    at = draw(random, lines, re.compile(r"(?<=pipe\.stage = )\d+|(?<=from )\d+(?= to \d)|(?<= to )\d+(?= \{)|(?<=stages \[)\d+|(?<=pipe\.stages = )\d+|"
                                        r"(?<=virtual_stages = )\d+|(?<=microbatches = )\d+"), body(lines))
    by = at and other(random, at[1].group(), "0 1 2 3 4".split())
    return by and put(lines, *at, by)


def action(random, lines):
    """An action becomes another, or is removed or repeated."""
    at = draw(random, lines, re.compile(r'"\d+[A-Z_]+\d*"(?:, )?'), [i for i, line in enumerate(lines) if "pipe.actions" in line])
    if not at:
        return None
    every = [m for i, line in enumerate(lines) if "pipe.actions" in line for m in re.findall(r'"\d+[A-Z_]+\d*"', line)]
    tail = ", " if at[1].group().endswith(", ") else ""
    by = random.choice([random.choice(every) + tail, "", 2 * at[1].group() if tail else at[1].group() + ", " + at[1].group(), '"9F9"' + tail])
    return put(lines, *at, by) if by != at[1].group() else None


def pin(random, lines):
    """A weight is pinned."""
    weights = [(m.group(1), m.group(2).count("x")) for line in lines if (m := re.match(r"\s+graph\.parameter @(\S+) : tensor<((?:\d+x)+)", line))]
    head = next((i for i, line in enumerate(lines) if line.startswith("module attributes {")), None)
    if not weights or head is None or "dist.seeds" in lines[head]:
        return None
    name, rank = random.choice(weights)
    dims = [random.choice(["-", "?", *axes(lines), "2|tp", "tq"]) for _ in range(rank if random.random() < 0.9 else 3)]
    start = len("module attributes {")
    return head, lines[head][:start] + f'dist.seeds = ["{name}=[{",".join(dims)}]"], ' + lines[head][start:]


def shape(random, lines):
    """A size in a type, or of a shape, becomes another."""
    at = draw(random, lines, re.compile(r"(?<=[<x])\d+(?=x)|(?<=shape \[)\d+|(?<= of )\d+(?=[ x])"), body(lines))
    by = at and other(random, at[1].group(), ["0", "1", "2", "3", str(2 * int(at[1].group())), str(int(at[1].group()) + 1)])
    return by and put(lines, *at, by)


def name(random, lines):
    """A name becomes another."""
    at = draw(random, lines, re.compile(r'(?<=graph\.name = ")[^"]+|(?<=@)[\w.]+|(?<=value ")[^"]+'), body(lines))
    names = {m for i in body(lines) for m in re.findall(r'graph\.name = "([^"]+)"|@([\w.]+)', lines[i]) for m in m if m}
    by = at and (other(random, at[1].group(), names) if random.random() < 0.5 else "other")
    return by and put(lines, *at, by)


def attribute(random, lines):
    """An attribute of the bookkeeping is removed or misspelt, or gets the value of another."""
    at = draw(random, lines, NAMED, body(lines))
    if not at or at[1].group().startswith("graph.slope"):
        return None
    text = at[1].group()
    key, value = text.split(" = ", 1)
    if random.random() < 0.3:
        gone = re.compile(re.escape(text) + r"(?:, )?").search(lines[at[0]], at[1].start())
        return put(lines, at[0], gone, "")
    if random.random() < 0.3:
        return put(lines, *at, text.replace(key, key[:-1]))
    second = draw(random, lines, NAMED, body(lines))
    by = f"{key} = " + second[1].group().split(" = ", 1)[1]
    return put(lines, *at, by) if by != text else None


def op(random, lines):
    """An op becomes one that computes something else."""
    at = draw(random, lines, re.compile(r"(?<= = graph\.)(?:" + "|".join(sorted(set().union(*ALIKE))) + r")(?= )"), body(lines))
    by = at and other(random, at[1].group(), next(group for group in ALIKE if at[1].group() in group))
    return by and put(lines, *at, by)


def operand(random, lines):
    """An operand becomes another value."""
    at = draw(random, lines, re.compile(r"(?<= )%\w+(?=[, ])(?! =)"), [i for i in body(lines) if " = graph." in lines[i]])
    if not at or lines[at[0]][:at[1].end()].strip() == at[1].group():
        return None
    values = [m.group(1) for line in lines[:at[0]] if (m := RESULT.match(line))][-12:]
    by = other(random, at[1].group(), values)
    return by and put(lines, *at, by)


def constant(random, lines):
    """A number of an op becomes another."""
    at = draw(random, lines, re.compile(r"(?<=dense<)-?[\d.]+(?:E[+-]?\d+)?(?=>)|(?<=epsilon )[\d.E+-]+|(?<=slope = )[\d.E+-]+|(?<=divisor )\d+|"
                                        r"(?<=scale )[\d.E+-]+"), [i for i in body(lines) if " = graph." in lines[i]])
    if not at:
        return None
    whole = re.fullmatch(r"-?\d+", at[1].group())
    return put(lines, *at, str(int(at[1].group()) + 1) if whole else "3.250000e+00")


PLANS = (sharding, axis, stage, action, pin, shape, name, attribute)
COMPUTES = (op, operand, constant)


def edit(random, text, kinds):
    """Draws a kind of edit that the text allows. Returns the kind, the number of the line from 0, and the edited text."""
    lines = text.split("\n")
    while True:
        kind = random.choice(kinds)
        if (edited := kind(random, lines)) and edited[1] != lines[edited[0]]:
            return kind.__name__, edited[0], "\n".join([*lines[:edited[0]], edited[1], *lines[edited[0] + 1:]])
