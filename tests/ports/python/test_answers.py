"""Answers to questions and weights of the vocabulary: what the command gives, and wrong use."""
import importlib.util
import unittest

import fovea
import numpy as np
from support import FOLDER, ROOT, blob, command

QUESTION = "Which formats?"
CONTEXT = ("A library to read compressed audio files. \u00c4ltere und neuere Formate: it supports FLAC, Ogg Vorbis and "
           "\u4e2d\u6587 tags; a text editor for programmers is not part of it, nor are games, fonts or a web server.")
TEXTS = ["a text editor for programmers", "x", "\u00e4\u4e2d\U0001f600 3.14"]


def heads():
    path = ROOT / "tests" / "ports" / "heads.py"
    specification = importlib.util.spec_from_file_location("heads", path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    module.main(FOLDER / "heads")
    for name in ("question", "weights"):
        command("convert", FOLDER / "heads" / name, "-o", FOLDER / f"{name}.fovea", "--compare", "none", of_json=False)


class Answers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        heads()
        cls.model = fovea.Model(FOLDER / "question.fovea")

    @classmethod
    def tearDownClass(cls):
        cls.model.close()

    def test_as_the_command(self):
        for options, told in (
                ({"top": 5, "allow_none": True}, ["--top", 5, "--allow-no-answer"]),
                ({"top": 3, "max_tokens": 4, "max_length": 30, "stride": 8, "batch_size": 2, "workers": 2},
                 ["--top", 3, "--max-answer", 4, "--max-length", 30, "--stride", 8]),
                ({"max_length": 20}, ["--max-length", 20])):
            found = self.model.answer(QUESTION, CONTEXT, **options)
            wanted = command("run", self.model.name, "--question", QUESTION, "--context", CONTEXT, "--json",
                             *told)[0]["answers"]
            self.assertEqual([(a.text, a.begin, a.end) for a in found],
                             [(a["text"], a["begin_character"], a["end_character"]) for a in wanted])
            np.testing.assert_allclose([a.score for a in found], [a["score"] for a in wanted], rtol=1e-6)
            for answer in found:
                self.assertEqual(answer.text, CONTEXT[answer.begin:answer.end])
        one, = self.model.answer(QUESTION.encode(), CONTEXT.encode())
        self.assertEqual(one.text, CONTEXT.encode()[one.begin:one.end])
        self.assertEqual(self.model.answer(QUESTION, ""), [])

    def test_wrong_use(self):
        with self.assertRaisesRegex(fovea.Error, "no more than the 3 tokens .* of the 6 .*shorten the question"):
            self.model.answer(QUESTION, CONTEXT, max_length=6, stride=3)
        with self.assertRaisesRegex(fovea.Error, "answers questions, and has no embeddings"):
            self.model.embed("a text")
        with self.assertRaisesRegex(fovea.Error, "not a masked language model"):
            self.model.word_weights("a text")
        with self.assertRaisesRegex(fovea.Error, "text is needed"):
            self.model.answer(QUESTION, None)
        with self.assertRaisesRegex(fovea.Error, "top"):
            self.model.answer(QUESTION, CONTEXT, top=-1)
        with fovea.Model(blob("package-section")) as model:
            with self.assertRaisesRegex(fovea.Error, "does not answer questions, its task is sequence-class"):
                model.answer(QUESTION, CONTEXT)

    def test_parts_of_a_pair(self):
        encode = self.model.tokenizer.encode
        for first, second in (("a text", "a library"), ("", "a library"), ("a text", ""), ("", "")):
            parts = encode(first, second).parts.tolist()
            alone = [len(encode(text)) - 2 for text in (first, second)]
            self.assertEqual(parts, [-1] + alone[0] * [0] + [-1] + alone[1] * [1] + [-1])


class Weights(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        heads()
        cls.model = fovea.Model(FOLDER / "weights.fovea")

    @classmethod
    def tearDownClass(cls):
        cls.model.close()

    def test_as_the_command(self):
        texts = [word for text in TEXTS for word in ("--text", text)]
        for options, told in (({}, []), ({"prompt": "document"}, ["--prompt-name", "document"])):
            with (self.assertWarns(fovea.DefaultWarning) if not options else self.subTest()):
                found = self.model.word_weights(TEXTS, **options)
            wanted = command("run", self.model.name, *texts, "--top", 9999, "--json", *told)
            for weights, entry in zip(found, wanted):
                words = entry["sparse"]["words"]
                self.assertEqual([(w.id, w.token) for w in weights], [(w["id"], w["token"]) for w in words])
                np.testing.assert_allclose([w.weight for w in weights], [w["weight"] for w in words], rtol=1e-6)
                self.assertEqual(len(weights), entry["sparse"]["nonzero"])
            self.assertEqual(self.model.word_weights(TEXTS, top=3, **options), [weights[:3] for weights in found])
            rows = self.model.embed(TEXTS, **options)  # the same weights as rows of the vocabulary's size
            for row, weights in zip(rows, found):
                self.assertEqual(np.count_nonzero(row), len(weights))
                np.testing.assert_array_equal(row[[w.id for w in weights]],
                                              np.array([w.weight for w in weights], np.float32))

    def test_similarity_is_the_product(self):
        told = command("similarity", self.model.name, "--text", TEXTS[0], "--text", TEXTS[1], "--prompt-name",
                       "document", "--json")["dot_products"]
        np.testing.assert_allclose(self.model.similarity(TEXTS[:2], prompt="document"), told, rtol=1e-5)


if __name__ == "__main__":
    unittest.main()
