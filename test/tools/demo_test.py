#!/usr/bin/env python3
"""Runs tools/dev/demo.py with a small model, and tools/dev/progress.py with a script in place of a build."""
import os
import pty
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRESS = os.path.join(ROOT, "tools", "dev", "progress.py")
PCC = os.environ.get("PCC", os.path.join(ROOT, "build", "release", "bin", "pcc"))
# Runs the demo in a folder of its own: FOLDER, PCC.
SMALL = """
import sys
sys.path.insert(0, "tools/dev")
import demo
demo.FOLDER, demo.PCC = sys.argv[1:]
demo.SIZE = dict(layers=2, hidden=64, heads=4, vocabulary=501, positions=128)
sys.exit(demo.main())
"""
STEPS = """
echo "-- Could NOT find LibEdit"
for i in $(seq 300); do echo "[$i/300] Building a.cpp"; echo "warning: deprecated"; done
"""


class Demo(unittest.TestCase):
    def test_it_ends_with_a_report_and_three_commands_that_run(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        done = subprocess.run([sys.executable, "-B", "-c", SMALL, os.path.join(folder, "demo"), PCC], cwd=ROOT, text=True,
                              capture_output=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        said, following = done.stdout.split("demo: equal to ONNX Runtime\n")
        self.assertEqual(len(re.findall(r"^\$ ", said, re.M)), 2)
        report = re.search(r"(\S+\.html) has the step", following)[1]
        self.assertTrue(os.path.isfile(os.path.join(ROOT, report)))
        commands = re.findall(r"^  (\S.*)$", following, re.M)
        self.assertEqual(len(commands), 3)
        for command in commands:
            with self.subTest(command):
                tried = subprocess.run(shlex.split(command), cwd=ROOT, capture_output=True, text=True)
                self.assertEqual(tried.returncode, 0, tried.stderr)


class Progress(unittest.TestCase):
    def setUp(self):
        self.log = os.path.join(self.enterContext(tempfile.TemporaryDirectory()), "logs", "build.log")

    def command(self, script):
        return [sys.executable, "-B", PROGRESS, self.log, "bash", "-c", script]

    def in_log(self):
        with open(self.log, encoding="utf-8") as file:
            return file.read()

    def test_a_pipe_gets_few_lines_and_the_log_all(self):
        done = subprocess.run(self.command(STEPS), capture_output=True, text=True, check=True)
        self.assertEqual((done.stdout, done.stderr), ("building: 1 of 300 steps\n", ""))
        self.assertEqual(len(self.in_log().splitlines()), 601)

    def test_a_terminal_gets_one_line(self):
        leader, follower = pty.openpty()
        process = subprocess.Popen(self.command(STEPS), stdout=follower, stderr=follower)
        os.close(follower)
        said = b""
        try:
            while part := os.read(leader, 65536):
                said += part
        except OSError:  # the other end is closed
            pass
        os.close(leader)
        self.assertEqual(process.wait(), 0)
        self.assertIn(b"\r\033[Kbuilding: 300 of 300 steps", said)
        self.assertTrue(said.endswith(b"\r\033[K"), said[-80:])
        self.assertNotIn(b"\n", said)

    def test_a_failure_shows_the_end_of_the_log_and_its_path(self):
        done = subprocess.run(self.command(STEPS + "echo 'FAILED: b.o'; echo 'b.cpp:1: error'; exit 3"), capture_output=True, text=True)
        self.assertEqual(done.returncode, 3)
        self.assertEqual(done.stdout.splitlines()[1:3], ["FAILED: b.o", "b.cpp:1: error"])
        self.assertTrue(done.stdout.endswith(f"failed with exit code 3; all that it printed is in {self.log}\n"))

    def test_the_time_left(self):
        sys.path.insert(0, os.path.dirname(PROGRESS))
        import progress
        for (done, steps, seconds), text in (((1, 100, 60), ""), ((50, 100, 4), ""), ((50, 100, 600), ", about 10 min left"),
                                             ((99, 100, 600), ", about a minute left"), ((100, 100, 600), "")):
            self.assertEqual(progress.time_left(done, steps, seconds), text)


if __name__ == "__main__":
    unittest.main()
