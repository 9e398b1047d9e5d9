"""Preprocessing: a summary line and a form."""

from __future__ import annotations

import dataclasses
from typing import Any

from PySide6.QtWidgets import QCheckBox, QPushButton, QWidget

from aucstudio.engine import METHODS
from aucstudio.engine.params import InvalidSetting, Param
from aucstudio.gui.common.form import Form, choice_box
from aucstudio.gui.common.layouts import across, down
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.widgets import label, named, tell
from aucstudio.gui.panels.param_form import TextEditor
from aucstudio.gui.state.session import Session
from aucstudio.project.data.preparing.preparation_choice import (
    FREQUENCY,
    MEAN,
    MEDIAN,
    MIN_MAX,
    MOST_FREQUENT,
    NONE,
    NORMAL_RANKS,
    RANKS,
    ROBUST,
    STANDARD,
)
from aucstudio.project.errors import InputError
from aucstudio.project.runs.estimate import fits_sparse

_ITEMS = {
    "impute": {MEDIAN: "Median", MEAN: "Mean", MOST_FREQUENT: "Most frequent"},
    "scale": {
        STANDARD: "Mean and deviation",
        ROBUST: "Median and quartiles",
        RANKS: "Ranks, 0 to 1",
        NORMAL_RANKS: "Ranks, normal",
        MIN_MAX: "Smallest 0, largest 1",
        NONE: "Unchanged",
    },
    "many_levels": {MOST_FREQUENT: "Most frequent 100", FREQUENCY: "By frequency"},
}
_NAMES = {
    "impute": "Missing numbers",
    "scale": "Scale of numbers",
    "many_levels": "Categories with more than 100 levels: keep the most frequent levels, "
    "or replace each level by its share of the training rows",
}
_TIPS = {
    "impute": "Value that replaces missing numbers, for methods that cannot take them",
    "scale": "Scaling of numbers",
    "indicators": "Add a column for each number column that marks its missing values",
    "rare": "Levels of fewer training rows become one level: a share below 1, or a count; 0 merges "
    "none",
    "many_levels": "Categories with more than 100 levels: keep the most frequent levels, "
    "or replace each level by its share of the training rows",
}
_RARE = Param("float", 0.0, _TIPS["rare"], low=0.0, name="Rare below")


class PreparationForm(QWidget):
    """Edits how the plan prepares columns."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.line = label("", "muted", wrap=True, name="preparation_line")
        self.change = named(
            QPushButton("Change…"), "preparation_button", "Change the preprocessing"
        )
        self.change.setCheckable(True)
        plain_tooltip(
            self.change,
            "How missing values, scales and levels are handled; fitted on the training rows",
        )
        self.combos = {
            name: choice_box(f"{name}_combo", words, _ITEMS[name], narrow=True)
            for name, words in _NAMES.items()
        }
        for name, combo in self.combos.items():
            combo.activated.connect(
                lambda _index, name=name: self._change(name, self.combos[name].currentData())
            )
        self.rare = named(TextEditor(_RARE), "rare_field", "Levels that are rare")
        self.indicators = named(
            QCheckBox("Mark missing values"), "indicators_check", "Mark missing values"
        )
        self.problem = label("", "error", wrap=True, name="preparation_problem")
        self.problem.hide()
        self._lay_out()
        self.change.toggled.connect(self._fields.setVisible)
        self.rare.edited.connect(self._on_rare)
        self.indicators.clicked.connect(lambda on: self._change("indicators", on))
        session.listen(self.refresh, "plan")
        self.refresh()

    def _lay_out(self) -> None:
        self._fields = QWidget()
        self._fields.setLayout(
            Form(
                ("Missing", self.combos["impute"], _TIPS["impute"]),
                ("Scale", self.combos["scale"], _TIPS["scale"]),
                ("Rare below", self.rare, _TIPS["rare"]),
                ("Many levels", self.combos["many_levels"], _TIPS["many_levels"]),
                ("", self.indicators, _TIPS["indicators"]),
                ("", self.problem),
            )
        )
        self._fields.hide()
        self.setLayout(down(across((self.line, 1), self.change), self._fields))

    def refresh(self) -> None:
        """Show the plan."""
        plan = self.session.plan
        choice = plan.preparation
        for name, combo in self.combos.items():
            combo.setCurrentIndex(combo.findData(getattr(choice, name)))
        self.combos["impute"].setEnabled(not METHODS[plan.method].takes_missing)
        self.indicators.setChecked(choice.indicators)
        self.rare.setValue(choice.rare)
        self._mark("")
        keeps = METHODS[plan.method].takes_missing
        settings, table = plan.settings(plan.method), self.session.table
        sparse = table is not None and fits_sparse(plan.method, settings, None, choice, table)
        words = choice.describe(keep_gaps=keeps, keep_zeros=sparse)
        tell(self.line, f"Preprocessing: {words}")

    def check(self) -> None:
        """Refuse a text that is not a threshold of rare levels.

        Raises
        ------
        InvalidSetting
        """
        try:
            dataclasses.replace(self.session.plan.preparation, rare=self.rare.value())
        except InputError as error:
            raise InvalidSetting("rare", str(error)) from error

    def _on_rare(self) -> None:
        try:
            self.check()
        except InvalidSetting as error:
            self._mark(str(error))
        else:
            self._mark("")
            self._change("rare", self.rare.value())

    def _mark(self, problem: str) -> None:
        self.rare.mark(valid=not problem)
        tell(self.problem, problem, "error")

    def _change(self, name: str, value: Any) -> None:
        plan = self.session.plan
        choice = dataclasses.replace(plan.preparation, **{name: value})
        changed = dataclasses.replace(plan, preparation=choice)
        self.session.edit(changed, "Change preprocessing", f"preparation {name}")
