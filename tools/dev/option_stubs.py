#!/usr/bin/env python3
"""Prints python-bindings/pcc/options.pyi: the keywords of pcc.compile, pcc.verify, pcc.explain and Bundle.run with their types.

    PYTHONPATH=build/release/python tools/dev/option_stubs.py > python-bindings/pcc/options.pyi
"""
from pcc.keywords import PLURALS, options_of

HEAD = '''"""Keywords of the functions of pcc. Written by tools/dev/option_stubs.py: do not edit."""
import os
from typing import Literal, Mapping, Sequence, TypedDict, TypeVar

T = TypeVar("T")
Text = str | os.PathLike[str]
OneOrMore = T | Sequence[T]
Texts = OneOrMore[Text] | Mapping[str, object]
'''
# Parameters of the functions, and options that this build lacks.
LEFT_OUT = {"compile": ("output",), "verify": ("input", "emit", "blocks"), "explain": (), "run": ("input", "comm", "resume", "html")}


def members(command):
    """Returns the lines `keyword: type` of a command."""
    options = {keyword: option.type for keyword, option in options_of(command).items() if keyword not in LEFT_OUT[command]}
    return [f"    {name}: {kind} | None\n" for keyword, kind in options.items()
            for name in ((keyword, keyword + "s") if keyword in PLURALS else (keyword,))]


def stub():
    """Returns the text of options.pyi."""
    compiled, verified, explained, run = map(members, LEFT_OUT)
    shared = [line for line in compiled if line in verified]
    classes = {"SharedOptions(TypedDict, total=False)": shared,
               "CompileOptions(SharedOptions, total=False)": [line for line in compiled if line not in shared],
               "VerifyOptions(SharedOptions, total=False)": [line for line in verified if line not in shared],
               "ExplainOptions(SharedOptions, total=False)": [line for line in explained if line not in shared],
               "RunOptions(TypedDict, total=False)": run}
    return HEAD + "".join(f"\n\nclass {head}:\n{''.join(lines)}" for head, lines in classes.items())


if __name__ == "__main__":
    print(stub(), end="")
