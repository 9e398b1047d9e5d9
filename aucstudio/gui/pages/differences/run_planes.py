"""The hyperplanes of the runs: the chosen one, the one compared with it, others, the live one."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtGui import QPen

from aucstudio.gui.common.plots.legend import Legend
from aucstudio.gui.common.plotting import run_pen
from aucstudio.gui.pages.differences.hyperplane import HyperplaneItems, margin_of
from aucstudio.gui.pages.planes.marks import add_line, place_line
from aucstudio.gui.pages.planes.subject import Picture, Subject, split_of
from aucstudio.gui.state.live import LiveRun
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.project.geometry.pair_order import Misranked, PairOrder
from aucstudio.project.geometry.planes import Plane, angle, carried
from aucstudio.project.runs.record import SplitResult

Array = NDArray[np.float64]


class RunPlanes:
    """The hyperplanes in one plot; each keeps its run's colour and dash.

    Attributes
    ----------
    chosen, compared, live : HyperplaneItems
    others : list of InfiniteLine
    """

    def __init__(self, plot: pg.PlotWidget, session: Session, live_line: pg.InfiniteLine) -> None:
        self._plot, self._session = plot, session
        self.compared = HyperplaneItems(plot, 12)
        self.chosen = HyperplaneItems(plot, 15)
        self.live = HyperplaneItems(plot, 18, live_line)
        self.others: list[pg.InfiniteLine] = []
        self._explained: list[tuple[str, QPen]] = []
        self._asked: tuple[object, ...] = ()
        self._found: Misranked | None = None

    def draw(self, subject: Subject, picture: Picture, every: bool) -> list[str]:
        """Draw the chosen run's, the compared one's and, if wanted, those of all checked runs.

        Returns
        -------
        list of str
            What there is to say of the compared one.
        """
        self._explained = []
        self._take_away()
        if subject.run is None or subject.split is None:
            return []
        normal = own_normal(subject, picture.plane)
        if normal is not None:
            drawn = run_pen(subject.run.look, 2.5)
            self.chosen.show(normal, _margin(subject.run, subject.split), drawn)
            self._explained.append((subject.run.look.name, drawn))
        told = self._draw_compared(subject, picture)
        if every:
            self._draw_others(subject, picture)
        return told

    def _take_away(self) -> None:
        self.chosen.hide()
        self.compared.hide()
        for line in self.others:
            self._plot.removeItem(line)
        self.others = []

    def _draw_compared(self, subject: Subject, picture: Picture) -> list[str]:
        other = self._session.run(self._session.compared)
        if other is None or not other.record.splits or other.record.id == self._session.selected:
            return []
        split = other.record.splits[split_of(other, self._session)]
        told = self._errors(other, split, subject)
        if split.coef is None:
            return [*told, f"{other.look.name} is not linear and has no hyperplane here."]
        moved = _carried(subject, split)
        if moved is None:
            return [*told, f"{other.look.name} uses features that {subject.name} does not."]
        normal = picture.plane.normal(moved)
        if normal is not None:
            self.compared.show(normal, _margin(other, split), run_pen(other.look))
            self._explained.append((other.look.name, run_pen(other.look)))
        if subject.weights is not None:
            turned = angle(subject.weights, moved)
            told.append(f"The hyperplane of {other.look.name} is turned by {turned:.1f}°.")
        return told

    def _errors(self, other: ShownRun, split: SplitResult, subject: Subject) -> list[str]:
        """Say how many of the pairs the compared run ranks wrongly, if it had the same rows."""
        assert subject.split is not None
        part = "test" if subject.held_out else "train"
        rows, scores, positive = (f"{part}_{what}" for what in ("rows", "scores", "positive"))
        if not np.array_equal(getattr(split, rows), getattr(subject.split, rows)):
            return []
        asked = other.record.id, split.repeat, split.fold, part
        if asked != self._asked:
            order = PairOrder.of(getattr(split, positive), getattr(split, scores))
            self._asked, self._found = asked, order.misranked(0)
        if self._found is None:
            return []
        return [f"{other.look.name} ranks {self._found.wrong:,} of them wrongly."]

    def _draw_others(self, subject: Subject, picture: Picture) -> None:
        shown = {self._session.selected, self._session.compared}
        for run in self._session.checked_runs():
            split = run.record.splits[split_of(run, self._session)]
            if run.record.id in shown or split.coef is None:
                continue
            moved = _carried(subject, split)
            normal = None if moved is None else picture.plane.normal(moved)
            if normal is not None:
                line = add_line(self._plot, 11)
                line.setPen(run_pen(run.look, 1.5))
                place_line(line, normal, 0.0)
                self.others.append(line)
                self._explained.append((run.look.name, run_pen(run.look, 1.5)))

    def move_live(self, live: LiveRun | None, normal: Array | None) -> None:
        """Put the hyperplane of the run in flight where it is now, or take it away."""
        if live is None or normal is None:
            self.live.hide()
            return
        margin = margin_of(live.experiment.method, live.experiment.params)
        self.live.show(normal, margin, run_pen(live.look, 2.5))

    def explain(self, legend: Legend) -> None:
        """Say in a legend whose the lines are."""
        for words, drawn in self._explained:
            legend.explain_line(words, drawn)


def own_normal(subject: Subject, plane: Plane) -> Array | None:
    """Give the normal of the chosen run's own hyperplane in a plane, if it is a line there."""
    if not plane.is_straight:
        return np.array([1.0, 0.0])
    return None if subject.weights is None else plane.normal(subject.weights)


def _margin(run: ShownRun, split: SplitResult) -> float | None:
    return margin_of(run.record.experiment.method, split.model.params)


def _carried(subject: Subject, split: SplitResult) -> Array | None:
    """Write the weights of a split on the features of the picture."""
    assert split.coef is not None
    moved = carried(split.coef, 0.0, split.model.preparation, subject.preparation)
    return None if moved is None else moved[0]
