"""The one object with state: the study that is open, opened, saved and left as a whole.

Views read it, call its verbs and listen to its signals; no view talks to another view.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from aucstudio.gui.state.opening import EXPERIMENTS, PROJECT, TABLE, OpenedStudy, Opener, read_file
from aucstudio.gui.state.plan import Plan
from aucstudio.gui.state.saving import Save, SaveAgain, Saver
from aucstudio.gui.state.session_tournament import SessionTournament
from aucstudio.gui.state.stored_study import RunReader
from aucstudio.gui.state.study import ShownRun, Study
from aucstudio.project.data.import_choices import ImportChoices
from aucstudio.project.data.table import Table
from aucstudio.project.runs.experiments import experiment_file
from aucstudio.project.words import runs_words
from aucstudio.project.work.place import Place

__all__ = ["Session", "ShownRun", "Study"]

_MOST_TOLD = 5


class Session(SessionTournament):
    """State of one window; each signal says what has changed.

    Nothing that a person asks for holds up the window: files are opened and saved on threads.
    What is asked for by the verbs without ``begin_`` is there when they return, for scripts.

    Parameters
    ----------
    parent : QObject, optional
    place : Place, optional
        Where runs are made; without it, on a thread of this process.
    """

    opened = Signal(object)  # what was read; the study is open
    reported = Signal(str)  # a message that is no failure
    refused = Signal(str, str, object)  # path, kind, and why it could not be opened
    not_saved = Signal(object, object)  # the save, and why
    _damage_found = Signal(object, object)  # whose; sentences by run

    def __init__(self, parent: QObject | None = None, place: Place | None = None) -> None:
        super().__init__(parent, place)
        self._damage_found.connect(self._on_damage)
        self._reader: RunReader | None = None
        self.opener, self.saver = Opener(self), Saver(self)
        self.opener.opened.connect(self._on_opened)
        self.opener.refused.connect(self.refused)
        self.saver.saved.connect(self._on_saved)
        self.saver.refused.connect(self.not_saved)
        for files in (self.opener, self.saver):
            files.changed.connect(self.live_changed)
        self.study = Study(Plan())
        self._attend(self.study)
        self.undo_group.setActiveStack(self.study.undo_stack)

    @property
    def busy(self) -> bool:
        """Whether something can be stopped: a run, what waits, or a file that is read or saved."""
        return self.trains or self.opener.busy or self.saver.busy

    @property
    def has_work(self) -> bool:
        """Whether leaving would break something off: a run, what waits, or a save."""
        return self.trains or self.saver.busy

    def unsaved_words(self) -> str:
        """State which finished runs leaving would lose: they could not be written, nor now."""
        studies = self.study, *self.left
        for study in studies:
            study.home.keep_unsaved()
        told = [
            study.status if study is self.study else f"In {study.name}, {study.status}"
            for study in studies
            if study.home.unsaved
        ]
        return ". ".join(told)

    # ------------------------------------------------------------- another study

    def _swap(self, study: Study) -> None:
        """Leave the present study for another one; its runs go on, and end in its own file."""
        if self.unsaved:
            self.begin_save_again()
        self.keep_plan()
        old, self.study = self.study, study
        if old.records and not old.is_saved and study.table is not None:
            self.reported.emit(
                f"{old.name}: {runs_words(len(old.records))} kept in an unsaved study, listed "
                "under File ▸ Open recent"
            )
        if self._reader is not None:
            self._reader.stop()
        if old.busy:
            self.left.append(old)
        else:
            old.deleteLater()
        self._attend(study)
        self.undo_group.setActiveStack(study.undo_stack)
        for changed in (
            self.study_changed,
            self.table_changed,
            self.plan_changed,
            self.band_changed,
            self.band_rested,
            self.stakes_changed,
            self.runs_changed,
            self.selection_changed,
            self.focus_changed,
            self.live_changed,
            self.tournament_changed,
        ):
            changed.emit()

    def close_study(self) -> None:
        """Leave the present study for none: the start page."""
        self.opener.cancel()
        self._swap(Study(self.plan.fresh()))

    # ------------------------------------------------------------- opening

    def begin_open(self, path: str | Path, kind: str, choices: ImportChoices | None = None) -> None:
        """Begin to open a file; one that is still being read for an earlier wish is left.

        A table is read by ``choices``, else by what was chosen for it before, else by guesses.

        ``opened`` or ``refused`` tell what came of it; until then everything stays.
        """
        self.keep_plan()
        self.opener.open(path, kind, self._keeper.wait, choices)

    def open_data(self, path: str | Path) -> Table:
        """Import a table and make it the data of a new study; returns when it is there.

        Raises
        ------
        InputError
            If it cannot be read; everything stays as it was.
        """
        found = self.open_now(path, TABLE)
        assert found.table is not None
        return found.table

    def open_project(self, path: str | Path) -> list[str]:
        """Open a project file; returns when it is there.

        Returns
        -------
        warnings : list of str
            What to tell: a table that is gone, a run that was lost in progress.

        Raises
        ------
        InputError
            If it is no project, or of a newer format; everything stays as it was.
        """
        return self.open_now(path, PROJECT).warnings

    def open_experiments(self, path: str | Path) -> experiment_file.ExperimentFile:
        """Open an experiment file: its table as a new study, and all its runs, queued.

        Raises
        ------
        InputError
            If it cannot be read; everything stays as it was.
        """
        found = self.open_now(path, EXPERIMENTS).experiments
        assert found is not None
        return found

    def open_now(self, path: str | Path, kind: str) -> OpenedStudy:
        """Open a file of any kind; its study is there on return. Raises as the reader does."""
        self.opener.cancel()
        self.keep_plan()
        self._keeper.wait()
        found = read_file(path, kind)
        self._on_opened(found)
        return found

    def _on_opened(self, found: OpenedStudy) -> None:
        study = found.study(self.plan)
        self._swap(study)
        self._reader = RunReader(functools.partial(self._damage_found.emit, study))
        self._reader.start(found.unread)
        if found.experiments is not None:
            self._queue(found.experiments.experiments)
        self.opened.emit(found)

    def leave_out(self, damaged: Mapping[str, str]) -> None:
        """Take runs out of the list that proved to be damaged, and say so."""
        self._on_damage(self.study, damaged)

    def _on_damage(self, study: Study, damaged: Mapping[str, str]) -> None:
        gone = study.leave_out(damaged)
        if not gone or study is not self.study:
            return
        if study.mend_selection():
            self.selection_changed.emit()
            self.point_at(split=0)
        self.runs_changed.emit()
        shown = "\n\n".join(damaged[run] for run in gone[:_MOST_TOLD])
        more = len(gone) - _MOST_TOLD
        self.failed.emit(shown + (f"\n\n{more} more runs are damaged." if more > 0 else ""), "")

    # ------------------------------------------------------------- saving

    def begin_save(self, path: str | Path) -> None:
        """Begin to save the project under a name; it goes on in that file, runs too.

        ``told`` or ``not_saved`` tell what came of it. A second save waits for the first.
        """
        self.saver.save(Save(self.study, Path(path), self.study.document()), self._keeper.wait)

    def begin_save_again(self) -> None:
        """Begin to write what the project's file lacks: the plan, and runs that did not fit."""
        file = self.study.home.file
        if file is not None and self.unsaved:
            save = SaveAgain(self.study, file.path, self.study.document())
            self.saver.save(save, self._keeper.wait)
            return
        self.keep_plan()
        self.told.emit(self.status)

    def save_as(self, path: str | Path) -> None:
        """Save the project under a name and go on in that file, runs under way included.

        It is written from what is here: the file of before may be gone or damaged.

        Raises
        ------
        InputError
            If it cannot be written; everything stays as it was.
        """
        self.saver.finish()
        self._keeper.wait()
        save = Save(self.study, Path(path), self.study.document())
        try:
            save.write()
        finally:
            self._on_damage(save.study, save.left_out)
        self._on_saved(save)

    def _on_saved(self, save: Save) -> None:
        study = save.study
        study.is_saved = study.is_saved or not isinstance(save, SaveAgain)
        self._on_damage(study, save.left_out)
        if study is self.study:
            self.keep_plan()  # it may have changed while it was written
            self.told.emit(self.status)
            self.runs_changed.emit()
        else:
            self.told.emit(f"Saved {save.path.name}")

    # ------------------------------------------------------------- ending

    def stop(self) -> None:
        """Stop everything: runs, the queue, searches, and files being read or saved."""
        self.opener.cancel()
        self.saver.cancel()
        super().stop()

    def close(self) -> None:
        """Stop and put everything down; takes about a second at most, but for a save."""
        self.opener.cancel()
        SessionTournament.stop(self)
        if self._reader is not None:
            self._reader.stop()
        for study in (self.study, *self.left):
            study.runner.finish()
            study.tournament.finish()
        self.saver.finish()
        self.unsaved_words()  # which tries once more
        self.keep_plan()
        self._keeper.close()
        self.cluster.close()
