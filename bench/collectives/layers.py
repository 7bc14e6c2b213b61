"""Layers of a transformer in two forms: for JAX, and as ONNX nodes with explicit gradients. Activations are [batch, seq,
width], weights [in, out]; the activation function is x · sigmoid(1.702 x)."""
import jax
import jax.numpy as jnp
import numpy as np

EPSILON = 1e-5


# For JAX

def norm(x, scale, bias):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(((x - mean) ** 2).mean(-1, keepdims=True) + EPSILON) * scale + bias


def heads(x, count):
    return x.reshape(*x.shape[:2], count, -1).swapaxes(1, 2)


def attend(q, k, v):
    """Causal attention over [batch, heads, seq, size]. Each key head serves several query heads."""
    if k.shape[1] < q.shape[1]:
        k, v = (jnp.repeat(t, q.shape[1] // k.shape[1], 1) for t in (k, v))
    scores = q @ k.swapaxes(2, 3) / q.shape[-1] ** 0.5
    p = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -1e9), -1)
    o = (p @ v).swapaxes(1, 2)
    return o.reshape(*o.shape[:2], -1)


def perceptron(x, up, down):
    h = x @ up
    return (h * jax.nn.sigmoid(1.702 * h)) @ down


def block(x, w, count, kept=None, project=None):
    n = norm(x, w["scale1"], w["bias1"])
    project = project or (lambda n: (heads(n @ w["wq"], count), heads(n @ w["wk"], kept or count), heads(n @ w["wv"], kept or count)))
    x = x + attend(*project(n)) @ w["wo"]
    return x + perceptron(norm(x, w["scale2"], w["bias2"]), w["up"], w["down"])


def cross_entropy(z, labels):
    return -jnp.take_along_axis(jax.nn.log_softmax(z, -1), labels[:, None], 1).mean()


# ONNX nodes: `forward` keeps the values that `backward` reads

class Norm:
    def __init__(self, g, scale, bias):
        self.g, self.scale, self.bias = g, scale, bias

    def forward(self, x):
        g = self.g
        centred = g.sub(x, g.mean(x, -1))
        self.deviation = g.op("Sqrt", g.add(g.mean(g.mul(centred, centred), -1), g.number(EPSILON)))
        self.normal = g.op("Div", centred, self.deviation)
        return g.add(g.mul(self.normal, self.scale), self.bias)

    def backward(self, dy):
        """Returns dx and {weight: its gradient}."""
        g = self.g
        dn = g.mul(dy, self.scale)
        inner = g.mul(self.normal, g.mean(g.mul(dn, self.normal), -1))
        dx = g.op("Div", g.sub(g.sub(dn, g.mean(dn, -1)), inner), self.deviation)
        return dx, {self.scale: g.sum(g.mul(dy, self.normal), 0, 1, keep=False), self.bias: g.sum(dy, 0, 1, keep=False)}


class Attention:
    """Attention between the projections, with `count` query heads and `kept` key heads."""

    def __init__(self, g, batch, seq, count, size, kept=None):
        self.g, self.batch, self.seq, self.count, self.size, self.kept = g, batch, seq, count, size, kept or count

    def heads(self, x, count):
        return self.g.op("Transpose", self.g.reshape(x, self.batch, self.seq, count, self.size), perm=[0, 2, 1, 3])

    def rows(self, x):
        return self.g.reshape(self.g.op("Transpose", x, perm=[0, 2, 1, 3]), self.batch, self.seq, -1)

    def repeat(self, x):
        g, each = self.g, self.count // self.kept
        if each == 1:
            return x
        wide = g.op("Expand", g.op("Unsqueeze", x, g.sizes(2)), g.sizes(self.batch, self.kept, each, self.seq, self.size))
        return g.reshape(wide, self.batch, self.count, self.seq, self.size)

    def forward(self, q, k, v):
        """Adds the attention of q, k and v, which have a dim of heads."""
        g = self.g
        self.q, self.k, self.v = q, self.repeat(k), self.repeat(v)
        self.scale = g.number(self.size ** -0.5)
        mask = g.constant(np.triu(np.full((self.seq, self.seq), -1e9, "f4"), 1))
        self.p = g.op("Softmax", g.add(g.mul(g.matmul(self.q, g.swap(self.k, 4)), self.scale), mask), axis=-1)
        return self.rows(g.matmul(self.p, self.v))

    def backward(self, do):
        """Returns the gradients of q, k and v as [batch, seq, width]."""
        g = self.g
        do = self.heads(do, self.count)
        dp = g.matmul(do, g.swap(self.v, 4))
        ds = g.mul(g.mul(self.p, g.sub(dp, g.sum(g.mul(dp, self.p), -1))), self.scale)
        return [self.rows(d) for d in (g.matmul(ds, self.k), g.matmul(g.swap(ds, 4), self.q), g.matmul(g.swap(self.p, 4), do))]


class Perceptron:
    def __init__(self, g, up, down):
        self.g, self.up, self.down = g, up, down

    def forward(self, x):
        g = self.g
        self.x, self.h = x, g.matmul(x, self.up)
        self.s = g.op("Sigmoid", g.mul(self.h, g.number(1.702)))
        self.a = g.mul(self.h, self.s)
        return g.matmul(self.a, self.down)

    def backward(self, dy):
        g = self.g
        slope = g.add(self.s, g.mul(self.a, g.number(1.702), g.sub(g.number(1), self.s)))
        dh = g.mul(g.back(dy, self.down), slope)
        gradients = {self.down: g.einsum("bsf,bsd->fd", self.a, dy), self.up: g.einsum("bsd,bsf->df", self.x, dh)}
        return g.back(dh, self.up), gradients


class Block:
    """A transformer block. `name` maps the short names of the weights to those of the graph."""

    def __init__(self, g, batch, seq, count, size, kept=None, name=lambda n: n, fused=None):
        self.g, self.name, self.fused = g, name, fused
        self.norm1, self.norm2 = Norm(g, name("scale1"), name("bias1")), Norm(g, name("scale2"), name("bias2"))
        self.attention = Attention(g, batch, seq, count, size, kept)
        self.perceptron = Perceptron(g, name("up"), name("down"))

    def project(self, n):
        a = self.attention
        if self.fused:
            return self.fused(a, n)
        counts = dict(wq=a.count, wk=a.kept, wv=a.kept)
        return [a.heads(self.g.matmul(n, self.name(w)), c) for w, c in counts.items()]

    def forward(self, x):
        g = self.g
        self.n = self.norm1.forward(x)
        self.o = self.attention.forward(*self.project(self.n))
        x = g.add(x, g.matmul(self.o, self.name("wo")))
        return g.add(x, self.perceptron.forward(self.norm2.forward(x)))

    def backward(self, dy):
        """Returns dx and {weight: its gradient}."""
        g, gradients = self.g, {}
        dn, found = self.perceptron.backward(dy)
        gradients.update(found)
        dx, found = self.norm2.backward(dn)
        gradients.update(found)
        dr = g.add(dy, dx)
        gradients[self.name("wo")] = g.einsum("bso,bsd->od", self.o, dr)
        back = self.attention.backward(g.back(dr, self.name("wo")))
        if self.fused:
            parts, weights = [g.op("Concat", *back, axis=-1)], ["wqkv"]
        else:
            parts, weights = back, ["wq", "wk", "wv"]
        for part, weight in zip(parts, weights):
            gradients[self.name(weight)] = g.einsum("bsd,bso->do", self.n, part)
        dx, found = self.norm1.backward(g.add(*(g.back(p, self.name(w)) for p, w in zip(parts, weights))))
        gradients.update(found)
        return g.add(dr, dx), gradients
