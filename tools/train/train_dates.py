#!/usr/bin/python3
"""Trains the date normaliser: "the 3rd of March, 2014" in, 2014-03-03 out. See README.md."""

import argparse
import collections
import time

import numpy as np
import torch
from torch import nn

import dates
import seq2seq
import tensors
from training import SEED, fit, measured, set_up, write_json

CONFIG = {"embedding": 24, "encoder": 32, "attention": 48, "decoder": 64, "vocabulary": len(dates.VOCABULARY)}
STEPS = len("2014-03-03") + 1  # and the end
HELD_OUT = 8000
EVAL_ROWS = 1000
GOLDEN_TEXTS = {"a": ["the 3rd of March, 2014"], "batch": ["Monday, 29 February 2016", "7/4/76", "20JAN19"]}
POOL = 12800


def by_length(pairs):
    """Pairs whose texts are equally long, which need no padding."""
    groups = collections.defaultdict(list)
    for pair in pairs:
        groups[len(pair[0])].append(pair)
    return groups.values()


def matrices(pairs):
    return (torch.tensor([dates.encode(text) for text, _ in pairs]),
            torch.tensor([dates.encode(iso) + [dates.END] for _, iso in pairs]))


def accuracy(model, pairs):
    """The share of texts whose whole date is right."""
    model.eval()
    right = 0
    for group in by_length(pairs):
        ids, expected = matrices(group)
        right += (model.greedy(ids, dates.START, STEPS)[0] == expected).all(-1).sum().item()
    return right / len(pairs)


def batches(train, rng):
    """Endless batches: texts, the correct characters before each step, and the target of each step."""
    while True:
        groups = by_length(dates.draw(train, POOL, rng))
        chunks = [group[i:i + 64] for group in groups for i in range(0, len(group), 64)]
        rng.shuffle(chunks)
        for chunk in chunks:
            ids, expected = matrices(chunk)
            yield (ids, torch.cat([torch.full((len(chunk), 1), dates.START), expected[:, :-1]], 1)), expected


def tokenizer():
    """Every character is a piece; letters are small, space around the text is nothing."""
    normalizers = [{"type": "Strip", "strip_left": True, "strip_right": True}, {"type": "Lowercase"}]
    return {"normalizer": {"type": "Sequence", "normalizers": normalizers},
            "model": {"type": "Unigram", "unk_id": dates.UNKNOWN, "vocab": [[p, 0.0] for p in dates.VOCABULARY]},
            "decoder": {"type": "Fuse"},
            "added_tokens": [{"id": i, "content": dates.VOCABULARY[i], "special": True} for i in range(dates.END + 1)]}


@torch.no_grad()
def golden(model):
    """Rows of all texts one after the other: what both programs make, and all steps of writing each text's date."""
    out, written = {}, {}

    def add(case, part, **values):
        out.update({f"{case}.{part}.{name}": np.asarray(value) for name, value in values.items()})

    for name, texts in GOLDEN_TEXTS.items():
        ids = [dates.encode(t) for t in texts]
        lengths = np.array([len(i) for i in ids])
        segments = {"segments.characters": lengths}
        encoded = [model.encode(torch.tensor([i])) for i in ids]
        made = {value: torch.cat([e[i].flatten(0, -2) for e in encoded])
                for i, value in enumerate(("annotations", "keys", "state"))}
        add(f"encode/{name}", "in", input_ids=np.concatenate(ids), **segments)
        add(f"encode/{name}", "out", **made)

        previous = [dates.IDS["2"]] * len(ids)  # one step, as if this had been written
        steps = [model.step(torch.tensor([p]), e[2], e[0], e[1]) for p, e in zip(previous, encoded)]
        alignment = np.zeros((len(ids), 1, lengths.max()), np.float32)
        for row, step in zip(alignment, steps):
            row[0, :step[2].shape[1]] = step[2]
        add(f"decode/{name}", "in", previous_ids=previous, **made, **segments)
        add(f"decode/{name}", "out", scores=torch.cat([s[0] for s in steps]), alignment=alignment,
            next_state=torch.cat([s[1] for s in steps]))

        written[name] = []
        for i, text in enumerate(texts):
            found, scores, weights = model.greedy(torch.tensor([ids[i]]), dates.START, STEPS)
            add(f"{name}.{i}", "steps", scores=scores[0], alignment=weights[0])
            written[name].append({"text": text, "ids": ids[i], "date": dates.decode(found[0].tolist())})
    return out, written


def export(out, model, results, held_out):
    """Everything but the weights. The model is as stored."""
    results["accuracy"] = round(accuracy(model, held_out), 5)
    results["eval_tsv"] = {"accuracy": accuracy(model, held_out[:EVAL_ROWS]), "rows": EVAL_ROWS}
    with open(f"{out}/eval.tsv", "w") as f:
        f.writelines(f"{iso}\t{text}\n" for text, iso in held_out[:EVAL_ROWS])
    values, written = golden(model)
    tensors.save(f"{out}/golden.safetensors", values)
    write_json(f"{out}/golden.json", written)
    write_json(f"{out}/tokenizer.json", tokenizer())
    write_json(f"{out}/metrics.json", results)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True,
                        help="model directory to write; it is usable after every thousand steps")
    parser.add_argument("--steps", type=int, default=10000, help="0: only measures the weights that are there")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="ends the training in this time")
    args = parser.parse_args()
    start, rng, log = set_up(args.out)
    train = [d for d in dates.all_dates() if not dates.is_held_out(d)]
    unseen = [d for d in dates.all_dates() if dates.is_held_out(d)]
    held_out = dates.draw(unseen, HELD_OUT, np.random.default_rng(SEED + 1))
    model = seq2seq.Normaliser(CONFIG)
    results = {"seed": SEED, "parameters": sum(p.numel() for p in model.parameters()), "forms": len(dates.FORMS),
               "training_dates": len(train), "held_out_dates": len(unseen), "held_out_examples": HELD_OUT}

    def after(step, loss):
        tensors.save(f"{args.out}/model.safetensors", tensors.stored(model))
        results.update(steps=step, minutes=round((time.time() - start) / 60, 1))
        export(args.out, tensors.load_into(seq2seq.Normaliser(CONFIG), tensors.stored(model)), results, held_out)
        log(f"step {step} loss {loss:.4f} held out {results['accuracy']}")

    if args.steps == 0:
        stored = tensors.load(f"{args.out}/model.safetensors")
        export(args.out, tensors.load_into(seq2seq.Normaliser(CONFIG), stored), measured(args.out, results), held_out)
        return
    loss_function = nn.CrossEntropyLoss()
    fit(model, [{"params": model.parameters(), "weight_decay": 0.01}], 4e-3, batches(train, rng),
        lambda texts, expected: loss_function(model(*texts).flatten(0, 1), expected.flatten()), args.steps, 0.03, 1000,
        after, 60 * args.minutes)


if __name__ == "__main__":
    main()
