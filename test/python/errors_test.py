#!/usr/bin/env python3
"""Tests that errors are pcc.Error with the tool's message and notes in Python's words and its exit code, that no text is printed,
and that the interpreter goes on."""
import os
import pathlib
import pickle
import subprocess
import tempfile
import unittest

import models
import numpy as np
import onnx
import pcc


class Errors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.model, cls.inputs = models.gpt2(cls.folder)
        cls.bundle = pcc.compile(cls.model, dims=models.DIMS, tp=2)

    def fails(self, exit_code, call, *arguments, **keywords):
        with self.assertRaises(pcc.Error) as caught:
            call(*arguments, **keywords)
        self.assertEqual(caught.exception.exit_code, exit_code, caught.exception)
        self.assertEqual(str(caught.exception), caught.exception.message)
        return caught.exception

    def test_the_error_is_the_tools(self):
        for words, keywords in [(["--nonsense=1"], dict(nonsense=1)), (["--tp=0"], dict(tp=0)), (["--dim=batch"], dict(dim="batch")),
                                (["--schedule=2f2b", "--pp=2"], dict(schedule="2f2b", pp=2)), ([], {}),
                                (["--dim=batch=4", "--dim=seq=6", "--microbatches=3"], dict(dims=models.DIMS, microbatches=3)),
                                (["--gpu-arch=sm_90"], dict(gpu_arch="sm_90"))]:
            with self.subTest(words=words):
                bundle = os.path.join(self.folder, "none.pcc")
                tool = subprocess.run([os.environ["PCC"], self.model, f"--output={bundle}", *words], capture_output=True, text=True)
                error = self.fails(tool.returncode, pcc.compile, self.model, output=bundle, **keywords)
                notes = [line for line in tool.stderr.splitlines() if line.startswith("note: ")]
                self.assertEqual(len(error.notes), len(notes))
                self.assertEqual(getattr(error, "__notes__", []), [f"note: {note}" for note in error.notes])
                self.assertNotRegex("\n".join([error.message, *error.notes]), "--|pcc ")

    def test_words_are_pythons(self):
        for call, message, notes in [
                (lambda: pcc.compile(self.model, tpp=2), "compile() has no option 'tpp'; did you mean 'tp' or 'pp'?",
                 ["help(pcc.compile) lists the options"]),
                (lambda: pcc.compile(self.model, tensor_parallel=2), "compile() has no option 'tensor_parallel'; did you mean 'tp'?",
                 ["help(pcc.compile) lists the options"]),
                (lambda: pcc.explain(self.model, dimm={}), "explain() has no option 'dimm'; did you mean 'dims'?", None),
                (lambda: pcc.compile(self.model, random_inputs=1), "compile() has no option 'random_inputs'; pcc.Bundle.run has one", None),
                (lambda: self.bundle.run({}, tp=2), "run() has no option 'tp'; pcc.compile, pcc.verify, pcc.explain have one", None),
                (lambda: pcc.compile(self.model, dims=models.DIMS, microbatches=3), None,
                 ["2 and 4 do", "the batch is dim 0 of input 'input_ids'; batch_dims={\"NAME\": K} names another"]),
                (lambda: pcc.open(self.bundle.path).explain(), f"bundle '{self.bundle.path}' was not compiled here",
                 ["pcc.explain(model, …) takes the options of compile", "report() shows the explanation that the bundle holds"]),
                (lambda: pcc.compile(self.model), None, ['for example: dims={"batch": 8, "seq": 32}']),
                (lambda: self.bundle.run({}), None, ['give it with run({"input_ids": …}), with random_inputs=SEED or, for training, with data=DIR']),
                (lambda: self.bundle.run({}, comm="mpi"), None, ['give it with run({"input_ids": …}), with random_inputs=SEED or, for training, with data=DIR']),
                (lambda: self.bundle.run({}, reepeat=2), "run() has no option 'reepeat'; did you mean 'repeat'?",
                 ["help(pcc.Bundle.run) lists the options"]),
                (lambda: pcc.compile(self.model, tp=True, dims=models.DIMS), "tp: needs a whole number of at least 1, got 'True'", None),
                (lambda: pcc.compile(self.model, dims={"batsh": 4, "seq": 6}),
                 "dims={\"batsh\": 4} names no dynamic dim of the model; nearest: 'batch', 'seq'", []),
                (lambda: pcc.compile(self.model, dims=models.DIMS, train=True), "train needs loss",
                 ["for instance loss='cross_entropy(logits, labels)', or the name of a scalar output"]),
                (lambda: pcc.open("none.pcc"), "'none.pcc' does not exist", ["pcc.compile(MODEL, output='none.pcc') makes it"]),
                (lambda: pcc.open(self.model), f"'{self.model}' is a file, and no bundle",
                 ["pcc.compile(MODEL, output=FOLDER) makes a bundle"]),
                (lambda: pcc.report("none.pcc"), "cannot read 'none.pcc': it does not exist", None),
                (lambda: self.bundle.verify({"ids": self.inputs["input_ids"]}), "the model has no input 'ids'; nearest: 'input_ids'", []),
                (lambda: self.bundle.run(self.inputs, html="run.html"), "html= is for the command line only",
                 ['measurements="run.json" writes what pcc.report("run.json") draws']),
                (lambda: self.bundle.run(self.inputs["input_ids"]),
                 'run takes a dict of arrays by name: run({"input_ids": …}), got ndarray', [])]:
            with self.assertRaises(pcc.Error) as caught:
                call()
            self.assertIn(message, (None, caught.exception.message))
            self.assertIn(notes, (None, caught.exception.notes))
        with self.assertRaises(TypeError):
            pcc.compile(self.model, 2)

    def test_sizes_are_one_dict(self):
        error = self.fails(5, pcc.compile, self.model, dims={"batch": 4, "seq": 4096})
        self.assertRegex(error.message, r'at most dims={"seq": \d+}, got dims={"seq": 4096}$')
        path = os.path.join(self.folder, "sum.onnx")
        values = [onnx.helper.make_tensor_value_info(name, 1, shape) for name, shape in [("x", ["n", "m"]), ("z", [2, 3]), ("y", None)]]
        onnx.save(onnx.helper.make_model(onnx.helper.make_graph([onnx.helper.make_node("Add", ["x", "z"], ["y"])], "g", values[:2], values[2:])), path)
        error = self.fails(5, pcc.compile, path, dims={"n": 2, "m": 4})
        self.assertEqual(error.notes, ['sizes are bound by dims={"m": 4, "n": 2}; the model may have been exported for other sizes'])

    def test_a_model_that_cannot_be_read(self):
        self.assertIn("nothing.onnx", str(self.fails(3, pcc.compile, "nothing.onnx")))
        path = os.path.join(self.folder, "broken.onnx")
        with open(path, "wb") as file:
            file.write(pathlib.Path(self.model).read_bytes()[:1000])
        self.fails(3, pcc.compile, path, dims=models.DIMS)

    def test_options_that_print_are_refused(self):
        for keywords in (dict(help=True), dict(version=True), dict(list_phases=True), dict(list_clusters=True)):
            self.fails(2, pcc.compile, self.model, **keywords)

    def test_inputs(self):
        ids = self.inputs["input_ids"]
        run = self.bundle.run
        self.assertEqual(str(self.fails(10, run, {})), "input 'input_ids' (i64 [4, 6]) is missing")
        self.assertEqual(str(self.fails(10, run, {"input_ids": ids[:2]})), "input 'input_ids' has shape [2, 6], not [4, 6]")
        self.assertEqual(str(self.fails(10, run, {"input_ids": ids.astype("f4")})), "input 'input_ids' has type f32, not i64")
        self.assertEqual(self.fails(10, run, {"ids": ids}).notes, ["its inputs are 'input_ids' (i64 [4, 6])"])
        self.assertIn("got list", str(self.fails(10, run, {"input_ids": [[1] * 6] * 4})))
        self.fails(10, run, {"input_ids": ids.astype(object)})
        self.assertIn("outside", str(self.fails(10, run, {"input_ids": ids + 37})))
        self.fails(2, run, {"input_ids": ids}, repeat=0)

    def test_what_a_child_says(self):
        error = self.fails(10, self.bundle.run, {"ids": self.inputs["input_ids"]}, comm="mpi")
        self.assertEqual((str(error), error.notes), ("the model has no input 'ids'; nearest: 'input_ids'", ["its inputs are 'input_ids' (i64 [4, 6])"]))
        self.fails(13, self.bundle.run, self.inputs, comm="nccl")

    def test_values_that_differ(self):
        bundle = pcc.compile(self.model, dims=models.DIMS, dump_ir=os.path.join(self.folder, "ir"), tp=2)
        dump = pathlib.Path(self.folder, "ir", "6-schedule.mlir")
        text = dump.read_text()
        self.assertIn("scale = 5.000000e-01", text)
        dump.write_text(text.replace("scale = 5.000000e-01", "scale = 6.000000e-01"))
        error = self.fails(15, pcc.verify, dump, self.inputs)
        self.assertFalse(error.report["equal"])
        self.assertTrue(bundle.verify(self.inputs)["equal"])

    def test_bundles(self):
        self.fails(11, pcc.open, self.folder)
        self.fails(2, pcc.open(self.bundle.path).verify)
        self.fails(2, self.bundle.inspect, rank=7)
        self.assertIn("no option steps", self.fails(2, self.bundle.train, steps=3).message)

    def test_calls_that_a_bundle_cannot_answer(self):
        self.assertIn("does not train", self.fails(2, self.bundle.train).message)
        name = self.bundle.shards()[0].name
        error = self.fails(2, self.bundle.shards, name + "s")
        self.assertIn(f"is named '{name}s'", error.message)
        self.assertEqual(error.notes, [f"did you mean {name!r}?"])
        self.assertEqual(self.fails(11, pcc.Bundle, "absent.pcc").message, self.fails(11, pcc.open, "absent.pcc").message)

    def test_errors_travel(self):
        error = pickle.loads(pickle.dumps(pcc.Error("text", ["note"], 6)))
        self.assertEqual((error.message, error.notes, error.exit_code), ("text", ["note"], 6))

    def test_a_temporary_bundle_goes_with_its_object(self):
        bundle = pcc.compile(self.model, dims=models.DIMS)
        path = bundle.path
        self.assertTrue(os.path.exists(path))
        np.testing.assert_array_equal(*(bundle.run(self.inputs)["logits"] for _ in range(2)))
        del bundle
        self.assertFalse(os.path.exists(os.path.dirname(path)))


if __name__ == "__main__":
    unittest.main()
