"""What a person may choose about a table: checked, with the sentence that says what is wrong."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

from aucstudio.project.data.columns import ROLES, Column, spell_number
from aucstudio.project.data.roles import guess_role
from aucstudio.project.errors import InputError

_MAX_LABELS = 1000
_SHOWN = 10


def check_role(path: Path, column: Column, role: str) -> None:
    """Raise InputError unless the column can have the role."""
    if role not in ROLES:
        raise InputError(
            f"unknown role {role!r} for column {column.name!r}; use one of {', '.join(ROLES)}",
            file=str(path),
            column=column.name,
            setting="role",
        )
    if role == "number" and column.kind == "text":
        raise InputError(
            f"column {column.name!r} of {path} holds text and cannot be a number; make it a "
            "category or ignore it",
            file=str(path),
            column=column.name,
            setting="role",
        )


def with_role(column: Column, given: Mapping[str, str], label: str | None) -> Column:
    """Give a column its role where ``given`` and the label have been chosen."""
    if column.name == label:
        return dataclasses.replace(column, role="label", why="")
    role = given.get(column.name, column.role)
    if role == "label":
        return guess_role(column)
    return column if role == column.role else dataclasses.replace(column, role=role, why="")


def count_classes(path: Path, column: Column, least: int = 2) -> dict[str, int]:
    """Count the rows of each class of a label column.

    Raises
    ------
    InputError
        If there are fewer than ``least`` classes, or too many to be classes.
    """
    if column.distinct > _MAX_LABELS:
        raise InputError(
            f"column {column.name!r} of {path} has {column.distinct} different values and cannot "
            "be the label; choose a column with few classes",
            file=str(path),
            column=column.name,
            setting="label",
        )
    classes = column.counts()
    if len(classes) < least:
        raise one_class(path, column.name, classes)
    return classes


def find_class(path: Path, column: Column, classes: Mapping[str, int], wanted: str) -> str:
    """Find the class that ``wanted`` spells; InputError if there is none."""
    spelled = spelled_as(column, classes, wanted)
    if spelled not in classes:
        raise InputError(
            f"column {column.name!r} of {path} has no class {wanted!r}; it has "
            + listed(list(classes)),
            file=str(path),
            column=column.name,
            setting="positive",
        )
    return spelled


def spelled_as(column: Column, classes: Mapping[str, int], wanted: str) -> str:
    """Spell a class as the keys of ``classes`` are: 1.0 and 01 are "1" among numbers."""
    if wanted in classes or column.kind == "text":
        return wanted
    try:
        return spell_number(float(wanted))
    except ValueError:
        return wanted


def one_class(path: Path, label: str, classes: Mapping[str, int]) -> InputError:
    """Make the sentence for a label that does not split the rows."""
    has = f"one class only ({next(iter(classes))})" if classes else "no values"
    return InputError(
        f"the label column {label!r} of {path} has {has}; two classes are needed to rank",
        file=str(path),
        column=label,
        setting="label",
    )


def listed(names: Sequence[str]) -> str:
    """List the first names, and say how many more there are."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
