"""The cloud of all difference vectors: dots or a density, its mean, and the ellipses of Σ."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QPen

from aucstudio.gui.common.plots.legend import Legend
from aucstudio.gui.common.plotting import faded, pen
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.pages.planes.marks import add_curve, add_marks
from aucstudio.project.geometry.differences import Density, PairCloud, ellipse

Array = NDArray[np.float64]

_DEVIATIONS = (1.0, 2.0)


class CloudItems:
    """What is drawn of all pairs together, whichever run it is about."""

    def __init__(self, plot: pg.PlotWidget) -> None:
        self.density = pg.ImageItem()
        plot.addItem(self.density)
        self.dots = add_marks(plot, "o", 4, 1)
        self.ellipses = [add_curve(plot, 2) for _ in _DEVIATIONS]
        self.penalised = [add_curve(plot, 3) for _ in _DEVIATIONS]
        self.mean = add_marks(plot, "d", 12, 20)
        self.origin = add_marks(plot, "+", 16, 21)
        self._drawn: tuple[object, ...] = ()
        # Kept alive, so that what they are known by stays theirs.
        self._kept: tuple[object, ...] = ()

    def draw(self, cloud: PairCloud, penalised: Array | None, colour: QColor) -> bool:
        """Draw a cloud; ``penalised`` is its Σ(I + λΣ)⁻¹, where there is one.

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
        drawn = id(cloud), id(penalised), colour.name(), current_theme().name
        is_new = drawn != self._drawn
        if is_new:
            self._drawn, self._kept = drawn, (cloud, penalised)
            self._draw(cloud, penalised, colour)
        return is_new

    def _draw(self, cloud: PairCloud, penalised: Array | None, colour: QColor) -> None:
        theme = current_theme()
        if cloud.rows is not None:
            brush = faded(theme.muted, 90)
            self.dots.setData(pos=cloud.differences(cloud.rows), pen=None, brush=brush)
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
        """Draw a density: the cloud's own, or a part of it in finer cells."""
        shade = np.log1p(density.counts.astype(np.float32))
        colours = _shades(current_theme().muted)
        self.density.setImage(
            shade, levels=(0.0, float(shade.max())), lut=colours, autoLevels=False
        )
        size = density.high - density.low
        self.density.setRect(QRectF(*density.low, *np.where(size > 0, size, 1.0)))

    def explain(self, legend: Legend, penalised: bool, colour: QColor) -> None:
        """Say in a legend what the ellipses are."""
        legend.explain_line("mean δ and Σ, 1 and 2 sd", _sigma_pen())
        if penalised:
            legend.explain_line("after the penalty: Σ(I + λΣ)⁻¹", _penalised_pen(colour))


def _sigma_pen() -> QPen:
    return pen(current_theme().text, 1.2, (5.0, 3.0))


def _penalised_pen(colour: QColor) -> QPen:
    return pen(colour, 1.8, (1.8, 2.7))


def _shades(colour: str) -> NDArray[np.uint8]:
    """Make the colour map of a density: one hue, nothing at 0, ever more opaque."""
    made = QColor(colour)
    table = np.empty((256, 4), dtype=np.uint8)
    table[:, :3] = made.red(), made.green(), made.blue()
    table[:, 3] = np.linspace(24, 245, 256)
    table[0, 3] = 0
    return table
