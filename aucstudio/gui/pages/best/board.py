"""The leaderboard: one line a method, with the settings that did best."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QSignalBlocker, Signal
from PySide6.QtWidgets import QTableView, QWidget

from aucstudio.gui.common.sheet_model import Row, SheetModel
from aucstudio.gui.common.theme import scaled
from aucstudio.gui.common.widgets import fit_columns, list_rows, named
from aucstudio.gui.pages.best.words import HEADS, TIPS, cells
from aucstudio.project.tournament.standings import Standing, Standings

_LINE, _SPARE = 24, 4
_SETTINGS = 1
_ROOM = 740  # pixels, from which on all intervals are written
_LEAST, _SHARE = 3, 0.42  # lines; of the page


class LeaderboardTable(QTableView):
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
        super().__init__()
        named(self, "best_table", "Leaderboard")
        self.sheet = SheetModel(HEADS, TIPS, (0, 1, len(HEADS) - 1), self)
        self.setModel(self.sheet)
        list_rows(self, _LINE)
        fit_columns(self, _SETTINGS)
        self.horizontalHeader().setMinimumSectionSize(scaled(44))
        self.setCornerWidget(QWidget())  # else the style draws a mark of its own
        self._entries: tuple[Standing, ...] = ()
        self._method = ""
        self.selectionModel().currentRowChanged.connect(self._on_row)

    @property
    def entry(self) -> Standing | None:
        """The entry of the chosen row."""
        return next((one for one in self._entries if one.method == self._method), None)

    def show_standings(self, standings: Standings) -> None:
        """Show entries; the chosen method stays chosen, wherever it stands now."""
        roomy = self.width() >= scaled(_ROOM)
        rows = [
            Row(
                cells(one, standings, roomy=roomy),
                strong=bool(one.run) and one.run == standings.best,
            )
            for one in standings.entries
        ]
        self._entries = standings.entries
        if rows == self.sheet.rows:
            return
        with QSignalBlocker(self.selectionModel()):
            self.sheet.show_rows(rows)
            if self.entry is not None:
                self.selectRow(self._entries.index(self.entry))

    def choose(self, method: str) -> None:
        """Choose the row of a method."""
        for row, entry in enumerate(self._entries):
            if entry.method == method:
                self.selectRow(row)

    def fit_page(self, height: int) -> None:
        """Be as high as the entries need, and no more than a part of a page of this height."""
        lines = max(_LEAST, len(self._entries))
        head = self.horizontalHeader().sizeHint().height() + _SPARE
        scroll = self.horizontalScrollBar()
        bar = scroll.sizeHint().height() if scroll.maximum() else 0
        least = head + _LEAST * scaled(_LINE)
        self.setFixedHeight(
            max(least, min(head + lines * scaled(_LINE) + bar, int(_SHARE * height)))
        )

    def _on_row(self, index: QModelIndex) -> None:
        if index.isValid():
            self._method = self._entries[index.row()].method
            self.chosen.emit()
