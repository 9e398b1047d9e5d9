"""Select a pair by pointer or key."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF

from aucstudio.engine.types import Index
from aucstudio.gui.common.plots.legend import Entry
from aucstudio.gui.common.plots.plot import Plot
from aucstudio.gui.common.plots.readout import Readout
from aucstudio.gui.pages.differences.marked_pairs import MarkedPairs
from aucstudio.gui.pages.differences.pair_panel import PairPanel
from aucstudio.gui.pages.differences.pairs import NO_PAIRS, PlacedPairs
from aucstudio.gui.pages.differences.words import pair_words, row_name
from aucstudio.gui.pages.planes.subject import PlanePicture, is_pair
from aucstudio.gui.state.session import Session
from aucstudio.project.geometry.pairs import places_of


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
        panel.closed.connect(lambda: session.point_at(pair=None))
        panel.data_asked.connect(lambda: session.show_rows(session.focus.pair or ()))
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
        self._row_words = f"{row_name(row)}: {wrong:,} of {found.pairs:,} pairs misranked"

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
