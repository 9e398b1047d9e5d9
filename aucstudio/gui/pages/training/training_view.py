"""Training: distance from the optimum, and areas on held-out and training rows."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from numpy.typing import NDArray
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QGraphicsItem

from aucstudio.gui.common.layouts import down
from aucstudio.gui.common.plain_text import shortened
from aucstudio.gui.common.plots.plot import Plot, Readout
from aucstudio.gui.common.sentence import Statement
from aucstudio.gui.common.theme import scaled
from aucstudio.gui.common.view import PageView
from aucstudio.gui.common.widgets import label, quietly
from aucstudio.gui.pages.training.plots import (
    DISTANCE,
    OBJECTIVE,
    PROGRESS,
    CourseLine,
    CourseLines,
    TrainingPlots,
)
from aucstudio.gui.pages.training.progress import (
    HELD,
    ITERATION,
    Course,
    course_table,
    live_course,
    make_ready,
    run_courses,
    unready,
)
from aucstudio.gui.pages.training.verify_panel import VerifyPanel
from aucstudio.gui.pages.training.words import (
    area_sentence,
    before_words,
    headline,
    live_sentence,
    look_words,
    run_sentence,
    step_words,
)
from aucstudio.gui.state.background import Answer, delayed
from aucstudio.gui.state.runner import LiveRun
from aucstudio.gui.state.session import Session
from aucstudio.notices import text
from aucstudio.project.runs.experiment import Band

# Some fifteen times a second: it looks alive, and leaves the processor to the training.
_LIVE_MILLISECONDS = 75
AUC, PAUC = "auc", "pauc"
_LOW = 420  # pixels of the page's height, below which two plots are unreadable


class TrainingView(PageView):
    """Objective above and area below, against iterations or seconds.

    Attributes
    ----------
    plots_ : TrainingPlots
    readout : Readout
    """

    listens_to: ClassVar = {
        **PageView.listens_to,
        "focus": "mark_stale",
        "band_rested": "_draw",
    }
    lacks: ClassVar = "finished fit"
    soon: ClassVar = "its progress appears after the first step"
    aim: ClassVar = "how its training goes"

    def __init__(self, session: Session) -> None:
        super().__init__(session, "training_view", "Training")
        self._courses: list[Course] = []
        self._live: Course | None = None
        self._flying: LiveRun | None = None
        self._subject: object = None
        self._drawn = False, False, True
        self._is_low = False
        self._ready = Answer[None](self, lambda _done: self._draw())
        self._requested = DISTANCE
        self._soon_live = delayed(self, _LIVE_MILLISECONDS, self._catch_up)
        self._behind = False
        self._make_controls()
        self._make_plots()

    # ------------------------------------------------------------- making

    def _make_controls(self) -> None:
        row = self.controls
        self.x_combo = row.choice("x_combo", verb=self._on_choice)
        self.split_combo = row.splits("training_split", self._on_split, every=True)
        self.upper_combo = row.choice("upper_combo", verb=self._on_upper)
        self.lower_combo = row.choice("lower_combo", verb=self._on_choice)
        row.addStretch(1)

    def _make_plots(self) -> None:
        self.key = label("", "muted", wrap=True, name="training_key")
        self.readout = Readout("training_readout", "Values at the pointer", self)
        self.plots_ = TrainingPlots()
        self.pictures = self.plots_.both()
        self.axes = self.x_combo, self.upper_combo, self.lower_combo
        for plot in self.plots():
            plot.hovered.connect(partial(self._on_hover, plot))
            plot.clicked.connect(partial(self._on_click, plot))
        self.verify_panel = VerifyPanel(self.session)
        self.controls.addWidget(self.verify_panel.button)
        self.set_content(down(self.key, (self.plots_, 1), gap=4), text("training_nothing"))
        self.frame.insertWidget(self.frame.indexOf(self.sentence), self.verify_panel)

    # ------------------------------------------------------------- showing

    def refresh(self) -> None:
        runs = self.seen_runs()
        self._courses = [course for run in runs for course in run_courses(run)]
        self._take_live()
        chosen = self.session.run(self.session.selected)
        record = None if chosen is None else chosen.record
        count, split = 0 if record is None else len(record.splits), self.session.focus.split
        self.split_combo.offer(count, split)
        self.controls.show(count > 1, self.split_combo)
        self.verify_panel.show_run(record, split)
        waiting = unready(runs)
        if not waiting:
            self._ready.forget()
        elif not self._ready.ask(tuple(waiting), lambda post: make_ready(waiting, post)):
            return  # it was short, and the fits are drawn
        self._draw()

    def refresh_live(self) -> None:
        """Show the fit in progress, at most every 75 ms unless it is another one."""
        is_same, self._flying = self.session.live is self._flying, self.session.live
        self._behind = is_same and self._soon_live.isActive()
        if self._behind:
            return
        self._soon_live.start()
        had = self._live
        self._take_live()
        if self._is_drawn() != self._drawn or (had is None) != (self._live is None):
            self._draw()
        elif self._live is not None:
            self._draw_live()
        elif not self._courses:
            self._conclude()
        self.keep_still()

    def _catch_up(self) -> None:
        if self._behind:
            self.refresh_live()

    def _take_live(self) -> None:
        live = self.session.live
        seen = live is not None and (live.points or len(live.looks))
        self._live = live_course(live) if live is not None and seen else None

    def _draw(self) -> None:
        """Draw the fits and state what they show."""
        self._drawn = steps, areas, proven = self._is_drawn()
        self.upper_combo.setEnabled(proven)
        self.controls.show(not self._is_low, self.upper_combo)
        wanted = self._requested if proven else OBJECTIVE
        quietly(self.upper_combo.setCurrentIndex, self.upper_combo.findData(wanted))
        axis, what, band = self._choices()
        widened = any(course.is_widened for course in self._all_seen())
        self.key.setText(text("training_key", above=what, widened=what == DISTANCE and widened))
        done, plots = self._seen(), self.plots_
        units = " ".join(sorted({course.unit for course in self._all_seen()}))
        plots.name(units if axis == ITERATION else axis, what, band, upper=steps, lower=areas)
        lines = [pair for pair in done if steps and len(pair[0].steps.iteration)]
        plots.draw_steps(lines, axis, what, live=False)
        ready = [pair for pair in done if areas and len(pair[0].look_iteration)]
        plots.draw_areas([] if self._ready.busy else ready, axis, band, live=False)
        self._draw_live()
        subject = axis, what, band is None, None if self._live else self.session.selected
        if subject != self._subject:
            self._subject = subject
            plots.show_all()

    def moving(self) -> Container[QGraphicsItem]:
        plots = self.plots_
        live = plots.upper_lines[1], plots.lower_lines[1]
        return [item for lines in live for item in (lines.dots, *lines.items)]

    def _draw_live(self) -> None:
        """Draw the fit in progress over the others."""
        axis, what, band = self._choices()
        steps, areas, _ = self._drawn
        live = [] if self._live is None else [(self._live, True)]
        self.plots_.draw_steps(live if steps else [], axis, what, live=True)
        self.plots_.draw_areas(live if areas else [], axis, band, live=True)
        self.plots_.frame(live=self._live is not None)
        self.show_content(steps or areas)
        self.key.setVisible((steps or areas) and not self._is_low)
        self._conclude()

    def _is_drawn(self) -> tuple[bool, bool, bool]:
        """Return whether each plot is shown, and the described fit has a dual gap now or later.

        A low page shows the areas alone.
        Methods solved in one step are dots next to the lines of others; alone they have no plot.
        """
        seen, course = self._all_seen(), self._strong_course()
        moving = any(not one.is_one_step for one in seen)
        steps = any(len(one.steps.iteration) > 1 for one in seen)
        areas = moving and any(len(one.look_iteration) for one in seen)
        steps = steps and not (areas and self._is_low)
        proven = course is None or not len(course.steps.iteration) or course.is_proven
        return steps, areas, proven

    def _seen(self) -> list[tuple[Course, bool]]:
        """List the finished fits to draw, each with whether it is emphasised.

        Other splits are hidden while a fit is in progress: each frame would paint them again.
        """
        one, split = self.split_combo.is_one or self._live is not None, self.session.focus.split
        pairs = [
            (course, course.split == min(split, course.splits - 1)) for course in self._courses
        ]
        return [pair for pair in pairs if pair[1] or not one]

    def _all_seen(self) -> list[Course]:
        """List the fits to draw, including the one in progress."""
        return [course for course, _ in self._seen()] + ([self._live] if self._live else [])

    def _strong_course(self) -> Course | None:
        """Return the fit that the conclusion describes."""
        if self._live is not None:
            return self._live
        chosen = self.session.selected
        return next(
            (course for course, strong in self._seen() if strong and course.run == chosen), None
        )

    def _conclude(self) -> None:
        live, run = self.session.live, self.session.run(self.session.selected)
        band, course = self._choices()[2], self._strong_course()
        is_finished = course is not None and not course.is_live
        one_step = is_finished and course is not None and course.is_one_step
        self.hint.setText(text("training_one_step" if one_step else "training_nothing"))
        if live is not None and course is not None and course.is_live:
            self.sentence.setText(live_sentence(live, course.areas(HELD, band), band))
        elif run is not None and course is not None:
            split = run.record.splits[course.split]
            parts = [run_sentence(run), before_words(split)]
            if not self._ready.busy:
                parts = [headline(run, split, course, band), *parts]
                parts.append(area_sentence(split, course, band))
            self.sentence.setText(Statement.of(*parts))
        else:
            self.sentence.setText(self.why_empty(run))

    def figure_data(self) -> Mapping[str, Sequence[object] | NDArray[Any]]:
        return course_table(self._all_seen(), self.session.plan.band)

    def restyle(self) -> None:
        self.plots_.restyle()
        self.mark_stale()

    # ------------------------------------------------------------- pointing

    def _on_hover(self, plot: Plot, place: QPointF | None) -> None:
        """Read out the point nearest to the pointer, in the plot that it is over."""
        self._clear_readout()
        found = None if place is None else self._under(plot, place)
        if found is None:
            return
        lines, line, k = found
        course, place = line.course, lines.mark(line, k)
        split = f", split {course.split + 1} of {course.splits}" if course.splits > 1 else ""
        is_step = lines in self.plots_.upper_lines
        words = step_words(course, k) if is_step else look_words(course, k, self._choices()[2])
        self.readout.show_at(plot, place, f"{shortened(course.look.name)}{split}   {words}")

    def _under(self, plot: Plot, place: QPointF) -> tuple[CourseLines, CourseLine, int] | None:
        """Find the point at a position of a plot, of the run in progress first."""
        for lines in (*self.plots_.upper_lines[::-1], *self.plots_.lower_lines[::-1]):
            found = lines.nearest(place) if lines.plot is plot else None
            if found is not None:
                return lines, *found
        return None

    def _clear_readout(self) -> None:
        for lines in (*self.plots_.upper_lines, *self.plots_.lower_lines):
            lines.unmark()
        self.readout.show_nothing()

    def _on_click(self, plot: Plot, place: QPointF) -> None:
        """Select the run and split at the pointer."""
        found = self._under(plot, place)
        if found is not None and not found[1].course.is_live:
            course = found[1].course
            self.session.select(course.run)
            self.session.point_at(split=course.split)

    def fit_page(self) -> None:
        is_low = self.height() < scaled(_LOW)
        if is_low != self._is_low:
            self._is_low = is_low
            self.mark_stale()
        self.plots_.list_runs()
        self.verify_panel.fit_page(self.height())

    # ------------------------------------------------------------- controls

    def _choices(self) -> tuple[str, str, Band | None]:
        """Return the horizontal axis, what the upper plot shows, and the range of the area.

        Objectives of different methods or settings are scaled, each to its own progress.

        The range is None for the AUC.
        """
        axis, what = (str(combo.currentData()) for combo in (self.x_combo, self.upper_combo))
        drawn = {course.problem for course in self._all_seen() if len(course.steps.iteration) > 1}
        if what == OBJECTIVE and len(drawn) > 1:
            what = PROGRESS  # values of different objectives have no common scale
        is_partial = self.lower_combo.currentData() == PAUC
        return axis, what, self.session.plan.band if is_partial else None

    def _on_upper(self) -> None:
        self._requested = str(self.upper_combo.currentData())
        self._on_choice()

    def _on_choice(self) -> None:
        self._clear_readout()
        self.mark_stale()

    def _on_split(self) -> None:
        if self.split_combo.is_one:
            self.session.point_at(split=self.split_combo.currentData())
        self._on_choice()
