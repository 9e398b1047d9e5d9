"""Comparisons and results by subgroup as tables of a document."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from aucstudio.notices.words import figure_words, interval_words, p_words, range_words
from aucstudio.project.results.comparison import (
    CORRECTION_NAMES,
    UNCORRECTED,
    Comparison,
    PairComparison,
    RunFigures,
    WinCount,
)
from aucstudio.project.results.page import Block, Cell, Heading, Paragraph, TextTable

if TYPE_CHECKING:
    from aucstudio.project.results.subgroups import Subgroup, Subgroups
    from aucstudio.project.results.summary import Estimate
    from aucstudio.project.runs.experiments.experiment import Band

_RUN_HEADS = (
    *("Run", "AUC", "AUC low", "AUC high", "pAUC", "pAUC low", "pAUC high"),
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
        tables.append(TextTable(heads, [_pair_row(pair) for pair in found.pairs], numeric=False))
    return tables


def _run_row(run: RunFigures, standing: WinCount) -> tuple[Cell, ...]:
    areas = [x for s in (run.auc, run.pauc) for x in (s.value, s.low, s.high)]
    against = (standing.wins, standing.ties, standing.losses, standing.mean_rank)
    range_ = "" if run.trained_for is None else "{:g} to {:g}".format(*run.trained_for)
    return (run.name, *areas, run.train_auc, *against, run.fit_seconds, run.splits, range_)


def _pair_row(pair: PairComparison) -> tuple[Cell, ...]:
    p = (pair.p,) if pair.correction == UNCORRECTED else (pair.p, pair.p_corrected)
    why = str(pair.refused or pair.reason)
    return (pair.a, pair.b, pair.difference, pair.low, pair.high, *p, why)


def estimate_cells(found: Estimate) -> tuple[str, str]:
    """Return an estimate and its interval as two cells."""
    return figure_words(found.value), interval_words(found.low, found.high)


def subgroup_blocks(title: str, found: Subgroups, band: Band) -> list[Block]:
    """Return the results of a run by subgroup, the tests of equality and remarks."""
    names = ("AUC", f"pAUC, FPR {range_words(band)}", "TPR", "FPR")
    estimates = [head for name in names for head in (name, "95 % interval")]
    threshold = f"Threshold for FPR {band[1]:g}"
    heads = (found.column, "Positives", "Negatives", *estimates, threshold)
    tests = (
        f"{_equality('AUC', found.p_auc, found.silent)} "
        f"{_equality('pAUC', found.p_pauc, found.silent_pauc)} TPR and FPR are at the threshold "
        f"for FPR {band[1]:g} among all held-out negatives."
    )
    doubtful = [group.level for group in found.groups if group.notices]
    if doubtful:
        tests += (
            f" Estimated too high, with few negatives per split: pAUC of {', '.join(doubtful)}."
        )
    table = TextTable(heads, [_subgroup_row(group) for group in found.groups])
    return [Heading(title), table, Paragraph(tests)]


def _subgroup_row(group: Subgroup) -> tuple[str, ...]:
    cells = [f"{group.positives:,}", f"{group.negatives:,}"]
    for area in (group.auc, group.pauc):
        cells += [figure_words(area.value), area.reason or interval_words(area.low, area.high)]
    for rate in (group.tpr, group.fpr):
        cells += estimate_cells(rate)
    threshold = "–" if math.isnan(group.threshold) else f"{group.threshold:.4g}"
    return (group.level, *cells, threshold)


def _equality(what: str, p: float, silent: int) -> str:
    """Return the outcome of the test of equality and how many groups it leaves out."""
    if math.isnan(p):
        return f"{what}: too few rows to test whether the groups are equal."
    others = f"; {silent} with too few rows left out" if silent else ""
    return f"{what}: {p_words(p)} for equal groups{others}."
