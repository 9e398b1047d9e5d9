"""The curve of the run in progress, in whichever face is shown."""

from __future__ import annotations

from typing import Any

from aucstudio.engine import roc
from aucstudio.gui.common import curves
from aucstudio.gui.common.plots.thinning import PlacedLine, Window
from aucstudio.gui.common.plotting import run_pen
from aucstudio.gui.pages.roc.picture.axes import draw
from aucstudio.gui.pages.roc.picture.canvas import Canvas
from aucstudio.gui.pages.roc.picture.faces import Face
from aucstudio.gui.pages.roc.picture.legend import LegendRow
from aucstudio.gui.state.live import LiveRun
from aucstudio.project.runs.experiments.experiment import Band
from aucstudio.project.words import figure_words


class Flight:
    """The line of the run in progress.

    Attributes
    ----------
    curve : Curve or None
        Its ROC curve at the latest look.
    """

    def __init__(self, item: Any) -> None:
        self._item = item
        self._live: LiveRun | None = None
        self._picture: object = None
        self.curve: roc.Curve | None = None

    def is_behind(self, live: LiveRun | None) -> bool:
        """Return whether there is another look to draw, or a line to take away."""
        return live is not self._live or (live is not None and live.picture is not self._picture)

    def show(
        self,
        live: LiveRun | None,
        face: Face,
        canvas: Canvas,
        window: Window,
        pixels: tuple[int, int],
    ) -> None:
        """Draw the latest look, or nothing."""
        picture = live.picture if live is not None else None
        self._live = live
        if live is None or picture is None:
            self._picture = self.curve = None
            self._item.setData([], [])
            return
        if picture is not self._picture or self.curve is None:
            self._picture = picture
            rows = picture.positive, picture.scores
            self.curve = roc.roc_curve(*rows, weights=picture.weights)
        bends = self.curve.corners() if face.key == "roc" else self.curve
        line = PlacedLine(*draw(*face.path(bends), canvas.along, canvas.up))
        self._item.setPen(run_pen(live.look, 1.2))
        self._item.setData(*line.seen(window, pixels))

    def row(self, face: Face, band: Band, scale: str) -> LegendRow | None:
        """Return its row of the legend."""
        live, curve = self._live, self.curve
        if live is None or curve is None:
            return None
        split = f", split {live.split + 1} of {live.splits}" if live.splits > 1 else ""
        area = ""
        if face.key == "roc":
            value = getattr(roc.partial_auc_of(curve, *band), scale)
            area = curves.area_words(value, scale)
        name = f"{live.look.name} training{split}"
        return LegendRow(live.look, (name, figure_words(face.figure(curve)), "", area), 1.2)
