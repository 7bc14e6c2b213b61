"""Calls pcc like a user: by its command line and its JSON."""
import argparse
import collections
import concurrent.futures
import fnmatch
import json
import os
import signal
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PCC = os.environ.get("PCC", os.path.join(ROOT, "build", "release", "bin", "pcc"))
REAL_MODELS = os.path.join(os.path.dirname(ROOT), "shared", "models")


class Failure(Exception):
    """A case had an unexpected result; the text says why."""


def call(*arguments, timeout=600, cwd=None, env=None, command=None):
    """Runs pcc, or `command`. Returns exit code, stdout and stderr. After `timeout`, all processes that are left are ended."""
    words = [str(a) for a in (command or [PCC]) + list(arguments)]
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               errors="replace", cwd=cwd, env={**os.environ, **(env or {})}, start_new_session=True)
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        end(process)
        raise Failure(f"still running after {timeout} s: {' '.join(words)}")
    return process.returncode, out, err


def end(process):
    """Ends a process. A launcher gets ten seconds to end its ranks."""
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def succeed(*arguments, **options):
    """Runs pcc, which must succeed; returns its stdout."""
    code, out, err = call(*arguments, **options)
    if code:
        raise Failure(f"exit code {code}: pcc {' '.join(map(str, arguments))}: {err.strip()[-600:]}")
    return out


def plan_options(plan):
    """Converts a plan to options: 'tp=2,pp=2' -> ['--tp', '2', '--pp', '2']."""
    return [w for part in plan.split(",") for k, v in [part.split("=", 1)] for w in (f"--{k}", v)]


def dim_options(dims):
    return [w for k, v in dims.items() for w in ("--dim", f"{k}={v}")]


def input_options(folder):
    return [w for f in sorted(os.listdir(folder)) for w in ("--input", f"{f[:-4]}={os.path.join(folder, f)}")]


def report(*arguments):
    """Runs pcc with --report, which must succeed; returns the report."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report.json")
        succeed(*arguments, "--report", path)
        with open(path) as f:
            return json.load(f)


def inspect(bundle):
    return json.loads(succeed("inspect", bundle, "--json"))


def explain(*arguments):
    return json.loads(succeed("explain", *arguments, "--json", "-q"))


def run_cases(cases, jobs=1):
    """Calls each (name, function, arguments) and prints a line for each case that fails; returns the exit code."""
    if not os.path.exists(PCC):
        print(f"{PCC} does not exist: build first")
        return 2

    def problem(case):
        try:
            case[1](*case[2])
        except Failure as failure:
            return str(failure)
        except Exception as failure:
            return f"{type(failure).__name__}: {failure}"
        return None

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for case, text in zip(cases, pool.map(problem, cases)):
            if text:
                failed += 1
                print(f"FAIL {case[0]}: {text}", flush=True)
    print(f"{len(cases) - failed} passed, {failed} failed")
    return 1 if failed or not cases else 0


def sample(names, every, kind):
    """Returns every `every`-th of the names of each kind, so that no kind is left out."""
    seen = collections.Counter()
    chosen = []
    for name in names:
        if seen[kind(name)] % every == 0:
            chosen.append(name)
        seen[kind(name)] += 1
    return chosen


def main(description, cases, kind=lambda name: ""):
    """Runs `cases`, functions by name: those that --only names, or one out of --every of each kind. Exits with the exit code."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="*")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    a = parser.parse_args()
    names = [name for name in cases if fnmatch.fnmatch(name, a.only)]
    sys.exit(run_cases([(name, cases[name], ()) for name in sample(names, a.every, kind)], a.jobs))
