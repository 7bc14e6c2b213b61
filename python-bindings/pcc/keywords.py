"""Conversion of Python keywords to words of a command line. The options are those that the tool declares: none is listed here."""
from __future__ import annotations

import functools
import os
import re
from typing import Mapping, NamedTuple

from . import _pcc


# An option in a text of the tool.
OPTION = re.compile(r"(?<![\w-])--([a-z][\w-]*)")
# Keywords that may also be written in the plural, as in `dims={"batch": 8}`.
PLURALS = ("dim", "shape", "batch_dim", "shard", "preset", "cpu")
# Options that print something and exit, or choose what is printed.
PRINTING = ("help", "version", "list_phases", "list_clusters", "json")


class Option(NamedTuple):
    """An option of a command. Several values are given in one argument, joined by `separator`, or in one argument each if it is
    empty. `type` is the type of the keyword in options.pyi."""
    name: str
    description: str
    is_flag: bool
    separator: str
    type: str


@functools.cache
def options_of(command: str) -> dict[str, Option]:
    """Returns the options of `pcc COMMAND` by their keywords, without those about printing."""
    options = {option.name.replace("-", "_"): option for option in map(Option._make, _pcc.options_of(command))}
    return {keyword: option for keyword, option in options.items() if keyword not in PRINTING}


def keyword_of(name: str) -> str:
    """Returns the keyword that users write for an option: dim -> dims, batch-dim -> batch_dims, lr -> lr."""
    keyword = name.replace("-", "_")
    return keyword + "s" if keyword in PLURALS else keyword


def in_keywords(text: str) -> str:
    """Returns a text of the tool with the options in it as keywords: 'without --dp and --cp' -> 'without dp and cp'."""
    return OPTION.sub(lambda option: keyword_of(option[1]), text)


def _option(command: str, keyword: str) -> Option:
    """Returns the option of a keyword, also of one in the plural: dims is --dim. The tool rejects an unknown one."""
    known = options_of(command)
    singular = keyword.removesuffix("s")
    if keyword not in known and singular in PLURALS:
        keyword = singular
    return known.get(keyword, Option(keyword.replace("_", "-"), "", False, "", ""))


def _text(value: object) -> str:
    if isinstance(value, float):
        return repr(float(value))
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def _sizes(value: object) -> str:
    """Formats sizes: (8, 32) -> '8x32'."""
    return "x".join(map(_text, value)) if isinstance(value, (list, tuple)) else _text(value)


def _values(value: object) -> list[str]:
    if isinstance(value, Mapping):
        return [f"{_text(name)}={_sizes(one)}" for name, one in value.items()]
    return [_text(one) for one in value] if isinstance(value, (list, tuple)) else [_text(value)]


def words_of(command: str, keywords: Mapping[str, object]) -> list[str]:
    """Returns the words: {'tp': 2, 'dims': {'batch': 8}, 'train': True} -> ['--tp=2', '--dim=batch=8', '--train']."""
    words = []
    for keyword, value in keywords.items():
        option = _option(command, keyword)
        if not option.type:
            # An unknown one, which the tool rejects whatever its value.
            words.append(f"--{option.name}")
            continue
        if value is None or value is False:
            continue
        if value is True and option.is_flag:
            words.append(f"--{option.name}")
            continue
        values = _values(value)
        words += [f"--{option.name}={text}" for text in ([option.separator.join(values)] if option.separator else values)]
    return words


def shared(keywords: Mapping[str, object], command: str, other: str) -> dict[str, object]:
    """Returns those of `keywords` that have the same meaning for both commands."""
    return {k: v for k, v in keywords.items() if _option(command, k) == _option(other, k)}


def path_word(path: str | os.PathLike[str]) -> str:
    """Returns the path in a form that no command takes for an option."""
    text = os.fspath(path)
    return f"./{text}" if text.startswith("-") else text


def model_words(model: str | os.PathLike[str] | None) -> list[str]:
    """Returns the words that name the model; none if an option makes it."""
    return [] if model is None else [path_word(model)]


def document(command: str) -> str:
    """Returns the options of a command with their types, for a docstring."""
    return "\n".join(f"    {keyword_of(option.name)} ({option.type}): {in_keywords(option.description)}" for option in options_of(command).values())
