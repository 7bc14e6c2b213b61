"""The built tools that render the pages."""
import os
import subprocess
import sys

import tree

TABLEGEN = "/usr/lib/llvm-22/bin/llvm-tblgen"
INCLUDES = [tree.ROOT, "/usr/lib/llvm-22/include"]


class Missing(Exception):
    """A tool is missing or has failed; the text says which."""


class Tools:
    """Calls the tools of one build, whose executables are in the folder `bin`."""

    def __init__(self, bin_folder):
        self.bin = bin_folder

    def path(self, name):
        path = os.path.join(self.bin, name)
        if not os.path.exists(path):
            raise Missing(f"{path} does not exist: build first, or name the folder of the tools by --bin")
        return path

    def call(self, name, *arguments, text=None, cwd=tree.ROOT, env=None):
        """Returns what the tool `name` writes to stdout for the input `text`."""
        return output([self.path(name), *arguments], text, cwd, env)


def output(command, text=None, cwd=tree.ROOT, env=None):
    try:
        result = subprocess.run([str(c) for c in command], input=text or "", capture_output=True, text=True, cwd=cwd, timeout=300,
                                env={**os.environ, **(env or {})})
    except OSError as error:
        raise Missing(f"{command[0]}: {error.strerror}") from error
    if result.returncode:
        raise Missing(f"{' '.join(map(str, command))} ended with exit code {result.returncode}: {result.stderr.strip()[-600:]}")
    return result.stdout


def python():
    """Returns the Python of the tests, which has the packages that build models."""
    venv = os.path.join(tree.ROOT, "build", "venv", "bin", "python")
    return venv if os.path.exists(venv) else sys.executable
