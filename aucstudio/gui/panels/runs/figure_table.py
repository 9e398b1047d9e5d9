"""Lines of words and figures that stand under each other, each with a sentence that explains it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QWidget

from aucstudio.gui.common.plain import plain_tooltip
from aucstudio.gui.common.widgets import label

_TOP = Qt.AlignmentFlag.AlignTop


@dataclasses.dataclass(frozen=True)
class TableLine:
    """One line of a table.

    Attributes
    ----------
    title, value, beside : str
        ``beside`` is an interval or a remark.
    tip : str
        One plain sentence.
    """

    title: str
    value: str
    beside: str = ""
    tip: str = ""


class FigureTable(QWidget):
    """A table of labels.

    Parameters
    ----------
    name : str
    wrap : bool
        Whether values are words, which take several lines; else figures, which end at one edge.
    """

    def __init__(self, name: str, *, wrap: bool = False) -> None:
        super().__init__()
        self.setObjectName(name)
        self._name, self._wrap = name, wrap
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(10)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(1 if wrap else 2, 1)
        self._cells: list[tuple[QLabel, ...]] = []

    def show_lines(self, lines: Sequence[TableLine]) -> None:
        """Show these lines and no others."""
        while len(self._cells) < len(lines):
            self._add_row()
        for k, cells in enumerate(self._cells):
            shown = k < len(lines)
            for cell in cells:
                cell.setVisible(shown)
            if shown:
                self._fill(cells, lines[k])

    def lines(self) -> list[tuple[str, ...]]:
        """Return the texts that are shown."""
        return [tuple(c.text() for c in cells) for cells in self._cells if not cells[0].isHidden()]

    def _add_row(self) -> None:
        k = len(self._cells)
        cells = tuple(label("", role, name=f"{self._name}_{k}_{part}") for part, role in _PARTS)
        title, value, beside = cells
        self._grid.addWidget(title, k, 0, _TOP)
        if self._wrap:
            value.setWordWrap(True)
            value.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
            self._grid.addWidget(value, k, 1, _TOP)
            beside.setParent(self)
        else:
            self._grid.addWidget(value, k, 1, _TOP | Qt.AlignmentFlag.AlignRight)
            self._grid.addWidget(beside, k, 2, _TOP)
        self._cells.append(cells)

    def _fill(self, cells: tuple[QLabel, ...], line: TableLine) -> None:
        for cell, text in zip(cells, (line.title, line.value, line.beside), strict=True):
            cell.setText(text)
            plain_tooltip(cell, line.tip)
        cells[2].setVisible(bool(line.beside))


_PARTS = (("title", "muted"), ("value", ""), ("beside", "muted"))
