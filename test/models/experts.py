"""Mixtures of experts in the forms that exports have."""
import blocks
import numpy as np


def moe(g, layers=2, hidden=64, inner=128, experts=8, chosen=2, seq=16, classes=50, form="dense", capacity=0):
    """Mixture of experts. Every token goes to its `chosen` best experts, whose outputs are weighted by its gates.

    dense    every expert sees every token; gates of 0, written by one-hot rows, drop the other experts
    scatter  the same, but gates are scattered into zeros
    fused    com.microsoft's op
    grouped  tokens are dispatched to `capacity` slots per expert and row of the batch by one-hot products; a token that
             finds no free slot is dropped; the default capacity is enough for all"""
    x = g.input("x", ("batch", seq, hidden), "normal")
    for i in range(layers):
        g.scope, name = f"/blocks.{i}", f"blocks.{i}"
        h = blocks.layer_norm(g, x, f"{name}.norm", hidden)
        if form == "grouped":
            y = grouped(g, h, name, hidden, inner, experts, chosen, seq, capacity or seq)
        else:
            part = fused if form == "fused" else dense
            y = part(g, g.reshape(h, -1, hidden), name, hidden, inner, experts, chosen, form)
            y = g.reshape(y, (x, 0), seq, hidden)
        x = g.op("Add", x, y)
    g.scope = ""
    g.output(blocks.linear(g, x, "head", hidden, classes), "y", ("batch", seq, classes))


def route(g, h, name, hidden, experts, chosen):
    """Returns weights and indices of the chosen experts, in a new last dim."""
    chance = g.op("Softmax", blocks.linear(g, h, f"{name}.router", hidden, experts, bias=False), axis=-1)
    weight, index = g.op("TopK", chance, g.constant([chosen]), outputs=2, axis=-1)
    return chance, g.op("Div", weight, g.reduce("ReduceSum", weight, -1)), index


def one_hot(g, index, size):
    return g.cast(g.op("Equal", g.op("Unsqueeze", index, [-1]), g.constant(np.arange(size))), "f4")


def experts_weights(g, name, hidden, inner, experts):
    return g.weight(f"{name}.up", (experts, hidden, inner)), g.weight(f"{name}.down", (experts, inner, hidden))


def dense(g, h, name, hidden, inner, experts, chosen, form):
    chance, weight, index = route(g, h, name, hidden, experts, chosen)
    if form == "scatter":
        gate = g.op("ScatterElements", g.op("Mul", chance, 0.0), index, weight, axis=1)
    else:
        hot = one_hot(g, index, experts)
        gate = g.reduce("ReduceSum", g.op("Mul", hot, g.op("Unsqueeze", weight, [-1])), 1, keepdims=0)
    up, down = experts_weights(g, name, hidden, inner, experts)
    y = blocks.silu(g, g.op("Einsum", h, up, equation="td,edh->eth"))
    y = g.op("Einsum", y, down, equation="eth,ehd->etd")
    return g.op("Einsum", gate, y, equation="te,etd->td")


def grouped(g, h, name, hidden, inner, experts, chosen, seq, capacity):
    """Adds the grouped form. First choices take slots before second ones; among equal choices, earlier tokens come first."""
    _, weight, index = route(g, h, name, hidden, experts, chosen)
    hot = g.reshape(g.op("Transpose", one_hot(g, index, experts), perm=[0, 2, 1, 3]), -1, chosen * seq, experts)
    place = g.op("Mul", g.op("Sub", g.op("CumSum", hot, g.constant(1, "i8")), 1.0), hot)
    kept = g.op("Mul", hot, g.cast(g.op("Less", place, float(capacity)), "f4"))
    place = g.cast(g.reduce("ReduceSum", g.op("Mul", place, kept), -1, keepdims=0), "i8")
    slot = g.op("Unsqueeze", one_hot(g, place, capacity), [2])
    chosen_slots = g.reshape(g.op("Mul", g.op("Unsqueeze", kept, [-1]), slot), -1, chosen, seq, experts, capacity)
    weight = g.reshape(g.op("Transpose", weight, perm=[0, 2, 1]), -1, chosen, seq, 1, 1)
    dispatch = g.reduce("ReduceSum", chosen_slots, 1, keepdims=0)
    combine = g.reduce("ReduceSum", g.op("Mul", chosen_slots, weight), 1, keepdims=0)
    up, down = experts_weights(g, name, hidden, inner, experts)
    y = g.op("Einsum", dispatch, h, equation="gsec,gsm->egcm")
    y = blocks.silu(g, g.op("Einsum", y, up, equation="egcm,emh->egch"))
    y = g.op("Einsum", y, down, equation="egch,ehm->egcm")
    return g.op("Einsum", combine, y, equation="gsec,egcm->gsm")


def fused(g, h, name, hidden, inner, experts, chosen, form):
    """Adds a gated unit whose two parts are in alternate rows, with biases."""
    router = blocks.linear(g, h, f"{name}.router", hidden, experts, bias=False)
    return g.op("MoE", h, router, g.weight(f"{name}.fc1", (experts, 2 * inner, hidden)), g.weight(f"{name}.fc1.bias", (experts, 2 * inner)),
                g.weight(f"{name}.fc2", (experts, hidden, inner)), g.weight(f"{name}.fc2.bias", (experts, hidden)), domain="com.microsoft",
                k=chosen, normalize_routing_weights=1, activation_type="swiglu", swiglu_fusion=1, swiglu_limit=0.7,
                activation_alpha=1.702, activation_beta=1.0)
