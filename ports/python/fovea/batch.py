"""One run over a batch, in a session of exactly its size."""

import dataclasses
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import _c
from ._library import Error, Threads
from ._notices import named
from .model import Model, Program, Value
from .session import AttentionMap, Session, Tap, checked_rows
from .text import Encoding


@dataclasses.dataclass(frozen=True)
class Ragged:
    """A ragged batch: rows divided into segments, without padding. `ragged[i]` is a view of segment i."""

    values: np.ndarray  #: [rows, width], or [rows]
    offsets: np.ndarray  #: [segments + 1] begin of each segment, and the end of the last

    @staticmethod
    def of(segments: Sequence[np.ndarray]) -> "Ragged":
        arrays = [np.asarray(segment) for segment in segments]
        return Ragged(np.concatenate(arrays) if arrays else np.empty(0), _offsets([len(array) for array in arrays]))

    @property
    def lengths(self) -> np.ndarray:
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        return f"<fovea.Ragged: {len(self)} segments, values {self.values.dtype}{list(self.values.shape)}>"

    def __getitem__(self, index: int) -> np.ndarray:
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        index %= len(self)
        return self.values[int(self.offsets[index]):int(self.offsets[index + 1])]

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self[i] for i in range(len(self)))


def _offsets(lengths: Sequence[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


class Result(Mapping):
    """Results of a run: outputs and kept values by name, as a matrix if the rows are texts, Ragged if they are divided
    into texts. Views of the memory of a separate session, so they do not change."""

    def __init__(self, session: Session, names: Iterable[str]):
        self.session = session
        self._names = list(names)
        self.encodings: Optional[List[Encoding]] = None  #: What `run_texts` read.

    def __copy__(self) -> "Result":
        copied = type(self)(self.session, self._names)
        copied.encodings = self.encodings
        return copied

    def __repr__(self) -> str:
        if self.session.closed:
            return "<fovea.Result, closed>"
        lines = [f"  {name}: {rows!r}" if isinstance(rows, Ragged) else f"  {name}: {rows.dtype}{list(rows.shape)}"
                 for name, rows in self.items()]
        maps = f"\n  attention maps: {', '.join(tap.step for tap in self.session.taps)}" if self.session.taps else ""
        return "\n".join(["<fovea.Result", *lines]) + maps + ">"

    def __getstate__(self) -> Any:
        raise TypeError("Result objects cannot be pickled or copied deeply, because they view a session's memory: "
                        "copy or pickle dict(result), which has the arrays")

    def __getitem__(self, name: str) -> Union[np.ndarray, Ragged]:
        value = self.session.value(name)
        rows = self.session.output(name)
        if self.session.model.spaces[value.space].parent is None:
            return rows
        return Ragged(rows, self.session.offsets(value.space))

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def attention_map(self, name: Union[int, str] = 0) -> AttentionMap:
        """The attention map that a tap recorded. Notebooks draw it."""
        recorded = self.session.attention_map(name)
        if self.encodings is None or any(one.sentences is not None for one in self.encodings):
            return recorded
        pieces = self.session.model.tokenizer.pieces
        return dataclasses.replace(recorded, labels=[pieces(one.ids) for one in self.encodings])


class Batch:
    """Inputs of a program, and the lengths of their segments."""

    def __init__(self, model: Model, program: Program, inputs: Mapping[str, Any],
                 segments: Optional[Mapping[str, Sequence[int]]] = None):
        self.model, self.program = model, program
        self.segments: Dict[str, List[int]] = {}  # by input space
        self.rows: Dict[str, np.ndarray] = {}
        given = {space: list(lengths) for space, lengths in (segments or {}).items()}
        seen: Dict[str, List[int]] = {}
        for name, data in inputs.items():
            value = model.value(program, name)
            if value.role != "input":
                raise Error(f"program '{program.name}' has no input '{name}'; its inputs are: "
                            f"{', '.join(program.inputs)}", _c.FOVEA_E_NAME)
            rows, lengths = self._ragged(value, data, given.get(value.space))
            if seen.setdefault(value.space, lengths) != lengths:
                raise Error(f"input '{name}' has segments of other lengths than other inputs of '{value.space}'",
                            _c.FOVEA_E_SEGMENTS)
            self.rows[value.name] = rows
        for space, lengths in {**given, **seen}.items():
            self._add_segments(space, lengths)
        self._add_defaults(seen)

    def _ragged(self, value: Value, data: Any, lengths: Optional[List[int]]) -> tuple:
        if isinstance(data, Ragged):
            return checked_rows(value, data.values), [int(length) for length in data.lengths]
        if self.model.spaces[value.space].parent is None or lengths is not None:
            rows = checked_rows(value, data)
            return rows, [len(rows)] if lengths is None else lengths
        if not isinstance(data, (Sequence, np.ndarray)) or isinstance(data, (str, bytes)):
            raise Error(f"input '{value.name}': a sequence with an array for each segment is needed")
        parts = [checked_rows(value, part) for part in data]
        rows = np.concatenate(parts) if parts else np.empty((0, value.width), np.float32)
        return rows, [len(part) for part in parts]

    def _add_segments(self, space: str, lengths: List[int]) -> None:
        """Sets lengths of the space or, if the model knows them, the number of rows of its parent."""
        info = self.model.space(space)
        if info.is_input:
            self.segments[space] = lengths
            return
        longest = info.max_segment_rows
        if info.parent is None or longest is None:
            raise Error(f"space '{space}' follows from another one and takes no inputs here")
        if any(length != longest for length in lengths):
            raise Error(f"space '{space}': the model has {longest} rows in each segment", _c.FOVEA_E_LENGTH, longest)
        parent, rows = self.model.spaces[info.parent], [len(lengths)]
        if parent.parent is not None:
            each = parent.max_segment_rows
            if parent.is_input or each is None or len(lengths) % each != 0:
                raise Error(f"space '{space}' is nested too deep")
            rows = [each] * (len(lengths) // each)
        self._add_segments(info.parent, rows)

    def _add_defaults(self, lengths: Mapping[str, List[int]]) -> None:
        """Adds inputs that are not given: token types are 0, other inputs are the metadata's default.NAME."""
        for name, value in self.program.inputs.items():
            if name in self.rows or value.carried_by is not None:
                continue
            default = self.model.metadata.get(f"default.{name}", "0" if name == "token_type_ids" else None)
            if default is None or value.type != "i32" or value.space not in lengths:
                raise Error(f"input '{name}' of program '{self.program.name}' is not given", _c.FOVEA_E_NAME)
            self.rows[name] = np.full((sum(lengths[value.space]), value.width), int(default), np.int32)

    def limits(self) -> Dict[str, Tuple[int, int]]:
        """Limits that fit exactly this batch."""
        limits = {}
        for space, lengths in self.segments.items():
            longest = 0 if self.model.spaces[space].parent is None else max(lengths, default=1) or 1
            limits[space] = (max(1, sum(lengths)), longest)
        for space, lengths in self.segments.items():  # parents whose segments are not given
            parent = self.model.spaces[space].parent
            if parent is not None:
                limits.setdefault(parent, (max(1, len(lengths)), 0))
        kept = (max((rows for rows, _ in limits.values()), default=1),
                max((longest for _, longest in limits.values()), default=1) or 1)
        for space, info in self.model.spaces.items():
            if info.is_cached:  # one run has all rows of a cached text
                limits[space] = kept
        return limits

    def bind(self, session: Session) -> None:
        for space, lengths in self.segments.items():
            session.set_segments(space, lengths)
        for name, rows in self.rows.items():
            session.write(name, rows)


@named
def run(model: Model, inputs: Mapping[str, Any], program: Optional[str] = None, *,
        segments: Optional[Mapping[str, Sequence[int]]] = None, keep: Iterable[str] = (),
        taps: Iterable[Union[str, Tap]] = (), workers: Union[int, Threads] = 1, tile_rows: int = 0) -> Result:
    """Runs a program once.

    `inputs`: for each input a list with an array for each text (or image, ...), a Ragged, or one array if the space
    has no parent or `segments` has its lengths; documents need `segments={"sentences": [2, 3]}`
    (sentences of each). `taps`: names of attention steps, or Taps.
    """
    if not isinstance(inputs, Mapping):
        raise Error("inputs must be a mapping of names to arrays")
    batch = Batch(model, model.program(program), inputs, segments)
    kept = [model.value(batch.program, name) for name in keep]
    session = Session(model, program, limits=batch.limits(), keep=[v.name for v in kept if v.role != "output"],
                      taps=[tap if isinstance(tap, Tap) else Tap(tap) for tap in taps], workers=workers,
                      tile_rows=tile_rows)
    batch.bind(session)
    session.run()
    return Result(session, [*batch.program.outputs, *(v.name for v in kept if v.role != "output")])
