"""All pairs as dots or density, coloured by ranking, with their covariance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor

from aucstudio.engine.types import Array, Mask
from aucstudio.gui.common.plots.legend import Entry, keep_sample
from aucstudio.gui.common.plotting import faded, pen
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.pages.planes.marks import add_curve, add_marks
from aucstudio.gui.state.background import Answer
from aucstudio.project.geometry.differences import (
    PAIRS_COUNTED,
    Density,
    PairCloud,
    difference_histogram,
    ellipse,
    shaded,
)

_DEVIATIONS = (1.0, 2.0)
_FEW = 400  # pairs whose dots may be large
_SHADES = 256  # of each of the two colours
_FULLEST = 140, 235  # of 255: opacity of misranked and of correctly ranked pairs


class CloudItems:
    """The items of all pairs together: density or dots, and spread."""

    def __init__(self, plot: pg.PlotWidget) -> None:
        self.density = pg.ImageItem()
        plot.addItem(self.density)
        self.dots = add_marks(plot, "o", 5, 1)
        self._right, self._wrong = (pg.ScatterPlotItem(symbol="s", size=10) for _ in range(2))
        for sample in (self._right, self._wrong):
            keep_sample(sample, plot)
        self._normal: Array | None = None
        self._is_split = False
        self.ellipses = [add_curve(plot, 2) for _ in _DEVIATIONS]
        self.penalised = [add_curve(plot, 3) for _ in _DEVIATIONS]
        self.mean = add_marks(plot, "d", 12, 20)
        self.origin = add_marks(plot, "+", 16, 21)
        self._drawn: tuple[object, ...] = ()
        # Kept alive, so that what they are known by stays theirs.
        self._kept: tuple[object, ...] = ()

    def draw(
        self,
        cloud: PairCloud,
        penalised: Array | None,
        colour: QColor,
        normal: Array | None,
        misranked: Mask | None,
    ) -> bool:
        """Draw a cloud.

        Parameters
        ----------
        cloud : PairCloud
        penalised : ndarray of shape (2, 2) or None
            Its Σ(I + λΣ)⁻¹, where there is one.
        colour : QColor
            Of the run.
        normal : ndarray of shape (2,) or None
            Of the line behind which a pair is misranked, where the plane tells that exactly.
        misranked : ndarray of bool or None
            Which of the dots are, where they are known.

        Returns
        -------
        bool
            Whether it was drawn anew.
        """
        self.dots.setVisible(cloud.rows is not None)
        self.density.setVisible(cloud.density is not None)
        for curve in self.penalised:
            curve.setVisible(penalised is not None)
        # The image is large and is drawn only after a change.
        shown = None if normal is None else normal.tolist()
        drawn = id(cloud), id(penalised), colour.name(), current_theme().name, shown
        is_new = drawn != self._drawn
        if is_new:
            self._drawn, self._kept = drawn, (cloud, penalised)
            self._normal = normal
            self._is_split = normal is not None or misranked is not None
            self._draw(cloud, penalised, colour, misranked)
        return is_new

    def _draw(
        self, cloud: PairCloud, penalised: Array | None, colour: QColor, misranked: Mask | None
    ) -> None:
        theme = current_theme()
        few = cloud.rows is not None and cloud.pairs <= _FEW
        right = pg.mkBrush(faded(theme.muted, 210 if few else 110))
        wrong = pg.mkBrush(faded(theme.wrong, 210 if few else 150))
        self._right.setBrush(right)
        self._wrong.setBrush(wrong)
        if cloud.rows is not None:
            fill = right if misranked is None else np.where(misranked, wrong, right)
            self.dots.setSize(8 if few else 4, update=False)
            self.dots.setData(pos=cloud.differences(cloud.rows), pen=None, brush=fill)
        if cloud.density is not None:
            self.draw_density(cloud.density)
        traced = [(self.ellipses, cloud.covariance, pen(theme.text, 1.2))]
        if penalised is not None:
            traced.append((self.penalised, penalised, pen(colour, 1.2)))
        for curves, covariance, drawn in traced:
            for curve, deviations in zip(curves, _DEVIATIONS, strict=True):
                trace = ellipse(cloud.delta, covariance, deviations)
                curve.setData(trace[:, 0], trace[:, 1], pen=drawn)
        self.mean.setData(pos=cloud.delta[None], pen=pen(theme.card, 1), brush=theme.text)
        self.origin.setData(pos=np.zeros((1, 2)), pen=pen(theme.card, 1), brush=theme.text)

    def draw_density(self, density: Density) -> None:
        """Draw a smoothed density: that of the cloud, or a part of it in finer cells."""
        shade = density.shade
        if self._normal is not None:
            shade = np.where(_behind(density, self._normal), -shade, shade)
        theme = current_theme()
        self.density.setImage(
            shade, levels=(-1.0, 1.0), lut=_shades(theme.wrong, theme.muted), autoLevels=False
        )
        size = density.shade_high - density.shade_low
        self.density.setRect(QRectF(*density.shade_low, *np.where(size > 0, size, 1.0)))

    def show_spread(self, shown: bool, penalised: bool) -> None:
        """Show or hide the mean and the ellipses of the spread."""
        for item in (self.mean, *self.ellipses):
            item.setVisible(shown)
        for curve in self.penalised:
            curve.setVisible(shown and penalised)

    def entries(self) -> list[Entry]:
        """Explain the dots or the cloud."""
        if self._is_split:
            return [("ranked correctly", self._right), ("ranked wrongly", self._wrong)]
        return [("pairs", self._right)]

    def spread_entries(self, penalised: bool, colour: QColor) -> list[Entry]:
        """Explain the mean and the ellipses."""
        known: list[Entry] = [
            ("mean of all pairs", self.mean),
            ("their spread Σ, 1 and 2 sd", pen(current_theme().text, 1.2)),
        ]
        return known + ([("the spread as the method weights it", pen(colour, 1.2))] * penalised)


def _behind(density: Density, normal: Array) -> Mask:
    """Return which cells lie behind the line through 0 with this normal."""
    ends = zip(density.shade_low, density.shade_high, density.shade.shape, strict=True)
    across, up = (low + (np.arange(n) + 0.5) * ((high - low) / n) for low, high, n in ends)
    found: Mask = np.add.outer(across * normal[0], up * normal[1]) < 0
    return found


def _shades(below: str, above: str) -> NDArray[np.uint8]:
    """Make a colour map of two hues, transparent in the middle."""
    table = np.empty((2 * _SHADES, 4), dtype=np.uint8)
    strength = np.r_[np.linspace(_FULLEST[0], 0, _SHADES), np.linspace(0, _FULLEST[1], _SHADES)]
    for half, name in ((slice(0, _SHADES), below), (slice(_SHADES, None), above)):
        made = QColor(name)
        table[half, :3] = made.red(), made.green(), made.blue()
    table[:, 3] = strength
    return table


_PAUSE = 150  # ms; a range that is dragged is waited for
_COARSE, _FINE = 4.5, 3.0  # pixels; cells wider than the first are recounted in cells of the second


class CloseUp:
    """Recounts pairs where the density cells are wide on the screen.

    Parameters
    ----------
    plot : PlotWidget
    show : callable
        Draws a density in place of the last.

    Attributes
    ----------
    shown : Density or None
        The density that is drawn.
    """

    def __init__(self, plot: pg.PlotWidget, show: Callable[[Density], None]) -> None:
        self._box, self._show = plot.getViewBox(), show
        self._cloud: PairCloud | None = None
        self._positive: NDArray[np.bool_] | None = None
        self.shown: Density | None = None
        # Without a close-up the coarse cells stay, which are right too.
        self._answer = Answer(plot, self._put, lambda _why: None)
        for changed in (self._box.sigRangeChanged, self._box.sigResized):
            changed.connect(self._on_range)

    def follow(self, cloud: PairCloud | None, positive: NDArray[np.bool_] | None) -> None:
        """Refine the density of a cloud, or of none."""
        self._answer.forget()
        self._cloud, self._positive = cloud, positive
        self.shown = None if cloud is None else cloud.density
        self._count()

    def _on_range(self, *_changed: Any) -> None:
        cloud, shown = self._cloud, self.shown
        if cloud is None or cloud.density is None or shown is None:
            return
        low, high = self._view()
        if shown is not cloud.density and ((low < shown.low) | (high > shown.high)).any():
            # The close-up does not reach so far: coarse cells are better than none.
            self._put(cloud.density)
        self._count()

    def _view(self) -> tuple[Array, Array]:
        ranges = np.array(self._box.viewRange())
        return ranges[:, 0], ranges[:, 1]

    def _wanted(self) -> tuple[Array, Array] | None:
        """Return the corners of the region to recount, if any."""
        cloud, shown = self._cloud, self.shown
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
            self._answer.drop()
            return
        a, b = cloud.places[positive], cloud.places[~positive]
        low, high = wanted
        pixels = (high - low) / np.array(self._box.viewPixelSize())
        across, up = (max(1, round(float(side) / _FINE)) for side in pixels)

        def work(_post: object) -> Density:
            counts = difference_histogram(a, b, low, high, (across, up))
            return shaded(counts, low, high, (cloud.low, cloud.high))

        self._answer.ask((cloud, *low.tolist(), *high.tolist()), work, pause=_PAUSE)

    def _put(self, density: Density) -> None:
        self.shown = density
        self._show(density)
