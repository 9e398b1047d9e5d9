"""Difference vectors: pairs of a positive and a negative, and the hyperplane.

That is: the vectors z = x⁺ − x⁻ in a plane, the origin and the hyperplane ⟨w, z⟩ = 0.

The picture of the SAUC-SVM paper's figures 1 and 2, for any table: a pair is ranked wrongly
where its z lies behind the hyperplane, and Σ = Σ⁺ + Σ⁻ is the shape of the cloud of all z.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QKeySequence, QShortcut
from PySide6.QtWidgets import QGraphicsItem

from aucstudio.engine.arrays import Array
from aucstudio.gui.common.controls import fill_combo
from aucstudio.gui.common.plots.legend import Entry
from aucstudio.gui.common.sentence import Statement
from aucstudio.gui.common.theme import current_theme, run_colour
from aucstudio.gui.common.widgets import quietly
from aucstudio.gui.pages.planes import words
from aucstudio.gui.pages.planes.hyperplane import RunPlanes, SideNames, own_normal
from aucstudio.gui.pages.planes.pair_items import CloudItems, MarkedPairs, Pointing
from aucstudio.gui.pages.planes.pairs import PairPanel, drawn_pairs, find_pairs, pair_columns
from aucstudio.gui.pages.planes.plane_view import PlaneView, is_whole_plane
from aucstudio.gui.pages.planes.subject import PlanePicture, Subject, is_curved
from aucstudio.gui.pages.planes.words import left_out_words
from aucstudio.gui.state.runner import LiveRun
from aucstudio.gui.state.session import Session
from aucstudio.notices import text
from aucstudio.project.geometry.pairs import ellipse
from aucstudio.project.geometry.planes import SCORE

_LEAST_PLOT, _LEAST_BESIDE_PAIR, _LEAST_FOR_BOTH = 96, 160, 600  # pixels


class DifferenceView(PlaneView):
    """The difference vectors of the pairs of one fit."""

    prefix: ClassVar = ""
    rows_control: ClassVar = "pairs_combo"
    of_pairs: ClassVar = True
    busy_words: ClassVar = "counting pairs…"

    listens_to: ClassVar = {**PlaneView.listens_to, "band_rested": "refresh_band"}

    def __init__(self, session: Session) -> None:
        super().__init__(session, "difference_view", "Difference vectors")
        self._make_controls()
        self.cloud = CloudItems(self.plot)
        self.marked = MarkedPairs(self.plot)
        self.sides = SideNames(self.plot)
        self.run_planes = RunPlanes(self.plot, session, self.live_line, self._on_counted)
        self.panel = PairPanel(session)
        self.add_panel(self.panel)
        self.pointing = Pointing(self.plot, self.marked, self.panel, session)
        self._verdict: list[str] = []
        self._followed: tuple[object, object] | None = None
        self._make_keys()

    # ------------------------------------------------------------- controls

    def _make_controls(self) -> None:
        row = self.controls
        self.compare_combo = row.choice("compare_combo", self._on_compare, elided=True)
        self.all_check, self.errors_check, self.spread_check = (
            row.check(name, self.mark_stale)
            for name in ("all_runs_check", "misranked_check", "spread_check")
        )
        self.offer_following()
        self.worst_button = row.button("worst_pair_button", self._on_worst)
        row.addStretch(0)

    def _make_keys(self) -> None:
        for key, by in (("F8", 1), ("Shift+F8", -1)):
            shortcut = QShortcut(QKeySequence(key), self)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(lambda by=by: self.pointing.step(by))

    def _fill_controls(self, subject: Subject | None) -> None:
        super()._fill_controls(subject)
        session = self.session
        others = [run for run in session.checked_runs() if run.record.id != session.selected]
        has_run = subject is not None and subject.run is not None
        self.controls.show(has_run, self.compare_combo, self.rows_combo)
        self.all_check.setVisible(has_run and len(others) > 1)
        self.worst_button.setVisible(has_run and subject is not None and subject.in_table)
        self.errors_check.setVisible(has_run)
        self.followed()
        names = [(run.look.name, run.record.id) for run in others]
        fill_combo(self.compare_combo, [("no second run", None), *names])
        compared = max(0, self.compare_combo.findData(session.compared))
        quietly(self.compare_combo.setCurrentIndex, compared)

    def _on_compare(self) -> None:
        self.session.compare_with(self.compare_combo.currentData())
        self.mark_stale()

    def _on_worst(self) -> None:
        self.session.point_at(pair=None)
        self.pointing.step(1)

    def is_exact(self, subject: Subject) -> bool:
        # Differences of rows do not determine a score that is not linear.
        linear = subject.run is None or subject.weights is not None
        return linear and super().is_exact(subject)

    def can_follow(self, live: LiveRun) -> bool:
        return is_curved(live)

    def follows_live(self) -> bool:
        return self.follow_check.isChecked()

    # ------------------------------------------------------------- computing

    def compute(self, picture: PlanePicture) -> object:
        return find_pairs(picture)

    def extent(self, picture: PlanePicture) -> Array:
        cloud = picture.extra.cloud
        trace = ellipse(cloud.delta, cloud.covariance, 2.0)
        return np.vstack([picture.extra.frame, np.zeros(2), trace])

    def reach(self, picture: PlanePicture) -> Array:
        cloud = picture.extra.cloud
        return np.vstack([cloud.low, cloud.high, self.extent(picture)])

    # ------------------------------------------------------------- drawing

    def draw(self, picture: PlanePicture) -> Statement:
        pairs, colour = picture.extra, _colour(picture.subject)
        normal = _exact_normal(picture)
        self.cloud.draw(pairs, colour, normal)
        self.cloud.show_spread(self.spread_check.isChecked(), pairs.penalised is not None)
        if normal is None or pairs.misranked is None or picture.plane.kind != SCORE:
            self.sides.hide()
        else:
            subject = picture.subject
            rows, weighted = words.rows_of(subject), words.is_weighted(subject)
            self.sides.show(pairs.misranked.share, rows, weighted)
        self.marked.draw(pairs.cloud, pairs.support, colour)
        self.run_planes.draw(picture, self.all_check.isChecked())
        self._followed = None
        return self._draw_errors(picture)

    def _draw_errors(self, picture: PlanePicture) -> Statement:
        """Draw and count the misranked pairs."""
        band = self.session.plan.band
        shown = self.errors_check.isChecked()
        self.marked.draw_errors(*drawn_pairs(picture.extra, band), shown)
        self._verdict = list(words.pair_verdict(picture, band, shown))
        return self._sentence(picture)

    def _on_counted(self) -> None:
        """Show the errors of the compared run."""
        if self.picture is not None:
            self.sentence.setText(self._sentence(self.picture))

    def describe(self, picture: PlanePicture) -> str:
        return words.pair_caption(picture, _exact_normal(picture) is not None)

    def follow(self, picture: PlanePicture) -> None:
        focus = self.session.focus.row, self.session.focus.pair
        # The threshold changes nothing here.
        if focus != self._followed:
            self._followed = focus
            self.pointing.follow(picture)
            self.explain()
            self.fit_page()

    def fit_page(self) -> None:
        super().fit_page()
        alone = self.panel.isHidden()
        self.plot.setMinimumHeight(_LEAST_PLOT if alone else _LEAST_BESIDE_PAIR)
        self.sentence.setVisible(alone or self.height() >= _LEAST_FOR_BOTH)

    def entries(self, picture: PlanePicture) -> list[Entry]:
        spread = []
        if self.spread_check.isChecked():
            penalised = picture.extra.penalised is not None
            spread = self.cloud.spread_entries(penalised, _colour(picture.subject))
        parts = self.run_planes, self.cloud, self.marked, self.pointing
        return [*(entry for part in parts for entry in part.entries()), *spread]

    def refresh_band(self) -> None:
        """Show which errors lie in the FPR range."""
        if self.picture is not None:
            self.sentence.setText(self._draw_errors(self.picture))
            self.explain()

    def forget(self) -> None:
        self.pointing.forget()
        self.fit_page()

    def moving(self) -> Container[QGraphicsItem]:
        live = self.run_planes.live
        return live.line, live.margin, live.shaft, live.head

    def live_moved(self, live: LiveRun | None, normal: Array | None) -> None:
        picture = self.picture
        if picture is not None and picture.subject.is_live:
            normal = own_normal(picture)
        self.run_planes.move_live(live, normal)
        if picture is not None:
            self.sentence.setText(self._sentence(picture))

    def _sentence(self, picture: PlanePicture) -> Statement:
        live = words.live_pair_words(self.session.live, self.session.plan.band)
        if live and not self.live_line.isVisible():
            other = (
                "the run in progress" if self.session.live is None else self.session.live.look.name
            )
            name = picture.subject.name
            return Statement.of(text("picture_of_other_run", name=name, live=other), live)
        if live and picture.subject.run is None:
            return Statement(live)
        compared = self.run_planes.about_compared(picture.subject)
        return Statement.of(live, *self._verdict, *compared)

    def figure_data(self) -> Mapping[str, Sequence[object] | NDArray[Any]]:
        if self.picture is None:
            return {}
        return pair_columns(self.picture, self.session.plan.band)


def _exact_normal(picture: PlanePicture) -> Array | None:
    """Return the normal of the boundary of misranked pairs, if it is a line in the plane."""
    subject = picture.subject
    exact = picture.plane.kind == SCORE or is_whole_plane(subject.preparation)
    return own_normal(picture) if exact and not left_out_words(subject, "") else None


def _colour(subject: Subject) -> QColor:
    theme = current_theme()
    return (
        QColor(theme.muted) if subject.run is None else run_colour(theme, subject.run.look.colour)
    )
