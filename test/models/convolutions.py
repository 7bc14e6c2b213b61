"""Convolutional networks: resnet, mobilenet, unet."""
import blocks
import numpy as np


def conv(g, x, name, inputs, outputs, kernel, stride=1, groups=1, norm=False):
    """Adds a convolution that keeps the size except for its stride. `norm` adds a batch norm, which other exports have folded."""
    shape = (outputs, inputs // groups, kernel, kernel)
    bias = [] if norm else [g.weight(f"{name}.bias", (outputs,))]
    y = g.op("Conv", x, g.weight(f"{name}.weight", shape, std=(2 / np.prod(shape[1:])) ** 0.5), *bias, group=groups,
             kernel_shape=[kernel, kernel], pads=[kernel // 2] * 4, strides=[stride, stride])
    if not norm:
        return y
    statistics = [g.norm_weight(f"{name}.norm.weight", outputs), g.weight(f"{name}.norm.bias", (outputs,)),
                  g.weight(f"{name}.norm.mean", (outputs,)), g.weight(f"{name}.norm.variance", (outputs,), std=0.05, mean=1.0)]
    return g.op("BatchNormalization", y, *statistics, epsilon=1e-5)


def classify(g, x, channels, classes):
    pooled = g.op("Flatten", g.op("GlobalAveragePool", x), axis=1)
    g.output(blocks.gemm_t(g, pooled, "fc", channels, classes), "logits", ("batch", classes))


def resnet(g, stem=16, widths=(32, 48, 64, 96), depths=(1, 2, 2, 1), classes=10, image=64, batch_norm=False):
    """ResNet with bottleneck blocks. The first block of each stage but the first halves the image."""
    pixels = g.input("pixels", ("batch", 3, image, image), "normal")
    x = g.op("Relu", conv(g, pixels, "stem", 3, stem, 7, 2, norm=batch_norm))
    x = g.op("MaxPool", x, kernel_shape=[3, 3], pads=[1] * 4, strides=[2, 2])
    channels = stem
    for s, (width, depth) in enumerate(zip(widths, depths)):
        for i in range(depth):
            g.scope, name, stride = f"/stage.{s}/{i}", f"stage.{s}.{i}", 2 if s and not i else 1
            inner = -(-width // 4)
            y = g.op("Relu", conv(g, x, f"{name}.conv1", channels, inner, 1, norm=batch_norm))
            y = g.op("Relu", conv(g, y, f"{name}.conv2", inner, inner, 3, stride, norm=batch_norm))
            y = conv(g, y, f"{name}.conv3", inner, width, 1, norm=batch_norm)
            if channels != width or stride != 1:
                x = conv(g, x, f"{name}.shortcut", channels, width, 1, stride, norm=batch_norm)
            x, channels = g.op("Relu", g.op("Add", y, x)), width
    g.scope = ""
    classify(g, x, channels, classes)


def mobilenet(g, stem=8, widths=(12, 20, 30), expand=3, classes=10, image=32):
    """MobileNet: inverted bottlenecks with depthwise convolutions, clipped activations, squeeze and excite by hard sigmoids."""
    pixels = g.input("pixels", ("batch", 3, image, image), "normal")
    x = g.op("HardSwish", conv(g, pixels, "stem", 3, stem, 3, 2))
    channels = stem
    for i, width in enumerate(widths):
        g.scope, name, inner = f"/block.{i}", f"block.{i}", expand * channels
        y = g.op("Clip", conv(g, x, f"{name}.expand", channels, inner, 1), 0.0, 6.0)
        y = g.op("Clip", conv(g, y, f"{name}.depthwise", inner, inner, 3, 1 + i % 2, groups=inner), 0.0, 6.0)
        s = g.op("Relu", conv(g, g.op("GlobalAveragePool", y), f"{name}.squeeze", inner, 5, 1))
        y = g.op("Mul", y, g.op("HardSigmoid", conv(g, s, f"{name}.excite", 5, inner, 1)))
        y = conv(g, y, f"{name}.project", inner, width, 1)
        x = g.op("Add", x, y) if channels == width and i % 2 == 0 else y
        channels = width
    g.scope = ""
    x = g.op("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2])
    classify(g, x, channels, classes)


def resize_like(g, x, pixels, channels, size, mode, coordinates):
    sizes = g.shape_of((pixels, 0), channels, *size)
    return g.op("Resize", x, None, None, sizes, mode=mode, coordinate_transformation_mode=coordinates, nearest_mode="floor")


def unet(g, widths=(6, 10, 14), classes=5, image=33):
    """U-Net: encoder and decoder with skip connections. Each level is enlarged by another op."""
    ways = [("linear", "half_pixel"), ("nearest", "asymmetric"), ("cubic", "half_pixel"), ("linear", "align_corners")]
    x = pixels = g.input("pixels", ("batch", 3, image, image + 14), "normal")
    size, channels, skips = (image, image + 14), 3, []
    for i, width in enumerate(widths):
        g.scope = f"/down.{i}"
        x = g.op("Relu", conv(g, x, f"down.{i}", channels, width, 3))
        skips.append((x, width, size))
        x = g.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
        channels, size = width, (size[0] // 2, size[1] // 2)
    for i, (skip, width, size) in enumerate(reversed(skips)):
        g.scope = f"/up.{i}"
        x = resize_like(g, x, pixels, channels, size, *ways[i % len(ways)])
        x = g.op("Concat", x, skip, axis=1)
        x = g.op("Relu", conv(g, x, f"up.{i}", channels + width, width, 3))
        channels = width
    g.scope = ""
    x = conv(g, x, "head", channels, classes, 1)
    half = (image // 2, image // 2 + 7)
    g.output(resize_like(g, x, pixels, classes, half, *ways[-1]), "logits", ("batch", classes, *half))
