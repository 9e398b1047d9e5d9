"""How loops that numpy cannot express are compiled: without the interpreter's lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile a function of arrays and numbers so that the window runs on while it does.

    The machine code is kept on disk: only the first call after an installation waits for the
    compiler. Floating-point operations keep their order, so that results repeat bit for bit.
    """
    return cast("F", numba.njit(nogil=True, cache=True, error_model="numpy")(function))
