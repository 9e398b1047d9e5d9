"""Base class of views of a plane."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Container
from typing import ClassVar

from PySide6.QtWidgets import QGraphicsItem, QVBoxLayout, QWidget

from aucstudio.engine.roc import equal_error_threshold, roc_curve
from aucstudio.engine.scorers import LinearScorer
from aucstudio.engine.types import Array
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.plots.legend import Entry, Legend
from aucstudio.gui.common.plotting import finite_range, make_plot, run_pen
from aucstudio.gui.common.sentence import Statement
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.common.widgets import down, label
from aucstudio.gui.pages.planes.controls import PlaneControls
from aucstudio.gui.pages.planes.marks import add_line, axis_words, place_line
from aucstudio.gui.pages.planes.subject import (
    PlanePicture,
    Subject,
    find_subject,
    is_curved,
    live_key,
)
from aucstudio.gui.state.background import Answer
from aucstudio.gui.state.runner import LiveRun
from aucstudio.gui.state.session import Session
from aucstudio.project.geometry.directions import carried
from aucstudio.project.geometry.planes import FEATURES, choose_plane
from aucstudio.project.runs.progress import Look

_LIVE_PAUSE = 0.3  # s, at least, between two pictures of the run in progress
_LIVE_SHARE = 3.0  # pause per time of computing a picture
_ROOM_FOR_CAPTION = 400  # pixels


class PlaneView(PlaneControls):
    """A picture of prepared rows, or of their differences, in a plane that can be chosen.

    A subclass names the planes, draws the picture, may ``compute`` more from the placed rows on
    another thread, and may ``follow`` the focus of the session.
    """

    of_pairs: ClassVar[bool]
    busy_words: ClassVar[str]

    listens_to: ClassVar = {**PlaneControls.listens_to, "focus": "_on_focus"}

    def __init__(self, session: Session, name: str, title: str) -> None:
        super().__init__(session, name, title)
        self.plot = make_plot(f"{name}_plot", "", "")
        self.pictures = (self.plot,)
        self.axes = (self.plane_combo,)
        self.caption = label("", "muted", wrap=True, name=f"{name}_caption")
        self.body.addLayout(down(self.caption, (self.plot, 1), gap=4))
        self.legend = Legend(self.plot)
        self.live_line = add_line(self.plot, 15)
        self.subject: Subject | None = None
        self._look: Look | None = None
        self._began, self._took = 0.0, 0.0
        self._placing = Answer(self, self._on_placed, self._show_nothing)

    # ------------------------------------------------------------- for subclasses

    def compute(self, picture: PlanePicture) -> object:
        """Compute what the page adds to the placed rows; called on another thread."""

    def extent(self, picture: PlanePicture) -> Array:
        """Return points, shape (k, 2), that the initial view contains."""
        return picture.places

    def reach(self, picture: PlanePicture) -> Array:
        """Return points, shape (k, 2), that are visible after zooming out."""
        return picture.places

    def describe(self, picture: PlanePicture) -> str:
        """Explain what a point of the picture is, and what its position means."""
        raise NotImplementedError

    def follows_live(self) -> bool:
        """Return whether a run in progress with a non-linear scorer replaces the picture."""
        return False

    def draw(self, picture: PlanePicture) -> Statement:
        """Draw the picture and return the conclusion."""
        raise NotImplementedError

    def follow(self, picture: PlanePicture) -> None:
        """Show the focus of the session: threshold, row and pair."""

    def entries(self, picture: PlanePicture) -> list[Entry]:
        """List the entries of the legend."""
        return []

    def live_moved(self, live: LiveRun | None, normal: Array | None) -> None:
        """Show more of the run in progress; ``normal`` is that of its line here."""

    def forget(self) -> None:
        """Clear what is not an item of the plot."""

    def level(self, picture: PlanePicture, weights: Array, intercept: float) -> float:
        """Return the level at which a line a·c = level is drawn."""
        return 0.0

    def explain(self) -> None:
        """Update the legend."""
        self.legend.explain(() if self.picture is None else self.entries(self.picture))

    def add_panel(self, panel: QWidget) -> None:
        """Place the description of selected rows between picture and conclusion."""
        layout = self.layout()
        assert isinstance(layout, QVBoxLayout)
        layout.insertWidget(layout.indexOf(self.sentence), panel)

    # ------------------------------------------------------------- computing

    def refresh(self) -> None:
        held_out = bool(self.rows_combo.currentData())
        found = find_subject(self.session, held_out, self.follows_live())
        if isinstance(found, str):
            self._fill_controls(None)
            self._show_nothing(found)
            return
        self._fill_controls(found)
        self._apply_layout()
        kind, features = self.plane_combo.currentData(), self.wanted_features(found)
        request = (*found.key, kind, features if kind == FEATURES else None)
        self.subject = found
        if request != self._placing.key:
            self._start(request, found, kind, features)
        elif self.picture is not None:
            self.picture = dataclasses.replace(self.picture, subject=found)
            self._draw(self.picture)

    def _show_nothing(self, sentence: str) -> None:
        self._placing.forget()
        self.subject = self.picture = None
        self.explain()
        self._show_items(False)
        # Axes without a picture would look like a result.
        self.plot.getPlotItem().setVisible(False)
        self.forget()
        self.caption.hide()
        self.sentence.setText(sentence)

    def _start(
        self, request: object, subject: Subject, kind: str, features: tuple[int, int] | None
    ) -> None:
        def work(_post: object) -> PlanePicture:
            sample = subject.sample()
            plane = choose_plane(
                sample, subject.weights, kind, features, self.of_pairs, subject.scorer
            )
            picture = PlanePicture(subject, sample, plane, plane.place(sample))
            return dataclasses.replace(picture, extra=self.compute(picture))

        self.picture, self._began = None, time.monotonic()
        if self._placing.ask(request, work) and not subject.is_live:
            self.sentence.setText(self.busy_words)

    def _on_placed(self, picture: PlanePicture) -> None:
        self._took = time.monotonic() - self._began
        if self.subject is not None:  # its run may have another name or colour now
            picture = dataclasses.replace(picture, subject=self.subject)
        self.picture = picture
        for axis, side in enumerate(("bottom", "left")):
            words, tip = axis_words(picture.subject, picture.plane, axis, self.of_pairs)
            self.plot.setLabel(side, words, color=current_theme().muted)
            plain_tooltip(self.plot.getAxis(side), tip)
        self.show_features(picture.plane)
        self._reset_range(picture)
        self._draw(picture)

    def _draw(self, picture: PlanePicture) -> None:
        self.plot.getPlotItem().setVisible(True)
        self._show_items(True)
        self.sentence.setText(self.draw(picture))
        self.caption.setText(self.describe(picture))
        self.fit_page()
        self.follow(picture)
        self._move_live_line()
        self._apply_layout()

    def _apply_layout(self) -> None:
        """Update the layout for changed items before painting."""
        layout = self.layout()
        assert layout is not None
        # A combo box does not report that another item needs another width.
        self.controls.invalidate()
        layout.activate()

    def _show_items(self, shown: bool) -> None:
        for item in self.plot.getPlotItem().items:
            item.setVisible(shown and item is not self.live_line)

    def _reset_range(self, picture: PlanePicture) -> None:
        sides, reach = (
            [finite_range(side) for side in places.T]
            for places in (self.extent(picture), self.reach(picture))
        )
        self.plot.set_whole(*sides, reach=(reach[0], reach[1]))
        self.plot.show_whole()

    def fit_page(self) -> None:
        """Hide the caption on a low page."""
        self.caption.setVisible(self.picture is not None and self.height() >= _ROOM_FOR_CAPTION)

    def _on_focus(self) -> None:
        if self.session.focus.split != self.split_combo.currentIndex():
            self.mark_stale()
        elif self.picture is not None:
            self.follow(self.picture)

    # ------------------------------------------------------------- the run in progress

    def refresh_live(self) -> None:
        live = self.session.live
        if self._is_overtaken(live):
            self.refresh()
        look = None if live is None else live.picture
        # Steps without a new scorer change nothing here.
        if look is not self._look or live is None:
            self._look = look
            self._move_live_line()
            self.keep_still()

    def _is_overtaken(self, live: LiveRun | None) -> bool:
        """Return whether the run in progress, or its end, requires another picture."""
        subject = self.subject
        if subject is not None and subject.is_live:
            return self._is_older(subject, live)
        if self.follows_live() and is_curved(live):
            return True
        return subject is None or (subject.run is None and subject.key != live_key(live))

    def _is_older(self, subject: Subject, live: LiveRun | None) -> bool:
        """Return whether a picture of the run in progress is out of date."""
        if live is None or live.experiment.id != subject.key[0] or not self.follows_live():
            return True
        # Between two fits there is no scorer: the last picture stays.
        if not is_curved(live) or self._placing.busy:
            return False
        # The processor is left to the training for most of the time.
        pause = max(_LIVE_PAUSE, _LIVE_SHARE * self._took)
        return time.monotonic() - self._began >= pause

    def _move_live_line(self) -> None:
        live, picture, normal = self.session.live, self.picture, None
        self.live_line.setVisible(False)
        moved = None if live is None or picture is None else self._live_direction(live, picture)
        if live is not None and picture is not None and moved is not None:
            normal = picture.plane.normal(moved[0])
            if normal is not None:
                self.live_line.setPen(run_pen(live.look, 2.5))
                place_line(self.live_line, normal, self.level(picture, *moved))
        self.live_moved(live, normal)

    def moving(self) -> Container[QGraphicsItem]:
        return (self.live_line,)

    def _live_direction(self, live: LiveRun, picture: PlanePicture) -> tuple[Array, float] | None:
        """Return the run in progress as a linear function of the features shown, or None."""
        look, preparation = live.picture, live.preparation
        if look is None or preparation is None or not isinstance(look.scorer, LinearScorer):
            return None
        b = 0.0  # differences of rows have no constant
        if not self.of_pairs:
            b = -equal_error_threshold(roc_curve(look.positive, look.scores))
        return carried(look.scorer.weights, b, preparation, picture.subject.preparation)
