"""The command line, as the package brings it along."""
import os
import sys

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "pcc")


def main() -> None:
    """Becomes the tool."""
    os.execv(TOOL, ["pcc", *sys.argv[1:]])
