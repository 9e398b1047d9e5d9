"""Small widgets of panels and pages."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, QSize, Qt
from PySide6.QtGui import (
    QIcon,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QShowEvent,
    QStandardItemModel,
)
from PySide6.QtWidgets import (
    QAbstractButton,
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFrame,
    QLabel,
    QLayout,
    QLineEdit,
    QMessageBox,
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionComboBox,
    QStylePainter,
    QVBoxLayout,
    QWidget,
)

from aucstudio.gui.common.plain_text import PlainLabel, plain_tooltip
from aucstudio.gui.common.theme import scaled


class ElidedCombo(QComboBox):
    """A combo box whose text is elided instead of cut.

    Attributes
    ----------
    elided : Qt.TextElideMode
        The part of the text that is elided.
    """

    elided = Qt.TextElideMode.ElideRight

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        # The default delegate ignores the style sheet's padding of the items.
        self.setItemDelegate(QStyledItemDelegate(self))
        self.setMaxVisibleItems(_MOST_VISIBLE)

    def sizeHint(self) -> QSize:
        # The style rounds the width of the longest text, which would then be elided.
        return super().sizeHint() + QSize(_SPARE, 0)

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


class _FieldLabel(PlainLabel):
    """A label of the same width in all cards, so that their fields are aligned."""

    def sizeHint(self) -> QSize:
        # A form limits a label to 7/4 of its height; this centres it beside one line.
        return QSize(scaled(_LABEL_WIDTH), round(_LABEL_HEIGHT * super().sizeHint().height()))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()


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


def card_around(widget: QWidget) -> Card:
    """Return a card that holds one widget."""
    card = Card("")
    card.rows.setContentsMargins(8, 4, 8, 8)
    card.rows.addWidget(widget)
    return card


def order_tabs(layout: QLayout) -> None:
    """Make Tab visit the controls in the order of a layout."""
    for one, following in itertools.pairwise(_controls(layout)):
        QWidget.setTabOrder(one, following)


def _controls(layout: QLayout) -> Iterator[QWidget]:
    """Yield the widgets of a layout that Tab reaches, in its order."""
    for place in range(layout.count()):
        item = layout.itemAt(place)
        assert item is not None
        inner, widget = item.layout(), item.widget()
        if inner is not None:
            yield from _controls(inner)
        elif widget is not None and widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
            yield widget
        elif widget is not None and (within := widget.layout()) is not None:
            yield from _controls(within)


_SPARE = 4  # pixels
_MOST_VISIBLE = 24  # items of a drop-down list without a scroll bar

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


def named(widget: Kind, name: str, accessible: str) -> Kind:
    """Set a control's name for automation and its name for screen readers."""
    widget.setObjectName(name)
    widget.setAccessibleName(accessible)
    return widget


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
) -> QDialogButtonBox:
    """Make the buttons that accept a dialog, perhaps with another text, or cancel it."""
    made = dialog_buttons(kind, QDialogButtonBox.StandardButton.Cancel, name=name)
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


def field_label(text: str) -> QLabel:
    """Make the label of a field in a form."""
    return _FieldLabel(text)


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
        self.button = named(QPushButton(), name, title)
        self.button.setProperty("link", True)
        self.button.setCheckable(True)
        self._body = QWidget()
        column, below = QVBoxLayout(self), QVBoxLayout(self._body)
        column.setSpacing(4)
        below.setSpacing(8)
        for layout in (column, below):
            layout.setContentsMargins(0, 0, 0, 0)
        for widget in inner:
            below.addWidget(widget)
        column.addWidget(self.button, alignment=Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self._body)
        self.button.toggled.connect(self._on_toggled)
        self._on_toggled(False)

    def retitle(self, title: str) -> None:
        """Set the text of the heading."""
        self._title = title
        self._on_toggled(self.button.isChecked())

    def _on_toggled(self, shown: bool) -> None:
        self.button.setText(f"{'▾' if shown else '▸'} {self._title}")
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
    words: str,
    tip: str = "",
    verb: Callable[[], object] | None = None,
    *,
    accessible: str = "",
    enter: bool = True,
) -> QPushButton:
    """Make a button.

    Parameters
    ----------
    name, words, tip : str
    verb : callable, optional
        Called when the button is clicked.
    accessible : str
        The accessible name, if it is not the words.
    enter : bool
        Whether Enter presses it in a dialog, as Space does.
    """
    made = named(QPushButton(words), name, accessible or words.replace("&", "").rstrip("…"))
    if not enter:
        made.setAutoDefault(False)
    if tip:
        plain_tooltip(made, tip)
    if verb is not None:
        made.clicked.connect(lambda _on: verb())
    return made


def check_box(name: str, words: str, tip: str = "", *, accessible: str = "") -> QCheckBox:
    """Make a check box."""
    made = named(QCheckBox(words), name, accessible or words.replace("&", ""))
    if tip:
        plain_tooltip(made, tip)
    return made


def search_field(name: str, accessible: str, placeholder: str = "") -> QLineEdit:
    """Make a field for words to search for."""
    made = clearable(named(QLineEdit(), name, accessible))
    made.setPlaceholderText(placeholder)
    return made


def quietly(change: Callable[..., object], *arguments: object) -> None:
    """Call a method of a widget or a model while its signals are blocked."""
    with QSignalBlocker(change.__self__):  # type: ignore[attr-defined]
        change(*arguments)


def data_button(name: str, verb: Callable[[], object]) -> QPushButton:
    """Make the button that shows the row in focus on the page Data."""
    tip = "Show it among all rows of the table; Alt+Left returns"
    return push_button(name, "Show in Data", tip, verb)


def explain_button(name: str, verb: Callable[[], object]) -> QPushButton:
    """Make the button that explains the score of a row on the page Model."""
    tip = "How each column contributes to its score; Alt+Left returns"
    return push_button(name, "Explain row", tip, verb)


def follow_check(name: str) -> QCheckBox:
    """Make the choice between the running method and the selected run."""
    tip = "Off: the selected run stays shown while another trains"
    check = check_box(name, "Follow the runnin&g method", tip)
    check.setChecked(True)
    check.setVisible(False)
    return check


# ----------------------------------------------------------------- drawing


def label(text: str = "", role: str = "", *, wrap: bool = False, name: str = "") -> QLabel:
    """Make a label with a role of the style sheet."""
    made = PlainLabel(text)
    if role:
        made.setProperty("role", role)
    if name:
        made.setObjectName(name)
    if wrap:
        made.setWordWrap(True)
        made.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
    return made


def set_role(widget: QWidget, role: str) -> None:
    """Set the style-sheet role of a label."""
    if widget.property("role") != role:
        widget.setProperty("role", role)
        widget.style().unpolish(widget)
        widget.style().polish(widget)


def show_note(target: QLabel, text: str, role: str = "muted") -> None:
    """Show a text under a field, or hide the empty label."""
    target.setText(text)
    target.setVisible(bool(text))
    set_role(target, role)


def make_combo(name: str, accessible: str) -> QComboBox:
    """Make a combo box as wide as its texts."""
    made = named(ElidedCombo(), name, accessible)
    made.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
    return made


def make_buddy(text: str, widget: QWidget) -> QLabel:
    """Make the label of a control."""
    made = PlainLabel(text)
    made.setBuddy(widget)
    return made
