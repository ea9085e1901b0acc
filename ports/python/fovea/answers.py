"""Answers to questions as spans of a context, and weights of the vocabulary (SPLADE)."""

import ctypes
import dataclasses
from typing import Any, List, Optional, Tuple, Union

import numpy as np

from . import _c
from ._library import Error, Threads, call, fitting, sized
from ._results import ranked, read_results, result_info
from ._texts import Progress, Texts, checked_batch_size, filled_up, id_input, sentence_space
from .model import Model, Program
from .predict import Runs, each_window, prompt_of
from .session import Session
from .text import Encoding, Text, bytes_of, token_arrays, tokens_of, warn_spelled

_USUAL_LENGTH, _USUAL_STRIDE = 384, 128  # as in the original


@dataclasses.dataclass(frozen=True)
class Answer:
    """A span of a context that answers a question. No answer: the text is empty."""

    text: Text
    score: float  #: Probability of its start times that of its end; of an answer found in several windows their sum.
    begin: int  #: Place in the context: `context[begin:end]`.
    end: int


@dataclasses.dataclass(frozen=True)
class Weight:
    """The weight of a token of the vocabulary."""

    token: str
    id: int
    weight: float


# ---- Answers ----

def _windows(model: Model, pair: Encoding, limit: int, stride: int) -> List[Encoding]:
    """The context in parts, each with the question."""
    given, found, count = tokens_of(pair), [], 1
    room = min(limit, len(pair))
    while len(found) < count:
        made, arrays = token_arrays(room)
        try:
            call("fovea_result_get_window", ctypes.byref(given), limit, stride, len(found), ctypes.byref(made))
        except Error as error:
            if error.status != _c.FOVEA_E_LENGTH:
                raise
            raise Error(f"the question leaves no more than the {stride} tokens that neighbouring parts of the context "
                        f"share of the {limit} that the model reads at once: shorten the question, or give a smaller "
                        "stride or a larger max_length", _c.FOVEA_E_LENGTH) from None
        count = made.windows
        ids, types, special, ranges = (array[:made.count] for array in arrays)
        found.append(dataclasses.replace(pair, ids=ids, types=types, special=special, ranges=ranges))
    return found


def _answers_in(model: Model, windows: List[Encoding], scores: np.ndarray, context: bytes, top: int, max_tokens: int,
                allow_none: bool) -> Any:
    held = [tokens_of(window) for window in windows]  # they own the arrays
    listed = (_c.fovea_text_tokens * len(windows))(*held)
    options = sized(_c.fovea_answer_options, top=top, max_tokens=max_tokens, allow_none=int(allow_none))
    room, count = len(windows) * max(1, top) + 1, ctypes.c_uint64()
    found = (_c.fovea_answer * room)()
    call("fovea_result_get_answers", model.address, listed, len(windows), scores.ctypes.data, context, len(context),
         ctypes.byref(options), found, room, ctypes.byref(count))
    return found[:count.value]


def _piece(context: Text, raw: bytes, begin: int, end: int) -> Tuple[Text, int, int]:
    if isinstance(context, bytes):
        return raw[begin:end], begin, end
    before, text = raw[:begin].decode("utf-8", "replace"), raw[begin:end].decode("utf-8", "replace")
    return text, len(before), len(before) + len(text)


def answer(model: Model, question: Text, context: Text, top: int, max_tokens: int, allow_none: bool,
           program: Optional[str], max_length: Optional[int], stride: Optional[int], literal: bool, batch_size: int,
           workers: Union[int, Threads]) -> List[Answer]:
    about, size = model.program(program), checked_batch_size(batch_size)
    info = result_info(model, about)
    if info.kind != _c.FOVEA_RESULT_ANSWERS:
        raise Error(f"{model.name}: it does not answer questions, its task is {model.metadata.get('task')}; a model "
                    "whose class in config.json ends with ForQuestionAnswering does", _c.FOVEA_E_NAME)
    space = model.spaces[id_input(model, about).space]
    if sentence_space(model, space.name) is not None:
        raise Error(f"{model.name}: it reads documents, not a question and a context", _c.FOVEA_E_NAME)
    top, max_tokens = (int(fitting(number, ctypes.c_uint32, name))
                       for number, name in ((top, "top"), (max_tokens, "max_tokens")))
    bounds = [int(fitting(max_length or 0, ctypes.c_uint32, "max_length")) or _USUAL_LENGTH, space.max_segment_rows,
              model.tokenizer.max_length]
    limit = min(bound for bound in bounds if bound)
    shared = min(limit // 2, _USUAL_STRIDE) if stride is None else int(fitting(stride, ctypes.c_uint32, "stride"))
    pair = model.tokenizer.encoded(question, context, whole=True, literal=literal,
                                   which="question and context")
    warn_spelled([pair])
    windows = _windows(model, pair, limit, shared)
    if not space.is_input and space.max_segment_rows is not None:
        windows = [filled_up(window, space.max_segment_rows, model.tokenizer.pad_id) for window in windows]
    runs = Runs(model, about, workers)
    try:
        scores = [read_results(runs(windows[first:first + size]), info) for first in range(0, len(windows), size)]
    finally:
        runs.close()
    raw = bytes_of(context)
    found = _answers_in(model, windows, np.concatenate(scores), raw, top, max_tokens, allow_none)
    answers = []
    for one in found:
        text, begin, end = _piece(context, raw, one.begin, one.end)
        answers.append(Answer(text, one.score, begin, end))
    return answers


# ---- Weights of the vocabulary ----

def weights_info(model: Model, program: Program) -> Any:
    """How weights are read: as the model was published, of any other masked language model as in SPLADE."""
    info = result_info(model, program)
    if info.kind == _c.FOVEA_RESULT_WORDS:
        info.pooling, info.activation = _c.FOVEA_POOLING_MAX, _c.FOVEA_ACTIVATION_LOG1P
    elif info.kind != _c.FOVEA_RESULT_WORD_WEIGHTS:
        raise Error(f"{model.name}: it is not a masked language model, so it has no weights of words",
                    _c.FOVEA_E_NAME)
    space = model.spaces[id_input(model, program).space]
    if not space.is_input and space.max_segment_rows is not None:
        raise Error(f"{model.name}: it reads texts of one length, whose padding would have weights: use fovea run "
                    "--sparse", _c.FOVEA_E_NAME)
    return info


def word_weights(model: Model, texts: Texts, top: Optional[int], prompt: Optional[str], program: Optional[str],
                 max_length: Optional[int], literal: bool, batch_size: int, progress: Progress,
                 workers: Union[int, Threads]) -> List[List[Weight]]:
    about = model.program(program)
    before, info = prompt_of(model, prompt), weights_info(model, about)
    top = fitting(top, ctypes.c_uint32, "top")
    pieces = model.tokenizer.piece
    found: List[List[Weight]] = []

    def weights_of(row: np.ndarray) -> List[Weight]:
        count = int(np.count_nonzero(row))
        return [Weight(pieces(int(i)), int(i), float(row[i]))
                for i in ranked(row, count if top is None else min(top, count))]

    def read(session: Session) -> List[List[Weight]]:
        return [weights_of(row) for row in read_results(session, info)]

    for _, rows in each_window(model, texts, "weights", read, about.name, max_length, False, literal, before,
                               batch_size, progress, workers):
        found += rows
    if not found:
        raise Error("a text or a list of texts is needed; the list is empty")
    return found
