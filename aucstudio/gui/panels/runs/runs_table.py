"""View of the run list."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QApplication, QMenu

from aucstudio.gui.common.table import TableView
from aucstudio.gui.common.theme import scaled
from aucstudio.gui.panels.runs.columns import AREA, COLUMNS, KEYS, NAME, PART
from aucstudio.gui.panels.runs.row_delegate import RowDelegate, two_lines
from aucstudio.gui.panels.runs.run_order import GROUPS
from aucstudio.gui.panels.runs.runs_model import RunsModel
from aucstudio.gui.state.preferences import TableLook
from aucstudio.gui.state.session import ShownRun

_LEAST_NAME = 118  # pixels: check box, line and some letters
_GOOD_NAME = 190  # pixels for the names of most methods, before further columns are shown
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
        self._delegate = RowDelegate(self)
        self.setItemDelegate(self._delegate)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(_Trigger.DoubleClicked | _Trigger.EditKeyPressed)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setMinimumHeight(_LEAST_ROWS * self._delegate.row_height())
        self._set_up_header()
        model.moved.connect(self._span_sections)
        self._span_sections()

    def _set_up_header(self) -> None:
        header = self.horizontalHeader()
        header.setSectionsMovable(True)
        header.setFirstSectionMovable(False)
        header.setMinimumSectionSize(_NARROWEST)
        header.setMaximumSectionSize(_WIDEST)
        header.setSortIndicatorClearable(True)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.setSortingEnabled(True)
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
        automatic = menu.addAction("As many as &fit")
        automatic.setObjectName("runs_columns_automatic")
        automatic.setCheckable(True)
        automatic.setChecked(self._chosen is None)
        automatic.triggered.connect(
            lambda checked: self.choose_columns(None if checked else self.shown_columns())
        )
        menu.addSeparator()
        for column in COLUMNS[1:]:
            action = menu.addAction(column.head)
            action.setObjectName(f"runs_column_{column.key}")
            action.setCheckable(True)
            action.setChecked(column.key in shown)
            action.triggered.connect(lambda on, key=column.key: self._choose(key, on))
        return menu

    def _on_header_menu(self, at: QPoint) -> None:
        menu = self.fill_column_menu(QMenu(self))
        menu.setObjectName("runs_columns_menu")
        menu.aboutToHide.connect(menu.deleteLater)
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
        order = self._model.order
        shown = None if self._chosen is None else tuple(self.shown_columns())
        return TableLook(shown, dict(self._widths), order.column, order.descending, order.group)

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
            self._model.set_order(group=look.grouped_by if look.grouped_by in GROUPS else "")
            self.horizontalHeader().setSortIndicator(column, side)
        self.fit()

    # ------------------------------------------------------------- rows

    def chosen_runs(self) -> list[ShownRun]:
        """List the runs of the chosen rows, from the top."""
        return [run for row in self._chosen_rows() if (run := self._model.run_at(row)) is not None]

    def _chosen_rows(self) -> list[int]:
        # selectedRows() calls flags() for every cell.
        ranges = self.selectionModel().selection().toList()
        return sorted({row for part in ranges for row in range(part.top(), part.bottom() + 1)})

    def current_run(self) -> ShownRun | None:
        """Return the run of the current row."""
        return self._model.run_at(self.currentIndex().row())

    @property
    def is_editing(self) -> bool:
        """Whether a row is being edited."""
        return self._delegate.is_editing

    def rename(self) -> None:
        """Open the editor of the name of the current run."""
        index = self.currentIndex().siblingAtColumn(0)
        if self._model.run_at(index.row()) is not None:
            self.setCurrentIndex(index)
            self.edit(index)

    def _span_sections(self) -> None:
        self.clearSpans()
        for row in self._model.sections():
            self.setSpan(row, 0, 1, len(COLUMNS))

    # ------------------------------------------------------------- Qt

    def refresh_font(self) -> None:
        """Set the height of rows for the present font."""
        self.verticalHeader().setDefaultSectionSize(self._delegate.row_height())
        self.fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, plain = event.key(), not event.modifiers()
        section = self._model.section_at(self.currentIndex().row())
        opens = (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if section is not None and key in opens:
            self._model.toggle(section)
        elif key == Qt.Key.Key_Space and plain:
            self.check_asked.emit()
        elif key == Qt.Key.Key_Delete and plain:
            self.remove_asked.emit()
        elif key == Qt.Key.Key_F2 and self.currentIndex().column() != KEYS.index("notes"):
            self.rename()
        else:
            super().keyPressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        section = self._model.section_at(self.rowAt(event.position().toPoint().y()))
        if section is not None and event.button() == Qt.MouseButton.LeftButton:
            self._model.toggle(section)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        at = event.globalPos()
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            # The menu key opens the menu at the current row, not at the pointer.
            at = self.viewport().mapToGlobal(self.visualRect(self.currentIndex()).center())
        if self.chosen_runs():
            self.menu_asked.emit(at)
