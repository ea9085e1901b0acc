"""The shared libraries, calls that raise, and memory."""

import ctypes
import os
import pathlib
from typing import Any, Optional

import numpy as np

from . import _c


class Error(Exception):
    """What the library, or this package before it, refuses.

    `status` is the library's code (`fovea.status.FOVEA_E_..`), `name` its name. `expected`, `found`, `byte` and
    `tensor` are those of fovea_error.
    """

    def __init__(self, text: str, status: int = _c.FOVEA_E_ARGUMENT, expected: int = 0, found: int = 0, byte: int = 0,
                 tensor: int = _c.FOVEA_NOWHERE):
        super().__init__(text)
        self.status = status
        self.name = library.fovea_status_name(status).decode()
        self.expected, self.found, self.byte, self.tensor = expected, found, byte, tensor

    @property
    def kind(self) -> int:
        """The class of the status: one of FOVEA_E_ARGUMENT .. FOVEA_E_INTERNAL."""
        return self.status & 0xff


def _load(name: str, version: str) -> ctypes.CDLL:
    """From the folder that FOVEA_LIBRARY_DIR names (a build folder, too), else this package's own, else the
    system's."""
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
except OSError:  # then there is one worker
    port = None


def call(function: str, *arguments: Any, doing: str = "") -> None:
    """Calls a function whose last parameter is an error record, and raises what it says."""
    error = _c.fovea_error()
    status = getattr(library, function)(*arguments, ctypes.byref(error))
    if status == _c.FOVEA_OK:
        return
    name = library.fovea_status_name(status).decode()
    text = error.text.decode() if error.text else name
    numbers = f", expected {error.expected}, found {error.found}" if error.expected or error.found else ""
    raise Error(f"{doing}: {text}{numbers} ({name})" if doing else f"{text}{numbers} ({name})", status, error.expected,
                error.found, error.byte, error.tensor)


def look(function: str, *arguments: Any, doing: str = "") -> None:
    """The same for functions without an error record."""
    status = getattr(library, function)(*arguments)
    if status != _c.FOVEA_OK:
        name = library.fovea_status_name(status).decode()
        raise Error(f"{doing or function}: {name}", status)


def sized(struct: type, **fields: Any) -> Any:
    """A struct with its struct_size and these fields."""
    made = struct(**fields)
    made.struct_size = ctypes.sizeof(struct)
    return made


def text_of(raw: Optional[bytes]) -> str:
    return "" if raw is None else raw.decode("utf-8", "replace")


def written_text(capacity: int, function: str, *arguments: Any, doing: str = "") -> str:
    """What a function writes whose last parameters are a buffer, its size and how much of it is text. It is called
    again if the text is longer than `capacity` bytes; what is no whole character is U+FFFD."""
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
    """`size` zeros with an alignment of 64. Arrays that are views of it keep it alive."""
    try:
        block = np.zeros(size + 63, np.uint8)
    except (MemoryError, ValueError):
        raise Error(f"cannot get {size} bytes of memory", _c.FOVEA_E_MEMORY) from None
    first = -block.ctypes.data % 64
    return block[first:first + size]


class Blocks:
    """Blocks that the library asks for, and arrays over what its pointers into them say."""

    def __init__(self) -> None:
        self.blocks: list = []

    def add(self, block: np.ndarray) -> int:
        """The address of a block that is from now on kept."""
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


class Handle:
    """Something that can be closed, and says so when it is used afterwards."""

    _address: Optional[int] = None
    _called = "this is"

    @property
    def address(self) -> int:
        if self._address is None:
            raise Error(f"{self._called} closed", _c.FOVEA_E_HANDLE)
        return self._address

    @property
    def closed(self) -> bool:
        return self._address is None

    def close(self) -> None:
        """Gives its memory back, but what arrays still show."""
        self._address = None

    def __enter__(self):
        self.address
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


class Threads(Handle):
    """Threads that sessions run on, from the port that is built beside the library. Sessions may share them if they do
    not run at the same time."""

    _called = "these threads are"

    def __init__(self, count: int):
        if port is None:
            raise Error("libfovea_port is not there: sessions have one worker", _c.FOVEA_E_BUILD)
        if not 1 <= count <= 64:
            raise Error(f"{count} workers: 1 to 64 are possible", _c.FOVEA_E_OPTION)
        self._address = port.fovea_port_start(count)
        if self._address is None:
            raise Error(f"{count} threads cannot be had", _c.FOVEA_E_MEMORY)
        self.count: int = port.fovea_port_count(self._address)

    def close(self) -> None:
        if self._address is not None:
            port.fovea_port_stop(self._address)
        self._address = None

    def __del__(self) -> None:
        self.close()
