"""A blob's model, and its contents."""

import ctypes
import dataclasses
import functools
import os
from typing import Any, Dict, Iterator, List, Optional, Union

import numpy as np

from . import _c
from ._library import Address, Blocks, Error, Handle, aligned, call, library, look, sized, text_of

#: The numpy type of each element type; types that numpy lacks are integers of their size.
DTYPES = {_c.FOVEA_TYPE_F32: np.float32, _c.FOVEA_TYPE_F16: np.float16, _c.FOVEA_TYPE_I8: np.int8,
          _c.FOVEA_TYPE_I32: np.int32, _c.FOVEA_TYPE_BF16: np.uint16}
TYPE_NAMES = {_c.FOVEA_TYPE_F32: "f32", _c.FOVEA_TYPE_F16: "f16", _c.FOVEA_TYPE_I8: "i8", _c.FOVEA_TYPE_I4: "i4",
              _c.FOVEA_TYPE_I32: "i32", _c.FOVEA_TYPE_BF16: "bf16", _c.FOVEA_TYPE_U8: "u8"}
ROLES = {_c.FOVEA_ROLE_INTERNAL: "internal", _c.FOVEA_ROLE_INPUT: "input", _c.FOVEA_ROLE_OUTPUT: "output"}
BACKENDS = {"default": _c.FOVEA_BACKEND_DEFAULT, "highway": _c.FOVEA_BACKEND_HIGHWAY,
            "xnnpack": _c.FOVEA_BACKEND_XNNPACK}


_HEADER_BYTES = 64  # contains the blob's size and checksum


@dataclasses.dataclass(frozen=True)
class Space:
    """A ragged batch dimension: the kind of the rows of a value."""

    index: int
    name: str
    parent: Optional[str]  #: The space whose rows are this one's segments; None: all rows are one segment.
    is_input: bool  #: The caller gives the lengths of its segments.
    max_segment_rows: Optional[int]  #: None: any number.
    is_cached: bool  #: Its rows are kept from run to run (KV cache).
    window: int  #: Sliding window: past rows of a cached text that a query sees; 0: all.


@dataclasses.dataclass(frozen=True)
class Value:
    """A matrix that a program reads, writes or computes as an intermediate value."""

    index: int
    name: str
    space: str
    width: int
    type: str  #: "f32", "i32", ...
    role: str  #: "input", "output" or "internal"
    id_limit: int  #: Ids must be below this; 0: the values are not ids.
    carried_by: Optional[str]  #: The output whose rows become this input's rows in the next run.


@dataclasses.dataclass(frozen=True)
class Step:
    """One operation of a program."""

    index: int
    name: str
    op: str
    heads: int  #: For attention; else 0.
    phase: int


@dataclasses.dataclass(frozen=True)
class Program:
    """An entry point of a model."""

    index: int
    name: str
    values: Dict[str, Value]
    steps: Dict[str, Step]
    phases: int

    def _with_role(self, role: str) -> Dict[str, Value]:
        return {name: value for name, value in self.values.items() if value.role == role}

    @property
    def inputs(self) -> Dict[str, Value]:
        return self._with_role("input")

    @property
    def outputs(self) -> Dict[str, Value]:
        return self._with_role("output")

    @property
    def attentions(self) -> Dict[str, Step]:
        """Operations that can be tapped."""
        return {name: step for name, step in self.steps.items() if step.op == "attention"}


@dataclasses.dataclass(frozen=True)
class Tensor:
    """A constant of the blob. `data` is a view of the blob, None for i4. Integers still need their scales."""

    name: str
    type: str
    shape: tuple
    data: Optional[np.ndarray]


def _blob(source: Any) -> np.ndarray:
    """The bytes of a blob, aligned to 64: a file is mapped, bytes are used in place or copied if not aligned."""
    if isinstance(source, (str, os.PathLike)):
        if os.stat(source).st_size == 0:
            return aligned(0)
        return np.memmap(source, np.uint8, mode="r")
    try:
        view = memoryview(source)
    except TypeError:
        raise Error("a model needs a path or bytes") from None
    if view.nbytes == 0:
        return aligned(0)
    data = np.frombuffer(view if view.c_contiguous else view.tobytes(), np.uint8)
    if data.ctypes.data % 64 == 0:
        return data
    copy = aligned(data.nbytes)
    copy[:] = data
    return copy


class Model(Handle):
    """A model of a blob, ready to run.

    `source` is a path, whose file is mapped, or an object with the bytes, which is used in place if its alignment is
    64; neither may change. `verify=False` skips the checksum; the structure is always checked. Any number of sessions
    and threads may use one model. A copy or an unpickled model is independent and opened again, by the path or with a
    copy of the bytes.

        with fovea.Model("model.fovea") as model:
            print(model.classify(["a text"]))
    """

    _called = "this model is"

    def __init__(self, source: Union[str, os.PathLike, bytes, bytearray, memoryview, np.ndarray], *,
                 backend: str = "default", verify: bool = True):
        self._open(source, backend, verify)

    def _open(self, source: Any, backend: str, verify: bool) -> None:
        if backend not in BACKENDS:
            raise Error(f"backend '{backend}': there are {', '.join(BACKENDS)}", _c.FOVEA_E_OPTION)
        self.name = os.fspath(source) if isinstance(source, (str, os.PathLike)) else "the blob"
        self.blob = Blocks()
        blob = _blob(source)
        at, size = self.blob.add(blob), blob.nbytes
        options = sized(_c.fovea_model_options, backend=BACKENDS[backend], skip_checksum=not verify)
        needed = ctypes.c_uint64()
        call("fovea_model_size", at, size, ctypes.byref(options), ctypes.byref(needed), doing=self.name)
        self._memory: Optional[np.ndarray] = aligned(needed.value)
        handle = ctypes.c_void_p()
        call("fovea_model_init", at, size, ctypes.byref(options), self._memory.ctypes.data, needed.value,
             ctypes.byref(handle), doing=self.name)
        self._address = Address.of(handle.value, [self.blob, self._memory])
        path = os.path.abspath(source) if isinstance(source, (str, os.PathLike)) else None
        self._opened = {"source": path, "backend": backend, "verify": verify}

    def close(self) -> None:
        super().close()
        self._memory, self.blob = None, Blocks()

    def __getstate__(self) -> Dict[str, Any]:
        """How to open it again, and attributes that a program has added."""
        self.address
        blob, own = self.blob.blocks[0], ("_address", "_memory", "_opened", "blob")
        found = {name: value for name, value in vars(self).items() if name not in own and
                 not isinstance(getattr(type(self), name, None), functools.cached_property)}
        opened = dict(self._opened)
        if opened["source"] is None:
            opened["source"] = blob.tobytes()
        return {"opened": opened, "header": blob[:_HEADER_BYTES].tobytes(), "found": found}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self._open(**state["opened"])
        if self.blob.blocks[0][:_HEADER_BYTES].tobytes() != state["header"]:
            self.close()
            raise Error(f"{state['opened']['source']}: the file has changed since this model was copied or "
                        "pickled; open it by its path", _c.FOVEA_E_ARGUMENT)
        vars(self).update(state["found"])

    def __repr__(self) -> str:
        return f"<fovea.Model {self.name}{', closed' if self.closed else ''}>"

    # ---- Looking inside ----

    def _info(self, struct: type, function: str, *indices: int) -> Any:
        info = sized(struct)
        look(function, self.address, *indices, ctypes.byref(info))
        return info

    @functools.cached_property
    def info(self) -> Dict[str, Any]:
        """Counts and bytes: the fields of fovea_model_info."""
        info = self._info(_c.fovea_model_info, "fovea_model_get_info")
        fields = {name: getattr(info, name) for name, _ in info._fields_ if name != "struct_size"}
        return {name: text_of(value) if isinstance(value, bytes) else value for name, value in fields.items()}

    @functools.cached_property
    def metadata(self) -> Dict[str, str]:
        entries = {}
        key, value = ctypes.c_char_p(), ctypes.c_char_p()
        for i in range(self.info["metadata_count"]):
            look("fovea_model_get_metadata", self.address, i, ctypes.byref(key), ctypes.byref(value))
            entries[text_of(key.value)] = text_of(value.value)
        return entries

    @functools.cached_property
    def labels(self) -> List[str]:
        """Names of classes, by their numbers."""
        numbers = [int(key[6:]) for key in self.metadata if key.startswith("label.") and key[6:].isdigit()]
        return [self.label(i) for i in range(max(numbers, default=-1) + 1)]

    def label(self, index: int) -> str:
        return self.metadata.get(f"label.{index}", f"class {index}")

    @functools.cached_property
    def spaces(self) -> Dict[str, Space]:
        infos = [self._info(_c.fovea_space_info, "fovea_model_get_space", i) for i in range(self.info["space_count"])]
        names = [text_of(info.name) for info in infos]
        return {names[i]: Space(i, names[i], None if info.parent == _c.FOVEA_NONE else names[info.parent],
                                bool(info.is_input),
                                None if info.max_segment_rows == _c.FOVEA_NONE else info.max_segment_rows,
                                bool(info.is_cached), info.window) for i, info in enumerate(infos)}

    @functools.cached_property
    def programs(self) -> Dict[str, Program]:
        programs = [self._program(i) for i in range(self.info["program_count"])]
        return {program.name: program for program in programs}

    def _program(self, index: int) -> Program:
        about = self._info(_c.fovea_program_info, "fovea_model_get_program", index)
        infos = [self._info(_c.fovea_value_info, "fovea_program_get_value", index, i) for i in range(about.value_count)]
        spaces = list(self.spaces)
        values = [Value(i, text_of(info.name), spaces[info.space], info.width, TYPE_NAMES[info.type], ROLES[info.role],
                        info.id_limit,
                        None if info.carried_by == _c.FOVEA_NONE else text_of(infos[info.carried_by].name))
                  for i, info in enumerate(infos)]
        steps = []
        for i in range(about.step_count):
            info = self._info(_c.fovea_step_info, "fovea_program_get_step", index, i)
            steps.append(Step(i, text_of(info.name), text_of(info.op), info.heads, info.phase))
        return Program(index, text_of(about.name), {value.name: value for value in values},
                       {step.name: step for step in steps}, about.phase_count)

    def program(self, name: Optional[str] = None) -> Program:
        """A program by its name; default: the first."""
        if name is None:
            return next(iter(self.programs.values()))
        if name not in self.programs:
            raise Error(f"{self.name}: no program '{name}'; it has: {', '.join(self.programs)}", _c.FOVEA_E_NAME)
        return self.programs[name]

    def value(self, program: Program, name: str) -> Value:
        """A value by its name, or by the name in metadata alias.NAME."""
        for known in (name, self.metadata.get(f"alias.{name}")):
            if known in program.values:
                return program.values[known]
        raise Error(f"{self.name}: program '{program.name}' has no value '{name}'", _c.FOVEA_E_NAME)

    def attention(self, program: Program, name: str) -> Step:
        """An attention operation, found in the same way."""
        for known in (name, self.metadata.get(f"alias.{name}")):
            if known in program.attentions:
                return program.attentions[known]
        raise Error(f"{self.name}: program '{program.name}' has no attention '{name}'; it has: "
                    f"{', '.join(program.attentions)}", _c.FOVEA_E_NAME)

    def space(self, name: str) -> Space:
        if name not in self.spaces:
            raise Error(f"{self.name}: no space '{name}'; it has: {', '.join(self.spaces)}", _c.FOVEA_E_NAME)
        return self.spaces[name]

    @property
    def tensors(self) -> Iterator[Tensor]:
        """Constants, in the order of the blob."""
        for i in range(self.info["tensor_count"]):
            info = self._info(_c.fovea_tensor_info, "fovea_model_get_tensor", i)
            shape = (info.rows, info.width)
            data = None
            if info.type in DTYPES:
                data = self.blob.array(info.data, DTYPES[info.type], shape)
            yield Tensor(text_of(info.name), TYPE_NAMES[info.type], shape, data)

    def describe(self) -> str:
        """The first part of `fovea inspect`: programs with inputs and outputs."""
        lines = [f"{self.name}: {self.info['blob_bytes']} bytes, {self.info['backend']}"]
        for program in self.programs.values():
            lines.append(f"program {program.name}, {len(program.steps)} steps in {program.phases} phases")
            for value in [*program.inputs.values(), *program.outputs.values()]:
                lines.append(f"  {value.role:<7}{value.name:<24} {value.type} [{value.space}, {value.width}]")
        return "\n".join(lines)

    # ---- What it does; each module has the details. ----

    @functools.cached_property
    def tokenizer(self) -> "Tokenizer":
        """The blob's tokenizer; an Error if it has none."""
        from .text import Tokenizer
        return Tokenizer(self)

    def session(self, program: Optional[str] = None, **options: Any) -> "Session":
        from .session import Session
        return Session(self, program, **options)

    def run(self, inputs: Any, program: Optional[str] = None, **options: Any) -> "Result":
        from .batch import run
        return run(self, inputs, program, **options)

    def classify(self, texts: Any, **options: Any) -> list:
        from .predict import classify
        return classify(self, texts, **options)

    def embed(self, texts: Any, **options: Any) -> np.ndarray:
        from .predict import embed
        return embed(self, texts, **options)

    def generate(self, texts: Any, **options: Any) -> "Generation":
        from .generate import generate
        return generate(self, texts, **options)


#: The library's version, and the SIMD target of its kernels on this machine.
VERSION: str = library.fovea_version().decode()
SIMD_TARGET: str = library.fovea_simd_target().decode()
