"""Method card, with the preprocessing of columns."""

from __future__ import annotations

import dataclasses
from functools import partial

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QAction, QStandardItemModel
from PySide6.QtWidgets import QWidget

from aucstudio.engine import METHODS
from aucstudio.engine.declared import FAMILIES
from aucstudio.engine.params import InvalidSetting, Param, declared_params
from aucstudio.gui.common.buttons import check_box, push_button
from aucstudio.gui.common.column_controls import levels_words
from aucstudio.gui.common.focus import order_tabs
from aucstudio.gui.common.form import Fields, Form, choice_box, value_of
from aucstudio.gui.common.layouts import STRETCH, Card, across, down, fill, holding
from aucstudio.gui.common.plain_text import menu_text, plain_tooltip, tip_text
from aucstudio.gui.common.widgets import (
    ElidedCombo,
    enable_item,
    label,
    named,
    show_error_at,
    show_note,
    unbroken,
)
from aucstudio.gui.dialogs.method_chooser import MethodChooser
from aucstudio.gui.panels.param_form import ParamForm, TextEditor
from aucstudio.gui.state.preferences import preferences
from aucstudio.gui.state.session import Session
from aucstudio.notices import text
from aucstudio.project.errors import InputError
from aucstudio.project.runs.estimate import cost_of_fit, fits_sparse, training_size
from aucstudio.project.runs.outlook import Outlook, outlooks, start_here
from aucstudio.project.runs.tuning import LEAVE_PAIR_OUT

_RARE = Param("float", 0.0, "", low=0.0, name="Rare below")


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
        self.change = push_button("preparation_button")
        self.change.setCheckable(True)
        self.fields = Fields(
            impute=choice_box("impute_combo", narrow=True),
            scale=choice_box("scale_combo", narrow=True),
            rare=named(TextEditor(_RARE), "rare_field"),
            many_levels=choice_box("many_levels_combo", narrow=True),
            indicators=check_box("indicators_check"),
        )
        self.problem = label("", "error", wrap=True, name="preparation_problem")
        inner = Form(*self.fields.values())
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
        levels = levels_words(() if table is None else table.features, choice)
        show_note(self.line, f"Preprocessing: {words}. {levels}".removesuffix(". "))

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
        given = {name: value_of(self.fields[name])}
        choice = dataclasses.replace(self.session.plan.preparation, **given)
        self.session.change("Change preprocessing", f"preparation {name}", preparation=choice)
        if name == "rare":
            self._mark("")

    def _mark(self, problem: str) -> None:
        self.fields["rare"].mark(valid=not problem)
        show_note(self.problem, problem, "error")


class MethodPanel(Card):
    """Edits the plan's method and its settings."""

    def __init__(
        self, session: Session, run_action: QAction, tune_action: QAction, best_action: QAction
    ) -> None:
        super().__init__("")
        self.session, self._run_action = session, run_action
        self.combo = _method_combo()
        self.choose = push_button("choose_methods_button", verb=self._on_choose)
        self.summary = label("", "muted", wrap=True, name="method_summary")
        self.form = ParamForm()
        self.preparation = PreparationForm(session)
        self.cost = label("", "muted", wrap=True, name="method_cost")
        self.problem = label("", "error", wrap=True, name="method_problem")
        self.reset = push_button("defaults_button", verb=self._on_reset)
        self.tune_by = choice_box("tune_metric_combo", narrow=True)
        self.tune = push_button("tune_button", verb=tune_action.trigger)
        self.best = push_button("find_best_button", verb=best_action.trigger)
        self._lay_out()
        self._shown_method = ""
        self.combo.currentIndexChanged.connect(self._on_method)
        self.form.valueChanged.connect(self._on_value)
        self.form.linkChanged.connect(session.train_in_range)
        tune_action.enabledChanged.connect(self.tune.setEnabled)
        best_action.enabledChanged.connect(self.best.setEnabled)
        self.tune_by.activated.connect(
            lambda _place: session.change(
                "Tune by another measure", tune_by=self.tune_by.currentData()
            )
        )
        session.listen(self.refresh, "plan", "table")
        session.listen(self._show_settings, "band")
        self.refresh()

    def _lay_out(self) -> None:
        self.heading = label("3  METHOD", "heading")
        head = across((self.heading, 1), self.choose)
        parts = (self.best, self.combo, self.summary, self.form, self.preparation)
        tuning, ends = Form(self.tune_by), across(self.reset, STRETCH, self.tune)
        fill(self.rows, head, *parts, tuning, self.cost, self.problem, ends)

    def refresh(self) -> None:
        """Show the plan's method and settings."""
        plan = self.session.plan
        method = METHODS[plan.method]
        with QSignalBlocker(self.combo):
            self.combo.setCurrentIndex(self.combo.findData(plan.method))
        plain_tooltip(self.combo, f"{method.in_words}: {method.use_when}")
        self.summary.setText(method.summary)
        run = f"&Run {menu_text(method.title)}" if self.session.table is not None else "&Run"
        self._run_action.setText(run)
        if self._shown_method != plan.method:
            self.form.set_method(method)
            order_tabs(self.rows)
            self._shown_method = plan.method
        self._show_settings()
        self.tune_by.setCurrentIndex(self.tune_by.findData(plan.tune_by))
        enable_item(self.tune_by, LEAVE_PAIR_OUT, method.leaves_pairs_out)
        show_note(self.cost, unbroken(self._cost()))
        show_note(self.problem, "")

    def _show_settings(self) -> None:
        """Show the settings; one of them may be the range of the study."""
        plan = self.session.plan
        self.form.setValue(plan.settings(plan.method))
        self.form.show_link(plan.is_linked(plan.method), plan.band)

    def check(self) -> None:
        """Check the texts of the form.

        Raises
        ------
        InvalidSetting
        """
        self.form.value()
        self.preparation.check()

    def _cost(self) -> str:
        """Return the size of the training part of one split, and the cost of a fit on it."""
        plan, table = self.session.plan, self.session.table
        if table is None or table.positive is None:
            return ""
        size = training_size(plan.validation, table, table.positive, plan.preparation)
        method = METHODS[plan.method](**plan.settings(plan.method))
        fits = plan.validation.splits
        each = f"{fits} fits, each on " if fits > 1 else ""
        rows, pairs = size[0] + size[1], size[0] * size[1]
        sparse = fits_sparse(plan.method, method.get_params(), None, plan.preparation, table)
        cost = cost_of_fit(method, size, table, sparse=sparse)
        run = Outlook(fits, cost, rows=table.rows)
        taken = text("outlook_run", time=run.seconds and run.words, bytes=cost.bytes)
        return f"{each}{rows:,} rows, {pairs:,} pairs: {taken}"

    def show_problem(self, setting: str, sentence: str) -> None:
        """Show what is wrong, beside its setting if the form has it."""
        if not self.form.show_error(setting, sentence):
            show_error_at(self.problem, sentence)

    def _on_method(self) -> None:
        key = self.combo.currentData()
        if key is None:  # the name of a family
            self.refresh()
        else:
            self.session.change("Choose method", method=key)

    def _on_value(self, name: str) -> None:
        plan = self.session.plan
        declared = declared_params(METHODS[plan.method])[name]
        changed = plan.with_setting(plan.method, name, value_of(self.form.editors[name]))
        self.session.edit(changed, f"Change {declared.label}", f"setting {plan.method} {name}")

    def _on_reset(self) -> None:
        plan = self.session.plan
        self.session.change("Default settings", params={**plan.params, plan.method: {}})
        self.form.revert()

    # ------------------------------------------------------------- the chooser

    def _on_choose(self) -> None:
        session = self.session
        plan, table = session.plan, session.table
        found: dict[str, Outlook] = {}
        reasons: dict[str, str] = {}
        if table is not None and table.positive is not None:
            found = outlooks(table, plan.validation, plan.settings)
            reasons = start_here(table, plan.validation, plan.band, found)
        recent = [method for method in METHODS if method in preferences().now.recent_methods]
        chooser = MethodChooser(
            plan.method, found, reasons, recent, self._run_action.isEnabled(), self
        )
        chooser.chosen.connect(lambda key: self.combo.setCurrentIndex(self.combo.findData(key)))
        chooser.runs_asked.connect(partial(self._on_runs_asked, chooser))
        chooser.ask()

    def _on_runs_asked(self, chooser: MethodChooser, methods: list[str], tuned: bool) -> None:
        try:
            if self.session.plan.method in methods:
                self.check()
            runs = self.session.runs
            runs.start_new([runs.planned(method, tuned=tuned) for method in methods])
        except (InputError, InvalidSetting) as error:
            chooser.show_problem(str(error))
        else:
            chooser.accept()


def _method_combo() -> ElidedCombo:
    """Make the list of methods by family."""
    combo = choice_box("method_combo", narrow=True)
    model = combo.model()
    assert isinstance(model, QStandardItemModel)
    for family, title in FAMILIES.items():
        combo.addItem(title)
        head = model.item(combo.count() - 1)
        head.setFlags(Qt.ItemFlag.NoItemFlags)
        for key, method in METHODS.items():
            if method.family == family:
                words = f"{method.title} · {method.in_words}"
                combo.addItem(method.in_words if method.title in method.in_words else words, key)
                combo.setItemData(
                    combo.count() - 1,
                    tip_text(f"{method.summary}\n{method.use_when}"),
                    Qt.ItemDataRole.ToolTipRole,
                )
    return combo
