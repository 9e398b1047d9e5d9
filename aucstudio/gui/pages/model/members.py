"""Members of a combination: weights and contributions."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from aucstudio.engine.ensembles.combined import CombinationScorer, MemberShare
from aucstudio.gui.common.statement import Statement
from aucstudio.gui.common.whiskers import Whisker, WhiskerChart
from aucstudio.gui.pages.model.model_picture import Columns, ModelPicture, ModelSubject
from aucstudio.gui.state.session import ShownRun


class MembersPart(ModelPicture):
    """Dots are mean weights over the splits, whiskers their range."""

    key: ClassVar = "members"
    title: ClassVar = "Members"
    tip: ClassVar = "The methods of the combination, their weights and what each adds"

    def __init__(self) -> None:
        self.chart = WhiskerChart("model_members_plot", "Weight in the combination (%)")
        super().__init__(self.chart)
        self.found: list[dict[str, MemberShare]] = []

    def suits(self, run: ShownRun) -> bool:
        return all(_members(split.model.scorer) for split in run.record.splits)

    def show_subject(self, subject: ModelSubject) -> None:
        self.subject = subject
        scorers = [split.model.scorer for split in subject.run.record.splits]
        self.found = [{m.title: m for m in _members(scorer)} for scorer in scorers]
        rows = sorted((self._row(title) for title in self._titles()), key=lambda row: -row.value)
        self.chart.show_rows(rows, subject.run.look)
        self.told.emit(self._statement(rows, subject))

    def _titles(self) -> list[str]:
        return [*dict.fromkeys(title for members in self.found for title in members)]

    def _row(self, title: str) -> Whisker:
        # A member that a split had to leave out has no weight there.
        weights = [100 * m[title].weight if title in m else 0.0 for m in self.found]
        mean, (auc, adds) = float(np.mean(weights)), self._figures(title)
        several = len(weights) > 1
        return Whisker(
            title,
            mean,
            min(weights) if several else np.nan,
            max(weights) if several else np.nan,
            f"{title}\n{mean:.1f} % of the weight\nAUC by itself {auc:.3f} on rows held out in "
            f"training\nwithout it the combination would lose {100 * adds:.2f} points there",
        )

    def _figures(self, title: str) -> tuple[float, float]:
        there = [members[title] for members in self.found if title in members]
        figures = np.mean([[m.auc, m.adds] for m in there], axis=0)
        return float(figures[0]), float(figures[1])

    def _statement(self, rows: list[Whisker], subject: ModelSubject) -> Statement:
        most = rows[0]
        best = max((row.name for row in rows), key=lambda title: self._figures(title)[0])
        headline = f"{most.name} has the largest weight in {subject.name}: {most.value:.0f} %."
        alone = f"{best} ranks best on its own: AUC {self._figures(best)[0]:.3f}."
        which = "held-out rows"
        if not subject.run.record.experiment.members:
            which = "rows held out within the training rows"
        where = f"Computed on {which}, which also chose the weights."
        return Statement.of(headline, alone, where)

    def data(self) -> Columns:
        shares = [(k, m) for k, members in enumerate(self.found, 1) for m in members.values()]
        return {
            "split": [k for k, _ in shares],
            "member": [m.title for _, m in shares],
            "weight": [m.weight for _, m in shares],
            "auc_alone": [m.auc for _, m in shares],
            "adds": [m.adds for _, m in shares],
        }


def _members(scorer: object) -> tuple[MemberShare, ...]:
    return scorer.members if isinstance(scorer, CombinationScorer) else ()
