"""The weights of the run in progress: dots that move along rows, which seldom change places."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.scorers import LinearScorer
from aucstudio.gui.common.whiskers import Whisker, WhiskerChart
from aucstudio.gui.state.live import LiveRun
from aucstudio.project.data.preparing.preparation import Preparation
from aucstudio.project.explain.effects import Coefficients, gather_weights
from aucstudio.project.runs.watch import Look

MOST_ROWS = 60
# Rows that changed places with every look could not be read; as the weights come to rest, so do
# the rows.
_SORTED_AGAIN = 2.0  # times as long into the fit


class LiveWeights:
    """Moves the dots of a chart along with the weights of the run in progress."""

    def __init__(self, chart: WhiskerChart) -> None:
        self._found: Coefficients | None = None
        self._chart = chart
        self._look: Look | None = None
        self._learnt: Preparation | None = None
        self._order: NDArray[np.intp] = np.empty(0, dtype=np.intp)
        self._sorts_at = 0.0

    def leave(self) -> None:
        """Forget what is drawn: the next look is drawn anew."""
        self._found = self._look = self._learnt = None

    def follow(self, live: LiveRun) -> Coefficients | None:
        """Draw the weights as they stand, and give them; None if there are no others to draw."""
        look, learnt = live.picture, live.preparation
        if look is None or learnt is None or look is self._look:
            return None
        assert isinstance(look.scorer, LinearScorer)
        weights = look.scorer.weights
        if not np.isfinite(weights).all():
            return None
        self._look = look
        if self._found is None or learnt is not self._learnt or look.seconds >= self._sorts_at:
            self._learnt, self._sorts_at = learnt, _SORTED_AGAIN * look.seconds
            self._order = np.argsort(-np.abs(weights), kind="stable")
            self._found = gather_weights([(learnt, weights)])
            rows = zip(self._found.names[:MOST_ROWS], weights[self._order].tolist(), strict=False)
            self._chart.show_rows(
                [Whisker(name, value, np.nan, np.nan, name) for name, value in rows], live.look
            )
        else:
            now = weights[self._order]
            self._found = dataclasses.replace(self._found, weights=now[None])
            self._chart.move_dots(now[:MOST_ROWS])
        return self._found


def is_linear(live: LiveRun) -> bool:
    """Return whether the run in progress has weights to show at this moment."""
    look = live.picture
    return look is not None and live.preparation is not None and look.scorer.kind == "linear"
