#!/usr/bin/env python3
"""Bytes that one rank receives when a tensor changes its sharding: compares the planner with gather-then-slice and a lower
bound, in units of the tensor, as means over all pairs of shardings of a mesh and a rank.

    python bench/reshard_bytes.py [--reductions] [--build build/release]

The pairs are those of test/passes/plan/reshard/AllPairsTest.cpp, which executes them and checks the bounds. --reductions uses
pairs with a partial source; their gather-then-slice begins with an all_reduce."""
import argparse
import json
import os
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COLUMNS = ["pairs", "planner", "gather", "bound", "ratio", "worst"]


def measure(build, name):
    """Returns the recorded properties of one test over all meshes."""
    with tempfile.NamedTemporaryFile("r") as results:
        subprocess.run([os.path.join(ROOT, build, "test", "reshard-test"), f"--gtest_filter=*AllPairs.{name}/*",
                        f"--gtest_output=json:{results.name}"], stdout=subprocess.DEVNULL, check=True)
        return [case for suite in json.load(results)["testsuites"] for case in suite["testsuite"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reductions", action="store_true")
    parser.add_argument("--build", default="build/release")
    arguments = parser.parse_args()
    name = "ReductionsAreNearTheirLowerBound" if arguments.reductions else "MovementsAreOneStepAtTheLowerBound"
    print("| mesh, shape | rank |", " | ".join(COLUMNS), "|")
    print("|---|---|" + "---|" * len(COLUMNS))
    for case in measure(arguments.build, name):
        figures = [case["pairs"], *(f"{float(case[c]):.3f}" for c in COLUMNS[1:])]
        print(f"| {case['mesh'].removeprefix('mesh').replace('_', ', ')} | {case['rank']} |", " | ".join(map(str, figures)), "|")


if __name__ == "__main__":
    main()
