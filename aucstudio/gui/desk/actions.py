"""The pages of the program, and the actions and menus of a window."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QObject, Signal, SignalInstance
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu, QWidget

from aucstudio.gui.common.theme import set_icon
from aucstudio.gui.dialogs.help import show_help
from aucstudio.project.examples import examples


@dataclasses.dataclass(frozen=True)
class ViewDeclaration:
    """One picture with its controls and its sentence.

    Attributes
    ----------
    name : str
        Object name, also used in arrangements, projects and experiment files.
    title : str
    module, kind : str
        The module under ``aucstudio.gui.pages`` and its class.
    switch : str
        Text of the switch between the views of a page; by default the title.
    """

    name: str
    title: str
    module: str
    kind: str
    switch: str = ""


@dataclasses.dataclass(frozen=True)
class PageDeclaration:
    """One tab: a question, and one or several views that answer it.

    Attributes
    ----------
    title, question : str
    views : tuple of ViewDeclaration
    """

    title: str
    question: str
    views: tuple[ViewDeclaration, ...]

    @property
    def key(self) -> str:
        """Name of its first view."""
        return self.views[0].name


View = ViewDeclaration
PAGES = (
    PageDeclaration(
        "ROC",
        "Which run ranks best in the range that matters?",
        (View("roc_view", "ROC", "roc.roc_view", "RocView"),),
    ),
    PageDeclaration(
        "Compare",
        "How sure are the differences between runs?",
        (View("compare_view", "Compare", "compare.compare_view", "CompareView"),),
    ),
    PageDeclaration(
        "Pairs",
        "Which pairs of a positive and a negative are ranked wrongly, and why?",
        (
            View(
                "difference_view",
                "Difference vectors",
                "planes.difference_view",
                "DifferenceView",
            ),
            View("feature_view", "Feature space", "planes.feature_view", "FeatureView"),
        ),
    ),
    PageDeclaration(
        "Model",
        "What did the model learn?",
        (View("model_view", "Model", "model.model_view", "ModelView"),),
    ),
    PageDeclaration(
        "Scores",
        "Where should the threshold be, and are the probabilities right?",
        (
            View("scores_view", "Scores", "scores.scores_view", "ScoresView", "Distribution"),
            View(
                "calibration_view",
                "Calibration",
                "scores.calibration_view",
                "CalibrationView",
            ),
        ),
    ),
    PageDeclaration(
        "Data",
        "What is in the table?",
        (View("data_view", "Data", "data.data_view", "DataView"),),
    ),
    PageDeclaration(
        "Diagnostics",
        "Did training and the search for settings go well?",
        (
            View("training_view", "Training", "training.training_view", "TrainingView"),
            View("search_view", "Search", "search.search_view", "SearchView"),
        ),
    ),
    PageDeclaration(
        "Best",
        "Which of the models found should be used?",
        (View("best_view", "Best", "best.best_view", "BestView"),),
    ),
)
VIEWS = tuple(view for page in PAGES for view in page.views)


def page_of(name: str) -> PageDeclaration:
    """Return the page that a view belongs to."""
    return next(page for page in PAGES if any(view.name == name for view in page.views))


Standard = QKeySequence.StandardKey

# Tile number of each view; views not named stay in the first tile.
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
_HELP = {
    "manual": ("User &guide", "F1"),
    "methods": ("Methods and &settings", ""),
    "whatsnew": ("&What is new", ""),
    "about": ("&About AUC Studio", ""),
}
_THEMES = {"system": "&System theme", "light": "&Light theme", "dark": "&Dark theme"}


class Actions(QObject):
    """Makes the actions and the menu bar of a window.

    Signals
    -------
    theme_chosen : str
        "system", "light" or "dark".
    page_chosen : str
        Name of a view; the name of the first view stands for its page.
    arrangement_chosen : str
        One of :data:`ARRANGEMENTS`.
    example_chosen : str
        Key of an example study.
    at_once_chosen : int
        Number of runs that may train at once.
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
        self._make_file_actions()
        self._make_run_actions()
        self._make_view_actions()
        self._disable_study_actions()
        for name, drawn in _ICONS.items():
            set_icon(getattr(self, name), drawn)
        self._fill_menus(window)

    def _make_file_actions(self) -> None:
        make = self._make
        self.new_window = make("new_window", "&New window", Standard.New)
        self.open_data = make("open_data", "&Open table…", Standard.Open)
        self.import_data = make("import_data", "&Import…", "Ctrl+I")
        self.paste_table = make("paste_table", "Paste &table", "Ctrl+Shift+V")
        self.open_project = make("open_project", "Open &project…", "Ctrl+Shift+O")
        self.save_project = make("save_project", "&Save project", Standard.Save)
        self.save_project_as = make("save_project_as", "Save project &as…", "Ctrl+Shift+S")
        self.export_model = make("export_model", "Export &model…", "Ctrl+M")
        # The earlier shortcut, which in a text field goes to the end of the line.
        self.export_model.setShortcuts([self.export_model.shortcut(), QKeySequence("Ctrl+E")])
        self.score_table = make("score_table", "Score a &table…", "Ctrl+Shift+M")
        self.export_figure = make("export_figure", "Save pict&ure…", "Ctrl+P")
        numbers = "Save numbers behin&d the picture…"
        self.export_figure_data = make("export_figure_data", numbers, "Ctrl+Shift+P")
        self.copy_figure = make("copy_figure", "&Copy picture", "Ctrl+Shift+C")
        self.copy_figure_data = make("copy_figure_data", "Copy &numbers", "Ctrl+Shift+N")
        self.export_report = make("export_report", "Sa&ve report…", "Ctrl+Shift+R")
        self.model_card = make("model_card", "Save model card…")
        self.export_script = make("export_script", "Save as experim&ent…", "Ctrl+Shift+E")
        self.preferences = make("preferences", "&Preferences…", "Ctrl+,")
        self.close = make("close", "C&lose", "Ctrl+W")
        self.quit = make("quit", "&Quit", "Ctrl+Q")

    def _make_run_actions(self) -> None:
        make = self._make
        self.run = make("run", "&Run", "Ctrl+R")
        self.tune = make("tune", "&Tune and run", "Ctrl+T")
        self.stop = make("stop", "&Stop", "Ctrl+.")
        self.find_best = make("find_best", "Find the &best…", "Ctrl+B")
        self.add_scores = make("add_scores", "Add scor&es…")
        self.combine = make("combine", "Co&mbine checked runs")
        self.cluster = make("cluster", "&Cluster…")

    def _make_view_actions(self) -> None:
        make = self._make
        self.next_page = make("next_page", "Ne&xt page", "Ctrl+PgDown")
        self.previous_page = make("previous_page", "Previous pa&ge", "Ctrl+PgUp")
        self.back = make("back", "Bac&k", "Alt+Left")
        self.tear_off = make("tear_off", "&Tear off", "Ctrl+Shift+T")
        self.show_beside = make("show_beside", "Show &beside", "Ctrl+Shift+B")
        self.show_below = make("show_below", "Show belo&w", "Ctrl+Shift+W")
        self.all_in_one = make("all_in_one", "All in &one", "Ctrl+Shift+A")
        self.show_setup = make("show_setup", "Set-&up column", "Ctrl+9")
        self.show_runs = make("show_runs", "&Run list", "Ctrl+0")
        for side in (self.show_setup, self.show_runs):
            side.setCheckable(True)
            side.setChecked(True)
        self.pages = [
            self._page_action(k, view) for k, page in enumerate(PAGES, 1) for view in page.views
        ]
        self.arrangements = [self._arrangement(name) for name in ARRANGEMENTS]

    def _make(self, name: str, text: str, shortcut: QKeySequence.StandardKey | str = "") -> QAction:
        action = QAction(text, self._window)
        action.setObjectName(f"action_{name}")
        if shortcut:
            action.setShortcut(QKeySequence(shortcut))
        self._window.addAction(action)
        return action

    def _sending(
        self, name: str, text: str, shortcut: str, signal: SignalInstance, value: object
    ) -> QAction:
        """Make an action that emits a signal with a value."""
        action = self._make(name, text, shortcut)
        action.triggered.connect(lambda _on=False: signal.emit(value))
        return action

    def _page_action(self, number: int, view: ViewDeclaration) -> QAction:
        """Make the action that shows a view; the first view of a page has the shortcut."""
        page = page_of(view.name)
        words = view.switch or view.title
        text = page.title if len(page.views) == 1 else f"{page.title}: {words.lower()}"
        key = f"Ctrl+{number}" if view.name == page.key else ""
        return self._sending(f"show_{view.name}", text, key, self.page_chosen, view.name)

    def _arrangement(self, name: str) -> QAction:
        words = f"arrange_{name.lower().replace(' ', '_')}"
        return self._sending(words, name, "", self.arrangement_chosen, name)

    def _disable_study_actions(self) -> None:
        """Disable what needs a study, until there is one."""
        moving = self.next_page, self.previous_page, self.back, *self.pages, *self._deck_actions()
        writing = self.export_model, self.score_table, self.model_card, self.export_script
        for action in (*moving, *writing, *self.of_picture(), self.export_report):
            if action is not None:
                action.setEnabled(False)

    # ------------------------------------------------------------- menus

    def _fill_menus(self, window: QMainWindow) -> None:
        bar = window.menuBar()
        file = bar.addMenu("&File")
        _add(file, self.new_window, self.open_data, self.import_data, self.open_project)
        self.recent = file.addMenu("Open &recent")
        self.recent.setObjectName("recent_menu")
        self.recent.setToolTipsVisible(True)
        studies = file.addMenu("E&xample studies")
        for example in examples():
            name, chosen = f"example_{example.key}", self.example_chosen
            studies.addAction(self._sending(name, example.title, "", chosen, example.key))
        file.addSeparator()
        _add(file, self.save_project, self.save_project_as, None)
        _add(file, self.export_figure, self.export_figure_data, None)
        _add(file, self.score_table, self.export_model, self.model_card)
        _add(file, self.export_report, self.export_script)
        _add(file, None, self.close, self.quit)
        edit = bar.addMenu("&Edit")
        _add(edit, *self._undo_actions(), None, self.copy_figure, self.copy_figure_data)
        _add(edit, self.paste_table, None, self.preferences)
        runs = bar.addMenu("&Run")
        runs.setToolTipsVisible(True)
        _add(runs, self.run, self.tune, self.find_best, self.add_scores, self.combine, None)
        _add(runs, self.stop, None)
        counts = {count: str(count) for count in _counts()}
        self._add_choices(runs.addMenu("Runs at &once"), "at_once", counts, self.at_once_chosen)
        _add(runs, self.cluster)
        view = bar.addMenu("&View")
        _add(view, *self.pages, None, self.next_page, self.previous_page, self.back, None)
        _add(view, *self._deck_actions(), None, self.show_setup, self.show_runs, None)
        self._add_choices(view, "theme", _THEMES, self.theme_chosen)
        self.theme_chosen.connect(self._on_theme)
        guide = bar.addMenu("&Help")
        for name, (text, key) in _HELP.items():
            action = self._make(f"help_{name}", text, key)
            action.triggered.connect(lambda _on=False, name=name: show_help(self._window, name))
            guide.addAction(action)
        set_icon(guide.actions()[0], "help")

    def _add_choices(
        self, menu: QMenu, name: str, choices: Mapping[Any, str], signal: SignalInstance
    ) -> None:
        """Add choices of which one is checked, the first at the start."""
        group = QActionGroup(self)
        for key, text in choices.items():
            action = self._sending(f"{name}_{key}", text, "", signal, key)
            action.setCheckable(True)
            action.setChecked(not group.actions())
            group.addAction(action)
            menu.addAction(action)

    def _undo_actions(self) -> list[QAction]:
        stack = self._window.session.undo_group  # type: ignore[attr-defined]
        undo, redo = stack.createUndoAction(self, "&Undo"), stack.createRedoAction(self, "Re&do")
        for action, name, key in ((undo, "undo", Standard.Undo), (redo, "redo", Standard.Redo)):
            action.setObjectName(f"action_{name}")
            action.setShortcut(QKeySequence(key))
        return [undo, redo]

    def _deck_actions(self) -> list[QAction | None]:
        moving = self.tear_off, self.show_beside, self.show_below, self.all_in_one
        return [*moving, None, *self.arrangements]

    def of_picture(self) -> tuple[QAction, ...]:
        """List the actions on a picture and its numbers."""
        pictures = self.copy_figure, self.export_figure
        return (*pictures, self.copy_figure_data, self.export_figure_data)

    def view_menu(self, parent: QWidget) -> QMenu:
        """Make the menu of a view's tab."""
        menu = QMenu(parent)
        menu.setObjectName("view_menu")
        _add(menu, *self._deck_actions(), None)
        _add(menu, *self.of_picture())
        return menu

    def _on_theme(self, choice: str) -> None:
        self.theme = choice


def _counts() -> list[int]:
    """Return the offered numbers of runs at once: powers of two and all processors."""
    most = os.cpu_count() or 1
    return sorted({1, most, *(2**k for k in range(1, most.bit_length()))})


def _add(menu: QMenu, *actions: QAction | None) -> None:
    for action in actions:
        if action is None:
            menu.addSeparator()
        else:
            menu.addAction(action)
