#!/usr/bin/env python3
"""Schedules of a pipeline of 4 ranks: compares pcc with torch.distributed.pipelining on gloo, in one interleaved run, and the
idle share of pcc's ranks with the closed forms.

    bench/setup && build/bench-venv/bin/python bench/pipelines.py -o pipelines.json
    … --schedules 1f1b,zb-h1 --rounds 3 --steps 3

The model is GPT-2 of test/models with an untied head, equally many layers per stage, AdamW in float32, one thread per rank. The
losses of the first steps are compared before anything is timed; ratios are taken within a round, to torch's 1F1B. PyTorch's
name of zb-h1 is ScheduleInterleavedZeroBubble with one stage per rank.

If ranks share cores, waiting for a core looks like work, and the time of a step says little about the schedule. Therefore the
idle share is also computed by a replay: actions run in the order of the run, each as soon as its inputs exist, and each takes
its CPU time in the run (median over microbatches and rounds). Updates, which come last, are left out."""
import argparse
import collections
import json
import os
import re
import socket
import statistics
import tempfile

import training
from asked import Asked

RANKS = 4
BASE = "torch 1f1b"
VIRTUAL = {"1f1b": 1, "interleaved": 2, "zb-h1": 1, "zb-v": 2}
ACTION = re.compile(r"(\d+)([FBIW])(\d+)$")


class Peer(training.Peer):
    """One process of pipelines_peer.py per rank, of which rank 0 answers."""

    def __init__(self, schedule, folder, arguments):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        files = [os.path.join(folder, name) for name in ("model.onnx", "data")]
        rest = [RANKS, port, *files, arguments.heads, arguments.layers, arguments.microbatches]
        loopback = {"GLOO_SOCKET_IFNAME": "lo"}
        super().__init__("pipelines_peer.py", schedule, 0, *rest, **loopback)
        self.others = [Asked("pipelines_peer.py", schedule, rank, *rest, **loopback) for rank in range(1, RANKS)]

    def ask(self, count):
        for other in self.others:
            other.tell(count)
        return super().ask(count)

    def end(self):
        for other in self.others:
            other.process.stdin.close()
        super().end()
        for other in self.others:
            other.end()


class Pcc(training.Pcc):
    """Runs of pcc. Keeps their idle share (time in which ranks waited for messages) and the time of each action."""

    def __init__(self, schedule, folder, dims, arguments):
        plan = ["--pp", str(RANKS), "--microbatches", str(arguments.microbatches), "--schedule", schedule]
        super().__init__(folder, dims, plan, arguments.comm, schedule)
        self.idle, self.taken, self.order = [], collections.defaultdict(list), None

    def run(self, count, *options):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "trace.json")
            report, used = super().run(count, "--trace", path, *options)
            with open(path) as f:
                self.note(report, json.load(f)["traceEvents"])
        return report, used

    def note(self, report, events):
        ranks = report["ranks"]
        self.idle.append(sum(r["idle_seconds"] for r in ranks) / sum(r["seconds"] for r in ranks))
        order = [[] for _ in ranks]
        for event in events:
            if event["ph"] == "X" and event["tid"] == 0 and (match := ACTION.match(event["name"])):
                stage, kind, microbatch = int(match[1]), match[2], int(match[3])
                order[event["pid"]].append((stage, kind, microbatch))
                self.taken[stage, kind].append(1e-6 * event["tdur"])
        self.order = order

    def seconds(self):
        """Returns the CPU seconds of an action, by stage and kind."""
        return {key: statistics.median(values) for key, values in self.taken.items()}


def needs(action, stages):
    """Returns the actions that have to end before an action begins, if they are part of the step."""
    stage, kind, microbatch = action
    if kind == "F":
        return [(stage - 1, "F", microbatch)] if stage else []
    if kind == "W":
        return [(stage, "I", microbatch)]
    after = [(stage + 1, k, microbatch) for k in "BI"] if stage + 1 < stages else []
    return [(stage, "F", microbatch), *after]


def replay(order, seconds):
    """Returns the idle share of ranks that execute their actions in order, each as soon as possible; `seconds` is by stage and
    kind."""
    ends, free, at = {}, [0.0] * len(order), [0] * len(order)
    known = {action for rank in order for action in rank}
    stages = 1 + max(stage for stage, _, _ in known)
    moved = True
    while moved:
        moved = False
        for rank, actions in enumerate(order):
            while at[rank] < len(actions):
                before = [n for n in needs(actions[at[rank]], stages) if n in known]
                if any(n not in ends for n in before):
                    break
                action = actions[at[rank]]
                free[rank] = max([free[rank], *(ends[n] for n in before)]) + seconds[action[:2]]
                ends[action], moved = free[rank], True
                at[rank] += 1
    if len(ends) != len(known):
        raise SystemExit("the order of the run cannot be replayed")
    work = sum(seconds[action[:2]] for action in known)
    return 1 - work / (len(order) * max(free))


def closed_form(schedule, microbatches, forward, backward, of_weights):
    """Returns the idle share. Times are those of a microbatch on one rank; B includes W (Narayanan 2021, Qi 2023)."""
    idle = (RANKS - 1) * {"1f1b": forward + backward, "interleaved": (forward + backward) / 2,
                          "zb-h1": forward + backward - 2 * of_weights,
                          "zb-v": max(forward, backward - of_weights) / 2}[schedule]
    return idle / (microbatches * (forward + backward) + idle)


def idle_row(schedule, pcc, microbatches):
    seconds = pcc.seconds()
    kinds = {k: sum(v for (_, kind), v in seconds.items() if kind == k) / RANKS for k in "FBIW"}
    units = {(s, k): {"F": 1, "B": 2, "I": 1, "W": 1}[k] for s, k in seconds}
    return dict(schedule=schedule, unit_form=closed_form(schedule, microbatches, 1, 2, 1), unit_replay=replay(pcc.order, units),
                form=closed_form(schedule, microbatches, kinds["F"], kinds["B"] + kinds["I"] + kinds["W"], kinds["W"]),
                replay=replay(pcc.order, seconds), measured=statistics.median(pcc.idle), milliseconds={k: 1e3 * v for k, v in kinds.items()})


def print_idle(rows):
    percent = lambda value: f"{100 * value:.1f} %"
    print("\n| schedule | closed form, F = I = W | its order in these units | closed form, measured F, I, W | replay of measured actions | "
          "waiting in the run | F, B, I, W of a rank, ms |\n|---|---|---|---|---|---|---|")
    for row in rows:
        shares = " | ".join(percent(row[k]) for k in ("unit_form", "unit_replay", "form", "replay", "measured"))
        print(f"| {row['schedule']} | {shares} | {', '.join(f'{v:.1f}' for v in row['milliseconds'].values())} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    training.add_options(parser, layers=8, hidden=384, heads=6, vocabulary=512, batch=8, seq=128, microbatches=8, rounds=5, steps=4)
    parser.add_argument("--schedules", default=",".join(VIRTUAL))
    parser.add_argument("--comm", default="mpi", help="of pcc: mpi (processes, as PyTorch's ranks are) or thread")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pcc-bench-") as folder:
        dims, weights = training.prepare(arguments, folder, tied=False)
        print(f"{weights / 1e6:.1f} M weights, {os.cpu_count()} cores", flush=True)
        names = arguments.schedules.split(",")
        ours = {f"pcc {s}": Pcc(s, folder, dims, arguments) for s in names}
        variants = ours | {f"torch {s}": Peer(s, folder, arguments) for s in names}
        errors = training.differences(variants, BASE)
        rows = training.rows_of(variants, training.interleave(variants, arguments), BASE, errors)
        idle = [idle_row(name.removeprefix("pcc "), pcc, arguments.microbatches) for name, pcc in ours.items()]
    training.print_rows(rows)
    print_idle(idle)
    if arguments.output:
        with open(arguments.output, "w") as f:
            json.dump({"steps": rows, "idle": idle}, f, indent=1)


if __name__ == "__main__":
    main()
