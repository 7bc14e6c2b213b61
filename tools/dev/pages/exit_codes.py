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


def listed(help_text):
    """Returns the numbers that `pcc --help` lists."""
    text = re.search(r"^exit codes: (.*?)(?:\n\S|\Z)", help_text, re.M | re.S)
    return {int(n) for n in re.findall(r"(?:^|, |,\s+)(\d+) ", text[1])} if text else set()


INTRODUCTION = """Every command of pcc, and every rank that runs a bundle, ends with one of these codes. An error is one line on stderr,
`pcc: error: …`, with `note:` lines after it. A process that a signal ends has no code of its own; shells report it as 128 and the number
of the signal. In C++ the codes are `pcc::ExitCode`."""


def render(tools):
    """Returns (text of the page, problems)."""
    found = codes()
    rows = [(str(number), f"`{name}`", markdown.sentence(meaning)) for number, name, meaning in found]
    in_help = listed(tools.call("pcc", "--help"))
    odd = sorted({number for number, _, _ in found} ^ in_help)
    problems = [f"{SOURCE}: exit code {number} is in one of ExitCode and `pcc --help` only" for number in odd]
    return markdown.page(markdown.notice(SOURCE), "# Exit codes", INTRODUCTION, markdown.table(["code", "name", "meaning"], rows)), problems
