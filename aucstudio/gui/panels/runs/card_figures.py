"""What the card of a run says of its results: computed on a thread, then put into lines."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping

from aucstudio.gui.panels.runs.columns import COMING, NONE
from aucstudio.gui.panels.runs.figure_table import TableLine
from aucstudio.project.results.summary import (
    WHOLE,
    Summary,
    auc_summary,
    band_negatives,
    measures,
    pauc_summary,
    tpr_summary,
    train_auc,
)
from aucstudio.project.runs.experiments.experiment import Band
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.words import (
    counted,
    figure_words,
    interval_words,
    range_words,
    seconds_words,
    setting_words,
)

_MEASURES = {
    "ap": (
        "Avg. precision",
        "Average precision: the mean precision over the positives, from the highest score down; "
        "chance gives the share of positives.",
    ),
    "h": (
        "H-measure",
        "How much of the cost of errors the scores save, averaged over costs; 0 is chance, 1 is "
        "perfect.",
    ),
    "ks": (
        "KS",
        "Kolmogorov and Smirnov: the greatest distance between the shares of positives and of "
        "negatives above one threshold.",
    ),
    "eer": (
        "EER",
        "Equal error rate: the share of wrong calls where as large a share of positives is missed "
        "as of negatives is called positive; less is better.",
    ),
}


@dataclasses.dataclass(frozen=True)
class CardFigures:
    """The held-out figures of one run for one range.

    Attributes
    ----------
    band : (float, float)
    area, part, tpr : Summary
    training : float
        AUC on the training rows.
    measures : mapping
    negatives : int
        Of the smallest split, that decide the range.
    """

    band: Band
    area: Summary
    part: Summary
    tpr: Summary
    training: float
    measures: Mapping[str, float]
    negatives: int

    @property
    def has_range(self) -> bool:
        """Whether a part of the curve is looked at."""
        return self.band != WHOLE

    @property
    def headline(self) -> Summary:
        """The figure that stands on top: the partial AUC where a range is set."""
        return self.part if self.has_range else self.area


def card_figures(record: RunRecord, band: Band) -> CardFigures:
    """Compute what the card shows of a run with at least one finished split."""
    return CardFigures(
        band,
        auc_summary(record),
        pauc_summary(record, band),
        tpr_summary(record, band[1]),
        train_auc(record),
        measures(record, WHOLE),
        band_negatives(record, band),
    )


def headline_words(band: Band) -> str:
    """Name the figure that stands on top."""
    return "AUC" if band == WHOLE else f"pAUC in FPR {range_words(band)}"


def under_headline(found: CardFigures) -> str:
    """State how sure the figure on top is, and the AUC where that is not it."""
    top = found.headline
    # A reason says by itself how few rows there are.
    if not found.has_range or (math.isnan(top.low) and top.reason):
        return top.interval
    few = f"{counted(found.negatives, 'negative')} in the range"
    return f"{top.interval} · {few}"


def key_lines(record: RunRecord, found: CardFigures | None, band: Band) -> list[TableLine]:
    """Put AUC and TPR, with their intervals, into lines; what is still to come is dots."""
    count = len(record.splits)
    mean = f", the mean of {counted(count, 'split')}" if count > 1 else ""
    lines = [
        _summary_line(
            "AUC",
            None if found is None else found.area,
            f"How often a positive held-out row scores above a negative one{mean}; chance gives "
            "0.5. Beside it the 95 % interval.",
        )
    ]
    if band != WHOLE:
        end = setting_words(band[1])
        lines.append(
            _summary_line(
                f"TPR at FPR {end}",
                None if found is None else found.tpr,
                f"The share of positives that is found where {end} of the negatives is called "
                f"positive{mean}. Beside it the 95 % interval.",
            )
        )
    return lines


def other_lines(record: RunRecord, found: CardFigures | None) -> list[TableLine]:
    """Put the other figures into lines; what is still to come is dots."""
    count, lines = len(record.splits), []
    gap = math.nan if found is None else found.training - found.area.value
    lines.append(
        TableLine(
            "Gap to training",
            COMING if found is None else figure_words(gap, "+"),
            "",
            "By how much the AUC is higher on the rows it was trained on"
            + ("" if found is None else f", where it is {figure_words(found.training)}")
            + ": a large difference indicates overfitting.",
        )
    )
    for name, (title, tip) in _MEASURES.items():
        value = math.nan if found is None else found.measures.get(name, math.nan)
        lines.append(TableLine(title, COMING if found is None else figure_words(value), "", tip))
    seconds = record.fit_seconds
    time = NONE if math.isnan(seconds) else seconds_words(seconds)
    each = f"× {count}" if count > 1 else ""
    lines.append(
        TableLine("Time of a fit", time, each, "How long one fit took, without watching it.")
    )
    return lines


def _summary_line(title: str, found: Summary | None, tip: str) -> TableLine:
    if found is None:
        return TableLine(title, COMING, "", tip)
    why = f" There is none: {found.reason}." if found.reason else ""
    beside = "" if math.isnan(found.low) else interval_words(found.low, found.high)
    return TableLine(title, figure_words(found.value), beside, tip + why)
