"""The panel of runs: the queue, the list with its menus, the chosen run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QAction, QBrush, QColor, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QMenu,
    QToolButton,
    QWidget,
)

from aucstudio.engine import METHODS
from aucstudio.engine.params import InvalidSetting
from aucstudio.gui.common.buttons import (
    make_action,
    make_menu,
    offer_combination,
    push_button,
    tool_button,
)
from aucstudio.gui.common.layouts import LEFT, STRETCH, TOP, Card, Panes, across, down, scrolled
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.plotting import MARKER, swatch
from aucstudio.gui.common.table import ColumnSpec, TableModel, TableView
from aucstudio.gui.common.theme import current_theme, scaled
from aucstudio.gui.common.widgets import label, named, search_field, show_note
from aucstudio.gui.panels.run_card import RunDetails
from aucstudio.gui.panels.runs_table import RunsModel, RunsTable
from aucstudio.gui.state.background import delayed
from aucstudio.gui.state.plan import RunLook
from aucstudio.gui.state.preferences import TableLook, preferences
from aucstudio.gui.state.runner import LiveRun, Waiting
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.notices import text
from aucstudio.notices.controls import control_words
from aucstudio.notices.words import runs_words
from aucstudio.project.errors import InputError
from aucstudio.project.runs.settings_shown import settings_sentence

Index = QModelIndex | QPersistentModelIndex
Entry = LiveRun | Waiting

_AIR, _HEIGHT = 9, 18  # pixels
_MOST_SEEN = 5


class QueueModel(TableModel):
    """A row for each run in progress, then one for each that waits."""

    def __init__(self, session: Session) -> None:
        progress = ColumnSpec("", _progress, about=_about, is_figure=True)
        super().__init__((ColumnSpec("", _name, about=_about), progress), session)
        self.session = session

    def refresh(self) -> None:
        """Show the running and waiting runs of the session."""
        entries: list[Entry] = [*self.session.running, *self.session.queue]
        if [id(one) for one in entries] == [id(one) for one in self.items]:
            self.touch()
        else:
            self.replace(entries, id)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        entry = self.item(index.row())
        if role == Qt.ItemDataRole.DecorationRole and index.column() == 0:
            return swatch(entry.look)
        if role == Qt.ItemDataRole.ForegroundRole and not isinstance(entry, LiveRun):
            return QBrush(QColor(current_theme().muted))
        return super().data(index, role)


class QueueList(QWidget):
    """Running and waiting runs with their buttons; hidden if there are none."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.model = QueueModel(session)
        self.view = TableView(
            "queue_table", "Runs in training and waiting", self.model, _AIR + _HEIGHT, 0
        )
        self.view.horizontalHeader().hide()
        self.stop_this = push_button("queue_stop_this", verb=self.end_chosen)
        earlier, later = partial(self.move_chosen, -1), partial(self.move_chosen, 1)
        self.up, self.down = tool_button("queue_up", earlier), tool_button("queue_down", later)
        for keys, verb in (("Del", self.end_chosen), ("Alt+Up", earlier), ("Alt+Down", later)):
            shortcut = QShortcut(QKeySequence(keys), self.view)
            shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
            shortcut.activated.connect(verb)
        self.view.selectionModel().selectionChanged.connect(lambda *_: self._show_buttons())
        buttons = across(self.stop_this, self.up, self.down, STRETCH)
        self.setLayout(down(self.view, buttons, gap=4, around=(0, 0, 0, 6)))
        session.listen(self.refresh, "live")
        self.refresh()

    # ------------------------------------------------------------- what is shown

    def refresh(self) -> None:
        """Show the running and waiting runs."""
        self.model.refresh()
        if self.model.items and not self.view.currentIndex().isValid():
            self.view.selectRow(0)
        count = len(self.model.items)
        row = self.view.fontMetrics().height() + _AIR
        self.view.verticalHeader().setDefaultSectionSize(row)
        self.view.setFixedHeight(row * min(count, _MOST_SEEN) + 2)
        self.setVisible(count > 0)
        self._show_buttons()

    def chosen(self) -> Entry | None:
        """Return the chosen run."""
        row = self.view.currentIndex().row()
        return self.model.items[row] if 0 <= row < len(self.model.items) else None

    def _show_buttons(self) -> None:
        chosen, queue = self.chosen(), list(self.session.queue)
        waits = isinstance(chosen, Waiting)
        words = control_words("queue_take_out" if waits else "queue_stop_this")
        self.stop_this.setText(words["text"])
        plain_tooltip(self.stop_this, words["tip"])
        self.stop_this.setEnabled(chosen is not None and not getattr(chosen, "stopping", False))
        place = queue.index(chosen) if isinstance(chosen, Waiting) and chosen in queue else -1
        self.up.setEnabled(place > 0)
        self.down.setEnabled(0 <= place < len(queue) - 1)

    # ------------------------------------------------------------- actions

    def end_chosen(self) -> None:
        """Stop the chosen run, or remove it from the queue."""
        chosen = self.chosen()
        if isinstance(chosen, LiveRun):
            self.session.study.runner.stop(chosen)
        elif chosen is not None:
            self.session.study.runner.cancel(chosen)

    def move_chosen(self, places: int) -> None:
        """Move the chosen run down the queue, or up by a negative number of places."""
        chosen = self.chosen()
        if isinstance(chosen, Waiting):
            self.session.study.runner.move(chosen, places)


def _name(entry: Entry) -> str:
    title = METHODS[entry.experiment.method].title
    return entry.look.name if title in entry.look.name else f"{entry.look.name} · {title}"


def _about(entry: Entry) -> str:
    doing = entry.words if isinstance(entry, LiveRun) else "waits for its turn"
    return f"{settings_sentence(entry.experiment)}\n{doing}"


def _progress(entry: Entry) -> str:
    if not isinstance(entry, LiveRun):
        return "waiting"
    if entry.stopping:
        return "stopping…"
    return "training" if entry.fraction is None else f"training {100 * entry.fraction:.0f} %"


_COLOURS = 8


class RunActions:
    """Actions on the selected runs of a list, and its menus.

    Parameters
    ----------
    session : Session
    model : RunsModel
    table : RunsTable
    edit_notes : callable
        Opens the notes of the chosen run.
    """

    def __init__(
        self,
        session: Session,
        model: RunsModel,
        table: RunsTable,
        edit_notes: Callable[[], object],
    ) -> None:
        self._session, self._model, self._table = session, model, table
        self._edit_notes = edit_notes

    # ------------------------------------------------------------- actions

    def toggle_checks(self) -> None:
        """Check the chosen runs, or uncheck them if the present one is checked."""
        current, runs = self._table.current_run(), self._table.chosen_runs()
        if current is not None or runs:
            self.check(runs or [current], not (current or runs[0]).look.visible)

    def check(self, runs: Iterable[ShownRun | None], visible: bool) -> None:
        """Check or uncheck runs."""
        changed = [run.record.id for run in runs if run and run.look.visible != visible]
        if changed:
            text = "Show runs" if visible else "Hide runs"
            self._session.set_looks(changed, text, visible=visible)

    def check_only(self) -> None:
        """Check the chosen runs and no others."""
        kept = set(self._table.chosen_ids())
        plan = self._session.plan
        others = [run.record.id for run in self._model.items]
        plan = plan.with_looks((run for run in others if run not in kept), visible=False)
        self._session.edit(plan.with_looks(kept, visible=True), "Show chosen runs only")

    def remove(self) -> None:
        """Remove the chosen runs from the list and choose the next one."""
        runs = self._table.chosen_ids()
        if not runs:
            return
        rows, removed = [run.record.id for run in self._model.listed()], set(runs)
        place = rows.index(runs[0])
        left = [run for run in rows[place:] + rows[:place][::-1] if run not in removed]
        if left:
            self._session.select(left[0])
        text = "Remove run" if len(runs) == 1 else f"Remove {runs_words(len(runs))}"
        self._session.set_looks(runs, text, removed=True)

    def colour(self, colour: int) -> None:
        """Draw the chosen runs in a colour."""
        runs = self._table.chosen_ids()
        self._session.set_looks(runs, "Colour run", colour=colour)

    def compare(self) -> None:
        """Compare the chosen run with the current one, or two chosen runs with each other."""
        runs = self._table.chosen_ids()
        if len(runs) == 2:
            self._session.select(runs[0])
            self._session.compare_with(runs[1])
        elif len(runs) == 1:
            self._session.compare_with(runs[0])

    def reuse(self) -> None:
        """Put the settings of the current run into the form."""
        run = self._table.current_run()
        if run is not None:
            self._session.reuse_settings(run.record.id)

    def run_again(self) -> None:
        """Run the chosen runs again on the open table, with the present roles of its columns."""
        try:
            self._session.runs.run_again([run.record for run in self._table.chosen_runs()])
        except (InputError, InvalidSetting) as error:
            self._session.failed.emit(str(error), "")

    # ------------------------------------------------------------- menus

    def run_menu(self) -> QMenu:
        """Make the menu of the chosen runs."""
        runs = self._table.chosen_runs()
        one, several, pair = len(runs) == 1, len(runs) > 1, len(runs) == 2
        menu = make_menu(self._table, "run_menu")
        _add(menu, "menu_rename", "&Rename\tF2", self._table.rename, one)
        _add(menu, "menu_notes", "&Notes…", self._edit_notes, one)
        colours = menu.addMenu("&Colour")
        for k in range(_COLOURS):
            made = _add(colours, f"menu_colour_{k + 1}", f"Colour {k + 1}", partial(self.colour, k))
            made.setIcon(swatch(RunLook("", k), MARKER))
        menu.addSeparator()
        _add(menu, "menu_check", "Chec&k", lambda: self.check(runs, True))
        _add(menu, "menu_uncheck", "&Uncheck", lambda: self.check(runs, False))
        only = "Check &only these" if several else "Check &only this"
        _add(menu, "menu_check_only", only, self.check_only)
        menu.addSeparator()
        _add(menu, "menu_reuse", "Use these &settings", self.reuse, one)
        _add(menu, "menu_run_again", "Run a&gain on this table", self.run_again, bool(runs))
        words = "Com&pare these two" if pair else "Com&pare with this run"
        _add(menu, "menu_compare", words, self.compare, one or pair)
        self._offer_combination(menu, "menu_combine")
        menu.addSeparator()
        what = f" {runs_words(len(runs))}" if several else ""
        _add(menu, "menu_remove", f"Re&move{what} from the list\tDel", self.remove)
        return menu

    def list_menu(self, menu: QMenu) -> None:
        """Fill the menu of the whole list."""
        menu.clear()
        for old in menu.findChildren(QMenu):
            old.deleteLater()
        runs = self._model.listed()
        _add(menu, "list_check_all", "Check &all", lambda: self.check(runs, True), bool(runs))
        _add(menu, "list_check_none", "Check &none", lambda: self.check(runs, False), bool(runs))
        chosen = bool(self._table.chosen_runs())
        _add(menu, "list_check_chosen", "Check &chosen only", self.check_only, chosen)
        menu.addSeparator()
        self._offer_combination(menu, "list_combine")
        menu.addSeparator()
        self._table.fill_column_menu(menu.addMenu("C&olumns"))

    def _offer_combination(self, menu: QMenu, name: str) -> None:
        made = _add(menu, name, "Com&bine checked runs", self._session.runs.combine_checked)
        menu.setToolTipsVisible(True)
        offer_combination(made, self._session)


def _add(
    menu: QMenu, name: str, text: str, verb: Callable[[], object], enabled: bool = True
) -> QAction:
    return make_action(menu, name, text, verb=verb, enabled=enabled)


_WIDTH = 296
_LOOK = "runs"  # of the preferences
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
        card = Card()
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
        halves = named(Panes(), "runs_splitter")
        halves.addWidget(card)
        halves.addWidget(self.details)
        halves.setStretchFactor(0, 1)
        self.setLayout(down(scrolled(halves)))  # what is shown above the list makes no window grow

    def _head(self) -> QHBoxLayout:
        self.count = label("", "muted", name="runs_count")
        self.filter = search_field("runs_filter")
        self.menu_button = tool_button("runs_menu_button")
        self.menu_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.list_menu = named(QMenu(self.menu_button), "runs_list_menu")
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
        session.listen(self._show_empty, "live")
        view.selectionModel().currentRowChanged.connect(self._on_current)
        view.selectionModel().selectionChanged.connect(lambda *_: self._show_count())
        self._edited = delayed(self, 0, self._show_selection)
        view.itemDelegate().closeEditor.connect(lambda *_: self._edited.start())
        view.layout_changed.connect(lambda: preferences().put_in("tables", _LOOK, view.look()))
        view.check_asked.connect(self.actions_.toggle_checks)
        view.remove_asked.connect(self.actions_.remove)
        view.menu_asked.connect(lambda at: self.actions_.run_menu().popup(at))

    def _outdate_notice(self) -> None:
        if not self.notice.isHidden():
            self.notice.hide()
            self.session.message.emit("")  # the status line has the same words

    # ------------------------------------------------------------- what is shown

    def _on_moved(self) -> None:
        listed, made = self.model.rowCount() > 0, bool(self.model.items)
        self._show_empty()
        self.filter.setVisible(made)
        self.menu_button.setVisible(made)
        self.view.setVisible(listed)
        self._spacer.setVisible(not listed)
        nothing = made and not listed and self.model.needle
        show_note(self.unfound, f"No run matches “{self.model.needle}”." if nothing else "")
        self._show_selection()
        self._show_count()

    def _show_empty(self) -> None:
        self.empty.setVisible(not self.model.items and not self.queue.model.items)

    def _show_count(self) -> None:
        made, listed = len(self.model.items), len(self.model.listed())
        chosen = len(self.view.chosen_runs())
        if chosen > 1:
            words = f"{chosen:,} of {made:,} chosen"
        elif self.model.needle:
            words = f"{listed:,} of {made:,}"
        else:
            words = runs_words(made) if made else ""
        self.count.setText(words)

    def _on_search(self) -> None:
        self._search.stop()
        self.model.search(self.filter.text().strip())
        self._on_moved()

    # ------------------------------------------------------------- the chosen run

    def _on_current(self, current: QModelIndex) -> None:
        shown = self.model.run_at(current.row())
        if shown is not None:
            self.session.select(shown.record.id)

    def _show_selection(self) -> None:
        if self.view.delegate.is_editing:  # changing the current row would end it
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

    def offer_again(self, run: ShownRun, again: Callable[[], object]) -> None:
        """Choose the run that equals the requested one, and offer to repeat it."""
        if self.model.row_of(run.record.id) < 0:  # filtered out
            self.filter.clear()
            self.model.search("")
        self.session.select(run.record.id)
        self.notice.offer(run.look.name, again)
        self.session.message.emit(self.notice.words.text())

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
        self.again = push_button("repeat_again", verb=self._on_again)
        self.close_button = tool_button("repeat_close", self.hide)
        QShortcut(QKeySequence(Qt.Key.Key_Escape), self, self.hide)  # while it is shown
        top = across((self.words, 1), (self.close_button, TOP))
        self.setLayout(down(top, (self.again, LEFT), gap=4, around=(10, 6, 4, 8)))
        self.hide()

    def offer(self, name: str, again: Callable[[], object]) -> None:
        """Show that an identical run is in the list; ``again`` repeats it."""
        self._again = again
        self.words.setText(text("made_already", names=[name], count=1))
        self.show()

    def _on_again(self) -> None:
        self.hide()
        if self._again is not None:
            self._again()
