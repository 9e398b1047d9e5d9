"""Search: how every candidate of a tuned run was judged, live while the search goes."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QModelIndex, QPointF, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QSplitter,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from aucstudio.engine import METHODS
from aucstudio.gui.search_pictures import HeatMap, Profile, Shown, area_title
from aucstudio.gui.search_sheet import CandidateModel, Sheet, candidate_sheet
from aucstudio.gui.search_standing import (
    Setting,
    Standing,
    Subject,
    over_splits,
    searched_settings,
    times_chosen,
)
from aucstudio.gui.search_words import (
    candidate_words,
    live_sentence,
    readout_words,
    search_sentence,
    splits_sentence,
)
from aucstudio.gui.session import Session, ShownRun
from aucstudio.gui.theme import current_theme, run_colour
from aucstudio.gui.view import View
from aucstudio.gui.widgets import follow_check, hint_label, named
from aucstudio.project.tuning import Search, candidates

_ALL_SPLITS = -1
_LEAST_TABLE = 96
_CELL_AIR = 16


class SearchView(View):
    """Mean area of every candidate against the searched settings, and the table of them.

    Attributes
    ----------
    profile, heat : Profile, HeatMap
        One of the two is seen: cells for a whole grid of two settings, else points.
    subject : Subject or None
    standing : Standing or None
    chosen : int or None
        The candidate that is marked; the best until another is picked.
    """

    def __init__(self, session: Session) -> None:
        super().__init__(session, "search_view", "Search")
        self.subject: Subject | None = None
        self.standing: Standing | None = None
        self.chosen: int | None = None
        self._picked: int | None = None
        self._settings: list[Setting] = []
        self._framed: object = None
        self._make_controls()
        self._make_pictures()
        self._make_table()
        self._lay_out()
        session.plan_changed.connect(self.mark_stale)

    # ------------------------------------------------------------- making

    def _make_controls(self) -> None:
        self.split_label, self.split_combo = _combo("&Split", "search_split_combo", "Split")
        self.split_combo.setToolTip("Settings are searched anew in the training rows of each split")
        self.along_label, self.along_combo = _combo("&Across", "search_along_combo", "Across")
        self.along_combo.setToolTip("The setting on the horizontal axis")
        for combo in (self.split_combo, self.along_combo):
            combo.currentIndexChanged.connect(self._on_combo)
        self.follow_check = follow_check("search_follow_check")
        self.follow_check.toggled.connect(self.mark_stale)
        for widget in (self.split_label, self.split_combo, self.along_label, self.along_combo):
            self.controls.addWidget(widget)
        self.controls.addWidget(self.follow_check)
        self.controls.addStretch(1)

    def _make_pictures(self) -> None:
        self.profile, self.heat = Profile(), HeatMap()
        self.hint = hint_label("search_hint")
        self.readout = named(QLabel(), "search_readout", "Candidate")
        self.readout.setProperty("role", "muted")
        # What it says changes all the time; the window must not.
        self.readout.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.use_button = named(
            QPushButton("&Use these settings"), "use_candidate_button", "Use these settings"
        )
        self.use_button.clicked.connect(self._on_use)
        for plot in self.plots():
            plot.scene().sigMouseMoved.connect(self._on_move)
            plot.scene().sigMouseClicked.connect(self._on_click)

    def _make_table(self) -> None:
        self.model = CandidateModel()
        self.table = named(QTableView(), "search_table", "Candidates")
        self.table.setModel(self.model)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setMinimumHeight(_LEAST_TABLE)
        self.table.setShowGrid(False)
        self.table.setWordWrap(False)
        self.table.setTabKeyNavigation(False)
        self.table.setCornerWidget(QWidget())  # else the style draws a mark of its own
        self.table.verticalHeader().setVisible(False)
        self.table.verticalHeader().setDefaultSectionSize(26)
        header = self.table.horizontalHeader()
        header.setHighlightSections(False)
        header.setStretchLastSection(True)
        self.table.setSortingEnabled(True)
        # Qt's own mark lies over the words: the model writes one.
        header.setSortIndicatorShown(False)
        self.table.selectionModel().currentRowChanged.connect(self._on_row)

    def _lay_out(self) -> None:
        below = QHBoxLayout()
        below.addWidget(self.readout, stretch=1)
        below.addWidget(self.use_button)
        picture = _Stage()
        picture.left.connect(lambda: self._read(self.chosen))
        column = QVBoxLayout(picture)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.profile.plot, stretch=1)
        column.addWidget(self.heat.plot, stretch=1)
        column.addLayout(below)
        self.splitter = named(QSplitter(Qt.Orientation.Vertical), "search_splitter", "Search")
        self.splitter.setHandleWidth(8)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.addWidget(picture)
        self.splitter.addWidget(self.table)
        for k, share in enumerate((3, 2)):
            self.splitter.setStretchFactor(k, share)
        self.splitter.setSizes([300, 200])
        self.body.addWidget(self.hint, stretch=1)
        self.body.addWidget(self.splitter, stretch=1)

    def figure(self) -> pg.PlotWidget:
        return self._picture().plot

    def plots(self) -> list[pg.PlotWidget]:
        return [self.profile.plot, self.heat.plot]

    # ------------------------------------------------------------- showing

    def refresh(self) -> None:
        live, run = self.session.live, self.session.run(self.session.selected)
        self.follow_check.setVisible(live is not None and live.search is not None)
        subject = self._followed() or _finished(run)
        if subject is None:
            self._show_nothing(run)
        else:
            self._show(subject)

    def refresh_live(self) -> None:
        live, followed = self.session.live, self._followed()
        self.follow_check.setVisible(live is not None and live.search is not None)
        if followed is None:
            if self.subject is not None and self.subject.live is not None:
                self.refresh()
        elif self._is_news(followed):
            self._show(followed)
        elif self.standing is not None:
            self._tell(followed, self.standing)

    def _followed(self) -> Subject | None:
        """Give the run in flight if it is what is to be seen: wished, and searching settings."""
        live = self.session.live
        if live is None or live.search is None or not self.follow_check.isChecked():
            return None
        return Subject((live, live.split), live.look, live.experiment, (live.search,), live)

    def _is_news(self, subject: Subject) -> bool:
        """Tell whether anything was judged since the page was drawn."""
        if self.subject is None or self.standing is None or self.subject.key != subject.key:
            return True
        (new,), old = subject.searches, self.standing.search
        if new.areas.shape != old.areas.shape or new.problems != old.problems:
            return True
        return not np.array_equal(new.areas, old.areas, equal_nan=True)

    def _show_nothing(self, run: ShownRun | None) -> None:
        self.subject = self.standing = self.chosen = None
        self.sentence.setText(_why_untuned(run) or self._why_none(run))
        self.hint.setText("No search to show")
        self._show_controls()

    def _why_none(self, run: ShownRun | None) -> str:
        live, aim = self.session.live, "which settings rank best"
        if run is None and live is None and self.session.table is not None:
            return f"No search yet: choose a method and press Tune to see {aim}."
        tuned = live is not None and live.experiment.tuning is not None
        soon = "its search appears with the first candidate" if tuned else "it is not tuned"
        return self.why_empty(run, "search", soon, aim)

    def _show(self, subject: Subject) -> None:
        fresh = self.subject is None or self.subject.key != subject.key
        self.subject = subject
        if fresh:
            self._picked = None
            self._settings = searched_settings(
                subject.experiment.method, subject.searches[0].candidates
            )
            self._fill_combos(subject)
        self._show_controls()
        self.standing = Standing.of(self._search(subject))
        self.chosen = self.standing.top if self._picked is None else self._picked
        self._fill_table(subject, self.standing)
        self._draw(subject, self.standing)
        self._mark()
        self._tell(subject, self.standing)

    def _fill_combos(self, subject: Subject) -> None:
        blockers = [QSignalBlocker(combo) for combo in (self.split_combo, self.along_combo)]
        whole = sum(one.judged >= 1.0 for one in subject.searches)
        self.split_combo.clear()
        if whole > 1:
            self.split_combo.addItem("All splits", _ALL_SPLITS)
        for k in range(len(subject.searches)):
            self.split_combo.addItem(f"Split {k + 1}", k)
        kept = self.along_combo.currentData()
        self.along_combo.clear()
        for setting in self._settings:
            self.along_combo.addItem(setting.title, setting.name)
        numeric = [setting.name for setting in self._settings if setting.is_numeric]
        wanted = (self.along_combo.findData(name) for name in (kept, *numeric[:1]))
        self.along_combo.setCurrentIndex(next((k for k in wanted if k >= 0), 0))
        del blockers

    def _show_controls(self) -> None:
        """Show what there is a choice of, and one of the pictures, or why there is none."""
        shown = self.subject is not None
        several = shown and self.split_combo.count() > 1
        ways = shown and len(self._settings) > 1
        for widget in (self.split_label, self.split_combo):
            widget.setVisible(several)
        for widget in (self.along_label, self.along_combo):
            widget.setVisible(ways)
        self.hint.setVisible(not shown)
        self.splitter.setVisible(shown)
        for picture in (self.profile, self.heat):
            picture.plot.setVisible(picture is self._picture())

    def _search(self, subject: Subject) -> Search:
        k = self.split_combo.currentData()
        return over_splits(subject.searches) if k == _ALL_SPLITS else subject.searches[k]

    def _is_over_splits(self) -> bool:
        return bool(self.split_combo.currentData() == _ALL_SPLITS)

    def _along(self) -> list[Setting]:
        """List the settings, that of the horizontal axis first."""
        name = self.along_combo.currentData()
        return sorted(self._settings, key=lambda setting: setting.name != name)

    def _picture(self) -> Profile | HeatMap:
        if self.subject is None or len(self._settings) != 2:
            return self.profile
        cells = math.prod(len(setting.values) for setting in self._settings)
        whole = len(self.subject.searches[0].candidates) == cells
        return self.heat if whole else self.profile

    # ------------------------------------------------------------- drawing

    def _draw(self, subject: Subject, standing: Standing) -> None:
        picture, along = self._picture(), self._along()
        unit = "split" if self._is_over_splits() else "fold"
        title = area_title(subject.experiment, standing.search)
        colour = run_colour(current_theme(), subject.look.colour)
        picture.draw(standing, Shown(along, title, unit, colour))
        framed = (subject.key, self.split_combo.currentData(), along[0].name)
        if framed != self._framed:
            self._framed = framed
            picture.plot.enableAutoRange()

    def _mark(self) -> None:
        """Mark the chosen candidate in the picture and the table."""
        if self.chosen is None:
            self.table.clearSelection()
        else:
            self._mark_row(self.model.order.index(self.chosen))
        self._picture().mark(self.chosen)
        self.use_button.setEnabled(self.chosen is not None)
        words = "" if self.chosen is None else self._words(self.chosen)
        self.use_button.setToolTip(f"Put {words} into the method card" if words else "")
        self._read(self.chosen)

    def _mark_row(self, row: int) -> None:
        """Select a row; the table moves there only if a person picked it."""
        bar = self.table.verticalScrollBar()
        place = bar.value()
        if not self.table.selectionModel().isRowSelected(row, QModelIndex()):
            self.table.selectRow(row)
            if self._picked is None:
                bar.setValue(place)

    def _words(self, candidate: int) -> str:
        assert self.standing is not None
        return candidate_words(self._settings, self.standing.search.candidates[candidate])

    def _read(self, candidate: int | None) -> None:
        """Read out a candidate; what is least needed comes last, where a narrow page cuts it."""
        words = ""
        if candidate is not None and self.standing is not None:
            unit = "split" if self._is_over_splits() else "fold"
            words = readout_words(self._settings, self.standing, candidate, unit)
        self.readout.setText(words)
        self.readout.setToolTip(words)

    def _tell(self, subject: Subject, standing: Standing) -> None:
        if subject.live is not None:
            words = live_sentence(subject, self._settings, standing)
        elif self._is_over_splits():
            words = splits_sentence(subject, self._settings, standing)
        else:
            words = search_sentence(subject, self._settings, standing)
        self.sentence.setText(words)

    # ------------------------------------------------------------- the table

    def _fill_table(self, subject: Subject, standing: Standing) -> None:
        several = self._is_over_splits()
        chosen = times_chosen(subject.searches) if several else None
        sheet = candidate_sheet(self._settings, standing, chosen, subject.live is not None)
        if self.model.show_sheet(sheet):
            self._fit_columns(sheet)
            area = 1 + len(self._settings)
            self.table.sortByColumn(area, Qt.SortOrder.DescendingOrder)

    def _fit_columns(self, sheet: Sheet) -> None:
        """Make columns as wide as their words, and as the figures that are still to come.

        Qt would ask for the looks of every cell: ten times slower.
        """
        font, head_font = self.table.font(), self.table.horizontalHeader().fontMetrics()
        font.setBold(True)
        measure = QFontMetrics(font).horizontalAdvance
        for k, head in enumerate(sheet.heads[:-1]):
            words = {"0.000", *(row.cells[k] for row in sheet.rows)}
            wide = max(head_font.horizontalAdvance(f"{head} ▾"), *map(measure, words))
            self.table.setColumnWidth(k, wide + _CELL_AIR)

    # ------------------------------------------------------------- the person

    def _on_combo(self) -> None:
        if self.sender() is self.split_combo:
            self._picked = None
        if self.subject is not None:
            self._show(self.subject)

    def _on_row(self, index: QModelIndex) -> None:
        if index.isValid():
            self.choose(self.model.order[index.row()])

    def choose(self, candidate: int) -> None:
        """Mark a candidate in the picture and the table."""
        if candidate != self.chosen:
            self.chosen = self._picked = candidate
            self._mark()

    def _on_use(self) -> None:
        if self.subject is None or self.standing is None or self.chosen is None:
            return
        plan, experiment = self.session.plan, self.subject.experiment
        candidate = self.standing.search.candidates[self.chosen]
        # The candidate was judged beside the run's other settings: they go with it.
        params = {**plan.params, experiment.method: {**experiment.params, **candidate}}
        self.session.edit(
            dataclasses.replace(plan, method=experiment.method, params=params),
            "Use settings of a candidate",
        )
        title = METHODS[experiment.method].title
        self.session.told.emit(f"{title} is set to {self._words(self.chosen)}")

    def _on_move(self, position: QPointF) -> None:
        hovered = self._picture().candidate_at(position)
        self._read(self.chosen if hovered is None else hovered)

    def _on_click(self, event: Any) -> None:
        if event.double():
            self._picture().plot.enableAutoRange()
            return
        candidate = self._picture().candidate_at(event.scenePos())
        if candidate is not None:
            self.choose(candidate)


class _Stage(QWidget):
    """What holds the pictures; tells when the pointer goes."""

    left = Signal()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.left.emit()


def _combo(text: str, name: str, accessible: str) -> tuple[QLabel, QComboBox]:
    combo = named(QComboBox(), name, accessible)
    combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
    label = QLabel(text)
    label.setBuddy(combo)
    return label, combo


def _finished(run: ShownRun | None) -> Subject | None:
    """Give the chosen run if it has searched and come to know anything."""
    if run is None:
        return None
    searches = tuple(one for one in run.record.searches if one.leader is not None)
    if not searches:
        return None
    return Subject(run.record.id, run.look, run.record.experiment, searches)


def _why_untuned(run: ShownRun | None) -> str:
    """Say why a run has no search, unless it failed; empty if there is no run."""
    if run is None or run.record.error:
        return ""
    experiment = run.record.experiment
    if experiment.tuning is not None:
        return f"{run.look.name} was stopped before any candidate was judged: press Tune again."
    if not candidates(METHODS[experiment.method], experiment.params, 0):
        return f"{METHODS[experiment.method].title} has no setting to search."
    return f"{run.look.name} was not tuned: press Tune in the method card to search its settings."
