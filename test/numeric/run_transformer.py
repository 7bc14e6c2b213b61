#!/usr/bin/env python3
"""Tests transformers without a file (--transformer). The loss of a step equals that of the same layers in NumPy, with the weights of
a checkpoint; plans on several ranks compute what one rank does; sizes that do not fit are refused.

    run_transformer.py [--only GLOB] [--jobs N]
"""
import os
import re
import sys
import tempfile

import numpy as np

import pcc
from run_checkpoint_export import read_safetensors

CASES = {}
SIZES = dict(layers=2, hidden=32, heads=4, kv_heads=2, ffn=48, vocab=61, seq=8)
BATCH = 4
KINDS = {"gpt": [], "llama": ["gated"], "tied": ["tied"], "llama-tied": ["gated", "tied"], "experts": ["gated", "experts=4", "topk=2"],
         "gelu-experts": ["experts=3"], "wide-heads": ["gated", "head_dim=12"]}
#        name: options, whether it trains
PLANS = {"tp": (["--tp", "2"], False), "tp-training": (["--tp", "2"], True), "tp-pp": (["--tp", "2", "--pp", "2", "--microbatches", "2"], True),
         "dp": (["--dp", "2", "--preset", "zero3"], True), "cp": (["--cp", "2"], True)}


def spec(words, **changes):
    sizes = {**SIZES, **changes}
    return ",".join([*(f"{name}={size}" for name, size in sizes.items()), *words])


def given(words, **changes):
    return ["--transformer", spec(words, **changes), "--dim", f"batch={BATCH}", "--random-weights", 3]


class Model:
    """The layers in NumPy, in double precision, with the weights `w`."""

    def __init__(self, words, w):
        self.w, self.gated, self.tied = w, "gated" in words, "tied" in words
        number = dict(word.split("=") for word in words if "=" in word)
        self.experts, self.topk = int(number.get("experts", 0)), int(number.get("topk", 1))
        self.dim = int(number.get("head_dim", SIZES["hidden"] // SIZES["heads"]))

    def linear(self, name, x, has_bias=True):
        y = x @ self.w[name + ".weight"]
        return y + self.w[name + ".bias"] if has_bias and not self.gated else y

    def norm(self, name, x):
        if self.gated:
            return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * self.w[name + ".weight"]
        centred = x - x.mean(-1, keepdims=True)
        return centred / np.sqrt((centred * centred).mean(-1, keepdims=True) + 1e-5) * self.w[name + ".weight"] + self.w[name + ".bias"]

    def heads(self, name, x, count, turns=False):
        y = self.linear(name, x).reshape(BATCH, SIZES["seq"], count, self.dim).transpose(0, 2, 1, 3)
        if turns and self.gated:
            half = np.arange(SIZES["seq"])[:, None] * 10000.0 ** (-2 * np.arange(self.dim // 2) / self.dim)
            angle = np.concatenate([half, half], -1)
            low, high = np.split(y, 2, -1)
            y = y * np.cos(angle) + np.concatenate([-high, low], -1) * np.sin(angle)
        return np.repeat(y, SIZES["heads"] // count, 1)

    def attend(self, name, x):
        q, k = (self.heads(f"{name}.{part}", x, SIZES[count], True) for part, count in (("query", "heads"), ("key", "kv_heads")))
        scores = q @ k.swapaxes(-1, -2) / np.sqrt(self.dim)
        scores[..., np.triu_indices(SIZES["seq"], 1)[0], np.triu_indices(SIZES["seq"], 1)[1]] = -np.inf
        y = softmax(scores) @ self.heads(name + ".value", x, SIZES["kv_heads"])
        return self.linear(name + ".output", y.transpose(0, 2, 1, 3).reshape(BATCH, SIZES["seq"], -1))

    def inner(self, up, gate):
        return gate / (1 + np.exp(-gate)) * up if self.gated else 0.5 * up * (1 + np.tanh(np.sqrt(2 / np.pi) * (up + 0.044715 * up**3)))

    def feed_forward(self, name, x):
        if not self.experts:
            gate = self.linear(name + ".gate", x) if self.gated else None
            return self.linear(name + ".down", self.inner(self.linear(name + ".up", x), gate))
        name = name.replace(".ffn", ".experts")
        chance = softmax(x @ self.w[name + ".router.weight"])
        gates = np.where(chance >= np.sort(chance, -1)[..., -self.topk, None], chance, 0)
        gates /= gates.sum(-1, keepdims=True)
        part = lambda which, x: np.einsum("ebsf,efg->ebsg", x, self.w[f"{name}.{which}.weight"])
        every = np.broadcast_to(x, (self.experts, *x.shape))
        return np.einsum("bse,ebsf->bsf", gates, part("down", self.inner(part("up", every), part("gate", every) if self.gated else None)))

    def loss(self, ids, labels):
        x = self.w["embedding.weight"][ids]
        if not self.gated:
            x = x + self.w["positions.weight"]
        for layer in range(SIZES["layers"]):
            name = f"layers.{layer}"
            x = x + self.attend(name + ".attention", self.norm(name + ".attention_norm", x))
            x = x + self.feed_forward(name + ".ffn", self.norm(name + ".ffn_norm", x))
        x = self.norm("norm", x)
        logits = x @ self.w["embedding.weight"].T if self.tied else self.linear("head", x, False)
        return -np.log(np.take_along_axis(softmax(logits), labels[..., None], -1)).mean()


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def equals_numpy(words):
    with tempfile.TemporaryDirectory() as folder:
        bundle, data, save, weights = (os.path.join(folder, name) for name in ("m.pcc", "data", "ckpt", "w.safetensors"))
        os.mkdir(data)
        random = np.random.default_rng(7)
        ids, labels = (random.integers(0, SIZES["vocab"], (1, BATCH, SIZES["seq"])) for _ in range(2))
        np.save(os.path.join(data, "input_ids.npy"), ids)
        np.save(os.path.join(data, "labels.npy"), labels)
        pcc.succeed(*given(words), "--train", "--lr", 0, "--tp", 2, "-q", "-o", bundle)
        told = pcc.succeed("run", bundle, "--comm", "thread", "--data", data, "--steps", 1, "--save", save)
        pcc.succeed("checkpoint", "export", save, "-o", weights)
        held = {name: value.astype("f8") for name, value in read_safetensors(weights).items()}
        got, expected = float(re.search(r"loss ([\d.]+)", told)[1]), Model(words, held).loss(ids[0], labels[0])
        if not abs(got - expected) < 1e-4 * expected:
            raise pcc.Failure(f"the loss is {got}, NumPy has {expected}")


def refused(words, mention, **changes):
    status, out, err = pcc.call(*given(words, **changes), "--stop-after", 1, "-q")
    if status != 2 or mention not in err:
        raise pcc.Failure(f"exit code {status}, and no '{mention}' in: {err}")


MISTAKES = {"unknown": (["gatd"], "'gated'", {}), "twice": (["gated", "gated"], "given twice", {}), "heads": ([], "not a multiple of kv_heads=3", {"kv_heads": 3}),
            "uneven": ([], "give head_dim", {"hidden": 33}), "odd": (["gated", "head_dim=7"], "even size", {}), "topk": (["topk=2"], "more than experts=0", {}),
            "zero": ([], "'layers=0'", {"layers": 0}), "huge": ([], "'vocab=99999999999'", {"vocab": 99999999999}), "value": (["gated=1"], "has no value", {}),
            "elements": (["experts=1048576"], "elements, more than 2^48", {"hidden": 2**20, "ffn": 2**20}),
            "pairs": ([], "pairs, more than 2^56", {"heads": 2**15, "kv_heads": 2**15, "hidden": 2**15, "seq": 2**20, "vocab": 9, "ffn": 8})}


def dump_needs_weights():
    """A dump of a transformer says that it has none, and takes --random-weights later."""
    with tempfile.TemporaryDirectory() as folder:
        dump, bundle = os.path.join(folder, "3.mlir"), os.path.join(folder, "b.pcc")
        pcc.succeed("--transformer", spec([]), "--stop-after", 3, "-q", "-o", dump)
        status, _, err = pcc.call(dump, "-o", bundle)
        if status != 2 or "--random-weights" not in err or os.path.exists(bundle):
            raise pcc.Failure(f"exit code {status}: {err}")
        pcc.succeed("--transformer", spec([]), "--random-weights", 1, "--stop-after", 3, "-q", "-o", dump)
        pcc.succeed(dump, "-q", "-o", bundle)


def add(name, check, *arguments, **changes):
    CASES[name] = lambda: check(*arguments, **changes)


for kind, words in KINDS.items():
    add(f"{kind}, NumPy", equals_numpy, words)
    for plan, (options, trains) in PLANS.items():
        add(f"{kind}, {plan}", pcc.succeed, "verify", *given(words), *options, *(["--train"] if trains else []), "--run", "-q")
add("a dump needs weights", dump_needs_weights)
for mistake, (words, mention, changes) in MISTAKES.items():
    add(f"refused, {mistake}", refused, words, mention, **changes)

if __name__ == "__main__":
    pcc.main(__doc__, CASES)
