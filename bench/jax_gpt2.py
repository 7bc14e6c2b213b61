#!/usr/bin/env python3
"""Lowers and compiles GPT-2 124M with Megatron's weight shardings by JAX on DP x TP CPU devices: jax_gpt2.py DP TP BATCH SEQ.
Only shapes are used, so no weight exists. Prints the wall seconds of lowering and compilation as JSON."""
import json
import os
import sys
import time

DP, TP, BATCH, SEQ = map(int, sys.argv[1:])
os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={DP * TP}"
os.environ["JAX_PLATFORMS"] = "cpu"
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec as P

LAYERS, HIDDEN, HEADS, VOCABULARY, POSITIONS = 12, 768, 12, 50257, 1024
MESH = jax.sharding.Mesh(np.array(jax.devices()).reshape(DP, TP), ("dp", "tp"))


def block_weights():
    """Returns name: (shape, sharding) of one block. The fused QKV weight has the shape [hidden, 3, hidden], so that each of the
    three is split."""
    return {"ln1": ((2, HIDDEN), P()), "qkv": ((HIDDEN, 3, HIDDEN), P(None, None, "tp")), "qkv_b": ((3, HIDDEN), P(None, "tp")),
            "out": ((HIDDEN, HIDDEN), P("tp", None)), "out_b": ((HIDDEN,), P()), "ln2": ((2, HIDDEN), P()),
            "up": ((HIDDEN, 4 * HIDDEN), P(None, "tp")), "up_b": ((4 * HIDDEN,), P("tp")),
            "down": ((4 * HIDDEN, HIDDEN), P("tp", None)), "down_b": ((HIDDEN,), P())}


def shapes(table):
    return {k: jax.ShapeDtypeStruct(s, jnp.float32, sharding=NamedSharding(MESH, p)) for k, (s, p) in table.items()}


def norm(x, w):
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * w[0] + w[1]


def block(x, w):
    qkv = jnp.einsum("bsd,dce->cbse", norm(x, w["ln1"]), w["qkv"]) + w["qkv_b"][:, None, None]
    q, k, v = (t.reshape(*t.shape[:2], HEADS, -1).swapaxes(1, 2) for t in qkv)
    scores = q @ k.swapaxes(2, 3) / (HIDDEN // HEADS) ** 0.5
    scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -jnp.inf)
    y = (jax.nn.softmax(scores, -1) @ v).swapaxes(1, 2).reshape(x.shape)
    x = x + y @ w["out"] + w["out_b"]
    h = jax.nn.gelu(norm(x, w["ln2"]) @ w["up"] + w["up_b"], approximate=True)
    return x + h @ w["down"] + w["down_b"]


def forward(ids, top, blocks):
    x = top["wte"][ids] + top["wpe"][: ids.shape[1]]
    for w in blocks:
        x = block(x, w)
    return norm(x, top["ln_f"]) @ top["wte"].T


def main():
    top = shapes({"wte": ((VOCABULARY, HIDDEN), P(None, "tp")), "wpe": ((POSITIONS, HIDDEN), P()), "ln_f": ((2, HIDDEN), P())})
    ids = jax.ShapeDtypeStruct((BATCH, SEQ), jnp.int32, sharding=NamedSharding(MESH, P("dp", None)))
    start = time.time()
    lowered = jax.jit(forward).lower(ids, top, [shapes(block_weights()) for _ in range(LAYERS)])
    middle = time.time()
    lowered.compile()
    print(json.dumps({"lower_seconds": middle - start, "compile_seconds": time.time() - middle}))


if __name__ == "__main__":
    main()
