"""Sessions: a program of a model with separate memory and its state."""

import contextlib
import ctypes
import dataclasses
import functools
import threading
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import _c
from ._library import Address, Blocks, Error, Handle, Threads, call, fitting, library, port, sized
from ._interrupt import interruptible, is_long
from ._notices import named, named_fields
from .model import DTYPES, TYPE_NAMES, Model, Program, Step, Value

_FORMS = {"dense": _c.FOVEA_TAP_DENSE, "sparse": _c.FOVEA_TAP_SPARSE}
_REDUCES = {None: _c.FOVEA_REDUCE_NONE, "mean": _c.FOVEA_REDUCE_MEAN, "max": _c.FOVEA_REDUCE_MAX}
_KEPT = {"attention": _c.FOVEA_KEEP_ATTENTION, "scores": _c.FOVEA_KEEP_SCORES}
_TYPES = {name: number for number, name in TYPE_NAMES.items()}
_NO_SECOND = 0xffffffff  # stride of tapped rows: no segment has a second one
_COPIED = (_c.FOVEA_TYPE_BF16, _c.FOVEA_TYPE_I8)  # numpy lacks these types


def _choice(given: Any, choices: Mapping, what: str) -> int:
    if given not in choices:
        raise Error(f"{what} {given!r}: one of {', '.join(map(repr, choices))} is needed", _c.FOVEA_E_OPTION)
    return choices[given]


@named_fields
@dataclasses.dataclass(frozen=True)
class Tap:
    """A tap: a request to record the attention map of the operation of this name."""

    step: str
    form: str = "dense"  #: "dense" or "sparse"
    reduce: Optional[str] = None  #: Reduces all heads to one: "mean" or "max"
    heads: Sequence[int] = ()  #: Which heads; default: all.
    last_rows: bool = False  #: Only the last row of each segment.
    what: str = "attention"  #: "attention" or "scores"
    first_rows: bool = False  #: Only the first row of each segment.

    def struct(self, step: Step) -> Any:
        if any(not 0 <= head < min(64, step.heads) for head in self.heads):
            raise Error(f"tap of '{self.step}': heads are 0 to {min(64, step.heads) - 1}", _c.FOVEA_E_OPTION)
        if self.first_rows and self.last_rows:
            raise Error(f"tap of '{self.step}': first_rows or last_rows, not both", _c.FOVEA_E_OPTION)
        rows = (_c.FOVEA_TAP_ROWS_LAST if self.last_rows else
                _c.FOVEA_TAP_ROWS_STRIDE if self.first_rows else _c.FOVEA_TAP_ROWS_ALL)
        return sized(_c.fovea_tap, step=step.index, form=_choice(self.form, _FORMS, "form"), rows=rows,
                     stride=_NO_SECOND if self.first_rows else 0, reduce=_choice(self.reduce, _REDUCES, "reduce"),
                     heads=sum(1 << head for head in set(self.heads)), what=_choice(self.what, _KEPT, "what"))


@dataclasses.dataclass(frozen=True)
class AttentionMap:
    """The attention map that a tap recorded in the last run. A line is a query row and head."""

    query_rows: np.ndarray  #: [rows] Rows of the query space.
    heads: int
    query_offsets: np.ndarray  #: Offsets of the segments of queries and of keys.
    key_offsets: np.ndarray
    #: Dense: [rows, heads, longest segment], a view; undefined past a segment's keys.
    data: Optional[np.ndarray]
    offsets: Optional[np.ndarray] = None  #: Sparse, line by line: [rows * heads + 1] begin of each line,
    keys: Optional[np.ndarray] = None  #: ... its keys, counted through all segments, and
    values: Optional[np.ndarray] = None  #: ... their weights.
    labels: Optional[List[List[str]]] = None  #: The tokens of each segment, if texts were run.

    def __repr__(self) -> str:
        form = "sparse" if self.data is None else "dense"
        return (f"<fovea.AttentionMap, {form}: {len(self.query_rows)} query rows, {self.heads} heads, "
                f"{len(self.key_offsets) - 1} segments>")

    def _repr_html_(self) -> str:
        from ._html import attention_page
        return attention_page(self)

    def segment(self, index: int) -> np.ndarray:
        """[heads, queries, keys] of one segment."""
        first, end = int(self.key_offsets[index]), int(self.key_offsets[index + 1])
        if len(self.query_offsets) == len(self.key_offsets):
            low, high = np.searchsorted(self.query_rows, self.query_offsets[index:index + 2])
        else:  # each query row has a segment of keys
            low, high = np.searchsorted(self.query_rows, (index, index + 1))
        if self.data is not None:
            return self.data[low:high, :, :end - first].transpose(1, 0, 2)
        dense = np.zeros((high - low, self.heads, end - first), np.float32)
        assert self.offsets is not None and self.keys is not None and self.values is not None
        for line in range(low * self.heads, high * self.heads):
            entries = slice(int(self.offsets[line]), int(self.offsets[line + 1]))
            dense[line // self.heads - low, line % self.heads, self.keys[entries] - first] = self.values[entries]
        return dense.transpose(1, 0, 2)


def _dequantised(raw: np.ndarray, width: int) -> np.ndarray:
    """Rows of i8 as numbers: scales, then integers (fovea_view)."""
    parts = (raw.shape[1] - width) // 4
    scales = np.ascontiguousarray(raw[:, :4 * parts]).view(np.float32)
    integers = raw[:, 4 * parts:4 * parts + width].view(np.int8).astype(np.float32)
    return integers * np.repeat(scales, -(-width // parts), axis=1)[:, :width]


def _quantised(rows: np.ndarray, parts: int) -> np.ndarray:
    """The inverse: the largest number of a part becomes 127."""
    split = rows.reshape(len(rows), parts, rows.shape[1] // parts)
    scales = np.abs(split).max(axis=2) / np.float32(127)
    integers = np.clip(np.rint(split / np.where(scales > 0, scales, np.float32(1))[:, :, None]), -127, 127)
    return np.hstack([scales.view(np.uint8), integers.reshape(rows.shape).astype(np.int8).view(np.uint8)])


def _bf16(rows: np.ndarray) -> np.ndarray:
    """Rounds to nearest, ties to even."""
    bits = rows.view(np.uint32)
    nearest = np.where(np.isnan(rows), np.uint32(0x7fc00000), bits + np.uint32(0x7fff) + (bits >> 16 & 1))
    return (nearest >> 16).astype(np.uint16).view(np.uint8)


def _alone(method: Callable) -> Callable:
    """Decorator: the method holds the session for its thread."""
    @functools.wraps(method)
    def guarded(self: "Session", *arguments: Any, **options: Any) -> Any:
        with self.alone():
            return method(self, *arguments, **options)
    return guarded


class Session(Handle):
    """A program with memory for a limited number of rows.

    `limits`: for each input space the most rows of a run, or (rows, rows of the longest segment); `rows` for other
    input spaces. `workers` is a number or Threads. `keep` names values that can be read besides the outputs, `taps` the
    attention maps to record, `linked` inputs that `link` will supply. Arrays of `input`, `output` and `attention_map`
    are views of the session's memory: they change with every run, and stay valid memory when the session is closed.

    Only one thread at a time can use a session; a call during another thread's call is refused.
    """

    _called = "this session is"
    _instead = "copy or pickle its model and make a session of that; save() and restore() carry a session's state"

    @named
    def __init__(self, model: Model, program: Optional[str] = None, *,
                 limits: Mapping[str, Union[int, Tuple[int, int]]] = {}, rows: int = 0,
                 workers: Union[int, Threads] = 1, tile_rows: int = 0, keep: Iterable[str] = (),
                 taps: Iterable[Tap] = (), linked: Iterable[str] = (), cached_texts: int = 0,
                 cache_type: Optional[str] = None):
        self.model = model
        self.program: Program = model.program(program)
        self.taps: List[Tap] = list(taps)
        self._threads, count = threads_of(workers)
        self.workers: Union[int, Threads] = self._threads or 1  # for another session that runs at other times
        self.limits = {space: _bound(space, limit) for space, limit in limits.items()}
        self._rows: Dict[str, int] = {}  # bound, by space
        self._turn = threading.RLock()
        self._keep_alive: List[Any] = [model.blob, model._memory]
        options = sized(_c.fovea_session_options, program=self.program.index, workers=count, tile_rows=tile_rows,
                        rows=rows, cached_texts=cached_texts)
        bounds = list(self.limits.values())
        arrays = [  # only read during the calls below
            ("limit", (_c.fovea_limit * len(bounds))(*(_c.fovea_limit(model.space(space).index, *bound)
                                                       for space, bound in zip(limits, bounds)))),
            ("keep", _indices(self.value(name).index for name in keep)),
            ("tap", (_c.fovea_tap * len(self.taps))(*(tap.struct(model.attention(self.program, tap.step))
                                                      for tap in self.taps))),
            ("linked", _indices(self.value(name).index for name in linked)),
        ]
        for name, array in arrays:
            if len(array):
                setattr(options, name + "_count", len(array))
                setattr(options, name + "s" if name in ("limit", "tap") else name, ctypes.addressof(array))
        if cache_type is not None:
            kept = ctypes.c_uint32(_choice(cache_type, _TYPES, "cache_type"))
            options.cache_type = ctypes.addressof(kept)
        if self._threads is not None and port is not None:
            options.runner = ctypes.cast(port.fovea_port_run, ctypes.c_void_p).value
            options.runner_context = self._threads.address
            if self._threads.count >= count:
                options.barrier = ctypes.cast(port.fovea_port_barrier, ctypes.c_void_p).value
        self._place(options)

    def __repr__(self) -> str:
        limits = ", ".join(f"{space} {rows}" for space, (rows, _) in self.limits.items())
        state = "closed" if self.closed else f"{sum(self.memory_bytes.values())} bytes"
        return f"<fovea.Session of {self.model.name}, program {self.program.name}: at most {limits or 'rows'}; {state}>"

    def _place(self, options: Any) -> None:
        memory = sized(_c.fovea_session_memory)
        call("fovea_session_size", self.model.address, ctypes.byref(options), ctypes.byref(memory), doing="session")
        self._blocks = Blocks()
        for block in ("fixed", "state", "scratch"):
            setattr(memory, block, self._blocks.make(getattr(memory, block + "_size")))
        self.memory_bytes: Dict[str, int] = {block: getattr(memory, block + "_size")
                                             for block in ("fixed", "state", "scratch")}
        handle = ctypes.c_void_p()
        call("fovea_session_init", self.model.address, ctypes.byref(options), ctypes.byref(memory),
             ctypes.byref(handle), doing="session")
        self._address = Address.of(handle.value, [self._blocks, self._threads, self._keep_alive])

    def close(self) -> None:
        super().close()
        self._threads, self._keep_alive, self._blocks = None, [], Blocks()

    def ready(self) -> List[Any]:
        """Objects that must outlive the library's use of this session; an Error if it or its threads are closed."""
        address, threads = self.address, self._threads
        if threads is not None:
            threads.address
        return [address]

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Holds the session for this thread; an Error if another thread uses it."""
        if not self._turn.acquire(blocking=False):
            raise Error("another thread uses this session: give each thread a separate session", _c.FOVEA_E_ORDER)
        try:
            yield
        finally:
            self._turn.release()

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Holds the session, its threads and its memory during a run."""
        with self.alone():
            held, threads = self.ready(), self._threads
            with threads.turn() if threads is not None else contextlib.nullcontext():
                yield
            del held

    def value(self, name: str) -> Value:
        return self.model.value(self.program, name)

    # ---- Before a run ----

    @_alone
    def set_segments(self, space: str, lengths: Any) -> None:
        """Sets the lengths of the segments of an input space."""
        array = np.asarray(lengths)
        if array.ndim != 1 or (array.size and (array.dtype.kind not in "iu" or array.min() < 0 or
                                               array.max() >= 2**32)):
            raise Error(f"segments of '{space}': lengths must be whole numbers in one row")
        array = np.ascontiguousarray(array, np.uint32)
        call("fovea_session_set_segments", self.address, self.model.space(space).index, array.ctypes.data, len(array),
             doing=f"segments of '{space}'")
        self._rows[space] = int(array.sum())

    def _array(self, view: Any) -> np.ndarray:
        if view.type not in _COPIED:
            return self._blocks.array(view.data, DTYPES[view.type], (view.rows, view.width), view.row_bytes)
        raw = self._raw(view)
        if view.type == _c.FOVEA_TYPE_I8:
            return _dequantised(raw, view.width)
        halves = np.ascontiguousarray(raw[:, :2 * view.width]).view(np.uint16)
        return (halves.astype(np.uint32) << 16).view(np.float32)

    def _raw(self, view: Any) -> np.ndarray:
        return self._blocks.array(view.data, np.uint8, (view.rows, view.row_bytes))

    def _input(self, name: str) -> Any:
        view = _c.fovea_view()
        call("fovea_session_get_input", self.address, self.value(name).index, ctypes.byref(view),
             doing=f"input '{name}'")
        return view

    @_alone
    def input(self, name: str) -> np.ndarray:
        """A view to write an input of the next run, [rows, width]. Valid until segments are set again. numpy lacks bf16
        and i8 with scales: `write` converts."""
        view = self._input(name)
        if view.type in _COPIED:
            raise Error(f"input '{name}' is {TYPE_NAMES[view.type]}, which numpy lacks: write() converts",
                        _c.FOVEA_E_OPTION)
        return self._array(view)

    @_alone
    def write(self, name: str, rows: Any) -> None:
        """Writes an input: whole numbers for ids, else numbers; [rows, width], or [rows] if the width is 1."""
        view, array = self._input(name), checked_rows(self.value(name), rows)
        if array.shape != (view.rows, view.width):
            raise Error(f"input '{name}': shape {array.shape}, expected {(view.rows, view.width)}", _c.FOVEA_E_ROWS,
                        view.rows, array.shape[0])
        if view.type not in _COPIED:
            self._array(view)[...] = array
            return
        stored = (_bf16(array) if view.type == _c.FOVEA_TYPE_BF16 else
                  _quantised(array, (view.row_bytes - view.width) // 4))
        self._raw(view)[:, :stored.shape[1]] = stored

    @_alone
    def link(self, input: str, source: "Session", output: str) -> None:
        """Links an input to an output of another session's last run."""
        call("fovea_session_link", self.address, self.value(input).index, source.address, source.value(output).index,
             doing=f"input '{input}'")
        self._keep_alive.extend(source.ready())  # this session's address refers to them

    def run(self) -> "Session":
        """Runs the whole program. Inputs that were never written are zeros."""
        try:
            with self.running():
                rows = max(self._rows.values(), default=1)
                self.compute(rows, "fovea_session_run", self.address, doing=f"program '{self.program.name}'")
        except Error as error:
            if error.status == _c.FOVEA_E_ID and error.tensor < len(self.program.values):
                value = list(self.program.values.values())[error.tensor]
                raise Error(f"input '{value.name}': entry {error.index} is {ctypes.c_int32(error.found).value}, ids of "
                            f"the model are below {value.id_limit}", *_fields(error)) from None
            raise
        return self

    def compute(self, rows: int, function: str, *arguments: Any, doing: str) -> None:
        """Calls a function that runs this session over that many rows. In the main thread Ctrl-C ends a long one."""
        if is_long(rows, self.model.info["weight_bytes"]):
            address = self.address
            interruptible(lambda: call(function, *arguments, doing=doing),
                          lambda: library.fovea_session_cancel(address),
                          lambda: library.fovea_session_clear_cancel(address))
        else:
            call(function, *arguments, doing=doing)

    def cancel(self) -> None:
        """Called from another thread: the run in progress, or the next one if there is none, raises an Error of status
        FOVEA_E_CANCELLED."""
        library.fovea_session_cancel(self.address)

    @_alone
    def clear_cancel(self) -> None:
        """Between runs: clears a cancel request that came too late for its run."""
        library.fovea_session_clear_cancel(self.address)

    @_alone
    def reset(self) -> None:
        """Sets carried inputs to zero and empties cached texts."""
        call("fovea_session_reset", self.address)

    @_alone
    def save(self) -> bytes:
        """Carried inputs as bytes."""
        size = ctypes.c_uint64()
        call("fovea_session_saved_size", self.address, ctypes.byref(size))
        saved = np.empty(size.value, np.uint8)
        call("fovea_session_save", self.address, saved.ctypes.data, size.value)
        return saved.tobytes()

    @_alone
    def restore(self, saved: bytes) -> None:
        raw = np.frombuffer(bytes(saved) + b"\0", np.uint8)  # an empty array also needs an address
        call("fovea_session_restore", self.address, raw.ctypes.data, len(saved), doing="restore")

    # ---- After a run ----

    @_alone
    def output(self, name: str) -> np.ndarray:
        """An output or kept value of the last run, [rows, width]: a view of f32, i32 and f16; else a copy as f32."""
        view = _c.fovea_view()
        call("fovea_session_get_output", self.address, self.value(name).index, ctypes.byref(view),
             doing=f"output '{name}'")
        return self._array(view)

    @_alone
    def offsets(self, space: str) -> np.ndarray:
        """The offsets of a space's segments, and the end of the last one."""
        at, count = ctypes.c_void_p(), ctypes.c_uint32()
        call("fovea_session_get_segments", self.address, self.model.space(space).index, ctypes.byref(at),
             ctypes.byref(count), doing=f"segments of '{space}'")
        return self._blocks.array(at.value, np.uint32, (count.value + 1,)).copy()

    @_alone
    def attention_map(self, tap: Union[int, str] = 0) -> AttentionMap:
        """The attention map of a tap, by its index or name."""
        if isinstance(tap, str):
            names = [known.step for known in self.taps]
            if tap not in names:
                raise Error(f"no tap of '{tap}'; there are: {', '.join(names)}", _c.FOVEA_E_NAME)
            tap = names.index(tap)
        fitting(tap, ctypes.c_uint32, "tap")
        info = sized(_c.fovea_attention_map)
        call("fovea_session_get_attention_map", self.address, tap, ctypes.byref(info), doing=f"tap {tap}")
        spaces = list(self.model.spaces)
        common = (self._blocks.array(info.query_rows, np.uint32, (info.rows,)), info.heads,
                  self.offsets(spaces[info.query_space]), self.offsets(spaces[info.key_space]))
        if info.form == _c.FOVEA_TAP_DENSE:
            dense = self._blocks.array(info.data, np.float32, (info.rows, info.heads, info.stride))
            return AttentionMap(*common, dense)
        offsets = np.empty(info.rows * info.heads + 1, np.uint64)
        keys, values = np.empty(info.entries, np.uint32), np.empty(info.entries, np.float32)
        arrays = sized(_c.fovea_sparse_map, layout=_c.FOVEA_SPARSE_CSR, offset_capacity=len(offsets),
                       entry_capacity=len(keys), offsets=offsets.ctypes.data, keys=keys.ctypes.data,
                       values=values.ctypes.data)
        call("fovea_session_get_sparse_map", self.address, tap, ctypes.byref(arrays), doing=f"tap {tap}")
        return AttentionMap(*common, None, offsets, keys, values)


def _fields(error: Error) -> tuple:
    return error.status, error.expected, error.found, error.index, error.tensor


def _indices(numbers: Iterable[int]) -> Any:
    listed = list(numbers)
    return (ctypes.c_uint32 * len(listed))(*listed)


def _bound(space: str, limit: Any) -> Tuple[int, int]:
    """The most rows of a run, and of a segment."""
    what = f"limit of '{space}'"
    try:
        rows, longest = (limit, 0) if np.ndim(limit) == 0 else limit
    except ValueError:
        raise Error(f"{what}: a number of rows is needed, or (rows, rows of the longest segment)",
                    _c.FOVEA_E_OPTION) from None
    return fitting(rows, ctypes.c_uint32, what), fitting(longest, ctypes.c_uint32, what)


def threads_of(workers: Union[int, Threads]) -> Tuple[Optional[Threads], int]:
    if isinstance(workers, Threads):
        return workers, workers.count
    if workers == 1:
        return None, 1
    return Threads(workers), workers


def checked_rows(value: Value, rows: Any) -> np.ndarray:
    """Rows of an input as numbers of its type, [rows, width]."""
    try:
        array = np.asarray(rows)
    except ValueError:  # rows of different lengths
        raise Error(f"input '{value.name}': rows must have the width {value.width}") from None
    whole = value.type == "i32"
    if array.dtype.kind not in ("iu" if whole else "iuf") and array.size:
        raise Error(f"input '{value.name}': {array.dtype}, expected {'whole numbers' if whole else 'numbers'}")
    if array.ndim == 1 and value.width == 1 or array.size == 0:
        array = array.reshape(-1, value.width)
    if array.ndim != 2 or array.shape[1] != value.width:
        raise Error(f"input '{value.name}': shape {array.shape}, expected (rows, {value.width})")
    if whole and array.size and (array.min() < -2**31 or array.max() >= 2**31):
        raise Error(f"input '{value.name}': an id does not fit into 32 bits", _c.FOVEA_E_ID)
    return np.ascontiguousarray(array, np.int32 if whole else np.float32)
