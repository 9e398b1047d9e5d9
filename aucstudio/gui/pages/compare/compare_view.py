"""Compare: the checked runs, with a test of every pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QStackedWidget

from aucstudio import notices
from aucstudio.gui.common import prompts
from aucstudio.gui.common.buttons import make_action
from aucstudio.gui.common.controls import Segments, keep_choice
from aucstudio.gui.common.layouts import down
from aucstudio.gui.common.sentence import Statement
from aucstudio.gui.common.theme import current_theme, scaled
from aucstudio.gui.common.view import PageView
from aucstudio.gui.common.widgets import label, show_note
from aucstudio.gui.pages.compare import words as texts
from aucstudio.gui.pages.compare.subgroups import GroupsPage
from aucstudio.gui.pages.compare.tables import PicturePage, TablesPage, pair_figures
from aucstudio.gui.pages.compare.words import ShownComparison, compare_checked
from aucstudio.gui.state.background import Answer
from aucstudio.gui.state.session import Session
from aucstudio.notices import text
from aucstudio.project.errors import InputError
from aucstudio.project.results.comparison import CORRECTION_NAMES, Comparison, rows_words
from aucstudio.project.results.page import Block, markdown_blocks, tables_as_csv, tables_as_latex
from aucstudio.project.results.report import comparison_tables
from aucstudio.project.store.files import write_atomically

_BOOKTABS = ".booktabs.tex"
_FORMATS = (
    f"CSV, full figures (*.csv);;Markdown (*.md);;LaTeX (*.tex);;LaTeX with booktabs (*{_BOOKTABS})"
)


def table_text(path: Path, found: Comparison) -> str:
    """Write both tables in the format of a file name.

    Raises
    ------
    InputError
        If its ending is none of .csv, .md and .tex.
    """
    tables, ending = comparison_tables(found), path.suffix.lower()
    if ending == ".csv":
        return tables_as_csv(tables)
    if ending == ".md":
        return f"{markdown_blocks(tables)}\n"
    if ending == ".tex":
        return tables_as_latex(tables, booktabs=path.name.lower().endswith(_BOOKTABS))
    raise InputError(
        f"a comparison is saved as .csv, .md or .tex; {path.name} has another ending",
        file=str(path),
    )


PICTURE, TABLES, GROUPS = "picture", "tables", "groups"
_SHOWN = ((PICTURE, "Forest plot"), (TABLES, "Tables"), (GROUPS, "Subgroups"))
_KEPT = 64
Compared = TypeVar("Compared", PicturePage, TablesPage)
_NOTHING = "Nothing to compare yet"


class CompareView(PageView):
    """Figures of the checked runs and tests of all pairs, as a picture or as tables.

    Attributes
    ----------
    picture : PicturePage
    tables : TablesPage
    groups : GroupsPage
    shown : ShownComparison or None
    """

    listens_to: ClassVar = {
        **PageView.listens_to,
        "focus": "_show_threshold",
        "band_rested": "mark_stale",
    }
    soon: ClassVar = "it is compared when it has ended"
    aim: ClassVar = "how runs compare"

    def __init__(self, session: Session) -> None:
        super().__init__(session, "compare_view", "Compare")
        self.shown: ShownComparison | None = None
        self._filled = self._compared = object()
        self._answer = Answer(self, self._show, self._on_failed, keep=_KEPT)
        self._make_controls()
        self.making.ask(self._make_picture, self._make_tables, self._make_groups)
        session.listen(self.forget_answers, "table")

    # ------------------------------------------------------------- making

    def _make_controls(self) -> None:
        self.show_switch = Segments("compare_show", "What is shown")
        self.show_switch.offer(_SHOWN, PICTURE)
        self.show_switch.chosen.connect(self._on_show)
        self.controls.addWidget(self.show_switch)
        row, corrections = self.controls, [(title, key) for key, title in CORRECTION_NAMES.items()]
        self.measure_combo = row.choice("measure_combo", self.mark_stale)
        self.correction_combo = row.choice("correction_combo", self.mark_stale, corrections)
        for combo in (self.measure_combo, self.correction_combo):
            keep_choice(combo)
        self.pages = QStackedWidget()
        self.footnote_label = label("", "muted", name="compare_footnote", wrap=True)
        self.set_content(down((self.pages, 1), self.footnote_label), _NOTHING)
        self.copy_tables = make_action(self, "copy_tables", "Copy tables", verb=self._on_copy)
        self.save_tables = make_action(self, "save_tables", "Save tables…", verb=self._on_save)

    def exports(self) -> Sequence[QAction]:
        return self.copy_tables, self.save_tables

    def _make_picture(self) -> None:
        self.picture = self._add(PicturePage())

    def _make_tables(self) -> None:
        self.tables = self._add(TablesPage())

    def _add(self, page: Compared) -> Compared:
        page.run_clicked.connect(self._on_run)
        page.pair_clicked.connect(self._on_pair)
        self.pages.addWidget(page)
        return page

    def _make_groups(self) -> None:
        self.groups = GroupsPage(self.session, self.controls)
        self.groups.concluded.connect(self._on_groups)
        self.groups.show_controls(False)
        self.controls.addStretch(1)
        self.pages.addWidget(self.groups)
        self.pictures = self.picture.forest.plot, self.groups.plot

    @property
    def _front(self) -> PicturePage | TablesPage:
        """The page that is shown; the other one is filled when it is shown."""
        return self.tables if self.show_switch.current == TABLES else self.picture

    @property
    def shows_groups(self) -> bool:
        """Whether the selected run is shown by the levels of a column."""
        return self.show_switch.current == GROUPS

    def footnote(self) -> str:
        return self.footnote_label.text()

    def figure_data(self) -> Mapping[str, Sequence[object]]:
        if self.shows_groups:
            return self.groups.data()
        if self.shown is None:
            return {}
        shows_tables = self.pages.currentWidget() is self.tables
        return pair_figures(self.shown) if shows_tables else self.picture.forest.data()

    def report_blocks(self) -> Sequence[Block]:
        return self.groups.report_blocks()

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
        elif self._answer.ask(key, work) and key[0] != self._compared:
            # The comparison of the same runs in another range stays until the new one.
            for words in (self.hint, self.sentence):
                words.setText("Comparing…")
        self._compared = key[0]

    def _on_failed(self, words: str) -> None:
        self._show(None)
        self.sentence.setText(words)

    # ------------------------------------------------------------- showing

    def _show_groups(self) -> None:
        """Show the selected run by the levels of a column."""
        self._answer.drop()
        self.show_content(self.groups.found is not None)
        self.footnote_label.hide()
        self._enable_exports(False)
        self.groups.refresh()

    def _show_threshold(self) -> None:
        """Show the rates of subgroups at another threshold."""
        if self.shows_groups:
            self.mark_stale()

    def _on_groups(self, words: Any) -> None:
        if self.shows_groups:
            self.show_content(self.groups.found is not None)
            self.sentence.setText(words)
            if self.groups.found is None:
                self.hint.setText(words)

    def _enable_exports(self, enabled: bool) -> None:
        for action in self.exports():
            action.setEnabled(enabled)

    def _show(self, computed: ShownComparison | None) -> None:
        correction = str(self.correction_combo.currentData())
        runs = self.session.checked_runs()
        self.shown = shown = None if computed is None else computed.shown_as(correction, runs)
        looks = None if shown is None else tuple(shown.looks)
        filled = (computed, correction, looks, current_theme().name, scaled(100))
        if filled != self._filled:
            self._filled = filled
            self.show_content(shown is not None)
            self._enable_exports(shown is not None)
            if shown is not None:
                self._front.show_comparison(shown)
                show_note(self.footnote_label, texts.footnote(shown.found, shown.band))
            self.fit_page()
        if shown is None:
            self.hint.setText(_NOTHING)
            self.sentence.setText(self.why_empty())
        else:
            self._mark(shown)

    def fit_page(self) -> None:
        """Use the available width."""
        if self.shown is not None:
            self._front.fit()

    def _mark(self, shown: ShownComparison) -> None:
        """Mark the selected and the compared run and their pair, and state who is better."""
        place = shown.pair(self.session)
        self._front.mark(*shown.places(self.session), place)
        found = shown.found
        if not found.pairs:
            words = texts.one_run_words(found.runs[0], found.measure, shown.measure)
            self.sentence.setText(words)
            return
        place = place or 0
        i, _, pair = list(found.places())[place]
        record = shown.runs[i].record
        tests = sum(not other.refused for other in found.pairs)
        said = texts.pair_sentence(pair, shown.measure, rows_words(record))
        forecast = texts.forecast_words(pair, record, tests)
        apart = *notices.texts(pair.notices), shown.left_out(place)
        units = text("counted_units", weight=None, groups=record.experiment.data.groups).strip()
        rest = said.more, forecast, units, texts.tally_words(found.pairs)
        self.sentence.setText(Statement.of(said.headline, *apart, *rest))

    # ------------------------------------------------------------- user actions

    def _on_show(self) -> None:
        self.pages.setCurrentIndex([key for key, _words in _SHOWN].index(self.show_switch.current))
        groups = self.shows_groups
        self.controls.show(not groups, self.measure_combo, self.correction_combo)
        if not groups:
            self.groups.leave()
            self._filled = None
        self.refresh()

    def _on_run(self, place: int, beside: bool) -> None:
        if self.shown is not None:
            verb = self.session.compare_with if beside else self.session.select
            verb(self.shown.runs[place].record.id)

    def _on_pair(self, chosen: int, compared: int) -> None:
        """Select two runs as the selected and the compared one."""
        if self.shown is not None and chosen != compared:
            runs = [self.shown.runs[k].record.id for k in (chosen, compared)]
            self.session.select(runs[0])
            self.session.compare_with(runs[1])

    def _on_copy(self) -> None:
        """Copy the tables as text."""
        if self.shown is not None:
            tables = comparison_tables(self.shown.found)
            QGuiApplication.clipboard().setText(tables_as_csv(tables, "\t"))
            self.session.message.emit("Tables copied")

    def _on_save(self) -> None:
        """Ask for a file, and write the tables into it."""
        path = prompts.ask_save_path(self, "Save the comparison", "comparison.csv", _FORMATS)
        if path is None or self.shown is None:
            return
        try:
            write_atomically(Path(path), table_text(Path(path), self.shown.found))
        except InputError as error:
            self.session.failed.emit(str(error), "")
        else:
            self.session.message.emit(f"Saved {path}")
