"""Ops that move elements, or compute, along a split dim."""
import jax
import jax.numpy as jnp
import numpy as np
from case import case

B, S, D = 4, 128, 768
X = {"x": ((B, S, D), "[-,t,-]")}


def moves(name, jax_function, onnx_function, ideal, inputs=X, above=True, **rest):
    case(name, "t=4", inputs, jax_function, onnx_function, ideal=ideal, above=above, **rest)


moves("reshape of (batch, seq), then a product", lambda x, w: x.reshape(-1, D) @ w, lambda g: [g.matmul(g.reshape("x", -1, D), "w")], 0,
      {**X, "w": ((D, D), "[-,-]")})
moves("concat of two", lambda x, z: jnp.concatenate([x, z], 1), lambda g: [g.op("Concat", "x", "z", axis=1)], 589_824,
      {**X, "z": X["x"]})
moves("concat of 4 rows and x", lambda x: jnp.concatenate([x[:, :4], x], 1), lambda g: [g.op("Concat", g.slice("x", 1, 0, 4), "x", axis=1)],
      147_456)
# Eight of the 24 rows of an outer part, in each of the four sequences.
moves("slice 16 to 112", lambda x: x[:, 16:112], lambda g: [g.slice("x", 1, 16, 112)], 98_304)
moves("difference of neighbours", lambda x: x[:, 1:] - x[:, :-1], lambda g: [g.sub(g.slice("x", 1, 1, S), g.slice("x", 1, 0, S - 1))],
      12_288)
moves("cumsum over tokens", lambda x: jnp.cumsum(x, 0), lambda g: [g.op("CumSum", "x", g.constant(np.int64(0)))], 12_288,
      {"x": ((B * S, D), "[t,-]")})
moves("cumsum over each sequence", lambda x: jnp.cumsum(x, 1), lambda g: [g.op("CumSum", "x", g.constant(np.int64(1)))], 3 * 12_288)
moves("dynamic slice of 32", lambda x, start: jax.lax.dynamic_slice_in_dim(x, start, 32, 1),
      lambda g: [g.op("Gather", "x", g.op("Add", "start", g.constant(np.arange(32))), axis=1)], 294_912, {**X, "start": ((), "[]")},
      indices={"start": 96})
moves("top 8 of 4096", lambda z: jax.lax.top_k(z, 8), lambda g: g.op("TopK", "z", g.sizes(8), results=2, axis=-1), 98_304,
      {"z": ((512, 4096), "[-,t]")})
