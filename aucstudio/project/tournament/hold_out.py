"""Held-out rows of a search, and whether enough rows remain."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.crossfit.folds import draw_folds
from aucstudio.project.data.splitting.split import Split, draw_splits, few_rows_caution
from aucstudio.project.data.splitting.validation import FILE, HOLD_OUT, Validation
from aucstudio.project.data.splitting.validation import FOLDS as K_FOLDS
from aucstudio.project.data.table import Table
from aucstudio.project.errors import InputError
from aucstudio.project.runs.experiments.experiment import DataReference
from aucstudio.project.runs.experiments.planning import plan_experiment, planned_run
from aucstudio.project.runs.grouping import check_groups
from aucstudio.project.runs.split_rows import part_weights
from aucstudio.project.tournament.standings import COMBINATION

FOLDS = 5
"""Of the training rows."""

_MOST_FOLDS = 20


def held_out_once(validation: Validation) -> Validation:
    """Return the hold-out of a search: that of the study, its test file, or one of its size."""
    if validation.scheme in (HOLD_OUT, FILE) and validation.splits == 1:
        return validation
    return Validation(test_size=validation.test_size, seed=validation.seed)


def inner_folds(validation: Validation) -> int:
    """Return the number of folds of the training rows: that of the study if it uses folds."""
    return min(validation.folds, _MOST_FOLDS) if validation.scheme == K_FOLDS else FOLDS


def plan_words(validation: Validation) -> str:
    """Describe the held-out rows and the use of the others."""
    held, folds = held_out_once(validation), inner_folds(validation)
    if held.scheme == FILE:
        rows = f"the rows of {Path(held.test_file).name}"
        return f"Final figures: {rows}. Methods are compared in {folds} folds of the open table."
    why = "" if held == validation else ", independent of the validation settings"
    of = " (as under Validation)" if validation.scheme == K_FOLDS else ""
    return (
        f"Final figures: {100 * held.test_size:.0f} % of the rows, held out at random{why}. "
        f"Methods are compared in {folds} folds{of} of the other rows."
    )


def check_table(table: Table) -> None:
    """Raise InputError if no search is possible on a table."""
    table.require_two_classes()
    table.weights  # noqa: B018  (refuses what cannot be weights)


def counted_places(table: Table, places: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the labelled rows among ``places`` whose weight is not 0."""
    weights = table.weights
    return places if weights is None else places[weights[places] > 0]


def few_rows_words(table: Table, validation: Validation) -> str:
    """Return a caution if a class has few rows of positive weight; empty otherwise."""
    positive = table.is_positive()
    positive = positive[counted_places(table, np.arange(len(positive)))]
    m = int(np.count_nonzero(positive))
    return few_rows_caution(m, len(positive) - m, validation)


def read_held_out(table: Table, validation: Validation) -> Table | None:
    """Read the test file as for a run of the combination; None without one.

    Raises
    ------
    InputError
        If it does not fit the table.
    """
    if validation.scheme != FILE:
        return None
    experiment = plan_experiment(DataReference.to_table(table), COMBINATION, {}, validation)
    test_table = planned_run(experiment, table).test_table
    assert isinstance(test_table, Table)
    part_weights(test_table, np.arange(len(test_table.is_positive())), "test file")
    return test_table


def draw(table: Table, validation: Validation, folds: int = FOLDS) -> Split:
    """Draw the held-out rows: none of the table if there is a test file.

    Raises
    ------
    InputError
        If the other rows cannot be divided into folds with both classes, or no row of a class
        counts.
    """
    check_table(table)
    check_groups(validation, table, None)
    positive = table.is_positive()
    (split,) = draw_splits(positive, validation, table.groups)
    part_weights(table, split.train, "training part")
    if validation.scheme != FILE:
        part_weights(table, split.test, "held-out part")
    places = counted_places(table, split.train)
    groups = None if table.groups is None else table.groups.part(places).codes
    if len(draw_folds(positive[places], groups, folds, validation.seed)) < 2:
        raise InputError(
            "the training rows cannot be split so that every part has both classes: Find the "
            "best needs more rows, or groups, of the rarer class",
            setting="folds",
        )
    return split
