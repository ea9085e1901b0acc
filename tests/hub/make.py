"""Makes directories that look like published ones from the descriptions in models/: the files and settings of the real
checkpoints, tensors with their names, types and omissions, but few and small layers and random values. Only Python's
standard library is needed.

  make.py FOLDER [NAME...]     all of models/, or those
"""
import io
import itertools
import json
import pathlib
import random
import re
import shutil
import struct
import sys
import zipfile
import zlib

import gguf

HERE = pathlib.Path(__file__).resolve().parent
TOKENIZERS = HERE.parent / "data" / "tokenizers"
BYTES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "U32": 4, "I16": 2, "I8": 1, "U8": 1, "BOOL": 1,
         "F8_E4M3": 1}
STORAGE = {"F32": "FloatStorage", "F16": "HalfStorage", "BF16": "BFloat16Storage", "I64": "LongStorage",
           "I32": "IntStorage", "U8": "ByteStorage", "BOOL": "BoolStorage"}
PACKED = ("weight", "qweight", "qzeros", "absmax", "weight_packed", "weight_zero_point")  # integers with any bits
GROUP = 32  # inputs in GPTQ's order of activations
NORMAL = [random.Random(20).gauss(0, 1) for _ in range(4099)]  # values are taken from here, in turn


def numbers_in(text):
    """0, 1, 2 and 5 in "0-2,5"."""
    for part in text.split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def tensors_in(lines):
    """(name, type, shape) of each tensor of lines such as "F32 4x8 layer.{0-1}.weight"."""
    for line in lines:
        dtype, size, name = line.split(" ", 2)
        shape = [] if size == "scalar" else [int(n) for n in size.split("x")]
        words = re.split(r"\{([^}]*)\}", name)
        for numbers in itertools.product(*(list(numbers_in(mark)) for mark in words[1::2])):
            yield "".join(str(a) + str(b) for a, b in itertools.zip_longest(words[::2], numbers, fillvalue="")), \
                dtype, shape


def scale_of(name, shape):
    """(mean, standard deviation) that keep outputs of about 1."""
    low = name.lower()
    if low.endswith(("scales", "scale", "scale_inv", "nested_absmax")):  # factors of numbers that were quantized
        return 0.02, 0.001
    if len(shape) < 2:
        is_norm = ("norm" in low or ".ln" in low or "ln_" in low) and low.endswith(("weight", "gamma"))
        return (1, 0.1) if is_norm else (0, 0.05)
    fan = 1
    for size in shape[1:]:
        fan *= size
    return (0, 0.5) if any(word in low for word in ("embed", "wte", "shared")) else (0, fan ** -0.5)


def values_of(name, dtype, shape, texts):
    if name in texts:
        return texts[name].encode()
    count = 1
    for size in shape:
        count *= size
    if name.endswith("position_ids"):
        return struct.pack(f"<{count}q", *(i % shape[-1] for i in range(count)))
    if name.endswith("g_idx"):
        return struct.pack(f"<{count}i", *(i // GROUP for i in range(count)))
    if dtype not in ("F64", "F32", "F16", "BF16"):
        bits = random.Random(name).randbytes(count * BYTES[dtype] if name.endswith(PACKED) else 0)
        if dtype.startswith("F8"):
            bits = bytes(byte & 0xb7 for byte in bits)  # no NaN
        return bits or bytes(count * BYTES[dtype])
    mean, deviation = scale_of(name, shape)
    pattern = [mean + deviation * value for value in NORMAL]
    if dtype == "BF16":
        block = b"".join(struct.pack("<f", value)[2:] for value in pattern)
    else:
        block = struct.pack(f"<{len(pattern)}" + {"F64": "d", "F32": "f", "F16": "e"}[dtype], *pattern)
    at = zlib.crc32(name.encode()) % len(NORMAL) * BYTES[dtype]
    whole = block[at:] + block * (count * BYTES[dtype] // len(block) + 1)
    return whole[:count * BYTES[dtype]]


def safetensors(tensors, texts):
    header, parts, offset = {"__metadata__": {"format": "pt"}}, [], 0
    for name, dtype, shape in tensors:
        raw = values_of(name, dtype, shape, texts)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, offset + len(raw)]}
        offset += len(raw)
        parts.append(raw)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(parts)


class Pickle:
    """Writes the opcodes (protocol 2) that torch.save uses for a dictionary of tensors."""

    def __init__(self):
        self.out = io.BytesIO()
        self.out.write(b"\x80\x02")

    def raw(self, data):
        self.out.write(data)

    def text(self, value):
        data = value.encode()
        self.raw(b"X" + struct.pack("<I", len(data)) + data)

    def number(self, value):
        self.raw(b"J" + struct.pack("<i", value))

    def name(self, module, name):
        self.raw(f"c{module}\n{name}\n".encode())

    def numbers(self, values):
        self.raw(b"(")
        for value in values:
            self.number(value)
        self.raw(b"t")

    def tensor(self, key, dtype, shape, legacy):
        strides, step = [], 1
        for size in reversed(shape):
            strides.insert(0, step)
            step *= size
        self.name("torch._utils", "_rebuild_tensor_v2")
        self.raw(b"((")
        self.text("storage")
        self.name("torch", STORAGE[dtype])
        self.text(key)
        self.text("cpu")
        self.number(step)
        self.raw(b"NtQ" if legacy else b"tQ")  # the legacy form has a view, which is None
        self.number(0)
        self.numbers(shape)
        self.numbers(strides)
        self.raw(b"\x89ccollections\nOrderedDict\n)RtR")

    def end(self):
        self.raw(b".")
        return self.out.getvalue()


def state_dict(tensors, legacy):
    pickle = Pickle()
    pickle.name("collections", "OrderedDict")
    pickle.raw(b")R(")
    for key, (name, dtype, shape) in enumerate(tensors):
        pickle.text(name)
        pickle.tensor(str(key), dtype, shape, legacy)
    pickle.raw(b"u")
    return pickle.end()


def torch_zip(tensors, texts):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("archive/data.pkl", state_dict(tensors, legacy=False))
        for key, (name, dtype, shape) in enumerate(tensors):
            archive.writestr(f"archive/data/{key}", values_of(name, dtype, shape, texts))
        archive.writestr("archive/version", "3\n")
    return out.getvalue()


def torch_legacy(tensors, texts):
    """The form of torch.save before version 1.6: pickles of a magic number, a version, the machine, the dictionary and
    the keys, then each storage as its count and its elements."""
    magic = Pickle()
    magic.raw(b"\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19")
    version = Pickle()
    version.number(1001)
    machine = Pickle()
    machine.raw(b"}(")
    machine.text("protocol_version")
    machine.number(1001)
    machine.text("little_endian")
    machine.raw(b"\x88")
    machine.text("type_sizes")
    machine.raw(b"}(")
    for name, size in (("short", 2), ("int", 4), ("long", 4)):
        machine.text(name)
        machine.number(size)
    machine.raw(b"uu")
    keys = Pickle()
    keys.raw(b"](")
    for key in range(len(tensors)):
        keys.text(str(key))
    keys.raw(b"e")
    out = magic.end() + version.end() + machine.end() + state_dict(tensors, legacy=True) + keys.end()
    for name, dtype, shape in tensors:
        raw = values_of(name, dtype, shape, texts)
        out += struct.pack("<q", len(raw) // BYTES[dtype]) + raw
    return out


def longer(value):
    """The value with {"$repeat": [element, count]} as lists."""
    if isinstance(value, dict):
        if set(value) == {"$repeat"}:
            element, count = value["$repeat"]
            return [longer(element)] * count
        return {key: longer(element) for key, element in value.items()}
    return [longer(element) for element in value] if isinstance(value, list) else value


def content_of(file):
    if "json" in file:
        return json.dumps(longer(file["json"]), indent=2, ensure_ascii=False).encode()
    if "text" in file:
        return file["text"].encode()
    if "pieces" in file:
        known = json.loads((TOKENIZERS / file["pieces"]).read_text(encoding="utf-8"))
        pieces = [piece for piece, _ in known["model"]["vocab"]]
        ids = {piece: i + file["shift"] for i, piece in enumerate(pieces) if file["first"] <= i <= file["last"]}
        return json.dumps({**ids, **file["set"]}, ensure_ascii=False).encode()
    content = (TOKENIZERS / file["copy"]).read_bytes()
    if "set" in file:
        content = json.dumps({**json.loads(content), **file["set"]}, ensure_ascii=False).encode()
    return content


def make(description, folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    contents = {name: content_of(file) for name, file in description["files"].items()}
    texts = {name: text for pattern, text in description.get("texts", {}).items()  # for tensors of bytes
             for name, _, _ in tensors_in(["U8 1 " + pattern])}
    for name, lines in description["weights"].items():
        tensors = list(tensors_in(lines))
        write = safetensors if name.endswith(".safetensors") else \
            torch_legacy if name in description.get("legacy", []) else torch_zip
        contents[name] = write(tensors, texts)
    for name, file in description.get("gguf", {}).items():
        contents[name] = gguf.written(file, tensors_in(file["tensors"]), lambda *tensor: values_of(*tensor, {}))
    for name, size in description.get("cut", {}).items():  # a download that ended early
        contents[name] = contents[name][:size]
    for name, content in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def descriptions(names=()):
    for path in sorted((HERE / "models").glob("*.json")):
        if not names or path.stem in names:
            yield path.stem, json.loads(path.read_text(encoding="utf-8"))


def main():
    folder = pathlib.Path(sys.argv[1])
    for name, description in descriptions(sys.argv[2:]):
        make(description, folder / name)


if __name__ == "__main__":
    main()
