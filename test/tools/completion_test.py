#!/usr/bin/env python3
"""Tests completion in real shells, the manual pages, and the width of all help texts.

    completion_test.py PCC MODEL.mlir
"""
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

PCC, MODEL = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
COMMANDS = ["compile", "run", "verify", "inspect", "explain", "plan", "report", "checkpoint", "help", "completion"]
TOPICS = ["sharding", "schedules", "training", "clusters", "exit-codes"]
folder = tempfile.TemporaryDirectory()
WHERE = folder.name
ENVIRONMENT = {**os.environ, "PATH": f"{os.path.dirname(PCC)}:{os.environ['PATH']}", "HOME": WHERE, "TERM": "dumb"}


def run(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, cwd=WHERE, timeout=120, env={**ENVIRONMENT, **more})


# Completes the line in $1 as bash does at TAB: words as readline divides them, then the function that `complete` has registered.
BASH = r"""
source <(pcc completion bash)
registered=$(complete -p pcc)
compopt() { :; }
python=$2
mapfile -t COMP_WORDS < <("$python" -c 'import re, sys; print("\n".join(re.findall(r"[=:]+|[^\s=:]+", sys.argv[1])))' "$1")
[[ $1 == *" " || $1 == *= ]] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
COMP_LINE=$1 COMP_POINT=${#1}
[[ $registered == *"-F _pcc pcc" ]] && _pcc pcc "${COMP_WORDS[-1]}" && printf '%s\n' "${COMPREPLY[@]}"
"""


def in_bash(line):
    return run("bash", "--norc", "-c", BASH, "bash", line, sys.executable).stdout.split()


def in_fish(line):
    """Returns the words that fish offers; fish prints each with its description."""
    text = run("fish", "--no-config", "-c", f"pcc completion fish | source; complete -C '{line}'").stdout
    return [row.split("\t")[0] for row in text.splitlines()]


def in_zsh(line):
    """Returns what zsh shows on a terminal after TAB."""
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(WHERE)
        os.execvpe("zsh", ["zsh", "-f", "-i"], {**ENVIRONMENT, "COLUMNS": "200", "LINES": "100"})
    os.write(terminal, b"PS1='ready> '; autoload -U compinit; compinit -D -u; source <(pcc completion zsh); LISTMAX=1000; echo do''ne\n")
    read_until(terminal, b"done")
    os.write(terminal, line.encode() + b"\t")
    time.sleep(0.5)
    shown = read_until(terminal, None)
    os.kill(process, 9)
    os.waitpid(process, 0)
    os.close(terminal)
    return shown.decode(errors="replace")


def read_until(terminal, mark):
    """Returns the output up to `mark`, or until no more comes for a second."""
    text, end = b"", time.monotonic() + 30
    while time.monotonic() < end and (mark is None or mark not in text):
        if not select.select([terminal], [], [], 1.0 if mark is None else 30)[0]:
            break
        text += os.read(terminal, 65536)
    return text


class Completion(unittest.TestCase):
    CASES = {  # line: some of the candidates
        "pcc ": [*COMMANDS, "model.mlir"],
        "pcc ver": ["verify"],
        "pcc mo": ["model.mlir"],
        "pcc model.mlir --sche": ["--schedule"],
        "pcc model.mlir --schedule ": ["1f1b", "zb-v", "table.csv"],
        "pcc model.mlir --stop-after ": ["1-import", "7-emit"],
        "pcc run ": ["m.pcc"],
        "pcc inspect ": ["m.pcc"],
        "pcc run m.pcc --comm ": ["mpi", "thread", "nccl"],
        "pcc run m.pcc --metrics-no-such-option --th": ["--threads"],
        "pcc checkpoint ": ["export"],
        "pcc report m.pcc ": ["m.pcc", "x.npy"],
        "pcc checkpoint export --mo": ["--model"],
        "pcc help ": [*COMMANDS, *TOPICS],
        "pcc completion ": ["bash", "fish", "zsh"],
    }

    def test_bash(self):
        for line, words in self.CASES.items():
            found = in_bash(line)
            self.assertLessEqual(set(words), set(found), line)

    def test_only_what_fits(self):
        self.assertEqual(in_bash("pcc ver"), ["verify"])
        self.assertEqual(in_bash("pcc run m.pcc --comm "), ["mpi", "thread", "nccl"])
        self.assertNotIn("table.csv", in_bash("pcc "))
        self.assertNotIn("model.mlir", in_bash("pcc run "))
        self.assertEqual(in_bash("pcc model.mlir --tp "), [])
        self.assertEqual(in_bash("pcc model.mlir -- --sch"), [])

    def test_parts_of_words_in_bash(self):
        self.assertEqual(in_bash("pcc run m.pcc --input "), ["x="])
        self.assertEqual(in_bash("pcc run m.pcc --input x="), ["with\\", "space/", "x.npy"])
        self.assertEqual(in_bash("pcc run m.pcc --input=x=x"), ["x.npy"])
        self.assertEqual(in_bash("pcc model.mlir --preset=fsdp,ze"), ["fsdp,zero1", "fsdp,zero2", "fsdp,zero3"])

    @unittest.skipUnless(shutil.which("fish"), "no fish")
    def test_fish(self):
        for line, words in self.CASES.items():
            self.assertLessEqual(set(words), set(in_fish(line)), line)
        self.assertEqual(in_fish("pcc run m.pcc --input x=x"), ["x=x.npy"])

    @unittest.skipUnless(shutil.which("zsh"), "no zsh")
    def test_zsh(self):
        for line in ("pcc ", "pcc model.mlir --schedule ", "pcc run m.pcc --comm ", "pcc help "):
            shown = in_zsh(line)
            for word in self.CASES[line]:
                self.assertIn(word, shown, line)
        self.assertIn("x=x.npy", in_zsh("pcc run m.pcc --input x=x"))


class Reference(unittest.TestCase):
    def test_manual_pages_have_no_warnings(self):
        share = os.path.join(WHERE, "share")
        self.assertEqual(run(PCC, "__share", share).returncode, 0)
        pages = os.path.join(share, "man", "man1")
        self.assertLessEqual({"pcc.1", *(f"pcc-{c}.1" for c in COMMANDS)}, set(os.listdir(pages)))
        for page in os.listdir(pages):
            result = run("groff", "-ww", "-man", "-Tutf8", "-I", os.path.dirname(pages), os.path.join(pages, page))
            self.assertEqual((result.returncode, result.stderr), (0, ""), page)
        text = run("groff", "-man", "-Tascii", "-P-c", os.path.join(pages, "pcc-run.1")).stdout
        for part in ("SYNOPSIS", "--save-every", "EXIT STATUS", "EXAMPLES"):
            self.assertIn(part, re.sub(".\b", "", text))

    def test_help_fits_the_terminal(self):
        texts = [["help", name] for name in (*COMMANDS, *TOPICS)] + [["help"], *([c, "--help"] for c in COMMANDS)]
        for width in (40, 63, 80, 200):
            for words in texts:
                result = run(PCC, *words, COLUMNS=str(width))
                self.assertEqual(result.returncode, 0, words)
                self.assertLessEqual(max(map(len, result.stdout.splitlines())), width, words)

    def test_help_is_80_wide_without_terminal(self):
        environment = {name: value for name, value in ENVIRONMENT.items() if name != "COLUMNS"}
        text = subprocess.run([PCC, "--help"], capture_output=True, text=True, env=environment, timeout=120).stdout
        self.assertIn(max(map(len, text.splitlines())), range(77, 81))

    def test_help_names_everything(self):
        text = run(PCC, "help", COLUMNS="80").stdout
        for name in (*COMMANDS, *TOPICS):
            self.assertRegex(text, rf"(?m)^  {name} ")
        main = run(PCC, "--help").stdout
        self.assertLess(main.index("commands:"), main.index("arguments:"))

    def test_exit_codes_are_those_of_the_page(self):
        with open(os.path.join(os.path.dirname(__file__), "..", "..", "docs", "exit-codes.md"), encoding="utf-8") as file:
            page = file.read()
        text = " ".join(run(PCC, "help", "exit-codes", COLUMNS="1000").stdout.split())
        rows = re.findall(r"^\| (\d+) \| `\w+` \| (.*?)\.? \|$", page, re.M)
        self.assertGreater(len(rows), 10)
        for code, meaning in rows:
            self.assertRegex(text, rf"\b{code} [a-z ]+ {re.escape(meaning)}")

    def test_unknown_topic_names_the_nearest(self):
        result = run(PCC, "help", "schedulez")
        self.assertEqual(result.returncode, 2)
        self.assertIn("no command or topic is called 'schedulez'; nearest of 15: 'schedules'", result.stderr)


def prepare():
    """Makes the files that the lines above name."""
    shutil.copy(MODEL, os.path.join(WHERE, "model.mlir"))
    for name in ("x.npy", "table.csv"):
        open(os.path.join(WHERE, name), "w", encoding="utf-8").close()
    os.mkdir(os.path.join(WHERE, "with space"))
    made = run(PCC, "model.mlir", "-q", "-o", "m.pcc")
    assert made.returncode == 0, made.stderr


if __name__ == "__main__":
    prepare()
    unittest.main(argv=sys.argv[:1])
