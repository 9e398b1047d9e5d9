"""What the page Search says about a search and its candidates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aucstudio.engine import METHODS
from aucstudio.gui.common.sentence import Statement
from aucstudio.gui.pages.search.results import (
    CandidateStanding,
    SearchedRun,
    Setting,
    times_chosen,
)
from aucstudio.gui.state.session import ShownRun
from aucstudio.notices import text
from aucstudio.notices.words import counted, joined
from aucstudio.project.runs.experiment import Experiment
from aucstudio.project.runs.tuning import (
    LEAVE_PAIR_OUT,
    METRICS,
    PAUC,
    Candidate,
    Search,
    candidates,
)


def area_title(experiment: Experiment, search: Search) -> str:
    """Name the measure for an axis."""
    if search.metric == PAUC:
        low, high = experiment.band
        return f"pAUC, FPR {low:g} … {high:g}"
    return METRICS[search.metric][0].upper() + METRICS[search.metric][1:]


def candidate_words(settings: Sequence[Setting], candidate: Candidate) -> str:
    """Write a candidate as ``C = 10, γ = 0.25``."""
    return ", ".join(f"{s.symbol} = {s.spell(candidate[s.name])}" for s in settings)


def _mean_words(standing: CandidateStanding, k: int) -> str:
    error = standing.errors[k]
    return text("tuned_mean", mean=standing.means[k], error=error if error == error else None)


def _area_words(standing: CandidateStanding, k: int) -> str:
    return f"({METRICS[standing.search.metric]}: {_mean_words(standing, k)})"


def readout_words(
    settings: Sequence[Setting], standing: CandidateStanding, k: int, unit: str
) -> str:
    """Describe the results of a candidate."""
    words, count = candidate_words(settings, standing.search.candidates[k]), int(standing.counts[k])
    problem = standing.search.problems.get(k)
    if problem or not count:
        return f"{words}: {problem or 'not tested yet'}"
    facts = [counted(count, unit)] if standing.search.areas.shape[1] > 1 else []
    if standing.ranks[k]:
        facts.append(f"rank {standing.ranks[k]} of {int((standing.ranks > 0).sum())}")
    more = f" ({', '.join(facts)})" if facts else ""
    return f"{_mean_words(standing, k)} with {words}{more}"


def search_statement(
    subject: SearchedRun, settings: Sequence[Setting], standing: CandidateStanding, split: bool
) -> Statement:
    """State the result of a search, of one over all splits, or of the one in progress."""
    live, top, name, search = subject.live, standing.top, subject.look.name, standing.search
    best = "" if top is None else candidate_words(settings, search.candidates[top])
    area = "" if top is None else _area_words(standing, top)
    of_split = None if live is None or live.splits == 1 else live.split + 1
    if live is not None and (live.stopping or top is None or not standing.is_whole):
        return Statement(
            text(
                "tuned_live",
                name=name,
                live=live,
                split=of_split,
                done=_done_words(standing),
                best=best,
                area=area,
            )
        )
    if top is None:
        return Statement(text("tuned_no_candidate", name=name))
    if split:
        chose, of = _choices(subject, settings, standing), search.areas.shape[1]
        head = text("tuned_splits", name=name, best=best, splits=of, area=area, chose=chose)
    elif not standing.is_whole:
        done = _done_words(standing)
        return Statement(text("tuned_stopped", name=name, done=done, best=best, area=area))
    else:
        folds = None if search.metric == LEAVE_PAIR_OUT else search.areas.shape[1]
        head = text("tuned_best", name=name, best=best, folds=folds, area=area)
    trains = "" if live is None else text("tuned_trains", split=of_split, live=live)
    return Statement.of(head, *_caveats(settings, standing, top), trains)


def _choices(subject: SearchedRun, settings: Sequence[Setting], standing: CandidateStanding) -> str:
    """State which candidates ranked best in how many splits."""
    chosen = times_chosen(subject.searches)
    often = [k for k in np.argsort(-chosen, kind="stable")[:3] if chosen[k]]
    found = standing.search.candidates
    parts = [f"{chosen[k]} chose {candidate_words(settings, found[k])}" for k in often]
    rest = standing.search.areas.shape[1] - int(chosen[often].sum())
    return ", ".join(parts + ([f"{rest} chose others"] if rest else []))


def _done_words(standing: CandidateStanding) -> str:
    """State how much of a search is done."""
    total, pairs = standing.search.areas.size, standing.search.metric == LEAVE_PAIR_OUT
    return text(
        "tuned_done", done=round(standing.search.fraction_done * total), total=total, pairs=pairs
    )


def _caveats(settings: Sequence[Setting], standing: CandidateStanding, top: int) -> list[str]:
    """State what limits the result: close candidates, the edge of the grid, failures."""
    search, others = standing.search, int((standing.ranks > 0).sum()) - 1
    tied, near = int((standing.ranks == 1).sum()) - 1, standing.close()
    words = []
    if others and not np.isnan(standing.errors[top]):
        who = _of(near, others)
        words.append(text("tuned_rivals", who=who, one=near == 1, tied=tied or None))
    elif others and tied:
        words.append(text("tuned_tied", who=_of(tied, others), tied=tied))
    edges = _edges(settings, search.candidates[top])
    if edges:
        words.append(text("tuned_edge", edges=joined(edges, "and")))
    if search.problems:
        problems, first = len(search.problems), next(iter(search.problems.values()))
        of = len(search.candidates)
        words.append(text("tuned_problems", problems=problems, of=of, first=first))
    return words


def _of(count: int, others: int) -> str:
    if others == 1:
        return "The other" if count else "Not the other"
    if count == others:
        return f"All {others} others"
    return f"{count or 'None'} of the {others} others"


def _edges(settings: Sequence[Setting], best: Candidate) -> list[str]:
    """Describe the grid edge at which the best candidate lies."""
    found = []
    for setting in settings:
        if not setting.is_numeric or len(setting.values) < 2:
            continue
        value, declared = best[setting.name], setting.declared
        for end, side, bound in ((0, "below", declared.low), (-1, "above", declared.high)):
            if value == setting.values[end] and value != bound:
                found.append(f"no {setting.symbol} {side} {setting.spell(value)}")
    return found


def untuned_words(run: ShownRun | None) -> str:
    """Explain why a run has no search, unless it failed; empty if there is no run."""
    if run is None or run.record.error:
        return ""
    name, experiment = run.look.name, run.record.experiment
    if experiment.members:
        return text("tuned_members", name=name)
    if experiment.tuning is not None:
        return text("tuned_none_tested", name=name)
    if not candidates(METHODS[experiment.method], experiment.params, 0):
        return text("tuned_no_setting", name=METHODS[experiment.method].title)
    return text("tuned_untuned", name=name)
