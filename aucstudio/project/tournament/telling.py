"""The standings of a tournament, made of the contest while it goes and of its leaderboard."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.methods.combination._library import Member
from aucstudio.project.results.summary import number
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.tournament.contest import Contest
from aucstudio.project.tournament.leaderboard import (
    COMBINATION,
    Candidate,
    Duel,
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
    Lead,
    Milestone,
    RowCounts,
    Standing,
    Standings,
)
from aucstudio.project.tournament.verdict import operating_point, remarks, verdict


def live_standings(
    start: Standings,
    contest: Contest,
    held: NDArray[np.bool_],
    combined: Candidate | None,
    records: Mapping[Member, RunRecord],
) -> Standings:
    """Say how a contest stands.

    Parameters
    ----------
    start : Standings
        What is known before it begins.
    contest : Contest
    held : ndarray of bool
        Which of the rows that no choice sees are positive.
    combined : Candidate or None
        The combination, once there is one.
    records : mapping
        Who was judged on those rows, and the runs.
    """
    entries = [*_methods(contest, records), _combination(contest, combined, records)]
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
        fits=len(contest.outcomes) + len(records),
    )


def _methods(contest: Contest, records: Mapping[Member, RunRecord]) -> Iterator[Standing]:
    ready = contest.methods()
    for opener in contest.entrants:
        method = opener.method
        seconds, tried = contest.spent_on(method), contest.tried(method)
        if method in ready:
            member = contest.best_of(method)
            candidate = Candidate(member, contest.estimate(member), seconds, member)
            found = _standing(candidate, records.get(member), contest)
            yield dataclasses.replace(found, tried=tried)
            continue
        why = contest.failed.get(opener, "")
        state = FAILED if why else TRAINS if tried else WAITS
        yield Standing(method, state, dict(opener.params), "", tried, seconds=seconds, why=why)


def _combination(
    contest: Contest, combined: Candidate | None, records: Mapping[Member, RunRecord]
) -> Standing:
    if combined is None:
        return Standing(COMBINATION, WAITS)
    return _standing(combined, records.get(combined.member), contest)


def _standing(one: Candidate, record: RunRecord | None, contest: Contest) -> Standing:
    held_out = None
    if record is not None:
        (split,) = record.splits
        judged = split.test_positive, split.test_scores
        held_out = Estimate.of(contest.criterion, *judged, split.test_weights)
    return Standing(
        one.member.method,
        READY if record is None else JUDGED,
        dict(one.member.params),
        one.settings,
        inner=one.inner,
        held_out=held_out,
        seconds=one.seconds,
        run="" if record is None else record.id,
    )


def final_standings(live: Standings, board: Leaderboard) -> Standings:
    """Say how a tournament ended, from how it stood before."""
    duels = {duel.other.method: _lead(duel) for duel in board.duels}
    entries = tuple(
        dataclasses.replace(one, behind=duels.get(one.method))
        for one in live.broken_off(board.ended).entries
        if one.method != COMBINATION or one.state != LEFT
    )
    best, simplest = board.best, board.simplest
    told = dataclasses.replace(
        live,
        entries=entries,
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


def _run(entry: Entry) -> str:
    return "" if entry.record is None else entry.record.id


def _lead(duel: Duel) -> Lead:
    known: dict[str, Any] = {name: number(getattr(duel.test, name)) for name in ("low", "high")}
    return Lead(duel.test.difference, **known, p=number(duel.p), reason=duel.test.reason)
