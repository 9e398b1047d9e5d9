"""What keeping groups together asks of a run, and what there is to say about it."""

from __future__ import annotations

from collections.abc import Sequence

from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.choices import listed
from aucstudio.project.data.findings.copies import shared
from aucstudio.project.data.groups import find_groups
from aucstudio.project.data.split import FILE, Split, Validation, require_groups
from aucstudio.project.data.table import Table
from aucstudio.project.errors import InputError


def check_groups(
    validation: Validation, table: AnyTable, test_table: AnyTable | None = None
) -> None:
    """Refuse, before anything is trained, a scheme that would tear groups apart.

    Parameters
    ----------
    validation : Validation
    table : Table
    test_table : Table, optional
        Of the scheme ``"file"``.

    Raises
    ------
    InputError
        If a class lies within too few groups, or groups are in the test file too.
    """
    groups = table.groups
    if groups is None:
        return
    if validation.scheme != FILE:
        require_groups(table.is_positive(), validation, groups)
    elif test_table is not None:
        for name, values in zip(groups.columns, groups.values, strict=True):
            shared = sorted(values & _values(name, test_table))
            if shared:
                raise InputError(
                    f"{len(shared)} of the {len(values)} values of {name} are in {table.path} and "
                    f"in the test file {test_table.path} too ({listed(shared)}): leave their rows "
                    f"out of either file, or give {name} another role",
                    file=str(test_table.path),
                    column=name,
                    setting="test_file",
                )


def _values(name: str, table: AnyTable) -> frozenset[str]:
    if not _has(table, name):
        return frozenset()
    return find_groups((name,), table.windows(table.rows, (name,)), table.labelled()).values[0]


def _has(table: AnyTable, name: str) -> bool:
    return any(column.name == name for column in table.columns)


def shared_notes(table: AnyTable, test_table: AnyTable | None) -> tuple[str, ...]:
    """Say how many rows of a test file are trained on, where both are in memory."""
    if not isinstance(table, Table) or not isinstance(test_table, Table):
        return ()
    found = shared(table, test_table)
    return () if found is None else (f"{found.sentence[:1].upper()}{found.sentence[1:]}.",)


def group_notes(
    validation: Validation, table: AnyTable, test_table: AnyTable | None, splits: Sequence[Split]
) -> tuple[str, ...]:
    """Say what was kept together, and what a person has to know of the figures then."""
    groups = table.groups
    if groups is None:
        return ()
    what = " or ".join(groups.columns)
    if validation.scheme == FILE:
        unknown = [n for n in groups.columns if test_table is None or not _has(test_table, n)]
        kept = (
            f"The test file has no column {listed(unknown)}: whether it holds rows of groups that "
            "were trained on cannot be told."
            if unknown
            else f"No {what} of the test file was trained on."
        )
    else:
        kept = f"Rows of one {what} are kept together in every split ({groups.count:,} groups)."
    notes = [
        kept,
        "Intervals and tests that treat rows as independent (DeLong's, bands of a curve) may be "
        "too narrow where rows come in groups.",
    ]
    different = len({split.test.tobytes() for split in splits if split.fold == 0})
    if different < validation.repeats and validation.scheme != FILE:
        notes.append(
            f"Groups differ in size, which leaves little choice: only {different} of the "
            f"{validation.repeats} repeats hold out different rows; the others add nothing."
        )
    return tuple(notes)
