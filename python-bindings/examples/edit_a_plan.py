#!/usr/bin/env python3
"""Looks at a plan and changes it: a weight is pinned, and a schedule is written by hand. Each new plan is verified.

    edit_a_plan.py MODEL.onnx LOSS [PLANS.html]     a model with the dynamic dim `batch`, and its loss: 'mse(y, labels)'
"""
import os
import sys
import tempfile

import pcc

if len(sys.argv) < 3:
    sys.exit(__doc__)
model, loss, *page = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder:
    # Dumps are the modules between the phases; a compilation can go on from each.
    dumps = os.path.join(folder, "ir")
    bundle = pcc.compile(model, tp=2, pp=2, microbatches=4, train=True, loss=loss, dims={"batch": 8}, dump_ir=dumps)
    print(bundle)

    # Why is there communication? The dearest collectives and the options that change them; as a dict, the result has all numbers.
    print(bundle.explain(top=3))

    # Pin a weight: its second dim is divided. The search decides the rest around it.
    weight = next(shards for shards in bundle.shards() if len(shards.shape) == 2)
    pinned = pcc.compile(os.path.join(dumps, "3-place.mlir"), start_at=4, shards={weight.name: "[-,tp]"})
    print(weight, *pinned.shards(weight.name), sep="\n")
    print("pinned plan: equal", pinned.verify()["equal"])

    # Write a schedule: a line per pipeline rank. The first one does all forward actions first.
    actions = [bundle.inspect(rank=rank)["ranks"][0]["actions"] for rank in (0, 2)]
    print("1F1B:", *actions, sep="\n")
    actions[0].sort(key=lambda action: "F" not in action)
    table = os.path.join(folder, "table.csv")
    with open(table, "w", encoding="utf-8") as file:
        file.writelines(",".join(row) + "\n" for row in actions)
    own = pcc.compile(os.path.join(dumps, "5-localize.mlir"), start_at=6, schedule=table)
    print("own schedule:", *(own.inspect(rank=rank)["ranks"][0]["actions"] for rank in (0, 2)), sep="\n")
    print("own schedule: equal", own.verify()["equal"])

    # Look at the three plans side by side. A notebook shows the report itself.
    if page:
        print(pcc.report(bundle, pinned, own, titles=["1F1B", "pinned", "own schedule"], output=page[0]))
