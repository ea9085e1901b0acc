"""Texts compared by their embeddings."""

import ctypes
import dataclasses
from typing import Any, Iterator, List, Optional, Tuple, Union

import numpy as np

from . import _c
from ._library import Error, fitting
from ._results import result_info
from ._texts import Texts, list_of
from .model import Model
from .predict import embed
from .text import Encoding

MEASURES = ("cosine", "dot", "euclidean", "manhattan")  # by fovea_measure
_QUERIES, _TEXTS = 64, 16384  # compared at a time: 8 MiB of scores


@dataclasses.dataclass(frozen=True)
class Hit:
    """A text that search has found."""

    index: int
    score: float  #: Larger is more similar: distances are negative.
    text: Any = None  #: None if embeddings were searched.


def measure_of(model: Model, measure: Optional[str]) -> str:
    """The measure that the model was trained for (metadata similarity); default: the cosine."""
    if measure in MEASURES:
        return str(measure)
    if measure is not None:
        raise Error(f"measure '{measure}': one of {', '.join(MEASURES)} is needed", _c.FOVEA_E_OPTION)
    program = model.program()
    found = result_info(model, program, next(iter(program.outputs), None)).measure  # the same for every output
    if found == _c.FOVEA_MEASURE_MAX_SIM:
        raise Error(f"{model.name}: compares texts token by token (late interaction): use the command fovea similarity",
                    _c.FOVEA_E_BUILD)
    return MEASURES[found]


def _directions(rows: np.ndarray) -> np.ndarray:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(norms == 0, 1, norms)


def scores(a: np.ndarray, b: np.ndarray, measure: str) -> np.ndarray:
    """[rows of a, rows of b], as f64: larger is more similar."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[1]:
        raise Error(f"embeddings of shapes {a.shape} and {b.shape} cannot be compared: [texts, width] of one width are "
                    "needed")
    if measure == "cosine":
        return _directions(a) @ _directions(b).T
    if measure == "dot":
        return a @ b.T
    if measure == "euclidean":
        squares = (a * a).sum(axis=1)[:, None] - 2 * (a @ b.T) + (b * b).sum(axis=1)[None, :]
        return -np.sqrt(np.maximum(squares, 0))
    return -np.stack([np.abs(row - b).sum(axis=1) for row in a]) if len(a) else np.empty((0, len(b)))


def _rows(model: Model, texts: Union[Texts, np.ndarray], options: dict) -> np.ndarray:
    """Embeddings as they are, or of texts."""
    if isinstance(texts, np.ndarray) and texts.dtype.kind == "f":
        return texts.reshape(1, -1) if texts.ndim == 1 else texts
    return embed(model, texts, normalise=False, **options)


def similarity(model: Model, a: Union[Texts, np.ndarray], b: Union[None, Texts, np.ndarray], measure: Optional[str],
               options: dict) -> np.ndarray:
    chosen = measure_of(model, measure)
    first = _rows(model, a, options)
    return scores(first, first if b is None else _rows(model, b, options), chosen)


def _best(found: np.ndarray, top: int) -> np.ndarray:
    """Indices of the largest numbers; of equals the first."""
    if 0 < top < len(found):
        least = np.partition(found, len(found) - top)[len(found) - top]
        near = np.flatnonzero(found >= least)
    else:
        near = np.arange(len(found))
    return near[np.argsort(-found[near], kind="stable")[:top]]


def _found(asked: np.ndarray, corpus: np.ndarray, top: int, measure: str) -> Iterator[Tuple[np.ndarray, np.ndarray]]:
    """For each query the indices of the most similar texts and their scores."""
    for first in range(0, len(asked), _QUERIES):
        queries = asked[first:first + _QUERIES]
        best = [(np.empty(0, np.int64), np.empty(0))] * len(queries)
        for begin in range(0, max(1, len(corpus)), _TEXTS):
            for i, row in enumerate(scores(queries, corpus[begin:begin + _TEXTS], measure)):
                indices = np.concatenate([best[i][0], np.arange(begin, begin + len(row))])
                values = np.concatenate([best[i][1], row])
                order = _best(values, top)
                best[i] = indices[order], values[order]
        yield from best


def search(model: Model, queries: Union[Texts, np.ndarray], texts: Union[Texts, np.ndarray], top: int,
           measure: Optional[str], query_prompt: Optional[str], options: dict) -> Any:
    chosen, top = measure_of(model, measure), int(fitting(top, ctypes.c_uint32, "top"))
    alone = isinstance(queries, (str, bytes, Encoding)) or isinstance(queries, np.ndarray) and queries.ndim == 1 and \
        queries.dtype.kind == "f"
    listed: Optional[List[Any]] = None
    if not (isinstance(texts, np.ndarray) and texts.dtype.kind == "f"):
        listed = list_of(texts)
    corpus = _rows(model, texts if listed is None else listed, options)
    asked = _rows(model, queries, {**options, "prompt": query_prompt if query_prompt is not None else
                                   options.get("prompt")})
    hits = [[Hit(int(i), float(score), None if listed is None else listed[i]) for i, score in zip(*found)]
            for found in _found(asked, corpus, top, chosen)]
    return hits[0] if alone else hits
