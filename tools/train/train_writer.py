#!/usr/bin/python3
"""Trains the package writer: section and name of a package in, its description out. See README.md."""

import argparse
import itertools
import json
import math
import os
import time

import numpy as np
import torch
from torch import nn

import bpe
import llama
import packages
import tensors
from training import SEED, alike, fit, measured, set_up, write_json

VOCABULARY = 2048
MAX_LENGTH = 256
EVAL_ROWS = 100
BATCH = 16
EVERY = 200  # steps between two exports
WRITER = {"hidden_size": 128, "num_hidden_layers": 5, "num_attention_heads": 8, "num_key_value_heads": 4,
          "intermediate_size": 256}
DRAFT = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
         "intermediate_size": 160}
CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "attention_bias": False,
    "attention_dropout": 0.0,
    "bos_token_id": bpe.END,
    "eos_token_id": bpe.END,
    "head_dim": 16,
    "hidden_act": "silu",
    "initializer_range": 0.05,
    "max_position_embeddings": MAX_LENGTH,
    "mlp_bias": False,
    "model_type": "llama",
    "rms_norm_eps": 1e-5,
    "rope_scaling": None,
    "rope_theta": 10000.0,
    "tie_word_embeddings": True,
    "torch_dtype": "float16",
    "use_cache": True,
    "vocab_size": VOCABULARY,
}
GOLDEN_TEXTS = {"a": "python / python3-tabular\nread and write tables",
                "b": "fonts / fonts-ubà\nNaïve “quotes”"}
GOLDEN_PROMPTS = {"gen_a": "libs / libpng-tools\n", "gen_b": "games / castle-siege\nreal-time strategy"}
GOLDEN_STEPS = 24


def prompt_of(example):
    return f"{example.label} / {example.package}\n"


def description_of(example):
    return "\n".join([example.short, *example.lines])


def prepared(work, examples):
    """The tokenizer and the ids of every prompt and description; kept in a file, as both models need the same."""
    path = f"{work}/package-writer.json"
    if not os.path.exists(path):
        training = [prompt_of(e) + description_of(e) for e in examples if not e.held_out]
        pieces = bpe.train_merges(training, VOCABULARY)
        encode = bpe.Tokenizer(*pieces).encode
        ids = [(encode(prompt_of(e)), encode(description_of(e)) + [bpe.END]) for e in examples]
        with open(path, "w") as f:
            json.dump({"pieces": pieces, "ids": ids}, f)
    with open(path) as f:
        kept = json.load(f)
    vocabulary, pairs = kept["pieces"]
    return bpe.Tokenizer(vocabulary, [tuple(p) for p in pairs]), kept["ids"]


class Data:
    """The ids of each text, a prompt and a description, and where its description begins."""

    def __init__(self, ids):
        self.texts = [(prompt + description)[:MAX_LENGTH + 1] for prompt, description in ids]
        self.starts = [len(prompt) for prompt, _ in ids]

    def batches(self, rng=None):
        """Ids and the rows whose next id is of a description, and those ids; with `rng` in random order."""
        jitter = rng.uniform(0, 12, len(self.texts)) if rng else 0
        for chunk in alike(np.array([len(t) for t in self.texts]) + jitter, BATCH, rng):
            length = max(len(self.texts[i]) for i in chunk) - 1
            ids = torch.full((len(chunk), length), bpe.END)
            rows, expected = [], []
            for n, i in enumerate(chunk):
                text, start = self.texts[i], self.starts[i]
                ids[n, :len(text) - 1] = torch.tensor(text[:-1])
                rows.extend(range(n * length + start - 1, n * length + len(text) - 1))
                expected.extend(text[start:])
            yield (ids, torch.tensor(rows)), torch.tensor(expected)


@torch.no_grad()
def quality(model, data, tokenizer):
    """Perplexity of the descriptions' tokens, their prompts given, and bits for each of their bytes."""
    nats = tokens = size = 0
    for arguments, expected in data.batches():
        nats += nn.functional.cross_entropy(model(*arguments), expected, reduction="sum").item()
        tokens += len(expected)
        size += sum(len(tokenizer.vocabulary[i]) for i in expected.tolist() if i != bpe.END)
    return {"perplexity": round(math.exp(nats / tokens), 3), "bits_per_byte": round(nats / math.log(2) / size, 4),
            "texts": len(data.texts), "tokens": tokens}


@torch.no_grad()
def golden(model, tokenizer):
    """Logits of fixed texts, states of the first, and what is written after fixed prompts."""
    out, about = {}, {}
    for name, text in {**GOLDEN_TEXTS, **GOLDEN_PROMPTS}.items():
        ids = tokenizer.encode(text)
        out[f"{name}.in.input_ids"] = np.array([ids])
        out[f"{name}.in.attention_mask"] = np.ones((1, len(ids)), np.int64)
        about[name] = {"text": text, "ids": ids}
        if name in GOLDEN_TEXTS:
            states = model.states(torch.tensor([ids]))
            out[f"{name}.out.logits"] = model.logits(states[-1]).numpy()
            if name == "a":
                out.update({f"a.out.hidden_states.{i}": s.numpy() for i, s in enumerate(states)})
        else:
            found, scores = model.greedy(ids, GOLDEN_STEPS, bpe.END)
            best = scores.topk(2).values
            out[f"{name}.out.sequences"] = np.array([ids + found])
            about[name].update(continuation=tokenizer.decode(found),
                               smallest_top1_top2_gap=round((best[:, 0] - best[:, 1]).min().item(), 5))
    return out, about


class Directory:
    """What is written and measured: the model as stored, beside its tokenizer and what it was held against."""

    def __init__(self, path, config, tokenizer, held_out, results):
        """`held_out`: pairs of an example and its ids."""
        self.path, self.config, self.tokenizer, self.results = path, config, tokenizer, results
        chosen = np.sort(np.random.default_rng(SEED).choice(len(held_out), EVAL_ROWS, replace=False))
        rows = [held_out[i] for i in chosen]
        self.held_out, self.rows = (Data([ids for _, ids in part]) for part in (held_out, rows))
        with open(f"{path}/eval.tsv", "w") as f:
            f.writelines("\t".join([prompt_of(e).rstrip("\n"), e.short, *e.lines]) + "\n" for e, _ in rows)
        write_json(f"{path}/config.json", config)
        write_json(f"{path}/generation_config.json", {"bos_token_id": bpe.END, "eos_token_id": bpe.END})
        write_json(f"{path}/tokenizer.json", tokenizer.json())
        write_json(f"{path}/tokenizer_config.json",
                   {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": MAX_LENGTH,
                    "add_prefix_space": False, "bos_token": bpe.END_OF_TEXT, "eos_token": bpe.END_OF_TEXT})

    def export(self, stored, whole):
        """All that depends on the weights; the figures of all held-out texts only if `whole`, as they take long."""
        model = tensors.load_into(llama.Writer(self.config), stored)
        tensors.save(f"{self.path}/model.safetensors", stored)
        values, about = golden(model, self.tokenizer)
        tensors.save(f"{self.path}/golden.safetensors", values)
        write_json(f"{self.path}/golden.json", about)
        self.results["eval_tsv"] = quality(model, self.rows, self.tokenizer)
        if whole:
            self.results["held_out"] = quality(model, self.held_out, self.tokenizer)
        write_json(f"{self.path}/metrics.json", self.results)


def train_writer(model, train, directory, args, rng, start, log):
    steps = -(-len(train.texts) // BATCH)

    def after(step, loss):
        directory.results.update(epochs=round(step / steps, 2), minutes=round((time.time() - start) / 60, 1))
        directory.export(tensors.stored(model), whole=False)
        log(f"step {step} loss {loss:.3f}", directory.results["eval_tsv"])

    def loss_of(arguments, expected):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = model(*arguments)
        return nn.functional.cross_entropy(logits.float(), expected)

    parameters = [{"params": [p for p in model.parameters() if p.dim() > 1], "weight_decay": 0.05},
                  {"params": [p for p in model.parameters() if p.dim() == 1], "weight_decay": 0.0}]
    batches = itertools.chain.from_iterable(train.batches(rng) for _ in range(args.epochs))
    fit(model, parameters, 4e-3, batches, loss_of, args.epochs * steps, 0.03, EVERY, after, 60 * args.minutes)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True, help="model directory to write; it is usable after every 200 steps")
    parser.add_argument("--work", default="build/train", help="where the package lists are kept")
    parser.add_argument("--draft", action="store_true", help="the small sibling with the same vocabulary")
    parser.add_argument("--epochs", type=int, default=8, help="0: only measures the weights that are there")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="ends the training in this time")
    args = parser.parse_args()
    start, rng, log = set_up(args.out)
    examples = packages.examples(args.work)
    tokenizer, ids = prepared(args.work, examples)
    training = [i for e, i in zip(examples, ids) if not e.held_out]
    held_out = [(e, i) for e, i in zip(examples, ids) if e.held_out]
    config = {**CONFIG, **(DRAFT if args.draft else WRITER)}
    model = llama.Writer(config)
    results = {"seed": SEED, "parameters": sum(p.numel() for p in model.parameters()),
               "training_examples": len(training), "held_out_examples": len(held_out)}
    if args.epochs == 0:
        results = measured(args.out, results)
    directory = Directory(args.out, config, tokenizer, held_out, results)
    log("vocabulary and held-out texts are ready")
    if args.epochs:
        train = Data(training)
        log(len(train.texts), "texts,", sum(map(len, train.texts)), "tokens")
        train_writer(model, train, directory, args, rng, start, log)
        stored = tensors.stored(model)
    else:
        stored = tensors.load(f"{args.out}/model.safetensors")
    directory.export(stored, whole=True)
    log(directory.results["held_out"], directory.results["eval_tsv"])


if __name__ == "__main__":
    main()
