"""docs/options.md: the options of all commands, from the output of the tools for --help."""
import re
import typing

from pages import markdown

COLUMN = 28  # column at which descriptions begin in the help of pcc
WIDE = {"COLUMNS": "100000"}  # no line of the help is broken
COMMANDS = ["compile", "run", "verify", "inspect", "explain", "plan", "report", "checkpoint export", "help", "completion"]


class Entry(typing.NamedTuple):
    words: str      # -o,--output
    value: str      # TEXT
    meaning: str


class Help(typing.NamedTuple):
    about: list     # paragraphs
    examples: list
    usage: str
    sections: dict  # title -> entries


def parse(text):
    """Returns the parts of a command's help."""
    usage = re.search(r"^usage:\n  (.*)\n\n", text)
    sections = {"about": []}
    lines = sections["about"]
    for line in text[usage.end():].splitlines():
        if title := re.fullmatch(r"([a-z][\w ]*):", line):
            lines = sections.setdefault(title[1].capitalize(), [])
        elif line.startswith("  ") or lines is sections["about"]:
            lines.append(line)
        elif line:
            break
    about = [" ".join(part.split()) for part in "\n".join(sections.pop("about")).strip().split("\n\n")]
    examples = sections.pop("Examples", [])
    sections.pop("Commands", None)
    return Help(about, [line.strip() for line in examples], usage[1], {title: entries_of(lines) for title, lines in sections.items()})


def entries_of(lines):
    """Returns the options of a section. An option that is too long for its column has its description on the next line."""
    entries = []
    for line in lines:
        if not line[:COLUMN].strip():
            entries[-1][1].append(line.strip())
        elif "  " in line[:COLUMN].lstrip():
            entries.append([line[:COLUMN].strip(), [line[COLUMN:].strip()]])
        else:
            entries.append([line.strip(), []])
    return [entry(head, " ".join(text)) for head, text in entries]


def entry(head, meaning):
    """Divides "-o, --output FILE" into its names and its value."""
    names = re.match(r"-[^ ,]*(?:, -[^ ,]*)*|.*", head)[0]
    return Entry(names.replace(" ", ""), head[len(names):].strip(), meaning)


# Placeholders of values in words; others are as in the help.
VALUES = {"N": "whole number", "X": "number", "X,X": "two numbers"}


def value_in_words(value):
    if re.fullmatch(r"[a-z0-9]+(\|[a-z0-9]+)*", value):
        return ", ".join(f"`{word}`" for word in value.split("|"))
    return VALUES.get(value, value)


def table(entries):
    rows = [(", ".join(f"`{w}`" for w in e.words.split(",")), value_in_words(e.value), e.meaning) for e in entries]
    return markdown.table(["option", "value", "meaning"], rows)


def section(command, parsed, known):
    """Writes the options of one command. A group that an earlier command has as well is only named."""
    yield f"## pcc {command}"
    yield from map(markdown.sentence, parsed.about)
    yield markdown.fenced("\n".join([parsed.usage, "", *parsed.examples]))
    same = {}
    for title, entries in parsed.sections.items():
        other = known.setdefault((title, tuple(entries)), command)
        if title == "Not in this build":
            yield f"{title}: {', '.join(f'`{e.words}`' for e in entries)}."
        elif other == command or title == "Arguments":
            yield f"**{title}**"
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
        parts += section(command, parse(tools.call("pcc", *command.split(), "--help", env=WIDE)), known)
    contents = "\n".join(f"- {markdown.link('pcc ' + c, '#' + markdown.anchor('pcc ' + c))}" for c in COMMANDS)
    return markdown.page(markdown.notice("pcc --help"), "# Options", INTRODUCTION, contents, *parts)
