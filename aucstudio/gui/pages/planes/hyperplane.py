"""Hyperplanes ⟨w, z⟩ = 0 of runs with margin, normal and name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtGui import QColor, QPen

from aucstudio.engine import METHODS
from aucstudio.engine.arrays import Array
from aucstudio.gui.common.plain_text import line_label, shortened
from aucstudio.gui.common.plots.legend import Entry
from aucstudio.gui.common.plots.plot import Plot
from aucstudio.gui.common.plotting import faded, pen, run_pen
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.pages.planes.subject import (
    PlanePicture,
    Subject,
    add_curve,
    add_line,
    carried_fit,
    compared_split,
    has_rows_of,
    place_line,
    split_of,
)
from aucstudio.gui.pages.planes.words import part_words
from aucstudio.gui.state.background import Answer
from aucstudio.gui.state.plan import RunLook
from aucstudio.gui.state.runner import LiveRun
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.notices import text
from aucstudio.project.geometry.pairs import Misranked, PairOrder
from aucstudio.project.geometry.planes import angle
from aucstudio.project.runs.record import SplitResult

_NORMAL_PIXELS, _AT_ENDS = 72.0, 56.0


class HyperplaneItems:
    """The hyperplane, the margin of the method, and the normal."""

    def __init__(self, plot: Plot, z: float, line: pg.InfiniteLine | None = None) -> None:
        self._box = plot.getViewBox()
        self.margin = add_line(plot, z)
        self.line = add_line(plot, z + 1) if line is None else line
        self.name = pg.InfLineLabel(self.line, "", position=0.04, anchors=[(0, 0), (0, 1)])
        self.name.setZValue(z + 3)
        self.shaft = add_curve(plot, z + 2)
        self.head = pg.ArrowItem(headLen=12, tipAngle=36, pxMode=True)
        self.head.setZValue(z + 2)
        plot.addItem(self.head)
        self._normal: Array | None = None
        self._name = ""
        self._box.sigTransformChanged.connect(self._aim)
        self.hide()

    def hide(self) -> None:
        """Hide all items."""
        self._normal = None
        for item in (self.line, self.margin, self.shaft, self.head):
            item.setVisible(False)

    def show(self, normal: Array, margin: float | None, drawn: QPen, name: str = "") -> None:
        """Draw where a·c = 0 and ``margin`` for the normal a, with a name along the line."""
        self._normal = normal
        colour = drawn.color()
        self.line.setPen(drawn)
        place_line(self.line, normal, 0.0)
        self.margin.setVisible(margin is not None)
        if margin is not None:
            self.margin.setPen(margin_pen(colour))
            place_line(self.margin, normal, margin)
        self._show_name(name, colour)
        self._show_normal(colour)

    def _show_name(self, name: str, colour: QColor) -> None:
        # Along the line; where that is upright, up from the bottom.
        self.name.rotateAxis = pg.Point(1.0, 0.0)
        self.name.setColor(colour)
        self.name.fill = pg.mkBrush(faded(current_theme().card, 200))
        self.name.setFormat(line_label(name))
        self._name = name

    def _show_normal(self, colour: QColor) -> None:
        self.shaft.setPen(pen(colour, 2))
        self.head.setStyle(brush=colour, pen=None)
        self.shaft.setVisible(True)
        self.head.setVisible(True)
        self._aim()

    def _aim(self, *_changed: Any) -> None:
        """Draw an arrow from the origin along the normal, of constant length on the screen.

        The head lives in pixels, so its angle is that of the normal as it looks there.
        """
        if self._normal is None:
            return
        pixel = np.array(self._box.viewPixelSize())
        if not (pixel > 0).all():
            return  # not laid out yet
        seen = self._normal / pixel
        self.name.setVisible(bool(self._name) and self._has_room(seen))
        tip = self._normal * (_NORMAL_PIXELS / max(float(np.linalg.norm(seen)), 1e-300))
        self.shaft.setData([0.0, tip[0]], [0.0, tip[1]])
        self.head.setPos(*tip)
        self.head.setStyle(angle=180.0 - float(np.degrees(np.arctan2(seen[1], seen[0]))))

    def _has_room(self, seen: Array) -> bool:
        """Return whether the name fits on the line below its end label.

        A legend has it.
        """
        across, up = np.abs(seen[::-1]) / np.linalg.norm(seen)
        sides = (self._box.width(), across), (self._box.height(), up)
        length = min(size / share for size, share in sides if share > 0.0)
        return bool(self.name.textItem.boundingRect().width() <= length - _AT_ENDS)


def margin_pen(colour: QColor) -> QPen:
    """Make the pen of a margin: thin, in its run's colour, with the run's dashes."""
    return pen(faded(colour, 150), 1.0)


def margin_of(method: str, params: Mapping[str, Any]) -> float | None:
    """Return the margin of a method, or None."""
    return float(params.get("margin", 1.0)) if METHODS[method].wants_margin else None


_BESIDE = 6.0  # pixels


class SideNames:
    """Two labels at the top of both sides of x = 0, if there is room.

    Attributes
    ----------
    wrong, right : TextItem
    """

    def __init__(self, plot: Plot) -> None:
        self.wrong, self.right = pg.TextItem(anchor=(1, 0)), pg.TextItem(anchor=(0, 0))
        self._box = plot.getViewBox()
        self._shown = False
        for item in (self.wrong, self.right):
            item.setZValue(28)
            plot.addItem(item, ignoreBounds=True)
        self.hide()
        self._box.sigTransformChanged.connect(self._place)
        self._box.sigResized.connect(self._place)

    def show(self, misranked: float, rows: str, weighted: bool = False) -> None:
        """Show which share of the pairs of these rows is ranked wrongly, and which right.

        The shares count every pair once; where rows are ``weighted``, the labels say so.
        """
        theme, self._shown = current_theme(), True
        wrong = text("side_of_wrong_pairs", share=part_words(misranked), rows=rows)
        right = part_words(1.0 - misranked)
        right = text("side_of_right_pairs", share=right, weighted=weighted)
        self.wrong.setText(wrong, color=theme.wrong)
        self.right.setText(right, color=theme.text)
        for item in (self.wrong, self.right):
            item.fill = pg.mkBrush(theme.card)
        self._place()

    def hide(self) -> None:
        """Hide the labels."""
        self._shown = False
        for item in (self.wrong, self.right):
            item.setVisible(False)

    def _place(self, *_changed: Any) -> None:
        if not self._shown:
            return
        (left, end), (_, top) = self._box.viewRange()
        across, up = self._box.viewPixelSize()
        for item, side, room in ((self.wrong, -1.0, 0.0 - left), (self.right, 1.0, end)):
            wide = item.boundingRect().width() + _BESIDE
            item.setVisible(bool(room >= wide * across))
            item.setPos(side * _BESIDE * across, top - _BESIDE * up)


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
        plot: Plot,
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
        compared = compared_split(self._session, subject)
        if compared is not None and (normal := _normal(picture, compared[1])) is not None:
            self._show(self.compared, normal, *compared, 2.0)
        if every:
            self._draw_others(picture)

    def about_compared(self, subject: Subject) -> list[str]:
        """Return sentences about the compared run; its errors are counted in the background."""
        compared = compared_split(self._session, subject)
        if compared is None:
            return []
        (other, split), moved = compared, carried_fit(subject, compared[1])
        name, why = other.look.name, ""
        if split.coef is None:
            why = text("other_not_linear", name=name)
        elif moved is None:
            why = text("other_features", name=name, chosen=subject.name)
        found = [self._errors(other, split, subject), why]
        if moved is not None and subject.weights is not None:
            turned = angle(subject.weights, moved[0])
            found.append(text("angle_of_hyperplane", name=name, angle=turned))
        return [sentence for sentence in found if sentence]

    def _take_away(self) -> None:
        self.chosen.hide()
        self.compared.hide()
        self._plot.removeItem(*self.others)
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

    def _errors(self, other: ShownRun, split: SplitResult, subject: Subject) -> str:
        """State how many pairs the compared run ranks wrongly, if it has the same rows."""
        held = subject.held_out
        if not has_rows_of(subject, split):
            return ""
        asked = other.record.id, split.repeat, split.fold, held
        if asked != self._answer.key:
            self._found = None
            train = split.train_positive, split.train_scores
            data = (split.test_positive, split.test_scores) if held else train
            self._answer.ask(asked, lambda _post: PairOrder.of(*data).misranked(0))
        if self._found is None:
            return ""
        return text("other_misranks", name=other.look.name, wrong=self._found.wrong)

    def _on_counted(self, found: Misranked) -> None:
        self._found = found
        self._counted()

    def _draw_others(self, picture: PlanePicture) -> None:
        shown = {self._session.selected, self._session.compared}
        for run in self._session.checked_runs():
            split = run.record.splits[split_of(run, self._session)]
            normal = None if run.record.id in shown else _normal(picture, split)
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


def _normal(picture: PlanePicture, split: SplitResult) -> Array | None:
    """Return the normal of the hyperplane of a linear split in a picture."""
    moved = carried_fit(picture.subject, split)
    return None if moved is None else picture.plane.normal(moved[0])
