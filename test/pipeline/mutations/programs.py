"""The partitioned programs that are mutated: small models of every kind, with random pins on four ranks."""
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "random"), os.path.join(os.path.dirname(os.path.dirname(HERE)), "models")]
import builder
import draw
import onnx

#          model of the builder, its options, sizes of dynamic dims
MODELS = {"mlp": ("mlp", dict(layers=2, hidden=12, inner=16, classes=6), {"batch": 4}),
          "attention": ("gpt2", dict(layers=1, hidden=16, heads=4, vocabulary=11, positions=8, inner=24), {"batch": 4, "seq": 8}),
          "conv": ("resnet", dict(stem=4, widths=(4, 8), depths=(1, 1), classes=5, image=16), {"batch": 4}),
          "moe": ("moe", dict(layers=1, hidden=8, inner=12, experts=4, seq=4, classes=6), {"batch": 4})}
VARIANTS = 32
MESHES = [{"a": 2, "b": 2}, {"a": 4}]


class Pinned:
    """A model on a mesh with random pins on its weights, as random_graphs_test.Run verifies it."""

    def __init__(self, seed, name, path, weights, sizes, most_pins=4):
        choice = random.Random(seed)
        self.seed, self.name, self.model, self.sizes = seed, name, path, sizes
        self.mesh = MESHES[seed % len(MESHES)]
        chosen = choice.sample(weights, min(len(weights), choice.randint(2, most_pins)))
        self.pins = [p for w in chosen if any((p := draw.draw_pin(choice, w, self.mesh)).dims)]
        self.plan = {}

    def write(self, path):
        pass

    def case(self, _):
        return {"model": self.model, "mesh": list(self.mesh.items()), "shards": [p.text(self.mesh) for p in self.pins],
                "dims": self.sizes, "held": [], "dump": self.dumps()}

    def dumps(self):
        return os.path.join(os.path.dirname(self.model), f"ir-{self.seed}")


def write_means(path):
    """Writes means and sums of inputs over dims that are split evenly or unevenly."""
    m = draw.Model(0)
    for axes in ([0], [1], [2], [0, 2], [1, 2], [0, 1, 2]):
        x = m.input((6, 5, 8))
        shape = [n for d, n in enumerate(x.shape) if d not in axes]
        for kind in ("ReduceMean", "ReduceSum"):
            m.op(kind, [x, m.constant(axes)], shape, keepdims=0)
    m.finish()
    with open(path, "wb") as f:
        f.write(m.proto().SerializeToString())
    return m.inputs()


def draw_programs(folder):
    """Returns pinned variants of every model, whose files are written to `folder`."""
    path = os.path.join(folder, "means.onnx")
    inputs = write_means(path)
    programs = [Pinned(9000 + i, "means", path, inputs, {}, len(inputs)) for i in range(VARIANTS)]
    for number, (name, (model, options, sizes)) in enumerate(MODELS.items()):
        path = os.path.join(folder, f"{name}.onnx")
        builder.build(model, path, **options)
        weights = [draw.Weight(t.name, tuple(t.dims)) for t in onnx.load(path).graph.initializer
                   if t.data_type == onnx.TensorProto.FLOAT and max(t.dims, default=1) > 1]
        programs += [Pinned(1000 * number + i, name, path, weights, sizes) for i in range(VARIANTS)]
    return programs
