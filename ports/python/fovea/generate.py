"""Generates texts with a decoder, step by step."""

import contextlib
import ctypes
import dataclasses
import numbers
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _c
from ._library import Address, Blocks, Error, Handle, Threads, call, fitting, sized, written_text
from ._notices import DefaultWarning, TruncationWarning, named, named_fields, warn
from ._texts import Encoder, list_of
from .model import Model, Program
from .predict import run_texts
from .session import Session
from .text import Encoding, _ids

_USUAL_NEW_TOKENS = 512  # if neither the caller nor the model limits them
_PROMPT_ROWS = 512  # prefill: most rows of a prompt per run


_DRAWING = ("top_k", "top_p", "min_p", "seed")


@named_fields
@dataclasses.dataclass(frozen=True)
class Sampling:
    """How tokens are chosen; by default greedily, the highest score. See include/fovea/generate.h."""

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 0.0
    min_p: float = 0.0
    repetition_penalty: float = 0.0
    presence_penalty: float = 0.0
    seed: int = 0
    logprobs: bool = False
    top_logprobs: int = 0

    def struct(self) -> Any:
        for name, value in dataclasses.asdict(self).items():
            if not isinstance(value, (numbers.Real, np.bool_)):
                raise Error(f"sampling: {name}: a number is needed, not {value!r}", _c.FOVEA_E_OPTION)
        return sized(_c.fovea_sampling, **dataclasses.asdict(self))

    def idle(self) -> List[str]:
        """Fields that are given and have no effect: they are about tokens that are drawn."""
        return [] if self.temperature else [name for name in _DRAWING if getattr(self, name)]


@dataclasses.dataclass(frozen=True)
class Generated:
    """One step: an entry for each text. Texts that have ended have the token -1."""

    step: int
    tokens: np.ndarray
    scores: np.ndarray  #: The tokens' scores (logits), unchanged.
    ended: np.ndarray  #: bool
    parts: List[str]  #: The text that the step adds to each text, in whole characters.
    logprobs: Optional[np.ndarray]
    top_tokens: Optional[np.ndarray]  #: [texts, top_logprobs]
    top_logprobs: Optional[np.ndarray]
    ends: List[Optional[str]]  #: Why each text ended: "stop" token, "limit" (max_tokens), "full" (no room); None: not.


_ENDS = {_c.FOVEA_END_NOT: None, _c.FOVEA_END_STOP: "stop", _c.FOVEA_END_LIMIT: "limit", _c.FOVEA_END_FULL: "full"}


class _Stream:
    """A text that is decoded incrementally. `after`: the tokens that it continues, which are not shown; the space
    before its first word is kept."""

    def __init__(self, model: Model, after: Sequence[int] = ()):
        self._model = model
        self._state = sized(_c.fovea_text_stream)
        self._vocabulary, self._rest = model.tokenizer.vocabulary, ""
        for token in after:
            self.add(int(token))
        held = type(self._state).from_buffer_copy(self._state)  # what the decoder holds back belongs to `after`
        self._rest = written_text(256, "fovea_text_decode_end", model.address, ctypes.byref(held)) if len(after) else ""

    def _write(self, function: str, *ids: Any) -> str:
        text = written_text(256, function, self._model.address, ctypes.byref(self._state), *ids)
        if not self._rest or not text:
            return text
        rest, self._rest = self._rest, ""
        return text[len(rest):] if text.startswith(rest) else text

    def add(self, token: int) -> str:
        if not 0 <= token < self._vocabulary:
            return ""  # tables are often larger than vocabularies
        id = ctypes.c_int32(token)
        return self._write("fovea_text_decode_next", ctypes.byref(id), 1)

    def end(self) -> str:
        return self._write("fovea_text_decode_end")


class Generator(Handle):
    """Generates tokens with a decoder's session. `encode`: the session of the encoder, which has run.

    `prompts`: the prompt of each text, for decoders with a KV cache. Iterating gives a Generated for each step;
    `tokens` and `texts` are the result so far.
    """

    _called = "this generator is"
    _instead = "copy or pickle the model and generate with that; `tokens` and `texts` are plain lists"

    @named
    def __init__(self, decode: Session, encode: Optional[Session] = None, *, sampling: Sampling = Sampling(),
                 prompts: Optional[Sequence[Any]] = None, max_tokens: int = 0,
                 stop_ids: Optional[Sequence[int]] = None):
        self._sessions: Tuple[Optional[Session], ...] = (decode, encode)
        self._model = decode.model
        rules = sampling.struct()
        options = sized(_c.fovea_generate_options, decode=decode.address, max_tokens=max_tokens,
                        sampling=ctypes.addressof(rules))
        if encode is not None:
            options.encode = encode.address
        if stop_ids is not None:
            stops = _ids(stop_ids)
            held = np.append(stops, np.int32(0))  # an empty array also needs an address
            options.stop_ids, options.stop_id_count = held.ctypes.data, len(stops)
        needed = ctypes.c_uint64()
        call("fovea_generate_size", ctypes.byref(options), ctypes.byref(needed), doing="generate")
        self._blocks = Blocks()
        handle = ctypes.c_void_p()
        call("fovea_generate_init", ctypes.byref(options), self._blocks.make(needed.value), needed.value,
             ctypes.byref(handle), doing="generate")
        self._address = Address.of(handle.value, [self._blocks])
        call("fovea_generate_start", self._address, doing="generate")
        if prompts is not None:
            self._set_prompts(prompts)
        self._left = 1
        self._next_rows = len(self._prompt) if prompts is not None else 1
        if prompts is not None:
            count = len(prompts)
        else:
            scores = decode.value(self._model.metadata.get("generate.scores", "logits"))
            count = int(decode.offsets(scores.space)[-1])
        self.tokens: List[List[int]] = [[] for _ in range(count)]
        self.texts: List[str] = [""] * count
        has_text = self._model.info["has_text"]
        after = prompts if prompts is not None else [()] * count
        self._streams = [_Stream(self._model, after[i]) if has_text else None for i in range(count)]

    def _set_prompts(self, prompts: Sequence[Any]) -> None:
        rows = [_ids(prompt) for prompt in prompts]
        self._prompt = np.concatenate(rows) if rows else np.empty(0, np.int32)  # read by the first step
        self._lengths = np.array([len(row) for row in rows], np.uint32)
        call("fovea_generate_set_prompts", self.address, self._prompt.ctypes.data, self._lengths.ctypes.data,
             len(rows), 0, doing="prompts")

    def close(self) -> None:
        super().close()
        self._sessions, self._blocks, self._streams = (), Blocks(), []

    def __iter__(self) -> Iterator[Generated]:
        return self

    def __next__(self) -> Generated:
        return self.next()

    def next(self, forced: Optional[Sequence[int]] = None) -> Generated:
        """One step for all texts; StopIteration when all have ended. `forced`: for each text a token to take, -1: none.
        """
        address = self.address
        if self._left == 0:
            raise StopIteration
        taken = None if forced is None else _ids(forced)
        if taken is not None and len(taken) != len(self.tokens):
            raise Error(f"{len(taken)} forced tokens for {len(self.tokens)} texts", _c.FOVEA_E_LENGTH)
        made = sized(_c.fovea_generated)
        with contextlib.ExitStack() as used:
            for session in filter(None, self._sessions):
                used.enter_context(session.running())
            decode = self._sessions[0]
            assert decode is not None
            decode.compute(self._next_rows, "fovea_generate_next", address,
                           None if taken is None else taken.ctypes.data, ctypes.byref(made), doing="generate")
        self._left, self._next_rows = made.left, made.texts

        def array(at: Optional[int], dtype: Any, *shape: int) -> np.ndarray:
            return self._blocks.array(at, dtype, shape).copy()

        def wanted(at: Optional[int], dtype: Any, *shape: int) -> Optional[np.ndarray]:
            return array(at, dtype, *shape) if at else None

        tokens, ended = array(made.tokens, np.int32, made.texts), array(made.ended, np.uint8, made.texts).astype(bool)
        ends = [_ENDS[end] for end in array(made.ends, np.uint8, made.texts).tolist()]
        tops = (made.texts, made.top_count)
        return Generated(made.step, tokens, array(made.scores, np.float32, made.texts), ended,
                         self._add(tokens, ends), wanted(made.logprobs, np.float32, made.texts),
                         wanted(made.top_tokens, np.int32, *tops), wanted(made.top_logprobs, np.float32, *tops), ends)

    def _add(self, tokens: np.ndarray, ends: List[Optional[str]]) -> List[str]:
        parts = []
        for i, (token, end) in enumerate(zip(tokens.tolist(), ends)):
            part = ""
            if token >= 0:
                self.tokens[i].append(token)
                stream = self._streams[i]
                if stream is not None and end != "stop":
                    part += stream.add(token)
                if stream is not None and end is not None:
                    part += stream.end()
                if end == "full":
                    warn(f"text {i} ends for lack of room after {len(self.tokens[i])} tokens: with its prompt it has "
                         "all rows that its session has; max_tokens changes their number, up to what the model was "
                         "trained for", TruncationWarning)
            self.texts[i] += part
            parts.append(part)
        return parts

    def __repr__(self) -> str:
        if self.closed:
            return f"<fovea.{type(self).__name__}, closed>"
        done = sum(map(len, self.tokens))
        return f"<fovea.{type(self).__name__}: {len(self.texts)} texts, {self._left if done else len(self.texts)} " \
               f"unfinished, {done} tokens>"

    def finish(self) -> List[str]:
        """Runs all remaining steps. Returns the texts."""
        for _ in self:
            pass
        return self.texts


class Generation(Generator):
    """A Generator with separate sessions, which are closed with it. `model.generate` makes it."""

    def close(self) -> None:
        for session in filter(None, self._sessions):
            session.close()
        super().close()


def _programs(model: Model) -> Tuple[Program, Optional[Program]]:
    """The program that generates text, and the one whose outputs it reads."""
    decode, encode = ctypes.c_uint32(), ctypes.c_uint32()
    call("fovea_generate_find_programs", model.address, ctypes.byref(decode), ctypes.byref(encode), doing=model.name)
    programs = list(model.programs.values())
    return programs[decode.value], None if encode.value == _c.FOVEA_NONE else programs[encode.value]


def generates(model: Model) -> bool:
    try:
        _programs(model)
    except Error as error:
        if error.status != _c.FOVEA_E_NAME:
            raise
        return False
    return True


def _listed_most(model: Model) -> int:
    return int(model.metadata.get("generate.max_tokens", model.metadata.get("generate.most", "0")) or 0)


def most_new(model: Model, max_tokens: int) -> int:
    return max_tokens or _listed_most(model) or _USUAL_NEW_TOKENS


def _kept_limits(model: Model, space: str, texts: int, new_tokens: int, context: int) -> dict:
    """Limits of a decoder with a KV cache."""
    info = model.spaces[space]
    context = min(context, info.max_segment_rows or context)
    limits: Dict[str, Union[int, Tuple[int, int]]] = {space: max(texts, min(new_tokens, max(_PROMPT_ROWS, texts)))}
    if info.parent is not None:
        limits[info.parent] = texts
    for name, other in model.spaces.items():
        if other.is_cached:
            limits[name] = (texts * context, context)
    return limits


def _trained(model: Model, space: str) -> int:
    """The most tokens of a text with its prompt: what the model was trained for."""
    bounds = [model.spaces[space].max_segment_rows, model.tokenizer.max_length if model.info["has_text"] else 0]
    return min((bound for bound in bounds if bound), default=2**31 - 1)


def _linked(model: Model, program: Program) -> List[str]:
    """Inputs of the decoder that are linked to the encoder."""
    inputs, count = (ctypes.c_uint32 * 256)(), ctypes.c_uint32()
    call("fovea_generate_get_linked", model.address, program.index, inputs, 256, ctypes.byref(count), doing="generate")
    names = list(program.values)
    return [names[i] for i in inputs[:count.value]]


def _decode_limits(model: Model, program: Program, encode: Session, batch_limits: dict, linked: List[str], texts: int,
                   max_tokens: int) -> dict:
    limits = {space: limit for space, limit in batch_limits.items() if not model.spaces[space].is_cached}
    for name in linked:  # outputs of the encoder in derived spaces are read in separate spaces
        space = program.values[name].space
        output = model.metadata.get(f"generate.link.{name}")
        if space in limits or not model.spaces[space].is_input or output is None:
            continue
        lengths = np.diff(encode.offsets(encode.value(output).space))
        limits[space] = (max(1, int(lengths.sum())), max(1, int(lengths.max(initial=1))))
    token = model.value(program, model.metadata.get("generate.token", "input_ids"))
    if token.space in limits:
        return limits  # the decoder has no KV cache
    return {**_kept_limits(model, token.space, texts, texts, 1 + most_new(model, max_tokens)), **limits}


def _encodings(model: Model, program: Program, texts: List[Any], literal: bool) -> List[Encoding]:
    if all(isinstance(text, (str, bytes)) for text in texts):
        encode = Encoder(model, program, literal=literal)  # run_texts reports what is left out
        return [encode(text, f"texts[{i}]") for i, text in enumerate(texts)]
    rows = [_ids(text) for text in texts]
    empty = np.empty((0, 2), np.uint32)
    return [Encoding(row, np.zeros(len(row), np.int32), np.zeros(len(row), bool), empty, 0) for row in rows]


def _listed(texts: Any) -> List[Any]:
    """Texts or rows of ids."""
    listed: List[Any] = list_of(texts)
    for i, text in enumerate(listed):
        if not isinstance(text, (str, bytes, list, tuple, range, np.ndarray)):
            raise Error(f"texts[{i}]: a text or a list of ids is needed, not {type(text).__name__}")
    return listed


def sampling_of(sampling: Optional[Sampling], fields: Dict[str, Any]) -> Sampling:
    given = {name: value for name, value in fields.items() if value is not None}
    if sampling is not None and given:
        raise Error(f"give sampling or its fields, not both: {', '.join(given)}", _c.FOVEA_E_OPTION)
    return sampling or Sampling(**given)


def generate(model: Model, texts: Any, rules: Sampling, max_tokens: Optional[int],
             stop_ids: Optional[Sequence[int]], literal: bool, workers: Union[int, Threads]) -> Generation:
    (program, encoder), listed = _programs(model), _listed(texts)
    idle = rules.idle()
    if idle:
        warn(f"without a temperature above 0 the best token is taken; ignored: {', '.join(idle)}", DefaultWarning)
    most = int(fitting(max_tokens or 0, ctypes.c_uint32, "max_tokens"))
    if encoder is None:
        return _continue(model, program, listed, rules, most, stop_ids, literal, workers)
    encodings = _encodings(model, encoder, listed, literal)
    encode = run_texts(model, encodings, encoder.name, workers=workers).session
    linked = _linked(model, program)
    limits = _decode_limits(model, program, encode, encode.limits, linked, len(encodings), most)
    decode = Session(model, program.name, limits=limits, linked=linked, workers=encode.workers)
    return Generation(decode, encode, sampling=rules, max_tokens=most, stop_ids=stop_ids)


def _continue(model: Model, program: Program, texts: List[Any], rules: Sampling, max_tokens: int,
              stop_ids: Optional[Sequence[int]], literal: bool, workers: Union[int, Threads]) -> Generation:
    prompts = [model.tokenizer.encoded(text, whole=True, literal=literal, which=f"texts[{i}]").ids
               if isinstance(text, (str, bytes)) else _ids(text) for i, text in enumerate(texts)]
    longest = max(len(prompt) for prompt in prompts)
    space = model.value(program, model.metadata.get("generate.token", "input_ids")).space
    trained = _trained(model, space)
    if any(len(prompt) == 0 for prompt in prompts):
        raise Error("a prompt is empty, and the tokenizer adds no token before a text", _c.FOVEA_E_LENGTH)
    if longest > trained:
        raise Error(f"a prompt has {longest} tokens, texts have {trained} at most: give a shorter one",
                    _c.FOVEA_E_LENGTH, trained, longest)
    context = min(trained, longest + most_new(model, max_tokens))
    limits = _kept_limits(model, space, len(prompts), sum(map(len, prompts)), context)
    decode = Session(model, program.name, limits=limits, workers=workers)
    return Generation(decode, sampling=rules, prompts=prompts, max_tokens=max_tokens, stop_ids=stop_ids)
