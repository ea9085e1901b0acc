"""Results of a run, read by the library (fovea/result.h): which output, how it is pooled, how scores are presented."""

import ctypes
from typing import Any, Optional

import numpy as np

from . import _c
from ._library import call, library, sized
from .model import Model, Program


def result_info(model: Model, program: Program, output: Optional[str] = None) -> Any:
    """The fovea_result_info of a program, or of this output read as an embedding."""
    info = sized(_c.fovea_result_info)
    call("fovea_result_get_info", model.address, program.index, None if output is None else output.encode(),
         ctypes.byref(info), doing=model.name)
    return info


def output_of(program: Program, info: Any) -> str:
    return next(value.name for value in program.values.values() if value.index == info.value)


def read_results(session: Any, info: Any) -> np.ndarray:
    """[results, width] All results of the session's last run."""
    count = ctypes.c_uint32()
    call("fovea_result_get_count", session.address, ctypes.byref(info), ctypes.byref(count))
    rows = np.empty((count.value, info.width), np.float32)
    call("fovea_result_read", session.address, ctypes.byref(info), 0, count.value, rows.ctypes.data, rows.size)
    return rows


def ranked(scores: np.ndarray, top: Optional[int]) -> np.ndarray:
    """Indices of the largest of these scores, the largest first."""
    scores = np.ascontiguousarray(scores, np.float32)
    found = np.empty(len(scores) if top is None else max(0, min(top, len(scores))), np.uint32)
    count = library.fovea_result_rank(scores.ctypes.data, len(scores), len(found), found.ctypes.data)
    return found[:count]
