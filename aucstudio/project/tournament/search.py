"""A search: comparison on the training rows, test on the held-out rows, and final model."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine import METHODS
from aucstudio.engine.arrays import class_counts
from aucstudio.engine.crossfit.folds import draw_folds
from aucstudio.engine.crossfit.members import Member, library, write_list
from aucstudio.engine.ensembles.selection import Criterion
from aucstudio.engine.inference import holm
from aucstudio.engine.monitor import Stopped
from aucstudio.engine.roc import SAMPLING
from aucstudio.notices import text, texts
from aucstudio.notices.words import seconds_words
from aucstudio.project.data.preparing.preparation_choice import USUAL, PreparationChoice
from aucstudio.project.data.table import Table
from aucstudio.project.data.validation import (
    FILE,
    HOLD_OUT,
    Split,
    Validation,
    draw_splits,
    few_rows_caution,
)
from aucstudio.project.data.validation import FOLDS as K_FOLDS
from aucstudio.project.errors import InputError, input_error
from aucstudio.project.results.comparison import pair_tests
from aucstudio.project.results.summary import WHOLE
from aucstudio.project.runs.execute import execute, failure_sentence, refit
from aucstudio.project.runs.experiment import DataReference, require_band
from aucstudio.project.runs.final_model import with_carried_threshold
from aucstudio.project.runs.planning import (
    DEFAULT_BAND,
    check_groups,
    plan_experiment,
    plan_on,
    planned_run,
)
from aucstudio.project.runs.progress import Listener
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.runs.rows import learn, part_weights, prepared, relative
from aucstudio.project.runs.run_notes import group_notes, shared_notes
from aucstudio.project.tournament.candidate_comparison import (
    CLOSING,
    MARGIN,
    Budget,
    CandidateComparison,
)
from aucstudio.project.tournament.standings import (
    COMBINATION,
    DONE,
    JUDGED,
    READY,
    STOPPED,
    TIME,
    WAITS,
    CriterionEstimate,
    Lead,
    Milestone,
    RowCounts,
    Standing,
    Standings,
)
from aucstudio.project.tournament.verdict import SearchResult, final_standings

Range = tuple[float, float]
FOLDS = 5
"""Of the training rows."""
_MOST_FOLDS = 20
_REPORT_SECONDS = 0.5  # between two standings that differ in words only
_COST_OF_ROWS = 1.5  # power of the rows in the time of a fit: from 1 for trees to 2 for kernels


@dataclasses.dataclass(frozen=True, eq=False)
class SearchRequest:
    """A requested search.

    Attributes
    ----------
    table : Table
    validation : Validation
        One hold-out part, or a test file, which no selection uses.
    fpr_range : (float, float) or None
        The range whose partial AUC is in the ranking criterion beside the AUC.
    seconds : float
        The time limit.
    preparation : PreparationChoice
    entrants : sequence of Member or None
        The members to fit, the most important first; None for those of the library that suit the
        rows.
    folds : int
        Of the training rows.
    earlier : sequence of Standings
        Searches that may have held out the same rows.
    """

    table: Table
    validation: Validation
    fpr_range: Range | None = None
    seconds: float = math.inf
    preparation: PreparationChoice = USUAL
    entrants: Sequence[Member] | None = None
    folds: int = FOLDS
    earlier: Sequence[Standings] = ()


def find_best(
    request: SearchRequest,
    *,
    budget: Budget | None = None,
    store: Callable[[RunRecord], RunRecord] = lambda record: record,
    watch: Callable[[Standings], object] = lambda _standings: None,
) -> SearchResult:
    """Search for the best model of a table.

    Parameters
    ----------
    request : SearchRequest
    budget : Budget, optional
        By default the time limit of the request.
    store : callable, optional
        Stores each run as it ends, and returns it with its id.
    watch : callable, optional
        Called with the standings whenever they have changed, and at the end.

    Raises
    ------
    InputError
        If the rows cannot be split, or the range is invalid.
    """
    if request.validation.splits != 1:
        raise InputError("Find the best holds out one part of the rows", setting="validation")
    if request.fpr_range is not None:
        require_band(request.fpr_range)
    return _Search(request, budget or Budget(request.seconds), store, watch).run()


@dataclasses.dataclass(eq=False)
class _Search:
    """One search and its state."""

    request: SearchRequest
    budget: Budget
    store: Callable[[RunRecord], RunRecord]
    watch: Callable[[Standings], object]

    def __post_init__(self) -> None:
        self.table, self.validation = self.request.table, self.request.validation
        self.range, self.folds = self.request.fpr_range, self.request.folds
        # A file that does not fit is refused before anything is fitted; no selection uses it.
        self._test_table = read_held_out(self.table, self.validation)
        self._shared = shared_notes(self.table, self._test_table)
        self.result = SearchResult(self.range, self.range or DEFAULT_BAND, not self._shared)
        self._begun = Standings.begun(
            self.range,
            budget=self.budget.limit,
            validation=self.validation,
            preparation=self.request.preparation,
            folds=self.folds,
        )
        self._reported: tuple[object, float] = None, 0.0
        self._entries: dict[str, Standing] = {}
        self._failed: list[str] = []  # methods that could not be tested
        self._first = ""  # the selected method
        self._kept = 0.0  # seconds for its test and refit

    def run(self) -> SearchResult:
        comparison = self._comparison = self._compare()
        comparison.run()
        self._choose()
        self._test()
        self._end()
        self.watch(final_standings(self._live(""), self.result))
        return self.result

    def _end(self) -> None:
        """Order the entries, and note what was not done."""
        comparison, result = self._comparison, self.result
        # The order is decided without the held-out rows.
        order = sorted(
            self._entries.values(), key=lambda one: (one.method != self._first, -_inner(one))
        )
        result.entries = tuple(self._with_leads(order))
        result.untested = [
            one.method for one in order if one.why and one.method not in self._failed
        ]
        result.not_begun = [
            *dict.fromkeys(member.text for member in comparison.not_begun),
            *(f"{method} on the held-out rows" for method in result.untested),
        ]
        result.failed = [
            *(f"{m.text}: {why}" for m, why in comparison.failed.items()),
            *(self._entries[method].why for method in self._failed),
        ]
        result.notes = self._notes()
        begun = self._live("")
        result.earlier = sum(begun.repeats(one) for one in self.request.earlier)
        result.criterion = comparison.criterion
        result.ended = TIME if result.not_begun else DONE
        if self.budget.stopped():
            result.ended = STOPPED
        result.spent, result.fits = self.budget.spent, self._fits

    @property
    def _fits(self) -> int:
        return len(self._comparison.outcomes) + len(self.result.records)

    def _report(self, words: str) -> None:
        """Report the standings with the current step if an entry has changed, or now and then."""
        known, when = self._reported
        now = len(self._comparison.course), len(self._entries), len(self.result.records)
        if now != known or self.budget.spent > when + _REPORT_SECONDS:
            self._reported = now, self.budget.spent
            self.watch(self._live(words))

    def _live(self, words: str) -> Standings:
        comparison, known = self._comparison, self._entries
        methods = dict.fromkeys(member.method for member in comparison.entrants)
        listed = [known.get(method) or comparison.standing(method) for method in methods]
        listed.append(known.get(COMBINATION) or Standing(COMBINATION, WAITS))
        return dataclasses.replace(
            self._begun,
            doing=words,
            share=comparison.criterion.share,
            train=RowCounts(*class_counts(comparison.positive)),
            held=RowCounts(*class_counts(self._held)),
            entries=tuple(sorted(listed, key=_inner, reverse=True)),
            course=tuple(comparison.course),
            spent=self.budget.spent,
            fits=self._fits,
        )

    def _compare(self) -> CandidateComparison:
        table, validation, request = self.table, self.validation, self.request
        split = self._split = draw_held_out(table, validation, self.folds)
        self._held = self._held_classes(split)
        labelled, places = np.flatnonzero(table.labelled()), counted_places(table, split.train)
        began = time.monotonic(), time.process_time()
        # Prepared as for the combination, which consists of the models of the comparison.
        preparation = learn(METHODS[COMBINATION], table, labelled[split.train], request.preparation)
        X = prepared(preparation, table, labelled[places])
        assert isinstance(X, np.ndarray)
        taken = time.monotonic() - began[0], time.process_time() - began[1]
        positive = table.is_positive()[places]
        groups = None if table.groups is None else table.groups.part(places).codes
        declared = None if table.weights is None else table.weights[places]
        weights = None if declared is None else relative(declared)
        seed = validation.seed
        options = len(places), seed, X.shape[1], self.result.band
        entrants = request.entrants
        members = library("thorough", *options) if entrants is None else entrants
        criterion = Criterion.of_range(self.range, positive, weights)
        parts = X, positive, groups, weights, criterion, list(members), self.folds, seed
        growth = 0.0 if self._is_whole else (len(labelled) / len(places)) ** _COST_OF_ROWS
        kind = table.weight_kind or SAMPLING
        pace = max(1.0, taken[0] / taken[1]) if taken[1] > 0 else 1.0
        given = self.budget, growth, self._report, declared, kind, pace
        return CandidateComparison(*parts, *given)

    @property
    def _is_whole(self) -> bool:
        """Whether the tested model is fitted on all labelled rows."""
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
        comparison = self._comparison
        if not comparison.ready:
            return
        self._report("choosing weights")
        choice = self.result.choice = comparison.choose()
        self._entries = {method: comparison.standing(method) for method in comparison.methods()}
        self._first = COMBINATION if choice.member is None else choice.member.method
        if choice.member is not None:
            chosen = self._entries[self._first]
            self._entries[self._first] = dataclasses.replace(chosen, inner=choice.inner)
        # After a stop nothing more is fitted: the finished models are tested as a combination.
        if len(comparison.ready) > 1 or self.budget.stopped():
            self._entries[COMBINATION] = entry = self._combination()
            if entry.inner is not None:
                point = Milestone(self.budget.spent, entry.inner.value, COMBINATION)
                comparison.course.append(point)
            self._first = COMBINATION if self.budget.stopped() else self._first
        first, kept = self._first, (comparison.seconds_of_test, comparison.seconds_of_refit)
        self._kept = MARGIN * sum(seconds(first) for seconds in kept)

    def _combination(self) -> Standing:
        comparison, ready = self._comparison, self._comparison.ready
        params = {
            "fpr_range": self.range,
            "library": write_list(ready),
            "n_folds": self.folds,
            "random_state": self.validation.seed,
        }
        inner = comparison.combined
        spent = sum(comparison.seconds[m, k] for m in ready for k in range(comparison.n_folds))
        return Standing(COMBINATION, READY, params, inner=inner, seconds=spent)

    def _test(self) -> None:
        """Test the entries on the held-out rows, the fastest first; refit the selected one.

        Time for the test and the refit of the selected one is kept; what has to wait is tested
        after it. After a stop only the combination is tested, which needs no fit.
        """
        seconds, first = self._comparison.seconds_of_test, self._first
        singles = sorted(self._entries.keys() - {first, COMBINATION}, key=seconds)
        for method in (*singles, first, *singles, COMBINATION):
            if method in {*self.result.records, *self._failed} or method not in self._entries:
                continue
            entry, why = self._entries[method], self._why_no_time(method)
            record = None if why else self._run(entry)
            if isinstance(record, RunRecord):
                self.result.records[method] = record
                self._entries[method] = self._tested(entry, record)
                self._report(f"tested {method}")
                if method == first:
                    self._refit(method, record)
            else:
                self._entries[method] = dataclasses.replace(entry, why=why or record or "")
            if method == first:
                self._kept = 0.0

    def _tested(self, entry: Standing, record: RunRecord) -> Standing:
        """Return an entry with its figures on the held-out rows."""
        (split,) = record.splits
        sampled = split.test_weights, split.weight_kind, split.test_groups
        rows = split.test_positive, split.test_scores, *sampled
        criterion = self._comparison.criterion
        alone = dataclasses.replace(criterion, share=float(criterion.share > 0.0))
        return dataclasses.replace(
            entry,
            state=JUDGED,
            run=record.id,
            held_out=CriterionEstimate.of(criterion, *rows),
            area=CriterionEstimate.of(alone, *rows),
            why="",
        )

    def _why_no_time(self, method: str) -> str:
        if self.budget.stopped():
            return "" if method == COMBINATION else "the search was stopped"
        cost = self._comparison.seconds_of_test(method)
        if method != self._first and self.budget.is_over(self._kept + CLOSING + cost):
            return f"too little time was left for a fit of about {seconds_words(cost)}"
        return ""

    def _refit(self, method: str, record: RunRecord) -> None:
        """Refit the selected entry on all labelled rows, if the time suffices."""
        if self._is_whole:
            return
        if method == COMBINATION and self._comparison.every > 1:
            self.result.not_refit = "its models were trained on a sample for lack of time"
            return
        self._report(f"training {method} on all rows")

        def over(_: object = None) -> bool:
            return self.budget.is_over(CLOSING)

        try:
            if over():
                raise Stopped
            model = refit(record.experiment, self.table, over)
            rule = self.result.rule
            self.result.model = with_carried_threshold(model, record, self.table, rule)
        except Stopped:
            stopped = self.budget.stopped()
            self.result.not_refit = "the search was stopped" if stopped else "no time was left"
        except (ValueError, MemoryError) as error:
            self.result.not_refit = failure_sentence(error)

    def _run(self, entry: Standing) -> RunRecord | str:
        """Run an entry on the held-out rows; return why there is no record otherwise."""
        stopped, fitted = self.budget.stopped, entry.method == COMBINATION
        is_first = entry.method == self._first
        kept = 0.0 if is_first else self._kept
        only = is_first and len(self._entries) == 1  # without it there is no result
        is_over = stopped if only else lambda: self.budget.is_over(kept + CLOSING)
        # A stop does not prevent the test of the combination, which is fitted already.
        listen: Listener | None = None if fitted else lambda _: is_over()
        outcomes = self._comparison.outcomes if fitted else None
        self._report(f"held-out rows, {entry.method}")
        member = Member.of(entry.method, **entry.params).text
        planned = entry.method, entry.params, self.validation, self.result.band
        try:
            experiment = plan_on(self.table, *planned, preparation=self.request.preparation)
            if self._test_table is not None:
                experiment = experiment.tested_on(self._test_table)
        except ValueError as error:
            self._failed.append(entry.method)
            return f"{member}: {error}"
        record = execute(experiment, self.table, self._test_table, listen, only=0, kept=outcomes)
        if record.error:
            self._failed.append(entry.method)
            return f"{member}: {record.error}"
        if record.status != DONE or not record.splits:
            return "the search was stopped" if stopped() else "the time limit was reached"
        return self._stored(record)

    def _stored(self, record: RunRecord) -> RunRecord:
        try:
            return self.store(record)
        except InputError as error:
            self.result.unsaved = str(error)
            return record

    def _with_leads(self, entries: Sequence[Standing]) -> list[Standing]:
        """Test the first tested entry against the others on the held-out rows."""
        best, *others = [one.method for one in entries if one.run] or [""]
        band = WHOLE if self.range is None else self.range
        records = self.result.records
        tests = pair_tests([(records[best], records[one]) for one in others], band)
        corrected = holm([test.p for test in tests]).tolist() if tests else []
        leads = dict(zip(others, map(Lead.of, tests, corrected), strict=True))
        return [dataclasses.replace(one, behind=leads.get(one.method)) for one in entries]

    def _notes(self) -> tuple[str, ...]:
        caution = few_rows_words(self.table, self.validation)
        tables = self.table, self._test_table
        groups = group_notes(self.validation, *tables, [self._split])
        every = self._comparison.every
        sampled = text("search_sampled", every=every) if every > 1 else ""
        return (*texts((*self._shared, *groups)), *filter(None, [sampled, caution]))


def _inner(entry: Standing) -> float:
    """Return the cross-validated criterion of an entry, as far as it is known."""
    return -np.inf if entry.inner is None else entry.inner.value


def held_out_once(validation: Validation) -> Validation:
    """Return the hold-out of a search: that of the study, its test file, or one of its size."""
    if validation.scheme in (HOLD_OUT, FILE) and validation.splits == 1:
        return validation
    return Validation(test_size=validation.test_size, seed=validation.seed)


def inner_folds(validation: Validation) -> int:
    """Return the number of folds of the training rows: that of the study if it uses folds."""
    return min(validation.folds, _MOST_FOLDS) if validation.scheme == K_FOLDS else FOLDS


def plan_words(validation: Validation, *, grouped: bool = False) -> str:
    """Describe the held-out rows and the use of the others."""
    held, folds = held_out_once(validation), inner_folds(validation)
    if held.scheme == FILE:
        rows = f"the rows of {Path(held.test_file).name}"
        return f"Final figures: {rows}. Methods are compared in {folds} folds of the open table."
    why = "" if held == validation else ", independent of the validation settings"
    rows = f"{'whole groups, about ' * grouped}{100 * held.test_size:.0f} % of the rows"
    of = " (as under Validation)" if validation.scheme == K_FOLDS else ""
    return (
        f"Final figures: {rows}, held out at random{why}. "
        f"Methods are compared in {folds} folds{of} of the other rows."
    )


def check_searchable(table: Table) -> None:
    """Raise InputError if no search is possible on a table."""
    table.require_two_classes()
    table.weights  # noqa: B018  (refuses what cannot be weights)


def counted_places(table: Table, places: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the labelled rows among ``places`` whose weight is not 0."""
    weights = table.weights
    return places if weights is None else places[weights[places] > 0]


def few_rows_words(table: Table, validation: Validation) -> str:
    """Return a caution if a class has few rows of positive weight; empty otherwise."""
    positive = table.is_positive()
    counted = positive[counted_places(table, np.arange(len(positive)))]
    return few_rows_caution(*class_counts(counted), validation)


def read_held_out(table: Table, validation: Validation) -> Table | None:
    """Read the test file as for a run of the combination; None without one.

    Raises
    ------
    InputError
        If it does not fit the table.
    """
    if validation.scheme != FILE:
        return None
    experiment = plan_experiment(DataReference.to_table(table), COMBINATION, {}, validation)
    test_table = planned_run(experiment, table).test_table
    assert isinstance(test_table, Table)
    part_weights(test_table, np.arange(len(test_table.is_positive())), "test file")
    return test_table


def draw_held_out(table: Table, validation: Validation, folds: int = FOLDS) -> Split:
    """Draw the held-out rows: none of the table if there is a test file.

    Raises
    ------
    InputError
        If the other rows cannot be divided into folds with both classes, or no row of a class
        counts.
    """
    check_searchable(table)
    check_groups(validation, table, None)
    positive = table.is_positive()
    (split,) = draw_splits(positive, validation, table.groups)
    part_weights(table, split.train, "training part")
    if validation.scheme != FILE:
        part_weights(table, split.test, "held-out part")
    places = counted_places(table, split.train)
    groups = None if table.groups is None else table.groups.part(places).codes
    if len(draw_folds(positive[places], groups, folds, validation.seed)) < 2:
        raise input_error("search_without_folds")
    return split
