"""Compare: the checked runs, with a test of every pair."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QStackedWidget,
)

from aucstudio.engine.monitor import Stopped
from aucstudio.gui.common.actions import make_action
from aucstudio.gui.common.layouts import down
from aucstudio.gui.common.segments import Segments
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.common.view import PageView
from aucstudio.gui.common.widgets import label, tell
from aucstudio.gui.pages.compare import export
from aucstudio.gui.pages.compare import words as saying
from aucstudio.gui.pages.compare.pages import PicturePage, TablesPage
from aucstudio.gui.pages.compare.subgroups import GroupsPage
from aucstudio.gui.state.plan import RunLook
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.project.results import comparison
from aucstudio.project.results.comparison import CORRECTION_NAMES, Comparison
from aucstudio.project.runs.experiments.experiment import Band
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.work.workers import Workers


@dataclasses.dataclass(frozen=True, eq=False)
class ShownComparison:
    """A comparison with the runs it is of; the best one of the chosen measure first."""

    looks: list[ShownRun]
    found: Comparison
    band: Band

    def corrected(self, correction: str) -> ShownComparison:
        """Return the same with p-values corrected otherwise."""
        pairs = comparison.corrected(self.found.pairs, correction)
        return dataclasses.replace(self, found=dataclasses.replace(self.found, pairs=pairs))

    def places(self, session: Session) -> tuple[int | None, int | None]:
        """Find the session's chosen and compared run."""
        listed = [run.record.id for run in self.looks]
        chosen, compared = session.selected, session.compared
        return (
            listed.index(chosen) if chosen in listed else None,
            listed.index(compared) if compared in listed else None,
        )

    def pair(self, session: Session) -> int | None:
        """Find the pair of the session's two runs."""
        wanted = set(self.places(session))
        places = enumerate(self.found.places())
        return next((k for k, (i, j, _) in places if {i, j} == wanted), None)


def compare_checked(
    runs: list[ShownRun], band: Band, measure: str, post: Any, workers: Workers | None
) -> ShownComparison:
    """Compute the figures of all runs and test every pair; off the window's thread."""
    figures = {}
    for run in runs:
        figures[run.record.id] = comparison.run_figures(run.look.name, run.record, band)
        if post(0.0):
            raise Stopped("comparing")
    ranked = sorted(
        runs, key=lambda run: figures[run.record.id].measured(measure).value, reverse=True
    )
    named_runs = [(run.look.name, run.record) for run in ranked]
    pairs = comparison.compare_runs(named_runs, band, measure, post, workers)
    found = Comparison([figures[run.record.id] for run in ranked], pairs, measure)
    return ShownComparison(ranked, found, band)


PICTURE, TABLES, GROUPS = "picture", "tables", "groups"
_SHOWN = ((PICTURE, "Forest plot"), (TABLES, "Tables"), (GROUPS, "Subgroups"))
_KEPT = 64

Key = tuple[tuple[tuple[RunRecord, str], ...], Band, str]


class CompareView(PageView):
    """Figures of the checked runs and tests of all pairs, as a picture or as tables.

    Attributes
    ----------
    picture : PicturePage
    tables : TablesPage
    groups : GroupsPage
    shown : ShownComparison or None
        What is on the page; None while there is nothing, or not yet.
    """

    listens_to: ClassVar = {
        **PageView.listens_to,
        "plan": "mark_stale",
        "focus": "_on_focus",
        "band_rested": "mark_stale",
    }

    def __init__(self, session: Session) -> None:
        super().__init__(session, "compare_view", "Compare")
        self.shown: ShownComparison | None = None
        self._filled: object = None
        self._answer = self.answer(self._show, self._on_failed, keep=_KEPT)
        self._make_controls()
        self._make_pages()
        session.listen(self.forget_answers, "table")

    # ------------------------------------------------------------- making

    def _make_controls(self) -> None:
        self.show_switch = Segments("compare_show", "What is shown")
        self.show_switch.offer(_SHOWN, PICTURE)
        self.show_switch.chosen.connect(self._on_show)
        self.controls.addWidget(self.show_switch)
        self.measure_combo = self.controls.choice(
            "measure_combo",
            "&Compare",
            "Measure that orders the runs and is tested for each pair: AUC or partial AUC",
            (("AUC", comparison.AUC), ("pAUC", comparison.PAUC)),
            self.mark_stale,
            says="Compared measure",
        )
        self.correction_combo = self.controls.choice(
            "correction_combo",
            "C&orrection",
            "Correction of p-values for testing many pairs; Holm is at least as powerful as "
            "Bonferroni at the same error rate",
            [(text, key) for key, text in CORRECTION_NAMES.items()],
            self.mark_stale,
            says="Correction for many pairs",
        )
        self.groups = GroupsPage(self.session, self.controls)
        self.groups.said.connect(self._on_said)
        self.groups.show_controls(False)
        self.controls.addStretch(1)
        self.copy_tables = make_action(self, "copy_tables", "Copy tables", verb=self._on_copy)
        self.save_tables = make_action(self, "save_tables", "Save tables…", verb=self._on_save)

    def exports(self) -> Sequence[QAction]:
        return self.copy_tables, self.save_tables

    def _offer_exports(self, offered: bool) -> None:
        for action in self.exports():
            action.setEnabled(offered)

    def _make_pages(self) -> None:
        self.picture, self.tables = PicturePage(), TablesPage()
        self.pictures = self.picture.forest.plot, self.groups.plot
        self.pages = QStackedWidget()
        for page in (self.picture, self.tables):
            page.run_clicked.connect(self._on_run)
            page.pair_clicked.connect(self._on_pair)
            self.pages.addWidget(page)
        self.pages.addWidget(self.groups)
        self.footnote_label = label("", "muted", name="compare_footnote", wrap=True)
        self.set_content(down((self.pages, 1), self.footnote_label), "Nothing to compare yet")

    @property
    def shows_groups(self) -> bool:
        """Whether the chosen run is shown by the levels of a column."""
        return self.show_switch.current == GROUPS

    def footnote(self) -> str:
        return self.footnote_label.text()

    def figure_data(self) -> Mapping[str, Sequence[object]]:
        if self.shows_groups:
            return self.groups.data()
        return {} if self.shown is None else self.picture.forest.data()

    def busy(self) -> bool:
        if self.shows_groups:
            return self.groups.busy()
        return super().busy() or self.session.is_band_moving

    # ------------------------------------------------------------- computing

    def refresh(self) -> None:
        if self.shows_groups:
            self._show_groups()
            return
        runs = self.session.checked_runs()
        band, measure = self.session.plan.band, str(self.measure_combo.currentData())
        key = (tuple((run.record, run.look.name) for run in runs), band, measure)

        def work(post: Any) -> ShownComparison:
            return compare_checked(runs, band, measure, post, self.session.runs.cluster.workers)

        if not runs:
            self._answer.drop()
            self._show(None)
        elif self._answer.ask(key, work):
            self.sentence.setText("Comparing…")

    def _on_failed(self, words: str) -> None:
        self._show(None)
        self.sentence.setText(words)

    # ------------------------------------------------------------- showing

    def _show_groups(self) -> None:
        """Show the chosen run by the levels of a column."""
        self._answer.drop()
        self.show_content(True)
        self.footnote_label.hide()
        self.groups.refresh()
        self._offer_exports(bool(self.groups.data()))

    def _on_said(self, words: Any) -> None:
        if self.shows_groups:
            self.sentence.setText(words)
            self._offer_exports(bool(self.groups.data()))

    def _on_focus(self) -> None:
        if self.shows_groups:
            self.mark_stale()

    def _show(self, computed: ShownComparison | None) -> None:
        correction = str(self.correction_combo.currentData())
        self.shown = None if computed is None else computed.corrected(correction)
        looks = self._looks()
        filled = (computed, correction, tuple(looks), current_theme().name)
        if filled != self._filled:
            self._filled = filled
            self._fill(looks)
        self._mark()
        self._tell()

    def _fill(self, looks: list[RunLook]) -> None:
        """Put what is shown into the picture and the tables."""
        shown = self.shown
        found = Comparison([], []) if shown is None else shown.found
        band = self.session.plan.band if shown is None else shown.band
        rows = "" if shown is None else saying.rows_words(shown.looks[0].record)
        self.picture.show_comparison(found, looks, band, rows)
        self.tables.show_comparison(found, looks, band)
        self.show_content(bool(found.runs))
        self._offer_exports(bool(found.runs))
        tell(self.footnote_label, saying.footnote(found, band))
        self.fit_page()

    def _looks(self) -> list[RunLook]:
        """Return how the shown runs look now.

        A colour may have changed since they were compared.
        """
        looks = {run.record.id: run.look for run in self.session.checked_runs()}
        return (
            []
            if self.shown is None
            else [looks.get(run.record.id, run.look) for run in self.shown.looks]
        )

    def fit_page(self) -> None:
        """Use the width there is."""
        self.tables.fit(self.width())
        if self.shown is not None:
            self.picture.fit(self.shown.band)

    def _mark(self) -> None:
        """Mark the session's two runs, and their pair if it is one of these."""
        shown = self.shown
        chosen, compared = (None, None) if shown is None else shown.places(self.session)
        self.picture.mark(chosen, compared)
        self.tables.mark(chosen, None if shown is None else shown.pair(self.session))

    def _tell(self) -> None:
        shown = self.shown
        if shown is None:
            self.sentence.setText(saying.what_next(self.session))
            return
        found, measure = shown.found, saying.measure_words(shown.found.measure, shown.band)
        if not found.pairs:
            self.sentence.setText(saying.one_run_words(found.runs[0], found.measure, measure))
            return
        i, _, pair = list(found.places())[shown.pair(self.session) or 0]
        record = shown.looks[i].record
        tests = sum(not other.refused for other in found.pairs)
        said = saying.pair_sentence(pair, measure, saying.rows_words(record)).then(
            saying.forecast_words(pair, record, tests),
            saying.tally_words(found.pairs),
        )
        self.sentence.setText(said)

    # ------------------------------------------------------------- the person

    def _on_show(self) -> None:
        self.pages.setCurrentIndex([key for key, _words in _SHOWN].index(self.show_switch.current))
        groups = self.shows_groups
        self.controls.show(not groups, self.measure_combo, self.correction_combo)
        if groups:
            self.refresh()
            return
        self.groups.drop_questions()
        self.groups.show_controls(False)
        self._filled = None
        self.refresh()
        self.fit_page()

    def _on_run(self, place: int, beside: bool) -> None:
        if self.shown is not None:
            verb = self.session.compare_with if beside else self.session.select
            verb(self.shown.looks[place].record.id)

    def _on_pair(self, chosen: int, compared: int) -> None:
        """Make two of the runs the pair that all views are about."""
        if self.shown is not None and chosen != compared:
            runs = [self.shown.looks[k].record.id for k in (chosen, compared)]
            self.session.select(runs[0])
            self.session.compare_with(runs[1])

    def _on_copy(self) -> None:
        if self.shows_groups:
            export.copy_columns(self.session, self.groups.data())
        elif self.shown is not None:
            export.copy_tables(self.session, self.shown.found)

    def _on_save(self) -> None:
        if self.shows_groups:
            export.save_columns(self, self.session, self.groups.data())
        elif self.shown is not None:
            export.save_tables(self, self.session, self.shown.found)
