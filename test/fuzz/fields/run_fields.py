#!/usr/bin/env python3
"""Edits the fields of bundle.json and explain.json one by one, and makes the seals anew: a seal is a checksum and no secret. Every command that
reads such a bundle works, or refuses it as damaged (exit code 11) with a message of its own; it never ends as a defect or by a signal.

    run_fields.py [--every N] [--jobs N] [--only GLOB]
"""
import argparse
import copy
import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path[:0] = [os.path.join(ROOT, "test", "numeric"), os.path.join(ROOT, "test", "models")]
import builder
import pcc

SEAL_JSON = os.environ.get("SEAL_JSON", os.path.join(ROOT, "build", "release", "test", "seal-json"))
PLAN = ["--dim", "batch=8", "--train", "--loss", "mse(y, labels)", "--tp", "2", "--pp", "2", "--microbatches", "2"]
REMOVED, TWICE = "removed", "twice"
VALUES = [None, -1, 0, 1 << 64, 1e300, True, "x", [], {}, REMOVED, TWICE]
AGAIN = "~again"
RUN = ["run", "BUNDLE", "--random-inputs", "1", "--steps", "1", "--comm", "thread", "-q"]
#                   commands that read the file
COMMANDS = {
    "bundle.json": [["inspect", "BUNDLE"], ["inspect", "BUNDLE", "--json"], ["inspect", "BUNDLE", "--rank", "1", "--json"],
                    ["inspect", "BUNDLE", "--rank", "3"], ["inspect", "BUNDLE", "-v"], ["inspect", "BUNDLE", "--schedule"],
                    ["inspect", "BUNDLE", "--shards", "*"], ["report", "BUNDLE", "-o", "PAGE"], RUN],
    "explain.json": [["report", "BUNDLE", "-o", "PAGE"], [*RUN, "--html", "PAGE"], ["report", "BUNDLE/bundle.json", "-o", "PAGE"]],
}


def places(value, path=()):
    """Yields the path of each field of a JSON value, outer ones first."""
    for key, below in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*path, key)
        yield from places(below, (*path, key))


def chosen_places(content):
    """Returns the first and the last place of each kind: of all entries of a list, two are enough."""
    found = {}
    for path in places(content):
        found.setdefault(tuple("*" if isinstance(key, int) else key for key in path), []).append(path)
    return [path for paths in found.values() for path in dict.fromkeys([paths[0], paths[-1]])]


def edited(content, path, value):
    """Returns the text of `content` with another value at `path`."""
    content = copy.deepcopy(content)
    parent, key = content, path[-1]
    for step in path[:-1]:
        parent = parent[step]
    if value == REMOVED:
        del parent[key]
    elif value != TWICE:
        parent[key] = value
    elif isinstance(parent, list):
        parent.insert(key, copy.deepcopy(parent[key]))
    else:
        parent[key + AGAIN] = None
    return json.dumps(content, separators=(",", ":"), ensure_ascii=False).replace(AGAIN, "") + "\n"


def seal(text):
    return subprocess.run([SEAL_JSON], input=text.encode(), stdout=subprocess.PIPE, check=True).stdout


def seal_of(sealed):
    return re.search(rb'"seal":"(\w+)"}\n$', sealed).group(1).decode()


def write(path, data):
    if os.path.exists(path):
        os.remove(path)
    with open(path, "wb") as file:
        file.write(data)


class Bundle:
    """A bundle whose descriptions can be replaced."""

    def __init__(self, folder, *options):
        self.folder, self.path, model = folder, os.path.join(folder, "model.pcc"), os.path.join(folder, "model.onnx")
        builder.build("mlp", model, layers=2, hidden=8, inner=8)
        pcc.succeed(model, *PLAN, *options, "-q", "-o", self.path)
        self.content = {name: self.read(name) for name in COMMANDS}
        for fields in self.content.values():
            del fields["seal"]

    def read(self, name):
        with open(os.path.join(self.path, name), encoding="utf-8") as file:
            return json.load(file)

    def words(self, command, copy_of):
        return [word.replace("BUNDLE", copy_of).replace("PAGE", copy_of + ".html") for word in command]

    def place(self, target, texts):
        """Makes the copy `target` of the bundle, with other texts of bundle.json and explain.json."""
        if not os.path.exists(target):
            shutil.copytree(self.path, target)
        whole = {name: json.dumps(fields, separators=(",", ":")) + "\n" for name, fields in self.content.items()}
        described = seal(texts.get("bundle.json", whole["bundle.json"]))
        write(os.path.join(target, "bundle.json"), described)
        # explain.json names the bundle.json beside it.
        reasons = texts.get("explain.json", whole["explain.json"]).replace(self.content["explain.json"]["bundle"], seal_of(described))
        write(os.path.join(target, "explain.json"), seal(reasons))


def check(words, codes=(0, 11), mention=()):
    """Runs pcc; fails unless it ends with one of `codes`, and mentions everything in `mention`."""
    code, _, said = pcc.call(*words, timeout=60)
    wrong = [text for text in ("[json.exception", "crashed", "std::") if text in said] + [text for text in mention if text not in said]
    if code not in codes or wrong or re.search(r"[^\n\x20-\x7e\x80-\uffff]", said) or (code and not said.startswith("pcc: error: ")):
        raise pcc.Failure(f"{' '.join(words[:1] + words[2:])}: exit code {code}: {said.strip()[:400]!r} {wrong}")


def edits(bundle):
    """Returns (name, file, path, value, command) of all edits."""
    return [(f"{name} {'.'.join(map(str, path))} {json.dumps(value)} {' '.join(command)}", name, path, value, command)
            for name, content in bundle.content.items() for path in chosen_places(content) for value in VALUES for command in COMMANDS[name]]


#         file           path                                           value    the message names
REFUSED = [
    ("bundle.json", ("mesh", "tp"), -1, "field 'mesh.tp' is -1, not a whole number from 2"),
    ("bundle.json", ("programs", 0), REMOVED, "field 'programs' is a list of 1, not one entry for each of 2 positions"),
    ("bundle.json", ("programs", 0, "parameters", 0, "layout", 0, 0, 0), 1 << 64, "field 'programs[0].parameters[0].layout'"),
    ("bundle.json", ("programs", 1, "stages"), [], "field 'programs[1].stages'"),
    ("bundle.json", ("stages", 0), None, "field 'stages[0]' is null, not an object"),
    ("bundle.json", ("world",), [], "field 'world' is a list of 0, not a whole number from 1 to 65536"),
    ("bundle.json", ("world",), 3, "field 'world' is 3"),
    ("bundle.json", ("microbatches",), REMOVED, "field 'microbatches' is absent"),
    ("bundle.json", ("planned_step", "rows", 0), REMOVED, "field 'planned_step.rows'"),
    ("bundle.json", ("collectives", 0, "stage"), 9, "field 'collectives[0].stage' is 9, not a whole number from 0 to 1"),
    ("explain.json", ("collectives", 0, "count"), "x", "field 'collectives[0].count' is 'x'"),
    ("explain.json", ("bundle",), REMOVED, "field 'bundle' is absent"),
]


def refuses(bundle, name, path, value, mention):
    target = os.path.join(tempfile.mkdtemp(dir=bundle.folder), "copy.pcc")
    bundle.place(target, {name: edited(bundle.content[name], path, value)})
    for command in COMMANDS[name]:
        if name != "bundle.json" or command is not RUN or path != ("world",):
            check(bundle.words(command, target), (11,), [name, mention, "compile the model again: pcc MODEL -o"])


def explains_another_bundle(bundle):
    other = Bundle(tempfile.mkdtemp(dir=bundle.folder), "--dp", "2")
    shutil.copy(os.path.join(bundle.path, "explain.json"), other.path)
    for command in COMMANDS["explain.json"]:
        check(bundle.words(command, other.path), (11,), ["explain.json", "field 'bundle'", "explains another bundle"])


def stays_as_it_is(bundle):
    """A bundle that is only sealed anew is read by all commands."""
    target = os.path.join(tempfile.mkdtemp(dir=bundle.folder), "copy.pcc")
    bundle.place(target, {})
    for command in [command for commands in COMMANDS.values() for command in commands]:
        check(bundle.words(command, target), (0,))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="*")
    a = parser.parse_args()
    own = threading.local()
    with tempfile.TemporaryDirectory() as folder:
        bundle = Bundle(folder)

        def tries(name, path, value, command):
            if not hasattr(own, "copy"):
                own.copy = os.path.join(tempfile.mkdtemp(dir=folder), "copy.pcc")
            bundle.place(own.copy, {name: edited(bundle.content[name], path, value)})
            check(bundle.words(command, own.copy))
        cases = [("stays as it is", stays_as_it_is, (bundle,)), ("explains another bundle", explains_another_bundle, (bundle,))]
        cases += [(f"refused: {case[0]} {case[3]}", refuses, (bundle, *case)) for case in REFUSED]
        cases += [(name, tries, rest) for name, *rest in edits(bundle)[::a.every]]
        sys.exit(pcc.run_cases([case for case in cases if fnmatch.fnmatch(case[0], a.only)], a.jobs))


if __name__ == "__main__":
    main()
