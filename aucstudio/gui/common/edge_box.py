"""A field for an end of a range of rates."""

from __future__ import annotations

from PySide6.QtCore import QLocale, Qt
from PySide6.QtWidgets import QDoubleSpinBox

from aucstudio.gui.common.plain import plain_tooltip
from aucstudio.gui.common.theme import scaled
from aucstudio.gui.common.widgets import FIELD_MARGINS, named


class _EdgeBox(QDoubleSpinBox):
    def textFromValue(self, value: float) -> str:
        return f"{value:.4f}".rstrip("0").rstrip(".")


def make_edge_box(name: str, accessible: str, least: float, most: float) -> QDoubleSpinBox:
    """Make a field of a rate, which is written with as many digits as it has."""
    made = named(_EdgeBox(), name, accessible)
    made.lineEdit().setTextMargins(*FIELD_MARGINS)
    made.setLocale(QLocale.c())
    made.setDecimals(4)
    made.setRange(least, most)
    made.setSingleStep(0.01)
    made.setKeyboardTracking(False)
    made.setFixedWidth(scaled(76))
    plain_tooltip(made, f"{accessible}, 0 … 1")
    made.setAlignment(Qt.AlignmentFlag.AlignLeft)
    return made
