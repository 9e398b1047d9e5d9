"""Thresholds from scores: equal error, bounded FPR, least cost, Youden, midpoint."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from aucstudio.engine.arrays import Array
from aucstudio.engine.params import InvalidSetting
from aucstudio.engine.roc.curve import RocCurve, position
from aucstudio.notices import text

_ROUNDING = 1e-12  # of a bound, by which a rate that is a fraction may miss it


def equal_error_threshold(curve: RocCurve) -> float:
    """Find t such that predicting positive where score > t makes FPR and 1 - TPR most alike.

    It lies midway between two neighbouring scores; if all scores are equal, it is that score.
    """
    if len(curve.tp) == 2:
        return float(curve.thresholds[1])
    m, n = curve.positives, curve.negatives
    imbalance = np.abs(curve.fp[1:-1] * m - (m - curve.tp[1:-1]) * n)
    if curve.behind is not None:  # sums of weights that are equal but for rounding
        imbalance = np.maximum(imbalance - imbalance.min(), _ROUNDING * m * n)
    return cut_at(curve, int(imbalance.argmin()) + 1)


def fpr_threshold(negative_scores: ArrayLike, beta: float) -> float:
    """Find t = v_(floor(n beta) + 1): score > t for at most a share beta of the negatives.

    Raises
    ------
    ValueError
        If there is no negative, a score is not finite, or beta is outside [0, 1].
    """
    scores = np.asarray(negative_scores, dtype=np.float64)
    if scores.ndim != 1 or scores.size == 0 or not np.isfinite(scores).all():
        raise ValueError("negative_scores must be one column of finite scores, at least one.")
    if not 0 <= beta <= 1:
        raise ValueError(f"beta must lie within [0, 1]; it is {beta}.")
    above = math.floor(position(scores.size, beta))
    if above == scores.size:
        return float(np.nextafter(scores.min(), -np.inf))
    place = scores.size - 1 - above
    return float(np.partition(scores, place)[place])


def cost_threshold(
    curve: RocCurve, cost_fp: float, cost_fn: float, prior: float | None = None
) -> float:
    """Find t such that predicting positive where score > t costs least.

    The expected cost of a case is cost_fp (1 - prior) FPR + cost_fn prior (1 - TPR); of equally
    cheap vertices (always on the hull) the one with the lowest FPR is taken.

    Parameters
    ----------
    curve : RocCurve
        With all its vertices: t lies midway between two neighbouring scores.
    cost_fp, cost_fn : float
        Positive costs of one false positive and of one false negative.
    prior : float, optional
        Share of positives where the scores will be used; by default that of the curve.

    Raises
    ------
    ValueError
        If a cost is not a positive number, or the prior not strictly between 0 and 1.
    """
    m, n = curve.positives, curve.negatives
    prior = m / (m + n) if prior is None else prior
    check_costs(prior, cost_fp, cost_fn)
    cost = cost_fp * (1 - prior) * curve.fpr + cost_fn * prior * (1 - curve.tpr)
    return cut_at(curve, int(cost.argmin()))


def check_costs(prior: float, cost_fp: float, cost_fn: float) -> None:
    """Raise ValueError unless the costs are positive and the prior strictly between 0 and 1."""
    if not (0 < cost_fp < math.inf and 0 < cost_fn < math.inf and 0 < prior < 1):
        raise ValueError(text("costs_out_of_range", cost_fp=cost_fp, cost_fn=cost_fn, prior=prior))


def minmax_threshold(curve: RocCurve) -> float:
    """Return (min s + max t) / 2, which makes sense only for (nearly) separable scores.

    Source: structure-embedded AUC-SVM, eq. 4 (where it appears as the constant -t).
    """
    lowest_positive = curve.thresholds[int(np.searchsorted(curve.tp, curve.positives, "left"))]
    highest_negative = curve.thresholds[int(np.searchsorted(curve.fp, 0, "right"))]
    return _midpoint(highest_negative, lowest_positive)


def cut_at(curve: RocCurve, vertex: int) -> float:
    """Return t such that score > t selects what the vertex does."""
    if vertex == 0:
        return float(curve.thresholds[1])
    if vertex == len(curve.thresholds) - 1:
        return float(np.nextafter(curve.thresholds[vertex], -np.inf, dtype=curve.thresholds.dtype))
    return _midpoint(curve.thresholds[vertex + 1], curve.thresholds[vertex])


def cuts(curve: RocCurve) -> Array:
    """Return for each vertex the t of :func:`cut_at`; for the first one, which calls none, +inf."""
    above, below = curve.thresholds[1:-1], curve.thresholds[2:]
    middle = below / 2 + above / 2
    last = cut_at(curve, len(curve.thresholds) - 1)
    inner = np.where(middle == above, below, middle)
    return np.concatenate([[np.inf], inner, [last]]).astype(np.float64)


def _midpoint(low: np.floating[Any], high: np.floating[Any]) -> float:
    middle = low / 2 + high / 2  # the sum itself could overflow
    return float(low if middle == high else middle)  # neighbouring floats have no middle


RULES = ("equal-error", "fpr", "tpr", "precision", "alerts", "cost", "min-max")

_PLAIN = ("equal-error", "min-max")
_WITH_PRIOR = ("precision", "alerts")


class UnreachableTargetError(InvalidSetting):
    """No threshold on these rows satisfies the rule.

    Attributes
    ----------
    best : float
        The highest precision there is; NaN where there is none.
    """

    def __init__(self, message: str, best: float) -> None:
        super().__init__("threshold", message)
        self.best = best


@dataclasses.dataclass(frozen=True)
class ThresholdRule:
    """Where to begin to call rows positive.

    Attributes
    ----------
    rule : {"equal-error", "fpr", "tpr", "precision", "alerts", "cost", "min-max"}
        Where FPR = 1 - TPR; where the FPR is at most ``fpr``; where the TPR is at least ``tpr``;
        where the precision is at least ``precision``; where at most a share ``alerts`` of all
        cases is called positive; where the expected cost is least; midway between the lowest
        positive and the highest negative (SAUC eq. 4, for nearly separable scores). Among the
        thresholds that obey a bound, the one that finds most positives with fewest false alarms.
    fpr : float
    cost_fp, cost_fn : float
        Costs of one false positive and of one false negative.
    prior : float or None
        Share of positives where the scorer will be used; None takes that of the rows. It decides
        precision, alerts and costs.
    tpr, precision, alerts : float

    Raises
    ------
    ValueError
        For an unknown rule, or constants out of range.
    """

    rule: str = "equal-error"
    fpr: float = 0.1
    cost_fp: float = 1.0
    cost_fn: float = 1.0
    prior: float | None = None
    tpr: float = 0.9
    precision: float = 0.5
    alerts: float = 0.01

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise ValueError(f"unknown threshold rule {self.rule!r}; there are " + ", ".join(RULES))
        shares = {"FPR": self.fpr, "TPR": self.tpr, "precision": self.precision}
        for name, share in (shares | {"share of alerts": self.alerts}).items():
            if not 0 <= share <= 1:
                raise ValueError(f"the {name} of a threshold must lie within [0, 1]; it is {share}")
        check_costs(0.5 if self.prior is None else self.prior, self.cost_fp, self.cost_fn)

    @classmethod
    def parse(cls, written: str) -> ThresholdRule:
        """Read a rule: ``equal-error``, ``fpr=0.05``, ``precision=0.9@0.01``, ``cost=1:20@0.01``.

        A cost is that of a false positive and of a false negative; the share of positives
        follows @.

        Raises
        ------
        InvalidSetting
            If it has another ending.
        """
        name, _, rest = written.partition("=")
        values, at, share = rest.partition("@")
        try:
            prior = float(share) if at else None
            if name in ("fpr", "tpr") and rest and not at:
                return cls(name, **{name: float(rest)})
            if name in _WITH_PRIOR and rest:
                return cls(name, prior=prior, **{name: float(values)})
            if name == "cost" and rest:
                fp, fn = (float(part) for part in values.split(":"))
                return cls("cost", cost_fp=fp, cost_fn=fn, prior=prior)
        except ValueError as error:
            message = f"the threshold {written!r} cannot be read: {error}"
            raise InvalidSetting("threshold", message) from error
        if rest or name not in _PLAIN:
            raise InvalidSetting("threshold", text("threshold_form", written=written))
        return cls(name)

    def place(self, curve: RocCurve) -> float:
        """Find t such that calling positive where score > t obeys the rule on a curve.

        Rates are those of weighted rows, if there are weights.

        Raises
        ------
        UnreachableTargetError
            If no threshold does.
        """
        if self.rule == "equal-error":
            return equal_error_threshold(curve)
        if self.rule == "min-max":
            return minmax_threshold(curve)
        if self.rule == "cost":
            return cost_threshold(curve, self.cost_fp, self.cost_fn, self.prior)
        return cut_at(curve, self._vertex(curve))

    def _vertex(self, curve: RocCurve) -> int:
        """Find the vertex of a rule that bounds a rate."""
        m, n = curve.positives, curve.negatives
        counted = curve.behind is None  # whole rows; else a sum of weights but for rounding
        if self.rule == "tpr":
            least = math.ceil(position(m, self.tpr)) if counted else m * self.tpr * (1 - _ROUNDING)
            return int(np.searchsorted(curve.tp, least, "left"))
        if self.rule == "fpr":
            most = math.floor(position(n, self.fpr)) if counted else n * self.fpr * (1 + _ROUNDING)
            return int(np.searchsorted(curve.fp, most, "right")) - 1
        prior = m / (m + n) if self.prior is None else self.prior
        true, false = prior * curve.tpr, (1 - prior) * curve.fpr
        if self.rule == "alerts":
            allowed_share = self.alerts * (1 + _ROUNDING)
            return int(np.searchsorted(true + false, allowed_share, "right")) - 1
        return _precise_vertex(true, false, self.precision)

    def describe(self) -> str:
        """Describe the position of the threshold."""
        known = dataclasses.asdict(self)
        if self.prior is not None and math.isnan(self.prior):
            known["prior"] = None
        return text(f"rule_{self.rule.replace('-', '_')}", **known)


def _precise_vertex(true: Array, false: Array, least: float) -> int:
    """Find the vertex that finds most, with fewest alarms, of those that are precise enough."""
    precision = true[1:] / (true[1:] + false[1:])
    enough = np.flatnonzero(precision >= least * (1 - _ROUNDING)) + 1
    if not len(enough):
        best = float(precision.max())
        raise UnreachableTargetError(text("precision_unreachable", least=least, best=best), best)
    return int(enough[np.searchsorted(true[enough], true[enough[-1]], "left")])
