"""The density of the pairs that are in view, in cells as fine as the picture can show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QObject

from aucstudio.gui.state.answer import Answer
from aucstudio.gui.state.timers import delayed
from aucstudio.project.geometry.differences import (
    PAIRS_COUNTED,
    Density,
    PairCloud,
    difference_histogram,
    shaded,
)

Array = NDArray[np.float64]

_PAUSE = 150  # ms; a range that is dragged is waited for
_COARSE, _FINE = 4.5, 3.0  # pixels; wider cells are counted anew, in such


class CloseUp:
    """Counts pairs anew where the cells of their density are wide on the screen.

    Parameters
    ----------
    parent : QObject
    plot : PlotWidget
    show : callable
        Draws a density in place of the last.
    """

    def __init__(
        self, parent: QObject, plot: pg.PlotWidget, show: Callable[[Density], None]
    ) -> None:
        self._box, self._show = plot.getViewBox(), show
        self._cloud: PairCloud | None = None
        self._positive: NDArray[np.bool_] | None = None
        self._shown: Density | None = None
        # Without a close-up the coarse cells stay, which are right too.
        self._answer = Answer(parent, self._put, lambda _why: None)
        self._soon = delayed(parent, _PAUSE, self._count)
        self._box.sigRangeChanged.connect(self._on_range)

    def follow(self, cloud: PairCloud | None, positive: NDArray[np.bool_] | None) -> None:
        """Attend to a cloud whose whole density is drawn, or to none."""
        self._answer.forget()
        self._cloud, self._positive = cloud, positive
        self._shown = None if cloud is None else cloud.density
        self._soon.start()

    def busy(self) -> bool:
        """Return whether pairs are being counted, or soon will be."""
        return self._answer.busy or (self._soon.isActive() and self._wanted() is not None)

    def _on_range(self, *_changed: Any) -> None:
        cloud, shown = self._cloud, self._shown
        if cloud is None or cloud.density is None or shown is None:
            return
        low, high = self._view()
        if shown is not cloud.density and ((low < shown.low) | (high > shown.high)).any():
            # The close-up does not reach so far: coarse cells are better than none.
            self._put(cloud.density)
        self._soon.start()

    def _view(self) -> tuple[Array, Array]:
        ranges = np.array(self._box.viewRange())
        return ranges[:, 0], ranges[:, 1]

    def _wanted(self) -> tuple[Array, Array] | None:
        """Return the corners of what is to be counted anew, if anything."""
        cloud, shown = self._cloud, self._shown
        pixel = np.array(self._box.viewPixelSize())
        if cloud is None or shown is None or cloud.pairs > PAIRS_COUNTED or not (pixel > 0).all():
            return None
        cell = (shown.high - shown.low) / shown.counts.shape
        low, high = self._view()
        low, high = np.maximum(low, cloud.low), np.minimum(high, cloud.high)
        return (low, high) if (cell > _COARSE * pixel).any() and (high > low).all() else None

    def _count(self) -> None:
        wanted, cloud, positive = self._wanted(), self._cloud, self._positive
        if wanted is None or cloud is None or positive is None:
            return
        a, b = cloud.places[positive], cloud.places[~positive]
        low, high = wanted
        pixels = (high - low) / np.array(self._box.viewPixelSize())
        across, up = (max(1, round(float(side) / _FINE)) for side in pixels)

        def work(_post: object) -> Density:
            counts = difference_histogram(a, b, low, high, (across, up))
            return shaded(counts, low, high, (cloud.low, cloud.high))

        self._answer.ask((cloud, *low.tolist(), *high.tolist()), work)

    def _put(self, density: Density) -> None:
        self._shown = density
        self._show(density)
