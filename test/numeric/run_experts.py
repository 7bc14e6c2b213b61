#!/usr/bin/env python3
"""Tests mixtures of experts whose experts are divided: simulated ranks compute the same as one rank, every rank holds its share
of the experts, and tokens are sent in the cheaper way.

    run_experts.py [--only GLOB] [--jobs N]

Bytes that a rank receives per layer, for N tokens of H numbers on each of e ranks, the best k of E experts, C slots per expert
and group of S tokens (so k·c = E·C/S slots per token):

    exchange  tokens to their experts' slots and back    2 · k·c · (e-1)/e · N·H·4
    gather    all tokens to all, sums back               2 · (e-1) · N·H·4

Both are equal at k·c = e. A dense form has no slots to exchange.
"""
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "models"))
import builder
import executed
import oracle
import pcc

CASES = {}
HIDDEN, SEQ, EXPERTS, LAYERS = 16, 16, 8, 2


def check_weights(bundle, parts):
    """Checks that every rank holds its share of the experts, and at least one rank has some."""
    largest = max((x["shape"][0], sum(hi - lo for lo, hi in x["runs"][0])) for r in bundle["ranks"] for x in r["parameters"]
                  if len(x["shape"]) == 3)
    if largest[1] != -(-largest[0] // parts):
        raise pcc.Failure(f"a rank holds {largest[1]} of {largest[0]} experts, divided by {parts}")


def check(options, parts, limit=None, exchanges=None, batch=8, model=None, kind="moe"):
    sizes = dict(layers=LAYERS, hidden=HIDDEN, inner=24, experts=EXPERTS) | ({"seq": SEQ} if kind == "moe" else {"heads": 4})
    with tempfile.TemporaryDirectory() as folder:
        path, dims = os.path.join(folder, "m.onnx"), {"batch": batch} | ({} if kind == "moe" else {"seq": SEQ})
        graph = builder.build(kind, path, **(sizes | (model or {})))
        options, inputs, bundle = [*pcc.dim_options(dims), *options], graph.draw_inputs(dims), os.path.join(folder, "b.pcc")
        feeds = executed.feed(folder, inputs)
        executed.verify(path, *options, *feeds)
        pcc.succeed(path, "-o", bundle, *options)
        # Ranks compute the same as ONNX Runtime, including dropped tokens.
        executed.compare(executed.outputs(bundle, feeds, folder), oracle.run(path, inputs))
        check_weights(pcc.inspect(bundle), parts)
        check_traffic(pcc.inspect(bundle), limit, exchanges)


def check_bytes(options, model, limit):
    """Checks the received bytes of a plan, which is only compiled."""
    with tempfile.TemporaryDirectory() as folder:
        path, bundle = os.path.join(folder, "m.onnx"), os.path.join(folder, "b.pcc")
        builder.build("moe", path, **model)
        pcc.succeed(path, "-o", bundle, "--dim", "batch=4", *options)
        check_traffic(pcc.inspect(bundle), limit, True)


def check_traffic(bundle, limit, exchanges):
    kinds = {c["kind"] for c in bundle["collectives"]}
    got = sum(c["received_bytes"] * c["count"] for c in bundle["collectives"])
    if limit is not None and got > limit + 1:
        raise pcc.Failure(f"receives {got} bytes by {sorted(kinds)}, {limit:.0f} are enough")
    if exchanges is not None and exchanges != (kinds == {"all_to_all"}):
        raise pcc.Failure(f"tokens travel by {sorted(kinds)}")


def case(name, *arguments, **options):
    CASES[name] = lambda: check(*arguments, **options)


def gathered(e, tokens):
    """Returns the bytes of both directions in all layers, if each of `e` ranks has `tokens`."""
    return LAYERS * 2 * (e - 1) * tokens * HIDDEN * 4


def exchanged(e, tokens, slots):
    return LAYERS * 2 * slots * (e - 1) / e * tokens * HIDDEN * 4


# Capacity per group: slots per token k·c = 8·C/16.
for capacity in (2, 4, 8, 16):
    for e in (2, 4, 8):
        slots, tokens = EXPERTS * capacity / SEQ, 8 * SEQ // e
        best = min(gathered(e, tokens), exchanged(e, tokens, slots))
        case(f"grouped-{capacity}-over-{e}", ["--ep", str(e)], e, best, slots < e if slots != e else None,
             model=dict(form="grouped", capacity=capacity))
for form in ("dense", "scatter", "fused"):
    for e in (2, 4, 8):
        case(f"{form}-over-{e}", ["--ep", str(e)], e, gathered(e, 8 * SEQ // e), model=dict(form=form))
    case(f"{form}-first-half", ["--dp", "4", "--ep", "2"], 2, gathered(2, 2 * SEQ), model=dict(form=form))
    case(f"{form}-one-chosen", ["--ep", "4"], 4, gathered(4, 2 * SEQ), model=dict(form=form, chosen=1))
case("grouped-first-half", ["--dp", "4", "--ep", "2"], 2, exchanged(2, 2 * SEQ, 1), True, model=dict(form="grouped", capacity=2))
case("grouped-cp", ["--dp", "2", "--cp", "2", "--ep", "4"], 4, model=dict(form="grouped", capacity=4))
case("dense-cp", ["--cp", "4", "--ep", "2"], 2, model=dict(form="dense"))

# Four ranks with 256 tokens of 1024 numbers, two slots per token: 1572864 bytes in 16 bits, so twice that here.
CASES["published-sizes"] = lambda: check_bytes(["--ep", "4"], dict(layers=1, hidden=1024, inner=8, experts=8, seq=256, form="grouped",
                                                                   capacity=64), 2 * 1572864)

# A transformer: attention has the batch, and the sequence where the experts divide its tokens.
for e in (2, 4, 8):
    case(f"transformer-over-{e}", ["--ep", str(e)], e, gathered(e, 8 * SEQ // e), kind="llama")
case("transformer-first-half", ["--dp", "4", "--ep", "2"], 2, gathered(2, 2 * SEQ), kind="llama")
KEYS = LAYERS * 2 * 4 * SEQ // 2 * (HIDDEN // 2) * 4  # and values, gathered over cp
case("transformer-cp", ["--dp", "2", "--cp", "2", "--ep", "4"], 4, gathered(4, 2 * SEQ) + KEYS, kind="llama")
case("transformer-tensor-parallel", ["--ep", "2", "--tp", "2"], 4, kind="llama")
case("transformer-stages", ["--ep", "2", "--pp", "2", "--microbatches", "2"], 2, kind="llama")

# The preset divides experts over all of dp and cp.
case("preset", ["--dp", "4", "--preset", "expert"], 4, gathered(4, 2 * SEQ))
case("preset-beside-ep", ["--dp", "4", "--ep", "2", "--preset", "expert"], 2, gathered(2, 2 * SEQ))

# Further axes. The dims of experts that the other axes leave are best split over tp, too.
for form in ("dense", "grouped"):
    case(f"{form}-tensor-parallel", ["--ep", "2", "--tp", "2"], 4, model=dict(form=form))
    case(f"{form}-stages", ["--ep", "2", "--pp", "2"], 2, model=dict(form=form))
    case(f"{form}-microbatches", ["--ep", "2", "--microbatches", "2"], 2, model=dict(form=form))

# Sizes that are not divisible.
for form in ("dense", "grouped"):
    case(f"{form}-uneven-experts", ["--ep", "4"], 4, model=dict(form=form, experts=6))
    case(f"{form}-uneven-batch", ["--ep", "4"], 4, batch=6, model=dict(form=form))
    case(f"{form}-three", ["--ep", "3"], 3, batch=7, model=dict(form=form))
    case(f"{form}-more-ranks-than-experts", ["--ep", "8"], 4, model=dict(form=form, experts=4))


def real(name, options, parts, limit):
    """Tests a real export with its own inputs."""
    folder = os.path.join(pcc.REAL_MODELS, name)
    model, inputs = os.path.join(folder, "model.onnx"), os.path.join(folder, "inputs")
    options = ["--dim", "batch=8", *options]
    executed.verify(model, *options, *pcc.input_options(inputs))
    with tempfile.TemporaryDirectory() as out:
        pcc.succeed(model, "-o", os.path.join(out, "b.pcc"), *options)
        bundle = pcc.inspect(os.path.join(out, "b.pcc"))
    check_weights(bundle, parts)
    check_traffic(bundle, limit, None)


# Two layers, 128 tokens of 64 numbers. Slots over the whole batch are exchanged in two steps, by columns of the tokens.
for form in ("dense", "einsum", "dropping"):
    if os.path.isdir(os.path.join(pcc.REAL_MODELS, f"moe-{form}-dynamo")):
        for e in (2, 4, 8):
            CASES[f"real-{form}-over-{e}"] = lambda form=form, e=e: real(f"moe-{form}-dynamo", ["--ep", str(e)], e,
                                                                        2 * 2 * (e - 1) * 128 // e * 64 * 4)
        CASES[f"real-{form}-beside-tp"] = lambda form=form: real(f"moe-{form}-dynamo", ["--ep", "2", "--tp", "2"], 4, None)


if __name__ == "__main__":
    pcc.main(__doc__, CASES)
