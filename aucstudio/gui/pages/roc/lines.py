"""Curves of the plot: drawn thinned, found by the pointer."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import pyqtgraph as pg

from aucstudio.engine import roc
from aucstudio.gui.common import curves
from aucstudio.gui.common.curves import run_curves
from aucstudio.gui.common.plots.curves import CurveItem, PlacedLine, Window
from aucstudio.gui.common.plotting import run_pen
from aucstudio.gui.pages.roc.axes import Axis, draw, nearest
from aucstudio.gui.pages.roc.cards import LegendRow
from aucstudio.gui.pages.roc.curve_kinds import Face, Points, Shape, Shapes
from aucstudio.gui.state.runner import LiveRun
from aucstudio.gui.state.session import ShownRun
from aucstudio.notices.words import figure_words
from aucstudio.project.runs.experiments.experiment import Band
from aucstudio.project.runs.record import RunRecord

_known: WeakKeyDictionary[RunRecord, dict[str, Shapes]] = WeakKeyDictionary()


def shapes_of(record: RunRecord, face: Face) -> Shapes:
    """Return the lines of a record in a face, computed once per record."""
    faces = _known.setdefault(record, {})
    if face.key not in faces:
        faces[face.key] = Shapes(face, run_curves(record))
    return faces[face.key]


@dataclasses.dataclass(eq=False)
class Drawn:
    """A line of the picture and its meaning."""

    run: ShownRun
    shape: Shape
    along: Axis
    up: Axis
    item: CurveItem
    seen: object = None  # the window it is drawn for

    @cached_property
    def line(self) -> PlacedLine:
        """The line as places."""
        return PlacedLine(*draw(*self.shape.path, self.along, self.up))

    @cached_property
    def points(self) -> Points:
        """The points that the pointer selects, as places."""
        x, y = self.shape.points
        return self.along.forward(x), self.up.forward(y)

    def show(self, window: Window, pixels: tuple[int, int]) -> None:
        """Draw the part in a window of so many device pixels."""
        if self.seen != (window, pixels):
            self.seen = window, pixels
            self.item.setData(*self.line.seen(window, pixels))


class Lines:
    """All lines of finished runs.

    Attributes
    ----------
    drawn : list of Drawn
    """

    def __init__(self, plot: pg.PlotWidget) -> None:
        self._plot = plot
        self._box: Any = plot.getPlotItem().getViewBox()
        self.drawn: list[Drawn] = []

    def draw(
        self,
        runs: list[ShownRun],
        face: Face,
        every: bool,
        axes: tuple[Axis, Axis],
        selected: str | None,
    ) -> None:
        """Draw these runs in place of all others; lines that stay are kept."""
        kept = {d.shape: d for d in self.drawn if (d.along, d.up) == axes}
        before, self.drawn = self.drawn, []
        for run in runs:
            shapes = shapes_of(run.record, face)
            fine = every and len(shapes.known.curves) > 1
            for shape in shapes.every if fine else [shapes.average]:
                drawn = kept.get(shape) or self._add(run, shape, axes)
                drawn.run = run
                drawn.item.setPen(run_pen(run.look, 1.0 if fine else 2.0))
                drawn.item.setZValue(30 if run.record.id == selected else 10)
                drawn.item.setOpacity(0.65 if fine else 1.0)
                self.drawn.append(drawn)
        for drawn in before:
            if drawn not in self.drawn:
                self._plot.removeItem(drawn.item)
        self.thin()

    def _add(self, run: ShownRun, shape: Shape, axes: tuple[Axis, Axis]) -> Drawn:
        item = CurveItem(antialias=True)
        self._plot.addItem(item, ignoreBounds=True)
        return Drawn(run, shape, *axes, item)

    def thin(self) -> None:
        """Draw each line for the visible window."""
        window, pixels = self.window(), self.pixels()
        for drawn in self.drawn:
            drawn.show(window, pixels)

    def window(self) -> Window:
        """Left, right, bottom and top of the visible window."""
        (left, right), (bottom, top) = self._box.viewRange()
        return left, right, bottom, top

    def pixels(self) -> tuple[int, int]:
        """Columns and rows of the screen's own pixels in the window."""
        ratio = self._plot.devicePixelRatioF()
        area = self._box.rect()
        return max(round(area.width() * ratio), 1), max(round(area.height() * ratio), 1)

    def runs(self) -> list[ShownRun]:
        """List the runs that are drawn."""
        return list({d.run.record.id: d.run for d in self.drawn}.values())

    def of(self, run: str | None) -> Iterator[Drawn]:
        """List the lines of a run."""
        return (drawn for drawn in self.drawn if drawn.run.record.id == run)

    def nearest(self, x: float, y: float) -> tuple[Drawn, int] | None:
        """Find the line and its point nearest to a place."""
        pixel = self._box.viewPixelSize()
        found = [(*nearest(drawn.points, (x, y), pixel), drawn) for drawn in self.drawn]
        if not found:
            return None
        _, vertex, drawn = min(found, key=lambda one: one[0])
        return drawn, vertex


class LiveLine:
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
        """Return whether a newer scorer is to be drawn, or a line to be removed."""
        return live is not self._live or (live is not None and live.picture is not self._picture)

    def show(
        self,
        live: LiveRun | None,
        face: Face,
        axes: tuple[Axis, Axis],
        window: Window,
        pixels: tuple[int, int],
    ) -> None:
        """Draw the latest scorer, or nothing."""
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
        line = PlacedLine(*draw(*face.path(bends), *axes))
        self._item.setPen(run_pen(live.look, 1.2))
        self._item.setData(*line.seen(window, pixels))

    def row(self, face: Face, band: Band, scale: str) -> LegendRow | None:
        """Return its row of the legend."""
        live, curve = self._live, self.curve
        if live is None or curve is None:
            return None
        split = f", split {live.split + 1} of {live.splits}" if live.splits > 1 else ""
        words = f"{face.figure_title} {figure_words(face.figure(curve))}"
        if face.key == "roc":
            value = getattr(roc.partial_auc_of(curve, *band), scale)
            words += f", {curves.SCALES[scale]} {curves.area_words(value, scale)}"
        return LegendRow(live.look, f"{live.look.name} training{split}: {words}", 1.2)
