"""Context menu of a plot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from PySide6.QtCore import QKeyCombination, Qt
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QComboBox, QMenu

from aucstudio.gui.common.plots.plot import Plot
from aucstudio.gui.common.widgets import make_action, make_menu


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
    menu = make_menu(plot, "plot_menu")
    menu.addActions(list(verbs))
    menu.addSeparator()
    reset = make_action(menu, "plot_reset_action", "Reset view", verb=plot.reset)
    # Seen here, answered by the plot: a shortcut of the window would take it everywhere.
    reset.setShortcut(QKeySequence(QKeyCombination(Qt.Key.Key_0)))
    reset.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
    box = "Zoom to a box (Shift and drag)"
    make_action(menu, "plot_box_action", box, verb=plot.draw_box)
    for action in menu.actions()[-2:]:
        action.setEnabled(plot.can_zoom())
    shown = [combo for combo in axes if combo.isVisibleTo(combo.window()) and combo.isEnabled()]
    if shown:
        _add_axes(menu.addMenu("Axes"), shown)
    return menu


def _add_axes(menu: QMenu, combos: Sequence[QComboBox]) -> None:
    """Offer what lists offer, list by list."""
    menu.setObjectName("plot_axes_menu")
    for combo in combos:
        menu.addSeparator()
        group = QActionGroup(menu)
        for k in range(combo.count()):
            name, verb = f"{combo.objectName()}_{k}_action", partial(_choose, combo, k)
            action = make_action(menu, name, combo.itemText(k), verb=verb, checkable=True)
            action.setChecked(k == combo.currentIndex())
            group.addAction(action)


def _choose(combo: QComboBox, index: int) -> None:
    combo.setCurrentIndex(index)
    combo.activated.emit(index)  # as if it had been chosen there
