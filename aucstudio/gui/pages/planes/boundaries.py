"""Decision boundaries of runs, and score maps refined in the background."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QObject, QRectF

from aucstudio.engine.arrays import Array
from aucstudio.engine.roc import equal_error_threshold, roc_curve
from aucstudio.engine.scorers import Scorer
from aucstudio.gui.common.plots.legend import Entry
from aucstudio.gui.common.plots.plot import Plot
from aucstudio.gui.common.plotting import run_pen
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.pages.planes.subject import (
    PlanePicture,
    add_curve,
    add_line,
    carried_fit,
    place_line,
    split_of,
    two_hues,
)
from aucstudio.gui.state.background import Answer
from aucstudio.gui.state.runner import LiveRun
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.project.data.preparing.preparation import Preparation
from aucstudio.project.geometry.score_map import (
    CELLS,
    PlaneFrame,
    ScoreMap,
    Slice,
    score_map,
    slice_through,
)

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

    def __init__(self, plot: Plot, mapped: Callable[[str], object]) -> None:
        super().__init__(plot)
        self._plot, self._mapped = plot, mapped
        self._surfaces: Sequence[Surface] = ()
        self.maps: dict[str, ScoreMap] = {}
        self._answer = Answer[None](self, lambda _done: None, progress=self._on_map)
        box = plot.getViewBox()
        for changed in (box.sigRangeChanged, box.sigResized):
            changed.connect(lambda *_: self._ask())

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

    def __init__(self, plot: Plot) -> None:
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
    theme, far = current_theme(), np.abs(np.linspace(-1.0, 1.0, 256))
    return two_hues(theme.negative, theme.positive, np.round(10 + (_STRONGEST - 10) * far))


_Z = 10


@dataclasses.dataclass(eq=False)
class Boundary:
    """The boundary of a run: a line, or a contour, which may still be empty."""

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
        Boundary of each run by its id, the selected run last.
    surfaces : list of Surface
        Scores to be mapped for contours and shading, the selected run first.
    """

    def __init__(self, plot: Plot, session: Session) -> None:
        self._plot, self._session = plot, session
        self.drawn: dict[str, Boundary] = {}
        self.surfaces: list[Surface] = []

    def draw(self, picture: PlanePicture) -> None:
        """Draw the lines, and find the surfaces that contours need."""
        self.clear()
        chosen = picture.subject.run
        if chosen is None:
            return
        others = [r for r in self._session.checked_runs() if r.record is not chosen.record]
        for run in [*others, chosen]:
            self.draw_one(run, picture)
            surface = self._surface(run, picture)
            if surface is not None:
                self.surfaces.insert(0, surface)

    def clear(self) -> None:
        """Remove all boundaries."""
        self._plot.removeItem(*(boundary.item for boundary in self.drawn.values()))
        self.drawn, self.surfaces = {}, []

    def entries(self) -> list[Entry]:
        """List the run of each line for the legend."""
        return [(one.run.look.name, run_pen(one.run.look)) for one in self.drawn.values()]

    def _threshold(self, run: ShownRun) -> float:
        """Return the threshold of a run: for the selected one, that of the focus."""
        chosen = run.record.id == self._session.selected
        return self._session.focus.threshold if chosen else 0.0

    def draw_one(self, run: ShownRun, picture: PlanePicture) -> None:
        """Draw the boundary of a run at its threshold; a contour waits for its map."""
        split, plane = run.record.splits[split_of(run, self._session)], picture.plane
        if not plane.is_straight:
            if picture.subject.run is run:
                self._place(run, np.array([1.0, 0.0]), self._threshold(run))
            return
        if split.coef is None:
            if run.record.id not in self.drawn:
                curve = add_curve(self._plot, _Z)
                curve.setPen(run_pen(run.look))
                self.drawn[run.record.id] = Boundary(run, curve)
            return
        moved = carried_fit(picture.subject, split, split.model.intercept - self._threshold(run))
        normal = None if moved is None else plane.normal(moved[0])
        if moved is not None and normal is not None:
            self._place(run, normal, plane.level(*moved, picture.extra.mean))

    def _surface(self, run: ShownRun, picture: PlanePicture) -> Surface | None:
        """Return the score of a run on the plane if it needs a map."""
        model = run.record.splits[split_of(run, self._session)].model
        is_line = run is not picture.subject.run and model.scorer.kind == "linear"
        if is_line or not picture.plane.is_straight:
            return None
        part = slice_of(picture, model.preparation)
        return Surface(run.record.id, model.scorer, model.intercept, part)

    def _place(self, run: ShownRun, normal: Array, level: float) -> None:
        boundary = self.drawn.get(run.record.id)
        if boundary is None:
            line = add_line(self._plot, _Z)
            line.setPen(run_pen(run.look))
            boundary = self.drawn[run.record.id] = Boundary(run, line)
        place_line(boundary.item, normal, level)

    def show_map(self, key: str, found: ScoreMap) -> None:
        """Draw the contour of a run from a map; a line needs none."""
        boundary = self.drawn.get(key)
        if boundary is not None and not boundary.is_line:
            _draw_contour(boundary.item, found.contour(self._threshold(boundary.run)))


def slice_of(picture: PlanePicture, preparation: Preparation) -> Slice:
    """Return the plane of a picture in the features of another preparation."""
    plane = slice_through(picture.plane, picture.extra.mean)
    return plane.carried(picture.subject.preparation, preparation)


Line = tuple[Array, NDArray[np.int32]]


def _draw_contour(curve: pg.PlotCurveItem, line: Line) -> None:
    places, connect = line
    curve.setData(places[:, 0], places[:, 1], connect=connect)


_CELL = 24  # pixels
_INTERVAL = 0.1  # s


class LiveContour:
    """The contour of the run in progress at its current equal-error threshold."""

    def __init__(self, plot: Plot, frame: Callable[[], PlaneFrame]) -> None:
        self.curve = add_curve(plot, 15)
        self.curve.setVisible(False)
        self._frame = frame
        self._shown: object = None
        self._last = 0.0
        self._answer = Answer[Line | None](plot, self._show)

    def hide(self) -> None:
        """Show nothing."""
        self._answer.forget()
        self._shown = None
        self.curve.setVisible(False)

    def follow(self, live: LiveRun, picture: PlanePicture) -> None:
        """Draw the current scorer of the run, unless one was drawn just before."""
        look, preparation = live.picture, live.preparation
        if look is None or preparation is None or not picture.plane.is_straight:
            self.hide()
            return
        now = time.monotonic()
        if look is self._shown or self._answer.busy or now - self._last < _INTERVAL:
            return
        self._shown, self._last = look, now
        self.curve.setPen(run_pen(live.look, 2.5))
        part, frame = slice_of(picture, preparation), self._frame()

        def work(post: Callable[[None], bool]) -> Line | None:
            found = score_map(look.scorer, 0.0, part, frame, _CELL, lambda: not post(None))
            level = equal_error_threshold(roc_curve(look.positive, look.scores))
            return None if found is None else found.contour(level)

        self._answer.ask(look, work)

    def _show(self, line: Line | None) -> None:
        if line is not None:
            _draw_contour(self.curve, line)
            self.curve.setVisible(True)
