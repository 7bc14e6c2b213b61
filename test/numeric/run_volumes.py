#!/usr/bin/env python3
"""Compares the received bytes of whole models with closed formulas, on 2, 4 and 8 ranks of one axis.

    run_volumes.py [--only GLOB] [--every N] [--jobs N] [--show]

  tp  2 (t-1)/t of [batch, seq, hidden] per sum over ranks: two sums per layer of a transformer, one of a perceptron, and one
      for an embedding that is also the head
  dp  nothing
  cp  (c-1)/c of keys and values of every layer, [batch, seq, heads of keys] each, or of heads of queries, keys, values and
      results, whichever is less
  pp  [batch / microbatches, seq, hidden] per boundary and microbatch, cut between layers

A plan may receive less; LESS has the bytes of those that do. Models are the real exports if their folder exists beside the
repository (full-size ones with empty files of weights), otherwise those of test/models.
"""
import argparse
import dataclasses
import fnmatch
import os
import subprocess
import sys
import tempfile

import onnx

import pcc

sys.path.insert(0, os.path.join(pcc.ROOT, "test", "models"))
import builder


@dataclasses.dataclass(frozen=True)
class Sizes:
    layers: int
    hidden: int
    keys: int = 0  # elements of all heads of keys; 0: no attention
    heads: int = 8  # of keys
    dims: tuple = (("batch", 8), ("seq", 32))
    sums: int = 2  # over ranks, per layer
    tied: bool = False  # the embedding is the head
    bytes: int = 4  # of an element
    seq: int = 0  # where it is not a dynamic dim

    def rows(self):
        """Returns batch and, if there is one, sequence."""
        return [n for _, n in self.dims] + [self.seq] * (self.seq > 0)

    def volume(self, last):
        """Returns the bytes of [batch, seq, last]."""
        result = last * self.bytes
        for n in self.rows():
            result *= n
        return result


SMALL, GROUPED = Sizes(4, 64, 64), Sizes(4, 64, 16, heads=2)
TIED = dataclasses.replace(SMALL, tied=True)
PERCEPTRON, EXPERTS = Sizes(4, 96, dims=(("batch", 32),), sums=1), Sizes(2, 64, dims=(("batch", 8),), sums=1, seq=16)
REAL = {"gpt2-dynamo": TIED, "gpt2-dynamo-opset23": TIED, "gpt2-torchscript": SMALL, "bert-dynamo": SMALL, "bert-torchscript": SMALL,
        "llama-dynamo": GROUPED, "llama-dynamo-opset24": GROUPED, "mlp-torchscript": PERCEPTRON, "moe-dense-dynamo": EXPERTS}
OWN = {"gpt2": TIED, "bert": SMALL, "llama": GROUPED, "mlp": PERCEPTRON, "moe": EXPERTS}
MANY = (("batch", 4), ("seq", 128))
FULL = {"gpt2-124m": Sizes(12, 768, 768, 12, MANY, tied=True), "bert-base": Sizes(12, 768, 768, 12, MANY),
        "llama-8b": Sizes(32, 4096, 1024, dims=MANY, bytes=2), "llama-70b": Sizes(80, 8192, 1024, dims=MANY, bytes=2)}

# Received bytes on 2, 4 and 8 ranks that are below the formula.
OUTPUT = {  # the last sum is an output, or is read only by a narrow head: it is scattered
    "bert-dynamo tp": (491_520, 737_280, 860_160), "bert-torchscript tp": (491_520, 737_280, 860_160),
    "bert-base tp": (36_962_304, 55_443_456, 64_684_032), "mlp-torchscript tp": (43_648, 65_472, 76_384),
    "moe-dense-dynamo tp": (61_952, 92_928, 108_416), "bert tp": (491_520, 737_280, 860_160), "mlp tp": (43_648, 65_472, 76_384),
    "moe tp": (61_952, 92_928, 108_416)}
TABLE = {  # 509 rows of the table are fewer bytes than the sum of the looked-up rows
    f"{name} tp": (589_440, 860_160, 916_992) for name in ("gpt2-dynamo", "gpt2-dynamo-opset23", "gpt2")}
SPLIT = {  # heads on some ranks and the sequence on others, which makes every sum smaller
    "gpt2-torchscript tp": (None, None, 862_208), "gpt2-124m tp": (None, None, 65_163_264), "llama-dynamo tp": (None, 635_392, 652_544),
    "llama-dynamo-opset24 tp": (None, 635_392, 652_544), "llama-8b tp": (None, None, 417_333_248), "llama tp": (None, 635_392, 652_544)}
UNEVEN = {  # 12 heads over 8 ranks, of which two have none
    f"{name} cp": (None, None, 10_616_832) for name in ("gpt2-124m", "bert-base")}
LESS = {case: dict(zip((2, 4, 8), numbers)) for group in (OUTPUT, TABLE, SPLIT, UNEVEN) for case, numbers in group.items()}


def place(name, folder):
    """The path of a model; the folder is scratch space."""
    source = os.path.join(pcc.REAL_MODELS, name)
    if name in REAL:
        return os.path.join(source, "model.onnx")
    if name in FULL:
        script = os.path.join(pcc.REAL_MODELS, "materialize.py")
        subprocess.run([sys.executable, "-B", script, source, folder, "--sparse"], check=True)
    else:
        builder.build(name, os.path.join(folder, "model.onnx"))
    return os.path.join(folder, "model.onnx")


def sums(path, sizes):
    """Returns the names of the sums of [batch, seq, hidden] after attention and perceptron of each layer, in order: they add
    two values that are computed. The graph's own sums are the last ones; embeddings come before."""
    model, dims, weights = onnx.load(path, load_external_data=False), dict(sizes.dims), set()
    for value in model.graph.input:
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param in dims:
                dim.dim_value = dims[dim.dim_param]
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    del model.graph.value_info[:]
    weights.update(w.name for w in model.graph.initializer)
    inferred = onnx.shape_inference.infer_shapes(model, data_prop=True).graph.value_info
    wanted = {v.name for v in inferred if [d.dim_value for d in v.type.tensor_type.shape.dim] == [*sizes.rows(), sizes.hidden]}
    found = [n.output[0] for n in model.graph.node if n.op_type == "Add" and n.output[0] in wanted and not weights & set(n.input)]
    return found[-2 * sizes.layers:]


def norm_behind(nodes, value):
    """Returns the output of the norm that reads `value`: a single node, or several of which the last is known."""
    first = next(i for i, n in enumerate(nodes) if value in n.input)
    if nodes[first].op_type == "LayerNormalization":
        return nodes[first].output[0]
    return next(n.input[0] for n in nodes[first:] if n.op_type == "MatMul")


def compile(path, sizes, folder, *options):
    bundle = os.path.join(folder, "b.pcc")
    pcc.succeed(path, "-o", bundle, "-q", *pcc.dim_options(dict(sizes.dims)), *options)
    return pcc.inspect(bundle)


def received(inspection):
    return sum(c["received_bytes"] * c["count"] for c in inspection["collectives"])


def tensor(path, sizes, ranks, folder):
    """Returns the received bytes and the formula's number."""
    per_sum = 2 * (ranks - 1) * sizes.volume(sizes.hidden) // ranks
    return received(compile(path, sizes, folder, "--tp", ranks)), (sizes.sums * sizes.layers + sizes.tied) * per_sum


def data(path, sizes, ranks, folder):
    inspection = compile(path, sizes, folder, "--dp", ranks)
    batch = dict(sizes.dims)["batch"]
    for rank in inspection["ranks"]:
        for value in rank["inputs"] + rank["outputs"]:
            low = batch // ranks * rank["rank"]
            if value["runs"][0] != [[low, low + batch // ranks]]:
                raise pcc.Failure(f"rank {rank['rank']} has {value['runs'][0]} of the batch of {value['name']}")
    return received(inspection), 0


def context(path, sizes, ranks, folder):
    """Checks that every rank has its part of the tokens, in one piece or in stripes, without pins."""
    inspection = compile(path, sizes, folder, "--cp", ranks)
    seq = dict(sizes.dims)["seq"]
    held = {}
    for rank in inspection["ranks"]:
        for value in [v for v in rank["inputs"] if v["name"] == "input_ids"] + rank["outputs"]:
            tokens = [t for low, high in value["runs"][1] for t in range(low, high)]
            if len(tokens) != seq // ranks:
                raise pcc.Failure(f"rank {rank['rank']} has {value['runs'][1]} of the sequence of {value['name']}")
            held.setdefault(value["name"], []).extend(tokens)
    for name, tokens in held.items():
        if sorted(tokens) != list(range(seq)):
            raise pcc.Failure(f"the ranks together do not have all tokens of {name} once")
    rows = sizes.volume(sizes.keys)
    heads = sizes.volume(sizes.hidden) // ranks + sizes.volume(sizes.keys) // min(ranks, sizes.heads)
    return received(inspection), sizes.layers * 2 * (ranks - 1) * min(rows, heads) // ranks


def stages(path, sizes, ranks, folder):
    """Checks that the cuts are between the last sum of a share of the layers and the norm after it."""
    nodes = onnx.load(path, load_external_data=False).graph.node
    ends = sums(path, sizes)[1::2][sizes.layers // ranks - 1:-1:sizes.layers // ranks]
    cuts = [w for e in ends for w in ("--stage-at", norm_behind(nodes, e))]
    transfers = compile(path, sizes, folder, "--pp", ranks, "--microbatches", 4, *cuts)["transfers"]
    if {t["per"] for t in transfers} != {"microbatch"}:
        raise pcc.Failure(f"transfers are not per microbatch: {transfers}")
    return 4 * sum(t["bytes"] for t in transfers), (ranks - 1) * sizes.volume(sizes.hidden)


def check(name, sizes, kind, ranks, show):
    with tempfile.TemporaryDirectory() as folder:
        got, formula = KINDS[kind](place(name, folder), sizes, ranks, folder)
    if show:
        print(f"{name:22} {kind}={ranks} {got:12} of {formula:12}", "" if got == formula else "differs", flush=True)
    wanted = LESS.get(f"{name} {kind}", {}).get(ranks) or formula
    if got > wanted:
        raise pcc.Failure(f"receives {got} bytes, {wanted} are enough; the formula has {formula}")
    if got < wanted:
        raise pcc.Failure(f"receives {got} bytes, less than the {wanted} that are written down")


KINDS = {"tp": tensor, "dp": data, "cp": context, "pp": stages}


def cases(show):
    models = {n: s for n, s in {**REAL, **FULL}.items() if os.path.isdir(os.path.join(pcc.REAL_MODELS, n))}
    for name, sizes in (models or OWN).items():
        kinds = [("tp", 2), ("tp", 4), ("tp", 8), ("dp", 2), ("dp", 4), ("dp", 8), ("cp", 2), ("cp", 4), ("cp", 8), ("pp", 2), ("pp", 4)]
        for kind, ranks in kinds:
            if sizes.keys or kind in ("tp", "dp"):
                if kind != "dp" or dict(sizes.dims)["batch"] % ranks == 0:
                    yield f"{name} {kind}={ranks}", check, (name, sizes, kind, ranks, show)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="*", metavar="GLOB")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="one of N cases")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="print a line per case")
    arguments = parser.parse_args()
    chosen = [c for c in cases(arguments.show) if fnmatch.fnmatch(c[0], arguments.only)]
    return pcc.run_cases(chosen[::arguments.every], arguments.jobs)


if __name__ == "__main__":
    sys.exit(main())
