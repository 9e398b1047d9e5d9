"""A form made from a method's declaration; shows a setting only where it means something."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QWheelEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel, QLineEdit, QWidget

from aucstudio.engine.params import InvalidSetting, Param, declared_params
from aucstudio.gui.common.plain import plain_tooltip, tip_text
from aucstudio.gui.common.widgets import ElidedCombo, field_label, fields_grid, label, named, tell


class ChoiceEditor(QComboBox):
    """A choice among declared values."""

    edited = Signal()

    def __init__(self, declared: Param) -> None:
        super().__init__()
        self._values = list(declared.choices)
        for value, sentence in declared.choices.items():
            self.addItem(_choice_title(value), value)
            self.setItemData(self.count() - 1, tip_text(sentence), Qt.ItemDataRole.ToolTipRole)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.activated.connect(lambda _index: self.edited.emit())

    def value(self) -> Any:
        return self._values[self.currentIndex()]

    def setValue(self, value: Any) -> None:
        self.setCurrentIndex(self._values.index(value))

    def wheelEvent(self, event: QWheelEvent) -> None:
        # Scrolling the column must not change a setting on the way.
        event.ignore()


class SwitchEditor(QCheckBox):
    """Yes or no."""

    edited = Signal()

    def __init__(self, _declared: Param) -> None:
        super().__init__()
        self.clicked.connect(lambda _checked: self.edited.emit())

    def value(self) -> bool:
        return self.isChecked()

    def setValue(self, value: bool) -> None:
        self.setChecked(value)


class TextEditor(QLineEdit):
    """A number, a range, a word: whatever the declaration can read; arrows step it."""

    edited = Signal()

    def __init__(self, declared: Param) -> None:
        super().__init__()
        self._declared = declared
        if declared.none:
            self.setPlaceholderText(declared.none)
        self.textEdited.connect(lambda _text: self.edited.emit())

    def value(self) -> Any:
        """Read the field.

        Raises
        ------
        InvalidSetting
        """
        return self._declared.parse(self.text())

    def setValue(self, value: Any) -> None:
        text = "" if value is None else self._declared.spell(value)
        if text != self.text():
            self.setText(text)
            self.setCursorPosition(0)  # of a long number the first digits are seen

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1}
        direction = steps.get(Qt.Key(event.key()))
        if direction is None or not self._step(direction):
            super().keyPressEvent(event)

    def _step(self, direction: int) -> bool:
        try:
            value = self.value()
            stepped = _stepped(self._declared, value, direction)
            self._declared.check(stepped)
        except InvalidSetting:
            return False
        self.setValue(stepped)
        self.edited.emit()
        return True


def _stepped(declared: Param, value: Any, direction: int) -> Any:
    """Step a number: in powers (1, 2, 5, 10 …) where people think in powers."""
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


def _choice_title(value: Any) -> str:
    titles = {None: "None", "rbf": "Gaussian", "poly": "Polynomial"}
    return titles.get(value, str(value).capitalize())


_EDITORS: dict[str, Callable[[Param], QWidget]] = {
    "choice": ChoiceEditor,
    "bool": SwitchEditor,
    "float": TextEditor,
    "int": TextEditor,
    "range": TextEditor,
}


class ParamForm(QWidget):
    """The settings of one method.

    Signals
    -------
    valueChanged
        Some setting was changed by hand and the whole form can be read.
    """

    valueChanged = Signal()  # noqa: N815  (as Qt names it)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._grid = fields_grid()
        self.setLayout(self._grid)
        self._declared: dict[str, Param] = {}
        self.editors: dict[str, Any] = {}
        self._labels: dict[str, QLabel] = {}
        self._hints: dict[str, QLabel] = {}

    def set_method(self, method: type) -> None:
        """Show another method's settings, at their defaults."""
        for widget in self.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly):
            self._grid.removeWidget(widget)
            widget.hide()
            # Gone at once for whoever looks for a setting by its name.
            widget.setParent(None)
            widget.deleteLater()
        self.editors.clear()
        self._labels.clear()
        self._hints.clear()
        self._declared = declared_params(method)
        for row, declared in enumerate(self._declared.values()):
            self._add_row(2 * row, declared)
        self._show_what_matters()

    def _add_row(self, row: int, declared: Param) -> None:
        symbol = f"{declared.label}  {declared.symbol}" if declared.symbol else declared.label
        name = field_label(symbol)
        editor: Any = _EDITORS[declared.kind](declared)
        editor.setObjectName(f"param_{declared.name}")
        editor.setAccessibleName(declared.label)
        editor.setAccessibleDescription(declared.help)
        tip = f"{declared.help}\n{declared.allowed()}; default {_said(declared)}"
        plain_tooltip(editor, tip)
        plain_tooltip(name, tip)
        name.setBuddy(editor)
        editor.setValue(declared.default)
        editor.edited.connect(self._on_edited)
        hint = label("", "muted", wrap=True, name=f"hint_{declared.name}")
        hint.hide()
        self._grid.addWidget(name, row, 0)
        self._grid.addWidget(editor, row, 1)
        self._grid.addWidget(hint, row + 1, 1)
        self.editors[declared.name] = editor
        self._labels[declared.name] = name
        self._hints[declared.name] = hint

    def value(self) -> dict[str, Any]:
        """Read every setting.

        Raises
        ------
        InvalidSetting
            For the first field that cannot be read.
        """
        return {name: editor.value() for name, editor in self.editors.items()}

    def setValue(self, values: Mapping[str, Any]) -> None:
        """Show settings; those not given show their default."""
        for name, editor in self.editors.items():
            editor.setValue(values.get(name, self._declared[name].default))
        self._show_what_matters()

    def show_error(self, setting: str, sentence: str) -> bool:
        """Show a sentence beside the setting it is about; False if the form has no such field."""
        hint = self._hints.get(setting)
        if hint is None:
            return False
        tell(hint, sentence, "error")
        return True

    def _on_edited(self) -> None:
        self._show_what_matters()
        if self._all_readable():
            self.valueChanged.emit()

    def _all_readable(self) -> bool:
        readable = True
        for name, editor in self.editors.items():
            if editor.isHidden():
                continue
            try:
                editor.value()
            except InvalidSetting:
                readable = False
                self._mark(name, valid=False)
            else:
                self._mark(name, valid=True)
        return readable

    def _mark(self, name: str, *, valid: bool) -> None:
        editor = self.editors[name]
        if bool(editor.property("invalid")) == valid:
            editor.setProperty("invalid", not valid)
            editor.style().unpolish(editor)
            editor.style().polish(editor)
        if valid:
            tell(self._hints[name], self._remark(name), "muted")
        else:
            tell(self._hints[name], "Must be " + self._declared[name].allowed(), "error")

    def _remark(self, name: str) -> str:
        """Say what a value amounts to, where that helps: sigma beside gamma."""
        value = self.editors[name].value()
        if name == "gamma" and isinstance(value, float) and self._kernel() == "rbf":
            return f"σ = {1.0 / math.sqrt(2.0 * value):.3g} in units of the scaled features"
        if name == "gamma" and value == "scale":
            return "1 / (features × variance)"
        return ""

    def _kernel(self) -> Any:
        return self.editors["kernel"].value() if "kernel" in self.editors else None

    def _readable_values(self) -> dict[str, Any]:
        values = {}
        for name, editor in self.editors.items():
            try:
                values[name] = editor.value()
            except InvalidSetting:
                values[name] = self._declared[name].default
        return values

    def _show_what_matters(self) -> None:
        values = self._readable_values()
        for name, declared in self._declared.items():
            matters = declared.matters(values)
            self._labels[name].setVisible(matters)
            self.editors[name].setVisible(matters)
            if not matters:
                # What is hidden must not keep a bad value that cannot be seen.
                self.editors[name].setValue(values[name])
                self._hints[name].hide()
        self._all_readable()


def _said(declared: Param) -> str:
    return declared.none if declared.default is None else declared.spell(declared.default)


def swallow_wheel(widget: QWidget) -> None:
    """Keep a scrolled column from changing a field on the way."""
    widget.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    widget.installEventFilter(_WheelFilter(widget))


def narrow_combo(name: str, accessible: str) -> ElidedCombo:
    """Make a choice that takes the width of its column, however long its texts are."""
    combo = named(ElidedCombo(), name, accessible)
    combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    combo.setMinimumContentsLength(8)
    swallow_wheel(combo)
    return combo


class _WheelFilter(QObject):
    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Wheel:
            event.ignore()
            return True
        return False
