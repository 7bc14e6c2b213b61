"""Mixtures of experts: 512 tokens, 8 experts, two for each token."""
import jax
import jax.numpy as jnp
from case import case

N, D, F, E = 512, 512, 2048, 8
WEIGHTS = {"w1": ((E, D, F), "[t,-,-]"), "w2": ((E, F, D), "[t,-,-]")}


# Every expert computes all tokens; what a token did not choose counts for nothing

def jax_dense(x, router, w1, w2):
    p = jax.nn.softmax(x @ router, -1)
    _, chosen = jax.lax.top_k(p, 2)
    gates = p * jax.nn.one_hot(chosen, E).sum(1)
    o = jnp.einsum("enf,efd->end", jnp.tanh(jnp.einsum("nd,edf->enf", x, w1)), w2)
    return jnp.einsum("ne,end->nd", gates, o)


def onnx_dense(g):
    p = g.op("Softmax", g.matmul("x", "router"), axis=-1)
    _, chosen = g.op("TopK", p, g.sizes(2), results=2, axis=-1)
    gates = g.mul(p, g.sum(g.one_hot(chosen, E), 1, keep=False))
    o = g.einsum("enf,efd->end", g.op("Tanh", g.einsum("nd,edf->enf", "x", "w1")), "w2")
    return [g.einsum("ne,end->nd", gates, o)]


TOKENS = {"x": ((N, D), "[t,-]"), "router": ((D, E), "[-,-]"), **WEIGHTS}
case("experts, tokens split", "t=4", TOKENS, jax_dense, onnx_dense, ideal=2_378_000, above=True)
case("experts, tokens and output split", "t=4", TOKENS, jax_dense, onnx_dense, outputs=("[t,-]",))


# Tokens in four groups are sent to 64 places of each expert by one-hot weights

def jax_groups(x, send, w1, w2):
    e = jnp.einsum("gsec,gsd->egcd", send, x)
    o = jnp.einsum("egcf,efd->egcd", jnp.tanh(jnp.einsum("egcd,edf->egcf", e, w1)), w2)
    return jnp.einsum("gsec,egcd->gsd", send, o)


def onnx_groups(g):
    e = g.einsum("gsec,gsd->egcd", "send", "x")
    o = g.einsum("egcf,efd->egcd", g.op("Tanh", g.einsum("egcd,edf->egcf", e, "w1")), "w2")
    return [g.einsum("gsec,egcd->gsd", "send", o)]


case("experts, groups of tokens", "t=4", {"x": ((4, 128, D), "[t,-,-]"), "send": ((4, 128, E, 64), "[t,-,-,-]"), **WEIGHTS}, jax_groups,
     onnx_groups, ideal=1_572_864, above=True)
