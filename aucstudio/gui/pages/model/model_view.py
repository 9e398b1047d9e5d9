"""Model: weights, importance, effects, trees, one row."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from functools import partial
from typing import Any, ClassVar, TypeVar

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QGraphicsItem, QMenu, QStackedWidget

from aucstudio.gui.common.buttons import make_action
from aucstudio.gui.common.controls import fill_combo
from aucstudio.gui.common.layouts import STRETCH, across, down
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.plots.plot import Plot
from aucstudio.gui.common.sentence import Statement
from aucstudio.gui.common.view import PageView
from aucstudio.gui.common.widgets import quietly
from aucstudio.gui.pages.model.charts import (
    FeatureUsePart,
    ImportancePart,
    MembersPart,
    WeightsPart,
    is_linear,
)
from aucstudio.gui.pages.model.effects import ShapesPart
from aucstudio.gui.pages.model.model_picture import Columns, ModelPicture, ModelSubject
from aucstudio.gui.pages.model.row import RowPart
from aucstudio.gui.pages.model.tree import TreePart
from aucstudio.gui.state.runner import LiveRun
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.notices import text

Picture = TypeVar("Picture", bound=ModelPicture[Any])
_PARTS: Sequence[Callable[[], ModelPicture[Any]]] = (
    *(MembersPart, ImportancePart, ShapesPart),
    *(FeatureUsePart, TreePart),
)


class ModelView(PageView):
    """One picture at a time of what the chosen run's model makes of the columns.

    Attributes
    ----------
    picture_combo : QComboBox
        Offers the pictures that mean something for the run.
    follow_check : QCheckBox
    parts : list of ModelPicture
    part : ModelPicture
        The visible one.
    """

    listens_to: ClassVar = {
        **PageView.listens_to,
        "focus": "mark_stale",
        "band_rested": "mark_stale",
    }
    lacks: ClassVar = "model"
    soon: ClassVar = "the contributions of columns appear when it ends"
    aim: ClassVar = "the contributions of columns"

    def __init__(self, session: Session) -> None:
        super().__init__(session, "model_view", "Model")
        self.parts: list[ModelPicture[Any]] = []
        self.pictures: list[Plot] = []
        self._wanted = ""
        self._flying: LiveRun | None = None
        self._make_controls()
        # The controls of a part have a row of their own: the centre may be narrow.
        self._bars, self.stack = across(STRETCH), QStackedWidget()
        self.set_content(down(self._bars, (self.stack, 1)), "No model yet")
        others = [partial(self._add, kind) for kind in _PARTS]
        self.making.ask(self._make_weights, *others, self._make_row)

    def _make_weights(self) -> None:
        self.weights = self._add(WeightsPart)
        self.part: ModelPicture[Any] = self.weights

    def _make_row(self) -> None:
        self.row_part = self._add(RowPart)
        self.row_part.pointed.connect(lambda row: self.session.point_at(row=row))

    def _add(self, kind: Callable[[], Picture]) -> Picture:
        part = kind()
        self._bars.insertWidget(len(self.parts), part.bar)
        self.stack.addWidget(part)
        self.parts.append(part)
        self.pictures += part.findChildren(Plot)
        part.message.connect(lambda words: self._on_message(part, words))
        return part

    def _make_controls(self) -> None:
        row = self.controls
        self.picture_combo = row.choice("model_picture_combo")
        self.picture_combo.activated.connect(self._on_picture)
        self.split_combo = self.choose_split("model_split_combo")
        self.offer_following()
        self.controls.addStretch(1)

    def figure_data(self) -> Columns:
        return self.part.data() if self._flying or self._run() else {}

    def show_menu(self, plot: Plot, place: QPoint) -> QMenu:
        menu, name = self.menu_of(plot), self.part.name_at(place)
        run, table = self._run(), self.session.table
        if table is not None and run is not None and name in table.feature_names:
            for key in ("model_ignore_action", "model_ignore_run_action"):
                words = text(key, column=name)
                make_action(menu, key, words, verb=partial(self._ignore, name, key.count("run")))
            menu.actions()[-1].setEnabled(not run.record.experiment.members)
        menu.popup(place)
        return menu

    def _ignore(self, column: str, again: int) -> None:
        """Ignore a column, and perhaps run again with the settings of the selected run."""
        if again and self.session.selected is not None:
            self.session.reuse_settings(self.session.selected)
        self.session.keep_from_methods(column)
        if again:
            self.session.asked.emit("run", ())

    # ------------------------------------------------------------- showing

    def refresh(self) -> None:
        live, run = self.followed(), self._run()
        self.weights.end_live()
        self._flying = live
        if live is not None:
            self._turn_to_flight(live)
            return
        self.controls.show(run is not None, self.picture_combo)
        if run is None:
            self._show_nothing()
            return
        self._offer_pictures(run)
        table = self.session.table if run.is_of(self.session.table) else None
        index = min(self.session.focus.split, len(run.record.splits) - 1)
        self._offer_splits(len(run.record.splits), index)
        self.stack.setCurrentWidget(self.part)
        self.show_content(True)
        for part in self.parts:
            part.bar.setVisible(part is self.part)
        focus, band = self.session.focus, self.session.plan.band
        subject = ModelSubject(run, index, table, band, focus.row, focus.threshold)
        self.part.show_subject(subject)

    def show_row(self) -> None:
        """Show what moved the score of the selected row."""
        self._wanted = self.row_part.key
        self.refresh()

    def refresh_live(self) -> None:
        live = self.followed()
        if live is not self._flying:
            self.refresh()
        elif live is not None:
            self.weights.show_live(live)
            self.keep_still()
        elif self._run() is None:
            self._show_nothing()

    def moving(self) -> Container[QGraphicsItem]:
        return (self.weights.chart.dots,)

    def can_follow(self, live: LiveRun) -> bool:
        if self._run() is not None and self._wanted not in ("", self.weights.key):
            return False
        # Between two fits there is no scorer: the weights of the one before stay.
        return is_linear(live) or (live is self._flying and live.picture is None)

    def _turn_to_flight(self, live: LiveRun) -> None:
        """Show the weights of the run in progress, which has no other pictures or splits yet."""
        self.controls.show(False, self.picture_combo, self.split_combo)
        for part in self.parts:
            part.bar.setVisible(False)
        if self.part is not self.weights:
            self.part.leave()
            self.part = self.weights
        self.stack.setCurrentWidget(self.weights)
        self.show_content(True)
        self.weights.show_live(live)

    def _run(self) -> ShownRun | None:
        run = self.session.run(self.session.selected)
        return run if run is not None and run.record.splits else None

    def _show_nothing(self) -> None:
        self.controls.show(False, self.split_combo, *(part.bar for part in self.parts))
        for part in self.parts:
            part.leave()
        self.show_content(False)
        self.sentence.setText(self.why_empty(self.session.run(self.session.selected)))

    def _offer_pictures(self, run: ShownRun) -> None:
        """List the pictures that apply to a run; keep the chosen one if it is among them."""
        suited = [part for part in self.parts if part.suits(run)]
        fill_combo(self.picture_combo, [(part.title, part.key) for part in suited])
        self._turn_to(next((part for part in suited if part.key == self._wanted), suited[0]))

    def _turn_to(self, part: ModelPicture[Any]) -> None:
        if part is not self.part:
            self.part.leave()
            self.part = part
        quietly(self.picture_combo.setCurrentIndex, self.picture_combo.findData(part.key))
        plain_tooltip(self.picture_combo, text(part.tip))

    def _offer_splits(self, count: int, index: int) -> None:
        shown = count > 1 and self.part.of_one_split
        self.controls.show(shown, self.split_combo)
        self.split_combo.offer(count, index)

    def _on_picture(self, index: int) -> None:
        self._wanted = str(self.picture_combo.itemData(index))
        self.refresh()

    def _on_message(self, part: ModelPicture[Any], words: Statement | str) -> None:
        if part is not self.part or not (self._flying or self._run()):
            return
        self.sentence.setText(words)
