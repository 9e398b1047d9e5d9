"""Pairs of a fit: computed, described and selected."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QWidget

from aucstudio.engine.arrays import Array, Index, Mask
from aucstudio.engine.scorers import KernelScorer
from aucstudio.gui.common.buttons import push_button
from aucstudio.gui.common.layouts import across, down
from aucstudio.gui.common.table import Row, SheetTable, worded_columns
from aucstudio.gui.common.widgets import label, named, show_note
from aucstudio.gui.pages.planes.subject import PlanePicture
from aucstudio.gui.pages.planes.words import reasons, row_name
from aucstudio.gui.state.background import Answer
from aucstudio.gui.state.session import Session
from aucstudio.notices.words import score_words
from aucstudio.project.data.table import Table
from aucstudio.project.explain.contributions import ColumnShare, PairDetail, explain_pair
from aucstudio.project.geometry.pairs import (
    SUPPORT_DRAWN,
    Misranked,
    PairCloud,
    PairOrder,
    pair_cloud,
    pair_frame,
    penalised_covariance,
    places_of,
)
from aucstudio.project.geometry.planes import kernel_features
from aucstudio.project.runs.experiment import Band, DataReference
from aucstudio.project.runs.model import Model

NO_PAIRS: Index = np.empty((2, 0), dtype=np.intp)
WORST = 500
_WORST_DRAWN = 100


@dataclasses.dataclass(frozen=True, eq=False)
class PlacedPairs:
    """The pairs of the placed rows.

    Attributes
    ----------
    cloud : PairCloud
    frame : ndarray of shape (2, 2)
        Corners of the initial view.
    order : PairOrder or None
        None if rows have no scores.
    misranked : Misranked or None
        None if rows have no scores.
    worst : ndarray of int, shape (2, k)
        Pairs of the lowest margins, in ascending order.
    support : ndarray of int, shape (2, k)
        The support pairs that are drawn.
    penalised : ndarray of shape (2, 2) or None
        Σ(I + λΣ)⁻¹ in the plane, for a method that uses it.
    dots_wrong : ndarray of bool or None
        Which of the dots are misranked, if rows have scores.
    """

    cloud: PairCloud
    frame: Array
    order: PairOrder | None = None
    misranked: Misranked | None = None
    worst: Index = dataclasses.field(default_factory=NO_PAIRS.copy)
    support: Index = dataclasses.field(default_factory=NO_PAIRS.copy)
    penalised: Array | None = None
    dots_wrong: Mask | None = None


def find_pairs(picture: PlanePicture) -> PlacedPairs:
    """Rank the pairs of a picture; called on another thread."""
    subject, sample = picture.subject, picture.sample
    cloud = pair_cloud(picture.places, sample.positive)
    frame = pair_frame(cloud, sample.positive)
    if sample.scores is None:
        return PlacedPairs(cloud, frame)
    order = PairOrder.of(sample.positive, sample.scores)
    found, worst = order.misranked(), order.worst(WORST)
    dots = None if cloud.rows is None else _are_misranked(sample.scores, cloud.rows)
    # An even sample may leave out the very pairs that one looks for.
    extreme = worst[:, sample.scores[worst[0]] <= sample.scores[worst[1]]][:, :_WORST_DRAWN]
    found = dataclasses.replace(found, rows=_together(found.rows, extreme))
    support, penalised = NO_PAIRS, None
    if subject.split is not None and not subject.held_out:
        support = places_of(sample, subject.split.support_pairs[:, :SUPPORT_DRAWN])
        penalised = _penalised(subject.split.model, picture)
    return PlacedPairs(cloud, frame, order, found, worst, support, penalised, dots)


def _are_misranked(scores: Array, rows: Index) -> Mask:
    found: Mask = scores[rows[0]] <= scores[rows[1]]
    return found


def _together(*lists: Index) -> Index:
    """Merge lists of pairs, each pair once."""
    return np.unique(np.concatenate(lists, axis=1), axis=1)


def _penalised(model: Model, picture: PlanePicture) -> Array | None:
    # Σ of the penalty is that of the training rows.
    if "structure" not in model.params:
        return None
    sample, plane = picture.sample, picture.plane
    values, positive, directions = sample.X, sample.positive, plane.directions
    scorer = model.scorer
    if isinstance(scorer, KernelScorer):
        if not isinstance(plane.across, KernelScorer):
            return None
        values, positive, directions = kernel_features(sample, scorer, plane.across)
    penalty = float(model.params["structure"])
    return penalised_covariance(values, positive, directions, penalty)


def drawn_pairs(pairs: PlacedPairs, band: Band) -> tuple[Index, Index]:
    """Return the misranked pairs that are drawn, outside the FPR range and within it."""
    if pairs.order is None or pairs.misranked is None:
        return NO_PAIRS, NO_PAIRS
    rows = pairs.misranked.rows
    inside = _in_band(pairs.order, rows, band)
    return rows[:, ~inside], _together(rows[:, inside], pairs.order.misranked(band=band).rows)


def _in_band(order: PairOrder, rows: Index, band: Band) -> Mask:
    """Return which pairs have a negative in the FPR range."""
    inside = np.zeros(len(order.positives) + len(order.negatives), dtype=bool)
    inside[order.band(*band)] = True
    found: Mask = inside[rows[1]]
    return found


def pair_columns(picture: PlanePicture, band: Band) -> dict[str, NDArray[np.generic]]:
    """Return the drawn pairs as columns: their rows, places and what they are.

    Rows are counted from 1 without the header.
    """
    pairs: PlacedPairs = picture.extra
    kinds = [*drawn_pairs(pairs, band), pairs.support]
    if pairs.cloud.rows is not None:
        kinds.append(pairs.cloud.rows)
    rows = _together(*kinds)
    places = pairs.cloud.differences(rows)
    sample = picture.sample
    misranked = in_band = np.zeros(rows.shape[1], dtype=bool)
    if pairs.order is not None and sample.scores is not None:
        misranked = _are_misranked(sample.scores, rows)
        in_band = _in_band(pairs.order, rows, band)
    support = {(i, j) for i, j in pairs.support.T.tolist()}
    return {
        "positive row": sample.numbers[rows[0]] + 1,
        "negative row": sample.numbers[rows[1]] + 1,
        "x": places[:, 0],
        "y": places[:, 1],
        "misranked": misranked,
        "in FPR range": in_band,
        "support": np.array([(i, j) in support for i, j in rows.T.tolist()], dtype=bool),
    }


_ROW, _MOST_ROWS, _LEAST = 24, 4, 72
_HEADED = 440
_HEADS, _TIPS = worded_columns("pair_table")


class PairPanel(QWidget):
    """The selected pair, column by column; the most important columns come first.

    Attributes
    ----------
    stepped : Signal(int)
        Select the next (+1) or the previous (−1) worst pair.
    detail : PairDetail or None
    """

    stepped = Signal(int)

    def __init__(self, session: Session) -> None:
        super().__init__()
        named(self, "pair_panel", "The two rows of a pair")
        self.detail: PairDetail | None = None
        self._classes, self._unit = ("", ""), "sd"
        self._answer = Answer[PairDetail](self, self._show, self._on_failed)
        self.heading = label("", "title", name="pair_heading")
        self.message = label("", "muted", name="pair_words", wrap=True)
        self.table = SheetTable("pair_table", "Columns of the two rows", _HEADS, _ROW, tips=_TIPS)
        self.table.setMinimumHeight(_LEAST)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.table.horizontalHeader().setMaximumSectionSize(240)
        self.data_button = push_button("pair_data_button", like="data_button")
        self.data_button.clicked.connect(lambda: session.show_rows(session.focus.pair or ()))
        back, on, close = (
            push_button(name, verb=verb)
            for name, verb in (
                ("pair_previous_button", lambda: self.stepped.emit(-1)),
                ("pair_next_button", lambda: self.stepped.emit(1)),
                ("pair_close_button", lambda: session.point_at(pair=None)),
            )
        )
        head = across((self.heading, 1), back, on, self.data_button, close)
        self.setLayout(down(head, self.message, self.table, gap=4))
        self.hide()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # The table's head names the rows too.
        self.heading.setVisible(self.width() >= _HEADED)

    # ------------------------------------------------------------- showing

    def show_pair(
        self, table: Table, data: DataReference, model: Model, rows: tuple[int, int]
    ) -> None:
        """Show a pair; its contributions are computed in the background."""
        request = table, model, rows
        if request != self._answer.key:
            first, second = (row_name(row) for row in rows)
            self.heading.setText(f"{first.capitalize()} against {second}")
            self._classes = model.positive, model.negative
            self._unit = model.preparation.choice.unit
            self.message.setText("computing the reasons for this ranking…")
            self._answer.ask(
                request, lambda _post: explain_pair(data.with_scores(table), model, rows)
            )
        self.show()

    def show_nothing(self) -> None:
        """Hide and stop the computation."""
        self._answer.forget()
        self.detail = None
        self.hide()

    def _on_failed(self, words: str) -> None:
        self.detail = None
        self.table.show_rows([])
        show_note(self.message, words, "error")

    def _show(self, detail: PairDetail) -> None:
        self.detail = detail
        names = [
            f"{row_name(row).capitalize()} ({kind})"
            for row, kind in zip(detail.rows, self._classes, strict=True)
        ]
        difference = f"Difference ({self._unit})"
        heads = self.table.sheet.heads
        heads = (heads[0], *names, difference, heads[4])
        self.table.show_rows([_row(part) for part in detail.parts], heads)
        # Complete rows only: half a row looks like an error.
        seen = min(len(detail.parts), _MOST_ROWS)
        head = self.table.horizontalHeader().sizeHint().height()
        self.table.setMaximumHeight(max(_LEAST, head + seen * _ROW + 2))
        show_note(self.message, reasons(detail))


def _row(part: ColumnShare) -> Row:
    shift = score_words(part.difference, "+.2f"), score_words(part.contribution, "+.3g")
    return Row((part.column, *part.cells, *shift))
