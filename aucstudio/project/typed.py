"""Convert data from outside to declared types, with validation."""

from __future__ import annotations

import dataclasses
import math
import threading
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

# msgspec 0.22 inspects a type at its first use and crashes if a second thread uses it meanwhile
# (https://github.com/msgspec/msgspec/issues/401). It holds the interpreter anyway, so that the lock
# costs nothing.
_one_at_a_time = threading.RLock()


def convert(document: object, kind: type[T]) -> T:
    """Convert plain data to a type; msgspec.ValidationError names the invalid place."""
    with _one_at_a_time:
        return msgspec.convert(document, kind)


def decode(text: str | bytes | bytearray, kind: type[T]) -> T:
    """Decode JSON to a type; msgspec.MsgspecError if it is invalid."""
    with _one_at_a_time:
        return msgspec.json.decode(text, type=kind)


def with_tuples(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings whose lists, as JSON has them, are tuples."""
    return {n: tuple(value) if isinstance(value, list) else value for n, value in settings.items()}


def plain(value: Any, *left_out: str) -> Any:
    """Return a dataclass without some of its fields as plain data for JSON.

    What has an ``as_json`` is what that returns; a number that JSON lacks is null.
    """
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list | tuple):
        return [_inner(one) for one in value]
    if isinstance(value, dict):
        return {name: _inner(one) for name, one in value.items()}
    if not dataclasses.is_dataclass(value):
        return value
    names = (field.name for field in dataclasses.fields(value) if field.name not in left_out)
    return {name: _inner(getattr(value, name)) for name in names}


def _inner(value: Any) -> Any:
    return value.as_json() if hasattr(value, "as_json") else plain(value)


class Sendable:
    """Base of the dataclasses that a child process may be allowed to send.

    Its ``__setstate__`` keeps a crafted pickle from setting attributes of the class itself.
    """

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
