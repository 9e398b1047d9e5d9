"""Open, save and close the studies of a session on threads."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import threading
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
from aucstudio.notices.words import runs_words
from aucstudio.project.data.columns import count_all
from aucstudio.project.data.finding import found
from aucstudio.project.data.import_choices import FirstReading, ImportChoices
from aucstudio.project.data.paths import fingerprint
from aucstudio.project.data.table import Table, progress_reporter, read_table
from aucstudio.project.errors import Cancelled, InputError
from aucstudio.project.examples import make_study
from aucstudio.project.runs.experiments.experiment import DataReference, Experiment
from aucstudio.project.runs.experiments.experiment_file import ExperimentFile
from aucstudio.project.runs.experiments.experiment_file import read_study as read_experiments
from aucstudio.project.runs.experiments.planning import is_given
from aucstudio.project.runs.record import FAILED, RunRecord
from aucstudio.project.runs.rows import in_memory
from aucstudio.project.runs.verification import Verification
from aucstudio.project.store.files import same_file
from aucstudio.project.store.project.database import DamagedError
from aucstudio.project.store.project.project_file import ProjectFile
from aucstudio.project.store.project.run_documents import read_through
from aucstudio.project.store.project.unfinished_runs import Owner
from aucstudio.project.store.workspace import is_unsaved, keep_text, remember_recent, samples_folder
from aucstudio.project.tournament.standings import FAILED as FAILED_TO_END
from aucstudio.project.tournament.standings import RUNNING, Standings
from aucstudio.project.work.job import Job

_READ_SECONDS = 0.4  # for checking runs while a project is opened
_NO_END = "it had not finished when the project was opened; its program may have been closed"
_MOST_DRAWN = 30  # of the runs that no window has listed


@dataclasses.dataclass(frozen=True, eq=False)
class StoredStudy:
    """The content of a project file.

    Attributes
    ----------
    file : ProjectFile
    kept : Plan or None
        None if no window has opened the project, or its plan is damaged.
    records : list of RunRecord
    table : Table or None
        None if there is none, or it cannot be read.
    warnings : list of str
        About damaged parts, a missing table, and runs that were interrupted.
    unread : list of RunRecord
        Runs that were not yet checked for damage.
    verified : mapping of str to Verification
        By run.
    standings : mapping of str to Standings
        Results of searches, by their start.
    """

    file: ProjectFile
    kept: Plan | None
    records: list[RunRecord]
    table: Table | None
    warnings: list[str]
    unread: list[RunRecord]
    verified: Mapping[str, Verification] = dataclasses.field(default_factory=dict)
    standings: Mapping[str, Standings] = dataclasses.field(default_factory=dict)

    def plan(self, present: Plan) -> Plan:
        """Return the plan of the file, or ``present`` with the settings of the last run."""
        plan = _first_plan(present, self.records) if self.kept is None else self.kept
        return _with_all_looks(plan, self.records)


def read_study(path: Path) -> StoredStudy:
    """Read a project file and its table, if that still exists.

    Raises
    ------
    InputError
        If the file is no project, or has a newer format.
    """
    file = ProjectFile(path)
    contents = file.read()
    warnings = contents.warnings(path)
    document, plan = contents.plan, None
    try:
        plan = read_plan(document["window"]) if "window" in document else None
    except ValueError as error:
        warnings.append(f"The plan is damaged ({error}); the default plan replaces it.")
    standings = dict(_standings(contents.standings, warnings))
    broken, unread = find_damaged(contents.records, _READ_SECONDS)
    records = [record for record in contents.records if record.id not in broken]
    warnings += broken.values()
    unfinished = file.unfinished_runs()
    more = [_lost_sentence(experiment) for experiment in unfinished.lost]
    more += [_elsewhere_sentence(*run) for run in unfinished.elsewhere]
    try:
        data = _reference(document, records)
        first = FirstReading.from_json(document.get("first_reading", {}))
        table = None if data is None else first.applied_to(data.open())
    except InputError as error:
        table, more = None, [f"{error}. All finished runs are here.", *more]
    found = contents.verifications, standings
    return StoredStudy(file, plan, records, table, [*warnings, *more], unread, *found)


def _standings(kept: Mapping[str, Any], warnings: list[str]) -> Iterator[tuple[str, Standings]]:
    """Read the results of searches; one without an end was interrupted or runs elsewhere."""
    for name, document in kept.items():
        try:
            found = Standings.from_json(document)
        except ValueError as error:
            warnings.append(f"The result of the search of {name} is damaged ({error}).")
            continue
        is_open = found.ended == RUNNING
        yield name, found.broken_off(FAILED_TO_END, _NO_END) if is_open else found


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
    trained = (record for record in reversed(records) if not is_given(record))
    return next(trained, records[-1]).experiment.data.without_scores()


def _first_plan(plan: Plan, records: list[RunRecord]) -> Plan:
    """Return a plan with the settings of the last run."""
    if not records:
        return plan
    last = records[-1]
    return dataclasses.replace(plan, band=last.experiment.band).set_as(last)


def _with_all_looks(plan: Plan, records: list[RunRecord]) -> Plan:
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


def _lost_sentence(experiment: Experiment) -> str:
    return (
        f"{experiment.title} was running when the program last ended; it is lost and can be run "
        "again."
    )


def _elsewhere_sentence(experiment: Experiment, owner: Owner) -> str:
    return (
        f"{experiment.title} is being trained by another program ({owner.describe()}); open the "
        "project again when it has ended to see it."
    )


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
        return OpenedStudy(path, stored=read_study(path))

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


@dataclasses.dataclass(eq=False)
class Save:
    """A request to save a study in another file.

    Attributes
    ----------
    study : Study
    path : Path
    document : callable
        Returns the plan and the table as they were at the time of the request.
    left_out : dict of str to str
        Why runs could not be saved, by id; filled by ``write``.
    """

    study: Study
    path: Path
    document: Callable[[], Mapping[str, Any]]
    left_out: dict[str, str] = dataclasses.field(default_factory=dict)
    cancelled: threading.Event = dataclasses.field(default_factory=threading.Event)

    def write(self, report: Callable[[float], object] = lambda _share: None) -> None:
        """Write the file; runs that cannot be read are left out.

        Raises
        ------
        InputError
            If it cannot be written; the earlier file stays.
        Cancelled
        """

        def progress(share: float) -> None:
            report(share)
            if self.cancelled.is_set():
                raise Cancelled

        home, old, was_saved = self.study.home, self.study.home.file, self.study.is_saved
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


class SaveAgain(Save):
    """A request to write again what could not be written into the present file."""

    def write(self, report: Callable[[float], object] = lambda _share: None) -> None:
        """Write the runs; those that still cannot be written stay with the study."""
        self.study.home.keep_unsaved()
        report(1.0)


class Saver(QObject):
    """Saves studies one after the other, in the order of the requests.

    Attributes
    ----------
    changed : Signal
        A save started, progressed or ended.
    saved : Signal(Save)
    refused : Signal(Save, Exception)
    fraction : float
    """

    changed = Signal()
    saved = Signal(object)
    refused = Signal(object, object)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.fraction = 0.0
        self._present: Save | None = None
        self._waiting: deque[Save] = deque()
        self._work = Background(self, self._on_finished, self._on_progress)

    @property
    def words(self) -> str:
        """What is being saved; empty if nothing."""
        return "" if self._present is None else f"saving {self._present.path.name}"

    @property
    def busy(self) -> bool:
        """Whether something is being saved."""
        return self._present is not None

    def save(self, save: Save, first: Callable[[], object]) -> None:
        """Queue a save; ``first`` is called before it on the same thread."""
        self._waiting.append(save)
        if self._present is None:
            self._next(first)

    def cancel(self) -> None:
        """Abandon the present save and the waiting ones; the earlier files stay."""
        self._waiting.clear()
        if self._present is not None:
            self._present.cancelled.set()

    def finish(self) -> None:
        """Wait until everything is saved."""
        while self._present is not None:
            self._work.finish()

    def _next(self, first: Callable[[], object]) -> None:
        save = self._present = self._waiting.popleft()

        def work(post: Callable[[float], bool]) -> None:
            first()
            save.write(post)

        self.fraction = 0.0
        self._work.start((save, first), work)
        self.changed.emit()

    def _on_progress(self, fraction: float) -> None:
        self.fraction = fraction
        self.changed.emit()

    def _on_finished(self, key: tuple[Save, Callable[[], object]], job: Job[float, None]) -> None:
        save, first = key
        self._present = None
        if self._waiting:
            self._next(first)
        self.changed.emit()
        if job.error is None:
            self.saved.emit(save)
        elif not isinstance(job.error, Cancelled):
            self.refused.emit(save, job.error)


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
