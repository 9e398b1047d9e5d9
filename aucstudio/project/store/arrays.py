"""Single arrays as bytes, in numpy's own format and never as pickle."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray


def array_to_bytes(array: NDArray[Any]) -> bytes:
    """Write one array in numpy's own format, never as pickle."""
    target = io.BytesIO()
    np.lib.format.write_array(target, np.ascontiguousarray(array), allow_pickle=False)
    return target.getvalue()


def array_from_bytes(data: bytes) -> NDArray[Any]:
    """Read what :func:`array_to_bytes` wrote; refuses anything that would need unpickling."""
    array: NDArray[Any] = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    return array
