"""The files of this repository, for the checks in this folder."""
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def files(root=ROOT):
    """Returns the paths, relative to `root`, of all files that are or would be committed; of all files if there is no git."""
    listed = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard", "-z"], capture_output=True, text=True)
    if listed.returncode == 0 and os.path.exists(os.path.join(root, ".git")):
        names = listed.stdout.split("\0")
    else:
        names = [os.path.relpath(os.path.join(d, f), root) for d, _, fs in os.walk(root) for f in fs]
    return sorted(n for n in names if n and not n.startswith("build/") and os.path.isfile(os.path.join(root, n)))


def lines(name, root=ROOT):
    with open(os.path.join(root, name), encoding="utf-8") as f:
        return f.read().splitlines()


def report(problems):
    """Prints one line per problem; returns the exit code."""
    for p in problems:
        print(p)
    return 1 if problems else 0
