"""What to run, frozen; its hash is the run's identity."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from aucstudio.engine import METHODS
from aucstudio.project.data.split import Validation
from aucstudio.project.data.table import Table, read_table
from aucstudio.project.errors import InputError
from aucstudio.project.runs.tuning import (
    Tuning,
)

Band = tuple[float, float]


@dataclasses.dataclass(frozen=True)
class DataReference:
    """Which table, and what its columns are for.

    Attributes
    ----------
    path : str
    sha256 : str
        Fingerprint of the file's bytes.
    label, positive : str
    roles : tuple of (column, role)
        The role of every column, as used.
    """

    path: str
    sha256: str
    label: str
    positive: str
    roles: tuple[tuple[str, str], ...]

    @classmethod
    def to_table(cls, table: Table) -> DataReference:
        """Refer to a table as it stands.

        Raises
        ------
        InputError
            If the label does not split the rows in two classes.
        """
        table.require_two_classes()
        roles = tuple((column.name, column.role) for column in table.columns)
        return cls(
            str(table.path.resolve()), table.sha256, table.label or "", table.positive or "", roles
        )

    def open(self) -> Table:
        """Read the table again, with the same roles.

        Raises
        ------
        InputError
            If the file is gone or has changed.
        """
        table = read_table(self.path, label=self.label, positive=self.positive)
        if table.sha256 != self.sha256:
            raise InputError(
                f"{self.path} has changed since the runs were made: open it as new data to train "
                "on it",
                file=self.path,
            )
        return self.seen(table)

    def seen(self, table: Table) -> Table:
        """Give the table with the roles that are referred to."""
        roles = tuple((column.name, column.role) for column in table.columns)
        if (self.roles, self.positive) == (roles, table.positive):
            return table
        return table.with_roles(
            label=self.label,
            positive=self.positive,
            roles={name: role for name, role in self.roles if role != "label"},
        )


@dataclasses.dataclass(frozen=True)
class Experiment:
    """Everything that decides a run's numbers.

    Attributes
    ----------
    data : DataReference
    validation : Validation
    method : str
        Key into :data:`aucstudio.engine.METHODS`.
    params : dict
        Every setting of the method, defaults included.
    band : (float, float)
        False-positive range that the partial AUC is read in.
    tuning : Tuning or None
        How settings are searched on each training part before the fit; ``params`` are then what
        the search starts from.
    name : str
        What a person calls the run; it decides nothing.
    """

    data: DataReference
    validation: Validation
    method: str
    params: Mapping[str, Any]
    band: Band = (0.0, 0.1)
    tuning: Tuning | None = None
    name: str = dataclasses.field(default="", compare=False)

    @property
    def title(self) -> str:
        """What the run is called: its name, or that of its method."""
        tuned = ", tuned" if self.tuning is not None else ""
        return self.name or METHODS[self.method].title + tuned

    @functools.cached_property
    def id(self) -> str:
        """Twelve hexadecimal digits that two experiments share only if they are the same."""
        document = dataclasses.replace(self, name="").as_json()
        # Where the file lies does not matter; what is in it does.
        del document["data"]["path"]
        text = json.dumps(document, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def as_json(self) -> dict[str, Any]:
        document = dataclasses.asdict(self)
        document["data"]["roles"] = dict(self.data.roles)
        document["params"] = {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in self.params.items()
        }
        document["band"] = list(self.band)
        if self.tuning is None:
            del document["tuning"]
        if not self.name:
            del document["name"]
        return document

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Experiment:
        data = dict(document["data"])
        data["roles"] = tuple(data["roles"].items())
        params = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in document["params"].items()
        }
        tuning = document.get("tuning")
        return cls(
            DataReference(**data),
            Validation.from_json(document["validation"]),
            document["method"],
            params,
            (float(document["band"][0]), float(document["band"][1])),
            None if tuning is None else Tuning(**tuning),
            document.get("name", ""),
        )
