"""The FPR range: dragged, entered, zoomed, linked to training."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication

from aucstudio.engine import METHODS
from aucstudio.gui.common import curves
from aucstudio.gui.common.curves import band_words
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.pages.roc.controls import RocControls
from aucstudio.gui.pages.roc.picture.axes import place, rate_at
from aucstudio.gui.pages.roc.picture.canvas import Canvas
from aucstudio.gui.pages.roc.picture.lines import Lines
from aucstudio.gui.state.plan import RANGE
from aucstudio.gui.state.session import Session
from aucstudio.project.runs.experiments.experiment import Band

_LEAST = 0.001 - 1e-9
_ROUNDING = 6e-5
_STEP_PIXELS, _FINEST = 4, 1e-4  # of what a dragged edge is rounded to


class RangeControl:
    """Keeps the range of the picture, its fields and the plan in sync."""

    def __init__(
        self, session: Session, choices: RocControls, canvas: Canvas, lines: Lines
    ) -> None:
        self._session, self._choices = session, choices
        self._canvas, self._lines = canvas, lines
        self._zoomed = False
        choices.band_low.valueChanged.connect(self._on_low)
        choices.band_high.valueChanged.connect(self._on_high)
        canvas.band_item.sigRegionChanged.connect(self._on_drag)
        canvas.band_item.sigRegionChangeFinished.connect(self._on_drag)

    def show(self) -> None:
        """Show the plan's range."""
        band, choices, item = self._session.plan.band, self._choices, self._canvas.band_item
        with QSignalBlocker(choices.band_low), QSignalBlocker(choices.band_high):
            choices.band_low.setValue(band[0])
            choices.band_high.setValue(band[1])
        # A dragged range may differ by rounding; moving it would disturb the drag.
        if np.abs(np.subtract(item.band(), band)).max() > _ROUNDING:
            item.show_band(band)

    def turn(self) -> None:
        """Zoom to the range, or back."""
        self.zoom(not self._zoomed)

    def zoom(self, to_band: bool) -> None:
        """Show the range only, or the full curve."""
        self._zoomed = to_band
        self._choices.zoom_button.setText("&Zoom out" if to_band else "&Zoom in")
        if to_band:
            self._canvas.show_part(*self.places())
        else:
            self._canvas.plot.show_whole()

    def heights(self) -> tuple[float, float]:
        """Return the lowest and the highest TPR of the drawn curves within the range."""
        band = self._session.plan.band
        parts = [curves.within_band(d.shape.trace, band)[1] for d in self._lines.drawn]
        if not parts:
            return 0.0, 1.0
        return min(float(y[0]) for y in parts), max(float(y[-1]) for y in parts)

    def places(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the interval of each axis that contains the curves within the range."""
        along, up = self._canvas.along, self._canvas.up
        (low, high), (bottom, top) = self._session.plan.band, self.heights()
        across = _stretch(place(along, low), place(along, high))
        return across, _stretch(place(up, bottom), place(up, top))

    def _on_drag(self) -> None:
        """Set the dragged range, at round rates unless Alt is held."""
        band, old = self._canvas.band_item.band(), self._session.plan.band
        is_free = QApplication.keyboardModifiers() & Qt.KeyboardModifier.AltModifier
        self._session.set_band(*curves.fit_band(*(band if is_free else self._round(band)), old))

    def _round(self, band: Band) -> Band:
        """Round the edges that have moved; a range that is dragged keeps its width."""
        old = self._session.plan.band
        moved = [abs(new - was) > _ROUNDING for new, was in zip(band, old, strict=True)]
        low, high = (
            self._round_edge(edge) if has_moved else edge
            for edge, has_moved in zip(band, moved, strict=True)
        )
        return (low, low + band[1] - band[0]) if all(moved) else (low, high)

    def _round_edge(self, edge: float) -> float:
        """Round a rate to a step of 1, 2 or 5 that is a few pixels wide where the edge is."""
        axis, reach = self._canvas.along, _STEP_PIXELS * self._canvas.box.viewPixelSize()[0]
        at = place(axis, edge)
        wide = max(abs(rate_at(axis, at + side * reach) - edge) for side in (-1, 1))
        power = 10.0 ** math.floor(math.log10(max(wide, _FINEST)))
        step = next(power * k for k in (1, 2, 5, 10) if power * k >= wide * (1 - 1e-9))
        return round(edge / step) * step

    def _on_low(self, low: float) -> None:
        old_low, high = self._session.plan.band
        if high - low < _LEAST:
            high = min(low + high - old_low, 1.0)
        self._session.set_band(low, round(high, 4))

    def _on_high(self, high: float) -> None:
        low, old_high = self._session.plan.band
        if high - low < _LEAST:
            low = max(high - (old_high - low), 0.0)
        self._session.set_band(round(low, 4), high)


def _stretch(low: float, high: float) -> tuple[float, float]:
    """Return an interval of positive length."""
    return low, max(high, low + 1e-6)


class TrainingRange:
    """Keeps an action in sync with the plan: whether the method trains for the shown range."""

    def __init__(self, session: Session, action: QAction) -> None:
        self._session, self._action = session, action
        action.triggered.connect(self.set)

    def show(self) -> None:
        """Show whether the method trains for the shown range, if it has one."""
        plan = self._session.plan
        title, range_ = METHODS[plan.method].title, plan.settings(plan.method).get(RANGE)
        with QSignalBlocker(self._action):
            self._action.setEnabled(range_ is not None)
            self._action.setChecked(plan.is_linked(plan.method))
        if range_ is None:
            words = f"{title} trains for the whole ROC curve"
        elif plan.is_linked(plan.method):
            words = f"{title} trains for the range shown and follows it"
        else:
            words = f"{title} trains for its own range, {band_words(range_)}"
        plain_tooltip(self._action, words)

    def set(self, linked: bool) -> None:
        """Train the method for the shown range, or for its own range."""
        plan = self._session.plan
        words = "Train in the shown range" if linked else "Train for its own range"
        self._session.edit(plan.with_link(plan.method, linked), words)
