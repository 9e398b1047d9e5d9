"""Open, save and close the studies of a session on threads."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from aucstudio.engine.monitor import Stopped
from aucstudio.gui.state.background import Background
from aucstudio.gui.state.plan import Plan, RunLook, linked_settings, read_plan
from aucstudio.gui.state.preferences import KnownImport, preferences
from aucstudio.gui.state.session_runs import Runs
from aucstudio.gui.state.session_state import SessionState
from aucstudio.gui.state.study import Study
from aucstudio.notices import text
from aucstudio.project.data.columns import count_all
from aucstudio.project.data.finding import Finding, found
from aucstudio.project.data.import_choices import FirstReading, ImportChoices
from aucstudio.project.data.input_files import fingerprint
from aucstudio.project.data.table import Table, progress_reporter, read_table
from aucstudio.project.errors import Cancelled, InputError
from aucstudio.project.examples import make_study
from aucstudio.project.runs.experiment import DataReference
from aucstudio.project.runs.experiment_file import read_study as read_experiments
from aucstudio.project.runs.planning import ExperimentFile
from aucstudio.project.runs.record import FAILED, RunRecord
from aucstudio.project.runs.rows import in_memory
from aucstudio.project.runs.verification import Verification
from aucstudio.project.store.files import same_file
from aucstudio.project.store.project.database import DamagedError
from aucstudio.project.store.project.project_file import ProjectFile
from aucstudio.project.store.project.run_documents import read_through
from aucstudio.project.store.workspace import is_unsaved, keep_text, remember_recent, samples_folder
from aucstudio.project.tournament.standings import FAILED as FAILED_TO_END
from aucstudio.project.tournament.standings import RUNNING, Standings
from aucstudio.project.work.job import Job

_READ_SECONDS = 0.4  # for checking runs while a project is opened
_MOST_DRAWN = 30  # of the runs that no window has listed
_MOST_LISTED = 5  # damaged runs in a message

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
    plan : callable
        Returns the plan; settings that the file lacks are those of the given plan.
    file : ProjectFile or None
    records : list of RunRecord
    verified : mapping of str to Verification
        By run.
    standings : mapping of str to Standings
        Results of searches, by their start.
    warnings : list of str
        About damaged parts, a missing table, and runs that were interrupted.
    unread : list of RunRecord
        Runs that were not yet checked for damage.
    experiments : ExperimentFile or None
    choices : ImportChoices or None
        Import options that the user chose for the table.
    """

    path: Path
    table: Table | None = None
    plan: Callable[[Plan], Plan] = Plan.fresh
    file: ProjectFile | None = None
    records: Sequence[RunRecord] = ()
    verified: Mapping[str, Verification] = dataclasses.field(default_factory=dict)
    standings: Mapping[str, Standings] = dataclasses.field(default_factory=dict)
    warnings: Sequence[str] = ()
    unread: Sequence[RunRecord] = ()
    experiments: ExperimentFile | None = None
    choices: ImportChoices | None = None

    def study(self, present: Plan) -> Study:
        """Return the study; settings that the file lacks are those of ``present``."""
        stored = self.file, self.records, self.verified, self.standings
        return Study(self.plan(present), self.table, *stored)


# ----------------------------------------------------------------- reading


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
        opened = _read_table(Path(path), report, choices, known)
    elif kind == PROJECT:
        opened = read_project(Path(path))
    elif kind == PASTED:
        opened = _read_pasted(str(path), report)
    else:
        at_hand = kind == EXAMPLE
        made = make_study(str(path), samples_folder(str(path))) if at_hand else Path(path)
        opened = _read_experiments(made, report)
    if opened.table is not None:  # what the window's thread would have to wait for
        progress = progress_reporter(report)
        opened.table.schema  # noqa: B018  (computed once and cached)
        count_all(opened.table.columns, lambda share: progress(share, "counting values"))
    remember_recent(opened.path)
    return opened


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
    return OpenedStudy(table.path, _remarked(table, remark))


def _remarked(table: Table, remark: Finding) -> Table:
    return dataclasses.replace(table, remarks=(remark, *table.remarks))


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


def _read_experiments(path: Path, report: Report) -> OpenedStudy:
    def read(file: str | Path, **options: Any) -> Table:
        return read_table(file, progress=report, **options)

    def plan(present: Plan) -> Plan:
        fresh = present.fresh()
        params = {run.method: linked_settings(run.params, first.band) for run in reversed(runs)}
        return dataclasses.replace(
            fresh,
            validation=first.validation,
            band=first.band,
            method=first.method,
            params={**fresh.params, **params},
        )

    experiments = read_experiments(path, lambda *_: read)
    runs, first = experiments.experiments, experiments.experiments[0]
    return OpenedStudy(path, in_memory(experiments.table), plan, experiments=experiments)


def _read_pasted(text: str, report: Report) -> OpenedStudy:
    path = keep_text(text)
    table = read_table(path, progress=report)
    remark = found("format_pasted", name=path.name, folder=str(path.parent))
    return OpenedStudy(path, _remarked(table, remark))


def read_project(path: Path) -> OpenedStudy:
    """Read a project file and its table, if that still exists.

    Raises
    ------
    InputError
        If the file is no project, or has a newer format.
    """
    file = ProjectFile(path)
    contents = file.read()
    warnings = contents.warnings(path)
    document, kept = contents.plan, None
    try:
        kept = read_plan(document["window"]) if "window" in document else None
    except ValueError as error:
        warnings.append(text("plan_damaged", reason=str(error)))
    standings = dict(_standings(contents.standings, warnings))
    broken, unread = find_damaged(contents.records, _READ_SECONDS)
    records = [record for record in contents.records if record.id not in broken]
    warnings += broken.values()
    unfinished = file.unfinished_runs()
    more = [text("run_lost", run=experiment.title) for experiment in unfinished.lost]
    more += [
        text("run_elsewhere", run=experiment.title, owner=owner.describe())
        for experiment, owner in unfinished.elsewhere
    ]
    try:
        data = _reference(document, records)
        first = FirstReading.from_json(document.get("first_reading", {}))
        table = None if data is None else first.applied_to(data.open())
    except InputError as error:
        table, more = None, [f"{error}. All finished runs are here.", *more]
    warnings += more

    def plan(present: Plan) -> Plan:
        if kept is None and records:  # no window has opened the project
            band = records[-1].experiment.band
            present = dataclasses.replace(present, band=band).set_as(records[-1])
        return with_all_looks(kept or present, records)

    known = contents.verifications, standings
    return OpenedStudy(path, table, plan, file, records, *known, warnings, unread)


def _standings(kept: Mapping[str, Any], warnings: list[str]) -> Iterator[tuple[str, Standings]]:
    """Read the results of searches; one without an end was interrupted or runs elsewhere."""
    for name, document in kept.items():
        try:
            read = Standings.from_json(document)
        except ValueError as error:
            warnings.append(text("search_damaged", search=name, reason=str(error)))
            continue
        is_open = read.ended == RUNNING
        yield name, read.broken_off(FAILED_TO_END, text("search_unfinished")) if is_open else read


def find_damaged(
    records: Sequence[RunRecord], seconds: float = math.inf, stop: Callable[[], bool] | None = None
) -> tuple[dict[str, str], list[RunRecord]]:
    """Check the content of runs, newest first.

    Returns
    -------
    damaged : dict of str to str
        What is wrong, by run.
    unread : list of RunRecord
        Runs that were not reached.
    """
    began = time.monotonic()
    broken: dict[str, str] = {}
    for k in reversed(range(len(records))):
        if time.monotonic() - began > seconds or (stop is not None and stop()):
            return broken, list(records[: k + 1])
        try:
            read_through(records[k])
        except DamagedError as error:
            broken[records[k].id] = str(error)
    return broken, []


def _reference(document: dict[str, Any], records: list[RunRecord]) -> DataReference | None:
    """Return the table of a project, from its plan or from its last run."""
    if "data" in document:
        try:
            return DataReference.from_json(document["data"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(
                f"the reference to the project's table is damaged ({error})"
            ) from error
    if not records:
        return None
    # A run of given scores ignores all other columns.
    trained = (record for record in reversed(records) if not record.experiment.is_given)
    return next(trained, records[-1]).experiment.data.without_scores()


def with_all_looks(plan: Plan, records: list[RunRecord]) -> Plan:
    """Return a plan in which every record has a look; of many new runs the last are drawn."""
    new = [record for record in records if record.id not in plan.looks]
    looks = dict(plan.looks)
    listed = [look for look in looks.values() if not look.removed]
    names, colours = {look.name for look in listed}, Counter(look.colour for look in listed)
    colour = 0
    counts: Counter[str] = Counter()
    for k, record in enumerate(new):
        title = name = record.experiment.title
        while name in names:
            counts[title] += 1
            name = f"{title} ({counts[title] + 1})"
        names.add(name)
        while colours[colour]:
            colour += 1
        colours[colour] += 1
        visible = record.status != FAILED and len(new) - k <= _MOST_DRAWN
        looks[record.id] = RunLook(name, colour, visible)
    return dataclasses.replace(plan, looks=looks)


# ----------------------------------------------------------------- work on files


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
    study : Study
    path : Path
    document : callable
        Returns the plan and the table as they were at the time of the request.
    again : bool
        Whether only what could not be written into the present file is written.
    left_out : dict of str to str
        Why runs could not be saved, by id; filled by ``write``.
    """

    study: Study
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

    def _leave_for(self, study: Study) -> None:
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
        self._leave_for(Study(self._session.plan.fresh()))

    # ------------------------------------------------------------- opening

    def begin_open(self, path: str | Path, kind: str, choices: ImportChoices | None = None) -> None:
        """Start to open a file; ``opened`` or the opener's ``refused`` is emitted at the end.

        A file that is still being read is abandoned. A table is read with ``choices``, with the
        options chosen for it earlier, or with detected options.
        """
        self._session.keep_plan()
        name = "the clipboard" if kind == PASTED else Path(path).name
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
            table, size = opened.table, -1
            with contextlib.suppress(OSError):  # several files, or a missing one
                size = table.path.stat().st_size
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
