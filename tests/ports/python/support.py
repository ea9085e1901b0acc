"""The command, the repository's models as blobs, and safetensors files, for tests of ports/python."""
import atexit
import functools
import json
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3]
COMMAND = os.environ["FOVEA_COMMAND"]
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="fovea-python-"))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
TYPES = {"F32": np.float32, "I64": np.int64, "I32": np.int32}


def command(*arguments, of_json=True):
    """What the command prints."""
    done = subprocess.run([COMMAND, *map(str, arguments)], check=True, capture_output=True, text=True)
    return json.loads(done.stdout) if of_json else done.stdout


@functools.lru_cache(None)
def blob(name, *options):
    """Of a model in tools/train, converted once."""
    path = FOLDER / f"{name}{''.join(options)}.fovea"
    source = ROOT / "tools" / "train" / name
    if (source / "graph.json").exists():
        source = source / "graph.json"
    command("convert", source, "-o", path, "--compare", "none", *options, of_json=False)
    return str(path)


def save(path, tensors):
    """A safetensors file: the size of a header in JSON, the header, the numbers."""
    names = {np.dtype(known): name for name, known in TYPES.items()}
    header, raw = {}, b""
    for name, array in tensors.items():
        header[name] = {"dtype": names[array.dtype], "shape": array.shape,
                        "data_offsets": [len(raw), len(raw) + array.nbytes]}
        raw += array.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + raw)


def load(path):
    raw = path.read_bytes()
    size, = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8:8 + size])
    header.pop("__metadata__", None)
    return {name: np.frombuffer(raw[8 + size:][slice(*entry["data_offsets"])], TYPES[entry["dtype"]]).reshape(
        entry["shape"]) for name, entry in header.items()}


def run_tensors(model, inputs, *options):
    """`fovea run --input`: what it writes."""
    given, results = FOLDER / "in.safetensors", FOLDER / "out.safetensors"
    save(given, inputs)
    command("run", model, "--input", given, "--output", results, *options, of_json=False)
    return load(results)
