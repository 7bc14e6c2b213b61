#!/usr/bin/env python3
"""Runs a build command and shows only how far it is: steps done, and the time that is left if the other steps take as long. All that
the command prints goes to a file. If the command fails, the end of that file is shown.

    progress.py LOG COMMAND...

On a terminal one line is drawn again and again; elsewhere a line is printed every INTERVAL seconds.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
import time

INTERVAL = 30
TAIL = 40
STEP = re.compile(r"\[(\d+)/(\d+)\] ")


def time_left(done, steps, seconds):
    """Returns an estimate in words, or nothing before a twentieth of the steps is done, and within the first five seconds."""
    if done * 20 < steps or done == steps or seconds < 5:
        return ""
    minutes = round(seconds * (steps - done) / done / 60)
    return f", about {minutes} min left" if minutes > 1 else ", about a minute left"


class Display:
    """Shows the progress of a build on stdout."""

    def __init__(self):
        self.is_terminal = sys.stdout.isatty()
        self.began = self.shown = 0.0

    def show(self, done, steps):
        """Shows a step. A line on a terminal is not longer than the terminal is wide, so it is drawn over the previous one."""
        now = time.monotonic()
        self.began = self.began or now
        text = f"building: {done} of {steps} steps{time_left(done, steps, now - self.began)}"
        if self.is_terminal:
            print(f"\r\033[K{text[:shutil.get_terminal_size().columns - 1]}", end="", flush=True)
        elif not self.shown or now - self.shown >= INTERVAL:
            self.shown = now
            print(text, flush=True)

    def clear(self):
        if self.is_terminal and self.began:
            print("\r\033[K", end="", flush=True)


def end_of(log):
    """Returns the last lines of the log, from the first failure among them on."""
    with open(log, encoding="utf-8", errors="replace") as file:
        lines = file.read().splitlines()
    failed = next((i for i, line in enumerate(lines) if line.startswith(("FAILED: ", "CMake Error"))), 0)
    return lines[max(failed, len(lines) - TAIL):]


def run(log, command):
    """Returns the exit code of `command`."""
    display = Display()
    with open(log, "w", encoding="utf-8") as file, \
            subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             errors="replace") as process:
        for line in process.stdout:
            file.write(line)
            file.flush()
            if step := STEP.match(line):
                display.show(int(step[1]), int(step[2]))
    display.clear()
    return process.returncode


def main(log, *command):
    os.makedirs(os.path.dirname(log) or ".", exist_ok=True)
    try:
        code = run(log, command)
    except KeyboardInterrupt:
        print()
        return 130
    if code:
        print(*end_of(log), sep="\n")
        print(f"'{shlex.join(command)}' failed with exit code {code}; all that it printed is in {log}")
    return code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
