"""The standings of a tournament, made of the contest while it goes and of its leaderboard."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.crossfit.members import Member
from aucstudio.engine.ensembles.criterion import Criterion
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.tournament.contest import Contest
from aucstudio.project.tournament.leaderboard import (
    COMBINATION,
    Candidate,
    Entry,
    Leaderboard,
)
from aucstudio.project.tournament.standings import (
    FAILED,
    JUDGED,
    LEFT,
    READY,
    TRAINS,
    WAITS,
    Estimate,
    Milestone,
    RowCounts,
    Standing,
    Standings,
)
from aucstudio.project.tournament.verdict import operating_point, remarks, verdict


@dataclasses.dataclass(frozen=True, eq=False)
class Judged:
    """A run on the held-out rows.

    Attributes
    ----------
    record : RunRecord
    criterion : Estimate
    area : Estimate
        The AUC; where a range was asked for, its partial AUC.
    """

    record: RunRecord
    criterion: Estimate
    area: Estimate

    @classmethod
    def of(cls, record: RunRecord, criterion: Criterion) -> Judged:
        """Estimate the criterion and the area from the scores of a run."""
        (split,) = record.splits
        sampled = split.test_weights, split.weight_kind, split.test_groups
        rows = split.test_positive, split.test_scores, *sampled
        alone = dataclasses.replace(criterion, share=float(criterion.share > 0.0))
        return cls(record, Estimate.of(criterion, *rows), Estimate.of(alone, *rows))


def live_standings(
    start: Standings,
    contest: Contest,
    held: NDArray[np.bool_],
    combined: Candidate | None,
    judged: Mapping[Member, Judged],
) -> Standings:
    """Return the standings of a contest that is under way.

    Parameters
    ----------
    start : Standings
        What is known before it begins.
    contest : Contest
    held : ndarray of bool
        Which of the rows that no choice sees are positive.
    combined : Candidate or None
        The combination, once there is one.
    judged : mapping
        The runs on those rows.
    """
    entries = [*_methods(contest, judged), _combination(contest, combined, judged)]
    entries.sort(key=lambda one: -np.inf if one.inner is None else one.inner.value, reverse=True)
    return dataclasses.replace(
        start,
        share=contest.criterion.share,
        train=RowCounts.of(contest.positive),
        held=RowCounts.of(held),
        entries=tuple(entries),
        course=tuple(
            Milestone(seconds, contest.measure(member), member.method)
            for seconds, member in contest.course
        ),
        spent=contest.budget.spent,
        fits=len(contest.outcomes) + len(judged),
    )


def _methods(contest: Contest, judged: Mapping[Member, Judged]) -> Iterator[Standing]:
    ready = contest.methods()
    for method, opener in {one.method: one for one in reversed(contest.entrants)}.items():
        seconds, tried = contest.spent_on(method), contest.tried(method)
        if method in ready:
            member = contest.best_of(method)
            candidate = Candidate(member, contest.estimate(method), seconds, member)
            found = _standing(candidate, judged.get(member))
            yield dataclasses.replace(found, tried=tried)
            continue
        own = [one for one in contest.entrants if one.method == method]
        why = next((contest.failed[one] for one in own if one in contest.failed), "")
        why = why if all(one in contest.failed for one in own) else ""
        state = FAILED if why else TRAINS if tried else WAITS
        yield Standing(method, state, dict(opener.params), "", tried, seconds=seconds, why=why)


def _combination(
    contest: Contest, combined: Candidate | None, judged: Mapping[Member, Judged]
) -> Standing:
    if combined is None:
        return Standing(COMBINATION, WAITS)
    return _standing(combined, judged.get(combined.member))


def _standing(one: Candidate, judged: Judged | None) -> Standing:
    return Standing(
        one.member.method,
        READY if judged is None else JUDGED,
        dict(one.member.params),
        one.settings,
        inner=one.inner,
        held_out=None if judged is None else judged.criterion,
        seconds=one.seconds,
        run="" if judged is None else judged.record.id,
        area=None if judged is None else judged.area,
    )


def final_standings(live: Standings, board: Leaderboard) -> Standings:
    """Return the standings of a tournament that has ended, from those before."""
    duels = {duel.other.method: duel.lead for duel in board.duels}
    listed = {one.method: one for one in board.entries}
    order = {method: place for place, method in enumerate(listed)}
    entries = [
        dataclasses.replace(one, behind=duels.get(one.method), **_listed(listed.get(one.method)))
        for one in live.broken_off(board.ended).entries
        if one.method != COMBINATION or one.state != LEFT
    ]
    entries.sort(key=lambda one: order.get(one.method, len(order)))
    best, simplest = board.best, board.simplest
    told = dataclasses.replace(
        live,
        entries=tuple(entries),
        ended=board.ended,
        spent=board.spent,
        fits=board.fits,
        doing="",
        verdict=verdict(board),
        remarks=tuple(remarks(board)),
    )
    if best is None:
        return told
    return dataclasses.replace(
        told,
        best=_run(best),
        simpler="" if simplest is None else _run(simplest.other),
        point=operating_point(board),
        members=best.members,
    )


def _listed(entry: Entry | None) -> dict[str, Any]:
    """Return what the end knows of an entry: its estimate, and why it was not judged."""
    if entry is None:
        return {}
    return {"inner": entry.candidate.inner} | ({"why": entry.why} if entry.why else {})


def _run(entry: Entry) -> str:
    return "" if entry.record is None else entry.record.id
