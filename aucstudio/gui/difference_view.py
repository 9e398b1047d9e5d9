"""Differences: the vectors z = x⁺ − x⁻ in a plane, the origin and the hyperplane ⟨w, z⟩ = 0.

The picture of the SAUC-SVM paper's figures 1 and 2, for any table: a pair is ranked wrongly
where its z lies behind the hyperplane, and Σ = Σ⁺ + Σ⁻ is the shape of the cloud of all z.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, QSignalBlocker
from PySide6.QtGui import QColor

from aucstudio.gui.plane_view import (
    Picture,
    PlaneView,
    Subject,
    feature_words,
    fill_combo,
    place_line,
)
from aucstudio.gui.plotting import faded, pen, run_pen
from aucstudio.gui.session import Session, ShownRun
from aucstudio.gui.theme import current_theme, run_colour
from aucstudio.project.differences import (
    SUPPORT_DRAWN,
    Misranked,
    PairCloud,
    ellipse,
    find_misranked,
    pair_cloud,
    places_of,
)
from aucstudio.project.planes import FEATURES, SCORE, Plane, angle

Array = NDArray[np.float64]
Index = NDArray[np.intp]

# Methods that want every pair beyond ⟨w, z⟩ = 1 (or the margin they were given).
_WITH_MARGIN = frozenset(
    {"auc-svm", "roc-svm", "sauc-svm", "svm-auc", "svm-pauc"}
    | {"svm-pauc-tight", "rank-svm", "kernel-rank-svm"}
)


@dataclasses.dataclass(frozen=True, eq=False)
class _Pairs:
    """What the page adds to the placed rows; ``misranked`` is None before a run has ended."""

    cloud: PairCloud
    misranked: Misranked | None
    support: Index


class DifferenceView(PlaneView):
    """The difference vectors of the training pairs of one fit."""

    planes: ClassVar = {SCORE: "Score × spread", FEATURES: "Two features"}
    prefix: ClassVar = ""
    of_pairs: ClassVar = True
    busy_words: ClassVar = "counting pairs…"

    def __init__(self, session: Session) -> None:
        super().__init__(session, "difference_view", "Differences")
        self.density = pg.ImageItem()
        self.plot.addItem(self.density)
        self.dots = self.add_marks("o", 4, 1)
        self.ellipses = [self._add_curve(2), self._add_curve(2)]
        self.support = self.add_marks("o", 8, 4)
        self.misranked = self.add_marks("o", 5, 5)
        self.margin, self.other_line = self.add_line(6), self.add_line(7)
        self.hyperplane = self.add_line(8)
        self.arrow_shaft = self._add_curve(9)
        self.arrow_head = pg.ArrowItem(headLen=12, tipAngle=36, pxMode=True)
        self.arrow_head.setZValue(9)
        self.plot.addItem(self.arrow_head)
        self.mean = self.add_marks("d", 12, 10)
        self.origin = self.add_marks("+", 16, 11)
        self.plot.getViewBox().sigTransformChanged.connect(self._aim_arrow)

    def _add_curve(self, z: float) -> pg.PlotCurveItem:
        curve = pg.PlotCurveItem()
        curve.setZValue(z)
        self.plot.addItem(curve)
        return curve

    def _make_controls(self) -> None:
        super()._make_controls()
        self.compare_combo = self.add_combo(
            "compare_combo",
            "Compare with",
            "A second run, for its hyperplane in the same plane",
        )
        self.compare_combo.currentIndexChanged.connect(self._on_compare)

    def _fill_controls(self, subject: Subject | None) -> None:
        super()._fill_controls(subject)
        others = [
            (run.look.name, run.record.id)
            for run in self.session.checked_runs()
            if run.record.id != self.session.selected
        ]
        self.show_control(self.compare_combo, subject is not None and subject.run is not None)
        fill_combo(self.compare_combo, [("none", None), *others])
        with QSignalBlocker(self.compare_combo):
            self.compare_combo.setCurrentIndex(
                max(0, self.compare_combo.findData(self.session.compared))
            )

    def _on_compare(self) -> None:
        self.session.compare_with(self.compare_combo.currentData())
        self.mark_stale()

    # ------------------------------------------------------------- computing

    def compute(self, subject: Subject, picture: Picture) -> object:
        sample = picture.sample
        cloud = pair_cloud(picture.places, sample.positive)
        if subject.split is None or sample.scores is None:
            return _Pairs(cloud, None, np.empty((2, 0), dtype=np.intp))
        support = places_of(sample, subject.split.support_pairs[:, :SUPPORT_DRAWN])
        return _Pairs(cloud, find_misranked(sample.positive, sample.scores), support)

    def extent(self, picture: Picture) -> Array:
        cloud: PairCloud = picture.extra.cloud
        trace = ellipse(cloud.delta, cloud.covariance, 2.0)
        return np.vstack([cloud.low, cloud.high, np.zeros(2), trace])

    def axis_label(self, subject: Subject, plane: Plane, axis: int) -> str:
        if plane.features is not None:
            return f"Δ {feature_words(subject.preparation, plane.features[axis])}"
        if axis:
            return "z: spread"
        if not plane.is_straight:
            return "Score difference f(x⁺) − f(x⁻)"
        return "z along w (score difference)" if subject.run else "z along the mean difference"

    # ------------------------------------------------------------- drawing

    def draw(self, subject: Subject, picture: Picture) -> str:
        pairs: _Pairs = picture.extra
        self._draw_cloud(pairs.cloud)
        self._draw_marked(subject, pairs)
        self._draw_run(subject, picture)
        return " ".join([*self._verdict(subject, picture), *self._draw_other(subject, picture)])

    def _draw_cloud(self, cloud: PairCloud) -> None:
        theme = current_theme()
        self.dots.setVisible(cloud.dots is not None)
        self.density.setVisible(cloud.counts is not None)
        if cloud.dots is not None:
            self.dots.setData(pos=cloud.dots, pen=None, brush=faded(theme.muted, 90))
        if cloud.counts is not None:
            shade = np.log1p(cloud.counts.astype(np.float32))
            self.density.setImage(
                shade, levels=(0.0, float(shade.max())), lut=_shades(theme.muted), autoLevels=False
            )
            self.density.setRect(
                QRectF(*cloud.low, *np.where(cloud.high > cloud.low, cloud.high - cloud.low, 1.0))
            )
        trace_pen = pen(theme.text, 1.2, (5.0, 3.0))
        for k, curve in enumerate(self.ellipses):
            trace = ellipse(cloud.delta, cloud.covariance, k + 1.0)
            curve.setData(trace[:, 0], trace[:, 1], pen=trace_pen)
        self.mean.setData(pos=cloud.delta[None], pen=pen(theme.card, 1), brush=theme.text)
        self.origin.setData(pos=np.zeros((1, 2)), pen=pen(theme.card, 1), brush=theme.text)
        self.explain_line("mean δ and Σ, 1 and 2 sd", trace_pen)

    def _draw_marked(self, subject: Subject, pairs: _Pairs) -> None:
        theme, cloud = current_theme(), pairs.cloud
        self.support.setData(pos=cloud.differences(pairs.support))
        wrong = np.empty((2, 0), dtype=np.intp) if pairs.misranked is None else pairs.misranked.rows
        self.misranked.setData(
            pos=cloud.differences(wrong), pen=None, brush=faded(theme.wrong, 200)
        )
        if pairs.support.size and subject.run is not None:
            ring = faded(run_colour(theme, subject.run.look.colour), 150)
            self.support.setPen(pen(ring, 1.0))
            self.support.setBrush(None)
            self.explain_mark("support pairs", self.support)
        if wrong.size:
            self.explain_mark("misranked pairs", self.misranked)

    def _draw_run(self, subject: Subject, picture: Picture) -> None:
        normal = _normal(subject, picture.plane)
        shown = subject.run is not None and normal is not None
        for item in (self.hyperplane, self.margin, self.arrow_shaft, self.arrow_head):
            item.setVisible(shown)
        if subject.run is None or normal is None:
            return
        look = subject.run.look
        colour = run_colour(current_theme(), look.colour)
        self.hyperplane.setPen(pen(colour, 2.5))
        place_line(self.hyperplane, normal, 0.0)
        self.explain_line(look.name, pen(colour, 2.5))
        margin = _margin(subject.run)
        self.margin.setVisible(margin is not None)
        if margin is not None:
            self.margin.setPen(pen(colour, 1.0, (4.0, 4.0)))
            place_line(self.margin, normal, margin)
        self._draw_arrow(normal, picture.extra.cloud, colour)

    def _draw_arrow(self, normal: Array, cloud: PairCloud, colour: QColor) -> None:
        """Point along the normal, as far as the mean difference lies that way."""
        unit = normal / np.linalg.norm(normal)
        reach = max(float(unit @ cloud.delta), 0.15 * float((cloud.high - cloud.low).max()))
        tip = reach * unit
        self.arrow_shaft.setData([0.0, tip[0]], [0.0, tip[1]], pen=pen(colour, 2))
        self.arrow_head.setStyle(brush=colour, pen=None)
        self.arrow_head.setPos(*tip)
        self._aim_arrow()

    def _aim_arrow(self, *_changed: Any) -> None:
        """Turn the head, which lives in pixels, along the shaft."""
        x, y = self.arrow_shaft.getData()
        if x is not None and len(x) == 2:
            across, up = self.plot.getViewBox().viewPixelSize()
            direction = np.arctan2((y[1] - y[0]) / up, (x[1] - x[0]) / across)
            self.arrow_head.setStyle(angle=180.0 - float(np.degrees(direction)))

    def _draw_other(self, subject: Subject, picture: Picture) -> list[str]:
        """Draw the second run's hyperplane; give what there is to say about it."""
        other = self.session.run(self.compare_combo.currentData())
        self.other_line.setVisible(False)
        if other is None or subject.run is None:
            return []
        index = min(max(self.split_combo.currentIndex(), 0), len(other.record.splits) - 1)
        split = other.record.splits[index]
        if split.coef is None:
            return [f"{other.look.name} is not linear and has no hyperplane here."]
        moved = self.carried(split.coef, 0.0, split.model.preparation)
        if moved is None:
            return [f"{other.look.name} uses features that {subject.name} does not."]
        normal = picture.plane.normal(moved[0])
        if normal is not None:
            self.other_line.setPen(run_pen(other.look))
            place_line(self.other_line, normal, 0.0)
            self.explain_line(other.look.name, run_pen(other.look))
        if subject.weights is None:
            return []
        return [
            f"The hyperplane of {other.look.name} is turned by "
            f"{angle(subject.weights, moved[0]):.1f}° against it."
        ]

    # ------------------------------------------------------------- words

    def _verdict(self, subject: Subject, picture: Picture) -> list[str]:
        pairs: _Pairs = picture.extra
        cloud, found = pairs.cloud, pairs.misranked
        if found is None or subject.split is None:
            rows = len(picture.sample.positive)
            return [f"{subject.name} is training: {cloud.pairs:,} pairs of {rows:,} labelled rows."]
        words = [f"{subject.name}: {_ranking(found)}"]
        if found.rows.shape[1] < found.wrong + found.tied:
            words.append(f"{found.rows.shape[1]:,} of them are drawn.")
        count = subject.split.support_pairs.shape[1]
        if count:
            ringed = f"; the {SUPPORT_DRAWN} strongest are ringed" if count > SUPPORT_DRAWN else ""
            words.append(f"{count:,} support pairs carry the solution{ringed}.")
        if subject.weights is None and picture.plane.is_straight:
            words.append("Its scorer is not linear: no straight hyperplane lies in this plane.")
        elif picture.plane.kind == FEATURES and found.rows.size:
            words.append("All features rank them, not these two alone.")
        if cloud.counted < cloud.pairs:
            words.append(f"The density is that of {cloud.counted:,} pairs.")
        return words


def _ranking(found: Misranked) -> str:
    if not found.wrong and not found.tied:
        return f"none of {found.pairs:,} training pairs is ranked wrongly (AUC 1 in training)."
    share = f"{found.share:.4f}" if found.share >= 1e-4 else f"{found.share:.1e}"
    tied = f", {found.tied:,} are tied and count half" if found.tied else ""
    return (
        f"{found.wrong:,} of {found.pairs:,} training pairs are ranked wrongly{tied} "
        f"(1 − AUC = {share})."
    )


def _normal(subject: Subject, plane: Plane) -> Array | None:
    if not plane.is_straight:
        return np.array([1.0, 0.0])
    return None if subject.weights is None else plane.normal(subject.weights)


def _margin(run: ShownRun) -> float | None:
    experiment = run.record.experiment
    if experiment.method not in _WITH_MARGIN:
        return None
    return float(experiment.params.get("margin", 1.0))


def _shades(colour: str) -> NDArray[np.uint8]:
    """Make the colour map of a density: one hue, nothing at 0, ever more opaque."""
    made = QColor(colour)
    table = np.empty((256, 4), dtype=np.uint8)
    table[:, :3] = made.red(), made.green(), made.blue()
    table[:, 3] = np.linspace(24, 245, 256)
    table[0, 3] = 0
    return table
