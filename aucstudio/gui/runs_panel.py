"""The lab book: every run of the project, and the details of the chosen one."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QPersistentModelIndex,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QAction, QBrush, QColor, QIcon, QPainter, QPixmap
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QMenu,
    QPushButton,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from aucstudio.engine import METHODS
from aucstudio.engine.params import declared_params
from aucstudio.gui import prompts
from aucstudio.gui.plan import RunLook
from aucstudio.gui.plotting import run_pen
from aucstudio.gui.session import Session, ShownRun
from aucstudio.gui.theme import current_theme
from aucstudio.gui.widgets import Card, label, named, tell
from aucstudio.project.record import DONE, FAILED, STOPPED
from aucstudio.project.summary import Summary, auc_summary, pauc_summary, train_auc

Index = QModelIndex | QPersistentModelIndex

COLUMNS = ("Run", "AUC", "pAUC", "s")
_MARKS = {DONE: "", STOPPED: "◐ ", FAILED: "✕ "}
_COLOURS = 8
_WIDTH = 352


class RunsModel(QAbstractTableModel):
    """One row a run: the finished ones, then the one in flight, then those that wait."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self._runs: list[ShownRun] = []
        self._waiting: list[tuple[str, str, int]] = []
        self._figures: dict[tuple[str, tuple[float, float]], tuple[Summary, Summary]] = {}
        session.runs_changed.connect(self.reload)
        session.band_changed.connect(self._on_band)
        session.live_changed.connect(self._on_live)

    def reload(self) -> None:
        """Take the runs from the session anew."""
        self.beginResetModel()
        self._runs = self.session.shown_runs()
        self._waiting = self._waiting_rows()
        self.endResetModel()

    def _waiting_rows(self) -> list[tuple[str, str, int]]:
        rows = []
        live = self.session.live
        if live is not None:
            share = "" if live.fraction is None else f" {live.fraction:.0%}"
            words = "stopping…" if live.stopping else f"training{share}"
            rows.append((live.look.name, words, live.look.colour))
        rows += [(look.name, "queued", look.colour) for _, look in self.session.queue]
        return rows

    def _on_live(self) -> None:
        rows = self._waiting_rows()
        if len(rows) != len(self._waiting):
            self.reload()
        elif rows != self._waiting:
            self._waiting = rows
            self.dataChanged.emit(
                self.index(len(self._runs), 0), self.index(self.rowCount() - 1, len(COLUMNS) - 1)
            )

    def _on_band(self) -> None:
        if self._runs:
            self.dataChanged.emit(self.index(0, 2), self.index(len(self._runs) - 1, 2))

    def run_at(self, row: int) -> ShownRun | None:
        """Give the finished run of a row; None for one that is not finished."""
        return self._runs[row] if 0 <= row < len(self._runs) else None

    def row_of(self, run: str | None) -> int:
        """Give the row of a run; -1 if it has none."""
        return next((k for k, shown in enumerate(self._runs) if shown.record.id == run), -1)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008  (Qt's signature)
        return 0 if parent.isValid() else len(self._runs) + len(self._waiting)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return COLUMNS[section]
        if role == Qt.ItemDataRole.ToolTipRole:
            return (
                "The checked runs are drawn",
                "Held-out AUC and half its 95 % interval",
                "Held-out partial AUC in the FPR range, divided by the range's width",
                "Seconds per fit",
            )[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignLeft if section == 0 else Qt.AlignmentFlag.AlignRight
            return side | Qt.AlignmentFlag.AlignVCenter
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        if index.column() == 0 and self.run_at(index.row()) is not None:
            flags |= Qt.ItemFlag.ItemIsUserCheckable | Qt.ItemFlag.ItemIsEditable
        return flags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() > 0:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        shown = self.run_at(index.row())
        if shown is None:
            return self._waiting_data(index, role)
        if role == Qt.ItemDataRole.CheckStateRole and index.column() == 0:
            return Qt.CheckState.Checked if shown.look.visible else Qt.CheckState.Unchecked
        if role == Qt.ItemDataRole.DecorationRole and index.column() == 0:
            return _swatch(shown.look)
        if role == Qt.ItemDataRole.EditRole:
            return shown.look.name
        if role == Qt.ItemDataRole.ToolTipRole:
            return shown.record.error or settings_sentence(shown)
        if role == Qt.ItemDataRole.DisplayRole:
            return self._cell(shown, index.column())
        return None

    def _cell(self, shown: ShownRun, column: int) -> str:
        if column == 0:
            return _MARKS[shown.record.status] + shown.look.name
        if not shown.record.splits:
            return "failed" if column == 1 and shown.record.status == FAILED else "–"
        area, part = self._summaries(shown)
        if column == 1:
            return f"{area.value:.3f} ± {_short(area.half_width)}"
        if column == 2:
            return f"{part.value:.3f}"
        return seconds_words(shown.record.fit_seconds)

    def _summaries(self, shown: ShownRun) -> tuple[Summary, Summary]:
        key = (shown.record.id, self.session.plan.band)
        if key not in self._figures:
            if len(self._figures) > 500:
                self._figures.clear()
            record = shown.record
            self._figures[key] = auc_summary(record), pauc_summary(record, key[1])
        return self._figures[key]

    def _waiting_data(self, index: Index, role: int) -> Any:
        name, words, _colour = self._waiting[index.row() - len(self._runs)]
        if role == Qt.ItemDataRole.DisplayRole:
            return name if index.column() == 0 else words if index.column() == 1 else ""
        if role == Qt.ItemDataRole.ForegroundRole:
            return QBrush(QColor(current_theme().muted))
        return None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        shown = self.run_at(index.row())
        if shown is None:
            return False
        if role == Qt.ItemDataRole.CheckStateRole:
            checked = Qt.CheckState(value) == Qt.CheckState.Checked
            self.session.set_look(shown.record.id, "Show or hide run", visible=checked)
            return True
        if role == Qt.ItemDataRole.EditRole and str(value).strip():
            self.session.set_look(shown.record.id, "Rename run", name=str(value).strip())
            return True
        return False


class RunsPanel(QWidget):
    """The list above, the chosen run below."""

    export_asked = Signal()

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
        self.setMinimumWidth(_WIDTH)
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
        view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        view.setEditTriggers(
            QAbstractItemView.EditTrigger.DoubleClicked
            | QAbstractItemView.EditTrigger.EditKeyPressed
        )
        view.setShowGrid(False)
        view.setIconSize(QSize(26, 12))
        view.setWordWrap(False)
        view.verticalHeader().hide()
        view.verticalHeader().setDefaultSectionSize(32)
        header = view.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        view.customContextMenuRequested.connect(self._on_menu)
        view.selectionModel().currentRowChanged.connect(self._on_current)

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
            action = QAction(_swatch(RunLook("", k)), f"Colour {k + 1}", menu)
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


class RunDetails(Card):
    """What the chosen run is made from and what it found."""

    def __init__(self, session: Session) -> None:
        super().__init__("Chosen run")
        self.session = session
        self.name = label("", "title", wrap=True, name="run_name")
        self.figure = label("", "figure", name="run_auc")
        self.lines = label("", "muted", wrap=True, name="run_details")
        self.notes = label("", "muted", wrap=True, name="run_notes")
        self.error = label("", "error", wrap=True, name="run_error")
        self.trace = named(QPushButton("Details…"), "run_trace", "Error details")
        self.reuse = named(QPushButton("Use these settings"), "reuse_button", "Use these settings")
        self.export = named(QPushButton("Export model…"), "export_button", "Export model")
        for widget in (self.name, self.figure, self.lines, self.notes, self.error, self.trace):
            self.rows.addWidget(widget)
        buttons = QHBoxLayout()
        buttons.addWidget(self.reuse)
        buttons.addWidget(self.export)
        self.rows.addLayout(buttons)
        self.trace.clicked.connect(self._on_trace)
        self.reuse.clicked.connect(self._on_reuse)
        session.selection_changed.connect(self.refresh)
        session.runs_changed.connect(self.refresh)
        session.band_changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show the chosen run."""
        shown = self.session.run(self.session.selected)
        self.setVisible(shown is not None)
        if shown is None:
            return
        record = shown.record
        self.name.setText(shown.look.name)
        self.figure.setVisible(bool(record.splits))
        self.figure.setText(f"AUC {auc_summary(record).value:.3f}" if record.splits else "")
        tell(self.lines, "\n".join(self._lines(shown)))
        tell(self.notes, "\n".join(record.notes))
        tell(self.error, record.error, "error")
        self.trace.setVisible(bool(record.traceback))
        self.export.setVisible(bool(record.splits))

    def _lines(self, shown: ShownRun) -> list[str]:
        record = shown.record
        lines = [settings_sentence(shown), record.experiment.validation.describe()]
        if not record.splits:
            return lines
        band = self.session.plan.band
        area, part = auc_summary(record), pauc_summary(record, band)
        several = f", mean of {len(record.splits)} splits" if len(record.splits) > 1 else ""
        gap = train_auc(record) - area.value
        found = [
            f"AUC 95 % {area.low:.3f} … {area.high:.3f}{several}",
            f"pAUC {part.value:.3f} in FPR {band[0]:g} … {band[1]:g}, "
            f"95 % {part.low:.3f} … {part.high:.3f}",
            f"training AUC {train_auc(record):.3f} ({_signed(gap)})",
            f"{seconds_words(record.fit_seconds)} s per fit",
        ]
        if record.status == STOPPED:
            found.insert(0, "stopped by hand: what was finished is kept")
        unsaved = self.session.unsaved.get(record.id)
        return found + lines + ([f"not saved: {unsaved}"] if unsaved else [])

    def _on_trace(self) -> None:
        shown = self.session.run(self.session.selected)
        if shown is not None:
            prompts.show_error(self, shown.record.error, shown.record.traceback)

    def _on_reuse(self) -> None:
        if self.session.selected is not None:
            self.session.reuse_settings(self.session.selected)


def settings_sentence(shown: ShownRun) -> str:
    """Name a run's method and the settings that mean something for it."""
    experiment = shown.record.experiment
    method = METHODS[experiment.method]
    parts = [
        f"{declared.symbol or declared.label} = {_spelled(declared, experiment.params[name])}"
        for name, declared in declared_params(method).items()
        if name in experiment.params and declared.matters(experiment.params)
    ]
    return f"{method.title}: " + ", ".join(parts) if parts else method.title


def _spelled(declared: Any, value: Any) -> str:
    if value is None and declared.none:
        return str(declared.none)
    return f"{value:.4g}" if isinstance(value, float) else str(declared.spell(value))


def seconds_words(seconds: float) -> str:
    """Write a time with as many digits as it deserves."""
    if seconds < 0.0995:
        return f"{seconds:.2g}" if seconds >= 0.001 else "< 0.001"
    return f"{seconds:.2f}" if seconds < 10 else f"{seconds:,.0f}"


def _signed(number: float) -> str:
    return f"{number:+.3f}".replace("-", "−")


def _short(width: float) -> str:
    return f"{width:.3f}".removeprefix("0")


def _swatch(look: RunLook) -> QIcon:
    """Draw the run's line as it looks in the views."""
    scale = 2.0
    picture = QPixmap(round(26 * scale), round(12 * scale))
    picture.setDevicePixelRatio(scale)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(run_pen(look, 2.5))
    painter.drawLine(1, 6, 25, 6)
    painter.end()
    icon = QIcon(picture)
    # A selected row must not tint the colour that stands for the run.
    icon.addPixmap(picture, QIcon.Mode.Selected)
    return icon
