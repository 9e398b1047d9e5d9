"""Texts of the page Scores."""

from __future__ import annotations

import math

from aucstudio.gui.common.curves import band_words
from aucstudio.gui.common.sentence import Statement
from aucstudio.gui.state.session import ShownRun
from aucstudio.project.data.columns import spelled
from aucstudio.project.data.table import Table
from aucstudio.project.results.distribution import Confusion
from aucstudio.project.runs.experiments.experiment import Band
from aucstudio.project.words import class_words


def threshold_sentence(
    name: str, threshold: float, counts: Confusion, names: tuple[str, str]
) -> Statement:
    """State the errors of a run at a threshold."""
    positive, negative = map(class_words, names)
    where = "the default threshold 0," if threshold == 0 else f"threshold {number(threshold)},"
    m, n = counts.tp + counts.fn, counts.fp + counts.tn
    missed = f"{counts.fn:,} of {m:,} {positive}"
    alarms = f"{counts.fp:,} of {n:,} {negative}"
    precise = "" if math.isnan(counts.precision) else f", precision {counts.precision:.3f}"
    return Statement(
        f"At {where} {name} misses {missed} and wrongly flags {alarms}.",
        f"TPR {counts.tpr:.3f}, FPR {counts.fpr:.3f}{precise}.",
    )


def band_sentence(band: Band, scores: tuple[float, float]) -> str:
    """State the scores of an FPR range; empty for the full range."""
    low, high = _bounds(*scores)
    if low and high:
        place = f"between {low} and {high}"
    elif low or high:
        place = f"above {low}" if low else f"up to {high}"
    else:
        return ""
    return f"The FPR range {band_words(band)} lies at scores {place}."


def _bounds(low: float, high: float) -> list[str]:
    """Write both ends with equal decimals; an infinite end is empty."""
    known = [abs(end) for end in (low, high) if math.isfinite(end)]
    text = number(max(known, default=0.0))
    decimals = len(text.partition(".")[2])
    if "e" in text:
        return [number(end) if math.isfinite(end) else "" for end in (low, high)]
    ends = [f"{end:.{decimals}f}" if math.isfinite(end) else "" for end in (low, high)]
    return [end.replace("-", "−") for end in ends]


def number(value: float) -> str:
    """Write a score with four significant digits, including trailing zeros: −9.670."""
    text = f"{value:#.4g}".replace("-", "−")
    return text.rstrip(".")


def score_columns(run: ShownRun, table: Table | None) -> dict[str, list[object]]:
    """Return every held-out score of every split: run, split, class, score, row from 1.

    The identifier of each row is added if the table of the run is open and has one.
    """
    from_file = run.record.experiment.validation.scheme == "file"
    row = "test_file_row" if from_file else "row"
    data: dict[str, list[object]] = {name: [] for name in ("run", "split", "class", "score", row)}
    for k, split in enumerate(run.record.splits):
        names = split.model.negative, split.model.positive
        rows = len(split.test_rows)
        data["run"] += [run.look.name] * rows
        data["split"] += [k + 1] * rows
        data["class"] += [names[int(of)] for of in split.test_positive.tolist()]
        data["score"] += split.test_scores.tolist()
        data[row] += (split.test_rows + 1).tolist()
    schema = run.record.experiment.data.schema
    known = table is not None and table.sha256 == schema.sha256 and not from_file
    if known and table is not None and schema.identifier is not None:
        cells = spelled(table.column(schema.identifier))
        name = schema.identifier if schema.identifier not in data else f"{schema.identifier} (id)"
        data[name] = [cells[k] for split in run.record.splits for k in split.test_rows.tolist()]
    return data
