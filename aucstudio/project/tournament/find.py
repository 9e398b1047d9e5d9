"""A tournament on a table: the contest within the training rows, and one honest look beyond."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from aucstudio.engine.base import AUCClassifier
from aucstudio.engine.ensembles.criterion import Criterion
from aucstudio.engine.inference import holm
from aucstudio.engine.methods.combination._library import Member, listed
from aucstudio.engine.methods.combination.auc_ensemble import AUCEnsemble
from aucstudio.project.data.prepare import learn_preparation
from aucstudio.project.data.split import FILE, Validation, draw_splits, few_rows_caution
from aucstudio.project.data.table import Table
from aucstudio.project.errors import InputError
from aucstudio.project.results.pair_tests import pair_tests
from aucstudio.project.results.summary import WHOLE
from aucstudio.project.runs.execute import execute_split
from aucstudio.project.runs.grouping import check_groups
from aucstudio.project.runs.planning import DEFAULT_BAND, check_band, plan_on
from aucstudio.project.runs.record import DONE, RunRecord
from aucstudio.project.runs.rows import prepared
from aucstudio.project.runs.watch import Listener
from aucstudio.project.tournament.budget import Budget
from aucstudio.project.tournament.candidates import openers
from aucstudio.project.tournament.contest import Contest, Tell
from aucstudio.project.tournament.leaderboard import (
    COMBINATION,
    Duel,
    Entry,
    Leaderboard,
    in_order,
)
from aucstudio.project.work.submit import RunStore

Range = tuple[float, float]


def find_best(
    table: Table,
    validation: Validation,
    fpr_range: Range | None = None,
    *,
    folds: int = 5,
    budget: Budget | None = None,
    entrants: Sequence[Member] | None = None,
    tell: Tell = lambda words, share: None,
    store: RunStore | None = None,
) -> Leaderboard:
    """Hold a tournament.

    Parameters
    ----------
    table : Table
    validation : Validation
        One hold-out part, which no choice sees.
    fpr_range : (float, float), optional
        What counts beside the AUC.
    folds : int
        Of the training rows.
    budget : Budget, optional
    entrants : sequence of Member, optional
        The methods that take part, the simplest first; by default those that suit the rows.
    tell : callable, optional
        Hears in words what is done, and which share of the time is gone.
    store : RunStore, optional
        Where each run is kept as it ends.

    Raises
    ------
    InputError
        If the rows cannot be parted, or the range is none.
    """
    if validation.splits != 1 or validation.scheme == FILE:
        raise InputError("a tournament holds out one part of the rows", setting="validation")
    if fpr_range is not None:
        check_band(fpr_range)
    return _Tournament(table, validation, fpr_range, folds, budget or Budget(), tell, store).hold(
        entrants
    )


class _Tournament:
    """One tournament and what it has come to."""

    def __init__(
        self,
        table: Table,
        validation: Validation,
        fpr_range: Range | None,
        folds: int,
        budget: Budget,
        tell: Tell,
        store: RunStore | None,
    ) -> None:
        self._table, self._validation, self._range = table, validation, fpr_range
        self._folds, self._budget, self._tell, self._store = folds, budget, tell, store
        self._band = fpr_range or DEFAULT_BAND
        self._unsaved = ""
        self._not_judged: list[str] = []
        self._failed: list[str] = []

    def hold(self, entrants: Sequence[Member] | None) -> Leaderboard:
        contest = self._contest = self._make_contest(entrants)
        contest.play()
        entries = self._judge(self._plan())
        order = in_order(entries)
        budget = self._budget
        # What time cut short is known before the last looks are taken.
        over = bool(contest.not_begun or self._not_judged)
        return Leaderboard(
            order,
            self._duels(order),
            self._band,
            self._range,
            contest.criterion,
            "stopped" if budget.stopped() else "time" if over else "done",
            budget.spent,
            len(contest.outcomes) + sum(entry.record is not None for entry in entries),
            tuple(dict.fromkeys(member.text for member in contest.not_begun))
            + tuple(self._not_judged),
            (*(f"{m.text}: {why}" for m, why in contest.failed.items()), *self._failed),
            self._notes(),
            self._unsaved,
        )

    def _make_contest(self, entrants: Sequence[Member] | None) -> Contest:
        table, validation = self._table, self._validation
        if table.weight is not None:
            raise InputError(
                f"column {table.weight!r} weighs the rows, and a tournament counts each once so "
                "far: give the column another role, or train methods one by one",
                column=table.weight,
                setting="weight",
            )
        check_groups(validation, table, None)
        (split,) = draw_splits(table.is_positive(), validation, table.groups)
        rows = np.flatnonzero(table.labelled())[split.train]
        preparation = learn_preparation(table, rows)
        X = prepared(preparation, table, rows)
        assert isinstance(X, np.ndarray)
        positive = table.is_positive()[split.train]
        groups = None if table.groups is None else table.groups.part(split.train).codes
        seed = validation.seed
        members = openers(len(rows), seed, self._range) if entrants is None else entrants
        criterion = Criterion.of_range(self._range, positive)
        parts = X, positive, groups, criterion, list(members), self._folds, seed
        return Contest(*parts, self._budget, self._tell)

    def _plan(self) -> list[_Candidate]:
        """List what is to be judged on the held-out rows, the simplest first."""
        contest, stopped = self._contest, self._budget.stopped()
        ready = contest.ready
        found = []
        for method in contest.methods():
            member = contest.best_of(method)
            spent = sum(s for (one, _), s in contest.seconds.items() if one.method == method)
            found.append(
                _Candidate(member, contest.measure(member), spent, contest.fit_seconds(member))
            )
        if ready and (len(ready) > 1 or stopped):
            ensemble = AUCEnsemble(
                fpr_range=self._range,
                library=listed(ready),
                n_folds=self._folds,
                random_state=self._validation.seed,
            )
            ensemble.take(contest.outcomes)
            inner = contest.measure_combination() if len(ready) > 1 else found[0].inner
            spent = sum(contest.seconds[m, k] for m in ready for k in range(contest.n_folds))
            member = Member.of(COMBINATION, **ensemble.get_params())
            found.append(_Candidate(member, inner, spent, 0.0, ensemble))
        return found

    def _judge(self, found: list[_Candidate]) -> list[Entry]:
        """Train each on all training rows and look at those held out: the best, then the cheapest.

        Once somebody stops, only what needs no training is judged: the combination.
        """
        records: dict[int, RunRecord | None] = {}
        order = sorted(range(len(found)), key=lambda k: -found[k].inner)
        order = order[:1] + sorted(order[1:], key=lambda k: found[k].seconds_a_fit)
        for k in order:
            one, first = found[k], not any(records.values())
            free = one.method is not None
            if not free and (self._budget.stopped() or (not first and self._budget.is_over())):
                self._not_judged.append(f"{one.member.method} on the held-out rows")
            else:
                records[k] = self._record(one)
        criterion = self._contest.criterion
        return [
            Entry(c.member.method, c.settings, c.inner, records.get(k), c.seconds, criterion, k)
            for k, c in enumerate(found)
        ]

    def _record(self, one: _Candidate) -> RunRecord | None:
        settings, stopped = dict(one.member.params), self._budget.stopped
        # The combination is trained already, so that a stop does not keep it from being judged.
        listen: Listener | None = None if one.method is not None else lambda _: stopped()
        self._tell(f"held-out rows, {one.member.method}", None)
        try:
            experiment = plan_on(
                self._table, one.member.method, settings, self._validation, self._band
            )
        except ValueError as error:
            self._failed.append(f"{one.member.text}: {error}")
            return None
        record = execute_split(experiment, self._table, None, 0, None, listen, one.method)
        if record.error:
            self._failed.append(f"{one.member.text}: {record.error}")
        if record.status != DONE or not record.splits:
            return None
        return self._keep(record)

    def _keep(self, record: RunRecord) -> RunRecord:
        try:
            return record if self._store is None else self._store.add_run(record)
        except InputError as error:
            self._unsaved = str(error)
            return record

    def _duels(self, entries: Sequence[Entry]) -> tuple[Duel, ...]:
        judged = [entry for entry in entries if entry.record is not None]
        if len(judged) < 2:
            return ()
        records: list[Any] = [entry.record for entry in judged]
        band = WHOLE if self._range is None else self._range
        tests = pair_tests([(records[0], other) for other in records[1:]], band)
        corrected = holm([test.p for test in tests]).tolist()
        return tuple(map(Duel, judged[1:], tests, corrected))

    def _notes(self) -> tuple[str, ...]:
        positive = self._table.is_positive()
        m = int(np.count_nonzero(positive))
        caution = few_rows_caution(m, len(positive) - m, self._validation)
        return (caution,) if caution else ()


@dataclasses.dataclass(frozen=True, eq=False)
class _Candidate:
    """What may be judged on the held-out rows.

    ``method`` is an estimator that knows its parts already, where there is one.
    """

    member: Member
    inner: float
    seconds: float
    seconds_a_fit: float = 0.0
    method: AUCClassifier | None = None

    @property
    def settings(self) -> str:
        """Tell the settings that are not as usual, as far as they set it apart from others."""
        hidden = () if self.method is None else ("library", "n_folds")
        hidden = (*hidden, "random_state", "fpr_range")
        return ", ".join(f"{n} = {v}" for n, v in self.member.params if n not in hidden)
