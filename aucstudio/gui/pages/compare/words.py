"""A comparison of the checked runs, as the page shows it, and its texts."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

from aucstudio.engine.monitor import Stopped
from aucstudio.gui.common.curves import band_words
from aucstudio.gui.common.sentence import Statement
from aucstudio.gui.state.plan import RunLook
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.notices import words
from aucstudio.project.results import comparison
from aucstudio.project.results.comparison import (
    ASSURANCE,
    AUC,
    CORRECTION_NAMES,
    UNCORRECTED,
    Comparison,
    PairComparison,
    RunFigures,
    growth_to_significance,
    held_out_groups,
)
from aucstudio.project.runs.experiments.experiment import Band
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.work.cluster import Cluster

MARK = "†"


@dataclasses.dataclass(frozen=True, eq=False)
class ShownComparison:
    """A comparison with its runs, the best one by the compared measure first."""

    runs: list[ShownRun]
    found: Comparison
    band: Band

    @property
    def looks(self) -> list[RunLook]:
        return [run.look for run in self.runs]

    @property
    def measure(self) -> str:
        """The compared measure in words."""
        return measure_words(self.found.measure, self.band)

    def shown_as(self, correction: str, runs: list[ShownRun]) -> ShownComparison:
        """Return the same with another correction and the current looks of the runs."""
        current = {run.record.id: run for run in runs}
        pairs = comparison.corrected(self.found.pairs, correction)
        return dataclasses.replace(
            self,
            runs=[current.get(run.record.id, run) for run in self.runs],
            found=dataclasses.replace(self.found, pairs=pairs),
        )

    def places(self, session: Session) -> tuple[int | None, int | None]:
        """Return the positions of the selected and the compared run."""
        listed = [run.record.id for run in self.runs]
        chosen, compared = (
            listed.index(run) if run in listed else None
            for run in (session.selected, session.compared)
        )
        return chosen, compared

    def pair(self, session: Session) -> int | None:
        """Return the position of the pair of the selected and the compared run."""
        wanted = set(self.places(session))
        places = enumerate(self.found.places())
        return next((k for k, (i, j, _) in places if {i, j} == wanted), None)


def compare_checked(
    runs: list[ShownRun], band: Band, measure: str, post: Any, workers: Cluster | None
) -> ShownComparison:
    """Compute the figures of all runs and test every pair; called on another thread."""
    figures = {}
    for run in runs:
        figures[run.record.id] = comparison.run_figures(run.look.name, run.record, band)
        if post(0.0):
            raise Stopped("comparing")
    ranked = sorted(runs, key=lambda run: -figures[run.record.id].measured(measure).value)
    named_runs = [(run.look.name, run.record) for run in ranked]
    pairs = comparison.compare_runs(named_runs, band, measure, post, workers)
    found = Comparison([figures[run.record.id] for run in ranked], pairs, measure)
    return ShownComparison(ranked, found, band)


def measure_words(measure: str, band: Band) -> str:
    """Name the measure that is compared."""
    return "AUC" if measure == AUC else f"pAUC in FPR {band_words(band)}"


def p_name(correction: str) -> str:
    """Name the p-values that decide significance: ``Holm-corrected p``."""
    return "p" if correction == UNCORRECTED else f"{CORRECTION_NAMES[correction]}-corrected p"


def p_value_words(pair: PairComparison) -> str:
    """Write the p-value of a pair and the corrected one."""
    if pair.correction == UNCORRECTED:
        return f"{words.p_words(pair.p)} uncorrected"
    return words.p_words_corrected(pair.p, pair.p_corrected, CORRECTION_NAMES[pair.correction])


def pair_sentence(pair: PairComparison, measure: str, rows: str) -> Statement:
    """State the result of a comparison, with its uncertainty."""
    if pair.refused:
        return Statement(f"{pair.a} and {pair.b} cannot be compared: {pair.refused}.")
    if math.isnan(pair.p):
        why = pair.reason or "too few for a test"
        return Statement(f"{pair.a} and {pair.b} cannot be compared on {rows}: {why}.")
    if pair.alike:
        where = measure.partition(" in ")[2]
        same = f"{pair.a} and {pair.b} rank {rows} identically{f' in {where}' if where else ''}."
        why = "Both runs order every pair identically: nothing to test."
        return Statement(same, why)
    ahead = pair if pair.difference >= 0 else pair.turned()
    interval = words.interval_words(ahead.low, ahead.high)
    known = f", 95 % {interval}" if interval != "–" else ""
    name, _, where = measure.partition(" in ")
    place = f" in {where}" if where else ""
    sure = (
        f"{name} difference {words.figure_words(ahead.difference)}{place}{known}, "
        f"{p_value_words(pair)}."
    )
    if pair.significant:
        return Statement(f"{ahead.a} ranks better than {ahead.b} on {rows}.", sure)
    return Statement(f"{ahead.a} and {ahead.b} do not differ significantly on {rows}.", sure)


def rows_words(record: RunRecord) -> str:
    """Describe the rows that a run was scored on."""
    name = record.experiment.weight
    weighted = "" if name is None else f", weighted by {name}"
    if len(record.splits) == 1:
        return f"these {len(record.splits[0].test_rows):,} rows{weighted}"
    return f"these {len(record.splits)} splits{weighted}"


def forecast_words(pair: PairComparison, record: RunRecord, tests: int) -> str:
    """State how many positives, or groups, a study needs for a significant difference.

    Empty where that is not known.
    """
    splits, first = len(record.splits), record.splits[0]
    growth = growth_to_significance(pair, splits, tests)
    if growth is None:
        return ""
    if math.isinf(growth):
        return (
            f"{splits} splits are too few for one of {tests} pairs to be significant: "
            "use more splits."
        )
    held_out = int(first.test_positive.sum())
    here = held_out if splits == 1 else held_out + int(first.train_positive.sum())
    what, rest = "held-out positives" if splits == 1 else "positives in the table", "negatives"
    groups = held_out_groups(record)
    if groups:
        here, rest = groups, "rows"
        what = "held-out groups" if splits == 1 else "groups in the table"
    return (
        f"A new study needs about {_roughly(growth * here):,} {what} for a difference to be "
        f"significant with probability {100 * ASSURANCE:g} %, given how uncertain this one is "
        f"({here:,} here; {rest} in proportion)."
    )


def _roughly(count: float) -> int:
    """Round up to two digits."""
    unit: int = 10 ** max(0, len(str(int(count))) - 2)
    return math.ceil(count / unit) * unit


def one_run_words(run: RunFigures, measure: str, named: str) -> Statement:
    """Describe the results of a single run."""
    figure = run.measured(measure)
    return Statement(
        f"{run.name} alone: {named} {words.figure_words(figure.value)} ({figure.interval}).",
        "Tick a second run in the list to compare.",
    )


def tally_words(pairs: Sequence[PairComparison]) -> str:
    """State how many pairs differ significantly."""
    tested = [pair for pair in pairs if not math.isnan(pair.p)]
    if len(pairs) < 2 or not tested:
        return ""
    significant = sum(pair.significant for pair in tested)
    refused = len(pairs) - len(tested)
    left = f"; {refused} not comparable" if refused else ""
    count = f"{significant} of {len(tested)} pairs differ" if significant else "No pair differs"
    correction = pairs[0].correction
    if correction == UNCORRECTED:
        chance = (
            ""
            if len(tested) < 2
            else (f" (of {len(tested)}, about one in 20 would differ by chance)")
        )
        return f"{count} before any correction{chance}{left}."
    return f"{count} after {CORRECTION_NAMES[correction]}'s correction{left}."


def footnote(found: Comparison, band: Band) -> str:
    """Name the runs whose training aimed at another FPR range than the one shown."""
    elsewhere = [
        f"{run.name} for {band_words(run.trained_for)}"
        for run in found.runs
        if run.trained_for is not None and run.trained_elsewhere(band)
    ]
    if not elsewhere:
        return ""
    return f"{MARK} Not trained for the FPR range shown, {band_words(band)}: {', '.join(elsewhere)}"


def what_next(session: Session) -> str:
    """State the next step if there is nothing to compare."""
    if any(run.record.splits for run in session.shown_runs()):
        return "No run is checked: check two or more in the list to compare them."
    if session.live is not None:
        return f"{session.live.look.name} is training; it is compared when it has ended."
    if session.table is None:
        return "Open a table and run two methods to compare them."
    return "No run yet: run two methods, and they are compared here."


def run_name(run: RunFigures, band: Band) -> str:
    """Return a run's name, marked if it was trained for another range."""
    return f"{run.name} {MARK}" if run.trained_elsewhere(band) else run.name
