"""The boundary of the run in progress where it is no line: a coarse map, now and then."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray

from aucstudio.engine.roc import equal_error_threshold
from aucstudio.gui.common.plotting import run_pen
from aucstudio.gui.pages.planes.marks import add_curve
from aucstudio.gui.pages.planes.subject import Picture, Subject
from aucstudio.gui.state.background import Background
from aucstudio.gui.state.live import LiveRun
from aucstudio.project.geometry.score_map import Frame, slice_through
from aucstudio.project.geometry.score_map import score_map as map_scores
from aucstudio.project.work.job import Job

Array = NDArray[np.float64]
Line = tuple[Array, NDArray[np.int32]]

_CELL = 24  # pixels
_INTERVAL = 0.1  # s


class LiveContour:
    """The contour of the run in progress at its equal-error threshold so far.

    Attributes
    ----------
    curve : PlotCurveItem
    """

    def __init__(self, plot: pg.PlotWidget, frame: Callable[[], Frame]) -> None:
        self.curve = add_curve(plot, 15)
        self.curve.setVisible(False)
        self._frame = frame
        self._shown: object = None
        self._last = 0.0
        self._work = Background(plot, self._land)

    def busy(self) -> bool:
        """Return whether a contour is under way."""
        return self._work.busy

    def hide(self) -> None:
        """Show nothing."""
        self._work.drop()
        self._shown = None
        self.curve.setVisible(False)

    def follow(self, live: LiveRun, subject: Subject, picture: Picture, mean: Array) -> None:
        """Draw the run as it stands, unless it is drawn already or was just a moment ago."""
        look, preparation = live.picture, live.preparation
        if look is None or preparation is None or not picture.plane.is_straight:
            self.hide()
            return
        now = time.monotonic()
        if look is self._shown or self._work.busy or now - self._last < _INTERVAL:
            return
        self._shown, self._last = look, now
        self.curve.setPen(run_pen(live.look, 2.5))
        part = slice_through(picture.plane, mean).carried(subject.preparation, preparation)
        frame = self._frame()

        def work(post: Callable[[None], bool]) -> Line | None:
            found = map_scores(look.scorer, 0.0, part, frame, _CELL, lambda: not post(None))
            level = equal_error_threshold(look.positive, look.scores)
            return None if found is None else found.contour(level)

        self._work.start(look, work)

    def _land(self, _key: object, job: Job[None, Line | None]) -> None:
        if job.result is not None:
            places, connect = job.result
            self.curve.setData(places[:, 0], places[:, 1], connect=connect)
            self.curve.setVisible(True)
