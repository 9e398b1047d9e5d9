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
from aucstudio.gui.common.layouts import down
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.plots.legend import Entry, Legend
from aucstudio.gui.common.plotting import finite_range, make_plot, run_pen
from aucstudio.gui.common.statement import Statement
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.common.widgets import label
from aucstudio.gui.pages.planes.controls import PlaneControls
from aucstudio.gui.pages.planes.marks import add_line, axis_words, feature_words, place_line
from aucstudio.gui.pages.planes.subject import (
    PlanePicture,
    Subject,
    find_subject,
    is_curved,
    live_key,
)
from aucstudio.gui.state.live_run import LiveRun
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.project.geometry.directions import carried
from aucstudio.project.geometry.planes import FEATURES, Plane, choose_plane
from aucstudio.project.runs.progress import Look

__all__ = ["PlanePicture", "PlaneView", "Subject", "feature_words", "place_line"]


_LIVE_PAUSE = 0.3  # s between two pictures of the run in progress, at the least
_LIVE_SHARE = 3.0  # of the time that one takes
_ROOM_FOR_CAPTION = 400  # pixels


class PlaneView(PlaneControls):
    """A picture of prepared rows, or of their differences, in a plane that can be chosen.

    A subclass names the planes, may ``compute`` more from the placed rows on another thread,
    draws ``picture`` of ``subject``, and may ``follow`` what the session points at.
    """

    of_pairs: ClassVar[bool]
    busy_words: ClassVar[str]

    listens_to: ClassVar = {
        **PlaneControls.listens_to,
        "focus": "_on_focus",
    }

    def __init__(self, session: Session, name: str, title: str) -> None:
        super().__init__(session, name, title)
        self.plot = make_plot(f"{name}_plot", "", "")
        self.pictures = (self.plot,)
        self.axes = (self.plane_combo,)
        self.caption = label("", "muted", wrap=True, name=f"{name}_caption")
        self.body.addLayout(down(self.caption, (self.plot, 1), gap=4))
        self.legend = Legend(self.plot)
        self.live_line = add_line(self.plot, 15)
        self.picture: PlanePicture | None = None
        self.subject: Subject | None = None
        self._look: Look | None = None
        self._began, self._took = 0.0, 0.0
        self._placing = self.answer(self._on_placed, self._show_nothing)

    def shown_plane(self) -> Plane | None:
        return None if self.picture is None else self.picture.plane

    # ------------------------------------------------------------- what a subclass gives

    def compute(self, subject: Subject, picture: PlanePicture) -> object:
        """Work out what the page adds to the placed rows; called on another thread."""

    def extent(self, picture: PlanePicture) -> Array:
        """Return places that the picture has to hold, shape (k, 2)."""
        return picture.places

    def describe(self, subject: Subject, picture: PlanePicture) -> str:
        """State in plain words what a point of the picture is, and what its place means."""
        raise TypeError(f"{type(self).__name__} does not say what its points are")

    def follows_live(self) -> bool:
        """Return whether a run in progress whose scores are no line here is shown itself."""
        return False

    def reach(self, picture: PlanePicture) -> Array:
        """Return places that can be seen by zooming out, shape (k, 2)."""
        return picture.places

    def draw(self, subject: Subject, picture: PlanePicture) -> Statement:
        """Draw, and say what is seen."""
        raise TypeError(f"{type(self).__name__} does not say how it is drawn")

    def follow(self) -> None:
        """Show the threshold, row and pair that are pointed at; there is a picture."""

    def entries(self, subject: Subject, picture: PlanePicture) -> list[Entry]:
        """List what the legend explains."""
        return []

    def explain(self) -> None:
        """Explain in the legend what is drawn now."""
        if self.subject is not None and self.picture is not None:
            self.legend.explain(self.entries(self.subject, self.picture))

    def add_panel(self, panel: QWidget) -> None:
        """Place the description of selected rows between picture and conclusion."""
        layout = self.layout()
        assert isinstance(layout, QVBoxLayout)
        layout.insertWidget(layout.indexOf(self.sentence), panel)

    def live_moved(self, live: LiveRun | None, normal: Array | None) -> None:
        """Show what else moves with the run in progress; ``normal`` is that of its line here."""

    def forget(self) -> None:
        """Take away what is not an item of the plot; there is no picture any more."""

    def shows_held_out(self, _run: ShownRun) -> bool:
        """Return whether to show the rows that the run was tested on."""
        return bool(self.rows_combo.currentData())

    def level(self, plane: Plane, weights: Array, intercept: float) -> float:
        """Return the level at which a line a·c = level is drawn."""
        return 0.0

    # ------------------------------------------------------------- computing

    def refresh(self) -> None:
        found = find_subject(self.session, self.shows_held_out, self.follows_live())
        if isinstance(found, str):
            self._fill_controls(None)
            self._show_nothing(found)
            return
        self._fill_controls(found)
        self._take_places()
        kind, features = self.plane_combo.currentData(), self.wanted_features(found)
        request = (*found.key, kind, features if kind == FEATURES else None)
        self.subject = found
        if request != self._placing.key:
            self._start(request, found, kind, features)
        elif self.picture is not None:
            self._draw()

    def _show_nothing(self, sentence: str) -> None:
        self._placing.forget()
        self.subject = self.picture = None
        self.legend.explain(())
        self._show_items(False)
        # Axes without a picture would look like one.
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
            picture = PlanePicture(sample, plane, plane.place(sample))
            return dataclasses.replace(picture, extra=self.compute(subject, picture))

        self.picture, self._began = None, time.monotonic()
        if self._placing.ask(request, work) and not subject.is_live:
            self.sentence.setText(self.busy_words)

    def _on_placed(self, picture: PlanePicture) -> None:
        self._took = time.monotonic() - self._began
        self.picture = picture
        self._name_axes()
        self.reset_range()
        self._draw()

    def _draw(self) -> None:
        assert self.subject is not None
        assert self.picture is not None
        self.plot.getPlotItem().setVisible(True)
        self._show_items(True)
        self.sentence.setText(self.draw(self.subject, self.picture))
        self.caption.setText(self.describe(self.subject, self.picture))
        self.fit_page()
        self.follow()
        self._move_live_line()
        self._take_places()

    def _take_places(self) -> None:
        """Update the layout for changed items before painting."""
        layout = self.layout()
        assert layout is not None
        # A list that was given another choice does not ask for the room that its words need.
        self.controls.invalidate()
        layout.activate()

    def _name_axes(self) -> None:
        assert self.subject is not None
        assert self.picture is not None
        for axis, side in enumerate(("bottom", "left")):
            words, tip = axis_words(self.subject, self.picture.plane, axis, self.of_pairs)
            self.plot.setLabel(side, words, color=current_theme().muted)
            plain_tooltip(self.plot.getAxis(side), tip)
        self.show_features(self.picture.plane)

    def _show_items(self, shown: bool) -> None:
        for item in self.plot.getPlotItem().items:
            item.setVisible(shown and item is not self.live_line)

    def reset_range(self) -> None:
        """Show the whole picture."""
        if self.picture is not None:
            places, reach = self.extent(self.picture), self.reach(self.picture)
            self.plot.set_whole(
                finite_range(places[:, 0]),
                finite_range(places[:, 1]),
                reach=(finite_range(reach[:, 0]), finite_range(reach[:, 1])),
            )
            self.plot.show_whole()

    def fit_page(self) -> None:
        """Leave the words out where the picture needs their room."""
        shown = self.picture is not None and self.height() >= _ROOM_FOR_CAPTION
        self.caption.setVisible(shown)

    def _on_focus(self) -> None:
        if not self.isVisible():
            self.mark_stale()
        elif self.session.focus.split != self.split_combo.currentIndex():
            # With one split, or none, there is nothing to choose: refreshing is harmless.
            self.mark_stale()
        elif self.picture is not None:
            self.follow()

    def refresh_live(self) -> None:
        live = self.session.live
        if self._is_overtaken(live):
            self.refresh()
        look = None if live is None else live.picture
        # Steps without a look at the scorer move nothing here.
        if look is not self._look or live is None:
            self._look = look
            self._move_live_line()
            self.keep_still()

    def _is_overtaken(self, live: LiveRun | None) -> bool:
        """Return whether the run in progress, or that it is gone, asks for another picture now."""
        subject = self.subject
        if subject is not None and subject.is_live:
            return self._is_older(subject, live)
        if self.follows_live() and is_curved(live):
            return True
        return subject is None or (subject.run is None and subject.key != live_key(live))

    def _is_older(self, subject: Subject, live: LiveRun | None) -> bool:
        """Return whether a picture of the run in progress has to give way to a later one."""
        if live is None or live.experiment.id != subject.key[0] or not self.follows_live():
            return True
        # Between two fits there is nothing to look at: the last look stays.
        if not is_curved(live) or self._placing.busy:
            return False
        # Between pictures the processor is the training's.
        pause = max(_LIVE_PAUSE, _LIVE_SHARE * self._took)
        return time.monotonic() - self._began >= pause

    def _move_live_line(self) -> None:
        live = self.session.live
        self.live_line.setVisible(False)
        moved = None if live is None or self.picture is None else self._live_direction(live)
        normal = None
        if live is not None and self.picture is not None and moved is not None:
            normal = self.picture.plane.normal(moved[0])
            if normal is not None:
                self.live_line.setPen(run_pen(live.look, 2.5))
                place_line(self.live_line, normal, self.level(self.picture.plane, *moved))
        self.live_moved(live, normal)

    def moving(self) -> Container[QGraphicsItem]:
        return (self.live_line,)

    def _live_direction(self, live: LiveRun) -> tuple[Array, float] | None:
        """Return the run in progress as a linear function of the features shown, or None."""
        if live.picture is None or live.preparation is None or self.subject is None:
            return None
        scorer = live.picture.scorer
        if not isinstance(scorer, LinearScorer):
            return None
        b = 0.0  # differences of rows have no constant
        if not self.of_pairs:
            curve = roc_curve(live.picture.positive, live.picture.scores)
            b = -equal_error_threshold(curve)
        return carried(scorer.weights, b, live.preparation, self.subject.preparation)
