"""Models through ports/python give what the command gives."""
import pathlib
import unittest
import warnings

import numpy as np

import fovea
from support import FOLDER, ROOT, blob, command, run_tensors

TEXTS = ["a text editor for programmers", "library for reading png files, with headers", "x"]
DOCUMENT = "This is a text editor. It edits texts! Does it check spelling? It does."


class Description(unittest.TestCase):
    def test_same_as_inspect(self):
        for name in ("package-section", "package-section-hierarchical", "package-writer", "date-normaliser"):
            with fovea.Model(blob(name)) as model:
                told = command("inspect", blob(name), "--json")
                self.assertEqual(list(model.metadata.items()), list(told["metadata"].items()))
                self.assertEqual(list(model.spaces), [space["name"] for space in told["spaces"]])
                told = command("inspect", blob(name), "--json", "--program", model.program().name)
                self.assertEqual(model.program().phases, told["program"]["phases"])
                self.assertEqual([step.op for step in model.program().steps.values()],
                                 [step["op"] for step in told["program"]["steps"]])
                self.assertIn(f"program {model.program().name}, ", model.describe())

    def test_labels(self):
        with fovea.Model(blob("package-section")) as model:
            logits = model.program().outputs["logits"]
            self.assertEqual(len(model.labels), logits.width)
            self.assertEqual(model.labels[3], model.metadata["label.3"])

    def test_tensors_lie_in_the_blob(self):
        with fovea.Model(blob("package-section")) as model:
            raw = pathlib.Path(blob("package-section")).read_bytes()
            tensors = list(model.tensors)
            self.assertEqual(len(tensors), model.info["tensor_count"])
            for tensor in tensors:
                self.assertFalse(tensor.data.flags.owndata)
                self.assertIn(tensor.data[0].tobytes(), raw)


class Texts(unittest.TestCase):
    def same_classes(self, model, predictions, arguments):
        told = command("run", model.name, *arguments, "--json", "--top", 1000, "--explain", 0)
        self.assertEqual(len(predictions), len(told))
        for classes, entry in zip(predictions, told):
            self.assertEqual([c.label for c in classes], [c["label"] for c in entry["classes"]])
            self.assertEqual([np.float32(c.logit) for c in classes],
                             [np.float32(c["logit"]) for c in entry["classes"]])
            self.assertEqual([np.float32(c.probability) for c in classes],
                             [np.float32(c["probability"]) for c in entry["classes"]])

    def test_classify(self):
        with fovea.Model(blob("package-section")) as model:
            arguments = [word for text in TEXTS for word in ("--text", text)]
            for workers in (1, 2, 3):
                self.same_classes(model, model.classify(TEXTS, workers=workers), arguments)
            self.assertEqual(model.classify(TEXTS[0], top=2)[0], model.classify(TEXTS[:1])[0][:2])

    def test_classify_documents(self):
        with fovea.Model(blob("package-section-hierarchical")) as model:
            texts = [DOCUMENT, TEXTS[0], ""]
            arguments = [word for text in texts for word in ("--text", text)]
            self.same_classes(model, model.classify(texts), arguments)

    def test_embed(self):
        with fovea.Model(blob("package-section-hierarchical")) as model:
            with self.assertWarnsRegex(fovea.DefaultWarning, "no embedding, but scores of classes"):
                rows = model.embed([DOCUMENT, TEXTS[1]], normalise=True)
            np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-6)
            result = fovea.run_texts(model, [DOCUMENT, TEXTS[1]])  # the warning comes once
            np.testing.assert_array_equal(model.embed([DOCUMENT, TEXTS[1]]), result["logits"])

    def test_tokens_are_those_of_the_command(self):
        for name in ("package-section", "package-writer", "date-normaliser"):
            with fovea.Model(blob(name)) as model:
                for text in TEXTS + ["", "\u00e4\u4e2d\U0001f600 3.14"]:
                    told = command("tokenize", model.name, "--text", text, "--json")[0]
                    encoding = model.tokenizer.encode(text)
                    self.assertEqual(encoding.ids.tolist(), told["ids"])
                    self.assertEqual(encoding.ranges.tolist(), told["ranges"])
                    self.assertEqual(model.tokenizer.decode(encoding.ids), told["decoded"])

    def test_cut_texts_are_warned_of(self):
        with fovea.Model(blob("package-section")) as model:
            tokenizer = model.tokenizer
            with self.assertWarnsRegex(fovea.TruncationWarning, r"left out: \d+ tokens"):
                cut = tokenizer.encode("word " * 5000)
            whole = tokenizer.encode("word " * 5000, whole=True)
            self.assertEqual(cut.dropped, len(whole) - len(cut))
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                self.assertEqual(tokenizer.encode(TEXTS[0]).dropped, 0)
        with fovea.Model(blob("package-section-hierarchical")) as model:
            with self.assertWarnsRegex(fovea.TruncationWarning, "sentences and"):
                cut = model.tokenizer.encode_document("A sentence. " * 100000)
            self.assertGreater(cut.dropped_sentences, 0)

    def test_tokens(self):
        with fovea.Model(blob("package-section")) as model:
            tokenizer = model.tokenizer
            encoding = tokenizer.encode(TEXTS[0])
            self.assertEqual(tokenizer.decode(encoding.ids), TEXTS[0])
            self.assertEqual([tokenizer.find(tokenizer.piece(i)) for i in encoding.ids], encoding.ids.tolist())
            with self.assertWarns(fovea.TruncationWarning):
                cut = tokenizer.encode(TEXTS[0], max_length=4)
            self.assertEqual((len(cut), cut.dropped), (4, len(encoding) - 4))
            plain = tokenizer.encode(TEXTS[0], plain=True)
            np.testing.assert_array_equal(plain.ids, encoding.ids[~encoding.special])
            pair = tokenizer.encode(TEXTS[0], TEXTS[1])
            self.assertEqual(pair.types.max(), 1)


class Tensors(unittest.TestCase):
    def padded(self, lengths):
        random = np.random.default_rng(1)
        ids = random.integers(5, 5000, (len(lengths), max(lengths)))
        mask = (np.arange(max(lengths)) < np.array(lengths)[:, None]).astype(np.int64)
        return ids.astype(np.int64), mask

    def test_traces(self):
        """Hidden states and attention of a ragged batch, dense and sparse, equal the ones of `fovea run --trace`."""
        lengths = [7, 1, 12]
        ids, mask = self.padded(lengths)
        inputs = {"input_ids": ids, "attention_mask": mask}
        told = run_tensors(blob("package-section"), inputs, "--trace")
        with fovea.Model(blob("package-section")) as model:
            states = [name for name in told if name.startswith("hidden_states.")]
            attentions = [name for name in told if name.startswith("attentions.")]
            self.assertTrue(states and attentions)
            parts = [row[:length] for row, length in zip(ids, lengths)]
            for form in ("dense", "sparse"):
                result = model.run({"input_ids": parts}, keep=states, workers=2,
                                   taps=[fovea.Tap(name, form=form) for name in attentions])
                np.testing.assert_array_equal(result["logits"], told["logits"])
                for name in states:
                    for i, length in enumerate(lengths):
                        np.testing.assert_array_equal(result[name][i], told[name][i, :length])
                for name in attentions:
                    for i, length in enumerate(lengths):
                        np.testing.assert_array_equal(result.attention_map(name).segment(i),
                                                      told[name][i, :, :length, :length])

    def test_forms_of_inputs(self):
        ids, _ = self.padded([6, 6])
        with fovea.Model(blob("package-section")) as model:
            expected = model.run({"input_ids": list(ids)})["logits"]
            for same in (ids, ids[:, :, None], fovea.Ragged(ids.reshape(-1), np.array([0, 6, 12])),
                         fovea.Ragged.of(list(ids)), ids.tolist()):
                np.testing.assert_array_equal(model.run({"input_ids": same})["logits"], expected)
            flat = model.run({"input_ids": ids.reshape(-1)}, segments={"tokens": [6, 6]})
            np.testing.assert_array_equal(flat["logits"], expected)

    def test_a_session_runs_again_in_place(self):
        ids, _ = self.padded([5, 8, 3])
        with fovea.Model(blob("package-section")) as model:
            session = model.session(limits={"tokens": (32, 16), "texts": 4}, workers=2)
            for lengths in ([5, 8], [3], [5, 8, 3]):
                parts = [row[:length] for row, length in zip(ids, lengths)]
                session.set_segments("tokens", lengths)
                session.write("input_ids", np.concatenate(parts))
                session.write("token_type_ids", np.zeros(sum(lengths), int))
                logits = session.run().output("logits")
                self.assertFalse(logits.flags.owndata)
                np.testing.assert_array_equal(logits, model.run({"input_ids": parts})["logits"])
            self.assertEqual(session.output("logits").ctypes.data, logits.ctypes.data)

    def test_stages_are_linked(self):
        """Sentences by themselves, then documents of them: what the whole model gives."""
        with fovea.Model(blob("package-section-hierarchical")) as model:
            whole = fovea.run_texts(model, [DOCUMENT, TEXTS[0]])["logits"]
            encodings = [model.tokenizer.encode_document(text) for text in (DOCUMENT, TEXTS[0])]
            ids = np.concatenate([e.ids for e in encodings])
            lengths = np.concatenate([e.sentences for e in encodings])
            offsets = np.append(0, np.cumsum(lengths, dtype=np.int64))
            counts = [len(e.sentences) for e in encodings]
            rows = model.run({"input_ids": fovea.Ragged(ids, offsets)}, "encode_sentences",
                             segments={"sentences": counts})["sentence_rows"]
            self.assertEqual(rows.lengths.tolist(), counts)
            np.testing.assert_array_equal(model.run({"sentence_rows": rows}, "encode_document")["logits"], whole)

            limits = {"tokens": len(ids), "sentences": sum(counts), "documents": 2}
            first = model.session("encode_sentences", limits=limits)
            first.set_segments("sentences", counts)
            first.set_segments("tokens", lengths)
            first.write("input_ids", ids)
            second = model.session("encode_document", limits=limits, linked=["sentence_rows"])
            second.link("sentence_rows", first.run(), "sentence_rows")
            first.close()  # its memory stays as long as it is read
            np.testing.assert_array_equal(second.run().output("logits"), whole)

    def test_inputs_of_shorter_numbers(self):
        inputs = ("annotations", "keys")

        def session(model, program, linked=()):
            made = model.session(program, rows=9, linked=linked)
            made.set_segments("characters", [9])
            return made

        def encode(model):
            encoder = session(model, "encode")
            encoder.write("input_ids", [7, 3, 12, 30, 5, 9, 21, 2, 14])
            return encoder.run()

        with fovea.Model(blob("date-normaliser")) as model:
            exact = encode(model)
        for keys in ("f16", "bf16", "int8"):
            with fovea.Model(blob("date-normaliser", "--keys", keys)) as model:
                encoder, linked, written = encode(model), session(model, "decode", inputs), session(model, "decode")
                for name in inputs:
                    linked.link(name, encoder, name)
                    written.write(name, exact.output(name))  # what the encoder has before it is stored
                scores = [one.run().output("scores") for one in (linked, written)]
                self.assertGreater(np.ptp(scores[0]), 0.1)
                np.testing.assert_array_equal(scores[0], scores[1], keys)
                if keys == "f16":
                    written.input("keys")[:] = 0
                else:
                    with self.assertRaisesRegex(fovea.Error, r"write\(\) converts"):
                        written.input("keys")


class Generation(unittest.TestCase):
    PROMPTS = ["Package: vim\nSection: editors\n", "Package: libpng\n", "P"]

    def told(self, name, *arguments):
        return command("generate", blob(name), *arguments, "--json")

    def prompts(self):
        return [word for prompt in self.PROMPTS for word in ("--prompt", prompt)]

    def test_greedy(self):
        told = self.told("package-writer", *self.prompts(), "--max-tokens", 24)
        with fovea.Model(blob("package-writer")) as model:
            for workers in (1, 2):
                generation = model.generate(self.PROMPTS, max_tokens=24, workers=workers)
                self.assertEqual(generation.finish(), [entry["text"] for entry in told])
                self.assertEqual(generation.tokens, [entry["tokens"] for entry in told])

    def test_sampling(self):
        told = self.told("package-writer", *self.prompts(), "--max-tokens", 20, "--temperature", 0.9, "--top-k", 40,
                         "--seed", 7)
        with fovea.Model(blob("package-writer")) as model:
            options = dict(max_tokens=20, temperature=0.9, top_k=40)
            self.assertEqual(model.generate(self.PROMPTS, seed=7, **options).finish(), [e["text"] for e in told])
            self.assertNotEqual(model.generate(self.PROMPTS, seed=8, **options).finish(), [e["text"] for e in told])

    def test_prompts_that_do_not_fit(self):
        with fovea.Model(blob("package-writer")) as model:
            most = model.tokenizer.max_length or min(
                space.max_segment_rows for space in model.spaces.values() if space.max_segment_rows)
            self.assertRaisesRegex(fovea.Error, "texts have .* at most", model.generate, "word " * 2 * most)
            ids = [5] * most
            with self.assertWarnsRegex(fovea.TruncationWarning, "lack of room"):
                model.generate([ids], max_tokens=8, stop_ids=[]).finish()

    def test_steps(self):
        with fovea.Model(blob("package-writer")) as model:
            with model.generate(self.PROMPTS[:2], max_tokens=6, logprobs=True, top_logprobs=3) as generation:
                steps = list(generation)
                self.assertEqual([step.step for step in steps], list(range(len(steps))))
                for i, text in enumerate(generation.texts):
                    self.assertEqual("".join(step.parts[i] for step in steps), text)
                np.testing.assert_allclose(steps[0].logprobs, steps[0].top_logprobs[:, 0])
                np.testing.assert_array_equal(steps[0].tokens, steps[0].top_tokens[:, 0])
                self.assertRaises(StopIteration, next, generation)

    def test_forced_tokens(self):
        with fovea.Model(blob("package-writer")) as model:
            generation = model.generate(self.PROMPTS[:1], max_tokens=3)
            generation.next(forced=[42])
            generation.next(forced=[-1])
            self.assertEqual(generation.tokens[0][0], 42)

    def test_encoder_and_decoder(self):
        dates = ["3 March 2014", "May 5, 2020", "the 1st of June 1999"]
        told = self.told("date-normaliser", *(word for date in dates for word in ("--text", date)))
        with fovea.Model(blob("date-normaliser")) as model:
            generation = model.generate(dates)
            self.assertEqual(generation.finish(), [entry["text"] for entry in told])
            self.assertEqual(generation.tokens, [entry["tokens"] for entry in told])


class Golden(unittest.TestCase):
    """Inputs of other kinds, as the original implementations saw them."""

    def test_ids_of_a_decoder(self):
        path = ROOT / "tests" / "data" / "hf" / "llama"
        made = FOLDER / "llama.fovea"
        command("convert", path, "-o", made, "--compare", "none", of_json=False)
        with fovea.Model(made) as model:
            told = command("generate", made, "--ids", "5 9 11", "--ids", "3", "--max-tokens", 5, "--json")
            generation = model.generate([[5, 9, 11], np.array([3])], max_tokens=5)
            generation.finish()
            self.assertEqual(generation.tokens, [entry["tokens"] for entry in told])


if __name__ == "__main__":
    unittest.main()
