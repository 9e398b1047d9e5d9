"""An experiment: immutable, identified by its hash."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from aucstudio.engine import DECLARED
from aucstudio.project import typed
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.columns import NUMERIC_ROLES
from aucstudio.project.data.labels import LabelRule
from aucstudio.project.data.preparing.preparation_choice import USUAL, PreparationChoice
from aucstudio.project.data.schema import Schema, ScoreFile, bare
from aucstudio.project.data.table import Table, read_table
from aucstudio.project.data.validation import Validation
from aucstudio.project.errors import input_error
from aucstudio.project.runs.tuning import Tuning

Band = tuple[float, float]
MARKER = "marker"
"""The method whose scores are given: a column of the table."""
SomeTable = TypeVar("SomeTable", bound=AnyTable)


def require_band(band: Band) -> None:
    """Raise InputError unless the band is 0 <= alpha < beta <= 1."""
    alpha, beta = band
    if not 0.0 <= alpha < beta <= 1.0:
        raise input_error("no_fpr_range", alpha=alpha, beta=beta)


@dataclasses.dataclass(frozen=True)
class DataReference:
    """A table with its schema.

    Attributes
    ----------
    path : str
    schema : Schema
        Of the imported table, with the roles in use.
    label, positive : str
    scores : tuple of ScoreFile
        Files whose scores are joined to the rows, each as one more column.
    """

    path: str
    schema: Schema
    label: str
    positive: str
    scores: tuple[ScoreFile, ...] = ()

    @property
    def sha256(self) -> str:
        """Checksum of the file."""
        return self.schema.sha256

    @property
    def roles(self) -> tuple[tuple[str, str], ...]:
        """The role of every column."""
        return self.schema.roles

    @property
    def groups(self) -> list[str]:
        """The columns whose values group the rows."""
        return [column for column, role in self.roles if role == "group"]

    @property
    def ignored(self) -> list[str]:
        """The columns that are not used."""
        return [column for column, role in self.roles if role == "ignore"]

    @property
    def rule(self) -> LabelRule:
        """How values of the label become classes."""
        return self.schema.rule

    @classmethod
    def to_table(cls, table: AnyTable) -> DataReference:
        """Return a reference to the table in its present state.

        Raises
        ------
        InputError
            If the label does not have two classes.
        """
        table.require_two_classes()
        return cls(str(table.path.resolve()), table.schema, table.label or "", table.positive or "")

    def open(self) -> Table:
        """Read the table again with the same import options and roles.

        Raises
        ------
        InputError
            If the file is gone or has changed.
        """
        schema = self.without_scores().schema
        table = read_table(self.path, label=self.label, positive=self.positive, schema=schema)
        return self.seen(self.unchanged(table))

    def unchanged(self, table: SomeTable) -> SomeTable:
        """Return the table; InputError if its file is not the referenced one."""
        if table.sha256 != self.sha256:
            raise input_error("data_changed", file=self.path)
        return table

    def seen(self, table: SomeTable) -> SomeTable:
        """Return the table with the roles of the reference, and with the scores of files."""
        table = self.with_scores(table)
        roles = tuple((column.name, column.role) for column in table.columns)
        schema = self.schema
        chosen = (schema.absent, schema.same, schema.parts)
        if (self.roles, self.positive, self.rule, chosen) == (
            roles,
            table.positive,
            table.rule,
            (table.absent, table.same, table.parts),
        ):
            return table
        return table.with_roles(
            label=self.label,
            positive=self.positive,
            rule=self.rule,
            absent={**dict.fromkeys(table.absent, ()), **schema.absent},
            same={**dict.fromkeys(table.same, ()), **schema.same},
            parts={**dict.fromkeys(table.parts, ()), **schema.parts},
            roles={name: role for name, role in self.roles if role != "label"},
        )

    def without_scores(self) -> DataReference:
        """Return the reference to the table without files of scores."""
        joined = {given.name for given in self.scores}
        columns = tuple(column for column in self.schema.columns if column.name not in joined)
        schema = dataclasses.replace(self.schema, columns=columns)
        return dataclasses.replace(self, schema=schema, scores=())

    def with_scores(self, table: SomeTable) -> SomeTable:
        """Return the table with the scores of files as columns.

        Raises
        ------
        InputError
            If one of the files is gone or has changed.
        """
        if not self.scores:
            return table
        from aucstudio.project.data.score_file import scores_joined

        for given in self.scores:
            table = scores_joined(table, given)
        return table

    def identity(self) -> dict[str, Any]:
        """Return what determines the values as plain data, without the location of the file."""
        schema = self.schema
        chosen = {"absent": schema.absent, "same": schema.same, "parts": schema.parts}
        return {
            "sha256": self.sha256,
            "label": self.label,
            "positive": self.positive,
            "roles": dict(self.roles),
            "reading": schema.reading(),
            **({"classes": bare(self.rule)} if self.rule else {}),
            **{name: msgspec.to_builtins(value) for name, value in chosen.items() if value},
            **({"scores": [given.identity() for given in self.scores]} if self.scores else {}),
        }

    def as_json(self) -> dict[str, Any]:
        """Return the reference as plain data."""
        return {
            "path": self.path,
            "schema": self.schema.as_json(),
            "label": self.label,
            "positive": self.positive,
            **({"scores": bare(self.scores)} if self.scores else {}),
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> DataReference:
        """Restore from :meth:`as_json`; ValueError if the structure is invalid."""
        found = typed.convert({**document, "schema": {"columns": ()}}, cls)
        return dataclasses.replace(found, schema=Schema.from_json(document["schema"]))


_PARTS: dict[str, Any] = {
    "validation": Validation,
    "tuning": Tuning,
    "preparation": PreparationChoice,
}
_SAME_NOTATION = "save the test file in the format of the training table"


@dataclasses.dataclass(frozen=True)
class Experiment:
    """Everything that determines the numbers of a run.

    Attributes
    ----------
    data : DataReference
    validation : Validation
    method : str
        Key into :data:`aucstudio.engine.METHODS`.
    params : dict
        Every setting of the method, defaults included.
    band : (float, float)
        False-positive range of the partial AUC.
    tuning : Tuning or None
        How settings are searched on each training part before the fit; ``params`` then has their
        initial values.
    name : str
        The name of the run, which does not affect its numbers.
    test : DataReference or None
        The test file of the scheme ``"file"``; None until it is read.
    preparation : PreparationChoice
    members : tuple of str
        Ids of the runs that a combination consists of; nothing is trained then.
    """

    data: DataReference
    validation: Validation
    method: str
    params: Mapping[str, Any]
    band: Band = (0.0, 0.1)
    tuning: Tuning | None = None
    name: str = dataclasses.field(default="", compare=False)
    test: DataReference | None = None
    preparation: PreparationChoice = USUAL
    members: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The name of the run, or that of its method."""
        tuned = ", tuned" if self.tuning is not None else ""
        return self.name or DECLARED[self.method].title + tuned

    @functools.cached_property
    def id(self) -> str:
        """Twelve hexadecimal digits that only equal experiments share."""
        document = dataclasses.replace(self, name="").as_json()
        # The location of a file does not matter, only its content.
        document["data"] = self.data.identity()
        document["validation"] = self.validation.identity()
        if self.test is not None:
            document["test"] = self.test.identity()
            del document["validation"]["test_file"]
        text = json.dumps(document, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def as_test(self, table: SomeTable) -> SomeTable:
        """Return a test table, read by the schema of ``data``, with the same roles and label.

        Raises
        ------
        InputError
            If it lacks the label or a feature, holds one class only, or is not the file that the
            experiment was tested on.
        """
        if self.test is not None and table.sha256 != self.test.sha256:
            raise input_error("test_file_changed", file=table.path, title=self.title)
        present = {column.name for column in table.columns}
        for name, role in self.data.roles:
            if name not in present and role in ("category", "label", *NUMERIC_ROLES):
                table.column(name)
        seen = table.with_roles(
            label=self.data.label,
            positive=self.data.positive,
            rule=self.data.rule,
            roles={n: role for n, role in self.data.roles if role != "label" and n in present},
        )
        seen.require_two_classes()
        return seen

    def with_score_file(self, scores: ScoreFile) -> Experiment:
        """Return the experiment on a table whose scores come from a file."""
        return dataclasses.replace(self, data=dataclasses.replace(self.data, scores=(scores,)))

    def require_training(self) -> None:
        """Raise InputError if the experiment is a combination of finished runs."""
        if self.members:
            raise input_error("combines_finished_runs", title=self.title, count=len(self.members))

    def rows_of(self) -> tuple[object, ...]:
        """Return what determines the held-out rows and their classes."""
        tables = [self.data] if self.test is None else [self.data, self.test]
        files = [(data.sha256, data.schema.dialect) for data in tables]
        validation = self.validation.decisive()
        if self.test is not None:
            # Its content is known, so that its location does not matter.
            validation = dataclasses.replace(validation, test_file="-")
        return files, self.data.label, self.data.positive, self.data.rule, validation

    @property
    def is_given(self) -> bool:
        """Whether the scores are a column of the table."""
        return self.method == MARKER

    @property
    def weight_kind(self) -> str | None:
        """The kind of weights, "sampling" or "frequency"; None without weights."""
        return self.data.schema.weight_kind

    @property
    def weight(self) -> str | None:
        """Name of the column of weights; None if every row counts once."""
        return self.data.schema.weight

    def tested_on(self, table: AnyTable) -> Experiment:
        """Return the experiment with a test file, which then belongs to its identity.

        Raises
        ------
        InputError
            As :meth:`as_test`, and if it has an unknown class or a column does not hold what it
            holds in the training table.
        """
        from aucstudio.project.data.preparing.acceptance import check_accepted, unmet_levels

        seen = self.as_test(table)
        self._require_known_classes(seen)
        names, unknown = seen.feature_names, unmet_levels(seen)
        check_accepted(seen, self.data.schema, names, unknown, advice=_SAME_NOTATION)
        return dataclasses.replace(self, test=DataReference.to_table(seen))

    def _require_known_classes(self, test: AnyTable) -> None:
        """Refuse classes that the training table lacks: they would count as negative."""
        label = self.data.label
        known = self.data.schema.by_name[label].levels
        new = [name for name in test.classes if known is not None and name not in known]
        if known is not None and new:
            raise input_error(
                "new_classes_in_test_file", file=test.path, column=label, new=new, known=known
            )

    def as_json(self) -> dict[str, Any]:
        """Return the experiment as plain data."""
        document = {
            "data": self.data.as_json(),
            "validation": self.validation.as_json(),
            "method": self.method,
            "params": msgspec.to_builtins(dict(self.params)),
            "band": list(self.band),
        }
        optional = {
            "tuning": self.tuning and dataclasses.asdict(self.tuning),
            "name": self.name,
            "test": self.test and self.test.as_json(),
            "preparation": self.preparation.given(),
            "members": list(self.members),
        }
        return document | {name: part for name, part in optional.items() if part}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Experiment:
        """Restore from :meth:`as_json`; ValueError if the structure is invalid."""
        for part, kind in _PARTS.items():
            unknown = set(document.get(part) or ()) - set(kind.__dataclass_fields__)
            if unknown:
                raise ValueError(f"{part} has unknown keys: {', '.join(sorted(unknown))}")
        tables = {key: document[key] for key in ("data", "test") if document.get(key) is not None}
        blank = {"path": "", "schema": {"columns": ()}, "label": "", "positive": ""}
        found = typed.convert({**document, **dict.fromkeys(tables, blank)}, cls)
        read: dict[str, Any] = {
            key: DataReference.from_json(value) for key, value in tables.items()
        }
        return dataclasses.replace(found, params=typed.with_tuples(found.params), **read)
