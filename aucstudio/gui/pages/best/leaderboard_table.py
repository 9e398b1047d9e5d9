"""The leaderboard."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QSignalBlocker, Signal

from aucstudio.gui.common.table import Row, SheetTable
from aucstudio.gui.common.theme import scaled
from aucstudio.gui.pages.best.words import (
    AREA_COLUMN,
    HEADS,
    OPTIMISM_COLUMN,
    TIME_COLUMN,
    TIPS,
    cells,
    heads,
)
from aucstudio.project.tournament.standings import Standing, Standings

_LINE = 24
_SETTINGS = 1
# What gives way where settings have less room than they need, up to this: how many intervals are
# written, and which columns are left out; the panel below has it all.
_LEAST_SETTINGS = 170
_WAYS: tuple[tuple[int, tuple[int, ...]], ...] = (
    (2, ()),
    (1, ()),
    (1, (TIME_COLUMN,)),
    (1, (TIME_COLUMN, OPTIMISM_COLUMN)),
    (0, (TIME_COLUMN, OPTIMISM_COLUMN)),
    (0, (TIME_COLUMN, OPTIMISM_COLUMN, AREA_COLUMN)),
)
_LEAST, _SHARE = 3, 0.42  # lines; of the page


class LeaderboardTable(SheetTable):
    """Entries in rows, the best first; one of them is chosen.

    Attributes
    ----------
    chosen : Signal
        Another row is.
    sheet : SheetModel
    entry : Standing or None
        That of the chosen row.
    """

    chosen = Signal()

    def __init__(self) -> None:
        words = 0, 1, len(HEADS) - 1
        super().__init__(
            "best_table", "Leaderboard", HEADS, _LINE, _SETTINGS, tips=TIPS, words=words
        )
        self.horizontalHeader().setMinimumSectionSize(scaled(44))
        self._entries: tuple[Standing, ...] = ()
        self._standings: Standings | None = None
        self._method = ""
        self.selectionModel().currentRowChanged.connect(self._on_row)

    @property
    def entry(self) -> Standing | None:
        """The entry of the chosen row."""
        return next((one for one in self._entries if one.method == self._method), None)

    def show_standings(self, standings: Standings) -> None:
        """Show entries; keep the chosen method selected."""
        self._standings, self._entries = standings, standings.entries
        for column in range(len(HEADS)):
            self.setColumnHidden(column, False)  # a hidden column has no width to count
        same = () if standings.fpr_range else (AREA_COLUMN,)  # the criterion is the AUC itself
        for intervals, hidden in _WAYS:
            gone = (*hidden, *same)
            self._show_rows(standings, intervals)
            if self._room_left(gone) >= 0:
                break
        for column in range(len(HEADS)):
            self.setColumnHidden(column, column in gone)

    def _show_rows(self, standings: Standings, intervals: int) -> None:
        rows = [
            Row(
                cells(one, standings, intervals),
                strong=bool(one.run) and one.run == standings.best,
            )
            for one in standings.entries
        ]
        named = heads(standings)
        if (rows, named) == (self.sheet.rows, self.sheet.heads):
            return
        with QSignalBlocker(self.selectionModel()):
            self.show_rows(rows, named)
            if self.entry is not None:
                self.selectRow(self._entries.index(self.entry))

    def _room_left(self, gone: Sequence[int]) -> int:
        """Return the pixels left without some columns, with elided settings."""
        header = self.horizontalHeader()
        room = self.viewport().width()
        for column in range(len(HEADS)):
            if column not in gone:
                wide = max(self.sizeHintForColumn(column), header.sectionSizeHint(column))
                room -= min(wide, scaled(_LEAST_SETTINGS)) if column == _SETTINGS else wide
        return room

    def choose(self, method: str) -> None:
        """Select the row of a method."""
        for row, entry in enumerate(self._entries):
            if entry.method == method:
                self.selectRow(row)

    def fit_page(self, height: int) -> None:
        """Fit the height to the entries, up to a share of the page height."""
        if self._standings is not None:
            self.show_standings(self._standings)
        self.fit_rows(_LEAST, max(_LEAST, int(_SHARE * height / scaled(_LINE)) - 1))

    def _on_row(self, index: QModelIndex) -> None:
        if index.isValid():
            self._method = self._entries[index.row()].method
            self.chosen.emit()
