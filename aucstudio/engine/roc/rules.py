"""Rules that say where a scorer begins to call rows positive."""

from __future__ import annotations

import dataclasses
import math

from numpy.typing import ArrayLike

from aucstudio.engine.params import InvalidSetting
from aucstudio.engine.roc.curve import roc_curve, split_scores
from aucstudio.engine.roc.thresholds import (
    check_costs,
    cost_threshold,
    equal_error_threshold,
    fpr_threshold,
    minmax_threshold,
)

RULES = {
    "equal-error": "both error rates are equal",
    "fpr": "the false-positive rate is at most a bound",
    "cost": "the expected cost is least",
    "min-max": "midway between the lowest positive and the highest negative",
}


@dataclasses.dataclass(frozen=True)
class ThresholdRule:
    """Where to begin to call rows positive.

    Attributes
    ----------
    rule : {"equal-error", "fpr", "cost", "min-max"}
        Where FPR = 1 - TPR; where the FPR is at most ``fpr``; where the expected cost is least;
        midway between the lowest positive and the highest negative (SAUC eq. 4, for nearly
        separable scores).
    fpr : float
    cost_fp, cost_fn : float
        Costs of one false positive and of one false negative.
    prior : float or None
        Share of positives where the scorer will be used; None takes that of the rows.

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

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise ValueError(f"unknown threshold rule {self.rule!r}; there are " + ", ".join(RULES))
        if not 0 <= self.fpr <= 1:
            raise ValueError(f"the FPR of a threshold must lie within [0, 1]; it is {self.fpr}")
        check_costs(0.5 if self.prior is None else self.prior, self.cost_fp, self.cost_fn)

    @classmethod
    def parse(cls, text: str) -> ThresholdRule:
        """Read ``equal-error``, ``min-max``, ``fpr=0.05``, ``cost=1:20`` or ``cost=1:20@0.01``.

        A cost is that of a false positive, of a false negative, and the share of positives.

        Raises
        ------
        InvalidSetting
            If it is none of these.
        """
        name, _, rest = text.partition("=")
        try:
            if name == "fpr" and rest:
                return cls("fpr", fpr=float(rest))
            if name == "cost" and rest:
                costs, _, prior = rest.partition("@")
                fp, fn = (float(part) for part in costs.split(":"))
                return cls("cost", cost_fp=fp, cost_fn=fn, prior=float(prior) if prior else None)
        except ValueError as error:
            raise InvalidSetting(
                "threshold", f"the threshold {text!r} cannot be read: {error}"
            ) from error
        if rest or name not in ("equal-error", "min-max"):
            raise InvalidSetting(
                "threshold",
                f"the threshold must be equal-error, min-max, fpr=F or cost=FP:FN[@PRIOR]; "
                f"it is {text!r}",
            )
        return cls(name)

    def place(self, y: ArrayLike, score: ArrayLike, *, positive: object = None) -> float:
        """Find t such that calling positive where score > t obeys the rule on these rows."""
        if self.rule == "equal-error":
            return equal_error_threshold(y, score, positive=positive)
        if self.rule == "min-max":
            return minmax_threshold(y, score, positive=positive)
        if self.rule == "fpr":
            _, negatives = split_scores(y, score, positive)
            return fpr_threshold(negatives, self.fpr)
        curve = roc_curve(y, score, positive=positive)
        return cost_threshold(curve, self.cost_fp, self.cost_fn, self.prior)

    def describe(self) -> str:
        """Say in words where the threshold lies."""
        if self.rule == "fpr":
            return f"the false-positive rate is at most {self.fpr:g}"
        if self.rule == "cost":
            costs = f"the expected cost is least, false alarms to misses {self.cost_fp:g}"
            prior = "" if self.prior is None or math.isnan(self.prior) else f" at {self.prior:g}"
            return f"{costs} : {self.cost_fn:g}{prior and prior + ' positives'}"
        return RULES[self.rule]
