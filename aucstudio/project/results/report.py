"""Reports on runs and model cards."""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from aucstudio.engine import DECLARED
from aucstudio.notices import text, texts
from aucstudio.notices.words import (
    as_sentence,
    counted,
    figure_words,
    interval_words,
    p_words,
    range_words,
    runs_words,
)
from aucstudio.project.data.validation import LEAVE_PAIR_OUT
from aucstudio.project.errors import InputError
from aucstudio.project.results.comparison import (
    AUC,
    CORRECTION_NAMES,
    PAUC,
    TPR,
    UNCORRECTED,
    Comparison,
    PairComparison,
    RunFigures,
    WinCount,
    compare_runs,
    measure_words,
    pair_headline,
    rows_words,
)
from aucstudio.project.results.documents import doubts
from aucstudio.project.results.page import (
    Block,
    BulletList,
    Cell,
    Code,
    Heading,
    Paragraph,
    Picture,
    TextTable,
    write_page,
)
from aucstudio.project.results.summary import (
    WHOLE,
    auc_summary,
    band_negatives,
    cautions,
    fit_remarks,
    part_name,
    pauc_summary,
    range_notices,
    standing,
    stopped,
    tpr_summary,
    train_auc,
    trained_elsewhere,
)
from aucstudio.project.results.thresholds import OWN, Stakes, ThresholdFigures, range_end
from aucstudio.project.runs.estimate import table_reader
from aucstudio.project.runs.experiment import Band, DataReference, Experiment
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.runs.settings_shown import chosen_settings, settings_sentence

if TYPE_CHECKING:
    from aucstudio.project.data.table import Table
    from aucstudio.project.results.subgroups import Subgroup, Subgroups
    from aucstudio.project.results.summary import Estimate


_MOST_COMPARED, _MOST_FINDINGS = 8, 20
_FEW_NEGATIVES = 20


def write_report(
    path: Path,
    runs: Mapping[str, RunRecord],
    band: Band,
    pictures: Mapping[str, bytes],
    table: Table | None = None,
    more: Sequence[Block] = (),
) -> None:
    """Write a report as one HTML page, or as Markdown if the name ends in .md.

    Parameters
    ----------
    path : Path
    runs : mapping of name to record
        Those without a finished split are only named.
    band : (float, float)
        False-positive range of the partial AUC.
    pictures : mapping of caption to SVG bytes
    table : Table, optional
        The table of the runs, whose findings are reported; columns that reveal the label also with
        the runs that used them. Read again if not given.
    more : sequence of Block
        Further results, shown before the pictures.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    unfinished = [name for name, record in runs.items() if not record.splits]
    runs = {name: record for name, record in runs.items() if record.splits}
    figures = {name: pauc_summary(record, band).value for name, record in runs.items()}
    best_first = sorted(runs.items(), key=lambda run: standing(run[1], figures[run[0]]))
    given, runs = runs, dict(best_first)
    table = table or _read_again(best_first[0][1].experiment.data)
    pairs, file = _pairs(runs, band), Path(best_first[0][1].experiment.data.path).name
    title = f"{file}: {runs_words(len(runs))}"
    blocks: list[Block] = [
        *_conclusion(runs, pairs, band),
        *(Paragraph(line, small=True) for line in data_lines(runs)),
        *_findings(runs, table),
        Heading("Results"),
        _results(runs, band),
        Paragraph(_explained(runs, band)),
    ]
    points = [*texts(doubts(list(runs.values()), band)), *_remarks(runs, band, table)]
    points += [text("report_unfinished", run=name) for name in unfinished]
    if points:
        blocks.append(BulletList(points))
    blocks += [*_differences(runs, pairs, band), *_counts(runs, band), *more]
    if pictures:
        blocks += [Heading("Pictures"), *(Picture(*item) for item in pictures.items())]
    write_page(path, title, [*blocks, *_protocol(runs), *_repeat_blocks(given)])


def data_lines(runs: Mapping[str, RunRecord]) -> list[str]:
    """Return one line for each table, validation and weight that the runs were made with."""
    lines = []
    for record in runs.values():
        data, validation = record.experiment.data, record.experiment.validation
        weight = record.experiment.weight
        how = {"validation": validation.describe(), "weight": weight, "digest": data.sha256[:16]}
        read = {"label": data.label, "positive": data.positive, "groups": data.groups}
        lines.append(text("report_data", ignored=data.ignored, **read, **how))
    return list(dict.fromkeys(lines))


def _repeat_blocks(runs: Mapping[str, RunRecord]) -> list[Block]:
    """Return the experiment files that repeat the runs; runs of one frame share a file."""
    from aucstudio.project.runs.experiment_file import write_study

    blocks: list[Block] = [
        Heading("How to repeat it"),
        Paragraph(text("report_repeat")),
    ]
    experiments = [record.experiment for record in runs.values()]
    try:
        return [*blocks, Code(write_study(experiments, None))]
    except InputError:
        return [*blocks, *(_one_experiment(n, r.experiment) for n, r in runs.items())]


def _one_experiment(name: str, experiment: Experiment) -> Block:
    from aucstudio.project.runs.experiment_file import write_study

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
        cells = [cell for one in ranges for cell in estimate_cells(pauc_summary(record, one))]
        rows.append([name, *cells, figure_words(train_auc(record)), f"{record.fit_seconds:.3g}"])
    return TextTable([*heads, "Training AUC", "Seconds per fit"], rows)


def _explained(runs: Mapping[str, RunRecord], band: Band) -> str:
    """Explain the figures: what the partial AUC rests on, and how the intervals were computed."""
    about = ""
    if band != WHOLE:
        about = f"{_pauc_words(runs, band)} "
    return about + intervals_named([*runs.values()], band)


def intervals_named(records: Sequence[RunRecord], band: Band) -> str:
    """State how the intervals of both areas were computed; empty if there is none."""
    areas = {"AUC": [auc_summary(record) for record in records]}
    if band != WHOLE:
        areas["pAUC"] = [pauc_summary(record, band) for record in records]
    by_ways: dict[str, list[str]] = {}
    for area, found in areas.items():
        if known := _interval_ways(found):
            by_ways.setdefault(" or ".join(known), []).append(area)
    ways = [text("interval_way", areas=names, ways=way) for way, names in by_ways.items()]
    groups = {column: None for record in records for column in record.experiment.data.groups}
    return text("report_intervals", ways="; ".join(ways), groups=list(groups)) if ways else ""


def _pauc_words(runs: Mapping[str, RunRecord], band: Band) -> str:
    """Explain the partial AUC with the negatives that it is based on, by validation."""
    by_validation: dict[str, list[tuple[int, str]]] = {}
    for record in runs.values():
        found = band_negatives(record, band), part_name(record)
        by_validation.setdefault(record.experiment.validation.describe(), []).append(found)
    fewest = {how: min(found) for how, found in by_validation.items()}
    counts = [
        text("report_negatives", negatives=k, each=each, validation=how * (len(fewest) > 1))
        for how, (k, each) in fewest.items()
    ]
    few = min(k for k, _ in fewest.values()) < _FEW_NEGATIVES
    return text("report_pauc", band=band, counts=counts, few=few)


# How an interval was computed, by words in what the engine calls it; the first that fits.
_WAYS = {
    "exact": "interval_exact",
    "resampled": "interval_splits",
    "DeLong": "interval_delong",
    "placements": "interval_components",
    "order statistics, mean": "interval_folds_drawn",
    "order statistics": "interval_drawn",
    "mean of folds": "interval_folds",
}


def _interval_ways(found: Sequence[Estimate]) -> list[str]:
    """Return in words how the intervals of an area were computed, each way once."""
    codes = [
        next((code for words, code in _WAYS.items() if words in area.method), "")
        for area in found
        if area.known
    ]
    return [text(code) for code in dict.fromkeys(filter(None, codes))]


def _remarks(runs: Mapping[str, RunRecord], band: Band, table: Table | None) -> list[str]:
    """Return what runs report, each sentence once, with the names of its runs unless all do."""
    from aucstudio.project.results.leaks import leaks_used

    by_sentence, known = dict[str, list[str]](), functools.cache(leaks_used)
    for name, record in runs.items():
        notices = [*known(record.experiment.data, table), *stopped(record), *cautions(record)]
        notices += [*trained_elsewhere(record, band), *fit_remarks(record)]
        for sentence in texts(notices):
            by_sentence.setdefault(sentence, []).append(name)
    return [
        sentence if len(names) == len(runs) else f"{', '.join(names)}: {sentence}"
        for sentence, names in by_sentence.items()
    ]


Pairs = Mapping[str, Sequence[PairComparison]]


def _pairs(runs: Mapping[str, RunRecord], band: Band) -> Pairs:
    """Return the tests of every pair of runs by measure, as on Compare; none of many runs."""
    if not 2 <= len(runs) <= _MOST_COMPARED:
        return {}
    measures = [AUC] if band == WHOLE else [PAUC, TPR]
    return {one: compare_runs(list(runs.items()), band, one) for one in measures}


def _conclusion(runs: Mapping[str, RunRecord], found: Pairs, band: Band) -> list[Block]:
    """Return the sentence of Compare on the two best runs that can be compared."""
    measure, pairs = next(iter(found.items()), ("", ()))
    pair = next((pair for pair in pairs if not pair.refused), None)
    if pair is None:
        return []
    words = measure_words(measure, band), rows_words(runs[pair.a])
    return [Paragraph(pair_headline(pair, *words))]


def _read_again(data: DataReference) -> Table | None:
    """Return the table of a run; None if it is gone, has changed or does not fit in memory."""
    with contextlib.suppress(InputError):
        if not table_reader(data.path, None, stream=False, block_size=None)[1]:
            return data.without_scores().open()
    return None


def _findings(runs: Mapping[str, RunRecord], table: Table | None) -> list[Block]:
    """Return the findings about the data of the runs, the weightiest first."""
    from aucstudio.project.data.findings.find import find

    digests = {record.experiment.data.sha256 for record in runs.values()}
    found = find(table) if table is not None and table.sha256 in digests else ()
    said = [as_sentence(one.sentence) for one in found[:_MOST_FINDINGS]]
    return [Heading("Data"), BulletList(said)] if said else []


def _differences(runs: Mapping[str, RunRecord], found: Pairs, band: Band) -> list[Block]:
    """Return the tests as tables."""
    if len(runs) > _MOST_COMPARED:
        return [Paragraph(text("report_many_runs", most=_MOST_COMPARED))]
    heads = "Pair", "Difference", "95 % interval", "Holm-corrected p"
    blocks: list[Block] = []
    for measure, pairs in found.items():
        of_several = {len(runs[pair.a].splits) > 1 for pair in pairs if not pair.refused}
        ways = {"single": False in of_several, "several": True in of_several}
        tests = text("report_tests", **ways, both=all(ways.values()), measure=measure)
        blocks += [
            Heading(f"Differences: {measure_words(measure, band)}"),
            TextTable(heads, [*map(_pair_row, pairs)]),
            *([Paragraph(tests)] if of_several else []),
        ]
    # They are the same for every measure.
    apart = " ".join(texts(one for pair in next(iter(found.values()), ()) for one in pair.notices))
    return [*blocks, Paragraph(apart)] if apart else blocks


def _pair_row(pair: PairComparison) -> tuple[str, str, str, str]:
    why = str(pair.refused or pair.reason) or ("Identical rankings" if pair.alike else "")
    return (
        f"{pair.a} − {pair.b}",
        figure_words(pair.difference),
        interval_words(pair.low, pair.high),
        why or p_words(pair.p_corrected),
    )


def _counts(runs: Mapping[str, RunRecord], band: Band) -> list[Block]:
    """Return the confusion matrices at the ends of the ranges; none for the whole curve."""
    rows: list[tuple[Cell, ...]] = []
    for name, record in runs.items():
        target = range_end(record, band)
        if target.rule == OWN or record.experiment.validation.scheme == LEAVE_PAIR_OUT:
            continue
        found = ThresholdFigures.of_run(record, target, Stakes())
        counts = (f"{getattr(found.counts, key):,}" for key in ("tp", "fn", "fp", "tn"))
        rates = (figure_words(rate.value) for rate in (found.fpr, found.precision))
        cells = (*counts, *estimate_cells(found.tpr), *rates)
        rows.append((name, f"{target.value:g}", *cells))
    if not rows:
        return []
    heads = "Run", "FPR at most", "TP", "FN", "FP", "TN", "TPR", "95 % interval", "FPR", "Precision"
    several = any(len(record.splits) > 1 for record in runs.values())
    about = Paragraph(text("report_counts", several=several))
    return [Heading("Counts at the end of the FPR range"), TextTable(heads, rows), about]


def _protocol(runs: Mapping[str, RunRecord]) -> list[Block]:
    rows = []
    for name, record in runs.items():
        rows.append(
            (
                name,
                _method_words(record, runs.values()),
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


def _method_words(record: RunRecord, runs: Iterable[RunRecord]) -> str:
    """Return the settings of a run, the range it was trained for and the columns it lacks."""
    parts = [settings_sentence(record.experiment)]
    if record.widened:
        parts.append(text("report_trained_for", used=max(record.widened)))
    used = _features(record)
    digest = record.experiment.data.sha256
    others = [_features(one) for one in runs if one.experiment.data.sha256 == digest]
    known = dict.fromkeys(itertools.chain.from_iterable(others))
    if absent := [column for column in known if column not in used]:
        parts.append(text("report_columns_absent", columns=absent))
    return "; ".join(parts)


def _features(record: RunRecord) -> list[str]:
    roles = record.experiment.data.roles
    return [column for column, role in roles if role in ("number", "category")]


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
    from aucstudio.project.results.subgroups import subgroups_of

    groups = [found for column in by for _, found in subgroups_of([(name, record)], column, band)]
    by_group = [subgroup_blocks(f"Results by {one.column}", one, band) for one in groups]
    blocks = [
        *_about(name, record, notes),
        *_performance(record, band),
        *_counts({name: record}, band),
        *itertools.chain.from_iterable(by_group),
        *_calibration(record),
        *_limits(record, band),
        *_repeat_blocks({name: record}),
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
    features = _features(record)
    split = record.splits[0]
    count = len(record.splits)
    positives = float(np.mean(np.concatenate([split.train_positive, split.test_positive])))
    return [
        *blocks,
        Heading("Data and validation"),
        Paragraph(f"Table {Path(experiment.data.path).name}. {data_lines({name: record})[0]}"),
        Paragraph(
            text(
                "report_rows",
                train=split.n_train,
                test=split.n_test,
                splits=count if count > 1 else None,
                share=positives,
            )
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
    rows = [("AUC", *estimate_cells(auc_summary(record)))]
    if band != WHOLE:
        rows.append((f"pAUC, FPR {range_words(band)}", *estimate_cells(pauc_summary(record, band))))
        rows.append((f"TPR at FPR {band[1]:g}", *estimate_cells(tpr_summary(record, band[1]))))
    rows.append(("AUC on the training rows", figure_words(train_auc(record)), ""))
    return [
        Heading("Performance on held-out rows"),
        TextTable(("Measure", "Estimate", "95 % interval"), rows),
    ]


def _calibration(record: RunRecord) -> list[Block]:
    from aucstudio.project.results.calibration import estimate_calibration

    try:
        words = estimate_calibration(record, "isotonic").sentence()
    except InputError as error:
        words = as_sentence(f"Not estimated: {error}")
    return [Heading("Calibration"), Paragraph(words)]


def _limits(record: RunRecord, band: Band) -> list[Block]:
    found = [
        *stopped(record),
        *cautions(record),
        *range_notices(record, band),
        *fit_remarks(record),
    ]
    return [Heading("Limits"), BulletList([*texts(found), *text("report_limits").splitlines()])]


_RUN_HEADS = (
    *("Run", "AUC", "AUC low", "AUC high", "pAUC", "pAUC low", "pAUC high"),
    *("TPR", "TPR low", "TPR high"),
    *("Training AUC", "Wins", "Ties", "Losses", "Mean rank"),
    *("Seconds per fit", "Splits", "Trained for FPR"),
)


def comparison_tables(found: Comparison) -> list[TextTable]:
    """Return a table with a row for each run and, if there are pairs, one with a row for each."""
    rows = [_run_row(*row) for row in zip(found.runs, found.standings(), strict=True)]
    heads: tuple[str, ...] = _RUN_HEADS
    if any(run.weight for run in found.runs):
        heads = (*heads, "Weighted by")
        rows = [(*row, run.weight) for row, run in zip(rows, found.runs, strict=True)]
    tables = [TextTable(heads, rows, numeric=False)]
    if found.pairs:
        correction = found.pairs[0].correction
        p_heads = (f"{CORRECTION_NAMES[correction]}-corrected p",) * (correction != UNCORRECTED)
        heads = ("A", "B", "A - B", "Low", "High", "p", *p_heads, "Note")
        tables.append(TextTable(heads, [_pair_cells(pair) for pair in found.pairs], numeric=False))
    return tables


def _run_row(run: RunFigures, standing: WinCount) -> tuple[Cell, ...]:
    areas = [x for s in (run.auc, run.pauc, run.tpr) for x in (s.value, s.low, s.high)]
    against = (standing.wins, standing.ties, standing.losses, standing.mean_rank)
    range_ = "" if run.trained_for is None else "{:g} to {:g}".format(*run.trained_for)
    return (run.name, *areas, run.train_auc, *against, run.fit_seconds, run.splits, range_)


def _pair_cells(pair: PairComparison) -> tuple[Cell, ...]:
    p = (pair.p,) if pair.correction == UNCORRECTED else (pair.p, pair.p_corrected)
    why = " ".join(filter(None, (str(pair.refused or pair.reason), *texts(pair.notices))))
    return (pair.a, pair.b, pair.difference, pair.low, pair.high, *p, why)


def estimate_cells(found: Estimate) -> tuple[str, str]:
    """Return an estimate and its interval as two cells."""
    return figure_words(found.value), interval_words(*found.bounds)


def subgroup_blocks(title: str, found: Subgroups, band: Band) -> list[Block]:
    """Return the results of a run by subgroup, the tests of equality and remarks."""
    names = ("AUC", f"pAUC, FPR {range_words(band)}", "TPR", "FPR")
    estimates = [head for name in names for head in (name, "95 % interval")]
    threshold = f"Threshold for FPR {band[1]:g}"
    heads = (found.column, "Positives", "Negatives", *estimates, threshold)
    tests = text(
        "subgroup_tests",
        auc=_equality("AUC", found.p_auc, found.silent),
        pauc=_equality("pAUC", found.p_pauc, found.silent_pauc),
        fpr=band[1],
        doubtful=", ".join(group.level for group in found.groups if group.notices),
    )
    table = TextTable(heads, [_subgroup_row(group) for group in found.groups])
    return [Heading(title), table, Paragraph(tests)]


def _subgroup_row(group: Subgroup) -> tuple[str, ...]:
    cells = [f"{group.positives:,}", f"{group.negatives:,}"]
    for found in (group.auc, group.pauc, group.tpr, group.fpr):
        cells += [figure_words(found.value), found.reason or interval_words(*found.bounds)]
    threshold = "–" if math.isnan(group.threshold) else f"{group.threshold:.4g}"
    return (group.level, *cells, threshold)


def _equality(what: str, p: float, silent: int) -> str:
    """Return the outcome of the test of equality and how many groups it leaves out."""
    if math.isnan(p):
        return text("groups_untested", what=what)
    return text("groups_tested", what=what, p=p, left_out=silent or None)
