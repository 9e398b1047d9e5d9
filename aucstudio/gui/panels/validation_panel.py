"""Validation card: scheme, seed and FPR range."""

from __future__ import annotations

import dataclasses
from typing import Any

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QDoubleSpinBox, QPushButton

from aucstudio.engine import METHODS
from aucstudio.engine.params import InvalidSetting, Param
from aucstudio.gui.common import prompts
from aucstudio.gui.common.curves import MIN_WIDTH
from aucstudio.gui.common.form import (
    Form,
    choice_box,
    in_column,
    narrow_combo,
    plain_box,
    whole_box,
)
from aucstudio.gui.common.layouts import LEFT, down, holding
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.widgets import (
    Card,
    enable_item,
    label,
    named,
    tell,
)
from aucstudio.gui.panels.param_form import TextEditor
from aucstudio.gui.state.session import Session
from aucstudio.project.data.splitting.groups import Groups
from aucstudio.project.data.splitting.validation import (
    FILE,
    FOLDS,
    FORWARD,
    HOLD_OUT,
    LEAVE_PAIR_OUT,
    Validation,
)
from aucstudio.project.data.table import Table

_SCHEMES = {
    HOLD_OUT: "Hold-out",
    FOLDS: "Cross-validation",
    FORWARD: "Forward in time",
    FILE: "Test file",
    LEAVE_PAIR_OUT: "Leave-pair-out",
}
_TIPS = {
    "scheme": "Rows held out from training, on which the model is evaluated",
    "test_size": "Share of the rows that are held out; both classes keep their shares",
    "folds": "Number of folds; each is held out once",
    "time": "Column of dates or numbers that orders the rows in time",
    "gap": "Minimum time between training rows and evaluated rows",
    "window": "How far back training rows reach",
    "repeats": "Number of random redraws; more repeats give more stable figures",
    "seed": "Random seed: the same seed holds out the same rows",
    "band": "False-positive rates that you can accept: the partial AUC is computed over them, and "
    "methods that train for a range use this one",
}
_TIPS["steps"] = "Blocks of later rows to evaluate on, one after the other"
_AHEAD = (
    "Each step trains on the rows before a block, in the order of {}, and is evaluated on the "
    "block. The first block is never evaluated."
)
_FAR = 1_000_000_000.0
_BAND = Param("range", (0.0, 0.1), _TIPS["band"], low=0.0, high=1.0, name="FPR range")


class ValidationPanel(Card):
    """Edits the plan's validation."""

    def __init__(self, session: Session) -> None:
        super().__init__("2  Validation")
        self.session = session
        self.scheme = choice_box("scheme_combo", "Validation scheme", _SCHEMES, narrow=True)
        percent = whole_box("test_percent", "Test rows in per cent", 1, 99, unit=" %")
        self.test_percent = in_column(percent)
        self.folds = in_column(whole_box("folds_spin", "Folds", 2, 100))
        self.time_box = narrow_combo("time_combo", "Column of time")
        self.gap_box = _reach("gap_spin", "Gap between training and evaluated rows", "none")
        self.window_box = _reach("window_spin", "Window of training rows", "all earlier rows")
        self.repeats = in_column(whole_box("repeats_spin", "Repeats", 1, 1000))
        self.seed = in_column(whole_box("seed_spin", "Seed", 0, 2**31 - 1))
        self.band = named(TextEditor(_BAND), "judged_range", "FPR range")
        self.choose = named(QPushButton("Choose…"), "test_file_button", "Choose the test file")
        self.file_name = label("none chosen", "muted", wrap=True, name="test_file_name")
        self.ahead = label("", "muted", wrap=True, name="forward_note")
        self.together = label("", "muted", wrap=True, name="groups_note")
        self.band_problem = label("", "error", wrap=True, name="judged_range_problem")
        self.band_problem.hide()
        self.problem = label("", "error", wrap=True, name="validation_problem")
        self.problem.hide()
        self._lay_out()
        self.scheme.activated.connect(lambda _index: self._change(scheme=self.scheme.currentData()))
        self.test_percent.valueChanged.connect(lambda v: self._change(test_size=v / 100))
        self.time_box.activated.connect(
            lambda _index: self._change(time=self.time_box.currentData())
        )
        self.gap_box.valueChanged.connect(lambda v: self._change(gap=float(v)))
        self.window_box.valueChanged.connect(lambda v: self._change(window=float(v)))
        self.folds.valueChanged.connect(lambda v: self._change(folds=v))
        self.repeats.valueChanged.connect(lambda v: self._change(repeats=v))
        self.seed.valueChanged.connect(lambda v: self._change(seed=v))
        self.choose.clicked.connect(self._on_choose)
        self.band.edited.connect(self._on_band)
        session.listen(self._show_band, "band")
        session.listen(self.refresh, "plan", "table")
        self.refresh()

    def _lay_out(self) -> None:
        self._file = holding(down((self.choose, LEFT), self.file_name, gap=4))
        self._form = Form(
            ("Scheme", self.scheme, _TIPS["scheme"]),
            ("Test part", self.test_percent, _TIPS["test_size"]),
            ("Time", self.time_box, _TIPS["time"]),
            ("Folds", self.folds, _TIPS["folds"]),
            ("Gap", self.gap_box, _TIPS["gap"]),
            ("Window", self.window_box, _TIPS["window"]),
            ("File", self._file),
            ("Repeats", self.repeats, _TIPS["repeats"]),
            ("Seed", self.seed, _TIPS["seed"]),
            ("FPR range", self.band, _TIPS["band"]),
            ("", self.band_problem),
        )
        self.rows.addLayout(self._form)
        for widget in (self.ahead, self.together, self.problem):
            self.rows.addWidget(widget)

    def refresh(self) -> None:
        """Show the plan."""
        plan = self.session.plan.validation
        self.scheme.setCurrentIndex(list(_SCHEMES).index(plan.scheme))
        method = METHODS[self.session.plan.method]
        groups = None if self.session.table is None else self.session.table.groups
        enable_item(self.scheme, LEAVE_PAIR_OUT, method.leaves_pairs_out and groups is None)
        tell(self.together, _groups_words(groups))
        for spin, value in (
            (self.test_percent, round(100 * plan.test_size)),
            (self.folds, plan.folds),
            (self.repeats, plan.repeats),
            (self.seed, plan.seed),
        ):
            spin.blockSignals(True)
            spin.setValue(value)
            spin.blockSignals(False)
        name = plan.test_file.rpartition("/")[2] or "none chosen"
        self.file_name.setText(name)
        plain_tooltip(self.file_name, plan.test_file)
        self._show_times(plan)
        self._show_what_matters(plan)
        self._show_band()
        tell(self.problem, "")

    def _show_times(self, plan: Validation) -> None:
        """Show what belongs to going forward in time."""
        forward = plan.scheme == FORWARD
        if forward:
            self._offer_times(plan.time)
        unit = " days" if _is_date(self.session.table, plan.time) else ""
        for spin, value in ((self.gap_box, plan.gap), (self.window_box, plan.window)):
            with QSignalBlocker(spin):
                spin.setSuffix(unit)
                spin.setValue(value)
        key = "steps" if forward else "folds"
        self._form.retitle(self.folds, key.capitalize(), _TIPS[key])
        tell(self.ahead, _AHEAD.format(plan.time or "time") if forward else "")

    def _offer_times(self, chosen: str) -> None:
        names = time_columns(self.session.table)
        # A column that the table lacks is shown all the same: what is wrong with it is said.
        names += [chosen] if chosen and chosen not in names else []
        with QSignalBlocker(self.time_box):
            if names != [self.time_box.itemData(k) for k in range(self.time_box.count())]:
                self.time_box.clear()
                for name in names:
                    self.time_box.addItem(name, name)
            self.time_box.setCurrentIndex(names.index(chosen) if chosen else -1)

    def _show_band(self) -> None:
        self.band.setValue(self.session.plan.band)
        self._mark_band()

    def _mark_band(self) -> bool:
        """Return whether the range can be read, and say so if it cannot."""
        try:
            self.check()
        except InvalidSetting as error:
            self.band.mark(valid=False)
            tell(self.band_problem, str(error), "error")
            return False
        self.band.mark(valid=True)
        tell(self.band_problem, "")
        return True

    def check(self) -> None:
        """Refuse to go on with a text in the card that is no range.

        Raises
        ------
        InvalidSetting
        """
        low, high = self.band.value()
        if high - low < MIN_WIDTH - 1e-9:
            raise InvalidSetting(_BAND.name, f"{_BAND.name} must be at least {MIN_WIDTH:g} wide")

    def _on_band(self) -> None:
        if self._mark_band():
            self.session.set_band(*self.band.value())

    def _show_what_matters(self, plan: Validation) -> None:
        drawn = plan.scheme in (HOLD_OUT, FOLDS)
        forward = plan.scheme == FORWARD
        for field, matters in (
            (self.test_percent, plan.scheme == HOLD_OUT),
            (self.time_box, forward),
            (self.folds, plan.scheme in (FOLDS, FORWARD)),
            (self.gap_box, forward),
            (self.window_box, forward),
            (self.repeats, drawn),
            (self.seed, drawn),
            (self._file, plan.scheme == FILE),
        ):
            self._form.setRowVisible(field, matters)

    def show_problem(self, sentence: str) -> None:
        """Show what is wrong with the scheme."""
        tell(self.problem, sentence, "error")

    def _change(self, **changes: Any) -> None:
        before = self.session.plan.validation
        if changes.get("scheme") == FILE and not before.test_file:
            self._on_choose()
            return
        names = time_columns(self.session.table)
        if changes.get("scheme") == FORWARD and before.time not in names and names:
            changes["time"] = names[0]
        validation = dataclasses.replace(before, **changes)
        plan = dataclasses.replace(self.session.plan, validation=validation)
        self.session.edit(plan, "Change validation", f"validation {next(iter(changes))}")

    def _on_choose(self) -> None:
        path = prompts.ask_open_path(self, "Choose the test file", prompts.TABLES)
        if path is None:
            self.refresh()
            return
        self._change(scheme=FILE, test_file=path)


def time_columns(table: Table | None) -> list[str]:
    """List the columns that can order rows in time, dates first."""
    if table is None:
        return []
    able = [c for c in table.columns if c.kind == "number" and c.role != "label"]
    return [column.name for column in sorted(able, key=lambda column: not column.is_date)]


def _is_date(table: Table | None, name: str) -> bool:
    return table is not None and any(c.name == name and c.is_date for c in table.columns)


def _groups_words(groups: Groups | None) -> str:
    if groups is None:
        return ""
    one = " or ".join(groups.columns)
    return f"Rows of one {one} are never in both training and test sets: {groups.describe()}."


def _reach(name: str, accessible: str, none: str) -> QDoubleSpinBox:
    """Make the field of an amount of time, whose 0 has words of its own."""
    spin = in_column(plain_box(name, accessible, 0.0, _FAR))
    spin.setSpecialValueText(none)
    return spin
