#!/usr/bin/env python3
"""One of the compared variants, in a process of its own: peer.py VARIANT MODEL ONNX INPUTS_DIR THREADS, run with the Python of
build/bench-venv.

Loads, then answers each line of stdin, a number of steps, with a JSON list of their seconds; `outputs DIR` writes the outputs.
Between lines it sleeps, so that it does not disturb other measurements."""
import json
import os
import sys
import time

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "test", "models"))
import oracle


def onnx_runtime(model, path, inputs, threads):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, inputs)


def weights_of(model, path):
    import exports
    import onnx
    from onnx import numpy_helper
    file = onnx.load(path)
    if file.producer_name != "pcc-test-models":
        return exports.weights(model, file.graph)
    return {t.name: np.array(numpy_helper.to_array(t)) for t in file.graph.initializer if t.data_type == 1 and "." in t.name}


def torch_variant(prepare):
    def build(model, path, inputs, threads):
        import torch
        torch.set_num_threads(threads)
        import torch_models
        module = prepare(torch, torch_models.MODELS[model](weights_of(model, path)).eval())
        tensors = {k: torch.from_numpy(v) for k, v in inputs.items()}

        def step():
            with torch.inference_mode():
                return [module(**tensors).numpy()]
        return step
    return build


def frozen(torch, module):
    import torch._inductor.config
    torch._inductor.config.freezing = True
    return torch.compile(module)


VARIANTS = {"onnxruntime": onnx_runtime, "torch-eager": torch_variant(lambda torch, m: m),
            "torch-compile": torch_variant(lambda torch, m: torch.compile(m)), "torch-compile-frozen": torch_variant(frozen)}


def main():
    variant, model, path, folder, threads = sys.argv[1:]
    step = VARIANTS[variant](model, path, oracle.load(folder), int(threads))
    for line in sys.stdin:
        words = line.split()
        if words[0] == "outputs":
            oracle.save(words[1], {"output": step()[0]})
            print("[]", flush=True)
            continue
        seconds = []
        for _ in range(int(words[0])):
            start = time.perf_counter()
            step()
            seconds.append(time.perf_counter() - start)
        print(json.dumps(seconds), flush=True)


if __name__ == "__main__":
    main()
