"""Predictions for texts: classes and embeddings."""

import dataclasses
from typing import Any, Dict, List, Optional, Union

import numpy as np

from . import _c
from ._library import Error, Threads
from .batch import Ragged, Result, run
from .model import Model, Program
from .text import Encoding, texts_of


@dataclasses.dataclass(frozen=True)
class Class:
    """A class of a text. Models of a single number or of numbers (regression) have no probability."""

    label: str
    probability: Optional[float]
    logit: float
    index: int


def _id_input(model: Model, program: Program) -> Any:
    """The input of token ids."""
    for value in program.inputs.values():
        if value.name == "input_ids":
            return value
    for value in program.inputs.values():
        if value.type == "i32":
            return value
    raise Error(f"{model.name}: program '{program.name}' does not take token ids", _c.FOVEA_E_NAME)


def _sentence_space(model: Model, space: str) -> Optional[str]:
    """The space whose rows are the sentences of documents, if tokens nest in one."""
    parent = model.spaces[space].parent
    nested = parent is not None and model.spaces[parent].is_input and model.spaces[parent].parent is not None
    return parent if nested else None


def _filled_up(encoding: Encoding, length: int, pad: int) -> Encoding:
    """Pads tokens, if all texts have one length."""
    missing = length - len(encoding)
    if missing == 0:
        return encoding
    if missing < 0 or pad < 0:
        raise Error(f"the model takes {length} tokens, and has no padding for {len(encoding)}", _c.FOVEA_E_LENGTH)
    return dataclasses.replace(encoding, ids=np.append(encoding.ids, np.full(missing, pad, np.int32)),
                               types=np.append(encoding.types, np.zeros(missing, np.int32)))


def encode_for(model: Model, program: Program, texts: Any, max_length: int = 0,
               wrapped: bool = False) -> List[Encoding]:
    """Encodings of texts in the form that a program reads: at once, or sentence by sentence."""
    tokenizer, space = model.tokenizer, model.spaces[_id_input(model, program).space]
    bounds = [bound for bound in (max_length, space.max_segment_rows, tokenizer.max_length) if bound]
    limit = min(bounds, default=0)
    if _sentence_space(model, space.name):
        return [tokenizer.encode_document(text, max_length=limit, wrapped=wrapped) for text in texts_of(texts)]
    encodings = [tokenizer.encode(text, max_length=limit) for text in texts_of(texts)]
    if not space.is_input and space.max_segment_rows is not None:
        encodings = [_filled_up(encoding, space.max_segment_rows, tokenizer.pad_id) for encoding in encodings]
    return encodings


def run_texts(model: Model, texts: Any, program: Optional[str] = None, *, max_length: int = 0, wrapped: bool = False,
              **options: Any) -> Result:
    """Runs a program over texts, or Encodings of them. Options: as for `run`."""
    about = model.program(program)
    ids = _id_input(model, about)
    sentences = _sentence_space(model, ids.space)
    given = isinstance(texts, (list, tuple)) and texts and all(isinstance(text, Encoding) for text in texts)
    encodings = list(texts) if given else encode_for(model, about, texts, max_length, wrapped)
    segments: Dict[str, Any] = {}
    if sentences is not None:
        if any(encoding.sentences is None for encoding in encodings):
            raise Error("the model reads documents: encode_document makes them")
        segments[sentences] = [len(encoding.sentences) for encoding in encodings]
        lengths = np.concatenate([encoding.sentences for encoding in encodings]).astype(np.int64)
    else:
        lengths = np.array([len(encoding) for encoding in encodings])
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    inputs = {ids.name: Ragged(np.concatenate([encoding.ids for encoding in encodings]), offsets)}
    if "token_type_ids" in about.inputs and ids.name != "token_type_ids":
        inputs["token_type_ids"] = Ragged(np.concatenate([encoding.types for encoding in encodings]), offsets)
    return run(model, inputs, program, segments=segments, **options)


def _softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits.astype(np.float64) - logits.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def _classes(model: Model, logits: np.ndarray, top: Optional[int]) -> List[Class]:
    kind = model.metadata.get("problem_type")
    if len(logits) == 1 or kind == "regression":
        return [Class(model.label(i), None, float(logit), i) for i, logit in enumerate(logits)]
    shares = 1 / (1 + np.exp(-logits.astype(np.float64))) if kind == "multi_label_classification" else _softmax(logits)
    order = np.argsort(-shares, kind="stable")[:top]
    return [Class(model.label(int(i)), float(shares[i]), float(logits[i]), int(i)) for i in order]


def classify(model: Model, texts: Any, *, top: Optional[int] = None, program: Optional[str] = None,
             max_length: int = 0, wrapped: bool = False, workers: Union[int, Threads] = 1) -> List[List[Class]]:
    """For each text its classes, the most probable first."""
    result = run_texts(model, texts, program, max_length=max_length, wrapped=wrapped, workers=workers)
    logits = result["logits"]
    if isinstance(logits, Ragged):
        raise Error(f"{model.name}: the program has no output for a text as a whole", _c.FOVEA_E_NAME)
    return [_classes(model, row, top) for row in logits]


def _means(rows: Ragged) -> np.ndarray:
    width = rows.values.shape[1]
    return np.array([part.mean(axis=0, dtype=np.float64) if len(part) else np.zeros(width) for part in rows],
                    np.float32).reshape(len(rows), width)


def _with_prompt(model: Model, texts: Any, name: Optional[str]) -> Any:
    """The texts with the prompt of this name, or the model's default prompt, in front; Encodings as they are."""
    name = model.metadata.get("default_prompt", "") if name is None else name
    if not name or not isinstance(texts, str) and any(isinstance(text, Encoding) for text in texts):
        return texts
    prompt = model.metadata.get(f"prompt.{name}")
    if prompt is None:
        known = ", ".join(key[len("prompt."):] for key in model.metadata if key.startswith("prompt."))
        raise Error(f"{model.name}: has no prompt '{name}'; its prompts are: {known or 'none'}", _c.FOVEA_E_NAME)
    return [prompt.encode() + text if isinstance(text, bytes) else prompt + text for text in texts_of(texts)]


def embed(model: Model, texts: Any, *, normalise: bool = False, prompt: Optional[str] = None,
          program: Optional[str] = None, max_length: int = 0, workers: Union[int, Threads] = 1) -> np.ndarray:
    """[texts, width]: the sentence embedding or pooled output of the model, or else the mean of its last hidden states.
    `normalise`: scaled to length 1. `prompt`: name of a prompt of the model to put in front of each text; default: the
    model's default prompt, if it has one; "": none."""
    texts = _with_prompt(model, texts, prompt)
    result = run_texts(model, texts, program, max_length=max_length, workers=workers)
    per_text = [name for name in result if not isinstance(result[name], Ragged)]
    known = [name for name in ("sentence_embedding", "pooler_output") if name in per_text]
    if per_text:
        rows = np.array(result[(known or per_text)[0]], np.float32)
    else:
        rows = _means(result["last_hidden_state" if "last_hidden_state" in result else next(iter(result))])
    if normalise:
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        rows = rows / np.where(norms == 0, 1, norms)
    return rows
