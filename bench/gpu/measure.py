#!/usr/bin/env python3
"""Measures programs of pcc on a GPU: measure.py FOLDER [-o FILE.json] [--only GLOB] [--seconds N], where FOLDER is the output
of bench/gpu/prepare.py. Needs the driver, cuBLASLt and NCCL (those of PyTorch, or in PCC_CUDA_LIBRARIES), and compares with
PyTorch if it is installed.

Exits with 1 if a result is wrong or late, but not if a program is slow. Sections that cannot run (no PyTorch, no
compute-sanitizer) are reported."""
import argparse
import fnmatch
import os
import sys
import time

import correct
import timed
from programs import Bench, OutOfTime, Skipped, Wrong

# Sections, each with the largest number of seconds that it gets. Correctness comes first, and that of cuDNN's attention before
# all that uses it; the memory checker gets the rest.
SECTIONS = [(correct.kernels, 120), (correct.attention, 60), (correct.inference, 60), (correct.losses, 60), (correct.plans, 150),
            (correct.killed, 90), (timed.training, 210), (timed.latency, 60), (timed.instructions, 90), (correct.memory, 180)]


def is_right(section, seconds, bench):
    """Runs a section and prints its result. Returns whether it succeeded."""
    print(f"{section.__name__}:", flush=True)
    start = time.monotonic()
    bench.begin_section(seconds)
    try:
        if bench.left() <= 0:
            raise OutOfTime("not begun")
        section(bench)
        wrong = None
    except Skipped as why:
        wrong = bench.say(f"left out: {why}")
    except Wrong as why:
        wrong = why
    except Exception as why:  # the others are measured all the same
        wrong = f"{type(why).__name__}: {why}"
    if wrong:
        bench.say(f"WRONG: {wrong}")
    bench.say(f"{time.monotonic() - start:.0f} s")
    return not wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("-o", "--output", metavar="FILE.json")
    parser.add_argument("--only", default="*", metavar="GLOB", help="sections of these names")
    parser.add_argument("--seconds", type=float, default=480, help="when all has to have ended (default 480)")
    arguments = parser.parse_args()
    bench = Bench(os.path.abspath(arguments.folder), arguments.seconds, arguments.output)
    print(bench.device or "no nvidia-smi", flush=True)
    chosen = [(section, seconds) for section, seconds in SECTIONS if fnmatch.fnmatch(section.__name__, arguments.only)]
    wrong = [section.__name__ for section, seconds in chosen if not is_right(section, seconds, bench)]
    print(f"{len(wrong)} of {len(chosen)} sections are wrong" + (f": {', '.join(wrong)}" if wrong else ""))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
