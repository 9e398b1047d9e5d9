"""Decision boundaries of runs: lines for linear scorers, contours for others."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray

from aucstudio.engine.roc import equal_error_threshold, roc_curve
from aucstudio.engine.types import Array
from aucstudio.gui.common.plots.legend import Entry
from aucstudio.gui.common.plotting import run_pen
from aucstudio.gui.pages.features.score_maps import Surface
from aucstudio.gui.pages.planes.marks import add_curve, add_line, place_line
from aucstudio.gui.pages.planes.subject import PlanePicture, Subject, split_of
from aucstudio.gui.state.answer import Answer
from aucstudio.gui.state.live_run import LiveRun
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.project.geometry.directions import carried
from aucstudio.project.geometry.score_map import PlaneFrame, ScoreMap, slice_through
from aucstudio.project.geometry.score_map import score_map as map_scores

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

    def draw(self, subject: Subject, picture: PlanePicture, mean: Array) -> None:
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

    def entries(self) -> list[Entry]:
        """Name the run of each drawn line."""
        return [(one.run.look.name, run_pen(one.run.look)) for one in self.drawn.values()]

    def threshold(self, run: ShownRun) -> float:
        """Return where a run begins to say positive: the chosen one where the session points."""
        chosen = run.record.id == self._session.selected
        return self._session.focus.threshold if chosen else 0.0

    def draw_one(self, run: ShownRun, subject: Subject, picture: PlanePicture, mean: Array) -> None:
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
        self, run: ShownRun, subject: Subject, picture: PlanePicture, mean: Array
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


Line = tuple[Array, NDArray[np.int32]]

_CELL = 24  # pixels
_INTERVAL = 0.1  # s


class LiveContour:
    """The contour of the run in progress at its equal-error threshold so far.

    Attributes
    ----------
    curve : PlotCurveItem
    """

    def __init__(self, plot: pg.PlotWidget, frame: Callable[[], PlaneFrame]) -> None:
        self.curve = add_curve(plot, 15)
        self.curve.setVisible(False)
        self._frame = frame
        self._shown: object = None
        self._last = 0.0
        self._answer = Answer[Line | None](plot, self._show)

    def busy(self) -> bool:
        """Return whether a line is being computed."""
        return self._answer.busy

    def hide(self) -> None:
        """Show nothing."""
        self._answer.forget()
        self._shown = None
        self.curve.setVisible(False)

    def follow(self, live: LiveRun, subject: Subject, picture: PlanePicture, mean: Array) -> None:
        """Draw the current state of the run, unless it is drawn or was drawn just before."""
        look, preparation = live.picture, live.preparation
        if look is None or preparation is None or not picture.plane.is_straight:
            self.hide()
            return
        now = time.monotonic()
        if look is self._shown or self._answer.busy or now - self._last < _INTERVAL:
            return
        self._shown, self._last = look, now
        self.curve.setPen(run_pen(live.look, 2.5))
        part = slice_through(picture.plane, mean).carried(subject.preparation, preparation)
        frame = self._frame()

        def work(post: Callable[[None], bool]) -> Line | None:
            found = map_scores(look.scorer, 0.0, part, frame, _CELL, lambda: not post(None))
            level = equal_error_threshold(roc_curve(look.positive, look.scores))
            return None if found is None else found.contour(level)

        self._answer.ask(look, work)

    def _show(self, line: Line | None) -> None:
        if line is not None:
            places, connect = line
            self.curve.setData(places[:, 0], places[:, 1], connect=connect)
            self.curve.setVisible(True)
