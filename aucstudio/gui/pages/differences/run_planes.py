"""Hyperplanes of several runs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyqtgraph as pg
from PySide6.QtGui import QPen

from aucstudio.engine.types import Array
from aucstudio.gui.common.plain_text import shortened
from aucstudio.gui.common.plots.legend import Entry
from aucstudio.gui.common.plotting import run_pen
from aucstudio.gui.pages.differences.hyperplane import HyperplaneItems, margin_of, margin_pen
from aucstudio.gui.pages.planes.marks import add_line, place_line
from aucstudio.gui.pages.planes.subject import PlanePicture, Subject, split_of
from aucstudio.gui.state.background import Answer
from aucstudio.gui.state.plan import RunLook
from aucstudio.gui.state.runner import LiveRun
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.project.geometry.directions import angle, carried
from aucstudio.project.geometry.pair_order import Misranked, PairOrder
from aucstudio.project.runs.record import SplitResult


class RunPlanes:
    """The hyperplanes in one plot, in the colours and dashes of their runs.

    ``counted`` is called when the errors of the compared run were counted in the background.

    Attributes
    ----------
    chosen, compared, live : HyperplaneItems
    others : list of InfiniteLine
    """

    def __init__(
        self,
        plot: pg.PlotWidget,
        session: Session,
        live_line: pg.InfiniteLine,
        counted: Callable[[], object],
    ) -> None:
        self._plot, self._session = plot, session
        self.compared = HyperplaneItems(plot, 12)
        self.chosen = HyperplaneItems(plot, 15)
        self.live = HyperplaneItems(plot, 18, live_line)
        self.others: list[pg.InfiniteLine] = []
        self._explained: list[tuple[str, QPen]] = []
        self._found: Misranked | None = None
        self._counted = counted
        self._answer = Answer(plot, self._on_counted)

    def draw(self, picture: PlanePicture, every: bool) -> None:
        """Draw the selected run, the compared run and, if ``every``, all checked runs."""
        subject, self._explained = picture.subject, []
        self._take_away()
        if subject.run is None or subject.split is None:
            return
        normal = own_normal(picture)
        if normal is not None:
            self._show(self.chosen, normal, subject.run, subject.split, 2.5)
        compared = self._compared_split(subject)
        moved = None if compared is None else _carried(subject, compared[1])
        normal = None if moved is None else picture.plane.normal(moved)
        if compared is not None and normal is not None:
            self._show(self.compared, normal, *compared, 2.0)
        if every:
            self._draw_others(picture)

    def _compared_split(self, subject: Subject) -> tuple[ShownRun, SplitResult] | None:
        other = self._session.run(self._session.compared)
        is_other = other is not None and other.record.id != self._session.selected
        if subject.split is None or other is None or not is_other or not other.record.splits:
            return None
        return other, other.record.splits[split_of(other, self._session)]

    def about_compared(self, subject: Subject) -> list[str]:
        """Return sentences about the compared run; its errors are counted in the background."""
        compared = self._compared_split(subject)
        if compared is None:
            return []
        other, split = compared
        sentences = self._errors(other, split, subject)
        moved = _carried(subject, split)
        if split.coef is None:
            return [*sentences, f"{other.look.name} is not linear and has no hyperplane here."]
        if moved is None:
            return [*sentences, f"{other.look.name} uses features that {subject.name} does not."]
        if subject.weights is not None:
            turned = angle(subject.weights, moved)
            sentences.append(
                f"The hyperplane of {other.look.name} is at an angle of {turned:.1f}°."
            )
        return sentences

    def _take_away(self) -> None:
        self.chosen.hide()
        self.compared.hide()
        for line in self.others:
            self._plot.removeItem(line)
        self.others = []

    def _show(
        self, items: HyperplaneItems, normal: Array, run: ShownRun, split: SplitResult, width: float
    ) -> None:
        drawn = run_pen(run.look, width)
        margin = margin_of(run.record.experiment.method, split.model.params)
        items.show(normal, margin, drawn, _line_name(run.look))
        chosen = items is self.chosen
        self._explained.append((_line_name(run.look) if chosen else run.look.name, drawn))
        if margin is not None and chosen:
            self._explained.append(("target margin of its pairs", margin_pen(drawn.color())))

    def _errors(self, other: ShownRun, split: SplitResult, subject: Subject) -> list[str]:
        """State how many pairs the compared run ranks wrongly, if it has the same rows."""
        assert subject.split is not None
        part = "test" if subject.held_out else "train"
        rows, scores, positive = (f"{part}_{what}" for what in ("rows", "scores", "positive"))
        if not np.array_equal(getattr(split, rows), getattr(subject.split, rows)):
            return []
        asked = other.record.id, split.repeat, split.fold, part
        if asked != self._answer.key:
            self._found = None
            data = getattr(split, positive), getattr(split, scores)
            self._answer.ask(asked, lambda _post: PairOrder.of(*data).misranked(0))
        if self._found is None:
            return []
        return [f"{other.look.name} ranks {self._found.wrong:,} of them wrongly."]

    def _on_counted(self, found: Misranked) -> None:
        self._found = found
        self._counted()

    def _draw_others(self, picture: PlanePicture) -> None:
        shown = {self._session.selected, self._session.compared}
        for run in self._session.checked_runs():
            split = run.record.splits[split_of(run, self._session)]
            moved = None if run.record.id in shown else _carried(picture.subject, split)
            normal = None if moved is None else picture.plane.normal(moved)
            if normal is not None:
                line = add_line(self._plot, 11)
                line.setPen(run_pen(run.look, 1.5))
                place_line(line, normal, 0.0)
                self.others.append(line)
                self._explained.append((run.look.name, run_pen(run.look, 1.5)))

    def move_live(self, live: LiveRun | None, normal: Array | None) -> None:
        """Draw the current hyperplane of the run in progress, or none."""
        if live is None or normal is None:
            self.live.hide()
            return
        margin = margin_of(live.experiment.method, live.experiment.params)
        self.live.show(normal, margin, run_pen(live.look, 2.5), _line_name(live.look))

    def entries(self) -> list[Entry]:
        """List the lines for the legend."""
        return list(self._explained)


def own_normal(picture: PlanePicture) -> Array | None:
    """Return the normal of the hyperplane of the subject, if it is a line in the plane."""
    if not picture.plane.is_straight:
        return np.array([1.0, 0.0])
    weights = picture.subject.weights
    return None if weights is None else picture.plane.normal(weights)


def _line_name(look: RunLook) -> str:
    return f"{shortened(look.name)}: equal scores"


def _carried(subject: Subject, split: SplitResult) -> Array | None:
    """Return the weights of a linear split for the features of the picture."""
    if split.coef is None:
        return None
    moved = carried(split.coef, 0.0, split.model.preparation, subject.preparation)
    return None if moved is None else moved[0]
