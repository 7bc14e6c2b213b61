#!/usr/bin/env python3
"""Tests mixtures of experts without capacity: each token is computed by the experts that it chose and no others, and none is
dropped, however many choose one expert. The ranks compute the same as ONNX Runtime, which computes every token by every expert.
On more than a few ranks, a token is only sent to ranks whose experts it chose.

    run_dropless.py [--only GLOB] [--jobs N]

Scores are an input, so that cases determine the chosen experts. The products of a layer take 4·N·k·H·F operations, in the dense
form 4·N·E·H·F.
"""
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "models"))
import executed
import numpy as np
import onnx
import oracle
import pcc
from onnx import helper, numpy_helper

CASES = {}
SEQ, HIDDEN, INNER, EXPERTS, LAYERS = 5, 6, 10, 8, 2


class Model:
    """Layers x + Σ_e gate_e · (gelu(x·up_e + b_e)·down_e + c_e), with gates from the best `chosen` of the scores."""

    def __init__(self, chosen, form, experts, residual=True, seq=SEQ):
        self.random, self.chosen, self.form, self.experts = np.random.RandomState(5), chosen, form, experts
        self.residual, self.seq = residual, seq
        self.nodes, self.weights = [], []
        x = "x"
        for layer in range(LAYERS):
            x = self.layer(layer, x)
        self.op("Identity", x, output="y")

    def op(self, kind, *inputs, output=None, outputs=1, **attributes):
        names = [output] if output else [f"v{len(self.nodes)}.{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, name=f"n{len(self.nodes)}", **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, value):
        self.weights.append(numpy_helper.from_array(np.asarray(value), f"w{len(self.weights)}"))
        return self.weights[-1].name

    def weight(self, *shape):
        return self.constant((self.random.standard_normal(shape) / np.sqrt(shape[-1])).astype("f4"))

    def gate(self, layer):
        """Returns the gates [batch, seq, experts]. The scores of a layer are those of the input, rotated by the number of
        layers before it."""
        turned = self.op("Gather", "scores", self.constant(np.roll(np.arange(self.experts), layer)), axis=2)
        chance = self.op("Softmax", turned, axis=-1)
        best, index = self.op("TopK", chance, self.constant(np.array([self.chosen])), outputs=2, axis=-1)
        best = self.op("Div", best, self.op("ReduceSum", best, self.constant(np.array([-1])), keepdims=1))
        hot = self.op("Equal", self.op("Unsqueeze", index, self.constant(np.array([-1]))), self.constant(np.arange(self.experts)))
        weighed = self.op("Mul", self.op("Cast", hot, to=1), self.op("Unsqueeze", best, self.constant(np.array([-1]))))
        return self.op("ReduceSum", weighed, self.constant(np.array([2])), keepdims=0)

    def layer(self, layer, x):
        gate, e = self.gate(layer), self.experts
        up, b = self.weight(e, HIDDEN, INNER), self.weight(e, 1, 1, INNER)
        down, c = self.weight(e, INNER, HIDDEN), self.weight(e, 1, 1, HIDDEN)
        h = self.op("Add", self.op("Einsum", x, up, equation="bsd,edh->ebsh"), b)
        h = self.op("Mul", h, self.op("Sigmoid", h))
        y = self.op("Add", self.op("Einsum", h, down, equation="ebsh,ehd->ebsd"), c)
        if self.form == "einsum":
            y = self.op("Einsum", gate, y, equation="bse,ebsd->bsd")
        else:
            turned = self.op("Transpose", gate, perm=[2, 0, 1])
            y = self.op("Mul", y, self.op("Unsqueeze", turned, self.constant(np.array([-1]))))
            y = self.op("ReduceSum", y, self.constant(np.array([0])), keepdims=0)
        return self.op("Add", x, y) if self.residual else y

    def save(self, path):
        info = lambda name, last: helper.make_tensor_value_info(name, 1, ["batch", self.seq, last])
        graph = helper.make_graph(self.nodes, "g", [info("x", HIDDEN), info("scores", self.experts)], [info("y", HIDDEN)], self.weights)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10), path)


def scores(routing, batch, experts, seq):
    """Draws scores: all tokens choose the same expert, or one of the first half, or later ones the later the token is, or any."""
    random = np.random.RandomState(9)
    values = random.standard_normal((batch, seq, experts)).astype("f4")
    if routing == "one":
        values[..., 3] += 20
    elif routing == "half":
        values[..., : experts // 2] += 20
    elif routing == "uneven":
        values += 8 * (np.arange(experts) < np.linspace(0, experts, batch * seq).reshape(batch, seq, 1)).astype("f4")
    return values


def draw(routing, batch, experts=EXPERTS, seq=SEQ):
    """Draws inputs of a model."""
    return {"x": np.random.RandomState(7).standard_normal((batch, seq, HIDDEN)).astype("f4"),
            "scores": scores(routing, batch, experts, seq)}


def check_work(bundle, tokens, chosen, copies):
    """Checks the operations of all ranks: little more than the experts' products, for at most `copies` as many rows."""
    most = LAYERS * 4 * tokens * chosen * HIDDEN * INNER * copies * 1.25
    got = sum(stage["flops"] for stage in bundle["stages"])
    if got > most:
        raise pcc.Failure(f"{got:.0f} operations, {most:.0f} are enough")


def check_traffic(bundle, tokens, chosen, ranks):
    """Checks the bytes per token of a rank: to each other rank its gates, whether it is wanted and, at most, the token itself;
    back from those that it chose."""
    others, row = ranks - 1, 4 * HIDDEN
    most = LAYERS * tokens // ranks * (others * (4 * EXPERTS // ranks + 1 + row) + min(chosen, others) * row)
    kinds = {c["kind"] for c in bundle["collectives"]}
    got = sum(c["received_bytes"] * c["count"] for c in bundle["collectives"])
    if kinds != {"all_to_all"} or got != most:
        raise pcc.Failure(f"{got} bytes by {sorted(kinds)}, {most} by all_to_all are enough")


def check_explained(text):
    """Checks that explain says that tokens are sent and come back once per layer, and that their number is only known at run
    time."""
    if text.count(", at most ") != 2 * LAYERS:
        raise pcc.Failure(f"explained as\n{text}")


def check(options, routing, chosen, comm, form, batch, experts, copies, travels, residual, seq):
    with tempfile.TemporaryDirectory() as folder:
        path, bundle = os.path.join(folder, "m.onnx"), os.path.join(folder, "b.pcc")
        Model(chosen, form, experts, residual, seq).save(path)
        inputs = draw(routing, batch, experts, seq)
        feeds, options = executed.feed(folder, inputs), ["--dim", f"batch={batch}", *options]
        executed.verify(path, *options, *feeds)
        pcc.succeed(path, "-o", bundle, *options)
        if copies:
            check_work(pcc.inspect(bundle), batch * seq, chosen, copies)
        if travels:
            check_traffic(pcc.inspect(bundle), batch * seq, chosen, travels)
            check_explained(pcc.succeed("explain", path, "-v", *options))
        executed.compare(executed.outputs(bundle, feeds, folder, comm), oracle.run(path, inputs), 1e-5)


def case(name, options=(), routing="any", chosen=2, comm="thread", form="einsum", batch=8, experts=EXPERTS, copies=None, travels=None, residual=True, seq=SEQ):
    CASES[name] = lambda: check(list(options), routing, chosen, comm, form, batch, experts, copies, travels, residual, seq)


ROUTINGS = ("any", "one", "half", "uneven")
for chosen in (1, 2):
    for routing in ROUTINGS:
        case(f"one-rank-{routing}-{chosen}", (), routing, chosen, copies=1)
        case(f"ep-2-{routing}-{chosen}", ("--ep", "2"), routing, chosen, "mpi")
        case(f"ep-4-{routing}-{chosen}", ("--ep", "4"), routing, chosen, travels=4)
        case(f"ep-8-{routing}-{chosen}", ("--ep", "8"), routing, chosen, travels=8)
for routing in ROUTINGS:
    case(f"dp-4-ep-2-{routing}", ("--dp", "4", "--ep", "2"), routing)
    case(f"microbatches-{routing}", ("--ep", "2", "--microbatches", "2"), routing)
    case(f"products-{routing}", (), routing, form="product", copies=1)
for plan in (("--dp", "2"), ("--tp", "2"), ("--pp", "2", "--microbatches", "2"), ("--ep", "2", "--tp", "2"), ("--ep", "2", "--pp", "2")):
    name = "".join(w.strip("-") + "-" for w in plan)
    case(f"{name}thread", plan, "uneven")
    case(f"{name}mpi", plan, "one", comm="mpi")
case("data-parallel-work", ("--dp", "2"), copies=1)
case("expert-parallel-work", ("--ep", "2"), copies=2)  # a rank has room for all choices
case("all-experts-chosen", (), chosen=EXPERTS)
case("uneven-tokens", ("--dp", "3"), "one", batch=7)
case("uneven-tokens-and-experts", ("--ep", "3"), "uneven", batch=7)
case("tokens-travel-by-mpi", ("--ep", "4"), "uneven", 1, "mpi", travels=4)
case("uneven-tokens-travel", ("--ep", "4"), "uneven", batch=7)
case("experts-over-two-axes", ("--dp", "2", "--cp", "2", "--ep", "4"), "uneven")
case("travel-within-stages", ("--ep", "4", "--pp", "2", "--microbatches", "2"), "half")
case("fewer-tokens-than-ranks", ("--ep", "4"), "uneven", batch=3)
case("experts-after-experts", ("--ep", "4"), "uneven", residual=False)
for seq in (1, 3):  # a partial sum of half of the ranks becomes one of all
    case(f"fewer-experts-than-ranks-{seq}", ("--ep", "8"), "any", 1, batch=1, experts=4, residual=False, seq=seq)
case("one-expert-per-rank", ("--ep", "4"), "half", experts=4)


if __name__ == "__main__":
    pcc.main(__doc__, CASES)
