"""Preprocessing: a summary line and a form."""

from __future__ import annotations

import dataclasses

from PySide6.QtWidgets import QCheckBox, QPushButton, QWidget

from aucstudio.engine import METHODS
from aucstudio.engine.params import InvalidSetting, Param
from aucstudio.gui.common.form import Fields, Form, choice_box, value_of
from aucstudio.gui.common.layouts import across, down, holding
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.widgets import label, named, show_note
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

_IMPUTE = {MEDIAN: "Median", MEAN: "Mean", MOST_FREQUENT: "Most frequent"}
_SCALE = {
    STANDARD: "Mean and deviation",
    ROBUST: "Median and quartiles",
    RANKS: "Ranks, 0 to 1",
    NORMAL_RANKS: "Ranks, normal",
    MIN_MAX: "Smallest 0, largest 1",
    NONE: "Unchanged",
}
_MANY_LEVELS = {MOST_FREQUENT: "Most frequent 100", FREQUENCY: "By frequency"}
_TITLES = {
    "impute": "Missing",
    "scale": "Scale",
    "rare": "Rare below",
    "many_levels": "Many levels",
    "indicators": "",
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
    """Edits how the plan prepares columns.

    Attributes
    ----------
    fields : Fields
        By the names of the attributes of PreparationChoice.
    """

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
        mark = QCheckBox("Mark missing values")
        self.fields = Fields(
            impute=choice_box("impute_combo", "Missing numbers", _IMPUTE, narrow=True),
            scale=choice_box("scale_combo", "Scale of numbers", _SCALE, narrow=True),
            rare=named(TextEditor(_RARE), "rare_field", "Levels that are rare"),
            many_levels=choice_box(
                "many_levels_combo", _TIPS["many_levels"], _MANY_LEVELS, narrow=True
            ),
            indicators=named(mark, "indicators_check", "Mark missing values"),
        )
        self.problem = label("", "error", wrap=True, name="preparation_problem")
        inner = Form()
        for name, title in _TITLES.items():
            inner.add(title, self.fields[name], _TIPS[name])
        inner.add("", self.problem)
        form = holding(inner)
        form.hide()
        self.setLayout(down(across((self.line, 1), self.change), form))
        self.change.toggled.connect(form.setVisible)
        self.fields.connect(self._on_edited)
        session.listen(self.refresh, "plan")
        self.refresh()

    def refresh(self) -> None:
        """Show the plan."""
        plan = self.session.plan
        choice = plan.preparation
        self.fields.write({name: getattr(choice, name) for name in self.fields})
        self.fields["impute"].setEnabled(not METHODS[plan.method].takes_missing)
        self._mark("")
        keeps = METHODS[plan.method].takes_missing
        settings, table = plan.settings(plan.method), self.session.table
        sparse = table is not None and fits_sparse(plan.method, settings, None, choice, table)
        words = choice.describe(keep_gaps=keeps, keep_zeros=sparse)
        show_note(self.line, f"Preprocessing: {words}")

    def check(self) -> None:
        """Check the threshold of rare levels.

        Raises
        ------
        InvalidSetting
            If the text is not one.
        """
        try:
            rare = self.fields["rare"].value()
            dataclasses.replace(self.session.plan.preparation, rare=rare)
        except InputError as error:
            raise InvalidSetting("rare", str(error)) from error

    def _on_edited(self, name: str) -> None:
        try:
            if name == "rare":
                self.check()
        except InvalidSetting as error:
            self._mark(str(error))
            return
        plan = self.session.plan
        choice = dataclasses.replace(plan.preparation, **{name: value_of(self.fields[name])})
        changed = dataclasses.replace(plan, preparation=choice)
        self.session.edit(changed, "Change preprocessing", f"preparation {name}")
        if name == "rare":
            self._mark("")

    def _mark(self, problem: str) -> None:
        self.fields["rare"].mark(valid=not problem)
        show_note(self.problem, problem, "error")
