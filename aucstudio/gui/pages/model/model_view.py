"""The chosen run's model: weights, importance, score curves, trees; whichever it has."""

from __future__ import annotations

from collections.abc import Container
from typing import ClassVar

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import (
    QGraphicsItem,
    QHBoxLayout,
    QStackedWidget,
    QVBoxLayout,
)

from aucstudio.gui.common.choices import SplitCombo
from aucstudio.gui.common.plain import plain_tooltip
from aucstudio.gui.common.plots.plot import Plot
from aucstudio.gui.common.statement import Statement
from aucstudio.gui.common.view import PageView
from aucstudio.gui.common.widgets import follow_check, hint_label
from aucstudio.gui.pages.model.feature_use import FeatureUsePart
from aucstudio.gui.pages.model.live_weights import is_linear
from aucstudio.gui.pages.model.members import MembersPart
from aucstudio.gui.pages.model.part import Columns, ModelPicture, ModelSubject
from aucstudio.gui.pages.model.permuting import ImportancePart
from aucstudio.gui.pages.model.row import RowPart
from aucstudio.gui.pages.model.shapes import ShapesPart
from aucstudio.gui.pages.model.tree import TreePart
from aucstudio.gui.pages.model.weights import WeightsPart
from aucstudio.gui.state.live import LiveRun
from aucstudio.gui.state.session import Session, ShownRun


class ModelView(PageView):
    """One picture at a time of what the chosen run's model makes of the columns.

    Attributes
    ----------
    picture_combo : QComboBox
        Offers the pictures that mean something for the run.
    follow_check : QCheckBox
    parts : list of ModelPicture
    part : ModelPicture
        The one that is seen.
    """

    listens_to: ClassVar = {
        **PageView.listens_to,
        "focus_changed": "mark_stale",
        "band_rested": "mark_stale",
    }

    sentence_lines: ClassVar = 2

    def __init__(self, session: Session) -> None:
        super().__init__(session, "model_view", "Model")
        self.weights, self.row_part = WeightsPart(), RowPart()
        self.row_part.pointed.connect(lambda row: session.point_at(row=row))
        self.parts: list[ModelPicture] = [
            self.weights,
            MembersPart(),
            ImportancePart(),
            ShapesPart(),
            FeatureUsePart(),
            TreePart(),
            self.row_part,
        ]
        self.part = self.parts[0]
        self._wanted = ""
        self._flying: LiveRun | None = None
        self._make_controls()
        self.stack = QStackedWidget()
        self.hint = hint_label("model_hint")
        self.stack.addWidget(self.hint)
        for part in self.parts:
            self.stack.addWidget(part)
            part.told.connect(lambda words, part=part: self._hear(part, words))
        self.body.addWidget(self.stack)

    def _make_controls(self) -> None:
        row = self.controls
        self.picture_combo = row.choice(
            "model_picture_combo", "P&icture", "What to see of the model"
        )
        self.picture_combo.activated.connect(self._on_picture)
        self.split_combo = row.put(
            SplitCombo("model_split_combo", "Which fit of the run"), "S&plit"
        )
        self.split_combo.activated.connect(lambda k: self.session.point_at(split=k))
        self.follow_check = row.put(follow_check("model_follow_check"))
        self.follow_check.toggled.connect(self.mark_stale)
        self.controls.addStretch(1)
        # A row of their own: the centre may be narrow.
        below, layout = QHBoxLayout(), self.layout()
        assert isinstance(layout, QVBoxLayout)
        layout.insertLayout(1, below)
        for part in self.parts:
            part.bar.setVisible(False)
            below.addWidget(part.bar)
        below.addStretch(0)

    def figure(self) -> Plot:
        return self.part.plot

    def plots(self) -> list[Plot]:
        return [part.plot for part in self.parts]

    def figure_data(self) -> Columns:
        return self.part.data() if self._flying or self._run() else {}

    def busy(self) -> bool:
        return self.part.busy()

    # ------------------------------------------------------------- showing

    def refresh(self) -> None:
        live, run = self._followed(), self._run()
        self.follow_check.setVisible(self._is_offered(self.session.live))
        self.weights.live_weights.leave()
        self._flying = live
        if live is not None:
            self._turn_to_flight(live)
            return
        self.controls.show(run is not None, self.picture_combo)
        if run is None:
            self._show_nothing()
            return
        self._offer_pictures(run)
        table = self.session.table
        if table is not None and table.sha256 != run.record.experiment.data.sha256:
            table = None
        index = min(self.session.focus.split, len(run.record.splits) - 1)
        self._offer_splits(len(run.record.splits), index)
        self.stack.setCurrentWidget(self.part)
        for part in self.parts:
            part.bar.setVisible(part is self.part)
        row, band = self.session.focus.row, self.session.plan.band
        self.part.show_subject(ModelSubject(run, index, table, band, row))

    def show_row(self) -> None:
        """Turn to what moved the score of the row that is pointed at."""
        self._wanted = self.row_part.key
        self.refresh()

    def refresh_live(self) -> None:
        live = self._followed()
        self.follow_check.setVisible(self._is_offered(self.session.live))
        if live is not self._flying:
            self.refresh()
        elif live is not None:
            self.weights.show_live(live)
            self.keep_still()
        elif self._run() is None:
            self._show_nothing()

    def moving(self) -> Container[QGraphicsItem]:
        return (self.weights.chart.dots,)

    def _followed(self) -> LiveRun | None:
        """Return the run in progress if it is what is to be seen: wished, and linear."""
        live = self.session.live
        return live if self._is_offered(live) and self.follow_check.isChecked() else None

    def _is_offered(self, live: LiveRun | None) -> bool:
        """Return whether the weights of the run in progress can be seen where a person looks."""
        if live is None or (self._run() is not None and self._wanted not in ("", self.weights.key)):
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
        self.weights.show_live(live)

    def _run(self) -> ShownRun | None:
        run = self.session.run(self.session.selected)
        return run if run is not None and run.record.splits else None

    def _show_nothing(self) -> None:
        self.controls.show(False, self.split_combo, *(part.bar for part in self.parts))
        for part in self.parts:
            part.leave()
        self.stack.setCurrentWidget(self.hint)
        self.hint.setText("No model yet")
        self.sentence.setText(
            self.why_empty(
                self.session.run(self.session.selected),
                "model",
                "the contributions of columns appear when it ends",
                "the contributions of columns",
            )
        )

    def _offer_pictures(self, run: ShownRun) -> None:
        """List the pictures that suit a run; what was chosen stays if it is among them."""
        suited = [part for part in self.parts if part.suits(run)]
        keys = [part.key for part in suited]
        if keys != [self.picture_combo.itemData(k) for k in range(self.picture_combo.count())]:
            with QSignalBlocker(self.picture_combo):
                self.picture_combo.clear()
                for part in suited:
                    self.picture_combo.addItem(part.title, part.key)
        self._turn_to(next((part for part in suited if part.key == self._wanted), suited[0]))

    def _turn_to(self, part: ModelPicture) -> None:
        if part is not self.part:
            self.part.leave()
            self.part = part
        with QSignalBlocker(self.picture_combo):
            self.picture_combo.setCurrentIndex(self.picture_combo.findData(part.key))
        plain_tooltip(self.picture_combo, part.tip)

    def _offer_splits(self, count: int, index: int) -> None:
        shown = count > 1 and self.part.of_one_split
        self.controls.show(shown, self.split_combo)
        self.split_combo.offer(count, index)

    def _on_picture(self, index: int) -> None:
        self._wanted = str(self.picture_combo.itemData(index))
        self.refresh()

    def _hear(self, part: ModelPicture, words: Statement | str) -> None:
        if part is not self.part or not (self._flying or self._run()):
            return
        self.sentence.setText(words)
