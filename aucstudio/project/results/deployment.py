"""Deployment setting: prior, cost of a miss and cases per day."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Stakes:
    """What operating points are weighed by; the same in every view.

    Attributes
    ----------
    prior : float or None
        Share of positives; None is that of the data.
    miss : float
        Cost of a missed positive, with that of a false alarm as the unit.
    cases : float or None
        Cases a day, where alerts are counted by the day.
    """

    prior: float | None = None
    miss: float = 1.0
    cases: float | None = None
