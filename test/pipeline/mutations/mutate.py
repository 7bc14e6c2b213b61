"""Wrong programs made from right ones: each a small edit of the dump of 5-localize.

No mutant means the same as its program by construction: reductions that do not change by being repeated are not doubled,
axes are exchanged only where the ranks that meet become others, and shards only where they differ."""
import dataclasses
import re

COLLECTIVE = re.compile(r"(?P<indent>\s*)(?P<result>%\w+) = dist\.collective (?P<kind>\w+) (?P<operand>%\w+) from (?P<before>\S+) "
                        r"to (?P<after>\S+) shape (?P<rest>.*\{dist\.shardings = \[)(?P<lies>#\w+)(?P<tail>\].* : )"
                        r"(?P<input>tensor<\S+>) to (?P<output>tensor<\S+>)(?P<location>.*)")
ALIAS = re.compile(r"#(\w+) = #dist\.sharding<\"(.*)\">")
SUB_AXIS = re.compile(r"\w+:(?:\(\d+\))?\d+")
MESH = re.compile(r"#dist\.mesh<(.*)>")
COMMUNICATE = {"all_gather", "all_to_all", "permute", "exchange", "all_reduce", "reduce_scatter"}
REDUCE = {"all_reduce", "reduce_scatter"}


@dataclasses.dataclass
class Mutant:
    kind: str
    what: str
    text: str


@dataclasses.dataclass
class Collective:
    """One line of a dump; `before`, `after` and `lies` are shardings as text."""
    line: int
    fields: dict

    def __getattr__(self, name):
        return self.fields[name]

    def text(self, **changes):
        f = {**self.fields, **changes}
        attribute = lambda text: f'#dist.sharding<"{text}">'
        return (f"{f['indent']}{f['result']} = dist.collective {f['kind']} {f['operand']} from {attribute(f['before'])} to "
                f"{attribute(f['after'])} shape {f['rest']}{attribute(f['lies'])}{f['tail']}{f['input']} to "
                f"{f['output']}{f['location']}")


class Program:
    """A dump of 5-localize."""

    def __init__(self, name, text, only_sums=False):
        """`only_sums`: every masked element counts, as it does not where the greatest is looked for."""
        self.name, self.lines, self.only_sums = name, text.splitlines(), only_sums
        self.aliases = dict(m.groups() for line in self.lines if (m := ALIAS.match(line)))
        mesh = next(MESH.search(line).group(1) for line in self.lines if MESH.search(line))
        self.mesh = {k: int(n) for k, n in (axis.split(" = ") for axis in mesh.split(", "))}
        self.collectives = [self.collective(i, m) for i, line in enumerate(self.lines) if (m := COLLECTIVE.fullmatch(line))]
        expected = sum("dist.collective" in line for line in self.lines)
        assert len(self.collectives) == expected, f"{name}: {expected} collectives, {len(self.collectives)} understood"

    def collective(self, line, match):
        fields = match.groupdict()
        for key in ("before", "after", "lies"):
            fields[key] = self.aliases[fields[key].lstrip("#")]
        return Collective(line, fields)

    def with_line(self, kind, line, text):
        """A mutant in which `text` (one or more lines) stands in place of a line."""
        changed = self.lines[:line] + [text] + self.lines[line + 1:]
        return Mutant(kind, f"{self.name}:{line + 1}: {self.lines[line].strip()[:140]}", "\n".join(changed))


def drop(program):
    """What a rank holds is taken for what it should get; where shapes differ, it keeps its own part."""
    for c in program.collectives:
        if c.kind == "mask" or (c.kind in COMMUNICATE and c.input == c.output):
            mutant = program.with_line("drop", c.line, "")
            mutant.text = re.sub(rf"{c.result}\b", c.operand, mutant.text)
            yield mutant
        elif c.kind in COMMUNICATE:
            yield program.with_line("drop", c.line, c.text(kind="slice"))


def double(program):
    """A sum that is summed again."""
    for c in program.collectives:
        if c.kind in REDUCE and "partial sum(" in c.before:
            whole = c.before.split(" partial ")[0]
            first = c.text(result=f"%once_{c.result[1:]}", kind="all_reduce", after=whole, lies=c.before, output=c.input)
            yield program.with_line("double", c.line, first + "\n" + c.text(operand=f"%once_{c.result[1:]}"))


def wrong_group(program):
    """Ranks that differ along another axis of the same size meet."""
    for c in program.collectives:
        for a, b in pairs_of_axes(program.mesh):
            before, after = (exchanged(t, a, b) for t in (c.before, c.after))
            if c.kind in COMMUNICATE and members(before, after) != members(c.before, c.after):
                yield program.with_line("wrong group", c.line, c.text(before=before, after=after))


def pairs_of_axes(mesh):
    return [(a, b) for a in mesh for b in mesh if a < b and mesh[a] == mesh[b]]


def exchanged(text, a, b):
    return re.sub(rf"\b({a}|{b}):", lambda m: (b if m.group(1) == a else a) + ":", text)


def members(before, after):
    """The axes along which a step communicates: those of just one side, per place."""
    parts = lambda text: re.split(r"[,\[\]]", text)
    return [set(SUB_AXIS.findall(x)) ^ set(SUB_AXIS.findall(y)) for x, y in zip(parts(before), parts(after))]


def wrong_kind(program):
    """The greatest in place of the sum, and the other way round."""
    for c in program.collectives:
        for kind, other in (("sum", "max"), ("max", "sum"), ("min", "max")):
            if c.kind in REDUCE and f"partial {kind}(" in c.before:
                yield program.with_line("wrong reduction", c.line, c.text(before=c.before.replace(f"{kind}(", f"{other}(")))


MEAN = re.compile(r"graph\.reduce mean %\w+ over \[([\d, ]+)\].* divisor (\d+).* : tensor<((?:\d+x)+)")
DIVISOR = re.compile(r" divisor \d+")
MASK = re.compile(r"graph\.compare lt %\w+, (%\w+) ")


def wrong_divisor(program):
    """A mean divides by another count, or by that of one rank; a mask leaves out the last element of a sum."""
    for i, line in enumerate(program.lines):
        if m := MEAN.search(line):
            count, local = int(m.group(2)), 1
            for dim in m.group(1).split(", "):
                local *= int(m.group(3).split("x")[int(dim)])
            for other in {count + 1, max(1, count - 2), local} - {count}:
                yield program.with_line("wrong divisor", i, DIVISOR.sub(f" divisor {other}", line))
        if (m := MASK.search(line)) and program.only_sums:
            yield from early_mask(program, m.group(1))


def early_mask(program, constant):
    for i, line in enumerate(program.lines):
        if (m := re.match(rf"\s*{constant} = graph\.constant .*dense<(\d+)>", line)) and int(m.group(1)) > 1:
            yield program.with_line("wrong divisor", i, line.replace(f"dense<{m.group(1)}>", f"dense<{int(m.group(1)) - 1}>"))


PARAMETER = re.compile(r"(\s*%\w+ = graph\.get_parameter .*dist\.shardings = \[)(#\w+)(\].*)")


def swapped(text):
    """Two of four shards of a dim change places: the second and the third. Of a single element both are empty."""
    halves = re.sub(r"\b(?!1@)(\d+)@(\w+):4\b", r"\1@\2:(2)2+\2:(1)2", text)
    return halves if halves != text else re.sub(r"\b(?!1@)(\d+)@(\w+):2\+(\w+):2(?=[,|\]])", r"\1@\3:2+\2:2", text)


def swap(program):
    """A rank gets the shard of another one: of a weight, or of what moves."""
    for i, line in enumerate(program.lines):
        if m := PARAMETER.fullmatch(line):
            text = program.aliases[m.group(2).lstrip("#")]
            if swapped(text) != text:
                yield program.with_line("swap", i, f'{m.group(1)}#dist.sharding<"{swapped(text)}">{m.group(3)}')
    for c in program.collectives:
        if swapped(c.after) != c.after and c.kind != "mask":
            yield program.with_line("swap", c.line, c.text(after=swapped(c.after)))
        elif swapped(c.before) != c.before and c.kind == "all_gather":
            yield program.with_line("swap", c.line, c.text(before=swapped(c.before)))


KINDS = [drop, double, wrong_group, wrong_kind, wrong_divisor, swap]
