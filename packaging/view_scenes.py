"""What is painted of the window: each scene's name, and what sets it up and gives the widget."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QDialog, QMenu, QPushButton, QWidget

from aucstudio.gui.common.controls import Segments
from aucstudio.gui.common.plots import rate_axes
from aucstudio.gui.desk.actions import ARRANGEMENTS
from aucstudio.gui.dialogs.export_figure import ExportFigureDialog
from aucstudio.gui.dialogs.export_model import ExportModelDialog
from aucstudio.gui.dialogs.help import HelpDialog
from aucstudio.gui.dialogs.preferences import PreferencesDialog
from aucstudio.gui.dialogs.run_dialogs import ClusterDialog, FindBestDialog
from aucstudio.gui.dialogs.scoring import ScoreTableDialog
from aucstudio.gui.main_window import MainWindow
from aucstudio.gui.pages.roc.lines import FACES
from aucstudio.gui.pages.roc.roc_view import RocView
from aucstudio.gui.pictures import choose_tuned
from aucstudio.gui.state.preferences import preferences
from aucstudio.project.data.table import Table
from aucstudio.project.store.scores_file import write_csv

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
        f"roc {kind} axes": partial(_choose, window, "axis_combo", kind) for kind in rate_axes.KINDS
    }
    last: Scenes = {
        "roc all layers": partial(_with_layers, window),
        "four views": partial(arrange, window, "Four views"),
        "runs page": partial(_show_runs, window),
        "model one row": partial(_explain, window),
        "compare subgroups": partial(_part, window),
    }
    return pages | faces | kinds | last


def _explain(window: MainWindow) -> QWidget:
    window.session.explain_row(0)
    return window


def _part(window: MainWindow) -> QWidget:
    _show(window, "compare_view")
    the(window.findChild(Segments, "compare_show")).choose("groups")
    return window


def dialog_scenes(window: MainWindow) -> Scenes:
    """List what is painted once a theme."""
    session = window.session
    made: Scenes = {
        "dialog export model": lambda: ExportModelDialog(
            session, the(session.run(session.selected)), window
        ),
        "dialog score table": partial(_scoring, window, None),
        "dialog score table refused": partial(_scoring, window, _renamed(window)),
        "dialog score table filled": partial(_scoring, window, _renamed(window), allow=True),
        "dialog export figure": lambda: ExportFigureDialog(session, window.views[0], window),
        "dialog methods": partial(_opened, window, "choose_methods_button", "method_chooser"),
        "dialog find best": lambda: FindBestDialog(session, window),
        "dialog preferences": lambda: PreferencesDialog(preferences(), window),
        "dialog cluster": lambda: ClusterDialog(session, window),
        "dialog manual": lambda: HelpDialog(window, "manual"),
        "dialog about": lambda: HelpDialog(window, "about"),
        "torn off": partial(_tear_off, window),
    }
    direct = Qt.FindChildOption.FindDirectChildrenOnly
    menus: Scenes = {
        f"menu {menu.title().replace('&', '').lower()}": partial(the, menu)
        for menu in window.menuBar().findChildren(QMenu, options=direct)
        if menu.title()  # the bar has one of its own, for what has no room in it
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
    """Show the views in one of the named arrangements."""
    window.deck.arrange(ARRANGEMENTS[name])
    return window


def _show_runs(window: MainWindow) -> QWidget:
    window.deck.all_in_one()
    window.workplace.sides.show_side("runs", True)
    window.workplace.sides.left.setCurrentWidget(window.workplace.runs_panel)
    return _show(window, "roc_view")


def _renamed(window: MainWindow) -> dict[str, str]:
    """Give new names to two of the columns that are learnt from."""
    names = the(window.session.table).feature_names
    return {names[-1]: names[-1].upper() + " ", names[-2]: "other"}


def _scoring(window: MainWindow, rename: dict[str, str] | None, *, allow: bool = False) -> QWidget:
    """Score the study's own table with some columns renamed; ask for nothing if None is given."""
    session = window.session
    dialog = ScoreTableDialog(session, the(session.run(session.selected)), window)
    if rename is None:
        return dialog
    source = the(session.table)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{source.path.stem}-2027.csv"
        _write_later(source, path, rename)
        for press in (partial(dialog.choose_file, path), dialog.score.click):
            press()
            _wait(dialog)
        if allow:
            for box in dialog.allowed.boxes.values():
                box.click()
            dialog.score.click()
            _wait(dialog)
    return dialog


def _write_later(table: Table, path: Path, rename: dict[str, str]) -> None:
    """Write a table as a later one may be: names changed, cells spoiled, a row too long."""
    names = [rename.get(column.name, column.name) for column in table.columns]
    rows = [list(row) for row in zip(*(column.values for column in table.columns), strict=True)]
    rows[4][0], rows[7][0], rows[11][1] = "n/a", "high", ""
    rows[12] += ["of", "another"]
    with path.open("w", encoding="utf-8") as file:
        write_csv(file, [[*names, "remark"], *([*row, ""] for row in rows)])


def _opened(window: MainWindow, button: str, dialog: str) -> QWidget:
    the(window.findChild(QPushButton, button)).click()
    return the(window.findChild(QDialog, dialog))


def _wait(dialog: ScoreTableDialog) -> None:
    while dialog.busy:
        QApplication.processEvents()


def _tear_off(window: MainWindow) -> QWidget:
    view = window.views[0]
    window.deck.tear_off(view.objectName())
    return view.window()
