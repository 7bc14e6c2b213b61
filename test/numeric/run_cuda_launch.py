#!/usr/bin/env python3
"""Tests that ranks on fake GPUs (test/runtime/fake) connect under every launcher, and that a rank that dies, hangs or does not
belong to the job ends all others within five seconds, with one clear line.

    run_cuda_launch.py [--only GLOB] [--every N] [--jobs N]

Open MPI is the real one; torchrun and srun are imitated by the variables that they set.
"""
import json
import os
import re
import secrets
import signal
import socket
import subprocess
import tempfile
import time

import pcc
from run_cuda import fake
from run_cuda_faults import PLANS, compile_mlp

CASES = {}
LAUNCHERS = re.compile(r"(PCC|OMPI|PMI|PMIX|SLURM|MASTER|TORCHELASTIC)_|(RANK|WORLD_SIZE|LOCAL_RANK|LOCAL_WORLD_SIZE)$")
RUN = ["--random-inputs", "1", "-q"]
ENDLESS = ["--steps", "1000000"]
GONE = 5


def variables(launcher, rank, world, job):
    """Returns the variables that a launcher sets for a rank of a job on one host. Jobs with other numbers are other jobs."""
    if launcher == "torchrun":
        return {"RANK": rank, "WORLD_SIZE": world, "LOCAL_RANK": rank, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": job % 40000 + 20000}
    if launcher == "srun":
        return {"SLURM_PROCID": rank, "SLURM_NTASKS": world, "SLURM_LOCALID": rank, "SLURM_JOB_ID": job, "SLURM_STEP_ID": 0,
                "SLURM_STEP_NODELIST": "gpu[007]"}
    return {"PCC_RANK": rank, "PCC_WORLD_SIZE": world, "PCC_LOCAL_RANK": rank, "PCC_RENDEZVOUS": launcher}


class Job:
    """Ranks as processes that only watch each other. `ranks` are those to start at once; the others are started by start()."""

    def __init__(self, folder, launcher, bundles, options, settings=(), env=(), ranks=None):
        self.folder, self.launcher, self.bundles, self.options = folder, launcher, bundles, options
        self.settings, self.env, self.number = dict(settings), dict(env), secrets.randbelow(2 ** 31)
        self.token = {"PCC_JOB_TOKEN": secrets.token_hex(16)} if launcher.startswith("tcp:") else {}
        self.ranks = [None] * len(bundles)
        for rank in range(len(bundles)) if ranks is None else ranks:
            self.start(rank)

    def start(self, rank):
        said = {**self.token, **variables(self.launcher, rank, len(self.ranks), self.number), **self.env}
        inherited = {k: v for k, v in os.environ.items() if not LAUNCHERS.match(k)}
        options = self.options[rank] if isinstance(self.options, dict) else self.options
        with open(self.path(rank, "out"), "w") as out, open(self.path(rank, "err"), "w") as err:
            self.ranks[rank] = subprocess.Popen(
                [os.path.join(self.bundles[rank], "run"), *RUN, *options], stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                start_new_session=True,
                env={**inherited, **fake(self.folder, self.settings.get(rank, "")), **{k: str(v) for k, v in said.items()}})

    def path(self, rank, kind):
        return os.path.join(self.folder, f"{kind}.{rank}")

    def said(self, rank, kind="err"):
        with open(self.path(rank, kind)) as file:
            return file.read()

    def wait_for_steps(self):
        until = time.monotonic() + 30
        while self.said(0, "out").count("step") < 3:
            if time.monotonic() > until or any(p.poll() is not None for p in self.ranks):
                self.end()
                raise pcc.Failure(f"no step: {[self.said(r)[:300] for r in range(len(self.ranks))]}")
            time.sleep(0.01)

    def wait(self, seconds=60, but=()):
        """Waits for the ranks. Returns exit codes by rank, and the time until all but some have ended."""
        begin = time.monotonic()
        try:
            for rank, process in enumerate(self.ranks):
                if rank not in but:
                    process.wait(max(0.01, begin + seconds - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise pcc.Failure(f"rank {rank} is there after {seconds} s: {self.said(rank)[:300]}")
        finally:
            took = time.monotonic() - begin
            self.end()
        return [process and process.returncode for process in self.ranks], took

    def end(self):
        for process in self.ranks:
            if process and process.poll() is None:
                process.kill()
                process.wait()

    def expect(self, codes, pattern, but=(), seconds=60):
        """Checks exit codes, and a message on every rank but some."""
        got, took = self.wait(seconds, but)
        for rank, code in enumerate(got):
            if rank not in but and (code != codes or not re.search(pattern, self.said(rank))):
                raise pcc.Failure(f"rank {rank}: exit code {code}, not {codes} and /{pattern}/: {self.said(rank)[:400]}")
        return took


def in_folder(function):
    def run(*arguments):
        with tempfile.TemporaryDirectory() as folder:
            function(folder, *arguments)
    return run


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return str(listener.getsockname()[1])


def losses(text):
    return [line for line in text.splitlines() if line.startswith("step ")]


def mpirun(world, *words):
    return ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", str(world), *words]


@in_folder
def meet(folder, launcher, plan):
    """Tests that the ranks of the plan compute the same as under `pcc run`."""
    bundle = compile_mlp(folder, PLANS[plan])
    steps = ["--steps", "2"]
    want = losses(pcc.succeed("run", bundle, *RUN, *steps, env=fake(folder)))
    world = pcc.inspect(bundle)["world"]
    if launcher == "mpirun":
        code, out, err = pcc.call(*RUN, *steps, command=mpirun(world, os.path.join(bundle, "run")), env=fake(folder), timeout=60)
    elif launcher == "nobody":
        code, out, err = pcc.call(*RUN, *steps, command=[os.path.join(bundle, "run")], env=fake(folder), timeout=60)
    else:
        os.mkdir(os.path.join(folder, "long" * 30))
        job = Job(folder, launcher.replace("FOLDER", folder).replace("PORT", free_port()), [bundle] * world, steps)
        codes, _ = job.wait()
        code, out, err = max(codes), job.said(0, "out"), "".join(job.said(r) for r in range(world))
    if code or losses(out) != want or len(want) != 2:
        raise pcc.Failure(f"exit code {code}, {losses(out)}, not {want}: {err[:400]}")


@in_folder
def killed(folder, launcher, plan, victim):
    """Tests a killed rank, if only the ranks themselves end the others."""
    bundle = compile_mlp(folder, PLANS[plan])
    job = Job(folder, launcher, [bundle] * pcc.inspect(bundle)["world"], ENDLESS)
    job.wait_for_steps()
    job.ranks[victim].kill()
    took = job.expect(14, f"rank {victim} was lost", but=[victim], seconds=GONE)
    if job.said(victim) or took > GONE:
        raise pcc.Failure(f"the others were gone after {took:.1f} s")


@in_folder
def killed_under_mpirun(folder):
    """Tests a killed rank under mpirun, which waits for the shells around the ranks. The shells succeed; the ranks exit with
    14."""
    bundle = compile_mlp(folder, PLANS["pp"])
    codes = os.path.join(folder, "code")
    shell = ["sh", "-c", f'"$0" "$@" & echo $! > {folder}/pid.$OMPI_COMM_WORLD_RANK; wait $!; echo $? > {codes}.$OMPI_COMM_WORLD_RANK']
    with open(os.path.join(folder, "out"), "w+") as out, open(os.path.join(folder, "err"), "w+") as err:
        process = subprocess.Popen(mpirun(2, *shell, os.path.join(bundle, "run"), *RUN, *ENDLESS), stdin=subprocess.DEVNULL, stdout=out,
                                   stderr=err, env={**os.environ, **fake(folder)}, start_new_session=True)
        try:
            until = time.monotonic() + 30
            while open(out.name).read().count("step") < 3:
                if time.monotonic() > until or process.poll() is not None:
                    raise pcc.Failure(f"no step: {open(err.name).read()[:400]}")
                time.sleep(0.01)
            with open(os.path.join(folder, "pid.1")) as file:
                os.kill(int(file.read()), signal.SIGKILL)
            process.wait(GONE + 2)
        except subprocess.TimeoutExpired:
            raise pcc.Failure("ranks are still there")
        finally:
            if process.poll() is None:
                pcc.end(process)
        ended = [open(f"{codes}.{rank}").read().strip() for rank in range(2)]
        said = open(err.name).read()
        if ended != ["14", "137"] or not re.search(r"pcc: error: rank 1 was lost: its process has ended .*; step \d+, ", said):
            raise pcc.Failure(f"ranks ended with {ended}: {said[:400]}")


@in_folder
def other_bundle(folder):
    """Tests that an outdated bundle on one host ends the job before it loads weights."""
    bundles = []
    for name, options in (("new", []), ("old", ["--lr", "0.5"])):
        os.mkdir(os.path.join(folder, name))
        bundles.append(compile_mlp(os.path.join(folder, name), [*PLANS["pp"], *options]))
    job = Job(folder, "torchrun", bundles, [])
    job.expect(11, r"rank 1 \(process .*\) has the bundle of build .* with plan (\w+), rank 0 .* with plan (?!\1)\w+", seconds=GONE)


@in_folder
def one_gpu(folder):
    bundle = compile_mlp(folder, PLANS["pp"])
    job = Job(folder, "torchrun", [bundle] * 2, [], env={"LOCAL_RANK": 0})
    job.expect(13, "ranks 0 and 1 both have GPU 0000:00:00.0 of ", seconds=GONE)


@in_folder
def no_gpu(folder):
    """Tests that a rank without a GPU tells the others."""
    bundle = compile_mlp(folder, PLANS["pp"])
    job = Job(folder, "torchrun", [bundle] * 2, [], settings={1: "count=0"})
    job.expect(13, "the driver sees no GPU", seconds=GONE)


@in_folder
def own_gpus(folder):
    """Tests launchers that show each rank only its own GPU."""
    bundle = compile_mlp(folder, PLANS["pp"])
    job = Job(folder, "srun", [bundle] * 2, ["--steps", "2"], settings={rank: f"count=1,bus={rank}" for rank in (0, 1)})
    codes, _ = job.wait()
    if codes != [0, 0] or len(losses(job.said(0, "out") + job.said(1, "out"))) != 2:
        raise pcc.Failure(f"exit codes {codes}: {[job.said(r)[:300] for r in (0, 1)]}")


@in_folder
def no_token(folder, address):
    """Tests that ranks may only meet over TCP with a secret."""
    bundle = compile_mlp(folder, PLANS["pp"])
    job = Job(folder, "torchrun", [bundle] * 2, [], env=address)
    job.expect(12, r"need a secret that only they know, and PCC_JOB_TOKEN is not set\nnote: .*export PCC_JOB_TOKEN=", seconds=GONE)


@in_folder
def absent(folder):
    bundle = compile_mlp(folder, PLANS["dp,tp"])
    job = Job(folder, "srun", [bundle] * 4, ["--load-timeout", "2"])
    job.ranks[2].kill()
    job.expect(14, "rank 2 was lost|rank 0 waited 2 s: rank 2 did not come to unix:@pcc-", but=[2], seconds=2 + GONE)


@in_folder
def stuck(folder, watcher):
    """Tests a launch of rank 1 that never returns. The rank with the shorter timeout notices, rank 1 is ended, and its last
    action is recorded."""
    bundle = compile_mlp(folder, PLANS["pp"])
    report = os.path.join(folder, "report.json")
    options = {r: [*ENDLESS, "--timeout", "2" if r == watcher else "40", "--no-graph", "--report", report] for r in (0, 1)}
    job = Job(folder, "torchrun", [bundle] * 2, options, settings={1: "hang-at=30"})
    text = "rank 1: a call of the driver or of NCCL has not returned for 2" if watcher == 1 else r"rank 0: \w+ .* waited 2.* s; rank 1 of"
    job.expect(14, text, seconds=20)
    with open(os.path.join(folder, "report.flight.rank-001.json")) as file:
        flight = json.load(file)
    if flight["ranks"][0]["rank"] != 1 or not flight["ranks"][0]["entries"] or "rank" not in flight["reason"]:
        raise pcc.Failure(f"what rank 1 did last is {str(flight)[:200]}")


def children(process):
    with open(f"/proc/{process.pid}/task/{process.pid}/children") as file:
        return [int(word) for word in file.read().split()]


def command_of(pid):
    with open(f"/proc/{pid}/cmdline") as file:
        return file.read()


def shared_in(folder):
    """Returns the resources that the ranks of a launcher share, without those of the fake NCCL."""
    return [name for name in os.listdir(folder) if re.fullmatch("pcc.part-.{6}", name)]


@in_folder
def one_message(folder, plan, settings, code, pattern):
    """Tests that BUNDLE/run prints one message however many ranks fail, and leaves no file."""
    bundle = compile_mlp(folder, PLANS[plan])
    got, _, err = pcc.call(*RUN, command=[os.path.join(bundle, "run")], env=fake(folder, settings), timeout=60)
    if got != code or err.count("pcc: error") != 1 or not re.search(pattern, err):
        raise pcc.Failure(f"exit code {got}, not {code} and once /{pattern}/: {err[:400]}")
    if left := shared_in(folder):
        raise pcc.Failure(f"{left} is left")


@in_folder
def killed_launcher(folder):
    """Tests that the end of BUNDLE/run ends its ranks and removes their shared resources."""
    bundle = compile_mlp(folder, PLANS["pp"])
    process = subprocess.Popen([os.path.join(bundle, "run"), *RUN, *ENDLESS], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True, start_new_session=True,
                               env={**os.environ, **fake(folder)})
    for _ in range(3):
        process.stdout.readline()
    shared = shared_in(folder)
    process.kill()
    process.communicate(timeout=GONE)
    until = time.monotonic() + GONE
    while (left := shared_in(folder)) and time.monotonic() < until:
        time.sleep(0.05)
    if len(shared) != 1 or left:
        raise pcc.Failure(f"ranks shared {shared}, {left} is left")


@in_folder
def stopped_by_launcher(folder):
    """Tests two SIGTERM: ranks that do not react are killed, and no file is left."""
    bundle = compile_mlp(folder, PLANS["pp"])
    process = subprocess.Popen([os.path.join(bundle, "run"), *RUN, *ENDLESS], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, start_new_session=True,
                               env={**os.environ, **fake(folder), "PCC_LAUNCH": "2", "PCC_RENDEZVOUS": f"unix:{folder}/meet"})
    for _ in range(3):
        process.stdout.readline()
    ranks = [child for child in children(process) if "rank-0" in command_of(child)]
    for rank in ranks:
        os.kill(rank, signal.SIGSTOP)
    for _ in range(2):
        os.kill(process.pid, signal.SIGTERM)
        time.sleep(0.2)
    try:
        process.communicate(timeout=GONE)
    except subprocess.TimeoutExpired:
        pcc.end(process)
        raise pcc.Failure("ranks that stand still are left")
    if process.returncode != 137 or len(ranks) != 2 or any(os.path.exists(f"/proc/{rank}") for rank in ranks):
        raise pcc.Failure(f"exit code {process.returncode}, ranks {ranks}")


for where, p in (("nobody", "pp"), ("nobody", "dp,tp"), ("mpirun", "pp"), ("mpirun", "dp,tp"), ("torchrun", "pp"), ("torchrun", "dp,tp"), ("srun", "pp"), ("srun", "dp,tp"),
                 ("unix:FOLDER/meet", "pp"), ("unix:FOLDER/" + "long" * 30 + "/meet", "pp"), ("tcp://127.0.0.1:PORT", "pp")):
    CASES[f"{where} {p}"] = lambda where=where, p=p: meet(where, p)
for where in ("torchrun", "srun"):
    CASES[f"killed {where} pp"] = lambda where=where: killed(where, "pp", 1)
    CASES[f"killed {where} dp,tp"] = lambda where=where: killed(where, "dp,tp", 2)
CASES["killed torchrun rank 0"] = lambda: killed("torchrun", "dp,tp", 0)
CASES["killed mpirun"] = killed_under_mpirun
CASES["another bundle"] = other_bundle
CASES["one GPU for two"] = one_gpu
CASES["no GPU for one"] = no_gpu
CASES["a GPU for each"] = own_gpus
CASES["no token"] = lambda: no_token({"MASTER_ADDR": "192.0.2.1"})
CASES["no token on one host"] = lambda: no_token({"PCC_RENDEZVOUS": f"tcp://127.0.0.1:{free_port()}"})
CASES["a rank that does not come"] = absent
CASES["stuck in the driver"] = lambda: stuck(1)
CASES["stuck while others wait"] = lambda: stuck(0)
CASES["a launcher that is stopped"] = stopped_by_launcher
CASES["a launcher that is killed"] = killed_launcher
CASES["one message of two"] = lambda: one_message("pp", "count=0", 13, "the driver sees no GPU")
CASES["one message of four"] = lambda: one_message("dp,tp", "driver=12040", 13, "the driver is one of CUDA 12.4")
CASES["one message of two that run"] = lambda: one_message("pp", "fail-at=5", 1, "cuLaunchKernel failed")

if __name__ == "__main__":
    pcc.main(__doc__, CASES)
