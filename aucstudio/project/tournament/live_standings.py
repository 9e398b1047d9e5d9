"""Standings of a running search."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.tournament.candidate_comparison import Contest
from aucstudio.project.tournament.leaderboard import COMBINATION, Entry, Leaderboard
from aucstudio.project.tournament.standings import (
    FAILED,
    LEFT,
    TRAINS,
    WAITS,
    Milestone,
    RowCounts,
    Standing,
    Standings,
)
from aucstudio.project.tournament.verdict import operating_point, remarks, verdict


def live_standings(
    start: Standings, contest: Contest, held: NDArray[np.bool_], entries: Sequence[Entry]
) -> Standings:
    """Return the standings of a contest that is under way.

    Parameters
    ----------
    start : Standings
        What is known before it begins.
    contest : Contest
    held : ndarray of bool
        Which of the rows that no choice sees are positive.
    entries : sequence of Entry
        Those that may be judged on these rows, once there are any.
    """
    combined = [one.standing() for one in entries if one.opened is None]
    listed = [*_methods(contest, entries), *(combined or [Standing(COMBINATION, WAITS)])]
    listed.sort(key=lambda one: -np.inf if one.inner is None else one.inner.value, reverse=True)
    return dataclasses.replace(
        start,
        share=contest.criterion.share,
        train=RowCounts.of(contest.positive),
        held=RowCounts.of(held),
        entries=tuple(listed),
        course=tuple(
            Milestone(seconds, contest.measure(member), member.method)
            for seconds, member in contest.course
        ),
        spent=contest.budget.spent,
        fits=len(contest.outcomes) + sum(one.record is not None for one in entries),
    )


def _methods(contest: Contest, entries: Sequence[Entry]) -> Iterator[Standing]:
    ready, known = contest.methods(), {one.member: one for one in entries}
    for method, opener in {one.method: one for one in reversed(contest.entrants)}.items():
        tried = contest.tried(method)
        if method in ready:
            entry = known.get(contest.best_of(method)) or Entry.of_method(contest, method)
            yield entry.standing(tried)
            continue
        own = [one for one in contest.entrants if one.method == method]
        reasons = [contest.failed[one] for one in own if one in contest.failed]
        why = reasons[0] if len(reasons) == len(own) else ""
        state = FAILED if why else TRAINS if tried else WAITS
        seconds = contest.spent_on(method)
        yield Standing(method, state, dict(opener.params), "", tried, seconds=seconds, why=why)


def final_standings(live: Standings, board: Leaderboard) -> Standings:
    """Return the standings of a tournament that has ended, from those before."""
    duels = {duel.other.method: duel.lead for duel in board.duels}
    order = {one.method: place for place, one in enumerate(board.entries)}
    entries = [
        dataclasses.replace(one, behind=duels.get(one.method))
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
        best=best.standing().run,
        simpler="" if simplest is None else simplest.other.standing().run,
        point=operating_point(board),
        members=best.members,
    )
