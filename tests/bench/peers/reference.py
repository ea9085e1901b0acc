"""The models in plain numpy, straight from their definitions: what fovea and its peers are checked against."""
import numpy as np


def softmax(x):
    x = np.exp(x - x.max(-1, keepdims=True))
    return x / x.sum(-1, keepdims=True)


def erf(x):
    """Abramowitz and Stegun 7.1.26: within 1.5e-7."""
    t = 1 / (1 + 0.3275911 * np.abs(x))
    series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return np.sign(x) * (1 - series * np.exp(-x * x))


def split(x, heads):
    return x.reshape(len(x), heads, -1).transpose(1, 0, 2)


def joined(x):
    return x.transpose(1, 0, 2).reshape(x.shape[1], -1)


def seen(rows, left, right):
    distance = np.arange(rows)[None] - np.arange(rows)[:, None]
    return (distance >= -left) & (distance <= right)


def attend(q, k, v, mask):
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])
    return softmax(np.where(mask, scores, -np.inf)) @ v


def encode(config, weights, ids):
    """Hidden states [rows, width] of a BERT."""
    def linear(x, name):
        return x @ weights[name + ".weight"].T + weights[name + ".bias"]

    def norm(x, name):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + config["layer_norm_eps"])
        return x * weights[name + ".weight"] + weights[name + ".bias"]

    rows, heads = len(ids), config["num_attention_heads"]
    window = config["window"] or rows
    mask = seen(rows, window, window)
    x = (weights["embeddings.word_embeddings.weight"][ids] + weights["embeddings.position_embeddings.weight"][:rows] +
         weights["embeddings.token_type_embeddings.weight"][0])
    x = norm(x, "embeddings.LayerNorm")
    for i in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{i}."
        q, k, v = (split(linear(x, layer + "attention.self." + name), heads) for name in ("query", "key", "value"))
        mixed = linear(joined(attend(q, k, v, mask)), layer + "attention.output.dense")
        x = norm(x + mixed, layer + "attention.output.LayerNorm")
        up = linear(x, layer + "intermediate.dense")
        up = up * (0.5 + 0.5 * erf(up / np.sqrt(2)))
        x = norm(x + linear(up, layer + "output.dense"), layer + "output.LayerNorm")
    return x


def next_scores(config, weights, ids):
    """Scores [vocabulary] of the token after the last one, of a Llama."""
    def norm(x, name):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + config["rms_norm_eps"]) * weights[name + ".weight"]

    rows, heads, kv_heads = len(ids), config["num_attention_heads"], config["num_key_value_heads"]
    half = config["head_dim"] // 2
    angles = np.arange(rows)[:, None] * config["rope_theta"] ** (-np.arange(half) / half)
    cosines, sines = np.cos(angles), np.sin(angles)

    def turned(x):  # the halves of a head are the pairs
        a, b = x[..., :half], x[..., half:]
        return np.concatenate([a * cosines - b * sines, b * cosines + a * sines], -1)

    x = weights["model.embed_tokens.weight"][ids]
    for i in range(config["num_hidden_layers"]):
        layer = f"model.layers.{i}."
        n = norm(x, layer + "input_layernorm")
        q, k, v = (split(n @ weights[f"{layer}self_attn.{name}_proj.weight"].T, count)
                   for name, count in (("q", heads), ("k", kv_heads), ("v", kv_heads)))
        k, v = (np.repeat(part, heads // kv_heads, 0) for part in (turned(k), v))
        x = x + joined(attend(turned(q), k, v, seen(rows, rows, 0))) @ weights[layer + "self_attn.o_proj.weight"].T
        n = norm(x, layer + "post_attention_layernorm")
        gate = n @ weights[layer + "mlp.gate_proj.weight"].T
        up = gate / (1 + np.exp(-gate)) * (n @ weights[layer + "mlp.up_proj.weight"].T)
        x = x + up @ weights[layer + "mlp.down_proj.weight"].T
    return norm(x[-1], "model.norm") @ weights["model.embed_tokens.weight"].T
