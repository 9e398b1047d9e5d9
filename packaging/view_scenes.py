"""What is painted of the window: each scene's name, and what sets it up and gives the widget."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from aucstudio.gui.dialogs.cluster import ClusterDialog
from aucstudio.gui.dialogs.columns import ColumnsDialog
from aucstudio.gui.dialogs.export_figure import ExportFigureDialog
from aucstudio.gui.dialogs.export_model import ExportModelDialog
from aucstudio.gui.help import HelpDialog
from aucstudio.gui.main_window import MainWindow
from aucstudio.gui.pictures import choose_tuned
from aucstudio.gui.roc import axes
from aucstudio.gui.roc.faces import FACES
from aucstudio.gui.roc_view import RocView

_LAYERS = (
    "operating_point_action",
    "confusion_action",
    "cost_action",
    "difference_action",
    "inset_action",
    "confidence_pointwise_action",
    "isometrics_accuracy_action",
)

Scenes = dict[str, Callable[[], QWidget]]
Kind = TypeVar("Kind")


def window_scenes(window: MainWindow) -> Scenes:
    """List what is painted at every size."""
    pages: Scenes = {
        f"page {view.title}": partial(_show, window, view.objectName()) for view in window.views
    }
    faces: Scenes = {f"roc {key}": partial(_choose, window, "face_combo", key) for key in FACES}
    kinds: Scenes = {
        f"roc {kind} axes": partial(_choose, window, "axis_combo", kind) for kind in axes.KINDS
    }
    last: Scenes = {
        "roc all layers": partial(_with_layers, window),
        "four views": partial(arrange, window, "Four views"),
        "runs page": partial(_show_runs, window),
    }
    return pages | faces | kinds | last


def dialog_scenes(window: MainWindow) -> Scenes:
    """List what is painted once a theme."""
    session = window.session
    made: Scenes = {
        "dialog columns": lambda: ColumnsDialog(the(session.table), window),
        "dialog export model": lambda: ExportModelDialog(
            session, the(session.run(session.selected)), window
        ),
        "dialog export figure": lambda: ExportFigureDialog(session, window.views[0], window),
        "dialog cluster": lambda: ClusterDialog(session, window),
        "dialog manual": lambda: HelpDialog(window, "manual"),
        "dialog about": lambda: HelpDialog(window, "about"),
        "torn off": partial(_tear_off, window),
    }
    direct = Qt.FindChildOption.FindDirectChildrenOnly
    menus: Scenes = {
        f"menu {menu.title().replace('&', '').lower()}": partial(the, menu)
        for menu in window.menuBar().findChildren(QMenu, options=direct)
    }
    return made | menus


def the(found: Kind | None) -> Kind:
    """Give what must be there."""
    assert found is not None
    return found


def _show(window: MainWindow, name: str) -> QWidget:
    view = next(view for view in window.views if view.objectName() == name)
    choose_tuned(window.session, view)
    window.deck.show_view(view)
    return window


def _choose(window: MainWindow, combo: str, key: str) -> QWidget:
    roc = window.views[0]
    assert isinstance(roc, RocView)
    choices = roc.choices
    for each, value in ((choices.face_combo, "roc"), (choices.axis_combo, "linear")):
        value = key if each.objectName() == combo else value
        each.setCurrentIndex(each.findData(value))
    return _show(window, "roc_view")


def _with_layers(window: MainWindow) -> QWidget:
    _choose(window, "", "")
    for name in _LAYERS:
        action = the(window.findChild(QAction, name))
        if not action.isChecked():
            action.trigger()
    return window


def arrange(window: MainWindow, name: str) -> QWidget:
    """Lay the views out as one of the named arrangements says."""
    window.deck.arrange(name)
    return window


def _show_runs(window: MainWindow) -> QWidget:
    window.deck.all_in_one()
    window.sides.show_runs(True)
    window.sides.left.setCurrentWidget(window.runs_panel)
    return _show(window, "roc_view")


def _tear_off(window: MainWindow) -> QWidget:
    view = window.views[0]
    window.deck.tear_off(view)
    return view.window()
