"""Runs and comparisons as plain data and text."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from aucstudio.notices import Notice, notice, text, texts
from aucstudio.notices.words import aligned, interval_words, runs_words, suggestion, titled
from aucstudio.project import typed
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.errors import InputError, input_error
from aucstudio.project.results.summary import (
    Estimate,
    auc_summary,
    pauc_summary,
    range_notices,
    run_as_json,
)
from aucstudio.project.runs.experiment import Band, DataReference, require_band
from aucstudio.project.runs.record import RunRecord

if TYPE_CHECKING:
    from aucstudio.project.work.cluster import Cluster


def result_document(
    table: AnyTable, records: Sequence[RunRecord], band: Band, model: str | None = None
) -> dict[str, Any]:
    """Return what ``train --json`` prints."""
    names = ("rows", "label", "positive", "unlabelled", "rejected_rows", "sha256")
    data = {
        "file": str(table.path),
        "features": len(table.features),
        "positives": int(table.is_positive().sum()),
        **{name: getattr(table, name) for name in names},
    }
    return {"data": data, "runs": [run_as_json(record, band, model) for record in records]}


def data_sentence(table: AnyTable) -> str:
    """Describe what is trained on: label, positive class, who chose them, and rows left out."""
    return text(
        "trained_on",
        label=table.label,
        positive=table.positive,
        guessed=["the label" if what == "label" else "the class" for what in table.guessed],
        positives=int(table.is_positive().sum()),
        rows=table.rows - table.unlabelled,
        left_out=table.unlabelled + table.rejected_rows or None,
        weight=table.weight,
    )


def results_table(records: Sequence[RunRecord], band: Band) -> str:
    """Format the figures of runs as text."""
    title = f"pAUC [{band[0]:g}, {band[1]:g}]"
    rows = [("method", "AUC", "95 % interval", title, "95 % interval", "s per fit")]
    for record in records:
        figures = *area_cells(auc_summary(record)), *area_cells(pauc_summary(record, band))
        rows.append((record.experiment.title, *figures, f"{record.fit_seconds:.3g}"))
    return "\n".join([*aligned(rows), *texts(doubts(records, band))])


def area_cells(found: Estimate) -> tuple[str, str]:
    """Return an area with four decimals, and its interval."""
    return f"{found.value:.4f}", interval_words(*found.bounds)


def doubts(records: Sequence[RunRecord], band: Band) -> list[Notice]:
    """Return why figures have no interval, and what puts partial areas in doubt."""
    reasons: dict[str, list[str]] = {}
    for record in records:
        for name, found in (("AUC", auc_summary(record)), ("pAUC", pauc_summary(record, band))):
            if found.reason:
                reasons.setdefault(found.reason, []).append(f"{record.experiment.title} ({name})")
    absent = [
        notice("no_interval", reason=reason, measures=", ".join(of))
        for reason, of in reasons.items()
    ]
    return [*absent, *(found for record in records for found in range_notices(record, band))]


def named_runs(
    project: str | Path, complain: Callable[[str], object] = lambda _sentence: None
) -> tuple[list[tuple[str, RunRecord]], Band]:
    """Read the listed runs of a project that have results; see :func:`listed_runs`."""
    listed, band, _present = listed_runs(project, complain)
    return [(name, record) for name, record in listed if record.splits], band


def listed_runs(
    project: str | Path, complain: Callable[[str], object] = lambda _sentence: None
) -> tuple[list[tuple[str, RunRecord]], Band, DataReference | None]:
    """Read the listed runs of a project by their names, the FPR range, and the table in use.

    Parameters
    ----------
    complain : callable, optional
        Receives a sentence for each fault.

    Raises
    ------
    InputError
        If it is no project.
    """
    from aucstudio.project.store.project.project_file import ProjectFile

    file = ProjectFile(project)
    contents = file.read()
    for sentence in contents.warnings(file.path):
        complain(sentence)
    window = _Window()
    try:
        window = typed.convert(contents.plan.get("window", {}), _Window)
    except msgspec.ValidationError as error:
        complain(text("names_damaged", project=project, reason=error))
    named = []
    for record in contents.records:
        look = window.looks.get(record.id, _Look())
        if not look.removed:
            experiment = record.experiment
            name = experiment.name or f"{experiment.title} {record.id}"
            named.append((look.name or name, record))
    present = None
    with contextlib.suppress(KeyError, TypeError, ValueError):
        present = DataReference.from_json(contents.plan["data"])
    if window.band is not None:
        return named, window.band, present
    bands = [record.experiment.band for _name, record in named if record.splits]
    return named, bands[-1] if bands else (0.0, 0.1), present


def with_distinct_names(named: Sequence[tuple[str, RunRecord]]) -> list[tuple[str, RunRecord]]:
    """Append the id to the names that several runs share."""
    often = Counter(name for name, _ in named)
    return [
        (titled(name, record.id) if often[name] > 1 else name, record) for name, record in named
    ]


def find_run(
    named: Sequence[tuple[str, RunRecord]], wanted: str, project: str | Path
) -> tuple[str, RunRecord]:
    """Find the run that is meant, by its id or its name.

    Raises
    ------
    InputError
        If there is none, or there are several of that name.
    """
    chosen = [one for one in named if wanted == one[1].id]
    chosen = chosen or [one for one in named if wanted == one[0]]
    chosen = chosen or [one for one in named if wanted == one[1].experiment.title]
    if len(chosen) == 1:
        return chosen[0]
    if chosen:
        ids = ", ".join(record.id for _, record in chosen)
        raise input_error("several_runs_named", name=wanted, ids=ids)
    if not named:
        raise input_error("no_finished_run", file=project)
    known = [name for _, record in named for name in (record.experiment.title, record.id)]
    runs = ", ".join(titled(name, record.id) for name, record in named)
    hint = suggestion(wanted, known)
    raise input_error("run_unknown", file=project, name=wanted, hint=hint, runs=runs)


class _Look(msgspec.Struct):
    name: str = ""
    removed: bool = False


class _Window(msgspec.Struct):
    looks: dict[str, _Look] = {}
    band: Band | None = None

    def __post_init__(self) -> None:
        if self.band is not None:
            require_band(self.band)


def readable_runs(
    named: Sequence[tuple[str, RunRecord]], band: Band, complain: Callable[[str], object]
) -> list[tuple[str, RunRecord]]:
    """Return the runs with intact scores, by computing their figures."""
    from aucstudio.project.results.comparison import compared_figures

    sound = []
    for name, record in named:
        try:
            compared_figures(name, record, band)
        except ValueError as error:
            complain(text("run_left_out", run=name, reason=error))
        else:
            sound.append((name, record))
    return sound


def comparison_document(
    named: Sequence[tuple[str, RunRecord]], band: Band, workers: Cluster | None = None
) -> dict[str, Any]:
    """Return the runs with their figures, and every pair of them with its tests, as plain data."""
    from aucstudio.project.results.comparison import AUC, PAUC, TPR, compare_runs

    pairs = {
        measure: [pair.as_json() for pair in compare_runs(named, band, measure, workers=workers)]
        for measure in (AUC, PAUC, TPR)
    }
    runs = [{"name": name, **run_as_json(record, band)} for name, record in named]
    return {"fpr_range": list(band), "runs": runs, "pairs": pairs}


_MOST_RUNS = 40  # that are read for the best of them
_MOST_KEPT = 100
_MEMORY = "outlines.json"
_KINDS = {".aucproj": "Project", ".toml": "Experiments"}


class Outline(msgspec.Struct, frozen=True):
    """Summary of one file in a list.

    Attributes
    ----------
    kind : str
        "Table", "Project" or "Experiments".
    facts : str
        Of a project: its table, its runs, the best of them.
    is_there : bool
    """

    kind: str
    facts: str = ""
    is_there: bool = True


def kind_title(path: Path) -> str:
    """Return by its name what a file is."""
    return _KINDS.get(path.suffix.lower(), "Table")


def describe_file(path: Path) -> Outline:
    """Describe a file; one that was read before and has not changed, from memory."""
    kind = kind_title(path)
    try:
        found = path.stat()
    except OSError:
        return Outline(kind, is_there=False)
    if kind != "Project":
        return Outline(kind)
    from aucstudio.project.store.workspace import read_memory, write_memory

    memory, state = read_memory(_MEMORY), [found.st_mtime_ns, found.st_size]
    memory = memory if isinstance(memory, dict) else {}
    with contextlib.suppress(KeyError, TypeError, ValueError):
        known, facts = memory[str(path)]
        if known == state:
            return Outline(kind, str(facts))
    facts = _facts(path)
    memory[str(path)] = (state, facts)
    write_memory(_MEMORY, dict(list(memory.items())[-_MOST_KEPT:]))
    return Outline(kind, facts)


def _facts(path: Path) -> str:
    try:
        listed, band, present = listed_runs(path)
    except (InputError, OSError) as error:
        return f"cannot be read: {error}" if isinstance(error, OSError) else str(error)
    if not listed:
        return "no run"
    from aucstudio.project.results.comparison import other_columns
    from aucstudio.project.store.project.database import DamagedError

    facts = [Path(listed[-1][1].experiment.data.path).name, runs_words(len(listed))]
    runs = [(name, record) for name, record in listed if not record.planned_splits]
    if 0 < len(runs) <= _MOST_RUNS:
        with contextlib.suppress(DamagedError):
            # A run with the present columns is preferred; others may have used a leak.
            current = [
                (name, record)
                for name, record in runs
                if present and not other_columns(name, record.experiment, "", present.schema)
            ]
            name, record = max(current or runs, key=lambda run: pauc_summary(run[1], band).value)
            part, whole = pauc_summary(record, band).value, auc_summary(record).value
            facts.append(text("best_run", run=name, part=part, band=band, whole=whole))
    return " · ".join(facts)
