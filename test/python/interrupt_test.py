#!/usr/bin/env python3
"""Tests that the interpreter continues while C++ runs: other threads run, Ctrl-C raises KeyboardInterrupt, and an interrupted
call leaves the process unchanged. If a lock were kept, these tests would hang until their timeout."""
import os
import signal
import tempfile
import threading
import unittest

import models
import pcc

FOR_EVER = 10**9


def soon(call):
    """Calls a function from another thread, which needs the interpreter's lock."""
    threading.Timer(0.3, call).start()


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


class Interrupts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # Background jobs of a shell begin with SIGINT ignored.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.model, cls.inputs = models.gpt2(cls.folder)
        cls.bundle = pcc.compile(cls.model, dims=models.DIMS, tp=2, pp=2)
        cls.one = pcc.compile(cls.model, dims=models.DIMS)

    def test_runs(self):
        for bundle in (self.bundle, self.one):
            expected = bundle.run(self.inputs)["logits"]
            soon(interrupt)
            with self.assertRaises(KeyboardInterrupt):
                bundle.run(self.inputs, repeat=FOR_EVER)
            self.assertTrue((bundle.run(self.inputs)["logits"] == expected).all())

    def test_a_child(self):
        soon(interrupt)
        with self.assertRaises(KeyboardInterrupt):
            self.bundle.run(self.inputs, comm="mpi", repeat=FOR_EVER)

    def test_another_thread_ends_a_run(self):
        from pcc import _pcc
        ranks = _pcc.Ranks(self.bundle.path, [f"--repeat={FOR_EVER}"])
        soon(ranks.abort)
        with self.assertRaises(pcc.Error) as caught:
            ranks.run(self.inputs)
        self.assertEqual((caught.exception.exit_code, str(caught.exception)), (14, "the run was interrupted"))

    def test_a_handler_of_the_users(self):
        """An exception of the user's handler is raised by the call."""
        def handler(number, frame):
            raise TimeoutError("the user's")
        before = signal.signal(signal.SIGUSR1, handler)
        try:
            soon(lambda: os.kill(os.getpid(), signal.SIGUSR1))
            with self.assertRaisesRegex(TimeoutError, "the user's"):
                self.bundle.run(self.inputs, repeat=FOR_EVER)
        finally:
            signal.signal(signal.SIGUSR1, before)

    def test_compilation(self):
        """The callback of the first phase, on another thread, needs the lock. The interrupted compilation leaves no file."""
        from pcc import _pcc
        from pcc.keywords import words_of
        bundle, phases = os.path.join(self.folder, "interrupted.pcc"), []

        def on_phase(phase):
            phases.append(phase)
            interrupt()
            seen.wait(10)
        seen = threading.Event()
        before = signal.signal(signal.SIGINT, lambda number, frame: (seen.set(), signal.default_int_handler(number, frame)))
        try:
            with self.assertRaises(KeyboardInterrupt):
                _pcc.compile([self.model, *words_of("compile", dict(dims=models.DIMS, output=bundle))], on_phase, lambda note: None)
        finally:
            signal.signal(signal.SIGINT, before)
        self.assertEqual(phases, ["1-import"])
        self.assertFalse(os.path.exists(bundle))

    def test_two_threads_compile(self):
        bundles = []
        workers = [threading.Thread(target=lambda: bundles.append(pcc.compile(self.model, dims=models.DIMS, tp=2))) for _ in range(3)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        self.assertEqual([b.inspect() for b in bundles], [bundles[0].inspect()] * 3)


if __name__ == "__main__":
    unittest.main()
