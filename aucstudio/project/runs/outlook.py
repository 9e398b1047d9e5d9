"""Estimated cost of every method on a table, and suggested methods."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from aucstudio.engine import METHODS
from aucstudio.engine.cost import Cost, largest_memory
from aucstudio.engine.params import InvalidSetting
from aucstudio.notices import text
from aucstudio.project.data.preparing.preparation_choice import (
    USUAL,
)
from aucstudio.project.data.table import Table
from aucstudio.project.data.validation import LEAVE_PAIR_OUT, Validation
from aucstudio.project.runs.estimate import cost_of_fit, fits_sparse, memory_limit, training_size
from aucstudio.project.runs.experiment import Band

_PATIENCE = 1800.0  # seconds of a run that may be recommended
# Seconds for preparing, scoring and storing a split, and for each row of the table in it.
_SPLIT_SECONDS, _ROW_SECONDS = 0.02, 5e-6
_FEW_SECONDS = 10.0  # a shorter time depends more on what else the machine does
_FEW_ROWS = 3000  # their kernel matrix is small
_FEWEST_FOR_KERNELS = 150
_FEWEST_FOR_TREES = 500
_FEWEST_IN_RANGE = 5  # negatives of the training part


@dataclasses.dataclass(frozen=True)
class Outlook:
    """The estimated cost of a run of one method.

    Attributes
    ----------
    fits : int
        Number of fits of the run.
    cost : Cost or None
        Of one fit; None if the table is too large for the method.
    problem : str
        Why the run is impossible; empty if it is possible.
    rows : int
        Of the table.
    """

    fits: int
    cost: Cost | None = None
    problem: str = ""
    rows: int = 0

    @property
    def seconds(self) -> float | None:
        """Time of the run, if it can be estimated."""
        if self.cost is None or self.cost.seconds is None:
            return None
        return self.fits * (self.cost.seconds + _SPLIT_SECONDS + _ROW_SECONDS * self.rows)

    @property
    def words(self) -> str:
        """The time as a short text."""
        if self.problem:
            return "too large" if self.cost is None else "too large here"
        if self.seconds is None:
            return "–"
        return text("outlook_time", seconds=self.seconds if self.seconds >= _FEW_SECONDS else None)

    @property
    def details(self) -> str:
        """The cost, or why the run is impossible, as a sentence."""
        if self.problem or self.cost is None:
            return self.problem
        several = f"{self.fits} fits: " if self.fits > 1 else ""
        time = None if self.seconds is None else self.words
        return several + text("outlook_run", time=time, bytes=self.cost.bytes)


Settings = Callable[[str], Mapping[str, Any]]
Sizes = tuple[int, int, int]


def outlooks(table: Table, validation: Validation, settings: Settings) -> dict[str, Outlook]:
    """Estimate a run of every method on a table that has two classes.

    Parameters
    ----------
    table : Table
    validation : Validation
    settings : callable
        Returns the settings of a method, given its id.
    """
    assert table.positive is not None
    size, memory = training_size(validation, table, table.positive), memory_limit()
    found = {key: _outlook(key, settings(key), validation, size, memory, table) for key in METHODS}
    if table.weight is None:
        return found
    unable = text("outlook_weights", column=table.weight)
    return {
        key: one
        if METHODS[key].takes_weights
        else dataclasses.replace(one, problem=one.problem or unable)
        for key, one in found.items()
    }


def _outlook(
    key: str,
    settings: Mapping[str, Any],
    validation: Validation,
    size: Sizes,
    memory: float,
    table: Table,
) -> Outlook:
    method, fits = METHODS[key], validation.splits
    fit = method(**settings)
    try:
        fit.check_size(*size)
    except InvalidSetting as refusal:
        return Outlook(fits, problem=text("outlook_refused", why=str(refusal)))
    sparse = validation.scheme != LEAVE_PAIR_OUT and fits_sparse(key, settings, None, USUAL, table)
    cost = cost_of_fit(fit, size, table, sparse=sparse)
    if cost.bytes > largest_memory(memory):
        advice = text("outlook_memory", taken=cost.bytes, memory=memory, advice=cost.advice)
        return Outlook(fits, problem=advice)
    if validation.scheme == LEAVE_PAIR_OUT and not method.leaves_pairs_out:
        return Outlook(fits, cost, text("outlook_pairs"))
    return Outlook(fits, cost, rows=table.rows)


def start_here(
    table: Table, validation: Validation, band: Band, found: Mapping[str, Outlook]
) -> dict[str, str]:
    """Suggest methods for a table, with the reasons.

    Parameters
    ----------
    table : Table
        With two classes.
    validation : Validation
    band : (float, float)
        The FPR range of interest.
    found : mapping of method id to Outlook
        The result of :func:`outlooks`.
    """
    assert table.positive is not None
    size = training_size(validation, table, table.positive)
    reasons: dict[str, str] = {}
    for key, reason in _suggestions(table, size, band):
        seconds = found[key].seconds
        if not found[key].problem and (seconds is None or seconds <= _PATIENCE):
            reasons.setdefault(key, reason)
    return reasons


def _suggestions(table: Table, size: Sizes, band: Band) -> Iterator[tuple[str, str]]:
    """Yield methods that suit a table, with the reasons."""
    positives, negatives, _features = size
    rows, missing = positives + negatives, sum(column.missing for column in table.features)
    inside, low = round((band[1] - band[0]) * negatives), rows < _FEWEST_FOR_KERNELS
    few, tiny = rows <= _FEW_ROWS, rows < _FEWEST_FOR_TREES
    uses_gaps = missing > 0 and not low
    for key, code, suits in (
        ("auc-rls", "suggest_closed_form", few),
        ("rank-svm", "suggest_pairs", not few),
        ("svm-pauc", "suggest_range", band != (0.0, 1.0) and inside >= _FEWEST_IN_RANGE),
        ("kernel-rank-svm", "suggest_kernel", few and not low),
        ("nbauc", "suggest_landmarks", not few),
        ("gradient-boosting", "suggest_missing", uses_gaps),
        ("gradient-boosting", "suggest_trees", not uses_gaps and not tiny),
        ("logistic", "suggest_simple", not uses_gaps and tiny),
    ):
        if suits:
            values = {"rows": rows, "pairs": positives * negatives, "range": band}
            yield key, text(code, **values, inside=inside, missing=missing)
