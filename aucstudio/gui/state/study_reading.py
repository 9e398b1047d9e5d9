"""Read the files of a study: tables, projects and experiments."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from aucstudio.gui.state.plan import Plan, linked_settings, read_plan
from aucstudio.gui.state.preferences import KnownImport
from aucstudio.gui.state.study import StudyState
from aucstudio.notices import text
from aucstudio.project.data.columns import count_all
from aucstudio.project.data.finding import Finding, found
from aucstudio.project.data.import_choices import FirstReading, ImportChoices
from aucstudio.project.data.input_files import FileStamp, fingerprint
from aucstudio.project.data.table import Table, progress_reporter, read_table
from aucstudio.project.errors import InputError
from aucstudio.project.examples import make_study
from aucstudio.project.runs.experiment import DataReference
from aucstudio.project.runs.experiment_file import read_study as read_experiments
from aucstudio.project.runs.experiment_keys import ExperimentFile
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.runs.rows import in_memory
from aucstudio.project.runs.verification import Verification
from aucstudio.project.store.project.database import DamagedError
from aucstudio.project.store.project.project_file import ProjectFile
from aucstudio.project.store.project.run_documents import read_through
from aucstudio.project.store.workspace import keep_text, remember_recent, samples_folder
from aucstudio.project.tournament.standings import FAILED as FAILED_TO_END
from aucstudio.project.tournament.standings import RUNNING, Standings

READ_SECONDS = 0.4  # for checking runs while a project is opened

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
    selected : str or None
        The run that was selected last.
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
    selected: str | None = None

    def study(self, present: Plan) -> StudyState:
        """Return the study; settings that the file lacks are those of ``present``."""
        stored = self.file, self.records, self.verified, self.standings, self.selected
        return StudyState(self.plan(present), self.table, *stored)


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
        fingerprint(opened.table.files, lambda share: progress(share, "looking at the file"))
        opened.table.schema  # noqa: B018  (computed once and cached)
        counts = [column.different for column in opened.table.columns]
        count_all(counts, lambda share: progress(share, "counting values"))
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
    file = FileStamp.of(path)
    alike = [one for one in known if one.size == file.size]
    return next((one.choices for one in alike if one.sha256 == fingerprint([file])), None)


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
    broken, unread = find_damaged(contents.records, READ_SECONDS)
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
        return (kept or present).with_all_looks(records)

    known = contents.verifications, standings
    chosen = document.get("selected")
    return OpenedStudy(path, table, plan, file, records, *known, warnings, unread, selected=chosen)


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
