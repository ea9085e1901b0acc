"""Text to token ids and back, with the tokenizer of a blob."""

import ctypes
import dataclasses
from typing import Any, Callable, Iterable, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _c
from ._library import Error, aligned, call, sized, written_text
from ._notices import SpecialTokensWarning, TruncationWarning, named, warn
from .model import Model

#: A text: characters, or its UTF-8 bytes.
Text = Union[str, bytes]
KINDS = {_c.FOVEA_TEXT_WORD_PIECE: "word_piece", _c.FOVEA_TEXT_UNIGRAM: "unigram", _c.FOVEA_TEXT_BYTE_PAIR: "byte_pair"}


#: The former name.
CutWarning = TruncationWarning


@dataclasses.dataclass(frozen=True)
class Encoding:
    """The tokens of a text, or of a pair of texts."""

    ids: np.ndarray  #: [tokens] i32
    types: np.ndarray  #: [tokens] i32, for models that read pairs of texts
    special: np.ndarray  #: [tokens] bool: added by the tokenizer
    ranges: np.ndarray  #: [tokens, 2] u32: begin and end of the bytes in the text
    dropped: int  #: Tokens removed by truncation.
    sentences: Optional[np.ndarray] = None  #: For a document: tokens of each sentence.
    dropped_sentences: int = 0  #: For a document: sentences at the end that are left out.
    sentence_ranges: Optional[np.ndarray] = None  #: For a document: [sentences, 2] begin and end of their bytes.
    text: Text = ""  #: What was encoded; of a pair the first text.
    second: Optional[Text] = None
    text_tokens: Tuple[int, int] = (0, 0)  #: Tokens of both texts before truncation, without special ones.
    spelled: int = 0  #: Special tokens that the texts spell, except mask and unknown tokens.

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        pair = "" if self.second is None else f" and {_shown(self.second)}"
        parts = "" if self.sentences is None else f" in {len(self.sentences)} sentences"
        dropped = f", {self.dropped} left out" if self.dropped else ""
        return f"<fovea.Encoding of {_shown(self.text)}{pair}: {len(self)} tokens{parts}{dropped}>"

    @property
    def parts(self) -> np.ndarray:
        """[tokens] The text of each token: 0 the first, 1 the second, -1 none (special tokens)."""
        parts = np.where(self.special, -1, 0)
        if self.second is not None:
            first, count = ctypes.c_uint64(), ctypes.c_uint64()
            call("fovea_result_get_second", ctypes.byref(tokens_of(self)), ctypes.byref(first), ctypes.byref(count))
            parts[first.value:first.value + count.value] = 1
        return parts

    @property
    def spans(self) -> np.ndarray:
        """[tokens, 2] Begin and end of each token in characters of its text: `text[begin:end]`. For a text given as
        bytes they are `ranges`. Special tokens have 0, 0."""
        spans, parts = self.ranges.astype(np.int64), self.parts
        for part, text in enumerate((self.text, self.second)):
            if isinstance(text, str) and not text.isascii():
                raw = np.frombuffer(bytes_of(text), np.uint8)
                inside = (raw & 0xc0) == 0x80  # a token of bytes may be a part of a character: its span has all of it
                before = np.concatenate([[0], np.cumsum(~inside)])
                own = spans[parts == part]
                spans[parts == part, 0] = (before - np.append(inside, False))[own[:, 0]]
                spans[parts == part, 1] = before[own[:, 1]]
        return spans


def tokens_of(encoding: Encoding) -> Any:
    """The fovea_text_tokens of an encoding, which has to outlive it."""
    tokens = sized(_c.fovea_text_tokens, capacity=len(encoding), count=len(encoding))
    tokens.text_tokens[:] = encoding.text_tokens
    tokens.held = arrays = [np.ascontiguousarray(array, kind) for array, kind in (
        (encoding.ids, np.int32), (encoding.types, np.int32), (encoding.special, np.uint8),
        (encoding.ranges, np.uint32))]
    tokens.ids, tokens.types, tokens.special, tokens.ranges = (array.ctypes.data for array in arrays)
    return tokens


def _shown(text: Text) -> str:
    return repr(text) if len(text) <= 40 else repr(text[:37])[:-1] + "..." + repr(text)[-1]


def bytes_of(text: Any, which: str = "") -> bytes:
    if isinstance(text, str):
        return text.encode("utf-8", "surrogatepass")  # the library refuses invalid UTF-8, with its position
    if isinstance(text, bytes):
        return text
    found = "None" if text is None else "NaN" if isinstance(text, float) and text != text else type(text).__name__
    advice = "; read the file: path.read_text()" if hasattr(text, "read_text") else ""
    raise Error(f"{which or 'text'}: a text is needed, not {found}{advice}")


def token_arrays(capacity: int) -> Tuple[Any, List[np.ndarray]]:
    """Room for tokens as the library writes them: the struct and its arrays ids, types, special, ranges."""
    arrays = [np.empty(capacity, np.int32), np.empty(capacity, np.int32), np.empty(capacity, bool),
              np.empty((capacity, 2), np.uint32)]
    tokens = sized(_c.fovea_text_tokens, capacity=capacity)
    for field, array in zip(("ids", "types", "special", "ranges"), arrays):
        setattr(tokens, field, array.ctypes.data)
    return tokens, arrays


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

    def __repr__(self) -> str:
        most = f"at most {self.max_length} tokens" if self.max_length else "texts of any length"
        return f"<fovea.Tokenizer of {self._model.name}: {self.kind}, {self.vocabulary} tokens, {most}>"

    def _collect(self, text: bytes, capacity: int, fill: Callable) -> Encoding:
        """Calls `fill` with arrays and scratch, again if they were too small."""
        needed = ctypes.c_uint64()
        call("fovea_text_scratch_size", self._model.address, len(text), ctypes.byref(needed))
        scratch = aligned(needed.value)
        while True:
            tokens, arrays = token_arrays(capacity)
            try:
                sentences = fill(scratch.ctypes.data, needed.value, tokens)
                break
            except Error as error:
                if error.status != _c.FOVEA_E_CAPACITY or tokens.count <= capacity:
                    raise
                capacity = tokens.count
        ids, types, special, ranges = (array[:tokens.count].copy() for array in arrays)
        dropped = sum(tokens.text_tokens) - int(np.count_nonzero(~special))
        return Encoding(ids, types, special, ranges, max(0, dropped), sentences,
                        text_tokens=(tokens.text_tokens[0], tokens.text_tokens[1]), spelled=tokens.spelled)

    @named
    def encode(self, text: Text, second: Optional[Text] = None, *, max_length: int = 0, plain: bool = False,
               whole: bool = False, literal: bool = False) -> Encoding:
        """Ids of a text, or of a pair. `max_length`: truncated to this many tokens, 0: to the model's limit; `plain`:
        without special tokens; `whole`: of any length, no truncation; `literal`: special tokens that the text spells,
        such as "</s>", are text; without it they give a SpecialTokensWarning. A truncated text gives a
        TruncationWarning."""
        return warned([self.encoded(text, second, max_length=max_length, plain=plain, whole=whole,
                                    literal=literal)])[0]

    def encoded(self, text: Text, second: Optional[Text] = None, *, max_length: int = 0, plain: bool = False,
                whole: bool = False, literal: bool = False, which: str = "text") -> Encoding:
        """The same without a warning. `which`: the name of the text in errors."""
        first, other = bytes_of(text, which), None if second is None else bytes_of(second, which)
        options = sized(_c.fovea_text_encode_options, max_length=_count(max_length),
                        flags=(_c.FOVEA_TEXT_PLAIN if plain else 0) | (_c.FOVEA_TEXT_UNLIMITED if whole else 0) |
                        (_c.FOVEA_TEXT_LITERAL if literal else 0))

        def fill(scratch: int, size: int, tokens: Any) -> None:
            call("fovea_text_encode", self._model.address, first, len(first), other, len(other or b""),
                 ctypes.byref(options), scratch, size, ctypes.byref(tokens), doing=which)

        made = self._collect(max(first, other or b"", key=len), len(first) + len(other or b"") + self._special + 8,
                             fill)
        return dataclasses.replace(made, text=text, second=second)

    @named
    def encode_document(self, text: Text, *, max_length: int = 0, wrapped: bool = False,
                        literal: bool = False) -> Encoding:
        """The same sentence by sentence. `wrapped`: line ends are line wraps; else each ends a sentence."""
        return warned([self.encoded_document(text, max_length=max_length, wrapped=wrapped, literal=literal)])[0]

    def encoded_document(self, text: Text, *, max_length: int = 0, wrapped: bool = False, literal: bool = False,
                         which: str = "document") -> Encoding:
        document = bytes_of(text, which)
        options = sized(_c.fovea_text_encode_options, max_length=_count(max_length),
                        flags=(_c.FOVEA_TEXT_WRAPPED if wrapped else 0) |
                        (_c.FOVEA_TEXT_LITERAL if literal else 0))
        lengths = np.empty(len(document), np.uint32)  # no sentence is shorter than a byte
        ranges = np.empty((len(document), 2), np.uint32)
        sentences = sized(_c.fovea_text_sentences, capacity=len(lengths), lengths=lengths.ctypes.data,
                          ranges=ranges.ctypes.data)

        def fill(scratch: int, size: int, tokens: Any) -> np.ndarray:
            call("fovea_text_encode_document", self._model.address, document, len(document), ctypes.byref(options),
                 scratch, size, ctypes.byref(tokens), ctypes.byref(sentences), doing=which)
            return lengths[:sentences.count].copy()

        made = self._collect(document, len(document) + self._special + 8, fill)
        return dataclasses.replace(made, dropped_sentences=int(sentences.dropped), text=text,
                                   sentence_ranges=ranges[:sentences.count].copy())

    @named
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
        return ctypes.string_at(at.value or 0, size.value).decode("utf-8", "replace")

    def pieces(self, ids: Iterable[int]) -> List[str]:
        """The pieces of several ids."""
        return [self.piece(int(id)) for id in _ids(ids)]

    def find(self, piece: str) -> int:
        """The id of a piece."""
        raw, id = bytes_of(piece), ctypes.c_int32()
        call("fovea_text_find_token", self._model.address, raw, len(raw), ctypes.byref(id), doing=f"'{piece}'")
        return id.value


def _which(encodings: Sequence[Encoding], first: int, i: int) -> str:
    return "a text" if len(encodings) == 1 and not first else f"texts[{first + i}]"


def warn_spelled(encodings: Sequence[Encoding], first: int = 0) -> None:
    """Warns once about texts that spell special tokens."""
    spelled = [i for i, one in enumerate(encodings) if one.spelled]
    if spelled:
        more = f"; so do {len(spelled) - 1} more of {len(encodings)} texts" if len(spelled) > 1 else ""
        warn(f"{_which(encodings, first, spelled[0])} spells special tokens, which are read as such{more}; "
             "literal=True reads them as text", SpecialTokensWarning)


def warned(encodings: Sequence[Encoding], first: int = 0) -> Sequence[Encoding]:
    """Warns once about truncated texts, and once about texts that spell special tokens. `first`: the number of the
    first text."""
    warn_spelled(encodings, first)
    cut = [i for i, one in enumerate(encodings) if one.dropped or one.dropped_sentences]
    if cut:
        one = encodings[cut[0]]
        read, sentences = [f"{len(one)} of {len(one) + one.dropped} tokens"] if one.dropped else [], ""
        if one.dropped_sentences:
            count = 0 if one.sentences is None else len(one.sentences)
            read.append(f"{count} of {count + one.dropped_sentences} sentences")
            sentences = f"{one.dropped_sentences} sentences and "
        which = _which(encodings, first, cut[0])
        more = f"; {len(cut) - 1} more of {len(encodings)} texts are truncated" if len(cut) > 1 else ""
        warn(f"{which} is longer than the model reads: {' and '.join(read)} are read; "
             f"left out: {sentences}{one.dropped} tokens{more}", TruncationWarning)
    return encodings


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
