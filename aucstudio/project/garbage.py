"""Keeping Python's cyclic collector away while a background thread makes many objects.

The collector runs on whichever thread asks for memory. What it destroys there may belong to the
window, and a window's objects must not end on another thread: that can stop both for ever.
"""

from __future__ import annotations

import contextlib
import gc
import threading
from collections.abc import Iterator

_lock = threading.Lock()
_users = 0
_was_on = False


@contextlib.contextmanager
def without_collection() -> Iterator[None]:
    """Switch the collector off until the last of those who asked for it has ended."""
    global _users, _was_on
    with _lock:
        if not _users:
            _was_on = gc.isenabled()
            gc.disable()
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if not _users and _was_on:
                gc.enable()
