"""Generators of ops that slide a window over an image or a line."""
import numpy as np

from model import MOST_ELEMENTS


def image(m):
    """Returns an image: batch, channels and one or two spatial dims."""
    return m.of_rank(3, 4)


def window(m, x, most=3):
    """Returns kernel, strides, pads and dilations that fit, and the resulting sizes."""
    spatial = x.shape[2:]
    kernel = [m.random.randint(1, most) for _ in spatial]
    strides = [m.random.choice([1, 1, 2]) for _ in spatial]
    dilations = [m.random.choice([1, 1, 2]) for _ in spatial]
    low = [m.random.randint(0, (k - 1)) for k in kernel]
    high = [m.random.randint(0, (k - 1)) for k in kernel]
    sizes = [(a + n + b - d * (k - 1) - 1) // s + 1 for n, k, s, d, a, b in zip(spatial, kernel, strides, dilations, low, high)]
    return dict(kernel_shape=kernel, strides=strides, pads=low + high, dilations=dilations), tuple(sizes)


def conv(m):
    x = image(m)
    options, sizes = window(m, x)
    groups = m.random.choice([g for g in (1, 1, 2, x.shape[1]) if x.shape[1] % g == 0])
    features = groups * m.random.choice([1, 2, 3])
    if min(sizes) < 1 or x.shape[0] * features * np.prod(sizes) > MOST_ELEMENTS:
        return
    weight = (features, x.shape[1] // groups, *options["kernel_shape"])
    bias = [m.leaf((features,))] if m.random.random() < 0.5 else []
    m.op("Conv", [x, m.leaf(weight), *bias], (x.shape[0], features) + sizes, bound=np.prod(weight[1:]) * x.bound + 1, sums=True,
         group=groups, **options)


def conv_transpose(m):
    x = image(m)
    features, stride = m.random.choice([1, 2, 4]), m.random.choice([1, 2])
    kernel = [m.random.randint(1, 3) for _ in x.shape[2:]]
    sizes = tuple(stride * (n - 1) + k for n, k in zip(x.shape[2:], kernel))
    if x.shape[0] * features * np.prod(sizes) <= MOST_ELEMENTS:
        m.op("ConvTranspose", [x, m.leaf((x.shape[1], features, *kernel))], (x.shape[0], features) + sizes,
             bound=x.shape[1] * np.prod(kernel) * x.bound, sums=True, strides=[stride] * len(kernel))


def pool(m):
    x = image(m)
    options, sizes = window(m, x)
    kind = m.random.choice(["MaxPool", "AveragePool"])
    if kind == "AveragePool":
        options["count_include_pad"] = m.random.randint(0, 1)
    # A window that sees only padding has no meaning.
    seen = all(d * (k - 1) + 1 - max(a, b) >= d for k, d, a, b in zip(
        options["kernel_shape"], options["dilations"], options["pads"], options["pads"][len(sizes):]))
    if seen and min(sizes) >= 1 and all(n >= d * (k - 1) + 1 for n, k, d in zip(
            x.shape[2:], options["kernel_shape"], options["dilations"])):
        m.op(kind, [x], x.shape[:2] + sizes, sums=kind == "AveragePool", **options)


def global_pool(m):
    x = image(m)
    kind = m.random.choice(["GlobalAveragePool", "GlobalMaxPool"])
    m.op(kind, [x], x.shape[:2] + (1,) * (x.rank - 2), sums=kind == "GlobalAveragePool")


MAKERS = [conv, conv, conv, conv_transpose, pool, pool, global_pool]
