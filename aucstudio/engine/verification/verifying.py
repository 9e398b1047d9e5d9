"""Verify the objective, optimum, scores and areas of a fit."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from aucstudio.engine import METHODS, roc
from aucstudio.engine.arrays import Array
from aucstudio.engine.verification.counting import (
    MOST_COMPARISONS,
    Report,
    UnverifiableError,
    counted_area,
)
from aucstudio.engine.verification.problems import PROBLEMS, Trained
from aucstudio.engine.verification.verified import CheckedArea, HeldOutRows, Verified
from aucstudio.notices import text

_AREA_ROUNDING = 1e-11
_SCORE_ROUNDING = 1e-7
# Of the objective: no method stores a fit as converged with a larger gap, unless its tolerance
# allows one.
_LARGEST_GAP = 1e-2
_REPEATED = 1e-4  # of the spread of the scores: sums in another order


# What an independent solution shows: route, objective, bound, difference; see Verified.
_Solved = tuple[str, float | None, float | None, float | None]
_NOT_SOLVED: _Solved = "", None, None, None


def verify(
    trained: Trained, held: HeldOutRows, report: Report, *, same_program: bool = True
) -> Verified:
    """Compare a fit with independent routes.

    Parameters
    ----------
    trained : Trained
    held : HeldOutRows
    report : callable
        Receives the progress; what it raises ends the work.
    same_program : bool
        Whether the versions are those that made the fit, so that repeating it proves something.
    """
    return _Verification(trained, held, report, same_program).all()


class _Verification:
    """The reasons and faults found so far."""

    def __init__(
        self, trained: Trained, held: HeldOutRows, report: Report, same_program: bool
    ) -> None:
        self._trained, self._held, self._report = trained, held, report
        self._same_program = same_program
        # The problems are those of rows that count once: others are fitted once more.
        solves = METHODS[trained.method].solves if trained.weights is None else ""
        self._problem = PROBLEMS[solves](trained, report)
        self._reasons: list[str] = []
        self._faults: list[str] = []

    def all(self) -> Verified:
        """Compare everything that can be compared."""
        began, trained = time.perf_counter(), self._trained
        scores = np.asarray(trained.scorer(trained.X), dtype=np.float64)
        kept = trained.scores - trained.intercept
        spread = float(np.ptp(kept)) if np.isfinite(kept).all() else 0.0
        difference = self._compare_scores(kept - scores, kept)
        counted = self._count(scores)
        self._check_converged()
        solved = self._solve(scores, counted) if self._problem.convex else _NOT_SOLVED
        return Verified(
            trained.objective,
            trained.gap,
            counted,
            difference if math.isfinite(difference) else None,
            spread,
            *solved,
            repeated=None if self._problem.convex else self._repeat(spread),
            areas=tuple(self._areas()),
            seconds=time.perf_counter() - began,
            reasons=tuple(self._reasons),
            faults=tuple(self._faults),
            weighted=trained.weights is not None,
        )

    def _compare_scores(self, training: Array, kept: Array) -> float:
        """Compare stored scores with those of the scorer; ``training`` are the differences."""
        found = {"training": _largest(training)}
        held = self._held
        if held.X is not None:
            again = np.asarray(self._trained.scorer(held.X)) + self._trained.intercept
            found["held-out"] = _largest(again - held.scores)
        size = max(float(np.abs(kept).max()), 1e-300)
        for rows, difference in found.items():
            if not difference <= _SCORE_ROUNDING * size:
                self._faults.append(text("stored_scores_differ", rows=rows, by=difference))
        return max(found.values())

    def _check_converged(self) -> None:
        """Compare the certificate of a fit stored as converged with the requested gap."""
        trained = self._trained
        if not trained.converged or trained.gap is None:
            return
        allowed = trained.needed
        if allowed is None:
            share = max(_LARGEST_GAP, float(trained.params.get("tol", 0.0)))
            allowed = share * abs(trained.objective)
        if not trained.gap <= allowed * (1 + 1e-9):
            self._faults.append(text("stored_gap_too_large", gap=trained.gap, allowed=allowed))

    def _count(self, scores: Array) -> float | None:
        """Count the objective, and compare it with the stored one."""
        trained, problem = self._trained, self._problem
        if trained.weights is not None:
            self._reasons.append(text("weights_not_verified"))
            return None
        try:
            counted = problem.objective(scores, trained.intercept)
        except UnverifiableError as reason:
            self._reasons.append(text("not_recomputed", reason=str(reason)))
            return None
        off = abs(counted - trained.objective)
        if not off <= problem.rounding * max(abs(counted), abs(trained.objective), 1e-12):
            known = {"counted": counted, "reported": trained.objective}
            self._faults.append(text("objective_differs", **known))
        return counted

    def _solve(self, scores: Array, counted: float | None) -> _Solved:
        """Solve the problem again, and compare its optimum with the certificate."""
        trained, problem = self._trained, self._problem
        try:
            Z = problem.space.features
            found, r = problem.solution(Z), Z.shape[1]
        except UnverifiableError as reason:
            self._reasons.append(text("not_solved_again", reason=str(reason)))
            return _NOT_SOLVED
        w, b = found.u[:r], float(found.u[r]) if problem.has_constant else 0.0
        theirs = Z @ w
        objective = problem.value(theirs, b, float(w @ w))
        if counted is not None:
            rounding = problem.rounding * max(abs(counted), abs(objective), 1e-12)
            if not found.bound <= min(counted, objective) + rounding:
                self._reasons.append(text("digits_lost", route=found.route))
                return _NOT_SOLVED
            gap, lower = trained.gap, counted - objective
            if gap is None and trained.converged:  # needed is None for methods without one
                gap = trained.needed
            if gap is not None and lower > gap + rounding:
                known = {"found": objective, "lower": lower, "gap": gap}
                self._faults.append(
                    text("lower_objective_found", certified=trained.gap is not None, **known)
                )
        off = theirs + b - scores - (trained.intercept if problem.has_constant else 0.0)
        if problem.centred and not problem.has_constant:
            off = off - off.mean()
        return found.route, objective, found.bound, _largest(off)

    def _repeat(self, spread: float) -> float:
        """Fit once more with the same settings, and compare the scores."""
        trained = self._trained

        def pass_on(_step: object) -> bool:
            self._report("fitting once more", 0.5)
            return False

        pass_on(None)
        weights: dict[str, Any] = (
            {} if trained.weights is None else {"sample_weight": trained.weights}
        )
        method = METHODS[trained.method](**trained.params)
        method.fit(trained.X, trained.positive, callback=pass_on, **weights)
        off = _largest(method.train_scores_ - trained.scores)
        if not off <= _REPEATED * max(spread, 1e-300):
            kept = self._faults if self._same_program else self._reasons
            kept.append(text("repeated_fit_differs", by=off, same=self._same_program))
        return off

    def _areas(self) -> Iterator[CheckedArea]:
        """Compare the AUC and the pAUC of the stored scores with those counted."""
        trained, held = self._trained, self._held
        for rows, positive, scores, weights in (
            ("training", trained.positive, trained.scores, trained.weights),
            ("held-out", held.positive, held.scores, held.weights),
        ):
            m = int(np.count_nonzero(positive))
            if not 0 < m < len(scores):
                self._reasons.append(text("one_class_no_area", rows=rows))
            elif not np.isfinite(scores).all():
                self._faults.append(text("stored_scores_not_finite", rows=rows))
            elif (len(scores) - m) * (len(scores) + m) > MOST_COMPARISONS:
                self._reasons.append(text("too_many_pairs_to_count", rows=rows))
            else:
                for band in ((0.0, 1.0), held.band):
                    ranking = roc.Ranking.of(positive, scores, weights=weights)
                    counted = counted_area(positive, scores, band, self._report, weights)
                    area = CheckedArea(rows, *band, roc.area(ranking, *band), counted)
                    if not area.difference <= _AREA_ROUNDING:
                        known = {"computed": area.computed, "counted": counted}
                        self._faults.append(text("area_differs", rows=rows, **known))
                    yield area


def _largest(differences: Array) -> float:
    found = float(np.abs(differences).max(initial=0.0))
    return found if math.isfinite(found) else math.inf
