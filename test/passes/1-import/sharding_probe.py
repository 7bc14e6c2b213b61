"""Finds the dims of a module's results that an axis may split. The module gets a mesh of one axis of two ranks and one result
dim split over it, and pcc-opt decides the rest. The dim counts as split if every rank computes only its part: no op computes a
whole value of which ranks then keep parts."""
import re
import subprocess

RESULT = re.compile(r'tensor<((?:\d+x)*)\w+> \{graph\.name = ')
# Ops whose results cost nothing to compute on every rank.
FREE = {"graph.constant", "graph.iota", "graph.get_parameter"}


def seeded(module):
    """Yields a copy of `module` for each result dim of two or more elements, with that dim split over the axis x."""
    start = module.index(") -> ")
    head, tail = module[:start], module[start:]
    head = head.replace("module attributes {", "module attributes {dist.mesh = #dist.mesh<x = 2>, ", 1)
    end = tail.index("\n")
    copies = []
    for found in RESULT.finditer(tail, 0, end):
        shape = [int(n) for n in found[1].split("x")[:-1]]
        for dim, size in enumerate(shape):
            if size > 1:
                sharding = ", ".join(f"{size}@x:2" if i == dim else "-" for i in range(len(shape)))
                seed = f'dist.sharding = #dist.sharding<"[{sharding}]">, '
                at = found.end() - len("graph.name = ")
                copies.append(head + tail[:at] + seed + tail[at:])
    return copies


def keeps_parts(module):
    """Returns whether some op computes a whole value of which ranks then keep parts."""
    text_of = dict(re.findall(r'^#(\w+) = #dist\.sharding<"(.*)">$', module, re.M))
    made_by = dict(re.findall(r"^ *%(\w+)(?::\d+)? = ([\w.]+)", module, re.M))
    for value, origin, to in re.findall(r"dist\.reshard %(\w+)(?:#\d+)? from (\S+) to (\S+)", module):
        origin, to = text_of.get(origin[1:], origin), text_of.get(to[1:], to)
        if made_by.get(value, "graph.constant") not in FREE and "@x" not in origin and "partial" not in origin and "@x" in to:
            return True
    return False


def splits(opt, module):
    """Returns for each result dim of two or more elements whether it is split. `opt` is pcc-opt."""
    copies = seeded(module)
    if not copies:
        return []
    call = subprocess.run([opt, "--decide-shardings", "--insert-reshards", "--split-input-file"], input="\n// -----\n".join(copies),
                          capture_output=True, text=True, timeout=120)
    decided = call.stdout.split("// -----") if call.returncode == 0 else []
    return [not keeps_parts(module) for module in decided] if len(decided) == len(copies) else []
