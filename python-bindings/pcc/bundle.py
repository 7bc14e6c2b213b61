"""Bundles: the results of the compiler, and the operations on them."""
from __future__ import annotations

import fnmatch
import json
import os
import pathlib
import shutil
import tempfile
import weakref
from typing import TYPE_CHECKING, Any, Mapping

import numpy as np
from numpy.typing import NDArray

from . import _pcc
from .child import run_in_child
from .error import Error
from .explanation import Explanation
from .keywords import document, model_words, options_of, shared, words_of
from .page import Report, report
from .progress import Progress
from .session import Session
from .shards import Shards, shards_of
from .wording import arrays_by_name, in_words_of

if TYPE_CHECKING:
    from typing import Unpack

    from .options import CompileOptions, ExplainOptions, RunOptions, VerifyOptions

Path = str | os.PathLike[str]
Arrays = Mapping[str, Any]


class Bundle:
    """A compiled model: one program per rank. `path` is its folder, `notes` are the notes of the compiler. A notebook shows its
    report."""

    def __init__(self, path: Path, model: Path | None = None, options: Mapping[str, object] | None = None,
                 notes: list[str] | None = None) -> None:
        self.path = os.fspath(path)
        self.notes = notes or []
        self._model = model
        self._options = dict(options or {})
        if model is None:
            self.inspect()

    def __repr__(self) -> str:
        try:
            facts = self.inspect()
        except Error:
            return f"Bundle({self.path!r})"
        return f"Bundle({_summary(facts)}, {self.path!r})"

    def __fspath__(self) -> str:
        return self.path

    def _repr_html_(self) -> str | None:
        try:
            return self.report()._repr_html_()
        except Error:
            return None

    def report(self, *, output: Path | None = None) -> Report:
        """Draws the bundle as a page, as `pcc report` does. See pcc.report."""
        return report(self, output=output)

    def inspect(self, *, rank: int | None = None) -> dict[str, Any]:
        """Returns the output of `pcc inspect --json`: stages, ranks, collectives, transfers, kernels."""
        with in_words_of("inspect"):
            facts: dict[str, Any] = json.loads(_pcc.inspect(self.path, rank))
        return facts

    def shards(self, name: str = "*") -> list[Shards]:
        """Returns the weights with this name (globs allowed), each with the part that every rank holds. Printed, they are drawn.
        Raises Error if `name` is no glob and no weight has this name."""
        facts = self.inspect()
        found = shards_of(facts, lambda other: fnmatch.fnmatchcase(other, name))
        if not found and not set(name) & set("*?["):
            names = [weight.name for weight in shards_of(facts, lambda other: True)]
            raise Error(f"no weight of bundle '{self.path}' is named '{name}'",
                        [f"did you mean {near!r}?" for near in _pcc.find_similar(name, names)[:1]], 2)
        return found

    def _is_compiled_here(self) -> bool:
        return self._model is not None or "transformer" in self._options

    def explain(self, value: str | None = None, **options: Unpack[ExplainOptions]) -> Explanation:
        """Explains the plan, with the options of compile. See pcc.explain."""
        if not self._is_compiled_here():
            raise Error(f"bundle '{self.path}' was not compiled here",
                        ["pcc.explain(model, …) takes the options of compile", "report() shows the explanation that the bundle holds"], 2)
        return explain(self._model, value, **{**shared(self._options, "compile", "explain"), **options})

    def run(self, inputs: Arrays | None = None, *, comm: str | None = None, **options: Unpack[RunOptions]) -> dict[str, NDArray[Any]]:
        """Runs all ranks and returns the outputs by name. The ranks are threads of this process; with comm="mpi" and on GPUs
        they are processes. `inputs` are arrays by name: NumPy arrays, or any object with DLPack. A bf16 input takes f32, and a
        bf16 output is returned as f32. `options` are those of `pcc run`."""
        facts = self.inspect()
        comm = comm or ("nccl" if facts["target"] == "cuda" and facts["world"] > 1 else "thread")
        arrays = arrays_by_name(inputs, "run", [entry["name"] for entry in facts["inputs"]])
        with in_words_of("run"):
            if comm != "thread":
                return run_in_child(self.path, [o["name"] for o in facts["outputs"]], arrays, comm, options)
            return _pcc.Ranks(self.path, words_of("run", options)).run(arrays)

    def verify(self, inputs: Arrays | None = None, **options: Unpack[VerifyOptions]) -> dict[str, Any]:
        """Executes the plan on simulated ranks and compares the results with the unpartitioned model, as `pcc verify` does with
        the options of compile. Returns its report. If values differ, raises Error with exit code 15 and the report in `report`.
        """
        if not self._is_compiled_here():
            raise Error(f"bundle '{self.path}' was not compiled here", ["pcc.verify(model, …) takes the options of compile"], 2)
        known = shared(self._options, "compile", "verify")
        known.pop("start_at", None)             # A dump tells its phase, and is compared with the model, which is no dump.
        return verify(self._model, inputs, **{**known, **options})

    def train(self, *, resume: Path | None = None, **options: Unpack[RunOptions]) -> Session:
        """Starts a training session on threads of this process. `options` are those of `pcc run`: data, threads, …"""
        return Session(self, resume, options)


def open(path: Path) -> Bundle:
    """Opens an existing bundle."""
    return Bundle(path)


def compile(model: Path | None = None, *, output: Path | None = None, progress: bool = False,
            **options: Unpack[CompileOptions]) -> Bundle:
    """Compiles a model into one program per rank. `transformer` with its sizes takes the place of a model.

    Options are those of `pcc MODEL`, with underscores: lists for options that can be repeated, dicts for NAME=VALUE. Without
    `output`, the bundle lies in a temporary folder, which is removed with the object."""
    folder = None
    if output is None and not options.get("emit"):
        folder = tempfile.mkdtemp(prefix="pcc-")
        output = os.path.join(folder, os.path.splitext(os.path.basename(os.fspath(model or "transformer")))[0] + ".pcc")
    words = [*model_words(model), *words_of("compile", {"output": output, **options})]
    notes: list[str] = []
    try:
        with Progress(len(_pcc.phases()), "phase", progress) as bar, in_words_of("compile"):
            path = _pcc.compile(words, bar.advance, notes.append)
    except BaseException:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    bundle = Bundle(path, model, options, [] if options.get("quiet") else notes)
    if folder:
        weakref.finalize(bundle, shutil.rmtree, folder, ignore_errors=True)
    return bundle


def verify(model: Path | None = None, inputs: Arrays | None = None, *, progress: bool = False,
           **options: Unpack[VerifyOptions]) -> dict[str, Any]:
    """Compares a plan with the unpartitioned model. See Bundle.verify."""
    with tempfile.TemporaryDirectory(prefix="pcc-") as folder:
        report = os.fspath(options.pop("report", None) or os.path.join(folder, "report.json"))
        words = [*model_words(model), *words_of("verify", options), f"--report={report}"]
        for name, value in arrays_by_name(inputs, "verify", ["name"]).items():
            file = os.path.join(folder, f"input-{len(words)}.npy")
            np.save(file, np.asarray(value))
            words.append(f"--input={name}={file}")
        try:
            # The last phase makes files that only runs need.
            with Progress(len(_pcc.phases()) - 1, "phase", progress) as bar, in_words_of("verify"):
                _pcc.verify(words, bar.advance, lambda note: None)
        except Error as error:
            if error.exit_code == 15:
                error.report = _read(report)
            raise
        return _read(report)


def explain(model: Path | None = None, value: str | None = None, **options: Unpack[ExplainOptions]) -> Explanation:
    """Explains what a plan costs and why it communicates, without making a bundle. `value` is a weight, input, output, value or node
    (globs allowed), of which the result explains the sharding as well.

    Returns the output of `pcc explain --json` as a dict: collectives, cuts, totals, lints, … Printed, it is the text of `pcc explain`
    with `top` or `verbose`: a tree of the costs, or the sharding of `value`."""
    notes: list[str] = []
    with in_words_of("explain"):
        words = [*model_words(model), *([value] if value else []), *words_of("explain", options)]
        text, facts = _pcc.explain(words, notes.append)
    return Explanation(json.loads(facts), text, [] if options.get("quiet") else notes)


def _size(number: float) -> str:
    """Formats bytes: 418000 -> '408.2 KiB'."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if number < 1024:
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1024
    return f"{number:.1f} TiB"


def _summary(facts: dict[str, Any]) -> str:
    """Returns the number of ranks, the mesh, the target and the memory of a rank that needs the most."""
    # Gradients are a part of the arena.
    kinds = {"weight_bytes": "weights", "state_bytes": "optimizer state", "arena_bytes": "arena"}
    most = max(facts["ranks"], key=lambda rank: sum(rank[kind] for kind in kinds))
    memory = " + ".join(f"{_size(most[kind])} {name}" for kind, name in kinds.items() if most[kind])
    mesh = " × ".join(f"{axis} {size}" for axis, size in facts["mesh"].items())
    ranks = f"{facts['world']} ranks: {mesh}" if mesh else f"{facts['world']} rank"
    return f"{ranks}, {facts['target']}, {memory or 'no memory'} a rank"


def _read(path: str) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(pathlib.Path(path).read_text("utf-8"))
    return facts


for command, function in {"compile": compile, "verify": verify, "explain": explain, "run": Bundle.run}.items():
    function.__doc__ = f"{function.__doc__}\n\nOptions:\n\n{document(command)}"
