"""Predictions for texts: classes and embeddings."""

import contextlib
import dataclasses
import math
from typing import Any, Callable, Iterable, Iterator, List, Optional, Tuple, Union

import numpy as np

from . import _c
from ._library import Error, Threads
from ._notices import DefaultWarning, named, warn
from ._texts import (Encoder, Progress, Reporter, Texts, Window, checked_batch_size, items_of, joined, list_of,
                     windows)
from .batch import Batch, Ragged, Result, run
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
               wrapped: bool = False) -> List[Encoding]:
    """Encodings of texts in the form that a program reads: at once, or sentence by sentence."""
    encode = Encoder(model, program, max_length, wrapped)
    return list(warned([encode(text, f"texts[{i}]") for i, text in enumerate(list_of(texts))]))


@named
def run_texts(model: Model, texts: Texts, program: Optional[str] = None, *, max_length: Optional[int] = None,
              wrapped: bool = False, keep: Iterable[str] = (), taps: Iterable[Union[str, Tap]] = (),
              workers: Union[int, Threads] = 1, tile_rows: int = 0) -> Result:
    """Runs a program once over texts, or Encodings of them. `max_length`: longer texts are truncated, with a warning;
    `wrapped`: line ends of documents are line wraps; other parameters: as for `Model.run`."""
    about = model.program(program)
    encodings = encode_for(model, about, texts, max_length, wrapped)
    inputs, segments = joined(model, about, encodings)
    result = run(model, inputs, program, segments=segments, keep=keep, taps=taps, workers=workers,
                 tile_rows=tile_rows)
    result.encodings = encodings
    return result


class _Runs:
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


def _each_window(model: Model, texts: Texts, name: str, read: Callable[[Session], Any], program: Optional[str],
                 max_length: Optional[int], wrapped: bool, prompt: str, batch_size: int, progress: Progress,
                 workers: Union[int, Threads]) -> Iterator[Tuple[Window, List[Any]]]:
    """For each window of the texts what `read` returns for each text."""
    about = model.program(program)
    items, total = items_of(texts)
    size, report = checked_batch_size(batch_size), Reporter(progress, name, total)
    encode = Encoder(model, about, max_length, wrapped, prompt)
    with contextlib.closing(_Runs(model, about, workers)) as runs:
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

def _softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits.astype(np.float64) - logits.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def classes_of(model: Model, logits: np.ndarray, top: Optional[int]) -> List[Class]:
    kind = model.metadata.get("problem_type")
    if len(logits) == 1 or kind == "regression":
        sigmoid = len(logits) == 1 and model.metadata.get("score_activation") == "sigmoid"
        return [Class(model.label(i), None, logit, i, 1 / (1 + math.exp(-logit)) if sigmoid else logit)
                for i, logit in enumerate(logits.tolist())]
    shares = 1 / (1 + np.exp(-logits.astype(np.float64))) if kind == "multi_label_classification" else _softmax(logits)
    order = np.argsort(-shares, kind="stable")[:top]
    return [Class(model.label(int(i)), float(shares[i]), float(logits[i]), int(i), float(shares[i])) for i in order]


def has_classes(model: Model, program: Program) -> None:
    """An Error if a program has no scores of classes of a text."""
    logits = program.outputs.get("logits")
    if logits is None:
        raise Error(f"{model.name}: program '{program.name}' has no value 'logits', the scores of classes; its outputs "
                    f"are: {', '.join(program.outputs)}", _c.FOVEA_E_NAME)
    if model.spaces[logits.space].parent is not None:
        raise Error(f"{model.name}: the program has no output for a text as a whole: it has scores for each "
                    "token, which run_texts() returns", _c.FOVEA_E_NAME)


def classify(model: Model, texts: Texts, top: Optional[int], program: Optional[str], max_length: Optional[int],
             wrapped: bool, batch_size: int, progress: Progress, workers: Union[int, Threads]) -> List[List[Class]]:
    has_classes(model, model.program(program))
    found: List[List[Class]] = []

    def read(session: Session) -> List[List[Class]]:
        return [classes_of(model, row, top) for row in session.output("logits")]

    for _, rows in _each_window(model, texts, "classify", read, program, max_length, wrapped, "", batch_size, progress,
                                workers):
        found += rows
    if not found:
        raise Error("a text or a list of texts is needed; the list is empty")
    return found


# ---- Embeddings ----

def _prompt_of(model: Model, name: Optional[str]) -> str:
    """The prompt of this name, or the model's default prompt, which is announced once."""
    default = model.metadata.get("default_prompt", "")
    chosen = default if name is None else name
    if not chosen:
        return ""
    prompt = model.metadata.get(f"prompt.{chosen}")
    if prompt is None:
        known = ", ".join(key[len("prompt."):] for key in model.metadata if key.startswith("prompt."))
        raise Error(f"{model.name}: has no prompt '{chosen}'; its prompts are: {known or 'none'}", _c.FOVEA_E_NAME)
    if name is None:
        announce(model, f"the model's default prompt is in front of each text: {prompt!r}; prompt=\"\" leaves it out")
    return prompt


def announce(model: Model, text: str) -> None:
    """Warns of a default, once for each model."""
    if text not in model._announced:
        model._announced.add(text)
        warn(f"{model.name}: {text}", DefaultWarning)


def embedding_of(model: Model, program: Program) -> Tuple[str, bool]:
    """The output that is the embedding of a text, and whether it has a row for each text."""
    def per_text(name: str) -> bool:
        return model.spaces[program.outputs[name].space].parent is None

    for name in ("sentence_embedding", "pooler_output"):
        if name in program.outputs and per_text(name):
            return name, True
    for name in program.outputs:
        if per_text(name):
            return name, True
    if not program.outputs:
        raise Error(f"{model.name}: program '{program.name}' has no outputs", _c.FOVEA_E_NAME)
    return ("last_hidden_state" if "last_hidden_state" in program.outputs else next(iter(program.outputs))), False


def _chosen_output(model: Model, program: Program, output: Optional[str]) -> Tuple[str, bool]:
    if output is not None:
        value = model.value(program, output)
        if value.role != "output":
            raise Error(f"{model.name}: '{output}' is not an output; there are: {', '.join(program.outputs)}",
                        _c.FOVEA_E_NAME)
        return value.name, model.spaces[value.space].parent is None
    if model.metadata.get("task") in ("causal-lm", "seq2seq-lm"):
        raise Error(f"{model.name}: it generates text (task {model.metadata['task']}), and has no embeddings; output= "
                    "chooses one of its outputs, and fovea convert --task embedding, for encoders --task encoder, "
                    "converts it to a model of its hidden states", _c.FOVEA_E_NAME)
    name, per_text = embedding_of(model, program)
    if not per_text:
        announce(model, f"the model has no embedding of a text: the mean of the rows of '{name}' is used; "
                        f"output=\"{name}\" chooses it without this warning")
    elif name == "logits":
        announce(model, "the model has no embedding, but scores of classes, output 'logits': these are used; "
                        "output=\"logits\" chooses them without this warning, and fovea convert --task embedding "
                        "converts the model without them")
    return name, per_text


def _means(rows: Ragged) -> np.ndarray:
    width = rows.values.shape[1]
    return np.array([part.mean(axis=0, dtype=np.float64) if len(part) else np.zeros(width) for part in rows],
                    np.float32).reshape(len(rows), width)


def embed_windows(model: Model, texts: Texts, normalise: bool, prompt: Optional[str], output: Optional[str],
                  program: Optional[str], max_length: Optional[int], batch_size: int, progress: Progress,
                  workers: Union[int, Threads]) -> Iterator[np.ndarray]:
    """[texts of a window, width] for each window."""
    about = model.program(program)
    before = _prompt_of(model, prompt)
    name, per_text = _chosen_output(model, about, output)

    def read(session: Session) -> np.ndarray:
        rows = session.output(name)
        if not per_text:
            rows = _means(Ragged(rows, session.offsets(session.value(name).space)))
        rows = np.array(rows, np.float32)
        if normalise:
            norms = np.linalg.norm(rows, axis=1, keepdims=True)
            rows /= np.where(norms == 0, 1, norms)
        return rows

    for _, rows in _each_window(model, texts, "embed", read, program, max_length, False, before, batch_size, progress,
                                workers):
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
