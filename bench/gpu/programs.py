"""Calls of the programs that bench/gpu/prepare.py has written, each with a time limit."""
import contextlib
import functools
import glob
import importlib.util
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
RESERVE = 10         # seconds of the whole time that are reserved for ending programs
SIDE_BY_SIDE = 4     # number of programs that run at once, if they mostly keep the host busy
SHARED = ["--share-gpu", "--timeout", "100"]
OWN_ATTENTION = {"PCC_CUDNN": "off"}


class Wrong(Exception):
    """The measured program is wrong."""


class OutOfTime(Wrong):
    def __init__(self, what):
        super().__init__(f"out of time: {what}")


class Skipped(Exception):
    """A measurement is not possible here; the text says why."""


def wheels(part):
    """Returns the folders of that name in NVIDIA's wheels, which lie beside PyTorch's."""
    found = importlib.util.find_spec("nvidia")
    roots = list(found.submodule_search_locations) if found else []
    return [folder for root in roots for folder in sorted(glob.glob(os.path.join(root, "*", part)))]


def find_tool(name):
    """Finds a tool on the usual paths, in a toolkit or in a wheel. Returns None if there is none."""
    toolkits = [os.path.join(os.environ[name], "bin") for name in ("CUDA_HOME", "CUDA_PATH") if name in os.environ]
    toolkits += sorted(glob.glob("/usr/local/cuda*/bin"))
    return shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", os.defpath), *toolkits, *wheels("bin")]))


def environment(variables=()):
    """Returns the environment of programs. The user's variables override those that are found, and `variables` override both."""
    return {"PCC_CUDA_LIBRARIES": ":".join(wheels("lib"))} | os.environ | dict(variables)


def end(process):
    """Ends a process and all processes that it has started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(RESERVE / 2)


class Bench:
    """Runs programs within the time limit. `figures` holds all measurements and is written to a file as they arrive."""

    def __init__(self, folder, seconds, output):
        self.folder, self.output, self.figures = folder, output, {}
        self.end = self.end_of_section = time.monotonic() + seconds - RESERVE
        with open(self.path("plan.json")) as f:
            self.plan = json.load(f)

    def path(self, name):
        return os.path.join(self.folder, name)

    def begin_section(self, seconds):
        self.end_of_section = min(self.end, time.monotonic() + seconds)

    def left(self):
        """Returns the seconds that are left for this section."""
        return self.end_of_section - time.monotonic()

    def say(self, text):
        print(f"  {text}", flush=True)
        if self.output:
            with open(self.output, "w") as f:
                json.dump(self.figures, f, indent=1)

    @staticmethod
    def start(*command, variables=(), **streams):
        """Starts a process in a session of its own."""
        return subprocess.Popen([str(word) for word in command], env=environment(variables), text=True, start_new_session=True, **streams)

    def call(self, *command, text=None, seconds=math.inf, variables=()):
        """Returns the stdout of a command. A command that takes longer than `seconds`, or than the section has left, is ended."""
        said, most = " ".join(map(str, command)), min(seconds, self.left())
        if most <= 0:
            raise OutOfTime(f"{said} was not begun")
        process = self.start(*command, variables=variables, stdin=subprocess.DEVNULL if text is None else subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            out, err = process.communicate(text, timeout=most)
        except subprocess.TimeoutExpired:
            raise OutOfTime(f"{said} had {most:.0f} s") from None
        finally:
            end(process)
        if process.returncode:
            raise Wrong(f"exit code {process.returncode}: {said}: {err.strip()[-600:] or out.strip()[-600:]}")
        return out

    def probe(self, verb, bundle):
        """Returns the output of gpu-probe for a bundle's instructions. Twins are the CPU versions of pcc's own kernels."""
        return json.loads(self.call(self.path("gpu-probe"), verb, self.path(bundle), variables=OWN_ATTENTION if verb == "check" else {}))

    def run(self, bundle, *options, variables=()):
        """Runs a bundle and returns its report."""
        with tempfile.TemporaryDirectory() as folder:
            report = os.path.join(folder, "report.json")
            self.call(os.path.join(self.path(bundle), "run"), "--random-inputs", 1, "-q", "--report", report, *options, variables=variables)
            with open(report) as f:
                return json.load(f)

    def losses(self, bundle, steps, *options, variables=()):
        """Returns the loss and gradient norm of each step."""
        return [[step["loss"], step["grad_norm"]] for step in self.run(bundle, "--steps", steps, *options, variables=variables)["steps"]]

    def torch(self, *arguments, text=None):
        if not self.has_torch:
            raise Skipped("PyTorch is not there, or sees no GPU")
        return json.loads(self.call(sys.executable, os.path.join(HERE, "torch_peer.py"), *arguments, text=text))

    @functools.cached_property
    def has_torch(self):
        try:
            return bool(self.call(sys.executable, "-c", "import torch; print('yes' if torch.cuda.is_available() else '')").strip())
        except OutOfTime:
            raise
        except Wrong:
            return False

    @functools.cached_property
    def device(self):
        """Returns the name of the GPU, if nvidia-smi is installed."""
        try:
            return self.call(find_tool("nvidia-smi") or "false", "--query-gpu=name", "--format=csv,noheader").split("\n")[0]
        except Wrong:
            return ""
