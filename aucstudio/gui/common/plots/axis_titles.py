"""Axis titles, shortened to fit.

Pyqtgraph writes a title that has no room over its neighbours. No upstream issue found for axes; of
a plot's title it is github.com/pyqtgraph/pyqtgraph/issues/2624.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetricsF, QResizeEvent

from aucstudio.gui.common.plain_text import plain_tooltip, rich

# Abbreviations where there is no room.
_BRIEF: Mapping[str, str] = {
    "False-positive rate": "FPR",
    "True-positive rate": "TPR",
    "Partial AUC": "pAUC",
    "Principal component": "PC",
    "principal direction": "direction",
    "one standard deviation": "1 sd",
    "Density within the class": "Density",
    "Share of the class in a bin": "Share of the class",
    "Distance to optimum": "Distance",
    "Spread perpendicular to the mean difference": "Spread",
    "Spread perpendicular to the score": "Spread",
    "Spread in kernel space": "Spread",
    "Spread perpendicular to w": "Spread",
    "Score difference ": "",
}
_FEWEST_LETTERS = 4
_REMARK = re.compile(r" \([^()]*\)$|, .*$")


class TitledAxis(pg.AxisItem):
    """An axis whose title is never longer than the axis itself.

    ``labelText`` stays the full title, which is text, not markup; where another is written, a
    tooltip has it.
    """

    _written = ""

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
        lies = self.orientation in ("bottom", "top")
        room = float(self.width() if lies else self.height())
        title = self.labelText
        # Before it is laid out, an axis has no length.
        return fitting(title, room, QFontMetricsF(self.label.font())) if room > 0 else title


def fitting(title: str, room: float, metrics: QFontMetricsF) -> str:
    """Return the fullest form of a title that is at most so many pixels long; no mere stump.

    Parameters
    ----------
    title : str
    room : float
    metrics : QFontMetricsF
    """
    brief = title
    for words, fewer in _BRIEF.items():
        brief = brief.replace(words, fewer)
    bare = _REMARK.sub("", brief)
    for form in (title, brief, bare):
        if metrics.horizontalAdvance(form) <= room:
            return form
    cut = metrics.elidedText(bare, Qt.TextElideMode.ElideMiddle, room)
    return cut if len(cut) > _FEWEST_LETTERS else ""
