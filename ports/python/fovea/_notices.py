"""Names of parameters that are checked with suggestions, and warnings that name the caller's line."""

import difflib
import functools
import inspect
import pathlib
import sys
import warnings
from typing import Any, Callable, Type, TypeVar

from . import _c
from ._library import Error

_PACKAGE = str(pathlib.Path(__file__).parent)
_Function = TypeVar("_Function", bound=Callable[..., Any])
_Class = TypeVar("_Class")


class OptionError(Error, TypeError):
    """A parameter that a function does not have."""

    def __init__(self, text: str, status: int = _c.FOVEA_E_OPTION, *numbers: int):
        super().__init__(text, status, *numbers)


class TruncationWarning(UserWarning):
    """A text, a document or a generated text is longer than the available room. The message has both numbers."""


class SpecialTokensWarning(UserWarning):
    """A text spells special tokens, such as "</s>", and they are read as such."""


class DefaultWarning(UserWarning):
    """The result depends on a choice that neither the caller nor the model's publisher has made explicitly."""


def _named(function: Callable, name: str) -> Callable:
    """The function, which refuses unknown keyword arguments with the closest known name."""
    parameters = [one for one in inspect.signature(function).parameters.values() if one.name != "self"]
    known = [one.name for one in parameters if one.kind in (one.KEYWORD_ONLY, one.POSITIONAL_OR_KEYWORD)]
    every = frozenset(known)

    @functools.wraps(function)
    def checked(*arguments: Any, **options: Any) -> Any:
        if not every.issuperset(options):
            wrong = next(option for option in options if option not in every)
            close = difflib.get_close_matches(wrong.lower(), known, 1)
            hint = f"did you mean '{close[0]}'?" if close else f"there are: {', '.join(known)}"
            raise OptionError(f"{name}() got an unexpected keyword argument '{wrong}'; {hint}")
        return function(*arguments, **options)
    return checked


def named(function: _Function) -> _Function:
    """Decorator of a function: a misspelled parameter is refused with a suggestion. Type checkers see the function."""
    return _named(function, function.__name__)  # type: ignore[return-value]


def named_fields(cls: Type[_Class]) -> Type[_Class]:
    """The same for the fields of a dataclass."""
    setattr(cls, "__init__", _named(cls.__init__, cls.__name__))
    return cls


def warn(text: str, category: Type[Warning]) -> None:
    """Warns, with the first line outside this package as the place."""
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)
