"""Form of a method's settings, from its declaration."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel, QLineEdit, QWidget

from aucstudio.engine.params import InvalidSetting, Param, declared_params, multiple
from aucstudio.gui.common.buttons import check_box
from aucstudio.gui.common.curve_figures import band_words
from aucstudio.gui.common.form import Fields, Form, value_of
from aucstudio.gui.common.layouts import discard
from aucstudio.gui.common.plain_text import tip_text
from aucstudio.gui.common.widgets import label, named, set_style, show_note
from aucstudio.gui.state.plan import RANGE
from aucstudio.project.runs.experiment import Band
from aucstudio.project.runs.settings_shown import choice_word

_UNLISTED = "as in the run"


class TextEditor(QLineEdit):
    """A number, a range or a word, as the declaration parses it; the arrow keys step numbers.

    Typed text stays as it is until another value is set; a range is written as all others when the
    field is left.

    Attributes
    ----------
    held : object
        The last valid value.
    """

    valueChanged = Signal()  # noqa: N815  (as Qt names it)

    def __init__(self, declared: Param) -> None:
        super().__init__()
        self._declared = declared
        self.held: Any = declared.default
        self._show(declared.default)
        if declared.none:
            self.setPlaceholderText(declared.none)
        self.textEdited.connect(self._on_typed)
        if declared.kind == "range":
            self.editingFinished.connect(self._on_left)

    def value(self) -> Any:
        """Read the field.

        Raises
        ------
        InvalidSetting
        """
        return self._declared.parse(self.text())

    def setValue(self, value: Any) -> None:
        before, self.held = self.held, value
        if before != value:  # else it may be typed now
            self._show(value)

    def revert(self) -> None:
        """Replace invalid text by the last valid value."""
        try:
            self.value()
        except InvalidSetting:
            self._show(self.held)

    def mark(self, *, valid: bool) -> None:
        """Show whether the text is valid."""
        set_style(self, "invalid", not valid)

    def _show(self, value: Any) -> None:
        text = "" if value is None else self._declared.spell(value)
        self.setText(text.replace(",", " … " if self._declared.kind == "range" else ", "))
        self.setCursorPosition(0)  # shows the first digits of a long number

    def _on_typed(self) -> None:
        with contextlib.suppress(InvalidSetting):
            self.held = self.value()
        self.valueChanged.emit()

    def _on_left(self) -> None:
        with contextlib.suppress(InvalidSetting):
            self._show(self.value())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1}
        direction = steps.get(Qt.Key(event.key()))
        if direction is None or not self._step(direction):
            super().keyPressEvent(event)

    def _step(self, direction: int) -> bool:
        try:
            value = self.held = self.value()
            stepped = _stepped(self._declared, value, direction)
            self._declared.check(stepped)
        except InvalidSetting:
            return False
        self.setValue(stepped)
        self.valueChanged.emit()
        return True


def _stepped(declared: Param, value: Any, direction: int) -> Any:
    """Return the next value; on a logarithmic scale the next of 1, 2, 5 and their powers of ten."""
    if isinstance(value, str) and value in declared.grid:
        place = declared.grid.index(value) + direction
        return declared.grid[min(max(place, 0), len(declared.grid) - 1)]
    if isinstance(value, (str, tuple)) or value is None:
        raise InvalidSetting(declared.name, "has no next value")
    if declared.kind == "int":
        return value + direction
    if not declared.log or value <= 0:
        return round(value + 0.1 * direction, 10)
    decade = math.floor(math.log10(value) + 1e-9)
    ladder = [m * 10.0**e for e in (decade - 1, decade, decade + 1) for m in (1, 2, 5)]
    if direction > 0:
        return float(f"{min(rung for rung in ladder if rung > value * 1.001):.6g}")
    return float(f"{max(rung for rung in ladder if rung < value * 0.999):.6g}")


def _editor(declared: Param) -> QWidget:
    """Make the field of a setting, at its default."""
    if declared.kind == "bool":
        return QCheckBox()
    if declared.kind != "choice":
        return TextEditor(declared)
    made = QComboBox()
    for value, sentence in declared.choices.items():
        word = choice_word(value)
        _offer(made, value, word[:1].upper() + word[1:], sentence)
    return made


def _offer(combo: QComboBox, value: Any, title: str, sentence: str) -> None:
    combo.addItem(title, value)
    combo.setItemData(combo.count() - 1, tip_text(sentence), Qt.ItemDataRole.ToolTipRole)


class ParamForm(QWidget):
    """The settings of one method.

    Signals
    -------
    valueChanged(str)
        The setting of that name was changed to a valid value.
    linkChanged(bool)
        The method trains for the range of the study, or for its own range.
    """

    valueChanged = Signal(str)  # noqa: N815  (as Qt names it)
    linkChanged = Signal(bool)  # noqa: N815

    def __init__(self) -> None:
        super().__init__()
        self._form = Form()
        self.setLayout(self._form)
        self._declared: dict[str, Param] = {}
        self.editors = Fields()
        self.link: QCheckBox | None = None
        self._hints: dict[str, QLabel] = {}
        self._band: Band = (0.0, 1.0)

    def set_method(self, method: type) -> None:
        """Show the settings of another method, at their defaults."""
        for widget in self.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly):
            self._form.removeWidget(widget)
            discard(widget)
        while self._form.rowCount():
            self._form.takeRow(0)
        self.editors.clear()
        self._hints.clear()
        self.link = None
        self._declared = declared_params(method)
        for declared in self._declared.values():
            self._add_row(declared)
        self.editors.connect(self._on_edited)
        self.setValue({})

    def _add_row(self, declared: Param) -> None:
        symbol = f"{declared.label}  {declared.symbol}" if declared.symbol else declared.label
        editor = named(_editor(declared), f"param_{declared.name}", declared.label)
        editor.setAccessibleDescription(declared.help)
        default = declared.none if declared.default is None else declared.spell(declared.default)
        hint = label("", "muted", wrap=True, name=f"hint_{declared.name}")
        hint.hide()
        tip = f"{declared.help}\n{declared.allowed()}; default {default}"
        self._form.add(symbol, editor, tip)
        if declared.name == RANGE:
            self.link = check_box("link_fpr_range")
            self.link.setAccessibleName("Train for the FPR range that runs are evaluated in")
            self.link.clicked.connect(self.linkChanged)
            self._form.addRow(self.link)
        self._form.addRow("", hint)
        self.editors[declared.name] = editor
        self._hints[declared.name] = hint

    def value(self) -> dict[str, Any]:
        """Read every setting.

        Raises
        ------
        InvalidSetting
            For the first invalid field.
        """
        return self.editors.read()

    def setValue(self, values: Mapping[str, Any]) -> None:
        """Show settings, or defaults; a field with the same value keeps its text."""
        shown = {name: values.get(name, one.default) for name, one in self._declared.items()}
        for name, value in shown.items():
            if isinstance(editor := self.editors[name], QComboBox) and editor.findData(value) < 0:
                _offer(editor, value, _UNLISTED, str(value))  # of a run that was planned elsewhere
        self.editors.write(shown)
        self._refresh()

    def show_link(self, linked: bool, band: Band) -> None:
        """Show whether the method trains for the evaluation range, and its range."""
        self._band = band
        if self.link is not None:
            self.link.setChecked(linked)
            self._mark(RANGE)

    def revert(self) -> None:
        """Replace invalid texts by the last valid values."""
        for editor in self.editors.values():
            if isinstance(editor, TextEditor):
                editor.revert()
        self._refresh()

    def show_error(self, setting: str, sentence: str) -> bool:
        """Show a sentence beside a setting; return whether the form has the setting."""
        hint = self._hints.get(setting)
        if hint is None:
            return False
        show_note(hint, sentence, "error")
        return True

    def _on_edited(self, name: str) -> None:
        self._refresh()
        with contextlib.suppress(InvalidSetting):
            value_of(self.editors[name])
            self.valueChanged.emit(name)

    def _mark(self, name: str) -> None:
        """Show beside a field what is wrong with it, or a remark on its value."""
        editor = self.editors[name]
        try:
            value_of(editor)
        except InvalidSetting:
            words, role = f"Must be {self._declared[name].allowed()}", "error"
        else:
            words, role = self._remark(name), "muted"
        if isinstance(editor, TextEditor):
            editor.mark(valid=role != "error")
        show_note(self._hints[name], words, role)

    def _remark(self, name: str) -> str:
        """Return a remark on a value, such as sigma for gamma."""
        value = value_of(self.editors[name])
        if name == "gamma" and isinstance(value, float) and self._kernel() == "rbf":
            return f"σ = {1.0 / math.sqrt(2.0 * value):.3g} in units of the scaled features"
        if name == "gamma" and isinstance(value, str):
            word, factor = multiple(value)
            return f"{factor:.4g} / (features{' × variance' * (word == 'scale')})"
        if self.link is not None and name == RANGE and not self.link.isChecked():
            return f"Its own range; runs are evaluated in {band_words(self._band)}"
        return ""

    def _kernel(self) -> Any:
        return value_of(self.editors["kernel"]) if "kernel" in self.editors else None

    def _readable_values(self) -> dict[str, Any]:
        values = {}
        for name, editor in self.editors.items():
            try:
                values[name] = value_of(editor)
            except InvalidSetting:
                values[name] = editor.held
        return values

    def _refresh(self) -> None:
        """Show the settings that apply, and what is wrong with them."""
        values = self._readable_values()
        for name, declared in self._declared.items():
            matters = declared.matters(values)
            self._form.setRowVisible(self.editors[name], matters)
            if matters:
                self._mark(name)
            else:
                # A hidden field must not keep an invalid text.
                if isinstance(self.editors[name], TextEditor):
                    self.editors[name].revert()
                self._hints[name].hide()
