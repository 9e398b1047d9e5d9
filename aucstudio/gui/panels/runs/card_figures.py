"""Figures of the card of a run, as lines of a table."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QWidget

from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.widgets import label
from aucstudio.gui.panels.runs.columns import COMING, NONE
from aucstudio.gui.panels.runs.figures import RunFigures
from aucstudio.notices.words import (
    counted,
    figure_words,
    interval_words,
    range_words,
    seconds_words,
    setting_words,
)
from aucstudio.project.results.summary import WHOLE, Summary
from aucstudio.project.runs.experiments.experiment import Band
from aucstudio.project.runs.record import RunRecord

_TOP = Qt.AlignmentFlag.AlignTop


@dataclasses.dataclass(frozen=True)
class TableLine:
    """One line of a table.

    Attributes
    ----------
    title, value, beside : str
        ``beside`` is an interval or a remark.
    tip : str
        One plain sentence.
    """

    title: str
    value: str
    beside: str = ""
    tip: str = ""


class FigureTable(QWidget):
    """A table of labels.

    Parameters
    ----------
    name : str
    wrap : bool
        Whether values are wrapped texts; otherwise they are figures aligned right.
    """

    def __init__(self, name: str, *, wrap: bool = False) -> None:
        super().__init__()
        self.setObjectName(name)
        self._name, self._wrap = name, wrap
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(10)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(1 if wrap else 2, 1)
        self._cells: list[tuple[QLabel, ...]] = []

    def show_lines(self, lines: Sequence[TableLine]) -> None:
        """Show these lines and no others."""
        while len(self._cells) < len(lines):
            self._add_row()
        for k, cells in enumerate(self._cells):
            shown = k < len(lines)
            for cell in cells:
                cell.setVisible(shown)
            if shown:
                self._fill(cells, lines[k])

    def lines(self) -> list[tuple[str, ...]]:
        """Return the shown texts."""
        return [tuple(c.text() for c in cells) for cells in self._cells if not cells[0].isHidden()]

    def _add_row(self) -> None:
        k = len(self._cells)
        cells = tuple(label("", role, name=f"{self._name}_{k}_{part}") for part, role in _PARTS)
        title, value, beside = cells
        self._grid.addWidget(title, k, 0, _TOP)
        if self._wrap:
            value.setWordWrap(True)
            value.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
            self._grid.addWidget(value, k, 1, _TOP)
            beside.setParent(self)
        else:
            self._grid.addWidget(value, k, 1, _TOP | Qt.AlignmentFlag.AlignRight)
            self._grid.addWidget(beside, k, 2, _TOP)
        self._cells.append(cells)

    def _fill(self, cells: tuple[QLabel, ...], line: TableLine) -> None:
        for cell, text in zip(cells, (line.title, line.value, line.beside), strict=True):
            cell.setText(text)
            plain_tooltip(cell, line.tip)
        cells[2].setVisible(bool(line.beside))


_PARTS = (("title", "muted"), ("value", ""), ("beside", "muted"))


_MEASURES = {
    "ap": (
        "Avg. precision",
        "Average precision: the mean precision over the positives, from the highest score down; "
        "chance gives the share of positives.",
    ),
    "h": (
        "H-measure",
        "H-measure: share of the cost of errors that the scores save, averaged over costs; 0 "
        "is chance, 1 is perfect.",
    ),
    "ks": (
        "KS",
        "Kolmogorov-Smirnov statistic: the greatest difference between the shares of "
        "positives and of negatives above one threshold.",
    ),
    "eer": (
        "EER",
        "Equal error rate: the error at the threshold where false-positive rate and miss rate "
        "are equal; less is better.",
    ),
}


def headline_words(band: Band) -> str:
    """Return the name of the main figure."""
    return "AUC" if band == WHOLE else f"pAUC in FPR {range_words(band)}"


def under_headline(found: RunFigures) -> str:
    """Return the interval of the main figure, and the number of negatives in the range."""
    top = found.headline
    # A reason states how few rows there are.
    if not found.has_range or (math.isnan(top.low) and top.reason):
        return top.interval
    few = f"{counted(found.negatives, 'negative')} in the range"
    return f"{top.interval} · {few}"


def key_lines(record: RunRecord, found: RunFigures | None, band: Band) -> list[TableLine]:
    """Return lines of AUC and TPR with their intervals; dots until they are computed."""
    count = len(record.splits)
    mean = f", the mean of {counted(count, 'split')}" if count > 1 else ""
    lines = [
        _summary_line(
            "AUC",
            None if found is None else found.area,
            f"How often a positive held-out row scores above a negative one{mean}; chance gives "
            "0.5. The 95 % interval is beside it.",
        )
    ]
    if band != WHOLE:
        end = setting_words(band[1])
        lines.append(
            _summary_line(
                f"TPR at FPR {end}",
                None if found is None else found.tpr,
                f"The share of positives that is found where {end} of the negatives is "
                f"predicted positive{mean}. The 95 % interval is beside it.",
            )
        )
    return lines


def other_lines(record: RunRecord, found: RunFigures | None) -> list[TableLine]:
    """Return lines of the other figures; dots until they are computed."""
    count, lines = len(record.splits), []
    gap = math.nan if found is None else found.gap
    lines.append(
        TableLine(
            "Gap to training",
            COMING if found is None else figure_words(gap, "+"),
            "",
            "How much higher the AUC is on its training rows"
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
    lines.append(TableLine("Time of a fit", time, each, "Time of one fit, without its evaluation."))
    return lines


def _summary_line(title: str, found: Summary | None, tip: str) -> TableLine:
    if found is None:
        return TableLine(title, COMING, "", tip)
    why = f" Not available: {found.reason}." if found.reason else ""
    beside = "" if math.isnan(found.low) else interval_words(found.low, found.high)
    return TableLine(title, figure_words(found.value), beside, tip + why)
