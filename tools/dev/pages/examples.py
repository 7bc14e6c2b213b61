"""Descriptions of ops and passes, in which pointers to cases are replaced by the cases."""
import concurrent.futures
import re

from pages import cases, markdown

LEAD = re.compile(r"^(Sharding|Gradient|Lifespan|Input|Output|Invariants?|Options?|Statistics|Reads|Before|After): ?", re.M)


class Examples:
    """Results of all cases that pages show. Each command runs once."""

    def __init__(self, tools):
        self.tools, self.known = tools, {}

    def prepare(self, descriptions):
        """Runs the cases that change something, two at a time."""
        wanted = {case for text in descriptions for case in pointed_at(text) if is_shown_with_result(case)} - set(self.known)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            ordered = sorted(wanted)
            self.known.update(zip(ordered, pool.map(lambda case: cases.result_of(case, self.tools), ordered)))

    def result(self, case):
        return self.known[case]


def pointed_at(description):
    return [cases.find(file, name) for file, name in cases.POINTER.findall(description)]


def is_shown_with_result(case):
    """Returns whether the result of a case is shown. A case that pcc-opt only reads or only checks is printed as it is."""
    return any(not flag.startswith("--verify-") for flag in case.flags)


def prose(description):
    """Returns the description without its pointers. Words that lead a paragraph are bold."""
    text = re.sub(r"[ \t]+$", "", cases.POINTER.sub("", description), flags=re.M)
    text = re.sub(r"\n{3,}", "\n\n", text).strip()
    return LEAD.sub(lambda m: f"**{m[1]}:** ", text)


def shown(case, examples, root):
    """Returns a case as a page shows it: its text, and the output of the command. `root` is the path to the root of the
    repository."""
    name = f"`@{case.name}` of " if case.name else ""
    command = f"`{' '.join(['pcc-opt', *case.flags])}`"
    parts = [f"Example, {name}{markdown.link(case.file, f'{root}/{case.file}')}:", markdown.fenced(case.text, "mlir")]
    if is_shown_with_result(case):
        parts += [f"Output of {command}:", markdown.fenced(examples.result(case), "mlir")]
    elif case.flags:
        parts.append(f"{command} accepts it.")
    return "\n\n".join(parts)


def of(description, examples, root):
    return "\n\n".join(shown(case, examples, root) for case in pointed_at(description))
