"""Arrays in numpy's format, without pickle, checked before loading."""

from __future__ import annotations

import dataclasses
import io
import math
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Numpy writes this and nothing else for plain arrays in C order.
_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00(?P<length>..)\{'descr': '(?P<type>[<>|][biufU]\d{1,6})', "
    rb"'fortran_order': False, 'shape': \((?P<shape>\d{1,18}(?:, \d{1,18}){0,2}),?\), \} *\n",
    re.DOTALL,
)
_BEFORE_LENGTH = 10
# As much of a file as holds its header.
HEAD_BYTES = 512
_LAST_CODE_POINT = 0x10FFFF


@dataclasses.dataclass(frozen=True)
class ArrayHeader:
    """The header of a stored array.

    Attributes
    ----------
    dtype : dtype
        Of numbers, truth values or text.
    shape : tuple of int
        Of one to three sizes.
    start : int
        Where the numbers begin.
    """

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    start: int

    @property
    def size(self) -> int:
        """Bytes of the whole."""
        return self.start + math.prod(self.shape) * self.dtype.itemsize


def array_to_bytes(array: NDArray[Any]) -> bytes:
    """Write one array in numpy's own format, never as pickle."""
    target = io.BytesIO()
    np.lib.format.write_array(target, np.ascontiguousarray(array), allow_pickle=False)
    return target.getvalue()


def array_header(data: bytes | bytearray) -> ArrayHeader:
    """Read the header that :func:`array_to_bytes` wrote.

    Raises
    ------
    ValueError
        If it is no header of a plain array.
    """
    found = _HEADER.match(data)
    if found is None or found.end() != _BEFORE_LENGTH + int.from_bytes(found["length"], "little"):
        raise ValueError("an array has an unknown header")
    try:
        dtype = np.dtype(found["type"].decode())
    except TypeError as error:
        raise ValueError(f"an array has an unknown type: {error}") from error
    return ArrayHeader(dtype, tuple(map(int, found["shape"].split(b", "))), found.end())


def array_from_bytes(data: bytes | bytearray) -> NDArray[Any]:
    """Read what :func:`array_to_bytes` wrote; the array of a bytearray shares its memory.

    Raises
    ------
    ValueError
        If it is no plain array, or does not match its header.
    """
    header = array_header(data)
    if len(data) != header.size:
        raise ValueError(f"an array has {len(data)} bytes, and {header.size} by its header")
    if not math.prod(header.shape) * header.dtype.itemsize:
        return np.empty(header.shape, header.dtype)
    array: NDArray[Any] = np.frombuffer(data, header.dtype, offset=header.start)
    _require_values(array)
    if isinstance(data, bytes) or not array.flags.aligned:
        array = array.copy()
    return array.reshape(header.shape)


def _require_values(array: NDArray[Any]) -> None:
    if array.dtype.kind == "b" and array.view(np.uint8).max() > 1:
        raise ValueError("a boolean array holds other values")
    if array.dtype.kind == "U":
        points = array.view(np.dtype("u4").newbyteorder(array.dtype.byteorder))
        if points.max() > _LAST_CODE_POINT:
            raise ValueError("a text array holds other values")
