"""Damages a text or a file in the ways that users and disks do: each function returns a changed copy, drawn by a random generator."""
import re

EXTREMES = ["0", "1", "-1", "2", "3", "7", "255", "65537", "2147483647", "2147483648", "-2147483648", "4294967296",
            "4611686018427387904", "9223372036854775807", "-9223372036854775808", "18446744073709551616", "1e300", "-0.0", "nan", "0x7FC00000"]
WORDS = ["", "mb", "pp", "tp", "dp", "pcc", "main", "..", "/", "/etc/passwd", "-0.0F0", "\\00", "\\1B[31m", "é", "a" * 4000, "0F0,1F0", "[tp,-]", "*"]
NUMBER = re.compile(r"(?<![\w.#%])-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w#])|(?<=[<x])\d+(?=x)")
NAME = re.compile(r'"[^"\n]*"')
TOKEN = re.compile(r'"[^"\n]*"|[#%@^!]?[\w.]+|->|[^\s\w]')
ATTRIBUTE = re.compile(r'(?:, )?[\w.]+ = (?:"[^"\n]*"|\[[^]\n]*\]|\{[^}\n]*\}|[-#@\w.<>]+(?: : \w+)?)')


def replace(text, match, by):
    return text[:match.start()] + by + text[match.end():]


def pick(random, pattern, text):
    """A match of the pattern near a random place, or None. Every part of the text is equally likely, not every match."""
    at = random.randrange(len(text) + 1)
    return pattern.search(text, at) or pattern.search(text)


def number(random, text):
    found = pick(random, NUMBER, text)
    if not found:
        return text
    value = random.choice(EXTREMES)
    if random.random() < 0.3 and re.fullmatch(r"-?\d+", found.group()):
        value = str(int(found.group()) + random.choice((-1, 1, 2, 8)))
    return replace(text, found, value)


def name(random, text):
    found = pick(random, NAME, text)
    if not found:
        return text
    others = NAME.findall(text)
    return replace(text, found, random.choice(others) if random.random() < 0.5 else f'"{random.choice(WORDS)}"')


def token(random, text):
    """A token becomes another token of the text."""
    found = pick(random, TOKEN, text)
    other = pick(random, TOKEN, text)
    return replace(text, found, other.group()) if found else text


def like_token(random, text):
    """A token becomes another one that begins alike, such as an SSA value, an alias, an op of a dialect or a type."""
    found = pick(random, TOKEN, text)
    if not found:
        return text
    key = found.group().split(".")[0] if "." in found.group() else found.group()[:1]
    others = [t for t in {t for t in TOKEN.findall(text) if t.startswith(key)} if t != found.group()]
    return replace(text, found, random.choice(sorted(others))) if others else text


def everywhere(random, text):
    """All occurrences of a number, name or token change alike, so that the text stays consistent."""
    pattern = random.choice((NUMBER, NAME, TOKEN))
    found, other = pick(random, pattern, text), pick(random, pattern, text)
    if not found or not found.group().strip("[](){}<>,=:;-\" "):
        return text
    by = random.choice(EXTREMES) if pattern is NUMBER and random.random() < 0.5 else other.group()
    return re.sub(rf"(?<![\w.]){re.escape(found.group())}(?![\w.])", lambda _: by, text)


def size_everywhere(random, text):
    """A dim changes in all types that have its size."""
    found = pick(random, re.compile(r"(?<=[<x])\d+(?=x)"), text)
    if not found:
        return text
    by = str(random.choice((0, 1, 2, 3, 5, int(found.group()) + 1, 2 * int(found.group()), 1 << 20, 1 << 40)))
    return re.sub(rf"(?<=[<x]){found.group()}(?=x)", by, text)


def attribute_away(random, text):
    found = pick(random, ATTRIBUTE, text)
    return replace(text, found, "") if found else text


def attribute_exchanged(random, text):
    """The value of an attribute becomes that of another attribute."""
    found, other = pick(random, ATTRIBUTE, text), pick(random, ATTRIBUTE, text)
    if not found:
        return text
    return replace(text, found, found.group().split(" = ")[0] + " = " + other.group().split(" = ", 1)[1])


def type_changed(random, text):
    found = pick(random, re.compile(r"\b(?:f32|f64|f16|bf16|i1|i8|i32|i64|ui8)\b"), text)
    return replace(text, found, random.choice(["f32", "f64", "f16", "bf16", "i1", "i8", "i32", "i64", "ui64", "index", "i128"])) if found else text


def lines(random, text):
    """A line is removed, repeated, moved, or exchanged with another one."""
    rows = text.split("\n")
    i, j = random.randrange(len(rows)), random.randrange(len(rows))
    near = max(0, min(len(rows) - 1, i + random.choice((-2, -1, 1, 2))))
    kind = random.randrange(4)
    if kind == 0:
        del rows[i]
    elif kind == 1:
        rows.insert(i, rows[i])
    elif kind == 2:
        rows.insert(j, rows.pop(i))
    else:
        rows[i], rows[near] = rows[near], rows[i]
    return "\n".join(rows)


def nested(random, text):
    """Brackets of great depth."""
    at = random.randrange(len(text) + 1)
    return text[:at] + random.choice("([{<\"") * random.choice((2, 100, 40000)) + text[at:]


def some_bytes(random, data):
    data = bytearray(data)
    for _ in range(random.choice((1, 1, 1, 4))):
        if data:
            data[random.randrange(len(data))] = random.choice((0, 27, 255, random.randrange(256)))
    return bytes(data)


def cut(random, data):
    return data[:random.randrange(len(data) + 1)]


TEXT = [number] * 8 + [name] * 3 + [token] * 3 + [like_token] * 5 + [attribute_away] * 4 + [attribute_exchanged] * 4 + \
       [type_changed] * 2 + [lines] * 6 + [nested] + [everywhere] * 4 + [size_everywhere] * 2
BYTES = [some_bytes] * 8 + [cut]


def mutate(random, data):
    """Returns a changed copy of `data`: one change mostly, at times two or three."""
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        if random.random() < 0.12:
            data = random.choice(BYTES)(random, data)
        else:
            data = random.choice(TEXT)(random, data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
    return data
