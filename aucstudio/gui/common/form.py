"""Forms from declared rows, and their fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from PySide6.QtCore import QLocale, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QValidator
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QApplication,
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QFormLayout,
    QLabel,
    QLayout,
    QSizePolicy,
    QSpinBox,
    QWidget,
)

from aucstudio.gui.common.layouts import STRETCH, across
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.theme import fix_width, scaled
from aucstudio.gui.common.widgets import FIELD_MARGINS, ElidedCombo, FieldLabel, label, named
from aucstudio.notices.controls import control_words

_HEADING = 32  # pixels of height
_EDGE = 76  # pixels of width, of an end of a range

Row = QWidget | tuple[str, QWidget | QLayout] | tuple[str, QWidget | QLayout, str]


class Form(QFormLayout):
    """A form whose titles have the same width in all forms.

    Parameters
    ----------
    rows : QWidget or (title, field) or (title, field, tip)
        A field by itself has the title and the tip of the catalogue.
    """

    def __init__(self, *rows: Row) -> None:
        super().__init__()
        self.setContentsMargins(0, 0, 0, 0)
        self.setHorizontalSpacing(8)
        self.setVerticalSpacing(6)
        self.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        for row in rows:
            if isinstance(row, QWidget):
                self.put(row)
            else:
                self.add(*row)

    def put(self, field: QWidget, *, like: str = "") -> None:
        """Add a field with the title and the tip that the catalogue has for it."""
        words = control_words(like or field.objectName())
        self.add(words.get("title", ""), field, words.get("tip", ""))

    def add(self, title: str, field: QWidget | QLayout, tip: str = "") -> None:
        """Add a row; without a title the field is below the other fields.

        The title of a field is its buddy, and has its tip.
        """
        if title:
            words = FieldLabel(title)
            self.addRow(words, field)
            if isinstance(field, QWidget):
                words.setBuddy(field.focusProxy() or field)
            if tip:
                plain_tooltip(words, tip)
        else:
            self.addRow("", field)  # a label would keep its height when the field is hidden
        if tip and isinstance(field, QWidget):
            plain_tooltip(field, tip)

    def add_heading(self, words: str) -> None:
        """Begin a group of rows."""
        made = label(words, "heading")
        made.setAlignment(Qt.AlignmentFlag.AlignBottom)
        made.setMinimumHeight(scaled(_HEADING) if self.rowCount() else 0)
        self.addRow(made)

    def retitle(self, field: QWidget, like: str) -> None:
        """Show the title and the tip of another entry of the catalogue."""
        words, declared = self.labelForField(field), control_words(like)
        assert isinstance(words, QLabel)
        words.setText(declared["title"])
        for target in (words, field):
            plain_tooltip(target, declared["tip"])


# ----------------------------------------------------------------- values


class Fields(dict[str, Any]):
    """The fields of a form by the names of their values, read and written together.

    A field is a list of choices, a check box, a line of text, or a widget with ``value`` and
    ``setValue``.
    """

    def read(self) -> dict[str, Any]:
        """Return the value of every field."""
        return {name: value_of(field) for name, field in self.items()}

    def write(self, values: Mapping[str, Any]) -> None:
        """Show values without a signal; fields without one stay as they are."""
        for name, value in values.items():
            with QSignalBlocker(self[name]):
                set_value(self[name], value)

    def connect(self, edited: Callable[[str], object]) -> None:
        """Call a function with the name of each field that is edited."""
        for name, field in self.items():
            _signal_of(field).connect(lambda *_, name=name: edited(name))


def value_of(field: Any) -> Any:
    """Return the value of a field."""
    if hasattr(field, "value"):
        return field.value()
    if isinstance(field, QComboBox):
        return field.currentData()
    return field.isChecked() if isinstance(field, QCheckBox) else field.text().strip()


def set_value(field: Any, value: Any) -> None:
    """Show a value in a field."""
    if hasattr(field, "setValue"):
        field.setValue(value)
    elif isinstance(field, QComboBox):
        field.setCurrentIndex(field.findData(value))
    elif isinstance(field, QCheckBox):
        field.setChecked(value)
    else:
        field.setText(value)


def _signal_of(field: Any) -> Any:
    """Return the signal that a field emits when its value changes."""
    if isinstance(field, QComboBox):
        return field.currentIndexChanged
    if isinstance(field, QCheckBox):
        return field.toggled
    return field.valueChanged if hasattr(field, "valueChanged") else field.textChanged


# ----------------------------------------------------------------- fields

Spin = TypeVar("Spin", QSpinBox, QDoubleSpinBox)
Value = TypeVar("Value")


class _NumberBox(QDoubleSpinBox):
    """A number; a comma that is typed becomes the decimal point, which Qt would drop."""

    def __init__(self) -> None:
        super().__init__()
        self.setLocale(QLocale.c())

    def validate(self, text: str, position: int) -> tuple[QValidator.State, str, int]:
        return super().validate(text.replace(",", "."), position)


class _PlainBox(_NumberBox):
    """A number without zeros at its end."""

    def textFromValue(self, value: float) -> str:
        return f"{value:.{self.decimals()}f}".rstrip("0").rstrip(".")


def whole_box(
    name: str, low: int, high: int, *, value: int = 0, step: int = 1, unit: str = ""
) -> QSpinBox:
    """Make the field of a whole number."""
    return _ready(QSpinBox(), name, "", low, high, value, step, unit)


def number_box(
    name: str,
    low: float,
    high: float,
    *,
    step: float = 1.0,
    decimals: int = 1,
    unit: str = "",
    words: str = "",
) -> QDoubleSpinBox:
    """Make the field of a number with a fixed count of decimals; the tooltip states its range."""
    made = _NumberBox()
    made.setDecimals(decimals)
    _ready(made, name, words, low, high, 0.0, step, unit)
    plain_tooltip(made, f"{made.accessibleName()}, {low:g} … {high:g}{unit}")
    return made


def plain_box(name: str, low: float, high: float, *, words: str = "") -> QDoubleSpinBox:
    """Make the field of a number with up to four decimals, without trailing zeros."""
    made = _PlainBox()
    made.setDecimals(4)
    made.setKeyboardTracking(False)
    return _ready(made, name, words, low, high, 0.0, 1.0, "")


def edge_box(name: str, low: float, high: float, *, words: str = "") -> QDoubleSpinBox:
    """Make the field of an end of a range of rates."""
    made = plain_box(name, low, high, words=words)
    made.setSingleStep(0.01)
    fix_width(made, _EDGE)
    made.setAlignment(Qt.AlignmentFlag.AlignLeft)
    plain_tooltip(made, f"{made.accessibleName()}, 0 … 1")
    return made


def commit_typing() -> None:
    """Take over the number that is being typed: a shortcut does not end the typing."""
    field = QApplication.focusWidget()
    if isinstance(field, QAbstractSpinBox):
        field.interpretText()


class RangeBox(QWidget):
    """The two ends of a range of rates beside each other.

    Parameters
    ----------
    name : str
        The object names of the ends are this with ``_low`` and ``_high``.

    Attributes
    ----------
    valueChanged : Signal
    low, high : QDoubleSpinBox
    """

    valueChanged = Signal()  # noqa: N815  (as Qt names it)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self.low, self.high = (
            edge_box(f"{name}_{side}", 0.0, 1.0, words=f"{words} end of the FPR range")
            for side, words in (("low", "Lower"), ("high", "Upper"))
        )
        self.setFocusProxy(self.low)
        self.setLayout(across(self.low, label("…"), self.high, STRETCH))
        for end in (self.low, self.high):
            end.valueChanged.connect(lambda _value: self.valueChanged.emit())

    def value(self) -> tuple[float, float]:
        """Return the ends."""
        return self.low.value(), self.high.value()

    def setValue(self, ends: tuple[float, float]) -> None:
        """Show other ends."""
        self.low.setValue(ends[0])
        self.high.setValue(ends[1])


def choice_box(
    name: str, items: Mapping[Value, str] | None = None, *, narrow: bool = False, like: str = ""
) -> ElidedCombo:
    """Make a choice among values with their titles, by default those of the catalogue, if any.

    A narrow one is as wide as its column, even if its texts are longer.
    """
    made, sizes = named(ElidedCombo(), name, like=like), QComboBox.SizeAdjustPolicy
    if narrow:
        made.setSizeAdjustPolicy(sizes.AdjustToMinimumContentsLengthWithIcon)
        made.setMinimumContentsLength(8)
    else:
        made.setSizeAdjustPolicy(sizes.AdjustToContents)
    offered = control_words(like or name).get("choices", {}) if items is None else items
    for value, title in offered.items():
        made.addItem(title, value)
    return made


def in_column(spin: Spin) -> Spin:
    """Fit a field to the width of a scrolled column."""
    spin.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
    spin.setKeyboardTracking(False)
    return spin


def _ready(
    made: Spin, name: str, words: str, low: float, high: float, value: float, step: float, unit: str
) -> Spin:
    named(made, name, words)
    made.lineEdit().setTextMargins(*FIELD_MARGINS)
    made.setRange(low, high)  # type: ignore[arg-type]
    made.setSingleStep(step)  # type: ignore[arg-type]
    made.setSuffix(unit)
    made.setValue(value)  # type: ignore[arg-type]
    return made
