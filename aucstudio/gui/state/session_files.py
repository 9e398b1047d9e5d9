"""Open, save and close the studies of a session on threads."""

from __future__ import annotations

import contextlib
import dataclasses
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from aucstudio.engine.monitor import Stopped
from aucstudio.gui.state.background import Background
from aucstudio.gui.state.preferences import KnownImport, preferences
from aucstudio.gui.state.session_runs import Runs
from aucstudio.gui.state.session_state import SessionState
from aucstudio.gui.state.study import StudyState
from aucstudio.gui.state.study_reading import (
    PASTED,
    OpenedStudy,
    Report,
    find_damaged,
    read_file,
)
from aucstudio.notices import text
from aucstudio.project.data.import_choices import ImportChoices
from aucstudio.project.errors import Cancelled
from aucstudio.project.store.files import same_file
from aucstudio.project.store.project.database import DamagedError
from aucstudio.project.store.workspace import is_unsaved, remember_recent, unsaved_study
from aucstudio.project.work.job import Job

_MOST_LISTED = 5  # damaged runs in a message


class FileWork(QObject):
    """Reads or writes one file after the other on a thread.

    Attributes
    ----------
    changed : Signal
        It started, progressed or ended.
    done, refused : Signal(object, object)
        The key of the request with its result, or with the error.
    words : str
        What is done; empty if nothing.
    fraction : float or None
    """

    changed = Signal()
    done = Signal(object, object)
    refused = Signal(object, object)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.words = ""
        self.fraction: float | None = None
        self._waiting: deque[tuple[str, object, Work]] = deque()
        self._work = Background(self, self._on_finished, self._on_progress)

    @property
    def busy(self) -> bool:
        """Whether a file is being read or written."""
        return bool(self.words)

    def start(self, words: str, key: object, work: Work) -> None:
        """Start a request, after the present one.

        Parameters
        ----------
        words : str
        key : object
        work : callable
            Called on a thread with a function that reports a share and words, and returns True to
            request a stop.
        """
        self._waiting.append((words, key, work))
        if not self.busy:
            self._next()

    def stop(self) -> None:
        """Request the end of the present request, and forget the waiting ones."""
        self._waiting.clear()
        self._work.stop()

    def cancel(self) -> None:
        """Abandon all requests."""
        self._waiting.clear()
        self._work.drop()
        self.words = ""
        self.changed.emit()

    def finish(self) -> None:
        """Wait until everything is done."""
        while self.busy:
            self._work.finish()

    def _next(self) -> None:
        self.words, key, work = self._waiting.popleft()
        self.fraction = None
        self._work.start(key, lambda post: work(lambda share, words: post((share, words))))
        self.changed.emit()

    def _on_progress(self, message: tuple[float, str]) -> None:
        # A wide table reports every column.
        share, words = round(message[0], 3), message[1]
        if (share, words) != (self.fraction, self.words):
            self.fraction, self.words = share, words
            self.changed.emit()

    def _on_finished(self, key: object, job: Job[tuple[float, str], Any]) -> None:
        self.words = ""
        if self._waiting:
            self._next()
        self.changed.emit()
        if job.error is None:
            self.done.emit(key, job.result)
        elif not isinstance(job.error, (Stopped, Cancelled)):
            self.refused.emit(key, job.error)


Work = Callable[[Report], Any]


@dataclasses.dataclass(eq=False)
class Save:
    """A request to save a study.

    Attributes
    ----------
    study : StudyState
    path : Path
    document : callable
        Returns the plan and the table as they were at the time of the request.
    again : bool
        Whether only what could not be written into the present file is written.
    left_out : dict of str to str
        Why runs could not be saved, by id; filled by ``write``.
    """

    study: StudyState
    path: Path
    document: Callable[[], Mapping[str, Any]]
    again: bool = False
    left_out: dict[str, str] = dataclasses.field(default_factory=dict)

    def write(self, report: Report = lambda _share, _words: False) -> None:
        """Write the file; runs that cannot be read are left out.

        Raises
        ------
        InputError
            If it cannot be written; the earlier file stays.
        Cancelled
        """
        home, old, was_saved = self.study.home, self.study.home.file, self.study.is_saved
        if self.again:
            home.keep_unsaved()
            return

        def progress(share: float) -> None:
            if report(share, self.words):
                raise Cancelled

        while True:
            try:
                home.move_to(self.path, self.document(), progress)
            except DamagedError as error:
                if error.run is None or error.run in self.left_out:
                    raise
                self.left_out[error.run] = str(error)
                home.leave_out([error.run])
            else:
                break
        # A study with a name is no longer listed among the unsaved ones.
        if old is not None and not was_saved and is_unsaved(old.path):
            with contextlib.suppress(OSError):
                if not same_file(old.path, self.path):
                    old.path.unlink()
        remember_recent(self.path)

    @property
    def words(self) -> str:
        """What is done."""
        return f"saving {self.path.name}"


class StudyFiles(QObject):
    """Opens, saves and closes the studies of a session.

    Parameters
    ----------
    session : SessionState
    runs : Runs

    Attributes
    ----------
    opener, saver : FileWork
    """

    opened = Signal(object)  # OpenedStudy, whose study is open

    def __init__(self, session: SessionState, runs: Runs) -> None:
        super().__init__(session)
        self._session, self._runs = session, runs
        self._reading = Background(self, self._on_read, patience=0.0)
        self.opener, self.saver = FileWork(self), FileWork(self)
        self.opener.done.connect(self._on_read_file)
        self.saver.done.connect(lambda save, _none: self._on_saved(save))
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

    def _leave_for(self, study: StudyState) -> None:
        """Replace the present study; its runs continue and are stored in its own file."""
        session, old = self._session, self._session.study
        if session.unsaved:
            self.begin_save_again()
        session.keep_plan()
        runs = len(old.shown_runs())
        if runs and not old.is_saved and study.table is not None:
            session.informed.emit(text("study_left", study=old.name, runs=runs))
        self._reading.drop()
        if old.busy:
            session.left.append(old)
        else:
            old.deleteLater()
        session.swap(study)

    def close_study(self) -> None:
        """Close the study and show the start page."""
        self.opener.cancel()
        self._leave_for(StudyState(self._session.plan.fresh()))

    # ------------------------------------------------------------- opening

    def begin_open(self, path: str | Path, kind: str, choices: ImportChoices | None = None) -> None:
        """Start to open a file; ``opened`` or the opener's ``refused`` is emitted at the end.

        A file that is still being read is abandoned. A table is read with ``choices``, with the
        options chosen for it earlier, or with detected options.
        """
        self._session.keep_plan()
        name = "the clipboard" if kind == PASTED else Path(path).name
        if is_unsaved(Path(path)):
            name, _ = unsaved_study(Path(path))
        known, first = preferences().now.imports, self._session.keeper.wait

        def work(report: Report) -> OpenedStudy:
            first()
            opened = read_file(path, kind, report, choices, known)
            if report(1.0, f"opening {name}"):
                raise Cancelled
            return opened

        self.opener.cancel()
        self.opener.start(f"opening {name}", (str(path), kind), work)

    def open_now(self, path: str | Path, kind: str) -> OpenedStudy:
        """Open a file of any kind and return when its study is open.

        Raises
        ------
        InputError
            If it cannot be read; everything stays as it was.
        """
        self.opener.cancel()
        self._session.save_plan()
        opened = read_file(path, kind)
        self._on_opened(opened)
        return opened

    def _on_read_file(self, _key: object, opened: OpenedStudy) -> None:
        if opened.table is not None and opened.choices is not None:
            table = opened.table
            size = table.files[0].size if len(table.files) == 1 else -1
            path = str(table.path.absolute())
            known = KnownImport(path, size, table.sha256, opened.choices)
            preferences().note_import(known)
        self._on_opened(opened)

    def _on_opened(self, found: OpenedStudy) -> None:
        study, before = found.study(self._session.plan), self._session.study
        self._leave_for(study)
        is_table = found.file is None and found.experiments is None
        if is_table and before.table is not None and not study.has_default_form:
            self._session.message.emit(text("settings_kept"))
        if unread := found.unread:
            self._reading.start(study, lambda post: find_damaged(unread, stop=lambda: post(None)))
        if found.experiments is not None:
            self._runs.queue(found.experiments.experiments)
        self.opened.emit(found)

    def _on_read(self, study: StudyState, job: Job[None, tuple[dict[str, str], object]]) -> None:
        if job.result is not None:
            self._on_damage(study, job.result[0])

    def leave_out(self, damaged: Mapping[str, str]) -> None:
        """Remove damaged runs from the list and report them."""
        self._on_damage(self._session.study, damaged)

    def _on_damage(self, study: StudyState, damaged: Mapping[str, str]) -> None:
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

        A message or the saver's ``refused`` is emitted at the end. A second save waits for the
        first.
        """
        study = self._session.study
        self._save(Save(study, Path(path), study.document()))

    def begin_save_again(self) -> None:
        """Start to write what the project file lacks: the plan, and unwritten runs."""
        session, study = self._session, self._session.study
        if study.home.file is not None and session.unsaved:
            self._save(Save(study, study.home.file.path, study.document(), again=True))
            return
        session.keep_plan()
        session.message.emit(study.status)

    def _save(self, save: Save) -> None:
        first = self._session.keeper.wait

        def work(report: Report) -> None:
            first()
            save.write(report)

        self.saver.start(save.words, save, work)

    def _on_saved(self, save: Save) -> None:
        session, study = self._session, save.study
        study.is_saved = study.is_saved or not save.again
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
