"""Model cards."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from aucstudio.engine import DECLARED
from aucstudio.project.errors import InputError
from aucstudio.project.results import calibration
from aucstudio.project.results.cautions import cautions, remarks, stopped_words
from aucstudio.project.results.page import (
    Block,
    BulletList,
    Heading,
    Paragraph,
    TextTable,
    write_page,
)
from aucstudio.project.results.report import area_cells, data_lines, repeat_blocks
from aucstudio.project.results.subgroups import Subgroups, subgroups_of
from aucstudio.project.results.summary import (
    WHOLE,
    auc_summary,
    pauc_summary,
    range_notices,
    tpr_summary,
    train_auc,
)
from aucstudio.project.runs.experiments.experiment import Band
from aucstudio.project.runs.experiments.settings_shown import chosen_settings, settings_sentence
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.words import as_sentence, counted, figure_words, percent_words, range_words


def write_model_card(
    path: Path,
    name: str,
    record: RunRecord,
    band: Band,
    by: Sequence[str] = (),
    notes: str = "",
) -> None:
    """Write the card of a run's model as one HTML page, or as Markdown if the name ends in .md.

    Parameters
    ----------
    path : Path
    name : str
        What the run is called.
    record : RunRecord
        With at least one finished split.
    band : (float, float)
        False-positive range of the partial AUC.
    by : sequence of str
        Columns that define subgroups.
    notes : str
        What the analyst wrote about the run.

    Raises
    ------
    InputError
        If the file cannot be written, or a column defines no subgroups.
    """
    groups = [found for column in by for _, found in subgroups_of([(name, record)], column, band)]
    blocks = [
        *_about(name, record, notes),
        *_performance(record, band),
        *(block for found in groups for block in _subgroups(found)),
        *_calibration(record),
        *_limits(record, band),
        *repeat_blocks({name: record}),
    ]
    write_page(path, f"Model card: {name}", blocks)


def _about(name: str, record: RunRecord, notes: str) -> list[Block]:
    experiment = record.experiment
    blocks: list[Block] = [
        Heading("Model"),
        Paragraph(as_sentence(DECLARED[experiment.method].summary)),
        Paragraph(f"Settings: {settings_sentence(experiment)}{_tuned(record)}."),
        Paragraph(f"Fitted on {record.created[:10]}, AUC Studio {record.versions['aucstudio']}."),
    ]
    if notes.strip():
        blocks += [Heading("Notes"), Paragraph(notes)]
    features = [column for column, role in experiment.data.roles if role in ("number", "category")]
    split = record.splits[0]
    count = len(record.splits)
    positives = float(np.mean(np.concatenate([split.train_positive, split.test_positive])))
    return [
        *blocks,
        Heading("Data and validation"),
        Paragraph(f"Table {Path(experiment.data.path).name}. {data_lines({name: record})[0]}"),
        Paragraph(
            f"{split.n_train:,} rows to train and {split.n_test:,} held out"
            f"{f' in the first of {count} splits' if count > 1 else ''}; "
            f"{percent_words(positives)} are positive."
        ),
        Paragraph(f"{counted(len(features), 'feature')}: {', '.join(features)}.", small=True),
    ]


def _tuned(record: RunRecord) -> str:
    """Return what a search chose, where one search made the model."""
    if record.experiment.tuning is None:
        return ""
    chosen = dict(record.searches[0].chosen) if len(record.searches) == 1 else {}
    words = chosen_settings(record.experiment.method, chosen)
    return f"; tuned{f': {words}' if words else ''}"


def _performance(record: RunRecord, band: Band) -> list[Block]:
    rows = [("AUC", *area_cells(auc_summary(record)))]
    if band != WHOLE:
        rows.append((f"pAUC, FPR {range_words(band)}", *area_cells(pauc_summary(record, band))))
        rows.append((f"TPR at FPR {band[1]:g}", *area_cells(tpr_summary(record, band[1]))))
    rows.append(("AUC on the training rows", figure_words(train_auc(record)), ""))
    return [
        Heading("Performance on held-out rows"),
        TextTable(("Measure", "Estimate", "95 % interval"), rows),
    ]


def _subgroups(found: Subgroups) -> list[Block]:
    rows = [(one.level, f"{one.rows:,}", *area_cells(one.auc)) for one in found.groups]
    return [
        Heading(f"Results by {found.column}"),
        TextTable(("Subgroup", "Rows", "AUC", "95 % interval"), rows),
    ]


def _calibration(record: RunRecord) -> list[Block]:
    try:
        words = calibration.judge(record, "isotonic").sentence()
    except InputError as error:
        words = as_sentence(f"Not estimated: {error}")
    return [Heading("Calibration"), Paragraph(words)]


def _limits(record: RunRecord, band: Band) -> list[Block]:
    found = [*cautions(record), *range_notices(record, band), *remarks(record)]
    points = [point for point in (stopped_words(record), *map(str, found)) if point]
    points += [
        "The estimates hold for data drawn like these rows; other places, times or selections "
        "need a new validation.",
        "A score ranks rows. It is a probability only where the model was calibrated.",
    ]
    return [Heading("Limits"), BulletList(list(dict.fromkeys(points)))]
