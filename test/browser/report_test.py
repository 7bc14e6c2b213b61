#!/usr/bin/env python3
"""Tests the pages of --html and of pcc report in a browser: nothing is said on the console, nothing is cut or overlaps, numbers are
those of inspect and explain, tooltips, zoom and search work.

    report_test.py [--only GLOB] [--keep FOLDER]

--keep also writes a screenshot of each page, at each width, in light and in dark.
"""
import argparse
import fcntl
import fnmatch
import html
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "test", part) for part in ("browser", "numeric", "models")]
import numpy as np
import onnx
import pcc
from browser import Browser
from run_training import ADAM, Model

WIDTHS = (390, 1280, 2560)
LAYOUT = open(os.path.join(ROOT, "test", "browser", "layout.js"), encoding="utf-8").read()
CASES = {}


def case(function):
    CASES[function.__name__.replace("_", " ")] = function
    return function


def expect(condition, what):
    if not condition:
        raise pcc.Failure(what)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def in_bytes(number):
    """Returns bytes as pcc prints them."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if number < 1024:
            return f"{number:.1f} {unit}" if unit != "B" else f"{number} B"
        number /= 1024
    return f"{number:.1f} TiB"


class Pages:
    """The folder of the test, its models, and the browser."""

    def __init__(self, browser, folder, keep):
        self.browser, self.folder, self.keep = browser, folder, keep
        self.model = Model("gpt2", folder)
        self.train = [self.model.path, *self.model.options, *ADAM, "-q", "--cpu", "native"]
        self.plan = [*self.train, "--tp", "2", "--pp", "2", "--microbatches", "4"]
        self.bundle, self.planned = self.path("plan.pcc"), self.path("plan.html")
        pcc.succeed(*self.plan, "-o", self.bundle, "--html", self.planned)

    def path(self, name):
        return os.path.join(self.folder, name)

    def look(self, path, sections):
        """Opens a page at all widths, in light and dark, and checks its layout and that it has `sections` and no other."""
        seconds = self.browser.open(path)
        for scheme in ("light", "dark"):
            self.browser.prefer(scheme)
            for width in WIDTHS:
                self.browser.resize(width)
                problems = self.browser.run(LAYOUT) + self.browser.problems
                expect(not problems, f"{os.path.basename(path)} at {width} px: " + "; ".join(problems))
                if self.keep:
                    name = os.path.splitext(os.path.basename(path))[0]
                    self.browser.screenshot(os.path.join(self.keep, f"{name}-{width}-{scheme}.png"))
        self.browser.prefer("light")
        self.browser.resize(1280)
        found = self.browser.run("[...document.querySelectorAll('section')].map(part => part.id)")
        expect(sorted(found) == sorted(sections), f"{os.path.basename(path)} has the sections {found}, expected {sections}")
        return seconds

    def box(self, selector):
        """Returns left, top, width and height of an element, which is scrolled into view."""
        found = f"document.querySelector({json.dumps(selector)})"
        self.browser.run(f"{found}.scrollIntoView({{block: 'center'}})")
        self.browser.settle()
        return self.browser.run(f"(b => [b.left, b.top, b.width, b.height])({found}.getBoundingClientRect())")

    def card(self, name):
        return self.browser.run(f"[...document.querySelectorAll('.card')].filter(c => c.querySelector('dt').textContent === {json.dumps(name)})"
                                ".map(c => c.querySelector('.big').textContent)[0]")


PLAN = ["timeline", "memory", "communication", "stages", "shards"]
WHY = ["reasons", "graph"]


@case
def the_plan(pages):
    """Every section of a compiled plan, and the same bytes for the same command."""
    pages.look(pages.planned, PLAN + WHY)
    first = read(pages.planned)
    pcc.succeed(*pages.plan, "-o", pages.bundle, "--html", pages.planned)
    expect(read(pages.planned) == first, "the same command gives another page")
    expect("</script" not in first.partition('id="data">')[2].partition("</script>")[0], "the data ends early")


@case
def numbers_of_inspect(pages):
    """Cards and sums equal those of inspect, explain, and the picture."""
    pages.browser.open(pages.planned)
    told, explained = pcc.inspect(pages.bundle), pcc.explain(*[w for w in pages.plan if w != "-q"])
    ranks = told["ranks"]
    expect(pages.card("memory") == in_bytes(max(r["weight_bytes"] + r["state_bytes"] + r["arena_bytes"] for r in ranks)), pages.card("memory"))
    expect(pages.card("received") == in_bytes(max(r["received_bytes"] for r in ranks)), pages.card("received"))
    expect(pages.card("ranks") == str(told["world"]), pages.card("ranks"))
    expect(pages.card("kernels") == str(told["kernels"]["unique"]), pages.card("kernels"))
    received = pages.browser.run("(s => s.bundle.stages.map(each => receivedByStage(s, each.stage)))(JSON.parse(data.textContent).sources[0])")
    expect(received == [ranks[s["ranks"][0]]["received_bytes"] for s in told["stages"]], f"stages receive {received}")
    by_block = pages.browser.run("(s => sum(rowsByBlock(collectivesOf(s)).map(row => row.total * (row.count || 1))))(JSON.parse(data.textContent).sources[0])")
    calls = {"microbatch": told["microbatches"], "step": 1}
    total = sum(c["count"] * calls[c["per"]] * c["received_bytes"] for c in told["collectives"])
    by_axis = pages.browser.run("(s => sum(axisRows(s).filter(row => row.name !== 'pp').map(row => row.total)))(JSON.parse(data.textContent).sources[0])")
    expect(by_block == by_axis == total, f"by block {by_block}, by axis {by_axis}, inspect {total}")
    expect(by_block == sum(t["received_bytes"] for t in explained["totals"] if t["axes"] != "pp"), "explain has another sum")
    step = told["planned_step"]
    idle = sum(r["idle_seconds"] for r in step["rows"]) / step["seconds"] / len(step["rows"])
    expect(pages.card("idle") == f"{100 * idle:.0f} %", f"{pages.card('idle')}, right is {idle}")
    shown = pages.browser.run("[...document.querySelectorAll('#timeline svg text')].map(t => t.textContent).filter(t => t.endsWith('idle'))")
    expect(shown == [f"{100 * r['idle_seconds'] / step['seconds']:.0f} % idle" for r in step["rows"]], str(shown))


@case
def tips_zoom_search(pages):
    browser = pages.browser
    browser.open(pages.planned)
    browser.resize(1280)
    for selector, words in (("#timeline rect.action", "forward"), ("#memory rect.memory", "optimizer state"), ("#stages .bar i", "stage 0"),
                            ("#communication .bar i", "in "), ("#shards .parts svg", "rank 0 holds"), ("#graph rect.node", "on one rank")):
        left, top, width, height = pages.box(selector)
        browser.mouse("mouseMoved", left + width / 2, top + height / 2)
        tip = browser.run("document.getElementById('tip').hidden ? '' : document.getElementById('tip').textContent")
        expect(words in tip, f"the tip of {selector} is '{tip}'")
    shown = "[...document.querySelectorAll('#timeline rect.action')].map(box => Number(box.getAttribute('width')))"
    axis = "[...document.querySelectorAll('#timeline text.small')].map(text => text.textContent).join()"
    before, times, memory = max(browser.run(shown)), browser.run(axis), browser.run("document.querySelector('#memory path').getAttribute('d')")
    left, top, width, height = pages.box("#timeline .plot")
    browser.mouse("mouseWheel", left + width / 2, top + height / 2, deltaX=0, deltaY=-400)
    expect(max(browser.run(shown)) > 1.5 * before and browser.run(axis) != times, "the wheel does not zoom")
    expect(browser.run("document.querySelector('#memory path').getAttribute('d')") != memory, "memory keeps another part of the step")
    expect(not browser.run(LAYOUT), f"zoomed: {browser.run(LAYOUT)}")
    zoomed = browser.run(axis)
    browser.mouse("mousePressed", left + width / 2, top + 10, button="left", buttons=1, clickCount=1)
    browser.mouse("mouseMoved", left + width / 2 - 90, top + 10, button="left", buttons=1)
    browser.mouse("mouseReleased", left + width / 2 - 90, top + 10, button="left", clickCount=1)
    expect(browser.run(axis) != zoomed, "dragging does not move")
    press = "document.querySelectorAll('#timeline button')[{}].click()"
    browser.run(press.format(2))
    browser.settle()
    expect(browser.run(axis) == times, "'whole step' does not show the whole step")
    browser.run(press.format(0))
    browser.settle()
    expect(browser.run(axis) != times, "'+' does not zoom")
    browser.run(press.format(2))
    browser.settle()
    browser.send("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 2})
    for kind, reach in (("touchStart", 40), ("touchMove", 60), ("touchMove", 120), ("touchMove", 160), ("touchEnd", None)):
        points = [{"x": left + width / 2 + side * reach, "y": top + height / 2, "id": side + 1} for side in (-1, 1)] if reach else []
        browser.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        browser.settle()
    browser.send("Emulation.setTouchEmulationEnabled", {"enabled": False})
    expect(browser.run(axis) != times, "a pinch does not zoom")
    browser.run("search = document.querySelector('#shards input'); search.value = 'h.1*c_attn.weight'; search.dispatchEvent(new Event('input'))")
    names = browser.run("[...document.querySelectorAll('.shard code')].map(code => code.textContent)")
    wanted = {p["name"] for rank in pcc.inspect(pages.bundle)["ranks"] for p in rank["parameters"] if "h.1" in p["name"] and "c_attn.weight" in p["name"]}
    expect(wanted and set(names) == wanted, f"the search finds {names}, expected {wanted}")
    browser.run("search.value = ''; search.dispatchEvent(new Event('input'))")
    names = [p["name"] for rank in pcc.inspect(pages.bundle)["ranks"] for p in rank["parameters"]]
    count = browser.run("document.querySelector('#shards .heading p').textContent")
    expect(f" of {len(set(names))} weights" in count, f"the page counts '{count}' of {len(set(names))} weights")
    browser.run("document.querySelectorAll('#reasons details')[1].querySelector('summary').click()")
    browser.settle()
    text = browser.run("document.querySelectorAll('#reasons details')[1].innerText")
    expect("chosen" in text and "made by" in text, f"a reason says {text}")
    expect(not browser.problems, str(browser.problems))


@case
def graphs_of_blocks(pages):
    """Each block of a pipeline and of a model without one: whole, readable, edges beside the nodes, on a phone and on a screen."""
    llama, page = Model("llama", tempfile.mkdtemp(dir=pages.folder)), pages.path("blocks.html")
    pcc.succeed("explain", llama.path, *llama.options, *ADAM, "--cpu", "native", "--tp", "2", "--html", page)
    for path in (pages.planned, page):
        pages.browser.open(path)
        for width in WIDTHS[:2]:
            pages.browser.resize(width)
            for block in range(pages.browser.run("document.querySelectorAll('#graph button').length")):
                pages.browser.run(f"document.querySelectorAll('#graph button')[{block}].click()")
                pages.browser.settle()
                problems = pages.browser.run(LAYOUT) + pages.browser.problems
                expect(not problems, f"block {block} of {os.path.basename(path)} at {width} px: " + "; ".join(problems))
                expect(pages.browser.run("document.querySelectorAll('#graph .edge').length") > 10, "the graph has no edges")
        shown = "[...document.querySelectorAll('#graph .node')].map(node => node.dataset.tip.split(' ')[0])"
        expect("weight" not in pages.browser.run(shown), "weights that ops read are drawn again")
    pages.browser.resize(1280)


@case
def explain_and_a_run(pages):
    page, metrics = pages.path("explain.html"), pages.path("run.jsonl")
    pcc.succeed("explain", *pages.plan, "--html", page)
    pages.look(page, ["communication", *WHY])
    page = pages.path("run.html")
    pcc.succeed("run", pages.bundle, "--comm", "thread", "--data", pages.model.data(), "--steps", 3, "-q", "--html", page, "--metrics", metrics)
    pages.look(page, PLAN + WHY + ["curves", "run"])
    lints = pages.browser.run("[...document.querySelectorAll('.lint b')].map(code => code.textContent)")
    expect(lints and lints == [lint["code"] for lint in pcc.explain(*[w for w in pages.plan if w != "-q"])["lints"]], f"the page of the run has the lints {lints}")
    labels = pages.browser.run("[...document.querySelectorAll('#timeline svg text')].map(t => t.textContent)")
    expect("rank 3, measured" in labels and "ranks 2–3, planned" in labels, str(labels))
    expect(pages.card("step, measured") and pages.card("step, planned"), "no times")
    names = pages.browser.run("[...document.querySelectorAll('#curves h3')].map(title => title.textContent)")
    expect({"loss", "gradient norm", "time of a step", "peak memory"} <= set(names), str(names))
    left = [name for name in os.listdir(pages.folder) if "part-" in name or "measurements" in name]
    expect(not left, f"left behind: {left}")


@case
def several_files(pages):
    """Plans and trainings side by side, told apart by their content."""
    other, page = pages.path("other.pcc"), pages.path("several.html")
    pcc.succeed(*pages.train, "--dp", 2, "--preset", "zero1", "--microbatches", 2, "-o", other, "--report", pages.path("compile"))
    files = [pages.bundle, pages.path("inspect"), pages.path("explain"), pages.path("compile"), pages.path("run"), pages.path("a"), pages.path("b")]
    for name, words in (("inspect", ["inspect", other]), ("explain", ["explain", *pages.plan])):
        with open(pages.path(name), "w") as file:
            file.write(pcc.succeed(*words, "--json"))
    for name in ("a", "b"):
        bundle = pages.bundle if name == "a" else other
        pcc.succeed("run", bundle, "--comm", "thread", "--data", pages.model.data(), "--steps", 4, "-q", "--metrics", pages.path(name), "--measurements", pages.path("run"))
    with open(pages.path("plans"), "w") as file:
        json.dump(PLANS, file)
    pcc.succeed("report", *files, pages.path("plans"), "-o", page)
    pages.look(page, ["compare", "curves", *PLAN, *WHY])
    curves = pages.browser.run("document.querySelectorAll('#curves path.curve').length")
    expect(curves >= 8, f"{curves} curves")
    kinds = {"explain": ["communication", *WHY], "compile": ["phases"], "run": ["timeline", "memory", "run"], "a": [], "plans": ["plans"], "inspect": PLAN, os.path.basename(pages.bundle): PLAN + WHY}
    for title, sections in kinds.items():
        pages.browser.run(f"[...document.querySelectorAll('button')].find(b => b.textContent === {json.dumps(title)}).click()")
        pages.browser.settle()
        found = pages.browser.run("[...document.querySelectorAll('#details section')].map(part => part.id)")
        expect(sorted(found) == sorted(sections), f"{title} has the sections {found}")
        expect(not pages.browser.run(LAYOUT) and not pages.browser.problems, f"{title}: {pages.browser.run(LAYOUT)} {pages.browser.problems}")
    memory = pages.browser.run("[...document.querySelectorAll('#compare tr')].find(r => r.textContent.startsWith('memory of')).textContent")
    for bundle in (pages.bundle, other):
        expect(in_bytes(max(r["weight_bytes"] + r["state_bytes"] + r["arena_bytes"] for r in pcc.inspect(bundle)["ranks"])) in memory, memory)


def plan(tp, seconds):
    return {"tp": tp, "pp": 1, "virtual_stages": 1, "dp": 8 // tp, "cp": 1, "ep": 1, "zero": 0, "sequence_parallel": False, "microbatch": 1, "microbatches": 4,
            "schedule": "1f1b", "recompute": "none", "order": "pp,dp,cp,tp", "devices": 8, "seconds": seconds, "tokens_per_second_per_device": 1000 / seconds,
            "model_tflops_per_device": 300, "mfu": 0.4 / seconds, "hfu": 0.4, "memory_bytes": 3000000, "memory": {"weights": 1000000, "gradients": 500000,
            "state": 1000000, "activations": 400000, "reserved": 100000}, "fits": True, "breakdown": {"compute": 0.7 * seconds, "bubble": 0.1 * seconds,
            "tp": 0.1 * seconds, "cp": 0, "ep": 0, "pp": 0.05 * seconds, "dp": 0.03 * seconds, "optimizer": 0.02 * seconds}, "pareto": True, "tie": False,
            "reason": "fastest", "command": "pcc model.onnx"}


PLANS = {"devices": 8, "cluster": "h100-dgx", "model": {"parameters": 1000, "flops_per_token": 6000}, "lower_bound": 0.5, "gap": 0.1,
         "counts": {"legal": 9, "bounded": 5, "simulated": 4}, "plans": [plan(8, 1.0), plan(4, 1.2)]}


@case
def names_are_text(pages):
    """Names of a model that are HTML do nothing but appear."""
    model = onnx.load(pages.model.path)
    evil = "</script><script>window.broken=1</script><img src=x onerror=window.broken=2>\u2028&\"'"
    weight = max(model.graph.initializer, key=lambda w: len(w.dims) * 1000 + w.dims[0] if w.dims else 0).name
    for node in model.graph.node:
        node.input[:] = [evil if name == weight else name for name in node.input]
        node.name = f"<b>{node.name}</b>"
    for initializer in model.graph.initializer:
        if initializer.name == weight:
            initializer.name = evil
    path, page = pages.path("names.onnx"), pages.path("names.html")
    onnx.save(model, path)
    pcc.succeed(path, *pages.model.options, *ADAM, "-q", "--cpu", "native", "--tp", "2", "-o", pages.path("names.pcc"), "--html", page)
    pages.look(page, PLAN + WHY)
    expect(not pages.browser.run("window.broken"), "a name of a weight is run")
    pages.browser.run("search = document.querySelector('#shards input'); search.value = 'onerror'; search.dispatchEvent(new Event('input'))")
    expect(pages.browser.run("document.querySelector('.shard code').textContent") == evil, "the name is not shown as it is")
    expect(pages.browser.run("document.querySelectorAll('main img, main b b').length") == 0, "a name has become HTML")


@case
def a_thousand_ranks(pages):
    page = pages.path("large.html")
    model = Model("mlp", tempfile.mkdtemp(dir=pages.folder))
    dims = {name: 1024 for name in model.dims}
    pcc.succeed(model.path, *pcc.dim_options(dims), *model.options[2 * len(dims):], "--optimizer", "sgd", "-q", "--cpu", "native", "--dp", 512, "--pp", 2,
                "--microbatches", 2, "--preset", "zero3", "-o", pages.path("large.pcc"), "--html", page)
    size = os.path.getsize(page)
    expect(size < 2 << 20, f"the page has {size} bytes")
    seconds = pages.look(page, PLAN + WHY)
    labels = pages.browser.run("[...document.querySelectorAll('#timeline svg text')].map(t => t.textContent)")
    expect("ranks 0–511" in labels, str(labels))
    print(f"1,024 ranks: {size} bytes, drawn after {seconds:.2f} s")


@case
def following_a_run(pages):
    """The page is written again while a run holds its metrics, and loads itself again only then."""
    metrics, page = pages.path("live.jsonl"), pages.path("live.html")
    line = {"loss": 2.0, "grad_norm": 1.0, "lr": 0.1, "seconds": 0.5, "samples": 8, "samples_per_second": 16.0}
    with open(metrics, "w") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        file.write(json.dumps({"step": 1, **line}) + "\n" + '{"step": 2, "lo')
        file.flush()
        follower = subprocess.Popen([pcc.PCC, "report", metrics, "-o", page, "--follow"])
        for _ in range(100):
            if os.path.exists(page):
                break
            time.sleep(0.05)
        expect('"follows":true' in read(page), "the page does not load itself again")
        pages.look(page, ["curves"])
        file.write('ss": 1.5, "seconds": 0.5}\n')
    expect(follower.wait(30) == 0, "the follower fails")
    last = read(page)
    expect('"follows":false' in last and '"step":2' in last, "the last page misses the end of the run")
    code, _, err = pcc.call("report", pages.bundle, "-o", page, "--follow")
    expect(code == 2 and "--metrics" in err, err)


@case
def ended_followers(pages):
    """A signal that ends the follower leaves a page that does not load itself again; so does a page that nobody writes any more."""
    metrics, page = pages.path("lasting.jsonl"), pages.path("lasting.html")
    with open(metrics, "w") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        file.write('{"step": 1, "loss": 2.0, "seconds": 0.5}\n')
        file.flush()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            follower = subprocess.Popen([pcc.PCC, "report", metrics, "-o", page, "--follow"])
            for _ in range(200):
                if os.path.exists(page) and '"follows":true' in read(page):
                    break
                time.sleep(0.05)
            live = read(page)
            expect('"follows":true' in live, "the page does not load itself again")
            follower.send_signal(number)
            expect(follower.wait(30) == -number, f"{number.name} gives {follower.returncode}")
            expect('"follows":false' in read(page), f"after {number.name} the page loads itself again")
    foot = "document.querySelector('footer').textContent"
    for text, words in ((live, "every 5 seconds"), (re.sub(r'"written":\d+', '"written":1', live), "no longer written")):
        with open(page, "w", encoding="utf-8") as file:
            file.write(text)
        pages.browser.open(page)
        expect(words in pages.browser.run(foot), pages.browser.run(foot))


@case
def runs_hold_their_metrics(pages):
    """A run can be told to last by the lock on its metrics."""
    metrics = pages.path("held.jsonl")
    run = subprocess.Popen([pcc.PCC, "run", pages.bundle, "--comm", "thread", "--data", pages.model.data(), "--steps", "8", "-q", "--metrics", metrics],
                           stdout=subprocess.DEVNULL)
    held = False
    while run.poll() is None and not held:
        if os.path.exists(metrics):
            with open(metrics) as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    fcntl.flock(file, fcntl.LOCK_UN)
                except BlockingIOError:
                    held = True
    expect(run.wait(60) == 0 and held, "no lock was seen")


@case
def in_a_frame(pages):
    """The page is drawn without access to the page around it, as notebooks show it."""
    tell = """<script>const look = setInterval(() => {
        if (document.documentElement.dataset.ready === "yes") {
          clearInterval(look);
          parent.postMessage([...document.querySelectorAll("section")].map(part => part.id), "*");
        }
      }, 20);</script>"""
    notebook = pages.path("notebook.html")
    with open(notebook, "w", encoding="utf-8") as file:
        file.write("<!DOCTYPE html><meta charset=utf-8><script>addEventListener('message', told => {"
                   "window.told = told.data; document.documentElement.dataset.ready = 'yes'; })</script>"
                   f'<iframe sandbox="allow-scripts" style="width: 100%; height: 600px" srcdoc="{html.escape(read(pages.planned) + tell)}"></iframe>')
    pages.browser.open(notebook)
    found = pages.browser.run("window.told")
    expect(sorted(found) == sorted(PLAN + WHY) and not pages.browser.problems, f"{found} {pages.browser.problems}")
    if pages.keep:
        pages.browser.screenshot(os.path.join(pages.keep, "notebook.png"))


@case
def odd_data(pages):
    """A file of a known kind whose fields are of other types is shown as far as it can be."""
    path, page = pages.path("odd"), pages.path("odd.html")
    told = json.loads(pcc.succeed("inspect", pages.bundle, "--json"))
    told["planned_step"], told["kernels"], told["stages"][0]["flops"] = {"rows": 7}, [], "many"
    with open(path, "w") as file:
        json.dump(told, file)
    pcc.succeed("report", path, "-o", page)
    pages.browser.open(page)
    found = pages.browser.run("[...document.querySelectorAll('section')].map(part => part.id)")
    expect("shards" in found and "" in found and not pages.browser.problems, f"{found} {pages.browser.problems}")


@case
def outputs_that_fail(pages):
    text, empty, odd = pages.path("text"), pages.path("empty"), pages.path("odd.json")
    for path, content in ((text, "no JSON"), (empty, ""), (odd, '{"equal": true}')):
        with open(path, "w") as file:
            file.write(content)
    page = pages.path("none.html")
    for words, wanted, said in (
            (["report", text, "-o", page], 3, "it is not JSON"), (["report", empty, "-o", page], 3, "it is empty"),
            (["report", odd, "-o", page], 3, "pcc report takes the JSON of"), (["report", pages.path("absent"), "-o", page], 3, "does not exist"),
            (["report", pages.bundle], 2, "--output"), (["report", "-o", page], 2, "FILE"), (["report", pages.bundle, "-o", ""], 2, "--output"),
            (["report", pages.bundle, "-o", "/dev/full"], 7, "No space left"), ([*pages.plan, "-o", pages.bundle, "--html", "/dev/full"], 7, "No space left"),
            (["run", pages.bundle, "--comm", "thread", "--random-inputs", 1, "--html", pages.path("no/such.html")], 7, "cannot write"),
            ([*pages.plan, "-o", pages.bundle, "--html", ""], 2, "--html"), ([*pages.plan, "--stop-after", "4", "--html", page], 2, "needs a bundle"),
            (["explain", *pages.plan, "--html", pages.folder], 7, "it is a directory")):
        code, _, err = pcc.call(*words)
        expect(code == wanted and said in err, f"pcc {' '.join(map(str, words[-4:]))}: exit code {code} instead of {wanted}: {err[-300:]}")
    expect(not os.path.exists(page), "a page was written")
    out = subprocess.run([pcc.PCC, "report", pages.bundle, "-o", "/dev/stdout"], capture_output=True, text=True).stdout
    expect(out.startswith("<!doctype html>") and out.rstrip().endswith("</html>"), out[:80])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="*")
    parser.add_argument("--keep")
    arguments = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        pages = Pages(browser, folder, arguments.keep and os.path.abspath(arguments.keep))
        for name, function in CASES.items():
            if not fnmatch.fnmatch(name, arguments.only):
                continue
            begin = time.monotonic()
            try:
                function(pages)
                print(f"passed {name}, {time.monotonic() - begin:.1f} s", flush=True)
            except (pcc.Failure, RuntimeError) as problem:
                failures += 1
                print(f"FAILED {name}: {problem}", flush=True)
    return 1 if failures else 0


sys.exit(main())
