"""Predictions for texts: classes and embeddings."""

import contextlib
import ctypes
import dataclasses
from typing import Any, Callable, Iterable, Iterator, List, Optional, Tuple, Union

import numpy as np

from . import _c
from ._library import Error, Threads, call, fitting, text_of
from ._notices import DefaultWarning, named, warn
from ._results import output_of, ranked, read_results, result_info
from ._texts import (Encoder, Progress, Reporter, Texts, Window, checked_batch_size, items_of, joined, list_of,
                     windows)
from .batch import Batch, Result, run
from .model import Model, Program
from .session import Session, Tap, threads_of
from .text import Encoding, warned


@dataclasses.dataclass(frozen=True)
class Class:
    """A class of a text. Models of a single number or of numbers (regression) have no probability: `score` has the
    number as the original presents it, for example a relevance from 0 to 1."""

    label: str
    probability: Optional[float]
    logit: float
    index: int
    score: float  #: The probability, or the number.


def encode_for(model: Model, program: Program, texts: Texts, max_length: Optional[int] = None,
               wrapped: bool = False, literal: bool = False) -> List[Encoding]:
    """Encodings of texts in the form that a program reads: at once, or sentence by sentence."""
    encode = Encoder(model, program, max_length, wrapped, literal=literal)
    return list(warned([encode(text, f"texts[{i}]") for i, text in enumerate(list_of(texts))]))


@named
def run_texts(model: Model, texts: Texts, program: Optional[str] = None, *, max_length: Optional[int] = None,
              wrapped: bool = False, literal: bool = False, keep: Iterable[str] = (),
              taps: Iterable[Union[str, Tap]] = (), workers: Union[int, Threads] = 1, tile_rows: int = 0) -> Result:
    """Runs a program once over texts, or Encodings of them. `max_length`: longer texts are truncated, with a warning;
    `wrapped`: line ends of documents are line wraps; `literal`: special tokens that texts spell are text; other
    parameters: as for `Model.run`."""
    about = model.program(program)
    encodings = encode_for(model, about, texts, max_length, wrapped, literal)
    inputs, segments = joined(model, about, encodings)
    result = run(model, inputs, program, segments=segments, keep=keep, taps=taps, workers=workers,
                 tile_rows=tile_rows)
    result.encodings = encodings
    return result


class Runs:
    """Runs a program over one batch after the other, in the memory of the largest so far."""

    def __init__(self, model: Model, program: Program, workers: Union[int, Threads]):
        self._model, self._program = model, program
        self._threads, _ = threads_of(workers)  # one set for all sessions
        self._session: Optional[Session] = None

    def __call__(self, encodings: List[Encoding]) -> Session:
        inputs, segments = joined(self._model, self._program, encodings)
        batch = Batch(self._model, self._program, inputs, segments)
        limits, session = batch.limits(), self._session
        if session is None or any(np.any(np.greater(limit, session.limits[space])) for space, limit in limits.items()):
            if session is not None:
                known = session.limits
                limits = {space: (max(rows, known[space][0]), max(longest, known[space][1]))
                          for space, (rows, longest) in limits.items()}
                session.close()
            session = self._session = Session(self._model, self._program.name, limits=limits,
                                              workers=self._threads or 1)
        batch.bind(session)
        return session.run()

    def close(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None


def each_window(model: Model, texts: Texts, name: str, read: Callable[[Session], Any], program: Optional[str],
                max_length: Optional[int], wrapped: bool, literal: bool, prompt: str, batch_size: int,
                progress: Progress, workers: Union[int, Threads]) -> Iterator[Tuple[Window, List[Any]]]:
    """For each window of the texts what `read` returns for each text."""
    about = model.program(program)
    items, total = items_of(texts)
    size, report = checked_batch_size(batch_size), Reporter(progress, name, total)
    encode = Encoder(model, about, max_length, wrapped, prompt, literal)
    with contextlib.closing(Runs(model, about, workers)) as runs:
        for window in windows(items, encode, size):
            warned(window.encodings, window.first)
            results: List[Any] = [None] * len(window.encodings)
            for batch in window.batches(size):
                for i, result in zip(batch, read(runs([window.encodings[i] for i in batch]))):
                    results[i] = result
                report.add(len(batch))
            yield window, results
    report.end()


# ---- Classes ----

def classes_of(model: Model, info: Any, logits: np.ndarray, scores: np.ndarray, top: Optional[int]) -> List[Class]:
    """Classes of a text by its scores, as the library presents them."""
    if info.width == 1 or info.activation == _c.FOVEA_ACTIVATION_NONE:
        return [Class(model.label(i), None, float(logits[i]), i, float(scores[i])) for i in range(info.width)]
    return [Class(model.label(int(i)), float(scores[i]), float(logits[i]), int(i), float(scores[i]))
            for i in ranked(scores, top)]


def classes_in(model: Model, info: Any, session: Session, top: Optional[int]) -> List[List[Class]]:
    """For each text of a run its classes."""
    return [classes_of(model, info, *rows, top) for rows in zip(session.output("logits"), read_results(session, info))]


def has_classes(model: Model, program: Program) -> None:
    """An Error if a program has no scores of classes of a text."""
    logits = program.outputs.get("logits")
    if logits is None:
        raise Error(f"{model.name}: program '{program.name}' has no value 'logits', the scores of classes; its outputs "
                    f"are: {', '.join(program.outputs)}", _c.FOVEA_E_NAME)
    if model.spaces[logits.space].parent is not None:
        raise Error(f"{model.name}: the program has no output for a text as a whole: it has scores for each "
                    "token, which fovea.run_texts() returns", _c.FOVEA_E_NAME)


def classify(model: Model, texts: Texts, top: Optional[int], program: Optional[str], max_length: Optional[int],
             wrapped: bool, literal: bool, batch_size: int, progress: Progress,
             workers: Union[int, Threads]) -> List[List[Class]]:
    about = model.program(program)
    has_classes(model, about)
    top, info = fitting(top, ctypes.c_uint32, "top"), result_info(model, about)
    found: List[List[Class]] = []

    def read(session: Session) -> List[List[Class]]:
        return classes_in(model, info, session, top)

    for _, rows in each_window(model, texts, "classify", read, program, max_length, wrapped, literal, "", batch_size,
                               progress, workers):
        found += rows
    if not found:
        raise Error("a text or a list of texts is needed; the list is empty")
    return found


# ---- Embeddings ----

def prompt_of(model: Model, name: Optional[str]) -> str:
    """The prompt of this name, or the model's default prompt, which is announced once."""
    if name == "":
        return ""
    prompt, chosen = ctypes.c_char_p(), ctypes.c_char_p()
    try:
        call("fovea_text_get_prompt", model.address, None if name is None else name.encode(), ctypes.byref(prompt),
             ctypes.byref(chosen))
    except Error as error:
        if error.status != _c.FOVEA_E_NAME:
            raise
        known = ", ".join(key[len("prompt."):] for key in model.metadata if key.startswith("prompt."))
        wanted = model.metadata.get("default_prompt", "") if name is None else name
        raise Error(f"{model.name}: has no prompt '{wanted}'; its prompts are: {known or 'none'}",
                    _c.FOVEA_E_NAME) from None
    text = text_of(prompt.value)
    if name is None and text:
        announce(model, f"the model's default prompt is in front of each text: {text!r}; prompt=\"\" leaves it out")
    return text


def announce(model: Model, text: str) -> None:
    """Warns of a default, once for each model."""
    if text not in model._announced:
        model._announced.add(text)
        warn(f"{model.name}: {text}", DefaultWarning)


def _embedding_of(model: Model, program: Program, output: Optional[str]) -> Any:
    """How the embedding of a text is read (fovea_result_info): of this output, or as the model states."""
    if output is not None:
        name = output if output in program.outputs else model.metadata.get(f"alias.{output}")
        if name not in program.outputs:
            raise Error(f"{model.name}: '{output}' is not an output; there are: {', '.join(program.outputs)}",
                        _c.FOVEA_E_NAME)
        return result_info(model, program, name)
    if model.metadata.get("task") in ("causal-lm", "seq2seq-lm"):
        raise Error(f"{model.name}: it generates text (task {model.metadata['task']}), and has no embeddings; output= "
                    "chooses one of its outputs, and fovea convert --task embedding, for encoders --task encoder, "
                    "converts it to a model of its hidden states", _c.FOVEA_E_NAME)
    info = result_info(model, program)
    if info.kind == _c.FOVEA_RESULT_WORD_WEIGHTS:
        return info  # a weight for each token of the vocabulary
    if info.kind == _c.FOVEA_RESULT_ANSWERS:
        raise Error(f"{model.name}: it answers questions, and has no embeddings: model.answer(question, context)",
                    _c.FOVEA_E_NAME)
    if info.kind != _c.FOVEA_RESULT_EMBEDDING:
        others = [name for name in ("sentence_embedding", "pooler_output", "last_hidden_state")
                  if name in program.outputs]
        info = result_info(model, program, others[0] if others else "logits")
    name = output_of(program, info)
    if info.pooling != _c.FOVEA_POOLING_NONE:
        announce(model, f"the model has no embedding of a text: the mean of the rows of '{name}' is used; "
                        f"output=\"{name}\" chooses it without this warning")
    elif name == "logits":
        announce(model, "the model has no embedding, but scores of classes, output 'logits': these are used; "
                        "output=\"logits\" chooses them without this warning, and fovea convert --task embedding "
                        "converts the model without them")
    return info


def embed_windows(model: Model, texts: Texts, normalise: bool, prompt: Optional[str], output: Optional[str],
                  program: Optional[str], max_length: Optional[int], literal: bool, batch_size: int,
                  progress: Progress, workers: Union[int, Threads]) -> Iterator[np.ndarray]:
    """[texts of a window, width] for each window."""
    about = model.program(program)
    before = prompt_of(model, prompt)
    info = _embedding_of(model, about, output)
    info.normalize = int(normalise)

    def read(session: Session) -> np.ndarray:
        return read_results(session, info)

    for _, rows in each_window(model, texts, "embed", read, program, max_length, False, literal, before, batch_size,
                               progress, workers):
        yield np.stack(rows)


def embed(model: Model, texts: Texts, **options: Any) -> np.ndarray:
    parts, whole, first = [], None, 0
    count = None if isinstance(texts, (str, bytes, Encoding)) else getattr(texts, "__len__", lambda: None)()
    for rows in embed_windows(model, texts, **options):
        if count is None:
            parts.append(rows)
            continue
        if whole is None:
            whole = np.empty((count, rows.shape[1]), np.float32)
        whole[first:first + len(rows)] = rows
        first += len(rows)
    if not parts and whole is None:
        raise Error("a text or a list of texts is needed; the list is empty")
    return np.concatenate(parts) if whole is None else whole


def embed_iter(model: Model, texts: Texts, **options: Any) -> Iterator[np.ndarray]:
    for rows in embed_windows(model, texts, **options):
        for row in rows:
            yield row.copy()  # the window's other rows are not kept
