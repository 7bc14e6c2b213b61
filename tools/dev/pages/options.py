"""docs/options.md: the options of all commands, from the output of the tools for --help."""
import re
import typing

from pages import markdown

COLUMN = 30  # column at which descriptions begin in the help of pcc
COMMANDS = ["compile", "run", "verify", "inspect", "explain", "report", "checkpoint export"]


class Entry(typing.NamedTuple):
    words: str      # -o,--output
    value: str      # TEXT
    meaning: str


class Help(typing.NamedTuple):
    about: str
    examples: list
    usage: str
    sections: dict  # title -> entries


def parse(text):
    """Returns the parts of a command's help."""
    head, _, rest = text.partition("Usage: ")
    usage, _, rest = rest.partition("\n")
    examples = re.findall(r"^(?:  |example: )(pcc .*)$", head + "\n".join(re.findall(r"^examples:\n(?:  .*\n?)*", rest, re.M)), re.M)
    about = " ".join(re.split(r"^examples?:", head, flags=re.M)[0].split())
    sections, lines = {}, None
    for line in rest.splitlines():
        if re.match(r"[A-Z][\w ]*:$", line):
            lines = sections.setdefault(line[:-1], [])
        elif line.startswith("  ") and lines is not None:
            lines.append(line)
        elif line.strip():
            lines = None
    return Help(about, examples, usage, {title: entries_of(lines) for title, lines in sections.items()})


def entries_of(lines):
    """Yields the options of a section. An option that is too long for its column has its description on the next line."""
    entries = []
    for line, following in zip(lines, [*lines[1:], ""]):
        is_continued = following.strip() != "" and following[:COLUMN].strip() == ""
        if line[:COLUMN].strip() == "":
            entries[-1][1].append(line.strip())
        elif len(line) > COLUMN and line[COLUMN - 1] == " " and (line[COLUMN - 2] == " " or not is_continued):
            entries.append([line[:COLUMN].strip(), [line[COLUMN:].strip()]])
        else:
            entries.append([line.strip(), []])
    return [entry(head, " ".join(text)) for head, text in entries]


def entry(head, meaning):
    words, _, value = head.partition(" ")
    value, _, excluded = value.partition("Excludes:")
    required = "REQUIRED" in value
    value = value.replace("REQUIRED", "").strip()
    if excluded.strip():
        meaning += f"; not with {' or '.join(excluded.split())}"
    return Entry(words, value, meaning + ("; required" if required and words.startswith("-") else ""))


# CLI11's names of the types of values, and our words for them.
VALUES = [(r"TEXT:\{(.*)\}", None), (r"FLOAT:FLOAT in \[0 - 1\] x 2", "two numbers from 0 to 1, separated by a comma"),
          (r"(?:INT|K):INT in \[(\d+) - \d+\]", "whole number of at least {}"), (r"INT:POSITIVE", "whole number of at least 1"),
          (r"UINT|INT:NONNEGATIVE", "whole number of at least 0"), (r"INT", "whole number"), (r"FLOAT:POSITIVE", "number above 0"),
          (r"FLOAT:NONNEGATIVE", "number of at least 0"), (r"FLOAT", "number"), (r"TEXT", "text")]


def value_in_words(value):
    several = value.endswith("...")
    value = value.removesuffix("...").strip()
    value, _, default = value.partition("=") if re.search(r":.*=", value) else (value, "", "")
    for pattern, words in VALUES:
        if found := re.fullmatch(pattern, value):
            value = words.format(*found.groups()) if words else ", ".join(f"`{v}`" for v in found[1].split(","))
            break
    return value + (", separated by commas" if several else "") + (f" (default {default})" if default else "")


def table(entries):
    rows = [(", ".join(f"`{w}`" for w in e.words.split(",")), value_in_words(e.value), e.meaning) for e in entries]
    return markdown.table(["option", "value", "meaning"], rows)


def section(command, parsed, known):
    """Writes the options of one command. A group that an earlier command has as well is only named."""
    yield f"## pcc {command}"
    yield markdown.sentence(parsed.about)
    yield markdown.fenced("\n".join([parsed.usage, *parsed.examples]))
    same = {}
    for title, entries in parsed.sections.items():
        other = known.setdefault((title, tuple(entries)), command)
        if title == "Not in this build":
            yield f"{title}: {', '.join(f'`{e.words}`' for e in entries)}."
        elif other == command or title == "Positionals":
            yield f"**{'Arguments' if title == 'Positionals' else title}**"
            yield table(entries)
        else:
            same.setdefault(other, []).append(title)
    for other, titles in same.items():
        yield f"{in_a_list(titles)}: as of {markdown.link('pcc ' + other, '#' + markdown.anchor('pcc ' + other))}."


def in_a_list(words):
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]


INTRODUCTION = """What `pcc COMMAND --help` says. `pcc MODEL …` is `pcc compile MODEL …`. `--` ends options. Results go to stdout; progress,
notes and errors go to stderr."""


def render(tools):
    known, parts = {}, []
    for command in COMMANDS:
        parts += section(command, parse(tools.call("pcc", *command.split(), "--help")), known)
    contents = "\n".join(f"- {markdown.link('pcc ' + c, '#' + markdown.anchor('pcc ' + c))}" for c in COMMANDS)
    return markdown.page(markdown.notice("pcc --help"), "# Options", INTRODUCTION, contents, *parts)
