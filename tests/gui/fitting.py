"""Find controls of a window that are clipped or too small for their text."""

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QAbstractSpinBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QMenuBar,
    QTabBar,
    QTableView,
    QToolButton,
    QWidget,
)

from aucstudio.gui.common.sentence import Sentence
from aucstudio.gui.common.widgets import ElidedLabel

_CONTROLS = (QAbstractButton, QAbstractSpinBox, QComboBox, QLineEdit)
_LEAST_COMBO = 48  # pixels of a combo box whose text is elided
_SLACK = 2


def unnamed_controls(window):
    """List the controls without an object or accessible name, except parts of other controls."""
    controls = [one for kind in _CONTROLS for one in window.findChildren(kind)]
    parts = (QAbstractSpinBox, QComboBox, QTabBar, QTableView)
    own = [
        one
        for one in controls
        if not isinstance(one.parent(), parts) and not one.objectName().startswith("qt_")
    ]
    return [one for one in own if not (one.objectName() and one.accessibleName())]


def cut_controls(window):
    """Describe every visible control that is clipped or too small for its text."""
    found = []
    for widget in window.findChildren(QWidget):
        if widget.isVisible() and widget.window() is window.window():
            what = _cut_parts(widget)
            if what:
                found.append(f"{widget.objectName() or type(widget).__name__}: {what}")
    return found


def _cut_parts(widget):
    if isinstance(widget, QTabBar):
        return _cut_tabs(widget)
    needed = _needed(widget)
    if needed is None:
        return ""
    if needed > widget.width() + _SLACK:
        return f"{_words(widget)!r} needs {needed} pixels and has {widget.width()}"
    seen = _seen(widget)
    if seen < widget.width() - _SLACK:
        return f"{_words(widget)!r} shows {seen} of {widget.width()} pixels"
    return ""


def _words(widget):
    if isinstance(widget, QComboBox):
        return widget.currentText()
    marked = isinstance(widget, QAbstractButton) or getattr(widget, "buddy", lambda: None)()
    return widget.text().replace("&", "") if marked else widget.text()


def _needed(widget):
    """Return the width that a control's text needs; None without text."""
    if isinstance(widget, QToolButton) and isinstance(widget.parent(), QTabBar | QMenuBar):
        return None
    if isinstance(widget, QAbstractButton):
        return widget.minimumSizeHint().width() if widget.text() else None
    if isinstance(widget, QComboBox):
        return min(_LEAST_COMBO, widget.sizeHint().width())
    if isinstance(widget, QAbstractSpinBox):
        return widget.fontMetrics().horizontalAdvance(widget.text()) + 24
    if isinstance(widget, QLabel) and isinstance(widget.buddy(), QComboBox) and not widget.width():
        return None  # hidden to save room: the combo box explains itself
    if isinstance(widget, QLabel) and not isinstance(widget, ElidedLabel | Sentence):
        if widget.wordWrap() or not widget.text() or widget.textFormat() == Qt.TextFormat.RichText:
            return None
        metrics = widget.fontMetrics()
        return max(metrics.horizontalAdvance(line) for line in _words(widget).splitlines())
    return None


def _seen(widget):
    """Return the visible width in pixels; vertical scrolling does not count as hidden."""
    area = QRect(widget.mapTo(widget.window(), QPoint(0, 0)), widget.size())
    left, right = area.left(), area.right()
    parent = widget.parentWidget()
    while parent is not None and not parent.isWindow():
        if isinstance(parent, QAbstractScrollArea) and parent.horizontalScrollBar().isVisible():
            break
        edge = parent.mapTo(parent.window(), QPoint(0, 0)).x()
        left, right = max(left, edge), min(right, edge + parent.width() - 1)
        parent = parent.parentWidget()
    right = min(right, widget.window().width() - 1)
    return right - left + 1


def _cut_tabs(bar):
    scrolls = any(button.isVisible() for button in bar.findChildren(QToolButton))
    for k in range(bar.count()):
        rect = bar.tabRect(k)
        if not bar.isTabVisible(k):
            continue
        if rect.width() < bar.tabSizeHint(k).width() or (
            not scrolls and not bar.rect().adjusted(0, 0, _SLACK, 0).contains(rect)
        ):
            return f"the tab {bar.tabText(k)!r} is cut"
    return ""
