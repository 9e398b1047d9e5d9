"""Open, save and close studies without blocking the window."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu

from aucstudio.gui.common import prompts
from aucstudio.gui.common.buttons import make_action
from aucstudio.gui.common.plain_text import menu_text
from aucstudio.gui.common.prompts import TABLES
from aucstudio.gui.desk.actions import Actions
from aucstudio.gui.state.session import Session
from aucstudio.gui.state.study_reading import EXAMPLE, PASTED, PROJECT, TABLE, OpenedStudy, kind_of
from aucstudio.gui.windows import DISCARD, SAVE, STOP, StudyWindow, describe_work, the_windows
from aucstudio.notices import text
from aucstudio.notices.words import day_words
from aucstudio.project.data.import_choices import ImportChoices
from aucstudio.project.data.input_files import join
from aucstudio.project.errors import InputError
from aucstudio.project.store.workspace import recent_files, unsaved_projects, unsaved_study
from aucstudio.project.work.job import describe_failure

if TYPE_CHECKING:
    from aucstudio.gui.dialogs.importing import ImportPreview

PROJECTS = "AUC Studio projects (*.aucproj)"
STUDY_FILES = "Projects and experiments (*.aucproj *.toml)"

GO_ON, ELSEWHERE = "go on", "elsewhere"
_MOST_UNSAVED = 6  # studies in the menu


class Files(QObject):
    """Handles the actions that open, close and save studies.

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

    def __init__(self, window: StudyWindow, session: Session, actions: Actions) -> None:
        super().__init__(window)
        self._window, self._session = window, session
        self._preview: ImportPreview | None = None
        actions.connect_verbs(
            new_window=lambda: the_windows().new(window),
            open_data=lambda: self._ask_path("Open a table", TABLES, self.open_table),
            import_data=lambda: self._ask_path("Import a table", TABLES, self.preview),
            paste_table=lambda: self._open(QGuiApplication.clipboard().text(), PASTED),
            open_project=lambda: self._ask_path(
                "Open a project or an experiment", STUDY_FILES, self.open_path
            ),
            save_project=self._on_save,
            save_project_as=self.save_as,
            close=self._on_close,
            quit=lambda: the_windows().close(the_windows().open or [window]),
        )
        actions.recent.aboutToShow.connect(lambda: self._list_recent(actions.recent))
        actions.example_chosen.connect(self.open_example)
        session.files.opened.connect(self._on_opened)
        session.files.opener.refused.connect(self._on_refused)
        session.files.saver.refused.connect(lambda _save, error: self._report(error))

    # ------------------------------------------------------------- opening

    def open_path(self, path: str | Path) -> None:
        """Start to open a table, a project or an experiment file, by its ending."""
        self._open(str(path), kind_of(path))

    def open_dropped(self, paths: Sequence[str]) -> None:
        """Start to open dropped files; several tables of one layout are joined."""
        if len(paths) > 1 and all(kind_of(path) == TABLE for path in paths):
            self._open(str(join(paths)), TABLE)
        elif paths:
            self.open_path(paths[0])

    def open_example(self, key: str) -> None:
        """Start to open an example study and run it."""
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
            elif self._preview is not None:
                self._preview.continue_choosing() if choice is None else self._preview.accept()
            if choice == ELSEWHERE:
                the_windows().new(self._window).session.files.begin_open(path, kind, choices)

        elsewhere = (ELSEWHERE, "Open in a &new window")
        table, study = self._session.table, self._session.study
        is_same = choices is not None and table is not None and str(table.path) == path
        kept = (
            text("runs_of_same_table", runs=len(study.records)) if is_same and study.records else ""
        )
        self._ask_to_leave("Open another study", answered, elsewhere, kept=kept)

    def _ask_to_leave(
        self, title: str, answered: prompts.Answered, *first: tuple[str, str], kept: str = ""
    ) -> None:
        """Ask before leaving a study with running work or unsaved runs, or state what is kept."""
        session = self._session
        if session.study.busy:
            words = f"{describe_work([session])} Runs that continue are saved in their own project."
            choices = [*first, (GO_ON, "&Keep them running in this project"), (STOP, "&Stop them")]
        elif lost := session.files.unsaved_words():
            words = f"{lost}."
            choices = [(SAVE, "&Save as…"), *first, (DISCARD, "&Discard them")]
        elif kept:
            words, choices = kept, [*first, (GO_ON, "&Begin a new study here")]
        else:
            answered(GO_ON)
            return

        def chosen(choice: str | None) -> None:
            if choice == STOP:
                session.stop()
            answered(None if choice == SAVE else choice)
            if choice == SAVE:
                self.save_as()

        prompts.ask_choice(self._window, title, words, choices, chosen)

    def _on_opened(self, found: OpenedStudy) -> None:
        if self._preview is not None and self._preview.imports:
            self._preview.accept()
        self.opened.emit(found)
        for warning in found.warnings:
            self._window.messages.add(warning)

    def _on_refused(self, key: tuple[str, str], error: Exception) -> None:
        if self._preview is not None and self._preview.imports:
            self._preview.refuse(error)
        else:
            self.refuse(key[1], error)

    def refuse(self, kind: str, error: Exception) -> None:
        """Show why a file could not be opened: in the Data card if a table stays open there."""
        expected = isinstance(error, (InputError, ValueError))
        if expected and kind in (TABLE, PASTED) and self._session.table is not None:
            self.table_refused.emit(describe_failure(error)[0])
        else:
            self._report(error, expected=expected)

    def _report(self, error: Exception, *, expected: bool = False) -> None:
        sentence, trace = describe_failure(error)
        expected = expected or isinstance(error, InputError)
        self._window.messages.add(sentence, "" if expected else trace)

    def _ask_path(self, title: str, filters: str, then: Callable[[str], object]) -> None:
        path = prompts.ask_open_path(self._window, title, filters)
        if path:
            then(path)

    def open_table(self, path: str) -> None:
        """Start to open a table, whatever its ending."""
        self._open(path, TABLE)

    def import_again(self, dialect: dict[str, Any]) -> None:
        """Read the open table again with some settings changed; with none, show its first rows."""
        table = self._session.table
        if table is None:
            return
        choices = ImportChoices.of(table)
        if dialect:
            changed = dataclasses.replace(choices, dialect=choices.dialect | dialect)
            self._open(str(table.path), TABLE, changed)
        else:
            self.preview(table.path, choices)

    def preview(self, path: str | Path, choices: ImportChoices | None = None) -> None:
        """Show the first rows of a file with the import options."""
        from aucstudio.gui.dialogs.importing import ImportPreview

        dialog = ImportPreview(self._session, Path(path), choices, self._window)
        dialog.asked.connect(lambda chosen: self._open(str(path), TABLE, chosen))
        self._preview = dialog
        dialog.finished.connect(lambda _code: setattr(self, "_preview", None))
        dialog.ask()

    def _list_recent(self, menu: QMenu) -> None:
        menu.clear()
        recent = [(path, f"{path.name}   {path.parent}") for path in recent_files()]
        unsaved = [(path, _unsaved_title(path)) for path in unsaved_projects()[:_MOST_UNSAVED]]
        for name, entries in (("recent", recent), ("unsaved", unsaved)):
            if entries and name == "unsaved":
                menu.addSection("Unsaved studies")
            for k, (path, words) in enumerate(entries):
                action, verb = f"action_{name}_{k}", partial(self.open_path, path)
                make_action(menu, action, menu_text(words), str(path), verb=verb)
        if menu.isEmpty():
            menu.addAction("No recent files").setEnabled(False)

    # ------------------------------------------------------------- leaving

    def _on_close(self) -> None:
        """Return to the start page; from there, close the window."""
        if not self._window.shows_study:
            self._window.close()
            return

        def answered(choice: str | None) -> None:
            if choice is not None:
                self._session.files.close_study()

        self._ask_to_leave("Close the study", answered)

    # ------------------------------------------------------------- saving

    def _on_save(self) -> None:
        self.saving.emit()
        if self._session.study.is_saved:
            self._session.files.begin_save_again()
        else:
            self.save_as()

    def save_as(self) -> None:
        """Ask for a name and start to save the project under it."""
        table = self._session.table
        stem = table.path.stem if table else "study"
        path = prompts.ask_save_path(self._window, "Save the project", f"{stem}.aucproj", PROJECTS)
        if path:
            self._session.files.begin_save(path)


def _unsaved_title(path: Path) -> str:
    """Return the name of the table of an unsaved study, and the day of its last change."""
    name, changed = unsaved_study(path)
    return f"{name}   {day_words(changed, datetime.datetime.now())}" if changed else name
