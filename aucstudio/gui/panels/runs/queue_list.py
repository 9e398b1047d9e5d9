"""Running and waiting runs."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QBrush, QColor, QKeyEvent
from PySide6.QtWidgets import QToolButton, QWidget

from aucstudio.engine import METHODS
from aucstudio.gui.common.layouts import STRETCH, across, down
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.plotting import swatch
from aucstudio.gui.common.table import LEFT, RIGHT, ColumnSpec, TableModel, TableView
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.common.widgets import named, push_button
from aucstudio.gui.state.live_run import LiveRun
from aucstudio.gui.state.runner import Waiting
from aucstudio.gui.state.session import Session
from aucstudio.project.runs.experiments.settings_shown import settings_sentence

Index = QModelIndex | QPersistentModelIndex
Entry = LiveRun | Waiting

_AIR = 9  # pixels
_MOST_SEEN = 5
_STOP_TIP = "End this run; its finished splits are kept"
_REMOVE_TIP = "Remove this run from the queue"


class QueueModel(TableModel):
    """A row for each run in progress, then one for each that waits."""

    def __init__(self, session: Session) -> None:
        columns = ColumnSpec("", _name, about=_about), ColumnSpec("", _progress, about=_about)
        super().__init__(columns, session)
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

    def side(self, column: int) -> Qt.AlignmentFlag:
        return RIGHT if column else LEFT


class QueueList(QWidget):
    """Running and waiting runs with their buttons; hidden if there are none."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.model = QueueModel(session)
        self.view = _QueueView(self)
        self.view.horizontalHeader().hide()
        self.stop_this = push_button("queue_stop_this", "Stop this", "", self.end_chosen)
        self.stop_this.setAccessibleName("Stop this run")
        self.up = _arrow("▲", "queue_up", "Train this run earlier", "Alt+Up")
        self.down = _arrow("▼", "queue_down", "Train this run later", "Alt+Down")
        self.up.clicked.connect(lambda: self.move_chosen(up=True))
        self.down.clicked.connect(lambda: self.move_chosen(up=False))
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
        self.stop_this.setText("Take out" if waits else "Stop this")
        plain_tooltip(self.stop_this, _REMOVE_TIP if waits else _STOP_TIP)
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

    def move_chosen(self, *, up: bool) -> None:
        """Move the chosen run up or down in the queue."""
        chosen = self.chosen()
        if isinstance(chosen, Waiting):
            self.session.study.runner.move(chosen, -1 if up else 1)


class _QueueView(TableView):
    """Handles the keys that stop and move a run."""

    def __init__(self, queue: QueueList) -> None:
        height = queue.fontMetrics().height() + _AIR
        super().__init__("queue_table", "Runs in training and waiting", queue.model, height, 0)
        self._queue = queue

    def keyPressEvent(self, event: QKeyEvent) -> None:
        moved = event.modifiers() & Qt.KeyboardModifier.AltModifier
        if event.key() == Qt.Key.Key_Delete:
            self._queue.end_chosen()
        elif moved and event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self._queue.move_chosen(up=event.key() == Qt.Key.Key_Up)
        else:
            super().keyPressEvent(event)


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


def _arrow(text: str, name: str, accessible: str, key: str) -> QToolButton:
    made = named(QToolButton(), name, accessible)
    made.setText(text)
    plain_tooltip(made, f"{accessible} ({key})")
    return made
