"""ONNX files: the few messages of its protocol buffers that a graph with stored weights needs."""
import struct

import numpy as np

TYPES = {np.dtype(np.float32): 1, np.dtype(np.uint8): 2, np.dtype(np.int8): 3, np.dtype(np.int32): 6,
         np.dtype(np.int64): 7}
IR_VERSION, OPSET = 8, 17
MICROSOFT = "com.microsoft"


def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out + bytes([number]))


def field(number, value):
    """An integer, or what has a length: bytes, text, another message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    raw = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(raw)) + raw


def tensor(name, array):
    array = np.ascontiguousarray(array)
    return (b"".join(field(1, size) for size in array.shape) + field(2, TYPES[array.dtype]) + field(8, name) +
            field(9, array.tobytes()))


def attribute(name, value):
    if isinstance(value, float):
        return field(1, name) + varint(2 << 3 | 5) + struct.pack("<f", value) + field(20, 1)
    if isinstance(value, int):
        return field(1, name) + field(3, value) + field(20, 2)
    return field(1, name) + b"".join(field(8, number) for number in value) + field(20, 7)


def value_info(name, dtype, shape):
    sizes = b"".join(field(1, field(2, size) if isinstance(size, str) else field(1, size)) for size in shape)
    return field(1, name) + field(2, field(1, field(1, TYPES[np.dtype(dtype)]) + field(2, sizes)))


class Graph:
    """Nodes in the order in which they run. Outputs get names by themselves; an empty input is one that is left out."""

    def __init__(self):
        self.nodes, self.stored, self.names = [], {}, 0

    def weight(self, name, array):
        self.stored[name] = array
        return name

    def add(self, kind, *inputs, domain="", outputs=1, **attributes):
        made = []
        for _ in range(outputs):
            self.names += 1
            made.append(f"{kind}_{self.names}")
        node = b"".join(field(1, name) for name in inputs) + b"".join(field(2, name) for name in made)
        node += field(3, made[0]) + field(4, kind)
        node += b"".join(field(5, attribute(name, value)) for name, value in attributes.items())
        self.nodes.append(node + (field(7, domain) if domain else b""))
        return made[0] if outputs == 1 else made

    def fused(self, kind, *inputs, **attributes):
        return self.add(kind, *inputs, domain=MICROSOFT, **attributes)

    def write(self, path, inputs, output, result):
        """`inputs`: (name, type, shape) each; the value `output` becomes the output `result`, (name, type, shape)."""
        self.nodes.append(field(1, output) + field(2, result[0]) + field(3, result[0]) + field(4, "Identity"))
        graph = b"".join(field(1, node) for node in self.nodes) + field(2, "encode")
        graph += b"".join(field(5, tensor(name, array)) for name, array in self.stored.items())
        graph += b"".join(field(11, value_info(*given)) for given in inputs) + field(12, value_info(*result))
        versions = field(8, field(2, OPSET)) + field(8, field(1, MICROSOFT) + field(2, 1))
        with open(path, "wb") as file:
            file.write(field(1, IR_VERSION) + field(2, "fovea") + field(7, graph) + versions)
