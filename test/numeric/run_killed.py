#!/usr/bin/env python3
"""Tests training runs that are killed, stopped, stalled or asked to end: how they end, and that they can be resumed without
loss.

    run_killed.py [--only GLOB] [--kills N] [--crashes N] [--seed S] [-v]

Ranks are processes. kill: SIGKILL of a random rank at N random moments; every other rank ends within five seconds, the one
error names the rank, and the resumed run has the losses and weights of an uninterrupted one, bit for bit. crash: a rank dies at
a change of the file system while a checkpoint is saved (a write is torn), at N random ones or, with 0, at all of them; the
checkpoint on disk can be loaded, and the run continues alike. stop, stall and launcher: SIGTERM, SIGSTOP, and the end of the
process that starts the ranks.
"""
import argparse
import filecmp
import fnmatch
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import pcc
import run_training

PLAN, WORLD, STEPS = "tp=2,pp=2,microbatches=4", 4, 24
CASES = {}
SETTINGS = argparse.Namespace(kills=3, crashes=3, seed=1, v=False)


def case(name):
    def add(function):
        CASES[name] = function
        return function
    return add


def expect(holds, text):
    if not holds:
        raise pcc.Failure(text)


# ---- processes -----------------------------------------------------------------------------------------------------------------


def processes():
    """Returns pid: (parent, state, arguments) of all processes that are no zombies."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as file:
                state, parent = file.read().rsplit(")", 1)[1].split()[:2]
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                arguments = file.read().decode(errors="replace").split("\0")[:-1]
        except OSError:
            continue
        if state != "Z":
            found[int(pid)] = (int(parent), state, arguments)
    return found


def ranks_of(bundle):
    """Returns rank: pid."""
    prefix = os.path.join(bundle, "rank-")
    return {int(words[0][len(prefix):]): pid for pid, (_, _, words) in processes().items() if words and words[0].startswith(prefix)}


def wait_until_gone(left, seconds=10):
    """Waits until `left()` lists nothing."""
    until = time.monotonic() + seconds
    while (names := left()) and time.monotonic() < until:
        time.sleep(0.01)
    expect(not names, f"left behind: {names}")


class Run:
    """`pcc run` of training on processes, which is observed."""

    def __init__(self, bundle, data, *options, steps=10 ** 6, env=None):
        self.bundle, self.lines = bundle, []
        self.scratch = tempfile.mkdtemp()
        words = [pcc.PCC, "run", bundle, "--data", data, "--steps", steps, *options]
        self.process = subprocess.Popen([str(w) for w in words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, env={**os.environ, "TMPDIR": self.scratch, **(env or {})}, start_new_session=True)
        self.errors = []
        self.readers = [threading.Thread(target=self.read, args=a) for a in
                        ((self.process.stdout, self.lines), (self.process.stderr, self.errors))]
        for reader in self.readers:
            reader.start()

    @staticmethod
    def read(stream, lines):
        for line in stream:
            lines.append(line)

    def wait_for(self, what, seconds=120):
        """Waits until `what()` is true. Returns False if the run ends before."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if what():
                return True
            if self.process.poll() is not None:
                return False
            time.sleep(0.002)
        raise pcc.Failure(f"waited {seconds} s in vain: {self.text()[-400:]}")

    def wait_for_step(self, step):
        expect(self.wait_for(lambda: len(self.lines) >= step), f"ended before step {step}: {self.text()[-600:]}")

    def wait_for_ranks(self):
        self.wait_for(lambda: len(ranks_of(self.bundle)) == WORLD)

    def launcher(self):
        found = [(pid, words) for pid, (parent, _, words) in processes().items()
                 if parent == self.process.pid and os.path.basename(words[0]) == "mpirun"]
        return found[0]

    def seconds_until_gone(self, limit=60, but=()):
        """Returns the seconds until no rank exists any more, counted from the call."""
        begin = time.monotonic()
        while set(ranks_of(self.bundle)) - set(but):
            if time.monotonic() - begin > limit:
                raise pcc.Failure(f"ranks {sorted(ranks_of(self.bundle))} are there after {limit} s")
            time.sleep(0.005)
        return time.monotonic() - begin

    def text(self):
        return "".join(self.errors)

    def end(self, timeout=60):
        """Waits for the end. Returns exit code and stderr; no file or process may be left."""
        try:
            code = self.process.wait(timeout)
            for reader in self.readers:
                reader.join(timeout)
        except subprocess.TimeoutExpired:
            self.process.terminate()
            raise pcc.Failure(f"still running after {timeout} s: {self.text()[-400:]}")
        self.wait_until_clean()
        return code, self.text()

    def wait_until_clean(self, seconds=10):
        """After SIGKILL of `pcc run`, a helper process removes its folders one by one, while this test goes on."""
        wait_until_gone(lambda: os.listdir(self.scratch), seconds)
        os.rmdir(self.scratch)


# ---- a model, and what an uninterrupted run gives ------------------------------------------------------------------------------


class Reference:
    def __init__(self, folder, kind="gpt2"):
        self.folder, self.model = folder, run_training.Model(kind, folder)
        self.data = self.model.data()
        self.bundle = self.model.compile("b.pcc", PLAN, run_training.ADAM)
        self.saved = os.path.join(folder, "whole")
        begin = time.monotonic()
        self.curve = self.train("whole", STEPS, "--save", self.saved, comm="mpi")
        self.seconds = time.monotonic() - begin

    def train(self, name, steps, *options, comm="thread"):
        """Returns step: loss and norm, to the last bit."""
        path = os.path.join(self.folder, name + ".jsonl")
        pcc.succeed("run", self.bundle, "--data", self.data, "--steps", steps, "--comm", comm, "--metrics", path, *options)
        return read_curve(path)

    def expect_resumable(self, saved, comm="thread", at_least=0):
        """Checks that a saved run continues to the end like the uninterrupted one."""
        step = latest(saved)
        expect(step >= at_least, f"step {step} was saved, after step {at_least}")
        if step < STEPS:
            name = os.path.basename(saved) + "-resumed"
            curve = self.train(name, STEPS - step, "--resume", saved, "--save", saved, comm=comm)
            os.remove(os.path.join(self.folder, name + ".jsonl"))
            expect(curve == {k: v for k, v in self.curve.items() if k > step}, f"the curve after step {step} differs: {curve}")
        for name in sorted(os.listdir(step_folder(self.saved))):
            one, other = (os.path.join(step_folder(folder), name) for folder in (self.saved, saved))
            expect(name == "manifest.json" or filecmp.cmp(one, other, shallow=False), f"{name} differs after a resume at step {step}")


def read_curve(path):
    with open(path) as file:
        steps = [json.loads(line) for line in file]
    return {s["step"]: (s["loss"], s["grad_norm"]) for s in steps}


def step_folder(saved, step=STEPS):
    return os.path.join(saved, f"step-{step:08}")


def latest(saved):
    """Returns the step that `latest` names, or 0."""
    path = os.path.join(saved, "latest")
    if not os.path.exists(path):
        return 0
    with open(path) as file:
        return int(file.read().strip()[len("step-"):])


def expect_message(text, *patterns):
    errors = [line for line in text.splitlines() if line.startswith("pcc: error: ")]
    expect(len(errors) == 1, f"{len(errors)} errors: {text[-600:]}")
    for pattern in patterns:
        expect(re.search(pattern, errors[0]), f"no {pattern!r} in {errors[0]}")


# ---- cases ---------------------------------------------------------------------------------------------------------------------


@case("kill")
def kill(folder):
    reference, draw, slowest = Reference(folder), random.Random(SETTINGS.seed), 0
    done = 0
    while done < SETTINGS.kills:
        saved = os.path.join(folder, f"killed-{done}")
        background = ["--save-in-background"] if draw.random() < 0.5 else []
        run = Run(reference.bundle, reference.data, "--save", saved, "--save-every", 1, *background, steps=STEPS)
        run.wait_for_ranks()
        # One of six is killed while it starts and loads, the others in any step.
        victim, step = draw.randrange(WORLD), draw.randrange(-4, STEPS - 4)
        run.wait_for(lambda: len(run.lines) >= step)
        moment = draw.uniform(0, reference.seconds / (STEPS if step > 0 else 4))
        time.sleep(moment)
        pid = ranks_of(reference.bundle).get(victim)
        if run.process.poll() is not None or pid is None:
            run.end()
            shutil.rmtree(saved, ignore_errors=True)
            continue
        told = len(run.lines)
        os.kill(pid, signal.SIGKILL)
        begin = time.monotonic()
        run.seconds_until_gone()
        gone = time.monotonic() - begin
        code, text = run.end()
        if code == 0:  # it had done all that it had to
            continue
        slowest = max(slowest, gone)
        if SETTINGS.v:
            print(f"rank {victim} after step {told} and {moment:.2f} s: gone after {gone:.2f} s, resumes at {latest(saved)}\n{text}",
                  flush=True)
        expect(code == 14, f"exit code {code}: {text[-600:]}")
        expect_message(text, f"rank {victim} was lost: it was ended by signal 9")
        expect(gone < 5, f"ranks were there for {gone:.1f} s")
        if told > 1:
            expect_message(text, r"step \d+, (after )?action \w+")
            if "waits for it" in text:
                expect_message(text, rf"rank \d waits for it: step \d+, action \w+, \w+ of \S+ with (rank {victim}|ranks .*{victim})")
            expect(text.count("\nnote: rank ") == WORLD, f"not all ranks are told of: {text}")
        if latest(saved) or told > 2:
            # A step is reported before it is saved. In the background, two saves may be in progress.
            reference.expect_resumable(saved, comm="mpi" if done == 0 else "thread", at_least=told - (3 if background else 2))
            shutil.rmtree(saved)
        done += 1
    print(f"kill: {done} ranks killed, the others gone after {slowest:.2f} s at most", flush=True)


@case("stop")
def stop(folder):
    """Tests SIGTERM and SIGINT to `pcc run`, and SIGTERM to one rank: all ranks save the same step and exit with 16. The message
    names the signal that the user has sent."""
    reference = Reference(folder)
    for target, sent in ("pcc", signal.SIGTERM), ("pcc", signal.SIGINT), ("rank", signal.SIGTERM), ("thread", signal.SIGINT):
        saved, report = os.path.join(folder, f"stopped-{target}-{sent}"), os.path.join(folder, "report.json")
        trace = os.path.join(folder, "trace.json")
        run = Run(reference.bundle, reference.data, "--save", saved, "--save-every", 1000, "--report", report, "--trace", trace,
                  "--comm", "thread" if target == "thread" else "mpi")
        run.wait_for_step(3)
        os.kill(ranks_of(reference.bundle)[2] if target == "rank" else run.process.pid, sent)
        code, text = run.end()
        expect(code == 16, f"{target}: exit code {code}: {text[-600:]}")
        told = re.search(rf"stopped by a request \(signal {sent.value} \({signal.strsignal(sent)}\)\) after step (\d+)\n", text)
        expect(text.rstrip().splitlines()[-1] == f"note: --resume {saved} continues from there", text)
        expect(told and int(told[1]) == len(run.lines) == latest(saved), f"{target}: {len(run.lines)} steps, saved {latest(saved)}: {text}")
        with open(report) as file:
            expect(len(json.load(file)["steps"]) == len(run.lines), "the report has other steps")
        with open(trace) as file:
            json.load(file)
        if latest(saved) < STEPS:
            reference.expect_resumable(saved)


@case("processor time")
def processor_time(folder):
    """Tests that training ends with a checkpoint where the soft limit of processor time has passed."""
    reference = Reference(folder)
    for comm in ("mpi", "thread"):
        saved = os.path.join(folder, f"limited-{comm}")
        run = subprocess.run([pcc.PCC, "run", reference.bundle, "--comm", comm, "--data", reference.data, "--steps", "100000000", "--save", saved],
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600,
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (2, resource.RLIM_INFINITY)))
        expect(run.returncode == 16 and latest(saved) > 0, f"{comm}: exit code {run.returncode}, saved {latest(saved)}: {run.stderr[-600:]}")


@case("reader")
def reader(folder):
    """Tests that training stops, saved, when the reader of stdout is gone, with 16; with 141 if nothing is saved; and with 7 if
    stdout is full or nobody reads."""
    reference = Reference(folder)
    for comm in ("mpi", "thread"):
        saved = os.path.join(folder, f"reader-{comm}")
        for options, wanted in ((["--save", saved, "--save-every", 1000], 16), ([], 141)):
            code, lines, text = read_one_line(reference, "--comm", comm, *options)
            expect(code == wanted, f"{comm}: exit code {code}, right is {wanted}: {text[-600:]}")
            expect_message(text, "the reader of stdout is gone")
        expect(latest(saved) > 0, "nothing is saved")
        if latest(saved) < STEPS:
            reference.expect_resumable(saved)
        shutil.rmtree(saved)
        with open("/dev/full", "w") as full:
            run = subprocess.run([pcc.PCC, "run", reference.bundle, "--data", reference.data, "--steps", "9", "--comm", comm, "--save", saved],
                                 stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE, text=True)
        expect(run.returncode == 7 and "No space left" in run.stderr, f"{comm}: exit code {run.returncode}: {run.stderr}")
        expect(latest(saved) > 0, "nothing is saved")
        shutil.rmtree(saved)
        metrics = subprocess.run([pcc.PCC, "run", reference.bundle, "--data", reference.data, "--steps", "9", "--comm", comm, "--save", saved,
                                  "--metrics", "/dev/full"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        expect(metrics.returncode == 7 and "/dev/full" in metrics.stderr, f"{comm}: exit code {metrics.returncode}: {metrics.stderr}")
        shutil.rmtree(saved)


@case("reader that waits")
def reader_that_waits(folder):
    """Tests that training stops, saved, with 7 when the reader of stdout lives and reads nothing, before other ranks give up."""
    reference = Reference(folder)
    for comm in ("mpi", "thread"):
        saved = os.path.join(folder, f"waiting-{comm}")
        process = subprocess.Popen([pcc.PCC, "run", reference.bundle, "--comm", comm, "--data", reference.data, "--steps", "1000000",
                                    "--save", saved, "--timeout", "3"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        try:
            process.wait(timeout=120)
            text = process.stderr.read()
            expect(process.returncode == 7 and latest(saved) > 0, f"{comm}: exit code {process.returncode}, saved {latest(saved)}: {text}")
            expect_message(text, "stdout")
        finally:
            process.kill()
            process.communicate()


@case("reader of messages")
def reader_of_messages(folder):
    """Tests that a training goes on and is saved when the reader of stderr is gone, and that it stops, saved, when the reader of
    both stdout and stderr is gone."""
    reference = Reference(folder)
    for comm in ("mpi", "thread"):
        for shares, steps, wanted in ((False, STEPS, 0), (True, 1000000, 16)):
            saved = os.path.join(folder, f"messages-{comm}-{wanted}")
            read, write = os.pipe()
            process = subprocess.Popen([pcc.PCC, "run", reference.bundle, "--comm", comm, "--data", reference.data, "--steps", str(steps),
                                        "--save", saved, "--save-every", "1000"], stdin=subprocess.DEVNULL,
                                       stdout=write if shares else subprocess.DEVNULL, stderr=write)
            os.close(write)
            if wanted:
                os.read(read, 1)
            os.close(read)
            code = process.wait(timeout=120)
            expect(code == wanted and latest(saved) > 0, f"{comm}: exit code {code}, right is {wanted}; saved {latest(saved)}")


def read_one_line(reference, *options):
    """Reads one line of a run and closes its stdout. Returns the exit code, the line and stderr."""
    process = subprocess.Popen([pcc.PCC, "run", reference.bundle, "--data", reference.data, "--steps", "1000000", *map(str, options)],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    process.stdout.close()
    text = process.stderr.read()
    return process.wait(timeout=60), line, text


@case("stop twice")
def stop_twice(folder):
    """Tests that the second signal ends a run at once that the first one cannot end."""
    model = run_training.Model("mlp", folder)
    bundle = model.compile("b.pcc", PLAN, run_training.MOMENTUM)
    run = Run(bundle, model.data())
    run.wait_for_step(3)
    os.kill(ranks_of(bundle)[1], signal.SIGSTOP)
    run.process.terminate()
    time.sleep(0.3)
    run.process.terminate()
    gone = run.seconds_until_gone()
    code, text = run.end()
    expect(code == 143 and gone < 5, f"exit code {code} after {gone:.1f} s: {text}")
    expect_message(text, "the run was ended by signal 15")


@case("stall")
def stall(folder):
    """Tests that a rank that hangs is found, although the first rank that misses a message may wait for another one."""
    model, draw = run_training.Model("gpt2", folder), random.Random(SETTINGS.seed)
    bundle, data = model.compile("b.pcc", PLAN, run_training.ADAM), model.data()
    for _ in range(2):
        report, victim = os.path.join(folder, "report.json"), draw.randrange(WORLD)
        run = Run(bundle, data, "--timeout", 2, "--report", report)
        run.wait_for_step(3)
        time.sleep(draw.uniform(0, 0.2))
        os.kill(ranks_of(bundle)[victim], signal.SIGSTOP)
        gone = run.seconds_until_gone()
        code, text = run.end()
        expect(code == 14 and gone < 7, f"exit code {code} after {gone:.1f} s: {text}")
        expect_message(text, r"rank \d: \w+ of .* \(action \w+\) waited 2 s; ranks? .* did not arrive", f"rank {victim} has not moved for")
        with open(os.path.join(folder, "report.flight.json")) as file:
            flights = json.load(file)["ranks"]
        expect([f["rank"] for f in flights] == list(range(WORLD)), "the recorders are not those of all ranks")
        waiting = [e for f in flights for e in f["entries"][-40:] if e["kind"] == "wait" and e["end"] is None]
        expect(any(e["value"] and e["action"] and e["peers"] for e in waiting), f"nobody waits: {waiting}")
        posts = [e for f in flights for e in f["entries"] if e["kind"] == "post" and e["end"] is not None]
        expect(posts, "no message was posted and finished")


@case("launcher")
def launcher(folder):
    """Tests that ranks end if the process that started them is killed, and that neither files nor shared memory remain."""
    model = run_training.Model("mlp", folder)
    bundle, data = model.compile("b.pcc", PLAN, run_training.MOMENTUM), model.data()
    for target in ("pcc", "mpirun"):
        run = Run(bundle, data)
        run.wait_for_step(3)
        pid, words = run.launcher()
        memory = [words[i + 1] for i, word in enumerate(words) if word == "btl_vader_backing_directory"]
        os.kill(run.process.pid if target == "pcc" else pid, signal.SIGKILL)
        gone = run.seconds_until_gone()
        code, text = run.end()
        expect(gone < 5, f"ranks were there for {gone:.1f} s")
        wait_until_gone(lambda: [path for path in memory if os.path.exists(path)])
        expect(code == (-9 if target == "pcc" else 14), f"exit code {code}: {text}")
        if target == "mpirun":
            expect_message(text, "mpirun was ended by signal 9")


def crash_once(reference, base, saved, options, env):
    """Continues from the checkpoint of step 1 to step 2, or until it crashes. Returns whether it did."""
    shutil.copytree(base, saved)
    run = Run(reference.bundle, reference.data, "--resume", saved, "--save", saved, *options, steps=1, env={**env, "CRASH_FOLDER": saved})
    code, text = run.end()
    expect(code in (0, 14, -9), f"exit code {code}: {text[-600:]}")
    name = os.path.basename(saved) + "-after"
    curve = reference.train(name, 1, "--resume", saved, "--save", saved)
    os.remove(os.path.join(reference.folder, name + ".jsonl"))
    (step, numbers), = curve.items()
    expect(step in (2, 3) and numbers == reference.curve[step], f"step {step} is {numbers}, expected {reference.curve.get(step)}")
    expect(code != 0 or step == 3, "the checkpoint of a run that succeeded is not there")
    left = [n for n in os.listdir(saved) if ".tmp-" in n or n.endswith(".part")]
    expect(not left, f"{left} is left after the next save")
    shutil.rmtree(saved)
    return code != 0


@case("crash")
def crash(folder):
    library = os.environ.get("CRASH_AT_LIBRARY")
    expect(library, "CRASH_AT_LIBRARY does not say where libcrash-at.so is")
    reference, draw = Reference(folder, "mlp"), random.Random(SETTINGS.seed)
    base = os.path.join(folder, "base")
    reference.train("base", 1, "--save", base)
    count = 0
    for comm in ("thread", "mpi"):
        for background in ([], ["--save-in-background"]):
            chosen = range(1, 10 ** 6) if SETTINGS.crashes == 0 else [draw.randrange(1, 30) for _ in range(SETTINGS.crashes)]
            for rank in (range(WORLD) if comm == "mpi" and SETTINGS.crashes == 0 else [draw.randrange(WORLD)]):
                for at in chosen:
                    env = {"LD_PRELOAD": library, "CRASH_AT": str(at), **({"CRASH_RANK": str(rank)} if comm == "mpi" else {})}
                    saved = os.path.join(folder, f"crashed-{comm}-{rank}-{at}")
                    died = crash_once(reference, base, saved, [*background, "--comm", comm], env)
                    count += died
                    if not died and SETTINGS.crashes == 0:
                        if SETTINGS.v:
                            print(f"{comm} {background} rank {rank}: {at - 1} changes", flush=True)
                        break
    expect(count > 0, "nobody died")
    print(f"crash: died {count} times", flush=True)


def run_case(function):
    with tempfile.TemporaryDirectory() as folder:
        function(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="*")
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--crashes", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-v", action="store_true")
    parser.parse_args(namespace=SETTINGS)
    sys.exit(pcc.run_cases([(n, run_case, (f,)) for n, f in CASES.items() if fnmatch.fnmatch(n, SETTINGS.only)]))


if __name__ == "__main__":
    main()
