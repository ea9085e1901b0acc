"""A blob's model, and its contents."""

import ctypes
import dataclasses
import functools
import os
from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Set, Tuple, Union

import numpy as np

from . import _c
from ._library import Address, Blocks, Error, Handle, Threads, aligned, call, library, look, sized, text_of
from ._notices import named

if TYPE_CHECKING:  # these modules import this one
    from ._texts import Progress, Texts
    from .answers import Answer, Weight
    from .batch import Result
    from .explain import Explanation
    from .generate import Generation, Sampling
    from .predict import Class
    from .session import Session, Tap
    from .text import Text, Tokenizer

#: The numpy type of each element type; types that numpy lacks are integers of their size.
DTYPES = {_c.FOVEA_TYPE_F32: np.float32, _c.FOVEA_TYPE_F16: np.float16, _c.FOVEA_TYPE_I8: np.int8,
          _c.FOVEA_TYPE_I32: np.int32, _c.FOVEA_TYPE_BF16: np.uint16}
TYPE_NAMES = {_c.FOVEA_TYPE_F32: "f32", _c.FOVEA_TYPE_F16: "f16", _c.FOVEA_TYPE_I8: "i8", _c.FOVEA_TYPE_I4: "i4",
              _c.FOVEA_TYPE_I32: "i32", _c.FOVEA_TYPE_BF16: "bf16", _c.FOVEA_TYPE_U8: "u8"}
ROLES = {_c.FOVEA_ROLE_INTERNAL: "internal", _c.FOVEA_ROLE_INPUT: "input", _c.FOVEA_ROLE_OUTPUT: "output"}
BACKENDS = {"default": _c.FOVEA_BACKEND_DEFAULT, "highway": _c.FOVEA_BACKEND_HIGHWAY,
            "xnnpack": _c.FOVEA_BACKEND_XNNPACK}

BATCH_SIZE = 64  # texts of a run
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

    @named
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
        self._announced: Set[str] = set()  # warnings of defaults

    def close(self) -> None:
        super().close()
        self._memory, self.blob = None, Blocks()

    def __getstate__(self) -> Dict[str, Any]:
        """How to open it again, and attributes that a program has added."""
        self.address
        blob, own = self.blob.blocks[0], ("_address", "_memory", "_opened", "_announced", "blob")
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
        if self.closed:
            return f"<fovea.Model {self.name}, closed>"
        task = self.metadata.get("task", "no task stated")
        programs, size = ", ".join(self.programs), self.info["blob_bytes"]
        return f"<fovea.Model {self.name}: {task}, programs {programs}, {size} bytes>"

    def _repr_html_(self) -> str:
        from ._html import model_page
        return repr(self) if self.closed else model_page(self)

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
            if info.type in DTYPES and info.data:
                data = self.blob.array(info.data, DTYPES[info.type], shape)
            yield Tensor(text_of(info.name), TYPE_NAMES[info.type], shape, data)

    @functools.cached_property
    def defaults(self) -> Dict[str, Any]:
        """Choices that the functions below make where the caller makes none."""
        found: Dict[str, Any] = {"workers": 1}
        if self.info["has_text"]:
            found["batch_size"] = BATCH_SIZE
            found["max_length"] = self.tokenizer.max_length or "no limit"
        prompt = self.metadata.get("default_prompt")
        if prompt:
            found["prompt"] = f"{prompt}: {self.metadata.get('prompt.' + prompt, '')!r}"
        if "similarity" in self.metadata:
            found["measure"] = self.metadata["similarity"]
        from .generate import generates, most_new
        if generates(self):
            found["max_tokens"] = most_new(self, 0)
            found["temperature"] = "0 (the best token of each step)"
        return found

    def describe(self) -> str:
        """The first part of `fovea inspect`: programs with inputs and outputs."""
        lines = [f"{self.name}: {self.info['blob_bytes']} bytes, {self.info['backend']}"]
        for program in self.programs.values():
            lines.append(f"program {program.name}, {len(program.steps)} steps in {program.phases} phases")
            for value in [*program.inputs.values(), *program.outputs.values()]:
                lines.append(f"  {value.role:<7}{value.name:<24} {value.type} [{value.space}, {value.width}]")
        lines += [f"default {name}: {value}" for name, value in self.defaults.items()]
        return "\n".join(lines)

    # ---- What it does; each module has the details. ----

    @functools.cached_property
    def tokenizer(self) -> "Tokenizer":
        """The blob's tokenizer; an Error if it has none."""
        from .text import Tokenizer
        return Tokenizer(self)

    @named
    def session(self, program: Optional[str] = None, *, limits: "Mapping[str, Union[int, Tuple[int, int]]]" = {},
                rows: int = 0, workers: Union[int, Threads] = 1, tile_rows: int = 0, keep: Iterable[str] = (),
                taps: "Iterable[Tap]" = (), linked: Iterable[str] = (), cached_texts: int = 0,
                cache_type: Optional[str] = None) -> "Session":
        """A program with memory for a limited number of rows: see Session."""
        from .session import Session
        return Session(self, program, limits=limits, rows=rows, workers=workers, tile_rows=tile_rows, keep=keep,
                       taps=taps, linked=linked, cached_texts=cached_texts, cache_type=cache_type)

    @named
    def run(self, inputs: Mapping[str, Any], program: Optional[str] = None, *,
            segments: Optional[Mapping[str, Sequence[int]]] = None, keep: Iterable[str] = (),
            taps: "Iterable[Union[str, Tap]]" = (), workers: Union[int, Threads] = 1, tile_rows: int = 0) -> "Result":
        """Runs a program once over arrays.

        `inputs`: for each input a list with an array for each text (or image, ...), a Ragged, or one array if the
        space has no parent or `segments` has its lengths; documents need `segments={"sentences": [2, 3]}` (sentences
        of each). `keep`: values to read besides the outputs. `taps`: names of attention operations, or Taps.
        """
        from .batch import run
        return run(self, inputs, program, segments=segments, keep=keep, taps=taps, workers=workers,
                   tile_rows=tile_rows)

    @named
    def classify(self, texts: "Texts", *, top: Optional[int] = None, program: Optional[str] = None,
                 max_length: Optional[int] = None, wrapped: bool = False, literal: bool = False,
                 batch_size: int = BATCH_SIZE, progress: "Progress" = None,
                 workers: Union[int, Threads] = 1) -> "List[List[Class]]":
        """For each text its classes, the most probable first.

        `texts`: one text or any iterable of them: a list, a pandas Series, an array, a generator; a pair of texts is a
        tuple. `top`: the number of classes; default: all. `max_length`: texts are truncated to this many tokens, with
        a TruncationWarning; default: the model's limit. `wrapped`: line ends of documents are line wraps.
        `literal`: special tokens that texts spell, such as "</s>", are text, for texts of strangers; default: they are
        tokens, as in the original library.
        `batch_size`: the most texts of a run, which has at most 4096 tokens unless one text alone has more; results do
        not depend on it.
        `progress`: True for a line on stderr, or a function of the number of texts done and of all (None: unknown).
        """
        from .predict import classify
        return classify(self, texts, top, program, max_length, wrapped, literal, batch_size, progress, workers)

    @named
    def embed(self, texts: "Texts", *, normalise: bool = False, prompt: Optional[str] = None,
              output: Optional[str] = None, program: Optional[str] = None, max_length: Optional[int] = None,
              literal: bool = False, batch_size: int = BATCH_SIZE, progress: "Progress" = None,
              workers: Union[int, Threads] = 1) -> np.ndarray:
        """[texts, width]: the model's sentence embedding or pooled output, or else the mean of its last hidden states.

        `normalise`: scaled to length 1. `prompt`: name of a prompt of the model to put in front of each text; default:
        the model's default prompt, if it has one; "": none. `output`: the output to use; if the rows are tokens, their
        mean. Defaults that the model's publisher has not made explicit give a DefaultWarning. Other parameters: as for
        `classify`.
        """
        from .predict import embed
        return embed(self, texts, normalise=normalise, prompt=prompt, output=output, program=program,
                     max_length=max_length, literal=literal, batch_size=batch_size, progress=progress,
                     workers=workers)

    @named
    def embed_iter(self, texts: "Texts", *, normalise: bool = False, prompt: Optional[str] = None,
                   output: Optional[str] = None, program: Optional[str] = None, max_length: Optional[int] = None,
                   literal: bool = False, batch_size: int = BATCH_SIZE, progress: "Progress" = None,
                   workers: Union[int, Threads] = 1) -> Iterator[np.ndarray]:
        """The rows of `embed` one by one, in constant memory: reads 16 batches of texts ahead, and keeps no results."""
        from .predict import embed_iter
        return embed_iter(self, texts, normalise=normalise, prompt=prompt, output=output, program=program,
                          max_length=max_length, literal=literal, batch_size=batch_size, progress=progress,
                          workers=workers)

    @named
    def word_weights(self, texts: "Texts", *, top: Optional[int] = None, prompt: Optional[str] = None,
                     program: Optional[str] = None, max_length: Optional[int] = None, literal: bool = False,
                     batch_size: int = BATCH_SIZE, progress: "Progress" = None,
                     workers: Union[int, Threads] = 1) -> "List[List[Weight]]":
        """For each text the weights of tokens of the vocabulary that are not 0, the largest first (SPLADE).

        `top`: at most this many. `embed` gives them as rows of the vocabulary's size if the model was published for
        them; any other masked language model is read as SPLADE reads one. Other parameters: as for `embed`.
        """
        from .answers import word_weights
        return word_weights(self, texts, top, prompt, program, max_length, literal, batch_size, progress, workers)

    @named
    def answer(self, question: "Text", context: "Text", *, top: int = 1, max_tokens: int = 15,
               allow_none: bool = False, program: Optional[str] = None, max_length: Optional[int] = None,
               stride: Optional[int] = None, literal: bool = False, batch_size: int = BATCH_SIZE,
               workers: Union[int, Threads] = 1) -> "List[Answer]":
        """The best answers to a question in a context of any length, the best first, as transformers' pipeline finds
        them. May be empty, if the context has no token that could be an answer.

        `top`: at most this many. `max_tokens`: of an answer. `allow_none`: "no answer", an empty text, is one of them.
        `max_length`: tokens of question and context that are read at once; default: 384, or the model's limit if that
        is less. A longer context is read in parts, which share `stride` tokens; default: 128, or half of `max_length`.
        `literal`: as for `classify`.
        """
        from .answers import answer
        return answer(self, question, context, top, max_tokens, allow_none, program, max_length, stride, literal,
                      batch_size, workers)

    @named
    def similarity(self, a: "Union[Texts, np.ndarray]", b: "Union[None, Texts, np.ndarray]" = None, *,
                   measure: Optional[str] = None, prompt: Optional[str] = None, output: Optional[str] = None,
                   program: Optional[str] = None, max_length: Optional[int] = None, literal: bool = False,
                   batch_size: int = BATCH_SIZE, progress: "Progress" = None,
                   workers: Union[int, Threads] = 1) -> np.ndarray:
        """[texts of a, texts of b] How similar texts are; without `b`: texts of `a` to each other. More is more
        similar. Texts may be given as their embeddings, an array [texts, width].

        `measure`: "cosine", "dot", "euclidean" or "manhattan" (distances are negative); default: the model's, or else
        the cosine. Other parameters: as for `embed`.
        """
        from .similar import similarity
        return similarity(self, a, b, measure, dict(
            prompt=prompt, output=output, program=program, max_length=max_length, literal=literal,
            batch_size=batch_size, progress=progress, workers=workers))

    @named
    def search(self, queries: "Union[Texts, np.ndarray]", texts: "Union[Texts, np.ndarray]", *, top: int = 10,
               measure: Optional[str] = None, query_prompt: Optional[str] = None, prompt: Optional[str] = None,
               output: Optional[str] = None, program: Optional[str] = None, max_length: Optional[int] = None,
               literal: bool = False, batch_size: int = BATCH_SIZE, progress: "Progress" = None,
               workers: Union[int, Threads] = 1) -> Any:
        """The `top` most similar texts for each query, the best first: a list of Hits for one query, a list of such
        lists for several. `texts` may be their embeddings, which are worth keeping for many searches.

        `query_prompt`: name of the prompt in front of queries; default: `prompt`. Other parameters: as for
        `similarity`.
        """
        from .similar import search
        return search(self, queries, texts, top, measure, query_prompt, dict(
            prompt=prompt, output=output, program=program, max_length=max_length, literal=literal,
            batch_size=batch_size, progress=progress, workers=workers))

    @named
    def explain(self, text: "Text", *, top: Optional[int] = None, program: Optional[str] = None,
                max_length: Optional[int] = None, wrapped: bool = False, literal: bool = False,
                workers: Union[int, Threads] = 1) -> "Explanation":
        """The classes of a text, and the attention weights of its sentences and words, for models whose metadata names
        the attention that explains them (explain.SPACE). Notebooks show the text with its words marked."""
        from .explain import explain
        return explain(self, text, top, program, max_length, wrapped, literal, workers)

    @named
    def generate(self, texts: Any, *, max_tokens: Optional[int] = None, sampling: "Optional[Sampling]" = None,
                 stop_ids: Optional[Sequence[int]] = None, temperature: Optional[float] = None,
                 top_k: Optional[int] = None, top_p: Optional[float] = None, min_p: Optional[float] = None,
                 repetition_penalty: Optional[float] = None, presence_penalty: Optional[float] = None,
                 seed: Optional[int] = None, logprobs: Optional[bool] = None, top_logprobs: Optional[int] = None,
                 literal: bool = False, workers: Union[int, Threads] = 1) -> "Generation":
        """Generates texts from texts (or lists of ids): a decoder's text for what the encoder reads or, without an
        encoder, the continuations of the texts.

        `max_tokens` and `stop_ids`: by default the model's; without either 512 tokens. `temperature` to `top_logprobs`
        are the fields of Sampling, which is an alternative to them; by default each token is the one with the highest
        score. A prompt that does not fit is refused. `literal`: as for `classify`. Iterate for the steps, or call
        `finish()`:

            for step in model.generate("Once", temperature=0.8, seed=1):
                print(step.parts[0], end="", flush=True)

        Beam search, speculative decoding, and forced first and last tokens are available in `fovea generate`.
        """
        from .generate import generate, sampling_of
        fields = dict(temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p,
                      repetition_penalty=repetition_penalty, presence_penalty=presence_penalty, seed=seed,
                      logprobs=logprobs, top_logprobs=top_logprobs)
        return generate(self, texts, sampling_of(sampling, fields), max_tokens, stop_ids, literal, workers)


#: The library's version, and the SIMD target of its kernels on this machine.
VERSION: str = library.fovea_version().decode()
SIMD_TARGET: str = library.fovea_simd_target().decode()
