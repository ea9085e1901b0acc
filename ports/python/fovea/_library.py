"""The shared libraries, calls that raise, and memory."""

import contextlib
import ctypes
import operator
import os
import pathlib
import threading
from typing import Any, Dict, Iterable, Iterator, List, Optional, Type

import numpy as np

from . import _c


class Error(Exception):
    """An error of the library, or of this package.

    `status` is the library's code (`fovea.status.FOVEA_E_...`), `name` its name. `expected`, `found`, `index` and
    `tensor` are fields of fovea_error.
    """

    def __init__(self, text: str, status: int = _c.FOVEA_E_ARGUMENT, expected: int = 0, found: int = 0, index: int = 0,
                 tensor: int = _c.FOVEA_NOWHERE):
        super().__init__(text)
        self.status = status
        self.name = library.fovea_status_name(status).decode()
        self.expected, self.found, self.index, self.tensor = expected, found, index, tensor

    @property
    def kind(self) -> int:
        """The class of the status: one of FOVEA_E_ARGUMENT to FOVEA_E_INTERNAL."""
        return self.status & 0xff


def _load(name: str, version: str) -> ctypes.CDLL:
    """Loads a library from the folder in FOVEA_LIBRARY_DIR (also a build folder), else from this package, else from the
    system."""
    given = os.environ.get("FOVEA_LIBRARY_DIR")
    folders = [pathlib.Path(given) / sub for sub in ("", "runtime", "ports", "lib")] if given else []
    folders.append(pathlib.Path(__file__).parent / "lib")
    for folder in folders:
        for file in (f"lib{name}.so{version}", f"lib{name}.so", f"lib{name}.dylib"):
            if (folder / file).exists():
                return ctypes.CDLL(str(folder / file))
    return ctypes.CDLL(f"lib{name}.so{version}")


def _declared(loaded: ctypes.CDLL) -> ctypes.CDLL:
    for name, (result, arguments) in _c.FUNCTIONS.items():
        if hasattr(loaded, name):
            function = getattr(loaded, name)
            function.restype, function.argtypes = result, arguments
    return loaded


library = _declared(_load("fovea", f".{_c.FOVEA_VERSION_MAJOR}"))
_versions = tuple(int(number) for number in library.fovea_version().decode().split("."))
if _versions[:2] != (_c.FOVEA_VERSION_MAJOR, _c.FOVEA_VERSION_MINOR):
    raise ImportError(f"the library found is fovea {library.fovea_version().decode()}, this package is for "
                      f"{_c.FOVEA_VERSION_MAJOR}.{_c.FOVEA_VERSION_MINOR}")
try:
    port: Optional[ctypes.CDLL] = _declared(_load("fovea_port", ""))
except OSError:  # without it there is one worker
    port = None


def call(function: str, *arguments: Any, doing: str = "") -> None:
    """Calls a function whose last parameter is an error record, and raises its error."""
    error = _c.fovea_error()
    status = getattr(library, function)(*arguments, ctypes.byref(error))
    if status == _c.FOVEA_OK:
        return
    name = library.fovea_status_name(status).decode()
    text = error.text.decode() if error.text else name
    if status == _c.FOVEA_E_UTF8:
        text += f", from byte {error.index}"
    numbers = f", expected {error.expected}, found {error.found}" if error.expected or error.found else ""
    raise Error(f"{doing}: {text}{numbers} ({name})" if doing else f"{text}{numbers} ({name})", status, error.expected,
                error.found, error.index, error.tensor)


def look(function: str, *arguments: Any, doing: str = "") -> None:
    """The same for functions without an error record."""
    status = getattr(library, function)(*arguments)
    if status != _c.FOVEA_OK:
        name = library.fovea_status_name(status).decode()
        raise Error(f"{doing or function}: {name}", status)


_WHOLE = (ctypes.c_int32, ctypes.c_uint8, ctypes.c_uint32, ctypes.c_uint64)


def fitting(number: Any, ctype: type, what: str) -> Any:
    """The number, if it fits a C integer of this type: ctypes would truncate it to its low bits, and refuses numpy's
    integers."""
    if ctype not in _WHOLE or number is None:
        return number
    try:
        number = operator.index(number)
        if ctype(number).value == number:
            return number
    except TypeError:
        raise Error(f"{what}: a whole number is needed, not {number!r}", _c.FOVEA_E_OPTION) from None
    bits = 8 * ctypes.sizeof(ctype)
    raise Error(f"{what}: {number} does not fit into {bits} bits{'' if ctype is ctypes.c_int32 else ' without a sign'}",
                _c.FOVEA_E_OPTION)


def sized(struct: Type[ctypes.Structure], **fields: Any) -> Any:
    """A struct with its struct_size and these fields."""
    types: Dict[str, Any] = dict(struct._fields_)  # type: ignore[arg-type]
    made = struct(**{name: fitting(value, types[name], name) for name, value in fields.items()})
    made.struct_size = ctypes.sizeof(struct)
    return made


def text_of(raw: Optional[bytes]) -> str:
    return "" if raw is None else raw.decode("utf-8", "replace")


def written_text(capacity: int, function: str, *arguments: Any, doing: str = "") -> str:
    """The output of a function whose last parameters are a buffer, its size and the number of bytes written. It is
    called again if the text is longer than `capacity` bytes; incomplete characters become U+FFFD."""
    written, output = ctypes.c_uint64(), np.empty(capacity, np.uint8)
    for turn in range(2):
        try:
            call(function, *arguments, output.ctypes.data, len(output), ctypes.byref(written), doing=doing)
            break
        except Error as error:
            if error.status != _c.FOVEA_E_CAPACITY or turn == 1:
                raise
            output = np.empty(error.expected, np.uint8)
    return output[:written.value].tobytes().decode("utf-8", "replace")


def aligned(size: int) -> np.ndarray:
    """`size` zero bytes with an alignment of 64. Arrays that are views of it keep it alive."""
    try:
        block = np.zeros(size + 63, np.uint8)
    except (MemoryError, ValueError):
        raise Error(f"cannot get {size} bytes of memory", _c.FOVEA_E_MEMORY) from None
    first = -block.ctypes.data % 64
    return block[first:first + size]


class Blocks:
    """Blocks that the library requests, and arrays that are views of them."""

    def __init__(self) -> None:
        self.blocks: list = []

    def add(self, block: np.ndarray) -> int:
        """Keeps a block and returns its address."""
        self.blocks.append(block)
        return block.ctypes.data

    def make(self, size: int) -> Optional[int]:
        return self.add(aligned(size)) if size else None

    def array(self, address: Optional[int], dtype: Any, shape: tuple, row_bytes: int = 0) -> np.ndarray:
        """A view, without a copy, that keeps its block alive."""
        dtype = np.dtype(dtype)
        if 0 in shape or not address:
            return np.empty(shape, dtype)
        strides = None
        if row_bytes:
            strides = (row_bytes,) + tuple(dtype.itemsize for _ in shape[1:])
        for block in self.blocks:
            offset = address - block.ctypes.data
            if 0 <= offset < block.nbytes:
                return np.ndarray(shape, dtype, buffer=block, offset=offset, strides=strides)
        raise Error("the library's memory is not where it was expected", _c.FOVEA_E_INTERNAL)


class Address(int):
    """An address in the library, with the memory that it needs: a call that holds one keeps the memory alive, even if
    another thread closes the handle meanwhile."""

    memory: List[Any]

    @staticmethod
    def of(handle: Optional[int], memory: Iterable[Any]) -> "Address":
        made = Address(handle or 0)
        made.memory = list(memory)
        return made


class Handle:
    """An object that can be closed, and raises an Error when used afterwards. It cannot be copied or sent to another
    process: a copy would refer to the same memory of the library."""

    _address: Optional[Address] = None
    _called = "this is"
    _instead = "make another one"

    @property
    def address(self) -> Address:
        address = self._address
        if address is None:
            raise Error(f"{self._called} closed", _c.FOVEA_E_HANDLE)
        return address

    @property
    def closed(self) -> bool:
        return self._address is None

    def close(self) -> None:
        """Frees its memory, except blocks that arrays still view."""
        self._address = None

    def __enter__(self):
        self.address
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __getstate__(self) -> Any:
        raise TypeError(f"{type(self).__name__} objects cannot be copied or pickled: {self._instead}")


class Threads(Handle):
    """Threads for sessions, from the port that is built with the library. Sessions may share them: if two run at the
    same time, the second one waits."""

    _called = "these threads are"
    _instead = "threads belong to their process; make Threads there"

    def __init__(self, count: int):
        if port is None:
            raise Error("libfovea_port is missing: sessions have one worker", _c.FOVEA_E_BUILD)
        count = fitting(count, ctypes.c_uint32, "workers")
        if not 1 <= count <= 64:
            raise Error(f"{count} workers: 1 to 64 are possible", _c.FOVEA_E_OPTION)
        self._turn = threading.RLock()
        self._process, self._getpid, self._stop = os.getpid(), os.getpid, port.fovea_port_stop
        started = port.fovea_port_start(count)
        if started is None:
            raise Error(f"cannot start {count} threads", _c.FOVEA_E_MEMORY)
        self._address = Address.of(started, [])
        self.count: int = port.fovea_port_count(self._address)

    def __repr__(self) -> str:
        return f"<fovea.Threads {'closed' if self.closed else self.count}>"

    @property
    def address(self) -> Address:
        address = super().address
        if self._process != self._getpid():
            raise Error("these threads belong to the process that forked this one, and do not run here: make "
                        "Threads and sessions after the fork", _c.FOVEA_E_HANDLE)
        return address

    @contextlib.contextmanager
    def turn(self) -> Iterator[None]:
        """Holds them while one session runs on them."""
        self.address
        with self._turn:
            self.address  # they may have been closed in the meantime
            yield

    def close(self) -> None:
        """Ends them; waits for a run that uses them."""
        if self._address is None:
            return
        if self._process != self._getpid():  # a forked process has none to wait for
            self._address = None
            return
        with self._turn:
            address, self._address = self._address, None
            if address is not None:
                self._stop(address)

    def __del__(self) -> None:
        self.close()
