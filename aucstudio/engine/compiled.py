"""Compilation of loops by numba, without the interpreter's lock."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])


class Compiled:
    """A function that is compiled when it is first called.

    The compiler itself takes half a second to load, which programs that call none save.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self._function = function

    def __call__(self, *arguments: Any) -> Any:
        """Call the compiled function."""
        return self.compiled(*arguments)

    @functools.cached_property
    def compiled(self) -> Any:
        """The function as numba compiles it."""
        import numba

        from aucstudio.engine.code_cache import CodeCache

        compiled: Any = numba.njit(nogil=True, error_model="numpy")(self._function)
        # Without a folder that the machine code could be kept in, it is made at every start.
        with contextlib.suppress(RuntimeError):
            compiled._cache = CodeCache(self._function)
        return compiled

    @property
    def _numba_type_(self) -> Any:
        """Return the type by which a compiled function can call another one."""
        return self.compiled._numba_type_


def kernel(function: F) -> F:
    """Compile a function of arrays and numbers so that the window runs on while it does.

    The machine code is kept on disk where there is a folder for it: then only the first call
    after an installation waits for the compiler. Floating-point operations keep their order, so
    that results repeat bit for bit.
    """
    return cast("F", Compiled(function))
