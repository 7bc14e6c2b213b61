#!/usr/bin/env python3
"""Tests multi-device annotations. A model that onnx_ir annotates gives the same plan as the equivalent options. A model that
`--emit onnx` writes gives the plan from which it was written, computes the same as the original, and keeps other annotations.

    run_annotations.py [--only GLOB] [--jobs N]
"""
import argparse
import fnmatch
import os
import sys
import tempfile

import onnx
import onnx_ir
import pcc

sys.path.insert(0, os.path.join(pcc.ROOT, "test", "models"))
import builder
import oracle

DIMS = {"batch": 8, "seq": 16}
ODD_DIMS = {"batch": 4, "seq": 13}
CASES = {}


def case(function):
    """Registers a case, which gets an empty folder."""
    CASES[function.__name__] = function
    return function


def plan(model, *options):
    """Returns the output of `inspect` about the shards and the communication of a plan, without the names of axes."""
    bundle = os.path.join(os.path.dirname(model), "plan.pcc")
    pcc.succeed(model, "-o", bundle, *options)
    told = pcc.inspect(bundle)
    parts = [{k: r[k] for k in ("rank", "stages", "weight_bytes", "parameters", "inputs", "outputs")} for r in told["ranks"]]
    collectives = sorted(tuple(c[k] for k in ("node", "kind", "ranks_per_group", "stage", "local_bytes", "received_bytes", "count"))
                         for c in told["collectives"])
    transfers = sorted((t["from_stage"], t["to_stage"], t["value"], t["bytes"]) for t in told["transfers"])
    return {"world": told["world"], "ranks": parts, "collectives": collectives, "transfers": transfers}


def expect_same(got, want):
    for key in want:
        if got[key] != want[key]:
            raise pcc.Failure(f"{key}: {str(got[key])[:600]} instead of {str(want[key])[:600]}")


# Models that onnx_ir annotates ----------------------------------------------------------------------------------------------
def annotate(path, out, devices, shard):
    """Annotates a model: `shard(nodes, configuration)` annotates the nodes, by name."""
    model = onnx_ir.load(path)
    configuration = model.add_device_configuration("cluster", device_names=[f"gpu{i}" for i in range(devices)])
    shard({n.name: n for n in model.graph}, configuration)
    model.ir_version = max(model.ir_version, 11)
    onnx_ir.save(model, out)
    return out


def mlp(folder, **options):
    path = os.path.join(folder, "mlp.onnx")
    builder.build("mlp", path, **{**dict(layers=2), **options})
    return path


def weighted_nodes(path):
    """Returns (name of the node, index of the operand, name of the weight) of each product with a matrix, in order."""
    graph = onnx.load(path).graph
    weights = {i.name for i in graph.initializer if len(i.dims) == 2}
    return [(n.name, i, w) for n in graph.node if n.op_type in ("MatMul", "Gemm") for i, w in enumerate(n.input) if w in weights]


def column_axis(path, node):
    found = next(n for n in onnx.load(path).graph.node if n.name == node)
    return 0 if any(a.name == "transB" and a.i for a in found.attribute) else 1


@case
def columns_then_rows(folder):
    """Tests the layout of Megatron, requested at the weights only: by device numbers, and by options."""
    path = mlp(folder)
    (first, i, up), (second, j, down) = weighted_nodes(path)[:2]
    axis, other = column_axis(path, first), 1 - column_axis(path, second)

    def shard(nodes, cluster):
        nodes[first].shard(nodes[first].inputs[i], configuration=cluster, axis=axis, num_shards=2, device_indices=[0, 1])
        nodes[second].shard(nodes[second].inputs[j], configuration=cluster, axis=other - 2, num_shards=2, device_indices=[0, 1])

    text = {0: "[tp,-]", 1: "[-,tp]"}
    flags = ["--shard", f"{up}={text[axis]}", "--shard", f"{down}={text[other]}"]
    annotated = annotate(path, os.path.join(folder, "annotated.onnx"), 2, shard)
    dims = pcc.dim_options({"batch": 8})
    expect_same(plan(annotated, *dims, "--tp", "2"), plan(path, *dims, "--tp", "2", *flags))
    # If the user gives no mesh, the model's own axis has role Free, like those of --mesh.
    flags = [f.replace("tp", "a") for f in flags]
    expect_same(plan(annotated, *dims), plan(path, *dims, "--mesh", "a=2", *flags))
    pcc.succeed("verify", annotated, *dims)


@case
def two_axes(folder):
    """Tests a weight over both axes of a mesh of 2 x 2, one dim each."""
    path = mlp(folder)
    name, i, weight = weighted_nodes(path)[0]

    def shard(nodes, cluster):
        for axis in (0, 1):
            nodes[name].shard(nodes[name].inputs[i], configuration=cluster, axis=axis, num_shards=2, device_indices=[2 * axis, 2 * axis + 1])

    annotated = annotate(path, os.path.join(folder, "annotated.onnx"), 4, shard)
    options = pcc.dim_options({"batch": 8}) + ["--mesh", "a=2,b=2"]
    expect_same(plan(annotated, *options), plan(path, *options, "--shard", f"{weight}=[a,b]"))


@case
def stages(folder):
    """Tests pipeline stages of nodes, compared with cuts of --stage-at."""
    path = mlp(folder)
    names = [n.name for n in onnx.load(path).graph.node]
    second = weighted_nodes(path)[1][0]

    def shard(nodes, cluster):
        for n in names:
            nodes[n].set_pipeline_stage(cluster, int(names.index(n) >= names.index(second)))

    annotated = annotate(path, os.path.join(folder, "annotated.onnx"), 2, shard)
    dims = pcc.dim_options({"batch": 8})
    expect_same(plan(annotated, *dims), plan(path, *dims, "--pp", "2", "--stage-at", second))


# Models that pcc annotates --------------------------------------------------------------------------------------------------
# name: (model of the builder, its options, dims, the mesh, options that no annotation holds)
ROUNDS = {
    "mlp": ("mlp", dict(layers=2), DIMS, ["--tp", "2"]),
    "mlp_of_two_axes": ("mlp", dict(layers=2), DIMS, ["--dp", "2", "--tp", "2"]),
    "mlp_on_own_axes": ("mlp", dict(layers=2), DIMS, ["--mesh", "a=2,b=2"]),
    "mlp_uneven": ("mlp", dict(layers=3, hidden=37, inner=53, classes=7), ODD_DIMS, ["--tp", "3"]),
    "mlp_of_stages": ("mlp", dict(layers=4), DIMS, ["--tp", "2", "--pp", "2"]),
    "gpt2": ("gpt2", dict(layers=2), DIMS, ["--tp", "2"]),
    "gpt2_of_two_axes": ("gpt2", dict(layers=2), DIMS, ["--dp", "2", "--tp", "2"]),
    "gpt2_uneven": ("gpt2", dict(layers=1, hidden=50, heads=5, vocabulary=101, positions=16, inner=131, mask="buffer"), ODD_DIMS,
                    ["--tp", "3"]),
    "gpt2_of_stages": ("gpt2", dict(layers=2), DIMS, ["--tp", "2", "--pp", "2"]),
    "gpt2_in_stripes": ("gpt2", dict(layers=1, positions=64), DIMS, ["--cp", "2"]),
    "llama": ("llama", dict(layers=1), DIMS, ["--tp", "4"]),
    "llama_in_stripes": ("llama", dict(layers=1), DIMS, ["--cp", "2", "--tp", "2"]),
    "bert": ("bert", dict(layers=1), DIMS, ["--dp", "2", "--tp", "2"]),
    "resnet": ("resnet", {}, DIMS, ["--dp", "2"]),
    "moe": ("moe", {}, DIMS, ["--tp", "2"]),
    "mlp_in_microbatches": ("mlp", dict(layers=2), DIMS, ["--dp", "2", "--tp", "2"], ["--microbatches", "2"]),
}


def there_and_back(name):
    def run(folder):
        kind, options, dims, flags, *others = ROUNDS[name]
        path, out = os.path.join(folder, "model.onnx"), os.path.join(folder, "out.onnx")
        inputs = builder.build(kind, path, **options).draw_inputs(dims)
        # A model may lack some of the dims.
        bound = pcc.dim_options({k: v for k, v in dims.items() if k in dynamic_dims(path)})
        bound += [o for option in others for o in option]
        pcc.succeed(path, *bound, *flags, "--emit", "onnx", "-o", out)
        check_written(path, out)
        want = plan(path, *bound, *flags)
        expect_same(plan(out, *bound), want)
        expect_same(plan(out, *bound, *flags), want)
        pcc.succeed("verify", out, *bound)
        expected, got = oracle.run(path, inputs), oracle.run(out, inputs)
        if any((expected[k] != got[k]).any() for k in expected):
            raise pcc.Failure("ONNX Runtime gets other numbers")
    CASES[f"there_and_back_{name}"] = run


def dynamic_dims(path):
    graph = onnx.load(path, load_external_data=False).graph
    return {d.dim_param for i in graph.input for d in i.type.tensor_type.shape.dim}


def check_written(path, out):
    """Checks that the two files differ in annotations only, and that the checks of onnx and onnx_ir pass."""
    written = onnx.load(out)
    onnx.checker.check_model(written)
    model = onnx_ir.load(out)
    # The check that runs when a model is serialized; it only warns.
    if problems := onnx_ir._multi_device._check_device_configurations(model):
        raise pcc.Failure(f"onnx_ir: {problems[:3]}")
    if written.ir_version < 11 or not any(n.device_configurations for n in written.graph.node):
        raise pcc.Failure("nothing is annotated")
    plain = onnx.load(path)
    weights = {i.name for i in plain.graph.initializer}
    infos = {i.name for i in plain.graph.value_info}
    written.ir_version = plain.ir_version
    for field in (written.configuration, written.metadata_props):
        del field[:]
    written.metadata_props.extend(plain.metadata_props)
    for n in written.graph.node:
        del n.device_configurations[:]
    for info in list(written.graph.value_info):
        if info.name in weights - infos:
            written.graph.value_info.remove(info)
    for field in (written.graph.input, written.graph.output, written.graph.value_info):
        for info in field:
            kept = [m for m in info.metadata_props if m.key != "pcc.sharding"]
            del info.metadata_props[:]
            info.metadata_props.extend(kept)
    if written.SerializeToString(deterministic=True) != plain.SerializeToString(deterministic=True):
        raise pcc.Failure("more than annotations was changed")


for round_name in ROUNDS:
    there_and_back(round_name)


@case
def other_annotations_stay(folder):
    path = mlp(folder)
    name, i, weight = weighted_nodes(path)[0]
    annotated = annotate(path, os.path.join(folder, "annotated.onnx"), 2,
                         lambda nodes, cluster: nodes[name].shard(nodes[name].inputs[i], configuration=cluster, axis=0, num_shards=2,
                                                                  device_indices=[0, 1]))
    out, dims = os.path.join(folder, "out.onnx"), pcc.dim_options({"batch": 8})
    pcc.succeed(annotated, *dims, "--emit", "onnx", "-o", out)
    before = {n.name: n for n in onnx.load(annotated).graph.node}[name].device_configurations[0]
    after = {n.name: n for n in onnx.load(out).graph.node}[name].device_configurations
    if before not in list(after) or [c.configuration_id for c in after] != ["cluster", "pcc"]:
        raise pcc.Failure(f"annotations are now {[c.configuration_id for c in after]}")
    expect_same(plan(out, *dims), plan(annotated, *dims))
    expect_same(plan(out, *dims, "--configuration", "cluster"), plan(annotated, *dims))


@case
def external_weights_are_found(folder):
    """Tests that external weights are found: beside the model, and from a folder above it by a longer path."""
    path = os.path.join(folder, "m", "model.onnx")
    builder.build("gpt2", path, layers=1, external=True)
    bound, above = pcc.dim_options(DIMS), os.path.join(folder, "above.onnx")
    want = plan(path, *bound, "--tp", "2")
    pcc.succeed(path, *bound, "--tp", "2", "--emit", "onnx")
    expect_same(plan(os.path.join(folder, "m", "model.sharded.onnx"), *bound), want)
    pcc.succeed(path, *bound, "--tp", "2", "--emit", "onnx", "-o", above)
    expect_same(plan(above, *bound), want)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="*")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()

    def run(function):
        with tempfile.TemporaryDirectory() as folder:
            function(folder)

    return pcc.run_cases([(n, run, (f,)) for n, f in CASES.items() if fnmatch.fnmatch(n, arguments.only)], arguments.jobs)


if __name__ == "__main__":
    sys.exit(main())
