"""Columns used in the splits of an ensemble of trees, and their contributions."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from aucstudio.engine.scorers import EnsembleScorer
from aucstudio.gui.common.sentence import Statement
from aucstudio.gui.common.whiskers import Whisker, WhiskerChart
from aucstudio.gui.pages.model.model_picture import Columns, ModelPicture, ModelSubject, Post
from aucstudio.gui.state.background import Work
from aucstudio.gui.state.session import ShownRun
from aucstudio.project.data.table import Table
from aucstudio.project.explain.trees import FeatureUse, feature_use, side_by_side
from aucstudio.project.geometry.planes import thinned
from aucstudio.project.runs.record import RunRecord

_ROWS = 2_000


class FeatureUsePart(ModelPicture[list[FeatureUse]]):
    """Dots are mean shares of the trees' variance over the splits; whiskers are their range."""

    key: ClassVar = "use"
    title: ClassVar = "Feature use"
    tip: ClassVar = "Columns that the trees split on, and what the splits contribute"
    table_shows: ClassVar = "see the contributions of its trees"

    def __init__(self) -> None:
        self.chart = WhiskerChart("model_use_plot", "% of the variance of the trees' outputs")
        super().__init__(self.chart)

    def suits(self, run: ShownRun) -> bool:
        return all(_trees(split.model.scorer) > 1 for split in run.record.splits)

    def work(self, subject: ModelSubject) -> tuple[Work[list[FeatureUse]], str]:
        record, table = subject.record, subject.table
        assert table is not None
        sentence = f"Sending the training rows through the trees of {subject.name}…"
        return lambda post: _use(record, table, post), sentence

    def draw(self, subject: ModelSubject, found: list[FeatureUse]) -> None:
        gain = 100 * np.array([use.gain for use in found])
        counts = np.array([use.splits for use in found]).mean(axis=0)
        columns, mean = found[0].columns, gain.mean(axis=0)
        several = len(gain) > 1
        low, high = (gain.min(axis=0), gain.max(axis=0)) if several else 2 * [mean * np.nan]
        order = np.argsort(-mean, kind="stable").tolist()
        rows = [
            Whisker(
                columns[c],
                float(mean[c]),
                float(low[c]),
                float(high[c]),
                f"{columns[c]} {mean[c]:.1f} % of the variance used in {counts[c]:,.0f} splits",
            )
            for c in order
        ]
        self.chart.show_rows(rows, subject.run.look)
        first, idle = order[0], int((counts == 0).sum())
        unused = f"{idle:,} of {len(columns):,} columns {'is' if idle == 1 else 'are'} not used"
        self.message.emit(
            Statement.of(
                f"{columns[first]} contributes most to the trees of {subject.name}: "
                f"{mean[first]:.0f} % of the variance of their outputs, "
                f"{counts[first]:,.0f} of {counts.sum():,.0f} tree splits"
                f"{' on average' if several else ''}.",
                f"{unused} in any split." if idle else "Every column is used in a split.",
                "Measured on training rows: Importance measures its value on held-out rows.",
            )
        )

    def data(self) -> Columns:
        found = self.found or []
        columns = found[0].columns if found else ()
        return {
            "column": list(columns) * len(found),
            "split": np.repeat(np.arange(1, len(found) + 1), len(columns)),
            "questions": [int(count) for use in found for count in use.splits],
            "variance_share": [float(share) for use in found for share in use.gain],
        }


def _trees(scorer: object) -> int:
    return len(scorer.roots) if isinstance(scorer, EnsembleScorer) else 0


def _use(record: RunRecord, table: Table, post: Post) -> list[FeatureUse]:
    found = []
    for split in record.splits:
        scorer, preparation = split.model.scorer, split.model.preparation
        assert isinstance(scorer, EnsembleScorer)
        rows = split.train_rows[thinned(split.train_positive, _ROWS)]
        found.append(feature_use(scorer, preparation, preparation.apply(table, rows)))
        if post(None):
            break
    return side_by_side(found)
