"""Base class of views of a plane, with projection, features and split."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Container
from functools import partial
from typing import ClassVar

from PySide6.QtWidgets import QGraphicsItem, QVBoxLayout, QWidget

from aucstudio.engine.arrays import Array
from aucstudio.engine.roc import equal_error_threshold, roc_curve
from aucstudio.engine.scorers import LinearScorer
from aucstudio.gui.common.controls import fill_names
from aucstudio.gui.common.layouts import down
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.plots.legend import Entry, Legend
from aucstudio.gui.common.plotting import finite_range, make_plot, run_pen
from aucstudio.gui.common.sentence import Statement
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.common.view import PageView
from aucstudio.gui.common.widgets import label, quietly
from aucstudio.gui.pages.planes.subject import (
    PlanePicture,
    Subject,
    add_line,
    find_subject,
    is_curved,
    live_key,
    place_line,
)
from aucstudio.gui.pages.planes.words import axis_words
from aucstudio.gui.state.background import Answer
from aucstudio.gui.state.runner import LiveRun
from aucstudio.gui.state.session import Session
from aucstudio.notices import text
from aucstudio.project.data.preparing.preparation import Preparation
from aucstudio.project.geometry.planes import (
    FEATURES,
    SCORE,
    carried,
    choose_plane,
)
from aucstudio.project.runs.progress import Look

_LIVE_PAUSE = 0.3  # s, at least, between two pictures of the run in progress
_LIVE_SHARE = 3.0  # pause per time of computing a picture
_ROOM_FOR_CAPTION = 400  # pixels


def is_whole_plane(preparation: Preparation) -> bool:
    """Return whether the features are exactly two numbers."""
    return len(preparation.numbers) == 2 == len(preparation.feature_names)


class PlaneView(PageView):
    """A picture of prepared rows, or of their differences, in a plane that can be chosen.

    A subclass draws the picture, may ``compute`` more from the placed rows on another thread, and
    may ``follow`` the focus of the session.

    Attributes
    ----------
    prefix : str
        Class attribute: of the names of its controls.
    rows_control : str
        Class attribute: name of the choice of rows.
    of_pairs : bool
        Class attribute: whether differences of rows are drawn.
    busy_words : str
        Class attribute: the sentence until the picture is there.
    """

    prefix: ClassVar[str]
    rows_control: ClassVar[str]
    of_pairs: ClassVar[bool]
    busy_words: ClassVar[str]

    lacks: ClassVar = "rows to show"
    soon: ClassVar = "its rows appear when they are prepared"
    aim: ClassVar = "its rows here"
    listens_to: ClassVar = {**PageView.listens_to, "focus": "_on_focus"}

    def __init__(self, session: Session, name: str, title: str) -> None:
        super().__init__(session, name, title)
        self._wanted: tuple[str, str] | None = None
        self._chosen_for: str | None = None
        self.picture: PlanePicture | None = None
        self._make_plane_controls()
        self.plot = make_plot(f"{name}_plot", "", "")
        self.pictures = (self.plot,)
        self.axes = (self.plane_combo,)
        self.caption = label("", "muted", wrap=True, name=f"{name}_caption")
        self.set_content(down(self.caption, (self.plot, 1), gap=4), "Nothing to place yet")
        self.legend = Legend(self.plot)
        self.live_line = add_line(self.plot, 15)
        self.subject: Subject | None = None
        self._look: Look | None = None
        self._began, self._took = 0.0, 0.0
        self._placing = Answer(self, self._on_placed, self._show_nothing)

    # ------------------------------------------------------------- controls

    def _make_plane_controls(self) -> None:
        row, prefix = self.controls, self.prefix
        name = f"{prefix}plane_combo"
        self.plane_combo = row.choice(name, self._on_plane, like="plane_combo")
        self.x_feature, self.y_feature = (
            row.choice(f"{prefix}{one}", partial(self._on_feature, axis), like=one, elided=True)
            for axis, one in enumerate(("x_feature", "y_feature"))
        )
        self.split_combo = row.splits(f"{prefix}split", self._on_split, like="plane_split")
        held_out = (("Held-out", True), ("Training", False))
        self.rows_combo = row.choice(self.rows_control, self.mark_stale, held_out)

    def _on_plane(self) -> None:
        # The choice holds for this table only.
        self._chosen_for = self._table_key()
        self.mark_stale()

    def _table_key(self) -> str:
        return "" if self.session.table is None else self.session.table.sha256

    def is_exact(self, subject: Subject) -> bool:
        """Return whether the plane of two features is exact."""
        return is_whole_plane(subject.preparation)

    def _turn_to_default(self, subject: Subject) -> None:
        """Show the features themselves if there are exactly two, unless a plane was chosen."""
        if self._chosen_for != self._table_key():
            kind = FEATURES if self.is_exact(subject) else SCORE
            quietly(self.plane_combo.setCurrentIndex, self.plane_combo.findData(kind))

    def _on_split(self) -> None:
        self.session.point_at(split=self.split_combo.currentIndex())
        self.mark_stale()

    def _on_feature(self, axis: int) -> None:
        x, y = self.x_feature.currentText(), self.y_feature.currentText()
        shown = None if self.picture is None else self.picture.plane.features
        if x == y and shown is not None:
            # The same feature twice is not a plane: the two are exchanged.
            other = self.y_feature if axis == 0 else self.x_feature
            quietly(other.setCurrentIndex, shown[axis])
        self._wanted = self.x_feature.currentText(), self.y_feature.currentText()
        self.mark_stale()

    def _fill_controls(self, subject: Subject | None) -> None:
        if subject is not None:
            self._turn_to_default(subject)
        kind = self.plane_combo.currentData()
        names = [] if subject is None else subject.preparation.feature_names
        for combo in (self.x_feature, self.y_feature):
            self.controls.show(kind == FEATURES and len(names) > 1, combo)
            fill_names(combo, names)
        if len(names) > 1 and self.x_feature.currentIndex() == self.y_feature.currentIndex():
            quietly(self.y_feature.setCurrentIndex, int(not self.x_feature.currentIndex()))
        # A run in progress shows the split that it is training.
        run = None if subject is None else subject.run
        splits = 0 if run is None else len(run.record.splits)
        self.controls.show(splits > 1, self.split_combo)
        self.split_combo.offer(splits, self.session.focus.split)

    def wanted_features(self, subject: Subject) -> tuple[int, int] | None:
        """Return the chosen features if the subject has them, or its only two."""
        names = subject.preparation.feature_names
        if self._wanted is None or not set(self._wanted) <= set(names):
            return (0, 1) if is_whole_plane(subject.preparation) else None
        return names.index(self._wanted[0]), names.index(self._wanted[1])

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
        if found is None:
            self._fill_controls(None)
            self._show_nothing(self._why_nothing())
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

    def _why_nothing(self) -> str:
        run, is_open = self.session.run(self.session.selected), self.session.table is not None
        if run is not None and (run.record.splits or not is_open):
            return text("plane_of_other_table" if is_open else "plane_without_table", run=run)
        return self.why_empty(run)

    def _show_nothing(self, sentence: str) -> None:
        self._placing.forget()
        self.subject = self.picture = None
        self.explain()
        self.forget()
        self.show_content(False)
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
        combos = self.x_feature, self.y_feature
        for combo, feature in zip(combos, picture.plane.features or (), strict=False):
            quietly(combo.setCurrentIndex, feature)
        self._reset_range(picture)
        self._draw(picture)

    def _draw(self, picture: PlanePicture) -> None:
        self.show_content(True)
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
