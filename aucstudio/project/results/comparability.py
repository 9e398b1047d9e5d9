"""Why two runs were not tested on the same rows, and what to do."""

from __future__ import annotations

import dataclasses
from pathlib import PurePath

import numpy as np

from aucstudio.engine.roc import FREQUENCY
from aucstudio.project.results.common_rows import comparable
from aucstudio.project.results.summary import same_rows
from aucstudio.project.runs.experiments.experiment import DataReference
from aucstudio.project.runs.given_scores import is_given
from aucstudio.project.runs.record import RunRecord, SplitResult
from aucstudio.project.words import counted


@dataclasses.dataclass(frozen=True)
class Apart:
    """What sets the rows of two runs apart.

    Attributes
    ----------
    why : str
        In words, as in "tested on different tables".
    remedy : str
        What has to be done to one of the runs, as in "on the test file of the other"; empty where
        training again is no help.
    """

    why: str
    remedy: str = ""


def planned_apart(a: RunRecord, b: RunRecord) -> Apart | None:
    """Find what sets the rows of two runs apart, without reading their scores; None if nothing."""
    data, other = a.experiment.data, b.experiment.data
    if data.sha256 != other.sha256:
        return Apart(f"trained on different tables ({_files(data, other)})", "on the same table")
    test, other_test = a.experiment.test, b.experiment.test
    if test is not None and other_test is not None:
        if test.sha256 != other_test.sha256:
            why = f"tested on different tables ({_files(test, other_test)})"
            return Apart(why, "with the test file of the other")
    elif (test or other_test) and a.experiment.validation.scheme == b.experiment.validation.scheme:
        return Apart("an earlier version did not record the contents of the test file")
    first, second = (f"{one.label} = {one.positive}" for one in (data, other))
    if first != second:
        return Apart(f"made for different classes ({first} and {second})", "for the same class")
    for differ, words, remedy in (
        ("split differently", _validation, "with the same validation as the other"),
        ("split differently", _grouping, "with the groups of the other"),
        ("their rows are weighted differently", _weighing, "with the weights of the other"),
    ):
        first, second = words(a), words(b)
        if first != second:
            return Apart(f"{differ} ({first} against {second})", remedy)
    return None


def why_not_comparable(a: RunRecord, b: RunRecord) -> str:
    """Explain why two runs were not scored on the same rows; nothing if they were."""
    if same_rows(a, b):
        return ""
    if apart := planned_apart(a, b):
        return apart.why
    if len(a.splits) != len(b.splits):
        return f"different splits finished ({len(a.splits)} against {len(b.splits)})"
    if any(is_given(one) or one.experiment.members for one in (a, b)):
        return "" if comparable(a, b) else "too few rows have both scores"
    reasons = map(_why_apart, a.splits, b.splits)
    return next(filter(None, reasons), "scored on different rows")


def _why_apart(a: SplitResult, b: SplitResult) -> str:
    """Explain how the held-out rows of two splits differ; empty if they do not."""
    rows, others = a.test_rows, b.test_rows
    if not np.array_equal(rows, others):
        only_a, only_b = np.setdiff1d(rows, others).size, np.setdiff1d(others, rows).size
        if only_a or only_b:
            return (
                f"scored on different rows: {counted(only_a, 'row')} only in the first, "
                f"{counted(only_b, 'row')} only in the second"
            )
        if len(rows) != len(others):
            return "scored on the same rows, but some of them more than once"
        return "scored on the same rows in another order"
    differ = int(np.count_nonzero(a.test_positive != b.test_positive))
    return f"the labels of {counted(differ, 'row')} differ" if differ else ""


def _files(a: DataReference, b: DataReference) -> str:
    names = PurePath(a.path).name, PurePath(b.path).name
    return (
        f"{names[0]} has changed in the meantime"
        if names[0] == names[1]
        else " against ".join(names)
    )


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
