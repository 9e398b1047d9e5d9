"""What groups and times ask of a run, and what there is to say about them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.choices import listed
from aucstudio.project.data.columns import spell_cell
from aucstudio.project.data.date_parts import grows
from aucstudio.project.data.splitting.enough import require_groups
from aucstudio.project.data.splitting.forward import Rows, blocks_of, time_column, times_of
from aucstudio.project.data.splitting.groups import Groups, groups_by
from aucstudio.project.data.splitting.split import Split, splits_of
from aucstudio.project.data.splitting.validation import FILE, FORWARD, Validation
from aucstudio.project.data.table import Table
from aucstudio.project.errors import InputError

_EASY = 200_000
_MOST_BLOCKS = 10  # of neighbouring times


def check_groups(
    validation: Validation, table: AnyTable, test_table: AnyTable | None = None
) -> None:
    """Refuse, before anything is trained, a scheme that groups or times of rows do not allow.

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
        # To sort many rows takes long; the run itself does so.
        draw = splits_of if table.rows <= _EASY else _column
        draw(table, validation)
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


def _column(table: AnyTable, validation: Validation) -> object:
    return time_column(table, validation.time)


def forward_notes(
    validation: Validation, table: AnyTable, splits: Sequence[Split], folds_within: bool
) -> tuple[str, ...]:
    """Say which rows were judged by which, where a run goes forward in time.

    ``folds_within`` tells that the method parts its training rows itself.
    """
    if validation.scheme != FORWARD:
        return ()
    name, times = validation.time, times_of(table, validation.time)
    column = time_column(table, name)
    first = float(times[splits[0].test].min())
    since = spell_cell(column, first)
    never = int(np.count_nonzero(times < first))
    judged = sum(len(split.test) for split in splits)
    unit = f"{'day' if column.is_date else 'unit'}s of {name}"
    notes = [
        f"Forward in time by {name}: {judged:,} rows from {since} on are judged in {len(splits)} "
        f"steps, each by training on earlier rows alone. The first {never:,} rows, before {since}, "
        "are never judged."
    ]
    if folds_within:
        apart = "blocks of neighbouring times" if table.groups is None else "whole groups"
        notes.append(
            f"Within the training rows of each step the method holds out {apart} in turn: its own "
            "choices, such as the weights of members, also rest on members trained on later rows "
            "of the training part. The rows that are judged had no part in them."
        )
    if validation.gap:
        notes.append(f"Training rows are at least {validation.gap:g} {unit} earlier.")
    if validation.window:
        notes.append(f"Training reaches back {validation.window:g} {unit} only.")
    if missing := int(np.isnan(times).sum()):
        notes.append(f"{missing:,} rows without {name} are neither trained on nor judged.")
    if column.role in ("number", "category") and grows(column):
        notes.append(
            f"{name} is learnt from too, and later rows lie beyond what was seen of it: give it "
            "the role ignore if it is there to order the rows only."
        )
    if table.groups is not None:
        notes.append(f"No step trains on a {' or '.join(table.groups.columns)} that it judges.")
    return tuple(notes)


def kept_together(validation: Validation, table: AnyTable, places: Rows) -> Groups | None:
    """Say which of some labelled rows a method keeps together that holds rows out in training.

    Where nothing else belongs together and steps go forward in time, those are blocks of
    neighbouring times: beside its own neighbours a row would be judged too well.
    """
    if table.groups is not None:
        return table.groups.part(places)
    if validation.scheme != FORWARD:
        return None
    times = times_of(table, validation.time)[places]
    codes = blocks_of(times, table.is_positive()[places], _MOST_BLOCKS)
    return None if codes is None else Groups((validation.time,), codes)


def _values(name: str, table: AnyTable) -> frozenset[str]:
    if not _has(table, name):
        return frozenset()
    return groups_by(table, (name,)).values[0]


def _has(table: AnyTable, name: str) -> bool:
    return any(column.name == name for column in table.columns)


def shared_notes(table: AnyTable, test_table: AnyTable | None) -> tuple[str, ...]:
    """Say how many rows of a test file are trained on, where both are in memory."""
    if not isinstance(table, Table) or not isinstance(test_table, Table):
        return ()
    from aucstudio.project.data.findings.copies import shared

    found = shared(table, test_table)
    return () if found is None else (f"{found.sentence[:1].upper()}{found.sentence[1:]}.",)


def group_notes(
    validation: Validation, table: AnyTable, test_table: AnyTable | None, splits: Sequence[Split]
) -> tuple[str, ...]:
    """Say what was kept together, and what a person has to know of the figures then."""
    groups = table.groups
    if groups is None or validation.scheme == FORWARD:
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
    notes = [kept]
    different = len({split.test.tobytes() for split in splits if split.fold == 0})
    if different < validation.repeats and validation.scheme != FILE:
        notes.append(
            f"Groups differ in size, which leaves little choice: only {different} of the "
            f"{validation.repeats} repeats hold out different rows; the others add nothing."
        )
    return tuple(notes)
