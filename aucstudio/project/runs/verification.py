"""Verify a stored run."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from importlib import metadata
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from aucstudio.engine import METHODS
from aucstudio.engine.cost import NUMBER, largest_memory
from aucstudio.engine.monitor import Stopped
from aucstudio.engine.params import declared_params
from aucstudio.engine.verification.verified import HeldOutRows, Verified
from aucstudio.notices import text
from aucstudio.project import typed
from aucstudio.project.data.table import Table
from aucstudio.project.data.validation import LEAVE_PAIR_OUT, splits_of
from aucstudio.project.errors import InputError, input_error
from aucstudio.project.runs.estimate import memory_limit, table_bytes
from aucstudio.project.runs.record import RunRecord, versions
from aucstudio.project.runs.rows import learn, matrix, relative

if TYPE_CHECKING:
    from aucstudio.engine.verification.counting import Report
    from aucstudio.engine.verification.problems import Trained
    from aucstudio.project.runs.record import SplitResult

Mask = NDArray[np.bool_]
Rows = NDArray[np.intp]
Post = Callable[[tuple[str, float]], bool]
_COPIES = 6  # of the prepared rows, and the memory of the program


@dataclasses.dataclass(frozen=True)
class Verification:
    """The verification of one split of a run; stored with the run.

    Attributes
    ----------
    run : str
        Id of the run.
    split, splits : int
        Number of the split (from 1), and of all splits.
    created : str
        Time of the verification, ISO 8601 with offset.
    versions : dict
        Of everything that determines the numbers, cvxopt included.
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
        """Whether no fault was found."""
        return not self.found.faults

    def as_json(self) -> dict[str, Any]:
        """Return the verification as plain data."""
        document: dict[str, Any] = msgspec.to_builtins(self)
        return document | {"agrees": self.agrees}

    @classmethod
    def from_json(cls, document: object) -> Verification:
        """Restore from :meth:`as_json`; ValueError if the structure is invalid."""
        return typed.convert(document, cls)


def verify_run(
    record: RunRecord,
    split: int,
    report: Report,
    table: Table | None = None,
) -> Verification:
    """Verify one split of a run, counted from 0.

    Parameters
    ----------
    record : RunRecord
    split : int
    report : callable
        Receives the progress; its exceptions end the work.
    table : Table, optional
        The table of the run; read again if not given.

    Raises
    ------
    InputError
        If the run has no such split, its table is gone or has changed, or it would not fit in
        memory.
    """
    if not 0 <= split < len(record.splits):
        raise input_error(
            "no_such_split",
            title=record.experiment.title,
            id=record.id,
            count=len(record.splits),
            split=split + 1,
        )
    if record.experiment.members:
        raise input_error("combination_not_verified", title=record.experiment.title, id=record.id)
    report("reading the table", 0.0)
    table = open_table(record, table)
    result = record.splits[split]
    held_table = table
    if record.experiment.test is not None:
        held_table = record.experiment.as_test(record.experiment.test.open())
    _check_rows(record, split, table, held_table)
    _check_memory(result, table)
    trained, held, faults = _material(record, result, table, held_table)
    same = record.versions == versions()
    from aucstudio.engine.verification.verifying import verify

    found = verify(trained, held, report, same_program=same)
    found = dataclasses.replace(found, faults=(*faults, *found.faults))
    used = versions() | {"cvxopt": metadata.version("cvxopt")}
    return Verification(record.id, split + 1, len(record.splits), RunRecord.now(), used, found)


def open_table(record: RunRecord, table: Table | None = None) -> Table:
    """Return the table of a run in the state in which the run read it.

    Raises
    ------
    InputError
        If the file is gone or has changed.
    """
    data = record.experiment.data
    return data.open() if table is None else data.seen(data.unchanged(table))


def _check_rows(record: RunRecord, split: int, table: Table, held_table: Table) -> None:
    """Compare training and held-out rows with those of a split that is drawn again."""
    from aucstudio.project.runs.rows import with_scores

    experiment, result = record.experiment, record.splits[split]
    # A run that was stopped may have finished some splits only.
    drawn = [
        with_scores(METHODS[experiment.method], one, table, held_table if experiment.test else None)
        for one in splits_of(table, experiment.validation)
        if (one.repeat, one.fold) == (result.repeat, result.fold)
    ]
    rows, held = (np.flatnonzero(one.labelled()) for one in (table, held_table))
    if not any(
        np.array_equal(rows[same.train], result.train_rows)
        and np.array_equal(held[same.test], result.test_rows)
        for same, _ in drawn
    ):
        raise input_error(
            "other_rows_drawn", file=experiment.data.path, title=experiment.title, id=record.id
        )


def _check_memory(result: SplitResult, table: Table) -> None:
    features = len(result.model.preparation.feature_names)
    cells = 1.0 * NUMBER * table.rows * features
    if result.model.preparation.keeps_zeros:
        cells = table_bytes(table)
    taken = _COPIES * cells
    memory = memory_limit()
    if taken > largest_memory(memory):
        raise input_error("verification_too_large", taken=taken, memory=memory)


def _material(
    record: RunRecord, result: SplitResult, table: Table, held_table: Table
) -> tuple[Trained, HeldOutRows, tuple[str, ...]]:
    """Return the fit and the held-out rows to verify, and faults of the stored classes.

    The classes are those of the table; scores, model and settings are those of the record.
    """
    experiment, model = record.experiment, result.model
    method = METHODS[experiment.method]
    sparse = model.preparation.keeps_zeros
    choice = experiment.preparation
    preparation = learn(method, table, result.train_rows, choice, sparse=sparse)
    X = matrix(preparation, table, result.train_rows)
    from aucstudio.engine.verification.problems import Trained

    train_positive = _classes(table, result.train_rows)
    test_positive = _classes(held_table, result.test_rows)
    trained = Trained(
        experiment.method,
        declared_settings(method, {**record.params, **model.params}),
        X,
        train_positive,
        model.scorer,
        float(model.intercept),
        result.train_scores,
        result.objective,
        result.gap,
        result.trained_range,
        None if result.train_weights is None else relative(result.train_weights),
        result.converged,
        result.needed,
    )
    held_X = None
    if experiment.validation.scheme != LEAVE_PAIR_OUT:
        held_X = matrix(preparation, held_table, result.test_rows)
    rows = test_positive, result.test_scores
    train = result.train_positive, train_positive, table, result.train_rows
    test = result.test_positive, test_positive, held_table, result.test_rows
    faults = (*_class_faults("training", *train), *_class_faults("held-out", *test))
    held = HeldOutRows(*rows, experiment.band, held_X, result.test_weights)
    return trained, held, faults


def _classes(table: Table, rows: Rows) -> Mask:
    """Return which of some rows of a table are positive."""
    positive = np.zeros(table.rows, dtype=bool)
    positive[np.flatnonzero(table.labelled())] = table.is_positive()
    return positive[rows]


def _class_faults(
    part: str, stored: Mask, known: Mask, table: Table, rows: Rows
) -> tuple[str, ...]:
    """Compare stored classes with those of the table; return a sentence where they differ."""
    if len(stored) != len(known):
        return (text("classes_missing", stored=len(stored), known=len(known), part=part),)
    wrong = np.flatnonzero(stored != known)
    if not len(wrong):
        return ()
    row = int(table.file_rows[rows[wrong[0]]])
    return (text("classes_differ", wrong=len(wrong), known=len(known), part=part, row=row),)


def declared_settings(method: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Return the declared settings of a method, with ranges as tuples."""
    known = declared_params(method)
    return {
        name: tuple(value) if known[name].kind == "range" and value is not None else value
        for name, value in given.items()
        if name in known
    }


def verify_in_background(record: RunRecord, split: int, post: Post) -> Verification:
    """Verify one split of a run in a child process; called on a thread of the window.

    Parameters
    ----------
    record : RunRecord
    split : int
        From 0.
    post : callable
        Called with the current step and the share that is done; returns whether to stop.

    Raises
    ------
    InputError
        If the run cannot be verified: its table is gone, has changed, or does not fit.
    Stopped
    """
    from aucstudio.project.child_process import call
    from aucstudio.project.runs.execute import failure_sentence
    from aucstudio.project.runs.rows import limit_threads

    last = "starting", 0.0

    def report(stage: str, share: float) -> None:
        nonlocal last
        last = stage, share

    arguments = record, split
    try:
        found: Verification = call(
            verify_run, arguments, report, kill=lambda: post(last), prepare=limit_threads
        )
    except (InputError, Stopped):
        raise
    except Exception as error:
        raise InputError(failure_sentence(error)) from error
    return found
