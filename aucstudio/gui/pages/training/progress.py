"""Progress of one fit, finished or running."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.types import Array
from aucstudio.gui.state.plan import RunLook
from aucstudio.gui.state.runner import LiveRun
from aucstudio.gui.state.session import ShownRun
from aucstudio.project.runs.experiments.experiment import Band
from aucstudio.project.runs.progress import Look
from aucstudio.project.runs.record import ScoresOnTheWay, SplitResult, TrainingCurve

ITERATION, SECONDS = "iteration", "seconds"
TRAIN, HELD = "train", "held"
_LIVE_POINTS = 4_000
_ROUNDING = float(np.finfo(float).eps)


@dataclasses.dataclass(frozen=True, eq=False)
class Course:
    """One fit.

    Attributes
    ----------
    run : str
        Id of the run; empty for the one in progress.
    look : RunLook
    split, splits : int
        Which fit of how many.
    steps : TrainingCurve
    look_iteration, look_seconds : ndarray of float
        When scores were evaluated.
    areas : callable
        Returns the AUC, or the partial AUC in a band, of training or held-out rows at each
        evaluation.
    """

    run: str
    look: RunLook
    split: int
    splits: int
    steps: TrainingCurve
    look_iteration: Array
    look_seconds: Array
    areas: Callable[[str, Band | None], Array]

    @property
    def is_live(self) -> bool:
        return not self.run

    @property
    def is_one_step(self) -> bool:
        """Whether there is no line to draw."""
        return len(self.steps.iteration) < 2 and len(self.look_iteration) < 2

    def steps_along(self, axis: str) -> Array:
        """Return the horizontal positions of the steps."""
        steps = self.steps.iteration if axis == ITERATION else self.steps.seconds
        return np.asarray(steps, dtype=np.float64)

    def looks_along(self, axis: str) -> Array:
        """Return the horizontal positions of the evaluations."""
        return self.look_iteration if axis == ITERATION else self.look_seconds

    @cached_property
    def distance(self) -> Array:
        """The dual gap, for a logarithmic axis; NaN where absent or zero within rounding."""
        gap, objective = self.steps.gap, self.steps.objective
        return np.where(gap > _ROUNDING * np.abs(objective), gap, np.nan)

    @property
    def is_proven(self) -> bool:
        """Whether the method has a dual gap."""
        return bool(np.isfinite(self.steps.gap).any())


def area_name(band: Band | None) -> str:
    """Name the area that is shown."""
    return "AUC" if band is None else f"pAUC at FPR {band[0]:g} … {band[1]:g}"


def run_courses(run: ShownRun) -> list[Course]:
    """Return the fits of a finished run."""
    splits = run.record.splits
    return [_course_of(run, split, k, len(splits)) for k, split in enumerate(splits)]


def _course_of(run: ShownRun, split: SplitResult, k: int, count: int) -> Course:
    looks = split.trajectory
    iteration, seconds = np.empty(0), np.empty(0)
    if looks is not None:
        iteration, seconds = looks.iteration.astype(np.float64), looks.seconds

    def areas(part: str, band: Band | None) -> Array:
        if looks is None:
            return np.empty(0)
        scores = looks.train if part == TRAIN else looks.held
        return scores.auc() if band is None else scores.pauc(band)

    return Course(run.record.id, run.look, k, count, split.curve, iteration, seconds, areas)


def unready(runs: list[ShownRun]) -> list[ScoresOnTheWay]:
    """List the scores whose areas are not computed yet."""
    looks = [s.trajectory for run in runs for s in run.record.splits if s.trajectory is not None]
    return [part for look in looks for part in (look.held, look.train) if not part.is_ready]


def make_ready(waiting: list[ScoresOnTheWay], post: Callable[[object], bool]) -> None:
    """Compute areas in the background; ``post`` returns whether to stop."""
    for scores in waiting:
        if post(None):
            return
        scores.above  # noqa: B018  (computed here, cached there)


def live_course(live: LiveRun, known: LiveAreas) -> Course:
    """Return the fit in progress; of very many steps every k-th and the last."""
    taken = live.points[:: max(1, len(live.points) // _LIVE_POINTS)]
    if taken and taken[-1] is not live.points[-1]:
        taken = [*taken, live.points[-1]]
    iteration, seconds, objective, gap = np.array(taken, dtype=np.float64).reshape(-1, 4).T
    looks = list(live.looks)
    return Course(
        "",
        live.look,
        live.split,
        live.splits,
        TrainingCurve(iteration.astype(np.int64), seconds, objective, gap, live.stages.stages()),
        np.array([look.iteration for look in looks], dtype=np.float64),
        np.array([look.seconds for look in looks], dtype=np.float64),
        lambda part, band: np.array([known.area(look, part, band) for look in looks]),
    )


class LiveAreas:
    """Areas of evaluations of the fit in progress, each computed once for a band."""

    def __init__(self) -> None:
        self._scores: WeakKeyDictionary[Look, dict[str, ScoresOnTheWay]] = WeakKeyDictionary()
        self._areas: WeakKeyDictionary[Look, dict[tuple[str, Band | None], float]] = (
            WeakKeyDictionary()
        )
        self._band: Band | None = None

    def area(self, look: Look, part: str, band: Band | None) -> float:
        """Return one area of one evaluation."""
        if band is not None and band != self._band:
            self._areas.clear()
            self._band = band
        areas = self._areas.setdefault(look, {})
        if (part, band) not in areas:
            scores = self._scores_of(look, part)
            areas[part, band] = float((scores.pauc(band) if band else scores.auc())[0])
        return areas[part, band]

    def _scores_of(self, look: Look, part: str) -> ScoresOnTheWay:
        known = self._scores.setdefault(look, {})
        if part not in known:
            positive, scores = look.positive, look.scores
            if part == TRAIN:
                positive, scores = look.train_positive, look.train_scores
            known[part] = ScoresOnTheWay(positive, scores[None].astype(np.float32))
        return known[part]


_STEP_COLUMNS = ("iteration", "seconds", "objective", "gap")
_AREA_COLUMNS = ("train_auc", "valid_auc", "train_pauc", "valid_pauc")


def course_table(courses: Sequence[Course], band: Band) -> Mapping[str, NDArray[Any]]:
    """Return one row per step or evaluation of each fit; NaN where one has no value.

    Splits count from 1. A step and a look at the same iteration are one row.
    """
    tables = [_rows(course, band) for course in courses]
    sizes = [len(table["iteration"]) for table in tables]
    names = np.array([course.look.name for course in courses], dtype=object)
    splits = np.array([course.split + 1 for course in courses], dtype=np.int64)
    columns: dict[str, NDArray[Any]] = {
        "run": np.repeat(names, sizes),
        "split": np.repeat(splits, sizes),
    }
    for name in _STEP_COLUMNS + _AREA_COLUMNS:
        parts = [table[name] for table in tables]
        columns[name] = np.concatenate(parts) if parts else np.empty(0)
    return columns


def _rows(course: Course, band: Band) -> dict[str, NDArray[np.float64]]:
    """Merge the steps and the evaluations of one fit by their iteration."""
    iteration = np.union1d(course.steps.iteration, course.look_iteration)
    rows = {name: np.full(len(iteration), np.nan) for name in ("seconds", "objective", "gap")} | {
        name: np.full(len(iteration), np.nan) for name in _AREA_COLUMNS
    }
    rows["iteration"] = iteration
    look = np.searchsorted(iteration, course.look_iteration)
    rows["seconds"][look] = course.look_seconds
    for part, name in ((TRAIN, "train"), (HELD, "valid")):
        rows[f"{name}_auc"][look] = course.areas(part, None)
        rows[f"{name}_pauc"][look] = course.areas(part, band)
    step = np.searchsorted(iteration, course.steps.iteration)
    for name in ("seconds", "objective", "gap"):
        rows[name][step] = getattr(course.steps, name)
    return rows
