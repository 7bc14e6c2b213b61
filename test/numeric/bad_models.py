"""Hand-made models with one mistake each, which no exporter writes and a reader has to reject."""
import os

import numpy as np
from onnx import AttributeProto, DeviceConfigurationProto, ModelProto, TensorProto, helper

FLOAT = TensorProto.FLOAT


def value(name, shape, dtype=FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def save(folder, nodes, inputs=None, outputs=None, weights=(), opset=18, domains=(), **fields):
    """Writes model.onnx. By default it computes y from x, 2 x 10 floats."""
    os.makedirs(folder, exist_ok=True)
    graph = helper.make_graph(nodes, "g", inputs or [value("x", [2, 10])], outputs or [value("y", None)], list(weights))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), *(helper.make_opsetid(d, 1) for d in domains)],
                              ir_version=11 if "configuration" in fields else 10)
    model.configuration.extend(fields.get("configuration", []))
    path = os.path.join(folder, "model.onnx")
    with open(path, "wb") as f:
        f.write(model.SerializeToString())
    return path


def node(kind, inputs, outputs=("y",), name="the_node", **attributes):
    return helper.make_node(kind, list(inputs), list(outputs), name=name, **attributes)


def weight(name, shape, data=None):
    raw = np.zeros(shape, "f4").tobytes() if data is None else data
    return TensorProto(name=name, data_type=FLOAT, dims=shape, raw_data=raw)


def external(name, shape, **entries):
    """Returns a weight with external data: location, offset, length."""
    tensor = TensorProto(name=name, data_type=FLOAT, dims=shape, data_location=TensorProto.EXTERNAL)
    for k, v in entries.items():
        tensor.external_data.add(key=k, value=str(v))
    return tensor


def matmul(folder, tensor):
    return save(folder, [node("MatMul", ["x", "w"])], weights=[tensor])


def undefined_value(folder):
    return save(folder, [node("Add", ["x", "nowhere"])])


def value_made_twice(folder):
    return save(folder, [node("Relu", ["x"], name="one"), node("Neg", ["x"], name="two")])


def output_never_made(folder):
    return save(folder, [node("Relu", ["x"], ["z"])])


def too_few_inputs(folder):
    return save(folder, [node("Add", ["x"])])


def wrong_attribute_type(folder):
    bad = node("Softmax", ["x"])
    bad.attribute.append(AttributeProto(name="axis", type=AttributeProto.STRING, s=b"one"))
    return save(folder, [bad])


def permutation_of_another_rank(folder):
    return save(folder, [node("Transpose", ["x"], perm=[0, 2, 1])])


def short_raw_data(folder):
    return matmul(folder, weight("w", [10, 10], b"\0" * 399))


def negative_dim(folder):
    return matmul(folder, TensorProto(name="w", data_type=FLOAT, dims=[10, -10], raw_data=b"\0" * 400))


def overflowing_dims(folder):
    return matmul(folder, TensorProto(name="w", data_type=FLOAT, dims=[2**62, 8], raw_data=b"\0" * 400))


def types_differ(folder):
    return save(folder, [node("Add", ["x", "i"])], [value("x", [2, 10]), value("i", [2, 10], TensorProto.INT64)])


def negative_offset(folder):
    tensor = external("w", [10, 10], location="w.bin", offset=-4, length=400)
    path = matmul(folder, tensor)
    open(os.path.join(folder, "w.bin"), "wb").write(b"\0" * 400)
    return path


def offset_that_is_no_number(folder):
    path = matmul(folder, external("w", [10, 10], location="w.bin", offset="four", length=400))
    open(os.path.join(folder, "w.bin"), "wb").write(b"\0" * 400)
    return path


def length_of_another_shape(folder):
    path = matmul(folder, external("w", [10, 10], location="w.bin", offset=0, length=396))
    open(os.path.join(folder, "w.bin"), "wb").write(b"\0" * 400)
    return path


def no_location(folder):
    return matmul(folder, external("w", [10, 10], offset=0, length=400))


def external_folder(folder):
    os.makedirs(os.path.join(folder, "w.bin"))
    return matmul(folder, external("w", [10, 10], location="w.bin"))


def folder_linked_outside(folder):
    """Makes sub/ a link to a folder beside the model's folder."""
    outside = os.path.join(os.path.dirname(folder), "outside")
    os.makedirs(outside), os.makedirs(folder)
    open(os.path.join(outside, "w.bin"), "wb").write(b"\0" * 400)
    os.symlink(outside, os.path.join(folder, "sub"))
    return matmul(folder, external("w", [10, 10], location="sub/w.bin"))


def branch_missing(folder):
    then = helper.make_graph([node("Relu", ["x"], ["b"], name="inner")], "then", [], [value("b", None)])
    return save(folder, [node("If", ["c"], then_branch=then)], [value("x", [2, 10]), value("c", [], TensorProto.BOOL)])


def without_opset(folder):
    path = save(folder, [node("Relu", ["x"])])
    model = ModelProto.FromString(open(path, "rb").read())
    del model.opset_import[:]
    open(path, "wb").write(model.SerializeToString())
    return path


def type_that_onnx_lacks(folder):
    tensor = weight("w", [10, 10])
    tensor.data_type = 77
    return matmul(folder, tensor)


def input_type_that_onnx_lacks(folder):
    return save(folder, [node("Relu", ["x"])], [value("x", [2, 10], 77)])


def cast_to_a_type_that_onnx_lacks(folder):
    return save(folder, [node("Cast", ["x"], to=77)])


def one_hot(folder, depth, values):
    constants = [helper.make_tensor("d", TensorProto.INT64, [len(depth)], depth), helper.make_tensor("v", FLOAT, [len(values)], values)]
    return save(folder, [node("OneHot", ["i", "d", "v"])], [value("i", [2, 3], TensorProto.INT64)], weights=constants)


def split(folder, sizes, outputs=2, **fields):
    sizes = helper.make_tensor("s", TensorProto.INT64, [len(sizes)], sizes)
    names = [f"y{i}" for i in range(outputs)]
    return save(folder, [node("Split", ["x", "s"], names, axis=1, **fields)], outputs=[value("y0", None)], weights=[sizes])


def pad(folder, pads):
    return save(folder, [node("Pad", ["x", "p"])], weights=[helper.make_tensor("p", TensorProto.INT64, [4], pads)])


def convolution(folder, **fields):
    return save(folder, [node("Conv", ["x", "w"], **fields)], [value("x", [1, 2, 8, 8])], weights=[weight("w", [3, 2, 3, 3])])


def norm(folder, kind, epsilon, operands, **fields):
    """Writes a node that normalizes x of shape [2, 4, 8] with `operands` weights of 4 or, over the last dim, 8 elements."""
    size = 8 if kind in ("LayerNormalization", "RMSNormalization") else 4
    names = [f"w{i}" for i in range(operands)]
    return save(folder, [node(kind, ["x", *names], epsilon=epsilon, **fields)], [value("x", [2, 4, 8])],
                weights=[weight(name, [size]) for name in names], opset=23)


# Models whose message has to name what was found: how to write one, and texts in the message.
FOUND = {
    "branch_missing": (branch_missing, ["the_node", "'else_branch'"]),
    "without_opset": (without_opset, ["opset_import is missing"]),
    "type_that_onnx_lacks": (type_that_onnx_lacks, ["tensor 'w'", "data type 77", "ONNX does not have"]),
    "input_type_that_onnx_lacks": (input_type_that_onnx_lacks, ["'x'", "data type 77"]),
    "cast_to_a_type_that_onnx_lacks": (cast_to_a_type_that_onnx_lacks, ["the_node", "data type 77"]),
    "permutation": (permutation_of_another_rank, ["the_node", "[0, 2, 1]", "[2, 10]"]),
    "two_depths": (lambda folder: one_hot(folder, [3, 4], [0, 1]), ["the_node", "[3, 4]"]),
    "negative_depth": (lambda folder: one_hot(folder, [-3], [0, 1]), ["the_node", "-3"]),
    "three_values": (lambda folder: one_hot(folder, [3], [0, 1, 2]), ["the_node", "[3]"]),
    "split_sum": (lambda folder: split(folder, [3, 4]), ["the_node", "10 elements", "[3, 4]"]),
    "split_parts": (lambda folder: split(folder, [3, 4, 3]), ["the_node", "2 outputs", "[3, 4, 3]"]),
    "split_twice": (lambda folder: split(folder, [5, 5], num_outputs=2), ["the_node", "num_outputs"]),
    "pads_beyond_a_dim": (lambda folder: pad(folder, [0, -6, 0, -6]), ["the_node", "-6 and -6", "10 elements of dim 1"]),
    "pad_beyond_a_dim": (lambda folder: pad(folder, [0, -11, 0, 4]), ["the_node", "-11 and 4", "10 elements of dim 1"]),
    "unknown_auto_pad": (lambda folder: convolution(folder, auto_pad="SAME"), ["the_node", "'SAME'", "SAME_UPPER"]),
    "layer_norm": (lambda folder: norm(folder, "LayerNormalization", -1e-5, 2), ["the_node", "'epsilon'", "-1e-05"]),
    "layer_norm_nan": (lambda folder: norm(folder, "LayerNormalization", float("nan"), 2), ["the_node", "'epsilon'", "nan"]),
    "rms_norm": (lambda folder: norm(folder, "RMSNormalization", -1.0, 1), ["the_node", "'epsilon'", "-1"]),
    "batch_norm": (lambda folder: norm(folder, "BatchNormalization", -1.0, 4), ["the_node", "'epsilon'", "-1"]),
    "instance_norm": (lambda folder: norm(folder, "InstanceNormalization", -1.0, 2), ["the_node", "'epsilon'", "-1"]),
    "group_norm": (lambda folder: norm(folder, "GroupNormalization", -1.0, 2, num_groups=2), ["the_node", "'epsilon'", "-1"]),
    "kernel_shape": (lambda folder: convolution(folder, kernel_shape=[2, 2]), ["the_node", "[2, 2]", "[3, 3]"]),
}

INVALID = [undefined_value, value_made_twice, output_never_made, too_few_inputs, wrong_attribute_type,
           permutation_of_another_rank, short_raw_data, negative_dim, overflowing_dims, types_differ, negative_offset,
           offset_that_is_no_number, length_of_another_shape, no_location, external_folder, folder_linked_outside]


def strings(folder):
    return save(folder, [node("Identity", ["s"])], [value("s", [2], TensorProto.STRING)], [value("y", [2], TensorProto.STRING)])


def complex_numbers(folder):
    return save(folder, [node("Identity", ["c"])], [value("c", [2], TensorProto.COMPLEX64)], [value("y", [2], TensorProto.COMPLEX64)])


def control_flow(folder):
    branch = lambda kind: helper.make_graph([node(kind, ["x"], ["b"], name=f"inner_{kind}")], kind, [], [value("b", None)])
    return save(folder, [node("If", ["c"], then_branch=branch("Relu"), else_branch=branch("Neg"))],
                [value("x", [2, 10]), value("c", [], TensorProto.BOOL)])


def name_of_two_lines(folder):
    return save(folder, [helper.make_node("Frobnicate", ["x"], ["y"], name="first\nsecond", domain="org.example")],
                domains=["org.example"])


def data_dependent_shape(folder):
    return save(folder, [node("NonZero", ["x"])], outputs=[value("y", None, TensorProto.INT64)])


UNSUPPORTED = [strings, complex_numbers, control_flow, name_of_two_lines, data_dependent_shape]


def inner_sizes_differ(folder):
    return matmul(folder, weight("w", [9, 10]))


def sizes_do_not_broadcast(folder):
    return save(folder, [node("Add", ["x", "w"])], weights=[weight("w", [3])])


def reshape_to_another_size(folder):
    shape = helper.make_tensor("s", TensorProto.INT64, [2], [3, 7])
    return save(folder, [node("Reshape", ["x", "s"])], weights=[shape])


def declared_output_differs(folder):
    return save(folder, [node("Relu", ["x"])], outputs=[value("y", [2, 11])])


CONTRADICTING = [inner_sizes_differ, sizes_do_not_broadcast, reshape_to_another_size, declared_output_differs]


def annotated(folder, devices=2, configuration="c", **spec):
    """Writes a product of x and w of 10 x 10. `spec` is the node's annotation of one tensor: its name, device list, groups and
    dims."""
    the_node = node("MatMul", ["x", "w"])
    own = the_node.device_configurations.add(configuration_id=configuration)
    sharded = own.sharding_spec.add(tensor_name=spec.get("tensor", "w"), device=spec.get("device", [0, 1]))
    for key, members in spec.get("groups", {}).items():
        sharded.index_to_device_group_map.add(key=key, value=members)
    for axis, shards in spec.get("dims", [(1, 2)]):
        dim = sharded.sharded_dim.add(axis=axis)
        for size, count in shards if isinstance(shards, list) else [(10, shards)]:
            dim.simple_sharding.add(dim_value=size, num_shards=count)
    return save(folder, [the_node], weights=[weight("w", [10, 10])],
                configuration=[DeviceConfigurationProto(name="c", num_devices=devices)])


# Annotations that no plan can meet: the mistake, and a text in the message besides the node.
ANNOTATIONS = {
    "ghost_tensor": (dict(tensor="ghost"), ["'ghost'"]),
    "unknown_configuration": (dict(configuration="nowhere"), ["'nowhere'"]),
    "axis_out_of_range": (dict(dims=[(2, 2)]), ["'w'", "axis 2"]),
    "negative_axis_out_of_range": (dict(dims=[(-3, 2)]), ["'w'", "axis -3"]),
    "axis_twice": (dict(dims=[(1, 2), (1, 2)], devices=4, device=[0, 1, 2, 3]), ["'w'", "axis 1 twice"]),
    "axis_twice_from_both_ends": (dict(dims=[(1, 2), (-1, 2)], devices=4, device=[0, 1, 2, 3]), ["'w'", "axis -1 twice"]),
    "no_shards": (dict(dims=[(1, 0)]), ["'w'", "0 shards"]),
    "more_shards_than_devices": (dict(dims=[(1, 4)], device=[]), ["'w'", "4 shards", "2 devices"]),
    "fewer_devices_than_shards": (dict(devices=4, dims=[(0, 2), (1, 2)], device=[0, 1]), ["'w'", "4 shards", "2 devices"]),
    "device_out_of_range": (dict(device=[0, 2]), ["'w'", "device 2"]),
    "device_twice": (dict(device=[1, 1]), ["'w'", "device 1 twice"]),
    "device_group_without_devices": (dict(device=[0, -1]), ["'w'", "device -1"]),
    "device_group_that_is_not_used": (dict(groups={-1: [0, 1]}), ["'w'", "group -1"]),
    "groups_of_different_sizes": (dict(devices=3, device=[0, -1], groups={-1: [1, 2]}), ["'w'", "1 device", "2"]),
    "some_devices_only": (dict(devices=4), ["'w'", "0, 1", "4"]),
    "devices_without_axes": (dict(devices=4, device=[-1, -2], groups={-1: [0, 3], -2: [1, 2]}), ["'w'", "0, 1, 1, 0"]),
    "blocks_of_another_size": (dict(dims=[(1, [(3, 1), (4, 2)])]), ["'w'", "3 x 4", "10"]),
}
