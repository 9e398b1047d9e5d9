"""Combo boxes, labels and fields, their names and their style."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from PySide6.QtCore import QEvent, QObject, QRect, QSignalBlocker, QSize, Qt, QTimer
from PySide6.QtGui import (
    QFont,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QStandardItemModel,
)
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionComboBox,
    QStylePainter,
    QWidget,
)

from aucstudio.gui.common.plain_text import PlainLabel, plain_tooltip
from aucstudio.gui.common.theme import scaled
from aucstudio.notices.controls import control_words


class ElidedCombo(QComboBox):
    """A combo box whose text is elided instead of cut.

    Attributes
    ----------
    elided : Qt.TextElideMode
        The part of the text that is elided.
    """

    elided = Qt.TextElideMode.ElideRight

    def sizeHint(self) -> QSize:
        # The style rounds the width of the longest text, which would then be elided.
        return super().sizeHint() + QSize(_SPARE, 0)

    def showPopup(self) -> None:
        if self.maxVisibleItems() != _MOST_VISIBLE:  # the first time: a list is seven widgets
            self.setMaxVisibleItems(_MOST_VISIBLE)
            # The default delegate ignores the style sheet's padding of the items.
            self.setItemDelegate(QStyledItemDelegate(self))
        font = self.font()
        font.setItalic(False)
        self.view().setFont(font)
        if self.count() <= MEASURED:
            self.view().setMinimumWidth(self.view().sizeHintForColumn(0) + _SCROLL_BAR)
        super().showPopup()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter, option = QStylePainter(self), QStyleOptionComboBox()
        self.initStyleOption(option)
        controls = QStyle.ComplexControl.CC_ComboBox
        field = self.style().subControlRect(
            controls, option, QStyle.SubControl.SC_ComboBoxEditField, self
        )
        option.currentText = self.fontMetrics().elidedText(
            self.currentText(), self.elided, field.width() - 2
        )
        painter.drawComplexControl(controls, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
        painter.end()


class ElidedLabel(PlainLabel):
    """One line elided in the middle, so that a file keeps its ending."""

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        paint_elided(self, self.text(), self.contentsRect(), Qt.TextElideMode.ElideMiddle)


def paint_elided(widget: QWidget, words: str, area: QRect, elide: Qt.TextElideMode) -> None:
    """Paint one line on a widget, elided if it is too long."""
    painter = QPainter(widget)
    painter.setPen(widget.palette().windowText().color())
    shown = widget.fontMetrics().elidedText(words, elide, area.width())
    painter.drawText(area, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)
    painter.end()


class FieldLabel(PlainLabel):
    """A label of the same width in all cards, so that their fields are aligned."""

    def sizeHint(self) -> QSize:
        # A form limits a label to 7/4 of its height; this centres it beside one line.
        return QSize(scaled(_LABEL_WIDTH), round(_LABEL_HEIGHT * super().sizeHint().height()))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()


_SPARE = 4  # pixels
MEASURED = 1_000  # items of a list; measuring those of a wide table would take a second
_MOST_VISIBLE = 24  # items of a drop-down list without a scroll bar
_SCROLL_BAR = 24  # pixels beside a list's texts
# Wide enough for all labels.
_LABEL_WIDTH = 118
_LABEL_HEIGHT = 1.3
# A styled spin box has no margin around its text.
FIELD_MARGINS = (6, 0, 0, 0)
_TIED = re.compile(r"(?<=\d) (?=%|(ms|s|min|h|MB|GB)\b)|(?<=\bp) (?=[=<≈])|(?<=\bp [=<≈]) (?=\d)")
Kind = TypeVar("Kind", bound=QWidget)


def unbroken(text: str) -> str:
    """Keep numbers and their units, and p and its value, on one line."""
    return _TIED.sub("\u00a0", text)


def named(widget: Kind, name: str, accessible: str = "", *, like: str = "") -> Kind:
    """Set the object name of a control, and the words that the catalogue has for it.

    Parameters
    ----------
    widget : QWidget
    name : str
        For automation.
    accessible : str
        Name for screen readers; by default the one in the catalogue, or the text.
    like : str
        Entry of the catalogue, if it is not ``name``.
    """
    widget.setObjectName(name)
    words = control_words(like or name)
    for key, property_ in (("text", "text"), ("hint", "placeholderText")):
        if key in words:
            widget.setProperty(property_, words[key])  # type: ignore[literal-required]
    text = str(widget.property("text") or "").replace("&", "").rstrip("…")
    widget.setAccessibleName(accessible or words.get("name") or text)
    if "tip" in words:
        plain_tooltip(widget, words["tip"])
    if isinstance(widget, QPushButton):
        widget.setAutoDefault(True)  # Enter presses it, also outside of a dialog
    if isinstance(widget, QComboBox | QAbstractSpinBox):
        widget.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        widget.installEventFilter(_WheelFilter(widget))
    return widget


class _WheelFilter(QObject):
    """Lets the wheel scroll an area instead of changing a field in it."""

    def eventFilter(self, field: QObject, event: QEvent) -> bool:
        if event.type() != QEvent.Type.Wheel:
            return False
        around = scroll_area_of(field)
        event.setAccepted(around is None)
        return around is not None


def scroll_area_of(part: QObject) -> QScrollArea | None:
    """Return the innermost scroll area around a part of the window, if any."""
    around = part.parent()
    while around is not None and not isinstance(around, QScrollArea):
        around = around.parent()
    return around


def enable_item(combo: QComboBox, data: object, enabled: bool) -> None:
    """Enable or disable an item of a list."""
    model = combo.model()
    assert isinstance(model, QStandardItemModel)
    model.item(combo.findData(data)).setEnabled(enabled)


def hint_label(name: str) -> QLabel:
    """Make the text in the middle of a page without a picture."""
    made = label("", "muted", name=name)
    made.setAlignment(Qt.AlignmentFlag.AlignCenter)
    made.setWordWrap(True)
    return made


class _Cleared(QObject):
    """Lets Escape press the button that clears a field."""

    def eventFilter(self, field: QObject, event: QEvent) -> bool:
        if event.type() != QEvent.Type.KeyPress or not isinstance(event, QKeyEvent):
            return False
        if event.key() != Qt.Key.Key_Escape or not field.property("text"):
            return False
        for button in field.findChildren(QAbstractButton):
            button.click()
        return True


def clearable(field: QLineEdit) -> QLineEdit:
    """Add a named button to a field that clears it, as Escape does."""
    field.setClearButtonEnabled(True)
    field.installEventFilter(_Cleared(field))
    for button in field.findChildren(QAbstractButton):
        named(button, f"{field.objectName()}_clear_button", "Clear")
    return field


def search_field(name: str) -> QLineEdit:
    """Make a field for words to search for."""
    return clearable(named(QLineEdit(), name))


def quietly(change: Callable[..., object], *arguments: object) -> None:
    """Call a method of a widget or a model while its signals are blocked."""
    with QSignalBlocker(change.__self__):  # type: ignore[attr-defined]
        change(*arguments)


def label(
    text: str = "", role: str = "", *, wrap: bool = False, elided: bool = False, name: str = ""
) -> QLabel:
    """Make a label with a role of the style sheet, and by default the text of the catalogue."""
    kind = ElidedLabel if elided else PlainLabel
    made = kind(text or control_words(name).get("text", ""))
    if role:
        made.setProperty("role", role)
    if name:
        made.setObjectName(name)
    if wrap:
        made.setWordWrap(True)
        made.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
    return made


def set_style(widget: QWidget, state: str, value: object) -> None:
    """Set a property that the style sheet uses."""
    if widget.property(state) != value:
        widget.setProperty(state, value)
        widget.style().unpolish(widget)
        widget.style().polish(widget)


def set_role(widget: QWidget, role: str) -> None:
    """Set the style-sheet role of a label."""
    set_style(widget, "role", role)


def bold(font: QFont) -> QFont:
    """Return a font in bold."""
    made = QFont(font)
    made.setBold(True)
    return made


def set_italic(field: QWidget, italic: bool) -> None:
    """Show a detected value in italics, but not the choices of a list."""
    font = field.font()
    font.setItalic(italic)
    field.setFont(font)


def show_note(target: QLabel, text: str, role: str = "muted") -> None:
    """Show a text under a field, or hide the empty label."""
    target.setText(text)
    target.setVisible(bool(text))
    set_role(target, role)


def show_error_at(target: QLabel, text: str) -> None:
    """Show an error under a field, and scroll to it once it is laid out."""
    show_note(target, text, "error")
    if text and (around := scroll_area_of(target)) is not None:
        QTimer.singleShot(0, target, partial(around.ensureWidgetVisible, target))


def make_buddy(text: str, widget: QWidget) -> QLabel:
    """Make the label of a control."""
    made = PlainLabel(text)
    made.setBuddy(widget)
    return made
