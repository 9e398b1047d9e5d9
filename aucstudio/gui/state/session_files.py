"""Open, save and close the studies of a session on threads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from aucstudio.gui.state.background import Background
from aucstudio.gui.state.opening import OpenedStudy, Opener, read_file
from aucstudio.gui.state.saving import Save, SaveAgain, Saver
from aucstudio.gui.state.session_runs import Runs
from aucstudio.gui.state.session_state import SessionState
from aucstudio.gui.state.stored_study import find_damaged
from aucstudio.gui.state.study import Study
from aucstudio.notices.words import runs_words
from aucstudio.project.data.import_choices import ImportChoices
from aucstudio.project.work.job import Job

_MOST_LISTED = 5
_KEPT = "Validation, method, settings and preprocessing of the previous table are kept"


class StudyFiles(QObject):
    """Opens, saves and closes the studies of a session.

    Parameters
    ----------
    session : SessionState
    runs : Runs

    Attributes
    ----------
    opener : Opener
    saver : Saver
    """

    opened = Signal(object)  # OpenedStudy, whose study is open

    def __init__(self, session: SessionState, runs: Runs) -> None:
        super().__init__(session)
        self._session, self._runs = session, runs
        self._reading = Background(self, self._on_read, patience=0.0)
        self.opener, self.saver = Opener(self), Saver(self)
        self.opener.opened.connect(self._on_opened)
        self.saver.saved.connect(self._on_saved)
        for files in (self.opener, self.saver):
            files.changed.connect(lambda: session.notify({"live"}))

    @property
    def has_work(self) -> bool:
        """Whether closing would interrupt a run, a search or a save."""
        return self._session.trains or self.saver.busy

    def unsaved_words(self) -> str:
        """Describe the finished runs that closing would lose; try to write them first."""
        session = self._session
        for study in session.studies:
            study.home.keep_unsaved()
        return ". ".join(
            study.status if study is session.study else f"In {study.name}, {study.status}"
            for study in session.studies
            if study.home.unsaved
        )

    # ------------------------------------------------------------- another study

    def _leave_for(self, study: Study) -> None:
        """Replace the present study; its runs continue and are stored in its own file."""
        session, old = self._session, self._session.study
        if session.unsaved:
            self.begin_save_again()
        session.keep_plan()
        if old.records and not old.is_saved and study.table is not None:
            session.failed.emit(
                f"{old.name}: {runs_words(len(old.records))} kept in an unsaved study, listed "
                "under File ▸ Open recent",
                "",
            )
        self._reading.drop()
        if old.busy:
            session.left.append(old)
        else:
            old.deleteLater()
        session.swap(study)

    def close_study(self) -> None:
        """Close the study and show the start page."""
        self.opener.cancel()
        self._leave_for(Study(self._session.plan.fresh()))

    # ------------------------------------------------------------- opening

    def begin_open(self, path: str | Path, kind: str, choices: ImportChoices | None = None) -> None:
        """Start to open a file; ``opened`` or the opener's ``refused`` is emitted at the end.

        A file that is still being read is abandoned. A table is read with ``choices``, with the
        options chosen for it earlier, or with detected options.
        """
        self._session.keep_plan()
        self.opener.open(path, kind, self._session.keeper.wait, choices)

    def open_now(self, path: str | Path, kind: str) -> OpenedStudy:
        """Open a file of any kind and return when its study is open.

        Raises
        ------
        InputError
            If it cannot be read; everything stays as it was.
        """
        self.opener.cancel()
        self._session.save_plan()
        found = read_file(path, kind)
        self._on_opened(found)
        return found

    def _on_opened(self, found: OpenedStudy) -> None:
        study, before = found.study(self._session.plan), self._session.study
        self._leave_for(study)
        if found.table is not None and before.table is not None and not study.has_default_form:
            self._session.message.emit(_KEPT)
        if unread := found.unread:
            self._reading.start(study, lambda post: find_damaged(unread, stop=lambda: post(None)))
        if found.experiments is not None:
            self._runs.queue(found.experiments.experiments)
        self.opened.emit(found)

    def _on_read(self, study: Study, job: Job[None, tuple[dict[str, str], object]]) -> None:
        if job.result is not None:
            self._on_damage(study, job.result[0])

    def leave_out(self, damaged: Mapping[str, str]) -> None:
        """Remove damaged runs from the list and report them."""
        self._on_damage(self._session.study, damaged)

    def _on_damage(self, study: Study, damaged: Mapping[str, str]) -> None:
        gone = study.leave_out(damaged)
        if not gone or study is not self._session.study:
            return
        self._session.notify({"runs"} | study.fix_selection())
        shown = "\n\n".join(damaged[run] for run in gone[:_MOST_LISTED])
        more = len(gone) - _MOST_LISTED
        shown += f"\n\n{more} more runs are damaged." if more > 0 else ""
        self._session.failed.emit(shown, "")

    # ------------------------------------------------------------- saving

    def begin_save(self, path: str | Path) -> None:
        """Start to save the project under a name; running runs continue in that file.

        ``told`` or the saver's ``refused`` is emitted at the end.
        A second save waits for the first.
        """
        study = self._session.study
        self.saver.save(Save(study, Path(path), study.document()), self._session.keeper.wait)

    def begin_save_again(self) -> None:
        """Start to write what the project file lacks: the plan, and unwritten runs."""
        session, study = self._session, self._session.study
        if study.home.file is not None and session.unsaved:
            save = SaveAgain(study, study.home.file.path, study.document())
            self.saver.save(save, session.keeper.wait)
            return
        session.keep_plan()
        session.message.emit(study.status)

    def save_as(self, path: str | Path) -> None:
        """Save the project under a name and continue in that file, with the running runs.

        The file is written from memory, as the earlier file may be gone or damaged.

        Raises
        ------
        InputError
            If it cannot be written; everything stays as it was.
        """
        self.saver.finish()
        self._session.keeper.wait()
        study = self._session.study
        save = Save(study, Path(path), study.document())
        try:
            save.write()
        finally:
            self._on_damage(study, save.left_out)
        self._on_saved(save)

    def _on_saved(self, save: Save) -> None:
        session, study = self._session, save.study
        study.is_saved = study.is_saved or not isinstance(save, SaveAgain)
        self._on_damage(study, save.left_out)
        if study is session.study:
            session.keep_plan()  # it may have changed while it was written
            session.message.emit(study.status)
            session.notify({"runs"})
        else:
            session.message.emit(f"Saved {save.path.name}")

    def close(self) -> None:
        """Finish saves, and try again to write what could not be written."""
        self._reading.drop()
        self.saver.finish()
        self.unsaved_words()  # writes them again
