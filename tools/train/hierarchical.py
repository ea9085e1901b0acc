"""A classifier of documents that reads tokens within sentences, then sentences within the document."""

import torch
from torch import nn

import bert


class Pool(nn.Module):
    """One row for each segment: the mean of its rows, weighted by how well they answer a learned question."""

    def __init__(self, d):
        super().__init__()
        self.key = nn.Linear(d, d)
        self.context = nn.Parameter(torch.randn(1, d) * 0.05)

    def forward(self, x, mask):
        scores = torch.tanh(self.key(x)) @ self.context[0]
        weights = torch.softmax(scores.float().masked_fill(~mask, -1e9), -1)
        return (weights.unsqueeze(1) @ x.float()).squeeze(1), weights


def padded(rows):
    """Lists of numbers as a matrix with zeros after them, and where the numbers are."""
    lengths = torch.tensor([len(r) for r in rows])
    mask = torch.arange(int(lengths.max())) < lengths[:, None]
    out = torch.zeros(mask.shape, dtype=torch.long)
    out[mask] = torch.tensor([i for r in rows for i in r])
    return out, mask


class Level(nn.Module):
    """Positions, a norm, encoder layers and the pooling of one level."""

    def __init__(self, c, layers, intermediate, positions):
        super().__init__()
        d = c["hidden_size"]
        self.position_embeddings = nn.Embedding(positions, d)
        self.LayerNorm = nn.LayerNorm(d, c["layer_norm_eps"])
        self.layer = nn.ModuleList(bert.Layer({**c, "intermediate_size": intermediate}) for _ in range(layers))
        self.pool = Pool(d)
        self.dropout = nn.Dropout(c["hidden_dropout_prob"])

    def forward(self, x, mask):
        """Returns the pooled rows, the weights of the pooling and the attention weights of every layer."""
        x = self.dropout(self.LayerNorm(x + self.position_embeddings.weight[:x.shape[1]]))
        bias = (1.0 - mask[:, None, None, :].float()) * -1e9
        attentions = []
        for layer in self.layer:
            x, weights = layer(x, bias)
            attentions.append(weights)
        return (*self.pool(x, mask), attentions)


class Classifier(nn.Module):
    def __init__(self, c):
        super().__init__()
        d = c["hidden_size"]
        self.word_embeddings = nn.Embedding(c["vocab_size"], d)
        self.tokens = Level(c, c["token_layers"], c["intermediate_size"], c["max_tokens"])
        self.between = nn.Linear(d, d)
        self.sentences = Level(c, c["sentence_layers"], c["sentence_intermediate_size"], c["max_sentences"])
        self.classifier = nn.Linear(d, c["labels"])
        self.dropout = nn.Dropout(c["hidden_dropout_prob"])
        self.apply(bert.Classifier.initialize)

    def encode(self, sentences):
        """The row of each sentence. Sentences of similar length are read together, so that little is padding."""
        order = sorted(range(len(sentences)), key=lambda i: len(sentences[i]))
        rows, start = [], 0
        while start < len(order):
            end = start + 1
            while end < len(order) and (end + 1 - start) * len(sentences[order[end]]) <= 1024:
                end += 1
            ids, mask = padded([sentences[i] for i in order[start:end]])
            rows.append(self.tokens(self.word_embeddings(ids), mask)[0])
            start = end
        back = torch.empty(len(order), dtype=torch.long)
        back[torch.tensor(order)] = torch.arange(len(order))
        return self.between(torch.cat(rows)[back])

    def forward(self, documents):
        """`documents`: lists of sentences, which are lists of ids. Returns logits and the sentences' weights."""
        rows = self.encode([s for d in documents for s in d])
        places, first = [], 0
        for d in documents:
            places.append(range(first, first + len(d)))
            first += len(d)
        index, mask = padded(places)
        pooled, weights, _ = self.sentences(rows[index], mask)
        return self.classifier(self.dropout(pooled)), weights

    @torch.no_grad()
    def trace(self, document):
        """What happens to one document, by the names of graph.json; nothing is padded."""
        rows, words, attentions = [], [], []
        for sentence in document:
            ids = torch.tensor([sentence])
            row, weights, layers = self.tokens(self.word_embeddings(ids), torch.ones_like(ids, dtype=torch.bool))
            rows.append(self.between(row))
            words.append(weights[0])
            attentions.append(layers[0][0])
        x = torch.cat(rows).unsqueeze(0)
        vector, weights, layers = self.sentences(x, torch.ones(x.shape[:2], dtype=torch.bool))
        return {"tokens.0": attentions, "word_attention": words, "sentence_rows": x[0], "sentences.0": layers[0],
                "sentence_attention": weights[0], "document_vector": vector, "logits": self.classifier(vector)}
