"""Convert plain data to declared types, with checks."""

from __future__ import annotations

import threading
from typing import TypeVar

import msgspec

T = TypeVar("T")

# A type is looked through when it is first met, and a second thread that comes for it meanwhile
# crashes on what has been noted of it so far: msgspec 0.22, whose functions are meant to be safe
# (https://github.com/msgspec/msgspec/issues/401). It holds the interpreter anyway, so that waiting
# for each other costs the threads nothing.
_one_at_a_time = threading.RLock()


def convert(document: object, kind: type[T]) -> T:
    """Make plain data into a value of a type.

    Raises
    ------
    msgspec.ValidationError
        If it is not laid out as one; the sentence names the place.
    """
    with _one_at_a_time:
        return msgspec.convert(document, kind)


def decode(text: str | bytes | bytearray, kind: type[T]) -> T:
    """Read JSON as a value of a type.

    Raises
    ------
    msgspec.MsgspecError
        If it is no JSON, or not laid out as one.
    """
    with _one_at_a_time:
        return msgspec.json.decode(text, type=kind)
