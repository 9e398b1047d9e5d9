"""Columns used in the splits of an ensemble of trees, and their contributions."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from aucstudio.engine.scorers import EnsembleScorer
from aucstudio.gui.common.statement import Statement
from aucstudio.gui.common.whiskers import Whisker, WhiskerChart
from aucstudio.gui.pages.model.model_picture import Columns, ModelPicture, ModelSubject
from aucstudio.gui.state.session import ShownRun
from aucstudio.project.data.table import Table
from aucstudio.project.explain.trees import FeatureUse, feature_use, side_by_side
from aucstudio.project.geometry.sampling import thinned
from aucstudio.project.runs.record import RunRecord

_ROWS = 2_000


class FeatureUsePart(ModelPicture):
    """Dots are mean shares of the trees' variance over the splits, whiskers their range."""

    key: ClassVar = "use"
    title: ClassVar = "Feature use"
    tip: ClassVar = "Columns that the trees split on, and what the splits contribute"

    def __init__(self) -> None:
        self.chart = WhiskerChart("model_use_plot", "% of the variance of the trees' outputs")
        super().__init__(self.chart)
        self.found: list[FeatureUse] = []
        self._answer = self.answer(self._on_found, self.told.emit)

    def suits(self, run: ShownRun) -> bool:
        return all(_trees(split.model.scorer) > 1 for split in run.record.splits)

    def show_subject(self, subject: ModelSubject) -> None:
        self.subject = subject
        record, table = subject.run.record, subject.table
        if table is None:
            self._answer.drop()
            self.found = []
            self.chart.show_rows([], subject.run.look)
            self.told.emit("Open the table of this run to see the contributions of its trees.")
        elif self._answer.ask((record.id, record.created), lambda post: _use(record, table, post)):
            self.found = []
            self.told.emit(f"Sending the training rows through the trees of {subject.name}…")

    def _on_found(self, found: list[FeatureUse]) -> None:
        self.found = found
        self._draw()

    def _draw(self) -> None:
        subject = self.subject
        if subject is None or not self.found:
            return
        gain = 100 * np.array([use.gain for use in self.found])
        asked = np.array([use.splits for use in self.found]).mean(axis=0)
        columns, mean, several = self.found[0].columns, gain.mean(axis=0), len(gain) > 1
        rows = [
            Whisker(
                columns[c],
                float(mean[c]),
                float(gain[:, c].min()) if several else np.nan,
                float(gain[:, c].max()) if several else np.nan,
                f"{columns[c]} {mean[c]:.1f} % of the variance used in {asked[c]:,.0f} splits",
            )
            for c in np.argsort(-mean, kind="stable")
        ]
        self.chart.show_rows(rows, subject.run.look)
        first = columns.index(rows[0].name)
        idle = _idle_words(int((asked == 0).sum()), len(columns))
        headline = (
            f"{rows[0].name} contributes most to the trees of {subject.name}: "
            f"{mean[first]:.0f} % of the variance of their outputs, "
            f"{asked[first]:,.0f} of {asked.sum():,.0f} tree splits"
            f"{' on average' if several else ''}."
        )
        where = "Measured on training rows: Importance measures its value on held-out rows."
        self.told.emit(Statement.of(headline, idle, where))

    def data(self) -> Columns:
        columns = self.found[0].columns if self.found else ()
        return {
            "column": list(columns) * len(self.found),
            "split": np.repeat(np.arange(1, len(self.found) + 1), len(columns)),
            "questions": [int(count) for use in self.found for count in use.splits],
            "variance_share": [float(share) for use in self.found for share in use.gain],
        }


def _trees(scorer: object) -> int:
    return len(scorer.roots) if isinstance(scorer, EnsembleScorer) else 0


def _use(record: RunRecord, table: Table, post: Callable[[None], bool]) -> list[FeatureUse]:
    found = []
    for split in record.splits:
        scorer, preparation = split.model.scorer, split.model.preparation
        assert isinstance(scorer, EnsembleScorer)
        rows = split.train_rows[thinned(split.train_positive, _ROWS)]
        found.append(feature_use(scorer, preparation, preparation.apply(table, rows)))
        if post(None):
            break
    return side_by_side(found)


def _idle_words(idle: int, columns: int) -> str:
    if not idle:
        return "Every column is used in a split."
    return f"{idle:,} of {columns:,} columns {'is' if idle == 1 else 'are'} not used in any split."
