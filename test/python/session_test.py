#!/usr/bin/env python3
"""Tests training sessions: the curve is that of `pcc run`, bit for bit, on arrays and on files; a checkpoint can be resumed;
weights are returned whole, as `pcc checkpoint export` writes them; a deleted session ends its ranks."""
import gc
import json
import os
import struct
import subprocess
import tempfile
import unittest

import models
import numpy as np
import onnx
import pcc

STEPS = 4
TRAINING = dict(train=True, loss="cross_entropy(logits, labels, ignore_index=-1)", optimizer="adamw", lr=0.01, clip_norm=1)
PLANS = [dict(), dict(tp=2, pp=2), dict(dp=2, preset="zero3", microbatches=2), dict(pp=2, microbatches=4, schedule="zb-v")]
NAMES = ("step", "loss", "grad_norm", "lr")


def numbers(steps):
    """Returns what does not depend on the speed of the machine."""
    return [tuple(step[name] for name in NAMES) for step in steps]


def tool(*words):
    subprocess.run([os.environ["PCC"], *map(str, words)], check=True, capture_output=True, text=True)


def safetensors(path):
    """Returns the arrays of a file, all f32."""
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    return {name: np.frombuffer(data[slice(*facts["data_offsets"])], "f4").reshape(facts["shape"])
            for name, facts in header.items() if name != "__metadata__"}


def threads():
    return len(os.listdir("/proc/self/task"))


class Sessions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.model, batch = models.gpt2(cls.folder)
        random = np.random.default_rng(1)
        cls.data = {name: random.integers(0, 37, (STEPS, *batch["input_ids"].shape)) for name in ("input_ids", "labels")}
        cls.data["labels"][:, ::3] = -1
        cls.files = os.path.join(cls.folder, "data")
        models.oracle.save(cls.files, cls.data)
        cls.batches = [{name: values[step] for name, values in cls.data.items()} for step in range(STEPS)]
        cls.bundle = cls.compile(tp=2, pp=2)

    @classmethod
    def compile(cls, **plan):
        return pcc.compile(cls.model, dims=models.DIMS, **TRAINING, **plan)

    def curve(self, bundle, *words):
        """Returns the steps that the tool's run reports."""
        metrics = os.path.join(self.folder, "metrics.jsonl")
        if os.path.exists(metrics):
            os.remove(metrics)
        tool("run", bundle.path, "--data", self.files, "--steps", STEPS, "--comm", "thread", "--metrics", metrics, *words)
        with open(metrics) as file:
            return numbers(map(json.loads, file))

    def test_the_curve_is_the_tools(self):
        for plan in PLANS:
            with self.subTest(plan=plan):
                bundle = self.compile(**plan)
                expected = self.curve(bundle)
                self.assertEqual([step for step, *_ in expected], [1, 2, 3, 4])
                with bundle.train() as session:
                    self.assertEqual(numbers(session.steps(self.batches)), expected)
                with bundle.train(data=self.files, threads=1) as session:
                    self.assertEqual(numbers(session.step() for _ in range(STEPS)), expected)

    def test_a_run_of_all_steps(self):
        metrics = os.path.join(self.folder, "run.jsonl")
        outputs = self.bundle.run(data=self.files, steps=STEPS, metrics=metrics)
        with open(metrics) as file:
            told = [json.loads(line) for line in file]
        self.assertEqual(numbers(told), self.curve(self.bundle))
        self.assertEqual(outputs["loss"], np.float32(told[-1]["loss"]))

    def test_save_and_resume_on_another_plan(self):
        saved = os.path.join(self.folder, "saved")
        expected = self.curve(self.bundle)
        with self.bundle.train() as session:
            list(session.steps(self.batches[:2]))
            session.save(saved)
            session.save(saved)
            rest = numbers(session.steps(self.batches[2:]))
        with self.bundle.train(resume=saved) as session:
            self.assertEqual(numbers(session.steps(self.batches[2:])), rest)
        with self.compile(dp=2, preset="zero1").train() as session:
            session.resume(saved)
            for metrics, (step, loss, norm, _) in zip(session.steps(self.batches[2:]), expected[2:], strict=True):
                self.assertEqual(metrics["step"], step)
                np.testing.assert_allclose([metrics["loss"], metrics["grad_norm"]], [loss, norm], rtol=2e-5)

    def test_parameters(self):
        initial = {t.name: onnx.numpy_helper.to_array(t) for t in onnx.load(self.model).graph.initializer}
        saved, exported = os.path.join(self.folder, "weights"), os.path.join(self.folder, "weights.safetensors")
        with self.bundle.train() as session:
            for name, value in session.parameters().items():
                np.testing.assert_array_equal(value, initial[name])
            list(session.steps(self.batches))
            trained = session.parameters()
            session.save(saved)
        tool("checkpoint", "export", saved, "-o", exported)
        expected = safetensors(exported)
        self.assertEqual(set(trained), set(expected))
        for name, value in expected.items():
            np.testing.assert_array_equal(trained[name], value)
        self.assertFalse(np.array_equal(trained["wte.weight"], initial["wte.weight"]))

    def test_a_wrong_input_ends_nothing(self):
        with self.bundle.train() as session:
            first = session.step(self.batches[0])
            with self.assertRaises(pcc.Error) as caught:
                session.step({"input_ids": self.batches[0]["input_ids"]})
            self.assertEqual((caught.exception.exit_code, str(caught.exception)), (10, "input 'labels' (i64 [4, 6]) is missing"))
            self.assertEqual(session.step(self.batches[1])["step"], first["step"] + 1)

    def test_an_index_outside_its_table_ends_the_session(self):
        with self.bundle.train() as session:
            bad = {**self.batches[0], "input_ids": self.batches[0]["input_ids"] + 37}
            for batch in (bad, self.batches[0]):
                with self.assertRaises(pcc.Error) as caught:
                    session.step(batch)
                self.assertEqual(caught.exception.exit_code, 10)

    def test_sessions_that_are_let_go_free_their_ranks(self):
        self.bundle.train(threads=1).step(self.batches[0])
        gc.collect()
        before = threads()
        for _ in range(5):
            session = self.bundle.train(threads=1)
            session.step(self.batches[0])
            self.assertGreaterEqual(threads(), before + 4)
        cycle = [session]
        cycle.append(cycle)
        del session, cycle
        gc.collect()
        self.assertEqual(threads(), before)

    def test_a_session_keeps_its_temporary_bundle(self):
        session = self.compile().train()
        gc.collect()
        self.assertEqual(session.step(self.batches[0])["step"], 1)
        session.close()
        with self.assertRaises(pcc.Error):
            session.step(self.batches[0])


if __name__ == "__main__":
    unittest.main()
