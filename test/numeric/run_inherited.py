#!/usr/bin/env python3
"""What a command inherits from its parent changes nothing: ignored and blocked signals, closed descriptors, a limit on file sizes, and
the variables of another job's launcher.

    run_inherited.py [--only GLOB] [--jobs N]
"""
import itertools
import os
import resource
import signal
import subprocess
import tempfile
import time

import numpy as np
import pcc
from run_errors import builder, check_message, files

CASES = {}
RUNS = {"one rank": ("1", "mpi"), "processes": ("2", "mpi"), "threads": ("2", "thread")}


def case(function, *arguments):
    """A case gets an empty folder."""
    def run():
        with tempfile.TemporaryDirectory() as folder:
            function(folder, *arguments)
    CASES[" ".join((function.__name__, *map(str, arguments)))] = run
    return function


def compiled(folder, ranks="1", *options):
    path, bundle = os.path.join(folder, "model.onnx"), os.path.join(folder, "model.pcc")
    builder.build("mlp", path, layers=2)
    pcc.succeed(path, "-o", bundle, "--dim", "batch=8", "--dp", ranks, *options)
    return bundle


def start(folder, words, before=None, **options):
    options.setdefault("env", {**os.environ, "TMPDIR": folder})
    return subprocess.Popen([pcc.PCC, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            preexec_fn=before, start_new_session=True, **options)


def ended(process):
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def training(folder, kind):
    """Words of a training run that goes on until it is asked to stop, and saves then."""
    ranks, comm = RUNS[kind]
    bundle = compiled(folder, ranks, "--train", "--loss", "mse(y, labels)", "--optimizer", "sgd")
    return ["run", bundle, "--comm", comm, "--random-inputs", "1", "--steps", "100000000", "--save", os.path.join(folder, "saved")]


def begun(process):
    """Waits for the first step."""
    if not process.stdout.readline().startswith("step 1 "):
        raise pcc.Failure(f"no step: {process.stderr.read()[-300:]}")


def drained(process):
    """Reads on until the command ends; returns its exit code."""
    out, err = process.communicate(timeout=60)
    return process.returncode, err


def a_signal_that_is_not_effective_ends_nothing(folder, kind, how):
    """As under nohup, which ignores the hangup; a second signal, which is effective, stops it."""
    def before():
        if how == "ignored":
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
        else:
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    process = start(folder, training(folder, kind), before)
    try:
        begun(process)
        os.kill(process.pid, signal.SIGHUP)
        time.sleep(1)
        if process.poll() is not None:
            raise pcc.Failure(f"a hangup that is {how} has ended it: {process.returncode}")
        os.kill(process.pid, signal.SIGTERM)
        code, said = drained(process)
        if not os.path.exists(os.path.join(folder, "saved")):
            raise pcc.Failure(f"nothing was saved: {code} {said[-300:]}")
    finally:
        if process.poll() is None:
            pcc.end(process)


for kind, how in itertools.product(RUNS, ("ignored", "blocked")):
    case(a_signal_that_is_not_effective_ends_nothing, kind, how)


def a_hangup_stops_and_saves(folder, kind):
    process = start(folder, training(folder, kind))
    try:
        begun(process)
        os.kill(process.pid, signal.SIGHUP)
        code, said = drained(process)
        if not os.path.exists(os.path.join(folder, "saved")):
            raise pcc.Failure(f"nothing was saved: {code} {said[-300:]}")
    finally:
        if process.poll() is None:
            pcc.end(process)


for kind in RUNS:
    case(a_hangup_stops_and_saves, kind)


def closed(folder, *descriptors):
    """With any of the standard descriptors closed, compiling and running do what they always do."""
    def before():
        for descriptor in descriptors:
            os.close(descriptor)
    path, bundle, out = (os.path.join(folder, name) for name in ("model.onnx", "model.pcc", "out"))
    builder.build("mlp", path, layers=2)
    commands = [[path, "-o", bundle, "--dim", "batch=8", "--dp", "2"]]
    commands += [["run", bundle, "--comm", comm, "--random-inputs", "1", "--output", f"{out}-{comm}"] for comm in ("thread", "mpi")]
    for words in commands:
        code, _, said = ended(start(folder, words, before))
        if code:
            raise pcc.Failure(f"exit code {code}: {words[0]}: {said[-300:]}")
    for comm in ("thread", "mpi"):
        if not np.isfinite(np.load(os.path.join(f"{out}-{comm}", "y.npy"))).all():
            raise pcc.Failure("the output is not finite")


for count in (1, 2, 3):
    for descriptors in itertools.combinations((0, 1, 2), count):
        case(closed, *descriptors)


def children_are_not_lost(folder):
    """A parent that ignores the ends of its children gives that to its own: the exit code of ranks arrives all the same."""
    bundle = compiled(folder, "2")
    process = start(folder, ["run", bundle, "--comm", "mpi"], lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    code, _, said = ended(process)
    if code != 10:
        raise pcc.Failure(f"exit code {code}, expected 10: {said[-300:]}")


case(children_are_not_lost)


COMMANDS = {
    "compile": lambda f: [f"{f}/model.onnx", "-o", f"{f}/b.pcc", "--dim", "batch=8"],
    "save": lambda f: ["run", f"{f}/model.pcc", "--comm", "thread", "--random-inputs", "1", "--steps", "1", "--save", f"{f}/saved",
                       "--metrics", f"{f}/m.jsonl"],
    "processes": lambda f: ["run", f"{f}/model.pcc", "--comm", "mpi", "--random-inputs", "1", "--steps", "1", "--save", f"{f}/saved"],
    "report": lambda f: ["run", f"{f}/model.pcc", "--comm", "thread", "--random-inputs", "1", "--steps", "900", "--report", f"{f}/r.json"],
    "dumps": lambda f: [f"{f}/model.onnx", "--stop-after", "3", "--dim", "batch=8", "--dump-ir", f"{f}/ir"],
    "verify": lambda f: ["verify", f"{f}/model.onnx", "--dim", "batch=8", "--run"],
}


def limited(folder, limit, number, command):
    """Under a limit that is too low for it, a command ends with 7 and leaves nothing."""
    compiled(folder, "2", "--train", "--loss", "mse(y, labels)")
    before = files(folder)
    code, _, said = ended(start(folder, COMMANDS[command](folder), lambda: resource.setrlimit(getattr(resource, limit), (number,) * 2)))
    if code != 7:
        raise pcc.Failure(f"exit code {code}, expected 7: {said[-400:]}")
    check_message(said, [], strict=False)
    if left := {name for name in files(folder) - before if not name.endswith("m.jsonl") or not os.path.getsize(os.path.join(folder, name))}:
        raise pcc.Failure(f"left behind: {sorted(left)[:5]}")


for command, kilobytes in (("compile", 64), ("save", 0), ("save", 8), ("processes", 100), ("processes", 1), ("dumps", 4), ("report", 4)):
    case(limited, "RLIMIT_FSIZE", kilobytes * 1024, command)
for command in COMMANDS:
    case(limited, "RLIMIT_NOFILE", 5, command)
for command in ("compile", "verify", "save"):
    case(limited, "RLIMIT_STACK", 1 << 18, command)


def data(folder, comm, mebibytes):
    """A run that may have little data works or says that memory is out: no library that forgets to check an allocation ends it."""
    bundle = compiled(folder, "2", "--train", "--loss", "mse(y, labels)")
    limit = lambda: resource.setrlimit(resource.RLIMIT_DATA, (mebibytes << 20,) * 2)
    code, _, said = ended(start(folder, ["run", bundle, "--comm", comm, "--random-inputs", "1"], limit))
    if code not in (0, 13) or (code and "memory" not in said and "thread" not in said):
        raise pcc.Failure(f"exit code {code}: {said[-600:]}")


for mebibytes in range(24, 80, 8):
    case(data, "thread", mebibytes)


def space(folder, mebibytes):
    """A compilation that may have little address space works or says that memory is out, also where it cannot be loaded."""
    builder.build("mlp", f"{folder}/model.onnx", layers=1)
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (mebibytes << 20,) * 2)
    code, _, said = ended(start(folder, [f"{folder}/model.onnx", "--dim", "batch=8", "--tp", "2", "-o", f"{folder}/small.pcc"], limit))
    if code not in (0, 13) or (code and "memory" not in said and "thread" not in said):
        raise pcc.Failure(f"exit code {code}: {said[-600:]}")
    if code and mebibytes < 64 and "ulimit -v" not in said:
        raise pcc.Failure(f"no limit is named: {said[-600:]}")


for mebibytes in (16, 200, *range(362, 400, 6)):
    case(space, mebibytes)


def space_of_ranks(folder, first):
    """Ranks as threads that may have little address space work or say that memory is out, at whatever step it is."""
    builder.build("gpt2", f"{folder}/model.onnx", layers=2, hidden=32, heads=2, positions=32, vocabulary=64)
    pcc.succeed(f"{folder}/model.onnx", "--dim", "batch=4", "--dim", "seq=16", "--tp", "2", "-o", f"{folder}/small.pcc")
    for mebibytes in range(first, 452, 8):
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (mebibytes << 20,) * 2)
        code, _, said = ended(start(folder, ["run", f"{folder}/small.pcc", "--random-inputs", "1", "--comm", "thread"], limit))
        if code not in (0, 13) or (code and "memory" not in said and "thread" not in said):
            raise pcc.Failure(f"{mebibytes} MiB: exit code {code}: {said[-600:]}")


for first in 404, 408:
    case(space_of_ranks, first)


def descriptors(folder, hard):
    """mpirun waits forever without enough descriptors: the soft limit is raised, and a hard one refused."""
    bundle = compiled(folder, "8" if hard else "2")
    limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (24, 66 if hard else 1024))
    code, _, said = ended(start(folder, ["run", bundle, "--comm", "mpi", "--random-inputs", "1"], limit))
    if code != (13 if hard else 0) or (hard and "open files" not in said):
        raise pcc.Failure(f"exit code {code}: {said[-400:]}")


for hard in (True, False):
    case(descriptors, hard)


def processes(folder, comm, most):
    """A user who may not start another process or thread is told so, whoever needed it: pcc, mpirun, MPI or a rank."""
    bundle = compiled(folder, "2")
    user = 61234
    if os.geteuid() != 0 or subprocess.run([pcc.PCC, "--version"], user=user, capture_output=True).returncode:
        return  # Limits do not bind root, and no other user can be had.
    for place, folders, _ in os.walk(folder):
        for name in ("", *folders):
            os.chmod(os.path.join(place, name), 0o777)

    def limit():
        resource.setrlimit(resource.RLIMIT_NPROC, (most, most))
        os.setgroups([])
        os.setuid(user)
    code, _, said = ended(start(folder, ["run", bundle, "--comm", comm, "--random-inputs", "1"], limit))
    if code != 13 or "processes and threads" not in said:
        raise pcc.Failure(f"exit code {code}: {said[-800:]}")


for comm, most in (("thread", 3), *(("mpi", most) for most in (2, 3, 5, 7, 9, 11))):
    case(processes, comm, most)


def mounted(folder, place, options):
    """Returns the words that run a command with a new file system at `place`."""
    return ["unshare", "-m", "sh", "-c", f'mount -t tmpfs -o {options} tmpfs "{place}" && exec "$@"', "sh"]


def space(folder, kibibytes, where):
    """mpirun's files have room, or the run is refused before a rank dies of SIGBUS."""
    bundle, small = compiled(folder, "2"), os.path.join(folder, "small")
    os.mkdir(small)
    place, env = {"TMPDIR": (small, {"TMPDIR": small}), "shared memory": ("/dev/shm", {})}[where]
    words = mounted(folder, place, f"size={kibibytes}k")
    if subprocess.run([*words, "true"], capture_output=True).returncode:
        return  # Mounting is not allowed.
    done = subprocess.run([*words, pcc.PCC, "run", bundle, "--comm", "mpi", "--random-inputs", "1"], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=60, env={**os.environ, **env})
    if where == "TMPDIR" and kibibytes < 9000:
        if done.returncode != 7 or "KiB are free" not in done.stderr:
            raise pcc.Failure(f"exit code {done.returncode}: {done.stderr[-400:]}")
        check_message(done.stderr, ["TMPDIR"], strict=False)
    elif done.returncode:
        raise pcc.Failure(f"exit code {done.returncode}: {done.stderr[-400:]}")


for where, kibibytes in (("TMPDIR", 8), ("TMPDIR", 1000), ("TMPDIR", 8400), ("TMPDIR", 20000), ("shared memory", 4), ("shared memory", 200)):
    case(space, kibibytes, where)

def noexec(folder, comm):
    """A file system that forbids programs is named; the bundle on it is not called damaged."""
    bundle, small = compiled(folder, "2"), os.path.join(folder, "small")
    os.mkdir(small)
    words = mounted(folder, small, "noexec")
    if subprocess.run([*words, "true"], capture_output=True).returncode:
        return  # Mounting is not allowed.
    run = ["sh", "-c", 'cp -r "$1" "$2/b.pcc" && exec "$3" run "$2/b.pcc" --comm "$4" --random-inputs 1', "sh", bundle, small, pcc.PCC, comm]
    done = subprocess.run([*words, *run], capture_output=True, text=True, timeout=60)
    if done.returncode != 7 or "is mounted with noexec" not in done.stderr:
        raise pcc.Failure(f"exit code {done.returncode}: {done.stderr[-400:]}")


for comm in "thread", "mpi":
    case(noexec, comm)


def full(folder, options, command):
    """Where the file system is full, the error says so; nothing hangs, and nothing is left."""
    compiled(folder, "2", "--train", "--loss", "mse(y, labels)")
    place = os.path.join(folder, "full")
    os.mkdir(place)
    words = mounted(folder, place, options)
    if subprocess.run([*words, "true"], capture_output=True).returncode:
        return  # Mounting is not allowed.
    moved = [word.replace(f"{folder}/b.pcc", f"{place}/b.pcc").replace(f"{folder}/saved", f"{place}/saved") for word in
             COMMANDS[command](folder)]
    listed = ["sh", "-c", f'"$@"; code=$?; ls -A "{place}"; exit $code', "sh"]
    done = subprocess.run([*words, *listed, pcc.PCC, *moved], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
    if done.returncode != 7 or "pcc: error: " not in done.stderr or "another rank" in done.stderr:
        raise pcc.Failure(f"exit code {done.returncode}: {done.stderr[-400:]}")
    if left := [line for line in done.stdout.splitlines() if not line.startswith("step ")]:
        raise pcc.Failure(f"left behind: {left}")


for options, command in (("size=200k", "compile"), ("size=1000k", "compile"), ("nr_inodes=1", "save"), ("nr_inodes=4", "save"),
                         ("nr_inodes=4", "processes"), ("size=4k", "save"), ("ro", "save"), ("ro", "compile")):
    case(full, options, command)

OTHERS = {
    "torchrun": dict(RANK="3", WORLD_SIZE="8", LOCAL_RANK="3", LOCAL_WORLD_SIZE="8"),
    "pcc": dict(PCC_RANK="1", PCC_WORLD_SIZE="4", PCC_RENDEZVOUS="tcp://127.0.0.1:9", PCC_SESSION_DIR="/nowhere", PCC_LAUNCH="3"),
    "half of pcc": dict(PCC_RANK="1"),
    "Open MPI": dict(OMPI_COMM_WORLD_RANK="2", OMPI_COMM_WORLD_SIZE="3", PMIX_RANK="2", PMIX_NAMESPACE="123", OMPI_UNIVERSE_SIZE="3",
                     OMPI_MCA_ess="^singleton", OMPI_MCA_orte_ess_num_procs="3"),
    "no numbers": dict(RANK="one", WORLD_SIZE=""),
}


def variables_of_another_job(folder, launcher, kind):
    ranks, comm = RUNS[kind]
    bundle = compiled(folder, ranks)
    env = {**os.environ, **OTHERS[launcher], "TMPDIR": folder}
    code, _, said = ended(start(folder, ["run", bundle, "--comm", comm, "--random-inputs", "1"], env=env))
    if code:
        raise pcc.Failure(f"exit code {code}: {said[-300:]}")


for launcher, kind in itertools.product(OTHERS, RUNS):
    case(variables_of_another_job, launcher, kind)

if __name__ == "__main__":
    pcc.main(__doc__, CASES, kind=lambda name: name.split()[0])
