"""The project file of a study."""

from __future__ import annotations

import contextlib
import dataclasses
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from aucstudio.project.errors import InputError
from aucstudio.project.runs.experiment import Experiment
from aucstudio.project.runs.model import Model
from aucstudio.project.runs.record import RunRecord, find_twin
from aucstudio.project.runs.verification import Verification
from aucstudio.project.store.files import same_file
from aucstudio.project.store.project.project_file import ProjectFile, free_id, write_project
from aucstudio.project.store.workspace import new_unsaved_project
from aucstudio.project.tournament.standings import Standings

Progress = Callable[[float], object]


class ProjectHandle:
    """Stores the runs of one study: in memory, and in its present project file.

    The file is made when there is something to store. A job holds the handle, not the file: when
    the study moves to another file, a running run is stored there. The new file is written from
    memory, whatever has become of the old one. Methods may be called from any thread.

    Parameters
    ----------
    file : ProjectFile, optional
    records : iterable of RunRecord
        Content of the file.
    verified : mapping of str to Verification
        Content of the file, by run.
    standings : mapping of str to Standings
        Content of the file, by the start of the search.

    Attributes
    ----------
    file : ProjectFile or None
    verified : dict of str to Verification
        Latest verification, by run.
    standings : dict of str to Standings
        Results of searches, by their start.
    unsaved : dict
        Why runs could not be written into the file, by id.
    refits : dict of str to Model
        Models refit on all labelled rows since the study was opened, by run; not calibrated.
    """

    def __init__(
        self,
        file: ProjectFile | None = None,
        records: Iterable[RunRecord] = (),
        verified: Mapping[str, Verification] | None = None,
        standings: Mapping[str, Standings] | None = None,
    ) -> None:
        self.file = file
        self.verified = dict(verified or {})
        self.standings = dict(standings or {})
        self.refits: dict[str, Model] = {}
        self.unsaved: dict[str, str] = {}
        self._ended = {record.id: record for record in records}
        self._running: dict[str, Experiment] = {}
        self._lock = threading.Lock()

    def make_file(self, data: Path | None) -> None:
        """Make an unsaved project file, named after the table, unless there is a file.

        Raises
        ------
        InputError
            If it cannot be made.
        """
        with self._lock:
            self._made_file(data)

    def _made_file(self, data: Path | None) -> ProjectFile:
        if self.file is None:
            self.file = new_unsaved_project(data)
        return self.file

    def begin_run(self, experiment: Experiment) -> None:
        """Store that a run has started; the first one makes the file."""
        with self._lock:
            self._running[experiment.id] = experiment
            self._made_file(Path(experiment.data.path)).begin_run(experiment)

    def add_run(self, record: RunRecord) -> RunRecord:
        """Store a run; if it cannot be written, ``unsaved`` has the reason.

        Returns
        -------
        record
            The run, with another id if the study has one with its id.
        """
        with self._lock:
            self._running.pop(record.experiment.id, None)
            kept = dataclasses.replace(record, id=free_id(self._ended, record.id))
            try:
                file = self._made_file(Path(record.experiment.data.path))
                kept = file.add_run(kept)
                if kept.id != record.experiment.id:
                    file.forget_run(record.experiment)
            except InputError as error:
                # A new dictionary: the window may be reading this one.
                self.unsaved = {**self.unsaved, kept.id: str(error)}
            self._ended[kept.id] = kept
        return kept

    def keep_unsaved(self) -> None:
        """Write again what could not be written, as the disk may have room now."""
        if self.file is None or not self.unsaved:
            return  # without the lock, which a running save holds
        with self._lock:
            unsaved = dict[str, str]()
            for run in self.unsaved:
                try:
                    if run in self._ended:
                        self.file.add_run(self._ended[run])
                except InputError as error:
                    unsaved[run] = str(error)
            with contextlib.suppress(InputError):
                for name, standings in self.standings.items():
                    self.file.keep_standings(name, standings.as_json())
            self.unsaved = unsaved

    def keep_verification(self, verification: Verification) -> str:
        """Store the verification of a run; return why it could not be written."""
        with self._lock:
            # A new dictionary: the window may be reading this one.
            self.verified = {**self.verified, verification.run: verification}
            return self._write(lambda file: file.keep_verification(verification))

    def keep_standings(self, standings: Standings) -> str:
        """Store the standings of a search; return why they could not be written."""
        with self._lock:
            self.standings = {**self.standings, standings.key: standings}
            key, document = standings.key, standings.as_json()
            return self._write(lambda file: file.keep_standings(key, document))

    def _write(self, write: Callable[[ProjectFile], object]) -> str:
        try:
            if self.file is not None:
                write(self.file)
        except InputError as error:
            return str(error)
        return ""

    def add_run_once(self, record: RunRecord) -> RunRecord:
        """Store a run unless the study has one with the same scores; return the stored one."""
        with self._lock:
            twin = find_twin(record.experiment, self._ended.values())
        return self.add_run(record) if twin is None else twin

    def leave_out(self, runs: Iterable[str]) -> None:
        """Drop runs that cannot be read, so that the others can be saved."""
        with self._lock:
            for run in runs:
                self._ended.pop(run, None)

    def move_to(
        self, path: Path, document: Mapping[str, Any], progress: Progress = lambda _share: None
    ) -> None:
        """Write all runs and a plan into a new file, and continue in it.

        ``progress`` is called with the share written; an exception of it cancels the move.

        Raises
        ------
        InputError
            If it cannot be written; the earlier file stays.
        """
        with self._lock:
            old = self.file
            runs = _reported(list(self._ended.values()), progress)
            verified = [one for run, one in self.verified.items() if run in self._ended]
            standings = {name: one.as_json() for name, one in self.standings.items()}
            self.file = write_project(path, runs, document, verified, standings)
            self.unsaved = {}
            for experiment in self._running.values():
                with contextlib.suppress(InputError):
                    self.file.begin_run(experiment)
                    if old is not None and old.path.is_file() and not same_file(old.path, path):
                        old.forget_run(experiment)


def _reported(records: list[RunRecord], progress: Progress) -> Iterator[RunRecord]:
    for k, record in enumerate(records):
        progress(k / len(records))
        yield record
    progress(1.0)
