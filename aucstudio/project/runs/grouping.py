"""Groups and times of a run, with notices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from aucstudio.notices import Notice, notice
from aucstudio.notices.words import listed
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.columns import spell_cell
from aucstudio.project.data.date_parts import grows
from aucstudio.project.data.splitting.groups import Groups, groups_by
from aucstudio.project.data.splitting.split import Split, require_groups, splits_of
from aucstudio.project.data.splitting.validation import FILE, FORWARD, Validation
from aucstudio.project.data.table import Table
from aucstudio.project.errors import InputError

Rows = NDArray[np.intp]
_EASY = 200_000
_MOST_BLOCKS = 10  # of neighbouring times


def check_groups(
    validation: Validation, table: AnyTable, test_table: AnyTable | None = None
) -> None:
    """Refuse a scheme that groups or times of rows do not allow, before anything is trained.

    Parameters
    ----------
    validation : Validation
    table : Table
    test_table : Table, optional
        Of the scheme ``"file"``.

    Raises
    ------
    InputError
        If a class lies within too few groups or times, or groups are in the test file too.
    """
    if validation.scheme == FORWARD:
        from aucstudio.project.data.splitting.split import time_column

        # Sorting many rows takes long; the run sorts them anyway.
        time_column(table, validation.time)
        if table.rows <= _EASY:
            splits_of(table, validation)
        return
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


def forward_notes(
    validation: Validation, table: AnyTable, splits: Sequence[Split], folds_within: bool
) -> tuple[Notice, ...]:
    """Return notes on a run that goes forward in time.

    ``folds_within`` says that the method splits its training rows itself.
    """
    if validation.scheme != FORWARD:
        return ()
    from aucstudio.project.data.splitting.split import time_column, times_of

    name, times = validation.time, times_of(table, validation.time)
    column = time_column(table, name)
    first = float(times[splits[0].test].min())
    since = spell_cell(column, first)
    never = int(np.count_nonzero(times < first))
    tested = sum(len(split.test) for split in splits)
    unit = f"{'day' if column.is_date else 'unit'}s of {name}"
    notes = [
        notice(
            "forward",
            column=name,
            tested=tested,
            since=since,
            steps=len(splits),
            never=never,
        )
    ]
    if folds_within:
        inner = "forward_inner_blocks" if table.groups is None else "forward_inner_groups"
        notes.append(notice(inner))
    if validation.gap:
        notes.append(notice("forward_gap", gap=float(validation.gap), unit=unit))
    if validation.window:
        notes.append(notice("forward_window", window=float(validation.window), unit=unit))
    if missing := int(np.isnan(times).sum()):
        notes.append(notice("forward_missing", rows=missing, column=name))
    if column.role in ("number", "category") and grows(column):
        notes.append(notice("forward_trains_on_time", column=name))
    if table.groups is not None:
        notes.append(notice("forward_groups", columns=tuple(table.groups.columns)))
    return tuple(notes)


def kept_together(validation: Validation, table: AnyTable, places: Rows) -> Groups | None:
    """Return which labelled rows stay together if a method holds rows out in training.

    Forward in time these are blocks of neighbouring times unless there are groups: scores of a row
    are optimistic if its neighbours in time are trained on.
    """
    if table.groups is not None:
        return table.groups.part(places)
    if validation.scheme != FORWARD:
        return None
    from aucstudio.project.data.splitting.split import blocks_of, times_of

    times = times_of(table, validation.time)[places]
    codes = blocks_of(times, table.is_positive()[places], _MOST_BLOCKS)
    return None if codes is None else Groups((validation.time,), codes)


def _values(name: str, table: AnyTable) -> frozenset[str]:
    if not _has(table, name):
        return frozenset()
    return groups_by(table, (name,)).values[0]


def _has(table: AnyTable, name: str) -> bool:
    return any(column.name == name for column in table.columns)


def shared_notes(table: AnyTable, test_table: AnyTable | None) -> tuple[Notice, ...]:
    """Return a note on rows of a test file that are training rows, if both are in memory."""
    if not isinstance(table, Table) or not isinstance(test_table, Table):
        return ()
    from aucstudio.project.data.findings.copies import shared

    found = shared(table, test_table)
    return () if found is None else (found,)


def group_notes(
    validation: Validation, table: AnyTable, test_table: AnyTable | None, splits: Sequence[Split]
) -> tuple[Notice, ...]:
    """Return notes on the rows that are kept together."""
    groups = table.groups
    if groups is None or validation.scheme == FORWARD:
        return ()
    columns = tuple(groups.columns)
    if validation.scheme == FILE:
        unknown = tuple(n for n in columns if test_table is None or not _has(test_table, n))
        kept = (
            notice("groups_unknown_in_file", columns=unknown)
            if unknown
            else notice("groups_apart_in_file", columns=columns)
        )
    else:
        kept = notice("groups_kept", columns=columns, groups=int(groups.count))
    notes = [kept]
    different = len({split.test.tobytes() for split in splits if split.fold == 0})
    if different < validation.repeats and validation.scheme != FILE:
        notes.append(notice("repeats_alike", different=different, repeats=int(validation.repeats)))
    return tuple(notes)
