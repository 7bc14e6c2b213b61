#!/usr/bin/env python3
"""Runs a command that must end with an exit code: exit_code.py CODE COMMAND…"""
import subprocess
import sys

got = subprocess.run(sys.argv[2:]).returncode
if got != int(sys.argv[1]):
    sys.exit(f"exit code {got}, expected {sys.argv[1]}")
