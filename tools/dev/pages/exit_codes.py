"""docs/exit-codes.md: the enum ExitCode of status/Status.h."""
import re

import tree
from pages import markdown

SOURCE = "status/Status.h"


def codes(root=tree.ROOT):
    """Yields (number, name, meaning) of every enumerator. The meaning is the comment before or behind the enumerator."""
    text = "\n".join(tree.lines(SOURCE, root))
    body = re.search(r"enum ExitCode[^{]*\{(.*?)\};", text, re.S)[1]
    found, comment = [], []
    for line in body.splitlines():
        if said := re.match(r"\s*/// ?(?!<)(.*)", line):
            comment.append(said[1])
        elif entry := re.match(r"\s*(\w+) = (\d+),\s*(?:///< ?(.*))?", line):
            found.append((int(entry[2]), entry[1], " ".join([*comment, entry[3] or ""]).strip()))
            comment = []
    return found


INTRODUCTION = """Every command of pcc, and every rank that runs a bundle, ends with one of these codes. An error is one line on stderr,
`pcc: error: …`, with `note:` lines after it. A process that a signal ends has no code of its own; shells report it as 128 and the number
of the signal. In C++ the codes are `pcc::ExitCode`."""


def render():
    """Returns the text of the page."""
    rows = [(str(number), f"`{name}`", markdown.sentence(meaning)) for number, name, meaning in codes()]
    return markdown.page(markdown.notice(SOURCE), "# Exit codes", INTRODUCTION, markdown.table(["code", "name", "meaning"], rows))
