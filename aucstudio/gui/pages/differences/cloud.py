"""The cloud of all pairs: dots or a density, coloured by who scores higher, and its spread."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QPen

from aucstudio.gui.common.plots.legend import Legend, keep_sample
from aucstudio.gui.common.plotting import faded, pen
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.pages.planes.marks import add_curve, add_marks
from aucstudio.project.geometry.differences import Density, PairCloud, ellipse

Array = NDArray[np.float64]

Mask = NDArray[np.bool_]

_DEVIATIONS = (1.0, 2.0)
_FEW = 400  # pairs whose dots may be large
_SHADES = 256  # of each of the two colours
_FULLEST = 140, 235  # of 255: what is wrong, and what is right


class CloudItems:
    """What is drawn of all pairs together, whichever run it is about."""

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
        # The image is large: it is made anew only where something changed.
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
        traced = [(self.ellipses, cloud.covariance, _sigma_pen())]
        if penalised is not None:
            traced.append((self.penalised, penalised, _penalised_pen(colour)))
        for curves, covariance, drawn in traced:
            for curve, deviations in zip(curves, _DEVIATIONS, strict=True):
                trace = ellipse(cloud.delta, covariance, deviations)
                curve.setData(trace[:, 0], trace[:, 1], pen=drawn)
        self.mean.setData(pos=cloud.delta[None], pen=pen(theme.card, 1), brush=theme.text)
        self.origin.setData(pos=np.zeros((1, 2)), pen=pen(theme.card, 1), brush=theme.text)

    def draw_density(self, density: Density) -> None:
        """Draw a smoothed density: the cloud's own, or a part of it in finer cells."""
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
        """Show the mean and the ellipses of the spread, or leave them out."""
        for item in (self.mean, *self.ellipses):
            item.setVisible(shown)
        for curve in self.penalised:
            curve.setVisible(shown and penalised)

    def explain(self, legend: Legend) -> None:
        """Show in a legend what the colours are; the fuller, the more pairs."""
        if self._is_split:
            legend.explain_mark("ranked right", self._right)
            legend.explain_mark("ranked wrongly", self._wrong)
        else:
            legend.explain_mark("pairs", self._right)

    def explain_spread(self, legend: Legend, penalised: bool, colour: QColor) -> None:
        """Show in a legend what the ellipses are."""
        legend.explain_mark("mean of all pairs", self.mean)
        legend.explain_line("their spread Σ, 1 and 2 sd", _sigma_pen())
        if penalised:
            legend.explain_line("the spread as the method weighs it", _penalised_pen(colour))


def _sigma_pen() -> QPen:
    return pen(current_theme().text, 1.2)


def _penalised_pen(colour: QColor) -> QPen:
    return pen(colour, 1.2)


def _behind(density: Density, normal: Array) -> Mask:
    """Return which cells lie behind the line through 0 with this normal."""
    ends = zip(density.shade_low, density.shade_high, density.shade.shape, strict=True)
    across, up = (low + (np.arange(n) + 0.5) * ((high - low) / n) for low, high, n in ends)
    found: Mask = np.add.outer(across * normal[0], up * normal[1]) < 0
    return found


def _shades(below: str, above: str) -> NDArray[np.uint8]:
    """Make a colour map of two hues, each ever more opaque from nothing in the middle."""
    table = np.empty((2 * _SHADES, 4), dtype=np.uint8)
    strength = np.r_[np.linspace(_FULLEST[0], 0, _SHADES), np.linspace(0, _FULLEST[1], _SHADES)]
    for half, name in ((slice(0, _SHADES), below), (slice(_SHADES, None), above)):
        made = QColor(name)
        table[half, :3] = made.red(), made.green(), made.blue()
    table[:, 3] = strength
    return table
