"""Llama, a causal language model, with the module names of the checkpoints it writes."""

import math

import torch
from torch import nn

from bert import Named


class RmsNorm(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(c["hidden_size"]))
        self.eps = c["rms_norm_eps"]

    def forward(self, x):
        x = x.float()
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps) * self.weight


def rotary(length, width, base):
    """Cosines and sines of every position; the halves of a head turn together."""
    frequencies = base ** (-torch.arange(0, width, 2) / width)
    angles = torch.outer(torch.arange(length), frequencies).repeat(1, 2)
    return angles.cos(), angles.sin()


def turned(x, cosines, sines):
    first, second = x.chunk(2, -1)
    return x * cosines + torch.cat([-second, first], -1) * sines


class Layer(nn.Module):
    def __init__(self, c):
        super().__init__()
        d, inner = c["hidden_size"], c["intermediate_size"]
        self.heads, self.kv_heads, self.width = c["num_attention_heads"], c["num_key_value_heads"], c["head_dim"]

        def linear(inputs, outputs):
            return nn.Linear(inputs, outputs, bias=False)

        own, shared = self.heads * self.width, self.kv_heads * self.width
        self.self_attn = Named(q_proj=linear(d, own), k_proj=linear(d, shared), v_proj=linear(d, shared),
                               o_proj=linear(own, d))
        self.mlp = Named(gate_proj=linear(d, inner), up_proj=linear(d, inner), down_proj=linear(inner, d))
        self.input_layernorm, self.post_attention_layernorm = RmsNorm(c), RmsNorm(c)
        for last in (self.self_attn.o_proj, self.mlp.down_proj):  # what is added to the stream begins small
            last.rate = 1 / math.sqrt(2 * c["num_hidden_layers"])

    def attend(self, x, bias, cosines, sines):
        n, length, _ = x.shape
        own = self.self_attn

        def heads(linear, count):
            return linear(x).view(n, length, count, -1).transpose(1, 2)

        q = turned(heads(own.q_proj, self.heads), cosines, sines)
        k = turned(heads(own.k_proj, self.kv_heads), cosines, sines)
        k, v = (t.repeat_interleave(self.heads // self.kv_heads, 1) for t in (k, heads(own.v_proj, self.kv_heads)))
        weights = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(self.width) + bias, -1)
        return own.o_proj((weights @ v).transpose(1, 2).reshape(n, length, -1))

    def forward(self, x, *positions):
        x = x + self.attend(self.input_layernorm(x), *positions)
        inner = self.post_attention_layernorm(x)
        return x + self.mlp.down_proj(nn.functional.silu(self.mlp.gate_proj(inner)) * self.mlp.up_proj(inner))


class Writer(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.model = Named(embed_tokens=nn.Embedding(c["vocab_size"], c["hidden_size"]),
                           layers=nn.ModuleList(Layer(c) for _ in range(c["num_hidden_layers"])), norm=RmsNorm(c))
        self.tables = rotary(c["max_position_embeddings"], c["head_dim"], c["rope_theta"])
        self.apply(lambda module: self.initialize(module, c["initializer_range"]))

    @staticmethod
    def initialize(module, deviation):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=deviation * getattr(module, "rate", 1))

    def states(self, ids):
        """All hidden states, embeddings first; the last one is normalized, as what the logits are made of."""
        length = ids.shape[1]
        bias = torch.full((length, length), float("-inf")).triu(1)
        x = self.model.embed_tokens(ids)
        found = [x]
        for layer in self.model.layers:
            x = layer(x, bias, *(table[:length] for table in self.tables))
            found.append(x)
        return found[:-1] + [self.model.norm(x)]

    def logits(self, state):
        return nn.functional.linear(state, self.model.embed_tokens.weight)

    def forward(self, ids, rows):
        """Logits of these rows of all positions, one text after the other."""
        return self.logits(self.states(ids)[-1].flatten(0, 1)[rows])

    @torch.no_grad()
    def greedy(self, ids, steps, end):
        """So many ids after the given ones, fewer when the text ends, and the logits each was taken from."""
        ids, found, scores = list(ids), [], []
        while len(found) < steps and (not found or found[-1] != end):
            scores.append(self.logits(self.states(torch.tensor([ids + found]))[-1][0, -1]))
            found.append(int(scores[-1].argmax()))
        return found, torch.stack(scores)
