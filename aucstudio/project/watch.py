"""What a run tells while it goes: steps, and looks at the scorer that cost next to nothing."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.monitor import Step
from aucstudio.engine.scorers import Scorer
from aucstudio.project.prepare import Preparation
from aucstudio.project.record import SplitResult, TrainingCurve
from aucstudio.project.tuning import Search

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

# A look at the scorer costs a pass over the held-out rows: at most 1/25 of the time goes there.
_LOOK_EVERY = 1 / 15
_LOOK_SHARE = 25.0
_LOOK_ROWS = 2_000


@dataclasses.dataclass(frozen=True, eq=False)
class Look:
    """The scorer as it stands, on (a sample of) the held-out rows.

    Attributes
    ----------
    positive : ndarray of bool
    scores : ndarray of float
    scorer : Scorer
    """

    positive: Mask
    scores: Array
    scorer: Scorer


@dataclasses.dataclass(frozen=True, eq=False)
class Progress:
    """What a run tells while it goes.

    Attributes
    ----------
    split, splits : int
        Which fit is under way (from 0), and how many there are.
    step : Step or None
        The engine's step, without its scorer.
    seconds : float
        Time in this fit so far, without watching it.
    look : Look or None
        Present now and then.
    finished : SplitResult or None
        Present once at the end of each fit.
    preparation : Preparation
    search : Search or None
        Present while settings are searched: what was found so far.
    """

    split: int
    splits: int
    step: Step | None
    seconds: float
    preparation: Preparation
    look: Look | None = None
    finished: SplitResult | None = None
    search: Search | None = None


Listener = Callable[[Progress], object]
Tell = Callable[[Progress], bool]


class Watch:
    """The engine's callback: keeps the curve, looks at the scorer at times, passes a stop on.

    Parameters
    ----------
    tell : callable
        Passes a :class:`Progress` on; answers whether to stop.
    k, count : int
        Which fit of how many.
    preparation : Preparation
    held : (X, positive) or None
        Held-out rows to look at the scorer on; None for no looks.
    """

    def __init__(
        self,
        tell: Tell,
        k: int,
        count: int,
        preparation: Preparation,
        held: tuple[Array, Mask] | None,
    ) -> None:
        self._say, self._k, self._count, self._preparation = tell, k, count, preparation
        self._held = None
        if held is not None:
            X, positive = held
            sample = _sample_rows(positive)
            self._held = X[sample], positive[sample]
        self._steps: list[tuple[int, float, float, float]] = []
        self._began = time.perf_counter()
        self._watching = 0.0
        self._next_look = 0.0

    def __call__(self, step: Step) -> bool:
        entered = time.perf_counter()
        seconds = self.seconds()
        if step.iteration > 0 and step.objective is not None:
            gap = np.nan if step.gap is None else step.gap
            self._steps.append((step.iteration, seconds, step.objective, gap))
        look = self._look(step) if entered >= self._next_look else None
        stop = self._tell(dataclasses.replace(step, scorer=None), seconds, look)
        self._watching += time.perf_counter() - entered
        return stop

    def _look(self, step: Step) -> Look | None:
        if self._held is None or step.scorer is None:
            return None
        began = time.perf_counter()
        scorer, (X, positive) = step.scorer(), self._held
        look = Look(positive, scorer(X), scorer)
        took = time.perf_counter() - began
        self._next_look = began + max(_LOOK_EVERY, _LOOK_SHARE * took)
        return look

    def _tell(
        self, step: Step | None, seconds: float, look: Look | None, done: SplitResult | None = None
    ) -> bool:
        message = Progress(self._k, self._count, step, seconds, self._preparation, look, done)
        return self._say(message)

    def pulse(self, stage: str, fraction: float) -> None:
        """Tell of the scoring that follows the fit."""
        self._tell(Step(0, stage=stage, fraction=fraction), self.seconds(), None)

    def tell_finished(self, result: SplitResult) -> None:
        """Tell of the end of the fit."""
        self._tell(None, result.fit_seconds, None, result)

    def seconds(self) -> float:
        """Time since the fit began, without the time spent watching it."""
        return time.perf_counter() - self._began - self._watching

    def curve(self) -> TrainingCurve:
        """Give the steps so far."""
        columns = np.array(self._steps, dtype=np.float64).reshape(-1, 4)
        iteration = columns[:, 0].astype(np.int64)
        return TrainingCurve(iteration, columns[:, 1], columns[:, 2], columns[:, 3])


def _sample_rows(positive: Mask) -> NDArray[np.intp]:
    """Rows for the live picture: evenly spaced within each class, at most _LOOK_ROWS."""
    if len(positive) <= _LOOK_ROWS:
        return np.arange(len(positive))
    parts = []
    for rows in (np.flatnonzero(positive), np.flatnonzero(~positive)):
        size = min(len(rows), _LOOK_ROWS // 2)
        parts.append(rows[np.linspace(0, len(rows) - 1, size).astype(np.intp)])
    return np.sort(np.concatenate(parts))
