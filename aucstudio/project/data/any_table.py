"""Base of all tables, in memory or on disk."""

from __future__ import annotations

import abc
import dataclasses
import functools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, TypedDict

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.arrays import Mask
from aucstudio.notices.words import listed, suggestion
from aucstudio.project.data.columns import (
    MOST_LEVELS,
    Column,
    ColumnChoices,
    ColumnInfo,
    is_sparse,
    recast,
    spell_number,
    treated,
)
from aucstudio.project.data.finding import FORMAT, Finding, grouped, ranked
from aucstudio.project.data.input_files import FileStamp, fingerprint
from aucstudio.project.data.labels import (
    AS_THEY_ARE,
    MOST_CLASSES,
    LabelRule,
    MergeChoice,
    PositiveChoice,
    check_absent,
    check_alone,
    check_classes,
    check_role,
    find_class,
    merged,
    one_class,
    rule_after,
    spelled_as,
)
from aucstudio.project.data.roles import guess_positive, role_findings
from aucstudio.project.data.schema import ColumnRange, ColumnSchema, Schema, sample_rows
from aucstudio.project.data.text.contents import Rejected, Unreadable
from aucstudio.project.data.text.dates import CLOCK, check_names, check_parts
from aucstudio.project.data.text.dialect import Dialect
from aucstudio.project.errors import InputError, column_error, input_error

if TYPE_CHECKING:
    from aucstudio.project.data.groups import Groups
    from aucstudio.project.data.table import Table

# None: as it is, or detected; False: no label.
LabelChoice = str | Literal[False] | None


class RoleChoices(TypedDict, total=False):
    """Roles that are not detected.

    Attributes
    ----------
    label : str, False or None
        The label column; None to detect it, False for none.
    positive : str or sequence of str, optional
        The positive class, several classes that are positive together, or a threshold such as
        ``>= 5`` for a label of numbers; by default the rarer one of two classes.
    ignore : sequence of str
        Columns to ignore.
    roles : mapping of column name to role, optional
    merge : bool or sequence of sequences of str, optional
        Values of the label to merge into one class, named by the first of them; True for those
        that differ in spelling only, False for none.
    absent : mapping of column name to numbers, optional
        Number codes of missing values.
    parts : mapping of column name to sequence of str, optional
        Parts used of date columns.
    """

    label: LabelChoice
    positive: PositiveChoice
    ignore: Sequence[str]
    roles: Mapping[str, str] | None
    merge: MergeChoice
    absent: Mapping[str, Sequence[float]] | None
    parts: Mapping[str, Sequence[str]] | None


_WINDOW = 100_000


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class AnyTable(abc.ABC, ColumnChoices):
    """A table whose rows can be read: columns with roles, a label, a positive class.

    A change of roles returns another table of the same cells.

    Attributes
    ----------
    path : Path
    format : str
        Key of one of the formats in :mod:`~aucstudio.project.data.readers.formats`.
    dialect : Dialect
        How a text file is laid out.
    columns : tuple of ColumnInfo
    label : str or None
        Name of the label column, if any.
    positive : str or None
        The positive class, a key of ``classes``; None if it must be chosen.
    classes : dict of str to int
        Rows of each label value.
    rule : LabelRule
        How the values of the label become classes.
    rejected : tuple of Rejected
        The first hundred rows that were left out.
    remarks : tuple of Finding
        Findings about the file.
    files : tuple of FileStamp
        The files it was read from.
    rejected_rows : int
        Number of rows that were left out.
    guessed : tuple of str
        Which of "label" and "positive" were detected.
    chosen : tuple of str
        The parts of the dialect that the user set.
    unreadable : dict of str to Unreadable
        By number column, cells that are not numbers.
    limited : dict of str to (int, str)
        By number column, how many cells are beyond a limit, such as <1.8, and how they are read:
        "", "limit" or "half", see NumberFormat.
    row_numbers : ndarray of int or None
        Numbers of the rows in the file, counted from 1; None if no row was left out.
    sheets : tuple of str
        All sheets, tables or members of the file; empty if it has one table.
    """

    path: Path
    format: str
    dialect: Dialect
    columns: tuple[ColumnInfo, ...]
    label: str | None = None
    positive: str | None = None
    classes: dict[str, int] = dataclasses.field(default_factory=dict)
    rule: LabelRule = AS_THEY_ARE
    rejected: tuple[Rejected, ...] = ()
    rejected_rows: int = 0
    guessed: tuple[str, ...] = ()
    chosen: tuple[str, ...] = ()
    unreadable: dict[str, Unreadable] = dataclasses.field(default_factory=dict)
    limited: dict[str, tuple[int, str]] = dataclasses.field(default_factory=dict)
    row_numbers: NDArray[np.int64] | None = None
    sheets: tuple[str, ...] = ()
    remarks: tuple[Finding, ...] = ()
    files: tuple[FileStamp, ...] = ()

    @property
    def sha256(self) -> str:
        """SHA-256 of the bytes of its files; see :func:`fingerprint`."""
        return fingerprint(self.files)

    @property
    @abc.abstractmethod
    def rows(self) -> int:
        """Number of rows, including unlabelled ones."""

    @property
    def unlabelled(self) -> int:
        """Number of rows without a label, which are not trained on."""
        return 0 if self.label is None else self.rows - sum(self.classes.values())

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
        raise column_error(
            "column_unknown", self.path, name, names=listed(names), hint=suggestion(name, names)
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
            raise column_error(
                "positive_absent",
                self.path,
                self.label,
                count=len(self.classes),
                classes=listed(list(self.classes)),
            )
        return self.label, self.positive

    # ------------------------------------------------------------- where the cells are

    @abc.abstractmethod
    def windows(
        self, height: int, names: Sequence[str] | None = None
    ) -> Iterator[tuple[int, Table]]:
        """Yield all rows in windows: the number of the first row, and a table in memory.

        Parameters
        ----------
        height : int
            Rows of a window.
        names : sequence of str, optional
            The columns to read; the feature columns if not given.
        """

    @abc.abstractmethod
    def measured(self, names: Sequence[str]) -> Iterator[NDArray[Any]]:
        """Yield the cells of columns in all rows.

        Number codes of missing values are NaN.
        """

    @abc.abstractmethod
    def height(self, features: int) -> int:
        """Return the number of rows of a block, given the numbers per row."""

    @abc.abstractmethod
    def counts(self, name: str, most: int) -> dict[Any, int] | None:
        """Count the rows of each value of a column, in the order of the values.

        Returns None if there are more than ``most`` values.
        """

    @abc.abstractmethod
    def missing(self) -> dict[str, int]:
        """Count the missing cells of every column."""

    @abc.abstractmethod
    def pick(self, rows: NDArray[np.intp], names: Sequence[str] | None = None) -> Table:
        """Return some thousand rows, in rising order, of the features or of the named columns."""

    @abc.abstractmethod
    def with_missing_columns(self, columns: Sequence[ColumnSchema]) -> Self:
        """Add columns whose cells are all missing."""

    @abc.abstractmethod
    def _as_feature(self, column: ColumnInfo) -> ColumnInfo:
        """Assign a former label column the role that would be detected for it."""

    # ------------------------------------------------------------- what it is made of

    def labelled(self) -> Mask:
        """Mark the rows that have a label, shape (rows,)."""
        return self._marks[0]

    @property
    def positives(self) -> Mask:
        """Mark the positive rows, shape (rows,)."""
        return self._marks[1]

    @functools.cached_property
    def _marks(self) -> tuple[Mask, Mask]:
        """Mark the rows that have a label, and the positive ones."""
        known, positive = np.zeros((2, self.rows), dtype=bool)
        for start, column in self._pieces(self.label):
            rows = slice(start, start + column.height)
            known[rows] = column.known()
            if self.positive is not None:
                positive[rows] = self.rule.marks(column, self.positive)
        return known, positive

    def _pieces(self, name: str | None) -> Iterator[tuple[int, Column]]:
        """Return a column in windows: the number of the first row, and the cells."""
        if name is not None:
            for start, window in self.windows(_WINDOW, (name,)):
                yield start, window.column(name)

    def sampled(self, names: Sequence[str]) -> dict[str, NDArray[np.float64]]:
        """Return columns of numbers in some thousand evenly spaced rows, NaN where missing."""
        columns = self.pick(sample_rows(self.rows), names).columns
        return {column.name: column.measured() for column in columns if column.kind == "number"}

    @property
    def file_rows(self) -> NDArray[np.int64]:
        """The numbers of the rows in the file, counted from 1, shape (rows,)."""
        if self.row_numbers is not None:
            return self.row_numbers
        return np.arange(1, self.rows + 1, dtype=np.int64)

    @functools.cached_property
    def schema(self) -> Schema:
        """The schema by which a later file with these columns is read."""
        missing, ranges, latest = self.missing(), self.ranges(), self._latest()
        columns = [
            ColumnSchema(
                column.name,
                column.role,
                column.kind,
                column.number,
                self._levels(column),
                missing[column.name],
                column.guessed,
                column.absent,
                column.same,
                (self.rule or None) if column.name == self.label else None,
                column.parts,
                ranges.get(column.name),
                self.unreadable[column.name].count if column.name in self.unreadable else 0,
                latest.get(column.name),
            )
            for column in self.columns
        ]
        return Schema(
            tuple(columns), self.sha256, self.format, self.dialect, self.chosen, self.rows
        )

    def ranges(self) -> dict[str, ColumnRange]:
        """Return the ranges of number columns other than dates; empty for a sparse table."""
        if is_sparse(self.columns):
            return {}
        numbers = [c.name for c in self.columns if c.role == "number" and not c.is_date]
        samples, found = self.sampled(numbers), {}
        for name, cells in zip(numbers, self.measured(numbers), strict=True):
            # Unlike nanmin they accept a column without any number.
            low, high = float(np.fmin.reduce(cells)), float(np.fmax.reduce(cells))
            if low <= high and (one := ColumnRange.of(samples[name], low, high)) is not None:
                found[name] = one
        return found

    def _latest(self) -> dict[str, float]:
        """Return the latest date of each column of dates that is a number."""
        names = [c.name for c in self.columns if c.role == "number" and c.layout not in ("", CLOCK)]
        latest = (float(np.fmax.reduce(cells)) for cells in self.measured(names))
        return {name: day for name, day in zip(names, latest, strict=True) if np.isfinite(day)}

    def _levels(self, column: ColumnInfo) -> tuple[str, ...] | None:
        if column.name == self.label:
            return tuple(self.classes)
        if column.kind == "number" or column.role != "category" or column.distinct > MOST_LEVELS:
            return None
        counted = self.counts(column.name, MOST_LEVELS)
        return None if counted is None else tuple(counted)

    def _classes(self, column: ColumnInfo, rule: LabelRule, least: int = 2) -> dict[str, int]:
        if (threshold := rule.threshold) is not None:
            marked = known = 0
            for _, piece in self._pieces(column.name):
                marked += int(np.count_nonzero(threshold.marks(piece.values)))
                known += int(np.count_nonzero(piece.known()))
            counts = {threshold.name: marked, threshold.other: known - marked}
            return check_classes(self.path, column, {n: c for n, c in counts.items() if c}, least)
        counted = self.values(column)
        return check_classes(self.path, column, counted and rule.classes(counted), least)

    def values(self, column: ColumnInfo) -> dict[str, int] | None:
        """Count the rows of each value by its spelling; None if there are many values."""
        counted = self.counts(column.name, MOST_CLASSES)
        if counted is None:
            return None
        spell = spell_number if column.kind == "number" else str
        return {spell(value): count for value, count in counted.items()}

    @functools.cached_property
    def weights(self) -> NDArray[np.float64] | None:
        """Weights of the labelled rows, shape (labelled rows,); None without a weight column.

        Raises
        ------
        InputError
            If a weight is negative or infinite, or a frequency weight is not a whole number.
        """
        if self.weight is None:
            return None
        from aucstudio.project.data.weights import usable_weights

        column, labelled = self.column(self.weight), self.labelled()
        (cells,) = self.measured((column.name,))
        rows = self.file_rows[labelled]
        return usable_weights(self.path, column, cells[labelled], rows, self.weight_kind)

    @functools.cached_property
    def groups(self) -> Groups | None:
        """Groups of the labelled rows; None without a column of the role group."""
        names = tuple(column.name for column in self.columns if column.role == "group")
        return self.groups_by(names) if names else None

    def groups_by(self, names: Sequence[str]) -> Groups:
        """Return the groups of the labelled rows by some columns."""
        from aucstudio.project.data.groups import find_groups

        return find_groups(self, names)

    # ------------------------------------------------------------- roles

    def with_roles(
        self,
        *,
        label: LabelChoice = None,
        positive: PositiveChoice = None,
        ignore: Sequence[str] = (),
        roles: Mapping[str, str] | None = None,
        merge: MergeChoice = None,
        rule: LabelRule | None = None,
        absent: Mapping[str, Sequence[float]] | None = None,
        same: Mapping[str, bool | Sequence[Sequence[str]]] | None = None,
        parts: Mapping[str, Sequence[str]] | None = None,
    ) -> Self:
        """Change roles without reading the file again; what is not given stays as it is.

        Parameters
        ----------
        label, positive, ignore, roles, merge, absent, parts
            See :class:`RoleChoices`. Missing codes and date parts replace those of their columns.
        rule : LabelRule, optional
            How values become classes; by default the current rule is kept with its column.
        same : mapping of column name to bool or sequence of sequences of str, optional
            Levels of categories to merge; True for those that differ in spelling only.

        Raises
        ------
        InputError
            If there is no such column, role or class, if a role does not fit the cells, or if the
            label has only one class.
        """
        given = {**dict(roles or {}), **dict.fromkeys(ignore, "ignore")}
        for name, role in given.items():
            check_role(self.path, self.column(name), role)
        chosen = self._label_after(label, given)
        changed = self._labelled_by(chosen, positive, merge, rule)
        check_alone(self.path, {**{c.name: c.role for c in self.columns}, **given})
        columns = self._treated(
            [self._with_role(column, given, chosen) for column in self.columns],
            absent or {},
            same or {},
            parts or {},
        )
        check_names(self.path, columns)
        guessed = tuple(what for what in changed.guessed if not (label and what == "label"))
        return dataclasses.replace(changed, columns=columns, guessed=guessed)

    def _treated(
        self,
        columns: Sequence[ColumnInfo],
        absent: Mapping[str, Sequence[float]],
        same: Mapping[str, bool | Sequence[Sequence[str]]],
        parts: Mapping[str, Sequence[str]],
    ) -> tuple[ColumnInfo, ...]:
        """Return columns with other missing codes, merged levels and date parts."""
        if not (absent or same or parts):
            return tuple(columns)
        path, named = self.path, {name: self.column(name) for name in (*absent, *same, *parts)}
        codes = {name: check_absent(path, named[name], given) for name, given in absent.items()}
        merging = {
            name: merged(path, named[name], functools.partial(self.values, named[name]), groups)
            for name, groups in same.items()
        }
        used = {name: check_parts(path, named[name], given) for name, given in parts.items()}
        return tuple(treated(column, codes, merging, used) for column in columns)

    def _with_role(
        self, column: ColumnInfo, given: Mapping[str, str], label: str | None
    ) -> ColumnInfo:
        if column.name == label:
            return recast(column, role="label", why="")
        role = given.get(column.name, column.role)
        if role == "label":
            return self._as_feature(column)
        if role == column.role:
            return column
        return recast(column, role=role, why="", guessed=False)

    def _label_after(self, label: LabelChoice, given: Mapping[str, str]) -> str | None:
        wanted = {name for name, role in given.items() if role == "label"}
        if label:
            wanted.add(label)
        elif label is None and not wanted and self.label not in given:
            return self.label
        if len(wanted) > 1 or any(given.get(name, "label") != "label" for name in wanted):
            raise input_error("label_twice", file=self.path, names=listed(sorted(wanted)))
        return next(iter(wanted), None)

    def _labelled_by(
        self,
        label: str | None,
        positive: PositiveChoice,
        merge: MergeChoice = None,
        rule: LabelRule | None = None,
    ) -> Self:
        """Set the label; the columns keep their roles."""
        if label is None:
            if positive is not None:
                raise no_label(self)
            nothing: dict[str, Any] = {"label": None, "positive": None, "classes": {}}
            return dataclasses.replace(self, **nothing, rule=AS_THEY_ARE, guessed=())
        column = self.column(label)
        same = label == self.label
        if rule is None:
            rule = self.rule if same else AS_THEY_ARE
        kept = self.positive if same else None
        values = functools.partial(self.values, column)
        rule, name = rule_after(self.path, column, values, rule, positive, merge, kept)
        classes = self.classes if same and rule == self.rule else self._classes(column, rule)
        guessed = set(self.guessed) if same else {"positive"}
        if name is None:
            name = guess_positive(classes)
            guessed = guessed - {"positive"} if name is None else guessed | {"positive"}
        else:
            name = find_class(self.path, column, classes, name)
            if positive is not None or not same:
                guessed.discard("positive")
        return dataclasses.replace(
            self,
            label=label,
            positive=name,
            classes=classes,
            rule=rule,
            guessed=tuple(sorted(guessed)),
        )

    def as_in(self, schema: Schema) -> Self:
        """Assign columns their roles in a schema, except the label; ignore other columns."""
        absent, same, parts = schema.absent, schema.same, schema.parts
        columns = []
        for column in self.columns:
            was = schema.by_name.get(column.name, ColumnSchema(column.name))
            if was.role != "label":
                column = treated(column, absent, same, parts)
                column = dataclasses.replace(column, role=was.role, why="", guessed=was.guessed)
            columns.append(column)
        return dataclasses.replace(self, columns=tuple(columns))

    def to_score(
        self, label: str | None, positive: str | None, rule: LabelRule = AS_THEY_ARE
    ) -> Self:
        """Accept a label of one class; drop one that is absent or has too many values."""
        if label is None or label not in [column.name for column in self.columns]:
            return self
        column = self.column(label)
        if rule.threshold is not None:
            if column.kind == "text":
                return self
        elif self.counts(label, MOST_CLASSES) is None:
            return self
        classes = self._classes(column, rule, least=0)
        if positive is None:
            positive = guess_positive(classes)
        else:
            positive = spelled_as(column, classes, positive)
            classes.setdefault(positive, 0)
        return dataclasses.replace(
            self,
            label=label,
            positive=positive,
            classes=classes,
            rule=rule,
            guessed=(),
            columns=tuple(self._with_role(column, {}, label) for column in self.columns),
        )

    def is_positive(self) -> Mask:
        """Mark the positive rows among the labelled ones, shape (labelled rows,).

        Raises
        ------
        InputError
            If no label or no positive class is chosen.
        """
        self._chosen()
        return self.positives[self.labelled()]


def no_label(table: AnyTable) -> InputError:
    """Return the error for a table without a label column."""
    return input_error(
        "label_absent", file=table.path, names=listed([column.name for column in table.columns])
    )
