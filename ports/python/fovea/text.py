"""Text to token ids and back, with the tokenizer of a blob."""

import ctypes
import dataclasses
import warnings
from typing import Any, Callable, Iterable, List, Optional, Sequence

import numpy as np

from . import _c
from ._library import Error, aligned, call, sized, written_text
from .model import Model

KINDS = {_c.FOVEA_TEXT_WORD_PIECE: "word_piece", _c.FOVEA_TEXT_UNIGRAM: "unigram", _c.FOVEA_TEXT_BYTE_PAIR: "byte_pair"}


class CutWarning(UserWarning):
    """A text, a document or a generated text is longer than the available room."""


@dataclasses.dataclass(frozen=True)
class Encoding:
    """The tokens of a text."""

    ids: np.ndarray  #: [tokens] i32
    types: np.ndarray  #: [tokens] i32, for models that read pairs of texts
    special: np.ndarray  #: [tokens] bool: added by the tokenizer
    ranges: np.ndarray  #: [tokens, 2] u32: begin and end of the bytes in the text
    dropped: int  #: Tokens removed by truncation.
    sentences: Optional[np.ndarray] = None  #: For a document: tokens of each sentence.
    dropped_sentences: int = 0  #: For a document: sentences at the end that are left out.

    def __len__(self) -> int:
        return len(self.ids)


def _bytes(text: Any) -> bytes:
    if isinstance(text, str):
        return text.encode("utf-8", "surrogatepass")  # the library refuses invalid UTF-8, with its position
    if isinstance(text, bytes):
        return text
    raise Error(f"a text is needed, not {type(text).__name__}")


class Tokenizer:
    """Lives as long as its model."""

    def __init__(self, model: Model):
        self._model = model
        info = sized(_c.fovea_text_info)
        call("fovea_text_get_info", model.address, ctypes.byref(info), doing=model.name)
        self.kind = KINDS[info.kind]
        self.vocabulary: int = info.vocabulary
        self.max_length: int = info.max_length  #: 0: the blob specifies no limit.
        self.unknown_id: int = info.unknown_id  #: The three ids are -1 if there is no such token.
        self.pad_id: int = info.pad_id
        self.mask_id: int = info.mask_id
        self._special = info.pair_special

    def _collect(self, text: bytes, capacity: int, fill: Callable) -> Encoding:
        """Calls `fill` with arrays and scratch, again if they were too small."""
        needed = ctypes.c_uint64()
        call("fovea_text_scratch_size", self._model.address, len(text), ctypes.byref(needed))
        scratch = aligned(needed.value)
        while True:
            arrays = [np.empty(capacity, np.int32), np.empty(capacity, np.int32), np.empty(capacity, bool),
                      np.empty((capacity, 2), np.uint32)]
            tokens = sized(_c.fovea_text_tokens, capacity=capacity)
            for field, array in zip(("ids", "types", "special", "ranges"), arrays):
                setattr(tokens, field, array.ctypes.data)
            try:
                sentences = fill(scratch.ctypes.data, needed.value, tokens)
                break
            except Error as error:
                if error.status != _c.FOVEA_E_CAPACITY or tokens.count <= capacity:
                    raise
                capacity = tokens.count
        ids, types, special, ranges = (array[:tokens.count] for array in arrays)
        dropped = sum(tokens.text_tokens) - int(np.count_nonzero(~special))
        return Encoding(ids, types, special, ranges, max(0, dropped), sentences)

    def encode(self, text: str, second: Optional[str] = None, *, max_length: int = 0, plain: bool = False,
               whole: bool = False) -> Encoding:
        """Ids of a text, or of a pair. `max_length`: truncated to this many tokens, 0: to the model's limit; `plain`:
        without special tokens; `whole`: of any length, no truncation. A truncated text gives a CutWarning."""
        first, other = _bytes(text), None if second is None else _bytes(second)
        options = sized(_c.fovea_text_encode_options, max_length=_count(max_length),
                        flags=(_c.FOVEA_TEXT_PLAIN if plain else 0) | (_c.FOVEA_TEXT_UNLIMITED if whole else 0))

        def fill(scratch: int, size: int, tokens: Any) -> None:
            call("fovea_text_encode", self._model.address, first, len(first), other, len(other or b""),
                 ctypes.byref(options), scratch, size, ctypes.byref(tokens), doing="text")

        return _warned(self._collect(max(first, other or b"", key=len),
                                     len(first) + len(other or b"") + self._special + 8, fill))

    def encode_document(self, text: str, *, max_length: int = 0, wrapped: bool = False) -> Encoding:
        """The same sentence by sentence. `wrapped`: line ends are line wraps; else each ends a sentence."""
        document = _bytes(text)
        options = sized(_c.fovea_text_encode_options, max_length=_count(max_length),
                        flags=_c.FOVEA_TEXT_WRAPPED if wrapped else 0)
        lengths = np.empty(len(document), np.uint32)  # no sentence is shorter than a byte
        sentences = sized(_c.fovea_text_sentences, capacity=len(lengths), lengths=lengths.ctypes.data)

        def fill(scratch: int, size: int, tokens: Any) -> np.ndarray:
            call("fovea_text_encode_document", self._model.address, document, len(document), ctypes.byref(options),
                 scratch, size, ctypes.byref(tokens), ctypes.byref(sentences), doing="document")
            return lengths[:sentences.count]

        encoding = self._collect(document, len(document) + self._special + 8, fill)
        return _warned(dataclasses.replace(encoding, dropped_sentences=int(sentences.dropped)))

    def decode(self, ids: Iterable[int], *, keep_special: bool = False) -> str:
        """The text of ids; incomplete characters become U+FFFD."""
        array = _ids(ids)
        flags = _c.FOVEA_TEXT_KEEP_SPECIAL if keep_special else 0
        return written_text(16 * len(array) + 16, "fovea_text_decode", self._model.address, array.ctypes.data,
                            len(array), flags, doing="tokens")

    def piece(self, id: int) -> str:
        """The piece of an id, as in the vocabulary."""
        at, size = ctypes.c_void_p(), ctypes.c_uint32()
        call("fovea_text_get_token", self._model.address, _ids([id])[0], ctypes.byref(at), ctypes.byref(size), None,
             doing=f"token {id}")
        return ctypes.string_at(at.value, size.value).decode("utf-8", "replace")

    def find(self, piece: str) -> int:
        """The id of a piece."""
        raw, id = _bytes(piece), ctypes.c_int32()
        call("fovea_text_find_token", self._model.address, raw, len(raw), ctypes.byref(id), doing=f"'{piece}'")
        return id.value


def _warned(encoding: Encoding) -> Encoding:
    if encoding.dropped or encoding.dropped_sentences:
        sentences = f"{encoding.dropped_sentences} sentences and " if encoding.dropped_sentences else ""
        warnings.warn(f"a text is longer than the model reads; left out: {sentences}{encoding.dropped} tokens",
                      CutWarning, stacklevel=3)
    return encoding


def _count(number: Any) -> int:
    if not isinstance(number, (int, np.integer)) or not 0 <= number < 2**32:
        raise Error(f"a number below 2^32 is needed, not {number!r}", _c.FOVEA_E_OPTION)
    return int(number)


def _ids(ids: Any) -> np.ndarray:
    """Converts whole numbers to i32."""
    array = np.asarray(ids if isinstance(ids, np.ndarray) else list(ids))
    if array.size == 0:
        return np.empty(0, np.int32)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise Error(f"ids must be whole numbers in one row, not {array.dtype} of shape {array.shape}")
    if array.min() < -2**31 or array.max() >= 2**31:
        raise Error("an id does not fit into 32 bits", _c.FOVEA_E_ID)
    return np.ascontiguousarray(array, np.int32)


def texts_of(texts: Any) -> List[str]:
    """A list of one text or several."""
    if isinstance(texts, (str, bytes)):
        return [texts]
    if not isinstance(texts, Sequence) or not texts:
        raise Error("a text or a list of texts is needed")
    return list(texts)
