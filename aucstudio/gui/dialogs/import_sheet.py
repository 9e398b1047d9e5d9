"""The first rows of a file below cards of their columns."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QWidget

from aucstudio.engine.arrays import Array
from aucstudio.gui.common.column_controls import DatePartsButton, role_words
from aucstudio.gui.common.controls import fill_combo
from aucstudio.gui.common.layouts import across, discard, down
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.plotting import faded
from aucstudio.gui.common.rows_model import RowsModel
from aucstudio.gui.common.table import TableView
from aucstudio.gui.common.theme import current_theme, scaled
from aucstudio.gui.common.widgets import (
    ElidedCombo,
    bold,
    label,
    named,
    set_italic,
    set_role,
)
from aucstudio.gui.state.background import Background
from aucstudio.project.data.columns import ROLES, Column
from aucstudio.project.data.import_choices import role_is_guess
from aucstudio.project.data.table import Table
from aucstudio.project.data.text import dates
from aucstudio.project.survey.columns import Classes, Distribution, RankedColumn, spread
from aucstudio.project.work.job import Job

_WIDTH, _DATE_WIDTH = 172, 192
_PAD, _COMBO, _SPREAD, _GAP, _GRIP = 8, 30, 30, 4, 4
_NO_SHARES: Array = np.empty((0, 0))


@dataclasses.dataclass(frozen=True, eq=False)
class _Summary:
    """Distribution and AUC of a column; the AUC is None if it cannot be computed."""

    distribution: Distribution
    area: float | None

    @classmethod
    def of(cls, column: Column, classes: Classes | None) -> _Summary:
        plain = classes is None or column.role == "label"
        ranked = None if classes is None or plain else RankedColumn.of(column, classes)
        area = None if ranked is None or ranked.is_few else ranked.area()
        return cls(spread(column, classes), area)


def kind_words(column: Column) -> str:
    """Return the kind of the cells of a column."""
    if column.is_date:
        return "time" if column.layout == dates.CLOCK else "date"
    return "numbers" if column.kind == "number" else "text"


class _Spread(QWidget):
    """The distribution of a column, by class if it has two."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedHeight(scaled(_SPREAD))
        self._shares = _NO_SHARES

    def show_shares(self, shares: Array) -> None:
        """Draw the shares of bars, one row a class."""
        self._shares = shares
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        shares, theme = self._shares, current_theme()
        if not shares.size:
            return
        painter, by_class = QPainter(self), len(shares) == 2
        inks = (
            ((theme.positive, 153), (theme.negative, 191)) if by_class else ((theme.neutral, 191),)
        )
        width, height = self.width() / shares.shape[1], self.height() - 1
        painter.setPen(Qt.PenStyle.NoPen)
        for (ink, alpha), line in reversed(
            list(zip(inks, shares / (shares.max() or 1.0), strict=True))
        ):
            painter.setBrush(faded(ink, alpha))
            for bar, share in enumerate(line.tolist()):
                top = height * (1.0 - share)
                painter.drawRect(QRectF(bar * width, top, 0.92 * width, height - top))
        painter.setPen(QColor(theme.line))
        painter.drawLine(0, height, self.width(), height)
        painter.end()


class ColumnHead(QWidget):
    """Name, role, kind, missing values, AUC and distribution of a column.

    Attributes
    ----------
    role : QComboBox
    parts : DatePartsButton
        Hidden unless the column has dates.
    """

    role_chosen = Signal(str, object)

    def __init__(self, place: int, parent: QWidget) -> None:
        super().__init__(parent)
        self._column: Column | None = None
        self._classes = 0
        self._name = label(elided=True)
        self._kind, self._area = (label("", "muted", elided=True) for _ in range(2))
        self._name.setFont(bold(self._name.font()))
        self.role = ElidedCombo()
        self.role.setObjectName(f"import_role_{place}")
        self.role.setFixedHeight(scaled(_COMBO))
        self.role.activated.connect(self._on_role)
        self.parts = DatePartsButton(f"import_parts_{place}")
        self.parts.setFixedHeight(self.fontMetrics().height())
        self.parts.setStyleSheet("padding: 0")
        self._spread = _Spread()
        kind = across((self._kind, 1), self.parts, gap=_GAP)
        lines = self._name, self.role, kind, self._area, self._spread
        self.setLayout(down(*lines, gap=_GAP, around=(_PAD - _GRIP, _PAD, _PAD - _GRIP, _PAD)))

    def show_column(self, table: Table, column: Column) -> None:
        """Show the facts of a column before it is summarised."""
        self._column, self._classes = column, len(table.classes)
        self._name.setText(column.name)
        set_role(self._name, "muted" if column.role == "ignore" else "")
        guessed = role_is_guess(table, column)
        detected = f"Detected: {role_words(column.role, column)}" if guessed else "Detect"
        roles = [(role_words(role, column), role) for role in ROLES]
        fill_combo(self.role, [(detected, None), *roles])
        self.role.setCurrentIndex(0 if guessed else self.role.findData(column.role))
        set_italic(self.role, guessed)
        self.role.setAccessibleName(f"Role of {column.name}")
        plain_tooltip(self.role, column.reason or f"What {column.name} is used for")
        self._kind.setText(f"{kind_words(column)} · {column.missing:,} missing")
        self.parts.show_column(column)
        self.show_summary(None)

    def show_summary(self, summary: _Summary | None) -> None:
        """Show the AUC and the distribution of the column."""
        column = self._column
        assert column is not None
        words = f"{column.distinct:,} different"
        if column.role == "label":
            words = f"{self._classes} classes"
        elif summary is not None and summary.area is not None:
            words = f"AUC alone {summary.area:.2f}"
        self._area.setText(words)
        self._spread.show_shares(_NO_SHARES if summary is None else summary.distribution.shares)

    def _on_role(self, place: int) -> None:
        if self._column is not None:
            self.role_chosen.emit(self._column.name, self.role.itemData(place))


class ColumnCards(QHeaderView):
    """Heads of the columns; made for visible columns only, as a table may have very many.

    Signals
    -------
    role_chosen(str, object)
        A column and its role; None to detect it.
    parts_chosen(str, tuple)
        A column of dates, and the parts used in training.

    Attributes
    ----------
    after : QWidget or None
        The widget before the first list of roles in the order of Tab.
    """

    role_chosen = Signal(str, object)
    parts_chosen = Signal(str, tuple)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        named(self, "import_columns")
        self.setDefaultSectionSize(scaled(_WIDTH))
        self.setHighlightSections(False)
        self.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self.table: Table | None = None
        self.heads: dict[int, ColumnHead] = {}
        self.summaries: dict[int, _Summary] = {}
        self.after: QWidget | None = None
        self._classes: Classes | None = None
        self._work = Background(self, self._on_summarised)
        self.sectionResized.connect(lambda *_: self.place())

    def show_table(self, table: Table | None) -> None:
        self._work.drop()
        self.table, columns = table, () if table is None else table.columns
        self._classes = None if table is None else Classes.of(table)
        self.summaries = {}
        for k in [k for k in self.heads if k >= len(columns)]:
            discard(self.heads.pop(k))
        for k, head in self.heads.items():
            if table is not None:
                head.show_column(table, columns[k])
        # A day and a time are wider. The attributes are faster for very many columns.
        for k in [k for k, c in enumerate(columns) if c.number and c.number.dated]:
            if self.sectionSize(k) == self.defaultSectionSize():
                self.resizeSection(k, scaled(_DATE_WIDTH))
        self.place()

    def resizeEvent(self, event: QResizeEvent) -> None:
        # The table is resized before its header, so the visible columns are known only here.
        super().resizeEvent(event)
        self.place()

    def sizeHint(self) -> QSize:
        line = self.fontMetrics().height()
        height = 2 * _PAD + 3 * line + scaled(_COMBO) + scaled(_SPREAD) + 4 * _GAP
        return QSize(super().sizeHint().width(), height)

    def paintSection(self, painter: QPainter, rect: QRect, logicalIndex: int) -> None:  # noqa: N803
        if self.table is not None and logicalIndex < len(self.table.columns):
            painter.fillRect(rect, QColor(current_theme().card))
            painter.setPen(QColor(current_theme().line))
            painter.drawLine(rect.topRight(), rect.bottomRight())
            painter.drawLine(rect.bottomLeft(), rect.bottomRight())

    def _visible(self) -> range:
        if self.table is None or not self.table.columns:
            return range(0)
        first, last = self.logicalIndexAt(0), self.logicalIndexAt(self.viewport().width() - 1)
        return range(max(0, first), (len(self.table.columns) if last < 0 else last + 1))

    def place(self) -> None:
        """Place the heads of the visible columns, and summarise them."""
        seen, before = self._visible(), self.after
        for k in set(self.heads) - set(seen):
            self.heads[k].hide()
        for k in seen:
            head = self.heads.get(k) or self._make(k)
            # The grips between sections stay free.
            left, width = self.sectionViewportPosition(k) + _GRIP, self.sectionSize(k) - 2 * _GRIP
            head.setGeometry(left, 0, max(0, width), self.height() - 1)
            head.show()
            for control in (head.role, head.parts):
                if before is not None:
                    QWidget.setTabOrder(before, control)
                before = control
        self._summarise(seen)

    def _make(self, k: int) -> ColumnHead:
        assert self.table is not None
        head = self.heads[k] = ColumnHead(k, self.viewport())
        head.role_chosen.connect(self.role_chosen)
        head.parts.chosen.connect(self.parts_chosen)
        head.show_column(self.table, self.table.columns[k])
        if k in self.summaries:
            head.show_summary(self.summaries[k])
        return head

    def _summarise(self, seen: range) -> None:
        wanted = tuple(k for k in seen if k not in self.summaries)
        if not wanted or self.table is None or self._work.key == (self.table, wanted):
            return
        table, classes = self.table, self._classes

        def work(post: Any) -> Mapping[int, _Summary]:
            found: dict[int, _Summary] = {}
            for k in wanted:
                if post(k):
                    break
                found[k] = _Summary.of(table.columns[k], classes)
            return found

        self._work.start((table, wanted), work)

    def _on_summarised(self, key: Any, job: Job[Any, Mapping[int, _Summary]]) -> None:
        if job.result is not None and key[0] is self.table:
            self.summaries |= job.result
            for k, summary in job.result.items():
                self.heads[k].show_summary(summary)


ROWS = 200
_LINE = 24


class ImportSheet(TableView):
    """The first rows under the cards of their columns."""

    def __init__(self) -> None:
        self.rows = RowsModel(None)
        super().__init__("import_table", "", self.rows, _LINE)
        self.cards = ColumnCards(self)
        self.setHorizontalHeader(self.cards)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().setVisible(True)
        self.horizontalScrollBar().valueChanged.connect(lambda _value: self.cards.place())

    def show_table(self, table: Table | None) -> None:
        """Show other rows."""
        across = self.horizontalScrollBar().value()
        if table is None:
            self.rows.show(None)
        else:
            self.rows.show(table, table.columns, np.arange(min(ROWS, table.rows)))
        self.cards.show_table(table)
        self.horizontalScrollBar().setValue(across)
        self.cards.place()
