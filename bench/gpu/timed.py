"""Sections of measure.py that measure how fast programs on GPUs are."""
import json
import math
import statistics

from programs import OWN_ATTENTION, Skipped

PEAKS = {"H100": 989.4e12, "H200": 989.4e12, "A100": 312e12}         # NVIDIA's, dense bf16
LARGE = 32 << 20     # bytes from which a kernel's time tells its bandwidth


def quantile(values, part):
    return sorted(values)[min(int(len(values) * part), len(values) - 1)]


def flops_per_token(model):
    """Returns two numbers of flops: that of PaLM, which counts all of attention, and one with half of attention, as the causal
    mask leaves it (llm.c)."""
    attention = 12 * model["layers"] * model["hidden"] * model["seq"]
    return 6 * weights_of(model) + attention, 6 * weights_of(model) + attention // 2


def weights_of(model):
    """Returns the number of weights as they are stored: the table of words, which is also the last product's, counts once."""
    return sum(math.prod(shape) for shape in model["weights"].values())


def peak_of(bench):
    return next((peak for name, peak in PEAKS.items() if name in bench.device), None)


def tell_conventions(bench):
    if not (peak := peak_of(bench)):
        return bench.say(f"no MFU: the peak of {bench.device or 'this GPU'} is not known")
    model = bench.plan["gpt2"]
    every, causal = flops_per_token(model)
    bench.say(f"MFU: of {peak / 1e12:.1f} TFLOP/s, NVIDIA's for dense bf16; {every / 1e6:.1f} MFLOP a token = 6 N + 12 L H S (PaLM: the "
              f"mask does not count), N = {weights_of(model)}, L = {model['layers']}, H = {model['hidden']}, S = {model['seq']}")
    bench.say(f"causal MFU: {causal / 1e6:.1f} MFLOP a token = 6 N + 6 L H S (llm.c: half of attention)")


def tell_row(bench, name, seconds):
    model, peak = bench.plan["gpt2"], peak_of(bench)
    tokens = model["batch"] * model["seq"] / seconds
    row = bench.figures.setdefault("training", {})[name] = dict(seconds=seconds, tokens_per_second=tokens)
    line = f"{name:14} {1e3 * seconds:8.2f} ms {tokens:10,.0f} tokens/s"
    if peak:
        row["mfu"], row["causal_mfu"] = (tokens * flops / peak for flops in flops_per_token(model))
        line += f"  MFU {100 * row['mfu']:.1f} %, causal MFU {100 * row['causal_mfu']:.1f} %"
    bench.say(line)


def training(bench):
    """Times a training step of GPT-2 in bf16: as pcc compiles it, in PyTorch, without a CUDA graph of the step, and without
    cuDNN."""
    model = bench.plan["gpt2"]
    steps, warmup = model["steps"] + model["warmup"], model["warmup"]

    def tell(name, *options, variables=()):
        report = bench.run(model["train"], "--steps", steps, *options, variables=variables)
        tell_row(bench, name, statistics.median(step["seconds"] for step in report["steps"][warmup:]))

    tell_conventions(bench)
    tell("graph")
    tell("no graph", "--no-graph")
    tell("own attention", variables=OWN_ATTENTION)
    try:
        seconds = bench.torch("train", bench.path("plan.json"), steps)["seconds"]
    except Skipped as why:
        return bench.say(f"not compared with torch.compile: {why}")
    tell_row(bench, "torch.compile", statistics.median(seconds[warmup:]))
    rows = bench.figures["training"]
    for row in rows.values():
        row["ratio"] = row["seconds"] / rows["torch.compile"]["seconds"]
    bench.say("of torch.compile's time " + ", ".join(f"{name} {row['ratio']:.2f}" for name, row in rows.items() if name != "torch.compile"))


def latency(bench):
    """Times a batch of GPT-2 in bf16."""
    model = bench.plan["gpt2"]
    report = bench.run(model["infer"], "--repeat", model["steps"], "--warmup", model["warmup"])
    seconds = statistics.median(report["ranks"][0]["steps"])
    bench.figures["latency"] = dict(seconds=seconds)
    bench.say(f"{model['batch']} x {model['seq']} tokens: {1e3 * seconds:.2f} ms, {model['batch'] * model['seq'] / seconds:,.0f} tokens/s")


def instructions(bench):
    """Times each instruction of a training step alone: fused kernels compared with a copy of as many bytes, products compared
    with products without fused steps. Also tells how long a step leaves the GPU idle."""
    timed = bench.probe("time", bench.plan["gpt2"]["train"])
    seen, copy = timed["instructions"], timed["copy_bytes_per_second"]
    rows = bench.figures["instructions"] = dict(copy_bytes_per_second=copy, busy=sum(i["seconds"] * i["runs"] for i in seen))
    bench.say(f"a copy reads and writes {copy / 1e12:.2f} TB/s")
    tell_kernels(bench, [i for i in seen if i["kind"] == "Kernel" and not i["attention"] and i["bytes"] >= LARGE], rows)
    rows["attention"] = sum(i["seconds"] * i["runs"] for i in seen if i.get("attention"))
    bench.say(f"attention takes {1e3 * rows['attention']:.2f} ms of a step, by cuDNN where it is there")
    tell_idle(bench, rows["busy"])
    tell_products(bench, [i for i in seen if i["kind"] == "Matmul"], rows)


def tell_kernels(bench, seen, rows):
    if not seen:
        return
    ratios = [i["bytes"] / i["seconds"] / rows["copy_bytes_per_second"] for i in seen]
    rows["kernels"] = sorted((r, i["node"], i["bytes"], i["seconds"]) for r, i in zip(ratios, seen))
    bench.say(f"{len(seen)} kernels of 32 MiB or more reach {statistics.median(ratios):.2f} of that (a tenth of them less than "
              f"{quantile(ratios, 0.1):.2f}); slowest {rows['kernels'][0][1]}")


def tell_idle(bench, busy):
    """Prints the idle share. Instructions that overlap in a step hide gaps, so it can be negative."""
    measured = [(name, row) for name, row in bench.figures.get("training", {}).items() if "graph" in name]
    for name, row in measured:
        row["idle"] = 1 - busy / row["seconds"]
        bench.say(f"idle, {name}: {100 * row['idle']:.1f} % of a step: it takes {1e3 * row['seconds']:.2f} ms, its instructions, each "
                  f"repeated by itself, {1e3 * busy:.2f} ms in sum")
    if not measured:
        bench.say("idle time is not known: no steps of training were timed")


def tell_products(bench, seen, rows):
    def total(seconds):
        return sum(seconds(i) * i["runs"] for i in seen)

    mine, bare = total(lambda i: i["seconds"]), total(lambda i: i["bare_seconds"])
    row = rows["products"] = dict(seconds=mine, bare=bare)
    bench.say(f"products with all that is fused into them take {1e3 * mine:.2f} ms, {mine / bare:.2f} of bare ones of cuBLASLt")
    shape = lambda i: (math.prod(i["batch"]), i["m"], i["n"], i["k"], i["dtype"])
    shapes = sorted(set(map(shape, seen)))
    try:
        peer = dict(zip(shapes, bench.torch("products", bench.path("plan.json"), text=json.dumps(shapes))))
    except Skipped as why:
        return bench.say(f"torch.matmul is not compared: {why}")
    row["torch"] = total(lambda i: peer[shape(i)])
    bench.say(f"and {mine / row['torch']:.2f} of torch.matmul's time")
