"""Facts about a table: columns, label, classes, notes."""

from __future__ import annotations

import abc
import dataclasses
import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.notices.words import class_words, listed, suggestion
from aucstudio.project.data.choices import one_class
from aucstudio.project.data.columns import ColumnInfo
from aucstudio.project.data.finding import FORMAT, Finding, found, grouped, ranked
from aucstudio.project.data.labels import AS_THEY_ARE, LabelRule
from aucstudio.project.data.roles import other_labels
from aucstudio.project.data.text.contents import Rejected, Unreadable
from aucstudio.project.data.text.dialect import Dialect
from aucstudio.project.errors import InputError, input_error


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class TableInfo(abc.ABC):
    """Columns with roles, a label, a positive class.

    Attributes
    ----------
    path : Path
    format : str
        Key of one of the formats in :mod:`~aucstudio.project.data.readers.registry`.
    dialect : Dialect
        How a text file is laid out.
    sha256 : str
        Of the file's bytes.
    columns : tuple of ColumnInfo
    label : str or None
        Name of the label column, if any.
    positive : str or None
        The positive class, a key of ``classes``; None if it must be chosen.
    classes : dict of str to int
        Rows of each label value.
    rule : LabelRule
        How the values of the label become classes.
    unlabelled : int
        Number of rows without a label, which are not trained on.
    rejected : tuple of Rejected
        The first hundred rows that were left out.
    remarks : tuple of Finding
        Findings about the file.
    rejected_rows : int
        Number of rows that were left out.
    guessed : tuple of str
        Which of "label" and "positive" were detected.
    chosen : tuple of str
        The parts of the dialect that the user set.
    unreadable : dict of str to Unreadable
        By number column, cells that are not numbers.
    row_numbers : ndarray of int or None
        Numbers of the rows in the file, counted from 1; None if no row was left out.
    sheets : tuple of str
        All sheets, tables or members of the file; empty if it has one table.
    """

    path: Path
    format: str
    dialect: Dialect
    sha256: str
    columns: tuple[ColumnInfo, ...]
    label: str | None = None
    positive: str | None = None
    classes: dict[str, int] = dataclasses.field(default_factory=dict)
    rule: LabelRule = AS_THEY_ARE
    unlabelled: int = 0
    rejected: tuple[Rejected, ...] = ()
    rejected_rows: int = 0
    guessed: tuple[str, ...] = ()
    chosen: tuple[str, ...] = ()
    unreadable: dict[str, Unreadable] = dataclasses.field(default_factory=dict)
    row_numbers: NDArray[np.int64] | None = None
    sheets: tuple[str, ...] = ()
    remarks: tuple[Finding, ...] = ()

    @property
    @abc.abstractmethod
    def rows(self) -> int:
        """Number of rows, including unlabelled ones."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What reading the file found that may change results."""
        return tuple(remark for remark in self.remarks if remark.kind != FORMAT)

    @property
    def notices(self) -> tuple[Finding, ...]:
        """All remarks about file and roles, most important first."""
        return grouped(ranked([*self.remarks, *role_findings(self)]))

    @property
    def notes(self) -> tuple[str, ...]:
        """The texts of the notices."""
        return tuple(dict.fromkeys(notice.sentence for notice in self.notices))

    @functools.cached_property
    def features(self) -> tuple[ColumnInfo, ...]:
        """The feature columns."""
        return tuple(column for column in self.columns if column.role in ("number", "category"))

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the feature columns."""
        return tuple(column.name for column in self.features)

    @functools.cached_property
    def _places(self) -> dict[str, int]:
        return {column.name: place for place, column in enumerate(self.columns)}

    def column(self, name: str) -> ColumnInfo:
        """Return a column by name; raise InputError if there is none."""
        if (place := self._places.get(name)) is not None:
            return self.columns[place]
        names = [column.name for column in self.columns]
        raise input_error(
            "column_unknown",
            file=self.path,
            column=name,
            names=listed(names),
            hint=suggestion(name, names),
        )

    def require_two_classes(self) -> None:
        """Raise InputError unless the label divides the rows into positive and negative ones.

        Raises
        ------
        InputError
            If there is no label, all rows are of one class, or the positive class must be chosen.
        """
        label, positive = self._chosen()
        others = [count for name, count in self.classes.items() if name != positive]
        if not self.classes[positive] or not sum(others):
            raise one_class(self.path, label, self.classes)

    def _chosen(self) -> tuple[str, str]:
        if self.label is None:
            raise no_label(self)
        if len(self.classes) < 2:
            raise one_class(self.path, self.label, self.classes)
        if self.positive is None:
            raise input_error(
                "positive_absent",
                file=self.path,
                column=self.label,
                count=len(self.classes),
                classes=listed(list(self.classes)),
            )
        return self.label, self.positive

    def _dialect_inspection(self) -> dict[str, Any]:
        names = ("encoding", "delimiter", "decimal", "header")
        is_text = self.format == "csv"
        return {name: getattr(self.dialect, name) if is_text else None for name in names}

    def as_inspection(self) -> dict[str, Any]:
        """Return the table's properties as plain data, for ``aucstudio inspect --json``."""
        return {
            "file": str(self.path),
            "format": self.format,
            **({"sheet": self.dialect.sheet, "sheets": list(self.sheets)} if self.sheets else {}),
            **self._dialect_inspection(),
            "rows": self.rows,
            "rejected": [dataclasses.asdict(rejected) for rejected in self.rejected],
            "rejected_rows": self.rejected_rows,
            "columns": [
                {
                    "name": c.name,
                    "role": "date" if c.is_date and c.role == "number" else c.role,
                    "kind": "date" if c.is_date else c.kind,
                    "guessed": "label" in self.guessed if c.role == "label" else c.guessed,
                    "reason": c.reason,
                    "missing": c.missing,
                    "distinct": c.distinct,
                }
                for c in self.columns
            ],
            "label": self.label,
            "classes": dict(self.classes),
            "positive": self.positive,
            "unlabelled": self.unlabelled,
            "notes": list(self.notes),
            "notices": [notice.notice() for notice in self.notices],
        }


def role_findings(table: TableInfo) -> Iterator[Finding]:
    """Yield findings about detected roles, beginning with the label."""
    yield from label_findings(table)
    for column in table.columns:
        if column.why:
            yield found(column.why, column.name, distinct=column.distinct)
        if column.role == "group" and column.missing:
            yield found("rows_without_group", column.name, rows=column.missing)


def label_findings(table: TableInfo) -> Iterator[Finding]:
    """Yield findings about the detected label and about what must be chosen."""
    if table.label is None:
        return
    if "label" in table.guessed:
        if others := other_labels(table.label, table.columns):
            yield found("label_doubtful", table.label, names=listed(others))
        else:
            yield found("label_guessed", table.label)
    if "positive" in table.guessed and table.positive is not None:
        positives = table.classes[table.positive]
        rarer = 2 * positives < sum(table.classes.values())
        positive = class_words(table.positive)
        yield found("positive_guessed", table.label, positive=positive, rarer=rarer)
    if table.positive is None and len(table.classes) > 2:
        yield found("positive_open", table.label, classes=len(table.classes))
    if table.unlabelled:
        yield found("unlabelled_rows", table.label, rows=table.unlabelled)


def no_label(table: TableInfo) -> InputError:
    """Return the error for a table without a label column."""
    return input_error(
        "label_absent", file=table.path, names=listed([column.name for column in table.columns])
    )
