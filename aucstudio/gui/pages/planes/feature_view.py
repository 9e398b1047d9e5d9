"""Feature space: both classes in a plane, with decision boundaries."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.arrays import Array
from aucstudio.gui.common.plots.legend import Entry
from aucstudio.gui.common.plotting import pen
from aucstudio.gui.common.sentence import Statement
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.common.widgets import quietly
from aucstudio.gui.pages.planes import words
from aucstudio.gui.pages.planes.boundaries import Boundaries, LiveContour, Mapper, Shading, Surface
from aucstudio.gui.pages.planes.plane_view import PlaneView
from aucstudio.gui.pages.planes.rows import (
    ClassShapes,
    Mistakes,
    Regions,
    RowMarks,
    RowPanel,
    class_names,
    find_mistakes,
    support_places,
)
from aucstudio.gui.pages.planes.subject import (
    PlanePicture,
    Subject,
    add_marks,
    compared_split,
    has_rows_of,
)
from aucstudio.gui.state.runner import LiveRun
from aucstudio.gui.state.session import Session
from aucstudio.notices import text
from aucstudio.notices.words import score_words
from aucstudio.project.geometry.planes import Sample, evenly
from aucstudio.project.geometry.score_map import share_contours

POINTS_DRAWN = 2_000
FEW_OF_CLASS = 300  # rows of a class that are drawn one by one in any case
_LOOKED_AT = 10_000  # rows whose scores set the shading
_AIR = 0.75
_REACH = 0.9  # share of the rows' scores whose distance from the threshold sets the shading


@dataclasses.dataclass(frozen=True, eq=False)
class Overlay:
    """What the page adds to the placed rows.

    Attributes
    ----------
    mean : ndarray of shape (d,)
        Mean of the rows, through which lines and maps are cut.
    supports : (ndarray of shape (k, 2), str) or None
        Places of the support rows of the fit, and their name.
    frame : ndarray of shape (2, 2)
        Corners of the initial view, without distant rows.
    outside : int
        Number of rows outside it.
    regions : tuple of list of Contour
        Around shares of the positives and of the negatives; none for a class of few rows.
    ranked : ndarray
        Scores of the negatives in descending order; may be empty.
    """

    mean: Array
    supports: tuple[Array, str] | None
    frame: Array
    outside: int
    regions: Regions
    ranked: Array


class FeatureView(PlaneView):
    """The rows by class, in a plane, with the decision boundaries of the checked runs."""

    listens_to: ClassVar = {**PlaneView.listens_to, "band_rested": "mark_stale"}

    prefix: ClassVar = "feature_"
    rows_control: ClassVar = "feature_rows_combo"
    of_pairs: ClassVar = False
    busy_words: ClassVar = "placing rows…"

    def __init__(self, session: Session) -> None:
        super().__init__(session, "feature_view", "Feature space")
        self._make_controls()
        self.shading = Shading(self.plot)
        self.shapes = ClassShapes(self.plot)
        self.marks = RowMarks(self.plot, self._choose_row)
        self.supports = add_marks(self.plot, "d", 12, 4)
        self.boundaries = Boundaries(self.plot, session)
        self.mapper = Mapper(self.plot, self._on_map)
        self.live_contour = LiveContour(self.plot, self.mapper.frame)
        self.panel = RowPanel(session)
        self.add_panel(self.panel)

    def _make_controls(self) -> None:
        row = self.controls
        self._rows_wanted: bool | None = None  # None: as it suits their number
        self.rows_check, self.shade_check, self.support_check = (
            row.check(name, verb, on=True)
            for name, verb in (
                ("feature_rows_check", self._on_rows),
                ("feature_shade_check", self.mark_stale),
                ("feature_support_check", self.mark_stale),
            )
        )
        row.addStretch(0)

    # ------------------------------------------------------------- computing

    def wanted_features(self, subject: Subject) -> tuple[int, int] | None:
        chosen, numbers = super().wanted_features(subject), len(subject.preparation.numbers)
        if chosen is not None or subject.weights is None or numbers < 2:
            return chosen
        # Levels put all rows into four places: shown only on request.
        first, second = np.argsort(-np.abs(subject.weights[:numbers]), kind="stable")[:2]
        return int(first), int(second)

    def compute(self, picture: PlanePicture) -> object:
        table, split = self.session.table, picture.subject.split
        supports = None
        if split is not None and table is not None:
            supports = support_places(split, table, picture.plane)
        sample, places = picture.sample, picture.places
        frame = _frame(places)
        outside = int(((places < frame[0]) | (places > frame[1])).any(axis=1).sum())
        ranked = np.empty(0)
        if sample.scores is not None:
            ranked = np.sort(sample.scores[~sample.positive])[::-1]
        mean = sample.X.mean(axis=0)
        return Overlay(mean, supports, frame, outside, _regions(picture), ranked)

    def extent(self, picture: PlanePicture) -> Array:
        frame: Array = picture.extra.frame
        return frame

    def level(self, picture: PlanePicture, weights: Array, intercept: float) -> float:
        return picture.plane.level(weights, intercept, picture.extra.mean)

    # ------------------------------------------------------------- drawing

    def draw(self, picture: PlanePicture) -> Statement:
        self.shading.hide()
        single = self._is_single(picture)
        quietly(self.rows_check.setChecked, single)
        self.marks.draw(picture, POINTS_DRAWN if single else 0, FEW_OF_CLASS)
        self.shapes.draw(picture.extra.regions)
        supports = picture.extra.supports
        self.support_check.setVisible(supports is not None)
        shown = supports is not None and self.support_check.isChecked()
        places = supports[0] if shown else np.empty((0, 2))
        self.supports.setData(pos=places, pen=pen(current_theme().text, 1.2), brush=None)
        self.shade_check.setVisible(picture.subject.run is not None and picture.plane.is_straight)
        self.boundaries.draw(picture)
        self.mapper.show_surfaces(self._surfaces_to_map())
        for key in self.mapper.maps:
            self._on_map(key)
        return Statement()

    def follow(self, picture: PlanePicture) -> None:
        subject, focus, band = picture.subject, self.session.focus, self.session.plan.band
        found = find_mistakes(picture.sample, focus.threshold, band, picture.extra.ranked)
        self.marks.mark(found, focus.row if subject.in_table else None)
        if subject.run is not None:
            self.boundaries.draw_one(subject.run, picture)
            self._on_map(subject.run.record.id)
        self.explain()
        self._show_row(picture)
        self.sentence.setText(Statement.of(*self._sentence(picture, found)))

    def _is_single(self, picture: PlanePicture) -> bool:
        """Return whether rows are drawn one by one."""
        if self._rows_wanted is not None:
            return self._rows_wanted
        return len(picture.places) <= POINTS_DRAWN

    def _on_rows(self) -> None:
        self._rows_wanted = self.rows_check.isChecked()
        self.mark_stale()

    def _surfaces_to_map(self) -> list[Surface]:
        """List the surfaces to map: a line needs a map only for its shading."""
        lines = {key for key, one in self.boundaries.drawn.items() if one.is_line}
        shaded = self.shade_check.isChecked()
        return [s for s in self.boundaries.surfaces if shaded or s.key not in lines]

    def _on_map(self, key: str) -> None:
        picture, found = self.picture, self.mapper.maps.get(key)
        if picture is None or found is None:
            return
        self.boundaries.show_map(key, found)
        scores, run = picture.sample.scores, picture.subject.run
        if run is None or key != run.record.id or scores is None:
            return
        if self.shade_check.isChecked():
            threshold = self.session.focus.threshold
            seen = scores[evenly(np.arange(len(scores)), _LOOKED_AT)]
            reach = float(np.quantile(np.abs(seen - threshold), _REACH))
            self.shading.show(found, threshold, reach or 1.0)

    def entries(self, picture: PlanePicture) -> list[Entry]:
        regions, supports = picture.extra.regions, picture.extra.supports
        return [
            *self.shapes.entries(self.marks.names, regions),
            *self.marks.entries([not contours for contours in regions]),
            *([(supports[1], self.supports)] if len(self.supports.data) else []),
            *self.boundaries.entries(),
        ]

    def _choose_row(self, row: int | None) -> None:
        # The session points at rows of its table; those of a test file can only be hovered.
        if self.subject is not None and self.subject.in_table:
            self.session.point_at(row=row)

    def _show_row(self, picture: PlanePicture) -> None:
        row, table, subject = self.session.focus.row, self.session.table, picture.subject
        if row is None or table is None or not (subject.in_table and 0 <= row < table.rows):
            self.panel.hide()
            return
        heading, sample = f"Row {row + 1:,}", picture.sample
        here = np.flatnonzero(sample.numbers == row)
        if not len(here):
            heading += ", not among the rows drawn"
        else:
            heading += f", {class_names(subject)[0 if sample.positive[here[0]] else 1]}"
            if sample.scores is not None:
                heading += f", score {score_words(float(sample.scores[here[0]]))}"
        self.panel.explain_button.setVisible(self.session.explains_rows)
        self.panel.show_row(table, row, heading)

    def _sentence(self, picture: PlanePicture, found: Mistakes) -> list[str]:
        subject, sample, threshold = picture.subject, picture.sample, self.session.focus.threshold
        if subject.run is None or sample.scores is None:
            rows = len(sample.positive)
            return [text("rows_in_training", name=subject.name, rows=rows)]
        lost = int(found.lost.sum())
        curved = any(not one.is_line for one in self.boundaries.drawn.values())
        return [
            *words.row_verdict(subject.name, sample, found.wrong, subject.held_out, threshold == 0),
            self._compared_words(subject, sample),
            text("positives_lost", count=lost, band=self.session.plan.band) if lost else "",
            words.left_out_words(subject, "the boundary is that"),
            words.held_words(picture, curved or self.shade_check.isChecked()),
            *words.remarks(picture, self.marks.drawn),
        ]

    def _compared_words(self, subject: Subject, sample: Sample) -> str:
        """State how many of the rows the compared run has on the wrong side of its threshold."""
        compared = compared_split(self.session, subject)
        if compared is None or not has_rows_of(subject, compared[1]):
            return ""
        other, split = compared
        scores = split.test_scores if subject.held_out else split.train_scores
        wrong = int(((scores > 0) != sample.positive).sum())
        return text("compared_misplaced", name=other.look.name, wrong=wrong)

    def describe(self, picture: PlanePicture) -> str:
        return words.row_caption(picture, self.marks.drawn)

    # ------------------------------------------------------------- the rest

    def forget(self) -> None:
        self.marks.forget()
        self.boundaries.clear()
        self.mapper.show_surfaces([])
        self.shading.hide()
        self.live_contour.hide()
        self.panel.hide()

    def live_moved(self, live: LiveRun | None, normal: Array | None) -> None:
        if live is None or normal is not None or self.picture is None:
            self.live_contour.hide()
        else:
            self.live_contour.follow(live, self.picture)

    def figure_data(self) -> Mapping[str, Sequence[object] | NDArray[Any]]:
        if self.picture is None:
            return {}
        sample, places = self.picture.sample, self.picture.places
        names = class_names(self.picture.subject)
        scores = sample.scores
        return {
            "row": sample.numbers + 1,
            "class": [names[0 if positive else 1] for positive in sample.positive],
            "x": places[:, 0],
            "y": places[:, 1],
            "score": np.full(len(places), np.nan) if scores is None else scores,
        }


def _frame(places: Array) -> Array:
    """Return the corners that hold all places but the far-off ones."""
    low, high = np.quantile(places, (0.01, 0.99), axis=0)
    room = _AIR * (high - low)
    ends = np.stack([places.min(axis=0), places.max(axis=0)])
    frame: Array = np.clip(ends, low - room, high + room)
    return frame


def _regions(picture: PlanePicture) -> Regions:
    """Trace where the rows of both classes lie, if there are too many to draw each."""
    positive = picture.sample.positive
    if len(positive) <= POINTS_DRAWN:
        return [], []
    classes = picture.places[positive], picture.places[~positive]
    first, second = (share_contours(c) if len(c) > FEW_OF_CLASS else [] for c in classes)
    return first, second
