#!/usr/bin/env python3
"""Tests that a mistake in an edited dump is reported when the dump is read: exit code 3, the line, and the form that the
attribute needs. Every phase's dump gets a misspelt attribute, a malformed one, one with an unknown prefix, and an option whose
change would have no effect. A dump that breaks
a rule of its phase is rejected alike: the dump of each phase claims to be that of the next one.

    edited_dumps.py [--only GLOB] [--jobs N]
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

#            the first line that contains this      is changed by                        and refused with
MALFORMED = {
    "1-import": (r'= graph\..*graph\.name = "', (r'graph\.name = "[^"]*"', "graph.name = 7 : i64"), "needs a string, got 7"),
    "2-prepare": (r"func\.func @main", (r"graph\.batch_dim = 0", "graph.batch_dim = 9"), "needs the index of a dim of a tensor with 2 dims, got 9"),
    "3-place": (r"= graph\..*pipe\.stage = 1", (r"pipe\.stage = 1", "pipe.stage = 2"), "needs a stage of 2 stages, counted from 0, got 2"),
    "4-shard": (r"= graph\..*dist\.shardings = \[", (r"dist\.shardings = \[[^]]*\]", "dist.shardings = []"),
                "needs 1 entry, one per result of the op, got 0"),
    "5-localize": (r"= dist\.collective", (r" to #\w+", ' to #dist.sharding<"[-, 32@tq:2]">'), "axis 'tq', which the mesh does not have"),
    "6-schedule": (r"func\.func @stage_1", (r"pipe\.stage = 1", 'pipe.stage = "1"'), "needs an i64 of at least 0"),
    "7-emit": (r"^module ", (r"pipe\.microbatches = \d+", "pipe.microbatches = 0"), "needs an i64 from 1 to 2147483647, got 0"),
}
#                     what the gate of the phase says of the dump of the phase before
BROKEN_RULES = {
    "2-prepare": "has a batch of 0",
    "3-place": "has no 'pipe.stage'",
    "4-shard": "has no sharding",
    "5-localize": "but its shard is",
    "6-schedule": "has no 'pipe.stage'",
}


def make_dumps(folder):
    path, ir = os.path.join(folder, "model.onnx"), os.path.join(folder, "ir")
    builder.build("mlp", path)
    pcc.succeed(path, "--dim", "batch=8", "--tp", "2", "--pp", "2", "--microbatches", "2", "-o", os.path.join(folder, "b"), f"--dump-ir={ir}")
    return ir


def refused(folder, text, number, change, mention, is_there=True):
    """Changes line `number`, from 0, of a dump. The dump must then be rejected: at that line, or without `is_there` at any line."""
    lines = text.split("\n")
    changed = re.sub(*change, lines[number], count=1)
    if changed == lines[number]:
        raise pcc.Failure(f"nothing to change in {lines[number][:200]}")
    lines[number] = changed
    edited = os.path.join(folder, "edited.mlir")
    with open(edited, "w") as f:
        f.write("\n".join(lines))
    code, out, err = pcc.call(edited, "-o", os.path.join(folder, "again"), "-q")
    if code != 3 or out or not re.match(r"pcc: error: [^A-Z]", err):
        raise pcc.Failure(f"exit code {code}, expected 3: {err.strip()[-300:]}")
    if missing := [m for m in (*mention, f"pcc: error: {edited}:{number + 1 if is_there else ''}") if m not in err]:
        raise pcc.Failure(f"the message does not mention {missing}: {err.strip()[-300:]}")


def find(text, pattern):
    """Returns the number, from 0, of the first line with `pattern`."""
    for number, line in enumerate(text.split("\n")):
        if re.search(pattern, line):
            return number
    raise pcc.Failure(f"no line has {pattern}")


def edited(phase):
    with tempfile.TemporaryDirectory() as t:
        with open(os.path.join(make_dumps(t), f"{phase}.mlir")) as f:
            text = f.read()
        refused(t, text, find(text, r"^module "), (r"pipe\.microbatches", "pipe.microbaches"),
                ["attribute 'pipe.microbaches' is unknown; did you mean pipe.microbatches?"])
        refused(t, text, find(text, r"^module "), (r"pipe\.stages", "pip.stages"), ["attribute 'pip.stages' is unknown"])
        refused(t, text, find(text, r"^module "), (r'pipe\.schedule = "forward"', 'pipe.schedule = "1f1b"'), ['needs "forward"'])
        refused(t, text, find(text, r"= graph\.matmul "), (r"graph\.matmul ", "graph.matmull "), ["there is no op 'graph.matmull'; did you mean graph.matmul"])
        refused(t, text, find(text, r"^module "), (r"graph\.bound_dims = \{batch = 8", "graph.bound_dims = {batch = 9"),
                ["'graph.bound_dims' was changed, but 1-import has read it"])
        refused(t, text, find(text, r"^module "), (r'"--dim batch" = "8"', '"--dim batch" = "9"'),
                ["'pcc.options' was changed, but it only tells"])
        refused(t, text, find(text, r"^module "), (r'pcc\.options = \{', 'pcc.options = {"--lr" = "2", '), ["'pcc.options' was changed"])
        where, change, mention = MALFORMED[phase]
        refused(t, text, find(text, where), change, [mention])


def claims_next(phase):
    """Refuses the dump of the phase before `phase` as one of `phase`."""
    number = int(phase[0])
    with tempfile.TemporaryDirectory() as t:
        before = next(name for name in os.listdir(make_dumps(t)) if name.startswith(str(number - 1)))
        with open(os.path.join(t, "ir", before)) as f:
            text = f.read()
        refused(t, text, find(text, r"^module "), (rf"pcc\.phase = {number - 1}", f"pcc.phase = {number}"),
                [f"breaks a rule of {phase}: ", BROKEN_RULES[phase]], is_there=False)


def loses_phase(phase):
    """Refuses a dump that does not say which phase wrote it, or names one that does not exist, at its module."""
    with tempfile.TemporaryDirectory() as t:
        with open(os.path.join(make_dumps(t), f"{phase}.mlir")) as f:
            text = f.read()
        for change, mention in (("", "lacks 'pcc.phase'"), ("pcc.phase = 9 : i64, ", "names phase 9")):
            refused(t, text, find(text, r"^module "), (r"pcc\.phase = \d : i64, ", change), [mention])


def loses_weights(phase):
    """A weight file that does not exist, that has changed, or that pcc may not read, is named with a place in the dump."""
    with tempfile.TemporaryDirectory() as t:
        with open(os.path.join(make_dumps(t), f"{phase}.mlir")) as f:
            text = f.read()
        other = os.path.join(t, "other")
        os.makedirs(other)
        for change, mention in (((r'graph\.root = "[^"]*"', 'graph.root = "/absent"'), "names the folder '/absent' as graph.root, which does not exist"),
                                ((r'model\.onnx = "\d+ ', 'model.onnx = "1 '), "has changed since the dump was made: its size in bytes was 1, now it is "),
                                ((r"pcc\.weight_files = \{[^}]*\}", "pcc.weight_files = {}"), "lies outside of the model's directory")):
            refused(other, text, find(text, r"^module "), change, [mention], is_there=mention.startswith("names"))
        refused(t, text, find(text, r"graph\.parameter .*= <"), (r'"model\.onnx"', '"model2.onnx"'),
                ["has a weight in '", "/model2.onnx', which does not exist; did you mean ", "/model.onnx?"])
        for elsewhere in os.path.join(t, "model.onnx"), "../model.onnx":
            refused(t, text, find(text, r"graph\.parameter .*= <"), (r'"model\.onnx"', f'"{elsewhere}"'),
                    [f"has a weight in '{elsewhere}', expected a path below graph.root"])
        refused(t, text, find(text, r"graph\.parameter .*= <"), (r'("model\.onnx", )\d+', r"\g<1>123456789"),
                [" bytes at byte 123456789 of '", "', which has "])
        with open(os.path.join(t, "model.onnx"), "ab") as f:
            f.write(bytes(16))
        refused(t, text, find(text, r"^module "), (r"^", " "), ["model.onnx' has changed since the dump was made"], is_there=False)


CASES = [(phase, edited, (phase,)) for phase in MALFORMED] + [(f"rules of {phase}", claims_next, (phase,)) for phase in BROKEN_RULES] + \
    [("weights", loses_weights, ("4-shard",)), *((f"phase of {p}", loses_phase, (p,)) for p in ("3-place", "4-shard"))]


if __name__ == "__main__":
    pcc.main(__doc__, {name: functools.partial(check, *given) for name, check, given in CASES})
