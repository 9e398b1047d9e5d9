"""Validation card: scheme, seed and FPR range."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QSignalBlocker, Signal

from aucstudio.engine import METHODS
from aucstudio.engine.params import InvalidSetting, Param
from aucstudio.gui.common import prompts
from aucstudio.gui.common.buttons import Fold, push_button
from aucstudio.gui.common.controls import fill_combo
from aucstudio.gui.common.curve_figures import MIN_WIDTH
from aucstudio.gui.common.form import (
    Fields,
    Form,
    choice_box,
    in_column,
    plain_box,
    value_of,
    whole_box,
)
from aucstudio.gui.common.layouts import LEFT, Card, down, fill, holding
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.widgets import enable_item, label, named, show_error_at, show_note
from aucstudio.gui.panels.param_form import TextEditor
from aucstudio.gui.state.background import Answer
from aucstudio.gui.state.session import Session
from aucstudio.notices import WARNING, Notice, text
from aucstudio.project.data.table import Table
from aucstudio.project.data.validation import (
    FILE,
    FOLDS,
    FORWARD,
    HOLD_OUT,
    LEAVE_PAIR_OUT,
    Validation,
    groups_left_out,
)
from aucstudio.project.runs.experiment import Band

_DRAWN = ("repeats", "seed")  # folded settings, of random draws
_SCHEMES_OF = {
    "test_size": (HOLD_OUT,),
    "time": (FORWARD,),
    "folds": (FOLDS, FORWARD),
    "gap": (FORWARD,),
    "window": (FORWARD,),
    "file": (FILE,),
}
_FAR = 1_000_000_000.0
_BAND = Param("range", (0.0, 0.1), "", low=0.0, high=1.0, name="FPR range")


class ValidationPanel(Card):
    """Edits the plan's validation.

    Signals
    -------
    band_checked
        The FPR range has become valid or invalid.

    Attributes
    ----------
    fields : Fields
        By the names of the attributes of Validation; the test size in per cent.
    band : TextEditor
        The FPR range.
    band_error : str
        Why its text is no range; empty if it is one.
    """

    band_checked = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__("2  Validation")
        self.session = session
        self.fields = Fields(
            scheme=choice_box("scheme_combo", narrow=True),
            test_size=in_column(whole_box("test_percent", 1, 99, unit=" %")),
            time=choice_box("time_combo", narrow=True),
            folds=in_column(whole_box("folds_spin", 2, 100)),
            gap=in_column(plain_box("gap_spin", 0.0, _FAR)),
            window=in_column(plain_box("window_spin", 0.0, _FAR)),
            repeats=in_column(whole_box("repeats_spin", 1, 1000)),
            seed=in_column(whole_box("seed_spin", 0, 2**31 - 1)),
        )
        self.fields["gap"].setSpecialValueText("none")
        self.fields["window"].setSpecialValueText("all earlier rows")
        self.band, self.band_error = named(TextEditor(_BAND), "judged_range"), ""
        self.choose = push_button("test_file_button", verb=self._on_choose)
        self.file_name = label("none chosen", "muted", wrap=True, name="test_file_name")
        self.ahead = label("", "muted", wrap=True, name="forward_note")
        self.together = label("", "muted", wrap=True, name="groups_note")
        self.apart = push_button("ungroup_button", verb=self._on_apart)
        self._leaving = Answer(self, self._show_left_out, lambda _words: None)
        self.band_problem = label("", "error", wrap=True, name="judged_range_problem")
        self.problem = label("", "error", wrap=True, name="validation_problem")
        self._lay_out()
        self.fields.connect(self._on_edited)
        self.band.valueChanged.connect(self._on_band)
        session.listen(self._show_band, "band")
        session.listen(self.refresh, "plan", "table")
        self.refresh()

    def _lay_out(self) -> None:
        self._file = holding(down((self.choose, LEFT), self.file_name, gap=4))
        shown = [field for key, field in self.fields.items() if key not in _DRAWN]
        self._form = Form(*shown, ("File", self._file), self.band)
        drawn = Form(*(self.fields[key] for key in _DRAWN))
        self.more = Fold("validation_more_button", "More", [holding(drawn)])
        self._form.addRow("", self.band_problem)
        notes = self.ahead, self.together, (self.apart, LEFT), self.problem
        fill(self.rows, self._form, self.more, *notes)

    def refresh(self) -> None:
        """Show the plan."""
        plan, table = self.session.plan.validation, self.session.table
        method = METHODS[self.session.plan.method]
        groups = None if table is None else table.groups
        can_leave = method.leaves_pairs_out and groups is None
        enable_item(self.fields["scheme"], LEAVE_PAIR_OUT, can_leave)
        self._show_left_out(None)
        if table is None or groups is None:
            self._leaving.drop()
        else:
            self._leaving.ask((table, plan.decisive()), lambda _post: groups_left_out(table, plan))
        self._show_times(plan)
        values = {key: getattr(plan, key) for key in self.fields}
        self.fields.write(values | {"test_size": round(100 * plan.test_size)})
        self.file_name.setText(plan.test_file.rpartition("/")[2] or "none chosen")
        plain_tooltip(self.file_name, plan.test_file)
        for key, schemes in _SCHEMES_OF.items():
            self._form.setRowVisible(self.fields.get(key, self._file), plan.scheme in schemes)
        self.more.setVisible(plan.scheme in (HOLD_OUT, FOLDS))
        self.more.retitle(_drawn_words(plan))
        self._show_band()
        show_note(self.problem, "")

    def _show_left_out(self, left_out: Notice | None) -> None:
        """State what is kept together, and how many rows that leaves to train on."""
        groups = None if self.session.table is None else self.session.table.groups
        few = left_out is not None and left_out.severity == WARNING
        words = ""
        if groups is not None:
            words = text("groups_note", columns=groups.columns, groups=groups.describe())
            self.apart.setText(text("ungroup", columns=groups.columns))
            plain_tooltip(self.apart, text("ungroup_tip", columns=groups.columns))
        show_note(self.together, left_out.text if left_out else words, "" if few else "muted")
        self.apart.setVisible(few)

    def _on_apart(self) -> None:
        table = self.session.table
        if table is not None and table.groups is not None:
            roles = dict.fromkeys(table.groups.columns, "ignore")
            self.session.set_roles(self.apart.text(), roles=roles)

    def _show_times(self, plan: Validation) -> None:
        """Show what belongs to going forward in time."""
        forward, table = plan.scheme == FORWARD, self.session.table
        names = time_columns(table)
        # A column that the table lacks is listed too; the problem is shown when it is used.
        names += [plan.time] if plan.time and plan.time not in names else []
        fill_combo(self.fields["time"], [(name, name) for name in names])
        for spin in (self.fields["gap"], self.fields["window"]):
            with QSignalBlocker(spin):
                spin.setSuffix(" days" if _is_date(table, plan.time) else "")
        self._form.retitle(self.fields["folds"], "steps_spin" if forward else "folds_spin")
        show_note(self.ahead, text("forward_note", time=plan.time or "time") if forward else "")

    def _show_band(self) -> None:
        self.band.setValue(self.session.plan.band)
        self._mark_band()

    def _mark_band(self) -> Band | None:
        """Show what is wrong with the range, if anything; return the range if it can be read."""
        before, self.band_error, band = self.band_error, "", None
        try:
            band = low, high = self.band.value()
            if high - low < MIN_WIDTH - 1e-9:
                self.band_error = f"{_BAND.name} must be at least {MIN_WIDTH:g} wide"
        except InvalidSetting:
            self.band_error = text("range_unreadable", name=_BAND.name)
        self.band.mark(valid=not self.band_error)
        show_note(self.band_problem, self.band_error, "error")
        if self.band_error != before:
            self.band_checked.emit()
        return None if self.band_error else band

    def _on_band(self) -> None:
        if (band := self._mark_band()) is not None:
            self.session.set_band(*band)

    def show_problem(self, sentence: str) -> None:
        """Show what is wrong with the scheme."""
        show_error_at(self.problem, sentence)

    def _on_edited(self, key: str) -> None:
        value = value_of(self.fields[key])
        self._change(**{key: value / 100 if key == "test_size" else value})

    def _change(self, **changes: Any) -> None:
        before = self.session.plan.validation
        if changes.get("scheme") == FILE and not before.test_file:
            self._on_choose()
            return
        names = time_columns(self.session.table)
        if changes.get("scheme") == FORWARD and before.time not in names and names:
            changes["time"] = names[0]
        self.session.validate(**changes)

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


def _drawn_words(plan: Validation) -> str:
    """Return the heading of the folded settings, with those that are not the default."""
    default = Validation()
    repeats = plan.repeats if plan.repeats != default.repeats else None
    return text("more_of_validation", repeats=repeats, seed=plan.seed or None)


def _is_date(table: Table | None, name: str) -> bool:
    return table is not None and any(c.name == name and c.is_date for c in table.columns)
