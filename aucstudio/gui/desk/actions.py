"""All actions of the window: name, text, shortcut and menu."""

from __future__ import annotations

import os
from collections.abc import Mapping

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu, QWidget

from aucstudio.gui.common.icons import set_icon
from aucstudio.gui.desk.pages import PAGES, ViewDeclaration, page_of
from aucstudio.gui.dialogs.help import show_help
from aucstudio.project.examples.studies import examples

Standard = QKeySequence.StandardKey

# Where each view is, by the number of its tile; see the deck. Views not named stay as tabs.
ARRANGEMENTS: Mapping[str, Mapping[str, int]] = {
    "ROC and difference vectors": {"roc_view": 0, "difference_view": 1},
    "Feature space and difference vectors": {"feature_view": 0, "difference_view": 1},
    "Four views": {"roc_view": 0, "difference_view": 1, "scores_view": 2, "training_view": 3},
}

_ICONS = {
    "open_data": "open",
    "save_project": "save",
    "export_figure": "export",
    "copy_figure": "copy",
    "run": "run",
    "tune": "tune",
    "find_best": "best",
    "stop": "stop",
    "tear_off": "tear-off",
    "show_beside": "tile",
    "show_below": "tile-below",
    "all_in_one": "single",
}


class Actions(QObject):
    """Makes the actions and the menu bar of a window.

    Signals
    -------
    theme_chosen : str
        "system", "light" or "dark".
    page_chosen : str
        Name of a view; that of the first one stands for its page.
    arrangement_chosen : str
        One of :data:`ARRANGEMENTS`.
    example_chosen : str
        Key of an example study.
    at_once_chosen : int
        How many runs may be in progress.
    """

    theme_chosen = Signal(str)
    page_chosen = Signal(str)
    arrangement_chosen = Signal(str)
    example_chosen = Signal(str)
    at_once_chosen = Signal(int)

    def __init__(self, window: QMainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.theme = "system"
        self.new_window = self._make("new_window", "&New window", Standard.New)
        self.open_data, self.import_data, self.paste_table = (
            self._make("open_data", "&Open table…", Standard.Open),
            self._make("import_data", "&Import…", "Ctrl+I"),
            self._make("paste_table", "Paste &table", "Ctrl+Shift+V"),
        )
        self.open_project = self._make("open_project", "Open &project…", "Ctrl+Shift+O")
        self.save_project = self._make("save_project", "&Save project", Standard.Save)
        self.save_project_as = self._make("save_project_as", "Save project &as…", "Ctrl+Shift+S")
        self.export_model = self._make("export_model", "Export &model…", "Ctrl+M")
        # The first key of versions before, which in a text field goes to the end of the line.
        self.export_model.setShortcuts([self.export_model.shortcut(), QKeySequence("Ctrl+E")])
        self.score_table = self._make("score_table", "Score a &table…", "Ctrl+Shift+M")
        self.export_figure = self._make("export_figure", "Save pict&ure…", "Ctrl+P")
        self.export_figure_data = self._make(
            "export_figure_data", "Save numbers behin&d the picture…", "Ctrl+Shift+P"
        )
        self.copy_figure = self._make("copy_figure", "&Copy picture", "Ctrl+Shift+C")
        self.copy_figure_data = self._make("copy_figure_data", "Copy &numbers", "Ctrl+Shift+N")
        self.export_report, self.model_card, self.export_script = (
            self._make("export_report", "Sa&ve report…", "Ctrl+Shift+R"),
            self._make("model_card", "Save model card…", ""),
            self._make("export_script", "Save as experim&ent…", "Ctrl+Shift+E"),
        )
        self.run = self._make("run", "&Run", "Ctrl+R")
        self.tune = self._make("tune", "&Tune and run", "Ctrl+T")
        self.stop = self._make("stop", "&Stop", "Ctrl+.")
        self.find_best, self.add_scores, self.combine, self.cluster = (
            self._make("find_best", "Find the &best…", "Ctrl+B"),
            self._make("add_scores", "Add scor&es…", ""),
            self._make("combine", "Co&mbine checked runs", ""),
            self._make("cluster", "&Cluster…", ""),
        )
        self.preferences = self._make("preferences", "&Preferences…", "Ctrl+,")
        self.close = self._make("close", "C&lose", "Ctrl+W")
        self.quit = self._make("quit", "&Quit", "Ctrl+Q")
        self.next_page = self._make("next_page", "Ne&xt page", "Ctrl+PgDown")
        self.previous_page = self._make("previous_page", "Previous pa&ge", "Ctrl+PgUp")
        self.back = self._make("back", "Bac&k", "Alt+Left")
        self.tear_off = self._make("tear_off", "&Tear off", "Ctrl+Shift+T")
        self.show_beside = self._make("show_beside", "Show &beside", "Ctrl+Shift+B")
        self.show_below = self._make("show_below", "Show belo&w", "Ctrl+Shift+W")
        self.all_in_one = self._make("all_in_one", "All in &one", "Ctrl+Shift+A")
        self.show_setup = self._make("show_setup", "Set-&up column", "Ctrl+9")
        self.show_runs = self._make("show_runs", "&Run list", "Ctrl+0")
        for side in (self.show_setup, self.show_runs):
            side.setCheckable(True)
            side.setChecked(True)
        self.pages = [
            self._page_action(k, view) for k, page in enumerate(PAGES, 1) for view in page.views
        ]
        self.arrangements = [self._arrangement(name) for name in ARRANGEMENTS]
        for verb in self._of_study():
            verb.setEnabled(False)  # until there is one
        for name, drawn in _ICONS.items():
            set_icon(getattr(self, name), drawn)
        self._fill_menus(window)

    def _make(self, name: str, text: str, shortcut: QKeySequence.StandardKey | str) -> QAction:
        action = QAction(text, self._window)
        action.setObjectName(f"action_{name}")
        if shortcut:
            action.setShortcut(QKeySequence(shortcut))
        self._window.addAction(action)
        return action

    def _of_study(self) -> list[QAction]:
        """List what can be done with a study alone."""
        turning = self.next_page, self.previous_page, self.back
        return [
            *turning,
            *self.pages,
            *filter(None, self._deck_actions()),
            *self._leaving(),
        ]

    def _leaving(self) -> list[QAction]:
        """List what writes a file or fills the clipboard from a study."""
        return [
            self.export_model,
            self.score_table,
            self.export_figure,
            self.export_figure_data,
            self.copy_figure,
            self.export_report,
            self.model_card,
            self.export_script,
        ]

    def _fill_menus(self, window: QMainWindow) -> None:
        bar = window.menuBar()
        file = bar.addMenu("&File")
        _add(file, self.new_window, self.open_data, self.import_data, self.open_project)
        self.recent = file.addMenu("Open &recent")
        self.recent.setObjectName("recent_menu")
        self.recent.setToolTipsVisible(True)
        self._fill_examples_menu(file.addMenu("E&xample studies"))
        file.addSeparator()
        _add(file, self.save_project, self.save_project_as, None)
        _add(file, self.export_figure, self.export_figure_data, None)
        _add(file, self.score_table, self.export_model, self.model_card)
        _add(file, self.export_report, self.export_script)
        _add(file, None, self.close, self.quit)
        _add(
            bar.addMenu("&Edit"),
            *self._undo_actions(),
            None,
            self.copy_figure,
            self.copy_figure_data,
            self.paste_table,
            None,
            self.preferences,
        )
        runs = bar.addMenu("&Run")
        runs.setToolTipsVisible(True)
        _add(runs, self.run, self.tune, self.find_best, self.add_scores, self.combine, None)
        _add(runs, self.stop, None)
        self._fill_at_once_menu(runs.addMenu("Runs at &once"))
        _add(runs, self.cluster)
        self._fill_view_menu(bar.addMenu("&View"))
        _add(bar.addMenu("&Help"), *self._help_actions())

    def _fill_examples_menu(self, menu: QMenu) -> None:
        for example in examples():
            action = self._make(f"example_{example.key}", example.title, "")
            action.triggered.connect(
                lambda _on=False, key=example.key: self.example_chosen.emit(key)
            )
            menu.addAction(action)

    def _fill_at_once_menu(self, menu: QMenu) -> None:
        group = QActionGroup(self)
        most = os.cpu_count() or 1
        for count in sorted({1, most, *(2**k for k in range(1, most.bit_length()))}):
            action = self._make(f"at_once_{count}", str(count), "")
            action.setCheckable(True)
            action.setChecked(count == 1)
            action.triggered.connect(lambda _on=False, count=count: self.at_once_chosen.emit(count))
            group.addAction(action)
            menu.addAction(action)

    def _undo_actions(self) -> list[QAction]:
        stack = self._window.session.undo_group  # type: ignore[attr-defined]
        undo, redo = stack.createUndoAction(self, "&Undo"), stack.createRedoAction(self, "Re&do")
        undo.setObjectName("action_undo")
        redo.setObjectName("action_redo")
        undo.setShortcut(QKeySequence(Standard.Undo))
        redo.setShortcut(QKeySequence(Standard.Redo))
        return [undo, redo]

    def _fill_view_menu(self, menu: QMenu) -> None:
        turning = self.next_page, self.previous_page, self.back, None
        _add(menu, *self.pages, None)
        _add(menu, *turning, *self._deck_actions(), None, self.show_setup, self.show_runs, None)
        group = QActionGroup(self)
        for k, choice in enumerate(("system", "light", "dark")):
            action = self._make(f"theme_{choice}", f"&{choice.capitalize()} theme", "")
            action.setCheckable(True)
            action.setChecked(k == 0)
            action.triggered.connect(lambda _on=False, choice=choice: self._choose_theme(choice))
            group.addAction(action)
            menu.addAction(action)

    def _page_action(self, number: int, view: ViewDeclaration) -> QAction:
        """Make the action that shows a view; the first of a page has the page's key."""
        page = page_of(view.name)
        words = view.switch or view.title
        text = page.title if len(page.views) == 1 else f"{page.title}: {words.lower()}"
        key = f"Ctrl+{number}" if view.name == page.key else ""
        action = self._make(f"show_{view.name}", text, key)
        action.triggered.connect(lambda _on=False: self.page_chosen.emit(view.name))
        return action

    def _arrangement(self, name: str) -> QAction:
        action = self._make(f"arrange_{name.lower().replace(' ', '_')}", name, "")
        action.triggered.connect(lambda _on=False: self.arrangement_chosen.emit(name))
        return action

    def _deck_actions(self) -> list[QAction | None]:
        return [
            self.tear_off,
            self.show_beside,
            self.show_below,
            self.all_in_one,
            None,
            *self.arrangements,
        ]

    def of_picture(self) -> tuple[QAction, ...]:
        """List what is done with a picture and the numbers behind it."""
        return (
            self.copy_figure,
            self.export_figure,
            self.copy_figure_data,
            self.export_figure_data,
        )

    def view_menu(self, parent: QWidget) -> QMenu:
        """Make the menu of a view's tab."""
        menu = QMenu(parent)
        menu.setObjectName("view_menu")
        _add(menu, *self._deck_actions(), None)
        _add(menu, *self.of_picture())
        return menu

    def _choose_theme(self, choice: str) -> None:
        self.theme = choice
        self.theme_chosen.emit(choice)

    def _help_actions(self) -> list[QAction]:
        made = []
        for name, text, key in (
            ("manual", "User &guide", "F1"),
            ("methods", "Methods and &settings", ""),
            ("whatsnew", "&What is new", ""),
            ("about", "&About AUC Studio", ""),
        ):
            action = self._make(f"help_{name}", text, key)
            if name == "manual":
                set_icon(action, "help")
            action.triggered.connect(lambda _on=False, name=name: show_help(self._window, name))
            made.append(action)
        return made


def _add(menu: QMenu, *actions: QAction | None) -> None:
    for action in actions:
        if action is None:
            menu.addSeparator()
        else:
            menu.addAction(action)
