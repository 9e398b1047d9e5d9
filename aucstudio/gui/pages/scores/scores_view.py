"""Scores: distributions of both classes, and the errors of a threshold."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QDoubleSpinBox

from aucstudio.engine import roc
from aucstudio.gui.common.form import number_box
from aucstudio.gui.common.layouts import STRETCH, across, down, scrolled
from aucstudio.gui.common.sentence import Statement
from aucstudio.gui.common.theme import fix_width
from aucstudio.gui.common.threshold import CARD_WIDTH, Chosen, ThresholdChooser
from aucstudio.gui.common.view import PageView
from aucstudio.gui.common.widgets import quietly
from aucstudio.gui.pages.scores.score_plot import COUNTS, DENSITY, ScorePlot
from aucstudio.gui.pages.scores.worst_rows import (
    WorstRows,
    band_sentence,
    held_out_columns,
    threshold_sentence,
)
from aucstudio.gui.state.runner import LiveRun
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.notices import text
from aucstudio.project.explain.contributions import row_name
from aucstudio.project.results.score_distribution import ScoreDistribution
from aucstudio.project.results.thresholds import Confusion, counts_at, curve_of
from aucstudio.project.runs.record import SplitResult

_WIDE = 2 * CARD_WIDTH  # page width from which figures are next to the plot
_AIR = 14  # for the scroll bar
_DECIMALS = 4


class ScoresView(PageView):
    """Score distributions of the selected run or the run in progress, and its threshold.

    The split, the threshold and the row are those of the session's focus.

    Attributes
    ----------
    picture : ScorePlot
    chooser : ThresholdChooser
    readout : ConfusionCard
    worst : WorstRows
    distribution : Distribution or None
    """

    listens_to: ClassVar = {
        **PageView.listens_to,
        "plan": "mark_stale",
        "focus": "show_focus",
        "stakes": "show_focus",
        "band": "show_band",
    }

    shows_threshold: ClassVar = True
    lacks: ClassVar = "scores"
    soon: ClassVar = "its scores appear after the first steps"
    aim: ClassVar = "how both classes score"

    def __init__(self, session: Session) -> None:
        super().__init__(session, "scores_view", "Scores")
        self.distribution: ScoreDistribution | None = None
        self._names = ("", "")
        self._drawn: tuple[object, ...] = ()  # the run and split, or live run and scorer
        self._finished: tuple[ShownRun, int, SplitResult] | None = None
        self._band_ends = (-math.inf, math.inf)
        self._make_controls()
        self.making.ask(self._make_picture, self._make_chooser, self._make_worst)

    # ------------------------------------------------------------- making

    def _make_controls(self) -> None:
        row = self.controls
        self.split_combo = self.choose_split("scores_split_combo")
        self.threshold_box = row.put(_threshold_box())
        self.threshold_box.valueChanged.connect(self.set_threshold)
        self.own_button = row.button(
            "own_threshold_button", lambda: self.threshold_box.setValue(0.0)
        )
        heights = ("Density", DENSITY), ("Count, log", COUNTS)
        self.scale_combo = row.choice("scores_scale_combo", self._on_scale, heights)
        self.offer_following()
        row.addStretch(1)

    def _make_picture(self) -> None:
        self.picture = ScorePlot("scores_plot")
        self.plot, self.line = self.picture.plot, self.picture.line
        self.pictures = (self.plot,)
        self.axes = (self.scale_combo,)
        self.curves = self.picture.curves
        self.line.sigPositionChanged.connect(lambda line: self.set_threshold(float(line.value())))
        self.picture.apply_theme()
        # Words wrap in the width of the chooser, and are as high as they are there.
        self._figures = down(STRETCH, gap=12, around=(0, 0, _AIR, 0))
        self.side = scrolled(self._figures, "scores_figures", "Threshold and worst rows")
        fix_width(self.side, CARD_WIDTH + _AIR)
        self.set_content(across((self.plot, 1), self.side, gap=16), "No scores yet")

    def _make_chooser(self) -> None:
        self.chooser = ThresholdChooser("scores", self.session).follow_focus()
        self.readout = self.chooser.card
        self._figures.insertWidget(0, self.chooser)

    def _make_worst(self) -> None:
        self.worst = WorstRows(self.session)
        self._figures.insertWidget(1, self.worst)

    def figure_data(self) -> Mapping[str, Sequence[object] | NDArray[Any]]:
        run = self.session.run(self.session.selected)
        return {} if run is None else held_out_columns(run, self.session.table)

    # ------------------------------------------------------------- showing

    def refresh(self) -> None:
        live, run = self.followed(), self.session.run(self.session.selected)
        self.picture.apply_theme()
        self._finished = None
        if live is not None:
            self._show_live(live)
        elif run is not None and run.record.splits:
            self._show_run(run)
        else:
            self._drawn, self.distribution = (), None
            self._show_parts()
            self.show_content(False)
            self.sentence.setText(self.why_empty(run))

    def refresh_live(self) -> None:
        live = self.followed()
        drawn = () if live is None else (live, live.picture)
        was_live = bool(self._drawn) and isinstance(self._drawn[0], LiveRun)
        if (live is not None or was_live) and drawn != self._drawn:
            self.refresh()

    def can_follow(self, live: LiveRun) -> bool:
        return live.picture is not None

    def _show_run(self, run: ShownRun) -> None:
        splits = run.record.splits
        k = min(self.session.focus.split, len(splits) - 1)
        split = splits[k]
        self._finished = run, k, split
        self.split_combo.offer(len(splits), k)
        self._names = (run.record.experiment.data.positive, split.model.negative)
        if self._drawn != (run.record.id, k):
            self._drawn = (run.record.id, k)
            self._draw(ScoreDistribution.of(split.test_positive, split.test_scores))
            self.plot.show_whole()
        self.picture.name_classes(self._names)
        self._show_parts()
        from_file = run.record.experiment.validation.scheme == "file"
        known = run.is_of(self.session.table) and not from_file
        self.worst.show_split(split, self.session.table if known else None)
        self.show_band()
        self.show_focus()

    def _show_live(self, live: LiveRun) -> None:
        picture = live.picture
        assert picture is not None
        self._drawn = (live, picture)
        table = self.session.table
        positive = live.experiment.data.positive
        others = [] if table is None else [name for name in table.classes if name != positive]
        self._names = (positive, others[0] if len(others) == 1 else "the rest")
        self._draw(ScoreDistribution.of(picture.positive, picture.scores))
        self.picture.name_classes(self._names)
        self._show_parts()
        head = text("scores_so_far", name=live.look.name, rows=len(picture.positive))
        self.sentence.setText(Statement(head, text("threshold_at_end")))

    def _show_parts(self) -> None:
        """Show the threshold and figures of a finished run, or only the distributions."""
        self.show_content(True)
        self.fit_page()
        self.picture.show_parts(self._finished is not None)

    def fit_page(self) -> None:
        """Show the figures next to the plot on a wide page; the conclusion has the counts."""
        self.worst.fit()
        is_wide, finished = self.width() >= _WIDE, self._finished is not None
        self.side.setVisible(finished and is_wide)
        self.controls.show(finished and self.split_combo.count() > 1, self.split_combo)
        # The figures include the threshold.
        self.controls.show(finished and not is_wide, self.threshold_box, self.own_button)

    def _draw(self, distribution: ScoreDistribution) -> None:
        self.distribution = distribution
        self.picture.show(distribution)
        span = float(distribution.edges[-1] - distribution.edges[0])
        with QSignalBlocker(self.threshold_box):
            # Fewer decimals would round the value.
            self.threshold_box.setDecimals(max(_DECIMALS, 3 - math.floor(math.log10(span))))
            self.threshold_box.setSingleStep(float(f"{span / 100:.0e}"))

    def _on_scale(self) -> None:
        self.picture.show_scale(self.scale_combo.currentData())
        self.picture.show_threshold(self.session.focus.threshold)

    # ------------------------------------------------------------- focus

    def set_threshold(self, value: float) -> None:
        """Move the threshold, in every view."""
        self.session.set_threshold(threshold=value)

    def show_focus(self) -> None:
        """Show the threshold, its counts and the selected row."""
        if self._finished is None:
            return
        (run, k, split), focus = self._finished, self.session.focus
        if min(focus.split, len(run.record.splits) - 1) != k:
            self.mark_stale()
            return
        quietly(self.threshold_box.setValue, focus.threshold)
        self.own_button.setEnabled(focus.threshold != 0.0)
        self.picture.show_threshold(focus.threshold)
        self.chooser.show_chosen(Chosen.of_focus(self.session, run, k, self._counts(split)))
        self._show_row(split, focus.row)
        self._show_sentence()

    def _show_row(self, split: SplitResult, row: int | None) -> None:
        # Rows of a test file are not rows of the table.
        table = self.session.table if self.worst.has_table else None
        place = np.flatnonzero(split.test_rows == row)
        if row is None or table is None or not len(place):
            self.picture.show_row(None)
        else:
            self.picture.show_row(float(split.test_scores[place[0]]), row_name(table, row))
        self.worst.show_row(row)

    def _counts(self, split: SplitResult) -> Confusion:
        return counts_at(curve_of(split), self.session.focus.threshold)

    def show_band(self) -> None:
        """Shade the scores of the FPR range."""
        if self._finished is not None:
            self._band_ends = self._band_scores(self._finished[2])
            self.picture.show_band(*self._band_ends)
            self._show_sentence()

    def _band_scores(self, split: SplitResult) -> tuple[float, float]:
        """Return the thresholds at the ends of the FPR range, the lower one first."""
        assert self.distribution is not None
        low, high = self.session.plan.band
        if split.test_weights is not None:
            curve = curve_of(split)
            bottom, top = (roc.ThresholdRule("fpr", fpr=rate).place(curve) for rate in (high, low))
        else:
            negatives = self.distribution.negatives
            bottom, top = (roc.fpr_threshold(negatives, rate) for rate in (high, low))
        return bottom if high < 1 else -math.inf, top if low > 0 else math.inf

    def _show_sentence(self) -> None:
        if self._finished is not None:
            run, _, split = self._finished
            threshold, counts = self.session.focus.threshold, self._counts(split)
            sentence = threshold_sentence(run.look.name, threshold, counts, self._names)
            band = band_sentence(self.session.plan.band, self._band_ends)
            self.sentence.setText(sentence.then(band))


def _threshold_box() -> QDoubleSpinBox:
    box = number_box("threshold_box", -1e9, 1e9, decimals=_DECIMALS, words="Threshold")
    box.setKeyboardTracking(False)
    box.setMinimumWidth(64)
    box.setMaximumWidth(112)
    return box
