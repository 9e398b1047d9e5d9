"""A table in memory, and reading it from a file."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar, Unpack

import numpy as np
from numpy.typing import NDArray

from aucstudio.project import scratch
from aucstudio.project.data.any_table import AnyTable, LabelChoice, RoleChoices
from aucstudio.project.data.columns import Column, ColumnInfo, is_sparse, recast
from aucstudio.project.data.input_files import FileStamp, several
from aucstudio.project.data.labels import MOST_CLASSES, LabelRule
from aucstudio.project.data.roles import guess_label, guess_role
from aucstudio.project.data.schema import ColumnSchema, Schema
from aucstudio.project.data.text.dialect import Dialect
from aucstudio.project.errors import Cancelled, input_error

__all__ = ["Column", "Table", "read_table"]

ReadingListener = Callable[[float, str], object]
# A dialect, or the parts of one that are given.
DialectChoice = Dialect | Mapping[str, Any] | None
SomeTable = TypeVar("SomeTable", bound=AnyTable)


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Table(AnyTable):
    """A table in memory; its columns hold their cells.

    Attributes
    ----------
    columns : tuple of Column
    """

    columns: tuple[Column, ...]

    @property
    def rows(self) -> int:
        """Number of rows, including unlabelled ones."""
        return self.columns[0].height

    @functools.cached_property
    def features(self) -> tuple[Column, ...]:
        """The feature columns."""
        return tuple(column for column in self.columns if column.role in ("number", "category"))

    def column(self, name: str) -> Column:
        """Return a column by name; raise InputError if there is none."""
        column = super().column(name)
        assert isinstance(column, Column)
        return column

    def windows(
        self, height: int, names: Sequence[str] | None = None
    ) -> Iterator[tuple[int, Table]]:
        """Yield all rows in windows: the number of the first row, and a table of them."""
        wanted = set(self.feature_names if names is None else names)
        chosen = [column for column in self.columns if column.name in wanted]
        numbers = self.file_rows
        for start in range(0, self.rows, height):
            part = slice(start, start + height)
            if is_sparse(chosen):
                from aucstudio.project.data.sparse_columns import in_rows

                columns = in_rows(chosen, part)
            else:
                columns = tuple(column.part(part) for column in chosen)
            yield start, dataclasses.replace(self, columns=columns, row_numbers=numbers[part])

    def measured(self, names: Sequence[str]) -> Iterator[NDArray[Any]]:
        """Yield the cells of columns in all rows."""
        return (self.column(name).measured() for name in names)

    def height(self, features: int) -> int:
        """Return the number of rows of a block, given the numbers per row."""
        return self.rows

    def counts(self, name: str, most: int) -> dict[Any, int] | None:
        """Count the rows of each value of a column; None if there are more than ``most`` values."""
        column = self.column(name)
        return None if column.different.exceeds(most) else column.counts

    def missing(self) -> dict[str, int]:
        """Count the missing cells of every column."""
        return {column.name: column.missing for column in self.columns}

    def pick(self, rows: NDArray[np.intp], names: Sequence[str] | None = None) -> Table:
        """Return some rows, of the features or of the named columns."""
        wanted = set(self.feature_names if names is None else names)
        chosen = (column for column in self.columns if column.name in wanted)
        columns = tuple(column.holding(column.values[rows]) for column in chosen)
        return dataclasses.replace(self, columns=columns, row_numbers=self.file_rows[rows])

    def _as_feature(self, column: ColumnInfo) -> ColumnInfo:
        return guess_role(self.column(column.name))

    def with_missing_columns(self, columns: Sequence[ColumnSchema]) -> Self:
        """Add columns whose cells are all missing."""
        added = [missing_column(column, self.rows) for column in columns]
        return dataclasses.replace(self, columns=(*self.columns, *added))


def missing_column(column: ColumnSchema | ColumnInfo, rows: int) -> Column:
    """Return a column whose cells are all missing."""
    values: NDArray[Any] = np.full(rows, None if column.kind == "text" else np.nan)
    return dataclasses.replace(Column.of_cells(column.name, values, rows, 0), role=column.role)


def read_table(
    path: str | Path,
    *,
    need_label: bool = True,
    dialect: DialectChoice = None,
    schema: Schema | None = None,
    progress: ReadingListener | None = None,
    **choices: Unpack[RoleChoices],
) -> Table:
    """Read a table from a file, and detect what is not given.

    Parameters
    ----------
    path : str or Path
        A file in any format of :mod:`~aucstudio.project.data.readers.formats`, or a pattern such
        as ``cases-*.csv`` for several files with the same columns.
    need_label : bool
        False for rows to be scored: no roles are detected, and the label column may be absent or
        have only one class.
    dialect : Dialect or mapping of part to value, optional
        How the file is laid out; what is not given is detected.
    schema : Schema, optional
        Schema of the training table: what it contains is not detected again, so the meaning of a
        row depends on that row alone. Columns that are not in it are ignored.
    progress : callable, optional
        Receives the fraction done and what is being done; returning True stops the reading.
    choices
        Roles that are not detected; see
        :class:`~aucstudio.project.data.any_table.RoleChoices`.

    Raises
    ------
    InputError
        If the file cannot be read, or lacks a given column or class.
    Cancelled
        If ``progress`` returned True.
    """
    path, report = Path(path), progress_reporter(progress)
    numbers, given = numbers_in(choices.get("roles")), parts_of(dialect)
    paths = several(path)
    files = tuple(map(FileStamp.of, paths or [path]))
    with scratch.folder() as folder:
        if paths:
            from aucstudio.project.data.readers.multiple_files import read_together

            declared, bare = read_together(
                paths, path.absolute(), given, folder, report, schema, numbers
            )
        else:
            from aucstudio.project.data.readers.reading import make_plain, read_columns

            plain = make_plain(path, given, folder, report, schema, numbers)
            declared, bare = plain.roles, read_columns(plain, report, schema)
    columns = tuple(with_guessed_roles(bare.columns, schema, need_label=need_label))
    bare = dataclasses.replace(bare, columns=columns, files=files)
    return with_choices(bare, columns, declared, need_label=need_label, schema=schema, **choices)


def parts_of(dialect: DialectChoice) -> dict[str, Any]:
    """Return the parts of a dialect that the user set."""
    if isinstance(dialect, Dialect):
        dialect.check()
        return {f.name: getattr(dialect, f.name) for f in dataclasses.fields(dialect)}
    return dict(dialect or {})


def numbers_in(roles: Mapping[str, str] | None) -> frozenset[str]:
    """Return the columns that the user declared as numbers."""
    return frozenset(name for name, role in dict(roles or {}).items() if role == "number")


def with_file_roles(
    declared: Mapping[str, str],
    label: LabelChoice,
    roles: Mapping[str, str],
    columns: Sequence[ColumnInfo],
) -> tuple[LabelChoice, dict[str, str]]:
    """Add the roles that a file declares to those chosen by the user, which have precedence."""
    named = {name for name, role in declared.items() if role == "label"}
    classes = {c.name for c in columns if c.name in named and 2 <= c.distinct <= MOST_CLASSES}
    own = next((name for name in declared if name in classes), None)
    if label is None and own not in roles and "label" not in roles.values():
        label = own
    others = {name: role for name, role in declared.items() if role != "label" and name != label}
    return label, {**others, **roles}


def with_guessed_roles(
    columns: Iterable[Column], schema: Schema | None = None, *, need_label: bool = True
) -> Iterable[Column]:
    """Detect the roles of columns, unless a schema knows them or no label is needed."""
    if need_label and schema is None:
        return map(guess_role, columns)
    return columns


def with_choices(
    bare: SomeTable,
    cells: Sequence[Column],
    file_roles: Mapping[str, str],
    *,
    need_label: bool = True,
    schema: Schema | None = None,
    **choices: Unpack[RoleChoices],
) -> SomeTable:
    """Assign the roles of a table whose columns have been read; see :func:`read_table`.

    Parameters
    ----------
    bare : AnyTable
    cells : sequence of Column
        Its columns with all or some of their cells, by which the label is detected.
    file_roles : mapping of column name to role
        Roles that the file itself declares.
    """
    ignored = dict.fromkeys(choices.get("ignore", ()), "ignore")
    given = {**dict(choices.get("roles") or {}), **ignored}
    label, rule = choices.get("label"), None
    positive, merge = choices.get("positive"), choices.get("merge")
    absent, parts = choices.get("absent"), choices.get("parts")
    if schema is not None:
        label, rule = schema.label if label is None else label, schema.rule
        bare = bare.as_in(schema)
    elif need_label:
        label, given = with_file_roles(file_roles, label, given, bare.columns)
    if label and given.get(label, "label") != "label":
        raise input_error("label_with_role", column=label, role=given[label])
    bare = bare.with_roles(roles={n: role for n, role in given.items() if role != "label"})
    label = next((name for name, role in given.items() if role == "label"), label)
    if not need_label:
        assert positive is None or isinstance(positive, str)
        table = bare.to_score(label or None, positive, rule or LabelRule())
    elif label is None and (guess := _guessed_label(bare, cells)) is not None:
        table = bare.with_roles(label=guess, positive=positive, merge=merge)
        table = dataclasses.replace(table, guessed=("label", *table.guessed))
    else:
        merge, rule = (None, None) if label is None else (merge, rule)
        table = bare.with_roles(label=label, positive=positive, merge=merge, rule=rule)
    return table.with_roles(absent=absent, parts=parts) if absent or parts else table


def _guessed_label(table: AnyTable, cells: Sequence[Column]) -> str | None:
    pairs = zip(cells, table.columns, strict=True)
    return guess_label([recast(seen, role=column.role) for seen, column in pairs])


def progress_reporter(progress: ReadingListener | None) -> Callable[[float, str], None]:
    """Wrap a progress callback: Cancelled is raised if it returns True."""

    def report(fraction: float, text: str) -> None:
        if progress is not None and progress(fraction, text):
            raise Cancelled("reading was stopped")

    return report
