"""Long calls that a signal can end."""

import _thread
import threading
from typing import Any, Callable, Dict, List, Optional

_WORK = 1e8  # rows times bytes of weights: shorter runs take a few milliseconds and are called directly
_POLL = 0.2  # seconds, for systems on which a signal does not wake the main thread


def is_long(rows: int, weight_bytes: int) -> bool:
    return rows * weight_bytes > _WORK and threading.current_thread() is threading.main_thread()


def interruptible(function: Callable[[], None], cancel: Callable[[], None], clear: Callable[[], None]) -> None:
    """Calls a function of the library in another thread while this one, the main thread, waits: Python runs handlers of
    signals only in the main thread, and not during a call of a library. If a handler raises, such as that of Ctrl-C,
    the call is cancelled, which takes one tile of rows, and the exception continues when it has ended."""
    failed: List[Optional[BaseException]] = []
    claims: Dict[str, str] = {}  # which thread came first
    finished: List[bool] = []
    done = _thread.allocate_lock()
    done.acquire()

    def work() -> None:
        if claims.setdefault("first", "helper") != "helper":
            return
        try:
            function()
        except BaseException as error:  # raised again in the main thread
            failed.append(error)
        finished.append(True)
        done.release()

    def wait() -> None:
        while not finished:
            done.acquire(timeout=_POLL)

    try:
        try:
            _thread.start_new_thread(work, ())
        except RuntimeError:  # the interpreter ends, or the system has no more threads
            work()
        wait()
    except BaseException:
        if claims.setdefault("first", "main") == "helper":
            cancel()
            _shielded(wait)
            clear()
        raise
    if failed:
        raise failed[0]  # type: ignore[misc]


def _shielded(wait: Callable[[], Any]) -> None:
    """Waits through further signals: the library still uses the memory of the run."""
    while True:
        try:
            wait()
            return
        except BaseException:
            continue
