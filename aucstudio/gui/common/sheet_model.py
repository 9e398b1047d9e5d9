"""A table of words and figures: rows of text behind a Qt table, dressed as the runs are."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor, QFont

from aucstudio.gui.common.plain import tip_text
from aucstudio.gui.common.plotting import swatch
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.state.plan import RunLook

Index = QModelIndex | QPersistentModelIndex


@dataclasses.dataclass(frozen=True)
class Row:
    """One line of a table: its cells, the run's line before the first, and whether it is bold."""

    cells: tuple[str, ...]
    look: RunLook | None = None
    strong: bool = False


class SheetModel(QAbstractTableModel):
    """Rows of text; the first and, where it has words, the last column read from the left."""

    def __init__(
        self, heads: Sequence[str], tips: dict[int, str], words: Sequence[int], parent: QObject
    ) -> None:
        super().__init__(parent)
        self.heads, self.tips, self._words = tuple(heads), tips, frozenset(words)
        self.rows: list[Row] = []

    def show_rows(self, rows: list[Row], heads: Sequence[str] | None = None) -> None:
        """Show other rows, under other heads if there are any."""
        self.beginResetModel()
        self.rows = rows
        self.heads = self.heads if heads is None else tuple(heads)
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008  (Qt's signature)
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.heads)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.heads[section]
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip_text(self.tips.get(section, ""))
        return self._side(section) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row, column = self.rows[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return row.cells[column]
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip_text(row.cells[column])
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self._side(column)
        if role == Qt.ItemDataRole.DecorationRole and column == 0 and row.look is not None:
            return swatch(row.look)
        if role == Qt.ItemDataRole.FontRole and row.strong:
            font = QFont()
            font.setBold(True)
            return font
        if role == Qt.ItemDataRole.ForegroundRole and row.cells[column] == "–":
            return QColor(current_theme().muted)
        return None

    def _side(self, column: int) -> Qt.AlignmentFlag:
        side = Qt.AlignmentFlag.AlignLeft if column in self._words else Qt.AlignmentFlag.AlignRight
        return side | Qt.AlignmentFlag.AlignVCenter
