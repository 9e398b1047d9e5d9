"""The lab book: every run of the project, and the details of the chosen one."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QMenu,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from aucstudio.gui.common import prompts
from aucstudio.gui.common.plotting import MARKER, SWATCH, swatch
from aucstudio.gui.common.theme import scaled
from aucstudio.gui.common.widgets import Card, fit_columns, label, list_rows, named
from aucstudio.gui.panels.run_details import RunDetails
from aucstudio.gui.panels.runs_model import COLUMNS, RunsModel
from aucstudio.gui.state.plan import RunLook
from aucstudio.gui.state.session import Session, ShownRun

_COLOURS = 8
_WIDTH = 296
_ROOMY = 344


class RunsPanel(QWidget):
    """The list above, the chosen run below."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.model = RunsModel(session)
        self.view = named(QTableView(), "runs_table", "Runs")
        self.empty = label(
            "No runs yet. Choose a method and press Run.", "muted", wrap=True, name="runs_empty"
        )
        self.details = RunDetails(session)
        self._set_up_view()
        self.setMinimumWidth(scaled(_WIDTH))
        card = Card("Runs")
        card.rows.addWidget(self.empty)
        card.rows.addWidget(self.view, stretch=1)
        # Keeps the sentence at the top while there is no list to take the room.
        self._spacer = QWidget()
        card.rows.addWidget(self._spacer, stretch=1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        layout.addWidget(card, stretch=1)
        layout.addWidget(self.details)
        self.model.modelReset.connect(self._on_reset)
        session.selection_changed.connect(self._show_selection)
        self._on_reset()

    def _set_up_view(self) -> None:
        view = self.view
        view.setModel(self.model)
        list_rows(view, 32)
        fit_columns(view, 0)
        view.setEditTriggers(
            QAbstractItemView.EditTrigger.DoubleClicked
            | QAbstractItemView.EditTrigger.EditKeyPressed
        )
        view.setIconSize(SWATCH)
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        view.customContextMenuRequested.connect(self._on_menu)
        view.selectionModel().currentRowChanged.connect(self._on_current)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # In a narrow panel the name is worth more than the time, which stands below as well.
        self.view.setColumnHidden(COLUMNS.index("Time"), self.width() < _ROOMY)

    def _on_reset(self) -> None:
        has_rows = self.model.rowCount() > 0
        self.empty.setVisible(not has_rows)
        self.view.setVisible(has_rows)
        self._spacer.setVisible(not has_rows)
        self._show_selection()

    def _on_current(self, current: QModelIndex) -> None:
        shown = self.model.run_at(current.row())
        if shown is not None:
            self.session.select(shown.record.id)

    def _show_selection(self) -> None:
        row = self.model.row_of(self.session.selected)
        selection = self.view.selectionModel()
        selection.blockSignals(True)
        if row >= 0:
            self.view.selectRow(row)
        else:
            self.view.clearSelection()
        selection.blockSignals(False)
        self.view.viewport().update()
        self.details.refresh()

    def _on_menu(self, position: Any) -> None:
        shown = self.model.run_at(self.view.indexAt(position).row())
        if shown is not None:
            menu = self.make_menu(shown)
            menu.exec(self.view.viewport().mapToGlobal(position))
            menu.deleteLater()

    def make_menu(self, shown: ShownRun) -> QMenu:
        """Make the context menu of a run."""
        run = shown.record.id
        menu = QMenu(self)
        self._add(menu, "menu_rename", "&Rename…", lambda: self._rename(shown))
        colours = menu.addMenu("&Colour")
        for k in range(_COLOURS):
            action = QAction(swatch(RunLook("", k), MARKER), f"Colour {k + 1}", menu)
            action.triggered.connect(
                lambda _checked=False, k=k: self.session.set_look(run, "Colour run", colour=k)
            )
            colours.addAction(action)
        self._add(
            menu, "menu_reuse", "&Use these settings", lambda: self.session.reuse_settings(run)
        )
        self._add(
            menu, "menu_compare", "Com&pare with this run", lambda: self.session.compare_with(run)
        )
        menu.addSeparator()
        self._add(
            menu,
            "menu_remove",
            "Re&move from the list",
            lambda: self.session.set_look(run, "Remove run", removed=True),
        )
        return menu

    def _add(self, menu: QMenu, name: str, text: str, verb: Any) -> None:
        action = QAction(text, menu)
        action.setObjectName(name)
        action.triggered.connect(lambda _checked=False: verb())
        menu.addAction(action)

    def _rename(self, shown: ShownRun) -> None:
        name = prompts.ask_text(self, "Rename run", "Name", shown.look.name)
        if name:
            self.session.set_look(shown.record.id, "Rename run", name=name)
