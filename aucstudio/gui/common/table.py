"""Table model and view from declared columns."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from PySide6.QtCore import (
    QAbstractItemModel,
    QAbstractTableModel,
    QEvent,
    QItemSelectionModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
)
from PySide6.QtGui import QColor, QFont, QGuiApplication, QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from aucstudio.gui.common.buttons import fold_mark, link_button
from aucstudio.gui.common.plain_text import plain_tooltip, tip_text
from aucstudio.gui.common.plotting import SWATCH, swatch
from aucstudio.gui.common.theme import current_theme, scaled
from aucstudio.gui.common.widgets import bold, named
from aucstudio.gui.state.background import Answer
from aucstudio.gui.state.plan import RunLook
from aucstudio.notices import text
from aucstudio.project.results.page import Block, Heading, Paragraph, TextTable

Index = QModelIndex | QPersistentModelIndex
Role = Qt.ItemDataRole
CursorAction, Flag = QAbstractItemView.CursorAction, QItemSelectionModel.SelectionFlag
_EDGE, _STRETCHED = 4, 150  # pixels around the rows of a list; of a stretched column, at least
_AT_ONCE = 5_000  # items that are sorted within a frame
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


@dataclasses.dataclass(frozen=True)
class ColumnSpec:
    """One column of a table; its functions are called with an item.

    Attributes
    ----------
    head : str
    text : callable
        Returns the text of a cell.
    tip : str
        Tooltip of the head.
    order : callable, optional
        Returns the sort key, None to be last; by default the text.
    about : callable, optional
        Returns the tooltip of a cell; by default the text.
    is_figure : bool
        Whether cells are aligned right, and the largest is first when sorted.
    sample : str
        Text as wide as most cells.
    """

    head: str
    text: Callable[[Any], str]
    tip: str = ""
    order: Callable[[Any], Any] | None = None
    about: Callable[[Any], str] | None = None
    is_figure: bool = False
    sample: str = ""


def sorted_by(
    column: ColumnSpec, rows: Sequence[Any], item: Callable[[Any], Any], backwards: bool
) -> list[Any]:
    """Sort rows by a column of their items; rows without a value come last in both directions."""
    keys = [((column.order or column.text)(item(row)), row) for row in rows]
    known = [pair for pair in keys if pair[0] is not None]
    known.sort(key=lambda pair: pair[0], reverse=backwards)
    return [row for _, row in known] + [row for key, row in keys if key is None]


class TableModel(QAbstractTableModel):
    """Table model of items, sorted and filtered by an array of positions.

    A long list is sorted and filtered on another thread.

    Attributes
    ----------
    columns : tuple of Column
    items : list
        All items in their original order.
    shown : list of int
        Index into ``items`` of each row.
    by, backwards : int, bool
        The sort column, -1 for none, and whether the order is descending.
    """

    def __init__(self, columns: Sequence[ColumnSpec], parent: QObject | None) -> None:
        super().__init__(parent)
        self.columns = tuple(columns)
        self.items: list[Any] = []
        self.shown: list[int] = []
        self.by, self.backwards = -1, False
        self._keep: Callable[[Any], bool] | None = None
        self._arranging = Answer(self, self._show)

    def show_items(self, items: Sequence[Any]) -> None:
        """Show other items, in the present order and with the present filter."""
        self._arranging.forget()
        self.beginResetModel()
        self.items = list(items)
        self.shown = self._at_first()
        self.endResetModel()
        if self._is_long:
            self.arrange()

    def filter(self, keep: Callable[[Any], bool] | None) -> None:
        """Show only items for which a function is true; selected rows that stay keep selected."""
        self._keep = keep
        self.arrange()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column, items without a value last; by -1 as the items were given."""
        self.by, self.backwards = column, order == Qt.SortOrder.DescendingOrder
        self.arrange()

    def replace(self, items: Sequence[Any], key: Callable[[Any], Any]) -> None:
        """Show other items; rows whose item has the same key keep selection and editor."""
        self._arranging.forget()
        places = {key(item): place for place, item in enumerate(items)}
        moved = [places.get(key(item), -1) for item in self.items]
        self.items = list(items)
        self._show(self._at_first(), moved)
        if self._is_long:
            self.arrange()

    def arrange(self) -> None:
        """Sort and filter the items again."""
        if self._is_long:
            self._arranging.ask(object(), lambda _post: self._arranged())
        else:
            self._show(self._arranged())

    @property
    def _is_long(self) -> bool:
        return len(self.items) > _AT_ONCE

    def _at_first(self) -> list[int]:
        """Return the places of the items that are shown at once."""
        return list(range(len(self.items))) if self._is_long else self._arranged()

    def _show(self, shown: list[int], moved: Sequence[int] | None = None) -> None:
        """Show items by their places; ``moved`` has the new place of each former item."""
        self.layoutAboutToBeChanged.emit()  # makes selected rows persistent
        before = self.persistentIndexList()
        places = [self.shown[index.row()] for index in before]
        if moved is not None:
            places = [moved[place] for place in places]
        self.shown, wanted = shown, set(places)
        rows = {place: row for row, place in enumerate(shown) if place in wanted}
        after = [
            self.index(rows.get(place, -1), index.column())
            for place, index in zip(places, before, strict=True)
        ]
        self.changePersistentIndexList(before, after)
        self.layoutChanged.emit()

    def item(self, row: int) -> Any:
        """Return the item of a row."""
        return self.items[self.shown[row]]

    def touch(self) -> None:
        """Repaint every row."""
        if self.shown:
            self.dataChanged.emit(
                self.index(0, 0), self.index(len(self.shown) - 1, len(self.columns) - 1)
            )

    def _arranged(self) -> list[int]:
        keep = self._keep
        found = [k for k, item in enumerate(self.items) if keep is None or keep(item)]
        if not 0 <= self.by < len(self.columns):
            return found
        column, items = self.columns[self.by], self.items
        return sorted_by(column, found, lambda k: self.content(items[k]), self.backwards)

    def content(self, item: Any) -> Any:
        """Return what the functions of the columns are called with for an item."""
        return item

    # ------------------------------------------------------------- Qt

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008  (Qt's signature)
        return 0 if parent.isValid() else len(self.shown)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.columns)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Role.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(self.columns):
            return None
        column, side = self.columns[section], Qt.SortOrder
        if role == Role.DisplayRole:
            return column.head
        if role == Role.ToolTipRole:
            return tip_text(column.tip)
        if role == Role.InitialSortOrderRole:
            return side.DescendingOrder if column.is_figure else side.AscendingOrder
        return self.side(section) if role == Role.TextAlignmentRole else None

    def data(self, index: Index, role: int = Role.DisplayRole) -> Any:
        if not 0 <= index.row() < len(self.shown):
            return None
        item, column = self.item(index.row()), self.columns[index.column()]
        if role == Role.DisplayRole:
            return column.text(item)
        if role == Role.ToolTipRole:
            return tip_text((column.about or column.text)(item))
        return self.side(index.column()) if role == Role.TextAlignmentRole else None

    def side(self, column: int) -> Qt.AlignmentFlag:
        """Return the alignment of a column."""
        return RIGHT if self.columns[column].is_figure else LEFT


@dataclasses.dataclass(frozen=True)
class Row:
    """One line of a table: its cells, the look of a run before them, and whether it is bold.

    ``keys`` are the sort keys of the columns; by default the cells. ``tips`` are tooltips of
    cells by column; by default the text.
    """

    cells: tuple[str, ...]
    look: RunLook | None = None
    strong: bool = False
    keys: tuple[Any, ...] = ()
    tips: Mapping[int, str] = dataclasses.field(default_factory=dict)


class SheetModel(TableModel):
    """Rows of text.

    Parameters
    ----------
    heads : sequence of str
    tips : dict of int to str
        By column.
    words : sequence of int
        Columns that are aligned left.
    """

    def __init__(
        self,
        heads: Sequence[str],
        tips: dict[int, str],
        words: Sequence[int],
        parent: QObject | None,
    ) -> None:
        super().__init__((), parent)
        self.tips, self.words = tips, frozenset(words)
        self.heads = tuple(heads)

    @property
    def rows(self) -> list[Row]:
        """The rows as they are shown."""
        return [self.items[k] for k in self.shown]

    @property
    def heads(self) -> tuple[str, ...]:
        """The heads of the columns."""
        return tuple(column.head for column in self.columns)

    @heads.setter
    def heads(self, heads: Sequence[str]) -> None:
        self.columns = tuple(
            ColumnSpec(
                head,
                lambda row, k=k: row.cells[k],  # type: ignore[misc]
                self.tips.get(k, ""),
                lambda row, k=k: (row.keys or row.cells)[k],  # type: ignore[misc]
                lambda row, k=k: row.tips.get(k, row.cells[k]),  # type: ignore[misc]
                is_figure=k not in self.words,
            )
            for k, head in enumerate(heads)
        )

    def show_rows(self, rows: list[Row], heads: Sequence[str] | None = None) -> None:
        """Show other rows, and other heads if given."""
        if heads is not None and tuple(heads) != self.heads:
            self.heads = tuple(heads)
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(heads) - 1)
        self.show_items(rows)

    def data(self, index: Index, role: int = Role.DisplayRole) -> Any:
        row = self.item(index.row())
        if role == Role.DecorationRole and index.column() == 0 and row.look is not None:
            return swatch(row.look)
        if role == Role.FontRole and row.strong:
            return bold(QFont())
        if role == Role.ForegroundRole and row.cells[index.column()] == "–":
            return QColor(current_theme().muted)
        return super().data(index, role)


def in_columns(heads: Sequence[str], lines: Sequence[Sequence[Any]]) -> dict[str, list[Any]]:
    """Return lines as columns by their heads; nothing where there is no line."""
    return {head: [line[k] for line in lines] for k, head in enumerate(heads) if lines}


class TableView(QTableView):
    """A list whose rows are selected whole and copied as text.

    Parameters
    ----------
    name, accessible : str
    model : QAbstractItemModel
    height : int
        Of a row, in pixels at ordinary text.
    stretched : int, optional
        The column that takes the remaining width; by default the user sets all widths.

    Attributes
    ----------
    rarer : sequence of int
        Columns that are hidden in this order where the list is narrow.
    unneeded : collection of int
        Columns that say nothing at present, and are hidden.
    hidden_button : QPushButton
        Shows the columns that have no room; the page places it.
    """

    rarer: Sequence[int] = ()
    unneeded: Collection[int] = ()

    def __init__(
        self,
        name: str,
        accessible: str,
        model: QAbstractItemModel,
        height: int,
        stretched: int | None = None,
    ) -> None:
        super().__init__()
        self._rooms: dict[int, int] = {}
        named(self, name, accessible)
        if model.parent() is None:
            model.setParent(self)
        # Before the header is notified, which measures the columns again.
        for changed in (model.modelReset, model.dataChanged, model.layoutChanged):
            changed.connect(self._rooms.clear)
        self.setModel(model)
        self._height = height
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.verticalHeader().setVisible(False)
        self.verticalHeader().setDefaultSectionSize(scaled(height))
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header = self.horizontalHeader()
        for head in (header, self.verticalHeader()):
            head.setHighlightSections(False)
            # An empty selection of its own: a header asks at each painting of every section
            # whether all its cells are selected, and there may be millions.
            head.setSelectionModel(QItemSelectionModel(model, head))
        if stretched is not None:
            header.setResizeContentsPrecision(40)  # rows, from the first visible one on
            header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
            header.setSectionResizeMode(stretched, QHeaderView.ResizeMode.Stretch)
        self.setIconSize(SWATCH)
        self.setCornerWidget(QWidget())  # else the style draws a mark
        self._stretched = stretched
        self.hidden_button = link_button(f"{name}_hidden_button")
        self.hidden_button.setParent(self)  # until a page places it
        self.hidden_button.toggled.connect(lambda _open: self.fit_columns())
        self.hidden_button.hide()

    # ------------------------------------------------------------- columns without room

    def selected_rows(self) -> list[int]:
        """Return the selected rows from top to bottom."""
        # Qt's own selectedRows() calls flags() for every cell.
        ranges = self.selectionModel().selection().toList()
        return sorted({row for part in ranges for row in range(part.top(), part.bottom() + 1)})

    def fit_columns(self) -> bool:
        """Hide the rarer columns that have no room, and offer to show them.

        The others are as wide as their texts; beyond the width of the list it scrolls.

        Returns
        -------
        fits : bool
            Whether the others have room, or the user has asked for all.
        """
        rarer = [k for k in self.rarer if k not in self.unneeded]
        for column in range(self.model().columnCount()):
            self.setColumnHidden(column, column in self.unneeded)
        rooms = {k: self.column_room(k) for k in self.copied_columns()}
        if self._stretched and self._stretched in rooms:  # texts are elided there, but no names
            rooms[self._stretched] = min(rooms[self._stretched], scaled(_STRETCHED))
        spare, hidden = self.viewport().width() - sum(rooms.values()), []
        for column in rarer:
            if spare < 0:
                hidden.append(column)
                spare += rooms[column]
        is_open = self.hidden_button.isChecked()
        for column in () if is_open else hidden:
            self.setColumnHidden(column, True)
        if self._stretched is not None:
            header, modes = self.horizontalHeader(), QHeaderView.ResizeMode
            fits = spare >= 0 and not (is_open and hidden)
            header.setSectionResizeMode(self._stretched, modes.Stretch if fits else modes.Fixed)
            if not fits:
                header.resizeSection(self._stretched, rooms[self._stretched])
        self._offer_hidden([self.heads_in_words()[k] for k in sorted(hidden)], is_open)
        return spare >= 0 or is_open

    def sizeHintForColumn(self, column: int) -> int:
        if column not in self._rooms:  # to measure the texts takes long
            self._rooms[column] = super().sizeHintForColumn(column)
        return self._rooms[column]

    def column_room(self, column: int) -> int:
        """Return the width in pixels that the texts of a column need."""
        head = self.horizontalHeader().sectionSizeHint(column)
        return max(self.sizeHintForColumn(column), head)

    def heads_in_words(self) -> list[str]:
        """Return the heads of all columns, each on one line."""
        model, across = self.model(), Qt.Orientation.Horizontal
        heads = (model.headerData(k, across) for k in range(model.columnCount()))
        return [str(head or "").replace("-\n", "").replace("\n", " ") for head in heads]

    def _offer_hidden(self, heads: Sequence[str], is_open: bool) -> None:
        words = text("hidden_columns", count=len(heads), open=is_open)
        self.hidden_button.setText(f"{fold_mark(is_open)} {words}")
        self.hidden_button.setAccessibleName(words)
        plain_tooltip(self.hidden_button, ", ".join(heads))
        self.hidden_button.setVisible(bool(heads))

    def offer_sorting(self) -> None:
        """Sort by clicks on a head; the third click restores the original order."""
        header = self.horizontalHeader()
        header.setSortIndicatorShown(True)
        header.setSortIndicatorClearable(True)
        header.setSectionsClickable(True)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        header.sortIndicatorChanged.connect(self.model().sort)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._rooms.clear()
            self.verticalHeader().setDefaultSectionSize(scaled(self._height))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self.rarer or self.unneeded:
            self.fit_columns()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_rows()
        else:
            super().keyPressEvent(event)

    def moveCursor(
        self, action: QAbstractItemView.CursorAction, modifiers: Qt.KeyboardModifier
    ) -> QModelIndex:
        """Go to the first or the last row by Home and End, if rows are selected whole."""
        if self._has_whole_rows and action in (CursorAction.MoveHome, CursorAction.MoveEnd):
            modifiers |= Qt.KeyboardModifier.ControlModifier
        return super().moveCursor(action, modifiers)

    def selectionCommand(
        self, index: Index, event: QEvent | None = None
    ) -> QItemSelectionModel.SelectionFlag:
        """Select the row that a key makes the current one."""
        command = super().selectionCommand(index, event)
        if self._has_whole_rows and isinstance(event, QKeyEvent) and command == Flag.NoUpdate:
            return Flag.ClearAndSelect | Flag.Rows
        return command

    @property
    def _has_whole_rows(self) -> bool:
        return self.selectionBehavior() == QAbstractItemView.SelectionBehavior.SelectRows

    def copied_columns(self) -> list[int]:
        """Return the places of the columns that are copied: those shown."""
        return [k for k in range(self.model().columnCount()) if not self.isColumnHidden(k)]

    def copy_rows(self) -> None:
        """Copy the selected rows, or all, with their heads as tab-separated text."""
        model = self.model()
        selected = self.selected_rows()
        places = self.copied_columns()
        heads = self.heads_in_words()
        lines = [[heads[k] for k in places]]
        for row in selected or range(model.rowCount()):
            cells = [model.index(row, k).data() for k in places]
            lines.append([str("" if cell is None else cell) for cell in cells])
        QGuiApplication.clipboard().setText("\n".join("\t".join(line) for line in lines))


def sheet_blocks(title: str, table: SheetTable, words: str) -> list[Block]:
    """Return a table as a section of a report, with its conclusion; nothing if it is empty."""
    rows = [[cell.replace("\n", " ") for cell in row.cells] for row in table.sheet.rows]
    if not rows:
        return []
    return [Heading(title), TextTable(table.heads_in_words(), rows), Paragraph(words)]


def worded_columns(code: str) -> tuple[tuple[str, ...], dict[int, str]]:
    """Return the heads and the tooltips of the columns, one a line of the catalogue's entry."""
    lines = [line.partition(": ") for line in text(code).strip().splitlines()]
    heads = tuple(head.replace("\\n", "\n") for head, _, _ in lines)
    return heads, {k: tip for k, (_, _, tip) in enumerate(lines) if tip}


class SheetTable(TableView):
    """A list of rows of text with its model.

    Parameters
    ----------
    name, accessible : str
    heads : sequence of str
    height : int
        Of a row, in pixels at ordinary text.
    stretched : int
        The column that takes the remaining width.
    tips : dict of int to str
        By column.
    words : sequence of int
        Columns that are aligned left.
    """

    def __init__(
        self,
        name: str,
        accessible: str,
        heads: Sequence[str],
        height: int,
        stretched: int = 0,
        *,
        tips: dict[int, str] | None = None,
        words: Sequence[int] = (0,),
    ) -> None:
        self.sheet = SheetModel(heads, tips or {}, words, None)
        super().__init__(name, accessible, self.sheet, height, stretched)

    def show_rows(self, rows: list[Row], heads: Sequence[str] | None = None) -> None:
        """Show other rows, and other heads if given."""
        self.sheet.show_rows(rows, heads)

    def fit_rows(self, least: int, most: int) -> None:
        """Set the height to that of the rows, within limits."""
        head, scroll = self.horizontalHeader().sizeHint().height(), self.horizontalScrollBar()
        bar = scroll.sizeHint().height() if scroll.maximum() else 0
        lines = min(max(self.sheet.rowCount(), least), most)
        self.setFixedHeight(head + lines * scaled(self._height) + bar + scaled(_EDGE))
