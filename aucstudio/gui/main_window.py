"""The main window."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QStackedWidget, QWidget

from aucstudio.engine.params import InvalidSetting
from aucstudio.gui.common.buttons import offer_combination
from aucstudio.gui.common.focus import focus_within
from aucstudio.gui.common.form import commit_typing
from aucstudio.gui.common.layouts import card_around, down, holding
from aucstudio.gui.dialogs.run_dialogs import ClusterDialog, FindBestDialog, GivenScoresDialog
from aucstudio.gui.files import Files
from aucstudio.gui.panels.status import ProgressStrip, StatusLine
from aucstudio.gui.panels.welcome import WelcomePage
from aucstudio.gui.state.background import delayed
from aucstudio.gui.state.study_reading import OpenedStudy, kind_of
from aucstudio.gui.windows import StudyWindow, WindowPreferences
from aucstudio.notices.words import as_sentence
from aucstudio.project.errors import InputError
from aucstudio.project.examples import STUDIES
from aucstudio.project.work.submit import Place

if TYPE_CHECKING:
    from aucstudio.gui.common.view import PageView
    from aucstudio.gui.desk.deck import Deck
    from aucstudio.gui.workplace import Workplace

# Settings whose errors are shown in the Validation card.
_OF_VALIDATION = (
    *("validation", "test_size", "folds", "repeats", "seed", "test_file"),
    *("time", "gap", "window"),
)
BEST = "best_view"
_SIDES = ("setup", "runs")


class MainWindow(StudyWindow):
    """The window; owns a session and passes it to panels and views.

    Attributes
    ----------
    has_workplace : bool
        Whether the workplace is complete.
    """

    def __init__(self, place: Place | None = None) -> None:
        super().__init__(place)
        self._workplace: Workplace | None = None
        self.has_workplace = False
        self.files = Files(self, self.session, self.actions_)
        self._lay_out()
        self._connect()
        self.setAcceptDrops(True)
        self._refresh_state()
        self._refresh_starts()
        self.preferences = WindowPreferences(self)

    # ------------------------------------------------------------- assembly

    def _lay_out(self) -> None:
        self.strip = ProgressStrip(self.session, self.actions_.run, self.actions_.stop)
        self.setStatusBar(StatusLine())
        self.welcome = WelcomePage()
        self.centre = QStackedWidget()
        self.centre.addWidget(self.welcome)
        focus = delayed(self, 0, self._focus_study)
        self.centre.currentChanged.connect(lambda _k: focus.start())
        QApplication.instance().focusChanged.connect(self._on_focus)  # type: ignore[union-attr]
        self._middle = card_around(self.centre)
        self._rows = down(self.messages, (self._middle, 1), around=(8, 0, 8, 4))
        if self.menuBar().isNativeMenuBar():  # at the top of the screen, without a corner
            self._rows.insertWidget(0, self.strip)
        else:
            self.strip.place_beside(self.menuBar())
        self.setCentralWidget(holding(self._rows))

    @property
    def workplace(self) -> Workplace:
        """Page area and side columns; made when they are first requested."""
        workplace = self.begin_workplace()
        if not self.has_workplace:
            workplace.making.take_all()
        return workplace

    def begin_workplace(self) -> Workplace:
        """Begin to make the workplace, a part in each turn of the event loop."""
        if self._workplace is None:
            from aucstudio.gui.workplace import Workplace

            self._workplace = Workplace(self, self.session, self.actions_, self._middle)
            self._workplace.making.ask(self._show_workplace)
        return self._workplace

    def _show_workplace(self) -> None:
        self.has_workplace = True
        self.centre.addWidget(self.deck)
        self._rows.addWidget(self.workplace.sides, stretch=1)
        self._connect_workplace()
        self._refresh_best()
        self._refresh_state()

    @property
    def deck(self) -> Deck:
        """The pages."""
        return self.workplace.deck

    @property
    def views(self) -> list[PageView]:
        """All pages; unopened ones are created."""
        return [self.deck.view(name) for name in self.deck.names]

    def _connect(self) -> None:
        session, actions = self.session, self.actions_
        actions.connect_verbs(
            run=lambda: self._run(tuned=False),
            tune=lambda: self._run(tuned=True),
            stop=session.stop,
            cluster=lambda: ClusterDialog(session, self).ask(),
            find_best=self._on_find_best,
            add_scores=lambda: GivenScoresDialog(session, self).ask(),
            combine=session.runs.combine_checked,
            show_setup=lambda: self._call_side("setup"),
            show_runs=lambda: self._call_side("runs"),
            next_pane=lambda: self.workplace.sides.step(1),
            previous_pane=lambda: self.workplace.sides.step(-1),
        )
        actions.side_shown.connect(self._show_side)
        actions.at_once_chosen.connect(session.runs.run_at_once)
        actions.theme_chosen.connect(self.set_theme)
        self.welcome.open_data_asked.connect(actions.open_data.trigger)
        self.welcome.open_project_asked.connect(actions.open_project.trigger)
        self.welcome.example_asked.connect(self.open_example)
        self.welcome.path_asked.connect(self.open_path)
        session.listen(self._refresh_state, "table", "runs")
        session.listen(self._refresh_starts, "plan", "table")
        session.listen(self._refresh_best, "best")
        session.listen(self._on_live, "live")
        session.message.connect(self.statusBar().showMessage)
        session.failed.connect(self.messages.add)
        session.informed.connect(self.messages.inform)
        self.files.opened.connect(self._on_opened)
        self.files.table_refused.connect(
            lambda words: self.workplace.data_panel.show_problem(words)
        )
        self.files.saving.connect(self.keep_layout)

    def _connect_workplace(self) -> None:
        actions = self.actions_
        self.workplace.sides.shown_changed.connect(
            lambda side, shown: actions.named(f"{side}_shown").setChecked(shown)
        )
        self.deck.connect_actions(actions)
        self.workplace.data_panel.open_asked.connect(actions.open_data.trigger)
        self.workplace.data_panel.import_asked.connect(self.files.import_again)
        self.workplace.runs_panel.details.export.clicked.connect(actions.export_model.trigger)
        self.workplace.validation_panel.band_checked.connect(self._refresh_starts)
        self.deck.active_changed.connect(self._refresh_state)
        self.deck.layout_changed.connect(self.keep_layout)

    # ------------------------------------------------------------- focus

    def _focus_study(self) -> None:
        """Move the focus to the set-up of a study, or to the page where that is not shown."""
        if self.has_workplace and self.workplace.sides.setup.isVisible():
            focus_within(self.workplace.sides.setup, self.workplace.data_panel.label_combo)
        else:
            focus_within(self.centre)

    def _on_focus(self, left: QWidget | None, focus: QWidget | None) -> None:
        """Move the focus from Run to the page if the focused control disappeared."""
        is_gone = left is not None and not (left.isVisible() and left.isEnabled())
        if is_gone and focus is self.strip.run_button and self.shows_study:
            focus_within(self.deck.active(), self.centre.findChild(QWidget, "best_begin_button"))

    # ------------------------------------------------------------- state

    def _refresh_state(self) -> None:
        session, actions = self.session, self.actions_
        shows_study = self.shows_study
        if not shows_study:
            self.welcome.refresh()
        offer_combination(actions.combine, session)
        actions.save_project.setEnabled(shows_study)
        actions.save_project_as.setEnabled(shows_study)
        name = session.project.path.stem if session.project and session.study.is_saved else ""
        title = name or (session.table.path.name if session.table else "")
        self.setWindowTitle(f"{title} — AUC Studio" if title else "AUC Studio")
        self.statusBar().showMessage(session.study.status)
        if shows_study or self.has_workplace:
            self.workplace.sides.at_work(shows_study)
            self.centre.setCurrentWidget(self.deck if shows_study else self.welcome)
            self.deck.refresh_actions(actions, shows_study)
            self.deck.name_windows(title or "AUC Studio")

    def _refresh_starts(self) -> None:
        """Enable starting runs only where one can succeed; else state why not beside the button."""
        runs, actions = self.session.runs, self.actions_
        of_plan, of_table = runs.why_not(self.session.plan.validation), runs.why_not()
        if not of_plan and self.has_workplace:
            of_plan = self.workplace.validation_panel.band_error
        for start, why in (
            *((actions.run, of_plan), (actions.tune, of_plan)),
            *((actions.find_best, of_table), (actions.add_scores, of_table)),
        ):
            start.setStatusTip(as_sentence(why) if why else "")
            start.setEnabled(not why)

    def _refresh_best(self) -> None:
        if self.has_workplace:
            self.deck.hide_tabs(() if self.session.best.standings() else {BEST})

    def _on_live(self) -> None:
        self.actions_.stop.setEnabled(self.session.busy)
        self.close_if_done()

    def keep_layout(self) -> None:
        """Store the arrangement of views in the plan; this is no edit, so undo keeps it."""
        if not self.has_workplace:
            return
        self.workplace.runs_panel.details.notes.keep()
        plan = self.session.plan
        layout = self.deck.arrangement() | {
            side: self.workplace.sides.is_shown(side) for side in _SIDES
        }
        if layout != plan.layout:
            self.session.put_plan(dataclasses.replace(plan, layout=layout))

    def restore_layout(self) -> None:
        """Restore the arrangement of pages and columns from the plan."""
        layout = self.session.plan.layout
        sides = self.workplace.sides
        for side in _SIDES:
            if sides.is_shown(side) != (shown := layout.get(side) is not False):
                sides.show_side(side, shown)
        self.deck.restore(layout)

    def apply_style(self) -> None:
        """Apply the present theme."""
        super().apply_style()
        if self.has_workplace:
            for view in self.deck.made_views():
                view.restyle()
            self.workplace.runs_panel.apply_style()

    def _call_side(self, side: str) -> None:
        table = self.workplace.runs_panel.view if side == "runs" else None
        self.workplace.sides.call(side, table)
        self.keep_layout()

    def _show_side(self, side: str, shown: bool) -> None:
        self.workplace.sides.show_side(side, shown)
        self.keep_layout()

    def _on_opened(self, found: OpenedStudy) -> None:
        if found.file is not None:
            self.restore_layout()
        if found.experiments is not None:
            self.show_pages(found.experiments.views)

    # ------------------------------------------------------------- actions

    def open_now(self, path: str | Path, kind: str = "") -> OpenedStudy | None:
        """Open a file and return when its study is open, for scripts.

        If it cannot be read, the error is shown in the window, the open study stays, and None is
        returned.
        """
        kind = kind or kind_of(path)
        try:
            return self.session.files.open_now(path, kind)
        except Exception as error:  # noqa: BLE001  (a reader may fail in any way)
            self.files.refuse(kind, error)
        return None

    def open_path(self, path: str | Path) -> None:
        """Start to open a table, a project or an experiment file, by its ending."""
        self.files.open_path(path)

    def open_example(self, key: str = STUDIES[0]) -> None:
        """Start to open an example study and run it."""
        self.files.open_example(key)

    def show_pages(self, pages: Sequence[str]) -> None:
        """Show pages side by side; without any, the first one."""
        self.deck.show_side_by_side(tuple(pages) or self.deck.names[:1])

    def _run(self, *, tuned: bool, again: bool = False) -> None:
        commit_typing()
        try:
            self.workplace.method_panel.check()
            planned = self.session.runs.planned(tuned=tuned)
            same = None if again else self.session.runs.twin_of(planned)
            if same is not None:
                self.workplace.sides.show_side("runs", True)
                self.workplace.runs_panel.offer_again(
                    same, lambda: self._run(tuned=tuned, again=True)
                )
                return
            self.session.runs.start([planned])
        except InvalidSetting as error:
            self.workplace.sides.show_side("setup", True)
            self.workplace.method_panel.show_problem(error.setting, str(error))
        except InputError as error:
            self._show_beside_cause(error)

    def _show_beside_cause(self, error: InputError) -> None:
        self.workplace.sides.show_side("setup", True)
        cause = error.setting or ""
        if cause in _OF_VALIDATION:
            self.workplace.validation_panel.show_problem(str(error))
        elif error.column or cause == "data":
            self.workplace.data_panel.show_problem(str(error))
        else:
            self.workplace.method_panel.show_problem(cause, str(error))

    def _on_find_best(self) -> None:
        if self.session.study.tournament.busy:
            self.deck.visit(BEST)
            return
        commit_typing()
        dialog = FindBestDialog(self.session, self)
        dialog.accepted.connect(lambda: self.deck.visit(BEST))
        dialog.ask()

    # ------------------------------------------------------------- Qt

    def clean_up(self) -> None:
        """Store the layout and close the windows of views."""
        self.keep_layout()
        super().clean_up()
        if self.has_workplace:
            self.deck.close_windows()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasUrls():
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        self.files.open_dropped(
            [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
        )
