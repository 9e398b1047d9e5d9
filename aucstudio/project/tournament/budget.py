"""How long a tournament may take, and whether somebody wants it to end."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable


@dataclasses.dataclass(eq=False)
class Budget:
    """The time to be spent.

    Attributes
    ----------
    seconds : float
    stopped : callable
        Returns whether a person wants it to end.
    clock : callable
        Returns seconds.
    head_start : float
        Seconds that were spent before.
    """

    seconds: float = math.inf
    stopped: Callable[[], bool] = lambda: False
    clock: Callable[[], float] = time.monotonic
    head_start: float = 0.0

    def __post_init__(self) -> None:
        self._began = self.clock()

    @property
    def limit(self) -> float | None:
        """The seconds; None without a limit."""
        return self.seconds if math.isfinite(self.seconds) else None

    @property
    def spent(self) -> float:
        """Seconds since it began."""
        return self.head_start + self.clock() - self._began

    def is_over(self, reserve: float = 0.0) -> bool:
        """Return whether nothing more may begin; ``reserve`` seconds are needed afterwards."""
        return self.stopped() or self.spent + reserve >= self.seconds
