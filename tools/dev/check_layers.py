#!/usr/bin/env python3
"""Checks who includes whom. A file may include what the first matching row of LAYERS allows; everything is included by its
path from the root, so the text of an include says which layer it reaches.

    check_layers.py [ROOT]
"""
import re
import sys

import tree

OWN = "<own folder>"

# What of this repository a file may include, by where the file lies. Generated headers mirror the tree.
LAYERS = [
    # file                               may include
    (r"test/.*",                         [r".*"]),
    (r"tools/pcc/.*",                    [OWN, r"passes/Compile\.h", r"runtime/(checkpoint|engine|launch|program)/.*"]),
    # The module reads options as the tool does, and makes libpcc's entry points known to Python.
    (r"python-bindings/.*",              [OWN, r"tools/pcc/CompileCommand\.h", r"passes/Compile\.h",
                                          r"runtime/(checkpoint|engine|launch|program)/.*"]),
    (r"tools/[^/]+/.*",                  [OWN, r"dialects/.*", r"passes/[^/]+/Passes\.h(\.inc)?", r"passes/Register\.h"]),
    (r"passes/7-emit/.*",                [OWN, r"dialects/.*", r"passes/plan/.*", r"runtime/(program|timeline)/.*"]),
    (r"passes/\d-[^/]+/.*",              [OWN, r"dialects/.*", r"passes/plan/.*"]),
    (r"passes/plan/.*",                  [OWN, r"dialects/.*\.h", r"runtime/timeline/.*"]),          # but see PLAIN
    (r"passes/interpret/.*",             [OWN, r"dialects/.*", r"passes/plan/.*", r"runtime/program/.*"]),
    (r"passes/explain/.*",               [OWN, r"dialects/.*", r"passes/plan/.*", r"passes/4-shard/.*", r"passes/7-emit/bundle/.*",
                                          r"runtime/program/.*"]),
    (r"passes/[^/]+",                    [r"passes/.*", r"dialects/.*", r"runtime/program/.*"]),
    (r"dialects/.*",                     [OWN]),
    (r"runtime/program/.*",              [OWN]),
    (r"runtime/timeline/.*",             [OWN, r"runtime/program/.*"]),
    (r"runtime/comm/nccl/.*",            [OWN, r"runtime/device/cuda/.*", r"runtime/program/.*"]),
    (r"runtime/(device|comm)/.*",        [OWN, r"runtime/program/.*"]),
    (r"runtime/.*",                      [r"runtime/.*"]),
    (r"bench/.*",                        [OWN, r"passes/Compile\.h", r"passes/plan/.*", r"runtime/.*"]),
]
OURS = re.compile(r"(dialects|passes|runtime|tools|test|bench|python-bindings)/")

# Headers of other projects that only some folders may see.
OUTSIDE = [
    # header                             may be included from                    why
    (r"cu[a-zA-Z]*\.h|cuda/.*",          r".*/cuda/.*",                          "only a folder called cuda sees CUDA"),
    (r"nccl\.h",                         r".*/nccl/.*",                          "only a folder called nccl sees NCCL"),
    (r"mpi\.h",                          r".*/mpi/.*",                           "only a folder called mpi sees MPI"),
]
# Plain C++: nothing that such a file includes, at any distance, includes MLIR, LLVM or what TableGen made.
PLAIN = re.compile(r"(runtime|passes/plan)/")
IR = re.compile(r"(mlir|mlir-c|llvm|llvm-c|lld)/.*|.*\.inc")
INCLUDE = re.compile(r'\s*#\s*include\s*(["<])([^">]+)[">]|\s*include\s*(")([^"]+)"')


def own_folder(name):
    """The layer folder that a file belongs to: passes/4-shard, dialects/dist, runtime/comm, tools/pcc."""
    return "/".join(name.split("/")[:2]) + "/"


def allowed(name, header):
    for where, what in LAYERS:
        if re.fullmatch(where, name):
            return any(header.startswith(own_folder(name)) if w is OWN else re.fullmatch(w, header) for w in what)
    return True


def includes(text):
    """(line number, header, whether it is quoted) of every include."""
    for number, line in enumerate(text, 1):
        if m := INCLUDE.match(line):
            yield number, m.group(2) or m.group(4), m.group(1) == '"'


def way_to_ir(header, text_of, seen):
    """The headers from `header` to the first that belongs to MLIR or LLVM; None if no way leads there."""
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
