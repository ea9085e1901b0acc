"""Which sentences and words decided: attention weights of the levels that a model's metadata names."""

import collections.abc
import ctypes
import dataclasses
from typing import Any, Iterator, List, Optional, Tuple, Union

import numpy as np

from . import _c
from ._library import Error, Threads, look
from ._texts import id_input, sentence_space
from .model import Model, Program, Step
from .predict import Class, classes_of, has_classes, run_texts
from .session import Session, Tap
from .text import Encoding, Text


@dataclasses.dataclass(frozen=True)
class Word:
    """A word of the text."""

    text: str
    begin: int  #: In characters of the text: `text[begin:end]`.
    end: int
    weight: float  #: Attention weight among the words of its sentence, or of the text.
    share: float  #: The weight times that of its sentence.


@dataclasses.dataclass(frozen=True)
class Sentence:
    text: str
    begin: int
    end: int
    share: float  #: Attention weight among the sentences.
    words: List[Word]


@dataclasses.dataclass(frozen=True)
class Explanation(collections.abc.Sequence):
    """Classes of a text, and what the model attended to. Iterating gives the words; notebooks show the marked text."""

    text: str
    classes: List[Class]
    words: List[Word]
    sentences: Optional[List[Sentence]]  #: None: the model reads a text at once.
    dropped_sentences: int = 0

    def __getitem__(self, index: Any) -> Any:
        return self.words[index]

    def __len__(self) -> int:
        return len(self.words)

    def top(self, count: int = 5) -> List[Word]:
        """The words with the largest shares."""
        return sorted(self.words, key=lambda word: -word.share)[:count]

    def __repr__(self) -> str:
        classes = ", ".join(f"{one.label} {one.score:.3g}"
                            for one in self.classes[:2])
        words = ", ".join(f"{word.text} {word.share:.3g}" for word in self.top())
        return f"<fovea.Explanation: {classes}; words: {words}>"

    def _repr_html_(self) -> str:
        from ._html import explanation_page
        return explanation_page(self)


def _input_space(model: Model, program: Program, step: Step, index: int) -> str:
    value = ctypes.c_uint32()
    look("fovea_program_get_step_input", model.address, program.index, step.index, index, ctypes.byref(value))
    return list(program.values.values())[value.value].space


def _tap_of(model: Model, program: Program, space: Optional[str]) -> Optional[Tap]:
    """The attention that explains the rows of a space (metadata explain.SPACE)."""
    name = None if space is None else model.metadata.get(f"explain.{space}")
    if not name:
        return None
    step = model.attention(program, name)
    own = _input_space(model, program, step, 0) == _input_space(model, program, step, 1)
    return Tap(name, reduce="mean", first_rows=own)


def _weights(session: Session, space: str, index: int) -> Optional[np.ndarray]:
    """The weights of the rows of a level, through all its segments; None: the operation does not belong to it."""
    recorded, offsets = session.attention_map(index), session.offsets(space).astype(np.int64)
    keys = recorded.key_offsets.astype(np.int64)
    if len(offsets) != len(keys):
        return None
    weights, own = np.zeros(offsets[-1]), len(recorded.query_offsets) == len(keys)
    rows = set(recorded.query_rows.tolist())
    for i in range(len(offsets) - 1):
        length = int(offsets[i + 1] - offsets[i])
        front = int(keys[i + 1] - keys[i]) - length  # rows in front, if the keys' space extends this one
        if front < 0:
            return None
        query = int(recorded.query_offsets[i]) if own else i
        if query in rows and length:
            weights[offsets[i]:offsets[i + 1]] = recorded.segment(i)[0, 0, front:]
    return weights


def _is_word(byte: int) -> bool:
    return byte >= 0x80 or chr(byte).isalnum() or byte == 0x5f


def _touches(raw: bytes, end: int, begin: int) -> bool:
    """Whether two adjacent tokens belong to one word. Scripts that are written without spaces (from E3 on in UTF-8)
    have no words of several tokens here."""
    return (end == begin and 0 < begin < len(raw) and _is_word(raw[begin - 1]) and _is_word(raw[begin]) and
            not 0xe3 <= raw[begin] <= 0xe9)


def _words(raw: bytes, encoding: Encoding, first: int, weights: np.ndarray, share: float) -> List[Word]:
    """Words of the tokens from `first`, one for each of `weights`."""
    found: List[List[Any]] = []
    for i, weight in enumerate(weights.tolist()):
        begin, end = (int(place) for place in encoding.ranges[first + i])
        if encoding.special[first + i]:
            continue
        begin += len(raw[begin:end]) - len(raw[begin:end].lstrip())
        if begin >= end:
            continue
        if not found or begin >= found[-1][1] and not _touches(raw, found[-1][1], begin):
            found.append([begin, end, 0.0])
        found[-1][1] = max(found[-1][1], end)
        found[-1][2] += weight
    return [Word(*_piece(raw, begin, end), weight, weight * share) for begin, end, weight in found]


def _piece(raw: bytes, begin: int, end: int) -> Tuple[str, int, int]:
    text = raw[begin:end].decode("utf-8", "replace")
    before = len(raw[:begin].decode("utf-8", "replace"))
    return text, before, before + len(text)


def _sentences(raw: bytes, encoding: Encoding, weights: np.ndarray, shares: Optional[np.ndarray]) -> Iterator[Sentence]:
    first = 0
    lengths = np.asarray(encoding.sentences).tolist()
    for i, length in enumerate(lengths):
        share = 1 / len(lengths) if shares is None else float(shares[i])
        words = _words(raw, encoding, first, weights[first:first + length], share)
        begin, end = np.asarray(encoding.sentence_ranges)[i].tolist()
        yield Sentence(*_piece(raw, begin, end), share, words)
        first += length


def explain(model: Model, text: Text, top: Optional[int], program: Optional[str], max_length: Optional[int],
            wrapped: bool, workers: Union[int, Threads]) -> Explanation:
    if not isinstance(text, (str, bytes)):
        raise Error(f"explain: one text is needed, not {type(text).__name__}")
    about = model.program(program)
    space = id_input(model, about).space
    documents = sentence_space(model, space)
    has_classes(model, about)
    levels = [(level, tap) for level in (space, documents) for tap in [_tap_of(model, about, level)] if tap]
    if not levels or levels[0][0] != space:
        raise Error(f"{model.name}: its metadata names no attention that explains its classes (explain.{space}); "
                    "run_texts(..., taps=[...]) records any attention map", _c.FOVEA_E_NAME)
    result = run_texts(model, [text], about.name, max_length=max_length, wrapped=wrapped,
                       taps=[tap for _, tap in levels], workers=workers)
    session, encoding = result.session, (result.encodings or [])[0]
    classes = classes_of(model, session.output("logits")[0], top)
    found = {level: _weights(session, str(level), i) for i, (level, _) in enumerate(levels)}
    weights = found[space]
    if weights is None:
        raise Error(f"{model.name}: the attention of metadata explain.{space} does not read the tokens")
    raw = text if isinstance(text, bytes) else text.encode()
    plain = raw.decode("utf-8", "replace")
    if documents is None:
        return Explanation(plain, classes, _words(raw, encoding, 0, weights, 1.0), None)
    sentences = list(_sentences(raw, encoding, weights, found.get(documents)))
    return Explanation(plain, classes, [word for sentence in sentences for word in sentence.words], sentences,
                       encoding.dropped_sentences)
