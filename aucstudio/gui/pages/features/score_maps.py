"""Score maps of a plane, refined in the background."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QObject, QRectF
from PySide6.QtGui import QColor

from aucstudio.engine.scorers import Scorer
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.state.background import Answer
from aucstudio.project.geometry.score_map import CELLS, PlaneFrame, ScoreMap, Slice, score_map

_PAUSE = 40  # ms; a wheel turns in steps
_FINEST_OTHERS = 4  # pixels; a line needs no more
_STRONGEST = 64  # of 255


@dataclasses.dataclass(frozen=True, eq=False)
class Surface:
    """The score of a run on the plane.

    Attributes
    ----------
    key : str
        Id of the run.
    scorer : Scorer
    intercept : float
    part : Slice
        The plane in the features of the model.
    """

    key: str
    scorer: Scorer
    intercept: float
    part: Slice


class Mapper(QObject):
    """Computes score maps of the visible part of a plot; reports each finer map.

    At every cell size the first surface is mapped first; only it is mapped to the finest.

    Attributes
    ----------
    maps : dict
        The finest map so far of each run.
    """

    def __init__(self, plot: pg.PlotWidget, mapped: Callable[[str], object]) -> None:
        super().__init__(plot)
        self._plot, self._mapped = plot, mapped
        self._surfaces: Sequence[Surface] = ()
        self.maps: dict[str, ScoreMap] = {}
        self._answer = Answer[None](self, lambda _done: None, progress=self._on_map)
        box = plot.getViewBox()
        for changed in (box.sigRangeChanged, box.sigResized):
            changed.connect(lambda *_: self._ask())

    def busy(self) -> bool:
        """Return whether finer maps are still being computed."""
        return self._answer.busy

    def show_surfaces(self, surfaces: Sequence[Surface]) -> None:
        """Set the surfaces to map; maps of the same surfaces are kept."""
        if [_identity(s) for s in surfaces] != [_identity(s) for s in self._surfaces]:
            self._surfaces, self.maps = surfaces, {}
            self._ask()

    def frame(self) -> PlaneFrame:
        """Return the visible part of the plot."""
        box = self._plot.getViewBox()
        x, y = box.viewRange()
        size = max(2, int(box.width())), max(2, int(box.height()))
        return PlaneFrame((x[0], x[1]), (y[0], y[1]), size)

    def _ask(self) -> None:
        self._answer.forget()
        if not self._surfaces:
            return
        surfaces, frame = self._surfaces, self.frame()

        def work(post: Callable[[tuple[str, ScoreMap] | None], bool]) -> None:
            for cell in CELLS:
                for k, one in enumerate(surfaces):
                    if k and cell < _FINEST_OTHERS:
                        continue
                    found = score_map(
                        one.scorer, one.intercept, one.part, frame, cell, lambda: not post(None)
                    )
                    if found is None:
                        return
                    post((one.key, found))

        self._answer.ask(object(), work, pause=_PAUSE)

    def _on_map(self, message: tuple[str, ScoreMap] | None) -> None:
        if message is not None:
            self.maps[message[0]] = message[1]
            self._mapped(message[0])


def _identity(surface: Surface) -> tuple[object, ...]:
    part = surface.part
    place = (part.rest.tobytes(), part.directions.tobytes())
    return surface.key, id(surface.scorer), surface.intercept, place


class Shading:
    """The score of the selected run behind the rows, in the colours of the classes.

    The colour changes at the threshold, and is stronger farther from it.
    """

    def __init__(self, plot: pg.PlotWidget) -> None:
        self.image = pg.ImageItem()
        self.image.setZValue(-10)
        self.image.setVisible(False)
        plot.addItem(self.image, ignoreBounds=True)

    def show(self, found: ScoreMap, threshold: float, reach: float) -> None:
        """Show a map; at ``reach`` from the threshold the colour is strongest."""
        # A pixel is drawn about its corner of the grid.
        dx, dy = found.x[1] - found.x[0], found.y[1] - found.y[0]
        self.image.setImage(found.scores, autoLevels=False, lut=_colours())
        self.set_threshold(threshold, reach)
        width, height = len(found.x) * dx, len(found.y) * dy
        self.image.setRect(QRectF(found.x[0] - dx / 2, found.y[0] - dy / 2, width, height))
        self.image.setVisible(True)

    def set_threshold(self, threshold: float, reach: float) -> None:
        """Move the point where the colours meet."""
        self.image.setLevels((threshold - reach, threshold + reach))

    def hide(self) -> None:
        """Show nothing."""
        self.image.setVisible(False)


def _colours() -> NDArray[np.uint8]:
    """Return 256 colours from the negatives' over none to the positives'."""
    theme = current_theme()
    table = np.zeros((256, 4), dtype=np.uint8)
    strength = np.abs(np.linspace(-1.0, 1.0, 256))
    for half, colour in ((slice(0, 128), theme.negative), (slice(128, 256), theme.positive)):
        shade = QColor(colour)
        table[half, :3] = shade.red(), shade.green(), shade.blue()
        table[half, 3] = np.round(10 + (_STRONGEST - 10) * strength[half])
    return table
