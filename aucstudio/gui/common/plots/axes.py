"""Axes: titles shortened to fit, opaque grid lines, true minus signs, and ticks of dates.

Pyqtgraph writes a title that has no room over its neighbours. No upstream issue found for axes; of
a plot's title it is github.com/pyqtgraph/pyqtgraph/issues/2624.
"""

from __future__ import annotations

import datetime
import itertools
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QResizeEvent
from PySide6.QtWidgets import QApplication

from aucstudio.gui.common.plain_text import plain_tooltip, rich
from aucstudio.project.data.text import dates

BEYOND = 16.0  # pixels by which a number may extend beyond the end of its axis

# Abbreviations where there is no room.
_BRIEF: Mapping[str, str] = {
    "False-positive rate": "FPR",
    "True-positive rate": "TPR",
    "Principal component": "PC",
    "principal direction": "direction",
    "one standard deviation": "1 sd",
    "Density within the class": "Density",
    "Share of the class in a bin": "Share of the class",
    "Share of rows predicted positive": "Predicted positive",
    "Share of positives found": "Positives found",
    "Share of the maximum cost of positives": "Cost of positives",
    "Widest direction at equal score": "Widest direction",
    "From the negatives' mean to the positives'": "Between the means",
    "Relative gap to optimum": "Relative gap",
    "Spread perpendicular to the mean difference": "Spread",
    "Spread perpendicular to the score": "Spread",
    "Spread in kernel space": "Spread",
    "Spread perpendicular to w": "Spread",
    "Score difference ": "",
    "Score of the positive − score of the negative": "Score difference",
}
_FEWEST_LETTERS = 4
_REMARK = re.compile(r" \([^()]*\)$|, .*$")


class NumberAxis(pg.AxisItem):
    """An axis whose title is never longer than the axis, without powers of ten in it.

    ``labelText`` stays the full title, which is text, not markup; where another is written, a
    tooltip has it. Grid lines are opaque: translucent ones take thirty times as long to paint.
    """

    _written = ""
    _layout = ""

    def __init__(self, orientation: str) -> None:
        super().__init__(orientation)
        self._dates: dict[float, str] = {}
        self.enableAutoSIPrefix(False)
        # (number of ticks, filled share of the axis up to which the next level is written)
        fill_limits = [(0, 0.8), (2, 0.45), (4, 0.35), (6, 0.2)]
        self.setStyle(textFillLimits=fill_limits, tickAlpha=255, maxTickLevel=1, tickLength=-4)

    def setLabel(self, *arguments: Any, **options: Any) -> None:
        super().setLabel(*arguments, **options)
        self.resizeEvent()  # else the new title starts where the old one did

    def labelString(self) -> str:
        title = self.labelText
        self._written = self._fitting_title()
        plain_tooltip(self.label, title if self._written != title else "")
        style = ";".join(f"{name}: {value}" for name, value in self.labelStyle.items())
        return rich("<span style='{}'>{}</span>", style, self._written)

    def resizeEvent(self, event: QResizeEvent | None = None) -> None:
        if self.label is not None and self._fitting_title() != self._written:
            self._updateLabel()
        super().resizeEvent(event)

    def _fitting_title(self) -> str:
        room, title = float(self.width() if self._lies else self.height()), self.labelText
        # Before it is laid out, an axis has no length.
        return fitting(title, room, QFontMetricsF(self.label.font())) if room > 0 else title

    def show_dates(self, layout: str) -> None:
        """Label the axis with dates of a layout, as many as have room; "" for numbers."""
        self._layout = layout
        self.setTicks(None)

    def tickValues(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:
        if not self._layout:
            found: list[tuple[float, list[float]]] = super().tickValues(low, high, size)
            return found
        width = QFontMetricsF(self.style["tickFont"] or QApplication.font()).horizontalAdvance
        for most in range(_MOST, 0, -1):
            ticks = date_ticks(low, high, self._layout, most)
            step = min((b[0] - a[0] for a, b in itertools.pairwise(ticks)), default=math.inf)
            widest = max((width(words) for _, words in ticks), default=0.0)
            if step * size >= (high - low) * (widest + _APART):
                break
        self._dates = dict(ticks)
        return [(step, list(self._dates))]

    @property
    def _lies(self) -> bool:
        return self.orientation in ("bottom", "top")

    def boundingRect(self) -> QRectF:
        """Return the room of the axis, with the numbers at its ends."""
        along, across = (BEYOND, 0.0) if self._lies else (0.0, BEYOND)
        found: QRectF = super().boundingRect()
        return found.adjusted(-along, -across, along, across)

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        if self._layout:
            return [self._dates[value] for value in values]
        texts: list[str] = super().tickStrings(values, scale, spacing)
        return [text.replace("-", "−") for text in texts]


def fitting(title: str, room: float, metrics: QFontMetricsF) -> str:
    """Return the fullest form of a title that is at most so many pixels long; no mere stump."""
    brief = title
    for words, fewer in _BRIEF.items():
        brief = brief.replace(words, fewer)
    bare = _REMARK.sub("", brief)
    for form in (title, brief, bare):
        if metrics.horizontalAdvance(form) <= room:
            return form
    cut = metrics.elidedText(bare, Qt.TextElideMode.ElideMiddle, room)
    return cut if len(cut) > _FEWEST_LETTERS else ""


_MOST, _APART = 4, 12  # ticks of dates; pixels between their labels
_HOURS = (1 / 60, 1 / 30, 1 / 12, 1 / 6, 1 / 4, 1 / 2, 1, 2, 3, 6, 12)
_MONTHS = (1, 2, 3, 6, *(12 * 10**k * n for k in range(4) for n in (1, 2, 5)))
_EPOCH = datetime.date(1970, 1, 1).toordinal()


def date_ticks(low: float, high: float, layout: str, most: int = _MOST) -> list[tuple[float, str]]:
    """Return at most some ``most`` round dates between two, as places and words."""
    if layout == dates.CLOCK:
        return [(hour, dates.date_text(hour, layout)) for hour in _round_hours(low, high, most)]
    if high - low < _MOST:
        hours = _round_hours(24 * low, 24 * high, most)
        return [(hour / 24, dates.date_text(hour / 24, dates.ISO)[-5:]) for hour in hours]
    ends = math.ceil(low), math.floor(high)
    first, last = (datetime.date.fromordinal(end + _EPOCH) for end in ends)
    finer: list[datetime.date] = []
    for months in _MONTHS:
        found = _of_months(first, last, months)
        if len(found) <= most:
            break
        finer = found
    if len(found) < 2 <= most < len(finer):
        found, months = finer[:: -(-len(finer) // most)], 1
    if len(found) >= min(2, most):
        width = 4 if months % 12 == 0 else 7
        return [(float(day.toordinal() - _EPOCH), day.isoformat()[:width]) for day in found]
    days = range(int(low) + 1, int(high) + 1, max(1, round((high - low) / most)))
    return [(float(day), dates.date_text(day, layout)) for day in days]


def _of_months(first: datetime.date, last: datetime.date, months: int) -> list[datetime.date]:
    """List the first days of every n-th month, with n dividing or a multiple of a year."""
    start = -(-(first.year * 12 + first.month - (first.day == 1)) // months) * months
    end = last.year * 12 + last.month
    return [datetime.date(month // 12, month % 12 + 1, 1) for month in range(start, end, months)]


def _round_hours(low: float, high: float, most: int) -> list[float]:
    """List round hours between two."""
    step = next((step for step in _HOURS if (high - low) / step <= most), 24.0)
    return [k * step for k in range(int(-(-low // step)), int(high // step) + 1)]
