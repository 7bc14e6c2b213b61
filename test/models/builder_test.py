"""Tests that every model of the builder, in both styles and several opsets, is valid ONNX and runs in ONNX Runtime, also with
sizes that are not divisible, static dims and external data."""
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import builder
import families
import numpy as np
import onnx
import oracle

DIMS = {"batch": 3, "seq": 7}
ODD = {
    "gpt2": dict(layers=2, hidden=50, heads=5, vocabulary=101, positions=16, inner=131),
    "llama": dict(layers=2, hidden=60, heads=6, kv_heads=3, vocabulary=97, inner=77),
    "bert": dict(layers=2, hidden=42, heads=3, vocabulary=89, positions=16, inner=55),
    "vit": dict(layers=1, hidden=30, heads=5),
    "resnet": dict(stem=7, widths=(10, 13), depths=(1, 2)),
    "mobilenet": {},
    "unet": dict(widths=(5, 7), image=19),
    "mlp": dict(layers=2, hidden=23, inner=41),
    "moe": dict(layers=1, hidden=12, inner=17, experts=5),
    "family": dict(width=7, seq=5),
}
FORMS = [("gpt2", dict(opset=23, attention="op")), ("llama", dict(opset=23, attention="op", norm="op")),
         ("gpt2", dict(mask="buffer")), ("gpt2", dict(mask="trilu", tied=False)), ("gpt2", dict(head_size=7)),
         ("bert", dict(classes=3)), ("resnet", dict(batch_norm=True)), ("llama", dict(tied=True, opset=24)),
         ("llama", dict(experts=3)), ("moe", dict(form="scatter")), ("moe", dict(form="fused")), ("moe", dict(form="grouped")), ("moe", dict(form="grouped", capacity=2)),
         *(("family", dict(kind=kind)) for kind in families.FAMILIES)]


class Builder(unittest.TestCase):
    def outputs(self, model, **options):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.onnx")
            graph = builder.build(model, path, **{**ODD[model], **options})
            onnx.checker.check_model(path, full_check=True)
            values = oracle.run(path, graph.draw_inputs(DIMS))
        for v in values.values():
            self.assertTrue(np.isfinite(v).all() and np.abs(v).max() > 1e-3, f"{model} {options}")
        return values

    def test_every_model_in_every_style_and_opset(self):
        for model in builder.MODELS:
            for style, opset in (("torchscript", 14), ("torchscript", 17), ("dynamo", 18), ("dynamo", 21)):
                with self.subTest(model=model, style=style, opset=opset):
                    self.outputs(model, style=style, opset=opset)

    def test_forms(self):
        for model, options in FORMS:
            with self.subTest(model=model, **options):
                self.outputs(model, **options)

    def same(self, model, one, other):
        a, b = self.outputs(model, **one), self.outputs(model, **other)
        for name in a:
            self.assertLess(oracle.relative_error(a[name], b[name]), 1e-4)

    def test_styles_compute_the_same(self):
        for model in builder.MODELS:
            with self.subTest(model=model):
                self.same(model, dict(style="torchscript", opset=17), dict(style="dynamo", opset=20))

    def test_masks_compute_the_same(self):
        for mask in ("trilu", "buffer"):
            self.same("gpt2", dict(mask="range"), dict(mask=mask))
        self.same("gpt2", dict(opset=23), dict(opset=23, attention="op"))
        self.same("llama", dict(opset=23), dict(opset=23, attention="op", norm="op"))

    def test_external_data_and_static_dims_compute_the_same(self):
        self.same("gpt2", {}, dict(external=True, alignment=1))
        self.same("gpt2", {}, dict(static=DIMS))


if __name__ == "__main__":
    unittest.main()
