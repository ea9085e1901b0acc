"""GGUF files for make.py: metadata, a tokenizer of tests/data/tokenizers in llama.cpp's form, and tensors whose blocks
have random bits and small scales."""
import json
import pathlib
import random
import struct

TOKENIZERS = pathlib.Path(__file__).resolve().parent.parent / "data" / "tokenizers"
ALIGNMENT = 32
# type: number, elements of a block, its bytes, places of f16 scales in it, their value
TYPES = {"F32": (0, 1, 4, (), 0), "F16": (1, 1, 2, (), 0), "BF16": (30, 1, 2, (), 0),
         "Q4_0": (2, 32, 18, (0,), 0.02), "Q4_1": (3, 32, 20, (0, 2), 0.01), "Q5_0": (6, 32, 22, (0,), 0.01),
         "Q5_1": (7, 32, 24, (0, 2), 0.005), "Q8_0": (8, 32, 34, (0,), 0.001), "Q2_K": (10, 256, 84, (80, 82), 0.002),
         "Q3_K": (11, 256, 110, (108,), 0.001), "Q4_K": (12, 256, 144, (0, 2), 0.0002),
         "Q5_K": (13, 256, 176, (0, 2), 0.0001), "Q6_K": (14, 256, 210, (208,), 0.0001),
         "IQ4_NL": (20, 32, 18, (0,), 0.001), "IQ4_XS": (23, 256, 136, (0,), 0.0001),
         "MXFP4": (39, 32, 17, (), 0)}
NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6


def text(value):
    data = value.encode("utf-8")
    return struct.pack("<Q", len(data)) + data


def value_of(value):
    """Type and bytes: bool, uint32, float32, string."""
    if isinstance(value, bool):
        return 7, struct.pack("<B", value)
    if isinstance(value, int):
        return 4, struct.pack("<I", value)
    if isinstance(value, float):
        return 6, struct.pack("<f", value)
    return 8, text(value)


def pair(key, value):
    if not isinstance(value, list):
        kind, data = value_of(value)
        return text(key) + struct.pack("<I", kind) + data
    parts = [value_of(element) for element in value]
    return text(key) + struct.pack("<IIQ", 9, parts[0][0], len(parts)) + b"".join(data for _, data in parts)


def tokenizer(name, model, pre=None):
    """The keys tokenizer.ggml.* of a tokenizer.json."""
    known = json.loads((TOKENIZERS / name / "tokenizer.json").read_text(encoding="utf-8"))
    vocab, added = known["model"]["vocab"], {token["content"]: token["id"] for token in known.get("added_tokens", [])}
    ids = {**(vocab if isinstance(vocab, dict) else {piece: i for i, (piece, _) in enumerate(vocab)}), **added}
    tokens = [piece for piece, _ in sorted(ids.items(), key=lambda item: item[1])]
    kinds = [UNKNOWN if piece == "<unk>" else CONTROL if piece in added else
             BYTE if piece.startswith("<0x") and piece.endswith(">") else NORMAL for piece in tokens]
    keys = {"model": model, **({"pre": pre} if pre else {}), "token_type": kinds}
    if model == "gpt2":
        keys["merges"] = [merge if isinstance(merge, str) else " ".join(merge) for merge in known["model"]["merges"]]
    elif model == "llama":
        keys["scores"] = [-float(i) for i in range(len(tokens))]
    elif model == "t5":
        keys["scores"] = [float(score) for _, score in vocab] + [0.0] * (len(tokens) - len(vocab))
    elif model == "bert":
        special = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}
        tokens = [piece if piece in special else piece[2:] if piece.startswith("##") else "\u2581" + piece
                  for piece in tokens]
    keys["tokens"] = tokens
    return {f"tokenizer.ggml.{key}": value for key, value in keys.items()}


def blocks(name, dtype, count):
    _, elements, size, places, scale = TYPES[dtype]
    number = random.Random(name)
    raw = bytearray(number.randbytes(count // elements * size))
    for at in range(0, len(raw), size):
        for place in places:
            raw[at + place:at + place + 2] = struct.pack("<e", scale)
        if dtype == "MXFP4":
            raw[at] = 121  # 2^-6
    return bytes(raw)


def written(description, tensors, values_of):
    """`tensors`: (name, type, shape); `values_of` makes the values of types that have no blocks."""
    metadata = dict(description["metadata"])
    if "tokenizer" in description:
        metadata.update(tokenizer(*description["tokenizer"]))
    entries, parts, offset = b"", [], 0
    for name, dtype, shape in tensors:
        number, elements, _, _, _ = TYPES[dtype]
        count = 1
        for size in shape:
            count *= size
        raw = values_of(name, dtype, shape) if elements == 1 else blocks(name, dtype, count)
        raw += bytes(-len(raw) % ALIGNMENT)
        dims = [struct.pack("<Q", size) for size in reversed(shape)]
        entries += text(name) + struct.pack("<I", len(dims)) + b"".join(dims) + struct.pack("<IQ", number, offset)
        offset += len(raw)
        parts.append(raw)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(parts), len(metadata)) + \
        b"".join(pair(key, value) for key, value in metadata.items()) + entries
    return head + bytes(-len(head) % ALIGNMENT) + b"".join(parts)
