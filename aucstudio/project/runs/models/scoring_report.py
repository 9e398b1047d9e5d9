"""What a model met in a table that it scored, for people and as plain data."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

import numpy as np

from aucstudio.notices import Notice, notice
from aucstudio.project.data.preparing.scales import FarCells
from aucstudio.project.data.text.rejects import Rejected, Unreadable
from aucstudio.project.words import figure_words, interval_words

SHOWN = 10


@dataclasses.dataclass(frozen=True)
class Unseen:
    """Levels of a column that the model has never met: rows that hold one, and some of them."""

    count: int
    values: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Area:
    """An AUC with its interval of 95 %."""

    value: float
    low: float
    high: float


@dataclasses.dataclass(frozen=True)
class ScoringReport:
    """What a model met in a table, beside its scores.

    Attributes
    ----------
    table : str
    rows : int
        Data rows of the file, left-out rows included.
    scored : int
    matched, ignored, missing : tuple of str
        Columns that the model knows, columns of the file that it does not, and columns it knows
        that the file lacks.
    unseen : dict of str to Unseen
        By column.
    gaps : dict of str to int
        By column, rows without a value where training had none, or a smaller share.
    unreadable : dict of str to Unreadable
        By column, cells that are no numbers; they count as missing.
    far : tuple of FarCells
        By column, numbers too far from those of training to compute with; they count as missing.
    left_out : tuple of Rejected
        The first hundred.
    auc : Area or None
        None where the table does not hold both classes of the label.
    without_auc : str
        Why there is none although the label is there; else empty.
    weight : str or None
        The column that weighed the rows in training; here every row counts once.
    allowed : dict of str to tuple of str
        By kind of refusal, columns that are not refused for it.
    """

    table: str
    rows: int
    scored: int
    matched: tuple[str, ...]
    ignored: tuple[str, ...]
    missing: tuple[str, ...]
    unseen: dict[str, Unseen]
    gaps: dict[str, int]
    unreadable: dict[str, Unreadable]
    far: tuple[FarCells, ...]
    left_out: tuple[Rejected, ...]
    auc: Area | None = None
    without_auc: str = ""
    weight: str | None = None
    allowed: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Give the report as plain data, for ``aucstudio score --json``."""
        document = dataclasses.asdict(self)
        names = ("matched", "ignored", "missing")
        document["columns"] = {name: list(document.pop(name)) for name in names}
        for met in document["unseen"].values():
            met["values"] = list(met["values"])
        for strange in document["unreadable"].values():
            strange.pop("spellings")
        document["far"] = list(document["far"])
        document["left_out"] = list(document["left_out"])
        document["allowed"] = {kind: list(names) for kind, names in self.allowed.items()}
        if self.auc is not None:
            # Few rows have no interval, and JSON no NaN.
            document["auc"] = {
                name: None if np.isnan(value) else value for name, value in document["auc"].items()
            }
        return document

    def sentences(self) -> list[str]:
        """Say the same to a person, a line each."""
        said = [f"{self.table}: {self.scored} of {self.rows} rows scored"]
        if self.ignored:
            said.append(
                f"columns that the model does not know are ignored: {some_names(self.ignored)}"
            )
        if self.missing:
            said.append(f"columns added as missing, as allowed: {some_names(self.missing)}")
        said += map(str, self._strange())
        said += [
            f"column {name!r}: {rows_words(count)} without a value, more than in training"
            for name, count in self.gaps.items()
        ]
        said += [f"line {row.line} is left out: {row.reason}" for row in self.left_out[:SHOWN]]
        if (more := self.rows - self.scored - SHOWN) > 0:
            said.append(f"{rows_words(more)} more left out")
        if self.auc is not None:
            interval = interval_words(self.auc.low, self.auc.high)
            once = "" if self.weight is None else f", each row counted once, not by {self.weight}"
            said.append(f"AUC {figure_words(self.auc.value)}, 95 % interval {interval}{once}")
        if self.without_auc:
            said.append(f"no AUC, as {self.without_auc}")
        return [" ".join(sentence.split()) for sentence in said]

    def notices(self) -> list[Notice]:
        """Return what a run that was tested on the table should report of it."""
        found = self._strange()
        if (more := len(found) - SHOWN) > 0:
            found[SHOWN:] = [notice("further_columns", count=more)]
        if self.gaps:
            counts = [f"{name!r} {rows_words(count)}" for name, count in self.gaps.items()]
            found.append(notice("more_missing", counts=_some(counts)))
        if left_out := self.rows - self.scored:
            first = self.left_out[0]
            reason = " ".join(first.reason.split())
            found.append(notice("rows_left_out", rows=left_out, line=first.line, reason=reason))
        file = PurePath(self.table).name
        return [notice("test_file", file=file, what=each) for each in found]

    def _strange(self) -> list[Notice]:
        """Return which cells the model cannot use, one notice a column."""
        found = [
            notice("unknown_levels", column=name, rows=met.count, levels=some_names(met.values))
            for name, met in self.unseen.items()
        ]
        for name, bad in self.unreadable.items():
            values = {"column": name, "cells": bad.count, "text": bad.text}
            if bad.line is None:
                found.append(notice("not_numbers", **values))
            else:
                found.append(notice("not_numbers_in_line", line=bad.line, **values))
        return found + [far.notice for far in self.far]


def rows_words(count: int) -> str:
    """Write a count of rows."""
    return f"{count:,} row" if count == 1 else f"{count:,} rows"


def some_names(names: Sequence[str]) -> str:
    """Write names, the first ten of many."""
    return _some([repr(name) for name in names])


def _some(parts: Sequence[str]) -> str:
    more = f" and {len(parts) - SHOWN} more" if len(parts) > SHOWN else ""
    return ", ".join(parts[:SHOWN]) + more
