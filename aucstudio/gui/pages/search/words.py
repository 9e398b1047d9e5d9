"""Texts of the page Search."""

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
from aucstudio.notices.words import figure_words
from aucstudio.project.runs.tuning import LEAVE_PAIR_OUT, METRICS, Candidate, candidates


def candidate_words(settings: Sequence[Setting], candidate: Candidate) -> str:
    """Write a candidate as ``C = 10, γ = 0.25``."""
    return ", ".join(f"{s.symbol} = {s.spell(candidate[s.name])}" for s in settings)


def _mean_words(standing: CandidateStanding, k: int) -> str:
    error = standing.errors[k]
    spread = f", standard error {error:.3f}" if np.isfinite(error) else ""
    return f"{figure_words(float(standing.means[k]))}{spread}"


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
    facts = [f"{count} {unit}{'s' * (count > 1)}"] * (standing.search.areas.shape[1] > 1)
    if standing.ranks[k]:
        facts.append(f"rank {standing.ranks[k]} of {int((standing.ranks > 0).sum())}")
    more = f" ({', '.join(facts)})" if facts else ""
    return f"{_mean_words(standing, k)} with {words}{more}"


def search_sentence(
    subject: SearchedRun, settings: Sequence[Setting], standing: CandidateStanding
) -> Statement:
    """State the result of a finished search, or how far it got."""
    top, name = standing.top, subject.look.name
    assert top is not None
    best = candidate_words(settings, standing.search.candidates[top])
    area = _area_words(standing, top)
    if not standing.is_whole:
        return Statement(
            f"{name}: the search was stopped after {_done_words(standing)}; {best} led on the "
            f"folds tested so far {area}."
        )
    folds = standing.search.areas.shape[1]
    where = f" in {folds} folds" if standing.search.metric != LEAVE_PAIR_OUT else ""
    return Statement.of(f"{name}: {best} ranks best{where} {area}.", *_caveats(settings, standing))


def splits_sentence(
    subject: SearchedRun, settings: Sequence[Setting], standing: CandidateStanding
) -> Statement:
    """State the best candidate over all splits, and the choice of each split."""
    top = standing.top
    if top is None:
        return Statement(f"{subject.look.name}: no candidate was tested in every split.")
    best, splits = standing.search.candidates[top], standing.search.areas.shape[1]
    chosen = times_chosen(subject.searches)
    order = np.argsort(-chosen, kind="stable")[:3]
    often = [
        f"{chosen[k]} chose {candidate_words(settings, standing.search.candidates[k])}"
        for k in order
        if chosen[k]
    ]
    rest = splits - int(chosen[order].sum())
    more = [f"{rest} chose others"] if rest else []
    return Statement.of(
        f"{subject.look.name}: {candidate_words(settings, best)} ranks best over {splits} "
        f"splits {_area_words(standing, top)}: {', '.join(often + more)}.",
        *_caveats(settings, standing),
    )


def live_sentence(
    subject: SearchedRun, settings: Sequence[Setting], standing: CandidateStanding
) -> Statement:
    """State the progress of the running search, and its leader."""
    live = subject.live
    assert live is not None
    split = f", split {live.split + 1} of {live.splits}" if live.splits > 1 else ""
    if standing.is_whole and standing.top is not None and not live.stopping:
        trains = f"It trains with these now{split}."
        return search_sentence(subject, settings, standing).then(trains)
    verb = "is stopping" if live.stopping else "is searching"
    words = f"{subject.look.name} {verb}{split}: {_done_words(standing)} done"
    if standing.top is None:
        return Statement(f"{words}.")
    leader = candidate_words(settings, standing.search.candidates[standing.top])
    return Statement(f"{words}; {leader} leads so far {_area_words(standing, standing.top)}.")


def _done_words(standing: CandidateStanding) -> str:
    """State how much of a search is done."""
    total = standing.search.areas.size
    done = round(standing.search.judged * total)
    kind = "candidates" if standing.search.metric == LEAVE_PAIR_OUT else "fits"
    return f"{done:,} of {total:,} {kind}"


def _caveats(settings: Sequence[Setting], standing: CandidateStanding) -> list[str]:
    """State what limits the result: close candidates, the edge of the grid, failures."""
    assert standing.top is not None
    words, search = [], standing.search
    words += _rivals(standing)
    words += _edges(settings, search.candidates[standing.top])
    if search.problems:
        first = next(iter(search.problems.values()))
        count = f"{len(search.problems)} of {len(search.candidates)} candidates"
        words.append(f"{count} could not be tested: {first}.")
    return words


def _rivals(standing: CandidateStanding) -> list[str]:
    """State how many candidates are as good, or as good within the standard error."""
    assert standing.top is not None
    others = int((standing.ranks > 0).sum()) - 1
    tied = int((standing.ranks == 1).sum()) - 1
    if not others:
        return []
    if np.isnan(standing.errors[standing.top]):
        return (
            [f"{_of(tied, others)} {'is' if tied == 1 else 'are'} level with it."] if tied else []
        )
    near = standing.close()
    level = f", {tied} of them level with it" if tied else ""
    lies = "lies" if near == 1 else "lie"
    return [f"{_of(near, others)} {lies} within one standard error of it{level}."]


def _of(count: int, others: int) -> str:
    if others == 1:
        return "The other" if count else "Not the other"
    return (
        f"All {others} others" if count == others else f"{count or 'None'} of the {others} others"
    )


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
    if not found:
        return []
    words = " and ".join(filter(None, [", ".join(found[:-1]), found[-1]]))
    return [f"It lies on the edge of the grid: {words} was tested."]


def untuned_words(run: ShownRun | None) -> str:
    """Explain why a run has no search, unless it failed; empty if there is no run."""
    if run is None or run.record.error:
        return ""
    experiment = run.record.experiment
    if experiment.members:
        return f"{run.look.name} was made of finished runs: each of them can be tuned separately."
    if experiment.tuning is not None:
        return f"{run.look.name} was stopped before any candidate was tested: press Tune again."
    if not candidates(METHODS[experiment.method], experiment.params, 0):
        return f"{METHODS[experiment.method].title} has no setting to search."
    return f"{run.look.name} was not tuned: press Tune in the method card to search its settings."
