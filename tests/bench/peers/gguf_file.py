"""A Llama as a GGUF file (version 3), with matrices in f16, Q8_0 or Q4_0. ggml names the sizes of a tensor the fastest
first."""
import struct

import numpy as np

ALIGNMENT = 32
U32, F32, STRING = 4, 6, 8  # types of values
TYPES = {"f32": 0, "f16": 1, "q4_0": 2, "q8_0": 8}  # tensor types
BLOCK = 32  # weights of Q8_0 and Q4_0 that share a scale


def text(value):
    raw = value.encode()
    return struct.pack("<Q", len(raw)) + raw


def value_of(value):
    if isinstance(value, str):
        return struct.pack("<I", STRING) + text(value)
    if isinstance(value, float):
        return struct.pack("<If", F32, value)
    return struct.pack("<II", U32, value)


def q8_0(matrix):
    blocks = matrix.reshape(-1, BLOCK)
    scales = np.abs(blocks).max(1, keepdims=True) / 127
    inverse = np.divide(1, scales, out=np.zeros_like(scales), where=scales != 0)
    numbers = np.rint(blocks * inverse).astype(np.int8)
    packed = np.empty(len(blocks), dtype=[("scale", "<f2"), ("numbers", np.int8, BLOCK)])
    packed["scale"], packed["numbers"] = scales[:, 0], numbers
    return packed.tobytes()


def q4_0(matrix):
    """The number of the largest magnitude becomes -8. Byte i has weights i and i + 16 of its block."""
    blocks = matrix.reshape(-1, BLOCK)
    scales = np.take_along_axis(blocks, np.abs(blocks).argmax(1)[:, None], 1) / -8
    inverse = np.divide(1, scales, out=np.zeros_like(scales), where=scales != 0)
    numbers = np.minimum(15, blocks * inverse + np.float32(8.5)).astype(np.uint8)
    packed = np.empty(len(blocks), dtype=[("scale", "<f2"), ("numbers", np.uint8, BLOCK // 2)])
    packed["scale"], packed["numbers"] = scales[:, 0], numbers[:, :16] | numbers[:, 16:] << 4
    return packed.tobytes()


def stored(array, kind):
    return {"f32": lambda: array.astype("<f4").tobytes(), "f16": lambda: array.astype("<f2").tobytes(),
            "q8_0": lambda: q8_0(array), "q4_0": lambda: q4_0(array)}[kind]()


def write(path, metadata, tensors):
    """`tensors`: (name, array, type) each."""
    header, data = b"", []
    for key, value in metadata.items():
        header += text(key) + value_of(value)
    offset = 0
    for name, array, kind in tensors:
        raw = stored(array, kind)
        sizes = array.shape[::-1]
        header += text(name) + struct.pack(f"<I{len(sizes)}QIQ", len(sizes), *sizes, TYPES[kind], offset)
        data.append(raw + bytes(-len(raw) % ALIGNMENT))
        offset += len(data[-1])
    header = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata)) + header
    with open(path, "wb") as file:
        file.write(header + bytes(-len(header) % ALIGNMENT))
        file.writelines(data)


def neighbours(matrix, heads):
    """Rows of queries or keys in the order of pairs that ggml turns: next to each other instead of in two halves."""
    return matrix.reshape(heads, 2, -1, matrix.shape[1]).transpose(0, 2, 1, 3).reshape(matrix.shape)


def write_llama(path, config, weights, kind):
    heads, kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
    metadata = {"general.architecture": "llama", "general.name": "seeded", "llama.vocab_size": config["vocab_size"],
                "llama.context_length": config["max_position_embeddings"],
                "llama.embedding_length": config["hidden_size"], "llama.block_count": config["num_hidden_layers"],
                "llama.feed_forward_length": config["intermediate_size"],
                "llama.rope.dimension_count": config["head_dim"], "llama.rope.freq_base": config["rope_theta"],
                "llama.attention.head_count": heads, "llama.attention.head_count_kv": kv_heads,
                "llama.attention.layer_norm_rms_epsilon": config["rms_norm_eps"], "tokenizer.ggml.model": "no_vocab"}
    tensors = [("token_embd.weight", weights["model.embed_tokens.weight"], kind),
               ("output_norm.weight", weights["model.norm.weight"], "f32")]
    for i in range(config["num_hidden_layers"]):
        for name, source in (("attn_norm", "input_layernorm"), ("ffn_norm", "post_attention_layernorm")):
            tensors.append((f"blk.{i}.{name}.weight", weights[f"model.layers.{i}.{source}.weight"], "f32"))
        for name, source in (("attn_q", "self_attn.q"), ("attn_k", "self_attn.k"), ("attn_v", "self_attn.v"),
                             ("attn_output", "self_attn.o"), ("ffn_gate", "mlp.gate"), ("ffn_up", "mlp.up"),
                             ("ffn_down", "mlp.down")):
            matrix = weights[f"model.layers.{i}.{source}_proj.weight"]
            if name in ("attn_q", "attn_k"):
                matrix = neighbours(matrix, heads if name == "attn_q" else kv_heads)
            tensors.append((f"blk.{i}.{name}.weight", matrix, kind))
    write(path, metadata, tensors)
