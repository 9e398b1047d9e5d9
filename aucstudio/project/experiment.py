"""What to run, frozen; its hash is the run's identity."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

from aucstudio.engine import METHODS, AUCClassifier
from aucstudio.engine.cost import NUMBER, Cost
from aucstudio.engine.params import InvalidSetting, check_settings, declared_params
from aucstudio.project.errors import InputError
from aucstudio.project.prepare import MAX_LEVELS
from aucstudio.project.split import LEAVE_PAIR_OUT, Validation
from aucstudio.project.table import Table, read_table
from aucstudio.project.tuning import (
    Candidate,
    Tuning,
    candidates,
    check_tuning,
    settings_words,
)
from aucstudio.project.words import bytes_words

Band = tuple[float, float]

_MOST_OF_MEMORY = 0.8


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


def plan_experiment(
    data: DataReference,
    method: str,
    settings: Mapping[str, Any],
    validation: Validation,
    band: Band = (0.0, 0.1),
    tuning: Tuning | None = None,
) -> Experiment:
    """Check a plan and freeze it, with the defaults filled in.

    Raises
    ------
    InputError
        If the method is unknown, the band is no range within [0, 1], or method, validation and
        tuning do not go together.
    InvalidSetting
        If a setting is unknown or out of range.
    """
    known = METHODS.get(method)
    if known is None:
        raise InputError(
            f"unknown method {method!r}; there are " + ", ".join(METHODS), setting="method"
        )
    check_settings(known, settings)
    check_band(band)
    defaults = {name: declared.default for name, declared in declared_params(known).items()}
    params = defaults | dict(settings)
    if tuning is not None:
        check_tuning(known, params, tuning)
    _check_validation(known, validation, tuning)
    return Experiment(data, validation, method, params, band, tuning)


def _check_validation(
    method: type[AUCClassifier], validation: Validation, tuning: Tuning | None
) -> None:
    if validation.scheme != LEAVE_PAIR_OUT:
        return
    if not method.leaves_pairs_out:
        able = [other.title for other in METHODS.values() if other.leaves_pairs_out]
        raise InputError(
            f"leave-pair-out would train {method.title} once for every pair; it is for methods "
            f"with a closed form ({', '.join(able)}): choose another scheme",
            setting="validation",
        )
    if tuning is not None:
        raise InputError(
            "leave-pair-out would judge settings on the pairs they were chosen by: choose "
            "another scheme to tune, or give the settings",
            setting="validation",
        )


def check_size(experiment: Experiment, table: Table) -> None:
    """Refuse, before it starts, a run whose training part would not fit in memory.

    Raises
    ------
    InvalidSetting
        With what it would take and what to use instead.
    """
    (cost, candidate), memory = largest_fit(experiment, table), machine_memory()
    if cost.bytes > _MOST_OF_MEMORY * memory:
        which = f" of the search ({settings_words(candidate)})" if candidate else ""
        raise InvalidSetting(
            cost.setting,
            f"one fit{which} would take about {bytes_words(cost.bytes)} of memory, and this "
            f"machine has {bytes_words(memory)}: {cost.advice}",
        )


def check_size_at_once(experiments: Sequence[Experiment], table: Table, processes: int) -> None:
    """Refuse runs that would not fit in memory beside each other, each with its own table.

    Parameters
    ----------
    experiments : sequence of Experiment
    table : Table
    processes : int
        How many runs go on at once.

    Raises
    ------
    InputError
        With what it would take.
    """
    fits = [largest_fit(one, one.data.seen(table))[0].bytes for one in experiments]
    together = sorted(fits, reverse=True)[:processes]
    taken = sum(together) + len(together) * NUMBER * table.rows * len(table.columns)
    memory = machine_memory()
    if taken > _MOST_OF_MEMORY * memory:
        raise InputError(
            f"{len(together)} runs at once would take about {bytes_words(taken)} of memory, and "
            f"this machine has {bytes_words(memory)}: run fewer at once",
            setting="jobs",
        )


def largest_fit(experiment: Experiment, table: Table) -> tuple[Cost, Candidate]:
    """Estimate the largest fit of a run.

    Returns
    -------
    cost : Cost
    candidate : mapping
        The candidate of the search that it belongs to; empty without a search.

    Raises
    ------
    InvalidSetting
        If the method refuses the table's size with every candidate.
    """
    size = training_size(experiment.validation, table, experiment.data.positive)
    method, params = METHODS[experiment.method], experiment.params
    tuning = experiment.tuning
    tried: list[Candidate] = [{}]
    if tuning is not None:
        tried = [*candidates(method, params, tuning.seed)]
    fits: list[tuple[Cost, Candidate]] = []
    refusals = []
    for candidate in tried:
        fit = method(**{**params, **candidate})
        try:
            fit.check_size(*size)
        except InvalidSetting as refusal:
            refusals.append(refusal)
        else:
            fits.append((fit.estimate(*size), candidate))
    if not fits:
        raise refusals[0]
    return max(fits, key=lambda fit: fit[0].bytes)


def training_size(validation: Validation, table: Table, positive: str) -> tuple[int, int, int]:
    """Give positives, negatives and features of what one fit trains on."""
    share, positives = validation.train_share, table.classes[positive]
    negatives = sum(table.classes.values()) - positives
    features = sum(
        1 if column.role == "number" else min(column.distinct, MAX_LEVELS)
        for column in table.features
    )
    return max(1, round(share * positives)), max(1, round(share * negatives)), features


def machine_memory() -> float:
    """Give the bytes of memory that the machine has; infinite where it does not say.

    All of it, not what is free: much of what is taken at a moment is a cache that gives way.
    """
    try:
        return float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not on Windows
        return math.inf


def check_band(band: Band) -> None:
    """Raise InputError unless the band is 0 <= alpha < beta <= 1."""
    alpha, beta = band
    if not 0.0 <= alpha < beta <= 1.0:
        raise InputError(
            f"the false-positive range must satisfy 0 ≤ α < β ≤ 1; it is [{alpha:g}, {beta:g}]",
            setting="fpr_range",
        )
