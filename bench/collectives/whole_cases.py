"""GPT-2 124M with the gradients of all its weights. The head is the embedding table or a weight of its own."""
import jax
import jax.numpy as jnp
import layers
from case import case
from transformer_cases import (B, D, HEADS, REDUCE, S, SIZE, onnx_logit_gradients, onnx_loss, onnx_table_gradients,
                               sorted_gradients, weights)

LAYERS, V = 12, 50257


def all_weights(table, head):
    top = {"table": ((V, D), table), "positions": ((S, D), "[-,-]"), "scale": ((D,), "[-]"), "bias": ((D,), "[-]")}
    top.update({"head": ((V, D), "[-,-]")} if head else {})
    return {**top, **{f"{n}_{i}": w for i in range(LAYERS) for n, w in weights().items()}}


def jax_loss(w, ids, labels):
    x = w["table"][ids] + w["positions"]
    for i in range(LAYERS):
        x = layers.block(x, {n: w[f"{n}_{i}"] for n in weights()}, HEADS)
    z = layers.norm(x, w["scale"], w["bias"]) @ w.get("head", w["table"]).T
    return layers.cross_entropy(z.reshape(-1, V), labels)


def onnx_training(g):
    tied = "head" not in g.shapes
    matrix = "table" if tied else "head"
    x = g.add(g.op("Gather", "table", "ids"), "positions")
    blocks = [layers.Block(g, B, S, HEADS, SIZE, name=lambda n, i=i: f"{n}_{i}") for i in range(LAYERS)]
    for block in blocks:
        x = block.forward(x)
    last = layers.Norm(g, "scale", "bias")
    x = g.reshape(last.forward(x), B * S, D)
    loss, logs = onnx_loss(g, g.back(x, matrix), "labels")
    dz = onnx_logit_gradients(g, logs, "labels", B * S, V)
    head = g.einsum("nv,nd->vd", dz, x)
    dx, gradients = last.backward(g.reshape(g.matmul(dz, matrix), B, S, D))
    for block in reversed(blocks):
        dx, found = block.backward(dx)
        gradients.update(found)
    gradients["positions"] = g.sum(dx, 0, keep=False)
    gradients["table"] = onnx_table_gradients(g, "ids", dx, V, B * S)
    gradients[matrix] = g.add(head, gradients["table"]) if tied else head
    return [loss, *sorted_gradients(gradients, gradients)]


def gpt2(name, mesh, rows, ideal, table="[-,-]", head=False):
    case(name, mesh, {"ids": ((B, S), f"[{rows},-]"), "labels": ((B * S,), f"[{rows}]"), **all_weights(table, head)},
         lambda ids, labels, **w: jax.value_and_grad(jax_loss)(w, ids, labels), onnx_training, ideal=ideal, above=True,
         indices={"ids": V, "labels": V})


gpt2("GPT-2 with gradients, tp 4", "t=4", "-", 48 * REDUCE)
gpt2("GPT-2 with gradients, 2 x 2", "d=2,t=2", "d", 382_000_000)
gpt2("GPT-2 with gradients, table split by columns", "t=4", "-", 48 * REDUCE, table="[-,t]", head=True)
# The table is used as the head as well, where it is split by rows: this needs an all-to-all of its parts.
gpt2("GPT-2 with gradients, table split by columns also head", "t=4", "-", 48 * REDUCE + V * D * 4 * 3 // 16, table="[-,t]")
