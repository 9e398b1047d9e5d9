"""A search: comparison, final test and final model."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine import METHODS
from aucstudio.engine.crossfit.members import Member, library, listed
from aucstudio.engine.ensembles.criterion import Criterion
from aucstudio.engine.inference import holm
from aucstudio.engine.monitor import Stopped
from aucstudio.engine.roc import SAMPLING, ThresholdRule
from aucstudio.notices import texts
from aucstudio.project.data.preparing.preparation_choice import USUAL, PreparationChoice
from aucstudio.project.data.splitting.split import Split
from aucstudio.project.data.splitting.validation import Validation
from aucstudio.project.data.table import Table
from aucstudio.project.errors import InputError
from aucstudio.project.results.pair_tests import pair_tests
from aucstudio.project.results.summary import WHOLE
from aucstudio.project.runs.execute import execute_split, failure_sentence, refit
from aucstudio.project.runs.experiments.experiment import check_band
from aucstudio.project.runs.experiments.planning import DEFAULT_BAND, plan_on
from aucstudio.project.runs.grouping import group_notes, shared_notes
from aucstudio.project.runs.models.final_model import with_carried_threshold
from aucstudio.project.runs.models.model import Model
from aucstudio.project.runs.progress import Listener
from aucstudio.project.runs.record import DONE, RunRecord
from aucstudio.project.runs.rows import learn, prepared, relative
from aucstudio.project.tournament.candidate_comparison import (
    CLOSING,
    Budget,
    Contest,
    Selection,
    Tell,
)
from aucstudio.project.tournament.hold_out import (
    FOLDS,
    counted_places,
    draw,
    few_rows_words,
    read_held_out,
)
from aucstudio.project.tournament.leaderboard import (
    COMBINATION,
    Duel,
    Entry,
    Leaderboard,
)
from aucstudio.project.tournament.live_standings import final_standings, live_standings
from aucstudio.project.tournament.standings import Standings
from aucstudio.project.words import seconds_words
from aucstudio.project.work.submit import RunStore

Range = tuple[float, float]
_TELL_SECONDS = 0.3  # between two standings that differ in words only
_COST_OF_ROWS = 1.5  # power of the rows that training takes: from 1 of trees to 2 of kernels


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
    """Run a tournament.

    Parameters
    ----------
    table : Table
    validation : Validation
        One hold-out part, or a test file, which no choice sees.
    fpr_range : (float, float), optional
        The range whose partial AUC counts beside the AUC.
    folds : int
        Of the training rows.
    budget : Budget, optional
    entrants : sequence of Member, optional
        The members to train, the most important first; by default those of the library.
    tell : callable, optional
        Called with what is being done, in words, and the share of the time that is over.
    store : RunStore, optional
        Where each run is kept as it ends.
    preparation : PreparationChoice, optional
        What is done with columns before each fit.
    watch : callable, optional
        Called with the standings whenever they have changed, and at the end.

    Raises
    ------
    InputError
        If the rows cannot be split, or the range is invalid.
    """
    if validation.splits != 1:
        raise InputError("Find the best holds out one part of the rows", setting="validation")
    if fpr_range is not None:
        check_band(fpr_range)
    budget = budget or Budget()
    hall = _Tournament(table, validation, fpr_range, folds, budget, tell, store, preparation, watch)
    return hall.hold(entrants)


@dataclasses.dataclass(eq=False)
class _Tournament:
    """One tournament and its state."""

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
        # A file that does not fit is refused before anything is trained; no choice looks at it.
        self._test_table = read_held_out(self.table, self.validation)
        self._shared = shared_notes(self.table, self._test_table)
        self._begun = Standings.begun(
            self.range,
            budget=self.budget.limit,
            validation=self.validation,
            preparation=self.preparation,
            folds=self.folds,
        )
        self._unsaved = ""
        self._told: tuple[object, float] = None, 0.0
        self._entries: list[Entry] = []
        self._first: Entry | None = None
        self._choice: Selection | None = None
        self._model: Model | None = None
        self._not_refit = ""

    def hold(self, entrants: Sequence[Member] | None) -> Leaderboard:
        contest = self._contest = self._make_contest(entrants)
        contest.play()
        self._choose()
        self._judge()
        # The order is decided without the held-out rows.
        order = sorted(self._entries, key=lambda one: (one is not self._first, -one.inner))
        budget = self.budget
        not_judged = [one.method for one in self._entries if one.why and not one.failed]
        failed = [one.why for one in self._entries if one.failed]
        # What time cut short is known before the last looks are taken.
        over = bool(contest.not_begun or not_judged)
        board = Leaderboard(
            tuple(order),
            self._duels(order),
            self._band,
            self.range,
            contest.criterion,
            "stopped" if budget.stopped() else "time" if over else "done",
            budget.spent,
            len(contest.outcomes) + sum(entry.record is not None for entry in order),
            tuple(dict.fromkeys(member.text for member in contest.not_begun))
            + tuple(f"{method} on the held-out rows" for method in not_judged),
            (*(f"{m.text}: {why}" for m, why in contest.failed.items()), *failed),
            self._notes(),
            self._unsaved,
            not self._shared,
            self._choice,
            self._model,
            self._not_refit,
        )
        if self.watch is not None:
            self.watch(final_standings(self._live(""), board))
        return board

    def _say(self, words: str, share: float | None) -> None:
        """Report the work, and the standings as soon as one of them has changed."""
        self.tell(words, share)
        if self.watch is None:
            return
        known, when = self._told
        judged = sum(one.record is not None for one in self._entries)
        now = (len(self._contest.course), len(self._entries), judged)
        if now != known or self.budget.spent > when + _TELL_SECONDS:
            self._told = now, self.budget.spent
            self.watch(self._live(words))

    def _live(self, words: str) -> Standings:
        start = dataclasses.replace(self._begun, doing=words)
        return live_standings(start, self._contest, self._held, self._entries)

    def _make_contest(self, entrants: Sequence[Member] | None) -> Contest:
        table, validation = self.table, self.validation
        split = self._split = draw(table, validation, self.folds)
        self._held = self._held_classes(split)
        labelled, places = np.flatnonzero(table.labelled()), counted_places(table, split.train)
        # As the combination prepares its rows, whose models are those of the contest.
        preparation = learn(METHODS[COMBINATION], table, labelled[split.train], self.preparation)
        X = prepared(preparation, table, labelled[places])
        assert isinstance(X, np.ndarray)
        positive = table.is_positive()[places]
        groups = None if table.groups is None else table.groups.part(places).codes
        declared = None if table.weights is None else table.weights[places]
        weights = None if declared is None else relative(declared)
        seed = validation.seed
        members = (
            library("thorough", len(places), seed, X.shape[1]) if entrants is None else entrants
        )
        criterion = Criterion.of_range(self.range, positive, weights)
        parts = X, positive, groups, weights, criterion, list(members), self.folds, seed
        growth = 0.0 if self._is_whole else (len(labelled) / len(places)) ** _COST_OF_ROWS
        kind = table.weight_kind or SAMPLING
        return Contest(*parts, self.budget, growth, self._say, declared, kind)

    @property
    def _is_whole(self) -> bool:
        """Whether the final model is trained on all labelled rows."""
        return self._test_table is not None

    def _held_classes(self, split: Split) -> NDArray[np.bool_]:
        """Return the classes of the held-out rows whose weight is above 0."""
        held, places = self.table, split.test
        if self._test_table is not None:
            held = self._test_table
            places = np.arange(len(held.is_positive()))
        return held.is_positive()[counted_places(held, places)]

    def _choose(self) -> None:
        """Select the final model, and list the entries to test on the held-out rows."""
        contest = self._contest
        if not contest.ready:
            return
        self._say("choosing weights", None)
        choice = self._choice = contest.choose()
        self._entries = [Entry.of_method(contest, method, choice) for method in contest.methods()]
        self._first = next((one for one in self._entries if one.member == choice.member), None)
        # Once somebody stops, nothing more is trained: what is ready is judged as a combination.
        if len(contest.ready) > 1 or self.budget.stopped():
            self._entries.append(self._combination())
            if choice.member is None or self.budget.stopped():
                self._first = self._entries[-1]

    def _combination(self) -> Entry:
        contest, ready = self._contest, self._contest.ready
        params = {
            "fpr_range": self.range,
            "library": listed(ready),
            "n_folds": self.folds,
            "random_state": self.validation.seed,
        }
        spent = sum(contest.seconds[m, k] for m in ready for k in range(contest.n_folds))
        member = Member.of(COMBINATION, **params)
        return Entry(member, contest.combined, spent, None, contest.criterion)

    def _judge(self) -> None:
        """Judge what is handed over, train it once more on all rows, and judge the others.

        The fastest goes first. Once somebody stops, only the combination, which needs no training,
        is judged.
        """
        for one in sorted(self._entries, key=lambda one: (one is not self._first, self._cost(one))):
            one.why = "" if one.opened is None else self._why_no_time(one)
            if one.why or (record := self._record(one)) is None:
                continue
            one.judge(record)
            self._say(f"tested {one.method}", None)
            if one is self._first:
                self._refit(one, record)

    def _why_no_time(self, one: Entry) -> str:
        if self.budget.stopped():
            return "the search was stopped"
        if one is not self._first and self.budget.is_over(CLOSING + self._cost(one)):
            return f"too little time was left for a fit of about {seconds_words(self._cost(one))}"
        return ""

    def _cost(self, one: Entry) -> float:
        """Predict the seconds of judging it: the combination consists of models that are there."""
        return 0.0 if one.opened is None else self._contest.seconds_alone(one.opened)

    def _refit(self, one: Entry, record: RunRecord) -> None:
        """Train what is handed over once more, on all labelled rows, as far as time allows."""
        if self._is_whole:
            return
        self._say(f"training {one.member.method} on all rows", None)
        rule = ThresholdRule("fpr", fpr=self._band[1])

        def over(_: object = None) -> bool:
            return self.budget.is_over(CLOSING)

        try:
            if over():
                raise Stopped
            model = refit(record.experiment, self.table, over)
            self._model = with_carried_threshold(model, record, self.table, rule)
        except Stopped:
            stopped = self.budget.stopped()
            self._not_refit = "the search was stopped" if stopped else "no time was left"
        except (ValueError, MemoryError) as error:
            self._not_refit = failure_sentence(error)

    def _record(self, one: Entry) -> RunRecord | None:
        stopped, trained, member = self.budget.stopped, one.opened is None, one.member
        is_over = stopped if one is self._first else lambda: self.budget.is_over(CLOSING)
        # The combination is trained already, so that a stop does not keep it from being judged.
        listen: Listener | None = None if trained else lambda _: is_over()
        kept = self._contest.outcomes if trained else None
        self._say(f"held-out rows, {member.method}", None)
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
            one.why, one.failed = f"{member.text}: {error}", True
            return None
        record = execute_split(experiment, self.table, self._test_table, 0, None, listen, kept)
        if record.error:
            one.why, one.failed = f"{member.text}: {record.error}", True
        elif record.status != DONE or not record.splits:
            one.why = "the search was stopped" if stopped() else "the time limit was reached"
        else:
            return self._keep(record)
        return None

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
        return (*texts((*self._shared, *groups)), *filter(None, [caution]))
