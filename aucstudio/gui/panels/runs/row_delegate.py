"""Painting of a row of the run list."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QIcon, QPainter
from PySide6.QtWidgets import (
    QApplication,
    QLineEdit,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from aucstudio.gui.common.icons import icon
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.panels.runs.columns import KEYS, NAME
from aucstudio.gui.panels.runs.run_texts import DEFAULTS
from aucstudio.gui.panels.runs.runs_model import BELOW, CAUTION

Index = QModelIndex | QPersistentModelIndex

_SIGN = 14  # pixels
_MARGIN_ABOVE = 5
_MARGIN = 3  # as the style has it beside a text
_SMALLER = 0.88
_UNDER_NAME = ("scheme", "settings")


class RowDelegate(QStyledItemDelegate):
    """Paints the rows of a list of runs.

    Validation and settings are shown below the name if they have no column, so that two runs of one
    method look different.

    Attributes
    ----------
    is_editing : bool
        Whether the user is editing a row.
    """

    def __init__(self, view: QTableView) -> None:
        super().__init__(view)
        self._view = view
        self.is_editing = False
        self._signs: dict[str, QIcon] = {}

    def row_height(self) -> int:
        """Return the height of two lines in the view's font."""
        return two_lines(self._view.font())

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        self.is_editing = True
        return super().createEditor(parent, option, index)

    def destroyEditor(self, editor: QWidget, index: Index) -> None:
        self.is_editing = False
        super().destroyEditor(editor, index)

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        # A change of the row must not replace typed text.
        if not (isinstance(editor, QLineEdit) and editor.isModified()):
            super().setEditorData(editor, index)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(super().sizeHint(option, index).width(), self.row_height())

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        if self._view.columnSpan(index.row(), index.column()) > 1:  # the head of a group
            super().paint(painter, option, index)
            return
        below, caution = self._below(index), bool(index.data(CAUTION))
        shown = QStyleOptionViewItem(option)
        self.initStyleOption(shown, index)
        style = self._view.style() or QApplication.style()
        area = style.subElementRect(QStyle.SubElement.SE_ItemViewItemText, shown, self._view)
        area.adjust(_MARGIN, 0, -_MARGIN, 0)
        text, shown.text = shown.text, ""
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, shown, painter, self._view)
        if caution:
            area = self._with_sign(painter, area)
        if index.column() != KEYS.index(NAME):
            text = text.removesuffix(below).rstrip()
        self._write(painter, area, shown, text, below)

    def _below(self, index: Index) -> str:
        if index.column() != KEYS.index(NAME):
            return index.data(BELOW) or ""
        places = [KEYS.index(key) for key in _UNDER_NAME]
        rows = index.model()
        hidden = [k for k in places if self._view.isColumnHidden(k)]
        parts = [rows.data(rows.index(index.row(), k)) for k in hidden]
        return " · ".join(part for part in parts if part and part != DEFAULTS)

    def _with_sign(self, painter: QPainter, area: QRect) -> QRect:
        """Paint the sign of a warning at the right of an area; return the rest of the area."""
        theme = current_theme().name
        if theme not in self._signs:
            self._signs[theme] = icon("warning", "warning")
        place = QRect(area.right() - _SIGN, area.center().y() - _SIGN // 2, _SIGN, _SIGN)
        self._signs[theme].paint(painter, place)
        return area.adjusted(0, 0, -_SIGN - _MARGIN_ABOVE, 0)

    def _write(
        self,
        painter: QPainter,
        area: QRect,
        shown: QStyleOptionViewItem,
        text: str,
        below: str,
    ) -> None:
        theme, small = current_theme(), smaller(shown.font)
        upper, lower = QFontMetrics(shown.font), QFontMetrics(small)
        side = shown.displayAlignment & Qt.AlignmentFlag.AlignHorizontal_Mask
        top = area.top() + (area.height() - upper.height() - (lower.height() if below else 0)) // 2
        painter.save()
        painter.setFont(shown.font)
        painter.setPen(shown.palette.color(shown.palette.ColorRole.Text))
        line = QRect(area.left(), top, area.width(), upper.height())
        painter.drawText(line, side | Qt.AlignmentFlag.AlignVCenter, _cut(upper, text, line))
        painter.setFont(small)
        painter.setPen(QColor(theme.muted))
        line = QRect(area.left(), top + upper.height(), area.width(), lower.height())
        painter.drawText(line, side | Qt.AlignmentFlag.AlignVCenter, _cut(lower, below, line))
        painter.restore()


def two_lines(font: QFont) -> int:
    """Return the height of a row with a second, smaller line."""
    return QFontMetrics(font).height() + QFontMetrics(smaller(font)).height() + 2 * _MARGIN_ABOVE


def smaller(font: QFont) -> QFont:
    """Return the font of a second line."""
    made = QFont(font)
    if font.pixelSize() > 0:
        made.setPixelSize(max(1, round(_SMALLER * font.pixelSize())))
    else:
        made.setPointSizeF(_SMALLER * font.pointSizeF())
    return made


def _cut(metrics: QFontMetrics, text: str, line: QRect) -> str:
    return metrics.elidedText(text, Qt.TextElideMode.ElideRight, line.width())
