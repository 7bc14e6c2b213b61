#!/usr/bin/env python3
"""PyTorch on a GPU: torch_peer.py train PLAN.json STEPS, or torch_peer.py products PLAN.json < SHAPES.json. Prints JSON.

`train` prints the seconds of each step of GPT-2 with the plan's sizes: bf16 by autocast, torch.compile, fused AdamW, norms
clipped, random tokens. `products` prints the seconds of each product of a list of [batch, m, n, k, dtype], by torch.matmul."""
import json
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
import torch
import torch_models

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}


def train(plan, steps):
    model = plan["gpt2"]
    # torch_models takes arrays, as read from a file. Random numbers of the device serve as well.
    weights = {name: (torch.ones if len(shape) == 1 and name.endswith("weight") else torch.zeros)(shape).numpy()
               for name, shape in model["weights"].items()}
    module = torch_models.Gpt2(weights, model["heads"], trains=True).cuda()
    with torch.no_grad():
        for p in module.parameters():
            if p.dim() > 1:
                p.normal_(std=0.02)
    optimizer = torch.optim.AdamW(module.parameters(), lr=1e-3, fused=True)

    def loss_of(ids, labels):
        with torch.autocast("cuda", torch.bfloat16):
            logits = module(ids)
        return torch.nn.functional.cross_entropy(logits.flatten(0, -2).float(), labels.flatten())
    loss_of = torch.compile(loss_of)
    shape = [model["batch"], model["seq"]]
    ids, labels = (torch.randint(model["vocabulary"], shape, device="cuda") for _ in range(2))
    seconds = []
    for _ in range(steps):
        torch.cuda.synchronize()
        start = time.perf_counter()
        optimizer.zero_grad()
        loss = loss_of(ids, labels)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(module.parameters(), 1.0)
        optimizer.step()
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
    return dict(seconds=seconds, loss=loss.item(), memory=torch.cuda.max_memory_allocated())


def product(batch, m, n, k, dtype):
    lead = [batch] if batch > 1 else []
    a, b = (torch.randn(lead + shape, device="cuda", dtype=DTYPES[dtype]) for shape in ([m, k], [k, n]))
    for _ in range(3):
        torch.matmul(a, b)
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(20):
        torch.matmul(a, b)
    torch.cuda.synchronize()
    return (time.perf_counter() - start) / 20


def main():
    with open(sys.argv[2]) as f:
        plan = json.load(f)
    if sys.argv[1] == "train":
        print(json.dumps(train(plan, int(sys.argv[3]))))
    else:
        print(json.dumps([product(*shape) for shape in json.load(sys.stdin)]))


if __name__ == "__main__":
    main()
