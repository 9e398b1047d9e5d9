"""The rows of the picture: drawn by class, marked, named under the pointer, chosen by a click."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt

from aucstudio.engine.roc import band_ranks
from aucstudio.gui.common.plots.legend import Legend
from aucstudio.gui.common.plots.readout import Readout
from aucstudio.gui.common.plotting import faded, pen
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.pages.planes.marks import add_marks
from aucstudio.gui.pages.planes.subject import Picture, Subject
from aucstudio.project.geometry.planes import Sample, thinned
from aucstudio.project.runs.experiments.experiment import Band

Array = NDArray[np.float64]
Index = NDArray[np.intp]
Mask = NDArray[np.bool_]

_NEAR = 12  # pixels
_FEW = 30  # rings that may be drawn full
_RING, _CROSS = (7, 12), (5, 8)  # pixels; of many and of few


@dataclasses.dataclass(frozen=True, eq=False)
class Mistakes:
    """Which rows stand where they should not.

    Attributes
    ----------
    wrong : ndarray of bool, shape (N,)
        On the wrong side of the threshold.
    lost : ndarray of bool, shape (N,)
        Positives below every negative of the FPR band: they add nothing to the partial AUC.
    """

    wrong: Mask
    lost: Mask


def find_mistakes(sample: Sample, threshold: float, band: Band, ranked: Array) -> Mistakes:
    """Mark rows by their scores, none where there are no scores.

    ``ranked`` are the negatives' scores, the highest first.
    """
    scores, positive = sample.scores, sample.positive
    none = np.zeros(len(positive), dtype=bool)
    if scores is None:
        return Mistakes(none, none)
    lost = none
    if len(ranked):
        last = band_ranks(len(ranked), *band)[1]
        lost = positive & (scores < ranked[last - 1])
    return Mistakes((scores > threshold) != positive, lost)


class RowMarks:
    """The rows of one plot."""

    def __init__(self, plot: pg.PlotWidget, choose: Callable[[int | None], None]) -> None:
        self._plot, self._choose = plot, choose
        self.negatives = add_marks(plot, "t", 7, 2)
        self.positives = add_marks(plot, "o", 7, 3)
        self.wrong = add_marks(plot, "o", 12, 4)
        self.lost = add_marks(plot, "+", 8, 5)
        self.pointed = add_marks(plot, "o", 19, 6)
        self._picture: Picture | None = None
        self.names, self._row = ("", ""), "Row"
        self._kept: Index = np.zeros(0, dtype=np.intp)
        self.readout = Readout("row_readout", "Row at the pointer", plot)
        plot.scene().sigMouseMoved.connect(self.hover)

    @property
    def drawn(self) -> int:
        """How many rows are drawn."""
        return len(self._kept)

    def forget(self) -> None:
        """Clear the rows that can be pointed at."""
        self.readout.show_nothing()
        self._picture = None

    def draw(self, subject: Subject, picture: Picture, most: int, few: int) -> None:
        """Draw the rows by class, ``most`` of them; where 0, all of a class of ``few`` at most."""
        self._picture, self.names = picture, class_names(subject)
        self._row = "Row" if subject.in_table else "Test row"
        own = picture.sample.positive
        self._kept = kept = thinned(own, most) if most else _small_classes(own, few)
        theme, positive = current_theme(), own[kept]
        for points, rows, colour in (
            (self.positives, kept[positive], theme.positive),
            (self.negatives, kept[~positive], theme.negative),
        ):
            fill = faded(colour, 190 if len(kept) < 1_000 else 120)
            points.setSize(7 if len(kept) < 1_000 else 5, update=False)
            points.setData(pos=picture.places[rows], pen=pen(theme.card, 0.5), brush=fill)

    def mark(self, mistakes: Mistakes, row: int | None) -> None:
        """Mark what stands wrong, and the row that is pointed at."""
        picture, theme, kept = self._picture, current_theme(), self._kept
        if picture is None:
            return
        wrong, lost = (kept[found[kept]] for found in (mistakes.wrong, mistakes.lost))
        # Many rings would hide the very rows that they are about.
        few = min(1.0, (_FEW / max(len(wrong), 1)) ** 0.5)
        ring = pen(faded(theme.wrong, round(120 + 135 * few)), 0.8 + 0.7 * few)
        size, cross = (round(a + (b - a) * few) for a, b in (_RING, _CROSS))
        self.wrong.setData(pos=picture.places[wrong], pen=ring, brush=None, size=size)
        self.lost.setData(pos=picture.places[lost], pen=None, brush=theme.wrong, size=cross)
        here = np.flatnonzero(picture.sample.numbers == row) if row is not None else kept[:0]
        self.pointed.setData(pos=picture.places[here], pen=pen(theme.accent, 2.5), brush=None)

    def explain(self, legend: Legend, named: Sequence[bool]) -> None:
        """Show in a legend what the marks are; of the classes those that are to be ``named``."""
        classes = zip(self.names, (self.positives, self.negatives), named, strict=True)
        for name, marks, is_named in classes:
            if is_named:
                legend.explain_mark(name, marks)
        if len(self.wrong.data):
            legend.explain_mark("on the wrong side", self.wrong)
        if len(self.lost.data):
            legend.explain_mark("ranked below the FPR range", self.lost)

    # ------------------------------------------------------------- the pointer

    def hover(self, position: QPointF) -> None:
        """Name the row under the pointer."""
        place = self._under(position)
        if place is None or self._picture is None:
            self.readout.show_nothing()
            return
        at = QPointF(self._plot.mapFromScene(position))
        self.readout.show_at(self._plot, at, self._words(self._picture.sample, place))

    def click(self, event: Any) -> None:
        """Choose the row under the pointer; none where there is none."""
        if self._picture is None or event.button() != Qt.MouseButton.LeftButton:
            return
        place = self._under(event.scenePos())
        self._choose(None if place is None else int(self._picture.sample.numbers[place]))

    def _under(self, position: QPointF) -> int | None:
        box = self._plot.getViewBox()
        if self._picture is None or not box.sceneBoundingRect().contains(position):
            return None
        place, size = box.mapSceneToView(position), box.viewPixelSize()
        off = (self._picture.places[self._kept] - [place.x(), place.y()]) / size
        far = np.hypot(off[:, 0], off[:, 1])
        nearest = int(far.argmin()) if len(far) else 0
        return int(self._kept[nearest]) if len(far) and far[nearest] <= _NEAR else None

    def _words(self, sample: Sample, place: int) -> str:
        name = self.names[0 if sample.positive[place] else 1]
        words = f"{self._row} {int(sample.numbers[place]) + 1:,}: {name}"
        if sample.scores is None:
            return words
        return f"{words}\nscore {float(sample.scores[place]):.4g}".replace("-", "−")


def _small_classes(positive: Mask, few: int) -> Index:
    """Return the places of the rows of each class that has few."""
    count = int(positive.sum())
    shown = np.where(positive, count <= few, len(positive) - count <= few)
    return np.flatnonzero(shown)


def class_names(subject: Subject) -> tuple[str, str]:
    """Return what the positives and the negatives are called."""
    if subject.split is None:
        return "positive", "negative"
    model = subject.split.model
    return f"{model.positive} (positive)", f"{model.negative} (negative)"
