"""Reports on runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from aucstudio.engine.inference import Interval
from aucstudio.project.errors import InputError
from aucstudio.project.results.comparison import AUC, PAUC, PairComparison, compare_runs
from aucstudio.project.results.documents import doubts
from aucstudio.project.results.page import (
    Block,
    BulletList,
    Code,
    Heading,
    Paragraph,
    Picture,
    TextTable,
    write_page,
)
from aucstudio.project.results.summary import (
    WHOLE,
    Summary,
    auc_summary,
    band_negatives,
    pauc_summary,
    train_auc,
)
from aucstudio.project.runs.experiments.experiment import Band, Experiment
from aucstudio.project.runs.experiments.experiment_writing import write_study
from aucstudio.project.runs.experiments.settings_shown import settings_sentence
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.words import figure_words, interval_words, p_words, range_words

_MOST_COMPARED = 8
_FEW_NEGATIVES = 20


def write_report(
    path: Path, runs: Mapping[str, RunRecord], band: Band, pictures: Mapping[str, bytes]
) -> None:
    """Write a report as one HTML page, or as Markdown if the name ends in .md.

    Parameters
    ----------
    path : Path
    runs : mapping of name to record
        Each with at least one finished split.
    band : (float, float)
        False-positive range of the partial AUC.
    pictures : mapping of caption to SVG bytes

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    file = Path(next(iter(runs.values())).experiment.data.path).name
    title = f"{file}: {len(runs)} run{'s' if len(runs) > 1 else ''}"
    blocks: list[Block] = [
        *(Paragraph(line, small=True) for line in data_lines(runs)),
        Heading("Results"),
        _results(runs, band),
        Paragraph(_explained(runs, band)),
    ]
    if points := doubts(list(runs.values()), band):
        blocks.append(BulletList(points))
    blocks += _differences(runs, band)
    if pictures:
        blocks += [Heading("Pictures"), *(Picture(*item) for item in pictures.items())]
    write_page(path, title, [*blocks, *_protocol(runs), *repeat_blocks(runs)])


def data_lines(runs: Mapping[str, RunRecord]) -> list[str]:
    """Return one line for each table, validation and weight that the runs were made with."""
    lines = []
    for record in runs.values():
        data, validation = record.experiment.data, record.experiment.validation
        weight = record.experiment.weight
        lines.append(
            f"Label {data.label}, positive class {data.positive}; {validation.describe()}; "
            f"{f'rows weighted by {weight}; ' if weight else ''}SHA-256 {data.sha256[:16]}…"
        )
    return list(dict.fromkeys(lines))


def repeat_blocks(runs: Mapping[str, RunRecord]) -> list[Block]:
    """Return the experiment files that repeat the runs; runs of one frame share a file."""
    blocks: list[Block] = [
        Heading("How to repeat it"),
        Paragraph("Save these lines as run.toml, then: aucstudio run run.toml"),
    ]
    experiments = [record.experiment for record in runs.values()]
    try:
        return [*blocks, Code(write_study(experiments, None))]
    except InputError:
        return [*blocks, *(_one_experiment(n, r.experiment) for n, r in runs.items())]


def _one_experiment(name: str, experiment: Experiment) -> Block:
    try:
        return Code(f"# {name}\n{write_study([experiment], None)}")
    except InputError as error:
        return Paragraph(f"{name}: {error}.")


def _results(runs: Mapping[str, RunRecord], band: Band) -> TextTable:
    ranges = [WHOLE] if band == WHOLE else [WHOLE, band]
    names = ["AUC" if one == WHOLE else f"pAUC, FPR {range_words(one)}" for one in ranges]
    heads = ["Run", *(head for name in names for head in (name, "95 % interval"))]
    rows = []
    for name, record in runs.items():
        areas = [auc_summary(record) if r == WHOLE else pauc_summary(record, r) for r in ranges]
        cells = [cell for area in areas for cell in area_cells(area)]
        rows.append([name, *cells, figure_words(train_auc(record)), f"{record.fit_seconds:.3g}"])
    return TextTable([*heads, "Training AUC", "Seconds per fit"], rows)


def area_cells(area: Summary | Interval) -> tuple[str, str]:
    """Return an estimate and its interval as two cells."""
    return figure_words(area.value), interval_words(area.low, area.high)


def _explained(runs: Mapping[str, RunRecord], band: Band) -> str:
    intervals = (
        "Intervals are at 95 %: from the held-out rows for one split, by the corrected "
        "resampled t statistic for several."
    )
    if band == WHOLE:
        return intervals
    negatives = min(band_negatives(record, band) for record in runs.values())
    few = ", too few to show small differences" if negatives < _FEW_NEGATIVES else ""
    return (
        f"pAUC is the area over the false-positive range {range_words(band)}, divided by the width "
        f"of the range; it is based on {negatives} held-out negatives{few}. {intervals}"
    )


def _differences(runs: Mapping[str, RunRecord], band: Band) -> list[Block]:
    """Return the tests of every pair of runs, as on Compare."""
    if len(runs) < 2:
        return []
    if len(runs) > _MOST_COMPARED:
        return [
            Paragraph(f"Pairs are compared in reports of up to {_MOST_COMPARED} runs; see Compare.")
        ]
    measure = AUC if band == WHOLE else PAUC
    pairs = compare_runs(list(runs.items()), band, measure)
    title = "AUC" if measure == AUC else f"pAUC, FPR {range_words(band)}"
    return [
        Heading(f"Differences in {title}"),
        TextTable(
            ("Pair", "Difference", "95 % interval", "Holm-corrected p"), [*map(_pair_row, pairs)]
        ),
    ]


def _pair_row(pair: PairComparison) -> tuple[str, str, str, str]:
    why = pair.refused or pair.reason or ("Identical rankings" if pair.alike else "")
    return (
        f"{pair.a} − {pair.b}",
        figure_words(pair.difference),
        interval_words(pair.low, pair.high),
        why or p_words(pair.p_corrected),
    )


def _protocol(runs: Mapping[str, RunRecord]) -> list[Block]:
    rows = []
    for name, record in runs.items():
        rows.append(
            (
                name,
                settings_sentence(record.experiment),
                ", ".join(record.experiment.preparation.differing()) or "default",
                f"{len(record.splits)}, {record.status}",
                record.created,
            )
        )
    versions = {f"{name} {number}" for r in runs.values() for name, number in r.versions.items()}
    return [
        Heading("Protocol"),
        TextTable(("Run", "Method and settings", "Preparation", "Splits", "Started"), rows, False),
        Paragraph(f"Software: {', '.join(sorted(versions))}.", small=True),
    ]
