"""A fit held against what other routes find: its objective, its optimum, its scores, its areas."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine import METHODS, roc
from aucstudio.engine.verification.counting import (
    MOST_COMPARISONS,
    Tell,
    counted_auc,
    counted_pauc,
)
from aucstudio.engine.verification.problem import Problem, Solved, Trained
from aucstudio.engine.verification.problems import PROBLEMS
from aucstudio.engine.verification.programme import NotSolvedError
from aucstudio.engine.verification.space import UnverifiableError
from aucstudio.engine.verification.verified import CheckedArea, HeldOutRows, Verified

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

_AREA_ROUNDING = 1e-11
_SCORE_ROUNDING = 1e-7
# Of the objective: no method takes a fit for converged with a larger gap, unless its tolerance
# allows one.
_LARGEST_GAP = 1e-2
_REPEATED = 1e-4  # of the spread of the scores: sums in another order


def verify(
    trained: Trained, held: HeldOutRows, tell: Tell, *, same_program: bool = True
) -> Verified:
    """Hold a fit against other routes.

    Parameters
    ----------
    trained : Trained
    held : HeldOutRows
    tell : callable
        Hears of the work as it goes; what it raises ends it.
    same_program : bool
        Whether the versions are those that made the fit, so that repeating it proves something.
    """
    return _Verification(trained, held, tell, same_program).all()


class _Verification:
    """What was found so far."""

    def __init__(self, trained: Trained, held: HeldOutRows, tell: Tell, same_program: bool) -> None:
        self._trained, self._held, self._tell = trained, held, tell
        self._same_program = same_program
        # The problems are those of rows that count once: others are fitted once more.
        solves = METHODS[trained.method].solves if trained.weights is None else ""
        self._problem: Problem = PROBLEMS[solves](trained, tell)
        self._reasons: list[str] = []
        self._faults: list[str] = []

    def all(self) -> Verified:
        """Do everything that can be done."""
        began = time.perf_counter()
        trained = self._trained
        scores = np.asarray(trained.scorer(trained.X), dtype=np.float64)
        kept = trained.scores - trained.intercept
        difference, spread = self._compare_scores(kept - scores, kept), _spread(kept)
        counted = self._count(scores)
        self._check_converged()
        solved = self._solve(scores, counted) if self._problem.is_convex else None
        repeated = None if self._problem.is_convex else self._repeat(spread)
        apart = None
        if solved is not None and solved.whole:
            free = self._problem.centred and not self._problem.has_constant
            apart = _apart(solved.scores, scores + (0 if free else trained.intercept), free)
        areas = tuple(self._areas())
        return Verified(
            trained.objective,
            trained.gap,
            counted,
            difference if math.isfinite(difference) else None,
            spread,
            "" if solved is None else solved.route,
            solved is not None and solved.whole,
            None if solved is None else solved.objective,
            None if solved is None else solved.bound,
            apart,
            repeated,
            areas,
            time.perf_counter() - began,
            tuple(self._reasons),
            tuple(self._faults),
        )

    def _compare_scores(self, training: Array, kept: Array) -> float:
        """Compare scores that were kept with those of the scorer; ``training`` has been."""
        found = {"training": _largest(training)}
        held = self._held
        if held.X is not None:
            again = np.asarray(self._trained.scorer(held.X)) + self._trained.intercept
            found["held-out"] = _largest(again - held.scores)
        size = max(float(np.abs(kept).max()), 1e-300)
        for rows, difference in found.items():
            if not difference <= _SCORE_ROUNDING * size:
                words = f"by up to {difference:.2g}" if math.isfinite(difference) else "without end"
                self._faults.append(
                    f"The scorer does not give the {rows} scores that were kept: they differ "
                    f"{words}."
                )
        return max(found.values())

    def _check_converged(self) -> None:
        """Compare the certificate of a fit stored as converged with the gap it was to end at."""
        trained = self._trained
        if not trained.converged or trained.gap is None:
            return
        allowed = self._allowed_gap()
        if not trained.gap <= allowed * (1 + 1e-9):
            self._faults.append(
                f"The fit is stored as converged, and its certificate leaves a gap of "
                f"{trained.gap:.2g}, where {allowed:.2g} was asked for."
            )

    def _allowed_gap(self) -> float:
        """Return the largest gap of a fit that has converged."""
        trained = self._trained
        if trained.needed is not None:
            return trained.needed
        share = max(_LARGEST_GAP, float(trained.params.get("tol", 0.0)))
        return share * abs(trained.objective)

    def _count(self, scores: Array) -> float | None:
        """Count the objective, and compare it with what the fit reported."""
        trained, problem = self._trained, self._problem
        if trained.weights is not None:
            self._reasons.append(
                "The problem was not solved again, nor its objective counted: rows are weighted."
            )
            return None
        try:
            counted = problem.objective(scores, trained.intercept)
        except UnverifiableError as reason:
            self._reasons.append(f"The objective was not counted: {reason}.")
            return None
        off = abs(counted - trained.objective)
        if not off <= problem.rounding * max(abs(counted), abs(trained.objective), 1e-12):
            self._faults.append(
                f"The objective of the scorer is {counted:.9g}, and the fit reported "
                f"{trained.objective:.9g}."
            )
        return counted

    def _solve(self, scores: Array, counted: float | None) -> Solved | None:
        trained, problem = self._trained, self._problem
        try:
            solved = problem.solve(scores, trained.intercept)
        except (UnverifiableError, NotSolvedError) as reason:
            self._reasons.append(f"The problem was not solved again: {reason}.")
            return None
        if counted is None:
            return solved
        rounding = problem.rounding * max(abs(counted), abs(solved.objective), 1e-12)
        if not solved.bound <= min(counted, solved.objective) + rounding:
            self._reasons.append(
                f"The problem was not solved again: {solved.route} lost too many digits on it."
            )
            return None
        gap, lower = trained.gap, counted - solved.objective
        source = "the certificate"
        if gap is None and trained.converged:  # needed is None for methods without a certificate
            gap, source = trained.needed, "a converged fit"
        if gap is not None and lower > gap + rounding:
            self._faults.append(
                f"An independent solver finds {solved.objective:.9g}, which is {lower:.2g} lower "
                f"than the objective of the scorer; {source} allows {gap:.2g}."
            )
        return solved

    def _repeat(self, spread: float) -> float | None:
        """Fit once more with the same settings, and compare the scores."""
        trained = self._trained
        self._tell("fitting once more", 0.0)
        method = METHODS[trained.method](**trained.params)

        def pass_on(_step: object) -> bool:
            self._tell("fitting once more", 0.5)
            return False

        more: dict[str, Any] = {}
        if trained.weights is not None:
            more["sample_weight"] = trained.weights
        method.fit(trained.X, trained.positive, callback=pass_on, **more)
        off = _largest(method.train_scores_ - trained.scores)
        if not off <= _REPEATED * max(spread, 1e-300):
            words = f"The same fit done once more gives other scores, by up to {off:.2g}."
            if self._same_program:
                self._faults.append(words)
            else:
                self._reasons.append(f"{words[:-1]}: other versions made the run.")
        return off

    def _areas(self) -> list[CheckedArea]:
        parts = {
            "training": (self._trained.positive, self._trained.scores, self._trained.weights),
            "held-out": (self._held.positive, self._held.scores, self._held.weights),
        }
        found = []
        for rows, (positive, scores, weights) in parts.items():
            m = int(np.count_nonzero(positive))
            if not 0 < m < len(scores):
                self._reasons.append(f"The {rows} rows hold one class only, so there is no area.")
            elif not np.isfinite(scores).all():
                self._faults.append(f"Some scores kept of the {rows} rows are no numbers.")
            elif m * (len(scores) - m) + (len(scores) - m) * len(scores) > MOST_COMPARISONS:
                self._reasons.append(f"The pairs of the {rows} rows are too many to be counted.")
            else:
                found += self._areas_of(rows, positive, scores, weights)
        return found

    def _areas_of(
        self, rows: str, positive: Mask, scores: Array, weights: Array | None
    ) -> list[CheckedArea]:
        alpha, beta = self._held.band
        part = float(roc.partial_auc(positive, scores, alpha, beta, weights=weights).normalized)
        found = [
            CheckedArea(
                rows,
                0.0,
                1.0,
                float(roc.auc(positive, scores, weights=weights)),
                counted_auc(positive, scores, self._tell, weights),
            ),
            CheckedArea(
                rows,
                alpha,
                beta,
                part,
                counted_pauc(positive, scores, alpha, beta, self._tell, weights),
            ),
        ]
        for area in found:
            if not area.difference <= _AREA_ROUNDING:
                self._faults.append(
                    f"An area over the {rows} rows is {area.computed:.12g} as computed and "
                    f"{area.counted:.12g} as counted."
                )
        return found


def _spread(scores: Array) -> float:
    found = float(np.ptp(scores))
    return found if math.isfinite(found) else 0.0


def _apart(again: Array, scores: Array, free: bool) -> float:
    """Give the largest difference of two solutions' scores, a constant aside where it is free."""
    if free:
        return _largest((again - again.mean()) - (scores - scores.mean()))
    return _largest(again - scores)


def _largest(differences: Array) -> float:
    found = float(np.abs(differences).max(initial=0.0))
    return found if math.isfinite(found) else math.inf
