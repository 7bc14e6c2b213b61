#!/usr/bin/env python3
"""Idle time of positions in generated schedules: prints the sizes for which the simulation differs from the closed forms of the
literature. Units are those of the golden tables (F = I = W = 1, B = 2, divided among the stages of a position); no time is
measured, so the result does not depend on the machine.

    python3 bench/schedules.py [--positions 2,4,8,16] [--proof] [--build build/release]

Sizes are those of test/passes/plan/schedule/ScheduleSweepTest.cpp: up to 16 positions, 64 microbatches and 4 stages per
position. --proof also runs its test that every table of every size is valid and terminates with rendezvous messages."""
import argparse
import json
import os
import re
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCHEDULES = {"OfInterleavedIsTheClosedFormWherePositionsDivideMicrobatches": "interleaved",
             "OfZbH1IsTheClosedFormWhereMicrobatchesFillThePipeline": "zb-h1", "OfZbVMissesTheClosedFormAt184Sizes": "zb-v"}


def cases_of(build, tests):
    """Returns the recorded properties of the sweep's tests."""
    with tempfile.NamedTemporaryFile("r") as results:
        subprocess.run([os.path.join(ROOT, build, "test", "schedule-sweep-test"), f"--gtest_filter={tests}",
                        f"--gtest_output=json:{results.name}"], stdout=subprocess.DEVNULL, check=True)
        return [case for suite in json.load(results)["testsuites"] for case in suite["testsuite"]]


def closed_form(schedule, stages, positions):
    return (positions - 1) * {"interleaved": 3 / stages, "zb-h1": 1, "zb-v": 0.5}[schedule]


def in_runs(misses):
    """Formats "1-3: +3 to +1, 5: +2" for {1: 3, 2: 2, 3: 1, 5: 2}: consecutive numbers of microbatches are joined."""
    runs = []
    for m in sorted(misses):
        if runs and m == runs[-1][-1] + 1:
            runs[-1].append(m)
        else:
            runs.append([m])
    return ", ".join(f"{r[0]}: +{misses[r[0]]:.4g}" if len(r) == 1 else
                     f"{r[0]}-{r[-1]}: +{misses[r[0]]:.4g} to +{misses[r[-1]]:.4g}" for r in runs)


def print_idle(build, positions):
    print("| schedule | stages | positions | closed form | microbatches: excess |\n|---|---|---|---|---|")
    for case in cases_of(build, "IdleTime.*"):
        schedule = SCHEDULES.get(case["name"])
        sizes = {tuple(map(int, m.groups())): case[key] for key in case if (m := re.fullmatch(r"v(\d+)_p(\d+)", key))}
        for (v, p), listed in sorted(sizes.items()):
            if p in positions:
                misses = {int(m): float(excess) for m, excess in (word.split(":") for word in listed.split())}
                print(f"| {schedule} | {v} | {p} | {closed_form(schedule, v, p):.4g} | {in_runs(misses)} |")


def print_proof(build):
    print("| schedule | tables | seconds |\n|---|---|---|")
    for case in cases_of(build, "*EverySize.IsSound*"):
        print(f"| {case['schedule']} | {case['tables']} | {case['time'].rstrip('s')} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--positions", default="2,4,8,16", help="the positions to list, from 2 to 16")
    parser.add_argument("--proof", action="store_true")
    parser.add_argument("--build", default="build/release")
    arguments = parser.parse_args()
    if arguments.proof:
        print_proof(arguments.build)
        print()
    print_idle(arguments.build, set(map(int, arguments.positions.split(","))))


if __name__ == "__main__":
    main()
