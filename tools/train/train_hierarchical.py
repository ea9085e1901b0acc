#!/usr/bin/python3
"""Trains package-section-hierarchical: the same examples as package-section, read sentence by sentence. See
README.md."""

import argparse
import os
import time

import numpy as np
import torch

import hierarchical
import packages
import sentences
import tensors
import wordpiece
from train import BATCH, EVAL_ROWS, accuracy_and_f1, train_classifier
from training import SEED, alike, measured, set_up, write_json

CONFIG = {
    "hidden_size": 96, "num_attention_heads": 3, "intermediate_size": 384, "sentence_intermediate_size": 192,
    "token_layers": 2, "sentence_layers": 1, "max_tokens": 64, "max_sentences": 32, "layer_norm_eps": 1e-12,
    "hidden_dropout_prob": 0.1, "labels": len(packages.SECTIONS),
}


GOLDEN_DOCUMENTS = {
    "a": ["Turn-based strategy game. The player leads a tribe from the stone age to the stars!\n\nThere are 40 maps, "
          "e.g. the Nile, and rules for two to eight players over a network.\n* scenarios by Dr. Sid\n* a map editor"],
    "b": ["Dictionary of the elvish languages"],
    "batch": ["Python bindings for reading and writing Excel spreadsheets. This package contains the Python 3 module.",
              "Video",
              "Routines for linear algebra (development files)\n\nIt solves dense and sparse systems of equations, "
              "least squares and eigenvalue problems. The routines call an optimized BLAS where there is one. This "
              "package holds the headers and the static library. Bindings for C and Fortran come separately; so do the "
              "tests."],
}


def paragraphs(example, form="full"):
    """What a user would write: the short line, then paragraphs and list items, an empty line between all of them."""
    short = [] if form == "long" and example.lines else [example.short]
    return short + ([] if form == "short" else example.lines)


def encode(text, tokenizer):
    """The ids of each sentence."""
    most = CONFIG["max_tokens"] - 2
    return [[wordpiece.CLS] + tokenizer.encode(s)[:most] + [wordpiece.SEP] for s in sentences.split(text)][
        :CONFIG["max_sentences"]]


class Data:
    def __init__(self, examples, tokenizer):
        self.examples = examples
        self.labels = np.array([packages.SECTIONS.index(e.label) for e in examples])
        self.forms = {form: [encode("\n\n".join(paragraphs(e, form)), tokenizer) for e in examples]
                      for form in ("full", "short", "long")}


def batches(documents, labels, size, rng=None):
    """Batches of documents of similar length; with `rng` they are drawn at random and come in random order."""
    lengths = np.array([sum(map(len, d)) for d in documents], float)
    if rng:
        lengths *= rng.uniform(0.8, 1.25, len(lengths))
    for chunk in alike(lengths, size, rng):
        yield [documents[i] for i in chunk], torch.from_numpy(labels[chunk])


@torch.no_grad()
def scores(model, documents, labels):
    model.eval()
    return accuracy_and_f1((expected, model(rows)) for rows, expected in batches(documents, labels, BATCH))


def epoch_of(train, rng, drop):
    """The batches of an epoch. `drop` is the share of pieces hidden as [UNK]."""
    # A user may type a title or a paragraph: train on both and on the whole text, complete and truncated.
    forms = rng.choice(["full", "short", "long"], len(train.labels), p=[0.7, 0.15, 0.15])
    limits = rng.choice([CONFIG["max_sentences"], 6, 3], len(train.labels), p=[0.4, 0.3, 0.3])
    documents = [train.forms[forms[i]][i][:limits[i]] for i in range(len(train.labels))]
    for rows, labels in batches(documents, train.labels, BATCH, rng):
        rows = [[[wordpiece.UNK if i > wordpiece.SEP and u < drop else i for i, u in zip(s, rng.random(len(s)))]
                 for s in d] for d in rows]
        yield (rows,), labels


def start_from(flat, model):
    """Words, positions and the first layers of the flat model, which was trained on the same examples."""
    stored = tensors.load(f"{flat}/model.safetensors")
    stored = {name: torch.from_numpy(value.astype(np.float32)) for name, value in stored.items()}
    embeddings = "bert.embeddings."
    values = {
        "word_embeddings.weight": stored[embeddings + "word_embeddings.weight"],
        # The flat model adds the same type of token everywhere.
        "tokens.position_embeddings.weight": stored[embeddings + "position_embeddings.weight"][:CONFIG["max_tokens"]]
        + stored[embeddings + "token_type_embeddings.weight"][0],
    }
    for part in ("weight", "bias"):
        values[f"tokens.LayerNorm.{part}"] = stored[f"{embeddings}LayerNorm.{part}"]
    for name in model.state_dict():
        if name.startswith("tokens.layer."):
            values[name] = stored["bert.encoder." + name[len("tokens."):]]
    model.load_state_dict(values, strict=False)


def from_stored(stored):
    model = hierarchical.Classifier({**CONFIG, "vocab_size": len(stored["word_embeddings.weight"])})
    return tensors.load_into(model, stored)


def ragged(rows):
    """Rows of numbers of several lengths, zeros after them, as `fovea check` reads weights: [row, head, key]."""
    out = np.zeros((len(rows), *rows[0].shape[:-1], max(r.shape[-1] for r in rows)), np.float32)
    for to, row in zip(out, rows):
        to[..., :row.shape[-1]] = row
    return out.reshape(len(rows), -1, out.shape[-1])


def golden(model, tokenizer):
    """Inputs and outputs of fixed documents, rows of all segments one after the other; inner values of the first."""
    out, texts = {}, {}
    for name, documents in GOLDEN_DOCUMENTS.items():
        texts[name] = [{"text": text, "sentences": sentences.split(text)} for text in documents]
        ids = [encode(text, tokenizer) for text in documents]
        traces = [model.trace(d) for d in ids]
        out[f"{name}.in.input_ids"] = np.array([i for d in ids for s in d for i in s])
        out[f"{name}.in.segments.tokens"] = np.array([len(s) for d in ids for s in d])
        out[f"{name}.in.segments.sentences"] = np.array([len(d) for d in ids])
        out[f"{name}.out.word_attention"] = ragged([w for t in traces for w in t["word_attention"]])
        out[f"{name}.out.sentence_attention"] = ragged([t["sentence_attention"] for t in traces])
        for value in ("sentence_rows", "document_vector", "logits"):
            out[f"{name}.out.{value}"] = torch.cat([t[value] for t in traces]).numpy()
        if name == "a":
            for level in ("tokens.0", "sentences.0"):
                weights = [query for heads in traces[0][level] for query in heads.transpose(0, 1)]
                out[f"{name}.out.{level}.attention"] = ragged(weights)
    return out, texts


def export(out, model, tokenizer, held_out, results):
    """Everything but the weights. The model is as stored."""
    for form in ("full", "short"):
        results[f"held_out_{form}"] = scores(model, held_out.forms[form], held_out.labels)
    # The flat model's.
    rows = sorted(np.random.default_rng(SEED).choice(len(held_out.labels), EVAL_ROWS, replace=False))
    results["eval_tsv"] = scores(model, [held_out.forms["full"][i] for i in rows], held_out.labels[rows])
    with open(f"{out}/eval.tsv", "w") as f:
        for example in (held_out.examples[i] for i in rows):
            f.write("\t".join([example.label] + paragraphs(example)) + "\n")
    values, texts = golden(model, tokenizer)
    tensors.save(f"{out}/golden.safetensors", values)
    write_json(f"{out}/golden.json", texts)
    write_json(f"{out}/metrics.json", results)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True, help="model directory to write; it is usable after every epoch")
    parser.add_argument("--flat", default=os.path.join(os.path.dirname(__file__), "package-section"),
                        help="the flat model, whose vocabulary and first layers this one starts with")
    parser.add_argument("--work", default="build/train", help="where the package lists are kept")
    parser.add_argument("--epochs", type=int, default=10, help="0: only measures the weights that are there")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="ends the training in this time")
    args = parser.parse_args()
    start, rng, log = set_up(args.out)
    with open(f"{args.flat}/vocab.txt") as f:
        vocabulary = f.read().splitlines()
    tokenizer = wordpiece.Tokenizer(vocabulary)
    examples = packages.examples(args.work)
    train = Data([e for e in examples if not e.held_out], tokenizer)
    held_out = Data([e for e in examples if e.held_out], tokenizer)
    log(len(train.labels), "training,", len(held_out.labels), "held out")
    model = hierarchical.Classifier({**CONFIG, "vocab_size": len(vocabulary)})
    start_from(args.flat, model)
    results = {"seed": SEED, "training_examples": len(train.labels), "held_out_examples": len(held_out.labels),
               "parameters": sum(p.numel() for p in model.parameters())}

    def after_epoch(epoch, loss):
        results.update(epochs=round(epoch, 2), minutes=round((time.time() - start) / 60, 1))
        tensors.save(f"{args.out}/model.safetensors", tensors.stored(model))
        export(args.out, from_stored(tensors.stored(model)), tokenizer, held_out, results)
        log(f"epoch {epoch:.2f} loss {loss:.3f}", results["held_out_full"], results["held_out_short"])

    if args.epochs == 0:
        stored = tensors.load(f"{args.out}/model.safetensors")
        export(args.out, from_stored(stored), tokenizer, held_out, measured(args.out, results))
        return
    train_classifier(model, len(train.labels), args.epochs, 8e-4, lambda: epoch_of(train, rng, 0.12), after_epoch,
                     60 * args.minutes)


if __name__ == "__main__":
    main()
