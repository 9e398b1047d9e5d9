"""Forms from declared rows, and their fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from PySide6.QtCore import QEvent, QLocale, QObject, Qt
from PySide6.QtWidgets import (
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
    """Titles at the left, as wide as those of all forms, and fields at the right.

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
            self.addRow("", field)  # a label would keep the height of a hidden field
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
    """Make the field of a number with a fixed count of decimals."""
    made = QDoubleSpinBox()
    made.setDecimals(decimals)
    return _ready(made, name, words, low, high, value, step, unit)


def plain_box(name: str, words: str, low: float, high: float) -> QDoubleSpinBox:
    """Make the field of a number that is written with as many decimals as it has, up to four."""
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


def range_row(low: QWidget, high: QWidget) -> QHBoxLayout:
    """Put the two ends of a range beside each other."""
    row = QHBoxLayout()
    row.setSpacing(8)
    for part in (low, label("…"), high):
        row.addWidget(part)
    row.addStretch(1)
    return row


def choice_box(
    name: str, words: str, items: Mapping[Value, str], *, narrow: bool = False
) -> QComboBox:
    """Make a choice among values, each with its title."""
    made = narrow_combo(name, words) if narrow else named(QComboBox(), name, words)
    for value, title in items.items():
        made.addItem(title, value)
    return made


def narrow_combo(name: str, accessible: str) -> ElidedCombo:
    """Make a choice that takes the width of its column, however long its texts are."""
    combo = named(ElidedCombo(), name, accessible)
    combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    combo.setMinimumContentsLength(8)
    swallow_wheel(combo)
    return combo


def in_column(spin: Spin) -> Spin:
    """Fit a field to the width of a scrolled column; the wheel does not change it."""
    spin.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
    spin.setKeyboardTracking(False)
    swallow_wheel(spin)
    return spin


def swallow_wheel(widget: QWidget) -> None:
    """Keep a scrolled column from changing a field on the way."""
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
