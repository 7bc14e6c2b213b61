#!/usr/bin/env python3
"""Checks which files include which. A file may include what the first matching row of LAYERS allows; every include is a path
from the root, so its text tells the layer.

    check_layers.py [ROOT]
"""
import re
import sys

import tree

OWN = "<own layer>"    # the first two parts of the path: passes/4-shard, runtime/comm
ROOM = "<own folder>"


def rooms(layer, table, *outside):
    """Returns rows for the rooms (folders) of `layer`. `table` maps a room to the rooms that it may include besides itself;
    they must form a DAG. Any room may include `outside`; none may include files that lie directly in the folder of the layer."""
    return [(rf"{layer}/{room}/[^/]+", [ROOM, *(rf"{layer}/{other}/[^/]+" for other in may.split()), *outside])
            for room, may in table.items()]


# The ground: success or an error, which every file may include.
STATUS = r"status/.*"
# The plain C++ layer above it.
SHARDING = r"sharding/.*"
DIALECTS, PLAN = r"(dialects|sharding)/.*", r"passes/plan/.*"
BASE = r"runtime/(base|tensor)/.*"
PROGRAM = r"(sharding|runtime/(base|tensor|program))/.*"
# Files directly in passes/ that its rooms may include: the listener of a command, the table of phases, and the options of
# compile.
COMPILER = r"passes/(Listener|Options|OutputPaths|Phase|Pipeline|Register)\.h|passes/Phases\.def"

# Files of this repository that a file may include, by the path of the including file. The first row that matches applies.
# Generated headers have the paths of their sources.
LAYERS = [
    # file                               may include
    (r"test/.*",                         [r".*"]),
    # The table of options is an exception: the command line and --help are generated from its rows.
    (r"tools/pcc/.*",                    [OWN, r"passes/Compile\.h", r"passes/Plan\.h", r"passes/options/OptionTable\.h",
                                          r"runtime/(base|tensor|checkpoint|engine|launch|program|report)/.*"]),
    # The module parses options as the tool does, and makes the entry points of libpcc available to Python.
    (r"python-bindings/.*",              [OWN, r"tools/pcc/CompileCommand\.h", r"passes/Compile\.h", r"passes/options/OptionTable\.h",
                                          r"runtime/(base|tensor|checkpoint|engine|launch|program|report)/.*"]),
    (r"tools/[^/]+/.*",                  [OWN, DIALECTS, r"passes/[^/]+/Passes\.h(\.inc)?", r"passes/Register\.h"]),
    *rooms("passes/1-import", {
        "onnx/model": "", "onnx/parse": "onnx/model", "onnx/check": "onnx/model", "onnx/inline": "onnx/model",
        "onnx/write": "onnx/model", "onnx/schema": "onnx/model"}, r"runtime/base/.*"),
    (r"passes/1-import/onnx/[^/]+",      [r"passes/1-import/onnx/.*"]),
    *rooms("passes/1-import", {
        "build": "onnx onnx/model onnx/inline", "devices": "build onnx/model", "ops": "build", "transformer": "build"}, DIALECTS, r"runtime/base/.*"),
    *rooms("passes/2-prepare", {"match": "", "composites": "match", "simplify": "match", "training": ""}, DIALECTS, r"runtime/base/QuantityText\.h"),
    *rooms("passes/4-shard", {"graph": "", "policy": "graph", "search": "graph policy", "expand": "graph"}, DIALECTS, PLAN, r"runtime/base/QuantityText\.h"),
    *rooms("passes/7-emit", {
        "kernel": "", "lower": "", "link": "", "fuse": "kernel", "program": "kernel", "bundle": "program",
        "gpu/kernel": "kernel", "gpu/lower": "kernel", "gpu/fuse": "fuse kernel gpu/kernel",
        "instructions": "program fuse kernel gpu/kernel"}, DIALECTS, PLAN, PROGRAM, r"runtime/timeline/.*"),
    (r"passes/7-emit/[^/]+",             [OWN, DIALECTS, PLAN, PROGRAM, r"runtime/timeline/.*"]),
    # Messages of all layers write quantities alike.
    (r"passes/\d-[^/]+/[^/]+",           [OWN, DIALECTS, PLAN, r"runtime/base/QuantityText\.h"]),
    *rooms("passes/plan", {
        "cluster": "", "stage": "", "search": "", "schedule": "", "memory": "stage schedule", "reshard": "cluster"},
        SHARDING, r"runtime/timeline/.*"),
    *rooms("passes/interpret", {"elements": "", "simulate": "elements", "compare": "elements simulate"}, DIALECTS, PLAN, PROGRAM),
    (r"passes/interpret/[^/]+",          [OWN, DIALECTS, PLAN, PROGRAM]),
    (r"passes/explain/[^/]+",            [OWN, DIALECTS, PLAN, r"passes/4-shard/(graph|search)/.*", r"passes/7-emit/bundle/.*", PROGRAM]),
    *rooms("passes", {"options": "", "annotate": "", "driver": "options annotate"},
           COMPILER, DIALECTS, PLAN, r"passes/\d-[^/]+/.*", PROGRAM),
    (r"passes/[^/]+",                    [r"passes/.*", DIALECTS, PROGRAM, r"runtime/report/.*"]),
    (r"status/.*",                       [ROOM]),
    (r"sharding/.*",                     [ROOM]),
    (r"dialects/.*",                     [OWN, SHARDING, r"dialects/attributes/.*"]),
    (r"runtime/base/.*",                 [ROOM]),
    (r"runtime/tensor/.*",               [ROOM, r"runtime/base/.*"]),
    (r"runtime/program/bundle/.*",       [ROOM, r"runtime/program/[^/]+", BASE, SHARDING]),
    (r"runtime/program/.*",              [ROOM, BASE, SHARDING, r"runtime/timeline/.*"]),
    (r"runtime/timeline/.*",             [ROOM, r"runtime/base/.*"]),
    (r"runtime/comm/nccl/.*",            [OWN, r"runtime/device/cuda/.*", PROGRAM]),
    (r"runtime/(device|comm)/.*",        [OWN, PROGRAM]),
    (r"runtime/report/.*",               [ROOM, PROGRAM, r"runtime/timeline/.*"]),
    (r"runtime/checkpoint/.*",           [ROOM, r"runtime/comm/.*", PROGRAM]),
    *rooms("runtime/engine", {
        "options": "", "collective": "", "io": "options", "weight": "options", "observe": "options"},
        PROGRAM, r"runtime/(comm|device|checkpoint|timeline)/.*"),
    (r"runtime/engine/[^/]+",            [OWN, PROGRAM, r"runtime/(comm|device|checkpoint|timeline)/.*"]),
    *rooms("runtime/launch", {
        "job": "", "rendezvous": "job", "report": "job", "spawn": "job report rendezvous", "thread": "job report",
        "rank": "job report rendezvous"},
        PROGRAM, r"runtime/(comm|device|engine)/.*"),
    (r"runtime/launch/[^/]+",            [OWN, PROGRAM, r"runtime/(comm|device|engine)/.*"]),
    (r"bench/.*",                        [OWN, r"passes/Compile\.h", PLAN, SHARDING, r"runtime/.*"]),
]
OURS = re.compile(r"(status|sharding|dialects|passes|runtime|tools|test|bench|python-bindings)/")

# Headers of other projects that only some folders may see.
OUTSIDE = [
    # header                             may be included from                    why
    (r"cu[a-zA-Z]*\.h|cuda/.*",          r".*/cuda/.*",                          "only a folder called cuda sees CUDA"),
    (r"nccl\.h",                         r".*/nccl/.*",                          "only a folder called nccl sees NCCL"),
    (r"mpi\.h",                          r".*/mpi/.*",                           "only a folder called mpi sees MPI"),
]
# Plain C++: nothing that such a file includes, directly or indirectly, may include MLIR, LLVM or the output of TableGen.
PLAIN = re.compile(r"(status|sharding|runtime|passes/plan)/|passes/Compile\.h|passes/options/Option(Table|Text)\.h")
IR = re.compile(r"(mlir|mlir-c|llvm|llvm-c|lld)/.*|.*\.inc")
INCLUDE = re.compile(r'\s*#\s*include\s*(["<])([^">]+)[">]|\s*include\s*(")([^"]+)"')


def own_folder(name):
    """Returns the layer folder of a file: passes/4-shard, dialects/dist, runtime/comm, tools/pcc."""
    return "/".join(name.split("/")[:2]) + "/"


def matches(name, header, what):
    if what is OWN:
        return header.startswith(own_folder(name))
    if what is ROOM:
        return header.rpartition("/")[0] == name.rpartition("/")[0]
    return re.fullmatch(what, header)


def allowed(name, header):
    if re.fullmatch(STATUS, header):
        return True
    for where, may in LAYERS:
        if re.fullmatch(where, name):
            return any(matches(name, header, what) for what in may)
    return True


def includes(text):
    """Yields (line number, header, whether it is quoted) for every include."""
    for number, line in enumerate(text, 1):
        if m := INCLUDE.match(line):
            yield number, m.group(2) or m.group(4), m.group(1) == '"'


def way_to_ir(header, text_of, seen):
    """Returns the chain of headers from `header` to the first one of MLIR or LLVM, or None if it includes none of them."""
    if IR.fullmatch(header):
        return [header]
    seen.add(header)
    for _, further, _ in includes(text_of.get(header, [])):
        if further not in seen and (way := way_to_ir(further, text_of, seen)):
            return [header, *way]
    return None


def problems_of(name, text_of):
    for number, header, quoted in includes(text_of[name]):
        if OURS.match(header) and not allowed(name, header):
            yield f"{name}:{number}: may not include \"{header}\""
        for pattern, where, why in OUTSIDE:
            if re.fullmatch(pattern, header) and not re.fullmatch(where, name):
                yield f"{name}:{number}: may not include \"{header}\": {why}"
        if PLAIN.match(name) and (way := way_to_ir(header, text_of, set())):
            yield f"{name}:{number}: plain C++ may not see \"{way[-1]}\", which comes by {' -> '.join(way)}"
        if quoted and "/" not in header:
            yield f"{name}:{number}: \"{header}\" is not a path from the root"


def check(root=tree.ROOT):
    text_of = {f: tree.lines(f, root) for f in tree.files(root) if re.search(r"\.(h|cpp|td|cu|inc)$", f)}
    return [p for f in text_of for p in problems_of(f, text_of)]


if __name__ == "__main__":
    sys.exit(tree.report(check(*sys.argv[1:])))
