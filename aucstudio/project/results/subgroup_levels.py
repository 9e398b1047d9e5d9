"""Divide rows into subgroups by levels or ranges of a column."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.columns import Column, spell_cell, spelled
from aucstudio.project.data.preparing.scales import MISSING
from aucstudio.project.data.table import Table
from aucstudio.project.errors import InputError

MOST_LEVELS = 20
QUANTILES = 4  # groups of a column of many numbers
OTHERS = "(others)"


@dataclasses.dataclass(frozen=True, eq=False)
class Parting:
    """The subgroup of each row of a table.

    Attributes
    ----------
    names : tuple of str
        Of the subgroups: numbers by size, texts by letters, then the merged levels and the rows
        without a value.
    part : ndarray of int, shape (rows,)
    merged : int
        Number of levels merged into one subgroup; 0 if none.
    """

    names: tuple[str, ...]
    part: NDArray[np.intp]
    merged: int = 0


def part_rows(table: Table, name: str, cuts: Sequence[float] = ()) -> Parting:
    """Split the rows by a column of any role.

    Numbers are divided at the cut points; without any, a column with at most 20 values by these
    values, one with more by its quartiles. If there are more than 20 levels, the smallest are
    merged into one group. Rows without a value are a group.

    Raises
    ------
    InputError
        If there is no such column, it holds texts and there are cuts, or it gives one part alone.
    """
    column = table.column(name)
    by_value = column.kind == "text" or not (cuts or column.distinct > MOST_LEVELS)
    if cuts and column.kind == "text":
        raise InputError(
            f"column {name!r} of {table.path.name} holds text, which cut points cannot divide: "
            "leave the cut points out",
            file=str(table.path),
            column=name,
            setting="cuts",
        )
    found = _by_level(column) if by_value else _by_range(column, cuts)
    if len(found.names) < 2:
        raise InputError(
            f"column {name!r} of {table.path.name} gives only one group: all rows are in "
            f"{found.names[0] if found.names else 'none'}",
            file=str(table.path),
            column=name,
            setting="by",
        )
    return found


def read_cuts(text: str) -> tuple[float, ...]:
    """Read cut points such as ``40, 65``.

    Raises
    ------
    InputError
    """
    words = [word for word in re.split(r"[;,\s]+", text.strip()) if word]
    try:
        cuts = tuple(sorted({float(word.replace("−", "-")) for word in words}))
    except ValueError:
        cuts = (np.nan,)
    if not np.isfinite(cuts).all() or len(cuts) >= MOST_LEVELS:
        raise InputError(
            f"cut points are up to {MOST_LEVELS - 1} numbers such as 40, 65; got {text!r}",
            setting="cuts",
        )
    return cuts


def _by_level(column: Column) -> Parting:
    known = column.known()
    if column.kind == "number":
        texts = np.array([spell_cell(column, c) if c == c else "" for c in column.values.tolist()])
    else:
        texts = spelled(column)
    counts = Counter(texts[known].tolist())
    most = MOST_LEVELS - bool(not known.all())
    kept = counts.most_common(most if len(counts) <= most else most - 1)
    names = [name for name, _ in kept]
    if column.kind == "number":
        size = dict(zip(texts[known].tolist(), column.values[known].tolist(), strict=True))
        names.sort(key=size.__getitem__)
    else:
        names.sort()
    merged = len(counts) - len(names)
    place = {name: k for k, name in enumerate(names)}
    part = np.array([place.get(text, len(place)) for text in texts.tolist()], dtype=np.intp)
    more = [OTHERS] * (merged > 0) + [MISSING] * (not known.all())
    names += [_no_level(name, place) for name in more]
    part[~known] = len(names) - 1
    return Parting(tuple(names), part, merged)


def _no_level(name: str, levels: Collection[str]) -> str:
    """Set a name apart from levels that are called so."""
    while name in levels:
        name = f"({name})"
    return name


def _by_range(column: Column, cuts: Sequence[float]) -> Parting:
    known = column.known()
    values = column.values[known]
    if not cuts and len(values):
        shares = np.arange(1, QUANTILES) / QUANTILES
        cuts = np.unique(np.quantile(values, shares, method="inverted_cdf")).tolist()
    # A cut point below or above all values divides nothing.
    ends = [cut for cut in cuts if values.size and values.min() < cut <= values.max()]
    said = [spell_cell(column, cut) for cut in ends]
    below, above = ("before {}", "from {} on") if column.is_date else ("below {}", "{} and above")
    names = [below.format(said[0])] if said else ["any value"]
    names += [f"{low} to {below.format(high)}" for low, high in itertools.pairwise(said)]
    names += [above.format(said[-1])] if said else []
    part = np.full(len(known), len(names), dtype=np.intp)
    part[known] = np.searchsorted(np.array(ends), values, side="right")
    return Parting(tuple(names) + (MISSING,) * (not known.all()), part)
