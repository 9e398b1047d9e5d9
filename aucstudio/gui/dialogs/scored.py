"""Score a table on a thread, and summarise its scores."""

from __future__ import annotations

import dataclasses
import math
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from aucstudio.engine import roc
from aucstudio.engine.arrays import Array, Mask
from aucstudio.engine.inference import Interval, pauc_interval
from aucstudio.gui.common.curve_figures import band_words
from aucstudio.gui.common.plots.roc_sketch import outline
from aucstudio.gui.common.rows_model import file_facts
from aucstudio.gui.common.table import Row
from aucstudio.gui.common.threshold import rates_words
from aucstudio.notices import text
from aucstudio.notices.words import figure_words, interval_words, score_words
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.results.thresholds import ThresholdFigures, counts_at
from aucstudio.project.runs.estimate import table_reader
from aucstudio.project.runs.experiment import Band
from aucstudio.project.runs.input_check import ScoringReport
from aucstudio.project.runs.model import Model
from aucstudio.project.store.scores_file import (
    AS_INPUT,
    CSV,
    PARQUET,
    PLAIN,
    Block,
    csv_sink,
    parquet_sink,
    score_into,
    scores_file,
)

Post = Callable[[Any], bool]
MakeModel = Callable[[Post], Model]

_MOST_ROWS = 100
_BINS, _MOST_DRAWN = 40, 1_000_000  # of the histogram: bars, and rows
_TAIL = 0.005  # share of the rows at either end that are in the outermost bars


@dataclasses.dataclass(frozen=True, eq=False)
class TableRanking:
    """How a table's labelled rows are ranked.

    Attributes
    ----------
    x, y : ndarray
        FPR and TPR of the visible corners of the curve.
    band : (float, float)
    pauc : Interval
        The normalised area over the band.
    threshold : float
        Of the model.
    figures : ThresholdFigures
        At the threshold.
    """

    x: Array
    y: Array
    band: Band
    pauc: Interval
    threshold: float
    figures: ThresholdFigures

    @classmethod
    def of(
        cls,
        positive: Mask,
        scores: Array,
        band: Band,
        threshold: float,
    ) -> TableRanking:
        """Compute the ranking; a million rows take about a second."""
        curve = roc.roc_curve(positive, scores)
        pauc = pauc_interval(positive, scores, *band)
        x, y = outline(curve)
        figures = ThresholdFigures.of(counts_at(curve, threshold))
        return cls(x, y, band, pauc, threshold, figures)

    def words(self) -> str:
        """Return the area in the band and the rates at the threshold, in words."""
        pauc = self.pauc
        return text(
            "ranking_of_table",
            pauc=pauc.value,
            range=band_words(self.band),
            interval=pauc.reason or f"95 % {interval_words(pauc.low, pauc.high)}",
            threshold=score_words(self.threshold),
            rates=rates_words(self.figures),
        )


@dataclasses.dataclass(frozen=True, eq=False)
class ScoreSummary:
    """What is shown of the scores of a table.

    Attributes
    ----------
    highest : tuple of Row
        The rows of the highest scores: row, identifiers, score, threshold, predicted class,
        probability; empty where the file of scores has no such column.
    classes : (str, str)
        The positive class and the other one.
    predicted : (int, int)
        Number of rows predicted to be in each.
    threshold : float
    edges : ndarray of shape (bins + 1,)
    rows : ndarray of shape (2, bins)
        Number of rows in each bin of the histogram, by predicted class; the first and the last bin
        hold the scores beyond the edges too.
    ends : (float, float)
        Lowest and highest of these scores.
    """

    highest: tuple[Row, ...]
    classes: tuple[str, str]
    predicted: tuple[int, int]
    threshold: float
    edges: Array
    rows: Array
    ends: tuple[float, float]


class SeenScores:
    """Collects what is summarised while a table is scored."""

    def __init__(self) -> None:
        self.form = PLAIN
        self._highest: list[Row] = []
        self._scores: list[Array] = []
        self._drawn = self._positives = self._rows = 0

    def add(self, block: Block) -> None:
        """Add the next rows."""
        self.form = block.form
        highest = np.argsort(-block.scores, kind="stable")[:_MOST_ROWS]
        rows = [*self._highest, *(_row(block, k) for k in highest.tolist())]
        order = np.argsort([-row.keys[2] for row in rows], kind="stable")[:_MOST_ROWS]
        self._highest = [rows[k] for k in order.tolist()]
        self._rows += len(block.scores)
        self._positives += int((block.scores > block.threshold).sum())
        drawn = block.scores[np.isfinite(block.scores)][: _MOST_DRAWN - self._drawn]
        self._scores.append(drawn)
        self._drawn += len(drawn)

    def summary(self, model: Model) -> ScoreSummary:
        """Summarise the rows, which a model has scored."""
        scores = np.concatenate([np.empty(0), *self._scores])
        low, high = np.quantile(scores, (_TAIL, 1.0 - _TAIL)) if len(scores) else (0.0, 1.0)
        half = 0.0 if high > low else 0.5  # of a bin for equal scores
        edges = np.linspace(low - half, high + half, _BINS + 1)
        sides = scores > model.threshold, scores <= model.threshold
        rows = [np.histogram(np.clip(scores[side], *edges[[0, -1]]), edges)[0] for side in sides]
        return ScoreSummary(
            tuple(self._highest),
            (model.positive, model.negative),
            (self._positives, self._rows - self._positives),
            model.threshold,
            edges,
            np.stack(rows).astype(float),
            (float(scores.min()), float(scores.max())) if len(scores) else (low, high),
        )


def _row(block: Block, k: int) -> Row:
    number, score, chances = int(block.numbers[k]), float(block.scores[k]), block.probabilities
    name = " · ".join(str(cells[k]) for cells in block.identifiers.values())
    predicted, chance = str(block.predicted[k]), math.nan if chances is None else float(chances[k])
    probability = "" if chances is None else figure_words(chance)
    words = f"{number:,}", name, score_words(score), score_words(block.threshold)
    keys = number, name, score, block.threshold, predicted, chance
    return Row((*words, predicted, probability), keys=keys)


@dataclasses.dataclass(frozen=True, eq=False)
class Scored:
    """A scored table: the model, the report, how it was read, and the files of the scores.

    ``files`` are by format, the default one first.
    """

    model: Model
    report: ScoringReport
    facts: str
    note: str
    ranking: TableRanking | None
    scores: ScoreSummary
    files: dict[str, Path]


def scoring(
    make_model: MakeModel,
    table: Path,
    identifiers: tuple[str, ...],
    folder: Path,
    band: Band,
    **more: Any,
) -> Callable[[Post], Scored]:
    """Return the work that makes the model, reads the table and scores it.

    ``more`` are arguments of :func:`~aucstudio.project.store.scores_file.score_into`.
    """

    def work(post: Post) -> Scored:
        model = make_model(lambda progress: post(progress.describe_refit()))
        reader, note = table_reader(table, None, stream=False, block_size=None)
        facts = ""

        def read(*arguments: Any, **settings: Any) -> AnyTable:
            nonlocal facts
            found = reader(*arguments, **settings)
            facts = file_facts(found)
            return found

        # A cancelled task may still write its files.
        name = secrets.token_hex(6)
        files = {kind: folder / f"{name}{kind}" for kind in (AS_INPUT, CSV, PARQUET)}
        rankings: list[TableRanking] = []
        seen = SeenScores()

        parquet = parquet_sink(files[PARQUET], identifiers, model.calibration is not None)
        own_file = scores_file(files[AS_INPUT], marked=True)
        with own_file as own, scores_file(files[CSV]) as file, parquet as to:
            report = score_into(
                [csv_sink(own, as_input=True), csv_sink(file), to, seen.add],
                model,
                table,
                identifiers=identifiers,
                read=read,
                progress=lambda done, words: post((done, words)),
                ranked=lambda positive, scores: rankings.append(
                    TableRanking.of(positive, scores, band, model.threshold)
                ),
                **more,
            )
        ignored = tuple(name for name in report.ignored if name not in identifiers)
        report = dataclasses.replace(report, ignored=ignored)
        ranking = next(iter(rankings), None)
        if seen.form == PLAIN:  # both files are the same
            files.pop(AS_INPUT).unlink()
        return Scored(model, report, facts, note, ranking, seen.summary(model), files)

    return work
