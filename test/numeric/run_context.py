#!/usr/bin/env python3
"""Tests attention over a sequence that ranks divide: simulated ranks and real ones compute the same as one rank, every rank has
its part of the tokens, and keys are communicated in the cheapest way.

    run_context.py [--only GLOB] [--jobs N]

Bytes that a rank receives per layer on c ranks, for N bytes of [batch, seq, hidden] and K bytes of [batch, seq, heads of keys]:

    gather, ring  keys and values, at once or in c - 1 messages        2·K·(c-1)/c
    heads         all-to-all of queries, keys, values and results      2·(N/c + K/min(c, heads of keys))·(c-1)/c

Causal attention is cut into stripes, of which each rank has a part (Stripes.h): the work is balanced, and smaller in all.

If bytes are equal, fewer calls decide: a ring has c - 1, a gather two, heads four; then memory decides, of which a ring needs
least.
"""
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "models"))
import blocks
import builder
import executed
import graph as models
import pcc

CASES = {}
LAYERS, HIDDEN, HEADS = 2, 32, 8
RING, GATHER, EXCHANGE = {"permute"}, {"all_gather"}, {"all_to_all"}
SHAPES = {
    "gpt2": ("gpt2", dict(inner=64, vocabulary=61, attention="op", opset=23), HEADS),  # is_causal
    "gpt2-mask": ("gpt2", dict(inner=64, vocabulary=61), HEADS),  # a mask of [seq, seq]
    "bert": ("bert", dict(inner=64, vocabulary=61), HEADS),  # a mask of keys
    "llama": ("llama", dict(inner=40, vocabulary=61, kv_heads=2, attention="op", opset=23), 2),
    "llama-mask": ("llama", dict(inner=40, vocabulary=61, kv_heads=2), 2)}


def attention(g, kv_heads=HEADS, mask=None, causal=0, softcap=0.0):
    """Adds one layer of attention with optional masks and settings."""
    size, heads = HIDDEN // HEADS, {"q": HEADS, "k": kv_heads, "v": kv_heads}
    x = g.input("x", ("batch", "seq", HIDDEN), "normal")
    q, k, v = (blocks.split_heads(g, blocks.linear(g, x, n, HIDDEN, h * size, bias=False), h, size) for n, h in heads.items())
    shapes = {"rows": ("seq", "seq"), "keys": ("batch", 1, 1, "seq"), "heads": ("batch", HEADS, "seq", "seq"),
              "visible": ("batch", 1, "seq", "seq")}
    masks = [g.input("mask", shapes[mask], "normal")] if mask else []
    if mask == "visible":  # hides about half of the keys, so that some rows see none
        masks = [g.op("Greater", masks[0], g.constant(0, "f4"))]
    y = g.op("Attention", q, k, v, *masks, is_causal=causal, softcap=softcap)
    g.output(blocks.linear(g, blocks.merge_heads(g, y, HEADS, size), "o", HIDDEN, HIDDEN, bias=False), "y", ("batch", "seq", HIDDEN))


def build(shape, path, model):
    if shape == "attention":
        graph = models.Graph(opset=23)
        attention(graph, **model)
        graph.save(path)
        return graph
    kind, sizes, _ = SHAPES[shape]
    return builder.build(kind, path, **(dict(layers=LAYERS, hidden=HIDDEN, heads=HEADS) | sizes | model))


def formulas(kv_heads, ranks, batch, seq):
    """Returns the bytes of gather and ring, and those of heads."""
    whole = batch * seq * HIDDEN * 4
    keys = whole * kv_heads // HEADS
    share = (ranks - 1) / ranks
    return LAYERS * 2 * keys * share, LAYERS * 2 * (whole / ranks + keys / min(ranks, kv_heads)) * share


def stripes_of(shape, ranks, seq):
    """Returns the number of stripes of causal attention. Every rank has an equal part of each."""
    return next((n for n in (4, 2) if seq % (n * ranks) == 0 and shape != "bert"), 1)


def check_tokens(bundle, ranks, seq, stripes):
    """Checks that ids and outputs are divided in parts of ceil(length / ranks) of each stripe."""
    length = seq // stripes
    part = -(-length // ranks)
    for rank in bundle["ranks"]:
        low = min(length, part * rank["coordinates"]["cp"])
        wanted = [[first + low, first + min(length, low + part)] for first in range(0, seq, length) if low < length]
        for value in [v for v in rank["inputs"] if v["name"] == "input_ids"] + rank["outputs"]:
            if value["runs"][1] != wanted:
                raise pcc.Failure(f"rank {rank['rank']} has {value['runs'][1]} of {value['name']}, not {wanted}")


def check(shape, options, ranks=None, batch=4, seq=16, limit=None, kinds=None, comms=("thread",), model=None):
    with tempfile.TemporaryDirectory() as folder:
        path, dims = os.path.join(folder, "m.onnx"), {"batch": batch, "seq": seq}
        graph = build(shape, path, model or {})
        one, many, options = os.path.join(folder, "1.pcc"), os.path.join(folder, "n.pcc"), [*pcc.dim_options(dims), *options]
        feeds = executed.feed(folder, graph.draw_inputs(dims))
        executed.verify(path, *options, *feeds)
        pcc.succeed(path, "-o", one, *pcc.dim_options(dims))
        pcc.succeed(path, "-o", many, *options)
        bundle = pcc.inspect(many)
        if ranks and ranks <= seq:
            check_tokens(bundle, ranks, seq, stripes_of(shape, ranks, seq))
        check_traffic(bundle, limit, kinds)
        want = executed.outputs(one, feeds, folder)
        if want.keys() != {o["name"] for o in bundle["outputs"]}:
            raise pcc.Failure(f"one rank gives {sorted(want)}")
        for comm in comms:
            executed.compare(executed.outputs(many, feeds, folder, comm), want)


def check_traffic(bundle, limit, kinds):
    seen = {c["kind"] for c in bundle["collectives"]}
    got = sum(c["received_bytes"] * c["count"] for c in bundle["collectives"])
    if limit is not None and got != limit:
        raise pcc.Failure(f"receives {got} bytes by {sorted(seen)}, not {limit:.0f}")
    if kinds is not None and seen != kinds:
        raise pcc.Failure(f"keys travel by {sorted(seen)}, not {sorted(kinds)}")


def case(name, *arguments, **options):
    CASES[name] = lambda: check(*arguments, **options)


# Heads and ranks decide which way is the cheapest.
BOTH = ("thread", "mpi")
for shape, (_, _, kv_heads) in SHAPES.items():
    for ranks in (2, 3, 4, 8):
        seq = 12 if ranks == 3 else 16
        rows, heads = formulas(kv_heads, ranks, 4, seq)
        even = HEADS % ranks == 0
        kinds = EXCHANGE if heads < rows else RING if ranks <= 3 else GATHER
        case(f"{shape}-over-{ranks}", shape, ["--cp", str(ranks)], ranks, seq=seq, limit=min(rows, heads) if even else None,
             kinds=kinds if even else None, comms=BOTH if ranks == 2 else BOTH[:1])
    case(f"{shape}-three-rows", shape, ["--cp", "3"], 3, seq=12, model=dict(heads=4), comms=BOTH)

    # Sizes that are not divisible, and fewer tokens than ranks.
    for ranks, seq in ((2, 7), (4, 10), (4, 3), (3, 10)):
        case(f"{shape}-{seq}-over-{ranks}", shape, ["--cp", str(ranks)], ranks, seq=seq)

    # Further axes.
    for name, options in (("dp", ["--dp", "2"]), ("microbatches", ["--microbatches", "2"]), ("pp", ["--pp", "2", "--microbatches", "2"])):
        case(f"{shape}-cp-{name}", shape, ["--cp", "2", *options], 2)
    case(f"{shape}-cp-2-tp", shape, ["--cp", "2", "--tp", "2"])
    case(f"{shape}-cp-4-tp", shape, ["--cp", "4", "--tp", "2"], comms=BOTH)
    case(f"{shape}-uneven-everything", shape, ["--cp", "2", "--tp", "2", "--dp", "2", "--microbatches", "2"], batch=6, seq=5)

# All kinds of masks in each of the three ways: a ring of 2, heads of 4, a gather of 4; uneven sizes as well.
for mask in (None, "rows", "keys", "heads", "visible"):
    for causal in (0, 1):
        for way, ranks, kv_heads, seq in (("ring", 2, 8, 8), ("ring", 2, 2, 7), ("heads", 4, 8, 8), ("gather", 4, 1, 10)):
            case(f"{way}-{seq}-{mask}-{'causal' if causal else 'all'}", "attention", ["--cp", str(ranks)], seq=seq,
                 model=dict(kv_heads=kv_heads, mask=mask, causal=causal),
                 kinds={"ring": RING, "heads": EXCHANGE, "gather": GATHER}[way])
for shape in ("gpt2", "gpt2-mask", "llama"):  # 1 / sqrt(6) is no f32
    case(f"{shape}-inexact-scale", shape, ["--cp", "2"], 2, kinds=RING, model=dict(hidden=48))
case("ring-softcap", "attention", ["--cp", "2"], seq=8, kinds=RING, model=dict(softcap=0.5))

def check_work(options, model):
    """Checks the work. With stripes, 10 of 16 pairs of tokens are computed; the rest of the model is small."""
    flops = []
    with tempfile.TemporaryDirectory() as folder:
        for causal in (0, 1):
            path, bundle = os.path.join(folder, "m.onnx"), os.path.join(folder, f"{causal}.pcc")
            build("attention", path, model | dict(causal=causal))
            pcc.succeed(path, "-o", bundle, *pcc.dim_options({"batch": 1, "seq": 1024}), *options)
            flops.append(pcc.inspect(bundle)["stages"][0]["flops"])
    if not flops[1] < 0.7 * flops[0]:
        raise pcc.Failure(f"{flops[1]:.0f} operations where order counts, {flops[0]:.0f} where it does not")


for way, ranks, kv_heads in (("ring", 2, 8), ("gather", 4, 1)):
    CASES[f"work-{way}"] = lambda ranks=ranks, kv_heads=kv_heads: check_work(["--cp", str(ranks)], dict(kv_heads=kv_heads))

# A pin has precedence.
case("pinned-whole", "gpt2", ["--cp", "2", "--shard", "logits=[-,-,-]"])

if __name__ == "__main__":
    pcc.main(__doc__, CASES)
