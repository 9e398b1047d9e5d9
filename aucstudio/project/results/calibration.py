"""Accuracy of calibrated probabilities, nested.

A map that is judged on the rows that chose it flatters itself, the isotonic one most. So each
held-out row gets its probability from a map that was learnt without it: from the other splits of
the run where there are three or more, else from nine tenths of the held-out rows.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from aucstudio.engine.calibration import (
    KINDS,
    Decomposed,
    Reliability,
    brier_score,
    calibration_error,
    decompose,
    log_score,
    reliability,
)
from aucstudio.engine.crossfit.folds import draw_folds
from aucstudio.project.errors import Cancelled, InputError
from aucstudio.project.runs.models.calibrating import HeldOut, caution, held_out, learnt
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.words import figure_words

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
class JudgedMaps:
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
    probabilities: NDArray[np.float64]
    edges: NDArray[np.float64]
    shares: NDArray[np.float64]
    diagram: Reliability
    brier: Decomposed
    log: Decomposed
    error: float
    error_reason: str
    caution: str

    def as_json(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        return {
            "map": self.kind,
            "rows": len(self.probabilities),
            "brier": dataclasses.asdict(self.brier),
            "log": dataclasses.asdict(self.log),
            "error": None if math.isnan(self.error) else self.error,
            "error_reason": self.error_reason,
        }

    def sentence(self) -> str:
        """State the figures."""
        error = f"not estimated ({self.error_reason})" if self.error_reason else ""
        return (
            f"{TITLES[self.kind]} calibration, estimated on held-out rows: Brier score "
            f"{figure_words(self.brier.value)} ({figure_words(self.brier.uncertainty)} where "
            f"each row gets the share of positives), log score {figure_words(self.log.value)} "
            f"({figure_words(self.log.uncertainty)}), expected calibration error "
            f"{error or figure_words(self.error)}."
        )


def judge(
    record: RunRecord, kind: str, asked_to_stop: Callable[[], bool] = lambda: False
) -> JudgedMaps:
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
    return JudgedMaps(
        kind,
        rows.words(),
        p,
        *_histogram(rows.positive, p),
        reliability(rows.positive, p, groups=rows.groups),
        decompose(brier_score, rows.positive, p),
        decompose(log_score, rows.positive, p),
        error,
        reason,
        caution(kind, rows.positive),
    )


def _histogram(
    positive: NDArray[np.bool_], p: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    top = min(1.0, max(_LEAST_TOP, 1.02 * float(p.max())))
    edges = np.linspace(0.0, top, _BINS + 1)
    classes = [p[positive], p[~positive]]
    return edges, np.array([np.histogram(of, edges)[0] / len(of) for of in classes])


def probabilities_of(
    rows: HeldOut, kind: str, asked_to_stop: Callable[[], bool] = lambda: False
) -> NDArray[np.float64]:
    """Return a probability for each held-out row, by a calibration fitted without it."""
    if kind == AS_IT_STANDS:
        # Off 0 and 1, where the log score would be infinite by rounding.
        told: NDArray[np.float64] = np.clip(scipy.special.expit(rows.scores), 1e-15, 1 - 1e-15)
        return told
    fold = _folds(rows)
    found = np.empty(len(rows.scores))
    for k in np.unique(fold):
        if asked_to_stop():
            raise Cancelled
        out = fold == k
        found[out] = learnt(kind, rows.positive[~out], rows.scores[~out])(rows.scores[out])
    return found


def _folds(rows: HeldOut) -> NDArray[np.intp]:
    """Number the parts of the second level; each has both classes outside of it."""
    positives = np.bincount(rows.split, weights=rows.positive)
    counts = np.bincount(rows.split)
    used = counts > 0
    elsewhere = (
        positives.sum() - positives[used],
        (counts - positives).sum() - ((counts - positives)[used]),
    )
    if used.sum() >= _LEAST_SPLITS and min(map(np.min, elsewhere)) > 0:
        return rows.split
    fewest = int(min(rows.positive.sum(), (~rows.positive).sum()))
    if fewest < 2:
        raise InputError(
            f"of {len(rows.positive):,} held-out rows the smaller class has {fewest}: "
            "measuring probabilities takes at least two",
            setting="calibrate",
        )
    if rows.groups is not None:
        drawn = draw_folds(rows.positive, rows.groups, min(_FOLDS, fewest), _SEED)
        if len(drawn) >= 2:
            fold = np.empty(len(rows.positive), np.intp)
            for k, (_, held) in enumerate(drawn):
                fold[held] = k
            return fold
    rng = np.random.default_rng(_SEED)
    fold = np.empty(len(rows.positive), np.intp)
    for is_class in (rows.positive, ~rows.positive):
        count = int(is_class.sum())
        fold[is_class] = rng.permutation(np.arange(count) % min(_FOLDS, fewest))
    return fold


__all__ = ["AS_IT_STANDS", "KINDS", "TITLES", "JudgedMaps", "judge", "probabilities_of"]
