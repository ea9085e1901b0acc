"""Models with seeded random weights, in the format that their originals are published in, which fovea converts.

A model is its config and its tensors by name. Weights are as large as trained ones are in their effect: every part of a
layer changes the result, and int8 has something to lose.
"""
import json
import math
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tools" / "train"))
import tensors as safetensors  # noqa: E402


class Random:
    def __init__(self, seed):
        self.generator = np.random.default_rng(seed)

    def normal(self, *shape, scale):
        return self.generator.standard_normal(shape, dtype=np.float32) * np.float32(scale)

    def matrix(self, outputs, inputs, gain=1.0):
        return self.normal(outputs, inputs, scale=gain / math.sqrt(inputs))

    def linear(self, weights, name, outputs, inputs, gain=1.0):
        weights[name + ".weight"] = self.matrix(outputs, inputs, gain)
        weights[name + ".bias"] = self.normal(outputs, scale=0.1)

    def norm(self, weights, name, width):
        weights[name + ".weight"] = 1 + self.normal(width, scale=0.1)
        weights[name + ".bias"] = self.normal(width, scale=0.1)


def bert(layers, width, heads, inner, seed, vocabulary=30522, positions=512, window=None):
    """An encoder as BERT's. With `window` a row sees only `window` rows on either side."""
    config = {"architectures": ["BertModel"], "model_type": "bert", "num_hidden_layers": layers, "hidden_size": width,
              "num_attention_heads": heads, "intermediate_size": inner, "hidden_act": "gelu", "layer_norm_eps": 1e-12,
              "vocab_size": vocabulary, "max_position_embeddings": positions, "type_vocab_size": 2, "pad_token_id": 0,
              "window": window}
    random, weights = Random(seed), {}
    weights["embeddings.word_embeddings.weight"] = random.normal(vocabulary, width, scale=0.5)
    weights["embeddings.position_embeddings.weight"] = random.normal(positions, width, scale=0.2)
    weights["embeddings.token_type_embeddings.weight"] = random.normal(2, width, scale=0.1)
    random.norm(weights, "embeddings.LayerNorm", width)
    for i in range(layers):
        layer = f"encoder.layer.{i}."
        for name in ("query", "key", "value"):
            random.linear(weights, layer + "attention.self." + name, width, width)
        random.linear(weights, layer + "attention.output.dense", width, width, gain=0.5)
        random.norm(weights, layer + "attention.output.LayerNorm", width)
        random.linear(weights, layer + "intermediate.dense", inner, width)
        random.linear(weights, layer + "output.dense", width, inner, gain=0.5)
        random.norm(weights, layer + "output.LayerNorm", width)
    return config, weights


def llama(layers, width, heads, kv_heads, inner, seed, vocabulary=32000, positions=2048):
    """A decoder as Llama's, whose head is the table of embeddings."""
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "num_hidden_layers": layers,
              "hidden_size": width, "num_attention_heads": heads, "num_key_value_heads": kv_heads,
              "head_dim": width // heads, "intermediate_size": inner, "hidden_act": "silu", "rms_norm_eps": 1e-5,
              "rope_theta": 10000.0, "vocab_size": vocabulary, "max_position_embeddings": positions,
              "tie_word_embeddings": True, "bos_token_id": 1, "eos_token_id": 2}
    random, weights = Random(seed), {}
    head = width // heads
    weights["model.embed_tokens.weight"] = random.normal(vocabulary, width, scale=0.05)
    for i in range(layers):
        layer = f"model.layers.{i}."
        for name, outputs, inputs, gain in (("self_attn.q_proj", width, width, 1),
                                            ("self_attn.k_proj", kv_heads * head, width, 1),
                                            ("self_attn.v_proj", kv_heads * head, width, 1),
                                            ("self_attn.o_proj", width, width, 0.3), ("mlp.gate_proj", inner, width, 1),
                                            ("mlp.up_proj", inner, width, 1), ("mlp.down_proj", width, inner, 0.3)):
            weights[f"{layer}{name}.weight"] = random.matrix(outputs, inputs, gain)
        for name in ("input_layernorm", "post_attention_layernorm"):
            weights[f"{layer}{name}.weight"] = 1 + random.normal(width, scale=0.1)
    weights["model.norm.weight"] = 1 + random.normal(width, scale=0.1)
    return config, weights


def windowed_description(config):
    """graph.json of an encoder with windows: the operations of BERT's, with a pattern in its attention."""
    x, operations = "x.{i}", []

    def add(op, inputs, out, tensors=(), **attributes):
        operations.append({"op": op, "in": inputs, "out": out, **attributes})
        if tensors:
            operations[-1]["tensors"] = list(tensors)

    def linear(source, name, out, **attributes):
        add("linear", [source], out, [f"encoder.layer.{{i}}.{name}.{part}" for part in ("weight", "bias")],
            **attributes)

    def norm(source, name, out):
        add("norm", [source], out, [f"{name}.{part}" for part in ("weight", "bias")], kind="layer",
            epsilon=config["layer_norm_eps"])

    for name in ("query", "key", "value"):
        linear(x, "attention.self." + name, name + ".{i}")
    add("attention", ["query.{i}", "key.{i}", "value.{i}"], "attended.{i}", name="attentions.{i}",
        heads=config["num_attention_heads"], pattern="window", left=config["window"], right=config["window"])
    linear("attended.{i}", "attention.output.dense", "mixed.{i}")
    add("add", [x, "mixed.{i}"], "sum.{i}")
    norm("sum.{i}", "encoder.layer.{i}.attention.output.LayerNorm", "middle.{i}")
    linear("middle.{i}", "intermediate.dense", "up.{i}", activation="gelu")
    linear("up.{i}", "output.dense", "down.{i}")
    add("add", ["middle.{i}", "down.{i}"], "sum2.{i}")
    norm("sum2.{i}", "encoder.layer.{i}.output.LayerNorm", "x.{i+1}")
    layers, operations = operations, []
    add("embed", ["input_ids"], "words", ["embeddings.word_embeddings.weight"])
    add("position", ["words"], "placed", ["positions_and_type"])
    norm("placed", "embeddings.LayerNorm", "x.0")
    return {"fovea": 1, "weights": ["model.safetensors"],
            "spaces": [{"name": "texts"}, {"name": "tokens", "parent": "texts"}],
            "programs": [{"name": "encode", "inputs": [{"name": "input_ids", "space": "tokens", "type": "i32"}],
                          "operations": operations + [{"repeat": config["num_hidden_layers"], "operations": layers}],
                          "outputs": [f"x.{config['num_hidden_layers']}"]}]}


def positions_and_type(weights):
    """What every token has added to its word: its position, and type 0."""
    return weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]


def publish(folder, config, weights):
    """Writes a model directory; what `fovea convert` takes of it."""
    folder.mkdir(parents=True, exist_ok=True)
    if config.get("window"):
        ours = {name: weight for name, weight in weights.items() if "type_embeddings" not in name and
                "position_embeddings" not in name}
        safetensors.save(folder / "model.safetensors", {**ours, "positions_and_type": positions_and_type(weights)})
        (folder / "graph.json").write_text(json.dumps(windowed_description(config), indent=1))
        return folder / "graph.json"
    safetensors.save(folder / "model.safetensors", weights)
    (folder / "config.json").write_text(json.dumps({k: v for k, v in config.items() if v is not None}, indent=1))
    return folder
