"""Open a table, a project or an experiment file on a thread."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from aucstudio.engine.monitor import Stopped
from aucstudio.gui.state.background import Background
from aucstudio.gui.state.plan import Plan, linked_settings
from aucstudio.gui.state.preferences import KnownImport, preferences
from aucstudio.gui.state.stored_study import StoredStudy
from aucstudio.gui.state.stored_study import read_study as read_stored
from aucstudio.gui.state.study import Study
from aucstudio.project.data.columns import count_all
from aucstudio.project.data.finding import found
from aucstudio.project.data.import_choices import ImportChoices
from aucstudio.project.data.paths import fingerprint
from aucstudio.project.data.table import Table, progress_reporter, read_table
from aucstudio.project.errors import Cancelled, InputError
from aucstudio.project.examples import make_study
from aucstudio.project.runs.experiments.experiment_file import ExperimentFile
from aucstudio.project.runs.experiments.experiment_file import read_study as read_experiments
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.runs.rows import in_memory
from aucstudio.project.store.workspace import keep_text, remember_recent, samples_folder
from aucstudio.project.work.job import Job

TABLE, PROJECT, EXPERIMENTS, EXAMPLE = "table", "project", "experiments", "example"
PASTED = "pasted"

Report = Callable[[float, str], bool]


def kind_of(path: str | Path) -> str:
    """Return the kind of a file by its ending."""
    ending = Path(path).suffix.lower()
    return {".aucproj": PROJECT, ".toml": EXPERIMENTS}.get(ending, TABLE)


@dataclasses.dataclass(frozen=True, eq=False)
class OpenedStudy:
    """The content of a file: a table, a project or experiments.

    Attributes
    ----------
    path : Path
    table : Table or None
    stored : StoredStudy or None
        The content of a project file.
    experiments : ExperimentFile or None
    choices : ImportChoices or None
        Import options that the user chose for the table.
    """

    path: Path
    table: Table | None = None
    stored: StoredStudy | None = None
    experiments: ExperimentFile | None = None
    choices: ImportChoices | None = None

    def study(self, present: Plan) -> Study:
        """Return the study; settings that the file lacks are taken from ``present``."""
        if self.stored is not None:
            stored = self.stored
            more = stored.verified, stored.standings
            return Study(stored.plan(present), stored.table, stored.file, stored.records, *more)
        fresh = present.fresh()
        if self.experiments is None:
            return Study(fresh, self.table)
        first = self.experiments.experiments[0]
        params = {
            run.method: linked_settings(run.params, first.band)
            for run in reversed(self.experiments.experiments)
        }
        plan = dataclasses.replace(
            fresh,
            validation=first.validation,
            band=first.band,
            method=first.method,
            params={**fresh.params, **params},
        )
        return Study(plan, in_memory(self.experiments.table))

    @property
    def warnings(self) -> list[str]:
        """Messages: damaged parts, a missing table, interrupted runs."""
        return [] if self.stored is None else self.stored.warnings

    @property
    def unread(self) -> Sequence[RunRecord]:
        """The runs that were not checked for damage."""
        return () if self.stored is None else self.stored.unread


def read_file(
    path: str | Path,
    kind: str,
    report: Report = lambda _share, _words: False,
    choices: ImportChoices | None = None,
    known: Sequence[KnownImport] = (),
) -> OpenedStudy:
    """Read a file of a study.

    Parameters
    ----------
    path : str or Path
        For an example, its key; for the clipboard, its text.
    kind : str
        ``TABLE``, ``PROJECT``, ``EXPERIMENTS``, ``EXAMPLE`` or ``PASTED``.
    report : callable
        Called with the share read and a few words; returns True to cancel.
    choices : ImportChoices, optional
        Import options of a table.
    known : sequence of KnownImport
        Options of files that were opened earlier; used if none are given.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    if kind == TABLE:
        found = _read_table(Path(path), report, choices, known)
    else:
        found = _read(path, kind, report)
    _count(found, report)
    remember_recent(found.path)
    return found


def _count(found: OpenedStudy, report: Report) -> None:
    """Compute what the window's thread would have to wait for: schema and distinct values."""
    table = found.table if found.stored is None else found.stored.table
    if found.experiments is not None:
        table = in_memory(found.experiments.table)
    if table is not None:
        progress = progress_reporter(report)
        table.schema  # noqa: B018  (computed once and cached)
        count_all(table.columns, lambda share: progress(share, "counting values"))


def _read_table(
    path: Path, report: Report, choices: ImportChoices | None, known: Sequence[KnownImport]
) -> OpenedStudy:
    if choices is not None:
        table = choices.read(path, report)
        return OpenedStudy(table.path, table, choices=choices)
    if (before := recalled(path, known)) is None:
        table = read_table(path, progress=report)
        return OpenedStudy(table.path, table)
    remark = found("format_recalled")
    try:
        table = before.read(path, report)
    except InputError as error:
        table = read_table(path, progress=report)
        remark = found("format_recall_failed", reason=str(error))
    return OpenedStudy(table.path, dataclasses.replace(table, remarks=(remark, *table.remarks)))


def recalled(path: Path, known: Sequence[KnownImport]) -> ImportChoices | None:
    """Return the import options chosen for a file earlier, found by its path or its content."""
    own = str(path.absolute())
    if (same := next((one for one in known if one.path == own), None)) is not None:
        return same.choices
    try:
        size = path.stat().st_size
    except OSError:
        return None
    alike = [one for one in known if one.size == size]
    if not alike:
        return None
    sha256 = fingerprint(path, lambda _share: None)
    return next((one.choices for one in alike if one.sha256 == sha256), None)


def known_import(table: Table, choices: ImportChoices) -> KnownImport:
    """Return the record of the import options of a table."""
    try:
        size = table.path.stat().st_size
    except OSError:  # several files, or a missing one
        size = -1
    return KnownImport(str(table.path.absolute()), size, table.sha256, choices)


def _read(path: str | Path, kind: str, report: Report) -> OpenedStudy:
    if kind == EXAMPLE:
        path = make_study(str(path), samples_folder(str(path)))
    if kind == PASTED:
        return _read_pasted(str(path), report)
    path = Path(path)
    if kind == PROJECT:
        return OpenedStudy(path, stored=read_stored(path))

    def read(file: str | Path, **options: Any) -> Table:
        return read_table(file, progress=report, **options)

    return OpenedStudy(path, experiments=read_experiments(path, lambda *_: read))


def _read_pasted(text: str, report: Report) -> OpenedStudy:
    path = keep_text(text)
    table = read_table(path, progress=report)
    remark = found("format_pasted", name=path.name, folder=str(path.parent))
    return OpenedStudy(path, dataclasses.replace(table, remarks=(remark, *table.remarks)))


class Opener(QObject):
    """Opens one file at a time; a new request replaces the present one.

    Attributes
    ----------
    changed : Signal
        It started, progressed or ended.
    opened : Signal(Opened)
    refused : Signal(str, str, Exception)
        The path, the kind, and why it could not be read.
    words : str
        What is being read; empty if nothing.
    fraction : float or None
    """

    changed = Signal()
    opened = Signal(object)
    refused = Signal(str, str, object)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.words = ""
        self.fraction: float | None = None
        self._work = Background(self, self._on_finished, self._on_progress)

    @property
    def busy(self) -> bool:
        """Whether a file is being read."""
        return self._work.busy

    def open(
        self,
        path: str | Path,
        kind: str,
        first: Callable[[], object],
        choices: ImportChoices | None = None,
    ) -> None:
        """Start to read a file, after ``first`` was called on the same thread."""
        name = "the clipboard" if kind == PASTED else Path(path).name
        known = preferences().now.imports

        def work(post: Callable[[tuple[float, str]], bool]) -> OpenedStudy:
            first()
            found = read_file(path, kind, lambda share, words: post((share, words)), choices, known)
            if post((1.0, f"opening {name}")):
                raise Cancelled
            return found

        self.words, self.fraction = f"opening {name}", None
        self._work.start((str(path), kind), work)
        self.changed.emit()

    def cancel(self) -> None:
        """Abandon the file that is being read."""
        self._work.drop()
        self.words = ""
        self.changed.emit()

    def _on_progress(self, message: tuple[float, str]) -> None:
        # A wide table reports every column.
        share, words = round(message[0], 3), message[1]
        if (share, words) != (self.fraction, self.words):
            self.fraction, self.words = share, words
            self.changed.emit()

    def _on_finished(self, key: tuple[str, str], job: Job[tuple[float, str], OpenedStudy]) -> None:
        self.words = ""
        self.changed.emit()
        if job.result is not None:
            opened: OpenedStudy = job.result
            if opened.table is not None and opened.choices is not None:
                preferences().note_import(known_import(opened.table, opened.choices))
            self.opened.emit(opened)
        elif not isinstance(job.error, (Stopped, Cancelled)):
            self.refused.emit(*key, job.error)
