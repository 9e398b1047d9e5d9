"""Errors in overridden methods of Qt classes."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import FunctionType
from typing import ParamSpec, TypeVar

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QGraphicsItem

P = ParamSpec("P")
Result = TypeVar("Result")


def catch_errors_of_overrides(package: str) -> None:
    """Catch and raise again the errors in overridden methods of a package's Qt classes.

    Before Python 3.12 an error raised by C code, such as an index out of range, is a type and a
    text until it is caught. Where Python has called the Qt method that calls the override, PySide
    6.11 takes the text for an exception and ends the program.

    Parameters
    ----------
    package : str
        Its modules that have been imported are searched; a second call finds later ones.
    """
    if sys.version_info >= (3, 12):
        return
    for name, module in [*sys.modules.items()]:
        if name.startswith(f"{package}."):
            for kind in [*vars(module).values()]:
                is_qt = isinstance(kind, type) and issubclass(kind, (QObject, QGraphicsItem))
                if is_qt and kind.__module__ == name:
                    _catch_errors(kind)


@functools.cache
def _catch_errors(kind: type) -> None:
    qt = [base for base in kind.__mro__ if base.__module__.startswith("PySide6.")]
    for name, found in [*vars(kind).items()]:
        is_override = isinstance(found, FunctionType) and any(name in vars(base) for base in qt)
        if is_override and not name.startswith("__"):
            setattr(kind, name, _catching(found))


def _catching(function: Callable[P, Result]) -> Callable[P, Result]:
    @functools.wraps(function)
    def call(*arguments: P.args, **named: P.kwargs) -> Result:
        try:
            return function(*arguments, **named)
        except Exception:
            raise  # an exception now

    return call
