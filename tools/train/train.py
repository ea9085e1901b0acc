#!/usr/bin/python3
"""Trains the package-section model: Debian package lists in, a model directory out. See README.md."""

import argparse
import collections
import itertools
import time

import numpy as np
import torch
from torch import nn

import bert
import packages
import tensors
import wordpiece
from training import SEED, alike, fit, set_up, write_json

VOCABULARY = 5600
MAX_LENGTH = 128  # with [CLS] and [SEP]
EVAL_ROWS = 400
BATCH = 64
CONFIG = {
    "architectures": ["BertForSequenceClassification"],
    "attention_probs_dropout_prob": 0.0,
    "classifier_dropout": None,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.1,
    "hidden_size": 96,
    "initializer_range": 0.05,
    "intermediate_size": 384,
    "layer_norm_eps": 1e-12,
    "max_position_embeddings": MAX_LENGTH,
    "model_type": "bert",
    "num_attention_heads": 3,
    "num_hidden_layers": 3,
    "pad_token_id": 0,
    "position_embedding_type": "absolute",
    "problem_type": "single_label_classification",
    "type_vocab_size": 2,
    "id2label": {str(i): s for i, s in enumerate(packages.SECTIONS)},
    "label2id": {s: i for i, s in enumerate(packages.SECTIONS)},
}
GOLDEN_TEXTS = [
    "A real-time strategy game set in ancient times.",
    "Command line client that downloads files over HTTP, HTTPS and FTP.",
    "Dictionary of the elvish languages",
    "Python bindings for reading and writing Excel spreadsheets. This package contains the Python 3 module.",
    "Türkçe ve 日本語: NAÏVE café—text  with\ttabs, “quotes”, e-mail@example.org & C++17!",
    "Video",
    "Library of numerical routines for linear algebra (development files). It provides solvers for dense and sparse "
    "systems of equations, least squares, eigenvalue problems and singular value decomposition. The routines call "
    "an optimized BLAS where there is one. This package holds the headers and the static library, which are needed "
    "to compile programs against it. Bindings for Fortran, C and C++ come in separate packages; so do the tests.",
    "Icon theme and window decorations for the desktop",
]


def full_text(short, long):
    return f"{short}. {long}" if long else short


class Data:
    """The pieces of the short and the long part of each example, and its label's number."""

    def __init__(self, examples, tokenizer):
        self.examples = examples
        self.labels = np.array([packages.SECTIONS.index(e.label) for e in examples])
        self.parts = [(tokenizer.encode(e.short), tokenizer.encode(". " + e.long) if e.long else []) for e in examples]

    def ids(self, i, form="full", limit=MAX_LENGTH):
        short, long = self.parts[i]
        if form == "short" or not long:
            pieces = short
        else:
            pieces = long[1:] if form == "long" else short + long
        return [wordpiece.CLS] + pieces[:limit - 2] + [wordpiece.SEP]


def padded(rows):
    length = max(map(len, rows))
    ids = torch.tensor([r + [wordpiece.PAD] * (length - len(r)) for r in rows])
    mask = torch.tensor([[1] * len(r) + [0] * (length - len(r)) for r in rows])
    return ids, mask


def batches(rows, labels, size, rng=None):
    """Batches of rows of similar length; with `rng` they are drawn at random and come in random order."""
    jitter = rng.uniform(0, 6, len(rows)) if rng else np.zeros(len(rows))
    for chunk in alike([len(r) for r in rows] + jitter, size, rng):
        yield (*padded([rows[i] for i in chunk]), torch.from_numpy(labels[chunk]))


def accuracy_and_f1(predictions):
    """Accuracy and macro-averaged F1 over the sections, of pairs of labels and what the model returned."""
    table = np.zeros((len(packages.SECTIONS),) * 2, int)
    for labels, returned in predictions:
        np.add.at(table, (labels.numpy(), returned[0].argmax(-1).numpy()), 1)
    f1 = 2 * np.diag(table) / np.maximum(table.sum(0) + table.sum(1), 1)
    return {"accuracy": round(float(np.trace(table) / table.sum()), 4), "macro_f1": round(float(f1.mean()), 4)}


@torch.no_grad()
def scores(model, data, form="full"):
    model.eval()
    rows = [data.ids(i, form) for i in range(len(data.labels))]
    return accuracy_and_f1((labels, model(ids, mask)) for ids, mask, labels in batches(rows, data.labels, BATCH))


class Bag(nn.Module):
    """The baseline: mean of piece vectors, then a linear layer. Its vectors start the encoder's embeddings."""

    def __init__(self, width):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, width)
        nn.init.normal_(self.embedding.weight, std=0.05)
        self.linear = nn.Linear(width, len(packages.SECTIONS))

    def forward(self, ids, mask):
        m = (mask * (ids > wordpiece.SEP)).unsqueeze(-1).float()
        mean = (self.embedding(ids) * m).sum(1) / m.sum(1).clamp(min=1)
        return (self.linear(mean),)


def epoch_of(train, rng, drop):
    """The batches of an epoch: what the model takes, and labels. `drop` is the share of pieces hidden as [UNK]."""
    # A user may type a title or a paragraph: train on both and on the whole text, complete and truncated.
    forms = rng.choice(["full", "short", "long"], len(train.labels), p=[0.6, 0.2, 0.2])
    limits = rng.choice([MAX_LENGTH, MAX_LENGTH // 2], len(train.labels), p=[0.35, 0.65])
    rows = [train.ids(i, forms[i], limits[i]) for i in range(len(train.labels))]
    for ids, mask, labels in batches(rows, train.labels, BATCH, rng):
        hidden = torch.from_numpy(rng.random(ids.shape) < drop) & (ids > wordpiece.SEP)
        yield (ids.masked_fill(hidden, wordpiece.UNK), mask), labels


def train_classifier(model, examples, epochs, rate, epoch, after_epoch, seconds=float("inf")):
    """`epoch()` yields the batches of an epoch with the given number of examples; the model returns logits first."""
    decayed = [p for p in model.parameters() if p.dim() > 1]
    plain = [p for p in model.parameters() if p.dim() == 1]
    parameters = [{"params": decayed, "weight_decay": 0.05}, {"params": plain, "weight_decay": 0.0}]
    loss_function = nn.CrossEntropyLoss(label_smoothing=0.05)

    def loss_of(arguments, labels):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = model(*arguments)[0]
        return loss_function(logits.float(), labels)

    steps = (examples + BATCH - 1) // BATCH
    batches = itertools.chain.from_iterable(epoch() for _ in range(epochs))
    fit(model, parameters, rate, batches, loss_of, epochs * steps, 0.06, steps,
        lambda step, loss: after_epoch(step / steps, loss), seconds)


def rounded(model):
    """The weights as stored: f16. The model itself is rounded to them, so that what is measured is what is saved."""
    stored = tensors.stored(model)
    return stored, tensors.load_into(bert.Classifier({**CONFIG, "vocab_size": VOCABULARY}), stored)


def golden(model, tokenizer):
    """Inputs and outputs of fixed texts; the trace of the first two, logits of the rest, and a padded batch."""
    out, texts = {}, {}

    def case(name, ids, mask, trace):
        with torch.no_grad():
            logits, states, attentions = model(ids, mask)
        out[f"{name}.in.input_ids"] = ids.numpy()
        out[f"{name}.in.attention_mask"] = mask.numpy()
        out[f"{name}.in.token_type_ids"] = np.zeros_like(ids.numpy())
        out[f"{name}.out.logits"] = logits.numpy()
        if trace:
            for i, s in enumerate(states):
                out[f"{name}.out.hidden_states.{i}"] = s.numpy()
            for i, a in enumerate(attentions):
                out[f"{name}.out.attentions.{i}"] = a.numpy()

    rows = [[wordpiece.CLS] + tokenizer.encode(t)[:MAX_LENGTH - 2] + [wordpiece.SEP] for t in GOLDEN_TEXTS]
    for i, (text, row) in enumerate(zip(GOLDEN_TEXTS, rows)):
        name = "abcdefgh"[i]
        texts[name] = text
        case(name, *padded([row]), trace=i < 2)
    case("pad", *padded([rows[3], rows[0], rows[5]]), trace=False)
    texts["pad"] = [GOLDEN_TEXTS[3], GOLDEN_TEXTS[0], GOLDEN_TEXTS[5]]
    return out, texts


def eval_rows(data, tokenizer, rng):
    """Held-out texts, cut at a word so that they need no truncation."""
    for i in sorted(rng.choice(len(data.labels), EVAL_ROWS, replace=False)):
        e = data.examples[i]
        words = full_text(e.short, e.long).split()
        while len(tokenizer.encode(" ".join(words))) > MAX_LENGTH - 2:
            words.pop()
        yield e.label, " ".join(words)


def export(out, model, tokenizer, held_out, results):
    stored, model = rounded(model)
    tensors.save(f"{out}/model.safetensors", stored)
    values, texts = golden(model, tokenizer)
    tensors.save(f"{out}/golden.safetensors", values)
    write_json(f"{out}/golden.json", {"texts": texts})
    for form in ("full", "short"):
        results[f"held_out_{form}"] = scores(model, held_out, form)
    lines = list(eval_rows(held_out, tokenizer, np.random.default_rng(SEED)))
    with torch.no_grad():
        right = sum(label == predict(model, tokenizer, text)[0][0] for label, text in lines)
    results["eval_tsv"] = {"accuracy": right / len(lines), "rows": len(lines)}
    with open(f"{out}/eval.tsv", "w") as f:
        f.writelines(f"{label}\t{text}\n" for label, text in lines)
    write_json(f"{out}/metrics.json", results)


def predict(model, tokenizer, text, n=3):
    ids = [wordpiece.CLS] + tokenizer.encode(text)[:MAX_LENGTH - 2] + [wordpiece.SEP]
    with torch.no_grad():
        p = torch.softmax(model(*padded([ids]))[0][0], -1)
    return [(packages.SECTIONS[i], round(p[i].item(), 3)) for i in p.argsort(descending=True)[:n].tolist()]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True, help="model directory to write; it is usable after every epoch")
    parser.add_argument("--work", default="build/train", help="where the package lists are kept")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="ends the encoder's training in this time")
    parser.add_argument("--bag-epochs", type=int, default=6)
    args = parser.parse_args()
    start, rng, log = set_up(args.out)
    examples = packages.examples(args.work)
    training = [e for e in examples if not e.held_out]
    vocabulary = wordpiece.train_vocabulary([full_text(e.short, e.long) for e in training], VOCABULARY)
    with open(f"{args.out}/vocab.txt", "w") as f:
        f.writelines(piece + "\n" for piece in vocabulary)
    write_json(f"{args.out}/tokenizer_config.json",
               {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "do_basic_tokenize": True,
                "tokenize_chinese_chars": True, "strip_accents": None, "model_max_length": MAX_LENGTH,
                "pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]",
                "mask_token": "[MASK]"})
    write_json(f"{args.out}/config.json", {**CONFIG, "vocab_size": VOCABULARY})
    tokenizer = wordpiece.Tokenizer(vocabulary)
    train = Data(training, tokenizer)
    held_out = Data([e for e in examples if e.held_out], tokenizer)
    results = {"seed": SEED, "training_examples": len(train.labels), "held_out_examples": len(held_out.labels),
               "held_out_sections": collections.Counter(e.label for e in held_out.examples)}
    log(len(train.labels), "training,", len(held_out.labels), "held out")

    bag = Bag(CONFIG["hidden_size"])
    train_classifier(bag, len(train.labels), args.bag_epochs, 1e-2, lambda: epoch_of(train, rng, 0.1),
                     lambda epoch, loss: log(f"bag {epoch:.1f} loss {loss:.3f} held out",
                                             *scores(bag, held_out).values()))
    results["bag_of_words"] = scores(bag, held_out)

    model = bert.Classifier({**CONFIG, "vocab_size": VOCABULARY})
    vectors = bag.embedding.weight.detach()
    model.bert.embeddings.word_embeddings.weight.data.copy_(vectors * (0.05 / vectors.std()))

    def after_epoch(epoch, loss):
        results.update(epochs=round(epoch, 2), minutes=round((time.time() - start) / 60, 1))
        export(args.out, model, tokenizer, held_out, results)
        log(f"epoch {epoch:.2f} loss {loss:.3f}", results["held_out_full"], results["held_out_short"])

    train_classifier(model, len(train.labels), args.epochs, 1.2e-3, lambda: epoch_of(train, rng, 0.1), after_epoch,
                     60 * args.minutes)
    _, model = rounded(model)
    for text in GOLDEN_TEXTS:
        print(text[:70], predict(model, tokenizer, text))


if __name__ == "__main__":
    main()
