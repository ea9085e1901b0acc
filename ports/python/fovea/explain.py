"""Which sentences and words decided: attention weights of the levels that a model's metadata names."""

import collections.abc
import ctypes
import dataclasses
from typing import Any, Iterator, List, Optional, Tuple, Union

import numpy as np

from . import _c
from ._library import Error, Threads, call, fitting, sized
from ._results import result_info
from ._texts import id_input, sentence_space
from .model import Model, Program
from .predict import Class, classes_in, has_classes, run_texts
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


def _tap_of(model: Model, program: Program, space: Optional[str]) -> Optional[Tap]:
    """The attention that explains the rows of a space."""
    if space is None:
        return None
    found = sized(_c.fovea_tap)
    try:
        call("fovea_result_get_explaining_tap", model.address, program.index, model.space(space).index,
             ctypes.byref(found))
    except Error as error:
        if error.status == _c.FOVEA_E_NAME:
            return None
        raise
    step = next(step.name for step in program.steps.values() if step.index == found.step)
    return Tap(step, reduce="mean", first_rows=found.rows == _c.FOVEA_TAP_ROWS_STRIDE)


def _weights(session: Session, space: str, index: int) -> Optional[np.ndarray]:
    """The weights of the rows of a level, through all its segments; None: the operation does not belong to it."""
    weights = np.empty(int(session.offsets(space)[-1]), np.float32)
    try:
        call("fovea_result_read_weights", session.address, index, session.model.space(space).index,
             weights.ctypes.data, len(weights))
    except Error as error:
        if error.status == _c.FOVEA_E_OPTION:
            return None
        raise
    return weights


def _words(raw: bytes, encoding: Encoding, first: int, weights: np.ndarray, share: float) -> List[Word]:
    """Words of the tokens from `first`, one for each of `weights`."""
    special = np.ascontiguousarray(encoding.special, np.uint8)
    ranges = np.ascontiguousarray(encoding.ranges, np.uint32)
    weights = np.ascontiguousarray(weights, np.float32)
    tokens = sized(_c.fovea_text_tokens, capacity=len(special), count=len(special))
    tokens.special, tokens.ranges = special.ctypes.data, ranges.ctypes.data
    words, count = (_c.fovea_word * max(1, len(weights)))(), ctypes.c_uint64()
    call("fovea_result_get_words", raw, len(raw), ctypes.byref(tokens), first, len(weights), weights.ctypes.data, words,
         len(weights), ctypes.byref(count))
    return [Word(*_piece(raw, word.begin, word.end), word.weight, word.weight * share)
            for word in words[:count.value]]


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
            wrapped: bool, literal: bool, workers: Union[int, Threads]) -> Explanation:
    if not isinstance(text, (str, bytes)):
        raise Error(f"explain: one text is needed, not {type(text).__name__}")
    about = model.program(program)
    space = id_input(model, about).space
    documents = sentence_space(model, space)
    has_classes(model, about)
    top = fitting(top, ctypes.c_uint32, "top")
    levels = [(level, tap) for level in (space, documents) for tap in [_tap_of(model, about, level)] if tap]
    if not levels or levels[0][0] != space:
        raise Error(f"{model.name}: its metadata names no attention that explains its classes (explain.{space}); "
                    "fovea.run_texts(model, text, taps=[...]) records any attention map", _c.FOVEA_E_NAME)
    result = run_texts(model, [text], about.name, max_length=max_length, wrapped=wrapped, literal=literal,
                       taps=[tap for _, tap in levels], workers=workers)
    session, encoding = result.session, (result.encodings or [])[0]
    classes = classes_in(model, result_info(model, about), session, top)[0]
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
