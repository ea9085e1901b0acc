"""Writes and reads the safetensors format (an 8-byte length, a JSON header, the raw little-endian tensors); weights of
a model in it."""

import json
import struct

import numpy as np

TYPES = {"float32": "F32", "float16": "F16", "int64": "I64"}


def save(path, tensors):
    header, blobs, offset = {"__metadata__": {"format": "pt"}}, [], 0
    for name, value in sorted(tensors.items(), key=lambda item: (-item[1].itemsize, item[0])):  # keeps all aligned
        raw = np.ascontiguousarray(value).tobytes()
        header[name] = {"dtype": TYPES[str(value.dtype)], "shape": list(value.shape),
                        "data_offsets": [offset, offset + len(raw)]}
        blobs.append(raw)
        offset += len(raw)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))


def load(path):
    with open(path, "rb") as f:
        size, = struct.unpack("<Q", f.read(8))
        header = json.loads(f.read(size))
        raw = f.read()
    header.pop("__metadata__", None)
    types = {name: dtype for dtype, name in TYPES.items()}
    return {name: np.frombuffer(raw[slice(*t["data_offsets"])], types[t["dtype"]]).reshape(t["shape"])
            for name, t in header.items()}


def stored(model):
    """The weights as they are saved: f16."""
    return {name: p.detach().numpy().astype(np.float16) for name, p in model.state_dict().items()}


def load_into(model, weights):
    """The model with the weights as they are stored, so that what is measured is what is saved."""
    import torch  # files need none
    model.load_state_dict({name: torch.from_numpy(v.astype(np.float32)) for name, v in weights.items()})
    return model.eval()
