"""Copies, pickles, pools of processes, forks and threads: reopened where possible, else refused with advice."""
import copy
import multiprocessing
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import threading
import time
import unittest

import numpy as np

import fovea
from fovea import status
from support import FOLDER, blob

TEXT = "a text editor for programmers"
DEADLINE = 120  # seconds, for other processes
WAYS = {"copy": copy.copy, "deepcopy": copy.deepcopy,
        **{f"pickle {protocol}": lambda one, protocol=protocol: pickle.loads(pickle.dumps(one, protocol))
           for protocol in range(pickle.HIGHEST_PROTOCOL + 1)}}


class Named(fovea.Model):
    """A program's own kind of model, with other arguments and something to remember."""

    def __init__(self, path, *, title):
        super().__init__(path, verify=False)
        self.title = title


def classes_of(model):
    """In another process."""
    return [(one.label, one.probability) for one in model.classify(TEXT)[0]]


def first_ids(tokenizer):
    return tokenizer.encode(TEXT).ids


def in_child(function):
    """What a forked child writes; it is ended if it hangs."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, str(function()).encode())
        except BaseException as error:
            os.write(writing, f"{type(error).__name__}: {error}".encode())
        finally:
            os._exit(0)
    os.close(writing)
    end = time.monotonic() + DEADLINE
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise AssertionError("the child hangs")
        time.sleep(0.01)
    with os.fdopen(reading) as written:
        return written.read()


class Copies(unittest.TestCase):
    def setUp(self):
        self.path = blob("package-section")
        self.model = fovea.Model(self.path)
        self.addCleanup(self.model.close)
        self.expected = self.model.classify(TEXT)

    def test_models(self):
        raw = pathlib.Path(self.path).read_bytes()
        for source in (self.path, pathlib.Path(self.path), raw, bytearray(raw), np.frombuffer(raw, np.uint8)):
            for way, copied in WAYS.items():
                with self.subTest(source=type(source).__name__, way=way):
                    with fovea.Model(source, backend="highway", verify=False) as model:
                        model.tokenizer, model.labels, model.spaces  # kept by the model: not to be copied
                        other, expected = copied(model), model.classify(TEXT)
                    self.assertEqual(other.classify(TEXT), expected)  # also when the first one is closed
                    self.assertEqual(other.info["backend"], "highway")
                    self.assertIsNot(other.tokenizer, model.tokenizer)
                    other.close()

    def test_relative_paths(self):
        here = os.getcwd()
        os.chdir(FOLDER)
        try:
            with fovea.Model(os.path.relpath(self.path)) as model:
                data = pickle.dumps(model)
                self.assertEqual(model.name, os.path.relpath(self.path))
        finally:
            os.chdir(here)
        with pickle.loads(data) as other:
            self.assertEqual(other.classify(TEXT), self.expected)

    def test_subclasses(self):
        for way, copied in WAYS.items():
            with self.subTest(way=way), Named(self.path, title="a title") as model, copied(model) as other:
                self.assertEqual((type(other), other.title), (Named, "a title"))
                self.assertEqual(other.classify(TEXT), self.expected)

    def test_other_file(self):
        path = FOLDER / "changing.fovea"
        path.write_bytes(pathlib.Path(self.path).read_bytes())
        with fovea.Model(path) as model:
            data = pickle.dumps(model)
        path.unlink()
        self.assertRaises(FileNotFoundError, pickle.loads, data)
        path.write_bytes(pathlib.Path(blob("package-writer")).read_bytes())
        with self.assertRaisesRegex(fovea.Error, "the file has changed since"):
            pickle.loads(data)

    def test_closed(self):
        self.model.close()
        for way, copied in WAYS.items():
            with self.subTest(way=way), self.assertRaisesRegex(fovea.Error, "this model is closed"):
                copied(self.model)

    def test_tokenizers(self):
        expected = self.model.tokenizer.encode(TEXT).ids
        for way, copied in WAYS.items():
            with self.subTest(way=way):
                np.testing.assert_array_equal(copied(self.model.tokenizer).encode(TEXT).ids, expected)

    def test_what_belongs_to_a_process(self):
        session = self.model.session(rows=4, workers=2)
        writer = fovea.Model(blob("package-writer"))
        generation = writer.generate(TEXT, max_tokens=2)
        for one, words in ((session, "make a session of that; save"), (fovea.Threads(2), "make Threads there"),
                           (generation, "copy or pickle the model")):
            for way, copied in WAYS.items():
                with self.subTest(type=type(one).__name__, way=way):
                    with self.assertRaisesRegex(TypeError, type(one).__name__ + ".*" + words):
                        copied(one)
            with self.assertRaises(TypeError):
                copy.deepcopy({"inside": [one]})

    def test_results(self):
        result = self.model.run({"input_ids": [[1, 2, 3], [4]]}, keep=["hidden_states.0"], taps=["attentions.0"])
        self.assertIs(copy.copy(result).session, result.session)
        for way, copied in WAYS.items():
            if way == "copy":
                continue
            with self.subTest(way=way):
                with self.assertRaisesRegex(TypeError, r"Result .*dict\(result\)"):
                    copied(result)
                plain = copied(dict(result))
                np.testing.assert_array_equal(plain["logits"], result["logits"])
                np.testing.assert_array_equal(plain["hidden_states.0"][0], result["hidden_states.0"][0])
                weights = copied(result.attention_map("attentions.0"))
                np.testing.assert_array_equal(weights.segment(0), result.attention_map("attentions.0").segment(0))

    def test_plain_records(self):
        with self.assertRaises(fovea.Error) as caught:
            self.model.program("none")
        for one in (self.model.classify(TEXT)[0][0], self.model.program(), self.model.spaces, fovea.Sampling(seed=1),
                    fovea.Tap("attentions.0", heads=(1,))):
            for way, copied in WAYS.items():
                self.assertEqual(copied(one), one)
                error = copied(caught.exception)
                self.assertEqual((str(error), error.status), (str(caught.exception), status.FOVEA_E_NAME))
        tensor = next(self.model.tensors)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(tensor)).data, tensor.data)


class Processes(unittest.TestCase):
    def setUp(self):
        self.model = fovea.Model(blob("package-section"))
        self.addCleanup(self.model.close)

    def test_pools(self):
        expected, ids = classes_of(self.model), first_ids(self.model.tokenizer)
        for method in ("spawn", "forkserver", "fork"):
            with self.subTest(method=method), multiprocessing.get_context(method).Pool(2) as pool:
                self.assertEqual(pool.map_async(classes_of, [self.model] * 3).get(DEADLINE), [expected] * 3)
                np.testing.assert_array_equal(pool.apply_async(first_ids, [self.model.tokenizer]).get(DEADLINE), ids)
                with self.assertRaisesRegex(TypeError, "Session objects cannot be copied"):
                    pool.apply_async(print, [self.model.session(rows=1)]).get(DEADLINE)

    def test_fork(self):
        threads = fovea.Threads(3)
        session = self.model.session(rows=3, workers=threads)
        session.set_segments("tokens", [3])
        session.write("input_ids", [1, 2, 3])
        expected = session.run().output("logits").tolist()
        alone = self.model.session(rows=3)
        alone.set_segments("tokens", [3])
        alone.write("input_ids", [1, 2, 3])
        self.assertRegex(in_child(session.run), "Error: these threads belong to the process that forked .*after the")
        self.assertEqual(in_child(lambda: alone.run().output("logits").tolist()), str(expected))
        self.assertEqual(in_child(lambda: self.model.run({"input_ids": [[1, 2, 3]]}, workers=2)["logits"].tolist()),
                         str(expected))
        self.assertEqual(in_child(threads.close), "None")  # it has no thread to wait for
        self.assertEqual(session.run().output("logits").tolist(), expected)

    def test_end_of_the_interpreter(self):
        """Whatever is open when a program ends, in cycles and at exit too, the end is quiet."""
        program = """
import atexit, sys, threading, fovea
model = fovea.Model(sys.argv[1])
threads = fovea.Threads(2)
session = model.session(rows=3, workers=threads)
session.set_segments("tokens", [3])
session.myself = [session, model]
model.session_of_mine = session
atexit.register(lambda: print(session.run().output("logits").shape))
sys.kept = session
view = session.run().output("logits")
def forever():
    own = model.session(rows=64, workers=2)
    own.set_segments("tokens", [64])
    while True:
        own.run()
threading.Thread(target=forever, daemon=True).start()
"""
        done = subprocess.run([sys.executable, "-W", "error", "-c", program, blob("package-section")],
                              capture_output=True, text=True, timeout=DEADLINE)
        self.assertEqual((done.returncode, done.stdout.split()[0], done.stderr), (0, "(1,", ""))


class ThreadsOfAProgram(unittest.TestCase):
    ROWS = 2048

    def setUp(self):
        self.model = fovea.Model(blob("package-section"))
        self.addCleanup(self.model.close)

    def session(self, workers=1):
        session = self.model.session(rows=self.ROWS, limits={"texts": 32}, workers=workers)
        session.set_segments("tokens", [64] * 32)
        session.write("input_ids", np.arange(self.ROWS) % 5000)
        return session

    def all_at_once(self, *functions):
        """Their results, or errors."""
        results, start = [None] * len(functions), threading.Barrier(len(functions))

        def one(i):
            start.wait()
            try:
                results[i] = functions[i]()
            except Exception as error:
                results[i] = error

        started = [threading.Thread(target=one, args=[i]) for i in range(len(functions))]
        for thread in started:
            thread.start()
        for thread in started:
            thread.join(DEADLINE)
            self.assertFalse(thread.is_alive(), "a thread hangs")
        return results

    def test_one_session(self):
        """A call during another thread's run is refused; the run is not disturbed."""
        session = self.session()
        expected = session.run().output("logits").copy()
        calls = {"run": session.run, "output": lambda: session.output("logits"), "save": session.save,
                 "set_segments": lambda: session.set_segments("tokens", [1]), "reset": session.reset,
                 "write": lambda: session.write("input_ids", np.zeros(self.ROWS, int)),
                 "offsets": lambda: session.offsets("tokens"), "input": lambda: session.input("input_ids")}
        for name, function in calls.items():
            with self.subTest(call=name), session.alone():  # as a run has it
                refused, = self.all_at_once(function)
                self.assertIsInstance(refused, fovea.Error)
                self.assertEqual(refused.status, status.FOVEA_E_ORDER)
                self.assertRegex(str(refused), "another thread uses this session: give each thread a separate session")
        results = self.all_at_once(*[session.run] * 4)
        self.assertGreaterEqual(sum(result is session for result in results), 1)
        np.testing.assert_array_equal(session.output("logits"), expected)

    def test_shared_threads(self):
        """Of sessions that share threads the second one waits."""
        threads = fovea.Threads(3)
        sessions = [self.session(threads) for _ in range(4)]
        expected = self.session().run().output("logits").copy()
        for session, result in zip(sessions, self.all_at_once(*[session.run for session in sessions])):
            self.assertIs(result, session)
            np.testing.assert_array_equal(session.output("logits"), expected)

    def test_closed_during_a_run(self):
        for workers in (1, 3):
            for closed in ("threads", "session", "model"):
                self.model, threads = fovea.Model(blob("package-section")), fovea.Threads(workers)
                session = self.session(threads)
                close = {"threads": threads, "session": session, "model": self.model}[closed].close
                run, _ = self.all_at_once(session.run, close)
                self.assertTrue(run is session or "closed" in str(run), run)

    def test_model_closed_under_a_tokenizer(self):
        text = "compressed audio files and their readers " * 3000
        for _ in range(5):
            model = fovea.Model(pathlib.Path(blob("package-section")).read_bytes())
            tokenizer = model.tokenizer
            for result in self.all_at_once(*[lambda: len(tokenizer.encode(text))] * 2, model.close)[:2]:
                self.assertTrue(isinstance(result, int) or "this model is closed" in str(result), result)


if __name__ == "__main__":
    unittest.main()
