"""Result of a search as data, sentences and JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from aucstudio.engine import DECLARED
from aucstudio.engine.ensembles.combined import CombinationScorer, MemberShare
from aucstudio.engine.ensembles.selection import Criterion
from aucstudio.engine.roc import ThresholdRule
from aucstudio.notices import text, texts
from aucstudio.notices.words import (
    aligned,
    figure_words,
    interval_words,
    p_words,
    p_words_corrected,
)
from aucstudio.project.data.table import Table
from aucstudio.project.data.validation import FILE
from aucstudio.project.results.documents import area_cells, result_document
from aucstudio.project.results.summary import Estimate, auc_summary, cautions, pauc_summary
from aucstudio.project.results.thresholds import curve_of, vertex_of
from aucstudio.project.runs.model import Model
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.runs.settings_shown import member_words
from aucstudio.project.tournament.candidate_comparison import ERRORS, Selection
from aucstudio.project.tournament.standings import (
    COMBINATION,
    LEFT,
    RUNNING,
    STOPPED,
    Band,
    Lead,
    OperatingPoint,
    Standing,
    Standings,
    Verdict,
    measure_words,
)

MOST_COST = 0.02
"""Largest possible loss, in AUC or partial AUC, for which a simpler method is offered."""

_NONE = "–"


@dataclasses.dataclass(eq=False)
class SearchResult:
    """The result of a search, which fills it in.

    Attributes
    ----------
    fpr_range : (float, float) or None
        The requested range; None for the AUC.
    band : (float, float)
        Of the partial AUC that is shown.
    unseen : bool
        Whether no held-out row is known to be a training row too.
    entries : tuple of Standing
        The selected one, then the others by falling cross-validated criterion: the order is
        decided without the held-out rows.
    records : dict of str to RunRecord
        By method, the entries that were tested: fitted on all training rows.
    criterion : Criterion
    ended : {"done", "time", "stopped"}
    spent : float
    fits : int
    not_begun, failed, untested, notes : sequence of str
    earlier : int
        How many earlier searches were tested on the same held-out rows.
    unsaved : str
        Why a run could not be stored.
    choice : Selection or None
    model : Model or None
        The selected model, refit on all labelled rows.
    not_refit : str
        Why there is no such model; empty if the tested model was fitted on all rows.
    """

    fpr_range: Band | None
    band: Band
    unseen: bool
    entries: tuple[Standing, ...] = ()
    records: dict[str, RunRecord] = dataclasses.field(default_factory=dict)
    criterion: Criterion = dataclasses.field(default_factory=Criterion)
    ended: str = RUNNING
    spent: float = 0.0
    fits: int = 0
    not_begun: Sequence[str] = ()
    failed: Sequence[str] = ()
    untested: Sequence[str] = ()
    notes: Sequence[str] = ()
    earlier: int = 0
    unsaved: str = ""
    choice: Selection | None = None
    model: Model | None = None
    not_refit: str = ""

    @property
    def best(self) -> Standing | None:
        """The first entry that was tested on the held-out rows."""
        return next((entry for entry in self.entries if entry.method in self.records), None)

    @property
    def record(self) -> RunRecord | None:
        """The run of the best entry."""
        return None if self.best is None else self.records[self.best.method]

    @property
    def members(self) -> tuple[MemberShare, ...]:
        """The members of the best entry, if it is a combination."""
        scorer = None if self.record is None else self.record.splits[0].model.scorer
        return scorer.members if isinstance(scorer, CombinationScorer) else ()

    @property
    def rule(self) -> ThresholdRule:
        """The rule for the decision threshold: the end of the range."""
        return ThresholdRule("fpr", fpr=self.band[1])

    @property
    def simplest(self) -> Standing | None:
        """The simplest entry that loses less than :data:`MOST_COST` with confidence.

        None if none is simpler than the best one, or the held-out rows are too few.
        """
        simpler = [
            entry
            for entry in self.entries
            if entry.behind is not None
            and entry.behind.high is not None
            and entry.behind.high <= MOST_COST
            and self.best is not None
            and self.rank(entry) < self.rank(self.best)
        ]
        return min(simpler, key=self.rank, default=None)

    def rank(self, entry: Standing) -> int:
        """Return how simple a tested entry is: 0 for a weighted sum, the most for a combination."""
        shapes = ("a curve per feature", "thresholds", "one tree", "trees")
        if entry.method == COMBINATION:
            return 2 + len(shapes)
        if self.records[entry.method].splits[0].model.scorer.kind == "linear":
            return 0
        shape = DECLARED[entry.method].shape
        return 1 + (shapes.index(shape) if shape in shapes else len(shapes))


def final_standings(live: Standings, result: SearchResult) -> Standings:
    """Return the standings of a search that has ended, from those before."""
    tested = {one.method for one in result.entries} | {COMBINATION}
    stopped = result.ended == STOPPED
    others = (
        one
        if one.state != LEFT
        else dataclasses.replace(
            one, why=text("best_entry_left", tried=one.tried > 0, stopped=stopped)
        )
        for one in live.broken_off("").entries
        if one.method not in tested
    )
    simplest, known = result.simplest, result.record is not None
    return dataclasses.replace(
        live,
        entries=(*result.entries, *others),
        ended=result.ended,
        spent=result.spent,
        fits=result.fits,
        doing="",
        verdict=verdict(result),
        remarks=tuple(search_remarks(result)),
        best="" if result.best is None else result.best.run,
        simpler="" if simplest is None else simplest.run,
        point=operating_point(result) if known else None,
        members=result.members,
        refit=result.model is not None,
    )


def operating_point(result: SearchResult) -> OperatingPoint:
    """Place the threshold of the best model on the held-out rows."""
    assert result.record is not None
    (split,) = result.record.splits
    curve = curve_of(split)
    place = result.rule.place(curve)
    vertex = vertex_of(curve, place)
    return OperatingPoint(place, float(curve.fpr[vertex]), float(curve.tpr[vertex]))


def leaderboard_text(result: SearchResult) -> str:
    """Return the leaderboard as text."""
    low, high = result.band
    rows: list[tuple[str, ...]] = [
        (
            "method",
            "cross-validated",
            "held out",
            "optimism",
            "AUC",
            "95 % interval",
            f"pAUC [{low:g}, {high:g}]",
            "95 % interval",
            "s",
        )
    ]
    rows += [_row(entry, result) for entry in result.entries]
    measure = measure_words(result.fpr_range, result.criterion.share)
    return "\n".join([f"Ranking criterion: {measure}", *aligned(rows)])


def _row(entry: Standing, result: SearchResult) -> tuple[str, ...]:
    assert entry.inner is not None
    first, seconds = (entry.title, f"{entry.inner.value:.4f}"), f"{entry.seconds:.3g}"
    if entry.held_out is None:
        return *first, *[_NONE] * 6, seconds
    record = result.records[entry.method]
    area, part = auc_summary(record), pauc_summary(record, result.band)
    figures = f"{entry.held_out.value:.4f}", f"{entry.optimism:+.4f}"
    return *first, *figures, *area_cells(area), *area_cells(part), seconds


def verdict(result: SearchResult) -> Verdict:
    """Return the verdict, sentence by sentence."""
    best, record = result.best, result.record
    if best is None or record is None:
        return Verdict(text("search_nothing_tested"))
    (split,) = record.splits
    judged = split.test_positive
    if split.test_weights is not None:
        judged = judged[split.test_weights > 0]
    validation, model = record.experiment.validation, result.model
    area, part = auc_summary(record), pauc_summary(record, result.band)
    heavy = [f"{m.title}: {100 * m.weight:.0f} %" for m in result.members if m.weight >= 0.005]
    use = "repeated" if result.earlier else "unused"
    rows = {"trained": split.n_train, "refit": model and model.trained_on, "why": result.not_refit}
    return Verdict(
        text(
            "search_best",
            name=best.name,
            auc=_figure(area),
            range=result.band,
            pauc=_figure(part),
            rows=len(judged),
            file=Path(validation.test_file).name if validation.scheme == FILE else "",
            positives=int(np.count_nonzero(judged)),
            use=use if result.unseen else "trained",
            earlier=(result.unseen and result.earlier) or None,
        ),
        text("search_threshold", **dataclasses.asdict(operating_point(result))),
        text("search_members", members="; ".join(heavy)) if heavy else "",
        _runner_up(result),
        _significance(result),
        _simpler(result),
        _choice(result.choice),
        text("search_refit", **rows) if model or result.not_refit else "",
    )


def _figure(found: Estimate) -> str:
    interval = interval_words(*found.bounds) if found.known else text("search_no_interval")
    return f"{figure_words(found.value)} ({interval})"


def _leads(result: SearchResult) -> list[tuple[Standing, Lead]]:
    """List the tested entries but the best one, with their tests."""
    return [(entry, entry.behind) for entry in result.entries if entry.behind is not None]


def _difference(lead: Lead) -> str:
    ends = (figure_words(np.nan if end is None else end, "+") for end in (lead.low, lead.high))
    return f"{figure_words(lead.difference, '+')} ({' … '.join(ends)})"


def _choice(choice: Selection | None) -> str:
    """Return why the combination or a single method was selected."""
    if choice is None or choice.lead is None:
        return ""
    return text("search_choice", lead=choice.lead, error=choice.error, errors=ERRORS)


def _runner_up(result: SearchResult) -> str:
    leads = _leads(result)
    if not leads:
        return ""
    entry, lead = leads[0]
    if lead.p is None or lead.uncorrected is None:
        return text("search_runner_up_untested", name=entry.name, reason=lead.reason)
    p, tests = p_words(lead.p), sum(other.p is not None for _, other in leads)
    if tests > 1:
        p = f"{p_words_corrected(lead.uncorrected, lead.p, 'Holm')} ({tests} tests)"
    return text("search_runner_up", name=entry.name, difference=_difference(lead), p=p)


def _significance(result: SearchResult) -> str:
    leads, is_auc = _leads(result), result.fpr_range is None
    if not leads:
        return text("search_no_other")
    found = [(DECLARED[entry.method].title, lead) for entry, lead in leads if lead.is_significant]
    behind = [title for title, lead in found if lead.difference > 0]
    ahead = [title for title, lead in found if lead.difference < 0]
    if ahead:
        return text("search_ahead", is_auc=is_auc, methods=ahead)
    if not behind:
        return text("search_no_difference", is_auc=is_auc)
    return text("search_behind", is_auc=is_auc, methods=behind)


def _simpler(result: SearchResult) -> str:
    entry = result.simplest
    if entry is None or entry.behind is None or entry.behind.high is None:
        return ""
    return text(
        "search_simpler",
        name=entry.name,
        most=100 * entry.behind.high if entry.behind.difference > 0 else None,
        better=entry.behind.difference <= 0,
        is_auc=result.fpr_range is None,
        difference=_difference(entry.behind),
    )


def search_remarks(result: SearchResult) -> Iterator[str]:
    """Yield what was not done, and how reliable the figures are."""
    if left := result.not_begun[: len(result.not_begun) - len(result.untested)]:
        stopped, names = result.ended == "stopped", ", ".join(map(member_words, left[:3]))
        more = len(left) > 3
        yield text("search_not_begun", count=len(left), stopped=stopped, names=names, more=more)
    for entry in result.entries:
        if entry.method in result.untested:
            yield text("search_not_tested", title=DECLARED[entry.method].title, why=entry.why)
    for sentence in result.failed:
        member, _, why = sentence.partition(": ")
        yield text("search_left_out", what=member_words(member), why=why)
    if result.best is not None and result.best.method == COMBINATION:
        yield text("search_combination_of_folds")
    yield from result.notes
    if result.record is not None:
        yield from texts(cautions(result.record))


def best_document(result: SearchResult, table: Table, model: str | None = None) -> dict[str, Any]:
    """Return the document of ``best --json``."""
    tested = [entry for entry in result.entries if entry.method in result.records]
    records = [result.records[entry.method] for entry in tested]
    choice, document = result.choice, result_document(table, records, result.band)
    if choice is not None and choice.lead is not None:
        compared = {"lead": choice.lead, "error": choice.error, "errors": ERRORS}
    else:
        compared = None  # there was nothing to compare
    document |= {
        "fpr_range": None if result.fpr_range is None else list(result.fpr_range),
        "criterion": dataclasses.asdict(result.criterion),
        "choice": compared,
        "ended": result.ended,
        "seconds": result.spent,
        "fits": result.fits,
        "leaderboard": [_entry_json(entry) for entry in result.entries],
        "best": _best_json(result, model),
        "not_begun": list(result.not_begun),
        "failed": list(result.failed),
        "notes": list(result.notes),
        "says": list(verdict(result).sentences),
    }
    return document | ({"unsaved": result.unsaved} if result.unsaved else {})


def _entry_json(entry: Standing) -> dict[str, Any]:
    inner, held_out, lead = entry.inner, entry.held_out, entry.behind
    assert inner is not None
    behind = None
    if lead is not None:
        behind = dataclasses.asdict(lead) | {"significant": lead.is_significant}
        del behind["uncorrected"]
    return {
        "method": entry.method,
        "settings": entry.settings,
        "run": entry.run or None,
        "inner": inner.value,
        "inner_low": inner.low,
        "inner_high": inner.high,
        "why": entry.why,
        "held_out": None if held_out is None else held_out.value,
        "optimism": entry.optimism,
        "seconds": entry.seconds,
        "behind": behind,
    }


def _best_json(result: SearchResult, model: str | None) -> dict[str, Any] | None:
    best, record, simplest = result.best, result.record, result.simplest
    if best is None or record is None:
        return None
    return {
        "method": best.method,
        "settings": best.settings,
        "run": record.id,
        "threshold": dataclasses.asdict(operating_point(result)),
        "members": [dataclasses.asdict(member) for member in result.members],
        "simpler": None if simplest is None else simplest.method,
        "simpler_cost": simplest.behind.high if simplest and simplest.behind else None,
        "trained_on": (result.model or record.splits[0].model).trained_on,
        "model": model,
    }
