#!/usr/bin/env python3
"""Tests pairs of features: a covering array of op families, axes, sizes, presets, pins, schedules, microbatches, training and
precision, in which each two levels of two features meet in at least one plan. Each plan computes the values of the
unpartitioned model; some are executed as well.

    run_pairs.py [--seed N] [--arrays N] [--every N] [--only GLOB] [--list] [--jobs N]

Every seed gives another array, of about 200 plans. A failing case prints its options.
"""
import argparse
import fnmatch
import os
import random
import sys
import tempfile

import covering
import pcc

sys.path.insert(0, os.path.join(pcc.ROOT, "test", "models"))
import builder
import families

LAYERS = 2
TIMEOUT = 120  # seconds, of plans that take one
TRAINING = {"sgd": "--optimizer sgd --momentum 0.9", "adam": "--optimizer adam", "adamw": "--optimizer adamw --clip-norm 0.5",
            "adagrad": "--optimizer adagrad"}
LOSSES = {"mse": "mse(y, labels)", "classes": "cross_entropy(y, labels)"}
SCHEDULES = ("1f1b", "gpipe", "interleaved", "zb-h1", "zb-v", "naive")
# Precisions: options with which a plan is compiled, and the types in which it is compared.
DTYPES = {"f64": ([], "f64"), "model": ([], "model"), "bf16": (["--dtype", "bf16"], "model")}

# Pins: the axes that a plan must have, and the option.
PINS = {
    "none": ((), None),
    "rows": (("tp",), "in.weight=[tp,-]"),
    "columns": (("tp",), "layers.0.norm.weight=[tp]"),
    "head": (("dp",), "head.weight=[-,dp]"),
    "batch": (("dp",), "x=[dp,-,-]"),
    "sequence": (("cp",), "mid=[?,cp,?]"),
    "width": (("tp",), "mid=[-,-,tp]"),
    "whole": ((), "mid=[-,-,-]"),
    "two axes": (("dp", "tp"), "mid=[dp,tp,-]"),
    "joined": (("dp", "tp"), "y=[-,-,dp+tp]"),
    "sub-axis": (("tp4",), "mid=[?,?,tp:(2)2]"),
}

FACTORS = {
    "family": list(families.FAMILIES),
    "tp": [1, 2, 3, 4],
    "dp": [1, 2, 3],
    "cp": [1, 2],
    "pp": [1, 2, 3],
    "batch": [4, 6, 5, 1],
    "seq": [4, 5],
    "width": [8, 6, 7],
    "microbatches": [1, 2, 3, 4],
    "training": ["none", *TRAINING],
    "loss": ["none", *LOSSES],
    "schedule": ["default", *SCHEDULES],
    "preset": ["none", "megatron", "megatron,sequence", "zero1", "zero2", "zero3", "megatron,zero2"],
    "pin": list(PINS),
    "recompute": ["none", "selective", "full"],
    "dtype": list(DTYPES),
    "from": ["model", "3-place", "4-shard", "5-localize", "6-schedule"],
    "more": ["", "--reproducible", "--loss-scale 64", "--freeze in.*", "--target cuda", "--run"],
}


def has_axes(pin, tp, dp, cp):
    sizes = {"tp": tp > 1, "dp": dp > 1, "cp": cp > 1, "tp4": tp == 4}
    return all(sizes[axis] for axis in PINS[pin][0])


# Requests that pcc refuses for a reason that its documentation gives, and those that mean nothing.
CONSTRAINTS = [
    (("tp", "dp", "cp", "pp"), lambda tp, dp, cp, pp: tp * dp * cp * pp <= 12),
    (("batch", "microbatches"), lambda batch, microbatches: batch % microbatches == 0),
    (("training", "loss"), lambda training, loss: (training == "none") == (loss == "none")),
    (("training", "recompute"), lambda training, recompute: training != "none" or recompute == "none"),
    (("training", "schedule"), lambda training, schedule: training != "none" or schedule == "default"),
    (("training", "more"), lambda training, more: training != "none" or more in ("", "--target cuda", "--run")),
    (("dp", "batch", "microbatches", "more"), lambda dp, batch, microbatches, more:
        "reproducible" not in more or (dp & dp - 1 == 0 and batch // microbatches % dp == 0)),
    (("pp", "schedule"), lambda pp, schedule: pp > 1 or schedule in ("default", "1f1b", "gpipe")),
    (("pp", "microbatches", "schedule"), lambda pp, microbatches, schedule: schedule != "interleaved" or microbatches % pp == 0),
    (("pin", "tp", "dp", "cp"), has_axes),
    (("preset", "tp"), lambda preset, tp: "megatron" not in preset or tp > 1),
    (("preset", "dp"), lambda preset, dp: "zero" not in preset or dp > 1),
    (("preset", "training"), lambda preset, training: preset.split(",")[-1] not in ("zero1", "zero2") or training != "none"),
]


def plan_options(row):
    """Returns the options with which a plan is compiled."""
    sizes = [w for axis in ("tp", "dp", "cp", "pp") if row[axis] > 1 for w in (f"--{axis}", row[axis])]
    words = [*sizes, "--dim", f"batch={row['batch']}", "--microbatches", row["microbatches"], *DTYPES[row["dtype"]][0]]
    if row["training"] != "none":
        words += ["--train", "--loss", LOSSES[row["loss"]], *TRAINING[row["training"]].split(), "--recompute", row["recompute"], "--lr", 0.01]
    if row["schedule"] != "default":
        words += ["--schedule", row["schedule"]]
    if row["preset"] != "none":
        words += ["--preset", row["preset"]]
    if pin := PINS[row["pin"]][1]:
        words += ["--shard", pin]
    return words if row["more"] == "--run" else [*words, *row["more"].split()]


def verify_options(row):
    """Returns the options with which a plan is compared."""
    return ["--dtype", DTYPES[row["dtype"]][1], *(["--run"] if row["more"] == "--run" else [])]


def name_of(row):
    model = [row["family"], *(f"{key}={row[key]}" for key in ("width", "seq", "from"))]
    return " ".join(map(str, [*model, *plan_options(row), *verify_options(row)]))


def check(row):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "m.onnx")
        builder.build("family", path, kind=row["family"], width=row["width"], seq=row["seq"], layers=LAYERS)
        plan = plan_options(row)
        if row["from"] != "model":
            pcc.succeed(path, *plan, "-q", "--dump-ir", folder, "--stop-after", row["from"], timeout=TIMEOUT)
            path, plan = os.path.join(folder, f"{row['from']}.mlir"), []
        code, _, err = pcc.call("verify", path, *plan, *verify_options(row), "-q", timeout=TIMEOUT)
        if code:
            raise pcc.Failure(f"exit code {code}: {err.strip()[:400]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--arrays", type=int, default=10, help="number of seeds, from --seed on")
    parser.add_argument("--every", type=int, default=1, help="try one plan out of N")
    parser.add_argument("--only", default="*", help="families")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="only print the commands")
    a = parser.parse_args()
    rows = [r for i in range(a.arrays) for r in covering.array(FACTORS, CONSTRAINTS, random.Random(a.seed + i))]
    cases = {name_of(r): r for r in rows if fnmatch.fnmatch(r["family"], a.only)}
    chosen = pcc.sample(list(cases), a.every, lambda name: "")
    if a.list:
        print(*chosen, sep="\n")
        return 0
    return pcc.run_cases([(name, check, (cases[name],)) for name in chosen], a.jobs)


if __name__ == "__main__":
    sys.exit(main())
