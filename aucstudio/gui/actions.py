"""Every action of the window: its name, text, shortcut and place in the menus."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu

from aucstudio.gui.help import show_help

Standard = QKeySequence.StandardKey


class Actions(QObject):
    """Makes the actions and the menu bar of a window.

    Signals
    -------
    theme_chosen : str
        "system", "light" or "dark".
    """

    theme_chosen = Signal(str)

    def __init__(self, window: QMainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.theme = "system"
        self.open_data = self._make("open_data", "&Open table…", Standard.Open)
        self.open_project = self._make("open_project", "Open &project…", "Ctrl+Shift+O")
        self.open_sample = self._make("open_sample", "Open sample s&tudy", "")
        self.save_project = self._make("save_project", "&Save project", Standard.Save)
        self.save_project_as = self._make("save_project_as", "Save project &as…", "Ctrl+Shift+S")
        self.export_model = self._make("export_model", "Export &model…", "Ctrl+E")
        self.export_figure = self._make("export_figure", "Save p&icture…", "Ctrl+P")
        self.copy_figure = self._make("copy_figure", "&Copy picture", "Ctrl+Shift+C")
        self.export_report = self._make("export_report", "Save &report…", "Ctrl+Shift+R")
        self.export_script = self._make("export_script", "Save as e&xperiment…", "Ctrl+Shift+E")
        self.run = self._make("run", "&Run", "Ctrl+R")
        self.tune = self._make("tune", "&Tune and run", "Ctrl+T")
        self.stop = self._make("stop", "&Stop", "Ctrl+.")
        self.quit = self._make("quit", "&Quit", Standard.Quit)
        self.quit.triggered.connect(window.close)
        self._fill_menus(window)

    def _make(self, name: str, text: str, shortcut: QKeySequence.StandardKey | str) -> QAction:
        action = QAction(text, self._window)
        action.setObjectName(f"action_{name}")
        if shortcut:
            action.setShortcut(QKeySequence(shortcut))
        self._window.addAction(action)
        return action

    def _fill_menus(self, window: QMainWindow) -> None:
        bar = window.menuBar()
        _add(bar.addMenu("&File"), self.open_data, self.open_project, self.open_sample, None)
        file = bar.actions()[0].menu()
        assert isinstance(file, QMenu)
        _add(file, self.save_project, self.save_project_as, None)
        _add(file, self.export_model, self.export_figure, self.export_report, self.export_script)
        _add(file, None, self.quit)
        _add(bar.addMenu("&Edit"), *self._undo_actions(), None, self.copy_figure)
        _add(bar.addMenu("&Run"), self.run, self.tune, self.stop)
        self._fill_view_menu(bar.addMenu("&View"))
        _add(bar.addMenu("&Help"), *self._help_actions())

    def _undo_actions(self) -> list[QAction]:
        stack = self._window.session.undo_stack  # type: ignore[attr-defined]
        undo, redo = stack.createUndoAction(self, "&Undo"), stack.createRedoAction(self, "Re&do")
        undo.setObjectName("action_undo")
        redo.setObjectName("action_redo")
        undo.setShortcut(QKeySequence(Standard.Undo))
        redo.setShortcut(QKeySequence(Standard.Redo))
        return [undo, redo]

    def _fill_view_menu(self, menu: QMenu) -> None:
        group = QActionGroup(self)
        for k, choice in enumerate(("system", "light", "dark")):
            action = self._make(f"theme_{choice}", f"&{choice.capitalize()} theme", "")
            action.setCheckable(True)
            action.setChecked(k == 0)
            action.triggered.connect(lambda _on=False, choice=choice: self._choose_theme(choice))
            group.addAction(action)
            menu.addAction(action)

    def _choose_theme(self, choice: str) -> None:
        self.theme = choice
        self.theme_chosen.emit(choice)

    def _help_actions(self) -> list[QAction]:
        made = []
        for name, text, key in (
            ("manual", "&Manual", "F1"),
            ("methods", "Methods and &settings", ""),
            ("whatsnew", "&What is new", ""),
            ("about", "&About AUC Studio", ""),
        ):
            action = self._make(f"help_{name}", text, key)
            action.triggered.connect(lambda _on=False, name=name: show_help(self._window, name))
            made.append(action)
        return made


def _add(menu: QMenu, *actions: QAction | None) -> None:
    for action in actions:
        if action is None:
            menu.addSeparator()
        else:
            menu.addAction(action)
