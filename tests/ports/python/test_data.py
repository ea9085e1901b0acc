"""Texts of data scientists: columns, streams, batches, odd values; what is announced; interrupted work."""
import contextlib
import io
import os
import pathlib
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
import unittest
import warnings
from unittest import mock

import numpy as np

import fovea
from fovea import _c, _interrupt, similar, status
from fovea._library import look
from fovea._results import result_info
from fovea.predict import classes_of
from support import FOLDER, ROOT, blob, command

TEXTS = ["a text editor for programmers", "library for reading png files, with headers", "x",
         "na\u00efve \U0001f600 \u4e2d\u6587", "player of music " * 9, ""]
LONG = "word " * 3000


class Column:
    """A pandas Series, as far as it concerns texts: it has a length and is iterable, but no sequence."""

    def __init__(self, values):
        self._values = values

    def __len__(self):
        return len(self._values)

    def __iter__(self):
        return iter(self._values)

    def __getitem__(self, label):
        raise KeyError(label)


def embedder():
    return fovea.Model(blob("package-section", "--task", "embedding"))


class Data(unittest.TestCase):
    def setUp(self):
        self.model = embedder()
        self.addCleanup(self.model.close)

    def refused(self, words, function, *arguments, **options):
        with self.assertRaisesRegex(fovea.Error, words) as caught:
            function(*arguments, **options)
        return caught.exception


class Inputs(Data):
    def test_any_iterable(self):
        expected = self.model.embed(TEXTS)
        self.assertEqual((expected.shape, expected.dtype), ((len(TEXTS), 96), np.float32))
        for same in (tuple(TEXTS), Column(TEXTS), np.array(TEXTS), np.array(TEXTS, object), iter(TEXTS),
                     (text for text in TEXTS), map(str, TEXTS), [text.encode() for text in TEXTS],
                     dict.fromkeys(TEXTS).keys().__iter__(), [self.model.tokenizer.encode(text) for text in TEXTS]):
            np.testing.assert_array_equal(self.model.embed(same), expected, type(same).__name__)
        np.testing.assert_array_equal(self.model.embed(TEXTS[0]), expected[:1])
        self.assertEqual([row.tolist() for row in self.model.embed_iter(iter(TEXTS))], expected.tolist())
        with fovea.Model(blob("package-section")) as model:
            self.assertEqual(model.classify(Column(TEXTS)), model.classify(TEXTS))
            self.assertEqual([model.classify(text)[0] for text in Column(TEXTS)], model.classify(TEXTS))  # Series.apply

    def test_pairs(self):
        pair = ("a text editor", "png files")
        encoding = self.model.tokenizer.encode(*pair)
        expected = fovea.run_texts(self.model, [encoding])["pooler_output"]
        np.testing.assert_array_equal(self.model.embed([pair]), expected)

    def test_odd_values(self):
        for words, wrong in (("not None", None), ("not int", 7), ("not a dict", {"a": 1}), ("not a set", {"a"}),
                             (r"texts\[1\]: a text is needed, not None", ["a", None]),
                             (r"texts\[1\]: a text is needed, not NaN", ["a", float("nan")]),
                             (r"texts\[0\]: .*PosixPath; read the file", [pathlib.Path("x")]),
                             ("PosixPath; read the file", pathlib.Path("x")),
                             (r"texts\[1\]: the text is not valid UTF-8, from byte 3", ["a", "ok \ud800"]),
                             ("from byte 1", [b"a\xff"]), ("the list is empty", []), ("the list is empty", iter([])),
                             (r"texts\[0\]: a text is needed, not tuple", [("a", "b", "c")])):
            for function in (self.model.embed, lambda texts: list(self.model.embed_iter(texts)) or 1 / 0,
                             self.model.similarity, lambda texts: self.model.search("a", texts)):
                try:
                    self.refused(words, function, wrong)
                except ZeroDivisionError:
                    self.assertIn("empty", words)  # a stream of no texts has no rows
        with fovea.Model(blob("package-writer")) as model:
            self.refused(r"texts\[1\]: .* not NoneType", model.generate, ["a", None])
            self.refused("not a dict", model.generate, {"a": 1})

    def test_numbers_of_numpy(self):
        with fovea.Model(blob("package-section")) as model:
            self.assertEqual(model.classify(TEXTS, top=np.int64(2), workers=np.int32(2), batch_size=np.uint8(3)),
                             model.classify(TEXTS, top=2))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.classify(TEXTS, max_length=np.int64(8))
            session = model.session(limits={"tokens": np.int64(8), "texts": (np.int64(2), 0)})
            session.set_segments("tokens", np.array([3], np.int64))
            self.refused("max_length: -1 does not fit", model.classify, TEXTS, max_length=np.int64(-1))
            self.refused("batch_size: at least", model.classify, TEXTS, batch_size=0)
            self.refused("a whole number is needed, not 1.5", model.classify, TEXTS, batch_size=1.5)
        with fovea.Model(blob("package-writer")) as model:
            options = dict(max_tokens=np.int64(3), temperature=np.float32(0.5), seed=np.uint64(2**63),
                           top_k=np.int16(9))
            self.assertEqual(model.generate("P", **options).finish(),
                             model.generate("P", max_tokens=3, temperature=0.5, seed=2**63, top_k=9).finish())
        self.assertEqual(fovea.Threads(np.int64(2)).count, 2)

    def test_misspelled_parameters(self):
        for function, wrong, words in (
                (self.model.embed, "nomralise", "embed.* 'nomralise'; did you mean 'normalise'"),
                (self.model.embed, "normalize", "did you mean 'normalise'"),
                (self.model.embed, "batchsize", "did you mean 'batch_size'"),
                (self.model.embed, "xyz", "there are: texts, normalise, prompt"),
                (self.model.generate, "Temperature", "did you mean 'temperature'"),
                (self.model.session, "worker", "did you mean 'workers'"),
                (self.model.tokenizer.encode, "maxlength", "did you mean 'max_length'"),
                (fovea.Sampling, "temprature", "Sampling.*did you mean 'temperature'"),
                (fovea.Tap, "head", "Tap.*did you mean 'heads'"),
                (fovea.run_texts, "tap", "did you mean 'taps'"),
                (fovea.Model, "verfy", "did you mean 'verify'")):
            with self.subTest(wrong=wrong):
                error = self.refused(words, function, "x", **{wrong: 1})
                self.assertIsInstance(error, TypeError)
                self.assertEqual(error.status, status.FOVEA_E_OPTION)
        for name in ("embed", "embed_iter", "classify", "generate", "similarity", "search", "explain", "session",
                     "run"):
            self.assertTrue(getattr(fovea.Model, name).__doc__)

    def test_type_checker(self):
        """mypy finds what is misspelled, and nothing in the package."""
        if subprocess.run([sys.executable, "-m", "mypy", "--version"], capture_output=True).returncode:
            print("SKIPPED: no mypy (apt package mypy)", file=sys.stderr)
            self.skipTest("no mypy")
        wrong = FOLDER / "wrong.py"
        wrong.write_text("import fovea\nmodel = fovea.Model('m')\nmodel.embed(['a'], nomralise=True)\n"
                         "model.embed(['a'], normalise=True).shape\nmodel.classify('a', top='b')\n"
                         "model.classify(['a'])[0][0].lable\nfovea.Sampling(temprature=1)\n"
                         "model.generate('a', temprature=1)\nfor row in model.embed_iter(x for x in 'ab'): row.shape\n")
        found = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", str(FOLDER / "mypy"), str(wrong)],
                               capture_output=True, text=True, cwd=FOLDER,
                               env={**os.environ, "MYPYPATH": str(ROOT / "ports" / "python")}).stdout
        lines = re.findall(r"^(\S+?):(\d+): error", found, re.M)
        self.assertEqual([(name, int(line)) for name, line in lines], [("wrong.py", n) for n in (3, 5, 6, 7, 8)], found)


class Batches(Data):
    def test_any_size(self):
        texts = [TEXTS[i % 5] + " and more" * (i % 7) for i in range(150)]
        expected = self.model.embed(texts)
        for size in (1, 7, 1000):
            for workers in (1, 2):
                np.testing.assert_array_equal(self.model.embed(texts, batch_size=size, workers=workers), expected)
        np.testing.assert_array_equal(expected, fovea.run_texts(self.model, texts)["pooler_output"])

    def test_progress(self):
        for given, total in ((TEXTS * 3, 18), (iter(TEXTS * 3), None)):
            reports = []
            self.model.embed(given, batch_size=4, progress=lambda *numbers: reports.append(numbers))
            self.assertEqual(reports, [(4, total), (8, total), (12, total), (16, total), (18, total)])
        for given in (TEXTS, iter(TEXTS)):
            with contextlib.redirect_stderr(io.StringIO()) as written:
                list(self.model.embed_iter(given, progress=True))
            self.assertEqual(written.getvalue(), "embed: 6 of 6 texts\n")
        self.refused("progress: True or a function", self.model.embed, TEXTS, progress="yes")

        def stop(*_):
            raise RuntimeError("enough")
        self.assertRaisesRegex(RuntimeError, "enough", self.model.embed, TEXTS, progress=stop)
        self.assertEqual(len(self.model.embed(TEXTS)), len(TEXTS))

    def test_constant_memory(self):
        """4,000 lines, 300,000 rows if they were one run; an endless stream, which is read only as far as needed."""
        program = """
import resource, sys, fovea
model = fovea.Model(sys.argv[1])
line = "a text editor for programmers who read the files of a library " * 6
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
model.embed([line] * 8)
first, read = peak(), []
rows = model.embed([line + str(i) for i in range(4000)])
def stream():
    while True:
        read.append(1)
        yield line
rows = model.embed_iter(stream(), batch_size=16)
for _ in range(1000):
    next(rows)
print(peak() - first, len(read))
"""
        done = subprocess.run([sys.executable, "-c", program, blob("package-section", "--task", "embedding")],
                              capture_output=True, text=True, check=True)
        grown, read = map(int, done.stdout.split())
        self.assertLess(grown, 60, "MB")
        self.assertLess(read, 1000 + 16 * 16 + 1)


    def test_threads(self):
        """Several threads use one model, with separate and with shared threads for their runs."""
        texts, shared, results = TEXTS * 20, fovea.Threads(2), [None] * 6
        expected = self.model.embed(texts)

        def work(i):
            results[i] = self.model.embed(texts, workers=(1, 2, shared)[i % 3])

        threads = [threading.Thread(target=work, args=[i]) for i in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        for result in results:
            np.testing.assert_array_equal(result, expected)

    def test_long_texts_end_a_window(self):
        """Memory is bounded by the tokens that are read ahead, dropped ones included, and by bytes."""
        for text, expected in ((LONG, 22), ("a" * 300000, 4)):  # 3002 tokens; 1 token of many bytes
            read = []

            def stream():
                for i in range(100):
                    read.append(i)
                    yield text

            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                next(self.model.embed_iter(stream()))
            self.assertEqual(len(read), expected)

    def test_abandoned(self):
        """A stream that is not read to its end, or whose model is closed."""
        rows = self.model.embed_iter(iter(TEXTS * 50), batch_size=2)
        first = next(rows)
        rows.close()
        rows = self.model.embed_iter(iter(TEXTS * 50), batch_size=2)
        np.testing.assert_array_equal(next(rows), first)
        self.model.close()
        self.refused("this model is closed", list, rows)
        self.assertRaises(TypeError, pickle.dumps, rows)


class Announced(Data):
    def test_truncated_texts(self):
        for function in (self.model.embed, self.model.similarity, lambda texts: list(self.model.embed_iter(texts))):
            with self.assertWarnsRegex(fovea.TruncationWarning, r"texts\[2\] is longer than the model reads: 128 of "
                                       r"3002 tokens are read; left out: 2874 tokens; 1 more of 4 texts") as caught:
                function(["a", "b", LONG, LONG])
            self.assertEqual(caught.filename, __file__)  # the line of the caller
        with fovea.Model(blob("package-section-hierarchical")) as model:
            most = model.spaces["sentences"].max_segment_rows
            words = rf": {most} of {most + 5} sentences are read; left out: 5 sentences and 0 tokens"
            with self.assertWarnsRegex(fovea.TruncationWarning, words):
                model.classify("A text. " * (most + 5))
        with warnings.catch_warnings():
            warnings.simplefilter("error", fovea.TruncationWarning)
            self.assertRaises(fovea.TruncationWarning, self.model.embed, LONG)
        self.assertIs(fovea.CutWarning, fovea.TruncationWarning)
        encoding = self.model.tokenizer.encode(LONG, whole=True)
        self.assertEqual((len(encoding), encoding.dropped), (3002, 0))

    def test_special_tokens_in_texts(self):
        tokenizer, text = self.model.tokenizer, "a [SEP] b"
        with self.assertWarnsRegex(fovea.SpecialTokensWarning, "^a text spells special tokens, .* literal=True"):
            self.assertEqual(tokenizer.encode(text).spelled, 1)
        with self.assertWarnsRegex(fovea.SpecialTokensWarning, r"^texts\[1\] spells .*; so do 1 more of 4 texts"):
            self.model.embed(["a [MASK] b", text, text, "plain"])
        with warnings.catch_warnings():
            warnings.simplefilter("error", fovea.SpecialTokensWarning)
            self.assertEqual(tokenizer.encode(text, literal=True).spelled, 0)
            self.assertEqual(tokenizer.encode("a [MASK] b").spelled, 0)

    def test_literal_texts(self):
        warnings.simplefilter("ignore", fovea.SpecialTokensWarning)  # until the test ends
        tokenizer, text = self.model.tokenizer, "a [SEP] b"
        read = [len(tokenizer.encode(text, literal=literal)) for literal in (False, True)]
        self.assertEqual(read[0], 5)
        self.assertGreater(read[1], 5)
        ids = tokenizer.encode(text, literal=True).ids.tolist()
        self.assertEqual(ids.count(tokenizer.find("[SEP]")), 1)
        embedded = [self.model.embed(text, literal=literal) for literal in (False, True)]
        self.assertFalse(np.array_equal(*embedded))
        with fovea.Model(blob("package-section-hierarchical")) as model:
            self.assertEqual(model.classify(text, literal=True),
                             model.classify(model.tokenizer.encode_document(text, literal=True)))
            words = [len(model.explain(text, literal=literal).words) for literal in (False, True)]
            self.assertLess(*words)
            self.assertEqual(len(model.tokenizer.encode_document(text, literal=True)), read[1])
        with fovea.Model(blob("package-writer")) as model:
            prompts = [model.tokenizer.encode("libs </s>", literal=literal) for literal in (False, True)]
            made = [model.generate("libs </s>", max_tokens=2, literal=literal).finish() for literal in (False, True)]
            self.assertEqual(made[1], model.generate([prompts[1].ids.tolist()], max_tokens=2).finish())

    def test_defaults(self):
        with fovea.Model(blob("package-section")) as model:
            with self.assertWarnsRegex(fovea.DefaultWarning, "no embedding, but scores of classes"):
                model.embed(TEXTS)
            model.embed(TEXTS)  # once is enough
        with fovea.Model(blob("package-section")) as model:
            model.embed(TEXTS, output="logits")  # chosen
            self.refused("'x'", model.embed, TEXTS, output="x")
            self.assertEqual(model.defaults["max_length"], 128)
            self.assertIn("default max_length: 128", model.describe())
        states = fovea.run_texts(self.model, TEXTS[:2])["last_hidden_state"]
        np.testing.assert_allclose(self.model.embed(TEXTS[:2], output="last_hidden_state"),
                                   [part.mean(axis=0) for part in states], rtol=1e-5, atol=1e-6)
        with fovea.Model(blob("package-writer")) as model:
            self.assertGreater(model.defaults["max_tokens"], 0)
            with mock.patch.dict(model.metadata, task="causal-lm"):
                self.refused("it generates text .*fovea convert --task embedding", model.embed, TEXTS)
            self.refused("max_tokens: -1 does not fit", model.generate, "P", max_tokens=-1)
            self.refused("as a whole: it has scores for each token", model.classify, TEXTS)
        self.refused("no value 'logits', the scores of classes; its outputs are: last_hidden", self.model.classify,
                     TEXTS)

    def test_scores(self):
        """A model of one number: the number, or its sigmoid where the original returns that."""
        with fovea.Model(blob("package-section")) as model:
            info, logits = result_info(model, model.program(None)), np.array([0.5], np.float32)
            info.width, info.activation = 1, _c.FOVEA_ACTIVATION_NONE
            one, = classes_of(model, info, logits, logits, None)
            self.assertEqual((one.probability, one.logit, one.score), (None, 0.5, 0.5))
            scores = logits.copy()
            look("fovea_result_activate", _c.FOVEA_ACTIVATION_SIGMOID, scores.ctypes.data, 1)
            info.activation = _c.FOVEA_ACTIVATION_SIGMOID
            one, = classes_of(model, info, logits, scores, None)
            self.assertEqual((one.probability, one.logit, round(one.score, 6)), (None, 0.5, 0.622459))
            best = model.classify(TEXTS[0])[0][0]
            self.assertEqual(best.score, best.probability)


class Similar(Data):
    def test_as_the_command(self):
        told = command("similarity", self.model.name, *[word for text in TEXTS for word in ("--text", text)], "--json")
        np.testing.assert_allclose(self.model.similarity(TEXTS), told["cosines"], rtol=1e-6, atol=1e-7)
        rows = self.model.embed(TEXTS)
        np.testing.assert_array_equal(self.model.similarity(rows, TEXTS[:2]), self.model.similarity(TEXTS, rows[:2]))
        np.testing.assert_allclose(self.model.similarity(TEXTS, measure="dot"), rows @ rows.T, rtol=1e-4, atol=1e-4)
        apart = rows[:, None].astype(float) - rows[None]
        np.testing.assert_allclose(self.model.similarity(rows, measure="euclidean"),
                                   -np.linalg.norm(apart, axis=2), atol=1e-5)
        np.testing.assert_allclose(self.model.similarity(rows, measure="manhattan"), -np.abs(apart).sum(axis=2))
        self.refused("measure 'angle'", self.model.similarity, TEXTS, measure="angle")
        self.refused("cannot be compared", self.model.similarity, np.ones((2, 3), np.float32), TEXTS)

    def test_search(self):
        corpus = [f"package number {i} with files" for i in range(300)] + ["a text editor", "a text editor"]
        hits = self.model.search("a text editor", corpus, top=3)
        self.assertEqual([(hit.index, hit.text) for hit in hits[:2]], [(300, corpus[300]), (301, corpus[301])])
        self.assertAlmostEqual(hits[0].score, 1, 5)
        rows = self.model.embed(corpus)
        many = self.model.search(["a text editor", "music"], rows, top=500)
        self.assertEqual([len(found) for found in many], [302, 302])
        scores = self.model.similarity(["music"], rows)[0]
        self.assertEqual([hit.index for hit in many[1]], np.argsort(-scores, kind="stable").tolist())
        self.assertEqual(many[0][0].text, None)
        self.assertEqual(self.model.search("a", corpus, top=0), [])
        for block in (1, 7, 301):
            with mock.patch.multiple(similar, _QUERIES=block, _TEXTS=block):
                again = self.model.search(["a text editor", "music"], rows, top=5)
            self.assertEqual([[hit.index for hit in found] for found in again],
                             [[hit.index for hit in found[:5]] for found in many])


class Shown(Data):
    def test_spans(self):
        for text, second in (("na\u00efve \U0001f600 text", None), ("a\u4e2d", "zwei W\u00f6rter"), ("", "b\u00e4"),
                             ("plain", "")):
            encoding = self.model.tokenizer.encode(text, second)
            raw = [part.encode() for part in (text, second or "")]
            for (begin, end), (first, last), part in zip(encoding.spans, encoding.ranges, encoding.parts):
                if part >= 0:
                    self.assertEqual((text, second)[part][begin:end].encode(), raw[part][first:last])
                else:
                    self.assertEqual((begin, end), (0, 0))
        with fovea.Model(blob("package-writer")) as model:  # bytes: parts of a character have all of it
            encoding = model.tokenizer.encode("a \U0001f600", plain=True)
            self.assertIn("\U0001f600", encoding.text[encoding.spans[-1][0]:encoding.spans[-1][1]])

    def test_explain(self):
        text = "A text editor. It edits na\u00efve <b>texts</b>, \u4e2d\u6587 too!"
        path = str(ROOT / "tools" / "train" / "package-section-hierarchical.fovea")
        told = command("run", path, "--text", text, "--json", "--explain", 100, "--top", 2)[0]
        with fovea.Model(path) as model:
            explained = model.explain(text, top=2)
            self.assertEqual([one.label for one in explained.classes], [one["label"] for one in told["classes"]])
            self.assertEqual(len(explained.sentences), len(told["sentences"]))
            for sentence, entry in zip(explained.sentences, told["sentences"]):
                self.assertEqual((sentence.text, text[sentence.begin:sentence.end]), (entry["text"], entry["text"]))
                self.assertAlmostEqual(sentence.share, entry["share"], 6)
                self.assertEqual([word.text for word in sentence.words], [word["text"] for word in entry["words"]])
                np.testing.assert_allclose([(word.weight, word.share) for word in sentence.words],
                                           [(word["weight"], word["share"]) for word in entry["words"]], rtol=1e-5)
                for word in sentence.words:
                    self.assertEqual(text[word.begin:word.end], word.text)
            self.assertEqual(list(explained), explained.words)
            page = explained._repr_html_()
            self.assertIn("\u4e2d", page)
            self.assertNotIn("<b>", page)
            self.assertEqual(pickle.loads(pickle.dumps(explained)), explained)
            self.assertRegex(repr(explained), "Explanation: editors 0.726.*words: editor 0.119, text")
            self.assertEqual(model.explain("").words, [])
            self.refused("one text is needed", model.explain, [text])
        self.refused("no attention that explains", fovea.Model(blob("package-section")).explain, text)

    def test_notebooks(self):
        for form in ("dense", "sparse"):
            result = fovea.run_texts(self.model, ["a <b> text", "x", "y", "z " * 60],
                                     taps=[fovea.Tap("attentions.1", form=form)])
            recorded = result.attention_map("attentions.1")
            page = recorded._repr_html_()
            for words in ("&lt;", "segment 0 of 4: mean of 3 heads", "[CLS]", "head 2",
                          "1 more segments are not shown"):
                self.assertIn(words, page)
            self.assertNotIn("<b>", page)
            self.assertIn("48 of 62 x 62", fovea.run_texts(self.model, "z " * 60, taps=["attentions.1"])
                          .attention_map(0)._repr_html_())
        plain = self.model.run({"input_ids": [[1, 2, 3]]}, taps=[fovea.Tap("attentions.0", reduce="mean")])
        self.assertIn("segment 0 of 1<", plain.attention_map(0)._repr_html_())
        self.assertIn("program encode", self.model._repr_html_())

    def test_representations(self):
        session = self.model.session(rows=4)
        writer = fovea.Model(blob("package-writer"))
        generation = writer.generate(["a", "b"], max_tokens=3)
        result = fovea.run_texts(self.model, TEXTS[:2], taps=["attentions.0"])
        for one, words in ((self.model, "Model .*: embedding, programs encode, [0-9]+ bytes"),
                           (session, "Session .*program encode: at most .*bytes"), (fovea.Threads(2), "Threads 2"),
                           (self.model.tokenizer, "Tokenizer .*word_piece, 5600 tokens, at most 128 tokens"),
                           (self.model.tokenizer.encode(TEXTS[0]), r"Encoding of 'a text .*': \d+ tokens"),
                           (result, "pooler_output: float32\\[2, 96\\]\n  attention maps: attentions.0"),
                           (result["last_hidden_state"], r"Ragged: 2 segments, values float32\[\d+, 96\]"),
                           (result.attention_map(0), "AttentionMap, dense: .* 3 heads, 2 segments"),
                           (generation, "Generation: 2 texts, 2 unfinished, 0 tokens"),
                           (fovea.Tap("a", heads=[1]), "Tap.*'a'"), (fovea.Hit(1, 0.5), "Hit.index=1")):
            self.assertRegex(repr(one), words)
            self.assertLess(len(repr(one)), 400)
        for one in (session, generation, self.model):
            one.close()
            self.assertRegex(repr(one), "closed")


class Interrupted(Data):
    def interrupted(self, function, after=0.2):
        """How much time of a processor the function takes after Ctrl-C: other programs do not count."""
        sent = []

        def send():
            sent.append(time.process_time())
            os.kill(os.getpid(), signal.SIGINT)

        timer = threading.Timer(after, send)
        timer.start()
        try:
            with self.assertRaises(KeyboardInterrupt):
                function()
        finally:
            timer.join()
        return time.process_time() - sent[0]

    def test_runs(self):
        for workers in (1, 2):
            session = self.model.session(limits={"tokens": (2**16, 128), "texts": 512}, workers=workers)
            session.set_segments("tokens", [128] * 512)
            session.write("input_ids", np.full(2**16, 9))
            self.assertLess(self.interrupted(session.run, 0.1), 1)
            session.set_segments("tokens", [3])
            session.run()  # the request does not remain
            session.close()

    def test_batches(self):
        def endless():
            while True:
                yield "a text editor for programmers " * 12

        expected = self.model.embed(TEXTS)
        self.assertLess(self.interrupted(lambda: self.model.embed(endless())), 1)
        np.testing.assert_array_equal(self.model.embed(TEXTS), expected)
        with fovea.Model(blob("package-writer")) as model:
            generation = model.generate(["P"] * 30, max_tokens=400, stop_ids=[])
            self.assertLess(self.interrupted(generation.finish, 0.05), 1)
            generation.next()  # continues where it stopped

    def test_second_signals(self):
        """Further signals do not leave the library at work on memory that is freed."""
        ended, cancelled = threading.Event(), threading.Event()

        def work():
            cancelled.wait(20)
            time.sleep(0.2)
            ended.set()

        for delay in (0.1, 0.2):
            threading.Timer(delay, os.kill, [os.getpid(), signal.SIGINT]).start()
        with self.assertRaises(KeyboardInterrupt):
            _interrupt.interruptible(work, cancelled.set, lambda: None)
        self.assertTrue(ended.is_set())

        def fails():
            raise fovea.Error("an error of the call")
        self.assertRaisesRegex(fovea.Error, "of the call", _interrupt.interruptible, fails, print, print)


if __name__ == "__main__":
    unittest.main()
