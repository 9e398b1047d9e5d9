"""Signals that ask the program to end."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import NoReturn

Handler = Callable[[int, FrameType | None], object]

# Ctrl+C in a terminal, the end of a service, and a terminal that is closed.
_ENDING = [
    found
    for name in ("SIGINT", "SIGTERM", "SIGHUP")
    if (found := getattr(signal, name, None)) is not None
]
_asked: list[int] = []


@contextlib.contextmanager
def in_order() -> Iterator[None]:
    """Make SIGTERM and SIGHUP unwind the program as Ctrl+C does, so that it cleans up."""
    _asked.clear()
    with _handled([number for number in _ENDING if number != signal.SIGINT], _leave):
        yield


@contextlib.contextmanager
def noted() -> Iterator[Callable[[], bool]]:
    """Record signals instead of acting on them; return a function that tests for one."""
    before = len(_asked)
    with _handled(_ENDING, lambda number, _frame: _asked.append(number)):
        yield lambda: len(_asked) > before


def exit_status() -> int:
    """Return the exit status after a signal: 130 for Ctrl+C."""
    return 128 + int(_asked[-1] if _asked else signal.SIGINT)


def end_at_once() -> None:
    """Make these signals end the program at once; for its start, when it has nothing to clean up.

    An exception during Qt's start would crash the program.
    """
    for number in _handleable(_ENDING):
        signal.signal(number, lambda number, _frame: os._exit(128 + number))


def handle_signals(verb: Callable[[int], object]) -> None:
    """Make these signals call a function with the exit status."""
    for number in _handleable(_ENDING):
        signal.signal(number, lambda number, _frame: verb(128 + number))


@contextlib.contextmanager
def _handled(numbers: list[signal.Signals], handler: Handler) -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in _handleable(numbers)}
    try:
        for number in before:
            signal.signal(number, handler)
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def _handleable(numbers: list[signal.Signals]) -> list[signal.Signals]:
    """Leave out signals that are ignored; on other threads than the main one return none."""
    if threading.current_thread() is not threading.main_thread():
        return []
    return [number for number in numbers if signal.getsignal(number) != signal.SIG_IGN]


def _leave(number: int, _frame: FrameType | None) -> NoReturn:
    _asked.append(number)
    raise SystemExit(128 + number)
