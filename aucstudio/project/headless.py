"""Runs without a window: what the command line and the demo share."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from aucstudio.engine import METHODS
from aucstudio.engine.params import declared_params
from aucstudio.engine.roc import ThresholdRule
from aucstudio.project.comparison import AUC, PAUC, compare_runs
from aucstudio.project.errors import InputError
from aucstudio.project.execute import refit
from aucstudio.project.experiment import (
    Band,
    DataReference,
    Experiment,
    check_size,
    plan_experiment,
)
from aucstudio.project.job import RunJob, run_job
from aucstudio.project.model import Model
from aucstudio.project.record import RunRecord
from aucstudio.project.split import LEAVE_PAIR_OUT, Validation
from aucstudio.project.storage import ProjectFile
from aucstudio.project.stream import StreamedTable
from aucstudio.project.stream_plan import check_stream
from aucstudio.project.stream_rows import scores_of
from aucstudio.project.summary import auc_summary, pauc_summary, run_as_json
from aucstudio.project.table import Table, read_table
from aucstudio.project.tuning import METRICS, Search, Tuning, settings_words
from aucstudio.project.watch import Elsewhere, Progress
from aucstudio.project.workers import Workers

Bar = Callable[[float | None, str], None]

_POLL_SECONDS = 0.05


@dataclasses.dataclass(frozen=True, eq=False)
class Plan:
    """An experiment with its tables in memory."""

    experiment: Experiment
    table: Table
    test_table: Table | None


def plan_run(
    data: str | Path,
    method: str,
    assignments: Sequence[str],
    *,
    label: str | None = None,
    positive: str | None = None,
    ignore: Sequence[str] = (),
    validation: Validation,
    band: Band,
    tuning: Tuning | None = None,
    read: Callable[..., Table] = read_table,
) -> Plan:
    """Read the tables and check everything before anything is trained.

    Parameters
    ----------
    assignments : sequence of "NAME=VALUE"
    read : callable
        What reads the table, or opens one that stays on disk.

    Raises
    ------
    InputError, InvalidSetting
    """
    settings = read_settings(method, assignments, band)
    table = read(data, label=label, positive=positive, ignore=ignore)
    data_reference = DataReference.to_table(table)
    experiment = plan_experiment(data_reference, method, settings, validation, band, tuning)
    if isinstance(table, StreamedTable):
        check_stream(experiment)
    else:
        check_size(experiment, table)
    return Plan(experiment, table, read_test_table(experiment))


def read_settings(method: str, assignments: Sequence[str], band: Band) -> dict[str, Any]:
    """Read settings as a command line gives them; a method's own range follows the band."""
    if method not in METHODS:
        raise InputError(
            f"unknown method {method!r}; there are " + ", ".join(METHODS), setting="method"
        )
    known = declared_params(METHODS[method])
    settings: dict[str, Any] = {"fpr_range": band} if "fpr_range" in known else {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals:
            raise InputError(f"--set takes NAME=VALUE; it is {assignment!r}", setting=name)
        if name not in known:
            raise InputError(
                f"{method} has no setting {name!r}; it has " + ", ".join(known), setting=name
            )
        settings[name] = known[name].parse(text)
    return settings


def read_test_table(experiment: Experiment) -> Table | None:
    """Read the test file of the scheme ``"file"``; None for other schemes."""
    if experiment.validation.scheme != "file":
        return None
    data = experiment.data
    table = read_table(experiment.validation.test_file, label=data.label, positive=data.positive)
    table.require_two_classes()
    return table


def run(plan: Plan, project: str | None = None, bar: Bar | None = None) -> RunRecord:
    """Run a plan to its record, on a thread that an interrupt can leave.

    Parameters
    ----------
    project : str, optional
        Project file to add the run to; made if it is not there.
    bar : callable, optional
        Told the fraction done and a few words.
    """
    file = None if project is None else open_or_create(project)
    job = run_job(plan.experiment, plan.table, plan.test_table, file)
    job.start()
    while not job.ended:
        try:
            job.wait(_POLL_SECONDS)
            _show(job, bar)
        except KeyboardInterrupt:
            job.stop()
    _show(job, bar)
    if job.error is not None:
        raise job.error
    if job.result is None:
        raise RuntimeError("the job ended without a record")
    if job.result.unsaved:
        raise InputError(job.result.unsaved, file=project)
    return job.result.record


def open_or_create(project: str | Path) -> ProjectFile:
    """Open a project file, or make it if it is not there."""
    path = Path(project)
    return ProjectFile.open(path) if path.exists() else ProjectFile.create(path)


def _show(job: RunJob, bar: Bar | None) -> None:
    messages = job.drain()
    if bar is not None and messages:
        bar(*progress_words(messages[-1]))
    if bar is not None and job.ended:
        bar(1.0, "")


def progress_words(
    progress: Progress, names: Mapping[str, str] | None = None
) -> tuple[float | None, str]:
    """Give the fraction of a run that is done, and what it is doing.

    ``names`` are other words for the settings.
    """
    if progress.elsewhere is not None:
        far = progress.elsewhere
        return far.fraction, elsewhere_words(far, progress.splits, progress.search, names)
    place = f"split {progress.split + 1} of {progress.splits}" if progress.splits > 1 else ""
    if progress.search is not None:
        done = (progress.split + progress.search.judged) / progress.splits
        return done, ", ".join(filter(None, (place, search_words(progress.search, names))))
    step = progress.step
    if step is None:
        return (progress.split + 1) / progress.splits, place
    known = step.fraction is not None and step.iteration > 0
    inside = step.fraction if known and step.fraction is not None else 0.0
    words = f"iteration {step.iteration}" if step.iteration else step.stage
    fraction = (progress.split + inside) / progress.splits
    certain = known or progress.splits > 1
    return fraction if certain else None, ", ".join(filter(None, (place, words)))


def elsewhere_words(
    far: Elsewhere,
    splits: int,
    search: Search | None = None,
    names: Mapping[str, str] | None = None,
) -> str:
    """Say how far workers are with so many splits, and where they are."""
    done = f"{far.finished} of {splits} splits" if splits > 1 else ""
    searching = search is not None and search.judged < 1.0
    tuning = search_words(search, names) if search is not None and searching else ""
    doing = ", ".join(filter(None, (done, tuning))) or "training"
    return f"{doing} {far.where}"


def search_words(search: Search, names: Mapping[str, str] | None = None) -> str:
    """Say how far a search is, and what leads."""
    words = f"tuning: {search.judged:.0%} of {len(search.candidates)} candidates"
    leader = search.leader
    if leader is None:
        return words
    return f"{words}, best so far {settings_words(search.candidates[leader], names)}"


def search_result(search: Search, names: Mapping[str, str] | None = None) -> str:
    """Say in a line what a search chose; ``names`` are other words for the settings."""
    best = search.best
    if best is None:
        return "the search was not finished"
    mean, error = search.means[best], search.errors[best]
    spread = f" ± {error:.3f}" if np.isfinite(error) else ""
    return (
        f"{settings_words(search.candidates[best], names)}, best of {len(search.candidates)}: "
        f"{METRICS[search.metric]} {mean:.3f}{spread}"
    )


def take_model(plan: Plan, record: RunRecord, rule: ThresholdRule | None = None) -> Model:
    """Give the model to take away.

    The model that was validated, where there is one; after several splits there is none, and
    the method is trained once more on all labelled rows. A threshold is chosen on held-out rows
    in the first case, on the training rows in the second.
    """
    if len(record.splits) == 1:
        return validated_model(record, 0, rule)
    return rethresholded(refit(plan.experiment, plan.table), plan.table, rule)


def validated_model(record: RunRecord, split: int, rule: ThresholdRule | None) -> Model:
    """Give a model of a run, with its threshold moved on its held-out rows if there is a rule.

    With leave-pair-out no row is held out from the model itself: its training rows decide.
    """
    result = record.splits[split]
    if rule is None:
        return result.model
    if record.experiment.validation.scheme == LEAVE_PAIR_OUT:
        rows = result.train_positive, result.train_scores, "the training rows"
    else:
        rows = result.test_positive, result.test_scores, "the held-out rows"
    return result.model.with_threshold(rule, *rows)


def rethresholded(model: Model, table: Table, rule: ThresholdRule | None) -> Model:
    """Move the threshold of a model on the labelled rows of a table, if there is a rule."""
    if rule is None:
        return model
    scores = scores_of(model, table)[table.labelled()]
    return model.with_threshold(rule, table.is_positive(), scores, "the training rows")


def result_document(
    table: Table, records: Sequence[RunRecord], band: Band, model: str | None = None
) -> dict[str, Any]:
    """Give what ``train --json`` prints."""
    positives = int(table.is_positive().sum())
    return {
        "data": {
            "file": str(table.path),
            "rows": table.rows,
            "features": len(table.features),
            "label": table.label,
            "positive": table.positive,
            "positives": positives,
            "unlabelled": table.unlabelled,
            "rejected_rows": table.rejected_rows,
            "sha256": table.sha256,
        },
        "runs": [run_as_json(record, band, model) for record in records],
    }


def results_table(records: Sequence[RunRecord], band: Band) -> str:
    """Lay out the figures of runs as text."""
    title = f"pAUC [{band[0]:g}, {band[1]:g}]"
    rows = [("method", "AUC", "95 % interval", title, "95 % interval", "s per fit")]
    for record in records:
        area, part = auc_summary(record), pauc_summary(record, band)
        rows.append(
            (
                record.experiment.title,
                f"{area.value:.4f}",
                f"{area.low:.3f} … {area.high:.3f}",
                f"{part.value:.4f}",
                f"{part.low:.3f} … {part.high:.3f}",
                f"{record.fit_seconds:.3g}",
            )
        )
    widths = np.array([[len(cell) for cell in row] for row in rows]).max(axis=0)
    lines = [
        "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def named_runs(project: str | Path) -> tuple[list[tuple[str, RunRecord]], Band]:
    """Read the listed runs of a project that have results, by the names they go by.

    Raises
    ------
    InputError
        If it is no project.
    """
    file = ProjectFile.open(project)
    window = file.plan().get("window", {})
    looks = window.get("looks", {})
    named = []
    for record in file.runs():
        look = looks.get(record.id, {})
        if record.splits and not look.get("removed"):
            experiment = record.experiment
            name = experiment.name or f"{experiment.title} {record.id}"
            named.append((look.get("name") or name, record))
    if "band" in window:
        return named, (float(window["band"][0]), float(window["band"][1]))
    return named, named[-1][1].experiment.band if named else (0.0, 0.1)


def comparison_document(
    named: Sequence[tuple[str, RunRecord]], band: Band, workers: Workers | None = None
) -> dict[str, Any]:
    """Give the runs with their figures, and every pair of them with its tests, as plain data."""
    pairs = {
        measure: [pair.as_json() for pair in compare_runs(named, band, measure, workers=workers)]
        for measure in (AUC, PAUC)
    }
    runs = [{"name": name, **run_as_json(record, band)} for name, record in named]
    return {"fpr_range": list(band), "runs": runs, "pairs": pairs}


def command_line(experiment: Experiment) -> str:
    """Write the command that repeats an experiment."""
    known = declared_params(METHODS[experiment.method])
    data, validation = experiment.data, experiment.validation
    words = ["aucstudio", "train", data.path, "--method", experiment.method]
    for name, value in experiment.params.items():
        if known[name].matters(experiment.params) and value != known[name].default:
            words += ["--set", f"{name}={known[name].spell(value)}"]
    words += ["--label", data.label, "--positive", data.positive]
    for name, role in data.roles:
        if role == "ignore":
            words += ["--ignore", name]
    if validation.scheme == "folds":
        words += ["--folds", str(validation.folds)]
    elif validation.scheme == "file":
        words += ["--test-file", validation.test_file]
    elif validation.scheme == LEAVE_PAIR_OUT:
        words += ["--leave-pair-out"]
    else:
        words += ["--test-size", f"{validation.test_size:g}"]
    if experiment.tuning is not None:
        words += ["--tune", experiment.tuning.metric]
    words += ["--repeats", str(validation.repeats), "--seed", str(validation.seed)]
    words += ["--fpr-range", f"{experiment.band[0]:g},{experiment.band[1]:g}"]
    return shlex.join(words)
