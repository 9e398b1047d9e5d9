"""Accuracy of calibrated probabilities, nested.

A calibration estimated on the rows it was fitted on looks too good, the isotonic one most. Each
held-out row therefore gets its probability from a calibration fitted without it: on the other
splits of the run if there are at least three, else on nine tenths of the held-out rows.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from aucstudio.engine.arrays import Array, Index, class_counts
from aucstudio.engine.crossfit.folds import Folds, draw_folds, nested_scores
from aucstudio.engine.reliability import (
    MOST_BINS,
    Decomposed,
    Reliability,
    brier_score,
    calibration_error,
    decompose,
    log_score,
    reliability,
)
from aucstudio.notices import text
from aucstudio.notices.words import figure_words
from aucstudio.project.errors import Cancelled, input_error
from aucstudio.project.runs.final_model import HeldOut, caution, fit_calibration, held_out
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.typed import plain

AS_IT_STANDS = "none"
TITLES = {
    AS_IT_STANDS: "None: the score as log-odds",
    "isotonic": "Isotonic",
    "platt": "Platt",
    "beta": "Beta",
}
_FOLDS = 10
_BINS, _LEAST_TOP = 40, 0.02
_LEAST_SPLITS = 3
_SEED = 0


@dataclasses.dataclass(frozen=True, eq=False)
class CalibrationEstimate:
    """Probabilities of held-out rows by maps that did not see them, and their figures.

    Attributes
    ----------
    kind : str
        Of the map; ``none`` reads the score as log-odds.
    rows : str
        Which rows, in words.
    probabilities : ndarray
    edges : ndarray
        Of the bins of a histogram of the probabilities.
    shares : ndarray, shape (2, bins)
        Of the positives and of the negatives that are in each.
    diagram : Reliability
    brier, log : Decomposed
    error : float
        Expected calibration error; NaN where rows are too few.
    error_reason : str
        Why it is NaN, else empty.
    caution : str
        What speaks against the map on these rows, or nothing.
    """

    kind: str
    rows: str
    probabilities: Array
    edges: Array
    shares: Array
    diagram: Reliability
    brier: Decomposed
    log: Decomposed
    error: float
    error_reason: str
    caution: str

    def as_json(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        names = ("brier", "log", "error", "error_reason")
        figures = {name: plain(getattr(self, name)) for name in names}
        return {"map": self.kind, "rows": len(self.probabilities), **figures}

    def sentence(self) -> str:
        """State the figures."""
        error = figure_words(self.error)
        if self.error_reason:
            error = text("calibration_not_estimated", reason=self.error_reason)
        title = TITLES[self.kind]
        return text("calibration_judged", title=title, brier=self.brier, log=self.log, error=error)


def estimate_calibration(
    record: RunRecord, kind: str, asked_to_stop: Callable[[], bool] = lambda: False
) -> CalibrationEstimate:
    """Estimate how well the probabilities of a run hold with a map.

    Raises
    ------
    InputError
        If there are not two held-out rows of each class.
    Cancelled
        If it was asked to stop.
    """
    rows = held_out(record)
    p = probabilities_of(rows, kind, asked_to_stop)
    error, reason = calibration_error(rows.positive, p)
    # The last bin is halved until it is about as large as the class of the positives.
    halvings = max(0, round(math.log2(1 / (MOST_BINS * np.mean(rows.positive)))))
    return CalibrationEstimate(
        kind,
        rows.words(),
        p,
        *_histogram(rows.positive, p),
        reliability(rows.positive, p, groups=rows.groups, halvings=halvings),
        decompose(brier_score, rows.positive, p),
        decompose(log_score, rows.positive, p),
        error,
        reason,
        caution(kind, rows.positive),
    )


def _histogram(positive: NDArray[np.bool_], p: Array) -> tuple[Array, Array]:
    top = min(1.0, max(_LEAST_TOP, 1.02 * float(p.max())))
    edges = np.linspace(0.0, top, _BINS + 1)
    classes = [p[positive], p[~positive]]
    return edges, np.array([np.histogram(of, edges)[0] / len(of) for of in classes])


def probabilities_of(
    rows: HeldOut, kind: str, asked_to_stop: Callable[[], bool] = lambda: False
) -> Array:
    """Return a probability for each held-out row, by a calibration fitted without it."""
    if kind == AS_IT_STANDS:
        # Off 0 and 1, where the log score would be infinite by rounding.
        return np.asarray(np.clip(scipy.special.expit(rows.scores), 1e-15, 1 - 1e-15))

    def score(_fold: int, fitted: Index, held: Index) -> Array:
        if asked_to_stop():
            raise Cancelled
        return fit_calibration(kind, rows.positive[fitted], rows.scores[fitted])(rows.scores[held])

    return nested_scores(_folds(rows), score)


def _folds(rows: HeldOut) -> Folds:
    """Return folds of the held-out rows: the splits of the run, or new folds."""
    splits = [rows.split == k for k in np.unique(rows.split)]
    others = [rows.positive[~held] for held in splits]
    if len(splits) >= _LEAST_SPLITS and all(one.any() and not one.all() for one in others):
        return [(np.flatnonzero(~held), np.flatnonzero(held)) for held in splits]
    fewest = min(class_counts(rows.positive))
    if fewest < 2:
        raise input_error("too_few_to_judge", rows=len(rows.positive), fewest=fewest)
    drawn = draw_folds(rows.positive, rows.groups, _FOLDS, _SEED)
    return drawn if len(drawn) > 1 else draw_folds(rows.positive, None, _FOLDS, _SEED)
