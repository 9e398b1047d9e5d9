"""Best: a tournament of methods as it goes, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from PySide6.QtCore import QSignalBlocker
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from aucstudio.engine.params import InvalidSetting
from aucstudio.gui.common.plots.plot import Plot
from aucstudio.gui.common.view import PageView
from aucstudio.gui.common.widgets import (
    hint_label,
    label,
    named,
    primary,
)
from aucstudio.gui.pages.best.board import LeaderboardTable
from aucstudio.gui.pages.best.course import CoursePlot
from aucstudio.gui.pages.best.curve import CurvePlot
from aucstudio.gui.pages.best.verdict import VerdictPanel
from aucstudio.gui.pages.best.words import counts_words, doing_words, settings, statement, title
from aucstudio.gui.state.plan import RunLook
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.project.errors import InputError
from aucstudio.project.tournament.standings import RUNNING, Standing, Standings

COURSE, CURVE = "course", "curve"
_ABOUT = (
    "Find the best… trains methods with several settings on the training rows and combines them, "
    "within a time limit. The result is tested once on rows that no choice has seen, and then "
    "trained again on all rows."
)


class BestView(PageView):
    """Leaderboard, measure against time, and at the end the model with its curve.

    Attributes
    ----------
    board : LeaderboardTable
    course, curve : CoursePlot, CurvePlot
        One of the two is seen.
    verdict : VerdictPanel
    standings : Standings or None
        What is shown.
    """

    listens_to: ClassVar = {
        "table_changed": "mark_stale",
        "runs_changed": "mark_stale",
        "selection_changed": "mark_stale",
        "tournament_changed": "mark_stale",
    }

    def __init__(self, session: Session) -> None:
        super().__init__(session, "best_view", "Best")
        self.standings: Standings | None = None
        self._followed = ""  # which one was running when the page was last drawn
        self._make_controls()
        self.board = LeaderboardTable()
        self.board.chosen.connect(self._show_entry)
        self.course, self.curve = CoursePlot(), CurvePlot(self)
        self.verdict = VerdictPanel()
        self.verdict.taken.connect(self._on_take)
        self.verdict.export_asked.connect(self._on_export)
        self.hint = hint_label("best_hint")
        self._lay_out()

    # ------------------------------------------------------------- making

    def _make_controls(self) -> None:
        row = self.controls
        self.begin = primary(
            row.button(
                "best_begin_button",
                "Find the best…",
                "Choose the range and the time limit, and begin",
                self.session.best_asked.emit,
            )
        )
        self.stop = row.button(
            "best_stop_button",
            "Stop",
            "Tests and keeps the finished models; pressed again, ends at once",
            self.session.stop_tournament,
        )
        self.doing = row.put(label("", "muted", name="best_doing"))
        self.which = row.choice("best_which_combo", "", "", says="Which search for the best")
        self.which.activated.connect(self.mark_stale)
        row.addStretch(1)
        self.picture = row.choice(
            "best_picture_combo",
            "Picture",
            "The ranking criterion over time, or the ROC curve of the best model",
            (("Measure against time", COURSE), ("ROC curve of the best", CURVE)),
        )
        self.picture.activated.connect(self.mark_stale)

    def _lay_out(self) -> None:
        self.nothing = hint_label("best_course_hint")
        self.nothing.setText("The picture begins with the first method that is ready")
        self.entry_words = label("", "muted", wrap=True, name="best_entry_words")
        self.entry_button = named(QPushButton(""), "best_entry_button", "Take the chosen entry")
        self.entry_button.clicked.connect(self._on_entry)
        kept = self.entry_button.sizePolicy()
        kept.setRetainSizeWhenHidden(True)  # the picture does not move when a row is chosen
        self.entry_button.setSizePolicy(kept)
        row = QHBoxLayout()
        row.addWidget(self.entry_words, stretch=1)
        row.addWidget(self.entry_button)
        below = QHBoxLayout()
        below.setSpacing(12)
        below.addWidget(self.nothing, stretch=3)
        below.addWidget(self.course.plot, stretch=3)
        below.addWidget(self.curve.plot, stretch=3)
        below.addWidget(self.verdict, stretch=2)
        self.all = QWidget()
        inside = QVBoxLayout(self.all)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.setSpacing(8)
        inside.addWidget(self.board)
        inside.addLayout(row)
        inside.addLayout(below, stretch=1)
        self.body.addWidget(self.hint, stretch=1)
        self.body.addWidget(self.all, stretch=1)

    def figure(self) -> Plot:
        return self.curve.plot if self._shows_curve() else self.course.plot

    def plots(self) -> list[Plot]:
        return [self.course.plot, self.curve.plot]

    def busy(self) -> bool:
        return self.curve.busy

    def figure_data(self) -> Mapping[str, Sequence[object]]:
        if self.standings is None:
            return {}
        if self._shows_curve():
            return self.curve.data()
        return self.course.data(self.standings)

    # ------------------------------------------------------------- showing

    def refresh(self) -> None:
        found = self.session.tournaments()
        held = self.session.study.tournament
        self._offer(found)
        self.standings = self._wanted(found)
        self._turn_picture(self.standings)
        running = held.live is not None
        self.begin.setVisible(not running)
        self.begin.setEnabled(self.session.table is not None)
        self.stop.setVisible(running)
        self.stop.setText("Stop now" if held.stopping else "Stop")
        self.doing.setVisible(running)
        if held.live is not None:
            self.doing.setText(doing_words(held.live, stopping=held.stopping))
        known = self.standings is not None and bool(self.standings.entries)
        self.hint.setVisible(not known)
        self.all.setVisible(known)
        has_best = self.standings is not None and bool(self.standings.best)
        self.controls.show(has_best, self.picture)
        if self.standings is None:
            self._show_nothing()
        else:
            self._show(self.standings)

    def _offer(self, found: Sequence[Standings]) -> None:
        """List the tournaments where there are several; the latest first."""
        keys = [one.key for one in found]
        if keys != [self.which.itemData(k) for k in range(self.which.count())]:
            chosen = self.which.currentData()
            with QSignalBlocker(self.which):
                self.which.clear()
                for one in found:
                    self.which.addItem(f"{one.created[:16].replace('T', ' ')}", one.key)
                is_new = bool(found) and found[0].ended == RUNNING
                self.which.setCurrentIndex(0 if is_new else max(0, self.which.findData(chosen)))
        self.which.setVisible(len(found) > 1)

    def _wanted(self, found: Sequence[Standings]) -> Standings | None:
        chosen = self.which.currentData()
        return next((one for one in found if one.key == chosen), None)

    def _turn_picture(self, standings: Standings | None) -> None:
        """Turn to the curve where a tournament has ended since, and where another is looked at."""
        key = "" if standings is None else f"{standings.key} {standings.best}"
        if key != self._followed:
            self._followed = key
            curve = standings is not None and bool(standings.best)
            self.picture.setCurrentIndex(self.picture.findData(CURVE if curve else COURSE))

    def _shows_curve(self) -> bool:
        return bool(self.picture.currentData() == CURVE)

    def _show_nothing(self) -> None:
        has_table = self.session.table is not None
        self.hint.setText(_ABOUT if has_table else "Open a table to find the best model for it.")
        self.sentence.setText(
            "No search yet: press Find the best… to begin." if has_table else "Open a table first."
        )

    def _show(self, standings: Standings) -> None:
        self.board.show_standings(standings)
        self.board.fit_page(self.height())
        kept = set(self.session.records)
        self.verdict.show_standings(standings, self.session.selected, kept)
        curve = self._shows_curve()
        self.nothing.setVisible(not standings.course)
        self.course.plot.setVisible(not curve and bool(standings.course))
        self.curve.plot.setVisible(curve)
        if curve:
            self.curve.show(standings, self._runs(standings))
        else:
            self.course.show(standings)
        self._show_entry()
        said = statement(standings)
        self.sentence.setText(said)
        self.hint.setText("Starting…" if standings.ended == RUNNING else said.headline)

    def _runs(self, standings: Standings) -> list[ShownRun]:
        """List the best run and the simpler one, with the looks that they have or would have."""
        found = []
        for k, run in enumerate((standings.best, standings.simpler)):
            record = self.session.records.get(run)
            entry = standings.of_run(run)
            if record is not None and entry is not None:
                shown = self.session.run(run)
                look = RunLook(title(entry), k) if shown is None else shown.look
                found.append(ShownRun(record, look))
        return found

    # ------------------------------------------------------------- the chosen entry

    def _show_entry(self) -> None:
        entry = self.board.entry
        standings = self.standings
        if entry is None or standings is None or standings.ended == RUNNING:
            self.entry_words.setText("" if standings is None else counts_words(standings))
            self.entry_button.setVisible(False)
            return
        self.entry_words.setText(self._entry_words(entry))
        words = self._verb(entry)
        self.entry_button.setText(words or "Take")
        self.entry_button.setAccessibleName(self.entry_button.text())
        self.entry_button.setVisible(bool(words))
        self.entry_button.setEnabled(entry.run != "" or self.session.table is not None)

    def _entry_words(self, entry: Standing) -> str:
        more = settings(entry) or "default settings"
        why = entry.why
        if entry.run and entry.behind is not None and entry.behind.p is None:
            why = f"not tested against the best: {entry.behind.reason}"
        elif why and entry.inner is not None:
            why = f"not tested on the held-out rows: {why}"
        return ". ".join(filter(None, (f"{title(entry)}: {more}", why)))

    def _verb(self, entry: Standing) -> str:
        """Describe what can be done with an entry; empty where nothing can."""
        if entry.run in self.session.records:
            shown = self.session.run(entry.run)
            if shown is None:
                return "Add to run list"
            return "" if self.session.selected == entry.run else "Show this run"
        return "Run it" if entry.inner is not None else ""

    def _on_entry(self) -> None:
        entry = self.board.entry
        if entry is None or self.standings is None:
            return
        if entry.run in self.session.records:
            self.session.take(entry.run, self.standings)
            return
        try:
            self.session.run_entry(self.standings, entry)
        except (InputError, InvalidSetting) as error:
            self.session.failed.emit(str(error), "")

    def _on_take(self, run: str) -> None:
        if self.standings is not None:
            self.session.take(run, self.standings)

    def _on_export(self, run: str) -> None:
        self._on_take(run)
        self.session.export_asked.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.board.fit_page(self.height())
        self.mark_stale()  # there may be room for more
