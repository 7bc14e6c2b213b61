"""Makes wrong programs from right ones: each is a small edit of the dump of 5-localize.

No mutant is equivalent to its program: idempotent reductions are not doubled, axes are only exchanged if the groups change, and
shards only if they differ."""
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
    """A collective in one line of a dump; `before`, `after` and `lies` are shardings as text."""
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
        """Reads a program. `only_sums`: every masked element matters, which is not so if a maximum is computed."""
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
        """Returns a mutant in which `text` (one or more lines) replaces a line."""
        changed = self.lines[:line] + [text] + self.lines[line + 1:]
        return Mutant(kind, f"{self.name}:{line + 1}: {self.lines[line].strip()[:140]}", "\n".join(changed))


def drop(program):
    """Drops a collective: its operand is used as the result. If the shapes differ, each rank keeps its own part."""
    for c in program.collectives:
        if c.kind == "mask" or (c.kind in COMMUNICATE and c.input == c.output):
            mutant = program.with_line("drop", c.line, "")
            mutant.text = re.sub(rf"{c.result}\b", c.operand, mutant.text)
            yield mutant
        elif c.kind in COMMUNICATE:
            yield program.with_line("drop", c.line, c.text(kind="slice"))


def double(program):
    """Repeats a sum."""
    for c in program.collectives:
        if c.kind in REDUCE and "partial sum(" in c.before:
            whole = c.before.split(" partial ")[0]
            first = c.text(result=f"%once_{c.result[1:]}", kind="all_reduce", after=whole, lies=c.before, output=c.input)
            yield program.with_line("double", c.line, first + "\n" + c.text(operand=f"%once_{c.result[1:]}"))


def wrong_group(program):
    """Changes the group of a collective to ranks that differ along another axis of the same size."""
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
    """Returns the axes along which a step communicates: those of only one side, per dim."""
    parts = lambda text: re.split(r"[,\[\]]", text)
    return [set(SUB_AXIS.findall(x)) ^ set(SUB_AXIS.findall(y)) for x, y in zip(parts(before), parts(after))]


def wrong_kind(program):
    """Replaces a sum by a maximum, or a maximum by a sum."""
    for c in program.collectives:
        for kind, other in (("sum", "max"), ("max", "sum"), ("min", "max")):
            if c.kind in REDUCE and f"partial {kind}(" in c.before:
                yield program.with_line("wrong reduction", c.line, c.text(before=c.before.replace(f"{kind}(", f"{other}(")))


MEAN = re.compile(r"graph\.reduce mean %\w+ over \[([\d, ]+)\].* divisor (\d+).* : tensor<((?:\d+x)+)")
DIVISOR = re.compile(r" divisor \d+")
MASK = re.compile(r"graph\.compare lt %\w+, (%\w+) ")


def wrong_divisor(program):
    """Makes a mean divide by another count or by that of one rank, or makes a mask drop the last element of a sum."""
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
    """Swaps the second and the third of four shards of a dim. A single element has neither."""
    halves = re.sub(r"\b(?!1@)(\d+)@(\w+):4\b", r"\1@\2:(2)2+\2:(1)2", text)
    return halves if halves != text else re.sub(r"\b(?!1@)(\d+)@(\w+):2\+(\w+):2(?=[,|\]])", r"\1@\3:2+\2:2", text)


def swap(program):
    """Gives a rank the shard of another one: of a weight, or of a communicated value."""
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
