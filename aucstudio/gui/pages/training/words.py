"""What the page Training says about a fit."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np

from aucstudio.engine import METHODS, inference, roc
from aucstudio.engine.arrays import Array
from aucstudio.gui.common.sentence import Statement
from aucstudio.gui.pages.training.progress import HELD, TRAIN, Course, area_name, step_unit
from aucstudio.gui.state.runner import LiveRun
from aucstudio.gui.state.session import ShownRun
from aucstudio.notices import text
from aucstudio.notices.words import power_words, score_words, seconds_words
from aucstudio.project.results.summary import LEVEL, WHOLE, ranking, trained_area
from aucstudio.project.runs.experiment import Band
from aucstudio.project.runs.progress import held_sample
from aucstudio.project.runs.record import STOPPED, ScoresDuringTraining, SplitResult
from aucstudio.project.runs.run_notes import FAR_BETTER

_MEASURED = 0.05  # seconds: shorter stages are not reported
_SEEN = 5e-4  # a difference that three decimals show


def headline(run: ShownRun, split: SplitResult, course: Course, band: Band | None) -> str:
    """State whether training has converged, and how much higher the area is on training rows.

    The areas are those of the final scores of all rows, as in the list of runs.
    """
    whole = band or WHOLE
    known = split.trajectory is not None and _testable(split) is not None
    held = inference.interval_of(ranking(split), *whole, LEVEL) if known else None
    bounded = held is not None and math.isfinite(held.high)
    train = trained_area(split, whole) if known else None
    several = known and course.splits > 1
    excess = _excess(run, train, held) if train is not None and held and bounded else None
    return text(
        "training_headline",
        name=run.look.name,
        **_state(run),
        area=area_name(band) if known else None,
        held=held and held.value,
        interval=(held.low, held.high) if held is not None and bounded else None,
        train=train,
        split=course.split + 1 if several else None,
        excess=excess,
        higher=train - held.value if train and held and excess in ("above", "far") else None,
    )


def _excess(run: ShownRun, train: float, held: inference.Interval) -> str:
    """Return how the area on training rows lies to the interval on held-out rows."""
    if train <= held.high:
        return "within"
    is_far = train > held.high + FAR_BETTER
    memorises = METHODS[run.record.experiment.method].memorises
    return "far" if is_far and not memorises else "above"


def _state(run: ShownRun) -> dict[str, object]:
    splits = run.record.splits
    early = sum(not split.converged for split in splits)
    states = {
        "stopped": run.record.status == STOPPED,
        "early": bool(early),
        "members": bool(run.record.experiment.members),
        "one step": all(split.n_iter is None for split in splits),
        # Without a dual gap there is no proof of optimality.
        "converged": all(split.gap is not None for split in splits),
    }
    state = next((name for name, holds in states.items() if holds), "ended")
    several = state == "early" and len(splits) > 1
    return {"state": state, "early": early if several else None, "fits": len(splits)}


def run_sentence(run: ShownRun) -> str:
    """Describe how a run's training went: steps, objective, dual gap, time and convergence."""
    splits, record = run.record.splits, run.record
    early = sum(not split.converged for split in splits)
    is_stopped = record.status == STOPPED
    end = {
        "end": ("after" if is_stopped else None)
        if not early
        else "hand"
        if is_stopped
        else "limit",
        "early": early if early and len(splits) > 1 else None,
        "fits": len(splits),
    }
    objective = _range([split.objective for split in splits], number_words)
    counts = [split.n_iter for split in splits if split.n_iter is not None]
    if len(splits) == 1 and not counts:
        gap, seconds = splits[0].gap, splits[0].fit_seconds
        gap_words = None if gap is None else power_words(gap)
        return text("training_step", objective=objective, gap=gap_words, seconds=seconds, **end)
    return text(
        "training_run",
        name=run.look.name,
        several=len(splits) if len(splits) > 1 else None,
        iterations=_range(counts, "{:,.0f}".format) if counts else None,
        unit=step_unit(record.experiment.method),
        one_step=not counts,
        objective=objective,
        proof=_proof([_relative_gap(split.objective, split.gap) for split in splits]),
        seconds=record.fit_seconds,
        quiet=max(len(split.curve.iteration) for split in splits) < 2 and bool(counts),
        **end,
    )


def before_words(split: SplitResult) -> str:
    """State the stages before the first iteration, and their times."""
    pairs = itertools.pairwise(split.curve.stages)
    lengths = [(stage.name, after.seconds - stage.seconds) for stage, after in pairs]
    stages = [f"{name} {seconds_words(took)}" for name, took in lengths if took >= _MEASURED]
    return text("training_stages", stages=", ".join(stages)) if stages else ""


def area_sentence(split: SplitResult, course: Course, band: Band | None) -> str:
    """State the final held-out area, and whether it was significantly better before.

    The best of many looks is better than the last by luck alone: the paired test of the two is
    corrected for the number of looks.
    """
    looks = split.trajectory
    if looks is None:
        return text("training_no_looks")
    held, train = course.areas(HELD, band), course.areas(TRAIN, band)
    which, name = course.split + 1 if course.splits > 1 else None, area_name(band)
    if not np.isfinite(held).all():
        if not np.isfinite(train).all():
            return ""
        return _capital(text("training_area_of_training", split=which, area=name, train=train[-1]))
    best, seen, rows = int(np.argmax(held)), len(looks.held.positive), len(split.test_rows)
    trained = len(looks.train.positive)
    peak = None
    if held[best] - held[-1] >= _SEEN:
        peak = "settled" if _is_settled(split, looks.held, best, band) else "open"
    words = text(
        "training_area",
        split=which,
        area=name,
        peaked=held[best] if peak == "settled" else None,
        other=held[best] if peak == "open" else None,
        iteration=int(looks.iteration[best]),
        held=held[-1],
        train=train[-1],
        trained=trained if trained < len(split.train_rows) else None,
        train_rows=len(split.train_rows),
        seen=seen if seen < rows else None,
        rows=rows,
    )
    return _capital(words)


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _testable(split: SplitResult) -> ScoresDuringTraining | None:
    """Return the evaluations on held-out rows if these suffice for a test."""
    if split.trajectory is None:
        return None
    held = split.trajectory.held
    positive, weights = held.positive, held.weights
    few = min(np.bincount(positive, minlength=2)) < 2
    empty = weights is not None and not (weights[positive].any() and weights[~positive].any())
    return None if few or empty else held


def _is_settled(
    split: SplitResult, held: ScoresDuringTraining, best: int, band: Band | None
) -> bool:
    """Return whether the best evaluation is significantly better than the last."""
    if _testable(split) is None:
        return False
    data, sampled = (held.positive, held.scores[best], held.scores[-1]), _sampled(split, held)
    test = inference.auc_test if band is None else inference.pauc_test
    return inference.is_significant(test(*data, *(band or ()), **sampled).p * len(held.scores))


def _sampled(split: SplitResult, held: ScoresDuringTraining) -> roc.Sampled:
    """Return how the held-out rows of the evaluations were sampled."""
    groups = split.test_groups
    if groups is not None:
        groups = groups[held_sample(split.test_positive)]
    return {"weights": held.weights, "weight_kind": split.weight_kind, "groups": groups}


def live_sentence(live: LiveRun, held: Array, band: Band | None) -> Statement:
    """State the progress of the fit; ``held`` are the areas so far."""
    stage, areas = live.words, ""
    if live.points:
        iteration, seconds, objective, gap = live.points[-1]
        stage = text(
            "training_live_step",
            unit=step_unit(live.experiment.method),
            iteration=iteration,
            objective=number_words(objective),
            proof=_proof([_relative_gap(objective, None if math.isnan(gap) else gap)]),
            seconds=seconds,
        )
        if len(held):
            first = held[0] if len(held) > 1 else None
            areas = text("training_live_area", area=area_name(band), now=held[-1], first=first)
    which = live.split + 1 if live.splits > 1 else None
    return Statement(text("training_live", live=live, split=which, stage=stage), areas)


def step_words(course: Course, k: int) -> str:
    """Describe one step."""
    steps, gap = course.steps, course.distance[k]
    return text(
        "training_step_at",
        unit=course.unit,
        iteration=steps.iteration[k],
        seconds=steps.seconds[k],
        objective=number_words(steps.objective[k]),
        gap=None if math.isnan(gap) else power_words(gap),
    )


def look_words(course: Course, k: int, band: Band | None) -> str:
    """Describe one evaluation."""
    return text(
        "training_look_at",
        unit=course.unit,
        iteration=course.look_iteration[k],
        seconds=course.look_seconds[k],
        area=area_name(band),
        held=course.areas(HELD, band)[k],
        train=course.areas(TRAIN, band)[k],
    )


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
    near = power_words(worst) if worst < 0.01 else f"{100 * worst:,.0f} %"
    return text("training_proof", near=near if worst else None, exact=not worst)


def _range(values: Sequence[float], write: Callable[[float], str]) -> str:
    low, high = write(min(values)), write(max(values))
    return low if low == high else f"{low} … {high}"


def number_words(value: float) -> str:
    """Write a number with three significant digits."""
    if value and not 1e-3 <= abs(value) < 1e6:
        return power_words(value, 2)
    digits = max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0
    return score_words(value, f",.{digits}f")
