"""terminal.py FILE: prints the lines that a terminal shows at the end of what was written to it, without colors."""
import re
import sys

with open(sys.argv[1], encoding="utf-8", newline="") as file:
    text = re.sub(r"\x1b\[[0-9;]*m", "", file.read().replace("\r\n", "\n"))
for line in text.split("\n"):
    shown = ""
    for part in line.split("\r"):
        # A text overwrites the one before it; what it does not cover stays, unless the rest of the line is erased.
        erases, part = part.startswith("\x1b[K"), part.removeprefix("\x1b[K")
        shown = part if erases else part + shown[len(part):]
    print(shown)
