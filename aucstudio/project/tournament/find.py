"""A tournament on a table: the contest within the training rows, and one honest look beyond."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.ensembles.criterion import Criterion
from aucstudio.engine.inference import holm
from aucstudio.engine.methods.combination._library import Member, listed
from aucstudio.project.data.preparing.learning import learn_preparation
from aucstudio.project.data.preparing.preparation_choice import USUAL, PreparationChoice
from aucstudio.project.data.splitting.split import Split
from aucstudio.project.data.splitting.validation import Validation
from aucstudio.project.data.table import Table
from aucstudio.project.errors import InputError
from aucstudio.project.results.pair_tests import pair_tests
from aucstudio.project.results.summary import WHOLE
from aucstudio.project.runs.execute import execute_split
from aucstudio.project.runs.experiments.planning import DEFAULT_BAND, check_band, plan_on
from aucstudio.project.runs.grouping import group_notes, shared_notes
from aucstudio.project.runs.record import DONE, RunRecord
from aucstudio.project.runs.rows import prepared, relative
from aucstudio.project.runs.watch import Listener
from aucstudio.project.tournament.budget import Budget
from aucstudio.project.tournament.candidates import openers
from aucstudio.project.tournament.contest import Contest, Tell
from aucstudio.project.tournament.hold_out import (
    FOLDS,
    counted_places,
    draw,
    few_rows_words,
    read_held_out,
)
from aucstudio.project.tournament.leaderboard import (
    COMBINATION,
    Candidate,
    Duel,
    Entry,
    Leaderboard,
    in_order,
)
from aucstudio.project.tournament.standings import Estimate, Standings
from aucstudio.project.tournament.telling import final_standings, live_standings
from aucstudio.project.work.submit import RunStore

Range = tuple[float, float]
_TELL_SECONDS = 0.3  # between two standings that differ in words only


def find_best(
    table: Table,
    validation: Validation,
    fpr_range: Range | None = None,
    *,
    folds: int = FOLDS,
    budget: Budget | None = None,
    entrants: Sequence[Member] | None = None,
    tell: Tell = lambda words, share: None,
    store: RunStore | None = None,
    preparation: PreparationChoice = USUAL,
    watch: Callable[[Standings], object] | None = None,
) -> Leaderboard:
    """Hold a tournament.

    Parameters
    ----------
    table : Table
    validation : Validation
        One hold-out part, or a test file, which no choice sees.
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
    preparation : PreparationChoice, optional
        What is done with columns before each fit.
    watch : callable, optional
        Hears how it stands, whenever that has changed, and of the end.

    Raises
    ------
    InputError
        If the rows cannot be parted, or the range is none.
    """
    if validation.splits != 1:
        raise InputError("a tournament holds out one part of the rows", setting="validation")
    if fpr_range is not None:
        check_band(fpr_range)
    budget = budget or Budget()
    hall = _Tournament(table, validation, fpr_range, folds, budget, tell, store, preparation, watch)
    return hall.hold(entrants)


@dataclasses.dataclass(eq=False)
class _Tournament:
    """One tournament and what it has come to."""

    table: Table
    validation: Validation
    range: Range | None
    folds: int
    budget: Budget
    tell: Tell
    store: RunStore | None
    preparation: PreparationChoice
    watch: Callable[[Standings], object] | None

    def __post_init__(self) -> None:
        self._band = self.range or DEFAULT_BAND
        # A file that does not fit is told before anything is trained; nothing else looks at it.
        self._test_table = read_held_out(self.table, self.validation)
        self._shared = shared_notes(self.table, self._test_table)
        self._begun = Standings.begun(
            self.range,
            budget=self.budget.limit,
            validation=self.validation,
            preparation=self.preparation,
        )
        self._unsaved = ""
        self._not_judged: list[str] = []
        self._failed: list[str] = []
        self._told: tuple[object, float] = None, 0.0
        self._records: dict[Member, RunRecord] = {}
        self._combined: Candidate | None = None

    def hold(self, entrants: Sequence[Member] | None) -> Leaderboard:
        contest = self._contest = self._make_contest(entrants)
        contest.play()
        entries = self._judge(self._plan())
        order = in_order(entries)
        budget = self.budget
        # What time cut short is known before the last looks are taken.
        over = bool(contest.not_begun or self._not_judged)
        board = Leaderboard(
            order,
            self._duels(order),
            self._band,
            self.range,
            contest.criterion,
            "stopped" if budget.stopped() else "time" if over else "done",
            budget.spent,
            len(contest.outcomes) + sum(entry.record is not None for entry in entries),
            tuple(dict.fromkeys(member.text for member in contest.not_begun))
            + tuple(self._not_judged),
            (*(f"{m.text}: {why}" for m, why in contest.failed.items()), *self._failed),
            self._notes(),
            self._unsaved,
            not self._shared,
        )
        if self.watch is not None:
            self.watch(final_standings(self._live(""), board))
        return board

    def _say(self, words: str, share: float | None) -> None:
        """Tell of the work; and how it stands, as soon as anyone's standing has changed."""
        self.tell(words, share)
        if self.watch is None:
            return
        known, when = self._told
        now = (len(self._contest.course), len(self._records), self._combined is not None)
        if now != known or self.budget.spent > when + _TELL_SECONDS:
            self._told = now, self.budget.spent
            self.watch(self._live(words))

    def _live(self, words: str) -> Standings:
        start = dataclasses.replace(self._begun, doing=words)
        parts = self._contest, self._held, self._combined, self._records
        return live_standings(start, *parts)

    def _make_contest(self, entrants: Sequence[Member] | None) -> Contest:
        table, validation = self.table, self.validation
        split = self._split = draw(table, validation, self.folds)
        self._held = self._held_classes(split)
        labelled, places = np.flatnonzero(table.labelled()), counted_places(table, split.train)
        preparation = learn_preparation(table, labelled[split.train], self.preparation)
        X = prepared(preparation, table, labelled[places])
        assert isinstance(X, np.ndarray)
        positive = table.is_positive()[places]
        groups = None if table.groups is None else table.groups.part(places).codes
        weights = None if table.weights is None else relative(table.weights[places])
        seed = validation.seed
        members = openers(len(places), seed, self.range) if entrants is None else entrants
        criterion = Criterion.of_range(self.range, positive, weights)
        parts = X, positive, groups, weights, criterion, list(members), self.folds, seed
        return Contest(*parts, self.budget, self._say)

    def _held_classes(self, split: Split) -> NDArray[np.bool_]:
        """Give the classes of the held-out rows that weigh anything."""
        held, places = self.table, split.test
        if self._test_table is not None:
            held = self._test_table
            places = np.arange(len(held.is_positive()))
        return held.is_positive()[counted_places(held, places)]

    def _plan(self) -> list[Candidate]:
        """List what is to be judged on the held-out rows, the simplest first."""
        contest = self._contest
        found = [
            Candidate(member, contest.estimate(member), contest.spent_on(method), member)
            for method in contest.methods()
            for member in [contest.best_of(method)]
        ]
        if contest.ready and (len(contest.ready) > 1 or self.budget.stopped()):
            self._combined = self._combination(found[0].inner)
            found.append(self._combined)
        return found

    def _combination(self, alone: Estimate) -> Candidate:
        contest, ready = self._contest, self._contest.ready
        params = {
            "fpr_range": self.range,
            "library": listed(ready),
            "n_folds": self.folds,
            "random_state": self.validation.seed,
        }
        inner = alone
        if len(ready) > 1:
            self._say("choosing weights", None)
            inner = contest.estimated(contest.combine())
        spent = sum(contest.seconds[m, k] for m in ready for k in range(contest.n_folds))
        return Candidate(Member.of(COMBINATION, **params), inner, spent, None)

    def _judge(self, found: list[Candidate]) -> list[Entry]:
        """Train each on all training rows and look at those held out: the best, then the cheapest.

        Once somebody stops, only what needs no training is judged: the combination.
        """
        order = sorted(found, key=lambda one: -one.inner.value)
        order = order[:1] + sorted(order[1:], key=self._cost)
        for one in order:
            free = one.opened is None
            is_over = self.budget.is_over() and bool(self._records)
            if not free and (self.budget.stopped() or is_over):
                self._not_judged.append(f"{one.member.method} on the held-out rows")
            elif (record := self._record(one)) is not None:
                self._records[one.member] = record
                self._say(f"judged {one.member.method}", None)
        criterion = self._contest.criterion
        return [
            Entry(one, self._records.get(one.member), criterion, k) for k, one in enumerate(found)
        ]

    def _cost(self, one: Candidate) -> float:
        """Say what judging it takes: the combination consists of models that are there."""
        return 0.0 if one.opened is None else self._contest.fit_seconds(one.opened)

    def _record(self, one: Candidate) -> RunRecord | None:
        stopped, trained = self.budget.stopped, one.opened is None
        # The combination is trained already, so that a stop does not keep it from being judged.
        listen: Listener | None = None if trained else lambda _: stopped()
        kept = self._contest.outcomes if trained else None
        self._say(f"held-out rows, {one.member.method}", None)
        member = one.member
        try:
            experiment = plan_on(
                self.table,
                member.method,
                dict(member.params),
                self.validation,
                self._band,
                preparation=self.preparation,
            )
            if self._test_table is not None:
                experiment = experiment.tested_on(self._test_table)
        except ValueError as error:
            self._failed.append(f"{member.text}: {error}")
            return None
        record = execute_split(experiment, self.table, self._test_table, 0, None, listen, kept)
        if record.error:
            self._failed.append(f"{member.text}: {record.error}")
        if record.status != DONE or not record.splits:
            return None
        return self._keep(record)

    def _keep(self, record: RunRecord) -> RunRecord:
        try:
            return record if self.store is None else self.store.add_run(record)
        except InputError as error:
            self._unsaved = str(error)
            return record

    def _duels(self, entries: Sequence[Entry]) -> tuple[Duel, ...]:
        judged = [entry for entry in entries if entry.record is not None]
        if len(judged) < 2:
            return ()
        records: list[Any] = [entry.record for entry in judged]
        band = WHOLE if self.range is None else self.range
        tests = pair_tests([(records[0], other) for other in records[1:]], band)
        corrected = holm([test.p for test in tests]).tolist()
        return tuple(map(Duel, judged[1:], tests, corrected))

    def _notes(self) -> tuple[str, ...]:
        caution = few_rows_words(self.table, self.validation)
        tables = self.table, self._test_table
        groups = group_notes(self.validation, *tables, [self._split])
        return (*self._shared, *filter(None, [caution]), *groups)
