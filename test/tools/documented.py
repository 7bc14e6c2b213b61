"""Commands that pages and help texts show: where they stand, what they print, and how to run them like a user.

A block of the language `console` has commands behind `$ `, each with its output. Lines that hold `…` alone stand for any lines. What
differs from run to run is not compared: times, shares, rates, rounding errors, the slowest rank, and the sizes in a column `peak`.
All other numbers may differ by one in a thousand, because processors round differently.
"""
import os
import re
import subprocess
import tempfile
import typing

FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.M | re.S)
SPAN = re.compile(r"`([^`\n]+)`")
VARIES = [
    (re.compile(r"\d[\d.]* ?(?:ns|us|µs|ms|s|min)(?![\w/])"), "# s"),
    (re.compile(r"\d[\d.]*[kM]?(?= ?(?:%|samples/s|tokens/s))"), "#"),
    (re.compile(r"\b\d(?:\.\d+)?e-\d+"), "#"),
    (re.compile(r"(?<=slowest is rank )\d+"), "#"),
]
NUMBER = re.compile(r"\d+(?:\.\d+)?")
PEAK = re.compile(r"[\d.]+ \w+$")


class Entry(typing.NamedTuple):
    command: str
    output: str


def consoles(text):
    """Returns the commands of all console blocks of a page, in order, each with the output that the page shows."""
    entries = []
    for language, block in FENCE.findall(text):
        if language == "console":
            for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
                command, output = re.match(r"((?:[^\n]*\\\n)*[^\n]*\n)(.*)", part, re.S).groups()
                entries.append(Entry(command.rstrip("\n"), output))
    return entries


def programs(text):
    """Returns the Python programs of a page: its blocks of the language `python`."""
    return [block for language, block in FENCE.findall(text) if language == "python"]


def comparable(text):
    """Returns the lines of an output without what differs from run to run."""
    lines, is_peak = [], False
    for line in text.strip().split("\n"):
        is_peak = line.rstrip().endswith("peak") or is_peak and bool(PEAK.search(line))
        line = PEAK.sub("#", line) if is_peak else line
        for pattern, sign in VARIES:
            line = pattern.sub(sign, line)
        lines.append(" ".join(line.split()))
    return lines


def is_same_line(shown, said):
    if NUMBER.sub("0", shown) != NUMBER.sub("0", said):
        return False
    pairs = zip(map(float, NUMBER.findall(shown)), map(float, NUMBER.findall(said)))
    return all(abs(a - b) <= 1e-3 * max(a, b) for a, b in pairs)


def matches(shown, said):
    """Whether an output is the one that a page shows."""
    def follow(left, right):
        if not left:
            return not right
        if left[0] == "…":
            return any(follow(left[1:], right[i:]) for i in range(len(right) + 1))
        return bool(right) and is_same_line(left[0], right[0]) and follow(left[1:], right[1:])
    return follow(comparable(shown), comparable(said))


def renewed(shown, said):
    """Returns `said`, as far as a page shows it: an output that ended in `…` keeps its length."""
    lines = said.rstrip("\n").split("\n")
    if "…" in (kept := shown.rstrip("\n").split("\n")):
        lines = lines[:kept.index("…")] + ["…"]
    return "".join(line.rstrip() + "\n" for line in lines if said.strip())


def commands(text):
    """Yields (line number, command) for every line of a code block, and every code span, of a page."""
    is_code = False
    for number, line in enumerate(text.split("\n"), 1):
        is_code ^= line.startswith("```")
        if is_code or line.startswith("    "):
            yield number, line.strip().removeprefix("$ ")
        else:
            yield from ((number, span.strip()) for span in SPAN.findall(line))


class User(tempfile.TemporaryDirectory):
    """A folder, or a folder in it, in which commands run one after the other, with pcc and Python on the path."""

    def __init__(self, pcc, python, folder="."):
        super().__init__()
        self.folder = os.path.join(self.name, folder)
        os.makedirs(self.folder, exist_ok=True)
        path = os.pathsep.join((os.path.dirname(pcc), os.path.dirname(python), os.environ["PATH"]))
        module = os.path.join(os.path.dirname(pcc), "..", "python")
        self.env = {**os.environ, "PATH": path, "PYTHONPATH": os.path.abspath(module), "PYTHONDONTWRITEBYTECODE": "1", "NO_COLOR": "1"}

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def run(self, command):
        """Returns the exit code and what the command printed on stdout and stderr."""
        done = subprocess.run(["bash", "-c", command], cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
        return done.returncode, done.stdout


class Help:
    """The help texts of pcc."""

    def __init__(self, pcc):
        self.pcc, self.texts = pcc, {}

    def text(self, *words):
        if words not in self.texts:
            self.texts[words] = subprocess.run([self.pcc, *words], check=True, capture_output=True, text=True).stdout
        return self.texts[words]

    def names(self):
        """Returns the commands, and then the topics, in the order in which the help lists them."""
        page = self.text("help")
        listed = re.search(r"^commands:\n(.*?)^\S", page, re.M | re.S)[1]
        topics = re.search(r"explains\s+one\s+of\s+(.*?)\.?$\n\n", page, re.M | re.S)[1]
        return re.findall(r"^  (\w+)", listed, re.M), re.split(r",\s+", topics.rstrip("."))

    def examples(self, name):
        """Returns the commands that the help of a command or a topic shows."""
        lines, found = iter(self.text("help", name).split("\n")), []
        for line in lines:
            if line.startswith("  pcc "):
                found.append(line.strip())
                while found[-1].endswith("\\"):
                    found[-1] = found[-1][:-1] + next(lines).strip()
        return [command for command in found if not command.endswith("[OPTIONS]")]

    def options(self, command):
        """Returns the options of a command, such as `verify` or `checkpoint export`."""
        return set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", self.text(*command.split(), "--help")))
