#!/usr/bin/env python3
"""Tests that `pcc verify` names the place of an edit of what a training step computes: an op of the backward pass or of the optimizer
step, in the dump of 5-localize or of 6-schedule. Such ops have no name in the model. The place is the node for which the op was made,
or the optimizer step. Edits are spread over the whole step.

    edited_training.py [--only GLOB] [--jobs N]
"""
import functools
import os
import re
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "test", "numeric"), os.path.join(ROOT, "test", "models")]
import builder
import pcc

EDITS = 5  # of a dump
ADAMW = ["--optimizer", "adamw", "--clip-norm", "0.5"]
PLANS = {
    "tp": ["--tp", "2", "--optimizer", "sgd"],
    "uneven tp": ["--tp", "3", *ADAMW],
    "dp": ["--dp", "2", "--microbatches", "2", *ADAMW],
    "pp": ["--pp", "2", "--microbatches", "4", *ADAMW],
    "zero bubbles": ["--pp", "2", "--schedule", "zb-h1", "--microbatches", "4", "--optimizer", "adagrad"],
    "zero1": ["--dp", "2", "--preset", "zero1", *ADAMW],
    "zero3": ["--dp", "2", "--tp", "2", "--preset", "zero3", *ADAMW],
    "all": ["--dp", "2", "--tp", "2", "--pp", "2", "--microbatches", "2", "--preset", "zero1", "--recompute", "full", *ADAMW],
}
OTHER = {"add": "sub", "sub": "add", "mul": "sub", "div": "mul"}
UNNAMED = re.compile(r"^ +%\w+ = graph\.(" + "|".join(OTHER) + r") (?!.*graph\.name)")
OWN = {"optimizer": "in the optimizer step", "loss": "in the loss"}


def place(text, line):
    """Returns the place of the op in `line` in the words of a message. Locations are aliases of others, or lists with notes."""
    at = line[line.rindex("loc(") + 4:]
    while alias := re.match(r"(?:fused(?:<.*>)?\[)?#(\w+)", at):
        at = re.search(rf"^#{alias.group(1)} = loc\((.*)$", text, re.M).group(1)
    name, is_own = re.match(r'(?:fused(?:<.*>)?\[)?"([^"]*)"(\()?', at).groups()
    return OWN[name] if is_own else f"at node '{name}'"


def named(folder, text, number):
    """Changes the op in line `number`, from 0, of a dump. If verify finds a difference, it must name the place of the op. Returns
    whether it finds one."""
    lines = text.split("\n")
    where = place(text, lines[number])
    lines[number] = re.sub(r"graph\.(\w+)", lambda m: f"graph.{OTHER[m.group(1)]}", lines[number], count=1)
    edited = os.path.join(folder, "edited.mlir")
    with open(edited, "w") as f:
        f.write("\n".join(lines))
    code, _, err = pcc.call("verify", edited)
    if code not in (0, 15) or (code and f" {where}: " not in err):
        raise pcc.Failure(f"line {number + 1}, {where}, exit code {code}: {err.strip()[-400:]}")
    return code == 15


def edits(plan):
    with tempfile.TemporaryDirectory() as t:
        path, ir = os.path.join(t, "model.onnx"), os.path.join(t, "ir")
        builder.build("mlp", path, layers=2, hidden=8, inner=8, classes=4)
        pcc.succeed(path, "--dim", "batch=8", "--train", "--loss", "mse(y, labels)", *plan, "--stop-after", "6", "-q", f"--dump-ir={ir}")
        for dump in ("5-localize", "6-schedule"):
            with open(os.path.join(ir, f"{dump}.mlir")) as f:
                text = f.read()
            if pcc.report("verify", os.path.join(ir, f"{dump}.mlir"))["first_difference"]:
                raise pcc.Failure(f"{dump} is not equal")
            lines = [i for i, line in enumerate(text.split("\n")) if UNNAMED.match(line)]
            found = [named(t, text, lines[i * (len(lines) - 1) // (EDITS - 1)]) for i in range(EDITS)]
            if sum(found) < EDITS - 1:
                raise pcc.Failure(f"{dump}: {sum(found)} of {EDITS} edits are found")


CASES = {name: functools.partial(edits, plan) for name, plan in PLANS.items()}


if __name__ == "__main__":
    pcc.main(__doc__, CASES)
