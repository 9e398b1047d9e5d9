"""The list of runs: model, rows and columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import (
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSignalBlocker,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QBrush,
    QColor,
    QContextMenuEvent,
    QFont,
    QFontMetrics,
    QKeyEvent,
    QPainter,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QLineEdit,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from aucstudio.gui.common.buttons import make_action, make_menu
from aucstudio.gui.common.plain_text import tip_text
from aucstudio.gui.common.plotting import swatch
from aucstudio.gui.common.table import TableModel, TableView
from aucstudio.gui.common.theme import current_theme, icon, scaled
from aucstudio.gui.panels.run_columns import (
    AREA,
    COLUMNS,
    DEFAULTS,
    KEYS,
    NAME,
    NOTES,
    PART,
    ListColumn,
    ListedFigures,
    RowContent,
    RunValues,
    facts_of,
    known_facts,
    matches,
    run_figures,
)
from aucstudio.gui.state.background import delayed
from aucstudio.gui.state.preferences import TableLook
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.project.runs.record import RunRecord

Index = QModelIndex | QPersistentModelIndex
Role = Qt.ItemDataRole

BELOW, CAUTION = Role.UserRole, Role.UserRole + 1
"""Roles of the second line of a cell, and of the caution about a run."""

_PLAIN = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
_EDITED = _PLAIN | Qt.ItemFlag.ItemIsEditable
_FLAGS = [
    {NAME: _EDITED | Qt.ItemFlag.ItemIsUserCheckable, NOTES: _EDITED}.get(column.key, _PLAIN)
    for column in COLUMNS
]
_SORT_PAUSE = 400  # milliseconds between two sorts while figures arrive


class RunsModel(TableModel):
    """One row for each run.

    Attributes
    ----------
    moved : Signal
        Rows were added, removed or moved.
    items : list of ShownRun
        All listed runs of the study, with a row or filtered out.
    needle : str
        Words that must all occur in what is known of a run.
    figures : RunValues
    """

    moved = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__(COLUMNS, session)
        self.session = session
        self.needle = ""
        band = session.plan.band
        self.figures = RunValues(self, run_figures, band)
        self._facts = RunValues(self, lambda record, _band: facts_of(record), band)
        self._again = delayed(self, _SORT_PAUSE, self.refresh)
        for values in (self.figures, self._facts):
            values.arrived.connect(self._on_arrived)
        session.listen(self.refresh, "runs")
        session.listen(self._on_band, "band_rested")
        session.listen(self.touch, "table")
        self.refresh()

    # ------------------------------------------------------------- rows

    def refresh(self) -> None:
        """Show the runs of the session in the present order."""
        runs = self.session.shown_runs()
        self._facts.ask(run.record for run in runs if known_facts(run.record) is None)
        self.replace(runs)

    def replace(self, items: Sequence[Any], key: Callable[[Any], Any] | None = None) -> None:
        if self._sorts_by_figures:
            self.figures.ask(run.record for run in reversed(items) if run.record.splits)
        super().replace(items, lambda run: run.record.id)
        self.moved.emit()

    def search(self, needle: str) -> None:
        """Show only the runs that match words."""
        self.needle = needle
        words = needle.casefold().split()
        self.filter((lambda run: matches(run, words)) if words else None)

    def run_at(self, row: int) -> ShownRun | None:
        """Return the run of a row."""
        return self.item(row) if 0 <= row < len(self.shown) else None

    def row_of(self, run: str | None) -> int:
        """Return the row of a run; -1 if it has none."""
        rows = (row for row, one in enumerate(self.listed()) if one.record.id == run)
        return next(rows, -1)

    def listed(self) -> list[ShownRun]:
        """List the runs that have a row."""
        return [self.items[k] for k in self.shown]

    @property
    def _sorts_by_figures(self) -> bool:
        return self.by >= 0 and COLUMNS[self.by].is_figure

    def _on_arrived(self, records: Sequence[RunRecord]) -> None:
        # Painting a row takes a millisecond, and values arrive in many small parts.
        if rows := [row for row, run in enumerate(self.listed()) if run.record in records]:
            first, last = self.index(min(rows), 0), self.index(max(rows), len(COLUMNS) - 1)
            self.dataChanged.emit(first, last)
        if (self._sorts_by_figures or self.needle) and not self._again.isActive():
            self._again.start()

    def _on_band(self) -> None:
        self.figures.set_band(self.session.plan.band)
        self.touch()
        if self._sorts_by_figures:
            self._again.start()

    # ------------------------------------------------------------- Qt

    def flags(self, index: Index) -> Qt.ItemFlag:
        # Called for every cell of a selection of thousands of rows.
        return _FLAGS[index.column()] if index.isValid() else Qt.ItemFlag.NoItemFlags

    def data(self, index: Index, role: int = Role.DisplayRole) -> Any:
        shown, place = self.run_at(index.row()), index.column()
        if shown is None:
            return None
        key = COLUMNS[place].key
        if key == NAME and role == Role.CheckStateRole:
            return Qt.CheckState.Checked if shown.look.visible else Qt.CheckState.Unchecked
        if key == NAME and role == Role.DecorationRole:
            return swatch(shown.look)
        if key == NAME and role == CAUTION:
            return facts_of(shown.record).caution
        if role == Role.EditRole:
            return shown.look.notes if key == NOTES else shown.look.name
        if role == Role.TextAlignmentRole:
            return self.side(place)
        return self._figure_data(shown, COLUMNS[place], role)

    def _figure_data(self, shown: ShownRun, column: ListColumn, role: int) -> Any:
        if role == Role.ForegroundRole:
            stale = bool(shown.record.splits) and not self.figures.is_current(shown.record)
            muted = column.is_figure and stale
            return QBrush(QColor(current_theme().muted)) if muted else None
        if role not in (Role.DisplayRole, Role.ToolTipRole, BELOW):
            return None
        if column.is_figure and shown.record.splits:
            self.figures.ask([shown.record])
        content = self.content(shown)
        if role == Role.ToolTipRole:
            return tip_text((column.about or column.text)(content) or column.text(content))
        below = column.below(content) if column.below is not None else ""
        if role == BELOW:
            return below
        return " ".join(filter(None, (column.text(content), below)))

    def content(self, item: ShownRun) -> RowContent:
        values = self.figures
        found: ListedFigures | None = values.known(item.record)
        lost = found is None and values.is_current(item.record)
        return RowContent(item, found, self.session.plan.band, lost, self.session.table)

    def setData(self, index: Index, value: Any, role: int = Role.EditRole) -> bool:
        shown = self.run_at(index.row())
        if shown is None:
            return False
        run, text = shown.record.id, str(value).strip()
        if role == Role.CheckStateRole:
            checked = Qt.CheckState(value) == Qt.CheckState.Checked
            self.session.set_look(run, "Show or hide run", visible=checked)
        elif role == Role.EditRole and COLUMNS[index.column()].key == NOTES:
            self.session.set_look(run, "Edit notes", notes=text)
        elif role == Role.EditRole and text:
            self.session.set_look(run, "Rename run", name=text)
        else:
            return False
        return True


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
        below, caution = self.below(index), bool(index.data(CAUTION))
        shown = QStyleOptionViewItem(option)
        self.initStyleOption(shown, index)
        style = self._view.style() or QApplication.style()
        area = style.subElementRect(QStyle.SubElement.SE_ItemViewItemText, shown, self._view)
        area.adjust(_MARGIN, 0, -_MARGIN, 0)
        text, shown.text = shown.text, ""
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, shown, painter, self._view)
        if caution:
            area = self._with_sign(painter, area)
        text = text.removesuffix(index.data(BELOW) or "").rstrip()
        self._write(painter, area, shown, text, below)

    def below(self, index: Index) -> str:
        """Return the second line of a cell."""
        own = index.data(BELOW) or ""
        if index.column() != KEYS.index(NAME):
            return own
        places = [KEYS.index(key) for key in _UNDER_NAME]
        rows = index.model()
        hidden = [k for k in places if self._view.isColumnHidden(k)]
        parts = [own, *(rows.data(rows.index(index.row(), k)) for k in hidden)]
        return " · ".join(part for part in parts if part and part != DEFAULTS)

    def _with_sign(self, painter: QPainter, area: QRect) -> QRect:
        """Paint the sign of a warning at the right of an area; return the rest of the area."""
        place = QRect(area.right() - _SIGN, area.center().y() - _SIGN // 2, _SIGN, _SIGN)
        icon("warning", "warning").paint(painter, place)
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


_LEAST_NAME = 118  # pixels: check box, line and some letters
_GOOD_NAME = 186  # pixels for the names of most methods, before further columns are shown
_LEAST_ROWS = 4  # and the head
_PADDING = 16
_NARROWEST, _WIDEST = 24, 640
_Trigger = QAbstractItemView.EditTrigger


class RunsTable(TableView):
    """Rows of runs.

    As many columns as fit are shown, in the order of ``COLUMNS``, until the user chooses columns;
    the chosen ones are all shown, and scrolled if necessary.

    Attributes
    ----------
    delegate : RowDelegate
    layout_changed : Signal
        Columns were chosen, moved or resized, or the rows sorted.
    check_asked, remove_asked : Signal
        Requested by keyboard for the chosen rows.
    menu_asked : Signal(QPoint)
        Position on the screen.
    """

    layout_changed = Signal()
    check_asked = Signal()
    remove_asked = Signal()
    menu_asked = Signal(QPoint)

    def __init__(self, model: RunsModel) -> None:
        super().__init__("runs_table", "Runs", model, two_lines(QApplication.font()))
        self._model = model
        self._chosen: list[str] | None = None
        self._widths: dict[str, int] = {}
        self.delegate = RowDelegate(self)
        self.setItemDelegate(self.delegate)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(_Trigger.DoubleClicked | _Trigger.EditKeyPressed)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setMinimumHeight(_LEAST_ROWS * self.delegate.row_height())
        self._set_up_header()

    def _set_up_header(self) -> None:
        header = self.horizontalHeader()
        header.setSectionsMovable(True)
        header.setFirstSectionMovable(False)
        header.setMinimumSectionSize(_NARROWEST)
        header.setMaximumSectionSize(_WIDEST)
        self.offer_sorting()
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.customContextMenuRequested.connect(self._on_header_menu)
        header.sortIndicatorChanged.connect(lambda *_: self.layout_changed.emit())
        header.sectionMoved.connect(lambda *_: self.choose_columns(self.shown_columns()))
        header.sectionResized.connect(self._on_resized)

    # ------------------------------------------------------------- columns

    def shown_columns(self) -> list[str]:
        """List the keys of the columns that are shown, from the left."""
        header = self.horizontalHeader()
        order = [header.logicalIndex(place) for place in range(len(COLUMNS))]
        return [KEYS[k] for k in order if not self.isColumnHidden(k)]

    def choose_columns(self, keys: Sequence[str] | None) -> None:
        """Show these columns and the name; None for as many as fit."""
        self._chosen = None if keys is None else [NAME, *(k for k in keys if k != NAME)]
        self.fit()
        self.layout_changed.emit()

    def fill_column_menu(self, menu: QMenu) -> QMenu:
        """Fill a menu that chooses columns."""
        shown = self.shown_columns()
        fits = self._chosen is None
        other = partial(self.choose_columns, shown if fits else None)
        make_action(menu, "runs_columns_automatic", "As many as &fit", verb=other, checked=fits)
        menu.addSeparator()
        for key, head in zip(KEYS[1:], (column.head for column in COLUMNS[1:]), strict=True):
            verb = partial(self._choose, key, key not in shown)
            make_action(menu, f"runs_column_{key}", head, verb=verb, checked=key in shown)
        return menu

    def _on_header_menu(self, at: QPoint) -> None:
        menu = self.fill_column_menu(make_menu(self, "runs_columns_menu"))
        menu.popup(self.horizontalHeader().mapToGlobal(at))

    def _choose(self, key: str, shown: bool) -> None:
        keys = [k for k in self.shown_columns() if k != key]
        self.choose_columns([*keys, key] if shown else keys)

    def fit(self) -> None:
        """Set the column widths; the name takes the remaining width."""
        header, bar = self.horizontalHeader(), self.verticalScrollBar().sizeHint().width()
        # The scroll bar has a reserved width, so that nothing moves when it is shown.
        room = self.maximumViewportSize().width() - bar
        keys = self._fitting(room) if self._chosen is None else self._chosen
        with QSignalBlocker(header):  # the user has not dragged a column
            for k, key in enumerate(KEYS):
                self.setColumnHidden(k, key not in keys)
            for place, key in enumerate(keys):
                header.moveSection(header.visualIndex(KEYS.index(key)), place)
                header.resizeSection(KEYS.index(key), self._width(key))
            others = sum(self._width(key) for key in keys if key != NAME)
            name = self._widths.get(NAME) if others + scaled(_LEAST_NAME) > room else None
            header.resizeSection(0, name or max(scaled(_LEAST_NAME), room - others))
        self.updateGeometries()
        self.viewport().update()
        header.viewport().update()

    def _fitting(self, room: int) -> list[str]:
        keys, left = [NAME], room
        for key in KEYS[1:]:
            left -= self._width(key)
            if left < scaled(_LEAST_NAME if key in (AREA, PART) else _GOOD_NAME):
                break
            keys.append(key)
        return keys

    def _width(self, key: str) -> int:
        if key in self._widths:
            return self._widths[key]
        column, header = COLUMNS[KEYS.index(key)], self.horizontalHeader()
        head = header.fontMetrics().horizontalAdvance(column.head)
        return max(self.fontMetrics().horizontalAdvance(column.sample), head) + _PADDING

    def _on_resized(self, place: int, _old: int, width: int) -> None:
        if not width:  # hidden
            return
        self._widths[KEYS[place]] = width
        if KEYS[place] != NAME:
            self.fit()
        self.layout_changed.emit()

    def look(self) -> TableLook:
        """Return the layout of the list, for :meth:`take_look`."""
        shown = None if self._chosen is None else tuple(self.shown_columns())
        by = KEYS[self._model.by] if self._model.by >= 0 else ""
        return TableLook(shown, dict(self._widths), by, self._model.backwards)

    def take_look(self, look: TableLook) -> None:
        """Restore the stored layout of the list; ignore invalid parts."""
        if look.shown is not None:
            self._chosen = [NAME, *(k for k in look.shown if k in KEYS and k != NAME)]
        self._widths = {
            key: min(max(width, _NARROWEST), _WIDEST)
            for key, width in look.widths.items()
            if key in KEYS and width > 0
        }
        side = Qt.SortOrder.DescendingOrder if look.descending else Qt.SortOrder.AscendingOrder
        column = KEYS.index(look.sorted_by) if look.sorted_by in KEYS else -1
        with QSignalBlocker(self):  # the layout is stored already
            self.horizontalHeader().setSortIndicator(column, side)
        self.fit()

    # ------------------------------------------------------------- rows

    def chosen_runs(self) -> list[ShownRun]:
        """List the runs of the chosen rows, from the top."""
        return [run for row in self.selected_rows() if (run := self._model.run_at(row)) is not None]

    def chosen_ids(self) -> list[str]:
        """List the ids of the selected runs from top to bottom."""
        return [run.record.id for run in self.chosen_runs()]

    def current_run(self) -> ShownRun | None:
        """Return the run of the current row."""
        return self._model.run_at(self.currentIndex().row())

    def rename(self) -> None:
        """Open the editor of the name of the current run."""
        index = self.currentIndex().siblingAtColumn(0)
        if self._model.run_at(index.row()) is not None:
            self.setCurrentIndex(index)
            self.edit(index)

    # ------------------------------------------------------------- Qt

    def refresh_font(self) -> None:
        """Set the height of rows for the present font."""
        self.verticalHeader().setDefaultSectionSize(self.delegate.row_height())
        self.fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()
        self.scrollTo(self.currentIndex())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, plain = event.key(), not event.modifiers()
        if key == Qt.Key.Key_Space and plain:
            self.check_asked.emit()
        elif key == Qt.Key.Key_Delete and plain:
            self.remove_asked.emit()
        elif key == Qt.Key.Key_F2 and self.currentIndex().column() != KEYS.index("notes"):
            self.rename()
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        at = event.globalPos()
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            # The menu key opens the menu at the current row, not at the pointer.
            at = self.viewport().mapToGlobal(self.visualRect(self.currentIndex()).center())
        if self.chosen_runs():
            self.menu_asked.emit(at)
