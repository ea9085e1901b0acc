"""Describes a published directory for make.py, which makes it again with other values: its small files as they are, and
the names, types and shapes of its tensors. A file that equals one of tests/data/tokenizers, but for a few keys at its
top, is named instead. Shapes are kept, so shrink a large model's config.json and tensors first.

  skeleton.py DIRECTORY > models/NAME.json       (needs python3-torch for pytorch_model.bin)
"""
import collections
import itertools
import json
import pathlib
import re
import struct
import sys

TOKENIZERS = pathlib.Path(__file__).resolve().parents[1] / "data" / "tokenizers"
LARGEST = 40_000  # bytes of a file that is kept as it is


def in_safetensors(path):
    with open(path, "rb") as file:
        start = file.read(8)
        size = struct.unpack("<Q", start)[0] if len(start) == 8 else 0
        if not 0 < size < 1 << 27:
            return None
        header = json.loads(file.read(size))
    header.pop("__metadata__", None)
    return {name: (entry["dtype"], tuple(entry["shape"])) for name, entry in header.items()}


def in_torch(path):
    import torch
    names = {torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16", torch.int64: "I64",
             torch.uint8: "U8", torch.bool: "BOOL"}
    try:
        loaded = torch.load(path, map_location="cpu")
    except Exception:  # not a file of weights
        return None
    return {name: (names[value.dtype], tuple(value.shape)) for name, value in loaded.items()}


def ranges(numbers):
    """"0-3" for consecutive numbers, else "0,2"."""
    numbers = sorted(numbers)
    if len(numbers) > 1 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"{numbers[0]}-{numbers[-1]}"
    return ",".join(map(str, numbers))


def lines_of(tensors):
    """One line for tensors of equal type and shape whose names differ in numbers alone."""
    groups = collections.defaultdict(list)
    for name, (dtype, shape) in tensors.items():
        parts = re.split(r"(?<=\.)(\d+)(?=\.)", name)
        groups[(dtype, shape, tuple(parts[::2]))].append(tuple(map(int, parts[1::2])))
    for (dtype, shape, words), places in groups.items():
        axes = [sorted(set(axis)) for axis in zip(*places)]
        whole = len(places) == len(list(itertools.product(*axes)))
        for numbers in [tuple(map(ranges, axes))] if whole else [tuple(map(str, place)) for place in sorted(places)]:
            marks = ["{%s}" % n if not n.isdigit() else n for n in numbers]
            name = "".join(word + mark for word, mark in itertools.zip_longest(words, marks, fillvalue=""))
            yield " ".join([dtype, "x".join(map(str, shape)) or "scalar", name])


def known_files():
    return {str(path.relative_to(TOKENIZERS)): path for path in sorted(TOKENIZERS.glob("*/*")) if path.is_file()}


def like_known(path, content):
    """The file of tests/data/tokenizers with the same bytes, or the same but for keys at the top."""
    for name, known in known_files().items():
        if known.read_bytes() == content:
            return {"copy": name}
    if path.suffix != ".json":
        return None
    best = None
    value = json.loads(content)
    for name, known in known_files().items():
        if known.name != path.name or not isinstance(value, dict):
            continue
        other = json.loads(known.read_text(encoding="utf-8"))
        if set(value) != set(other):
            continue
        changed = {key: value[key] for key in value if value[key] != other[key]}
        if best is None or len(json.dumps(changed)) < len(json.dumps(best["set"])):
            best = {"copy": name, "set": changed}
    return best if best is not None and len(json.dumps(best["set"])) < LARGEST else None


def like_pieces(content):
    """{piece: id} with the pieces of a Unigram tokenizer, whose ids are shifted, and a few other pieces."""
    value = json.loads(content)
    if not isinstance(value, dict) or len(value) < 1000:
        return None
    best = None
    for name, known in known_files().items():
        if not name.startswith("unigram-") or known.name != "tokenizer.json":
            continue
        pieces = [piece for piece, _ in json.loads(known.read_text(encoding="utf-8"))["model"]["vocab"]]
        shift = value.get(pieces[len(pieces) // 2], 0) - len(pieces) // 2
        same = [i for i, piece in enumerate(pieces) if value.get(piece) == i + shift] or [0]
        first, last = same[0], same[-1]
        made = {piece: i + shift for i, piece in enumerate(pieces) if first <= i <= last}
        others = {piece: number for piece, number in value.items() if made.get(piece) != number}
        if {**made, **others} == value and (best is None or len(others) < len(best["set"])):
            best = {"pieces": name, "first": first, "last": last, "shift": shift, "set": others}
    return best


def shortened(value):
    """Long lists of equal elements as {"$repeat": [element, count]}."""
    if isinstance(value, dict):
        return {key: shortened(element) for key, element in value.items()}
    if isinstance(value, list) and len(value) > 7 and all(element == value[0] for element in value):
        return {"$repeat": [shortened(value[0]), len(value)]}
    return [shortened(element) for element in value] if isinstance(value, list) else value


def file_of(path):
    content = path.read_bytes()
    known = like_known(path, content)
    if known is not None:
        return known
    if path.name == "vocab.json" and (pieces := like_pieces(content)) is not None:
        return pieces
    if path.suffix == ".json":
        return {"json": shortened(json.loads(content))}
    if len(content) > LARGEST:
        raise SystemExit(f"{path}: too large to keep, and like no file of {TOKENIZERS}")
    return {"text": content.decode("utf-8")}


def describe(directory):
    files, weights = {}, {}
    for path in sorted(p for p in directory.rglob("*") if p.is_file()):
        name = str(path.relative_to(directory))
        tensors = None
        if path.suffix == ".safetensors":
            tensors = in_safetensors(path)
        elif path.suffix == ".bin":
            tensors = in_torch(path)
        if tensors is None:
            files[name] = file_of(path)
        else:
            weights[name] = list(lines_of(tensors))
    return {"files": files, "weights": weights}


def main():
    json.dump(describe(pathlib.Path(sys.argv[1])), sys.stdout, indent=1, ensure_ascii=False)
    print()


if __name__ == "__main__":
    main()
