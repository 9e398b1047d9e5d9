"""Texts of the page Training."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine import inference, roc
from aucstudio.engine.types import Array
from aucstudio.gui.common.sentence import Statement
from aucstudio.gui.pages.training.progress import HELD, TRAIN, Course, area_name
from aucstudio.gui.state.runner import LiveRun
from aucstudio.gui.state.session import ShownRun
from aucstudio.notices.words import figure_words, power_words, seconds_words
from aucstudio.project.runs.experiments.experiment import Band
from aucstudio.project.runs.progress import held_sample
from aucstudio.project.runs.record import STOPPED, SplitResult

_MEASURED = 0.05  # seconds: shorter stages are not reported
_SEEN = 5e-4  # a difference that three decimals show


def headline(run: ShownRun, split: SplitResult, course: Course, band: Band | None) -> str:
    """State whether training has converged, and whether it overfits."""
    state = _state(run)
    held, train = course.areas(HELD, band), course.areas(TRAIN, band)
    if not len(held) or not np.isfinite([held[-1], train[-1]]).all():
        return f"{run.look.name} {state}."
    held_out, training = figure_words(held[-1]), figure_words(train[-1])
    areas = f"{area_name(band)} {held_out} held-out, {training} training"
    return f"{run.look.name} {state}; {areas}{_overfit(split, train[-1], band)}."


def _state(run: ShownRun) -> str:
    splits = run.record.splits
    early = sum(not split.converged for split in splits)
    if run.record.status == STOPPED:
        return "was stopped by the user"
    if early:
        where = f" in {early} of {len(splits)} fits" if len(splits) > 1 else ""
        return f"did not converge{where}"
    if run.record.experiment.members:
        return "was made of finished runs; nothing was trained"
    if all(split.n_iter is None for split in splits):
        return "was solved in one step"
    # Without a dual gap there is no proof of optimality.
    proven = all(split.gap is not None for split in splits)
    return "has converged" if proven else "was trained to its end"


def _overfit(split: SplitResult, train: float, band: Band | None) -> str:
    """State whether training rows are ranked significantly better; empty if unknown."""
    looks = split.trajectory
    if looks is None or min(np.bincount(looks.held.positive, minlength=2)) < 2:
        return ""
    data = looks.held.positive, looks.held.scores[-1]
    weights = looks.held.weights
    if weights is not None and not _both_count(looks.held.positive, weights):
        return ""
    found = inference.pauc_interval(*data, *(band or (0.0, 1.0)), **_sampled(split, weights))
    if not math.isfinite(found.high):
        return ""
    return ": it overfits" if train > found.high else ", not significantly different"


def run_sentence(run: ShownRun) -> str:
    """Describe how a run's training went.

    Steps, objective, dual gap, time, and convergence.
    """
    splits = run.record.splits
    if len(splits) == 1 and splits[0].n_iter is None:
        return f"{_step_words(splits[0])}{_early(run)}."
    counts = [split.n_iter for split in splits if split.n_iter is not None]
    parts = [
        f"{_range([float(count) for count in counts], _count)} iterations"
        if counts
        else "one step",
        f"objective {_range([split.objective for split in splits], number_words)}",
        _proof([_relative_gap(split.objective, split.gap) for split in splits]),
        seconds_words(run.record.fit_seconds),
    ]
    several = f", {len(splits)} fits" if len(splits) > 1 else ""
    mean = " a fit" if several else ""
    quiet = max(len(split.curve.iteration) for split in splits) < 2 and bool(counts)
    unseen = " Its solver reports no intermediate steps." if quiet else ""
    words = ", ".join(part for part in parts if part)
    return f"{run.look.name}{several}: {words}{mean}{_early(run)}.{unseen}"


def _step_words(split: SplitResult) -> str:
    gap = "" if split.gap is None else f"dual gap {power_words(split.gap)}, "
    time = seconds_words(split.fit_seconds)
    return f"Objective {number_words(split.objective)}, {gap}{time}"


def _early(run: ShownRun) -> str:
    """State which fits stopped before reaching the tolerance."""
    splits = run.record.splits
    early = sum(not split.converged for split in splits)
    if not early:
        return "; stopped by the user afterwards" if run.record.status == STOPPED else ""
    who = "" if len(splits) == 1 else f"{early} of {len(splits)} "
    if run.record.status == STOPPED:
        return f"; {who}stopped early by the user"
    return f"; {who}stopped before reaching the tolerance"


def before_words(split: SplitResult) -> str:
    """State the stages before the first iteration, and their times."""
    stages = split.curve.stages
    lengths = [after.seconds - stage.seconds for stage, after in itertools.pairwise(stages)]
    parts = [
        f"{stage.name} {seconds_words(length)}"
        for stage, length in zip(stages, lengths, strict=False)
        if length >= _MEASURED
    ]
    return f"Before the first iteration: {', '.join(parts)}." if parts else ""


def area_sentence(split: SplitResult, course: Course, band: Band | None) -> str:
    """State the final held-out area, and whether it was significantly better before.

    The best of many looks is better than the last by luck alone: the paired test of the two is
    corrected for the number of looks.
    """
    looks = split.trajectory
    if looks is None:
        return "No intermediate scores were stored with this run."
    held, train = course.areas(HELD, band), course.areas(TRAIN, band)
    name = area_name(band)
    which = f"split {course.split + 1}: " if course.splits > 1 else ""
    if not np.isfinite(held).all():
        if not np.isfinite(train).all():
            return ""
        return f"{which}training {name} ends at {figure_words(train[-1])}.".capitalize()
    ends = f"ends at {figure_words(held[-1])} (training {figure_words(train[-1])})"
    best = int(np.argmax(held))
    text = ""
    if held[best] - held[-1] >= _SEEN:
        peak = f"{figure_words(held[best])} at iteration {looks.iteration[best]:,}"
        if _is_settled(split, best, band):
            ends = f"peaked with {peak} and {ends}"
        else:
            text = f"; its best, {peak}, is not significantly different"
    sentence = f"{which}held-out {name} {ends}{text}{_sample_words(split)}."
    return sentence[0].upper() + sentence[1:]


def _both_count(positive: NDArray[np.bool_], weights: NDArray[np.float64]) -> bool:
    """Return whether rows of both classes have positive weight."""
    return bool(weights[positive].any() and weights[~positive].any())


def _is_settled(split: SplitResult, best: int, band: Band | None) -> bool:
    looks = split.trajectory
    if looks is None or min(np.bincount(looks.held.positive, minlength=2)) < 2:
        return False
    pair, weights = (looks.held.scores[best], looks.held.scores[-1]), looks.held.weights
    if weights is not None and not _both_count(looks.held.positive, weights):
        return False
    sampled = _sampled(split, weights)
    if band is None:
        p = inference.auc_test(looks.held.positive, *pair, **sampled).p
    else:
        p = inference.pauc_test(looks.held.positive, *pair, *band, **sampled).p
    return inference.is_significant(p * len(looks.iteration))


def _sampled(split: SplitResult, weights: NDArray[np.float64] | None) -> roc.Sampled:
    """Return how the held-out rows of the evaluations were sampled."""
    groups = split.test_groups
    if groups is not None:
        groups = groups[held_sample(split.test_positive)]
    return {"weights": weights, "weight_kind": split.weight_kind, "groups": groups}


def _sample_words(split: SplitResult) -> str:
    looks = split.trajectory
    seen = 0 if looks is None else len(looks.held.positive)
    rows = len(split.test_rows)
    return f", on {seen:,} of {rows:,} held-out rows" if seen < rows else ""


def live_sentence(live: LiveRun, held: Array, band: Band | None) -> Statement:
    """State the progress of the fit; ``held`` are the areas so far."""
    split = f", split {live.split + 1} of {live.splits}" if live.splits > 1 else ""
    verb = "is stopping" if live.stopping else "is training"
    if not live.points:
        return Statement(f"{live.look.name} {verb}{split}: {live.words}.")
    iteration, seconds, objective, gap = live.points[-1]
    parts = [
        f"iteration {iteration:,}",
        f"objective {number_words(objective)}",
        _proof([_relative_gap(objective, None if math.isnan(gap) else gap)]),
        seconds_words(seconds),
    ]
    words = ", ".join(part for part in parts if part)
    areas = f"Held-out {area_name(band)} {area_course(held)}." if len(held) else ""
    return Statement(f"{live.look.name} {verb}{split}: {words}.", areas)


def area_course(areas: Array) -> str:
    """Write the latest and the first area."""
    first = f", {figure_words(areas[0])} at first" if len(areas) > 1 else ""
    return f"{figure_words(areas[-1])}{first}"


def step_words(course: Course, k: int) -> str:
    """Describe one step."""
    gap = course.steps.gap[k]
    proven = (
        ""
        if math.isnan(gap)
        else f", dual gap {power_words(gap)}: upper bound on the remaining improvement"
    )
    place = _place(course.steps.iteration[k], course.steps.seconds[k])
    return f"{place}objective {number_words(course.steps.objective[k])}{proven}"


def look_words(course: Course, k: int, band: Band | None) -> str:
    """Describe one evaluation."""
    held, train = (figure_words(course.areas(part, band)[k]) for part in (HELD, TRAIN))
    place = _place(course.look_iteration[k], course.look_seconds[k])
    return f"{place}{area_name(band)}: held-out {held}, training {train}"


def _place(iteration: float, seconds: float) -> str:
    return f"iteration {iteration:,.0f}, {seconds_words(seconds)}   "


def _relative_gap(objective: float, gap: float | None) -> float:
    if gap is None:
        return math.nan
    return gap / abs(objective) if objective else (math.inf if gap else 0.0)


def _proof(gaps: Sequence[float]) -> str:
    """State the largest proven relative gap of the fits."""
    worst = max(gaps, key=lambda gap: math.inf if math.isnan(gap) else gap)
    if not math.isfinite(worst) or worst > 1.0:
        # A bound beyond the objective itself proves nothing yet.
        return ""
    if not worst:
        return "proven optimal"
    near = power_words(worst) if worst < 0.01 else f"{100 * worst:,.0f} %"
    return f"proven within {near} of the optimum"


def _range(values: Sequence[float], write: Callable[[float], str]) -> str:
    low, high = write(min(values)), write(max(values))
    return low if low == high else f"{low} … {high}"


def _count(value: float) -> str:
    return f"{value:,.0f}"


def number_words(value: float) -> str:
    """Write a number with three significant digits."""
    if value and not 1e-3 <= abs(value) < 1e6:
        return power_words(value, 2)
    digits = max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0
    return f"{value:,.{digits}f}".replace("-", "−")
