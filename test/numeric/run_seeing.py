#!/usr/bin/env python3
"""Tests the reports of training (timelines of the planned and of the measured step, live activations, speed) and its data
(streams of tokens, positions in samples).

    run_seeing.py [--only GLOB] [--jobs N]
"""
import json
import os
import re
import shutil
import sys
import tempfile
import xml.etree.ElementTree as xml

import numpy as np
import executed
import pcc
from run_training import ADAM, MOMENTUM, Model, compare, train

CASES = {}


def case(name, *arguments):
    """Registers a case, which gets an empty folder and `arguments`."""
    def register(function):
        def run():
            with tempfile.TemporaryDirectory() as folder:
                function(folder, *arguments)
        CASES[" ".join([name, *map(str, arguments)])] = run
        return function
    return register


def expect(condition, what):
    if not condition:
        raise pcc.Failure(what)


def read_json(path):
    with open(path) as file:
        return json.load(file)


def tables(bundle):
    """Returns the actions of every rank as (stage, kind, microbatch)."""
    return [[(int(s), k, int(m)) for a in r["actions"] for s, k, m in [re.fullmatch(r"(\d+)([FBIW])(\d+)", a).groups()]]
            for r in pcc.inspect(bundle)["ranks"]]


def peak_live(table):
    """Returns by stage how many forward passes are in flight at once."""
    live, peak = {}, {}
    for stage, kind, _ in table:
        live[stage] = live.get(stage, 0) + {"F": 1, "B": -1, "W": -1}.get(kind, 0)
        peak[stage] = max(peak.get(stage, 0), live[stage])
    return peak


# ---- timelines -----------------------------------------------------------------------------------------------------------------


def rows_of(trace):
    """Returns by row: its name, complete events of actions, of kernels, of communication, memory."""
    rows = {}
    for event in read_json(trace)["traceEvents"]:
        row = rows.setdefault(event["pid"], {"actions": [], "kernels": [], "messages": [], "memory": [], "s": {}, "f": {}})
        if event["ph"] in "sf":
            row[event["ph"]][event["id"]] = event["ts"]
        if event["ph"] == "M" and event["name"] == "process_name":
            row["name"] = event["args"]["name"]
        if event["ph"] == "X":
            row["kernels" if event["cat"] == "kernel" else "messages" if event["tid"] else "actions"].append(event)
        if event["ph"] == "C":
            row["memory"].append(event["args"])
    return [rows[r] for r in sorted(rows)]


def check_row(row, table, what):
    """Checks that a row has the actions of its table, one after another, and that all communication has an end."""
    done = [e["name"] for e in row["actions"] if re.fullmatch(r"\d+[FBIW]\d+", e["name"])]
    expect(done == ["".join(map(str, a)) for a in table], f"{what}: {done[:8]}… instead of {table[:8]}…")
    free = 0
    for event in row["actions"]:
        expect(event["ts"] >= free - 0.01, f"{what}: {event['name']} begins before the last action has ended")
        free = event["ts"] + event["dur"]
    expect(all(e["dur"] >= 0 for e in row["messages"]), f"{what}: time runs backwards")
    expect(row["memory"] and all(b >= 0 for point in row["memory"] for b in point.values()), f"{what}: memory {row['memory'][:5]}")


def check_kernels(row):
    """Checks that kernels are slices below their action: on its track, within it, and one after another. Forward and backward
    actions have some, and products are among them."""
    for action in row["actions"]:
        end = action["ts"] + action["dur"] + 0.002
        within = [e for e in row["kernels"] if action["ts"] - 0.002 <= e["ts"] and e["ts"] + e["dur"] <= end]
        expect(within or action["name"][1] not in "FBIW", f"{row['name']}: {action['name']} has no kernels")
        for before, after in zip(within, within[1:]):
            expect(before["ts"] + before["dur"] <= after["ts"] + 0.002, f"{row['name']}: {before} and {after} overlap")
        for kernel in within:
            expect(not kernel.setdefault("action", "") and kernel["tid"] == 0, f"{kernel} is below two actions")
            kernel["action"] = action["name"]
    expect(all(kernel.get("action") for kernel in row["kernels"]), f"{row['name']}: a kernel is below no action")
    expect(any(kernel["name"].startswith("Matmul ") for kernel in row["kernels"]), f"{row['name']}: no product of a node")


def check_order(rows):
    """Checks all rows together: F of a stage follows F of the stage before, a gradient follows that of the next stage."""
    ends = {e["name"]: e["ts"] + e["dur"] for row in rows for e in row["actions"]}
    for row in rows:
        for event in row["actions"]:
            stage, kind, microbatch = re.fullmatch(r"(\d+)([A-Z]+)(\d*)", event["name"]).groups()
            names = {"F": [f"{int(stage) - 1}F{microbatch}"],
                     "B": [f"{int(stage) + 1}{k}{microbatch}" for k in "BI"] + [f"{stage}F{microbatch}"],
                     "I": [f"{int(stage) + 1}{k}{microbatch}" for k in "BI"] + [f"{stage}F{microbatch}"]}.get(kind, [])
            for name in names:
                expect(name not in ends or ends[name] <= event["ts"] + 0.01, f"{event['name']} begins before {name} has ended")


def in_bytes(text):
    """Returns the bytes that a text such as "1.53 MiB" names, and half a unit of its last digit."""
    number, unit = re.fullmatch(r"([\d.]+) ([KMGT]?i?B)", text).groups()
    scale = 1024 ** ["B", "KiB", "MiB", "GiB", "TiB"].index(unit)
    return float(number) * scale, 0.51 * 10 ** -len(number.partition(".")[2]) * scale


def check_memory(bundle, ranks, rows, svg):
    """Checks that all outlets tell the same memory of the given ranks, one for each row: JSON and text of inspect, trace and
    picture."""
    described = pcc.inspect(bundle)["ranks"]
    drawn = re.findall(r">([\d.]+ [KMG]?i?B)</text>", open(svg).read())
    for rank, row, picture in zip(ranks, rows, drawn, strict=True):
        told = described[rank]
        total = told["weight_bytes"] + told["state_bytes"] + told["arena_bytes"]
        used = max(point["gradients"] + point["activations"] for point in row["memory"])
        expect({point["weights"] for point in row["memory"]} == {told["weight_bytes"]}, f"rank {rank}: weights differ")
        expect({point["optimizer state"] for point in row["memory"]} == {told["state_bytes"]}, f"rank {rank}: state differs")
        expect(max(point["gradients"] for point in row["memory"]) <= told["gradient_bytes"], f"rank {rank}: more gradients")
        expect(0.6 * told["arena_lower_bound_bytes"] <= used <= told["arena_bytes"],
               f"rank {rank}: {used} bytes in use of {told['arena_bytes']}, at least {told['arena_lower_bound_bytes']}")
        text = pcc.succeed("inspect", bundle, "--rank", rank)
        for what, number in ("memory", total), ("weights", told["weight_bytes"]), ("state", told["state_bytes"]), ("arena", told["arena_bytes"]):
            shown = re.search(what + r" ([\d.]+ [KMG]?i?B)", text)
            expect(shown and abs(in_bytes(shown[1])[0] - number) <= in_bytes(shown[1])[1], f"rank {rank}: {what} {number}: {text[:600]}")
        value, rounding = in_bytes(picture)
        expect(abs(value - total) <= rounding, f"rank {rank}: the picture tells {picture}, right is {total}")


def check_idle(rows, svg):
    """Checks the idle share of each row of a picture: the time outside of actions, and in collectives and waits inside them."""
    drawn = [float(share) for share in re.findall(r">([\d.]+) % idle</text>", open(svg).read())]
    end = max(e["ts"] + e["dur"] for row in rows for e in row["actions"] + row["messages"])
    for row, share in zip(rows, drawn, strict=True):
        busy = sum(e["dur"] for e in row["actions"])
        for wait in row["messages"]:
            if "SEND" not in wait["name"] and "RECV" not in wait["name"]:
                busy -= sum(max(0, min(e["ts"] + e["dur"], wait["ts"] + wait["dur"]) - max(e["ts"], wait["ts"])) for e in row["actions"])
        expect(abs(100 * (1 - busy / end) - share) < 0.11, f"{row['name']}: {share} % idle, right is {100 * (1 - busy / end)}")


def check_outlets(bundle, rows, html):
    """Checks that inspect and the page tell the step of the trace: actions, memory, idle time."""
    step = pcc.inspect(bundle)["planned_step"]
    with open(html) as file:
        told = json.loads(re.search(r'id="data">(.*?)</script>', file.read(), re.S)[1])["sources"][0]
    expect(told["bundle"]["planned_step"] == step, "the page tells another step than inspect")
    explained = sum(t["received_bytes"] for t in told["explain"]["totals"] if t["position"] == 0)
    expect(explained == told["bundle"]["groups"][0]["received_bytes"], f"explain tells {explained} received bytes")
    for row, planned in zip(rows, step["rows"], strict=True):
        expect([e["name"] for e in row["actions"]] == [name for name, _, _ in planned["actions"]], f"{row['name']}: other actions")
        for event, (name, start, end) in zip(row["actions"], planned["actions"]):
            expect(abs(event["ts"] - 1e6 * start) < 0.01 and abs(event["dur"] - 1e6 * (end - start)) < 0.01, f"{name} has another time")
        used = max(gradients + activations for _, gradients, activations in planned["memory"])
        expect(used == max(p["gradients"] + p["activations"] for p in row["memory"]), f"{row['name']}: {used} bytes in use")
        expect({planned["weight_bytes"]} == {p["weights"] for p in row["memory"]}, f"{row['name']}: other weights")
        allocated = planned["weight_bytes"] + planned["state_bytes"] + planned["arena_bytes"]
        expect({allocated} == {sum(p.values()) for p in row["memory"]}, f"{row['name']}: the parts of the memory are not {allocated} bytes")


def check_arrows(rows, tables):
    """Checks that each stage but the last sends every microbatch to the next one, which receives it after it was sent."""
    stages = 1 + max(stage for table in tables for stage, _, _ in table)
    sent = {number: (i, ts) for i, row in enumerate(rows) for number, ts in row["s"].items()}
    received = {number: (i, ts) for i, row in enumerate(rows) for number, ts in row["f"].items()}
    expect(sent.keys() == received.keys(), f"{len(sent)} messages are sent, {len(received)} are received")
    expect(all(received[n][0] != i and received[n][1] >= ts for n, (i, ts) in sent.items()), "a message goes nowhere or back in time")
    least = sum(stage < stages - 1 and kind == "F" for table in tables for stage, kind, _ in table)
    expect(len(sent) >= least, f"{len(sent)} messages, at least {least} are needed")


def check_svg(path, num_rows, words):
    root = xml.parse(path).getroot()
    rows = [g for g in root.iter() if g.tag.endswith("}g")]
    text = " ".join(e.text or "" for e in root.iter())
    expect(len(rows) == num_rows, f"{path} has {len(rows)} rows, expected {num_rows}")
    for word in words:
        expect(word in text, f"{path} does not say '{word}'")


TIMELINES = ["pp=2,microbatches=4", "pp=2,microbatches=4,schedule=zb-v", "pp=2,microbatches=4,schedule=interleaved",
             "tp=2,pp=2,microbatches=4,schedule=zb-h1", "dp=2,preset=zero3,microbatches=2"]


def planned(folder, plan):
    """Tests files of a compilation: every position and every action; the same bytes every time."""
    model = Model("gpt2", folder)
    svg, trace, html = (os.path.join(folder, name) for name in ("step.svg", "step.json", "step.html"))
    contents = []
    for _ in range(2):
        bundle = model.compile("planned.pcc", plan + f",schedule-svg={svg},trace={trace},html={html}", ADAM)
        contents.append([open(f).read() for f in (svg, trace, html)])
    expect(contents[0] == contents[1], "the same command gives other files")
    rows, all_tables = rows_of(trace), tables(bundle)
    info = pcc.inspect(bundle)
    positions = info["mesh"].get("pp", 1)
    per_position = info["world"] // positions
    check_svg(svg, positions, [f"planned {info['schedule']} of {info['microbatches']} microbatches", "F forward", "activations", "optimizer state", "idle"])
    expect(len(rows) == positions, f"{len(rows)} rows")
    for position, row in enumerate(rows):
        check_row(row, all_tables[position * per_position], row["name"])
        expect(any(e["name"].startswith(f"{s}U") for s in range(positions * 2) for e in row["actions"]), "no update")
        expect(all(e["dur"] > 0 for e in row["actions"] if e["name"][1] in "FBIW"), "an action takes no time")
    expect(positions == 1 or all(row["messages"] for row in rows), "no messages")
    check_memory(bundle, range(0, info["world"], per_position), rows, svg)
    check_idle(rows, svg)
    check_order(rows)
    check_outlets(bundle, rows, html)


def measured(folder, plan, comm):
    """Tests files of a run, which have a row per rank."""
    model = Model("gpt2", folder)
    bundle, data = model.compile("run.pcc", plan, ADAM), model.data()
    svg, trace = os.path.join(folder, "step.svg"), os.path.join(folder, "step.json")
    train(bundle, data, 3, "--schedule-svg", svg, "--trace", trace, comm=comm)
    rows, all_tables = rows_of(trace), tables(bundle)
    check_svg(svg, len(all_tables), ["measured step 3", "F forward", "optimizer step", "gradients"])
    expect(len(rows) == len(all_tables), f"{len(rows)} rows of {len(all_tables)} ranks")
    for rank, (row, table) in enumerate(zip(rows, all_tables)):
        expect(row["name"] == f"rank {rank}", row["name"])
        check_row(row, table, row["name"])
        check_kernels(row)
        expect(len(rows) == 1 or row["messages"], f"{row['name']} does not communicate")
    check_memory(bundle, range(len(rows)), rows, svg)
    check_idle(rows, svg)
    check_arrows(rows, all_tables)
    if "dp" not in plan and "tp" not in plan:
        check_order(rows)
    left = [f for f in os.listdir(folder) if ".partial" in f]
    expect(not left, f"left behind: {left}")


for plan in TIMELINES:
    case("planned", plan)(planned)
    case("measured", plan, "thread")(measured)
case("measured", TIMELINES[3], "mpi")(measured)


@case("measured inference")
def measured_inference(folder):
    model = Model("gpt2", folder)
    bundle, trace = os.path.join(folder, "forward.pcc"), os.path.join(folder, "step.json")
    pcc.succeed(model.path, "-o", bundle, *pcc.dim_options(model.dims), "--pp", 2, "--microbatches", 4)
    pcc.succeed("run", bundle, "--random-inputs", 1, "--comm", "thread", "--trace", trace, "--repeat", 2)
    rows = rows_of(trace)
    for row, table in zip(rows, tables(bundle)):
        check_row(row, table, row["name"])
    check_order(rows)


@case("table of ranks", "thread")
@case("table of ranks", "mpi")
def table_of_ranks(folder, comm):
    """Tests that the table has a row per stage and one of the run, with the memory that inspect tells, in all formats."""
    model = Model("gpt2", folder)
    bundle = os.path.join(folder, "forward.pcc")
    pcc.succeed(model.path, "-o", bundle, *pcc.dim_options(model.dims), "--pp", 2, "--tp", 2, "--microbatches", 2)
    run = ["run", bundle, "--random-inputs", 1, "--comm", comm, "--repeat", 3]
    table = json.loads(pcc.succeed(*run, "--format", "json"))
    expect(table["steps"] == 3 and [row["ranks"] for row in table["ranks"]] == ["0-1", "2-3", "all"], f"{table}")
    told = pcc.inspect(bundle)["ranks"]
    for row, ranks in zip(table["ranks"], (told[:2], told[2:], told)):
        for field in "weight_bytes", "state_bytes", "arena_bytes":
            expect(row[field] == max(rank[field] for rank in ranks), f"{row['ranks']}: {field} {row[field]}")
        expect(0 < row["min_seconds"] <= row["median_seconds"] <= row["p90_seconds"] <= row["p99_seconds"] <= row["max_seconds"], f"{row}")
        expect(abs(row["compute"] + row["idle"] - 1) < 1e-6 and row["collectives"] <= row["idle"] + 1e-6, f"{row}")
    lines = pcc.succeed(*run, "--format", "csv").splitlines()
    expect([line.split(",")[0] for line in lines] == ["ranks", "0-1", "2-3", "all"], f"{lines}")
    expect(pcc.succeed(*run, "--format", "md").startswith("| ranks | stages |"), "no Markdown")
    code, out, err = pcc.call(*run)
    expect(code == 0 and not out and len(err.splitlines()) == 5 and "median of 3 steps" in err.splitlines()[-1], f"{out} {err}")
    expect(pcc.call(*run, "-q") == (0, "", ""), "not quiet")
    code, _, err = pcc.call(*run, "--format", "cvs")
    expect(code == 2 and "csv" in err, err)


@case("weights of stages")
def weights_of_stages(folder):
    """Tests that optimizer state is no weight: the weights of all stages are those of inference."""
    model, stages = Model("gpt2", folder), []
    options = [*pcc.dim_options(model.dims), "--pp", 2, "--tp", 2, "--microbatches", 2, "-q"]
    for name, optimizer in ("forward", []), ("sgd", ["--optimizer", "sgd"]), ("adamw", ["--optimizer", "adamw"]):
        bundle = os.path.join(folder, f"{name}.pcc")
        pcc.succeed(model.path, "-o", bundle, *options, *(["--train", "--loss", "cross_entropy(logits, labels)", *optimizer] if optimizer else []))
        stages.append([stage["weight_bytes"] for stage in pcc.inspect(bundle)["stages"]])
    expect(stages[0] == stages[1] == stages[2] and all(stages[0]), f"weights of the stages: {stages}")


@case("timelines that cannot be written")
def timelines_refused(folder):
    model = Model("mlp", folder)
    bundle = model.compile("run.pcc", "pp=2", MOMENTUM)
    absent = os.path.join(folder, "absent", "step.svg")
    for arguments, wanted in (([model.path, *model.options, "-o", bundle, "--schedule-svg", absent], 7),
                              ([model.path, *model.options, "-o", bundle, "--trace", folder], 7),
                              ([model.path, *model.options, "--trace", "t.json", "--stop-after", "6"], 2),
                              (["run", bundle, "--comm", "thread", "--data", model.data(), "--schedule-svg", absent], 7)):
        code, _, err = pcc.call(*arguments)
        expect(code == wanted and ": cannot write" in err or code == wanted == 2, f"exit code {code} instead of {wanted}: {err[-300:]}")


# ---- tables of one's own -------------------------------------------------------------------------------------------------------

TABLES = {"backwards from the last": "0F0,0F1,0F2,0F3,0B3,0B2,0B1,0B0\n1F0,1F1,1F2,1F3,1B3,1B2,1B1,1B0\n",
          "the last stage on the first rank": "1F0,1B0,1F1,1B1,1F2,1B2,1F3,1B3\n0F0,0F1,0B0,0F2,0B1,0F3,0B2,0B3\n",
          "one stage split, the other partly": "0F0,0F1,0F2,0B0,0I1,0F3,0B2,0W1,0B3\n1F0,1B0,1F1,1B1,1F2,1B2,1F3,1B3\n",
          "two stages per rank": "0F0,0F1,2F0,2B0,0F2,2F1,2B1,0B0,0B1,0F3,2F2,2B2,0B2,2F3,2B3,0B3\n"
                                 "1F0,1F1,3F0,3B0,1B0,1F2,3F1,3B1,1B1,1F3,3F2,3B2,1B2,3F3,3B3,1B3\n"}


def own_table(folder, name):
    """Tests a table that no generator makes: it computes the same as one rank, simulated and executed, and is exported
    unchanged."""
    model, path = Model("gpt2", folder), os.path.join(folder, "own.csv")
    with open(path, "w") as file:
        file.write(TABLES[name])
    options = [*model.options, *ADAM, "--pp", "2", "--schedule", path]
    executed.verify(model.path, *options)
    data = model.data()
    alone = train(model.compile("one.pcc", "", ADAM), data, 3)
    bundle = model.compile("own.pcc", f"pp=2,schedule={path}", ADAM)
    compare(train(bundle, data, 3), alone)
    if "split" not in name:
        expect(pcc.succeed("inspect", bundle, "--schedule") == TABLES[name], "another table is exported")


for name in TABLES:
    case("own table", name)(own_table)

# ---- live activations and speed ------------------------------------------------------------------------------------------------


def live(folder, pp, microbatches, schedule):
    """Tests that the run reports the counts of the table, in the report and in the metrics; under 1F1B they are min(p - s, m)."""
    model = Model("mlp", folder)
    bundle = model.compile("live.pcc", f"pp={pp},microbatches={microbatches},schedule={schedule}", MOMENTUM)
    metrics = os.path.join(folder, "metrics.jsonl")
    train(bundle, model.data(), 2, "--metrics", metrics, "--peak-flops", "1e9")
    counted = {int(s): n for r in read_json(bundle + ".json")["ranks"] for s, n in r["peak_live_activations"].items()}
    planned = {s: n for t in tables(bundle) for s, n in peak_live(t).items()}
    expect(counted == planned, f"counted {counted}, planned {planned}")
    if schedule == "1f1b":
        expect(counted == {s: min(pp - s, microbatches) for s in range(pp)}, f"counted {counted}")
    with open(metrics) as file:
        lines = [json.loads(line) for line in file]
    expect([line["peak_live_activations"] for line in lines] == [[planned[s] for s in sorted(planned)]] * 2, str(lines))
    flops = sum(s["flops"] for s in pcc.inspect(bundle)["stages"])
    for line in lines:
        expect(np.isclose(line["mfu"] * line["seconds"] * 1e9 * pp, flops, rtol=1e-6), f"mfu {line['mfu']} of {flops} operations")
        expect(np.isclose(line["samples_per_second"] * line["seconds"], 8) and "tokens_per_second" not in line, str(line))
    expect([line["samples"] for line in lines] == [8, 16], str(lines))


for pp, microbatches in ((1, 2), (2, 1), (2, 4), (4, 2), (4, 8)):
    for schedule in ("1f1b", "gpipe", "zb-h1", "naive"):
        case("live", pp, microbatches, schedule)(live)
for schedule in ("interleaved", "zb-v"):
    case("live", 2, 4, schedule)(live)


@case("speed in tokens")
def speed_in_tokens(folder):
    """Tests that the line on stdout is unchanged, and that there is no mfu without a peak."""
    model = Model("gpt2", folder)
    bundle, metrics = model.compile("one.pcc", "", ADAM), os.path.join(folder, "metrics.jsonl")
    out = pcc.succeed("run", bundle, "--data", model.data(), "--steps", 2, "--comm", "thread", "--metrics", metrics)
    expect(re.fullmatch(r"(step \d loss \S+ grad_norm \S+ lr \S+\n){2}", out), out)
    with open(metrics) as file:
        line = json.loads(file.readline())
    tokens = np.prod(list(model.dims.values()))
    expect(np.isclose(line["tokens_per_second"] * line["seconds"], tokens) and "mfu" not in line, str(line))


@case("peak of the cluster file")
def peak_of_cluster(folder):
    model = Model("gpt2", folder)
    cluster, metrics = os.path.join(folder, "cluster.toml"), os.path.join(folder, "metrics.jsonl")
    with open(cluster, "w") as file:
        file.write("[device]\npeak_tflops = { fp32 = 0.001 }\n")
    bundle = model.compile("one.pcc", f"cluster={cluster}", ADAM)
    pcc.succeed("run", bundle, "--data", model.data(), "--comm", "thread", "--metrics", metrics)
    line, flops = read_json(metrics), sum(s["flops"] for s in pcc.inspect(bundle)["stages"])
    expect(np.isclose(line["mfu"] * line["seconds"] * 1e9, flops, rtol=1e-6), str(line))


# ---- tokens and samples --------------------------------------------------------------------------------------------------------


def write_tokens(folder, count, kind="u16", seed=3):
    path = os.path.join(folder, f"tokens.{kind}")
    tokens = np.random.default_rng(seed).integers(0, 37, count).astype("<u2" if kind == "u16" else "<u4")
    tokens.tofile(path)
    return path, tokens.astype("i8")


def windows(folder, tokens, batch, length, steps):
    """Returns the steps of a stream as arrays: sample n begins at token n * length."""
    count = (len(tokens) - 1) // length
    samples = [n % count for n in range(steps * batch)]
    cut = np.stack([tokens[n * length:n * length + length + 1] for n in samples]).reshape(steps, batch, length + 1)
    data = os.path.join(folder, f"windows-{batch}-{steps}")
    os.makedirs(data)
    np.save(os.path.join(data, "input_ids.npy"), cut[..., :-1])
    np.save(os.path.join(data, "labels.npy"), cut[..., 1:])
    return data


def tokens_on_plan(folder, plan, kind):
    """Tests four steps of 8 samples from a stream of 13: they equal arrays on one rank."""
    model = Model("gpt2", folder)
    batch, length = model.dims.values()
    path, tokens = write_tokens(folder, 13 * length + 3, kind)
    data = windows(folder, tokens, batch, length, 4)
    inputs = [i["name"] for i in pcc.inspect(model.compile("one.pcc", "", ADAM))["inputs"]]
    expect(sorted(inputs) == ["input_ids", "labels"], str(inputs))
    alone = train(os.path.join(folder, "one.pcc"), data, 4)
    expect(alone[0][1] != alone[2][1], "all steps are alike")
    compare(train(model.compile("many.pcc", plan, ADAM), path, 4, "--tokens", kind), alone)


for plan, kind in (("dp=2", "u16"), ("pp=2,microbatches=4", "u32"), ("tp=2,pp=2,dp=2", "u16"), ("cp=2", "u16")):
    case("tokens", plan, kind)(tokens_on_plan)


@case("tokens that do not fit")
def tokens_refused(folder):
    model = Model("gpt2", folder)
    bundle = model.compile("one.pcc", "", ADAM)
    path, tokens = write_tokens(folder, 100)
    short, odd, large = (os.path.join(folder, n) for n in ("short", "odd", "large"))
    tokens[:6].astype("<u2").tofile(short)
    with open(odd, "wb") as file:
        file.write(b"123")
    np.full(100, 37, "<u2").tofile(large)
    for code, mention, *options in (
            (2, "--tokens u16 or u32", "--data", path),
            (2, "is a directory", "--data", folder, "--tokens", "u16"),
            (2, "needs --data FILE.bin", "--tokens", "u16"),
            (10, "has 6 tokens, but a sample takes 7", "--data", short, "--tokens", "u16"),
            (10, "has 3 bytes", "--data", odd, "--tokens", "u16"),
            (10, "it has no input for the tokens", "--data", path, "--tokens", "u16", "--input", f"input_ids={path}"),
            (10, "37", "--data", large, "--tokens", "u16"),
            (7, "absent", "--data", os.path.join(folder, "absent"), "--tokens", "u16")):
        got, _, err = pcc.call("run", bundle, "--comm", "thread", *options)
        expect(got == code and mention in err, f"exit code {got} instead of {code}: {err.strip()[-400:]}")
    mlp = Model("mlp", os.path.join(folder, "mlp"))
    got, _, err = pcc.call("run", mlp.compile("mlp.pcc", "", MOMENTUM), "--comm", "thread", "--data", path, "--tokens", "u16")
    expect(got == 10 and "its inputs are" in err and "the labels" in err, f"exit code {got}: {err.strip()[-400:]}")


def another_batch(folder, form):
    """Tests three steps of 4 samples, then steps of 8: these continue with sample 12, and the last one wraps around in its
    middle."""
    model = Model("gpt2", folder)
    length, saved = model.dims["seq"], os.path.join(folder, "saved")
    path, tokens = write_tokens(folder, 24 * length + 1)
    eight = model.compile("eight.pcc", "dp=2", ADAM)
    model.options = [o.replace("batch=8", "batch=4") for o in model.options]
    train(model.compile("four.pcc", "pp=2", ADAM), windows(folder, tokens, 4, length, 3), 3, "--save", saved)
    # The reference does not wrap around: it holds samples 12 to 27 at their places, and zeros before.
    data = windows(folder, tokens, 8, length, 4)
    for name in ("input_ids", "labels"):
        array = np.load(os.path.join(data, name + ".npy")).reshape(-1, length)
        array[:12] = 0
        np.save(os.path.join(data, name + ".npy"), array.reshape(4, 8, length))
    want = train(eight, data, 2, "--resume", saved)
    options = (path, 2, "--tokens", "u16") if form == "tokens" else (windows(folder, tokens, 8, length, 3), 2)
    compare(train(eight, *options, "--resume", saved), want, tolerance=1e-6)
    expect(want[0][0] == 4, f"goes on with step {want[0][0]}")


for form in ("tokens", "arrays"):
    case("another batch", form)(another_batch)

SCALED = """module {{
  graph.parameter @w : tensor<3x3xf32>
  func.func @main(%x: tensor<{batch}x3xf32> {{graph.name = "x"}}, %s: tensor<3xf32> {{graph.name = "s"}})
      -> (tensor<{batch}x3xf32> {{graph.name = "y"}}) {{
    %w = graph.get_parameter @w : tensor<3x3xf32>
    %h = graph.matmul %x, %w : tensor<{batch}x3xf32>, tensor<3x3xf32>
    %y = graph.mul %h, %s : tensor<{batch}x3xf32>, tensor<3xf32>
    return %y : tensor<{batch}x3xf32>
  }}
}}
"""


@case("a step that cannot be cut")
def step_not_cut(folder):
    """Tests an input s that is one tensor for all samples of a step: no step can begin with sample 4 if steps have 8."""
    saved, bundles, data = os.path.join(folder, "saved"), {}, {}
    for batch in (4, 8):
        path, bundles[batch], data[batch] = (os.path.join(folder, f"{batch}{e}") for e in (".mlir", ".pcc", ""))
        with open(path, "w") as file:
            file.write(SCALED.format(batch=batch))
        pcc.succeed(path, "-o", bundles[batch], "--random-weights", 1, "--train", "--loss", "mse(y, labels)")
        os.makedirs(data[batch])
        for name, shape in (("x", (batch, 3)), ("s", (3,)), ("labels", (batch, 3))):
            np.save(os.path.join(data[batch], name + ".npy"), np.ones((2, *shape), "f4"))
    train(bundles[4], data[4], 1, "--save", saved)
    code, _, err = pcc.call("run", bundles[8], "--comm", "thread", "--data", data[8], "--resume", saved)
    expect(code == 10 and "cannot continue at sample 4: input 's'" in err, f"exit code {code}: {err.strip()[-400:]}")
    train(bundles[4], data[4], 1, "--resume", saved)


# ---- saving in the background --------------------------------------------------------------------------------------------------


@case("save in the background")
def background(folder):
    """Tests that the losses are equal, every checkpoint is complete, and a resumed run continues."""
    model = Model("gpt2", folder)
    data, plan = model.data(), model.compile("plan.pcc", "dp=2,preset=zero1", ADAM)
    whole = train(plan, data, 4)
    saved = os.path.join(folder, "saved")
    compare(train(plan, data, 2, "--save", saved, "--save-every", 1, "--save-in-background"), whole[:2], tolerance=1e-6)
    expect(sorted(os.listdir(saved)) == ["latest", "step-00000001", "step-00000002"], str(os.listdir(saved)))
    compare(train(plan, data, 2, "--resume", saved), whole[2:], tolerance=1e-6)
    compare(train(plan, data, 3, "--resume", os.path.join(saved, "step-00000001")), whole[1:], tolerance=1e-6)


@case("background saves that fail")
def background_fails(folder):
    """Tests files that cannot grow, as on a full disk: the run exits with 7, and the checkpoint before can be loaded."""
    model = Model("gpt2", folder)
    data, bundle, saved = model.data(), model.compile("one.pcc", "", ADAM), os.path.join(folder, "saved")
    whole = train(bundle, data, 4)
    train(bundle, data, 1, "--save", saved)
    limited = ["bash", "-c", "trap '' XFSZ; ulimit -f 8; exec \"$@\"", "limited", pcc.PCC]
    code, _, err = pcc.call("run", bundle, "--comm", "thread", "--data", data, "--steps", 200, "--resume", saved, "--save", saved,
                            "--save-every", 1, "--save-in-background", command=limited)
    expect(code == 7 and "cannot write" in err, f"exit code {code}: {err.strip()[-400:]}")
    expect(sorted(os.listdir(saved)) == ["latest", "step-00000001"], str(os.listdir(saved)))
    compare(train(bundle, data, 3, "--resume", saved), whole[1:], tolerance=1e-6)


@case("background saves of a run that is killed")
def background_killed(folder):
    """Tests SIGKILL while a save may be in progress: the checkpoint can be loaded, and the curve continues."""
    model = Model("gpt2", folder)
    data, bundle, saved = model.data(), model.compile("one.pcc", "", ADAM), os.path.join(folder, "saved")
    whole = train(bundle, data, 4)
    for attempt in range(6):
        # Waits until the first save is complete, at most a minute, and a little longer each time.
        killed = ["bash", "-c", f"\"$@\" & for i in {{1..6000}}; do [ -e '{saved}/latest' ] && break; sleep 0.01; done;"
                  f" sleep 0.0{attempt}; kill -9 $!; wait", "killed", pcc.PCC]
        pcc.call("run", bundle, "--comm", "thread", "--data", data, "--steps", 100000, "--save", saved, "--save-every", 1,
                 "--save-in-background", command=killed)
        with open(os.path.join(saved, "latest")) as file:
            step = int(file.read().strip()[len("step-"):])
        got = train(bundle, data, 1, "--resume", saved)
        expect(got[0][0] > step, f"went on with step {got[0][0]} of {step}")
        if step < len(whole):
            compare(got, whole[step:step + 1], tolerance=1e-6)
        shutil.rmtree(saved)


if __name__ == "__main__":
    pcc.main(__doc__, CASES)
