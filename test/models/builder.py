#!/usr/bin/env python3
"""Writes a model of any size with seeded weights.

    builder.py gpt2 --layers 12 --hidden 768 --heads 12 --vocabulary 50257 --positions 1024 --external -o gpt2.onnx
    builder.py bert --opset 17 --style torchscript -o bert.onnx --inputs DIR --dim batch=8 --dim seq=32
    builder.py resnet --widths 256,512,1024,2048 --depths 3,4,6,3 -o resnet.onnx

Every parameter of a model's function is an option. --static binds a dim in the file
itself, --inputs draws one batch of inputs for the sizes of --dim.
"""
import argparse
import inspect
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import convolutions
import decoders
import encoders
import experts
import families
import numpy as np
import onnx
import perceptrons
from graph import Graph

MODELS = {f.__name__: f for f in (decoders.gpt2, decoders.llama, encoders.bert, encoders.vit, convolutions.resnet,
                                  convolutions.mobilenet, convolutions.unet, perceptrons.mlp, experts.moe, families.family)}


def build(model, path, opset=18, style="dynamo", seed=0, static=None, external=False, alignment=4096, **options):
    """Writes `model` to `path` and returns its Graph, which draws inputs."""
    graph = Graph(opset, style, seed, static)
    MODELS[model](graph, **options)
    graph.save(path, external, alignment)
    return graph


def without_weights(path):
    """Lets a model's weights refer to a file that does not exist; returns its path."""
    model = onnx.load(path, load_external_data=False)
    for tensor in model.graph.initializer:
        if tensor.data_type == onnx.TensorProto.FLOAT and tensor.dims:
            tensor.raw_data = b""  # what external data is said of
            onnx.external_data_helper.set_external_data(tensor, "absent.bin")
            tensor.ClearField("raw_data")
            tensor.ClearField("float_data")
    with open(path, "wb") as file:
        file.write(model.SerializeToString())
    return model.graph.output[0].name


def add_option(parser, name, default):
    """Adds an option for a function's parameter: flags for booleans, comma-separated sizes for tuples."""
    flag = "--" + name.replace("_", "-")
    if isinstance(default, bool):
        parser.add_argument(flag, action=argparse.BooleanOptionalAction, default=default)
    elif isinstance(default, tuple):
        parser.add_argument(flag, type=lambda s: tuple(map(int, s.split(","))), default=default)
    else:
        parser.add_argument(flag, type=type(default), default=default)


def sizes(pairs):
    return {k: int(v) for k, v in (p.split("=", 1) for p in pairs)}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="model", required=True)
    for name, function in MODELS.items():
        command = commands.add_parser(name, help=inspect.getdoc(function).splitlines()[0])
        for p in list(inspect.signature(function).parameters.values())[1:]:
            add_option(command, p.name, p.default)
        for option, default in (("opset", 18), ("style", "dynamo"), ("seed", 0), ("external", False), ("alignment", 4096)):
            add_option(command, option, default)
        command.add_argument("--static", action="append", default=[], metavar="DIM=N")
        command.add_argument("--dim", action="append", default=[], metavar="DIM=N")
        command.add_argument("--inputs", metavar="DIR")
        command.add_argument("-o", "--output", required=True)
    return vars(parser.parse_args())


def main():
    options = arguments()
    path, folder, dims = options.pop("output"), options.pop("inputs"), sizes(options.pop("dim"))
    graph = build(options.pop("model"), path, static=sizes(options.pop("static")), **options)
    if folder:
        os.makedirs(folder, exist_ok=True)
        for name, value in graph.draw_inputs(dims).items():
            np.save(os.path.join(folder, f"{name}.npy"), value)


if __name__ == "__main__":
    main()
