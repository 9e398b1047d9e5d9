"""Small widgets of panels and pages, layouts and menus."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeVar

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSignalBlocker, QSize, Qt, QTimer
from PySide6.QtGui import (
    QAction,
    QGuiApplication,
    QIcon,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QShowEvent,
    QStandardItemModel,
)
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QBoxLayout,
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QLineEdit,
    QMenu,
    QMessageBox,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QSplitter,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionComboBox,
    QStylePainter,
    QTabWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from aucstudio.gui.common.plain_text import PlainLabel, plain_tooltip
from aucstudio.gui.common.theme import scaled
from aucstudio.gui.state.session import Session
from aucstudio.notices.controls import control_words
from aucstudio.notices.words import as_sentence

Around = int | tuple[int, int, int, int]
Item = QWidget | QLayout
Part = Item | int | tuple[Item, int | Qt.AlignmentFlag] | None
Box = TypeVar("Box", bound=QBoxLayout)

STRETCH = None  # takes the remaining room
TOP, LEFT, RIGHT = (
    Qt.AlignmentFlag.AlignTop,
    Qt.AlignmentFlag.AlignLeft,
    Qt.AlignmentFlag.AlignRight,
)


def across(*parts: Part, gap: int = 8, around: Around = 0) -> QHBoxLayout:
    """Return a layout of parts side by side.

    Parameters
    ----------
    parts : QWidget, QLayout, int, tuple or None
        A number is a space in pixels; None takes the remaining room. A tuple is a part with its
        stretch or its alignment.
    gap : int
        Pixels between the parts.
    around : int or tuple of int
        Pixels around them: left, top, right, bottom.
    """
    return _filled(QHBoxLayout(), parts, gap, around)


def down(*parts: Part, gap: int = 8, around: Around = 0) -> QVBoxLayout:
    """Return a layout of parts below each other; see :func:`across`."""
    return _filled(QVBoxLayout(), parts, gap, around)


class _ScrollArea(QScrollArea):
    """Scrolls to the widget that takes the focus, as by Tab from outside or a shortcut."""

    def __init__(self) -> None:
        super().__init__()
        QApplication.instance().focusChanged.connect(self._on_focus)  # type: ignore[union-attr]

    def _on_focus(self, old: QWidget | None, new: QWidget | None) -> None:
        # A window that is activated again stays as it was; what is clicked must not move away.
        is_clicked = QGuiApplication.mouseButtons() != Qt.MouseButton.NoButton
        if old is not None and new is not None and self.isAncestorOf(new) and not is_clicked:
            self.ensureWidgetVisible(new)


def scrolled(inner: QWidget | QLayout, name: str = "", accessible: str = "") -> QScrollArea:
    """Return an area that scrolls a widget or a layout vertically."""
    made = named(_ScrollArea(), name, accessible)
    made.setWidget(inner if isinstance(inner, QWidget) else holding(inner))
    made.setWidgetResizable(True)
    made.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    return made


def holding(layout: QLayout) -> QWidget:
    """Make a widget that holds a layout."""
    made = QWidget()
    made.setLayout(layout)
    return made


def discard(widget: QWidget) -> None:
    """Delete a widget, which is no longer found by its name."""
    widget.hide()
    widget.setParent(None)
    widget.deleteLater()


def empty(layout: QLayout) -> None:
    """Delete the widgets of a layout."""
    for one in members(layout):
        if isinstance(one, QWidget):
            discard(one)


def _filled(box: Box, parts: tuple[Part, ...], gap: int, around: Around) -> Box:
    box.setSpacing(gap)
    edges = (around,) * 4 if isinstance(around, int) else around
    box.setContentsMargins(*edges)
    fill(box, *parts)
    return box


def fill(box: QBoxLayout, *parts: Part) -> None:
    """Add parts to a layout; see :func:`across`."""
    for part in parts:
        if part is None:
            box.addStretch(1)
        elif isinstance(part, int):
            box.addSpacing(part)
        elif isinstance(part, tuple):
            _add(box, *part)
        else:
            _add(box, part, 0)


def _add(box: QBoxLayout, item: Item, how: int | Qt.AlignmentFlag) -> None:
    is_side = isinstance(how, Qt.AlignmentFlag)  # also a number
    if isinstance(item, QLayout):
        box.addLayout(item, 0 if is_side else how)
    else:
        box.addWidget(item, 0 if is_side else how)
    if is_side:
        box.setAlignment(item, Qt.AlignmentFlag(how))


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
        area = self.contentsRect()
        shown = self.fontMetrics().elidedText(
            self.text(), Qt.TextElideMode.ElideMiddle, area.width()
        )
        painter, sides = QPainter(self), Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.setPen(self.palette().windowText().color())
        painter.drawText(area, sides, shown)
        painter.end()


class FieldLabel(PlainLabel):
    """A label of the same width in all cards, so that their fields are aligned."""

    def sizeHint(self) -> QSize:
        # A form limits a label to 7/4 of its height; this centres it beside one line.
        return QSize(scaled(_LABEL_WIDTH), round(_LABEL_HEIGHT * super().sizeHint().height()))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()


class Card(QFrame):
    """A titled group on the 8-pixel grid.

    Attributes
    ----------
    heading : QLabel
        If there is a title; Alt and the letter marked in the title move the focus to its buddy.
    """

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("card")
        self.rows = QVBoxLayout(self)
        self.rows.setContentsMargins(16, 12, 16, 14)
        self.rows.setSpacing(8)
        if title:
            self.heading = label(title.upper(), "heading")
            self.rows.addWidget(self.heading)


def card_around(widget: QWidget) -> Card:
    """Return a card that holds one widget."""
    card = Card("")
    card.rows.setContentsMargins(8, 4, 8, 8)
    card.rows.addWidget(widget)
    return card


class RoomyTabs(QTabWidget):
    """Pages of which only the one in front asks for room, as a low screen has none for others."""

    def __init__(self) -> None:
        super().__init__()
        self.currentChanged.connect(self.updateGeometry)

    def minimumSizeHint(self) -> QSize:
        return least_size(self.currentWidget()) + QSize(0, self.tabBar().sizeHint().height())


def least_size(widget: QWidget | None) -> QSize:
    """Return the room that a widget asks for, if there is one."""
    if widget is None:
        return QSize(0, 0)
    return widget.minimumSizeHint().expandedTo(widget.minimumSize())


def focus_within(part: QWidget, main: QWidget | None = None) -> None:
    """Move the focus to the main control of a part of the window.

    If that is absent or hidden, it moves to the control that has had it, or to the first one.
    """
    fields = (one for one in part.findChildren(QWidget) if one.focusPolicy() & _BY_TAB)
    seen = [one for one in fields if one.isVisible() and one.isEnabled()]
    for field in (main, part.focusWidget(), *seen[:1]):
        if field in seen:
            field.setFocus(Qt.FocusReason.ShortcutFocusReason)
            return


def order_tabs(layout: QLayout) -> None:
    """Make Tab visit the controls in the order of a layout."""
    for one, following in itertools.pairwise(_controls(layout)):
        QWidget.setTabOrder(one, following)


def members(layout: QLayout) -> list[QWidget | QLayout]:
    """Return the widgets and layouts of a layout, in its order.

    PySide keeps what ``QLayout.itemAt`` returns as long as the layout, also after Qt has deleted
    the item. It then takes any object of Qt at the same address for that item, so that overridden
    methods of a new widget are not called.
    """
    around, direct = layout.parentWidget(), Qt.FindChildOption.FindDirectChildrenOnly
    widgets = around.findChildren(QWidget, options=direct) if around is not None else []
    found: list[tuple[int, QWidget | QLayout]] = [
        *((layout.indexOf(one), one) for one in widgets),
        *((layout.indexOf(one), one) for one in layout.findChildren(QLayout, options=direct)),
    ]
    return [one for place, one in sorted(found, key=lambda each: each[0]) if place >= 0]


def _controls(layout: QLayout) -> Iterator[QWidget]:
    """Yield the widgets of a layout that Tab reaches, in its order."""
    for one in members(layout):
        yield from _controls(one) if isinstance(one, QLayout) else _controls_within(one)


def _controls_within(widget: QWidget) -> Iterator[QWidget]:
    if widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
        yield widget
    if isinstance(widget, QScrollArea):
        if (inner := widget.widget()) is not None:
            yield from _controls_within(inner)
    elif (layout := widget.layout()) is not None:
        yield from _controls(layout)
    elif isinstance(widget, QSplitter):
        for place in range(widget.count()):
            if (pane := widget.widget(place)) is not None:
                yield from _controls_within(pane)


_BY_TAB = Qt.FocusPolicy.TabFocus
_SPARE = 4  # pixels
MEASURED = 1_000  # items of a list; measuring those of a wide table would take a second
_MOST_VISIBLE = 24  # items of a drop-down list without a scroll bar
_SCROLL_BAR = 24  # pixels beside a list's texts

# Wide enough for all labels.
_LABEL_WIDTH = 112
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
    if isinstance(widget, QComboBox | QAbstractSpinBox):
        widget.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        widget.installEventFilter(_WheelFilter(widget))
    return widget


class _WheelFilter(QObject):
    """Lets the wheel scroll an area instead of changing a field in it."""

    def eventFilter(self, field: QObject, event: QEvent) -> bool:
        if event.type() != QEvent.Type.Wheel:
            return False
        around = field.parent()
        while around is not None and not isinstance(around, QScrollArea):
            around = around.parent()
        event.setAccepted(around is None)
        return around is not None


def enable_item(combo: QComboBox, data: object, enabled: bool) -> None:
    """Enable or disable an item of a list."""
    model = combo.model()
    assert isinstance(model, QStandardItemModel)
    model.item(combo.findData(data)).setEnabled(enabled)


class _EndButtons(QDialogButtonBox):
    """A row of buttons that Tab visits from the first one; Qt would start at the default one."""

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.setFocusProxy(None)  # type: ignore[arg-type]


def dialog_buttons(*kinds: QDialogButtonBox.StandardButton, name: str) -> QDialogButtonBox:
    """Make the row of buttons of a dialog."""
    box = _EndButtons()
    for kind in kinds:
        box.addButton(kind)
    name_buttons(box, name)
    return box


def answers(
    dialog: QDialog,
    name: str,
    accept: Callable[[], None],
    words: str = "",
    kind: QDialogButtonBox.StandardButton = QDialogButtonBox.StandardButton.Ok,
    leave: QDialogButtonBox.StandardButton = QDialogButtonBox.StandardButton.Cancel,
) -> QDialogButtonBox:
    """Make the buttons that accept a dialog, perhaps with another text, or leave it."""
    made = dialog_buttons(kind, leave, name=name)
    button = primary(made.button(kind))
    if words:
        button.setText(words)
    made.accepted.connect(accept)
    made.rejected.connect(dialog.reject)
    return made


def name_buttons(box: QDialogButtonBox | QMessageBox, name: str) -> None:
    """Name the buttons of a dialog by their text, as in ``name_cancel_button``.

    Icons that some desktops add are removed, as they do not fit the style of the window.
    """
    for button in box.buttons():
        button.setIcon(QIcon())
        words = button.text().replace("&", "").rstrip(".…")
        named(button, f"{name}_{words.lower().replace(' ', '_')}_button", words)


def primary(button: QPushButton) -> QPushButton:
    """Style a button as the primary one."""
    button.setProperty("primary", True)
    return button


def link_button(name: str, accessible: str = "") -> QPushButton:
    """Make a button in the style of a link, which is checked while it shows more."""
    made = named(QPushButton(), name, accessible)
    made.setProperty("link", True)
    made.setCheckable(True)
    made.setAutoDefault(True)  # Enter presses it, also outside of a dialog
    return made


def fold_mark(is_open: bool) -> str:
    """Return the mark before the text of a button that shows more."""
    return "▾" if is_open else "▸"


class Fold(QWidget):
    """A heading that shows or hides the widgets below it.

    Parameters
    ----------
    name, title : str
    inner : sequence of QWidget

    Attributes
    ----------
    button : QPushButton
        Checked while they are shown.
    """

    def __init__(self, name: str, title: str, inner: Sequence[QWidget]) -> None:
        super().__init__()
        self._title = title
        self.button = link_button(name, title)
        self._body = holding(down(*inner))
        self.setLayout(down((self.button, LEFT), self._body, gap=4))
        self.button.toggled.connect(self._on_toggled)
        self._on_toggled(False)

    def retitle(self, title: str) -> None:
        """Set the text of the heading."""
        self._title = title
        self._on_toggled(self.button.isChecked())

    def _on_toggled(self, shown: bool) -> None:
        self.button.setText(f"{fold_mark(shown)} {self._title}")
        self._body.setVisible(shown)


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


def push_button(
    name: str,
    words: str = "",
    tip: str = "",
    verb: Callable[[], object] | None = None,
    *,
    accessible: str = "",
    enter: bool = True,
    like: str = "",
) -> QPushButton:
    """Make a button; texts that are not given are those of the catalogue.

    Parameters
    ----------
    name, words, tip : str
    verb : callable, optional
        Called when the button is clicked.
    accessible : str
        The accessible name, if it is not the words.
    enter : bool
        Whether Enter presses it in a dialog, as Space does.
    like : str
        Entry of the catalogue, if it is not ``name``.
    """
    made = named(QPushButton(words), name, accessible, like=like)
    if not enter:
        made.setAutoDefault(False)
    if tip:
        plain_tooltip(made, tip)
    if verb is not None:
        made.clicked.connect(lambda _on: verb())
    return made


def tool_button(name: str, verb: Callable[[], object] | None = None) -> QToolButton:
    """Make a flat button with the words of the catalogue."""
    made = named(QToolButton(), name)
    if verb is not None:
        made.clicked.connect(lambda _on: verb())
    return made


def check_box(name: str) -> QCheckBox:
    """Make a check box with the texts of the catalogue."""
    return named(QCheckBox(), name)


def search_field(name: str) -> QLineEdit:
    """Make a field for words to search for."""
    return clearable(named(QLineEdit(), name))


def quietly(change: Callable[..., object], *arguments: object) -> None:
    """Call a method of a widget or a model while its signals are blocked."""
    with QSignalBlocker(change.__self__):  # type: ignore[attr-defined]
        change(*arguments)


# ----------------------------------------------------------------- drawing


def label(text: str = "", role: str = "", *, wrap: bool = False, name: str = "") -> QLabel:
    """Make a label with a role of the style sheet, and by default the text of the catalogue."""
    made = PlainLabel(text or control_words(name).get("text", ""))
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


def keep_room(part: QWidget) -> None:
    """Leave the room of a part empty while it is hidden, so that others do not move."""
    room = part.sizePolicy()
    room.setRetainSizeWhenHidden(True)
    part.setSizePolicy(room)


def show_error_at(target: QLabel, text: str) -> None:
    """Show an error under a field, and scroll to it once it is laid out."""
    show_note(target, text, "error")
    around: QObject | None = target
    while around is not None and not isinstance(around, QScrollArea):
        around = around.parent()
    if text and isinstance(around, QScrollArea):
        QTimer.singleShot(0, target, partial(around.ensureWidgetVisible, target))


def make_buddy(text: str, widget: QWidget) -> QLabel:
    """Make the label of a control."""
    made = PlainLabel(text)
    made.setBuddy(widget)
    return made


_COMBINE = (
    "Combine the checked runs into one without refitting. Its weights are chosen on held-out "
    "rows, never on the rows that test it"
)


def make_action(
    parent: QObject,
    name: str,
    words: str = "",
    tip: str = "",
    *,
    verb: Callable[[], object] | None = None,
    checkable: bool = False,
    checked: bool | None = None,
    enabled: bool = True,
) -> QAction:
    """Make an action, and add it if its parent is a menu; texts are those of the catalogue.

    ``checked`` makes it checkable.
    """
    known = control_words(name)
    action = QAction(words or known.get("text", ""), parent)
    action.setObjectName(name)
    action.setCheckable(checkable or checked is not None)
    action.setChecked(bool(checked))
    action.setEnabled(enabled)
    if tip := tip or known.get("tip", ""):
        plain_tooltip(action, tip)
    if verb is not None:
        action.triggered.connect(lambda _on=False: verb())
    if isinstance(parent, QMenu):
        parent.addAction(action)
    return action


def make_menu(parent: QWidget, name: str) -> QMenu:
    """Make a menu that is deleted when it is closed."""
    menu = QMenu(parent)
    menu.setObjectName(name)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    return menu


def offer_combination(action: QAction, session: Session) -> None:
    """Enable the action that combines the checked runs, or state why they cannot be combined."""
    refusal = session.runs.why_not_combined()
    action.setEnabled(not refusal)
    plain_tooltip(action, as_sentence(refusal or _COMBINE))


FRAME = QSize(16, 48)  # added by the desktop to a window when it is shown
_LEAST_SHOWN = 48  # pixels of a window that must be visible on a screen


def on_some_screen(wanted: QRect, least: QSize) -> QRect:
    """Return the position of a window, moved onto a screen if too little of it would be visible.

    A window that is larger than its screen is made smaller, with room for its frame.
    """
    screens = [screen.availableGeometry() for screen in QGuiApplication.screens()]
    rect = QRect(wanted.topLeft(), wanted.size().expandedTo(least))
    for area in screens:
        seen = area.intersected(rect)
        top_is_seen = area.top() <= rect.top() <= area.bottom() - _LEAST_SHOWN
        if seen.width() >= _LEAST_SHOWN and top_is_seen:
            return _fitted(rect, area)
    area = QGuiApplication.primaryScreen().availableGeometry()
    rect.setSize(rect.size().boundedTo(area.size()))
    rect.moveCenter(area.center())
    return rect


def _fitted(rect: QRect, area: QRect) -> QRect:
    """Return the position if the size fits the screen, or one that fits with its frame."""
    if rect.size() == rect.size().boundedTo(area.size()):
        return rect
    aside, above = FRAME.width() // 2, FRAME.height() - FRAME.width() // 2
    inside = area.adjusted(aside, above, -aside, -aside)
    size = rect.size().boundedTo(inside.size())
    left = min(max(rect.left(), inside.left()), inside.left() + inside.width() - size.width())
    top = min(max(rect.top(), inside.top()), inside.top() + inside.height() - size.height())
    return QRect(QPoint(left, top), size)
