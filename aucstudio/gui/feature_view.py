"""Feature space: prepared rows in a plane, with the decision lines of the checked runs."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray

from aucstudio.gui.plane_view import (
    Picture,
    PlaneView,
    Subject,
    feature_words,
    place_line,
)
from aucstudio.gui.plotting import faded, pen, run_pen
from aucstudio.gui.session import Session, ShownRun
from aucstudio.gui.theme import current_theme
from aucstudio.project.planes import COMPONENTS, FEATURES, SCORE, Plane, Sample, thinned

Array = NDArray[np.float64]
Index = NDArray[np.intp]

POINTS_DRAWN = 5_000
_AIR = 1.5


class FeatureView(PlaneView):
    """The rows by class, in a plane, with the decision lines of the checked runs."""

    planes: ClassVar = {
        SCORE: "Score × spread",
        FEATURES: "Two features",
        COMPONENTS: "Principal components",
    }
    prefix: ClassVar = "feature_"
    of_pairs: ClassVar = False
    busy_words: ClassVar = "placing rows…"

    def __init__(self, session: Session) -> None:
        self._lines: list[pg.InfiniteLine] = []
        super().__init__(session, "feature_view", "Feature space")
        self.negatives = self.add_marks("t", 7, 2)
        self.positives = self.add_marks("o", 7, 3)
        self.wrong = self.add_marks("o", 13, 4)

    def _make_controls(self) -> None:
        super()._make_controls()
        self.rows_combo = self.add_combo("rows_combo", "Rows", "Which rows are drawn")
        self.rows_combo.addItem("Held-out", True)
        self.rows_combo.addItem("Training", False)
        self.rows_combo.currentIndexChanged.connect(self.mark_stale)

    def held_out(self, run: ShownRun) -> bool:
        # The rows of a test file are not in the table.
        from_file = run.record.experiment.validation.scheme == "file"
        return bool(self.rows_combo.currentData()) and not from_file

    def compute(self, subject: Subject, picture: Picture) -> object:
        """Give the mean of the rows, which the lines are drawn through."""
        return picture.sample.X.mean(axis=0)

    def extent(self, picture: Picture) -> Array:
        """Give the places, far-off ones pulled in: a few must not crowd all others together."""
        low, high = np.quantile(picture.places, (0.01, 0.99), axis=0)
        return np.clip(picture.places, low - _AIR * (high - low), high + _AIR * (high - low))

    def level(self, plane: Plane, weights: Array, intercept: float) -> float:
        assert self.picture is not None
        return plane.level(weights, intercept, self.picture.extra)

    def axis_label(self, subject: Subject, plane: Plane, axis: int) -> str:
        if plane.features is not None:
            return feature_words(subject.preparation, plane.features[axis])
        if plane.kind == COMPONENTS:
            return f"Principal component {axis + 1}"
        if axis:
            return "x: strongest direction across the score"
        if not plane.is_straight:
            return "Score (above 0: called positive)"
        return "x along w (score)" if subject.run else "x along the mean difference"

    # ------------------------------------------------------------- drawing

    def draw(self, subject: Subject, picture: Picture) -> str:
        sample, kept = picture.sample, thinned(picture.sample.positive, POINTS_DRAWN)
        self._draw_classes(subject, picture, kept)
        missed = _wrong_side(sample)
        ring = pen(current_theme().wrong, 1.5)
        self.wrong.setData(pos=picture.places[kept[missed[kept]]], pen=ring, brush=None)
        if missed.any():
            self.explain_mark("on the wrong side", self.wrong)
        drawn = self._draw_lines(subject, picture)
        return " ".join(self._sentence(subject, picture, missed, len(kept), drawn))

    def _draw_classes(self, subject: Subject, picture: Picture, kept: Index) -> None:
        theme, positive = current_theme(), picture.sample.positive[kept]
        names = _class_names(subject)
        for points, rows, colour, name in (
            (self.positives, kept[positive], theme.positive, names[0]),
            (self.negatives, kept[~positive], theme.negative, names[1]),
        ):
            fill = faded(colour, 190 if len(kept) < 1_000 else 120)
            points.setData(pos=picture.places[rows], pen=pen(theme.card, 0.5), brush=fill)
            self.explain_mark(name, points)

    def _draw_lines(self, subject: Subject, picture: Picture) -> int:
        """Draw the decision lines; give how many there are."""
        for line in self._lines:
            self.plot.removeItem(line)
        self._lines = []
        for run in self._lined_runs(subject):
            self._draw_line(run, subject, picture)
        return len(self._lines)

    def _lined_runs(self, subject: Subject) -> list[ShownRun]:
        if subject.run is None:
            return []
        others = [r for r in self.session.checked_runs() if r.record is not subject.run.record]
        return [*others, subject.run]

    def _draw_line(self, run: ShownRun, subject: Subject, picture: Picture) -> None:
        index = min(max(self.split_combo.currentIndex(), 0), len(run.record.splits) - 1)
        split, is_own = run.record.splits[index], subject.run is run
        if split.coef is None:
            if is_own and not picture.plane.is_straight:
                self._add_run_line(run, np.array([1.0, 0.0]), 0.0)
            return
        moved = self.carried(split.coef, split.model.intercept, split.model.preparation)
        normal = None if moved is None else picture.plane.normal(moved[0])
        if moved is not None and normal is not None:
            self._add_run_line(run, normal, self.level(picture.plane, *moved))

    def _add_run_line(self, run: ShownRun, normal: Array, level: float) -> None:
        line = self.add_line(10)
        line.setPen(run_pen(run.look))
        place_line(line, normal, level)
        self._lines.append(line)
        self.explain_line(run.look.name, run_pen(run.look))

    def _sentence(
        self, subject: Subject, picture: Picture, missed: NDArray[np.bool_], drawn: int, lines: int
    ) -> list[str]:
        sample = picture.sample
        if subject.run is None or sample.scores is None:
            rows = len(sample.positive)
            return [f"{subject.name} is training: {rows:,} labelled rows and its line so far."]
        words = [_verdict(subject, sample, missed, self.held_out(subject.run))]
        if lines and picture.plane.kind != SCORE:
            words.append("Each line is a threshold with all other features at their means.")
        if subject.weights is None and picture.plane.is_straight:
            words.append(f"{subject.name} is not linear and has no line in this plane.")
        if self.rows_combo.currentData() and not self.held_out(subject.run):
            words.append("The rows of the test file are not in this table.")
        outside = int((picture.places != self.extent(picture)).any(axis=1).sum())
        if outside:
            words.append(f"{outside:,} far-off rows lie outside the frame: zoom out to see them.")
        if drawn < len(sample.positive):
            words.append(f"{drawn:,} of {len(sample.positive):,} rows are drawn.")
        return words


def _wrong_side(sample: Sample) -> NDArray[np.bool_]:
    """Mark the rows that the threshold puts into the other class."""
    if sample.scores is None:
        return np.zeros(len(sample.positive), dtype=bool)
    wrong: NDArray[np.bool_] = (sample.scores > 0) != sample.positive
    return wrong


def _class_names(subject: Subject) -> tuple[str, str]:
    if subject.split is None:
        return "positive", "negative"
    model = subject.split.model
    return f"{model.positive} (positive)", f"{model.negative} (negative)"


def _verdict(subject: Subject, sample: Sample, wrong: NDArray[np.bool_], held_out: bool) -> str:
    rows = "held-out" if held_out else "training"
    missed, m = int(wrong[sample.positive].sum()), int(sample.positive.sum())
    false, n = int(wrong[~sample.positive].sum()), int((~sample.positive).sum())
    return (
        f"{subject.name} puts {missed + false:,} of {m + n:,} {rows} rows "
        f"({100 * (missed + false) / (m + n):.1f} %) on the wrong side of its threshold: "
        f"{missed:,} of {m:,} positives missed, {false:,} of {n:,} negatives called positive."
    )
