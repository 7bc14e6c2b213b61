"""Errors of the tool in the words of a caller in Python: keywords in place of options, arrays in place of files."""
from __future__ import annotations

import contextlib
import json
import re
from typing import Any, Iterator, Mapping

from .error import Error
from .keywords import OPTION, in_keywords, keyword_of

# Functions whose options are those of Bundle.run.
RUNNING = ("run", "train", "step")
REPORTABLE = ("report() takes bundles, results of explain() and inspect(), lists of the steps of a session, and files: JSON of these, "
              "of report= or measurements=, and the lines of metrics=")


def _function(command: str) -> str:
    """Returns the name of the function of a command."""
    return "pcc.Bundle.run" if command in RUNNING else f"pcc.{command}"


def _keyword(match: re.Match[str]) -> str:
    return keyword_of(match[1])


def _dims(text: str) -> str:
    """Returns the dict of all options --dim in `text`: {"batch": 8, "seq": 32}."""
    return json.dumps({name: int(size) for name, size in re.findall(r"--dim (\S+?)=(\d+)\b", text)}, ensure_ascii=False)


def _unknown(message: str, function: str) -> str | None:
    """Returns the message for a keyword that is no option; None if `message` is about something else."""
    found = re.fullmatch(r"no option is called --(\S+?)(; .*)?", message)
    if not found:
        return None
    name, question = found[1].replace("-", "_"), re.sub(r"'pcc (\w+)'", lambda command: _function(command[1]), found[2] or "")
    return f"{function}() has no option '{name}'" + OPTION.sub(lambda option: f"'{_keyword(option)}'", question)


def _text(text: str, function: str) -> str:
    """Returns a message or note in Python's words."""
    if text.startswith("pcc report takes "):
        return REPORTABLE
    made = re.fullmatch(r"pcc MODEL -o (.+) makes (it|a bundle)", text)
    if made:
        return f"pcc.compile(MODEL, output={made[1] if made[2] == 'a bundle' else repr(made[1])}) makes {made[2]}"
    if "pcc " in text and (dims := _dims(text)) != "{}":
        return f"for example: dims={dims}"
    text = re.sub(r"'pcc[\w ]* --help' lists the options", f"help({_function(function)}) lists the options", text)
    text = re.sub(r"--input (\S+?)=FILE\.npy", lambda found: f"{function}({{{json.dumps(found[1], ensure_ascii=False)}: …}})", text)
    text = re.sub(r"--dim \S+?=\d+\b(?: --dim \S+?=\d+\b)*", lambda found: f"dims={_dims(found[0])}", text)
    text = re.sub(OPTION.pattern + r" ([A-Z]+)=([A-Z]\w*)(?!\.)", lambda found: f'{_keyword(found)}={{"{found[2]}": {found[3]}}}', text)
    text = re.sub(OPTION.pattern + r" ([A-Z]+\b(?!=)|'[^']*'|\d+\b)", lambda found: f"{_keyword(found)}={found[2]}", text)
    return in_keywords(text)


@contextlib.contextmanager
def in_words_of(function: str) -> Iterator[None]:
    """Rewords the errors that are raised in the body for a caller of `function`."""
    try:
        yield
    except Error as error:
        message = _unknown(error.message, function) or _text(error.message, function)
        reworded = Error(message, [_text(note, function) for note in error.notes], error.exit_code)
        reworded.report = error.report
        raise reworded from None


def arrays_by_name(inputs: object, function: str, names: list[str]) -> dict[str, Any]:
    """Returns the inputs of a call as a dict; raises Error if they are something else. `names` are the inputs of the model."""
    if inputs is None:
        return {}
    if isinstance(inputs, Mapping):
        return dict(inputs)
    example = ", ".join(f"{json.dumps(name, ensure_ascii=False)}: …" for name in names)
    raise Error(f"{function} takes a dict of arrays by name: {function}({{{example}}}), got {type(inputs).__name__}", [], 2)
