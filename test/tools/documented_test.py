#!/usr/bin/env python3
"""Runs the commands that README.md and the help texts show, in order, and compares what they print with what README.md says that they
print. In all other pages, commands have options that exist, and scripts that can be executed.

    documented_test.py                the test
    documented_test.py --write        renews the outputs and the picture of README.md
"""
import os
import re
import shutil
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, name) for name in ("test/models", "test/numeric", "tools/dev")]
import builder
import documented
import numpy as np
import pcc
import tree

README = os.path.join(ROOT, "README.md")
# The picture of README.md is a file that its commands write.
PICTURE, DRAWN = os.path.join(ROOT, "docs", "step.svg"), "step.svg"
# Ends the words of pcc in a command line: a pipe, a comment, another command, or the end of options.
FOREIGN = re.compile(r"[|;#]|&&|\s--\s")


def reader():
    """Returns a user in a folder from which the tree's scripts have the paths of README.md, such as ../../test."""
    user = documented.User(pcc.PCC, sys.executable, "build/first")
    os.symlink(os.path.join(ROOT, "test"), user.path("..", "..", "test"))
    return user


def replay(user, text):
    """Runs the commands of a page. Yields each with its exit code and its output."""
    for entry in documented.consoles(text):
        yield (entry, *user.run(entry.command))


def model_user(help_texts):
    """Returns a user with the files that the help texts name: a small GPT-2, its inputs and data, and a cluster."""
    user = documented.User(pcc.PCC, sys.executable)
    graph = builder.build("gpt2", user.path("model.onnx"), layers=2, tied=False)
    ids = graph.draw_inputs({"batch": 8, "seq": 32})["input_ids"]
    np.save(user.path("ids.npy"), ids)
    os.mkdir(user.path("data"))
    for name in ("input_ids", "labels"):
        np.save(user.path("data", f"{name}.npy"), np.stack([ids] * 30))
    np.tile(np.arange(500, dtype="u2"), 30).tofile(user.path("tokens.bin"))
    toml = re.search(r"^  nodes = .*", help_texts.text("help", "clusters"), re.M | re.S)[0]
    with open(user.path("cluster.toml"), "w", encoding="utf-8") as file:
        file.write(toml)
    return user


class Readme(unittest.TestCase):
    def test_commands_print_what_it_shows(self):
        user = reader()
        self.addCleanup(user.cleanup)
        with open(README, encoding="utf-8") as file:
            text = file.read()
        replayed = list(replay(user, text))
        self.assertGreater(len(replayed), 8)
        for entry, code, said in replayed:
            with self.subTest(entry.command):
                self.assertEqual(code != 0, "pcc: error:" in entry.output, said)
                self.assertTrue(documented.matches(entry.output, said),
                                f"README.md shows\n{entry.output}\nand the command prints\n{said}\n{__file__} --write renews README.md")
        for program in documented.programs(text) if os.path.isdir(user.env["PYTHONPATH"]) else []:
            code, said = user.run("python - <<'END'\n" + program + "END")
            self.assertEqual(code, 0, said)
        with open(PICTURE, "rb") as shown, open(user.path(DRAWN), "rb") as drawn:
            self.assertEqual(shown.read(), drawn.read(), f"{PICTURE} is not what README.md's command draws; --write renews it")


class HelpTexts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.help = documented.Help(pcc.PCC)

    def user(self):
        user = model_user(self.help)
        self.addCleanup(user.cleanup)
        return user

    def check(self, user, name):
        for command in self.help.examples(name):
            with self.subTest(f"pcc help {name}: {command}"):
                code, said = user.run(command)
                self.assertEqual(code, 0, said)

    def test_examples_of_the_commands_run_in_order(self):
        user = self.user()
        for name in self.help.names()[0]:
            self.assertTrue(self.help.examples(name), f"the help of {name} has no example")
            self.check(user, name)

    def test_examples_of_the_topics_run(self):
        for name in self.help.names()[1]:
            self.check(self.user(), name)


class Pages(unittest.TestCase):
    """All pages: the commands that a test cannot run, because they stand for any model, at least have options that exist."""

    @classmethod
    def setUpClass(cls):
        cls.help = documented.Help(pcc.PCC)
        cls.lines = [(f"{name}:{number}", command) for name in tree.files() if name.endswith(".md") and name != "CHANGELOG.md"
                     for number, command in documented.commands("\n".join(tree.lines(name)))]

    def options(self, words):
        """Returns the options of the program, or of the command of pcc, that a command line calls."""
        if words[0] == "pcc-opt":
            return documented.Help(pcc.PCC + "-opt").options("")
        command = words[1] if len(words) > 1 and words[1] in self.help.names()[0] else "compile"
        return self.help.options("checkpoint export" if command == "checkpoint" else command)

    def test_options_exist(self):
        for place, line in self.lines:
            words = FOREIGN.split(line)[0].split()
            if words[:1] in (["pcc"], ["pcc-opt"]):
                with self.subTest(f"{place}: {line}"):
                    given = {word.partition("=")[0].strip("`[]()…,.") for word in words if re.match(r"\[?--?[a-z]", word)}
                    self.assertLessEqual(given, self.options(words))

    def test_scripts_can_be_executed(self):
        for place, line in self.lines:
            script = (line.split() or [""])[0]
            if re.match(r"(tools|test|bench|python-bindings)/", script) and os.path.isfile(path := os.path.join(ROOT, script)) \
                    and len(line.split()) > 1:
                with self.subTest(f"{place}: {line}"):
                    self.assertTrue(os.access(path, os.X_OK), f"{script} is not executable")


class Consoles(unittest.TestCase):
    PAGE = "a\n```console\n$ one\n$ two \\\n    more\nsaid\nmore\n```\n```sh\n$ three\n```\n"

    def test_commands_with_their_outputs(self):
        self.assertEqual(documented.consoles(self.PAGE), [("one", ""), ("two \\\n    more", "said\nmore\n")])

    def test_what_varies_is_not_compared(self):
        for shown, said in (("step 1.5 s, 18.8 samples/s", "step  12 ms, 7 samples/s"), ("error 1.0e-15", "error 3e-16"),
                            ("rank  peak\n0  1 KiB  34.2 MiB\n", "rank peak\n0 1 KiB 5 MiB"), ("a\n…\nd\n", "a\nb\nc\nd\n"),
                            ("loss 30.7863", "loss 30.7871"), ("…\n", "a\n"), ("", "")):
            self.assertTrue(documented.matches(shown, said), shown)

    def test_all_else_is_compared(self):
        for shown, said in (("4 ranks", "5 ranks"), ("380.9 KiB weights", "381.9 KiB weights"), ("a\n…\nd\n", "a\nb\n"), ("a", "a\nb"),
                            ("loss 30.7863", "loss 30.8863"), ("", "a"), ("a", ""), ("peak\n1 KiB\n\n2 KiB", "peak\n1 KiB\n\n3 KiB")):
            self.assertFalse(documented.matches(shown, said), shown)

    def test_a_shortened_output_stays_short(self):
        self.assertEqual(documented.renewed("a\n…\n", "b\nc\n"), "b\n…\n")
        self.assertEqual(documented.renewed("", ""), "")


def write():
    """Puts the outputs and the picture into the tree where they differ from those of today."""
    with open(README, encoding="utf-8") as file:
        text = file.read()
    user = reader()
    for entry, _, said in replay(user, text):
        if not documented.matches(entry.output, said):
            command = f"$ {entry.command}\n"
            text = text.replace(command + entry.output, command + documented.renewed(entry.output, said), 1)
    shutil.copyfile(user.path(DRAWN), PICTURE)
    user.cleanup()
    with open(README, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    write() if sys.argv[1:] == ["--write"] else unittest.main()
