"""From what a person chooses about the label to the rule by which its values become classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from aucstudio.project.data.choices import check_classes, check_merge, find_class, spelled_as
from aucstudio.project.data.columns import ColumnInfo
from aucstudio.project.data.labels import LabelRule, MergeChoice, PositiveChoice, Threshold
from aucstudio.project.data.spelling import usual_spellings

# Counts the rows of each value; None where there are too many to be classes.
Values = Callable[[], dict[str, int] | None]


def rule_after(
    path: Path,
    column: ColumnInfo,
    values: Values,
    rule: LabelRule,
    positive: PositiveChoice,
    merge: MergeChoice,
    kept: str | None,
) -> tuple[LabelRule, str | None]:
    """Return the rule that choices lead to, and the positive class that was chosen or is kept.

    Parameters
    ----------
    rule : LabelRule
        The present one.
    positive, merge
        As for :meth:`~aucstudio.project.data.any_table.AnyTable.with_roles`.
    kept : str or None
        The present positive class.

    Raises
    ------
    InputError
        If there is no such class, or a value is to be of two.
    """
    if merge is not None:
        if positive is None:
            positive = rule.values_of(kept) if kept is not None and rule.threshold is None else None
            kept = None
        rule = LabelRule(merged(path, column, values, merge))
    if positive is None:
        return rule, kept
    wanted = [positive] if isinstance(positive, str) else list(positive)
    if wanted == [rule.made]:
        return rule, rule.made
    threshold = Threshold.read(wanted[0]) if len(wanted) == 1 else None
    if threshold is not None and column.kind == "number":
        return LabelRule(threshold=threshold), threshold.name
    return _classes(path, column, values(), LabelRule(rule.same), wanted)


def _classes(
    path: Path,
    column: ColumnInfo,
    values: dict[str, int] | None,
    rule: LabelRule,
    wanted: Sequence[str],
) -> tuple[LabelRule, str]:
    """Find one class, or join several."""
    classes = check_classes(path, column, values and rule.classes(values), 0)
    found = set()
    for name in wanted:
        value = spelled_as(column, values or {}, name)
        found.add(find_class(path, column, classes, rule.spelled(value)))
    names = [name for name in classes if name in found]
    if len(names) == 1:
        return rule, names[0]
    joined = rule.joining(names, [*(values or ()), *classes])
    return joined, joined.name


def merged(
    path: Path, column: ColumnInfo, values: Values, merge: bool | Sequence[Sequence[str]]
) -> tuple[tuple[str, ...], ...]:
    """Return the values of a column that are one, the one they are called by first.

    Parameters
    ----------
    merge : bool or sequence of sequences of str
        With True those that differ in spelling alone, the commonest first.

    Raises
    ------
    InputError
        If a value is to be in two groups.
    """
    if merge is True:
        return tuple(map(tuple, usual_spellings(values() or {})))
    groups = [] if merge is False else [tuple(dict.fromkeys(group)) for group in merge]
    check_merge(path, column, groups)
    return tuple(group for group in groups if len(group) > 1)
