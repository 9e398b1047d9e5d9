"""Method card, with the preprocessing of columns."""

from __future__ import annotations

import dataclasses
from functools import partial

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QAction, QStandardItemModel
from PySide6.QtWidgets import QCheckBox, QPushButton, QWidget

from aucstudio.engine import METHODS
from aucstudio.engine.catalogue import FAMILIES
from aucstudio.engine.params import InvalidSetting, Param, declared_params
from aucstudio.gui.common.form import Fields, Form, choice_box, narrow_combo, value_of
from aucstudio.gui.common.plain_text import menu_text, plain_tooltip, tip_text
from aucstudio.gui.common.widgets import (
    STRETCH,
    Card,
    ElidedCombo,
    across,
    down,
    enable_item,
    holding,
    label,
    named,
    order_tabs,
    push_button,
    show_note,
    unbroken,
)
from aucstudio.gui.dialogs.method_chooser import MethodChooser
from aucstudio.gui.panels.param_form import ParamForm, TextEditor
from aucstudio.gui.state.preferences import preferences
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
from aucstudio.project.runs.estimate import (
    Outlook,
    cost_of_fit,
    fits_sparse,
    outlooks,
    start_here,
    training_size,
)
from aucstudio.project.runs.tuning import AUC, LEAVE_PAIR_OUT, PAUC

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


_METRICS = {
    PAUC: "pAUC in range",
    AUC: "AUC",
    LEAVE_PAIR_OUT: "Leave-pair-out AUC",
}

_TUNED_BY = "The measure that selects the settings, computed within the training rows"
_CHOOSE_TIP = (
    "All methods: purpose and estimated time here, suggestions, and several methods at once"
)
_TUNE_TIP = "Search for the best settings on the training rows, then run with them"
_BEST_TIP = (
    "Compare methods, settings and combinations of them, in your FPR range and within a time limit"
)
_SCROLL_BAR = 24  # pixels beside a list's texts


class MethodPanel(Card):
    """Edits the plan's method and its settings."""

    def __init__(
        self, session: Session, run_action: QAction, tune_action: QAction, best_action: QAction
    ) -> None:
        super().__init__("")
        self.session, self._run_action = session, run_action
        self.combo = _method_combo()
        self.choose = push_button("choose_methods_button", "Choose…", _CHOOSE_TIP, self._on_choose)
        self.choose.setAccessibleName("Choose methods")
        self.summary = label("", "muted", wrap=True, name="method_summary")
        self.form = ParamForm()
        self.preparation = PreparationForm(session)
        self.cost = label("", "muted", wrap=True, name="method_cost")
        self.problem = label("", "error", wrap=True, name="method_problem")
        self.reset = push_button("defaults_button", "Defaults", "", self._on_reset)
        self.reset.setAccessibleName("Default settings")
        self.tune_by = choice_box("tune_metric_combo", "Tune by", _METRICS, narrow=True)
        self.tune = push_button("tune_button", "Tune", _TUNE_TIP, tune_action.trigger)
        self.tune.setAccessibleName("Tune and run")
        self.best = push_button(
            "find_best_button", "Find the best…", _BEST_TIP, best_action.trigger
        )
        self.best.setAccessibleName("Find the best model")
        self._lay_out()
        self._shown_method = ""
        self.combo.currentIndexChanged.connect(self._on_method)
        self.form.valueChanged.connect(self._on_value)
        self.form.linkChanged.connect(self._on_link)
        tune_action.enabledChanged.connect(self.tune.setEnabled)
        best_action.enabledChanged.connect(self.best.setEnabled)
        self.tune_by.activated.connect(self._on_metric)
        session.listen(self.refresh, "plan", "table")
        session.listen(self._show_settings, "band")
        self.refresh()

    def _lay_out(self) -> None:
        self.rows.addLayout(across((label("3  METHOD", "heading"), 1), self.choose))
        for widget in (self.best, self.combo, self.summary, self.form, self.preparation):
            self.rows.addWidget(widget)
        self.rows.addLayout(Form(("Tune by", self.tune_by, _TUNED_BY)))
        for widget in (self.cost, self.problem):
            self.rows.addWidget(widget)
        self.rows.addLayout(across(self.reset, STRETCH, self.tune))

    def refresh(self) -> None:
        """Show the plan's method and settings."""
        plan = self.session.plan
        method = METHODS[plan.method]
        with QSignalBlocker(self.combo):
            self.combo.setCurrentIndex(self.combo.findData(plan.method))
        plain_tooltip(self.combo, f"{method.in_words}: {method.use_when}")
        self.summary.setText(method.summary)
        self._run_action.setText(f"&Run {menu_text(method.title)}")
        if self._shown_method != plan.method:
            self.form.set_method(method)
            order_tabs(self.rows)
            self._shown_method = plan.method
        self._show_settings()
        self.tune_by.setCurrentIndex(list(_METRICS).index(plan.tune_by))
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
        return f"{each}{rows:,} rows, {pairs:,} pairs: {cost.words}"

    def show_problem(self, setting: str, sentence: str) -> None:
        """Show what is wrong, beside its setting if the form has it."""
        if not self.form.show_error(setting, sentence):
            show_note(self.problem, sentence, "error")

    def _on_method(self) -> None:
        key = self.combo.currentData()
        if key is None:  # the name of a family
            self.refresh()
        else:
            self.session.edit(dataclasses.replace(self.session.plan, method=key), "Choose method")

    def _on_metric(self) -> None:
        plan = dataclasses.replace(self.session.plan, tune_by=self.tune_by.currentData())
        self.session.edit(plan, "Tune by another measure")

    def _on_value(self, name: str) -> None:
        plan = self.session.plan
        declared = declared_params(METHODS[plan.method])[name]
        changed = plan.with_setting(plan.method, name, self.form.editors[name].value())
        self.session.edit(changed, f"Change {declared.label}", f"setting {plan.method} {name}")

    def _on_link(self, linked: bool) -> None:
        plan = self.session.plan
        words = "Train for the evaluated range" if linked else "Train for its own range"
        self.session.edit(plan.with_link(plan.method, linked), words)

    def _on_reset(self) -> None:
        plan = self.session.plan
        params = {**plan.params, plan.method: {}}
        self.session.edit(dataclasses.replace(plan, params=params), "Default settings")
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
        recent = [method for method in preferences().now.recent_methods if method in METHODS]
        chooser = MethodChooser(
            plan.method, found, reasons, recent, self._run_action.isEnabled(), self
        )
        chooser.chosen.connect(self._on_chosen)
        chooser.runs_asked.connect(partial(self._on_runs_asked, chooser))
        chooser.ask()

    def _on_chosen(self, key: str) -> None:
        self.combo.setCurrentIndex(self.combo.findData(key))

    def _on_runs_asked(self, chooser: MethodChooser, methods: list[str], tuned: bool) -> None:
        try:
            if self.session.plan.method in methods:
                self.check()
            self.session.runs.run_methods(methods, tuned=tuned)
        except (InputError, InvalidSetting) as error:
            chooser.show_problem(str(error))
        else:
            chooser.accept()


def _method_combo() -> ElidedCombo:
    """Make the list of methods by family."""
    combo = narrow_combo("method_combo", "Method")
    model = combo.model()
    assert isinstance(model, QStandardItemModel)
    for family, title in FAMILIES.items():
        combo.addItem(title)
        head = model.item(combo.count() - 1)
        head.setFlags(Qt.ItemFlag.NoItemFlags)
        for key, method in METHODS.items():
            if method.family == family:
                combo.addItem(f"{method.title} · {method.in_words}", key)
                combo.setItemData(
                    combo.count() - 1,
                    tip_text(f"{method.summary}\n{method.use_when}"),
                    Qt.ItemDataRole.ToolTipRole,
                )
    # The list may be wider than the column of the field.
    combo.view().setMinimumWidth(combo.view().sizeHintForColumn(0) + _SCROLL_BAR)
    return combo
