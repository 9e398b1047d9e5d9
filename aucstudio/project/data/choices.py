"""Validate choices of roles and classes."""

from __future__ import annotations

import collections
from collections.abc import Mapping, Sequence
from pathlib import Path

from aucstudio.notices.words import listed, suggestion
from aucstudio.project.data.columns import (
    NUMERIC_ROLES,
    ROLES,
    WEIGHT_ROLES,
    ColumnInfo,
    spell_number,
)
from aucstudio.project.errors import InputError, input_error

MOST_CLASSES = 1000


def check_role(path: Path, column: ColumnInfo, role: str) -> None:
    """Raise InputError if a column cannot have a role."""
    if role not in ROLES:
        raise input_error(
            "role_unknown", file=path, column=column.name, role=role, roles=", ".join(ROLES)
        )
    if role in NUMERIC_ROLES and column.kind == "text":
        what = "a number" if role == "number" else f"the {role} of rows"
        raise input_error("role_of_text", file=path, column=column.name, what=what)


def check_classes(
    path: Path, column: ColumnInfo, counts: dict[str, int] | None, least: int = 2
) -> dict[str, int]:
    """Return the rows of each class of a label column after a check.

    Raises
    ------
    InputError
        If there are fewer than ``least`` classes, or too many (``counts`` is None).
    """
    if counts is None:
        some = column.distinct if column.distinct > MOST_CLASSES else f"over {MOST_CLASSES:,}"
        raise input_error(
            "label_of_many_values",
            file=path,
            column=column.name,
            some=some,
            number=column.kind == "number",
        )
    if len(counts) < least:
        raise one_class(path, column.name, counts, column.missing)
    return counts


def check_merge(path: Path, column: ColumnInfo, groups: Sequence[Sequence[str]]) -> None:
    """Raise InputError if a value is assigned to two classes."""
    counted = collections.Counter(value for group in groups for value in group)
    twice = [value for value, count in counted.items() if count > 1]
    if twice:
        raise input_error("merged_twice", file=path, column=column.name, value=twice[0])


def check_alone(path: Path, roles: Mapping[str, str]) -> None:
    """Raise InputError if several columns are to identify the rows, or to weight them."""
    for role, same, verb in (("id", {"id"}, "identify"), ("weight", set(WEIGHT_ROLES), "weight")):
        named = [name for name, given in roles.items() if given in same]
        if len(named) > 1:
            raise input_error(
                "role_twice",
                file=path,
                column=named[-1],
                setting=role,
                verb=verb,
                names=listed(named),
            )


def check_absent(path: Path, column: ColumnInfo, numbers: Sequence[float]) -> tuple[float, ...]:
    """Return number codes of missing values in order; raise InputError for a text column."""
    if numbers and column.kind == "text":
        raise input_error("codes_in_text", file=path, column=column.name)
    return tuple(sorted({float(number) for number in numbers}))


def find_class(path: Path, column: ColumnInfo, classes: Mapping[str, int], wanted: str) -> str:
    """Find a class by its spelling; raise InputError if there is none."""
    spelled = spelled_as(column, classes, wanted)
    if spelled not in classes:
        raise input_error(
            "class_unknown",
            file=path,
            column=column.name,
            wanted=wanted,
            classes=listed(list(classes)),
            hint=suggestion(wanted, classes),
        )
    return spelled


def spelled_as(column: ColumnInfo, classes: Mapping[str, int], wanted: str) -> str:
    """Normalise the spelling of a class: 1.0 and 01 are "1" among numbers."""
    if wanted in classes or column.kind == "text":
        return wanted
    try:
        return spell_number(float(wanted))
    except ValueError:
        return wanted


def one_class(path: Path, label: str, classes: Mapping[str, int], missing: int = 0) -> InputError:
    """Return the error for a label with fewer than two classes."""
    if not classes:
        return input_error("label_without_values", file=path, column=label)
    code = "label_of_one_class_and_empty" if missing else "label_of_one_class"
    name = next(iter(classes))
    return input_error(code, file=path, column=label, name=name, missing=missing)
