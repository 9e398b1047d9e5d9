"""Suggest methods for a table, with estimated cost."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from aucstudio.engine import METHODS
from aucstudio.engine.cost import Cost, largest_memory
from aucstudio.engine.params import InvalidSetting
from aucstudio.notices.words import bytes_words, rough_words
from aucstudio.project.data.preparing.preparation_choice import USUAL
from aucstudio.project.data.splitting.validation import LEAVE_PAIR_OUT, Validation
from aucstudio.project.data.table import Table
from aucstudio.project.runs.estimate import cost_of_fit, fits_sparse, machine_memory, training_size
from aucstudio.project.runs.experiments.experiment import Band

_PATIENCE = 1800.0  # seconds of a run that may be recommended
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
    """

    fits: int
    cost: Cost | None = None
    problem: str = ""

    @property
    def seconds(self) -> float | None:
        """Time of the run, if it can be estimated."""
        if self.cost is None or self.cost.seconds is None:
            return None
        return self.fits * self.cost.seconds

    @property
    def words(self) -> str:
        """The time as a short text."""
        if self.problem:
            return "too large" if self.cost is None else "too large here"
        return "–" if self.seconds is None else f"about {rough_words(self.seconds)}"

    @property
    def details(self) -> str:
        """The cost, or why the run is impossible, as a sentence."""
        if self.problem or self.cost is None:
            return self.problem
        several = f"{self.fits} fits: " if self.fits > 1 else ""
        return several + self.cost.words


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
    size, memory = training_size(validation, table, table.positive), machine_memory()
    found = {key: _outlook(key, settings(key), validation, size, memory, table) for key in METHODS}
    if table.weight is None:
        return found
    unable = f"Takes no row weights, and column {table.weight} weighs the rows."
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
        return Outlook(fits, problem=f"Too large for this method: {refusal}")
    sparse = validation.scheme != LEAVE_PAIR_OUT and fits_sparse(key, settings, None, USUAL, table)
    cost = cost_of_fit(fit, size, table, sparse=sparse)
    if cost.bytes > largest_memory(memory):
        return Outlook(
            fits,
            problem=f"Too large for this computer: one fit would take about "
            f"{bytes_words(cost.bytes)} of memory, and there are {bytes_words(memory)}. "
            f"Instead: {cost.advice}.",
        )
    if validation.scheme == LEAVE_PAIR_OUT and not method.leaves_pairs_out:
        return Outlook(
            fits,
            cost,
            "Leave-pair-out would train this method once for every pair; choose another scheme.",
        )
    return Outlook(fits, cost)


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
    positives, negatives, _features = size
    rows, counted = positives + negatives, f"{positives + negatives:,} training rows"
    if rows <= _FEW_ROWS:
        yield "auc-rls", f"{counted}: closed-form solution; tuning adds almost no time."
    else:
        yield "rank-svm", f"{counted}, {positives * negatives:,} pairs: few iterations even so."
    low, high = band
    if band != (0.0, 1.0):
        inside = round((high - low) * negatives)
        if inside >= _FEWEST_IN_RANGE:
            yield (
                "svm-pauc",
                f"Trains for the range of interest, FPR {low:g} … {high:g}: "
                f"{inside:,} training negatives lie in it.",
            )
    if _FEWEST_FOR_KERNELS <= rows <= _FEW_ROWS:
        yield "kernel-rank-svm", "Non-linear boundaries: shows whether a linear one is enough."
    elif rows > _FEW_ROWS:
        yield (
            "nbauc",
            f"Non-linear boundaries with {counted}: shows whether a linear one is enough.",
        )
    missing = sum(column.missing for column in table.features)
    if missing and rows >= _FEWEST_FOR_KERNELS:
        yield "gradient-boosting", f"{missing:,} missing values: used directly, not filled in."
    elif rows >= _FEWEST_FOR_TREES:
        yield "gradient-boosting", "A strong baseline on tables."
    else:
        yield "logistic", f"Only {counted}: a simple baseline that needs few."
