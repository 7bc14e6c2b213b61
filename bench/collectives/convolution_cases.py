"""Two 3x3 convolutions with 64 channels on an image of 1x64x56x56."""
import jax
import numpy as np
from case import case

C, SIZE = 64, 56
IMAGE, FILTERS = (1, C, SIZE, SIZE), (C, C, 3, 3)


def convolve(x, w):
    return jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHW"))


def jax_two(x, w1, w2):
    return convolve(jax.nn.relu(convolve(x, w1)), w2)


def jax_gradients(x, dy, w1, w2):
    y, back = jax.vjp(jax_two, x, w1, w2)
    return y, back(dy)


def onnx_convolve(g, x, w, **attributes):
    return g.op("Conv", x, w, pads=[1] * 4, **attributes)


def onnx_two(g):
    return [onnx_convolve(g, g.op("Relu", onnx_convolve(g, "x", "w1")), "w2")]


def turned(g, w):
    """Returns the filters of the backward convolution: rows and columns reversed, channels swapped."""
    back = g.constant(np.array([2, 1, 0]))
    w = g.op("Gather", g.op("Gather", w, back, axis=2), back, axis=3)
    return g.op("Transpose", w, perm=[1, 0, 2, 3])


def filter_gradients(g, x, dy):
    """Returns the gradient of the filters: for each output channel, the sums over the nine neighbours of each input channel.
    One-hot filters select the neighbours."""
    hot = np.zeros((C, 9, 1, 3, 3), "f4")
    hot[:, np.arange(9), 0, np.arange(9) // 3, np.arange(9) % 3] = 1
    neighbours = onnx_convolve(g, x, g.constant(hot.reshape(9 * C, 1, 3, 3)), group=C)
    return g.reshape(g.einsum("nkhw,nohw->ok", neighbours, dy), *FILTERS)


def onnx_gradients(g):
    h = onnx_convolve(g, "x", "w1")
    a = g.op("Relu", h)
    da = onnx_convolve(g, "dy", turned(g, "w2"))
    dh = g.mul(da, g.op("Sign", a))
    return [onnx_convolve(g, a, "w2"), onnx_convolve(g, dh, turned(g, "w1")), filter_gradients(g, "x", dh), filter_gradients(g, a, "dy")]


WHOLE, ROWS = "[-,-,-,-]", "[-,-,t,-]"
case("convolutions, channels", "t=4", {"x": (IMAGE, WHOLE), "w1": (FILTERS, "[t,-,-,-]"), "w2": (FILTERS, "[-,t,-,-]")}, jax_two, onnx_two,
     ideal=1_204_224)
case("convolutions, rows", "t=4", {"x": (IMAGE, ROWS), "w1": (FILTERS, WHOLE), "w2": (FILTERS, WHOLE)}, jax_two, onnx_two, ideal=57_344)
case("convolutions, rows, with gradients", "t=4", {"x": (IMAGE, ROWS), "dy": (IMAGE, ROWS), "w1": (FILTERS, WHOLE), "w2": (FILTERS, WHOLE)},
     jax_gradients, onnx_gradients, ideal=8 * 14_336 + 442_368, above=True)
