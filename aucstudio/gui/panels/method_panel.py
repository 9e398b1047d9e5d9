"""The third card: the method, with a form made from its declaration."""

from __future__ import annotations

import dataclasses

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QPushButton, QToolButton

from aucstudio.engine import METHODS
from aucstudio.engine.params import declared_params
from aucstudio.gui.common import prompts
from aucstudio.gui.common.plain import plain_tooltip, tip_text
from aucstudio.gui.common.widgets import (
    Card,
    enable_item,
    field_label,
    fields_grid,
    label,
    named,
    tell,
    unbroken,
)
from aucstudio.gui.panels.param_form import ParamForm, narrow_combo, swallow_wheel
from aucstudio.gui.state.session import Session
from aucstudio.project.runs.estimate import training_size
from aucstudio.project.runs.tuning import AUC, LEAVE_PAIR_OUT, PAUC
from aucstudio.project.words import cost_words

_METRICS = {
    PAUC: "pAUC in range",
    AUC: "AUC",
    LEAVE_PAIR_OUT: "Leave-pair-out AUC",
}


class MethodPanel(Card):
    """Edits the plan's method and its settings."""

    def __init__(self, session: Session, run_action: QAction, tune_action: QAction) -> None:
        super().__init__("3  Method")
        self.session = session
        self.combo = named(QComboBox(), "method_combo", "Method")
        for key, method in METHODS.items():
            self.combo.addItem(method.title, key)
            self.combo.setItemData(
                self.combo.count() - 1, tip_text(method.summary), Qt.ItemDataRole.ToolTipRole
            )
        swallow_wheel(self.combo)
        self.about = named(QToolButton(), "method_about", "About the method")
        self.about.setText("?")
        self.summary = label("", "muted", wrap=True, name="method_summary")
        self.form = ParamForm()
        self.cost = label("", "muted", wrap=True, name="method_cost")
        self.problem = label("", "error", wrap=True, name="method_problem")
        self.reset = named(QPushButton("Defaults"), "defaults_button", "Default settings")
        self.tune_by = narrow_combo("tune_metric_combo", "Tune by")
        plain_tooltip(
            self.tune_by, "What decides between settings; judged inside the training rows"
        )
        for key, title in _METRICS.items():
            self.tune_by.addItem(title, key)
        self.tune = named(QPushButton("Tune"), "tune_button", "Tune and run")
        plain_tooltip(self.tune, "Search the settings on the training rows, then run with the best")
        self.run = named(QPushButton("Run"), "run_button", "Run")
        self.run.setProperty("primary", True)
        self._lay_out()
        self._shown_method = ""
        self.combo.activated.connect(self._on_method)
        self.about.clicked.connect(self._on_about)
        self.form.valueChanged.connect(self._on_values)
        self.reset.clicked.connect(self._on_reset)
        self.run.clicked.connect(run_action.trigger)
        run_action.enabledChanged.connect(self.run.setEnabled)
        self.tune.clicked.connect(tune_action.trigger)
        tune_action.enabledChanged.connect(self.tune.setEnabled)
        self.tune_by.activated.connect(self._on_metric)
        session.plan_changed.connect(self.refresh)
        session.table_changed.connect(self.refresh)
        self.refresh()

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.addWidget(self.combo, stretch=1)
        top.addWidget(self.about)
        buttons = QHBoxLayout()
        buttons.addWidget(self.reset)
        buttons.addStretch(1)
        buttons.addWidget(self.tune)
        buttons.addWidget(self.run)
        tuning = fields_grid()
        words = field_label("Tune by")
        words.setBuddy(self.tune_by)
        tuning.addWidget(words, 0, 0)
        tuning.addWidget(self.tune_by, 0, 1)
        self.rows.addLayout(top)
        self.rows.addWidget(self.summary)
        self.rows.addWidget(self.form)
        self.rows.addLayout(tuning)
        self.rows.addWidget(self.cost)
        self.rows.addWidget(self.problem)
        self.rows.addLayout(buttons)

    def refresh(self) -> None:
        """Show the plan's method and settings."""
        plan = self.session.plan
        method = METHODS[plan.method]
        self.combo.setCurrentIndex(list(METHODS).index(plan.method))
        plain_tooltip(self.combo, method.summary)
        self.summary.setText(method.summary)
        if self._shown_method != plan.method:
            self.form.set_method(method)
            self._shown_method = plan.method
        self.form.setValue(plan.params.get(plan.method, {}))
        self.tune_by.setCurrentIndex(list(_METRICS).index(plan.tune_by))
        enable_item(self.tune_by, LEAVE_PAIR_OUT, method.leaves_pairs_out)
        tell(self.cost, unbroken(self._cost()))
        tell(self.problem, "")

    def _cost(self) -> str:
        """Say how much the training part of one split is, and what a fit on it takes."""
        plan, table = self.session.plan, self.session.table
        if table is None or table.positive is None:
            return ""
        size = training_size(plan.validation, table, table.positive)
        method = METHODS[plan.method](**plan.params.get(plan.method, {}))
        fits = plan.validation.splits
        each = f"{fits} fits, each on " if fits > 1 else ""
        rows, pairs = size[0] + size[1], size[0] * size[1]
        return f"{each}{rows:,} rows, {pairs:,} pairs: {cost_words(method.estimate(*size))}"

    def show_problem(self, setting: str, sentence: str) -> None:
        """Say what is wrong, beside the setting if it is one of the form's."""
        if not self.form.show_error(setting, sentence):
            tell(self.problem, sentence, "error")

    def _on_method(self) -> None:
        plan = dataclasses.replace(self.session.plan, method=self.combo.currentData())
        self.session.edit(plan, "Choose method")

    def _on_metric(self) -> None:
        plan = dataclasses.replace(self.session.plan, tune_by=self.tune_by.currentData())
        self.session.edit(plan, "Tune by another measure")

    def _on_values(self) -> None:
        plan = self.session.plan
        declared = declared_params(METHODS[plan.method])
        changed = {
            name: value
            for name, value in self.form.value().items()
            if value != declared[name].default
        }
        params = {**plan.params, plan.method: changed}
        self.session.edit(
            dataclasses.replace(plan, params=params), "Change settings", f"settings {plan.method}"
        )

    def _on_reset(self) -> None:
        plan = self.session.plan
        params = {**plan.params, plan.method: {}}
        self.session.edit(dataclasses.replace(plan, params=params), "Default settings")

    def _on_about(self) -> None:
        method = METHODS[self.session.plan.method]
        lines = [method.summary, "", f"Source: {method.source}", ""]
        for declared in declared_params(method).values():
            lines.append(f"{declared.label} {declared.symbol}: {declared.help}")
        prompts.show_text(self, method.title, "\n".join(lines))
