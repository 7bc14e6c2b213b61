"""docs/passes/*.md: the passes of each phase, in the order in which they run."""
import re
import typing

import check_readme
import tree
from pages import examples, markdown, records

ROOT = "../.."
PIPELINE, PHASES = "passes/Pipeline.cpp", "passes/Phases.def"
ANCHORS = {"ModuleOp": "the module", "FuncOp": "each function"}
# Passes of MLIR that the pipeline runs between ours.
UPSTREAM = {"CSE": ("cse", "merges equal ops (MLIR's common subexpression elimination)")}


class Step(typing.NamedTuple):
    """One place of a pass in the pipeline."""
    cpp: str
    reason: str  # why it stands there


class Phase(typing.NamedTuple):
    folder: str
    meaning: str
    gate: str    # class of its gate
    steps: list


def phases(root=tree.ROOT):
    """Returns the phases of passes/Phases.def with the passes that passes/Pipeline.cpp runs."""
    text = "\n".join(tree.lines(PHASES, root))
    pipeline = "\n".join(tree.lines(PIPELINE, root))
    named = re.findall(r'^PCC_PHASE\((\w+), "([^"]+)",.*?create(\w+)\)', text, re.M)
    meanings = dict(check_readme.phases(root))
    return [Phase(folder, meanings[folder], gate, steps(pipeline, name)) for name, folder, gate in named]


def steps(pipeline, phase):
    """Returns the passes that add<phase>() adds, in order, each with the comment before it."""
    body = re.search(rf"static void add{phase}\([^)]*\) \{{\n(.*?)^\}}", pipeline, re.M | re.S)
    found, comment = [], []
    for line in (body[1] if body else "").splitlines():
        if said := re.match(r"\s*// ?(.*)", line):
            comment.append(said[1])
        elif made := re.search(r"create(\w+?)(?:Pass)?\(\)", line):
            found.append(Step(made[1], " ".join(comment)))
            comment = []
    return found


class PhasePage:
    """Writes the page of one phase."""

    def __init__(self, phase, shown):
        self.phase, self.examples = phase, shown
        self.source = f"passes/{phase.folder}/Passes.td"
        self.passes = records.read_passes(self.source)

    def order(self):
        """Returns the classes of the passes, each once, at its first place. The gate is last."""
        return list(dict.fromkeys([*(s.cpp for s in self.phase.steps), self.phase.gate]))

    def missing(self):
        """Returns the passes of the phase that no part of the pipeline runs."""
        return [name for name in self.passes if name not in self.order()]

    def text(self):
        p = self.phase
        self.examples.prepare([p.description for p in self.passes.values()])
        return markdown.page(
            markdown.notice(self.source, PIPELINE, PHASES), f"# {p.folder}: {p.meaning}",
            f"How the phase works is in {markdown.link(f'passes/{p.folder}/README.md', f'{ROOT}/passes/{p.folder}/README.md')}.",
            self.table(), *(part for name in [*self.order(), *self.missing()] for part in self.one(name)))

    def table(self):
        rows = []
        for number, name in enumerate([*(s.cpp for s in self.phase.steps), self.phase.gate], 1):
            if name in UPSTREAM:
                rows.append((number, f"`{UPSTREAM[name][0]}`", markdown.sentence(UPSTREAM[name][1])))
                continue
            flag = self.passes[name].flag
            rows.append((number, markdown.link(f"`{flag}`", "#" + markdown.anchor(flag)), self.summary(name)))
        before = "" if self.phase.steps else "The importer is no pass: it reads the model before the gate runs.\n\n"
        return before + markdown.table(["", "pass", "what it does"], rows)

    def summary(self, name):
        """Returns the summary of a pass, with a mark if it is the gate."""
        said = markdown.sentence(self.passes[name].summary.removeprefix("gate: "))
        return f"**Gate:** {said[0].lower()}{said[1:]}" if name == self.phase.gate else said

    def one(self, name):
        if name in UPSTREAM:
            return
        p = self.passes[name]
        yield f"## `{p.flag}`"
        yield self.summary(name)
        yield f"Class `{p.cpp}`, {self.file(p)}; runs on {ANCHORS.get(p.anchor_op, p.anchor_op)}."
        yield examples.prose(p.description)
        yield self.reasons(name)
        for title, fields in (("option", p.options), ("statistic", p.statistics)):
            yield markdown.table([title, "meaning"], [(f"`{f.name}`", markdown.sentence(f.meaning)) for f in fields]) if fields else ""
        yield examples.of(p.description, self.examples, ROOT)

    def reasons(self, name):
        said = list(dict.fromkeys(s.reason for s in self.phase.steps if s.cpp == name and s.reason))
        return "**Place in the pipeline:** " + " ".join(said) if said else ""

    def file(self, p):
        path = f"passes/{self.phase.folder}/{p.cpp}.cpp"
        return markdown.link(path, f"{ROOT}/{path}")


def index(pages):
    """Returns docs/passes/README.md: all passes of the pipeline."""
    rows = []
    for page in pages:
        for name in page.order():
            if name in UPSTREAM:
                rows.append((page.phase.folder, f"`{UPSTREAM[name][0]}`", markdown.sentence(UPSTREAM[name][1])))
                continue
            flag, file = page.passes[name].flag, f"{page.phase.folder}.md"
            rows.append((markdown.link(page.phase.folder, file), markdown.link(f"`{flag}`", f"{file}#{markdown.anchor(flag)}"), page.summary(name)))
    return markdown.page(markdown.notice(PHASES, PIPELINE, "passes/*/Passes.td"), "# Passes", INTRODUCTION,
                         markdown.table(["phase", "pass", "what it does"], rows))


INTRODUCTION = """The passes of all phases, in the order in which they run. Every phase ends in its gate, a pass that only reads: a gate that
fails names the phase and the op. That of `1-import` judges the model, and one that fails on an [edited dump](../edit-a-plan.md) judges
the edit; everywhere else, it is a defect of pcc. `pcc-opt` runs each pass
by its flag."""


def render(shown):
    """Returns path -> text of all pages of passes."""
    pages = [PhasePage(phase, shown) for phase in phases()]
    rendered = {f"docs/passes/{page.phase.folder}.md": page.text() for page in pages}
    return {"docs/passes/README.md": index(pages), **rendered}
