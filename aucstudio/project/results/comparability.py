"""Why two runs were not tested on the same rows."""

from __future__ import annotations

from pathlib import PurePath

import numpy as np

from aucstudio.engine.roc import FREQUENCY
from aucstudio.notices import Notice, notice
from aucstudio.project.results.common_rows import comparable
from aucstudio.project.results.summary import same_rows
from aucstudio.project.runs.experiments.experiment import DataReference
from aucstudio.project.runs.experiments.planning import is_given
from aucstudio.project.runs.record import RunRecord, SplitResult

REMEDIES = {
    "trained_on_different_tables": "on the same table",
    "tested_on_different_tables": "with the test file of the other",
    "made_for_different_classes": "for the same class",
    "split_differently": "with the validation and groups of the other",
    "weighted_differently": "with the weights of the other",
}
"""How one of two runs has to be repeated; other differences have no remedy."""


def planned_difference(a: RunRecord, b: RunRecord) -> Notice | None:
    """Return how the planned rows of two runs differ, without reading scores; None if equal."""
    data, other = a.experiment.data, b.experiment.data
    if data.sha256 != other.sha256:
        return notice("trained_on_different_tables", files=_files(data, other))
    test, other_test = a.experiment.test, b.experiment.test
    if test is not None and other_test is not None:
        if test.sha256 != other_test.sha256:
            return notice("tested_on_different_tables", files=_files(test, other_test))
    elif (test or other_test) and a.experiment.validation.scheme == b.experiment.validation.scheme:
        return notice("test_file_not_recorded")
    for code, describe in (
        ("made_for_different_classes", _label),
        ("split_differently", _validation),
        ("split_differently", _grouping),
        ("weighted_differently", _weighing),
    ):
        first, second = describe(a), describe(b)
        if first != second:
            return notice(code, first=first, second=second)
    return None


def difference(a: RunRecord, b: RunRecord) -> Notice | None:
    """Return how the scored rows of two runs differ; None if they can be compared."""
    if same_rows(a, b):
        return None
    if planned := planned_difference(a, b):
        return planned
    if len(a.splits) != len(b.splits):
        return notice("different_splits_finished", first=len(a.splits), second=len(b.splits))
    if any(is_given(one) or one.experiment.members for one in (a, b)):
        return None if comparable(a, b) else notice("too_few_common_rows")
    found = filter(None, map(_split_difference, a.splits, b.splits))
    return next(found, notice("scored_on_different_rows", only_first=0, only_second=0))


def _split_difference(a: SplitResult, b: SplitResult) -> Notice | None:
    rows, others = a.test_rows, b.test_rows
    if not np.array_equal(rows, others):
        only_a, only_b = np.setdiff1d(rows, others).size, np.setdiff1d(others, rows).size
        if only_a or only_b:
            return notice("scored_on_different_rows", only_first=only_a, only_second=only_b)
        repeated = len(rows) != len(others)
        return notice("some_rows_scored_twice" if repeated else "rows_in_another_order")
    count = int(np.count_nonzero(a.test_positive != b.test_positive))
    return notice("labels_differ", count=count) if count else None


def _files(a: DataReference, b: DataReference) -> str:
    first, second = PurePath(a.path).name, PurePath(b.path).name
    same = first == second
    return f"{first} has changed in the meantime" if same else f"{first} against {second}"


def _label(record: RunRecord) -> str:
    return f"{record.experiment.data.label} = {record.experiment.data.positive}"


def _validation(record: RunRecord) -> str:
    return record.experiment.validation.describe()


def _weighing(record: RunRecord) -> str:
    name = record.experiment.weight
    if name is None:
        return "unweighted"
    counted = record.experiment.weight_kind == FREQUENCY
    return f"counted by {name}" if counted else f"weighted by {name}"


def _grouping(record: RunRecord) -> str:
    columns = [name for name, role in record.experiment.data.roles if role == "group"]
    return f"grouped by {' and '.join(columns)}" if columns else "not grouped"
