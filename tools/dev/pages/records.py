"""Definitions in .td files: dialects, ops, attributes, enums and passes, read from the records of llvm-tblgen."""
import json
import re
import textwrap
import typing

from pages import built


class Field(typing.NamedTuple):
    """An operand, attribute, region or result of an op, or an option or statistic of a pass."""
    role: str
    name: str
    meaning: str


class Op(typing.NamedTuple):
    name: str        # graph.add
    cpp: str         # AddOp
    summary: str
    description: str
    syntax: str
    fields: tuple
    base: str        # the class that it derives from
    file: str        # the .td file, without its folder


class Attribute(typing.NamedTuple):
    name: str        # #graph.weight
    summary: str
    description: str
    fields: tuple
    syntax: str


class Enum(typing.NamedTuple):
    name: str
    summary: str
    cases: tuple


class Dialect(typing.NamedTuple):
    name: str
    summary: str
    description: str
    discardable: tuple  # attributes that other ops may carry
    attributes: list
    enums: list
    ops: list


class Pass(typing.NamedTuple):
    flag: str
    cpp: str
    anchor_op: str
    summary: str
    description: str
    options: tuple
    statistics: tuple


class Records:
    """The records of one .td file and of the files that it includes."""

    def __init__(self, file):
        command = [built.TABLEGEN, *(f"-I{folder}" for folder in built.INCLUDES), "--dump-json", file]
        self.all = json.loads(built.output(command))

    def of(self, base):
        """Returns the records that derive from `base`, in the order of their files."""
        found = [self.all[name] for name in self.all["!instanceof"].get(base, [])]
        return sorted(found, key=lambda r: (file_of(r), int(r["!locs"][0].split(":")[1])))

    def resolve(self, value):
        """Returns the record that a field names."""
        return self.all[value["def"]] if isinstance(value, dict) and value.get("kind") == "def" else None


def file_of(record):
    return record["!locs"][0].split(":")[0]


def prose(text):
    """Returns a description without the indentation of its file."""
    return textwrap.dedent((text or "").lstrip("\n")).strip()


def constraint_meaning(records, record):
    """Returns the description of a type or attribute constraint."""
    if "AttrDef" in record["!superclasses"]:
        return f"`#{records.resolve(record['dialect'])['name']}.{record['mnemonic']}`"
    if "enumerants" in record:
        return f"{record.get('summary', '')}: {', '.join(enum_cases(records, record))}"
    base = records.resolve(record.get("baseAttr"))
    if base and base is not record:
        meaning = constraint_meaning(records, base)
        if record.get("defaultValue"):
            return f"{meaning}, default {record['defaultValue']}"
        return f"{meaning}, optional" if record.get("isOptional") else meaning
    base = records.resolve(record.get("baseType"))
    supers = record["!superclasses"]
    for kind in ("Variadic", "Optional"):
        if kind in supers and base:
            return f"{constraint_meaning(records, base)}, {'any number' if kind == 'Variadic' else 'optional'}"
    return SHORTER.get(record.get("summary", ""), record.get("summary", ""))


# Shorter forms of MLIR's words for constraints.
SHORTER = {
    "statically shaped tensor of any type values": "tensor of static shape", "64-bit signless integer attribute": "integer",
    "i64 dense array attribute": "integers", "f64 dense array attribute": "floats", "string attribute": "text", "bool attribute": "boolean",
    "unit attribute": "flag", "64-bit float attribute": "float", "flat symbol reference attribute": "symbol", "string array attribute": "texts",
    "any attribute": "attribute", "constant vector/tensor attribute": "elements", "array attribute": "list",
    "Array of dictionary attributes": "dictionaries", "type attribute of function type": "function type",
    "type attribute of statically shaped tensor of any type values": "tensor type",
}


def enum_cases(records, record):
    return [f"`{records.resolve(case)['str']}`" for case in record["enumerants"]]


def is_attribute(records, record):
    return "Attr" in record["!superclasses"] or "AttrConstraint" in record["!superclasses"]


def fields_of(records, op):
    """Returns the operands, attributes, regions and results of an op."""
    fields = []
    for value, name in op["arguments"]["args"]:
        record = records.resolve(value)
        role = "attribute" if is_attribute(records, record) else "operand"
        fields.append(Field(role, name, constraint_meaning(records, record)))
    fields += [Field("region", name, "") for _, name in op["regions"]["args"]]
    fields += [Field("result", name, constraint_meaning(records, records.resolve(value))) for value, name in op["results"]["args"]]
    return tuple(sorted(fields, key=lambda f: ("operand", "attribute", "region", "result").index(f.role)))


def read_op(records, record, dialect):
    name = f"{dialect}.{record['opName']}"
    form = " ".join((record["assemblyFormat"] or "").split())
    base = record["!superclasses"][-1]
    cpp = record["!name"].partition("_")[2]
    return Op(name, cpp, record["summary"], prose(record["description"]), f"`{name}` {form}".strip() if form else "",
              fields_of(records, record), base, file_of(record))


# C++ types of parameters of attributes, in words.
WORDS = {"int64_t": "integer", "ArrayRef<int64_t>": "integers", "StringAttr": "text", "Type": "type", "RankedTensorType": "tensor type",
         "ArrayRef<Attribute>": "attributes", "Attribute": "attribute"}


def parameter_meaning(records, value):
    record = {"cppType": value} if isinstance(value, str) else records.resolve(value)
    cpp = re.sub(r"::(mlir|pcc|llvm)::", "", record["cppType"])
    optional = ", optional" if "OptionalArrayRefParameter" in record.get("!superclasses", []) else ""
    return (record.get("summary") or WORDS.get(cpp, cpp)) + optional


def read_attribute(records, record, dialect):
    fields = []
    for value, name in record["parameters"]["args"]:
        fields.append(Field("parameter", name or "", parameter_meaning(records, value)))
    form = " ".join((record["assemblyFormat"] or "").split())
    name = f"#{dialect}.{record['mnemonic']}"
    return Attribute(name, record["summary"], prose(record["description"]), tuple(fields), f"`{name}` {form}" if form else "")


def read_enum(records, record):
    return Enum(record["!name"].partition("_")[2], record["summary"], tuple(enum_cases(records, record)))


def discardable(record):
    attributes = record.get("discardableAttrs") or {"args": []}
    return tuple(Field("attribute", name, (value if isinstance(value, str) else value.get("printable", "")).replace("::mlir::", ""))
                 for value, name in attributes["args"])


def read_dialect(file, name):
    """Returns the dialect `name` as `file` and the files that it includes define it."""
    records = Records(file)
    record = next(r for r in records.of("Dialect") if r["name"] == name)
    def mine(base, field):
        return [r for r in records.of(base) if (records.resolve(r.get(field)) or {}).get("name") == name]
    prefix = record["!name"].removesuffix("Dialect")
    return Dialect(name, record["summary"], prose(record["description"]), discardable(record),
                   [read_attribute(records, r, name) for r in mine("AttrDef", "dialect") if "enumerants" not in r],
                   [read_enum(records, r) for r in records.of("EnumInfo") if r["!name"].startswith(prefix)],
                   [read_op(records, r, name) for r in mine("Op", "opDialect")])


def read_passes(file):
    """Returns the passes that `file` defines, by the name of their class."""
    records = Records(file)
    def fields(record, key):
        found = [records.resolve(value) for value in record[key]]
        return tuple(Field(key, r.get("argument") or r["name"], r["description"]) for r in found)
    passes = {}
    for r in records.of("PassBase"):
        anchor_op = re.search(r"(\w+)>$", r["baseClass"])
        passes[r["!name"]] = Pass(r["argument"], r["!name"], anchor_op[1] if anchor_op else "", r["summary"], prose(r["description"]),
                                  fields(r, "options"), fields(r, "statistics"))
    return passes
