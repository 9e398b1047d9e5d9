"""How tables and results go from one process to another: large arrays as their bytes alone."""

from __future__ import annotations

import io
import pickle
from typing import IO, Any

import numpy as np

_WINDOW = 20_000


def send(stream: IO[bytes], thing: Any) -> None:
    """Write a thing for :func:`receive` to read; arrays of numbers are not copied for it."""
    arrays: list[pickle.PickleBuffer] = []
    rest = io.BytesIO()
    _Pickler(rest, protocol=5, buffer_callback=arrays.append).dump(thing)
    parts = [array.raw() for array in arrays]
    pickle.dump((rest.getbuffer().tobytes(), [part.nbytes for part in parts]), stream, protocol=5)
    for part in parts:
        stream.write(part)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """Read the next thing; both ends have to be this program.

    Raises
    ------
    EOFError
        If the other end is gone.
    """
    try:
        rest, sizes = pickle.load(stream)  # noqa: S301  (of this very program)
    except pickle.UnpicklingError as error:
        raise EOFError from error  # it broke off
    return pickle.loads(rest, buffers=[_read(stream, size) for size in sizes])  # noqa: S301


class _Pickler(pickle.Pickler):
    """Takes long columns of text in windows: one pass over them would hold the interpreter."""

    def reducer_override(self, thing: Any) -> Any:
        if isinstance(thing, np.ndarray) and thing.dtype == object and len(thing) > _WINDOW:
            starts = range(0, len(thing), _WINDOW)
            return np.concatenate, ([thing[start : start + _WINDOW] for start in starts],)
        return NotImplemented


def _read(stream: IO[bytes], size: int) -> np.ndarray:
    part = np.empty(size, dtype=np.uint8)
    rest = part.data
    while len(rest):
        count = stream.readinto(rest)  # type: ignore[attr-defined]
        if not count:
            raise EOFError
        rest = rest[count:]
    return part
