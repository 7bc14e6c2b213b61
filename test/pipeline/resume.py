#!/usr/bin/env python3
"""Tests that a compilation resumed from any dump gives the same bytes as one without a stop, also without the model; options
are recorded, may be repeated, and must not change.

    resume.py [--only GLOB] [--jobs N]
"""
import functools
import json
import os
import re
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "test", "numeric"), os.path.join(ROOT, "test", "models")]
import builder
import pcc

LAST = 6
SIZES = {"mlp": {}, "gpt2": dict(layers=2, hidden=32, heads=4, vocabulary=101), "llama": dict(layers=2, hidden=32, heads=4, vocabulary=101)}
DIMS = {"mlp": {"batch": 8}, "gpt2": {"batch": 8, "seq": 16}, "llama": {"batch": 8, "seq": 16}}
PLANS = ("", "tp=2,pp=2,microbatches=2", "dp=2,tp=3")


def read(path):
    with open(path, "rb") as f:
        return f.read()


def dumps(folder):
    return sorted(f for f in os.listdir(folder) if f.endswith(".mlir"))


def compare(ours, theirs, name, what):
    if read(os.path.join(ours, name)) != read(os.path.join(theirs, name)):
        raise pcc.Failure(f"{name} differs {what}")


def resumes(model, plan):
    """Resumes from every dump, with and without repeated options; all give the same dumps."""
    with tempfile.TemporaryDirectory() as t:
        path, whole = os.path.join(t, "m", "model.onnx"), os.path.join(t, "ir")
        builder.build(model, path, external=True, **SIZES[model])
        options = pcc.dim_options(DIMS[model]) + (pcc.plan_options(plan) if plan else [])
        pcc.succeed(path, *options, "--stop-after", LAST, f"--dump-ir={whole}")
        if len(dumps(whole)) != LAST:
            raise pcc.Failure(f"dumps: {dumps(whole)}")
        os.rename(os.path.join(t, "m"), os.path.join(t, "gone"))
        for phase, dump in enumerate(dumps(whole)[:-1], 1):
            for repeated in ([], options):
                again = os.path.join(t, f"ir-{phase}-{len(repeated)}")
                pcc.succeed(os.path.join(whole, dump), *repeated, "--start-at", phase + 1, "--stop-after", LAST, f"--dump-ir={again}")
                for name in dumps(again):
                    compare(whole, again, name, f"when resumed from {dump}")
                if len(dumps(again)) != LAST - phase:
                    raise pcc.Failure(f"{dump}: dumps {dumps(again)}")


def refused(folder, mention, *arguments):
    code, out, err = pcc.call(*arguments, cwd=folder)
    if code != 2 or out or not re.match(r"pcc: error: [^A-Z]", err):
        raise pcc.Failure(f"exit code {code}, expected 2: {err.strip()[-300:]}")
    if missing := [m for m in mention if m not in err]:
        raise pcc.Failure(f"the message does not mention {missing}: {err.strip()[-300:]}")


def changed_options():
    """Tests that options of phases before the dump cannot be changed."""
    with tempfile.TemporaryDirectory() as t:
        path, ir = os.path.join(t, "model.onnx"), os.path.join(t, "ir")
        builder.build("mlp", path)
        pcc.succeed(path, "--dim", "batch=8", "--tp", "2", "--stop-after", "shard", f"--dump-ir={ir}")
        dump = os.path.join(ir, "4-shard.mlir")
        refused(t, ["--tp", "4", "2"], dump, "--tp", "4")
        refused(t, ["--pp", "2"], dump, "--pp", "2")
        refused(t, ["--dim", "4", "8"], dump, "--dim", "batch=4")
        refused(t, ["--shard"], dump, "--shard", "*=[?,?]")
        refused(t, ["--start-at", "4-shard"], dump, "--start-at", "4")
        refused(t, ["--start-at", "4-shard"], dump, "--start-at", "schedule")
        refused(t, ["--stop-after", "4-shard"], dump, "--stop-after", "2")
        refused(t, ["--start-at"], path, "--dim", "batch=8", "--start-at", "3")
        pcc.succeed(dump, "--tp", "2", "--pp", "1", "--start-at", "5-localize", "--stop-after", "5")


def advice():
    """Tests that the dump and the phase that the message about a late option names take the option, also with other options."""
    with tempfile.TemporaryDirectory() as t:
        path, ir = os.path.join(t, "model.onnx"), os.path.join(t, "ir")
        builder.build("mlp", path)
        pcc.succeed(path, "--dim", "batch=8", "--tp", "2", "--dp", "2", "-q", "-o", os.path.join(t, "b.pcc"), f"--dump-ir={ir}")
        shard, stages = ["--shard", "x=[?,?]"], ["--pp", "2"]
        for options in (shard, stages, ["--preset", "fsdp"], ["--tp", "4"], ["--mesh", "a=4"], ["--memory-limit", "1GiB"],
                        ["--microbatches", "2"], ["--dtype", "bf16"], [*shard, *stages], [*shard, "--microbatches", "2"], [*stages, "--dtype", "bf16"]):
            code, _, err = pcc.call(os.path.join(ir, "5-localize.mlir"), *options, "-o", os.path.join(t, "no.pcc"))
            found = re.search(r"dump of (\S+), with --start-at (\S+?),?\s", err)
            if code != 2 or not found:
                raise pcc.Failure(f"{options}: exit code {code}: {err.strip()[-300:]}")
            pcc.succeed(os.path.join(ir, found[1] + ".mlir"), "--start-at", found[2], *options, "-q", "-o", os.path.join(t, "b.pcc"))


def equal_twice():
    """Tests that folder, environment and time do not affect dumps, and that the model's folder does."""
    with tempfile.TemporaryDirectory() as t:
        path = os.path.join(t, "model.onnx")
        builder.build("gpt2", path, **SIZES["gpt2"])
        arguments = [path, *pcc.dim_options(DIMS["gpt2"]), "--tp", "2", "--stop-after", LAST]
        pcc.succeed(*arguments, f"--dump-ir={t}/a")
        os.makedirs(os.path.join(t, "elsewhere"))
        pcc.succeed(os.path.relpath(path, os.path.join(t, "elsewhere")), *arguments[1:], f"--dump-ir={t}/b",
                    cwd=os.path.join(t, "elsewhere"), env={"TZ": "Asia/Tokyo", "LC_ALL": "C"})
        for name in dumps(os.path.join(t, "a")):
            compare(os.path.join(t, "a"), os.path.join(t, "b"), name, "from another folder")


def verified():
    """Tests that every dump that can be interpreted is verified, and that a wrong one is detected by its first wrong value: the
    first GELU, whose slope was changed."""
    with tempfile.TemporaryDirectory() as t:
        path, ir = os.path.join(t, "model.onnx"), os.path.join(t, "ir")
        builder.build("mlp", path)
        pcc.succeed(path, "--dim", "batch=8", "--tp", "2", "--pp", "2", "--microbatches", "2", "-o", os.path.join(t, "b"), f"--dump-ir={ir}")
        for dump in dumps(ir)[:LAST]:
            if pcc.report("verify", os.path.join(ir, dump))["equal"] is not True:
                raise pcc.Failure(f"{dump} is not equal")
        refused(t, ["7-emit", "6-schedule"], "verify", os.path.join(ir, "7-emit.mlir"))
        spoilt, report = os.path.join(t, "spoilt.mlir"), os.path.join(t, "report.json")
        text = read(os.path.join(ir, "5-localize.mlir")).decode()
        with open(spoilt, "w") as f:
            f.write(text.replace("slope = 0.7", "slope = 0.9", 1))
        code, _, err = pcc.call("verify", spoilt, "--report", report)
        with open(report) as f:
            first = json.load(f)["first_difference"]
        if code != 15 or first["value"] == "y" or not first["node"].startswith("/layers.0/") or f"'{first['value']}'" not in err:
            raise pcc.Failure(f"exit code {code}, first difference {first}: {err.strip()[-300:]}")
        os.remove(path)
        code, _, err = pcc.call("verify", os.path.join(ir, "6-schedule.mlir"))
        if code != 3 or "model.onnx" not in err:
            raise pcc.Failure(f"exit code {code} without the model: {err.strip()[-300:]}")


CASES = [(f"{m} {p or 'one rank'}", resumes, (m, p)) for m in SIZES for p in PLANS] + \
        [("changed options", changed_options, ()), ("advice", advice, ()), ("equal twice", equal_twice, ()), ("verified", verified, ())]


if __name__ == "__main__":
    pcc.main(__doc__, {name: functools.partial(check, *given) for name, check, given in CASES})
