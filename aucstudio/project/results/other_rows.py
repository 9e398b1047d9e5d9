"""Why two runs were not judged on the same rows, and what can be done about it."""

from __future__ import annotations

import dataclasses
from pathlib import PurePath

from aucstudio.engine import inference
from aucstudio.engine.roc import FREQUENCY
from aucstudio.project.results.common_rows import comparable
from aucstudio.project.results.summary import same_rows
from aucstudio.project.runs.experiments.experiment import DataReference
from aucstudio.project.runs.given_scores import is_given
from aucstudio.project.runs.record import RunRecord


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
        return Apart("an earlier program did not write down what the test file held")
    first, second = (f"{one.label} = {one.positive}" for one in (data, other))
    if first != second:
        return Apart(f"made for different classes ({first} and {second})", "for the same class")
    for differ, words, remedy in (
        ("split differently", _validation, "as the other one is validated"),
        ("split differently", _grouping, "with the groups of the other"),
        ("their rows count differently", _weighing, "with the weights of the other"),
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
    try:
        for one, other in zip(a.splits, b.splits, strict=True):
            inference.check_same_rows(
                one.test_rows, one.test_positive, other.test_rows, other.test_positive
            )
    except inference.NotSameRows as reason:
        return str(reason)
    return "scored on different rows"


def _files(a: DataReference, b: DataReference) -> str:
    names = PurePath(a.path).name, PurePath(b.path).name
    return f"{names[0]} has changed meanwhile" if names[0] == names[1] else " against ".join(names)


def _validation(record: RunRecord) -> str:
    return record.experiment.validation.describe()


def _weighing(record: RunRecord) -> str:
    name = record.experiment.weight
    if name is None:
        return "each once"
    counted = record.experiment.weight_kind == FREQUENCY
    return f"counted by {name}" if counted else f"weighted by {name}"


def _grouping(record: RunRecord) -> str:
    columns = [name for name, role in record.experiment.data.roles if role == "group"]
    return f"grouped by {' and '.join(columns)}" if columns else "not grouped"
