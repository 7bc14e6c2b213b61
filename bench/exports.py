"""The weights of real exports under the names of torch_models.py: Hugging Face's GPT-2 and BERT, torchvision's ResNet-50.

Exporters rename weights that they fold (`onnx::MatMul_1619`); such a weight gets the name of the node that reads it."""
import re

# model: (folder of the export, renamings in this order)
MODELS = {
    "gpt2": ("gpt2-124m", [(r"^model\.(transformer\.)?", ""), (r"^lm_head\.", "wte.")]),
    "bert": ("bert-base", [(r"^model\.", ""), (r"_embeddings\.weight$", ""), (r"token_type$", "type"), (r"\.self\.", "."),
                           (r"\.output\.LayerNorm\.", ".norm."), (r"LayerNorm", "norm"), (r"\.dense\.", ".")]),
    "resnet": ("resnet50", [(r"^conv1\.", "stem."), (r"^layer(\d)\.layer\d\.", lambda m: f"stage.{int(m[1]) - 1}."),
                            (r"downsample\.downsample\.0", "shortcut")]),
}


def names(graph):
    """Returns the names of initializers: their own, or the path of the node that multiplies by them."""
    called = {t.name: t.name for t in graph.initializer}
    for node in graph.node:
        if node.op_type in ("MatMul", "Conv"):
            path = ".".join(node.name.strip("/").split("/")[:-1])
            called.update((name, f"{path}.{part}") for name, part in zip(node.input[1:], ("weight", "bias")) if "::" in name)
    return called


def renamed(model, name):
    for pattern, replacement in MODELS[model][1]:
        name = re.sub(pattern, replacement, name)
    return name


def weights(model, graph):
    """Returns the floating-point weights of the export as arrays."""
    from onnx import numpy_helper
    called = names(graph)
    return {renamed(model, called[t.name]): numpy_helper.to_array(t).copy() for t in graph.initializer
            if t.data_type == 1 and "." in called[t.name]}
