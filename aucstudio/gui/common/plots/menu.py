"""The menu of a plot: what can be done with its picture, its numbers, its view and its axes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QKeyCombination, Qt
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QComboBox, QMenu

from aucstudio.gui.common.plots.plot import Plot


def plot_menu(plot: Plot, verbs: Iterable[QAction], axes: Sequence[QComboBox]) -> QMenu:
    """Make the menu of a plot.

    Parameters
    ----------
    plot : Plot
    verbs : iterable of QAction
        The window's, of the picture and the numbers behind it.
    axes : sequence of QComboBox
        The page's lists of axes; those that are shown are offered.
    """
    menu = QMenu(plot)
    menu.setObjectName("plot_menu")
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    menu.addActions(list(verbs))
    menu.addSeparator()
    _add(menu, "Reset view", "plot_reset_action", Qt.Key.Key_0).triggered.connect(plot.reset)
    box = _add(menu, "Zoom to a box (Shift and drag)", "plot_box_action")
    box.triggered.connect(plot.draw_box)
    for action in menu.actions()[-2:]:
        action.setEnabled(plot.can_zoom())
    shown = [combo for combo in axes if combo.isVisibleTo(combo.window()) and combo.isEnabled()]
    if shown:
        _add_axes(menu.addMenu("Axes"), shown)
    return menu


def _add(menu: QMenu, text: str, name: str, key: Qt.Key | None = None) -> QAction:
    action = QAction(text, menu)
    action.setObjectName(name)
    if key is not None:
        # Seen here, answered by the plot: a shortcut of the window would take it everywhere.
        action.setShortcut(QKeySequence(QKeyCombination(key)))
        action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
    menu.addAction(action)
    return action


def _add_axes(menu: QMenu, combos: Sequence[QComboBox]) -> None:
    """Offer what lists offer, list by list."""
    menu.setObjectName("plot_axes_menu")
    for combo in combos:
        menu.addSeparator()
        group = QActionGroup(menu)
        for k in range(combo.count()):
            action = _add(menu, combo.itemText(k), f"{combo.objectName()}_{k}_action")
            action.setCheckable(True)
            action.setChecked(k == combo.currentIndex())
            action.triggered.connect(lambda _on=False, c=combo, k=k: _choose(c, k))
            group.addAction(action)


def _choose(combo: QComboBox, index: int) -> None:
    combo.setCurrentIndex(index)
    combo.activated.emit(index)  # as if it had been chosen there
