"""The panel of runs."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QPoint, Qt
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QMenu,
    QSplitter,
    QToolButton,
    QWidget,
)

from aucstudio.gui.common.layouts import LEFT, STRETCH, TOP, across, down
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.theme import scaled
from aucstudio.gui.common.widgets import Card, label, named, push_button, search_field, show_note
from aucstudio.gui.panels.runs.queue_list import QueueList
from aucstudio.gui.panels.runs.run_actions import RunActions
from aucstudio.gui.panels.runs.run_details import RunDetails
from aucstudio.gui.panels.runs.runs_model import RunsModel
from aucstudio.gui.panels.runs.runs_table import RunsTable
from aucstudio.gui.state.preferences import TableLook, preferences
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.gui.state.timers import delayed
from aucstudio.notices.words import runs_words

_WIDTH = 296
_LOOK = "runs"  # of the preferences
_AGAIN_TIP = "It would give the same figures again"
_FILTER_PAUSE = 120  # milliseconds after the last letter
_Select = QItemSelectionModel.SelectionFlag


class RunsPanel(QWidget):
    """The list above, the chosen run below."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.model = RunsModel(session)
        self.view = RunsTable(self.model)
        self.details = RunDetails(session, self.model.figures, self)
        self.actions_ = RunActions(session, self.model, self.view, self.details.edit_notes)
        self._lay_out()
        self.view.take_look(preferences().now.tables.get(_LOOK, TableLook()))
        self._connect()
        self._on_moved()

    def _lay_out(self) -> None:
        self.setMinimumWidth(scaled(_WIDTH))
        self.empty = label(
            "No runs yet. Choose a method and press Run.", "muted", wrap=True, name="runs_empty"
        )
        self.unfound = label("", "muted", wrap=True, name="runs_unfound")
        card = Card("")
        card.rows.setContentsMargins(12, 10, 12, 10)
        card.rows.addLayout(self._head())
        self.notice = RepeatNotice()
        self.queue = QueueList(self.session)
        for widget in (self.notice, self.queue, self.filter, self.empty, self.unfound):
            card.rows.addWidget(widget)
        card.rows.addWidget(self.view, stretch=1)
        # Keeps the sentence at the top while there is no list.
        self._spacer = QWidget()
        card.rows.addWidget(self._spacer, stretch=1)
        halves = QSplitter(Qt.Orientation.Vertical)
        halves.setObjectName("runs_splitter")
        halves.setHandleWidth(8)
        halves.setChildrenCollapsible(False)
        halves.addWidget(card)
        halves.addWidget(self.details)
        halves.setStretchFactor(0, 1)
        self.setLayout(down(halves))

    def _head(self) -> QHBoxLayout:
        self.count = label("", "muted", name="runs_count")
        hint = "Filter: name, method, setting, note…"
        self.filter = search_field("runs_filter", "Filter the runs", hint)
        self.menu_button = named(QToolButton(), "runs_menu_button", "Check, group, columns")
        self.menu_button.setText("List ▾")
        plain_tooltip(self.menu_button, "Check all or none, group the runs, choose columns")
        self.menu_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.list_menu = QMenu(self.menu_button)
        self.list_menu.setObjectName("runs_list_menu")
        self.menu_button.setMenu(self.list_menu)
        heading = label("RUNS", "heading")
        return across(heading, STRETCH, self.count, self.menu_button, around=(4, 0, 0, 0))

    def _connect(self) -> None:
        session, view = self.session, self.view
        self._search = delayed(self, _FILTER_PAUSE, self._on_search)
        self.filter.textChanged.connect(lambda _text: self._search.start())
        self.filter.returnPressed.connect(self._on_search)
        self.list_menu.aboutToShow.connect(lambda: self.actions_.list_menu(self.list_menu))
        self.model.moved.connect(self._on_moved)
        self.model.modelReset.connect(self._show_selection)
        session.listen(self._show_selection, "selection")
        # The offer holds for the settings at that time.
        session.listen(self._outdate_notice, "plan", "table")
        session.listen(self._on_moved, "live")
        view.selectionModel().currentRowChanged.connect(self._on_current)
        view.selectionModel().selectionChanged.connect(lambda *_: self._show_count())
        self._edited = delayed(self, 0, self._show_selection)
        view.itemDelegate().closeEditor.connect(lambda *_: self._edited.start())
        view.layout_changed.connect(self._keep_look)
        view.check_asked.connect(self.actions_.toggle_checks)
        view.remove_asked.connect(self.actions_.remove)
        view.menu_asked.connect(self._on_menu)

    def _outdate_notice(self) -> None:
        self.notice.hide()

    # ------------------------------------------------------------- what is shown

    def _on_moved(self) -> None:
        listed, made = self.model.rowCount() > 0, bool(self.model.runs)
        self.empty.setVisible(not made and not self.queue.model.items)
        self.filter.setVisible(made)
        self.menu_button.setVisible(made)
        self.view.setVisible(listed)
        self._spacer.setVisible(not listed)
        nothing = made and not listed and self.model.order.needle
        show_note(self.unfound, f"No run matches “{self.model.order.needle}”." if nothing else "")
        self._show_selection()
        self._show_count()

    def _show_count(self) -> None:
        made, listed = len(self.model.runs), len(self.model.listed())
        chosen = len(self.view.chosen_runs())
        if chosen > 1:
            words = f"{chosen:,} of {made:,} chosen"
        elif self.model.order.needle:
            words = f"{listed:,} of {made:,}"
        else:
            words = runs_words(made) if made else ""
        self.count.setText(words)

    def _on_search(self) -> None:
        self._search.stop()
        self.model.set_order(needle=self.filter.text().strip())

    # ------------------------------------------------------------- the chosen run

    def _on_current(self, current: QModelIndex) -> None:
        shown = self.model.run_at(current.row())
        if shown is not None:
            self.session.select(shown.record.id)

    def _show_selection(self) -> None:
        if self.view.is_editing:  # changing the current row would end it
            return
        row, marks = self.model.row_of(self.session.selected), self.view.selectionModel()
        if row < 0:
            marks.clear()
            return
        present = self.view.currentIndex()
        index = self.model.index(row, max(0, present.column()))
        if present.row() != row or not marks.isRowSelected(row):
            marks.setCurrentIndex(index, _Select.ClearAndSelect | _Select.Rows)
            self.view.scrollTo(index)

    def _on_menu(self, at: QPoint) -> None:
        menu = self.make_menu()
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(at)

    def make_menu(self) -> QMenu:
        """Make the menu of the chosen runs."""
        return self.actions_.run_menu()

    def _keep_look(self) -> None:
        preferences().put_in("tables", _LOOK, self.view.look())

    def offer_again(self, run: ShownRun, again: Callable[[], object]) -> None:
        """Choose the run that equals the requested one, and offer to repeat it."""
        self._clear_filter_of(run)
        self.session.select(run.record.id)
        self.notice.offer(run.look.name, again)
        self.session.message.emit(self.notice.words.text())

    def _clear_filter_of(self, run: ShownRun) -> None:
        """Show the row of a run that is filtered out or folded away."""
        if self.model.row_of(run.record.id) < 0:
            self.filter.clear()
            self.model.set_order(needle="", closed=frozenset())

    def apply_style(self) -> None:
        """Apply the present theme."""
        self.setMinimumWidth(scaled(_WIDTH))
        self.view.refresh_font()
        self.queue.refresh()
        self.details.refresh()


class RepeatNotice(QFrame):
    """States that a run has been made already, and offers to repeat it."""

    def __init__(self) -> None:
        super().__init__()
        self._again: Callable[[], object] | None = None
        self.setObjectName("repeat_notice")
        self.words = label("", wrap=True, name="repeat_words")
        self.again = push_button("repeat_again", "Run again anyway", _AGAIN_TIP, self._on_again)
        self.close_button = named(QToolButton(), "repeat_close", "Close this message")
        self.close_button.setText("✕")
        self.close_button.clicked.connect(self.hide)
        top = across((self.words, 1), (self.close_button, TOP))
        self.setLayout(down(top, (self.again, LEFT), gap=4, around=(10, 6, 4, 8)))
        self.hide()

    def offer(self, name: str, again: Callable[[], object]) -> None:
        """Show that an identical run is in the list; ``again`` repeats it."""
        self._again = again
        self.words.setText(f"{name} was made with the same settings on the same rows.")
        self.show()

    def _on_again(self) -> None:
        self.hide()
        if self._again is not None:
            self._again()
