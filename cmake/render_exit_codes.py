#!/usr/bin/env python3
"""Writes a C++ table of the exit codes of status/Status.h: a line {code, "name", "meaning"}, for each.

    render_exit_codes.py FILE
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools", "dev"))
from pages import exit_codes  # noqa: E402


def main(path):
    with open(path, "w", encoding="utf-8") as file:
        for number, name, meaning in exit_codes.codes():
            file.write(f"{{{number}, {json.dumps(name)}, {json.dumps(meaning)}}},\n")


if __name__ == "__main__":
    main(sys.argv[1])
