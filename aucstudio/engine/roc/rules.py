"""Rules that say where a scorer begins to call rows positive: wherever its score is greater."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from numpy.typing import ArrayLike

from aucstudio.engine.params import InvalidSetting
from aucstudio.engine.roc.band import position
from aucstudio.engine.roc.curve import Curve, roc_curve
from aucstudio.engine.roc.thresholds import (
    check_costs,
    cost_threshold,
    cut_at,
    equal_error_threshold_of,
    minmax_threshold,
)
from aucstudio.engine.types import Array

RULES = {
    "equal-error": "both error rates are equal",
    "fpr": "the false-positive rate is at most a bound",
    "tpr": "the true-positive rate is at least a bound",
    "precision": "the precision is at least a bound",
    "alerts": "the share of cases called positive is at most a bound",
    "cost": "the expected cost is least",
    "min-max": "midway between the lowest positive and the highest negative",
}

_PLAIN = ("equal-error", "min-max")
_WITH_PRIOR = ("precision", "alerts")
_ROUNDING = 1e-12  # of a bound, by which a rate that is a fraction may miss it


class UnreachableTargetError(InvalidSetting):
    """No threshold on the rows at hand obeys a rule.

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
    def parse(cls, text: str) -> ThresholdRule:
        """Read a rule: ``equal-error``, ``fpr=0.05``, ``precision=0.9@0.01``, ``cost=1:20@0.01``.

        A cost is that of a false positive and of a false negative; after @ stands the share of
        positives.

        Raises
        ------
        InvalidSetting
            If it has another ending.
        """
        name, _, rest = text.partition("=")
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
            raise InvalidSetting(
                "threshold", f"the threshold {text!r} cannot be read: {error}"
            ) from error
        if rest or name not in _PLAIN:
            raise InvalidSetting(
                "threshold",
                "the threshold must be equal-error, min-max, fpr=F, tpr=F, precision=F[@PRIOR], "
                f"alerts=SHARE[@PRIOR] or cost=FP:FN[@PRIOR]; it is {text!r}",
            )
        return cls(name)

    def place(
        self,
        y: ArrayLike,
        score: ArrayLike,
        *,
        positive: object = None,
        weights: ArrayLike | None = None,
    ) -> float:
        """Find t such that calling positive where score > t obeys the rule on these rows.

        Rates are those of weighted rows, if there are weights.

        Raises
        ------
        UnreachableTargetError
            If no threshold does.
        """
        return self.place_on(roc_curve(y, score, positive=positive, weights=weights))

    def place_on(self, curve: Curve) -> float:
        """Do what :meth:`place` does, on a curve with all its vertices."""
        if self.rule == "equal-error":
            return equal_error_threshold_of(curve)
        if self.rule == "min-max":
            return minmax_threshold(curve)
        if self.rule == "cost":
            return cost_threshold(curve, self.cost_fp, self.cost_fn, self.prior)
        return cut_at(curve, self._vertex(curve))

    def _vertex(self, curve: Curve) -> int:
        """Find the vertex of a rule that bounds a rate."""
        m, n = curve.positives, curve.negatives
        if self.rule == "tpr":
            return int(np.searchsorted(curve.tp, _least(curve, m, self.tpr), "left"))
        if self.rule == "fpr":
            allowed = _most(curve, n, self.fpr)
            return int(np.searchsorted(curve.fp, allowed, "right")) - 1
        prior = m / (m + n) if self.prior is None else self.prior
        true, false = prior * curve.tpr, (1 - prior) * curve.fpr
        if self.rule == "alerts":
            allowed_share = self.alerts * (1 + _ROUNDING)
            return int(np.searchsorted(true + false, allowed_share, "right")) - 1
        return _precise_vertex(true, false, self.precision)

    def describe(self) -> str:
        """State in words where the threshold lies."""
        bounds = {
            "fpr": f"the false-positive rate is at most {self.fpr:g}",
            "tpr": f"the true-positive rate is at least {self.tpr:g}",
            "precision": f"the precision is at least {self.precision:g}",
            "alerts": f"at most a share {self.alerts:g} of all cases is called positive",
        }
        if self.rule in bounds:
            at = self.rule in _WITH_PRIOR and self.prior is not None
            return bounds[self.rule] + (f" at {self.prior:g} positives" if at else "")
        if self.rule == "cost":
            costs = f"the expected cost is least, false alarms to misses {self.cost_fp:g}"
            prior = "" if self.prior is None or math.isnan(self.prior) else f" at {self.prior:g}"
            return f"{costs} : {self.cost_fn:g}{prior and prior + ' positives'}"
        return RULES[self.rule]


def _least(curve: Curve, total: float, share: float) -> float:
    """Return what reaches a share of a class: whole rows, or a sum of weights but for rounding."""
    if curve.behind is None:
        return math.ceil(position(int(total), share))
    return total * share * (1 - _ROUNDING)


def _most(curve: Curve, total: float, share: float) -> float:
    """Return what does not exceed a share of a class; see :func:`_least`."""
    if curve.behind is None:
        return math.floor(position(int(total), share))
    return total * share * (1 + _ROUNDING)


def _precise_vertex(true: Array, false: Array, least: float) -> int:
    """Find the vertex that finds most, with fewest alarms, of those that are precise enough."""
    precision = true[1:] / (true[1:] + false[1:])
    enough = np.flatnonzero(precision >= least * (1 - _ROUNDING)) + 1
    if not len(enough):
        best = float(precision.max())
        raise UnreachableTargetError(
            f"no threshold on these rows has precision ≥ {least:g}; the best is {best:.3g}", best
        )
    return int(enough[np.searchsorted(true[enough], true[enough[-1]], "left")])
