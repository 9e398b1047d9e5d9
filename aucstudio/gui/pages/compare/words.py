"""A comparison of the checked runs, as the page shows it, and its texts."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence
from typing import Any

from aucstudio.engine.monitor import Stopped
from aucstudio.gui.common.sentence import Statement
from aucstudio.gui.state.plan import RunLook
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.notices import text
from aucstudio.notices.words import p_words_corrected
from aucstudio.project.results import comparison
from aucstudio.project.results.comparison import (
    CORRECTION_NAMES,
    UNCORRECTED,
    Comparison,
    PairComparison,
    RunFigures,
)
from aucstudio.project.results.forecast import (
    ASSURANCE,
    growth_if_as_measured,
    growth_to_significance,
    held_out_groups,
)
from aucstudio.project.results.summary import standing
from aucstudio.project.runs.experiment import Band
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.work.cluster import Cluster

MARK = "†"
_WITHIN_REACH = 10.0  # times the rows of this study


@dataclasses.dataclass(frozen=True, eq=False)
class ShownComparison:
    """A comparison with its runs, the best one by the compared measure first.

    Runs that can be compared are beside each other; ``starts`` are the places of those that
    cannot be compared with the runs before them.
    """

    runs: list[ShownRun]
    found: Comparison
    band: Band
    starts: tuple[int, ...] = ()

    @property
    def looks(self) -> list[RunLook]:
        return [run.look for run in self.runs]

    @property
    def measure(self) -> str:
        """The compared measure in words."""
        return comparison.measure_words(self.found.measure, self.band)

    def shown_as(self, correction: str, runs: list[ShownRun]) -> ShownComparison:
        """Return the same with another correction and the current looks of the runs."""
        current = {run.record.id: run for run in runs}
        pairs = self.found.pairs
        if any(pair.correction != correction for pair in pairs):
            pairs = comparison.corrected(pairs, correction)
        return dataclasses.replace(
            self,
            runs=[current.get(run.record.id, run) for run in self.runs],
            found=dataclasses.replace(self.found, pairs=pairs),
        )

    def places(self, session: Session) -> tuple[int | None, int | None]:
        """Return the positions of the selected and the compared run."""
        listed = {run.record.id: k for k, run in enumerate(self.runs)}
        return listed.get(session.selected or ""), listed.get(session.compared or "")

    def pair(self, session: Session) -> int | None:
        """Return the position of the pair of the selected and the compared run.

        Without a compared run it is the pair of the selected run and the best other one that can
        be compared with it.
        """
        chosen, compared = self.places(session)
        wanted = {chosen} if compared in (None, chosen) else {chosen, compared}
        found = [(k, p) for k, (i, j, p) in enumerate(self.found.places()) if wanted <= {i, j}]
        return min(found, key=lambda of: bool(of[1].refused), default=(None, None))[0]

    def left_out(self, place: int) -> str:
        """State which runs cannot be compared with the first one of a pair, and why."""
        i, j, _ = list(self.found.places())[place]
        reasons: dict[tuple[str, str], list[str]] = {}
        for *pair, of in self.found.places():
            if of.refused and i in pair and j not in pair:
                other = sum(pair) - i
                records = self.runs[i].record, self.runs[other].record
                why = comparison.difference(*records) or of.refused
                reason = str(why), comparison.REMEDIES.get(why.code, "")
                reasons.setdefault(reason, []).append(self.found.runs[other].name)
        return " ".join(
            text("not_compared_with", names=names, why=why, remedy=remedy)
            for (why, remedy), names in reasons.items()
        )


def compare_checked(
    runs: list[ShownRun], band: Band, measure: str, post: Any, workers: Cluster | None
) -> ShownComparison:
    """Compute the figures of all runs and test every pair; called on another thread."""
    figures = {}
    for run in runs:
        figures[run.record.id] = comparison.compared_figures(run.look.name, run.record, band)
        if post(0.0):
            raise Stopped("comparing")

    def order(run: ShownRun) -> tuple[bool, bool, float]:
        return standing(run.record, figures[run.record.id].measured(measure).value)

    families: list[list[ShownRun]] = []
    for run in sorted(runs, key=order):
        alike = (one for one in families if not comparison.difference(one[0].record, run.record))
        family = next(alike, None)
        families.append([run]) if family is None else family.append(run)
    families.sort(key=len, reverse=True)
    *starts, _count = itertools.accumulate(map(len, families))
    ranked = [run for family in families for run in family]
    named_runs = [(run.look.name, run.record) for run in ranked]
    pairs = comparison.compare_runs(named_runs, band, measure, post, workers)
    found = Comparison([figures[run.record.id] for run in ranked], pairs, measure)
    return ShownComparison(ranked, found, band, tuple(starts))


def run_name(run: RunFigures, band: Band) -> str:
    """Return a run's name, marked if it was trained for another range."""
    return f"{run.name} {MARK}" if run.trained_elsewhere(band) else run.name


# ----------------------------------------------------------------- texts


def pair_sentence(pair: PairComparison, measure: str, rows: str) -> Statement:
    """State the result of a comparison, with its uncertainty."""
    name, _, where = measure.partition(" ")
    headline = comparison.pair_headline(pair, measure, rows)
    if pair.refused or math.isnan(pair.p):
        return Statement(headline)
    if pair.alike:
        return Statement(headline, text("alike_why", where=where))
    ahead = pair if pair.difference >= 0 else pair.turned()
    bounds = None if math.isnan(ahead.low) else (ahead.low, ahead.high)
    if pair.correction == UNCORRECTED:
        p = text("p_uncorrected", p=pair.p)
    else:
        p = p_words_corrected(pair.p, pair.p_corrected, CORRECTION_NAMES[pair.correction])
    sure = text("pair_difference", name=name, pair=ahead, where=where, bounds=bounds, p=p)
    return Statement(headline, sure)


def forecast_words(pair: PairComparison, record: RunRecord, tests: int) -> str:
    """State how many positives, or groups, a study needs for a significant difference.

    Empty where that is not known.
    """
    splits, first = len(record.splits), record.splits[0]
    growth = growth_to_significance(pair, splits, tests)
    if growth is None:
        return ""
    if math.isinf(growth):
        return text("too_few_splits", splits=splits, tests=tests)
    here, groups = int(first.test_positive.sum()), held_out_groups(record)
    if splits > 1:
        here += int(first.train_positive.sum())
    here = groups or here
    return text(
        "rows_to_significance",
        plain=_rounded_up(growth_if_as_measured(pair, splits, tests) * here),
        needed=_rounded_up(growth * here),
        tests=tests if tests > 1 and pair.correction != UNCORRECTED else None,
        here=here,
        what=text("study_rows", groups=bool(groups), several=splits > 1),
        unit="groups" if groups else "positives",
        rest="rows" if groups else "negatives",
        assurance=ASSURANCE,
        within_reach=growth <= _WITHIN_REACH,
    )


def _rounded_up(count: float) -> int:
    """Return a number with two significant digits that is not smaller."""
    step: int = 10 ** max(0, len(str(int(count))) - 2)
    return math.ceil(count / step) * step


def one_run_words(run: RunFigures, measure: str, named: str) -> Statement:
    """Describe the results of a single run."""
    figure = run.measured(measure)
    return Statement(
        text("one_run_compared", run=run, named=named, figure=figure), text("tick_two")
    )


def tally_words(pairs: Sequence[PairComparison]) -> str:
    """State how many pairs differ significantly."""
    tested = [pair for pair in pairs if not math.isnan(pair.p)]
    if len(pairs) < 2 or not tested:
        return ""
    name = CORRECTION_NAMES[pairs[0].correction]
    return text(
        "pairs_tested",
        significant=sum(pair.significant for pair in tested),
        tested=len(tested),
        correction="" if pairs[0].correction == UNCORRECTED else name,
        raw=pairs[0].correction == UNCORRECTED,
        by_chance=pairs[0].correction == UNCORRECTED and len(tested) > 1,
        refused=(len(pairs) - len(tested)) or None,
        none=not any(pair.significant for pair in tested),
    )


def footnote(found: Comparison, band: Band) -> str:
    """Name the runs whose training aimed at another FPR range than the one shown."""
    elsewhere = [text("trained_for", run=run) for run in found.runs if run.trained_elsewhere(band)]
    return text("trained_elsewhere", mark=MARK, band=band, runs=elsewhere) if elsewhere else ""
