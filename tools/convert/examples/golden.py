"""What the scripts of the examples share: random weights for a PyTorch module, inputs, and the files that fovea reads.

A make.py has a module of plain PyTorch layers. Its forward (or, for a program of another name, the method of that name)
takes the inputs of one row of the root space, in the order of graph.json and without padding, and returns its outputs
by name: rows [rows, width], attention weights [queries, heads, keys]. Rows of nested spaces are lists: a document is a
list of sentences. Everything is computed in double precision.
"""

import json
import math
import pathlib
import sys
import zlib

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "train"))
import tensors  # noqa: E402

torch.set_num_threads(1)


def split(x, heads):
    """[rows, heads * size] -> [heads, rows, size]"""
    return x.reshape(len(x), heads, -1).transpose(0, 1)


def join(x):
    """[heads, rows, size] -> [rows, heads * size]"""
    return x.transpose(0, 1).reshape(x.shape[1], -1)


def attend(attention, queries, keys, mask=None):
    """Rows and weights [queries, heads, keys] of an nn.MultiheadAttention(batch_first=True). mask: [queries, keys],
    true: not seen."""
    rows, weights = attention(queries[None], keys[None], keys[None], attn_mask=mask, average_attn_weights=False)
    return rows[0], weights[0].transpose(0, 1)


def attend_heads(queries, keys, values, weigh=lambda scores: scores.softmax(-1)):
    """Rows and weights [queries, heads, keys] of [heads, rows, size] each. `weigh`: scores [heads, queries, keys] ->
    weights."""
    weights = weigh(queries @ keys.transpose(1, 2) / queries.shape[-1] ** 0.5)
    return join(weights @ values), weights.transpose(0, 1)


def randomize(model):
    """Every parameter counts: gains are not 1, biases not 0."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.normal_()
            if parameter.dim() > 1:
                parameter.mul_(1 if "embed" in name else 1.2 / math.sqrt(parameter.shape[-1]))
            else:
                parameter.mul_(0.2).add_(1 if "norm" in name and name.endswith("weight") else 0)


class Spaces:
    """How the rows of a case fall into segments, space by space."""

    def __init__(self, graph, lengths):
        self.parents = {space["name"]: space.get("parent") for space in graph["spaces"]}
        self.lengths = lengths

    def rows(self, space):
        """Rows of a space with given segments, or of the parent of such a space."""
        if space in self.lengths:
            return sum(self.lengths[space])
        return next(len(lengths) for child, lengths in self.lengths.items() if self.parents[child] == space)

    def segment(self, space, rows, index):
        """The rows of segment `index`."""
        first = sum(self.lengths[space][:index])
        return rows[first:first + self.lengths[space][index]]

    def nest(self, space, rows):
        """One entry for each row of the root: a row, a segment of rows, a list of such."""
        if self.parents[space] is None:
            return [rows[i:i + 1] for i in range(len(rows))]
        entries = [self.segment(space, rows, i) for i in range(len(self.lengths[space]))]
        while self.parents[self.parents[space]] is not None:
            space = self.parents[space]
            entries = [self.segment(space, entries, i) for i in range(len(self.lengths[space]))]
        return entries


def concatenate(parts):
    """Concatenates rows; attention weights are padded to the widest."""
    widest = max(part.shape[-1] for part in parts)
    parts = [torch.nn.functional.pad(part, (0, widest - part.shape[-1])) if part.dim() == 3 else part for part in parts]
    return torch.cat(parts)


class Files:
    """The module of a script with random weights, and what of it is stored."""

    def __init__(self, script, build, own_weights=False):
        self.directory = pathlib.Path(script).resolve().parent
        self.graph = json.loads((self.directory / "graph.json").read_text())
        torch.manual_seed(zlib.crc32(self.directory.name.encode()))
        model = build()
        if not own_weights:
            randomize(model)
        if model.state_dict():
            tensors.save(self.directory / "model.safetensors",
                         {name: x.numpy() for name, x in model.state_dict().items()})
        self.model = model.double().eval()
        self.stored = {}

    def inputs_of(self, name, begins_in):
        """Of a program, or of a part of one, which begins with the inputs of the whole or with values in `begins_in`
        (a space)."""
        program = next(program for program in self.graph["programs"] if program["name"] == name)
        if "from" in program:
            return [{"name": value, "space": begins_in} for value in program["from"]]
        return program["inputs"] if "inputs" in program else self.inputs_of(program["of"], begins_in)

    def run(self, case, lengths, ids, given=None, of_step_before=(), begins_in=None):
        """Stores a case, `<program>/<name>` where it is not of the first program; returns its outputs. Inputs are
        random ids below the number that `ids` has for them and random numbers, unless given. Inputs `of_step_before`
        are not stored. `begins_in`: the space of what a part of a program begins with."""
        name = case.split("/")[0] if "/" in case else self.graph["programs"][0]["name"]
        spaces, inputs = Spaces(self.graph, lengths), {}
        for value in self.inputs_of(name, begins_in):
            rows = spaces.rows(value["space"])
            if given and value["name"] in given:
                x = given[value["name"]]
            elif value.get("type") == "i32":
                x = torch.randint(0, ids[value["name"]], (rows,))
            else:
                x = torch.randn(rows, value["width"]).double()
            if value["name"] not in of_step_before:
                self.stored[f"{case}.in.{value['name']}"] = x
            inputs[value["name"]] = spaces.nest(value["space"], x)
        for space, counts in lengths.items():
            self.stored[f"{case}.in.segments.{space}"] = torch.tensor(counts)
        forward = getattr(self.model, name) if "/" in case else self.model
        with torch.no_grad():
            found = [forward(*sample) for sample in zip(*inputs.values())]
        outputs = {output: concatenate([one[output] for one in found]) for output in found[0]}
        for output, x in outputs.items():
            assert x.isfinite().all(), f"{case}: {output}"
            self.stored[f"{case}.out.{output}"] = x
        return outputs

    def write(self):
        arrays = {name: (x.float() if x.is_floating_point() else x.long()).numpy() for name, x in self.stored.items()}
        tensors.save(self.directory / "golden.safetensors", arrays)


def make(script, build, cases, ids=None, given=None, own_weights=False):
    """Writes model.safetensors and golden.safetensors beside the script.

    build: the module's class. cases: by name the lengths of all segments of each space. ids: the number of different
    ids of an input. given: inputs that are not random. own_weights: those that the module made are kept.
    """
    files = Files(script, build, own_weights)
    for case, lengths in cases.items():
        files.run(case, lengths, ids, given)
    files.write()


def make_stepwise(script, build, lengths, steps, ids, first):
    """The same for an encoder and a decoder, the second program, of which `steps` steps are stored.

    A decoder's inputs that are carried begin as the encoder's output that `first` names, or as zeros; other inputs with
    the name of an encoder's output are that.
    """
    files = Files(script, build)
    decoder = files.graph["programs"][1]
    carried = {value["name"]: value["carried"] for value in decoder["inputs"] if "carried" in value}
    encoded = files.run("text", lengths, ids)
    texts = len(next(iter(lengths.values())))
    state = {value["name"]: (encoded[first[value["name"]]] if value["name"] in first
                             else torch.zeros(texts, value["width"]).double())
             for value in decoder["inputs"] if "carried" in value}
    for step in range(steps):
        known = carried if step > 0 else [name for name in carried if name not in first]
        outputs = files.run(f"{decoder['name']}/text#{step}", lengths, ids, {**encoded, **state}, known)
        state = {name: outputs[output] for name, output in carried.items()}
    files.write()
