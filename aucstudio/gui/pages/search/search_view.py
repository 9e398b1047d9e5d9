"""Search: results of all candidates of a tuned run, live."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QSizePolicy

from aucstudio.engine import METHODS
from aucstudio.gui.common.buttons import push_button
from aucstudio.gui.common.controls import ALL, fill_combo
from aucstudio.gui.common.layouts import Panes, across, down, holding
from aucstudio.gui.common.plain_text import PlainLabel, plain_tooltip
from aucstudio.gui.common.plots.plot import Readout
from aucstudio.gui.common.theme import current_theme, run_colour
from aucstudio.gui.common.view import PageView
from aucstudio.gui.common.widgets import named, quietly
from aucstudio.gui.pages.search.candidates_table import CandidateTable
from aucstudio.gui.pages.search.pictures import HeatMap, Profile
from aucstudio.gui.pages.search.results import (
    CandidateStanding,
    SearchedRun,
    Setting,
    finished,
    over_splits,
    searched_settings,
    times_chosen,
)
from aucstudio.gui.pages.search.words import (
    area_title,
    candidate_words,
    readout_words,
    search_statement,
    untuned_words,
)
from aucstudio.gui.state.plan import linked_settings
from aucstudio.gui.state.runner import LiveRun
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.notices import text
from aucstudio.project.runs.tuning import Search


class SearchView(PageView):
    """Mean area of every candidate against the searched settings, and the table of them.

    Attributes
    ----------
    profile, heat : Profile, HeatMap
        One of the two is visible: cells for a full grid of two settings, else points.
    subject : SearchedRun or None
    standing : Standing or None
    readout, hover : PlainLabel, Readout
        The chosen candidate in words, and the one at the pointer.
    chosen : int or None
        The candidate that is marked; the best until another is picked.
    """

    listens_to: ClassVar = {
        **PageView.listens_to,
        "plan": "mark_stale",
    }
    lacks: ClassVar = "search"
    soon: ClassVar = "its search appears after the first candidate"
    aim: ClassVar = "which settings rank best"

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
        row = self.controls
        self.split_combo = row.choice("search_split_combo", verb=self._on_split)
        self.along_combo = row.choice("search_along_combo", verb=self._on_choice)
        self.offer_following()
        row.addStretch(1)

    def _make_pictures(self) -> None:
        self.profile, self.heat = Profile(), HeatMap()
        self.pictures = self.profile.plot, self.heat.plot
        self.axes = (self.along_combo,)
        self.readout = named(PlainLabel(), "search_readout", "Candidate")
        self.readout.setProperty("role", "muted")
        # The text changes often and must not resize the window.
        self.readout.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.hover = Readout("search_hover", "Candidate at the pointer", self)
        self.use_button = push_button("use_candidate_button", verb=self._on_use)
        for picture in (self.profile, self.heat):
            self.hover.watch(picture.plot, self._describe_at)
            picture.plot.clicked.connect(self._on_click)

    def _lay_out(self) -> None:
        below = across((self.readout, 1), self.use_button)
        picture = holding(down((self.profile.plot, 1), (self.heat.plot, 1), below))
        self.splitter = named(Panes(), "search_splitter", "Search")
        self.splitter.addWidget(picture)
        self.splitter.addWidget(self.table)
        for k, share in enumerate((3, 2)):
            self.splitter.setStretchFactor(k, share)
        self.splitter.setSizes([300, 200])
        self.set_content(down(self.splitter), "No search to show")

    # ------------------------------------------------------------- showing

    def refresh(self) -> None:
        run = self.session.run(self.session.selected)
        subject = self._followed() or finished(run)
        if subject is None:
            self._show_nothing(run)
        else:
            self._show(subject)

    def refresh_live(self) -> None:
        followed = self._followed()
        if followed is None:
            if self.subject is not None and self.subject.live is not None:
                self.refresh()
        elif self._is_news(followed):
            self._show(followed)
        elif self.standing is not None:
            self._conclude(followed, self.standing)

    def can_follow(self, live: LiveRun) -> bool:
        return live.search is not None

    def _followed(self) -> SearchedRun | None:
        """Return the run in progress if it searches settings and is followed."""
        live = self.followed()
        if live is None or live.search is None:
            return None
        return SearchedRun((live, live.split), live.look, live.experiment, (live.search,), live)

    def _is_news(self, subject: SearchedRun) -> bool:
        """Return whether anything was tested since the page was drawn."""
        if self.subject is None or self.standing is None or self.subject.key != subject.key:
            return True
        (new,), old = subject.searches, self.standing.search
        if new.areas.shape != old.areas.shape or new.problems != old.problems:
            return True
        return not np.array_equal(new.areas, old.areas, equal_nan=True)

    def _show_nothing(self, run: ShownRun | None) -> None:
        self.subject = self.standing = self.chosen = None
        self.sentence.setText(untuned_words(run) or self._why_none(run))
        self._show_controls()

    def _why_none(self, run: ShownRun | None) -> str:
        live = self.session.live
        if run is None and live is None and self.session.table is not None:
            return text("tuned_none")
        tuned = live is not None and live.experiment.tuning is not None
        return self.why_empty(run, "" if tuned else "it is not tuned")

    def _show(self, subject: SearchedRun) -> None:
        fresh = self.subject is None or self.subject.key != subject.key
        self.subject = subject
        if fresh:
            self._picked = None
            self._settings = searched_settings(
                subject.experiment.method, subject.searches[0].candidates
            )
            self._offer(subject.searches)
        self._show_controls()
        self.standing = CandidateStanding.of(self._search(subject.searches))
        self.chosen = self.standing.top if self._picked is None else self._picked
        chosen = times_chosen(subject.searches) if self.is_over_splits else None
        is_live = subject.live is not None
        self.table.show_candidates(self._settings, self.standing, chosen, is_live)
        self._draw(subject, self.standing)
        self._mark()
        self._conclude(subject, self.standing)

    def _show_controls(self) -> None:
        """Show the controls that apply, and one of the pictures or the hint."""
        shown = self.subject is not None
        self.controls.show(shown and self.split_combo.count() > 1, self.split_combo)
        self.controls.show(shown and len(self._settings) > 1, self.along_combo)
        self.show_content(shown)
        for picture in (self.profile, self.heat):
            picture.plot.setVisible(picture is self._picture())

    def _offer(self, searches: Sequence[Search]) -> None:
        """Offer the splits and the settings of a run; keep the setting across if possible."""
        whole = sum(one.fraction_done >= 1.0 for one in searches)
        splits: list[tuple[str, object]] = [("All splits", ALL)] if whole > 1 else []
        fill_combo(self.split_combo, splits + [(f"Split {k + 1}", k) for k in range(len(searches))])
        quietly(self.split_combo.setCurrentIndex, 0)
        kept = self.along_combo.currentData()
        fill_combo(self.along_combo, [(s.title, s.name) for s in self._settings])
        names = [setting.name for setting in self._settings]
        if kept not in names:
            numeric = [setting.name for setting in self._settings if setting.is_numeric]
            quietly(self.along_combo.setCurrentIndex, names.index((numeric or names)[0]))

    @property
    def is_over_splits(self) -> bool:
        """Whether all splits are shown together."""
        return bool(self.split_combo.currentData() == ALL)

    def _search(self, searches: Sequence[Search]) -> Search:
        """Return the chosen split's search, or that over all splits."""
        k = self.split_combo.currentData()
        return over_splits(searches) if k == ALL else searches[k]

    def _picture(self) -> Profile | HeatMap:
        if self.subject is None or len(self._settings) != 2:
            return self.profile
        cells = math.prod(len(setting.values) for setting in self._settings)
        whole = len(self.subject.searches[0].candidates) == cells
        return self.heat if whole else self.profile

    # ------------------------------------------------------------- drawing

    def _draw(self, subject: SearchedRun, standing: CandidateStanding) -> None:
        picture, name = self._picture(), self.along_combo.currentData()
        along = sorted(self._settings, key=lambda setting: setting.name != name)
        title = area_title(subject.experiment, standing.search)
        if isinstance(picture, Profile):
            colour = run_colour(current_theme(), subject.look.colour)
            picture.draw(standing, along, title, self._unit, colour)
        else:
            picture.draw(standing, along, title)
        framed = (subject.key, self.split_combo.currentData(), along[0].name)
        if framed != self._framed:
            self._framed = framed
            picture.plot.show_whole()

    def _mark(self) -> None:
        """Mark the chosen candidate in the picture and the table, and describe it."""
        # The table scrolls to a selected candidate, not to the current leader.
        self.table.mark(self.chosen, follow=self._picked is not None)
        self._picture().mark(self.chosen)
        self.use_button.setEnabled(self.chosen is not None)
        words = "" if self.chosen is None else self._words(self.chosen)
        plain_tooltip(self.use_button, text("tuned_use_tip", words=words))
        # A narrow page elides the end, which is least important.
        described = self._candidate_words(self.chosen)
        self.readout.setText(described)
        plain_tooltip(self.readout, described)

    def _words(self, candidate: int) -> str:
        assert self.standing is not None
        return candidate_words(self._settings, self.standing.search.candidates[candidate])

    def _candidate_words(self, candidate: int | None) -> str:
        if candidate is None or self.standing is None:
            return ""
        return readout_words(self._settings, self.standing, candidate, self._unit)

    @property
    def _unit(self) -> str:
        return "split" if self.is_over_splits else "fold"

    def _conclude(self, subject: SearchedRun, standing: CandidateStanding) -> None:
        split = self.is_over_splits
        self.sentence.setText(search_statement(subject, self._settings, standing, split))

    # ------------------------------------------------------------- user actions

    def _on_split(self) -> None:
        self._picked = None
        self._on_choice()

    def _on_choice(self) -> None:
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
        # The candidate was tested with the other settings of the run.
        settings = linked_settings({**experiment.params, **candidate}, plan.band)
        params = {**plan.params, experiment.method: settings}
        self.session.edit(
            dataclasses.replace(plan, method=experiment.method, params=params),
            "Use settings of a candidate",
        )
        title = METHODS[experiment.method].title
        self.session.message.emit(text("tuned_used", method=title, words=self._words(self.chosen)))

    def _describe_at(self, place: QPointF) -> str:
        return self._candidate_words(self._picture().candidate_at(place))

    def _on_click(self, place: QPointF) -> None:
        candidate = self._picture().candidate_at(place)
        if candidate is not None:
            self.choose(candidate)
