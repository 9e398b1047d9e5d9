"""A solver's reports to the monitor: every iteration, and now and then within a long one."""

from __future__ import annotations

import time
from collections.abc import Callable

from aucstudio.engine.monitor import Monitor

INTERVAL = 0.1


class Reporter:
    """When to tell the monitor, and whether it wants to stop.

    Parameters
    ----------
    monitor : Monitor
    tell : callable
        Tells it of the best point; True if it wants to stop.
    """

    def __init__(self, monitor: Monitor, tell: Callable[[], bool]) -> None:
        self._monitor, self._tell = monitor, tell
        self._last = time.perf_counter()

    def report(self) -> bool:
        """Return the monitor; True if it wants to stop."""
        if self._monitor.stopped:
            return True
        self._last = time.perf_counter()
        return self._tell()

    def stop(self) -> bool:
        """Report from within an iteration, if nothing was reported for a while."""
        if time.perf_counter() - self._last < INTERVAL:
            return self._monitor.stopped
        self._monitor.is_partial = True
        try:
            return self.report()
        finally:
            self._monitor.is_partial = False
