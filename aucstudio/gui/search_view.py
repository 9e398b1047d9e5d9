"""Search: how every candidate of a tuned run was judged, live while the search goes."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QModelIndex, QPointF, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QFontMetrics, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QGraphicsRectItem,
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
from aucstudio.engine.params import Param, declared_params
from aucstudio.gui.live import LiveRun
from aucstudio.gui.plan import RunLook
from aucstudio.gui.plotting import dress_plot, faded, make_plot, pen
from aucstudio.gui.session import Session, ShownRun
from aucstudio.gui.sheet_model import Row, SheetModel
from aucstudio.gui.theme import Theme, current_theme, run_colour
from aucstudio.gui.view import View
from aucstudio.gui.widgets import follow_check, hint_label, named
from aucstudio.project.experiment import Experiment
from aucstudio.project.tuning import LEAVE_PAIR_OUT, METRICS, PAUC, Candidate, Search, candidates
from aucstudio.project.words import figure_words, power_words

Array = NDArray[np.float64]
Counts = NDArray[np.intp]

_ALL_SPLITS = -1
_REACH = 24.0  # pixels from the pointer within which a point answers
_MOST_TICKS = 8
_LEAST_TABLE = 96
_CELL_AIR = 16
_CHARACTER, _NARROW = 7.0, 400.0  # pixels; of an axis in a small window
_SAME = 1e-12


# ----------------------------------------------------------------- what is shown


@dataclasses.dataclass(frozen=True, eq=False)
class Setting:
    """One searched setting as an axis.

    Attributes
    ----------
    declared : Param
    values : tuple
        The values that were tried, along the axis.
    places : ndarray of float
        Where they lie: logarithms where people think in powers, the values themselves, or, for
        words, 0, 1, 2, ...
    """

    declared: Param
    values: tuple[Any, ...]
    places: Array

    @property
    def name(self) -> str:
        return self.declared.name

    @property
    def symbol(self) -> str:
        return self.declared.symbol or self.declared.label

    @property
    def title(self) -> str:
        """The setting's label and symbol."""
        label, symbol = self.declared.label, self.declared.symbol
        return f"{label} {symbol}" if symbol and symbol != label else label

    @property
    def is_numeric(self) -> bool:
        return all(_is_number(value) for value in self.values)

    @property
    def is_decades(self) -> bool:
        """Whether powers of ten are what was tried."""
        if not self.declared.log or not self.is_numeric:
            return False
        return all(value > 0 and math.log10(value).is_integer() for value in self.values)

    def index(self, found: Sequence[Candidate]) -> Counts:
        """Give each candidate's place in ``values``."""
        return np.array([self.values.index(one[self.name]) for one in found], dtype=np.intp)

    def spell(self, value: Any) -> str:
        return number_words(value) if isinstance(value, float) else self.declared.spell(value)

    def tick(self, value: Any) -> str:
        """Write a value as briefly as an axis needs it."""
        if self.is_decades:
            return _decade(math.log10(value))
        if not isinstance(value, float) or "e" in f"{value:.3g}":
            return self.spell(value)
        return f"{value:.3g}"

    def ticks(self) -> list[tuple[float, str]] | None:
        """Give the ticks: the values that were tried, or decades; None leaves it to the axis."""
        texts = [self.tick(value) for value in self.values]
        if not self.is_numeric:
            return list(zip(self.places.tolist(), texts, strict=True))
        span = float(np.ptp(self.places)) or 1.0
        nearest = float(np.diff(self.places).min(initial=span)) / span * _NARROW
        longest = max(map(len, texts)) * _CHARACTER
        if len(texts) <= _MOST_TICKS and nearest >= longest:
            return list(zip(self.places.tolist(), texts, strict=True))
        return self._decades() if self.declared.log else None

    def _decades(self) -> list[tuple[float, str]]:
        known = self.places[np.array(self.values, dtype=float) > 0]
        low, high = math.ceil(known.min() - 1e-9), math.floor(known.max() + 1e-9)
        every = max(1, math.ceil((high - low + 1) / _MOST_TICKS))
        zero = [(float(self.places[0]), "0")] if len(known) < len(self.places) else []
        return zero + [(float(k), _decade(k)) for k in range(low, high + 1, every)]


def searched_settings(method: str, found: Sequence[Candidate]) -> list[Setting]:
    """List what a search varied, each with the values it tried."""
    declared = declared_params(METHODS[method])
    return [
        _setting(declared[name], tuple(dict.fromkeys(one[name] for one in found)))
        for name in found[0]
    ]


def _setting(declared: Param, tried: tuple[Any, ...]) -> Setting:
    if not all(_is_number(value) for value in tried):
        return Setting(declared, tried, np.arange(len(tried), dtype=np.float64))
    values = tuple(sorted(tried))
    places = np.array(values, dtype=np.float64)
    if declared.log:
        above = np.log10(places[places > 0])
        # Zero has no logarithm: it lies one step below the rest.
        step = float(above[1] - above[0]) if len(above) > 1 else 1.0
        places = np.concatenate([above[:1] - step] * (len(above) < len(places)) + [above])
    return Setting(declared, values, places)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def number_words(value: float) -> str:
    """Write a setting: plainly where that is short, else with a power of ten."""
    text = f"{value:.4g}"
    if "e" not in text:
        return text
    if f"{value:.3e}".startswith("1.000e"):
        return power_words(value).removeprefix("1·")
    return power_words(value, 2)


def _decade(power: float) -> str:
    return power_words(10.0**power).removeprefix("1·")


@dataclasses.dataclass(frozen=True, eq=False)
class Standing:
    """Where the candidates stand on what was judged so far.

    Attributes
    ----------
    search : Search
    counts : ndarray of int
        Folds that each candidate was judged on.
    means, errors : ndarray of float
        Over these folds; standard errors are NaN below two.
    ranks : ndarray of int
        1 for the best; 0 where a candidate was judged less often than others.
    top : int or None
        The best, or who leads until one was judged on every fold.
    """

    search: Search
    counts: Counts
    means: Array
    errors: Array
    ranks: Counts
    top: int | None

    @classmethod
    def of(cls, search: Search) -> Standing:
        """Count and average what a search has judged."""
        known = np.isfinite(search.areas)
        counts = known.sum(axis=1)
        means = np.where(known, search.areas, 0.0).sum(axis=1) / np.where(counts, counts, np.nan)
        squares = np.where(known, (search.areas - means[:, None]) ** 2, 0.0).sum(axis=1)
        errors = np.sqrt(squares / np.where(counts > 1, (counts - 1) * counts, np.nan))
        level = (counts == counts.max()) & (counts > 0)
        better = (means[None, :] > means[:, None] + _SAME) & level[None, :]
        ranks = np.where(level, 1 + better.sum(axis=1), 0)
        top = search.leader if search.best is None else search.best
        return cls(search, counts, means, errors, ranks, top)

    @property
    def is_whole(self) -> bool:
        """Whether every candidate was judged on every fold, or could not be."""
        return self.search.judged >= 1.0

    def close(self) -> int:
        """Count the candidates other than the best within its standard error."""
        if self.top is None:
            return 0
        near = self.means >= self.means[self.top] - self.errors[self.top]
        return int((near & (self.ranks > 0)).sum()) - 1


@dataclasses.dataclass(frozen=True, eq=False)
class Subject:
    """The run that the page is about: a finished one or the one in flight."""

    key: object
    look: RunLook
    experiment: Experiment
    searches: tuple[Search, ...]
    live: LiveRun | None = None


def over_splits(searches: Sequence[Search]) -> Search:
    """Make one search of several: a candidate's mean area in each split stands for its folds."""
    whole = [one for one in searches if one.judged >= 1.0]
    problems = {
        k: f"{text} (split {split + 1})"
        for split, one in reversed(list(enumerate(searches)))
        for k, text in one.problems.items()
    }
    return Search(
        searches[0].metric,
        searches[0].candidates,
        np.column_stack([one.means for one in whole]),
        problems,
        sum(one.seconds for one in searches),
    )


def times_chosen(searches: Sequence[Search]) -> Counts:
    """Count in how many splits each candidate ranked best."""
    best = [one.best for one in searches if one.judged >= 1.0 and one.best is not None]
    return np.bincount(np.array(best, dtype=np.intp), minlength=len(searches[0].candidates))


# ----------------------------------------------------------------- the page


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


# ----------------------------------------------------------------- pictures


@dataclasses.dataclass(frozen=True, eq=False)
class Shown:
    """What a picture needs beside the standing.

    Attributes
    ----------
    along : list of Setting
        That of the horizontal axis first.
    title : str
        The measure.
    unit : {"fold", "split"}
        What each area comes from.
    colour : QColor
        The run's.
    """

    along: list[Setting]
    title: str
    unit: str
    colour: QColor


class _Picture:
    """A plot whose axes and key are written only when they change."""

    def __init__(self, name: str) -> None:
        self.plot = make_plot(name, "", "")
        self._worn: object = None
        for side in ("left", "bottom"):
            self.plot.getAxis(side).enableAutoSIPrefix(False)

    def _wear(self, key: str, **titles: str) -> None:
        """Write the titles of the sides, and what the marks mean on the figure itself."""
        theme = current_theme()
        worn = (theme, key, tuple(titles.items()))
        if worn == self._worn:
            return
        self._worn = worn
        dress_plot(self.plot)
        for side, title in titles.items():
            self.plot.setLabel(side, title, color=theme.muted)
        self.plot.setTitle(key, color=theme.muted, size="9pt")


class Profile(_Picture):
    """Mean areas along one setting.

    Attributes
    ----------
    line : PlotDataItem
        Through the best mean at each value.
    spread : ErrorBarItem
        One standard error to either side.
    folds, means, best, ring : ScatterPlotItem
        Areas in each fold, means, the best and the chosen candidate.
    """

    def __init__(self) -> None:
        super().__init__("search_plot")
        self.spread = pg.ErrorBarItem()
        self.folds, self.means = pg.ScatterPlotItem(size=5), pg.ScatterPlotItem(size=8)
        self.best, self.ring = pg.ScatterPlotItem(symbol="d"), pg.ScatterPlotItem(size=18)
        self.line = pg.PlotDataItem(connect="finite", antialias=True)
        for item in (self.folds, self.line, self.spread, self.means, self.best, self.ring):
            self.plot.addItem(item)
        self._places = np.empty((0, 2))

    def draw(self, standing: Standing, shown: Shown) -> None:
        """Hand the candidates to the items."""
        setting, alone, colour = shown.along[0], len(shown.along) == 1, shown.colour
        places = setting.places[setting.index(standing.search.candidates)]
        self._places = np.column_stack([places, standing.means])
        high = _highest(places, standing.means)
        line = self._places[high] if setting.is_numeric else np.empty((0, 2))
        self.line.setData(line, pen=pen(colour, 2.0))
        barred = high[np.isfinite(standing.errors[high])]
        self._draw_spread(standing, barred, colour)
        areas = standing.search.areas
        dotted = alone and areas.shape[1] > 1
        dots = _fold_points(places, areas) if dotted else ([], [])
        self.folds.setData(*dots, pen=None, brush=faded(colour, 90))
        self._draw_means(standing, high, colour, alone=alone)
        ticks = setting.ticks()
        self.plot.getAxis("bottom").setTicks(None if ticks is None else [ticks])
        parts = ["diamond: best", "ring: chosen"]
        parts[:0] = [f"dots: {shown.unit}s"] if dotted else []
        parts[:0] = ["bars: ± 1 standard error"] if len(barred) else []
        parts[:0] = [] if alone else ["line: best at each value"]
        self._wear(" · ".join(parts).capitalize(), bottom=setting.title, left=shown.title)

    def _draw_spread(self, standing: Standing, barred: Counts, colour: QColor) -> None:
        x, bars = self._places[barred, 0], standing.errors[barred]
        # An empty item would pull the axes to the origin.
        ends = (x, standing.means[barred]) if len(barred) else (None, None)
        stroke = pen(faded(colour, 170), 1.5)
        self.spread.setData(x=ends[0], y=ends[1], top=bars, bottom=bars, pen=stroke)

    def _draw_means(self, standing: Standing, high: Counts, colour: QColor, *, alone: bool) -> None:
        theme, known = current_theme(), np.flatnonzero(standing.counts)
        # Points of one look share its pen and brush: each look is painted once and stamped.
        shades = (colour, faded(colour, 110))
        pens, hollow = [pen(shade, 1.5) for shade in shades], QBrush(QColor(theme.card))
        fills = [QBrush(shade) for shade in shades]
        far = np.zeros(len(known), dtype=int) if alone else 1 - np.isin(known, high)
        level = standing.ranks[known] > 0
        # Judged less often than others is hollow: such a mean cannot be compared yet.
        self.means.setData(
            pos=self._places[known],
            pen=[pens[k] for k in far],
            brush=[fills[k] if full else hollow for k, full in zip(far, level, strict=True)],
        )
        top = self._places[[] if standing.top is None else [standing.top]]
        self.best.setData(pos=top, size=15, pen=pen(theme.card, 1.5), brush=theme.text)

    def mark(self, candidate: int | None) -> None:
        """Ring a candidate."""
        shown = [] if candidate is None or np.isnan(self._places[candidate, 1]) else [candidate]
        ring = pen(current_theme().accent, 2.0)
        self.ring.setData(pos=self._places[shown], pen=ring, brush=None)

    def candidate_at(self, position: QPointF) -> int | None:
        """Give the candidate whose point is nearest to a place of the scene, within reach."""
        box = self.plot.getViewBox()
        if not len(self._places) or not box.sceneBoundingRect().contains(position):
            return None
        point, pixel = box.mapSceneToView(position), box.viewPixelSize()
        apart = (self._places - (point.x(), point.y())) / pixel
        distance = np.hypot(apart[:, 0], apart[:, 1])
        if np.isnan(distance).all() or np.nanmin(distance) > _REACH:
            return None
        return int(np.nanargmin(distance))


def _highest(places: Array, means: Array) -> Counts:
    """Give the best candidate at each place, from left to right; the first among equals."""
    known = np.flatnonzero(np.isfinite(means))
    order = known[np.lexsort((known, -means[known], places[known]))]
    _, first = np.unique(places[order], return_index=True)
    best: Counts = order[first]
    return best


def _fold_points(places: Array, areas: Array) -> tuple[Array, Array]:
    x, y = np.repeat(places, areas.shape[1]), areas.ravel()
    known = np.isfinite(y)
    return x[known], y[known]


class HeatMap(_Picture):
    """Mean areas over the grid of two settings.

    Attributes
    ----------
    cells : BarGraphItem
        The judged cells.
    values : ndarray of shape (n_across, n_up)
        Their means; NaN where a cell was not judged.
    hatch, best : PlotCurveItem
        Cells that were not judged, and the outline of the best.
    ring : ScatterPlotItem
        In the chosen cell.
    scale : QGraphicsRectItem
        Colours of low to high, beside the cells; the right axis has their numbers.
    """

    def __init__(self) -> None:
        super().__init__("search_heat_plot")
        self.plot.showGrid(x=False, y=False)
        self.cells = pg.BarGraphItem(x0=[], y0=[], width=1, height=1)
        self.hatch = pg.PlotCurveItem(connect="pairs", antialias=True)
        self.best, self.ring = pg.PlotCurveItem(antialias=True), pg.ScatterPlotItem(size=12)
        for item in (self.cells, self.hatch, self.best, self.ring):
            self.plot.addItem(item)
        self.scale = QGraphicsRectItem()
        self.scale.setPen(QPen(Qt.PenStyle.NoPen))
        self.plot.addItem(self.scale)
        self.plot.showAxis("right")
        self.values = np.empty((0, 0))
        self._of = np.empty((0, 2), dtype=np.intp)

    def draw(self, standing: Standing, shown: Shown) -> None:
        """Hand the candidates to the items; the run's colour stays with its lines elsewhere."""
        across, up = shown.along
        found = standing.search.candidates
        self._of = np.column_stack([across.index(found), up.index(found)])
        self.values = np.full((len(across.values), len(up.values)), np.nan)
        self.values[self._of[:, 0], self._of[:, 1]] = standing.means
        for side, setting in (("bottom", across), ("left", up)):
            texts = [setting.tick(value) for value in setting.values]
            self.plot.getAxis(side).setTicks([list(enumerate(texts))])
        self._draw_cells(standing)
        gaps = " · hatched: not judged" if np.isnan(self.values).any() else ""
        self._wear(
            f"Outlined: best · ring: chosen{gaps}",
            bottom=across.title,
            left=up.title,
            right=shown.title,
        )

    def _draw_cells(self, standing: Standing) -> None:
        theme = current_theme()
        shades, levels = sequential(theme), _levels(self.values)
        judged = np.argwhere(np.isfinite(self.values))
        share = (self.values[judged[:, 0], judged[:, 1]] - levels[0]) / (levels[1] - levels[0])
        self.cells.setOpts(
            x0=judged[:, 0] - 0.5,
            y0=judged[:, 1] - 0.5,
            pen=pen(theme.card, 2.0),
            brushes=shades.map(share, mode=shades.QCOLOR),
        )
        blank = _hatching(np.argwhere(np.isnan(self.values)))
        self.hatch.setData(*blank, pen=pen(theme.grid, 1.0))
        outline = ([], []) if standing.top is None else _outline(self._of[standing.top])
        self.best.setData(*outline, pen=pen(theme.text, 2.5))
        self._draw_scale(theme, shades, levels)

    def _draw_scale(self, theme: Theme, shades: pg.ColorMap, levels: tuple[float, float]) -> None:
        across, up = self.values.shape
        self.scale.setRect(across - 0.5 + 0.04 * across, -0.5, 0.03 * across, up)
        self.scale.setBrush(shades.getBrush((-0.5, up - 0.5)))
        axis, span = self.plot.getAxis("right"), levels[1] - levels[0]
        places = [(up * (value - levels[0]) / span - 0.5, text) for value, text in _round(*levels)]
        axis.setTicks([places])
        axis.setPen(None)
        axis.setTextPen(theme.muted)

    def mark(self, candidate: int | None) -> None:
        """Ring a candidate."""
        theme = current_theme()
        place = self._of[[] if candidate is None else [candidate]]
        self.ring.setData(pos=place, pen=pen(theme.accent, 2.5), brush=theme.card)

    def candidate_at(self, position: QPointF) -> int | None:
        """Give the candidate of the cell at a place of the scene."""
        box = self.plot.getViewBox()
        if not box.sceneBoundingRect().contains(position):
            return None
        point = box.mapSceneToView(position)
        cell = (math.floor(point.x() + 0.5), math.floor(point.y() + 0.5))
        hits = np.flatnonzero((self._of == cell).all(axis=1))
        return int(hits[0]) if len(hits) else None


def sequential(theme: Theme) -> pg.ColorMap:
    """Make the colours of low to high: one hue, its lightness going one way."""
    low, high = _mixed(theme.card, theme.positive, 0.18), _mixed(theme.positive, theme.text, 0.45)
    return pg.ColorMap((0.0, 0.55, 1.0), (low, QColor(theme.positive), high))


def _mixed(a: str, b: str, share: float) -> QColor:
    one, other = QColor(a), QColor(b)
    parts = zip(one.getRgb()[:3], other.getRgb()[:3], strict=True)  # type: ignore[index]
    return QColor(*(round((1 - share) * p + share * q) for p, q in parts))


def _levels(values: Array) -> tuple[float, float]:
    """Give the ends of the colours; equal areas get some room."""
    known = values[np.isfinite(values)]
    if not len(known):
        return 0.0, 1.0
    low, high = float(known.min()), float(known.max())
    return (low, high) if high - low > 1e-9 else (low - 0.001, low + 0.001)


def _round(low: float, high: float) -> list[tuple[float, str]]:
    """List round numbers from low to high, about five, with the digits they need."""
    power = math.floor(math.log10((high - low) / 5.0))
    steps = [times * 10.0**power for times in (1, 2, 5, 10)]
    step = next(step for step in steps if (high - low) / step <= 6.0)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    return [(k * step, f"{k * step:.{digits}f}") for k in range(first, last + 1)]


def _outline(cell: Counts) -> tuple[Array, Array]:
    return (
        cell[0] + np.array([-0.5, 0.5, 0.5, -0.5, -0.5]),
        cell[1] + np.array([-0.5, -0.5, 0.5, 0.5, -0.5]),
    )


def _hatching(cells: Counts) -> tuple[Array, Array]:
    """Give strokes across each cell, as pairs of ends."""
    rise = np.array([-2.0, -1.0, 0.0, 1.0, 2.0]) / 3.0
    start, end = np.maximum(-0.5, -0.5 - rise), np.minimum(0.5, 0.5 - rise)
    x = np.column_stack([start, end]).ravel()
    y = x + np.repeat(rise, 2)
    return (cells[:, :1] + x).ravel(), (cells[:, 1:] + y).ravel()


def area_title(experiment: Experiment, search: Search) -> str:
    """Name the measure for an axis."""
    if search.metric == PAUC:
        low, high = experiment.band
        return f"pAUC, FPR {low:g} … {high:g}"
    return METRICS[search.metric][0].upper() + METRICS[search.metric][1:]


# ----------------------------------------------------------------- the table


@dataclasses.dataclass(frozen=True)
class Sheet:
    """The table of candidates, and by what each column sorts; None sorts last."""

    heads: tuple[str, ...]
    tips: Mapping[int, str]
    rows: tuple[Row, ...]
    keys: tuple[tuple[Any, ...], ...]


class CandidateModel(SheetModel):
    """Candidates, sorted by a column; a row that is selected stays so wherever it goes.

    Attributes
    ----------
    order : list of int
        Candidate of each row.
    """

    def __init__(self) -> None:
        super().__init__((), {}, ())
        self.order: list[int] = []
        self._sheet = Sheet((), {}, (), ())
        self._by, self._down = -1, False

    def show_sheet(self, sheet: Sheet) -> bool:
        """Show candidates; True if the table has another shape and must be sorted anew."""
        same = sheet.heads == self.heads and len(sheet.rows) == len(self.rows)
        self._sheet = sheet
        if same:
            self._arrange()
            return False
        self.beginResetModel()
        self.heads, self.tips = sheet.heads, dict(sheet.tips)
        self._words = frozenset({len(sheet.heads) - 1})
        self.order, self._by = list(range(len(sheet.rows))), -1
        self.rows = list(sheet.rows)
        self.endResetModel()
        return True

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        text = super().headerData(section, orientation, role)
        if role != Qt.ItemDataRole.DisplayRole or text is None or section != self._by:
            return text
        return f"{text} {'▾' if self._down else '▴'}"

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; what has no value there comes last either way."""
        self._by, self._down = column, order == Qt.SortOrder.DescendingOrder
        self._arrange()
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(self.heads) - 1)

    def _arrange(self) -> None:
        keys = self._sheet.keys
        known: list[int] = []
        unknown: list[int] = []
        for k in range(len(keys)):
            is_known = 0 <= self._by < len(keys[k]) and keys[k][self._by] is not None
            (known if is_known else unknown).append(k)
        known.sort(key=lambda k: keys[k][self._by], reverse=self._down)
        self.layoutAboutToBeChanged.emit()
        before, old = self.persistentIndexList(), self.order
        self.order = known + unknown
        self.rows = [self._sheet.rows[k] for k in self.order]
        rows = {candidate: row for row, candidate in enumerate(self.order)}
        after = [self.index(rows[old[index.row()]], index.column()) for index in before]
        self.changePersistentIndexList(before, after)
        self.layoutChanged.emit()


@dataclasses.dataclass(frozen=True)
class _Column:
    head: str
    tip: str
    cells: list[str]
    keys: Sequence[Any]


def candidate_sheet(
    settings: Sequence[Setting], standing: Standing, chosen: Counts | None, is_live: bool
) -> Sheet:
    """Write the table: rank, settings, mean and its error, how often judged, and a remark."""
    found = standing.search.candidates
    ranks = standing.ranks.tolist()
    remarks = [_remark(standing, k, is_live) for k in range(len(found))]
    columns = [
        _Column("Rank", "", [str(rank or "–") for rank in ranks], [rank or None for rank in ranks]),
        *(_setting_column(setting, found) for setting in settings),
        *_area_columns(standing, "folds" if chosen is None else "splits"),
    ]
    if chosen is not None:
        cells = [f"{count} of {chosen.sum()}" if count else "–" for count in chosen]
        tip = "Splits in which the candidate ranked best"
        columns.append(_Column("Chosen", tip, cells, chosen.tolist()))
    columns.append(_Column("Remark", "", remarks, [remark or None for remark in remarks]))
    lines = zip(*(column.cells for column in columns), strict=True)
    return Sheet(
        tuple(column.head for column in columns),
        {k: column.tip for k, column in enumerate(columns) if column.tip},
        tuple(Row(cells, strong=k == standing.top) for k, cells in enumerate(lines)),
        tuple(zip(*(column.keys for column in columns), strict=True)),
    )


def _setting_column(setting: Setting, found: Sequence[Candidate]) -> _Column:
    cells = [setting.spell(one[setting.name]) for one in found]
    return _Column(setting.symbol, setting.declared.help, cells, setting.index(found).tolist())


def _area_columns(standing: Standing, units: str) -> list[_Column]:
    """Write means and, where there is more than one area each, errors and counts."""
    of = standing.search.areas.shape[1]
    over = f", mean of the {units}" if of > 1 else ""
    columns = [
        _figures(
            "Mean" if of > 1 else "Area", METRICS[standing.search.metric] + over, standing.means
        )
    ]
    if of > 1:
        counts = standing.counts.tolist()
        cells = [f"{count} of {of}" if count < of else str(of) for count in counts]
        tip = f"{units.capitalize()} that the candidate was judged on"
        columns.append(_figures("±", f"Standard error over the {units}", standing.errors))
        columns.append(_Column(units.capitalize(), tip, cells, counts))
    return columns


def _figures(head: str, tip: str, values: Array) -> _Column:
    numbers = values.tolist()
    keys = [None if math.isnan(number) else number for number in numbers]
    return _Column(head, tip[:1].upper() + tip[1:], [figure_words(n) for n in numbers], keys)


def _remark(standing: Standing, k: int, is_live: bool) -> str:
    if k in standing.search.problems:
        return standing.search.problems[k]
    if k == standing.top:
        if standing.is_whole:
            return "best"
        return "leads so far" if is_live else "led"
    top = standing.top
    if top is None or not standing.ranks[k]:
        return ""
    if standing.ranks[k] == 1:
        return "level with the best"
    near = standing.means[k] >= standing.means[top] - standing.errors[top]
    return "within one standard error" if near else ""


# ----------------------------------------------------------------- words


def candidate_words(settings: Sequence[Setting], candidate: Candidate) -> str:
    """Write a candidate as ``C = 10, γ = 0.25``."""
    return ", ".join(f"{s.symbol} = {s.spell(candidate[s.name])}" for s in settings)


def _mean_words(standing: Standing, k: int) -> str:
    error = standing.errors[k]
    spread = f" ± {error:.3f}" if np.isfinite(error) else ""
    return f"{figure_words(float(standing.means[k]))}{spread}"


def _area_words(standing: Standing, k: int) -> str:
    return f"({METRICS[standing.search.metric]} {_mean_words(standing, k)})"


def readout_words(settings: Sequence[Setting], standing: Standing, k: int, unit: str) -> str:
    """Write what is known of a candidate."""
    words, count = candidate_words(settings, standing.search.candidates[k]), int(standing.counts[k])
    problem = standing.search.problems.get(k)
    if problem or not count:
        return f"{words}: {problem or 'not judged yet'}"
    facts = [f"{count} {unit}{'s' * (count > 1)}"] * (standing.search.areas.shape[1] > 1)
    if standing.ranks[k]:
        facts.append(f"rank {standing.ranks[k]} of {int((standing.ranks > 0).sum())}")
    more = f" ({', '.join(facts)})" if facts else ""
    return f"{_mean_words(standing, k)} with {words}{more}"


def search_sentence(subject: Subject, settings: Sequence[Setting], standing: Standing) -> str:
    """Say what a finished search found, how sure that is, or how far it got."""
    top, name = standing.top, subject.look.name
    assert top is not None
    best = candidate_words(settings, standing.search.candidates[top])
    area = _area_words(standing, top)
    if not standing.is_whole:
        return (
            f"{name}: the search was stopped after {_done_words(standing)}; {best} led on the "
            f"folds judged so far {area}."
        )
    folds = standing.search.areas.shape[1]
    where = f" in {folds} folds" if standing.search.metric != LEAVE_PAIR_OUT else ""
    return " ".join([f"{name}: {best} ranks best{where} {area}.", *_caveats(settings, standing)])


def splits_sentence(subject: Subject, settings: Sequence[Setting], standing: Standing) -> str:
    """Say what ranks best over all splits, and what each of them chose."""
    top = standing.top
    if top is None:
        return f"{subject.look.name}: no candidate was judged in every split."
    best, splits = standing.search.candidates[top], standing.search.areas.shape[1]
    chosen = times_chosen(subject.searches)
    order = np.argsort(-chosen, kind="stable")[:3]
    often = [
        f"{chosen[k]} chose {candidate_words(settings, standing.search.candidates[k])}"
        for k in order
        if chosen[k]
    ]
    rest = splits - int(chosen[order].sum())
    more = [f"{rest} chose others"] if rest else []
    return " ".join(
        [
            f"{subject.look.name}: {candidate_words(settings, best)} ranks best over {splits} "
            f"splits {_area_words(standing, top)}: {', '.join(often + more)}.",
            *_caveats(settings, standing),
        ]
    )


def live_sentence(subject: Subject, settings: Sequence[Setting], standing: Standing) -> str:
    """Say how far the search in flight is, and who leads."""
    live = subject.live
    assert live is not None
    split = f", split {live.split + 1} of {live.splits}" if live.splits > 1 else ""
    if standing.is_whole and standing.top is not None and not live.stopping:
        trains = f" It trains with these now{split}."
        return search_sentence(subject, settings, standing) + trains
    verb = "is stopping" if live.stopping else "is searching"
    words = f"{subject.look.name} {verb}{split}: {_done_words(standing)} done"
    if standing.top is None:
        return f"{words}."
    leader = candidate_words(settings, standing.search.candidates[standing.top])
    return f"{words}; {leader} leads so far {_area_words(standing, standing.top)}."


def _done_words(standing: Standing) -> str:
    """Say how much of a search is done."""
    total = standing.search.areas.size
    done = round(standing.search.judged * total)
    kind = "candidates" if standing.search.metric == LEAVE_PAIR_OUT else "fits"
    return f"{done:,} of {total:,} {kind}"


def _caveats(settings: Sequence[Setting], standing: Standing) -> list[str]:
    """Say what else could be as good: near candidates, values beyond the grid, failures."""
    assert standing.top is not None
    words, search = [], standing.search
    words += _rivals(standing)
    words += _edges(settings, search.candidates[standing.top])
    if search.problems:
        first = next(iter(search.problems.values()))
        count = f"{len(search.problems)} of {len(search.candidates)} candidates"
        words.append(f"{count} could not be judged: {first}.")
    return words


def _rivals(standing: Standing) -> list[str]:
    """Say how many candidates are as good, or as good within the standard error."""
    assert standing.top is not None
    others = int((standing.ranks > 0).sum()) - 1
    tied = int((standing.ranks == 1).sum()) - 1
    if not others:
        return []
    if np.isnan(standing.errors[standing.top]):
        return (
            [f"{_of(tied, others)} {'is' if tied == 1 else 'are'} level with it."] if tied else []
        )
    near = standing.close()
    level = f", {tied} of them level with it" if tied else ""
    lies = "lies" if near == 1 else "lie"
    return [f"{_of(near, others)} {lies} within one standard error of it{level}."]


def _of(count: int, others: int) -> str:
    if others == 1:
        return "The other" if count else "Not even the other"
    return (
        f"All {others} others" if count == others else f"{count or 'None'} of the {others} others"
    )


def _edges(settings: Sequence[Setting], best: Candidate) -> list[str]:
    """Say beyond which values nothing was tried although the best lies there."""
    found = []
    for setting in settings:
        if not setting.is_numeric or len(setting.values) < 2:
            continue
        value, declared = best[setting.name], setting.declared
        for end, side, bound in ((0, "below", declared.low), (-1, "above", declared.high)):
            if value == setting.values[end] and value != bound:
                found.append(f"no {setting.symbol} {side} {setting.spell(value)}")
    if not found:
        return []
    words = " and ".join(filter(None, [", ".join(found[:-1]), found[-1]]))
    return [f"It lies on the edge of the grid: {words} was tried."]
