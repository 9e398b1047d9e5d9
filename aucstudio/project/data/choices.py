"""Validate choices of roles and classes."""

from __future__ import annotations

import collections
from collections.abc import Mapping, Sequence
from pathlib import Path

from aucstudio.project.data.columns import (
    NUMERIC_ROLES,
    ROLES,
    WEIGHT_ROLES,
    ColumnInfo,
    spell_number,
)
from aucstudio.project.errors import InputError
from aucstudio.project.words import suggestion

MOST_CLASSES = 1000
_SHOWN = 10


def check_role(path: Path, column: ColumnInfo, role: str) -> None:
    """Raise InputError unless the column can have the role."""
    if role not in ROLES:
        raise InputError(
            f"unknown role {role!r} for column {column.name!r}; use one of {', '.join(ROLES)}",
            file=str(path),
            column=column.name,
            setting="role",
        )
    if role in NUMERIC_ROLES and column.kind == "text":
        what = "a number" if role == "number" else f"the {role} of rows"
        raise InputError(
            f"column {column.name!r} of {path} holds text and cannot be {what}; make it a "
            "category or ignore it",
            file=str(path),
            column=column.name,
            setting="role",
        )


def check_classes(
    path: Path, column: ColumnInfo, counts: dict[str, int] | None, least: int = 2
) -> dict[str, int]:
    """Check the rows of each class of a label column, and give them.

    Raises
    ------
    InputError
        If there are fewer than ``least`` classes, or too many to be classes: ``counts`` is None.
    """
    if counts is None:
        some = column.distinct if column.distinct > MOST_CLASSES else f"over {MOST_CLASSES:,}"
        raise InputError(
            f"column {column.name!r} of {path} has {some} different values and cannot be the "
            "label; choose a column with few classes"
            + (", or divide it by a cut point such as >= 5" if column.kind == "number" else ""),
            file=str(path),
            column=column.name,
            setting="label",
        )
    if len(counts) < least:
        raise one_class(path, column.name, counts, column.missing)
    return counts


def check_merge(path: Path, column: ColumnInfo, groups: Sequence[Sequence[str]]) -> None:
    """Raise InputError if a value is to be of two classes."""
    counted = collections.Counter(value for group in groups for value in group)
    twice = [value for value, count in counted.items() if count > 1]
    if twice:
        raise InputError(
            f"value {twice[0]!r} of column {column.name!r} is merged into two classes: keep one",
            file=str(path),
            column=column.name,
            setting="merge",
        )


def check_alone(path: Path, roles: Mapping[str, str]) -> None:
    """Raise InputError if several columns are to name the rows, or to weigh them."""
    for role, same, verb in (("id", {"id"}, "name"), ("weight", set(WEIGHT_ROLES), "weigh")):
        named = [name for name, given in roles.items() if given in same]
        if len(named) > 1:
            raise InputError(
                f"only one column can {verb} the rows of {path}; choose one of {listed(named)}",
                file=str(path),
                column=named[-1],
                setting=role,
            )


def check_absent(path: Path, column: ColumnInfo, numbers: Sequence[float]) -> tuple[float, ...]:
    """Return the number codes of missing values in order; InputError if there are none."""
    if numbers and column.kind == "text":
        raise InputError(
            (
                f"column {column.name!r} of {path} holds text, so no number can stand for a "
                "missing value"
            ),
            file=str(path),
            column=column.name,
            setting="missing",
        )
    return tuple(sorted({float(number) for number in numbers}))


def find_class(path: Path, column: ColumnInfo, classes: Mapping[str, int], wanted: str) -> str:
    """Find the class that ``wanted`` spells; InputError if there is none."""
    spelled = spelled_as(column, classes, wanted)
    if spelled not in classes:
        raise InputError(
            f"column {column.name!r} of {path} has no class {wanted!r}; it has "
            + listed(list(classes))
            + suggestion(wanted, classes),
            file=str(path),
            column=column.name,
            setting="positive",
        )
    return spelled


def spelled_as(column: ColumnInfo, classes: Mapping[str, int], wanted: str) -> str:
    """Spell a class as the keys of ``classes`` are: 1.0 and 01 are "1" among numbers."""
    if wanted in classes or column.kind == "text":
        return wanted
    try:
        return spell_number(float(wanted))
    except ValueError:
        return wanted


def one_class(path: Path, label: str, classes: Mapping[str, int], missing: int = 0) -> InputError:
    """Return the error for a label that does not split the rows, and lacks some values."""
    has = f"one class only ({next(iter(classes))})" if classes else "no values"
    empty = f"; {missing:,} of its cells are empty: if they mean the other class, fill them in"
    return InputError(
        f"the label column {label!r} of {path} has {has}; two classes are needed to rank"
        f"{empty if classes and missing else ''}",
        file=str(path),
        column=label,
        setting="label",
    )


def listed(names: Sequence[str], shown: int = _SHOWN) -> str:
    """Join the first names with commas, and append how many more there are."""
    more = f" and {len(names) - shown:,} more" if len(names) > shown else ""
    return ", ".join(names[:shown]) + more
