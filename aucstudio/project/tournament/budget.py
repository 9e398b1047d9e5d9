"""How long a tournament may take, and whether somebody wants it to end."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable


@dataclasses.dataclass(eq=False)
class Budget:
    """Time to be spent, looked at between units of work only.

    Attributes
    ----------
    seconds : float
    stopped : callable
        Tells whether a person wants it to end, which is heeded at once.
    clock : callable
        Gives seconds.
    """

    seconds: float = math.inf
    stopped: Callable[[], bool] = lambda: False
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self._began = self.clock()

    @property
    def limit(self) -> float | None:
        """Its seconds; None where there is no end to them."""
        return self.seconds if math.isfinite(self.seconds) else None

    @property
    def spent(self) -> float:
        """Seconds since it was made."""
        return self.clock() - self._began

    def is_over(self, reserve: float = 0.0) -> bool:
        """Tell whether nothing more may begin; ``reserve`` is needed for what comes after."""
        return self.stopped() or self.spent + reserve >= self.seconds
