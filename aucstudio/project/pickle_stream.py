"""Send objects through a pipe, arrays as raw bytes."""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Collection
from typing import IO, Any

_WINDOW = 20_000


def send(stream: IO[bytes], thing: Any) -> None:
    """Write an object for :func:`receive` to read; arrays of numbers are not copied."""
    arrays: list[pickle.PickleBuffer] = []
    rest = io.BytesIO()
    _Pickler(rest, protocol=5, buffer_callback=arrays.append).dump(thing)
    parts = [array.raw() for array in arrays]
    pickle.dump((rest.getbuffer().tobytes(), [part.nbytes for part in parts]), stream, protocol=5)
    for part in parts:
        stream.write(part)
    stream.flush()


def receive(stream: IO[bytes], allowed: Collection[type] | None = None) -> Any:
    """Read the next object.

    Parameters
    ----------
    stream : binary file
    allowed : collection of type, optional
        The only classes of which the object may be made, besides numbers, texts, tuples, lists,
        sets and dicts. Without it every class is accepted, so the other end must be trusted.

    Raises
    ------
    EOFError
        If the other end has closed.
    RefusedObjectError
        If the object is made of another class.
    """
    try:
        if allowed is not None:
            rest, sizes = _PlainUnpickler(stream, ()).load()
            if sizes:
                raise RefusedObjectError("arrays")
            return _PlainUnpickler(io.BytesIO(rest), allowed).load()
        rest, sizes = pickle.load(stream)  # noqa: S301  (the caller trusts the other end)
    except pickle.UnpicklingError as error:
        raise EOFError from error  # it ends in the middle
    return pickle.loads(rest, buffers=[_read(stream, size) for size in sizes])  # noqa: S301


def portable(error: Exception) -> Exception:
    """Return the error, or its sentence where the error cannot be sent to another process."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301  (written by this program)
    except Exception:  # noqa: BLE001  (errors of libraries fail in all ways)
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


class RefusedObjectError(Exception):
    """An object is made of a class that was not allowed."""


class _PlainUnpickler(pickle.Unpickler):
    """Reads objects of the given classes only, so that reading runs no other code."""

    def __init__(self, stream: IO[bytes], allowed: Collection[type]) -> None:
        super().__init__(stream)
        self._allowed = {(one.__module__, one.__qualname__): one for one in allowed}

    def find_class(self, module: str, name: str) -> Any:
        try:
            return self._allowed[module, name]
        except KeyError:
            raise RefusedObjectError(f"{module}.{name}") from None


class _Pickler(pickle.Pickler):
    """Pickles long columns of text in windows: one pass would hold the interpreter too long."""

    def reducer_override(self, thing: Any) -> Any:
        # A process that has not loaded NumPy holds no arrays, and need not load it for this.
        np: Any = sys.modules.get("numpy")
        if (
            np is not None
            and isinstance(thing, np.ndarray)
            and thing.dtype == object
            and len(thing) > _WINDOW
        ):
            starts = range(0, len(thing), _WINDOW)
            return np.concatenate, ([thing[start : start + _WINDOW] for start in starts],)
        return NotImplemented


def _read(stream: IO[bytes], size: int) -> Any:
    import numpy as np

    part = np.empty(size, dtype=np.uint8)
    rest = part.data
    while len(rest):
        count = stream.readinto(rest)  # type: ignore[attr-defined]
        if not count:
            raise EOFError
        rest = rest[count:]
    return part
