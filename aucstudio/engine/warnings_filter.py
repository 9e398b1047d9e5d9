"""Suppress convergence warnings that the notes of a fit already state."""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Iterator

_filters = contextlib.ExitStack()
_lock = threading.Lock()
_quiet_fits = 0


@contextlib.contextmanager
def without_convergence_warnings() -> Iterator[None]:
    """Ignore them meanwhile.

    Warning filters belong to the whole process, so that fits which overlap in several threads
    must share one change of them: the first makes it, the last takes it back.
    """
    from sklearn.exceptions import ConvergenceWarning

    global _quiet_fits
    with _lock:
        if _quiet_fits == 0:
            _filters.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore", ConvergenceWarning)
        _quiet_fits += 1
    try:
        yield
    finally:
        with _lock:
            _quiet_fits -= 1
            if _quiet_fits == 0:
                _filters.close()
