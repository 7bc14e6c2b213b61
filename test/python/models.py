"""Models for tests of the Python module, which are those of the tool's tests. The module that calls the tool there is named pcc
as well; here pcc is the package."""
import importlib
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(ROOT, "test", "models"))


def load_numeric():
    """Returns test/numeric/run_numeric.py: its models, plans and checks."""
    package = {name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] == "pcc"}
    sys.path.insert(0, os.path.join(ROOT, "test", "numeric"))
    try:
        return importlib.import_module("run_numeric")
    finally:
        sys.path.remove(os.path.join(ROOT, "test", "numeric"))
        sys.modules.pop("pcc", None)
        sys.modules.update(package)


import builder  # noqa: E402
import oracle  # noqa: E402,F401

DIMS = {"batch": 4, "seq": 6}
GPT2 = dict(layers=2, hidden=16, heads=4, inner=32, vocabulary=37)


def gpt2(folder, **options):
    """Writes a small GPT-2 to `folder`. Returns its path and a batch of its inputs."""
    path = os.path.join(folder, "gpt2.onnx")
    graph = builder.build("gpt2", path, **{**GPT2, **options})
    return path, graph.draw_inputs(DIMS)
