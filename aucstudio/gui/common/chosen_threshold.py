"""A threshold that was chosen, as it is shown: what was asked, where that lies, what it does."""

from __future__ import annotations

import dataclasses

from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.project.results.choosing import TYPED, Choice, Target, ThresholdFigures, choose
from aucstudio.project.results.distribution import Confusion
from aucstudio.project.results.operating import amount_words
from aucstudio.project.words import figure_words, interval_words


@dataclasses.dataclass(frozen=True)
class Chosen:
    """What a chooser shows.

    Attributes
    ----------
    target : Target
    choice : Choice
        What that comes to on the rows at hand.
    figures : ThresholdFigures
    names : (str, str)
        Of the positive and the negative class.
    where : str
        What the rows are, where that has to be said.
    """

    target: Target
    choice: Choice
    figures: ThresholdFigures
    names: tuple[str, str]
    where: str = ""

    @classmethod
    def of_focus(cls, session: Session, run: ShownRun, split: int, counts: Confusion) -> Chosen:
        """Return what is pointed at in a run, where its counts are known."""
        record, stakes, target = run.record, session.stakes, session.focus.target
        model, count = record.splits[split].model, len(record.splits)
        placed = session.focus.threshold
        # Where there is one, it has been found already; else there may be a reason.
        choice = Choice(placed) if placed else choose(record, split, target, stakes)
        where = []
        if target.rule == TYPED and not target.is_typed_on(record, split):
            where.append(f"Typed on another scale of scores; here the same FPR, {target.fpr:.3g}.")
        if count > 1:
            where.append(f"Split {split + 1} of {count}; each has a threshold of its own.")
        if record.experiment.weight is not None:
            where.append(f"Counts are rows; shares are weighted by {record.experiment.weight}.")
        figures = ThresholdFigures.of(counts, stakes.prior)
        names = model.positive, model.negative
        return cls(target, choice, figures, names, " ".join(where))


def figures_sentence(figures: ThresholdFigures) -> str:
    """Describe what a threshold does in a sentence."""
    rates = {"TPR": figures.tpr, "FPR": figures.fpr, "precision": figures.precision}
    told = [
        f"{name} {figure_words(rate.value)} ({interval_words(*rate.bounds)})"
        for name, rate in rates.items()
    ]
    return f"{', '.join(told)}, {amount_words(1000 * figures.alerts.value)} alerts per 1,000 cases."
