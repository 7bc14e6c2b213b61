"""The command line tool that the package contains."""
import os
import sys

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "pcc")


def main() -> None:
    """Replaces this process by the tool."""
    os.execv(TOOL, ["pcc", *sys.argv[1:]])
