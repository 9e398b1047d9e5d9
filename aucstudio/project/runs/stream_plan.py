"""When a table stays on disk, and what can be done with it then."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aucstudio.engine import DECLARED
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.parquet import count_cells
from aucstudio.project.data.preparing.preparation_choice import (
    MIN_MAX,
    MOST_FREQUENT,
    NONE,
    NORMAL_RANKS,
    RANKS,
    ROBUST,
    STANDARD,
)
from aucstudio.project.data.readers.registry import PARQUET, recognise
from aucstudio.project.data.splitting.validation import LEAVE_PAIR_OUT
from aucstudio.project.data.table import read_table
from aucstudio.project.errors import InputError
from aucstudio.project.runs.estimate import machine_memory
from aucstudio.project.runs.experiments.experiment import Experiment
from aucstudio.project.words import bytes_words

# The table, the prepared training rows, and what reading or training adds to either.
_TIMES_IN_MEMORY = 3.0
_MOST_OF_MEMORY = 0.8
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}
_LEAST_BLOCK = 1_000
_NOT_ON_DISK = {
    ROBUST: "scaled by quartiles",
    MIN_MAX: "scaled from 0 to 1",
    RANKS: "turned into ranks",
    NORMAL_RANKS: "turned into ranks",
}


def read_size(text: str) -> int:
    """Read a size such as 64M, in bytes.

    Raises
    ------
    InputError
        If it is none, or less than 1 kB.
    """
    found = re.fullmatch(r"([0-9]+)([KMG]?)B?", text.strip().upper())
    size = int(found[1]) * _UNITS[found[2]] if found else 0
    if size < _LEAST_BLOCK:
        raise InputError(
            f"a block size is a number of bytes such as 64M, and at least 1K; it is {text!r}",
            setting="block_size",
        )
    return size


def table_reader(
    path: str | Path, method: str | None, stream: bool, block_size: str | None
) -> tuple[Callable[..., AnyTable], str]:
    """Choose how a table is read, and say so in a sentence if it was not asked for.

    Parameters
    ----------
    path : str or Path
    method : str or None
        The method to be trained; None for rows to be scored.
    stream : bool
        Whether it is to stay on disk, whatever its size.
    block_size : str or None
        Size of a block, for an out-of-memory table.

    Raises
    ------
    InputError
        If the method needs all rows in memory, and the table must or shall stay on disk.
    """
    given: dict[str, Any] = {} if block_size is None else {"block_bytes": read_size(block_size)}
    needed, memory, said = 0.0, machine_memory(), ""
    if not stream and block_size is None:
        needed = _TIMES_IN_MEMORY * _cell_bytes(Path(path))
        if needed <= _MOST_OF_MEMORY * memory:
            return read_table, ""
        said = (
            f"{path} would take about {bytes_words(needed)} of memory, and this machine has "
            f"{bytes_words(memory)}"
        )
    if method is not None and method in DECLARED and not DECLARED[method].adds_up:
        able = ", ".join(key for key, other in DECLARED.items() if other.adds_up)
        reason = f"{said}: " if said else ""
        raise InputError(
            f"{reason}{method} needs all rows in memory at once; for an out-of-memory table "
            f"take one of {able}, or train on a sample of the rows",
            file=str(path),
            setting="method",
        )
    from aucstudio.project.data.disk.stream import open_stream

    reader = functools.partial(open_stream, **given)
    return reader, f"{said}: it stays on disk and is read in blocks" if said else ""


def _cell_bytes(path: Path) -> float:
    """Guess what the cells of a table take in memory, from little of the file."""
    try:
        found, _ = recognise(path)
    except InputError:
        return 0.0  # it is told by who reads it
    if found is PARQUET:
        return 8.0 * count_cells(path)
    # A cell of text is about as long as a double.
    return found.swelling * os.path.getsize(path)


def check_stream(experiment: Experiment) -> None:
    """Refuse what cannot be done with an out-of-memory table.

    Raises
    ------
    InputError
    """
    what, setting = "", ""
    if experiment.tuning is not None:
        what, setting = "settings cannot be searched", "tune"
    if experiment.validation.scheme == LEAVE_PAIR_OUT:
        what, setting = "pairs cannot be left out", "validation"
    if experiment.weight is not None:
        what, setting = "rows cannot be weighted", "weight"
    choice = experiment.preparation
    if choice.impute == MOST_FREQUENT:
        what, setting = "the most frequent number of a column cannot be found", "impute"
    if choice.scale not in (STANDARD, NONE):
        what, setting = f"numbers cannot be {_NOT_ON_DISK[choice.scale]}", "scale"
    if setting in ("impute", "scale"):
        raise InputError(
            f"{what} on an out-of-memory table: choose the median or the mean for missing "
            "values, and standardise numbers or leave their scale",
            setting=setting,
        )
    if setting == "weight":
        raise InputError(
            f"{what} on an out-of-memory table: give the column of weights another role, or "
            "train on a sample of the rows",
            setting=setting,
        )
    if what:
        raise InputError(
            f"{what} on an out-of-memory table: do so on a sample of its rows, and give the "
            "settings found",
            setting=setting,
        )
