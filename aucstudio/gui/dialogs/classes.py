"""Choose the classes of a label."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QDialogButtonBox,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QWidget,
)

from aucstudio.engine.params import read_decimal
from aucstudio.gui.common.buttons import Radio, answers, check_box
from aucstudio.gui.common.form import choice_box
from aucstudio.gui.common.layouts import across, down
from aucstudio.gui.common.prompts import Dialog
from aucstudio.gui.common.widgets import label, named, show_note
from aucstudio.notices import text
from aucstudio.project.data.columns import Column, spell_number
from aucstudio.project.data.labels import LabelRule, usual_spellings
from aucstudio.project.data.table import Table
from aucstudio.project.errors import InputError

_SIGNS = (">=", ">", "<=", "<")
_WIDTH = 420
# A column with more distinct numbers has no classes.
_MOST_NUMBERS = 50
_CHECKED, _UNCHECKED = Qt.CheckState.Checked, Qt.CheckState.Unchecked


class ClassesDialog(Dialog):
    """Lists the values of a label with their rows, and counts the classes of a choice.

    Parameters
    ----------
    table : Table
    column : Column
        The label, or the future label.

    Signals
    -------
    chosen(dict)
        Arguments of :meth:`~aucstudio.project.data.any_table.AnyTable.with_roles`.
    """

    chosen = Signal(dict)

    def __init__(self, table: Table, column: Column, parent: QWidget | None = None) -> None:
        super().__init__("classes_dialog", "Positive class", parent)
        self._table, self._column = table, column
        self._values = table.values(column)
        self._rule = table.rule if column.name == table.label else LabelRule()
        self.by_class = named(Radio(), "by_class")
        self.by_number = named(Radio(), "by_number")
        self.merge = check_box("merge_spellings")
        self.classes = named(QListWidget(), "classes_list")
        self.sign = choice_box("threshold_sign")
        self.at = named(QLineEdit(), "threshold_value")
        self.counts = label("", "muted", wrap=True, name="classes_told")
        self.ends = answers(self, "classes", self.accept)
        self._lay_out()
        self._begin()
        for changed in (self.classes.itemChanged, self.sign.currentTextChanged, self.at.textEdited):
            changed.connect(self._count)
        self.by_class.toggled.connect(self._count)
        self.merge.toggled.connect(self._on_merge)
        self._count()

    def _lay_out(self) -> None:
        words = f"Which rows of {self._column.name} are positive? All others are negative."
        question = label(words, wrap=True, name="classes_question")
        self._ways = QButtonGroup(self)
        for way in (self.by_class, self.by_number):
            self._ways.addButton(way)
        beyond = across(self.by_number, self.sign, self.at)
        listed = (self.by_class, (self.classes, 1), self.merge)
        self.lay_out(down(question, *listed, beyond, self.counts), self.ends)
        self.classes.setSpacing(2)
        self.setMinimumWidth(_WIDTH)

    def _begin(self) -> None:
        """Show the present choice."""
        numeric = self._column.kind == "number"
        few = self._values is not None and (not numeric or len(self._values) <= _MOST_NUMBERS)
        threshold = self._rule.threshold
        self.sign.addItems(_SIGNS)
        if threshold is not None:
            self.sign.setCurrentText(threshold.sign)
        self.at.setText(spell_number(threshold.at) if threshold else "")
        for widget in (self.by_number, self.sign, self.at):
            widget.setVisible(numeric)
        self.classes.setVisible(few)
        self.by_class.setVisible(few and numeric)
        self.merge.setVisible(bool(self._same(True).same))
        self.merge.setChecked(bool(self._rule.same))
        (self.by_number if threshold is not None or not few else self.by_class).setChecked(True)
        self._fill(self._chosen_values())

    def _chosen_values(self) -> set[str]:
        """Return the values that are positive at present."""
        if self._column.name != self._table.label or self._table.positive is None:
            return set()
        return set() if self._rule.threshold else set(self._rule.values_of(self._table.positive))

    def _same(self, merged: bool) -> LabelRule:
        """Return the merged spellings of values, if requested."""
        found = self._rule.same or tuple(map(tuple, usual_spellings(self._values or {})))
        return LabelRule(found) if merged else LabelRule()

    def _fill(self, positive: set[str]) -> None:
        """List the classes; check those with a positive value."""
        rule = self._same(self.merge.isChecked())
        with QSignalBlocker(self.classes):
            self.classes.clear()
            for name, count in rule.classes(self._values or {}).items():
                item = QListWidgetItem(f"{name} · {count:,}")
                item.setData(Qt.ItemDataRole.UserRole, name)
                checked = not positive.isdisjoint(rule.values_of(name))
                item.setCheckState(_CHECKED if checked else _UNCHECKED)
                self.classes.addItem(item)

    def _checked(self) -> list[str]:
        items = [self.classes.item(row) for row in range(self.classes.count())]
        return [i.data(Qt.ItemDataRole.UserRole) for i in items if i.checkState() == _CHECKED]

    def _on_merge(self, merged: bool) -> None:
        """List the classes again; keep the checked ones."""
        before = self._same(not merged)
        self._fill({value for name in self._checked() for value in before.values_of(name)})
        self._count()

    def choice(self) -> dict[str, Any]:
        """Return the choice, for ``with_roles``."""
        name = self._column.name
        if self.by_number.isChecked():
            at = read_decimal(self.at.text())
            return {"label": name, "positive": f"{self.sign.currentText()} {spell_number(at)}"}
        checked = self._checked()
        merge: dict[str, Any] = {}
        if self._rule.same or self.merge.isChecked():
            merge = {"merge": self._same(self.merge.isChecked()).same}
        return {"label": name, "positive": checked[0] if len(checked) == 1 else checked, **merge}

    def _count(self) -> None:
        """Count the classes of the choice, or show why it is invalid."""
        by_number = self.by_number.isChecked()
        for widget in (self.sign, self.at):
            widget.setEnabled(by_number)
        self.classes.setEnabled(not by_number)
        ok = self.ends.button(QDialogButtonBox.StandardButton.Ok)
        try:
            table = self._read()
        except InputError as error:
            ok.setEnabled(False)
            show_note(self.counts, str(error), "error")
            return
        ok.setEnabled(table is not None)
        show_note(self.counts, "Choose at least one class." if table is None else _counts(table))

    def _read(self) -> Table | None:
        if self.by_number.isChecked():
            if not self.at.text().strip():
                return None
            try:
                read_decimal(self.at.text())
            except ValueError:
                raise InputError(f"{self.at.text()!r} is not a number") from None
        elif not self._checked():
            return None
        return self._table.with_roles(**self.choice())

    def accept(self) -> None:
        self.chosen.emit(self.choice())
        super().accept()


def _counts(table: Table) -> str:
    positives = table.classes[table.positive or ""]
    negatives = sum(table.classes.values()) - positives
    rest = table.unlabelled or None
    return text("class_counts", positives=positives, negatives=negatives, unlabelled=rest)
