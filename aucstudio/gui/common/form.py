"""Forms from declared rows, and their fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from PySide6.QtCore import QEvent, QLocale, QObject, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLayout,
    QSizePolicy,
    QSpinBox,
    QWidget,
)

from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.theme import scaled
from aucstudio.gui.common.widgets import FIELD_MARGINS, ElidedCombo, field_label, label, named

_HEADING = 32  # pixels of height
_EDGE = 76  # pixels of width, of an end of a range

Row = tuple[str, QWidget | QLayout] | tuple[str, QWidget | QLayout, str]


class Form(QFormLayout):
    """A form whose titles have the same width in all forms.

    Parameters
    ----------
    rows : tuple of (str, QWidget or QLayout) or (str, QWidget or QLayout, str)
        Title, field and tooltip. A row without a title has its field in the right column.
    """

    def __init__(self, *rows: Row) -> None:
        super().__init__()
        self.setContentsMargins(0, 0, 0, 0)
        self.setHorizontalSpacing(8)
        self.setVerticalSpacing(6)
        self.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        for row in rows:
            self.add(*row)

    def add(self, title: str, field: QWidget | QLayout, tip: str = "") -> None:
        """Add a row at the end."""
        if not title:
            self.addRow("", field)  # a label would keep its height when the field is hidden
            if tip and isinstance(field, QWidget):
                plain_tooltip(field, tip)
            return
        words = field_label(title)
        control: QWidget | QLayout | None = field
        self.addRow(words, field)
        if isinstance(field, QLayout):
            inner = field.itemAt(0)
            control = None if inner is None else inner.widget()
        if isinstance(control, QWidget):
            words.setBuddy(control)
            if tip:
                plain_tooltip(control, tip)
        if tip:
            plain_tooltip(words, tip)

    def add_heading(self, words: str) -> None:
        """Begin a group of rows."""
        made = label(words, "heading")
        made.setAlignment(Qt.AlignmentFlag.AlignBottom)
        made.setMinimumHeight(scaled(_HEADING) if self.rowCount() else 0)
        self.addRow(made)

    def retitle(self, field: QWidget, title: str, tip: str) -> None:
        """Set the title and tooltip of a row."""
        words = self.labelForField(field)
        assert isinstance(words, QLabel)
        words.setText(title)
        for target in (words, field):
            plain_tooltip(target, tip)


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


class _Plain(QDoubleSpinBox):
    """A number without zeros at its end."""

    def textFromValue(self, value: float) -> str:
        return f"{value:.{self.decimals()}f}".rstrip("0").rstrip(".")


def whole_box(
    name: str, words: str, low: int, high: int, *, value: int = 0, step: int = 1, unit: str = ""
) -> QSpinBox:
    """Make the field of a whole number."""
    return _ready(QSpinBox(), name, words, low, high, value, step, unit)


def number_box(
    name: str,
    words: str,
    low: float,
    high: float,
    *,
    value: float = 0.0,
    step: float = 1.0,
    decimals: int = 1,
    unit: str = "",
) -> QDoubleSpinBox:
    """Make the field of a number with a fixed count of decimals; the tooltip states its range."""
    made = QDoubleSpinBox()
    made.setDecimals(decimals)
    plain_tooltip(made, f"{words}, {low:g} … {high:g}{unit}")
    return _ready(made, name, words, low, high, value, step, unit)


def plain_box(name: str, words: str, low: float, high: float) -> QDoubleSpinBox:
    """Make the field of a number with up to four decimals, without trailing zeros."""
    made = _Plain()
    made.setDecimals(4)
    made.setKeyboardTracking(False)
    return _ready(made, name, words, low, high, 0.0, 1.0, "")


def edge_box(name: str, words: str, low: float, high: float) -> QDoubleSpinBox:
    """Make the field of an end of a range of rates."""
    made = plain_box(name, words, low, high)
    made.setLocale(QLocale.c())
    made.setSingleStep(0.01)
    made.setFixedWidth(scaled(_EDGE))
    made.setAlignment(Qt.AlignmentFlag.AlignLeft)
    plain_tooltip(made, f"{words}, 0 … 1")
    return made


class RangeBox(QWidget):
    """The two ends of a range of rates beside each other.

    Parameters
    ----------
    name : str
        The object names of the ends are this with ``_low`` and ``_high``.
    low, high : str
        Accessible names of the ends.

    Attributes
    ----------
    valueChanged : Signal
    low, high : QDoubleSpinBox
    """

    valueChanged = Signal()  # noqa: N815  (as Qt names it)

    def __init__(self, name: str, low: str, high: str) -> None:
        super().__init__()
        self.low = edge_box(f"{name}_low", low, 0.0, 1.0)
        self.high = edge_box(f"{name}_high", high, 0.0, 1.0)
        self.setFocusProxy(self.low)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        for part in (self.low, label("…"), self.high):
            row.addWidget(part)
        row.addStretch(1)
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
    name: str, words: str, items: Mapping[Value, str], *, narrow: bool = False
) -> QComboBox:
    """Make a choice among values, each with its title."""
    made = narrow_combo(name, words) if narrow else named(ElidedCombo(), name, words)
    for value, title in items.items():
        made.addItem(title, value)
    return made


def narrow_combo(name: str, accessible: str) -> ElidedCombo:
    """Make a choice that is as wide as its column, even if its texts are longer."""
    combo = named(ElidedCombo(), name, accessible)
    combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    combo.setMinimumContentsLength(8)
    swallow_wheel(combo)
    return combo


def in_column(spin: Spin) -> Spin:
    """Fit a field to the width of a scrolled column; the wheel scrolls the column."""
    spin.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
    spin.setKeyboardTracking(False)
    swallow_wheel(spin)
    return spin


def swallow_wheel(widget: QWidget) -> None:
    """Scroll the column by the wheel instead of changing the field."""
    widget.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    widget.installEventFilter(_WheelFilter(widget))


class _WheelFilter(QObject):
    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Wheel:
            event.ignore()
            return True
        return False


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
