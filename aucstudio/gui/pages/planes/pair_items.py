"""Pairs in the plot: the cloud, its spread, marked and selected pairs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor

from aucstudio.engine.arrays import Array, Index, Mask
from aucstudio.gui.common.plots.legend import Entry, square_sample
from aucstudio.gui.common.plots.plot import Plot, Readout
from aucstudio.gui.common.plotting import faded, pen
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.pages.planes.pairs import NO_PAIRS, PairPanel, PlacedPairs
from aucstudio.gui.pages.planes.subject import PlanePicture, add_curve, add_marks, is_pair, two_hues
from aucstudio.gui.pages.planes.words import pair_words, row_name
from aucstudio.gui.state.session import Session
from aucstudio.project.geometry.pairs import (
    Density,
    PairCloud,
    ellipse,
    places_of,
)

_DEVIATIONS = (1.0, 2.0)
_FEW = 400  # pairs whose dots may be large
_SHADES = 256  # of each of the two colours
_FULLEST = 140, 235  # of 255: opacity of misranked and of correctly ranked pairs


class CloudItems:
    """The items of all pairs together: density or dots, and spread."""

    def __init__(self, plot: Plot) -> None:
        self.density = pg.ImageItem()
        plot.addItem(self.density)
        self.dots = add_marks(plot, "o", 5, 1)
        self._right, self._wrong = square_sample(plot), square_sample(plot)
        self._normal: Array | None = None
        self._is_split = False
        self.ellipses = [add_curve(plot, 2) for _ in _DEVIATIONS]
        self.penalised = [add_curve(plot, 3) for _ in _DEVIATIONS]
        self.mean = add_marks(plot, "d", 12, 20)
        self.origin = add_marks(plot, "+", 16, 21)
        self._drawn: tuple[object, ...] = ()

    def draw(self, pairs: PlacedPairs, colour: QColor, normal: Array | None) -> None:
        """Draw the pairs of a run.

        Parameters
        ----------
        pairs : PlacedPairs
        colour : QColor
            Of the run.
        normal : ndarray of shape (2,) or None
            Of the line behind which a pair is misranked, where the plane tells that exactly.
        """
        self.dots.setVisible(pairs.cloud.rows is not None)
        self.density.setVisible(pairs.cloud.density is not None)
        # The image is large and is drawn only after a change.
        shown = None if normal is None else normal.tolist()
        drawn = pairs, colour.name(), current_theme().name, shown
        if drawn != self._drawn:
            self._drawn, self._normal = drawn, normal
            self._is_split = normal is not None or pairs.dots_wrong is not None
            self._draw(pairs, pairs.cloud, colour)

    def _draw(self, pairs: PlacedPairs, cloud: PairCloud, colour: QColor) -> None:
        theme = current_theme()
        few = cloud.rows is not None and cloud.pairs <= _FEW
        right = pg.mkBrush(faded(theme.muted, 210 if few else 110))
        wrong = pg.mkBrush(faded(theme.wrong, 210 if few else 150))
        self._right.setBrush(right)
        self._wrong.setBrush(wrong)
        if cloud.rows is not None:
            fill = right if pairs.dots_wrong is None else np.where(pairs.dots_wrong, wrong, right)
            self.dots.setSize(8 if few else 4, update=False)
            self.dots.setData(pos=cloud.differences(cloud.rows), pen=None, brush=fill)
        if cloud.density is not None:
            self._draw_density(cloud.density)
        for curves, covariance, ink in (
            (self.ellipses, cloud.covariance, theme.text),
            (self.penalised, pairs.penalised, colour),
        ):
            for curve, deviations in zip(curves, _DEVIATIONS, strict=True):
                if covariance is not None:
                    trace = ellipse(cloud.delta, covariance, deviations)
                    curve.setData(trace[:, 0], trace[:, 1], pen=pen(ink, 1.2))
        self.mean.setData(pos=cloud.delta[None], pen=pen(theme.card, 1), brush=theme.text)
        self.origin.setData(pos=np.zeros((1, 2)), pen=pen(theme.card, 1), brush=theme.text)

    def _draw_density(self, density: Density) -> None:
        shade = density.shade
        if self._normal is not None:
            shade = np.where(_behind(density, self._normal), -shade, shade)
        theme = current_theme()
        self.density.setImage(
            shade, levels=(-1.0, 1.0), lut=_shades(theme.wrong, theme.muted), autoLevels=False
        )
        size = density.shade_high - density.shade_low
        self.density.setRect(QRectF(*density.shade_low, *np.where(size > 0, size, 1.0)))

    def show_spread(self, shown: bool, penalised: bool) -> None:
        """Show or hide the mean and the ellipses of the spread."""
        for item in (self.mean, *self.ellipses):
            item.setVisible(shown)
        for curve in self.penalised:
            curve.setVisible(shown and penalised)

    def entries(self) -> list[Entry]:
        """Explain the dots or the cloud."""
        if self._is_split:
            return [("ranked correctly", self._right), ("ranked wrongly", self._wrong)]
        return [("pairs", self._right)]

    def spread_entries(self, penalised: bool, colour: QColor) -> list[Entry]:
        """Explain the mean and the ellipses."""
        known: list[Entry] = [
            ("mean of all pairs", self.mean),
            ("their spread Σ, 1 and 2 sd", pen(current_theme().text, 1.2)),
        ]
        return known + ([("the spread as the method weights it", pen(colour, 1.2))] * penalised)


def _behind(density: Density, normal: Array) -> Mask:
    """Return which cells lie behind the line through 0 with this normal."""
    ends = zip(density.shade_low, density.shade_high, density.shade.shape, strict=True)
    across, up = (low + (np.arange(n) + 0.5) * ((high - low) / n) for low, high, n in ends)
    found: Mask = np.add.outer(across * normal[0], up * normal[1]) < 0
    return found


def _shades(below: str, above: str) -> NDArray[np.uint8]:
    """Make a colour map of two hues, transparent in the middle."""
    sides = np.linspace(_FULLEST[0], 0, _SHADES), np.linspace(0, _FULLEST[1], _SHADES)
    return two_hues(below, above, np.concatenate(sides))


REACH = 10.0  # pixels
_FEW_MARKS = 200


@dataclasses.dataclass(eq=False)
class Kind:
    """Pairs of one kind, with their marks and name."""

    marks: pg.ScatterPlotItem
    words: str
    rows: Index = dataclasses.field(default_factory=NO_PAIRS.copy)


class MarkedPairs:
    """Support pairs, misranked pairs, the pairs of one row, and the selected pair."""

    def __init__(self, plot: Plot) -> None:
        self._plot = plot
        self.of_row = Kind(add_marks(plot, "s", 4, 19), "pairs of the row")
        self.support = Kind(add_marks(plot, "o", 9, 8), "support pairs: the fit rests on them")
        self.wrong = Kind(add_marks(plot, "o", 5, 9), "single misranked pairs")
        self.in_band = Kind(add_marks(plot, "t1", 8, 10), "… with a negative in the FPR range")
        self.hovered = add_marks(plot, "o", 14, 24)
        self.chosen = add_marks(plot, "o", 18, 25)
        self._cloud: PairCloud | None = None
        self._rows, self._places = NO_PAIRS, np.empty((0, 2))

    def kinds(self) -> Iterator[Kind]:
        """List the kinds, those drawn last first."""
        yield from (self.of_row, self.in_band, self.wrong, self.support)

    def draw(self, cloud: PairCloud, support: Index, ring: QColor) -> None:
        """Draw the support pairs of a cloud, given by the places of their rows."""
        self._cloud = cloud
        for kind in self.kinds():  # the places of their rows were those of another cloud
            self._put(kind, NO_PAIRS, None, None)
        self._put(self.support, support, pen(faded(ring, 190), 1.0), None)
        self.hovered.clear()

    def draw_errors(self, wrong: Index, in_band: Index, shown: bool) -> None:
        """Draw the misranked pairs outside and inside the FPR range, if shown."""
        if not shown:
            wrong = in_band = NO_PAIRS
        theme = current_theme()
        self._put(self.wrong, wrong, None, faded(theme.wrong, _alpha(wrong, 190)))
        inside = faded(theme.wrong, _alpha(in_band, 235))
        few = in_band.shape[1] <= _FEW_MARKS
        outline = pen(faded(theme.card, inside.alpha()), 0.8) if few else None
        self.in_band.marks.setSize(8 if few else 6, update=False)
        self._put(self.in_band, in_band, outline, inside)
        self._gather()

    def draw_row(self, rows: Index) -> None:
        """Draw the pairs of the selected row."""
        theme = current_theme()
        self._put(self.of_row, rows, None, faded(theme.accent, _alpha(rows, 200)))
        self._gather()

    def choose(self, rows: Index) -> None:
        """Circle the selected pair, if there is one."""
        self._ring(self.chosen, rows, 2.5)

    def hover(self, rows: Index) -> None:
        """Circle the pair under the pointer, if there is one."""
        self._ring(self.hovered, rows, 1.5)

    def _ring(self, marks: pg.ScatterPlotItem, rows: Index, width: float) -> None:
        if self._cloud is not None:
            colour = current_theme().text
            marks.setData(pos=self._cloud.differences(rows), pen=pen(colour, width), brush=None)

    def _put(self, kind: Kind, rows: Index, outline: object, fill: object) -> None:
        assert self._cloud is not None
        kind.rows = rows
        kind.marks.setData(pos=self._cloud.differences(rows), pen=outline, brush=fill)

    def _gather(self) -> None:
        """Collect the pairs that can be selected."""
        assert self._cloud is not None
        parts = [kind.rows for kind in self.kinds()]
        if self._cloud.rows is not None:
            parts.append(self._cloud.rows)
        self._rows = np.concatenate(parts, axis=1)
        self._places = self._cloud.differences(self._rows)

    def nearest(self, place: QPointF) -> Index:
        """Return the pair nearest to a place, as one column; none out of reach."""
        found = self._plot.nearest(self._places, place, REACH)
        return NO_PAIRS if found is None else self._rows[:, [found]]

    def forget(self) -> None:
        """Clear the rows."""
        self._rows, self._places = NO_PAIRS, np.empty((0, 2))

    def entries(self) -> list[Entry]:
        """List the visible marks for the legend."""
        kinds = self.wrong, self.in_band, self.support
        return [(kind.words, kind.marks) for kind in kinds if kind.rows.size]


def _alpha(rows: Index, most: int) -> int:
    """Return the opacity of marks, lower for many."""
    return int(np.clip(most * (_FEW_MARKS / max(rows.shape[1], 1)) ** 0.5, 0.35 * most, most))


class Pointing:
    """Selects pairs and rows in a plot, in sync with the focus of the session."""

    def __init__(self, plot: Plot, marked: MarkedPairs, panel: PairPanel, session: Session) -> None:
        self._marked, self._panel, self._session = marked, panel, session
        self._picture: PlanePicture | None = None
        # The pair of the focus, if the subject has it.
        self._pair: tuple[int, int] | None = None
        self._row_words = ""
        self.readout = Readout("pair_readout", "Pair at the pointer", plot)
        panel.stepped.connect(self.step)
        self.readout.watch(plot, self._describe_at)
        plot.hovered.connect(lambda place: self._marked.hover(self._under(place)))
        plot.clicked.connect(self.click)

    def forget(self) -> None:
        """Clear the picture."""
        self.readout.show_nothing()
        self._picture = None
        self._marked.forget()
        self._panel.show_nothing()

    def follow(self, picture: PlanePicture) -> None:
        """Mark the row and the pair of the focus, and show the rows of the pair."""
        self._picture, subject = picture, picture.subject
        pair = self._session.focus.pair
        self._pair = pair if is_pair(subject, pair) else None
        self.readout.show_nothing()
        self._mark_row(picture)
        pair, table = self._pair, self._session.table
        self._marked.choose(self._chosen(picture))
        if pair is None or table is None or subject.split is None or subject.run is None:
            self._panel.show_nothing()
        else:
            data = subject.run.record.experiment.data
            self._panel.show_pair(table, data, subject.split.model, pair)

    def _mark_row(self, picture: PlanePicture) -> None:
        pairs: PlacedPairs = picture.extra
        row, self._row_words = self._session.focus.row, ""
        here = np.flatnonzero(picture.sample.numbers == (-1 if row is None else row))
        if row is None or pairs.order is None or not picture.subject.in_table or not len(here):
            self._marked.draw_row(NO_PAIRS)
            return
        place = int(here[0])
        found = pairs.order.of_row(place, bool(picture.sample.positive[place]))
        self._marked.draw_row(found.rows)
        wrong = found.wrong + found.tied
        self._row_words = f"{row_name(row)}: {wrong:,} of {found.pairs:,} wrong"

    def entries(self) -> list[Entry]:
        """List the pairs of the selected row for the legend."""
        return [(self._row_words, self._marked.of_row.marks)] if self._row_words else []

    # ------------------------------------------------------------- the pointer

    def _under(self, place: QPointF | None) -> Index:
        """Return the pair at a place, as one column; may be empty."""
        has_pairs = place is not None and self._picture is not None
        return self._marked.nearest(place) if place is not None and has_pairs else NO_PAIRS

    def _describe_at(self, place: QPointF) -> str:
        rows = self._under(place)
        if self._picture is None or not rows.size:
            return ""
        positive, negative = (int(k) for k in rows[:, 0])
        return pair_words(self._picture, positive, negative)

    def click(self, place: QPointF) -> None:
        """Select the pair at a place."""
        if self._picture is not None and self._picture.subject.in_table:
            rows = self._marked.nearest(place)
            if rows.size:
                self._choose(rows[:, 0])

    def _choose(self, places: Index) -> None:
        assert self._picture is not None
        positive, negative = self._picture.sample.numbers[places]
        self._session.point_at(pair=(int(positive), int(negative)))

    # ------------------------------------------------------------- the keyboard

    def step(self, by: int) -> None:
        """Select the next (+1) or previous (−1) of the worst pairs; first the worst."""
        if self._picture is None or not self._picture.subject.in_table:
            return
        worst: Index = self._picture.extra.worst
        if not worst.size:
            return
        chosen = self._chosen(self._picture)
        found = (worst == chosen).all(axis=0) if chosen.size else np.zeros(1, dtype=bool)
        place = int(found.argmax()) + by if found.any() else 0
        self._choose(worst[:, min(max(place, 0), worst.shape[1] - 1)])

    def _chosen(self, picture: PlanePicture) -> Index:
        """Return the places of the selected pair, if its rows are in the picture."""
        pair = self._pair
        return NO_PAIRS if pair is None else places_of(picture.sample, np.array(pair)[:, None])
