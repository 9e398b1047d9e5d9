"""Small pieces that the panels are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtWidgets import (
    QCheckBox,
    QFrame,
    QLabel,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)


class Card(QFrame):
    """A titled group on the 8-pixel grid."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("card")
        self.rows = QVBoxLayout(self)
        self.rows.setContentsMargins(16, 12, 16, 14)
        self.rows.setSpacing(8)
        if title:
            self.rows.addWidget(label(title.upper(), "heading"))


# A styled spin box gives its text no air of its own.
FIELD_MARGINS = (6, 0, 0, 0)

Kind = TypeVar("Kind", bound=QWidget)


def named(widget: Kind, name: str, accessible: str) -> Kind:
    """Give a control its name for automation and its name for screen readers."""
    widget.setObjectName(name)
    widget.setAccessibleName(accessible)
    return widget


def ticking(parent: QObject, milliseconds: int, verb: Callable[[], object]) -> QTimer:
    """Make a timer, not yet started, that calls ``verb`` again and again."""
    timer = QTimer(parent)
    timer.setInterval(milliseconds)
    timer.timeout.connect(verb)
    return timer


def delayed(parent: QObject, milliseconds: int, verb: Callable[[], object]) -> QTimer:
    """Make a timer that calls ``verb`` once, some time after its last start."""
    timer = ticking(parent, milliseconds, verb)
    timer.setSingleShot(True)
    return timer


def primary(button: QPushButton) -> QPushButton:
    """Dress a button as the one to press."""
    button.setProperty("primary", True)
    return button


def follow_check(name: str) -> QCheckBox:
    """Make the choice between the run in flight and the chosen one."""
    check = named(QCheckBox("&Follow the run in flight"), name, "Follow the run in flight")
    check.setToolTip("Off: the chosen run stays in view while another trains")
    check.setChecked(True)
    check.setVisible(False)
    return check


# ----------------------------------------------------------------- drawing


def label(text: str = "", role: str = "", *, wrap: bool = False, name: str = "") -> QLabel:
    """Make a label of one of the style sheet's roles."""
    made = QLabel(text)
    if role:
        made.setProperty("role", role)
    if name:
        made.setObjectName(name)
    if wrap:
        made.setWordWrap(True)
        made.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        made.setTextFormat(Qt.TextFormat.PlainText)
    return made


def set_role(widget: QWidget, role: str) -> None:
    """Give a label another role of the style sheet."""
    if widget.property("role") != role:
        widget.setProperty("role", role)
        widget.style().unpolish(widget)
        widget.style().polish(widget)


def tell(target: QLabel, text: str, role: str = "muted") -> None:
    """Show a text under a field, or hide the label where there is nothing to say."""
    target.setText(text)
    target.setVisible(bool(text))
    set_role(target, role)
