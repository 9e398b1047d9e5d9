"""Where each run begins to say positive: lines of linear scorers, contours of all others."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray

from aucstudio.gui.common.plots.legend import Legend
from aucstudio.gui.common.plotting import run_pen
from aucstudio.gui.pages.features.mapping import Surface
from aucstudio.gui.pages.planes.marks import add_curve, add_line, place_line
from aucstudio.gui.pages.planes.subject import Picture, Subject, split_of
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.project.geometry.planes import carried
from aucstudio.project.geometry.score_map import ScoreMap, slice_through

Array = NDArray[np.float64]

_Z = 10


@dataclasses.dataclass(eq=False)
class Boundary:
    """One run's boundary; a line or a contour, which may be empty as yet."""

    run: ShownRun
    item: pg.InfiniteLine | pg.PlotCurveItem

    @property
    def is_line(self) -> bool:
        return isinstance(self.item, pg.InfiniteLine)


class Boundaries:
    """The boundaries of the checked runs in one plot.

    Attributes
    ----------
    drawn : dict
        Boundary of each run by its id, the chosen run's last.
    surfaces : list of Surface
        What is to be mapped, the chosen run's first: for contours, and for the shading.
    """

    def __init__(self, plot: pg.PlotWidget, session: Session) -> None:
        self._plot, self._session = plot, session
        self.drawn: dict[str, Boundary] = {}
        self.surfaces: list[Surface] = []

    def draw(self, subject: Subject, picture: Picture, mean: Array) -> None:
        """Draw the lines, and find what has to be mapped for the contours."""
        self.clear()
        if subject.run is None:
            return
        chosen = subject.run.record
        others = [r for r in self._session.checked_runs() if r.record is not chosen]
        for run in [*others, subject.run]:
            self.draw_one(run, subject, picture, mean)
            surface = self._surface(run, subject, picture, mean)
            if surface is not None:
                # What is looked at comes first.
                self.surfaces.insert(0, surface)

    def clear(self) -> None:
        """Take all boundaries away."""
        for boundary in self.drawn.values():
            self._plot.removeItem(boundary.item)
        self.drawn, self.surfaces = {}, []

    def explain(self, legend: Legend) -> None:
        """Show in a legend whose the boundaries are."""
        for boundary in self.drawn.values():
            legend.explain_line(boundary.run.look.name, run_pen(boundary.run.look))

    def threshold(self, run: ShownRun) -> float:
        """Return where a run begins to say positive: the chosen one where the session points."""
        chosen = run.record.id == self._session.selected
        return self._session.focus.threshold if chosen else 0.0

    def draw_one(self, run: ShownRun, subject: Subject, picture: Picture, mean: Array) -> None:
        """Put one run's boundary where its threshold is now; a contour waits for its map."""
        split, plane = run.record.splits[split_of(run, self._session)], picture.plane
        if not plane.is_straight:
            if subject.run is run:
                self._place(run, np.array([1.0, 0.0]), self.threshold(run))
            return
        if split.coef is None:
            if run.record.id not in self.drawn:
                curve = add_curve(self._plot, _Z)
                curve.setPen(run_pen(run.look))
                self.drawn[run.record.id] = Boundary(run, curve)
            return
        b = split.model.intercept - self.threshold(run)
        moved = carried(split.coef, b, split.model.preparation, subject.preparation)
        normal = None if moved is None else plane.normal(moved[0])
        if moved is not None and normal is not None:
            self._place(run, normal, plane.level(*moved, mean))

    def _surface(
        self, run: ShownRun, subject: Subject, picture: Picture, mean: Array
    ) -> Surface | None:
        """Return what is to be mapped of a run; the lines of others need no map."""
        model = run.record.splits[split_of(run, self._session)].model
        if not picture.plane.is_straight:
            return None
        if run is not subject.run and model.scorer.kind == "linear":
            return None
        part = slice_through(picture.plane, mean).carried(subject.preparation, model.preparation)
        return Surface(run.record.id, model.scorer, model.intercept, part)

    def _place(self, run: ShownRun, normal: Array, level: float) -> None:
        boundary = self.drawn.get(run.record.id)
        if boundary is None:
            line = add_line(self._plot, _Z)
            line.setPen(run_pen(run.look))
            boundary = self.drawn[run.record.id] = Boundary(run, line)
        place_line(boundary.item, normal, level)

    def show_map(self, key: str, found: ScoreMap) -> None:
        """Draw a run's contour from a map; a line needs none."""
        boundary = self.drawn.get(key)
        if boundary is not None and not boundary.is_line:
            draw_contour(boundary.item, found, self.threshold(boundary.run))


def draw_contour(curve: pg.PlotCurveItem, found: ScoreMap, level: float) -> None:
    """Draw a curve as a contour of a map."""
    places, connect = found.contour(level)
    curve.setData(places[:, 0], places[:, 1], connect=connect)
