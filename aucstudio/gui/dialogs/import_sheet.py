"""The first rows of a file below cards of their columns."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from PySide6.QtCore import QRect, QRectF, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QComboBox, QHeaderView, QWidget

from aucstudio.gui.common.column_controls import DatePartsButton
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.rows_model import RowsModel
from aucstudio.gui.common.table import TableView
from aucstudio.gui.common.theme import current_theme, scaled
from aucstudio.gui.common.widgets import ElidedCombo, named
from aucstudio.gui.state.background import Background
from aucstudio.notices.controls import control_words
from aucstudio.project.data.columns import ROLES, Column
from aucstudio.project.data.import_choices import role_is_guess
from aucstudio.project.data.table import Table
from aucstudio.project.data.text import dates
from aucstudio.project.survey.columns import Classes, Distribution, RankedColumn, spread
from aucstudio.project.work.job import Job

_WIDTH, _DATE_WIDTH = 172, 192
_PAD, _COMBO, _SPREAD, _GAP = 8, 30, 30, 4


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
        return "time of day" if column.layout == dates.CLOCK else "date"
    return "numbers" if column.kind == "number" else "text"


def _role_words(column: Column, role: str) -> str:
    if role == "number" and column.is_date:
        return "Time" if column.layout == dates.CLOCK else "Date"
    return control_words("column_role")["choices"][role]


class ColumnCards(QHeaderView):
    """Column head: name, role, kind, missing values, AUC and distribution by class.

    Lists of roles are made for the visible columns only, as a table may have very many.

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
        self.combos: dict[int, QComboBox] = {}
        self.parts: dict[int, DatePartsButton] = {}
        self.summaries: dict[int, _Summary] = {}
        self.after: QWidget | None = None
        self._classes: Classes | None = None
        self._work = Background(self, self._on_summarised)
        self.sectionResized.connect(lambda *_: self.place())

    @property
    def busy(self) -> bool:
        """Whether columns are being summarised."""
        return self._work.busy

    def drop(self) -> None:
        """Cancel the summaries."""
        self._work.drop()

    def show_table(self, table: Table | None) -> None:
        self._work.drop()
        self.table = table
        self._classes = None if table is None else Classes.of(table)
        self.summaries = {}
        count = 0 if table is None else len(table.columns)
        for k in [k for k in self.combos if k >= count]:
            gone = self.combos.pop(k)
            gone.hide()
            gone.deleteLater()
        for k, combo in self.combos.items():
            self._fill(k, combo)
        for button in self.parts.values():
            button.hide()
            button.deleteLater()
        self.parts = {}
        self._widen_dates()
        self.place()

    def _widen_dates(self) -> None:
        """Make date columns wide enough for a day and time."""
        columns = () if self.table is None else self.table.columns
        # The attributes are faster than the properties for very many columns.
        for k in [k for k, c in enumerate(columns) if c.number and c.number.dated]:
            if self.sectionSize(k) == self.defaultSectionSize():
                self.resizeSection(k, scaled(_DATE_WIDTH))

    def resizeEvent(self, event: QResizeEvent) -> None:
        # The table is resized before its header, so the visible columns are known only here.
        super().resizeEvent(event)
        self.place()

    def sizeHint(self) -> QSize:
        line = self.fontMetrics().height()
        height = 2 * _PAD + 3 * line + scaled(_COMBO) + scaled(_SPREAD) + 4 * _GAP
        return QSize(super().sizeHint().width(), height)

    # ------------------------------------------------------------- lists of roles

    def _visible(self) -> range:
        if self.table is None or not self.table.columns:
            return range(0)
        first, last = self.logicalIndexAt(0), self.logicalIndexAt(self.viewport().width() - 1)
        return range(max(0, first), (len(self.table.columns) if last < 0 else last + 1))

    def place(self) -> None:
        """Place the lists of roles at their columns, and summarise the visible columns."""
        seen, columns = self._visible(), () if self.table is None else self.table.columns
        for k in set(self.combos) - set(seen):
            self.combos[k].hide()
        for k in set(self.parts) - set(seen):
            self.parts[k].hide()
        before = self.after
        for k in seen:
            combo = self.combos.get(k) or self._make(k)
            combo.setGeometry(
                self.sectionViewportPosition(k) + _PAD,
                _PAD + self.fontMetrics().height() + _GAP,
                max(0, self.sectionSize(k) - 2 * _PAD),
                scaled(_COMBO),
            )
            combo.show()
            if before is not None:
                QWidget.setTabOrder(before, combo)
            before = combo
            if DatePartsButton.fits(columns[k]):
                button = self.parts.get(k) or self._make_parts(k)
                self._place_parts(k, button)
                QWidget.setTabOrder(before, button)
                before = button
        self._summarise(seen)

    def _make(self, k: int) -> QComboBox:
        combo = ElidedCombo(self.viewport())
        combo.setObjectName(f"import_role_{k}")
        combo.activated.connect(partial(self._on_role, k))
        self.combos[k] = combo
        self._fill(k, combo)
        return combo

    def _make_parts(self, k: int) -> DatePartsButton:
        assert self.table is not None
        button = DatePartsButton(f"import_parts_{k}", self.viewport())
        button.show_column(self.table.columns[k])
        button.chosen.connect(self.parts_chosen)
        self.parts[k] = button
        return button

    def _place_parts(self, k: int, button: DatePartsButton) -> None:
        """Place the button at the end of the line with the kind."""
        line, size = self.fontMetrics().height(), button.sizeHint()
        top = _PAD + line + scaled(_COMBO) + 2 * _GAP + (line - size.height()) // 2
        right = self.sectionViewportPosition(k) + self.sectionSize(k) - _PAD
        button.setGeometry(right - size.width(), top, size.width(), size.height())
        button.show()

    def _fill(self, k: int, combo: QComboBox) -> None:
        assert self.table is not None
        column = self.table.columns[k]
        guessed = role_is_guess(self.table, column)
        with QSignalBlocker(combo):
            combo.clear()
            words = _role_words(column, column.role)
            combo.addItem(f"Detected: {words}" if guessed else "Detect", None)
            for role in ROLES:
                combo.addItem(_role_words(column, role), role)
            combo.setCurrentIndex(0 if guessed else combo.findData(column.role))
        font = combo.font()
        font.setItalic(guessed)
        combo.setFont(font)
        combo.setAccessibleName(f"Role of {column.name}")
        plain_tooltip(combo, column.reason or f"What {column.name} is used for")

    def _on_role(self, k: int, place: int) -> None:
        assert self.table is not None
        self.role_chosen.emit(self.table.columns[k].name, self.combos[k].itemData(place))

    # ------------------------------------------------------------- figures

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
            self.viewport().update()

    # ------------------------------------------------------------- painting

    def paintSection(self, painter: QPainter, rect: QRect, logicalIndex: int) -> None:  # noqa: N803
        if self.table is None or logicalIndex >= len(self.table.columns):
            return
        theme, column = current_theme(), self.table.columns[logicalIndex]
        metrics, line = self.fontMetrics(), self.fontMetrics().height()
        inner = rect.adjusted(_PAD, _PAD, -_PAD, -_PAD)
        painter.save()
        painter.fillRect(rect, QColor(theme.card))
        painter.setPen(QColor(theme.line))
        painter.drawLine(rect.topRight(), rect.bottomRight())
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        muted = column.role == "ignore"
        font = painter.font()
        font.setBold(True)
        painter.setFont(font)
        painter.setPen(QColor(theme.muted if muted else theme.text))
        name = painter.fontMetrics().elidedText(
            column.name, Qt.TextElideMode.ElideMiddle, inner.width()
        )
        painter.drawText(QRect(inner.left(), inner.top(), inner.width(), line), 0, name)
        font.setBold(False)
        painter.setFont(font)
        painter.setPen(QColor(theme.muted))
        top = inner.top() + line + scaled(_COMBO) + 2 * _GAP
        button = self.parts.get(logicalIndex)
        taken = 0 if button is None else button.width() + _GAP
        for words, room in ((self._kind_line(column), taken), (self._area_line(logicalIndex), 0)):
            text = metrics.elidedText(words, Qt.TextElideMode.ElideRight, inner.width() - room)
            painter.drawText(QRect(inner.left(), top, inner.width(), line), 0, text)
            top += line
        self._paint_spread(
            painter, QRectF(inner.left(), top + _GAP, inner.width(), scaled(_SPREAD)), logicalIndex
        )
        painter.restore()

    def _kind_line(self, column: Column) -> str:
        gaps = f"{column.missing:,} missing" if column.missing else "none missing"
        return f"{kind_words(column)} · {gaps}"

    def _area_line(self, k: int) -> str:
        assert self.table is not None
        summary = self.summaries.get(k)
        if self.table.columns[k].role == "label":
            return f"{len(self.table.classes)} classes"
        if summary is None or summary.area is None:
            return f"{self.table.columns[k].distinct:,} different"
        return f"AUC alone {summary.area:.2f}"

    def _paint_spread(self, painter: QPainter, area: QRectF, k: int) -> None:
        summary, theme = self.summaries.get(k), current_theme()
        if summary is None or not summary.distribution.shares.size:
            return
        shares = summary.distribution.shares
        bars = shares.shape[1]
        tallest = float(shares.max()) or 1.0
        by_class = shares.shape[0] == 2
        colours = [theme.positive, theme.negative] if by_class else [theme.neutral]
        width = area.width() / bars
        painter.setPen(Qt.PenStyle.NoPen)
        for group, name in reversed(list(enumerate(colours))):
            colour = QColor(name)
            colour.setAlphaF(0.75 if group or not by_class else 0.6)
            painter.setBrush(colour)
            for bar, share in enumerate(shares[group].tolist()):
                height = area.height() * share / tallest
                painter.drawRect(
                    QRectF(area.left() + bar * width, area.bottom() - height, width * 0.92, height)
                )
        painter.setPen(QColor(theme.line))
        painter.drawLine(area.bottomLeft(), area.bottomRight())


ROWS = 200
_LINE = 24


class ImportSheet(TableView):
    """The first rows under the cards of their columns.

    Signals
    -------
    role_chosen(str, object)
        A column and its role; None to detect it.
    parts_chosen(str, tuple)
        A column of dates, and the parts used in training.
    """

    role_chosen = Signal(str, object)
    parts_chosen = Signal(str, tuple)

    def __init__(self) -> None:
        self.rows = RowsModel(None)
        super().__init__("import_table", "", self.rows, _LINE)
        self.cards = ColumnCards(self)
        self.setHorizontalHeader(self.cards)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().setVisible(True)
        self.horizontalScrollBar().valueChanged.connect(lambda _value: self.cards.place())
        self.cards.role_chosen.connect(self.role_chosen)
        self.cards.parts_chosen.connect(self.parts_chosen)

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
