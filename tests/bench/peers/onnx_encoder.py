"""A BERT as an ONNX graph, as ONNX Runtime's own tools leave it for CPUs: with its fused operations, and in int8 with
weights of a scale per column and inputs that are quantized as they come, in int4 with a scale for each 32 weights of a
column (MatMulNBits, whose products quantize inputs to int8).

`attention` says which of its operations attends: `attention` (Attention, QAttention: the three projections within),
`heads` (MultiHeadAttention after separate projections) or, for models with windows, `blocks`: no operation there has
windows on both sides, so blocks of as many rows as a window has on one side attend to themselves and their neighbours.
"""
import numpy as np

import onnx_file
from models import positions_and_type

BLOCK = 32  # weights of int4 that share a scale


def nibbles(matrix):
    """Of a matrix [outputs, inputs] MatMulNBits' numbers [outputs, blocks, bytes], and scales; 8 means 0."""
    blocks = matrix.reshape(len(matrix), -1, BLOCK)
    scale = np.abs(blocks).max(2, keepdims=True) / np.float32(7)
    numbers = (np.rint(blocks / scale) + 8).astype(np.uint8)
    return numbers[:, :, 0::2] | numbers[:, :, 1::2] << 4, scale.reshape(-1)


class Encoder:
    def __init__(self, config, weights, kind, attention, rows=None):
        self.config, self.weights, self.kind, self.rows = config, weights, kind, rows
        self.graph = onnx_file.Graph()
        self.ids = "input_ids"
        self.attend = getattr(self, attention)
        if kind == "int4" and attention != "heads":
            raise ValueError(f"int4 has no operation for {attention}: use heads")
        if attention == "blocks" and rows % config["window"] != 0:
            raise ValueError(f"{rows} rows are no whole number of blocks of {config['window']}")

    def vector(self, name):
        return self.graph.weight(name, self.weights[name])

    def stored(self, name, matrix):
        """Names of a matrix [inputs, outputs] and, in int8 and int4, its scales. Of int8 seven bits: eight overflow the
        16-bit sums of CPUs without dot products."""
        if self.kind == "int4":
            numbers, scale = nibbles(matrix)
            return [self.graph.weight(name, numbers), self.graph.weight(name + ".scale", scale)]
        matrix = matrix.T
        if self.kind == "f32":
            return [self.graph.weight(name, matrix)]
        scale = np.abs(matrix).max(0) / np.float32(64)
        numbers = np.clip(np.rint(matrix / scale), -64, 64).astype(np.int8)
        return [self.graph.weight(name, numbers), self.graph.weight(name + ".scale", scale)]

    def product(self, x, name):
        weight = self.stored(name + ".weight", self.weights[name + ".weight"])
        if self.kind == "f32":
            return self.graph.add("MatMul", x, *weight)
        if self.kind == "int4":
            outputs, inputs = self.weights[name + ".weight"].shape
            return self.graph.fused("MatMulNBits", x, *weight, K=inputs, N=outputs, bits=4, block_size=BLOCK,
                                    accuracy_level=4)
        return self.graph.fused("DynamicQuantizeMatMul", x, *weight)

    def linear(self, x, name):
        if self.kind == "f32":
            return self.graph.add("Add", self.product(x, name), self.vector(name + ".bias"))
        weight = self.stored(name + ".weight", self.weights[name + ".weight"])
        return self.graph.fused("DynamicQuantizeMatMul", x, *weight, "", self.vector(name + ".bias"))

    def skip_norm(self, x, skip, dense, norm):
        """The norm of skip + dense(x)."""
        return self.graph.fused("SkipLayerNormalization", self.product(x, dense), skip, self.vector(norm + ".weight"),
                                self.vector(norm + ".bias"), self.vector(dense + ".bias"),
                                epsilon=self.config["layer_norm_eps"])

    def embedded(self):
        tables = {"words": self.weights["embeddings.word_embeddings.weight"],
                  "positions": positions_and_type(self.weights)}
        norm = {name: self.weights["embeddings.LayerNorm." + name] for name in ("weight", "bias")}
        every = {**tables, **norm}
        if self.kind == "f32":
            words, positions, gain, bias = (self.graph.weight(name, array) for name, array in every.items())
            inputs = [self.ids, "", words, positions, "", gain, bias]
            kind = "EmbedLayerNormalization"
        else:  # each with one scale
            scales = {name: np.abs(array).max() / np.float32(127) for name, array in every.items()}
            words, positions, gain, bias = (
                self.graph.weight(name, np.rint(array / scales[name]).astype(np.int8)) for name, array in every.items())
            of = {name: self.graph.weight(name + ".scale", np.array(scale)) for name, scale in scales.items()}
            zero = self.graph.weight("zero", np.array(0, np.int8))
            inputs = [self.ids, "", words, positions, "", gain, bias, "", of["words"], of["positions"], "",
                      of["weight"], of["bias"], zero, zero, "", zero, zero]
            kind = "QEmbedLayerNormalization"
        return self.graph.fused(kind, *inputs, outputs=2, epsilon=self.config["layer_norm_eps"])[0]

    def biases(self, layer):
        together = np.concatenate([self.weights[f"{layer}{name}.bias"] for name in ("query", "key", "value")])
        return self.graph.weight(layer + "bias", together)

    def attention(self, x, layer):
        heads = self.config["num_attention_heads"]
        together = np.concatenate([self.weights[f"{layer}{name}.weight"] for name in ("query", "key", "value")])
        weight = self.stored(layer + "weight", together)
        if self.kind == "f32":
            return self.graph.fused("Attention", x, *weight, self.biases(layer), num_heads=heads)
        numbers, scale, zero = self.graph.add("DynamicQuantizeLinear", x, outputs=3)
        return self.graph.fused("QAttention", numbers, weight[0], self.biases(layer), scale, weight[1], "", zero,
                                num_heads=heads)

    def heads(self, x, layer):
        parts = [self.product(x, layer + name) for name in ("query", "key", "value")]
        return self.graph.fused("MultiHeadAttention", *parts, self.biases(layer),
                                num_heads=self.config["num_attention_heads"])

    def blocks(self, x, layer):
        graph, heads, width = self.graph, self.config["num_attention_heads"], self.config["hidden_size"]
        block = self.config["window"]
        count, size = self.rows // block, width // heads

        def numbers(name, values):
            return graph.weight(name, np.array(values, np.int64))

        q, k, v = (self.linear(x, layer + name) for name in ("query", "key", "value"))
        q = graph.add("Mul", q, graph.weight("query_scale", np.array(size ** -0.5, np.float32)))
        q = graph.add("Reshape", q, numbers("blocks", [count, block, heads, size]))
        q = graph.add("Transpose", q, perm=[0, 2, 1, 3])

        def neighbours(rows, order):
            rows = graph.add("Reshape", rows, numbers("key_blocks", [count, block, width]))
            rows = graph.add("Pad", rows, numbers("pads", [1, 0, 0, 1, 0, 0]))
            parts = [graph.add("Slice", rows, numbers(f"from_{i}", [i]), numbers(f"to_{i}", [i + count]),
                               numbers("axis", [0])) for i in range(3)]
            rows = graph.add("Concat", *parts, axis=1)
            rows = graph.add("Reshape", rows, numbers("seen", [count, 3 * block, heads, size]))
            return graph.add("Transpose", rows, perm=order)

        scores = graph.add("Add", graph.add("MatMul", q, neighbours(k, [0, 2, 3, 1])),
                           graph.weight("mask", self.mask(count, block)))
        rows = graph.add("MatMul", graph.add("Softmax", scores, axis=-1), neighbours(v, [0, 2, 1, 3]))
        rows = graph.add("Transpose", rows, perm=[0, 2, 1, 3])
        return graph.add("Reshape", rows, numbers("whole", [1, self.rows, width]))

    @staticmethod
    def mask(count, block):
        row = np.arange(block)[:, None]
        key = np.arange(3 * block)[None] - block
        mask = np.full((count, 1, block, 3 * block), -1e30, np.float32)
        for i in range(count):
            there = (key + i * block >= 0) & (key + i * block < count * block)
            mask[i, 0][there & (np.abs(key - row) <= block)] = 0
        return mask

    def encoded(self):
        """The last hidden states."""
        x = self.embedded()
        for i in range(self.config["num_hidden_layers"]):
            layer = f"encoder.layer.{i}."
            mixed = self.attend(x, layer + "attention.self.")
            x = self.skip_norm(mixed, x, layer + "attention.output.dense", layer + "attention.output.LayerNorm")
            up = self.graph.fused("BiasGelu", self.product(x, layer + "intermediate.dense"),
                                  self.vector(layer + "intermediate.dense.bias"))
            x = self.skip_norm(up, x, layer + "output.dense", layer + "output.LayerNorm")
        return x

    def write(self, path):
        x, rows = self.encoded(), self.rows or "rows"
        self.graph.write(path, [("input_ids", np.int32, (1, rows))], x,
                         ("last_hidden_state", np.float32, (1, rows, self.config["hidden_size"])))
