"""BERT for sequence classification with the module names of the checkpoints it writes."""

import math

import torch
from torch import nn


class Named(nn.Module):
    """Only groups modules under the names of the checkpoint."""

    def __init__(self, **modules):
        super().__init__()
        for name, module in modules.items():
            self.add_module(name, module)


class Layer(nn.Module):
    def __init__(self, c):
        super().__init__()
        d, ffn, eps = c["hidden_size"], c["intermediate_size"], c["layer_norm_eps"]
        self.attention = Named(output=Named(dense=nn.Linear(d, d), LayerNorm=nn.LayerNorm(d, eps)))
        self.attention.add_module("self", Named(query=nn.Linear(d, d), key=nn.Linear(d, d), value=nn.Linear(d, d)))
        self.intermediate = Named(dense=nn.Linear(d, ffn))
        self.output = Named(dense=nn.Linear(ffn, d), LayerNorm=nn.LayerNorm(d, eps))
        self.heads = c["num_attention_heads"]
        self.dropout = nn.Dropout(c["hidden_dropout_prob"])

    def forward(self, x, bias):
        n, length, d = x.shape
        own = getattr(self.attention, "self")

        def heads(linear):
            return linear(x).view(n, length, self.heads, -1).transpose(1, 2)

        q, k, v = heads(own.query), heads(own.key), heads(own.value)
        weights = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(d // self.heads) + bias, -1)
        mixed = (weights @ v).transpose(1, 2).reshape(n, length, d)
        out = self.attention.output
        x = out.LayerNorm(x + self.dropout(out.dense(mixed)))
        inner = nn.functional.gelu(self.intermediate.dense(x))
        return self.output.LayerNorm(x + self.dropout(self.output.dense(inner))), weights


class Classifier(nn.Module):
    def __init__(self, c):
        super().__init__()
        d = c["hidden_size"]
        self.bert = nn.Module()
        self.bert.embeddings = Named(word_embeddings=nn.Embedding(c["vocab_size"], d),
                                     position_embeddings=nn.Embedding(c["max_position_embeddings"], d),
                                     token_type_embeddings=nn.Embedding(c["type_vocab_size"], d),
                                     LayerNorm=nn.LayerNorm(d, c["layer_norm_eps"]))
        self.bert.encoder = nn.Module()
        self.bert.encoder.layer = nn.ModuleList(Layer(c) for _ in range(c["num_hidden_layers"]))
        self.bert.pooler = Named(dense=nn.Linear(d, d))
        self.classifier = nn.Linear(d, len(c["id2label"]))
        self.dropout = nn.Dropout(c["hidden_dropout_prob"])
        self.apply(self.initialize)

    @staticmethod
    def initialize(module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=0.05)
        if isinstance(module, nn.Linear):
            nn.init.zeros_(module.bias)

    def forward(self, ids, mask):
        """Returns the logits, all hidden states (embeddings first) and the attention weights of every layer."""
        e = self.bert.embeddings
        positions = torch.arange(ids.shape[1])
        x = e.word_embeddings(ids) + e.position_embeddings(positions) + e.token_type_embeddings.weight[0]
        x = self.dropout(e.LayerNorm(x))
        bias = (1.0 - mask[:, None, None, :].float()) * -1e9
        states, attentions = [x], []
        for layer in self.bert.encoder.layer:
            x, weights = layer(x, bias)
            states.append(x)
            attentions.append(weights)
        pooled = torch.tanh(self.bert.pooler.dense(x[:, 0]))
        return self.classifier(self.dropout(pooled)), states, attentions
