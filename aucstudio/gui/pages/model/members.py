"""Members of a combination: weights and contributions."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from aucstudio.engine.ensembles.combined import CombinationScorer, MemberShare
from aucstudio.gui.common.sentence import Statement
from aucstudio.gui.common.whiskers import Whisker, WhiskerChart
from aucstudio.gui.pages.model.model_picture import Columns, ModelPicture, ModelSubject
from aucstudio.gui.state.session import ShownRun


class MembersPart(ModelPicture[list[dict[str, MemberShare]]]):
    """Dots are mean weights over the splits; whiskers are their range."""

    key: ClassVar = "members"
    title: ClassVar = "Members"
    tip: ClassVar = "The methods of the combination, their weights and what each adds"

    def __init__(self) -> None:
        self.chart = WhiskerChart("model_members_plot", "Weight in the combination (%)")
        super().__init__(self.chart)

    def suits(self, run: ShownRun) -> bool:
        return all(_members(split.model.scorer) for split in run.record.splits)

    def ask(self) -> None:
        if self.subject is not None:
            scorers = [split.model.scorer for split in self.subject.record.splits]
            self._on_found([{m.title: m for m in _members(scorer)} for scorer in scorers])

    def draw(self, subject: ModelSubject, found: list[dict[str, MemberShare]]) -> None:
        titles = dict.fromkeys(title for members in found for title in members)
        rows = sorted((_row(found, title) for title in titles), key=lambda row: -row.value)
        self.chart.show_rows(rows, subject.run.look)
        most = rows[0]
        alone, best = max((_figures(found, title)[0], title) for title in titles)
        where = "held-out rows"
        if not subject.record.experiment.members:
            where = "rows held out within the training rows"
        self.message.emit(
            Statement.of(
                f"{most.name} has the largest weight in {subject.name}: {most.value:.0f} %.",
                f"{best} ranks best on its own: AUC {alone:.3f}.",
                f"Computed on {where}, which also chose the weights.",
            )
        )

    def data(self) -> Columns:
        found = self.found or []
        shares = [(k, m) for k, members in enumerate(found, 1) for m in members.values()]
        return {
            "split": [k for k, _ in shares],
            "member": [m.title for _, m in shares],
            "weight": [m.weight for _, m in shares],
            "auc_alone": [m.auc for _, m in shares],
            "adds": [m.adds for _, m in shares],
        }


def _row(found: list[dict[str, MemberShare]], title: str) -> Whisker:
    # A member that a split had to leave out has no weight there.
    weights = [100 * m[title].weight if title in m else 0.0 for m in found]
    mean, (auc, adds) = float(np.mean(weights)), _figures(found, title)
    low, high = (min(weights), max(weights)) if len(weights) > 1 else (np.nan, np.nan)
    tip = (
        f"{title}\n{mean:.1f} % of the weight\nAUC by itself {auc:.3f} on rows held out in "
        f"training\nwithout it the combination would lose {100 * adds:.2f} points there"
    )
    return Whisker(title, mean, low, high, tip)


def _figures(found: list[dict[str, MemberShare]], title: str) -> tuple[float, float]:
    """Return the mean AUC of a member alone, and what it adds to the combination."""
    shares = [members[title] for members in found if title in members]
    auc, adds = np.mean([[m.auc, m.adds] for m in shares], axis=0)
    return float(auc), float(adds)


def _members(scorer: object) -> tuple[MemberShare, ...]:
    return scorer.members if isinstance(scorer, CombinationScorer) else ()
