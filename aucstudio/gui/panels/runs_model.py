"""The runs as rows of a table: names, figures, and the lines they are drawn with."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QBrush, QColor

from aucstudio.gui.common.plain import tip_text
from aucstudio.gui.common.plotting import swatch
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.panels.run_details import settings_sentence
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.project.results.summary import auc_summary, pauc_summary
from aucstudio.project.runs.record import DONE, FAILED, STOPPED
from aucstudio.project.words import figure_words, seconds_words

Index = QModelIndex | QPersistentModelIndex

COLUMNS = ("Run", "AUC", "pAUC", "Time")
_MARKS = {DONE: "", STOPPED: "◐ ", FAILED: "✕ "}


class RunsModel(QAbstractTableModel):
    """One row a run: the finished ones, then those in flight, then those that wait."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self._runs: list[ShownRun] = []
        self._waiting: list[tuple[str, str, int]] = []
        session.runs_changed.connect(self.reload)
        session.band_changed.connect(self._on_band)
        session.live_changed.connect(self._on_live)

    def reload(self) -> None:
        """Take the runs from the session anew."""
        self.beginResetModel()
        self._runs = self.session.shown_runs()
        self._waiting = self._waiting_rows()
        self.endResetModel()

    def _waiting_rows(self) -> list[tuple[str, str, int]]:
        rows = []
        for live in self.session.flights:
            share = "" if live.fraction is None else f" {100 * live.fraction:.0f} %"
            words = "stopping…" if live.stopping else f"training{share}"
            rows.append((live.look.name, words, live.look.colour))
        rows += [(one.look.name, "queued", one.look.colour) for one in self.session.queue]
        return rows

    def _on_live(self) -> None:
        rows = self._waiting_rows()
        if len(rows) != len(self._waiting):
            self.reload()
        elif rows != self._waiting:
            self._waiting = rows
            self.dataChanged.emit(
                self.index(len(self._runs), 0), self.index(self.rowCount() - 1, len(COLUMNS) - 1)
            )

    def _on_band(self) -> None:
        if self._runs:
            self.dataChanged.emit(self.index(0, 2), self.index(len(self._runs) - 1, 2))

    def run_at(self, row: int) -> ShownRun | None:
        """Give the finished run of a row; None for one that is not finished."""
        return self._runs[row] if 0 <= row < len(self._runs) else None

    def row_of(self, run: str | None) -> int:
        """Give the row of a run; -1 if it has none."""
        return next((k for k, shown in enumerate(self._runs) if shown.record.id == run), -1)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008  (Qt's signature)
        return 0 if parent.isValid() else len(self._runs) + len(self._waiting)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return COLUMNS[section]
        if role == Qt.ItemDataRole.ToolTipRole:
            return (
                "The checked runs are drawn",
                "Held-out AUC and half its 95 % interval",
                "Held-out partial AUC in the FPR range, divided by the range's width",
                "Time of one fit",
            )[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignLeft if section == 0 else Qt.AlignmentFlag.AlignRight
            return side | Qt.AlignmentFlag.AlignVCenter
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        if index.column() == 0 and self.run_at(index.row()) is not None:
            flags |= Qt.ItemFlag.ItemIsUserCheckable | Qt.ItemFlag.ItemIsEditable
        return flags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() > 0:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        shown = self.run_at(index.row())
        if shown is None:
            return self._waiting_data(index, role)
        if role == Qt.ItemDataRole.CheckStateRole and index.column() == 0:
            return Qt.CheckState.Checked if shown.look.visible else Qt.CheckState.Unchecked
        if role == Qt.ItemDataRole.DecorationRole and index.column() == 0:
            return swatch(shown.look)
        if role == Qt.ItemDataRole.EditRole:
            return shown.look.name
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip_text(shown.record.error or settings_sentence(shown))
        if role == Qt.ItemDataRole.DisplayRole:
            return self._cell(shown, index.column())
        return None

    def _cell(self, shown: ShownRun, column: int) -> str:
        if column == 0:
            return _MARKS[shown.record.status] + shown.look.name
        if not shown.record.splits:
            return "failed" if column == 1 and shown.record.status == FAILED else "–"
        area = auc_summary(shown.record)
        part = pauc_summary(shown.record, self.session.plan.band)
        if column == 1:
            return f"{figure_words(area.value)} ±{_short(area.half_width)}"
        if column == 2:
            return figure_words(part.value)
        return seconds_words(shown.record.fit_seconds)

    def _waiting_data(self, index: Index, role: int) -> Any:
        name, words, _colour = self._waiting[index.row() - len(self._runs)]
        if role == Qt.ItemDataRole.DisplayRole:
            return name if index.column() == 0 else words if index.column() == 1 else ""
        if role == Qt.ItemDataRole.ForegroundRole:
            return QBrush(QColor(current_theme().muted))
        return None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        shown = self.run_at(index.row())
        if shown is None:
            return False
        if role == Qt.ItemDataRole.CheckStateRole:
            checked = Qt.CheckState(value) == Qt.CheckState.Checked
            self.session.set_look(shown.record.id, "Show or hide run", visible=checked)
            return True
        if role == Qt.ItemDataRole.EditRole and str(value).strip():
            self.session.set_look(shown.record.id, "Rename run", name=str(value).strip())
            return True
        return False


def _short(width: float) -> str:
    return f"{width:.3f}".removeprefix("0")
