#!/usr/bin/env python3
"""Mistypes commands, options, values and names of a model, and counts in how many messages pcc suggests the right one.

    typos_test.py PCC [NUMBER]

NUMBER words of each family are mistyped (default 65, which makes 2,000), each in one of the ways of `TYPOS`. At least 95 %
of the messages suggest the right word: of all, and of each family (where NUMBER is small, one message may fail).
"""
import json
import os
import random
import re
import string
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "test", "models"))
import builder

PCC, NUMBER = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 65
SHARE = 0.95
folder = tempfile.TemporaryDirectory()
MODEL, BUNDLE = (os.path.join(folder.name, name) for name in ("model.onnx", "model.pcc"))
COMMANDS = ["compile", "run", "verify", "inspect", "explain", "plan", "report", "checkpoint", "help", "completion"]
DIMS = ["--dim", "batch=4", "--dim", "seq=8"]
TRAIN = ["--train", "--loss", "cross_entropy(logits, labels)"]


def call(*words):
    return subprocess.run([PCC, *words], capture_output=True, text=True, cwd=folder.name, timeout=120)


# ---------------------------------------------------------------------------------------------------------------------
# Ways to mistype a word. Each returns None where it does not apply.
# ---------------------------------------------------------------------------------------------------------------------


def at_letter(word, random):
    """Returns the index of a letter, behind hyphens at the beginning."""
    first = len(word) - len(word.lstrip("-"))
    return random.randrange(first, len(word))


def dropped(word, random):
    i = at_letter(word, random)
    return word[:i] + word[i + 1:]


def doubled(word, random):
    i = at_letter(word, random)
    return word[:i] + word[i] + word[i:]


def replaced(word, random):
    i = at_letter(word, random)
    return word[:i] + random.choice(string.ascii_lowercase) + word[i + 1:]


def inserted(word, random):
    i = at_letter(word, random)
    return word[:i] + random.choice(string.ascii_lowercase) + word[i:]


def exchanged(word, random):
    i = at_letter(word, random)
    return word[:i] + word[i + 1] + word[i] + word[i + 2:] if i + 1 < len(word) else None


def in_capitals(word, random):
    return word.upper()


def with_a_capital(word, random):
    return word.capitalize() if word.capitalize() != word else None


def other_hyphens(word, random):
    body = word.lstrip("-")
    there, back = ("-", "_") if "-" in body else ("_", "-")
    return word[:len(word) - len(body)] + body.replace(there, back)


def one_hyphen(word, random):
    """Drops a hyphen. Options that begin like a short one are left out: -help is -h, and -output is -o with a value."""
    return word[1:] if word.startswith("--") and word[2] not in "hioqv" else None


TYPOS = [dropped, doubled, replaced, inserted, exchanged, in_capitals, with_a_capital, other_hyphens, one_hyphen]


def mistyped(words, seed):
    """Yields NUMBER pairs of a right and a mistyped word, which is not itself right and has none of the letters that part words."""
    draw = random.Random(seed)
    found = 0
    while found < NUMBER:
        word, typo = draw.choice(words), draw.choice(TYPOS)
        wrong = typo(word, draw)
        if wrong and wrong.lstrip("-") and wrong not in words and not re.search(r"[?*\[\],=|:]", wrong):
            found += 1
            yield word, wrong


# ---------------------------------------------------------------------------------------------------------------------
# Families of words
# ---------------------------------------------------------------------------------------------------------------------


def suggested(message):
    """Returns the words that the error of a message suggests."""
    line = next((line for line in message.splitlines() if line.startswith("pcc: error:")), "")
    found = re.search(r"(did you mean|nearest[^:]*:|' matches \d+:)(.*)", line)
    words = re.findall(r"'[^']*'|[^\s,;?]+", found[2]) if found else []
    return [word.strip("'") for word in words]


def missed(word, command):
    """Returns the message to a wrong command as a list of one text, or an empty list if it suggests `word`."""
    done = call(*command)
    if done.returncode in (2, 6, 10) and any(word in text.split() for text in suggested(done.stderr)):
        return []
    return [f"{word}: pcc {' '.join(command)}: exit code {done.returncode}: {done.stderr.strip()}"]


def candidates(*words):
    """Returns the words that may end a command line."""
    return [row.split("\t")[0] for row in call("__complete", *words).stdout.splitlines()]


def options_of(command):
    return [word for word in candidates(*command, "--") if word.startswith("--")]


def families():
    """Yields the name of each family, its words, and a function that makes a command line of a mistyped word."""
    yield "commands", COMMANDS, lambda typo: (typo, BUNDLE)
    for command in ("compile", "run", "verify", "inspect", "explain", "plan", "report", "checkpoint export"):
        yield f"options of {command}", options_of(command.split()), lambda typo, c=command: (*c.split(), *([] if c == "plan" else [MODEL]), typo)
    for line in ("compile --dtype", "compile --target", "compile --preset", "compile --optimizer", "compile --recompute",
                 "compile --emit", "compile --stop-after", "run --comm", "run --tokens", "run --format", "verify --dtype"):
        command, option = line.split()
        yield line, candidates(command, MODEL, option, ""), lambda typo, c=command, o=option: (c, MODEL, f"{o}={typo}")
    schedules = ["gpipe", "1f1b", "interleaved", "zb-h1", "zb-v", "naive"]
    yield "schedules", schedules, lambda typo: (MODEL, *DIMS, *TRAIN, "--pp", "2", f"--schedule={typo}")
    yield from names_of_the_model()


def names_of_the_model():
    bundle = json.loads(call("inspect", BUNDLE, "--json").stdout)
    weights = [weight["name"] for weight in bundle["ranks"][0]["parameters"]]
    inputs = [tensor["name"] for tensor in bundle["inputs"]]
    yield "--shard", weights, lambda typo: (MODEL, *DIMS, "--tp", "2", "--shard", f"{typo}=[]")
    yield "--freeze", weights, lambda typo: (MODEL, *DIMS, *TRAIN, f"--freeze={typo}")
    yield "--train-only", weights, lambda typo: (MODEL, *DIMS, *TRAIN, f"--train-only={typo}")
    yield "--dim", ["batch", "seq"], lambda typo: (MODEL, *DIMS, f"--dim={typo}=4")
    yield "--shape", inputs, lambda typo: (MODEL, *DIMS, f"--shape={typo}=4x8")
    yield "--batch-dim", inputs, lambda typo: (MODEL, *DIMS, f"--batch-dim={typo}=0")
    yield "run --input", inputs, lambda typo: ("run", BUNDLE, f"--input={typo}={MODEL}")
    yield "verify --input", inputs, lambda typo: ("verify", MODEL, *DIMS, f"--input={typo}={MODEL}")
    yield "outputs in --loss", ["logits"], lambda typo: (MODEL, *DIMS, "--train", f"--loss=mse({typo}, labels)")
    yield "losses", ["cross_entropy", "mse"], lambda typo: (MODEL, *DIMS, "--train", f"--loss={typo}(logits, labels)")
    yield "explain", weights, lambda typo: ("explain", MODEL, *DIMS, typo)


class Typos(unittest.TestCase):
    def test_suggestions_contain_the_right_word(self):
        builder.build("gpt2", MODEL, layers=2, hidden=16, heads=2, vocabulary=32, positions=8)
        done = call(MODEL, "-o", BUNDLE, *DIMS)
        self.assertEqual(done.returncode, 0, done.stderr)
        number, misses = 0, []
        for name, words, command_of in families():
            own = [miss for word, typo in mistyped(words, name) for miss in missed(word, command_of(typo))]
            number += NUMBER
            misses += own
            with self.subTest(family=name):
                self.assertLessEqual(len(own), max(1, NUMBER * (1 - SHARE)), "\n".join(own))
        self.assertLessEqual(len(misses), number * (1 - SHARE), "\n".join(misses))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
