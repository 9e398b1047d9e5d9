"""The pages of the program, and the actions and menus of a window."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Signal, SignalInstance
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu, QWidget

from aucstudio.gui.common.buttons import make_menu
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.theme import set_icon
from aucstudio.gui.dialogs.help import show_help
from aucstudio.notices import text
from aucstudio.notices.controls import control_words
from aucstudio.project.examples import examples


@dataclasses.dataclass(frozen=True)
class ViewDeclaration:
    """One picture with its controls and its sentence.

    Attributes
    ----------
    folder, key : str
        The module ``KEY_view`` in a folder of ``aucstudio.gui.pages`` has the class ``KeyView``.
    title : str
    switch : str
        Text of the switch between the views of a page; by default the title.
    """

    folder: str
    key: str
    title: str
    switch: str = ""

    @property
    def name(self) -> str:
        """Object name, also used in arrangements, projects and experiment files."""
        return f"{self.key}_view"

    @property
    def module(self) -> str:
        """Path of the module under ``aucstudio.gui.pages``."""
        return f"{self.folder}.{self.name}"

    @property
    def kind(self) -> str:
        """Name of the class."""
        return f"{self.key.capitalize()}View"


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


def _page(title: str, question: str, *views: tuple[str, ...]) -> PageDeclaration:
    return PageDeclaration(title, question, tuple(ViewDeclaration(*view) for view in views))


PAGES = (
    _page("ROC", "Which run ranks best in the range that matters?", ("roc", "roc", "ROC")),
    _page(
        "Compare", "How sure are the differences between runs?", ("compare", "compare", "Compare")
    ),
    _page(
        "Pairs",
        "Which pairs of a positive and a negative are ranked wrongly, and why?",
        ("planes", "difference", "Difference vectors"),
        ("planes", "feature", "Feature space"),
    ),
    _page("Model", "What did the model learn?", ("model", "model", "Model")),
    _page(
        "Scores",
        "Where should the threshold be, and are the probabilities right?",
        ("scores", "scores", "Scores", "Distribution"),
        ("scores", "calibration", "Calibration"),
    ),
    _page("Data", "What is in the table?", ("data", "data", "Data")),
    _page(
        "Diagnostics",
        "Did training and the search for settings go well?",
        ("training", "training", "Training"),
        ("search", "search", "Search"),
    ),
    _page("Best", "Which of the models found should be used?", ("best", "best", "Best")),
)
VIEWS = tuple(view for page in PAGES for view in page.views)


def page_of(name: str) -> PageDeclaration:
    """Return the page that a view belongs to."""
    return next(page for page in PAGES if any(view.name == name for view in page.views))


# Tile number of each view; views not named stay in the first tile.
ARRANGEMENTS: Mapping[str, Mapping[str, int]] = {
    "ROC and difference vectors": {"roc_view": 0, "difference_view": 1},
    "Feature space and difference vectors": {"feature_view": 0, "difference_view": 1},
    "Four views": {"roc_view": 0, "difference_view": 1, "scores_view": 2, "training_view": 3},
}

# The actions of each menu; "|" is a separator, and capitals are lists that are made below.
_MENUS = {
    "&File": "new_window open_data import_data open_project RECENT EXAMPLES | save_project "
    "save_project_as | export_figure export_figure_data | score_table export_model model_card "
    "export_report export_script | close quit",
    "&Edit": "UNDO | copy_figure copy_figure_data paste_table | preferences",
    "&Run": "run tune find_best add_scores combine | stop | AT_ONCE cluster",
    "&View": "PAGES | GO DECK | setup_shown runs_shown | THEMES",
    "&Help": "help_manual help_methods help_whatsnew help_about",
}
_GO = "next_page previous_page back | show_setup show_runs next_pane previous_pane"
_DECK = ("tear_off", "show_beside", "show_below", "all_in_one")
_OF_PICTURE = ("copy_figure", "export_figure", "copy_figure_data", "export_figure_data")
_OF_STUDY = (
    *("stop", "next_page", "previous_page", "back", *_DECK, *_OF_PICTURE),
    *("export_model", "score_table", "model_card", "export_script", "export_report"),
)


class Actions(QObject):
    """Makes the actions and the menu bar of a window; each action is an attribute by its name.

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
    side_shown : (str, bool)
        Show or hide the column "setup" or "runs".
    """

    theme_chosen = Signal(str)
    page_chosen = Signal(str)
    arrangement_chosen = Signal(str)
    example_chosen = Signal(str)
    at_once_chosen = Signal(int)
    side_shown = Signal(str, bool)

    def __init__(self, window: QMainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.theme = "system"
        self._made: dict[str, QAction] = {}
        for name in (*_DECK, *" ".join([*_MENUS.values(), _GO]).split()):
            if name.islower():
                self._made[name] = self._make(name)
        # The earlier shortcut, which in a text field goes to the end of the line.
        self.export_model.setShortcuts([self.export_model.shortcut(), QKeySequence("Ctrl+E")])
        self.pages = [
            self._page_action(k, view) for k, page in enumerate(PAGES, 1) for view in page.views
        ]
        self.arrangements = [
            self._sending(
                f"arrange_{name.lower().replace(' ', '_')}", name, self.arrangement_chosen, name
            )
            for name in ARRANGEMENTS
        ]
        for action in (*self.pages, *self.arrangements, *map(self.named, _OF_STUDY)):
            action.setEnabled(False)  # until there is a study
        for side in ("setup", "runs"):
            action = self.named(f"{side}_shown")
            action.setCheckable(True)
            action.setChecked(True)
            action.triggered.connect(lambda on, side=side: self.side_shown.emit(side, on))
        for name in ("manual", "methods", "whatsnew", "about"):
            self.named(f"help_{name}").triggered.connect(
                lambda _on=False, name=name: show_help(self._window, name)
            )
        self.theme_chosen.connect(partial(setattr, self, "theme"))
        for title, names in _MENUS.items():
            menu = window.menuBar().addMenu(title)
            menu.setToolTipsVisible(True)
            self._fill(menu, names)

    def __getattr__(self, name: str) -> QAction:
        # Called for names that are no attributes of the object itself.
        if name.startswith("_") or name not in self._made:
            raise AttributeError(name)
        return self._made[name]

    def connect_verbs(self, **verbs: Callable[[], object]) -> None:
        """Call a function when the action of its name is triggered."""
        for name, verb in verbs.items():
            self.named(name).triggered.connect(lambda _on=False, verb=verb: verb())

    def enable(self, names: str, enabled: bool) -> None:
        """Enable or disable the actions of some names."""
        for name in names.split():
            self.named(name).setEnabled(enabled)

    def named(self, name: str) -> QAction:
        """Return an action by its name."""
        return self._made[name]

    def _make(self, name: str, words: str = "", key: str = "") -> QAction:
        """Make an action with the words, the shortcut and the icon of the catalogue."""
        declared = control_words(f"action_{name}")
        action = QAction(words or declared["text"], self._window)
        action.setObjectName(f"action_{name}")
        if "standard_key" in declared:
            action.setShortcut(QKeySequence(QKeySequence.StandardKey[declared["standard_key"]]))
        elif key := key or declared.get("key", ""):
            action.setShortcut(QKeySequence(key))
        if "icon" in declared:
            set_icon(action, declared["icon"])
        self._window.addAction(action)
        return action

    def _sending(
        self, name: str, words: str, signal: SignalInstance, value: object, key: str = ""
    ) -> QAction:
        """Make an action that emits a signal with a value."""
        action = self._make(name, words, key)
        action.triggered.connect(lambda _on=False: signal.emit(value))
        return action

    def _page_action(self, number: int, view: ViewDeclaration) -> QAction:
        """Make the action that shows a view; the first view of a page has the shortcut."""
        page = page_of(view.name)
        words = view.switch or view.title
        words = page.title if len(page.views) == 1 else f"{page.title}: {words.lower()}"
        key = f"Ctrl+{number}" if view.name == page.key else ""
        return self._sending(f"show_{view.name}", words, self.page_chosen, view.name, key)

    # ------------------------------------------------------------- menus

    def _fill(self, menu: QMenu, names: str) -> None:
        for name in names.split():
            self._add(menu, name)

    def _add(self, menu: QMenu, name: str) -> None:
        """Add a part of a menu: an action, a separator or a list."""
        if name == "|":
            menu.addSeparator()
        elif name == "RECENT":
            self.recent = menu.addMenu("Open &recent")
            self.recent.setObjectName("recent_menu")
            self.recent.setToolTipsVisible(True)
        elif name == "EXAMPLES":
            studies = menu.addMenu("E&xample studies")
            for one in examples():
                signal = self.example_chosen
                studies.addAction(self._sending(f"example_{one.key}", one.title, signal, one.key))
        elif name == "UNDO":
            menu.addActions(self._undo_actions())
        elif name == "AT_ONCE":
            counts = {count: str(count) for count in _counts()}
            self._add_choices(menu.addMenu("Runs at &once"), "at_once", counts, self.at_once_chosen)
        elif name == "PAGES":
            menu.addActions(self.pages)
        elif name == "GO":
            self._fill(menu.addMenu("&Go to"), _GO)
        elif name == "DECK":
            self._add_deck(menu.addMenu("&Arrange"))
        elif name == "THEMES":
            themes = control_words("themes")["choices"]
            self._add_choices(menu.addMenu("Th&eme"), "theme", themes, self.theme_chosen)
        else:
            menu.addAction(self.named(name))

    def _add_choices(
        self, menu: QMenu, name: str, choices: Mapping[Any, str], signal: SignalInstance
    ) -> None:
        """Add choices of which one is checked, the first at the start."""
        group = QActionGroup(self)
        for key, words in choices.items():
            action = self._sending(f"{name}_{key}", words, signal, key)
            action.setCheckable(True)
            action.setChecked(not group.actions())
            group.addAction(action)
            menu.addAction(action)

    def _undo_actions(self) -> list[QAction]:
        stack = self._window.session.undo_group  # type: ignore[attr-defined]
        undo, redo = stack.createUndoAction(self, "&Undo"), stack.createRedoAction(self, "Re&do")
        report = self._window.session.message.emit  # type: ignore[attr-defined]
        # A step that was undone is the next one to redo.
        undo.triggered.connect(lambda: report(f"Undone: {stack.redoText()}"))
        redo.triggered.connect(lambda: report(f"Redone: {stack.undoText()}"))
        able = (undo, "Undo", stack.canUndoChanged), (redo, "Redo", stack.canRedoChanged)
        for action, name, changed in able:
            tip = text(f"nothing_to_{name.lower()}")
            plain_tooltip(action, tip)
            changed.connect(lambda can, a=action, tip=tip: plain_tooltip(a, "" if can else tip))
            action.setObjectName(f"action_{name.lower()}")
            action.setShortcut(QKeySequence(QKeySequence.StandardKey[name]))
        return [undo, redo]

    def _add_deck(self, menu: QMenu) -> None:
        menu.addActions([self.named(name) for name in _DECK])
        menu.addMenu("Arrange&ments").addActions(self.arrangements)

    def of_picture(self) -> list[QAction]:
        """List the actions on a picture and its numbers."""
        return [self.named(name) for name in _OF_PICTURE]

    def view_menu(self, parent: QWidget) -> QMenu:
        """Make the menu of a view's tab."""
        menu = make_menu(parent, "view_menu")
        self._add_deck(menu)
        menu.addSeparator()
        menu.addActions(self.of_picture())
        return menu


def _counts() -> list[int]:
    """Return the offered numbers of runs at once: powers of two and all processors."""
    most = os.cpu_count() or 1
    return sorted({1, most, *(2**k for k in range(1, most.bit_length()))})
