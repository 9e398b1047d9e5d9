"""Rows in the plane: drawn, marked, selected, and the regions of their classes."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QPen
from PySide6.QtWidgets import QGraphicsPathItem, QSizePolicy, QWidget

from aucstudio.engine.arrays import Array, Index, Mask
from aucstudio.engine.roc import band_ranks
from aucstudio.engine.scorers import KernelScorer
from aucstudio.gui.common.buttons import push_button
from aucstudio.gui.common.layouts import across, down
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.plots.legend import Entry, square_sample
from aucstudio.gui.common.plots.plot import Plot, Readout
from aucstudio.gui.common.plotting import faded, pen
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.common.widgets import label, named
from aucstudio.gui.pages.planes.subject import PlanePicture, Subject, add_marks
from aucstudio.gui.state.session import Session
from aucstudio.notices.words import score_words
from aucstudio.project.data.table import Table
from aucstudio.project.explain.contributions import cell_words
from aucstudio.project.geometry.planes import Plane, Sample, thinned
from aucstudio.project.geometry.score_map import SHARES, Contour
from aucstudio.project.runs.experiment import Band
from aucstudio.project.runs.record import SplitResult

Regions = tuple[list[Contour], list[Contour]]  # of the positives and of the negatives

_FILL = 34  # of 255
_WIDTHS = (2.0, 1.2)  # pixels, of the inner line and of the outer


class ClassShapes:
    """The regions of both classes in one plot; empty for a class whose rows are few.

    Attributes
    ----------
    positives, negatives : list of QGraphicsPathItem
        The inner region and the outer one.
    """

    def __init__(self, plot: Plot) -> None:
        self.positives, self.negatives = ([QGraphicsPathItem() for _ in SHARES] for _ in range(2))
        self._samples = [square_sample(plot) for _ in range(2)]
        for items, z in ((self.negatives, -6), (self.positives, -5)):
            for item in items:
                item.setZValue(z)
                plot.addItem(item, ignoreBounds=True)

    def draw(self, regions: Regions) -> None:
        """Draw the regions of both classes."""
        theme = current_theme()
        colours = QColor(theme.positive), QColor(theme.negative)
        for items, contours, colour, sample in zip(
            (self.positives, self.negatives), regions, colours, self._samples, strict=True
        ):
            sample.setPen(pen(colour, _WIDTHS[0]))
            sample.setBrush(faded(colour, 2 * _FILL))
            for k, item in enumerate(items):
                item.setVisible(bool(contours))
                if contours:
                    _draw_one(item, contours[k], pen(colour, _WIDTHS[k]), faded(colour, _FILL))

    def entries(self, names: Sequence[str], regions: Regions) -> list[Entry]:
        """Name the classes that have regions."""
        classes = zip(names, regions, self._samples, strict=True)
        return [(name, sample) for name, contours, sample in classes if contours]


def _draw_one(item: QGraphicsPathItem, contour: Contour, line: QPen, fill: QColor) -> None:
    places, connect = contour
    item.setPath(pg.arrayToQPath(places[:, 0], places[:, 1], connect=connect))
    item.setPen(line)
    item.setBrush(fill)


MOST_SHARE = 0.5  # of the training rows; more marks are not informative
_MOST_PAIRS = 500


def support_places(split: SplitResult, table: Table, plane: Plane) -> tuple[Array, str] | None:
    """Place the rows that a fit rests on.

    Returns
    -------
    (places, words) : ndarray of shape (k, 2), and what they are; or None
        None if there are no support rows to mark.
    """
    n_train = len(split.train_rows)
    if split.support_pairs.shape[1]:
        rows = np.unique(split.support_pairs[:, :_MOST_PAIRS])
        known = np.flatnonzero(np.isin(split.train_rows, rows))
        sample = Sample(
            split.model.preparation.apply(table, split.train_rows[known]),
            split.train_positive[known],
            split.train_scores[known],
            split.train_rows[known],
        )
        words = "in a support pair"
    elif isinstance(split.model.scorer, KernelScorer):
        scorer = split.model.scorer
        points = scorer.points
        scores = scorer(points) + split.model.intercept
        count = np.arange(len(points))
        sample = Sample(points, np.zeros(len(points), dtype=bool), scores, count)
        words = "point of the kernel expansion"
    else:
        return None
    if not 0 < len(sample.X) <= MOST_SHARE * n_train or np.isnan(sample.X).any():
        return None
    return plane.place(sample), words


_NEAR = 12  # pixels
_FEW = 30  # rings that may be drawn full
_RING, _CROSS = (7, 12), (5, 8)  # pixels; of many and of few


@dataclasses.dataclass(frozen=True, eq=False)
class Mistakes:
    """Rows on the wrong side of the boundary.

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

    def __init__(self, plot: Plot, choose: Callable[[int | None], None]) -> None:
        self._plot, self._choose = plot, choose
        self.negatives = add_marks(plot, "t", 7, 2)
        self.positives = add_marks(plot, "o", 7, 3)
        self.wrong = add_marks(plot, "o", 12, 4)
        self.lost = add_marks(plot, "+", 8, 5)
        self.pointed = add_marks(plot, "o", 19, 6)
        self._picture: PlanePicture | None = None
        self.names, self._row = ("", ""), "Row"
        self._kept: Index = np.zeros(0, dtype=np.intp)
        self.readout = Readout("row_readout", "Row at the pointer", plot)
        self.readout.watch(plot, self._describe_at)
        plot.clicked.connect(self.click)

    @property
    def drawn(self) -> int:
        """How many rows are drawn."""
        return len(self._kept)

    def forget(self) -> None:
        """Clear the rows."""
        self.readout.show_nothing()
        self._picture = None

    def draw(self, picture: PlanePicture, most: int, few: int) -> None:
        """Draw at most ``most`` rows; if 0, only those of a class of at most ``few`` rows."""
        self._picture, self.names = picture, class_names(picture.subject)
        self._row = "Row" if picture.subject.in_table else "Test row"
        own = picture.sample.positive
        self._kept = kept = thinned(own, most) if most else _small_classes(own, few)
        theme, positive, few = current_theme(), own[kept], len(kept) < 1_000
        for points, rows, colour in (
            (self.positives, kept[positive], theme.positive),
            (self.negatives, kept[~positive], theme.negative),
        ):
            is_rare = 4 * len(rows) < len(kept)  # drawn stronger, else the other class hides it
            fill = faded(colour, 255 if is_rare else 190 if few else 120)
            points.setSize((7 if few else 5) + 3 * is_rare, update=False)
            points.setData(pos=picture.places[rows], pen=pen(theme.card, 0.5), brush=fill)

    def mark(self, mistakes: Mistakes, row: int | None) -> None:
        """Mark misplaced rows and the selected row."""
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

    def entries(self, named: Sequence[bool]) -> Iterator[Entry]:
        """Explain the marks that are there, and name the classes where they are to be named."""
        yield from itertools.compress(
            zip(self.names, (self.positives, self.negatives), strict=True), named
        )
        for words, marks in (
            ("on the wrong side", self.wrong),
            ("ranked below the FPR range", self.lost),
        ):
            if len(marks.data):
                yield words, marks

    # ------------------------------------------------------------- the pointer

    def _describe_at(self, place: QPointF) -> str:
        row = self._under(place)
        if row is None or self._picture is None:
            return ""
        sample = self._picture.sample
        name = self.names[0 if sample.positive[row] else 1]
        words = f"{self._row} {int(sample.numbers[row]) + 1:,}: {name}"
        if sample.scores is None:
            return words
        return f"{words}\nscore {score_words(float(sample.scores[row]))}"

    def click(self, place: QPointF) -> None:
        """Choose the row at a place, or none."""
        if self._picture is not None:
            row = self._under(place)
            self._choose(None if row is None else int(self._picture.sample.numbers[row]))

    def _under(self, place: QPointF) -> int | None:
        """Return the drawn row at a place."""
        if self._picture is None:
            return None
        found = self._plot.nearest(self._picture.places[self._kept], place, _NEAR)
        return None if found is None else int(self._kept[found])


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


_MOST = 24


class RowPanel(QWidget):
    """The number, class and score of a row, and its cells as the table has them."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        named(self, "row_panel", "Row at the pointer")
        self.heading = label("", "title", name="row_heading")
        # A long name is cut off rather than widening the window.
        self.heading.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.cells = label("", "muted", wrap=True, name="row_cells")
        self._row = 0
        self.data_button = push_button("row_data_button", like="data_button")
        self.data_button.clicked.connect(lambda: session.show_rows((self._row,)))
        self.explain_button = push_button("row_explain_button", like="explain_button")
        self.explain_button.clicked.connect(lambda: session.explain_row(self._row))
        tip, verb = "Deselect the row", lambda: session.point_at(row=None)
        self.close_button = push_button("row_close_button", "C&lose", tip, verb)
        buttons = self.data_button, self.explain_button, self.close_button
        self.setLayout(down(across((self.heading, 1), *buttons), self.cells, gap=4))
        self.hide()

    def show_row(self, table: Table, row: int, heading: str) -> None:
        """Show a row of the table."""
        known = [
            f"{column.name} {cell_words(column, row)}"
            for column in table.columns
            if column.role in ("number", "category", "group")
        ]
        more = f" · and {len(known) - _MOST} more" if len(known) > _MOST else ""
        self._row = row
        self.heading.setText(heading)
        plain_tooltip(self.heading, heading)
        self.cells.setText(" · ".join(known[:_MOST]) + more)
        plain_tooltip(self.cells, "\n".join(known))
        self.show()
