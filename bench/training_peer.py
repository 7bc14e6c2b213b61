#!/usr/bin/env python3
"""Trains GPT-2 with PyTorch, in a process of its own: training_peer.py VARIANT ONNX DATA_DIR HEADS, run with the Python of
build/bench-venv.

Answers each line of stdin, a number of steps, with a JSON list of [loss, seconds, CPU seconds], one entry per step. Steps
continue from the last ones. Between lines it sleeps, so that it does not disturb other measurements."""
import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "test", "models"))
import oracle
import peer
import torch
import torch_models

LR, DECAY = 1e-3, 0.01


def optimizer_of(module, **options):
    """Returns AdamW. Like in pcc, tensors of two or more dims have weight decay."""
    parameters = list(module.parameters())
    groups = [{"params": [p for p in parameters if p.dim() >= 2], "weight_decay": DECAY},
              {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0}]
    return torch.optim.AdamW([g for g in groups if g["params"]], lr=LR, **options)


def loss_of(logits, labels):
    return torch.nn.functional.cross_entropy(logits.flatten(0, -2), labels.flatten())


class Training:
    def __init__(self, variant, path, data, heads):
        module = torch_models.Gpt2(peer.weights_of("gpt2", path), heads, trains=True)
        self.optimizer = optimizer_of(module, fused=None if variant == "torch-eager" else True)
        self.data = {name: torch.from_numpy(value) for name, value in oracle.load(data).items()}
        self.loss = lambda ids, labels: loss_of(module(ids), labels)
        if variant == "torch-compile":
            self.loss = torch.compile(self.loss)
        self.number = 0

    def step(self):
        ids, labels = (self.data[name][self.number % len(self.data[name])] for name in ("input_ids", "labels"))
        self.number += 1
        self.optimizer.zero_grad()
        loss = self.loss(ids, labels)
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main():
    variant, path, data, heads = sys.argv[1:]
    torch.set_num_threads(1)
    training = Training(variant, path, data, int(heads))
    for line in sys.stdin:
        steps = []
        for _ in range(int(line)):
            start, used = time.perf_counter(), time.process_time()
            loss = training.step()
            steps.append([loss, time.perf_counter() - start, time.process_time() - used])
        print(json.dumps(steps), flush=True)


if __name__ == "__main__":
    main()
