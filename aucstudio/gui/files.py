"""Open, save and close studies without blocking the window."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu

from aucstudio.gui.common import prompts
from aucstudio.gui.common.plain_text import menu_text, plain_tooltip
from aucstudio.gui.desk.actions import Actions
from aucstudio.gui.state.opening import EXAMPLE, PASTED, PROJECT, TABLE, OpenedStudy, kind_of
from aucstudio.gui.state.saving import Save
from aucstudio.gui.state.session import Session
from aucstudio.gui.windows import LOSE, SAVE, STOP, StudyWindow, the_windows, what_is_under_way
from aucstudio.project.data.import_choices import ImportChoices
from aucstudio.project.data.paths import join
from aucstudio.project.errors import InputError
from aucstudio.project.store.workspace import recent_files, unsaved_projects, unsaved_since
from aucstudio.project.words import day_words
from aucstudio.project.work.job import describe_failure

if TYPE_CHECKING:
    from aucstudio.gui.dialogs.importing.preview import ImportPreview

PROJECTS = "AUC Studio projects (*.aucproj)"
STUDY_FILES = "Projects and experiments (*.aucproj *.toml)"

GO_ON, ELSEWHERE = "go on", "elsewhere"
_MOST_UNSAVED = 6  # studies in the menu


class Files(QObject):
    """Answers the verbs of the File menu that change which study is open, or where it is kept.

    Signals
    -------
    opened : OpenedStudy
        The session holds another study.
    table_refused : str
        A table could not be read: why.
    saving
        The study is about to be saved.
    """

    opened = Signal(object)
    table_refused = Signal(str)
    saving = Signal()

    def __init__(self, window: StudyWindow, session: Session, verbs: Actions) -> None:
        super().__init__(window)
        self._window, self._session, self._verbs = window, session, verbs
        self._previewing: ImportPreview | None = None
        verbs.new_window.triggered.connect(lambda: the_windows().new(window))
        verbs.open_data.triggered.connect(self._on_open_data)
        verbs.import_data.triggered.connect(self._on_import)
        verbs.paste_table.triggered.connect(self._on_paste)
        verbs.open_project.triggered.connect(self._on_open_project)
        verbs.recent.aboutToShow.connect(lambda: self._list_recent(verbs.recent))
        verbs.save_project.triggered.connect(self._on_save)
        verbs.save_project_as.triggered.connect(self.save_as)
        verbs.close.triggered.connect(self._on_close)
        verbs.quit.triggered.connect(lambda: the_windows().close(the_windows().open or [window]))
        verbs.example_chosen.connect(self.open_example)
        session.files.opened.connect(self._on_opened)
        session.files.opener.refused.connect(self._on_refused)
        session.files.saver.refused.connect(self._on_not_saved)

    # ------------------------------------------------------------- opening

    def open_path(self, path: str | Path) -> None:
        """Begin to open a table, a project or an experiment file, by its ending."""
        self._open(str(path), kind_of(path))

    def open_dropped(self, paths: Sequence[str]) -> None:
        """Begin to open what was dropped; several tables are of one layout, and become one."""
        if len(paths) > 1 and all(kind_of(path) == TABLE for path in paths):
            self._open(str(join(paths)), TABLE)
        elif paths:
            self.open_path(paths[0])

    def open_example(self, key: str) -> None:
        """Begin to open an example study, and run it."""
        self._open(key, EXAMPLE)

    def _open(self, path: str, kind: str, choices: ImportChoices | None = None) -> None:
        shown = the_windows().showing(path) if kind == PROJECT else None
        if shown is not None and shown is not self._window:
            shown.show()
            shown.raise_()
            shown.activateWindow()
            return

        def answered(choice: str | None) -> None:
            if choice not in (None, ELSEWHERE):
                self._session.files.begin_open(path, kind, choices)
            elif self._previewing is not None:
                self._previewing.stay() if choice is None else self._previewing.accept()
            if choice == ELSEWHERE:
                the_windows().new(self._window).session.files.begin_open(path, kind, choices)

        elsewhere = (ELSEWHERE, "Open in a &new window")
        self._ask_to_leave("Open another study", answered, elsewhere)

    def _ask_to_leave(
        self, title: str, answered: prompts.Answered, *first: tuple[str, str]
    ) -> None:
        """Ask whether to leave the study where runs go on or would be lost."""
        session = self._session
        if session.study.busy:
            text = (
                f"{what_is_under_way([session])} Runs that continue are saved in their own project."
            )
            choices = [*first, (GO_ON, "&Keep them running in this project"), (STOP, "&Stop them")]
        elif lost := session.files.unsaved_words():
            text = f"{lost}."
            choices = [(SAVE, "&Save as…"), *first, (LOSE, "&Discard them")]
        else:
            answered(GO_ON)
            return

        def chosen(choice: str | None) -> None:
            if choice == STOP:
                session.stop()
            answered(None if choice == SAVE else choice)
            if choice == SAVE:
                self.save_as()

        prompts.ask_choice(self._window, title, text, choices, chosen)

    def _on_opened(self, found: OpenedStudy) -> None:
        if self._previewing is not None and self._previewing.imports:
            self._previewing.accept()
        self.opened.emit(found)
        for warning in found.warnings:
            self._window.messages.tell(warning)

    def _on_refused(self, path: str, kind: str, error: Exception) -> None:
        if self._previewing is not None and self._previewing.imports:
            self._previewing.refuse(error)
            return
        self.refuse(kind, error)

    def refuse(self, kind: str, error: Exception) -> None:
        """Show why something could not be opened.

        In the data card, or where there is none above.
        """
        sentence, trace = describe_failure(error)
        expected = isinstance(error, (InputError, ValueError))
        if expected and kind in (TABLE, PASTED) and self._session.table is not None:
            self.table_refused.emit(sentence)
        else:
            self._window.messages.tell(sentence, "" if expected else trace)

    def _on_open_data(self) -> None:
        path = prompts.ask_open_path(self._window, "Open a table", prompts.TABLES)
        if path:
            self._open(path, TABLE)

    def _on_import(self) -> None:
        path = prompts.ask_open_path(self._window, "Import a table", prompts.TABLES)
        if path:
            self.preview(Path(path))

    def import_again(self) -> None:
        """Show the first rows of the table that is open, with what was guessed about it."""
        table = self._session.table
        if table is not None:
            self.preview(table.path, ImportChoices.of(table))

    def preview(self, path: Path, choices: ImportChoices | None = None) -> None:
        """Show the first rows of a file, to be imported as a person sees fit."""
        from aucstudio.gui.dialogs.importing.preview import ImportPreview

        dialog = ImportPreview(self._session, path, choices, self._window)
        dialog.asked.connect(lambda chosen: self._open(str(path), TABLE, chosen))
        self._previewing = dialog
        dialog.finished.connect(self._on_previewed)
        dialog.ask()

    def _on_previewed(self) -> None:
        self._previewing = None

    def _on_paste(self) -> None:
        self._open(QGuiApplication.clipboard().text(), PASTED)

    def _on_open_project(self) -> None:
        path = prompts.ask_open_path(self._window, "Open a project or an experiment", STUDY_FILES)
        if path:
            self.open_path(path)

    def _list_recent(self, menu: QMenu) -> None:
        menu.clear()
        recent = [(path, f"{path.name}   {path.parent}") for path in recent_files()]
        unsaved = [(path, _unsaved_title(path)) for path in unsaved_projects()[:_MOST_UNSAVED]]
        for name, entries in (("recent", recent), ("unsaved", unsaved)):
            if entries and name == "unsaved":
                menu.addSection("Unsaved studies")
            for k, (path, words) in enumerate(entries):
                action = menu.addAction(menu_text(words))
                action.setObjectName(f"action_{name}_{k}")
                plain_tooltip(action, str(path))
                action.triggered.connect(lambda _on=False, path=path: self.open_path(path))
        if menu.isEmpty():
            menu.addAction("No recent files").setEnabled(False)

    # ------------------------------------------------------------- leaving

    def _on_close(self) -> None:
        """Go back to the start page; from there, close the window."""
        session = self._session
        if not self._window.shows_study:
            self._window.close()
        else:

            def answered(choice: str | None) -> None:
                if choice is not None:
                    session.files.close_study()

            self._ask_to_leave("Close the study", answered)

    # ------------------------------------------------------------- saving

    def _on_save(self) -> None:
        self.saving.emit()
        if self._session.study.is_saved:
            self._session.files.begin_save_again()
        else:
            self.save_as()

    def save_as(self) -> None:
        """Ask for a name and begin to save the project under it."""
        table = self._session.table
        stem = table.path.stem if table else "study"
        path = prompts.ask_save_path(self._window, "Save the project", f"{stem}.aucproj", PROJECTS)
        if not path:
            return
        try:
            self._session.files.begin_save(prompts.with_ending(path, ".aucproj"))
        except InputError as error:
            self._window.messages.tell(str(error))

    def _on_not_saved(self, _save: Save, error: Exception) -> None:
        sentence, trace = describe_failure(error)
        self._window.messages.tell(sentence, "" if isinstance(error, InputError) else trace)


def _unsaved_title(path: Path) -> str:
    """Return the table of an unsaved study and the day on which the study was begun."""
    name, begun = unsaved_since(path)
    return f"{name}   {day_words(begun, datetime.datetime.now())}" if begun else name
