"""What the importer understood of every column, and what each is used for."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QHeaderView,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from aucstudio.gui.common.plain import plain_tooltip
from aucstudio.gui.common.widgets import dialog_buttons, label, named, primary
from aucstudio.project.data.table import Column, Table

_ROLES = {"number": ["number", "ignore"], "text": ["category", "ignore"]}
_EXAMPLES = 3
_ROLE_WIDTH = 136
_MOST_NOTES = 8  # in sight: why a column is ignored stands on its name, too
_NUMBERS = (2, 3)  # columns of figures
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class ColumnsDialog(QDialog):
    """Lists the columns; ``roles`` gives what was chosen."""

    def __init__(self, table: Table, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(f"Columns of {table.path.name}")
        self.setObjectName("columns_dialog")
        self.resize(760, 520)
        self._combos: dict[str, QComboBox] = {}
        self._before: dict[str, str] = {}
        found = table.as_inspection()
        facts = (
            f"{table.rows:,} rows; {found['format'].upper()}, {found['encoding']}, delimiter "
            f"{_spelled(found['delimiter'])}, decimal “{found['decimal']}”, "
            f"{'with' if found['header'] else 'without'} a header row"
        )
        grid = self._make_grid(table)
        buttons = dialog_buttons(
            QDialogButtonBox.StandardButton.Ok,
            QDialogButtonBox.StandardButton.Cancel,
            name="columns",
        )
        primary(buttons.button(QDialogButtonBox.StandardButton.Ok))
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.setSpacing(8)
        layout.addWidget(label(facts, "muted", wrap=True))
        layout.addWidget(grid, stretch=1)
        notes = list(table.notes)
        if len(notes) > _MOST_NOTES + 1:
            notes[_MOST_NOTES:] = [f"… and {len(notes) - _MOST_NOTES} more notes"]
        if notes:
            layout.addWidget(label("\n".join(notes), "muted", wrap=True))
        layout.addWidget(buttons)

    def _make_grid(self, table: Table) -> QTableWidget:
        grid = named(QTableWidget(len(table.columns), 5), "columns_table", "Columns")
        for place, title in enumerate(("Column", "Role", "Distinct", "Gaps", "First values")):
            head = QTableWidgetItem(title)
            head.setTextAlignment(_RIGHT if place in _NUMBERS else _LEFT)
            grid.setHorizontalHeaderItem(place, head)
        grid.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        grid.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        grid.verticalHeader().hide()
        grid.verticalHeader().setDefaultSectionSize(36)
        for row, column in enumerate(table.columns):
            self._fill_row(grid, row, column)
        header = grid.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Fixed)
        header.resizeSection(1, _ROLE_WIDTH)
        header.setSectionResizeMode(4, QHeaderView.ResizeMode.Stretch)
        return grid

    def _fill_row(self, grid: QTableWidget, row: int, column: Column) -> None:
        name = QTableWidgetItem(column.name)
        plain_tooltip(name, column.why or column.name)
        grid.setItem(row, 0, name)
        if column.role == "label":
            grid.setItem(row, 1, QTableWidgetItem("label"))
        else:
            combo = named(QComboBox(), f"role_{row}", f"Role of column {column.name}")
            combo.addItems(_ROLES[column.kind])
            combo.setCurrentText(column.role)
            grid.setCellWidget(row, 1, combo)
            self._combos[column.name], self._before[column.name] = combo, column.role
        for place, number in zip(_NUMBERS, (column.distinct, column.missing), strict=True):
            item = QTableWidgetItem(f"{number:,}")
            item.setTextAlignment(_RIGHT)
            grid.setItem(row, place, item)
        grid.setItem(row, 4, QTableWidgetItem(_examples(column)))

    def roles(self) -> dict[str, str]:
        """Give the roles that were changed, by column."""
        return {
            name: combo.currentText()
            for name, combo in self._combos.items()
            if combo.currentText() != self._before[name]
        }


def _examples(column: Column) -> str:
    shown = []
    for value in column.values[:_EXAMPLES]:
        if column.kind == "number":
            shown.append("" if value != value else f"{value:.6g}")
        else:
            shown.append("" if value is None else str(value))
    return ", ".join(text or "·" for text in shown)


def _spelled(delimiter: str) -> str:
    return "tab" if delimiter == "\t" else f"“{delimiter}”"
