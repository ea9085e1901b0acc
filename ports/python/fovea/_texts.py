"""Texts of callers: lists, columns, streams; what a program reads of them; batches of similar lengths."""

import collections.abc
import ctypes
import dataclasses
import sys
import time
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _c
from ._library import Error, fitting
from .model import Model, Program, Value
from .text import Encoding, Text, Tokenizer

#: A text, a pair of texts (a tuple), or the Encoding of either.
Item = Union[Text, Tuple[Text, Text], Encoding]
#: One text, or any iterable of them: a list, an array, a column of a table, a generator.
Texts = Union[Text, Encoding, Iterable[Item]]
#: True: a line on stderr. A function: called with the number of texts that are done, and of all (None: not known).
Progress = Union[None, bool, Callable[[int, Optional[int]], Any]]

_BATCH_TOKENS = 4096  # in one run, unless one text has more: memory grows with them, speed does not
_WINDOW = 16  # batches that are sorted together
_TOKEN_BYTES = 16  # this many count as a token: bounds the memory of texts with few tokens


def items_of(texts: Texts) -> Tuple[Iterator[Item], Optional[int]]:
    """Texts one by one, and their number if it is known."""
    if isinstance(texts, (str, bytes, Encoding)):
        return iter([texts]), 1
    if isinstance(texts, (collections.abc.Mapping, collections.abc.Set)) or hasattr(texts, "columns"):
        raise Error(f"a text or a list of texts is needed, not a {type(texts).__name__}"
                    f"{': choose a column' if hasattr(texts, 'columns') else ''}")
    try:
        count = len(texts) if hasattr(texts, "__len__") else None  # type: ignore[arg-type]
        return iter(texts), count
    except TypeError:
        found = "None" if texts is None else type(texts).__name__
        advice = "; read the file: path.read_text()" if hasattr(texts, "read_text") else ""
        raise Error(f"a text or a list of texts is needed, not {found}{advice}") from None


def list_of(texts: Texts) -> List[Item]:
    listed = list(items_of(texts)[0])
    if not listed:
        raise Error("a text or a list of texts is needed; the list is empty")
    return listed


def id_input(model: Model, program: Program) -> Value:
    """The input of token ids."""
    for value in program.inputs.values():
        if value.name == "input_ids":
            return value
    for value in program.inputs.values():
        if value.type == "i32":
            return value
    raise Error(f"{model.name}: program '{program.name}' does not take token ids", _c.FOVEA_E_NAME)


def sentence_space(model: Model, space: str) -> Optional[str]:
    """The space whose rows are the sentences of documents, if tokens nest in one."""
    parent = model.spaces[space].parent
    nested = parent is not None and model.spaces[parent].is_input and model.spaces[parent].parent is not None
    return parent if nested else None


def filled_up(encoding: Encoding, length: int, pad: int) -> Encoding:
    """Pads tokens, if all texts have one length."""
    missing = length - len(encoding)
    if missing == 0:
        return encoding
    if missing < 0 or pad < 0:
        raise Error(f"the model takes {length} tokens, and has no padding for {len(encoding)}", _c.FOVEA_E_LENGTH)
    return dataclasses.replace(encoding, ids=np.append(encoding.ids, np.full(missing, pad, np.int32)),
                               types=np.append(encoding.types, np.zeros(missing, np.int32)),
                               special=np.append(encoding.special, np.ones(missing, bool)),
                               ranges=np.vstack([encoding.ranges, np.zeros((missing, 2), np.uint32)]))


class Encoder:
    """Encodes texts in the form that a program reads: at once, or sentence by sentence."""

    def __init__(self, model: Model, program: Program, max_length: Optional[int] = None, wrapped: bool = False,
                 prompt: str = "", literal: bool = False):
        self._tokenizer: Tokenizer = model.tokenizer
        self._space = model.spaces[id_input(model, program).space]
        self._documents = sentence_space(model, self._space.name) is not None
        bounds = [fitting(max_length or 0, ctypes.c_uint32, "max_length"), self._space.max_segment_rows,
                  self._tokenizer.max_length]
        self._limit = min((bound for bound in bounds if bound), default=0)
        self._wrapped, self._prompt, self._literal = wrapped, prompt, literal

    def _prompted(self, text: Any) -> Any:
        if not self._prompt:
            return text
        return self._prompt.encode() + text if isinstance(text, bytes) else self._prompt + text

    def __call__(self, item: Item, which: str) -> Encoding:
        if isinstance(item, Encoding):
            if self._documents and item.sentences is None:
                raise Error("the model reads documents: encode_document makes them")
            return item
        first: Any = item
        second: Optional[Text] = None
        if isinstance(item, tuple) and len(item) == 2:
            first, second = item
        if self._prompt and isinstance(first, (str, bytes)):
            first = self._prompted(first)
        if self._documents:
            if second is not None:
                raise Error(f"{which}: the model reads documents, not pairs of texts")
            return self._tokenizer.encoded_document(first, max_length=self._limit, wrapped=self._wrapped,
                                                    literal=self._literal, which=which)
        encoding = self._tokenizer.encoded(first, second, max_length=self._limit, literal=self._literal, which=which)
        if not self._space.is_input and self._space.max_segment_rows is not None:
            return filled_up(encoding, self._space.max_segment_rows, self._tokenizer.pad_id)
        return encoding


@dataclasses.dataclass(frozen=True)
class Window:
    """Encodings of consecutive texts."""

    first: int  #: The number of the first text.
    encodings: List[Encoding]

    def batches(self, batch_size: int) -> Iterator[List[int]]:
        """Indices of the texts of each batch, longest texts first: the first batch needs the most memory."""
        order = sorted(range(len(self.encodings)), key=lambda i: -len(self.encodings[i]))
        batch: List[int] = []
        tokens = 0
        for i in order:
            tokens += len(self.encodings[i])
            if batch and (len(batch) == batch_size or tokens > _BATCH_TOKENS):
                yield batch
                batch, tokens = [], len(self.encodings[i])
            batch.append(i)
        if batch:
            yield batch


def windows(items: Iterator[Item], encode: Callable[[Item, str], Encoding], batch_size: int) -> Iterator[Window]:
    """As the command's tools/text/text_windows.h: a window ends at 16 full batches, by texts or by tokens, dropped
    ones included."""
    first = 0
    while True:
        encodings: List[Encoding] = []
        tokens = 0
        for item in items:
            encoding = encode(item, f"texts[{first + len(encodings)}]")
            encodings.append(encoding)
            tokens += max(len(encoding) + encoding.dropped, len(encoding.text) // _TOKEN_BYTES)
            if len(encodings) == _WINDOW * batch_size or tokens >= _WINDOW * _BATCH_TOKENS:
                break
        if not encodings:
            return
        yield Window(first, encodings)
        first += len(encodings)


def checked_batch_size(batch_size: int) -> int:
    size = int(fitting(batch_size, ctypes.c_uint32, "batch_size"))
    if size == 0:
        raise Error("batch_size: at least one text is needed", _c.FOVEA_E_OPTION)
    return size


class Reporter:
    """Progress to a function, or as a line on stderr."""

    def __init__(self, progress: Progress, name: str, total: Optional[int]):
        self._total, self._done, self._name = total, 0, name
        self._began = self._shown = time.monotonic()
        if progress is not None and not isinstance(progress, bool) and not callable(progress):
            raise Error(f"progress: True or a function is needed, not {type(progress).__name__}", _c.FOVEA_E_OPTION)
        self._report = progress if callable(progress) else self._line if progress else None
        self._width = 0

    def add(self, texts: int) -> None:
        self._done += texts
        if self._report is not None:
            self._report(self._done, self._total)

    def _line(self, done: int, total: Optional[int]) -> None:
        now, last = time.monotonic(), done == total
        every = 0.1 if sys.stderr.isatty() else 10
        if now - self._shown < every and not last:
            return
        self._shown, spent = now, now - self._began
        left = f", {spent / done * (total - done):.0f} s left" if total is not None and done and not last else ""
        text = f"{self._name}: {done}{'' if total is None else f' of {total}'} texts{left}"
        if sys.stderr.isatty():
            print("\r" + text.ljust(self._width), end="\n" if last else "", file=sys.stderr, flush=True)
            self._width = len(text)
        else:
            print(text, file=sys.stderr, flush=True)

    def end(self) -> None:
        if self._report == self._line and self._total is None:
            self._total, self._shown = self._done, 0
            self._line(self._done, self._total)


def joined(model: Model, program: Program, encodings: Sequence[Encoding]) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    """Inputs of a run, and the lengths of segments."""
    from .batch import Ragged
    ids = id_input(model, program)
    sentences = sentence_space(model, ids.space)
    segments: Dict[str, Any] = {}
    if sentences is not None:
        if any(encoding.sentences is None for encoding in encodings):
            raise Error("the model reads documents: encode_document makes them")
        parts = [np.asarray(encoding.sentences) for encoding in encodings]
        segments[sentences] = [len(part) for part in parts]
        lengths = np.concatenate(parts).astype(np.int64)
    else:
        lengths = np.array([len(encoding) for encoding in encodings])
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    inputs: Dict[str, Any] = {ids.name: Ragged(np.concatenate([encoding.ids for encoding in encodings]), offsets)}
    if "token_type_ids" in program.inputs and ids.name != "token_type_ids":
        inputs["token_type_ids"] = Ragged(np.concatenate([encoding.types for encoding in encodings]), offsets)
    return inputs, segments
