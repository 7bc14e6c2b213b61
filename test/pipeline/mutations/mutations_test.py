#!/usr/bin/env python3
"""Tests that every mistake in a partitioned program is found: by a verifier of the IR, by a gate, or by executing it.

    mutations_test.py [--jobs N] [--write DIR]

Per kind of mistake a hundred places are drawn from all programs. Prints the mistakes that were not found, the number found by
each check per kind, and a closing line. --write keeps the mistakes that were not found."""
import argparse
import collections
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "random"), os.path.join(os.path.dirname(HERE), "many"),
                os.path.join(os.path.dirname(os.path.dirname(HERE)), "numeric")]
import many
import mutate
import pcc
import programs
import random_graphs_test

PER_KIND = 100
FOUND_BY = {15: "executing it", 1: "a later gate or a rank that cannot go on", 3: "a verifier or the gate of its phase", 6: "a pass"}


def right_programs(folder, jobs):
    """Returns the dumps of programs that verify."""
    drawn = programs.draw_programs(folder)
    results = random_graphs_test.Run(folder, jobs).verify(drawn)
    for program in drawn:
        if result := results[program.seed]["exit"]:
            sys.exit(f"{program.name} does not verify, exit {result}: {results[program.seed]['error']}\n  {program.case('')}")
        yield mutate.Program(f"{program.name}-{program.seed}", with_sizes(os.path.join(program.dumps(), "5-localize.mlir")), program.name == "means")


def with_sizes(path):
    """Returns the text of a dump with shardings that carry the sizes of dims and axes, as pcc-opt prints them."""
    opt = os.path.join(os.path.dirname(pcc.PCC), "pcc-opt")
    return subprocess.run([opt, "--mlir-print-debuginfo", path], check=True, capture_output=True, text=True).stdout


def draw_mutants(dumps):
    choice, drawn = random.Random(0), []
    for maker in mutate.KINDS:
        found = [m for d in dumps for m in maker(d)]
        if len(found) < PER_KIND:
            sys.exit(f"only {len(found)} places for: {maker.__doc__}")
        drawn += choice.sample(found, PER_KIND)
    return drawn


def judge(mutants, results, keep):
    found, missed = collections.Counter(), 0
    for number, (mutant, result) in enumerate(zip(mutants, results)):
        found[mutant.kind, FOUND_BY.get(result["exit"], f"exit {result['exit']}")] += 1
        if result["exit"] == 0:
            missed += 1
            print(f"MISSED {mutant.kind} at {mutant.what}")
            if keep:
                with open(os.path.join(keep, f"missed-{number}.mlir"), "w") as f:
                    f.write(mutant.text)
    for (kind, by), count in sorted(found.items()):
        print(f"{kind}: {count} found by {by}")
    print(f"{len(mutants)} mutants, {missed} missed")
    return 1 if missed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--write", metavar="DIR")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        mutants, cases = draw_mutants(list(right_programs(folder, arguments.jobs))), []
        for number, mutant in enumerate(mutants):
            path = os.path.join(folder, f"{number}.mlir")
            with open(path, "w") as f:
                f.write(mutant.text)
            cases.append({"model": path})
        return judge(mutants, many.verify(cases, folder, arguments.jobs), arguments.write)


if __name__ == "__main__":
    sys.exit(main())
