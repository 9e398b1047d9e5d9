"""What trains and what waits: each can be stopped or taken out, and what waits be moved."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    Qt,
)
from PySide6.QtGui import QBrush, QColor, QKeyEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QPushButton,
    QTableView,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from aucstudio.engine import METHODS
from aucstudio.gui.common.plain import plain_tooltip, tip_text
from aucstudio.gui.common.plotting import SWATCH, swatch
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.common.widgets import fit_columns, list_rows, named
from aucstudio.gui.state.live import LiveRun
from aucstudio.gui.state.runner import Waiting
from aucstudio.gui.state.session import Session
from aucstudio.project.runs.experiments.settings_shown import settings_sentence

Index = QModelIndex | QPersistentModelIndex
Entry = LiveRun | Waiting

_AIR = 9  # pixels
_MOST_SEEN = 5
_Select = QItemSelectionModel.SelectionFlag


class QueueModel(QAbstractTableModel):
    """A row for each run in progress, then one for each that waits."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.session = session
        self.entries: list[Entry] = []

    def refresh(self) -> bool:
        """Take the runs from the session; tells whether they are others than before."""
        entries: list[Entry] = [*self.session.flights, *self.session.queue]
        if [id(one) for one in entries] == [id(one) for one in self.entries]:
            if entries:
                self.dataChanged.emit(self.index(0, 0), self.index(len(entries) - 1, 1))
            return False
        self.beginResetModel()
        self.entries = entries
        self.endResetModel()
        return True

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008  (Qt's signature)
        return 0 if parent.isValid() else len(self.entries)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else 2

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not 0 <= index.row() < len(self.entries):
            return None
        entry, column = self.entries[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return _name(entry) if column == 0 else _progress(entry)
        if role == Qt.ItemDataRole.DecorationRole and column == 0:
            return swatch(entry.look)
        if role == Qt.ItemDataRole.ToolTipRole:
            doing = entry.words if isinstance(entry, LiveRun) else "waits for its turn"
            return tip_text(f"{settings_sentence(entry.experiment)}\n{doing}")
        if role == Qt.ItemDataRole.TextAlignmentRole and column == 1:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.ForegroundRole and not isinstance(entry, LiveRun):
            return QBrush(QColor(current_theme().muted))
        return None


class QueueList(QWidget):
    """The runs under way, with the buttons for them; hidden where there are none."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.model = QueueModel(session)
        self.view = named(_QueueView(self), "queue_table", "Runs in training and waiting")
        self.view.setModel(self.model)
        list_rows(self.view, self.view.fontMetrics().height() + _AIR)
        fit_columns(self.view, 0)
        self.view.horizontalHeader().hide()
        self.view.setIconSize(SWATCH)
        self.stop_this = named(QPushButton("Stop this"), "queue_stop_this", "Stop this run")
        self.up = _arrow("▲", "queue_up", "Train this run earlier", "Alt+Up")
        self.down = _arrow("▼", "queue_down", "Train this run later", "Alt+Down")
        self._lay_out()
        self.stop_this.clicked.connect(self.end_chosen)
        self.up.clicked.connect(lambda: self.move_chosen(up=True))
        self.down.clicked.connect(lambda: self.move_chosen(up=False))
        self.view.selectionModel().selectionChanged.connect(lambda *_: self._show_verbs())
        session.live_changed.connect(self.refresh)
        self.refresh()

    def _lay_out(self) -> None:
        buttons = QHBoxLayout()
        buttons.setContentsMargins(0, 0, 0, 0)
        for widget in (self.stop_this, self.up, self.down):
            buttons.addWidget(widget)
        buttons.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 6)
        column.setSpacing(4)
        column.addWidget(self.view)
        column.addLayout(buttons)

    # ------------------------------------------------------------- what is shown

    def refresh(self) -> None:
        """Show what trains and waits now."""
        chosen = self.chosen()
        if self.model.refresh():
            self._choose(chosen)
        count = len(self.model.entries)
        row = self.view.fontMetrics().height() + _AIR
        self.view.verticalHeader().setDefaultSectionSize(row)
        self.view.setFixedHeight(row * min(count, _MOST_SEEN) + 2)
        self.setVisible(count > 0)
        self._show_verbs()

    def chosen(self) -> Entry | None:
        """Give the run whose row is chosen."""
        row = self.view.currentIndex().row()
        return self.model.entries[row] if 0 <= row < len(self.model.entries) else None

    def _choose(self, entry: Entry | None) -> None:
        if not self.model.entries:
            return
        same = [k for k, one in enumerate(self.model.entries) if one is entry]
        index = self.model.index(same[0] if same else 0, 0)
        marks = self.view.selectionModel()
        marks.setCurrentIndex(index, _Select.ClearAndSelect | _Select.Rows)

    def _show_verbs(self) -> None:
        chosen, queue = self.chosen(), list(self.session.queue)
        flies = isinstance(chosen, LiveRun)
        self.stop_this.setText("Stop this" if flies or chosen is None else "Take out")
        plain_tooltip(
            self.stop_this,
            "Ends this run; its finished splits are kept" if flies else "Takes this run out",
        )
        self.stop_this.setEnabled(chosen is not None and not getattr(chosen, "stopping", False))
        place = queue.index(chosen) if isinstance(chosen, Waiting) and chosen in queue else -1
        self.up.setEnabled(place > 0)
        self.down.setEnabled(0 <= place < len(queue) - 1)

    # ------------------------------------------------------------- verbs

    def end_chosen(self) -> None:
        """Stop the chosen run, or take it out of the queue."""
        chosen = self.chosen()
        if isinstance(chosen, LiveRun):
            self.session.stop_run(chosen)
        elif chosen is not None:
            self.session.cancel(chosen)

    def move_chosen(self, *, up: bool) -> None:
        """Let the chosen run be trained earlier or later than its neighbour in the queue."""
        chosen = self.chosen()
        if isinstance(chosen, Waiting):
            self.session.move(chosen, up=up)


class _QueueView(QTableView):
    """Hands the keys on that end and move a run."""

    def __init__(self, queue: QueueList) -> None:
        super().__init__()
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
