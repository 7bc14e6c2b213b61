#!/usr/bin/env python3
"""Tests com.microsoft's MoE with every activation and layout of weights: the ranks, one or several with divided experts,
compute the same as ONNX Runtime's CPU kernel, or as the formula of the operator's documentation if that kernel lacks a form.

    run_moe_op.py [--only GLOB] [--jobs N]
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

TOKENS, SIZE, INNER, EXPERTS = 12, 10, 7, 6
CASES = {}


def draw(swiglu_fusion=0, third=False, bias=True, shape=(TOKENS, SIZE), dtype="f4", **_):
    random = np.random.RandomState(3)
    rows = INNER * (2 if swiglu_fusion else 1)
    values = {"x": random.standard_normal(shape), "router": 2 * random.standard_normal((int(np.prod(shape[:-1])), EXPERTS))}
    values["fc1"], values["fc2"] = (random.standard_normal((EXPERTS, *s)) / 3 for s in ((rows, SIZE), (SIZE, INNER)))
    if bias:
        values["b1"], values["b2"] = (random.standard_normal((EXPERTS, s)) for s in (rows, SIZE))
    if third:
        values["fc3"] = random.standard_normal((EXPERTS, INNER, SIZE)) / 3
        if bias:
            values["b3"] = random.standard_normal((EXPERTS, INNER))
    return {k: v.astype(dtype) for k, v in values.items()}


def save(values, path, **attributes):
    order = ("x", "router", "fc1", "b1", "fc2", "b2", "fc3", "b3")
    names = [n if n in values else "" for n in order]
    while not names[-1]:
        names.pop()
    info = lambda n: helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(values["x"].dtype), values[n].shape if n in values else values["x"].shape)
    node = helper.make_node("MoE", names, ["y"], name="moe", domain="com.microsoft", **attributes)
    graph = helper.make_graph([node], "g", [info("x"), info("router")], [info("y")],
                              [numpy_helper.from_array(v, n) for n, v in values.items() if n not in ("x", "router")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)], ir_version=10), path)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def activate(kind, h, third, swiglu_fusion, swiglu_limit=np.inf, activation_alpha=1.0, activation_beta=0.0):
    if kind != "swiglu":
        result = {"relu": np.maximum(h, 0), "identity": h, "silu": h * sigmoid(h),
                  "gelu": h / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (h + 0.044715 * h ** 3)))}[kind]
        return result if third is None else result * third
    gate, line = {0: lambda: (h, third), 1: lambda: (h[..., ::2], h[..., 1::2]), 2: lambda: np.split(h, 2, -1)}[swiglu_fusion]()
    gate, line = np.minimum(gate, swiglu_limit), np.clip(line, -swiglu_limit, swiglu_limit)
    return gate * sigmoid(activation_alpha * gate) * (line + activation_beta)


def formula(values, k=1, normalize_routing_weights=0, activation_type="relu", swiglu_fusion=0, **unit):
    v = {n: a.astype("f8") for n, a in values.items()}
    x = v["x"].reshape(-1, SIZE)
    linear = lambda h, w, b: h @ v[w].transpose(0, 2, 1) + (v[b][:, None] if b in v else 0)
    hidden = activate(activation_type, linear(x, "fc1", "b1"), linear(x, "fc3", "b3") if "fc3" in v else None, swiglu_fusion, **unit)
    chance = np.exp(v["router"] - v["router"].max(-1, keepdims=True))
    chance /= chance.sum(-1, keepdims=True)
    best = np.argsort(-chance, -1, kind="stable")[:, :k]
    gate = np.zeros_like(chance)
    np.put_along_axis(gate, best, np.take_along_axis(chance, best, -1), -1)
    if normalize_routing_weights:
        gate /= gate.sum(-1, keepdims=True)
    return np.einsum("te,etd->td", gate, linear(hidden, "fc2", "b2")).reshape(v["x"].shape)


def expectation(path, values, by_kernel, attributes):
    free = {n: values[n] for n in ("x", "router")}
    return oracle.run(path, free)["y"] if by_kernel else formula(values, **attributes).astype(values["x"].dtype)


def check(plan, by_kernel, tolerance, form, attributes):
    with tempfile.TemporaryDirectory() as folder:
        at = lambda name: os.path.join(folder, name)
        values = draw(attributes.get("swiglu_fusion", 0), **form)
        save(values, at("m.onnx"), **attributes)
        feeds = executed.feed(folder, {name: values[name] for name in ("x", "router")})
        executed.verify(at("m.onnx"), *plan, *feeds)
        pcc.succeed(at("m.onnx"), "-o", at("b.pcc"), *plan)
        executed.compare(executed.outputs(at("b.pcc"), feeds, folder), {"y": expectation(at("m.onnx"), values, by_kernel, attributes)}, tolerance)


def case(name, by_kernel=True, form=None, plans=(("--ep", "1"), ("--ep", "2"), ("--ep", "4", "--tp", "2")), tolerance=1e-5, **attributes):
    for plan in plans:
        CASES[f"{name} {' '.join(plan)}"] = lambda plan=plan: check(plan, by_kernel, tolerance, form or {}, attributes)


case("defaults")
for kind in ("relu", "gelu", "silu", "identity"):
    case(kind, k=2, activation_type=kind)
    case(f"{kind}-gated", by_kernel=False, form=dict(third=True), k=2, activation_type=kind)
case("normalised", k=3, normalize_routing_weights=1, activation_type="silu")
case("all-experts", k=EXPERTS)
case("no-bias", form=dict(bias=False), k=2)
case("three-dims", form=dict(shape=(3, 4, SIZE)), plans=(("--tp", "2"),), k=2)
UNIT = dict(k=2, activation_type="swiglu", swiglu_limit=0.5, activation_alpha=1.7, activation_beta=1.0)
case("swiglu-pairs", k=2, activation_type="swiglu", swiglu_fusion=1)
case("swiglu-pairs-limited", swiglu_fusion=1, **UNIT)
case("swiglu-halves", by_kernel=False, k=2, activation_type="swiglu", swiglu_fusion=2)
case("swiglu-halves-limited", by_kernel=False, swiglu_fusion=2, **UNIT)
case("swiglu-apart", by_kernel=False, form=dict(third=True), swiglu_fusion=0, **UNIT)
case("half", form=dict(dtype="f2"), by_kernel=False, tolerance=1e-2, k=2, activation_type="silu")


def refuse(code, text, change, attributes):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "m.onnx")
        values = draw(**attributes)
        change(values)
        save(values, path, **attributes)
        got, _, err = pcc.call(path, "-o", os.path.join(folder, "b.pcc"))
        if got != code or text not in err or "'moe'" not in err:
            raise pcc.Failure(f"exit code {got}, not {code} with '{text}': {err.strip()}")


def refused(name, code, text, change=lambda values: None, **attributes):
    CASES[f"refused {name}"] = lambda: refuse(code, text, change, attributes)


refused("mixer", 4, "routes by a sparse mixer", use_sparse_mixer=1)
refused("activation", 4, "activation_type is 'tanh', not relu, gelu, silu, swiglu or identity", activation_type="tanh")
refused("fusion", 4, "swiglu_fusion is 3, not 0, 1 or 2", activation_type="swiglu", swiglu_fusion=3)
refused("too-many", 3, "chooses 9 of 6 experts", k=9)
refused("no-gate", 3, "no fc3_experts_weights", activation_type="swiglu")
refused("two-gates", 3, "although swiglu_fusion is 1", lambda v: v.update(fc3=v["fc2"].transpose(0, 2, 1).copy()),
        activation_type="swiglu", swiglu_fusion=1)
refused("bias", 3, "operand 3 of shape [6, 3], not [6, 7]", lambda v: v.update(b1=v["b1"][:, :3].copy()))
refused("weight", 3, "operand 2 of shape [6, 10, 7], not [6, 7, 10]", lambda v: v.update(fc1=v["fc1"].transpose(0, 2, 1).copy()))
refused("router", 3, "operand 1 of shape [5, 6], not [12, 6]", lambda v: v.update(router=v["router"][:5].copy()))


if __name__ == "__main__":
    pcc.main(__doc__, CASES)
