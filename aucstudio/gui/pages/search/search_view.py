"""Search: how every candidate of a tuned run was judged, live while the search goes."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, ClassVar

import numpy as np
from PySide6.QtCore import QEvent, QPointF, Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from aucstudio.engine import METHODS
from aucstudio.gui.common.plain import PlainLabel, plain_tooltip
from aucstudio.gui.common.plots.plot import Plot
from aucstudio.gui.common.plots.readout import Readout
from aucstudio.gui.common.theme import current_theme, run_colour
from aucstudio.gui.common.view import PageView
from aucstudio.gui.common.widgets import hint_label, named
from aucstudio.gui.pages.search.controls import SearchControls
from aucstudio.gui.pages.search.heat import HeatMap
from aucstudio.gui.pages.search.picture import SearchAxes, area_title
from aucstudio.gui.pages.search.profile import Profile
from aucstudio.gui.pages.search.sheet import CandidateTable, candidate_sheet
from aucstudio.gui.pages.search.standing import (
    CandidateStanding,
    SearchedRun,
    Setting,
    finished,
    searched_settings,
    times_chosen,
)
from aucstudio.gui.pages.search.words import (
    candidate_words,
    live_sentence,
    readout_words,
    search_sentence,
    splits_sentence,
    untuned_words,
)
from aucstudio.gui.state.plan import linked_settings
from aucstudio.gui.state.session import Session, ShownRun


class SearchView(PageView):
    """Mean area of every candidate against the searched settings, and the table of them.

    Attributes
    ----------
    profile, heat : Profile, HeatMap
        One of the two is seen: cells for a whole grid of two settings, else points.
    subject : SearchedRun or None
    standing : Standing or None
    readout, hover : PlainLabel, Readout
        The chosen candidate in words, and the one at the pointer.
    chosen : int or None
        The candidate that is marked; the best until another is picked.
    """

    listens_to: ClassVar = {
        **PageView.listens_to,
        "plan_changed": "mark_stale",
    }

    def __init__(self, session: Session) -> None:
        super().__init__(session, "search_view", "Search")
        self.subject: SearchedRun | None = None
        self.standing: CandidateStanding | None = None
        self.chosen: int | None = None
        self._picked: int | None = None
        self._settings: list[Setting] = []
        self._framed: object = None
        self._make_controls()
        self._make_pictures()
        self.table = CandidateTable()
        self.table.chosen.connect(self.choose)
        self._lay_out()

    # ------------------------------------------------------------- making

    def _make_controls(self) -> None:
        self.over = SearchControls(self.controls)
        self.over.changed.connect(self._on_choice)
        self.over.follow_check.toggled.connect(self.mark_stale)

    def _make_pictures(self) -> None:
        self.profile, self.heat = Profile(), HeatMap()
        self.hint = hint_label("search_hint")
        self.readout = named(PlainLabel(), "search_readout", "Candidate")
        self.readout.setProperty("role", "muted")
        # What it says changes all the time; the window must not.
        self.readout.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.hover = Readout("search_hover", "Candidate at the pointer", self)
        self.use_button = named(
            QPushButton("&Use these settings"), "use_candidate_button", "Use these settings"
        )
        self.use_button.clicked.connect(self._on_use)
        for plot in self.plots():
            plot.scene().sigMouseMoved.connect(self._on_move)
            plot.scene().sigMouseClicked.connect(self._on_click)

    def _lay_out(self) -> None:
        below = QHBoxLayout()
        below.addWidget(self.readout, stretch=1)
        below.addWidget(self.use_button)
        picture = _Stage()
        picture.left.connect(self.hover.show_nothing)
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

    def figure(self) -> Plot:
        return self._picture().plot

    def plots(self) -> list[Plot]:
        return [self.profile.plot, self.heat.plot]

    def axis_choices(self) -> list[QComboBox]:
        return [self.over.along_combo]

    # ------------------------------------------------------------- showing

    def refresh(self) -> None:
        live, run = self.session.live, self.session.run(self.session.selected)
        self.over.follow_check.setVisible(live is not None and live.search is not None)
        subject = self._followed() or finished(run)
        if subject is None:
            self._show_nothing(run)
        else:
            self._show(subject)

    def refresh_live(self) -> None:
        live, followed = self.session.live, self._followed()
        self.over.follow_check.setVisible(live is not None and live.search is not None)
        if followed is None:
            if self.subject is not None and self.subject.live is not None:
                self.refresh()
        elif self._is_news(followed):
            self._show(followed)
        elif self.standing is not None:
            self._tell(followed, self.standing)

    def _followed(self) -> SearchedRun | None:
        """Return the run in progress if it is what is to be seen.

        Wished, and searching settings.
        """
        live = self.session.live
        if live is None or live.search is None or not self.over.follow_check.isChecked():
            return None
        return SearchedRun((live, live.split), live.look, live.experiment, (live.search,), live)

    def _is_news(self, subject: SearchedRun) -> bool:
        """Return whether anything was judged since the page was drawn."""
        if self.subject is None or self.standing is None or self.subject.key != subject.key:
            return True
        (new,), old = subject.searches, self.standing.search
        if new.areas.shape != old.areas.shape or new.problems != old.problems:
            return True
        return not np.array_equal(new.areas, old.areas, equal_nan=True)

    def _show_nothing(self, run: ShownRun | None) -> None:
        self.subject = self.standing = self.chosen = None
        self.sentence.setText(untuned_words(run) or self._why_none(run))
        self.hint.setText("No search to show")
        self._show_controls()

    def _why_none(self, run: ShownRun | None) -> str:
        live, aim = self.session.live, "which settings rank best"
        if run is None and live is None and self.session.table is not None:
            return f"No search yet: choose a method and press Tune to see {aim}."
        tuned = live is not None and live.experiment.tuning is not None
        soon = "its search appears with the first candidate" if tuned else "it is not tuned"
        return self.why_empty(run, "search", soon, aim)

    def _show(self, subject: SearchedRun) -> None:
        fresh = self.subject is None or self.subject.key != subject.key
        self.subject = subject
        if fresh:
            self._picked = None
            self._settings = searched_settings(
                subject.experiment.method, subject.searches[0].candidates
            )
            self.over.offer(subject.searches, self._settings)
        self._show_controls()
        self.standing = CandidateStanding.of(self.over.search(subject.searches))
        self.chosen = self.standing.top if self._picked is None else self._picked
        self._fill_table(subject, self.standing)
        self._draw(subject, self.standing)
        self._mark()
        self._tell(subject, self.standing)

    def _show_controls(self) -> None:
        """Show what there is a choice of, and one of the pictures, or why there is none."""
        shown = self.subject is not None
        self.over.show(shown, len(self._settings))
        self.hint.setVisible(not shown)
        self.splitter.setVisible(shown)
        for picture in (self.profile, self.heat):
            picture.plot.setVisible(picture is self._picture())

    def _picture(self) -> Profile | HeatMap:
        if self.subject is None or len(self._settings) != 2:
            return self.profile
        cells = math.prod(len(setting.values) for setting in self._settings)
        whole = len(self.subject.searches[0].candidates) == cells
        return self.heat if whole else self.profile

    # ------------------------------------------------------------- drawing

    def _draw(self, subject: SearchedRun, standing: CandidateStanding) -> None:
        picture, along = self._picture(), self.over.along(self._settings)
        unit = "split" if self.over.is_over_splits else "fold"
        title = area_title(subject.experiment, standing.search)
        colour = run_colour(current_theme(), subject.look.colour)
        picture.draw(standing, SearchAxes(along, title, unit, colour))
        framed = (subject.key, self.over.split_combo.currentData(), along[0].name)
        if framed != self._framed:
            self._framed = framed
            picture.plot.show_whole()

    def _mark(self) -> None:
        """Mark the chosen candidate in the picture and the table."""
        # The table moves to what a person picked, not to what happens to lead.
        self.table.mark(self.chosen, follow=self._picked is not None)
        self._picture().mark(self.chosen)
        self.use_button.setEnabled(self.chosen is not None)
        words = "" if self.chosen is None else self._words(self.chosen)
        plain_tooltip(self.use_button, f"Put {words} into the method card" if words else "")
        self._read(self.chosen)

    def _words(self, candidate: int) -> str:
        assert self.standing is not None
        return candidate_words(self._settings, self.standing.search.candidates[candidate])

    def _read(self, candidate: int | None) -> None:
        """Read out a candidate; what is least needed comes last, where a narrow page cuts it."""
        words = self._candidate_words(candidate)
        self.readout.setText(words)
        plain_tooltip(self.readout, words)

    def _candidate_words(self, candidate: int | None) -> str:
        if candidate is None or self.standing is None:
            return ""
        unit = "split" if self.over.is_over_splits else "fold"
        return readout_words(self._settings, self.standing, candidate, unit)

    def _tell(self, subject: SearchedRun, standing: CandidateStanding) -> None:
        if subject.live is not None:
            words = live_sentence(subject, self._settings, standing)
        elif self.over.is_over_splits:
            words = splits_sentence(subject, self._settings, standing)
        else:
            words = search_sentence(subject, self._settings, standing)
        self.sentence.setText(words)

    # ------------------------------------------------------------- the table

    def _fill_table(self, subject: SearchedRun, standing: CandidateStanding) -> None:
        several = self.over.is_over_splits
        chosen = times_chosen(subject.searches) if several else None
        sheet = candidate_sheet(self._settings, standing, chosen, subject.live is not None)
        self.table.show_sheet(sheet, 1 + len(self._settings))

    # ------------------------------------------------------------- the person

    def _on_choice(self, of_split: bool) -> None:
        if of_split:
            self._picked = None
        if self.subject is not None:
            self._show(self.subject)

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
        settings = linked_settings({**experiment.params, **candidate}, plan.band)
        params = {**plan.params, experiment.method: settings}
        self.session.edit(
            dataclasses.replace(plan, method=experiment.method, params=params),
            "Use settings of a candidate",
        )
        title = METHODS[experiment.method].title
        self.session.told.emit(f"{title} is set to {self._words(self.chosen)}")

    def _on_move(self, position: QPointF) -> None:
        plot = self._picture().plot
        hovered = self._picture().candidate_at(position)
        if hovered is None:
            self.hover.show_nothing()
        else:
            place = QPointF(plot.mapFromScene(position))
            self.hover.show_at(plot, place, self._candidate_words(hovered))

    def _on_click(self, event: Any) -> None:
        if event.double() or event.button() != Qt.MouseButton.LeftButton:
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
