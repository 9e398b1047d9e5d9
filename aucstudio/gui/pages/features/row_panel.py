"""The cells of the row that is pointed at."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from aucstudio.gui.common.plain import plain_tooltip
from aucstudio.gui.common.widgets import data_button, explain_button, label, named
from aucstudio.project.data.table import Table
from aucstudio.project.explain.pair_detail import GAP
from aucstudio.project.explain.trees import plain_number

_MOST = 24


class RowPanel(QWidget):
    """The number, class and score of a row, and its cells as the table has them."""

    closed = Signal()
    data_asked = Signal()
    explaining = Signal()

    def __init__(self) -> None:
        super().__init__()
        named(self, "row_panel", "The row that is pointed at")
        self.heading = label("", "title", name="row_heading")
        # A long name is cut off rather than widening the window.
        self.heading.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.cells = label("", "muted", wrap=True, name="row_cells")
        self.close_button = named(QPushButton("C&lose"), "row_close_button", "Point at no row")
        plain_tooltip(self.close_button, "Point at no row")
        self.close_button.clicked.connect(self.closed.emit)
        head = QHBoxLayout()
        head.addWidget(self.heading, stretch=1)
        self.data_button = data_button("row_data_button")
        self.data_button.clicked.connect(self.data_asked.emit)
        head.addWidget(self.data_button)
        self.explain_button = explain_button("row_explain_button")
        self.explain_button.clicked.connect(self.explaining.emit)
        head.addWidget(self.explain_button)
        head.addWidget(self.close_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addLayout(head)
        layout.addWidget(self.cells)
        self.hide()

    def show_row(self, table: Table, row: int, heading: str) -> None:
        """Show a row of the table."""
        known = [
            f"{column.name} {_cell(column.values[row])}"
            for column in table.columns
            if column.role in ("number", "category", "group")
        ]
        more = f" · and {len(known) - _MOST} more" if len(known) > _MOST else ""
        self.heading.setText(heading)
        plain_tooltip(self.heading, heading)
        self.cells.setText(" · ".join(known[:_MOST]) + more)
        plain_tooltip(self.cells, "\n".join(known))
        self.show()


def _cell(value: object) -> str:
    if value is None or value != value:
        return GAP
    return plain_number(value, 6) if isinstance(value, float) else str(value)
