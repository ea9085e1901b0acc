"""Wrong input ends in one exception that names the fault; nothing leaks; arrays that were returned stay valid."""
import ctypes
import gc
import os
import pathlib
import re
import subprocess
import sys
import threading
import unittest
import weakref

import numpy as np

import fovea
from fovea import _c, status
from support import FOLDER, ROOT, blob

TEXT = "a text editor for programmers"


class Misuse(unittest.TestCase):
    def setUp(self):
        self.model = fovea.Model(blob("package-section"))
        self.addCleanup(self.model.close)

    def refused(self, kind, words, function, *arguments, **options):
        with self.assertRaises(fovea.Error) as caught:
            function(*arguments, **options)
        self.assertEqual(caught.exception.kind, kind, caught.exception)
        self.assertRegex(str(caught.exception), words)
        self.assertTrue(caught.exception.name.startswith("FOVEA_E_"))
        return caught.exception


class Inputs(Misuse):
    def test_types(self):
        run = self.model.run
        for wrong in ([[1.5, 2.0]], [["a"]], [[None]], [np.array([True])], [np.array([1j])]):
            self.refused(status.FOVEA_E_ARGUMENT, "input 'input_ids': .*expected whole numbers", run,
                         {"input_ids": wrong})
        self.refused(status.FOVEA_E_ARGUMENT, "a sequence", run, {"input_ids": 7})
        self.refused(status.FOVEA_E_ARGUMENT, "a sequence", run, {"input_ids": "text"})
        self.refused(status.FOVEA_E_ARGUMENT, "mapping", run, [[1, 2]])
        with fovea.Model(blob("package-section-hierarchical")) as other:
            words = "input 'sentence_rows': <U1, expected numbers"
            self.refused(status.FOVEA_E_ARGUMENT, words, other.run, {"sentence_rows": [np.full((2, 96), "a")]},
                         "encode_document")

    def test_shapes(self):
        run = self.model.run
        self.refused(status.FOVEA_E_ARGUMENT, r"shape \(\), expected \(rows, 1\)", run, {"input_ids": [1, 2, 3]})
        self.refused(status.FOVEA_E_ARGUMENT, r"shape \(3, 2\)", run, {"input_ids": [np.ones((3, 2), int)]})
        self.refused(status.FOVEA_E_ARGUMENT, "the width 1", run, {"input_ids": [[[1, 2], [3]]]})
        self.refused(status.FOVEA_E_LIMIT, "segments", run, {"input_ids": [[1, 2]], "token_type_ids": [[0]]})
        session = self.model.session(rows=8)
        session.set_segments("tokens", [4])
        self.refused(status.FOVEA_E_LIMIT, r"shape \(3, 1\), expected \(4, 1\)", session.write, "input_ids", [1, 2, 3])
        with fovea.Model(blob("package-section-hierarchical")) as other:
            self.refused(status.FOVEA_E_ARGUMENT, r"shape \(2, 95\), expected \(rows, 96\)", other.run,
                         {"sentence_rows": [np.ones((2, 95))]}, "encode_document")

    def test_ids(self):
        words = "input 'input_ids': entry 1 is 5600, ids of the model are below 5600"
        self.refused(status.FOVEA_E_INPUT, words, self.model.run, {"input_ids": [[5, 5600]]})
        self.refused(status.FOVEA_E_INPUT, "entry 0 is -1", self.model.run, {"input_ids": [[-1]]})
        error = self.refused(status.FOVEA_E_INPUT, "32 bits", self.model.run, {"input_ids": [[2**31]]})
        self.assertEqual(error.status, status.FOVEA_E_ID)
        self.refused(status.FOVEA_E_INPUT, "token -1", self.model.tokenizer.piece, -1)
        self.refused(status.FOVEA_E_INPUT, "tokens", self.model.tokenizer.decode, [1, 10**6])
        self.refused(status.FOVEA_E_ARGUMENT, "whole numbers", self.model.tokenizer.decode, [1.0])

    def test_names(self):
        model = self.model
        self.refused(status.FOVEA_E_ARGUMENT, "no program 'decode'; it has: encode", model.run, {}, "decode")
        self.refused(status.FOVEA_E_ARGUMENT, "no value 'ids'", model.run, {"ids": [[1]]})
        self.refused(status.FOVEA_E_ARGUMENT, "no input 'logits'", model.run, {"logits": [[1]]})
        self.refused(status.FOVEA_E_ARGUMENT, "'input_ids' .* is not given", model.run, {})
        self.refused(status.FOVEA_E_ARGUMENT, "no attention 'x'; it has: attentions.0", model.run,
                     {"input_ids": [[1]]}, taps=["x"])
        self.refused(status.FOVEA_E_ARGUMENT, "heads are 0 to", model.run, {"input_ids": [[1]]},
                     taps=[fovea.Tap("attentions.0", heads=[99])])
        self.refused(status.FOVEA_E_ARGUMENT, "form 'flat'", model.run, {"input_ids": [[1]]},
                     taps=[fovea.Tap("attentions.0", form="flat")])
        self.refused(status.FOVEA_E_ARGUMENT, "backend 'blas'", fovea.Model, blob("package-section"), backend="blas")
        self.refused(status.FOVEA_E_ARGUMENT, "65 workers", model.session, rows=4, workers=65)
        self.refused(status.FOVEA_E_ARGUMENT, "no tap of 'x'", model.run({"input_ids": [[1]]}).attention_map, "x")

    def test_limits_and_order(self):
        session = self.model.session(limits={"tokens": 8, "texts": 2})
        self.refused(status.FOVEA_E_ORDER, "program 'encode'", session.run)
        self.refused(status.FOVEA_E_ORDER, "output 'logits'", session.output, "logits")
        error = self.refused(status.FOVEA_E_LIMIT, "segments of 'tokens'", session.set_segments, "tokens", [9])
        self.assertEqual((error.expected, error.found), (8, 9))
        self.refused(status.FOVEA_E_ARGUMENT, "lengths", session.set_segments, "tokens", [-1])
        self.refused(status.FOVEA_E_ARGUMENT, "lengths", session.set_segments, "tokens", [1.5])

    def test_texts(self):
        self.refused(status.FOVEA_E_ARGUMENT, "a text is needed, not int", self.model.classify, [3])
        self.refused(status.FOVEA_E_ARGUMENT, "text", self.model.classify, [])
        self.refused(status.FOVEA_E_ARGUMENT, "top: -1 does not fit", self.model.classify, TEXT, top=-1)
        self.refused(status.FOVEA_E_ARGUMENT, "top: a whole number is needed, not 'b'", self.model.classify, TEXT,
                     top="b")
        self.refused(status.FOVEA_E_ARGUMENT, "'x' is not an output; there are: logits", self.model.embed, TEXT,
                     output="x")
        self.refused(status.FOVEA_E_INPUT, "UTF-8", self.model.classify, [b"\xff"])
        self.refused(status.FOVEA_E_INPUT, "UTF-8", self.model.classify, ["\ud800"])
        self.refused(status.FOVEA_E_ARGUMENT, "the model generates no text", self.model.generate, TEXT)
        self.refused(status.FOVEA_E_ARGUMENT, "2\\^32", self.model.tokenizer.encode, TEXT, max_length=-1)

    def test_generation(self):
        with fovea.Model(blob("package-writer")) as model:
            self.refused(status.FOVEA_E_ARGUMENT, "unexpected keyword argument 'warmth'", model.generate, TEXT,
                         warmth=1)
            self.refused(status.FOVEA_E_ARGUMENT, "sampling: temperature: a number is needed, not 'hot'",
                         model.generate, TEXT, temperature="hot")
            with self.assertWarnsRegex(fovea.DefaultWarning, "best token is taken; ignored: top_k, seed"):
                model.generate(TEXT, top_k=3, seed=7).close()
            self.refused(status.FOVEA_E_ARGUMENT, "generate: ", model.generate, TEXT, temperature=-1.0)
            self.refused(status.FOVEA_E_INPUT, "prompts", model.generate, [[10**6]])
            self.refused(status.FOVEA_E_ARGUMENT, "text", model.generate, [])
            generation = model.generate([TEXT, TEXT], max_tokens=3)
            self.refused(status.FOVEA_E_LIMIT, "1 forced tokens for 2", generation.next, forced=[1])
            generation.next(forced=[1, 2])
            generation._sessions[0].close()
            self.refused(status.FOVEA_E_ARGUMENT, "this session is closed", generation.next)
            generation.close()
            self.refused(status.FOVEA_E_ARGUMENT, "this generator is closed", generation.next)


class Blobs(Misuse):
    def test_broken(self):
        raw = pathlib.Path(blob("package-section")).read_bytes()
        path = FOLDER / "broken.fovea"
        for bytes_, kind in ((b"", None), (b"not a model" * 9, status.FOVEA_E_BLOB), (raw[:5000], status.FOVEA_E_BLOB),
                             (raw[:9000] + b"\x7f" + raw[9001:], status.FOVEA_E_BLOB)):
            path.write_bytes(bytes_)
            for source in (path, bytes_):
                with self.assertRaises(fovea.Error) as caught:
                    fovea.Model(source)
                if kind:
                    self.assertEqual(caught.exception.kind, kind)
        self.assertRaises(FileNotFoundError, fovea.Model, FOLDER / "absent.fovea")
        self.assertRaises(fovea.Error, fovea.Model, 7)

    def test_from_memory(self):
        raw = pathlib.Path(blob("package-section")).read_bytes()
        expected = self.model.classify(TEXT)
        for source in (raw, bytearray(raw), memoryview(raw), np.frombuffer(raw, np.uint8)):
            with fovea.Model(source) as model:
                self.assertEqual(model.classify(TEXT), expected)


class Lifetimes(Misuse):
    def test_closed(self):
        session = self.model.session(rows=8, workers=2)
        session.set_segments("tokens", [3])
        session.write("input_ids", [1, 2, 3])
        logits = session.run().output("logits")
        kept = logits.copy()
        session.close()
        for function, arguments in ((session.run, ()), (session.output, ("logits",)), (session.input, ("input_ids",)),
                                    (session.set_segments, ("tokens", [1])), (session.cancel, ()),
                                    (session.clear_cancel, ()), (session.attention_map, ())):
            self.refused(status.FOVEA_E_ARGUMENT, "this session is closed", function, *arguments)
        np.testing.assert_array_equal(logits, kept)  # still there
        self.model.close()
        self.model.close()
        for function in (lambda: self.model.classify(TEXT), lambda: self.model.session(rows=1),
                         self.model.__enter__):
            self.refused(status.FOVEA_E_ARGUMENT, "this model is closed", function)
        threads = fovea.Threads(2)
        threads.close()
        with fovea.Model(blob("package-section")) as other:
            self.refused(status.FOVEA_E_ARGUMENT, "these threads are closed", other.session, rows=1, workers=threads)

    def test_threads_are_closed_under_a_session(self):
        threads = fovea.Threads(2)
        session = self.model.session(rows=3, workers=threads)
        session.set_segments("tokens", [3])
        session.run()
        threads.close()
        self.refused(status.FOVEA_E_ARGUMENT, "these threads are closed", session.run)
        with fovea.Model(blob("package-writer")) as model:
            threads = fovea.Threads(2)
            generation = model.generate(TEXT, max_tokens=3, workers=threads)
            threads.close()
            self.refused(status.FOVEA_E_ARGUMENT, "these threads are closed", generation.next)

    def test_saved_states(self):
        session = self.model.session(rows=3)
        session.set_segments("tokens", [3])
        session.run()
        saved = session.save()
        session.restore(saved)
        for wrong in (b"", saved[:-1], b"x" + saved[1:]):
            self.refused(status.FOVEA_E_INPUT, "restore: ", session.restore, wrong)

    def test_sessions_outlive_their_model(self):
        expected = self.model.run({"input_ids": [[1, 2, 3]]})["logits"]
        session = self.model.session(rows=3)
        session.set_segments("tokens", [3])
        session.write("input_ids", [1, 2, 3])
        self.model.close()
        gc.collect()
        np.testing.assert_array_equal(session.run().output("logits"), expected)

    def test_nothing_is_left(self):
        def threads():
            return len(os.listdir("/proc/self/task"))

        def mapped():
            return pathlib.Path("/proc/self/maps").read_text().count("package-writer.fovea")

        before = threads()
        model = fovea.Model(blob("package-writer"))
        generation = model.generate(["a", "b"], max_tokens=4, workers=3)
        generation.finish()
        self.assertEqual((mapped() > 0, threads()), (True, before + 2))
        blocks = [weakref.ref(model._memory), weakref.ref(generation._blocks.blocks[0]),
                  *(weakref.ref(block) for block in generation._sessions[0]._blocks.blocks)]
        generation.close()
        model.close()
        gc.collect()
        self.assertEqual([block() for block in blocks if block() is not None], [])
        self.assertEqual((mapped(), threads()), (0, before))

    def test_memory_does_not_grow(self):
        def rss():
            return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path("/proc/self/status").read_text())[1])

        for turn in range(60):
            with fovea.Model(blob("package-section")) as model:
                model.classify([TEXT] * 3, workers=2)
            if turn == 20:
                first = rss()
        self.assertLess(rss() - first, 2000)

    def test_cancel(self):
        session = self.model.session(rows=4096, limits={"texts": 64})
        session.set_segments("tokens", [64] * 64)
        session.write("input_ids", np.full(4096, 9))
        caught = None
        for _ in range(200):
            timer = threading.Timer(0.002, session.cancel)
            timer.start()
            try:
                session.run()
            except fovea.Error as error:
                caught = error
                break
            finally:
                timer.join()
        self.assertEqual(caught.status, status.FOVEA_E_CANCELLED)
        session.run()
        session.cancel()  # before the run
        with self.assertRaises(fovea.Error) as refused:
            session.run()
        self.assertEqual(refused.exception.status, status.FOVEA_E_CANCELLED)
        session.cancel()  # after it
        session.clear_cancel()
        session.run()


class Interface(unittest.TestCase):
    def test_declarations_are_current(self):
        subprocess.run([sys.executable, ROOT / "ports" / "python" / "declarations.py", "--check"], check=True)

    def test_layout(self):
        """ctypes lays structs out as compilers do."""
        table = (ROOT / "tests" / "build" / "layout_lp64.txt").read_text()
        count = 0
        for line in table.splitlines()[1:]:
            if not line.startswith(" "):
                name, size = re.match(r"(\w+): (\d+) bytes", line).groups()
                struct = getattr(_c, name)
                self.assertEqual(ctypes.sizeof(struct), int(size), name)
            else:
                offset, size, field = line.split()
                about = getattr(struct, field)
                self.assertEqual((about.offset, about.size), (int(offset), int(size)), f"{name}.{field}")
                count += 1
        self.assertGreater(count, 200)

    def test_symbols(self):
        names = (ROOT / "tests" / "build" / "symbols.txt").read_text().split()
        self.assertEqual([name for name in names if name not in _c.FUNCTIONS], [])


if __name__ == "__main__":
    unittest.main()
