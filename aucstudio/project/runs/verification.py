"""A stored run verified: its rows drawn and prepared again, its fit held against other routes."""

from __future__ import annotations

import dataclasses
from importlib import metadata
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from aucstudio.engine import METHODS
from aucstudio.engine.cost import NUMBER
from aucstudio.engine.memory import largest_memory
from aucstudio.engine.params import declared_params
from aucstudio.engine.verification.verified import HeldOutRows, Verified
from aucstudio.project import typed
from aucstudio.project.data.splitting.split import splits_of
from aucstudio.project.data.splitting.validation import LEAVE_PAIR_OUT
from aucstudio.project.data.table import Table
from aucstudio.project.errors import InputError
from aucstudio.project.runs.estimate import machine_memory
from aucstudio.project.runs.record import RunRecord, versions
from aucstudio.project.runs.rows import learn, matrix, relative
from aucstudio.project.runs.sparse_fits import table_bytes
from aucstudio.project.words import bytes_words

if TYPE_CHECKING:
    from aucstudio.engine.verification.counting import Tell
    from aucstudio.engine.verification.problem import Trained
    from aucstudio.project.runs.record import SplitResult

_COPIES = 6  # of the prepared rows, and the programme's own


@dataclasses.dataclass(frozen=True)
class Verification:
    """What verifying one split of a run found; kept beside the run.

    Attributes
    ----------
    run : str
        Id of the run.
    split, splits : int
        Which one of how many, from 1.
    created : str
        When, ISO 8601 with offset.
    versions : dict
        Of everything that shapes the numbers, cvxopt included.
    found : Verified
    """

    run: str
    split: int
    splits: int
    created: str
    versions: dict[str, str]
    found: Verified

    @property
    def agrees(self) -> bool:
        """Whether nothing was found that differs."""
        return not self.found.faults

    def as_json(self) -> dict[str, Any]:
        """Give it as plain data."""
        document: dict[str, Any] = msgspec.to_builtins(self)
        return document | {"agrees": self.agrees}

    @classmethod
    def from_json(cls, document: object) -> Verification:
        """Read what :meth:`as_json` gave.

        Raises
        ------
        ValueError
            If it is not laid out as one.
        """
        return typed.convert(document, cls)


def verify_run(
    record: RunRecord,
    split: int,
    tell: Tell,
    table: Table | None = None,
    test_table: Table | None = None,
) -> Verification:
    """Verify one split of a run, counted from 0.

    Parameters
    ----------
    record : RunRecord
    split : int
    tell : callable
        Hears of the work as it goes; what it raises ends it.
    table, test_table : Table, optional
        The tables of the run, where they are at hand; else they are read again.

    Raises
    ------
    InputError
        If the run has no such split, its table is gone or has changed, or it would not fit in
        memory.
    """
    if not 0 <= split < len(record.splits):
        raise InputError(
            f"{record.experiment.title} ({record.id}) has {len(record.splits)} finished splits, "
            f"and split {split + 1} is none of them",
            setting="split",
        )
    if record.experiment.members:
        raise InputError(
            f"{record.experiment.title} ({record.id}) solved no problem of its own: verify the "
            "runs that it combines",
            setting="run",
        )
    tell("reading the table", 0.0)
    table = open_table(record, table)
    result = record.splits[split]
    _check_rows(record, split, table)
    _check_memory(result, table)
    trained, held = _material(record, result, table, test_table)
    same = record.versions == versions()
    # The solvers, which who only reads what was found does not need.
    from aucstudio.engine.verification.verifying import verify

    found = verify(trained, held, tell, same_program=same)
    used = versions() | {"cvxopt": metadata.version("cvxopt")}
    return Verification(record.id, split + 1, len(record.splits), RunRecord.now(), used, found)


def open_table(record: RunRecord, table: Table | None = None) -> Table:
    """Give the table of a run, unchanged, as the run read it.

    Raises
    ------
    InputError
    """
    data = record.experiment.data
    return data.open() if table is None else data.seen(data.unchanged(table))


def _check_rows(record: RunRecord, split: int, table: Table) -> None:
    """See that the split drawn again has the rows that were trained on."""
    drawn = splits_of(table, record.experiment.validation)
    result = record.splits[split]
    # A run that was stopped may have finished some splits only.
    same = [s for s in drawn if (s.repeat, s.fold) == (result.repeat, result.fold)]
    rows = np.flatnonzero(table.labelled())
    if not same or not np.array_equal(rows[same[0].train], result.train_rows):
        raise InputError(
            f"{record.experiment.title} ({record.id}): drawing the split again does not give the "
            "rows that were kept; another version of this program or of scikit-learn drew them",
            file=record.experiment.data.path,
        )


def _check_memory(result: SplitResult, table: Table) -> None:
    features = len(result.model.preparation.feature_names)
    cells = 1.0 * NUMBER * table.rows * features
    if result.model.preparation.keeps_zeros:
        cells = table_bytes(table)
    taken = _COPIES * cells
    memory = machine_memory()
    if taken > largest_memory(memory):
        raise InputError(
            f"verifying would take about {bytes_words(taken)} of memory, and this machine has "
            f"{bytes_words(memory)}: verify a run on a sample of the rows",
            setting="memory",
        )


def _material(
    record: RunRecord, result: SplitResult, table: Table, test_table: Table | None
) -> tuple[Trained, HeldOutRows]:
    experiment, model = record.experiment, result.model
    method = METHODS[experiment.method]
    sparse = model.preparation.keeps_zeros
    choice = experiment.preparation
    preparation = learn(method, table, result.train_rows, choice, sparse=sparse)
    X = matrix(preparation, table, result.train_rows)
    from aucstudio.engine.verification.problem import Trained

    trained = Trained(
        experiment.method,
        settings_of(method, {**record.params, **model.params}),
        X,
        result.train_positive,
        model.scorer,
        float(model.intercept),
        result.train_scores,
        result.objective,
        result.gap,
        result.trained_range,
        None if result.train_weights is None else relative(result.train_weights),
    )
    held_X = None
    if experiment.validation.scheme != LEAVE_PAIR_OUT:
        held = table
        if experiment.test is not None:
            held = experiment.test.open() if test_table is None else test_table
            held = experiment.as_test(held)
        held_X = matrix(preparation, held, result.test_rows)
    rows = result.test_positive, result.test_scores
    return trained, HeldOutRows(*rows, experiment.band, held_X, result.test_weights)


def settings_of(method: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Give the settings as the method declares them: ranges are pairs again."""
    known = declared_params(method)
    return {
        name: tuple(value) if known[name].kind == "range" and value is not None else value
        for name, value in given.items()
        if name in known
    }
