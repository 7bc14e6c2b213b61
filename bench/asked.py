"""Programs that measure on request: each line of standard input is answered by a line of JSON on standard output."""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


class Asked:
    """A process of a program of this folder, whose computations use `threads` threads."""

    def __init__(self, program, *arguments, threads=1, **environment):
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads), **environment}
        command = [sys.executable, "-B", os.path.join(HERE, program), *map(str, arguments)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        self.name = arguments[0]

    def tell(self, line):
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def ask(self, line):
        self.tell(line)
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit(f"{self.name} ended")
        return json.loads(answer)

    def end(self):
        self.process.stdin.close()
        self.process.wait()
