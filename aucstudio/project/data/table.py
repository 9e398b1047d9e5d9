"""The table that everything starts from: columns with roles, a label, a positive class."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.choices import (
    check_role,
    count_classes,
    find_class,
    listed,
    one_class,
    spelled_as,
    with_role,
)
from aucstudio.project.data.columns import ROLES, Column
from aucstudio.project.data.groups import Groups, find_groups
from aucstudio.project.data.parquet import is_parquet, read_parquet
from aucstudio.project.data.roles import guess_label, guess_positive, guess_role
from aucstudio.project.data.text.delimited import Delimited, read_delimited
from aucstudio.project.data.text.dialect import Dialect
from aucstudio.project.data.text.rejects import Rejected
from aucstudio.project.errors import Cancelled, InputError

__all__ = [
    "ROLES",
    "Cancelled",
    "Column",
    "Dialect",
    "InputError",
    "Rejected",
    "Table",
    "read_table",
]

Mask = NDArray[np.bool_]
Progress = Callable[[float, str], object]
# None: as it is, or guessed; False: no label.
LabelChoice = str | Literal[False] | None

_WINDOW = 100_000


@dataclasses.dataclass(frozen=True, eq=False)
class Table:
    """A table in memory; changing roles makes another table with the same cells.

    Attributes
    ----------
    path : Path
    format : {"csv", "parquet"}
    dialect : Dialect
        How a text file is written.
    sha256 : str
        Of the file's bytes.
    columns : tuple of Column
    label : str or None
        Name of the label column; None if there is none.
    positive : str or None
        The positive class, a key of ``classes``; None if it has to be chosen.
    classes : dict of str to int
        Rows of each label value.
    unlabelled : int
        Rows without a label; they take no part in training.
    rejected : tuple of Rejected
        Rows that were left out, the first hundred of them.
    notes : tuple of str
        What was guessed and what a person may want to know.
    rejected_rows : int
        All rows that were left out.
    guessed : tuple of str
        Which of "label" and "positive" nobody has chosen.
    """

    path: Path
    format: str
    dialect: Dialect
    sha256: str
    columns: tuple[Column, ...]
    label: str | None
    positive: str | None
    classes: dict[str, int]
    unlabelled: int
    rejected: tuple[Rejected, ...]
    notes: tuple[str, ...]
    rejected_rows: int = 0
    guessed: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """Rows, unlabelled ones included."""
        return len(self.columns[0].values)

    @property
    def features(self) -> tuple[Column, ...]:
        """The columns that methods learn from."""
        return tuple(column for column in self.columns if column.role in ("number", "category"))

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the columns that methods learn from."""
        return tuple(column.name for column in self.features)

    def with_roles(
        self,
        *,
        label: LabelChoice = None,
        positive: str | None = None,
        ignore: Sequence[str] = (),
        roles: Mapping[str, str] | None = None,
    ) -> Table:
        """Change roles without reading the file again.

        Parameters
        ----------
        label : str, False or None
            The label column; False for none; None to keep the present one.
        positive : str, optional
            The positive class; without it the present one is kept while its column is.
        ignore : sequence of str
            Columns to ignore.
        roles : mapping of column name to role, optional

        Raises
        ------
        InputError
            If there is no such column, role or class, if a role does not fit what the column
            holds, or if the label has one class only.
        """
        given = {**dict(roles or {}), **dict.fromkeys(ignore, "ignore")}
        for name, role in given.items():
            check_role(self.path, self.column(name), role)
        chosen = self._label_after(label, given)
        changed = self._labelled_by(chosen, positive)
        columns = tuple(with_role(column, given, chosen) for column in self.columns)
        guessed = tuple(what for what in changed.guessed if not (label and what == "label"))
        changed = dataclasses.replace(changed, columns=columns, guessed=guessed)
        return changed._with_notes_after(self)

    def _label_after(self, label: LabelChoice, given: Mapping[str, str]) -> str | None:
        wanted = {name for name, role in given.items() if role == "label"}
        if label:
            wanted.add(label)
        elif label is None and not wanted and self.label not in given:
            return self.label
        if len(wanted) > 1 or any(given.get(name, "label") != "label" for name in wanted):
            raise InputError(
                f"only one column can be the label, and it has no other role; choose between "
                f"{listed(sorted(wanted))}",
                file=str(self.path),
                setting="label",
            )
        return next(iter(wanted), None)

    def _labelled_by(self, label: str | None, positive: str | None) -> Table:
        """Set the label; the columns keep their roles."""
        if label is None:
            if positive is not None:
                raise no_label(self)
            return dataclasses.replace(
                self, label=None, positive=None, classes={}, unlabelled=0, guessed=()
            )
        column = self.column(label)
        same = label == self.label
        classes = self.classes if same else count_classes(self.path, column)
        guessed = set(self.guessed) if same else {"positive"}
        if positive is not None:
            positive = find_class(self.path, column, classes, positive)
            guessed.discard("positive")
        else:
            positive = self.positive if same else guess_positive(classes)
        if positive is None:
            guessed.discard("positive")
        return dataclasses.replace(
            self,
            label=label,
            positive=positive,
            classes=classes,
            unlabelled=column.missing,
            guessed=tuple(sorted(guessed)),
        )

    def _with_notes_after(self, before: Table) -> Table:
        """Bring the sentences about roles up to date; those about the file stay."""
        stale = set(role_notes(before))
        kept = [note for note in before.notes if note not in stale]
        return dataclasses.replace(self, notes=(*kept, *role_notes(self)))

    def column(self, name: str) -> Column:
        """Give the column of that name; InputError if there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        raise InputError(
            f"{self.path} has no column {name!r}; it has "
            + listed([column.name for column in self.columns]),
            file=str(self.path),
            column=name,
        )

    def labelled(self) -> Mask:
        """Mark the rows that have a label, shape (rows,)."""
        if self.label is None:
            return np.zeros(self.rows, dtype=bool)
        return self.column(self.label).known()

    def is_positive(self) -> Mask:
        """Mark the positive ones among the labelled rows, shape (labelled rows,).

        Raises
        ------
        InputError
            If no label or no positive class is chosen.
        """
        label, positive = self._chosen()
        column = self.column(label)
        positives: Mask = column.equals(positive)[column.known()]
        return positives

    @functools.cached_property
    def groups(self) -> Groups | None:
        """Which labelled rows belong together; None where no column has the role group."""
        names = tuple(column.name for column in self.columns if column.role == "group")
        if not names:
            return None
        return find_groups(names, self.windows(_WINDOW, names), self.labelled())

    def windows(
        self, height: int, names: Sequence[str] | None = None
    ) -> Iterator[tuple[int, Table]]:
        """Give all rows, those of a file some at a time: the number of the first, and a table."""
        yield 0, self

    def require_two_classes(self) -> None:
        """Make sure that the label splits the rows into positive and other ones.

        Raises
        ------
        InputError
            If there is no label, or its rows are of one class, or one of several classes has
            to be chosen as the positive one.
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
            raise InputError(
                f"column {self.label!r} of {self.path} has {len(self.classes)} classes "
                f"({listed(list(self.classes))}); choose the positive one",
                file=str(self.path),
                column=self.label,
                setting="positive",
            )
        return self.label, self.positive

    def _dialect_inspection(self) -> dict[str, Any]:
        names = ("encoding", "delimiter", "decimal", "header")
        is_text = self.format == "csv"
        return {name: getattr(self.dialect, name) if is_text else None for name in names}

    def as_inspection(self) -> dict[str, Any]:
        """Give what was understood as plain data, for ``aucstudio inspect --json``."""
        return {
            "file": str(self.path),
            "format": self.format,
            **self._dialect_inspection(),
            "rows": self.rows,
            "rejected": [dataclasses.asdict(rejected) for rejected in self.rejected],
            "rejected_rows": self.rejected_rows,
            "columns": [
                {"name": c.name, "role": c.role, "missing": c.missing, "distinct": c.distinct}
                for c in self.columns
            ],
            "label": self.label,
            "classes": dict(self.classes),
            "positive": self.positive,
            "unlabelled": self.unlabelled,
            "notes": list(self.notes),
        }


def read_table(
    path: str | Path,
    *,
    label: LabelChoice = None,
    positive: str | None = None,
    ignore: Sequence[str] = (),
    need_label: bool = True,
    dialect: Dialect | None = None,
    progress: Progress | None = None,
) -> Table:
    """Read a table from a file and guess what has not been said about it.

    Parameters
    ----------
    path : str or Path
    label : str, False or None
        The label column; guessed if None, none if False.
    positive : str, optional
        The positive class; of two classes the rarer one is guessed.
    ignore : sequence of str
        Columns to ignore.
    need_label : bool
        False for rows to be scored: nothing is guessed about roles, and the label column may be
        absent or hold one class only.
    dialect : Dialect, optional
        How the file is written; detected if not given.
    progress : callable, optional
        Told the fraction done and what is being done; returning True stops the reading.

    Raises
    ------
    InputError
        If the file cannot be read, or lacks what it is said to hold.
    Cancelled
        If ``progress`` asked to stop.
    """
    path, tell = Path(path), teller(progress)
    if is_parquet(path):
        bare = without_label(path, "parquet", read_parquet(path, tell), guess_roles=need_label)
    else:
        found = read_delimited(path, dialect, tell)
        bare = without_label(path, "csv", found, guess_roles=need_label)
    bare = bare.with_roles(ignore=ignore)
    if not need_label:
        return _for_scoring(bare, label or None, positive)
    if label is not None:
        return bare.with_roles(label=label, positive=positive)
    return _with_guessed_label(bare, positive)


def without_label(path: Path, kind: str, found: Delimited, *, guess_roles: bool) -> Table:
    """Make a table of what a file holds; nothing is its label yet."""
    columns = [guess_role(column) for column in found.columns] if guess_roles else found.columns
    return Table(
        path=path,
        format=kind,
        dialect=found.dialect,
        sha256=found.sha256,
        columns=tuple(columns),
        label=None,
        positive=None,
        classes={},
        unlabelled=0,
        rejected=tuple(found.rejected),
        notes=tuple(found.notes),
        rejected_rows=found.rejected_rows,
    )


def _with_guessed_label(bare: Table, positive: str | None) -> Table:
    guess = guess_label(bare.columns)
    if guess is None:
        return bare.with_roles(positive=positive)
    table = bare.with_roles(label=guess, positive=positive)
    marked = dataclasses.replace(table, guessed=("label", *table.guessed))
    return marked._with_notes_after(table)


def teller(progress: Progress | None) -> Callable[[float, str], None]:
    def tell(fraction: float, text: str) -> None:
        if progress is not None and progress(fraction, text):
            raise Cancelled("the reading was stopped")

    return tell


def _for_scoring(table: Table, label: str | None, positive: str | None) -> Table:
    """Take the label as it comes: absent, or with one class only."""
    if label is None or label not in [column.name for column in table.columns]:
        return table
    column = table.column(label)
    classes = count_classes(table.path, column, least=0)
    if positive is None:
        positive = guess_positive(classes)
    else:
        positive = spelled_as(column, classes, positive)
        classes.setdefault(positive, 0)
    columns = tuple(with_role(c, {}, label) for c in table.columns)
    changed = dataclasses.replace(
        table,
        columns=columns,
        label=label,
        positive=positive,
        classes=classes,
        unlabelled=column.missing,
    )
    return changed._with_notes_after(table)


def role_notes(table: Table) -> list[str]:
    notes = [column.why for column in table.columns if column.why]
    notes += [
        f"{column.missing} rows have no {column.name}: what has no group is a group of its own"
        for column in table.columns
        if column.role == "group" and column.missing
    ]
    if table.label is None:
        return notes
    if "label" in table.guessed:
        notes.append(f"column {table.label} is guessed to be the label")
    if "positive" in table.guessed and table.positive is not None:
        others = [count for name, count in table.classes.items() if name != table.positive]
        reason = ", being the rarer one" if table.classes[table.positive] < sum(others) else ""
        notes.append(f"class {table.positive} is guessed to be the positive one{reason}")
    if table.positive is None and len(table.classes) > 2:
        notes.append(f"the label has {len(table.classes)} classes; choose the positive one")
    if table.unlabelled:
        one = table.unlabelled == 1
        words = "row has no label and takes" if one else "rows have no label and take"
        notes.append(f"{table.unlabelled} {words} no part in training")
    return notes


def no_label(table: Table) -> InputError:
    return InputError(
        f"{table.path} has no label column; choose one of "
        + listed([column.name for column in table.columns]),
        file=str(table.path),
        setting="label",
    )
