"""Writes small ONNX models for lit: model.py EXPRESSION -o FILE

EXPRESSION builds nodes with the names below; `x` is an input [2, 3] unless `input()` declares others first.

    y = node("Gemm", input("x", [2, 3]), weight("w", [4, 3]), transB=1)

Multi-device annotations follow the nodes to which they belong, which are named by their first outputs:

    devices("c", 4); shard(y, "w", {0: 2}, [-1, -2], {-1: [0, 1], -2: [2, 3]}); stage(y, 0); asks("w", "[tp, -]")
"""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

nodes, inputs, weights, opset, configurations, texts, metadata, declared = [], [], [], [22], [], {}, {}, {}


def input(name, shape, dtype=TensorProto.FLOAT):
    inputs.append(helper.make_tensor_value_info(name, dtype, shape))
    return name


def weight(name, shape):
    return constant(name, np.zeros(shape, "f4"))


def constant(name, values, dtype=None):
    weights.append(numpy_helper.from_array(np.asarray(values, dtype), name))
    return name


def declare(name, shape, dtype=TensorProto.FLOAT):
    """Declares the type of an output or inner value."""
    declared[name] = helper.make_tensor_value_info(name, dtype, shape)


def version(number):
    opset[0] = number


def node(op, *operands, outputs=1, name=None, domain="", trace=None, **attributes):
    name = name or f"{op.lower()}_{len(nodes)}"
    made = [f"{name}.{i}" if i else name for i in range(outputs)]
    nodes.append(helper.make_node(op, list(operands), made, name=name, domain=domain, **attributes))
    if trace:
        entry = nodes[-1].metadata_props.add()
        entry.key, entry.value = "pkg.torch.onnx.stack_trace", trace
    return made[0] if outputs == 1 else made


def devices(name, count):
    configurations.append(onnx.DeviceConfigurationProto(name=name, num_devices=count))


def configured(output, name=None):
    """Returns the annotation of the node of `output` for configuration `name`, or for the first one."""
    name = configurations[0].name if name is None else name
    configured = next(n for n in nodes if n.output[0] == output).device_configurations
    return next((c for c in configured if c.configuration_id == name), None) or configured.add(configuration_id=name)


def shard(output, tensor, dims, devices=(), groups={}, name=None):
    """Adds a sharding. `dims`: axis to number of shards, or to a list of (size, shards)."""
    spec = configured(output, name).sharding_spec.add(tensor_name=tensor, device=list(devices))
    for key, members in groups.items():
        spec.index_to_device_group_map.add(key=key, value=members)
    for axis, shards in dims.items():
        dim = spec.sharded_dim.add(axis=axis)
        for size, count in shards if isinstance(shards, list) else [(None, shards)]:
            dim.simple_sharding.add(num_shards=count, **({} if size is None else {"dim_value": size}))


def stage(output, number):
    configured(output).pipeline_stage = number


def asks(value, text):
    """Adds the metadata pcc.sharding of an input, output or weight."""
    texts[value] = text


def main():
    scope = dict(globals())
    exec(sys.argv[1], scope)
    results = scope["y"] if isinstance(scope["y"], (list, tuple)) else [scope["y"]]
    outputs = [declared.pop(r, None) or helper.make_empty_tensor_value_info(r) for r in results]
    infos = [helper.make_tensor_value_info(w.name, w.data_type, w.dims) for w in weights if w.name in texts]
    infos += declared.values()
    for info in inputs + outputs + infos:
        if info.name in texts:
            info.metadata_props.add(key="pcc.sharding", value=texts[info.name])
    graph = helper.make_graph(nodes, "g", inputs, outputs, weights, value_info=infos)
    domains = {n.domain for n in nodes if n.domain}
    imports = [helper.make_opsetid("", opset[0])] + [helper.make_opsetid(d, 1) for d in sorted(domains)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=11 if configurations else 10)
    model.configuration.extend(configurations)
    helper.set_model_props(model, metadata)
    onnx.save(model, sys.argv[3])


if __name__ == "__main__":
    main()
