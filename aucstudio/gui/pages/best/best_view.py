"""Best: the search for the best model, live, and its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from PySide6.QtWidgets import QSizePolicy, QWidget

from aucstudio.engine.params import InvalidSetting
from aucstudio.gui.common.buttons import primary, push_button
from aucstudio.gui.common.controls import Verb, fill_combo
from aucstudio.gui.common.curve_figures import run_curves
from aucstudio.gui.common.layouts import LEFT, STRETCH, across, down, keep_room
from aucstudio.gui.common.theme import scaled
from aucstudio.gui.common.view import PageView
from aucstudio.gui.common.widgets import hint_label, label, named, quietly, show_note
from aucstudio.gui.pages.best.leaderboard import Leaderboard
from aucstudio.gui.pages.best.pictures import CoursePlot, CurvePlot
from aucstudio.gui.pages.best.words import (
    counts_words,
    doing_words,
    settings,
    statement,
    title,
    typeset,
    why_untested,
)
from aucstudio.gui.state.plan import RunLook
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.notices import text
from aucstudio.project.data.validation import FOLDS, HOLD_OUT
from aucstudio.project.errors import InputError
from aucstudio.project.results.comparison import planned_difference
from aucstudio.project.results.summary import WHOLE
from aucstudio.project.tournament.standings import RUNNING, Standing, Standings, Verdict

COURSE, CURVE = "course", "curve"
_LEAST_PICTURE, _GAP = 180, 8  # pixels


class BestView(PageView):
    """Leaderboard, measure against time, and at the end the model with its curve.

    Attributes
    ----------
    board : Leaderboard
    course, curve : CoursePlot, CurvePlot
        One of the two is visible.
    verdict : VerdictPanel
    standings : Standings or None
        What is shown.
    """

    listens_to: ClassVar = {
        "table": "mark_stale",
        "plan": "_offer_repeat",
        "runs": "mark_stale",
        "selection": "mark_stale",
        "best": "mark_stale",
    }

    def __init__(self, session: Session) -> None:
        super().__init__(session, "best_view", "Best")
        self.standings: Standings | None = None
        self._followed = "", ""  # the search that was drawn last, and its best run
        self.board = Leaderboard()
        self._make_controls()
        self.board.chosen.connect(self._show_entry)
        self.course, self.curve = CoursePlot(), CurvePlot()
        self.pictures = self.curve.plot, self.course.plot
        self.verdict = VerdictPanel(self._on_prefer, self._on_export, self._on_repeat)
        self._lay_out()

    # ------------------------------------------------------------- making

    def _make_controls(self) -> None:
        row, session = self.controls, self.session
        begin = row.button("best_begin_button", verb=lambda: session.asked.emit("best", ()))
        self.begin = primary(begin)
        self.doing = row.put(label("", "muted", name="best_doing"))
        self.which = row.choice("best_which_combo")
        row.addStretch(1)
        row.put(self.board.hidden_button)
        self.picture = row.choice("best_picture_combo")
        for combo in (self.which, self.picture):
            combo.activated.connect(self.mark_stale)

    def _lay_out(self) -> None:
        self.nothing = hint_label("best_course_hint")
        self.nothing.setText(text("best_no_picture"))
        self.entry_words = label("", "muted", wrap=True, name="best_entry_words")
        self.entry_button = push_button("best_entry_button", "", "", self._on_entry)
        keep_room(self.entry_button)  # the picture does not move when a row is chosen
        row = across((self.entry_words, 1), self.entry_button)
        for part in (self.course.plot, self.curve.plot):
            # A page that scrolls gives its parts the heights that they prefer, or the least.
            part.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        pictures = (self.nothing, 3), (self.course.plot, 3), (self.curve.plot, 3)
        below = across(*pictures, (self.verdict, 2), gap=12)
        self.set_content(down(self.board, row, (below, 1), gap=_GAP), "", scrolls=True)

    def figure_data(self) -> Mapping[str, Sequence[object]]:
        if self.standings is None:
            return {}
        if self._shows_curve():
            return self.curve.data()
        return self.course.data(self.standings)

    # ------------------------------------------------------------- showing

    def refresh(self) -> None:
        held = self.session.study.tournament
        self.standings = self._offer(self.session.best.standings())
        self._turn_picture(self.standings)
        running = held.live is not None
        self.begin.setVisible(not running)
        self.begin.setEnabled(self.session.table is not None)
        self.doing.setVisible(running)
        if held.live is not None:
            self.doing.setText(doing_words(held.live, stopping=held.stopping))
        known = self.standings is not None and bool(self.standings.entries)
        self.show_content(known)
        has_best = self.standings is not None and bool(self.standings.best)
        self.controls.show(has_best, self.picture)
        if self.standings is None:
            self._show_nothing()
        else:
            self._show(self.standings)

    def _offer(self, found: Sequence[Standings]) -> Standings | None:
        """List the searches if there are several, the latest first; return the chosen one."""
        keys = [one.key for one in found]
        if keys != [self.which.itemData(k) for k in range(self.which.count())]:
            names = [
                text("best_search", when=one.created[:19].replace("T", " "), budget=one.budget)
                for one in found
            ]
            fill_combo(self.which, list(zip(names, keys, strict=True)))
            if found and found[0].ended == RUNNING:
                quietly(self.which.setCurrentIndex, 0)
        self.which.setVisible(len(found) > 1)
        return next((one for one in found if one.key == self.which.currentData()), None)

    def _turn_picture(self, standings: Standings | None) -> None:
        """Show the curve when a search has ended or another one is selected."""
        key = ("", "") if standings is None else (standings.key, standings.best)
        if key != self._followed:
            self._followed = key
            curve = standings is not None and bool(standings.best)
            self.picture.setCurrentIndex(self.picture.findData(CURVE if curve else COURSE))

    def _shows_curve(self) -> bool:
        return bool(self.picture.currentData() == CURVE)

    def _show_nothing(self) -> None:
        has_table = self.session.table is not None
        self.hint.setText(text("best_about" if has_table else "best_no_table"))
        self.sentence.setText(text("best_no_search" if has_table else "best_open_first"))

    def _show(self, standings: Standings) -> None:
        self.board.show_standings(standings)
        kept = set(self.session.records)
        self.verdict.show_standings(standings, self.session.selected, kept)
        self._offer_repeat()
        curve = self._shows_curve()
        self.nothing.setVisible(not standings.course)
        self.course.plot.setVisible(not curve and bool(standings.course))
        self.curve.plot.setVisible(curve)
        if curve:
            self.curve.show_standings(standings, self._runs(standings))
        else:
            self.course.show(standings)
        self._show_entry()
        found = statement(standings, self._higher_run(standings))
        self.sentence.setText(found)
        self.hint.setText("No result yet…" if standings.ended == RUNNING else found.headline)
        self._fit_board()  # the words above take their room first

    def _higher_run(self, standings: Standings) -> tuple[str, float] | None:
        """Return the listed run on the same rows that is highest, if it is above the best."""
        best = self.session.records.get(standings.best)
        if best is None:
            return None
        areas = {
            run.look.name: run_curves(run.record).area(standings.fpr_range or WHOLE)
            for run in self.session.shown_runs()
            if run.record.splits and planned_difference(run.record, best) is None
        }
        name = max(areas, key=areas.__getitem__, default="")
        own = run_curves(best).area(standings.fpr_range or WHOLE)
        return (name, areas[name]) if name and areas[name] > own else None

    def _offer_repeat(self) -> None:
        """Offer to validate the best model like other runs if the validation draws rows."""
        scheme, table = self.session.plan.validation.scheme, self.session.table
        self.verdict.repeat.setVisible(scheme in (HOLD_OUT, FOLDS) and table is not None)

    def _fit_board(self) -> None:
        """Leave the picture and the result beside it their least height."""
        result = self.verdict.heightForWidth(self.verdict.width())
        words, button = self.entry_words, self.entry_button
        hints = words.sizeHint().height(), button.sizeHint().height()
        row = max(words.heightForWidth(words.width()), *hints)
        taken = row + 2 * _GAP + max(result, scaled(_LEAST_PICTURE))
        self.board.fit_page(self.height(), self.content.height() - taken)

    def _runs(self, standings: Standings) -> list[ShownRun]:
        """List the best run and the simpler one, with their colours."""
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
        chosen, why = settings(entry) or "default settings", why_untested(entry)
        return text("best_entry", title=title(entry), settings=chosen, why=why)

    def _verb(self, entry: Standing) -> str:
        """Return the text of the button for an entry; empty if there is no action."""
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
            self.session.best.take(entry.run, self.standings)
        else:
            self._start(self.session.best.run_entry, entry)

    def _on_repeat(self) -> None:
        best = None if self.standings is None else self.standings.of_run(self.standings.best)
        if best is not None:
            self._start(self.session.best.repeat, best)

    def _start(self, run: Callable[[Standings, Standing], None], entry: Standing) -> None:
        """Start the run of an entry; report why it cannot be run."""
        assert self.standings is not None
        try:
            run(self.standings, entry)
        except (InputError, InvalidSetting) as error:
            self.session.failed.emit(str(error), "")

    def _on_prefer(self) -> None:
        if self.standings is not None:
            self.session.best.take(self.standings.simpler, self.standings)

    def _on_export(self) -> None:
        if self.standings is not None:
            self.session.best.take(self.standings.best, self.standings)
            self.session.asked.emit("export", ())

    def fit_page(self) -> None:
        for plot in self.pictures:
            plot.setMinimumHeight(scaled(_LEAST_PICTURE))
        self._fit_board()
        self.mark_stale()  # there may be room for more


class VerdictPanel(QWidget):
    """The best model and the simpler one, with their actions."""

    def __init__(self, prefer: Verb, export: Verb, repeat: Verb) -> None:
        super().__init__()
        named(self, "best_verdict", "Result")
        self.title = label("", "title", wrap=True, name="best_title")
        names = "best_figures", "best_simpler"
        self.figures, self.simpler = (label("", wrap=True, name=name) for name in names)
        self.prefer = push_button("best_prefer_button", "Prefer it", "", prefer)
        self.export = primary(push_button("best_export_button", verb=export))
        self.repeat = push_button("best_repeat_button", verb=repeat)
        verbs = (self.export, LEFT), (self.repeat, LEFT)
        parts = self.title, self.figures, *verbs, self.simpler, (self.prefer, LEFT), STRETCH
        self.setLayout(down(*parts, around=(4, 0, 8, 0)))

    def show_standings(self, standings: Standings, chosen: str | None, kept: set[str]) -> None:
        """Show the result of a search.

        Parameters
        ----------
        standings : Standings
        chosen : str or None
            The run that the pages are about.
        kept : set of str
            The runs that the study holds.
        """
        best, entry = standings.of_run(standings.best), standings.of_run(standings.simpler)
        self.setVisible(standings.ended != RUNNING and best is not None)
        if best is None:
            return
        self.title.setText(", ".join(filter(None, (title(best), settings(best)))))
        found = standings.verdict or Verdict("")
        figures = found.best.partition(": ")[2]
        words = figures[:1].upper() + figures[1:], found.threshold
        self.figures.setText(typeset(" ".join(filter(None, words))))
        self.export.setEnabled(standings.best in kept)
        show_note(self.simpler, typeset(found.simpler), "")
        self.prefer.setVisible(entry is not None)
        if entry is not None:
            is_taken = chosen == standings.simpler
            self.prefer.setText(text("best_prefer", name=title(entry), taken=is_taken))
            self.prefer.setAccessibleName(self.prefer.text())
            self.prefer.setEnabled(not is_taken and standings.simpler in kept)
