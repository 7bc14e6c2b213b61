#!/usr/bin/env python3
"""One rank of torch.distributed.pipelining on gloo: pipelines_peer.py SCHEDULE RANK WORLD PORT ONNX DATA_DIR HEADS LAYERS
MICROBATCHES, run with the Python of build/bench-venv; all ranks are on this host.

Each line of stdin is a number of steps, which every rank executes. Rank 0 then prints a JSON list of [loss, seconds, CPU
seconds of all ranks], one entry per step. Steps continue from the last ones."""
import datetime
import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "test", "models"))
import oracle
import peer
import torch
import torch.distributed as dist
import torch_models
from torch.distributed.pipelining import PipelineStage, schedules
from training_peer import loss_of, optimizer_of

# name: (class, stages per rank, stages of a rank)
SCHEDULES = {"1f1b": (schedules.Schedule1F1B, 1, lambda r, p: [r]),
             "interleaved": (schedules.ScheduleInterleaved1F1B, 2, lambda r, p: [r, r + p]),
             "zb-h1": (schedules.ScheduleInterleavedZeroBubble, 1, lambda r, p: [r]),
             "zb-v": (schedules.ScheduleZBVZeroBubble, 2, lambda r, p: [r, 2 * p - 1 - r])}


def weights_of_stage(weights, stage, stages, layers):
    """Returns the weights of one stage. All stages have equally many layers; the first also has the tables, the last the layers
    after the blocks."""
    own = range(stage * layers // stages, (stage + 1) * layers // stages)
    ends = {"wte": 0, "wpe": 0, "ln_f": stages - 1, "lm_head": stages - 1}
    belongs = lambda name: int(name.split(".")[1]) in own if name.startswith("h.") else ends[name.split(".")[0]] == stage
    return {name: value for name, value in weights.items() if belongs(name)}


class Rank:
    def __init__(self, schedule, rank, world, path, data, heads, layers, microbatches):
        kind, per_rank, stages_of = SCHEDULES[schedule]
        count, weights = per_rank * world, peer.weights_of("gpt2", path)
        self.data = {name: torch.from_numpy(value) for name, value in oracle.load(data).items()}
        modules = [(s, torch_models.Gpt2(weights_of_stage(weights, s, count, layers), heads, trains=True))
                   for s in stages_of(rank, world)]
        stages = [PipelineStage(m, s, count, torch.device("cpu")) for s, m in modules]
        self.is_first, self.is_last = any(s == 0 for s, _ in modules), any(s == count - 1 for s, _ in modules)
        self.schedule = kind(stages[0] if kind is schedules.Schedule1F1B else stages, microbatches, loss_fn=loss_of)
        self.optimizer = optimizer_of(torch.nn.ModuleList(m for _, m in modules), fused=True)
        self.number = 0

    def step(self):
        """Executes a step. Returns the loss, or 0 on ranks that do not know it."""
        ids, labels = (self.data[name][self.number % len(self.data[name])] for name in ("input_ids", "labels"))
        self.number += 1
        losses = []
        self.optimizer.zero_grad()
        self.schedule.step(*([ids] if self.is_first else []), return_outputs=False,
                           **(dict(target=labels, losses=losses) if self.is_last else {}))
        self.optimizer.step()
        return torch.stack(losses).mean().item() if losses else 0.0

    def timed_step(self):
        dist.barrier()
        start, used = time.perf_counter(), time.process_time()
        loss = self.step()
        used = time.process_time() - used
        dist.barrier()
        seconds = time.perf_counter() - start
        of_all = torch.tensor([loss, used], dtype=torch.float64)
        dist.all_reduce(of_all)
        return [of_all[0].item(), seconds, of_all[1].item()]


def main():
    schedule, rank, world, port, path, data, *sizes = sys.argv[1:]
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=int(rank), world_size=int(world),
                            timeout=datetime.timedelta(hours=2))
    own = Rank(schedule, int(rank), int(world), path, data, *map(int, sizes))
    for line in sys.stdin:
        steps = [own.timed_step() for _ in range(int(line))]
        if rank == "0":
            print(json.dumps(steps), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
