"""Runs of a bundle on processes, by the tool in a child process."""
from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from typing import Any, Mapping

import numpy as np
from numpy.typing import NDArray

from . import _pcc
from .error import Error
from .keywords import words_of
from .tool import TOOL


def run_in_child(bundle: str, outputs: list[str], inputs: Mapping[str, Any], comm: str,
                 options: Mapping[str, object]) -> dict[str, NDArray[Any]]:
    """Runs a bundle as the tool does. Arrays are passed in files."""
    with tempfile.TemporaryDirectory(prefix="pcc-") as folder:
        words = words_of("run", {"comm": comm, "output": os.path.join(folder, "outputs"), **options})
        for number, (name, value) in enumerate(inputs.items()):
            file = os.path.join(folder, f"input-{number}.npy")
            np.save(file, np.asarray(value))
            words.append(f"--input={name}={file}")
        _succeed([TOOL, "run", bundle, *words])
        written = os.fspath(options.get("output") or os.path.join(folder, "outputs"))  # type: ignore[call-overload]
        files = _pcc.output_file_names(outputs)
        return {name: np.load(os.path.join(written, file)) for name, file in zip(outputs, files)}


def _succeed(command: list[str]) -> None:
    """Runs the command in a session of its own, because this process passes Ctrl-C on."""
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             errors="replace", start_new_session=True)
    try:
        _, said = child.communicate()
    except BaseException:
        _end(child)
        raise
    if child.returncode:
        raise _error(said, child.returncode)


def _end(child: subprocess.Popen[str]) -> None:
    child.send_signal(signal.SIGTERM)
    try:
        child.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()


def _error(said: str, exit_code: int) -> Error:
    """Returns the tool's error: its line, and the notes that follow."""
    lines = said.splitlines()
    begin = next((i for i, line in enumerate(lines) if line.startswith("pcc: error: ")), None)
    if begin is None:
        return Error(f"pcc ended with {exit_code}", lines[-3:], exit_code)
    notes = [line.removeprefix("note: ") for line in lines[begin + 1:] if line.startswith("note: ")]
    return Error(lines[begin].removeprefix("pcc: error: "), notes, exit_code)
