"""Map the values of a label to classes, and validate choices of roles and classes."""

from __future__ import annotations

import collections
import dataclasses
import operator
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from aucstudio.notices.words import listed, suggestion
from aucstudio.project.data.columns import (
    NUMERIC_ROLES,
    ROLES,
    WEIGHT_ROLES,
    Column,
    ColumnInfo,
    free_name,
    spell_number,
)
from aucstudio.project.errors import InputError, column_error, input_error

MOST_CLASSES = 1000


def check_role(path: Path, column: ColumnInfo, role: str) -> None:
    """Raise InputError if a column cannot have a role."""
    if role not in ROLES:
        raise column_error("role_unknown", path, column.name, role=role, roles=", ".join(ROLES))
    if role in NUMERIC_ROLES and column.kind == "text":
        what = "a number" if role == "number" else f"the {role} of rows"
        raise column_error("role_of_text", path, column.name, what=what)


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
        raise column_error(
            "label_of_many_values", path, column.name, some=some, number=column.kind == "number"
        )
    if len(counts) < least:
        raise one_class(path, column.name, counts, column.missing)
    return counts


def check_alone(path: Path, roles: Mapping[str, str]) -> None:
    """Raise InputError if several columns are to weight the rows."""
    named = [name for name, given in roles.items() if given in WEIGHT_ROLES]
    if len(named) > 1:
        raise column_error("role_twice", path, named[-1], setting="weight", names=listed(named))


def check_absent(path: Path, column: ColumnInfo, numbers: Sequence[float]) -> tuple[float, ...]:
    """Return number codes of missing values in order; raise InputError for a text column."""
    if numbers and column.kind == "text":
        raise column_error("codes_in_text", path, column.name)
    return tuple(sorted({float(number) for number in numbers}))


def find_class(path: Path, column: ColumnInfo, classes: Mapping[str, int], wanted: str) -> str:
    """Find a class by its spelling; raise InputError if there is none."""
    spelled = spelled_as(column, classes, wanted)
    if spelled not in classes:
        raise column_error(
            "class_unknown",
            path,
            column.name,
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
        return column_error("label_without_values", path, label)
    code = "label_of_one_class_and_empty" if missing else "label_of_one_class"
    name = next(iter(classes))
    return input_error(code, file=path, column=label, name=name, missing=missing)


# One class, or several that are positive together.
PositiveChoice = str | Sequence[str] | None
# Spellings to merge into one class: the detected ones, the listed ones, or no change.
MergeChoice = bool | Sequence[Sequence[str]] | None

_SIGNS: dict[str, tuple[str, Callable[[Any, float], Any]]] = {
    ">=": ("<", operator.ge),
    ">": ("<=", operator.gt),
    "<=": (">", operator.le),
    "<": (">=", operator.lt),
}
_THRESHOLD = re.compile(r"\s*(>=|<=|>|<|≥|≤)\s*(\S+)\s*")
_ASCII = {"≥": ">=", "≤": "<="}


@dataclasses.dataclass(frozen=True)
class Threshold:
    """A cut point of a label: positive if ``value SIGN at``.

    Attributes
    ----------
    sign : {">=", ">", "<=", "<"}
    at : float
    """

    sign: Literal[">=", ">", "<=", "<"]
    at: float

    @classmethod
    def read(cls, text: str) -> Threshold | None:
        """Read ``>= 5``; return None if the text is not a threshold."""
        if (found := _THRESHOLD.fullmatch(text)) is None:
            return None
        try:
            at = float(found[2])
        except ValueError:
            return None
        sign: Any = _ASCII.get(found[1], found[1])
        return cls(sign, at) if np.isfinite(at) else None

    @property
    def name(self) -> str:
        """Name of the positive class."""
        return f"{self.sign} {spell_number(self.at)}"

    @property
    def other(self) -> str:
        """Name of the negative class."""
        return f"{_SIGNS[self.sign][0]} {spell_number(self.at)}"

    def marks(self, cells: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Mark the numbers on the positive side."""
        marked: NDArray[np.bool_] = _SIGNS[self.sign][1](cells, self.at)
        return marked


@dataclasses.dataclass(frozen=True)
class LabelRule:
    """How the values of a label become classes; by default each value is a class.

    Attributes
    ----------
    same : tuple of tuples of str
        Values to merge into one class, named by the first of them.
    together : tuple of str
        Classes that form the positive class together.
    name : str
        Name of that positive class.
    threshold : Threshold or None
        Cut point that divides the rows; excludes the other settings.
    """

    same: tuple[tuple[str, ...], ...] = ()
    together: tuple[str, ...] = ()
    name: str = ""
    threshold: Threshold | None = None

    def __bool__(self) -> bool:
        """Return whether some values are not classes as they are."""
        return bool(self.same or self.together or self.threshold)

    @property
    def made(self) -> str | None:
        """Name of the positive class if the rule creates it."""
        return self.name or (self.threshold.name if self.threshold else None)

    def joining(self, classes: Sequence[str], known: Iterable[str]) -> LabelRule:
        """Return the rule with several classes as the positive one; ``known`` are all names."""
        name = free_name(" or ".join(classes), set(known), "′")
        return LabelRule(self.same, tuple(classes), name)

    def spelled(self, value: str) -> str:
        """Return the merged spelling of a value."""
        return next((group[0] for group in self.same if value in group), value)

    def class_of(self, value: str) -> str:
        """Return the class of a value."""
        spelled = self.spelled(value)
        if spelled in self.together:
            return self.name
        # A later file may contain a value equal to the name of the joined classes.
        return repr(spelled) if self.together and spelled == self.name else spelled

    def classes(self, counts: Mapping[str, int]) -> dict[str, int]:
        """Count the rows of each class, given those of each value."""
        made: dict[str, int] = {}
        for value, count in counts.items():
            name = self.class_of(value)
            made[name] = made.get(name, 0) + count
        return made

    def values_of(self, name: str) -> tuple[str, ...]:
        """Return the values of a class, including those that no row has."""
        classes = self.together if self.together and name == self.name else (name,)
        found = [next((group for group in self.same if group[0] == one), (one,)) for one in classes]
        return tuple(value for group in found for value in group)

    def marks(self, column: Column, positive: str) -> NDArray[np.bool_]:
        """Mark the rows of a class; rows without a label are in no class."""
        if self.threshold is not None:
            marked = self.threshold.marks(column.values)
            return marked if positive == self.threshold.name else column.known() & ~marked
        marked = np.zeros(len(column.values), dtype=bool)
        for value in self.values_of(positive):
            marked |= column.equals(value)
        return marked


AS_THEY_ARE = LabelRule()


# Counts the rows of each value; None if there are too many values.
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
    """Return the rule after some choices, and the chosen or kept positive class.

    Parameters
    ----------
    rule : LabelRule
        The current rule.
    positive, merge
        As for :meth:`~aucstudio.project.data.any_table.AnyTable.with_roles`.
    kept : str or None
        The current positive class.

    Raises
    ------
    InputError
        If there is no such class, or a value is assigned to two classes.
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
    """Return groups of values to merge, each beginning with the name of the group.

    Parameters
    ----------
    merge : bool or sequence of sequences of str
        True for values that differ in spelling only, the most frequent first.

    Raises
    ------
    InputError
        If a value is in two groups.
    """
    if merge is True:
        return tuple(map(tuple, usual_spellings(values() or {})))
    groups = [] if merge is False else [tuple(dict.fromkeys(group)) for group in merge]
    counted = collections.Counter(value for group in groups for value in group)
    if twice := [value for value, count in counted.items() if count > 1]:
        raise column_error("merged_twice", path, column.name, value=twice[0])
    return tuple(group for group in groups if len(group) > 1)


def equal_spellings(names: Iterable[str]) -> list[list[str]]:
    """Group names that differ only in capitals, blanks and Unicode forms; two or more each."""
    groups: dict[str, list[str]] = {}
    for name in names:
        folded = " ".join(unicodedata.normalize("NFKC", name).casefold().split())
        groups.setdefault(folded or name, []).append(name)
    return [group for group in groups.values() if len(group) > 1]


def usual_spellings(counts: Mapping[str, int]) -> list[list[str]]:
    """Group names with several spellings, the most frequent spelling first."""
    return [
        sorted(group, key=lambda name: (-counts[name], name)) for group in equal_spellings(counts)
    ]
