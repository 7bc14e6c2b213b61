#!/usr/bin/env python3
"""Tests models x plans: every rank's planned arena is at most 5% larger than the bytes that must be in it at one place of the
program, and the running rank has allocated exactly the planned arena.

    run_arena.py [--subset] [--only GLOB] [--plans 'tp=1;tp=2,pp=2'] [--comm mpi|thread] [--jobs N] [--list]

There are two lower bounds: the one of `inspect`, and a smaller one that liveness.py computes from the rank's executable. Models
are those of run_numeric.py."""
import argparse
import fnmatch
import os
import sys
import tempfile

import liveness
import pcc
from run_numeric import MODELS, dims_of, is_possible, place, real_models

PLANS = ["tp=1", "tp=2,pp=2,microbatches=4", "pp=4,microbatches=2", "dp=2"]
LARGEST_RATIO = 1.05
# The slots of a buffer are adjacent, which the bound does not take into account.
RATIO_OF = {("mobilenet", "pp=4,microbatches=2"): 1.12, ("real:llama-dynamo", "pp=4,microbatches=2"): 1.06}
# Bytes by which an arena may exceed the bound in any case. With a handful of values of a few hundred bytes each, no placement
# may reach the bound.
NEGLIGIBLE = 256


def check_bound(rank, live, largest):
    arena, stated = rank["arena_bytes"], rank["arena_lower_bound_bytes"]
    if not 0 < live <= stated <= arena:
        raise pcc.Failure(f"rank {rank['rank']}: {live} live bytes, a bound of {stated}, an arena of {arena}: not in this order")
    if arena > max(largest * live, live + NEGLIGIBLE):
        raise pcc.Failure(f"rank {rank['rank']}: an arena of {arena} bytes is {arena / live:.3f} times the {live} live bytes "
                          f"(stated bound {stated})")


def check_allocated(planned, report):
    """Checks that the report has every rank, and that each has allocated its arena as planned."""
    got = {r["rank"]: r["arena_bytes"] for r in report["ranks"]}
    want = {r["rank"]: r["arena_bytes"] for r in planned}
    if got != want:
        raise pcc.Failure(f"ranks account for arenas of {got} bytes, planned are {want}")


def arena(name, plan, comm, shown):
    with tempfile.TemporaryDirectory() as folder:
        path, inputs = place(name, folder)
        bundle = os.path.join(folder, "model.pcc")
        pcc.succeed(path, "-o", bundle, *pcc.dim_options(dims_of(path, inputs)), *pcc.plan_options(plan))
        ranks, live = pcc.inspect(bundle)["ranks"], {}
        for rank in ranks:
            executable = os.path.join(bundle, f"rank-{rank['rank']:03}")
            node = os.stat(executable).st_ino
            live[node] = live.get(node) or liveness.live_bytes(executable)
            if shown:
                print(f"{name:22} {plan:26} rank {rank['rank']}  arena {rank['arena_bytes']:10}  "
                      f"stated bound x{rank['arena_bytes'] / rank['arena_lower_bound_bytes']:.4f}  "
                      f"live x{rank['arena_bytes'] / live[node]:.4f}", flush=True)
            check_bound(rank, live[node], RATIO_OF.get((name, plan), LARGEST_RATIO))
        check_allocated(ranks, pcc.report("run", bundle, "--random-inputs", "1", "--comm", comm))


def cases(arguments):
    names = [*MODELS, *(f"real:{n}" for n in real_models())]
    plans = arguments.plans.split(";") if arguments.plans else PLANS
    table = [(m, p) for m in names if fnmatch.fnmatch(m, arguments.only) for p in plans if is_possible(m, p)]
    return table[::3] if arguments.subset else table


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--subset", action="store_true", help="every third case: each model with one plan or two")
    parser.add_argument("--only", default="*", metavar="GLOB")
    parser.add_argument("--plans", default="")
    parser.add_argument("--comm", default="mpi")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="print the figures of every rank")
    arguments = parser.parse_args()
    return pcc.run_cases([(f"{m} {p}", arena, (m, p, arguments.comm, arguments.list)) for m, p in cases(arguments)], arguments.jobs)


if __name__ == "__main__":
    sys.exit(main())
