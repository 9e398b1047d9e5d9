"""Operating points: errors, cost and their uncertainty.

Symbols: prior the share of positives where the scorer will be used; miss the cost of one false
negative, with that of one false positive as the unit.
"""

from __future__ import annotations

import math
import re

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine import roc
from aucstudio.project.data.table import Table
from aucstudio.project.errors import InputError
from aucstudio.project.results.summary import LEVEL, ranking
from aucstudio.project.runs.models.model import Model
from aucstudio.project.runs.record import RunRecord, SplitResult

Array = NDArray[np.float64]

CASES = 10_000
_DRAWS = 100, 500
_ROWS_DRAWN = 20_000_000  # at most, before fewer resamples are drawn
LEAST_PRIOR = 1e-6


def data_prior(record: RunRecord, table: Table | None = None) -> float:
    """Return the share of positives of the table that a run is of; else of its first split."""
    data = record.experiment.data
    if data.schema.weight is not None:
        split = record.splits[0]
        positive = np.append(split.train_positive, split.test_positive)
        weights = [part for part in (split.train_weights, split.test_weights) if part is not None]
        return float(np.average(positive, weights=np.concatenate(weights)))
    if table is not None and table.sha256 == data.sha256 and table.label == data.label:
        return table.classes[data.positive] / sum(table.classes.values())
    split = record.splits[0]
    return float(np.append(split.train_positive, split.test_positive).mean())


def curve_of(split: SplitResult) -> roc.Curve:
    """Return the held-out ROC curve of a split."""
    return ranking(split).curve


def vertex_of(curve: roc.Curve, threshold: float) -> int:
    """Find the vertex that a threshold reaches: its rows are those with score > threshold."""
    ascending = curve.thresholds[::-1]
    return len(ascending) - int(np.searchsorted(ascending, threshold, "right")) - 1


def binomial_interval(count: float, trials: float, level: float = LEVEL) -> tuple[float, float]:
    """Bound the share behind ``count`` of ``trials`` by :func:`~roc.binomial_bounds`."""
    low, high = roc.binomial_bounds(count, trials, level)
    return float(low[0]), float(high[0])


def case_counts(tpr: float, fpr: float, prior: float) -> tuple[float, float, float, float]:
    """Count TP, FN, FP and TN that :data:`CASES` cases hold on average."""
    m, n = CASES * prior, CASES * (1 - prior)
    return m * tpr, m * (1 - tpr), n * fpr, n * (1 - fpr)


def point_measures(tpr: float, fpr: float, prior: float) -> dict[str, float]:
    """Compute precision, F1 and accuracy at a prior; NaN where nothing is called positive."""
    skew = roc.skew_of(prior)
    measures = {"precision": roc.precision, "f1": roc.f_measure, "accuracy": roc.accuracy}
    return {name: float(measure(tpr, fpr, skew)) for name, measure in measures.items()}


def expected_cost(tpr: Array | float, fpr: Array | float, prior: float, miss: float) -> Array:
    """Compute the expected cost of :data:`CASES` cases, in false positives; elementwise."""
    return np.asarray(CASES * ((1 - prior) * fpr + miss * prior * (1 - tpr)), np.float64)


def draws_for(rows: int) -> int:
    """Return the number of resamples for a number of rows."""
    return int(np.clip(_ROWS_DRAWN // rows, *_DRAWS))


def model_at(split: SplitResult, threshold: float) -> Model:
    """Return the model of a split with a threshold that was typed in."""
    return split.model.moved_to(threshold, split.test_scores, "set by the user")


# ----------------------------------------------------------------- words

_ONE_IN = re.compile(r"(?:1|one)\s*(?:in|of|:|/)\s*(.+)", re.IGNORECASE)


def read_rate(text: str, what: str) -> float:
    """Read a rate from 0 to 1: ``0.01``, ``1 %`` or ``1 in 100``.

    Raises
    ------
    InputError
        If it has another ending.
    """
    share = _number_of(text)
    if share is None or not 0 <= share <= 1:
        raise InputError(
            f"the {what} is a number from 0 to 1 such as 0.01, 1 % or 1 in 100; it is {text!r}"
        )
    return share


def read_share(text: str) -> float:
    """Read a share of positives: ``0.0002``, ``0.02 %`` or ``1 in 5000``.

    Raises
    ------
    InputError
        If it has another ending, or not between 1 in a million and 0.999999.
    """
    share = _number_of(text)
    # "1 in 1000000" may be less than the bound by rounding alone.
    if share is None or not LEAST_PRIOR * (1 - 1e-9) <= share <= 1 - LEAST_PRIOR:
        raise InputError(
            "a share of positives is a number such as 0.0002, 0.02 % or 1 in 5000, from 1 in "
            f"1000000 to 0.999999; it is {text!r}",
            setting="prior",
        )
    return share


def _number_of(text: str) -> float | None:
    plain = text.strip()
    one_in = _ONE_IN.fullmatch(plain)
    try:
        if one_in:
            return 1 / float(re.sub(r"[ ,]", "", one_in[1]))
        return float(plain[:-1]) / 100 if plain.endswith("%") else float(plain)
    except (ValueError, ZeroDivisionError):
        return None


def share_words(share: float) -> str:
    """Write a share as 37.3 %, and below a hundredth as 1 in 5,000."""
    if share >= 0.01:
        return f"{100 * share:.3g} %" if share < 0.999 else f"{100 * share:.6g} %"
    return f"1 in {float(f'{1 / share:.4g}'):,.0f}"


def amount_words(count: float) -> str:
    """Write an average count with three digits, whole from 100 on."""
    if math.isnan(count):
        return "–"
    if count >= 99.95 or count == 0:
        return f"{count:,.0f}"
    return f"{count:.1f}" if count >= 9.995 else f"{count:.2g}"
