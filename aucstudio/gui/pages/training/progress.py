"""Progress of one fit, finished or running."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine import DECLARED
from aucstudio.engine.arrays import Array
from aucstudio.engine.params import declared_params
from aucstudio.gui.state.plan import RunLook
from aucstudio.gui.state.runner import LiveRun
from aucstudio.gui.state.session import ShownRun
from aucstudio.project.runs.experiment import Band, Experiment
from aucstudio.project.runs.progress import Look
from aucstudio.project.runs.record import ScoresDuringTraining, SplitResult, TrainingCurve
from aucstudio.project.tournament.standings import COMBINATION

ITERATION, MEMBER, SECONDS = "iteration", "member", "seconds"
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
    problem : (str, str)
        What is minimised: the method and its settings.
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
    problem: tuple[str, str]
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
    def unit(self) -> str:
        """What a step adds: an iteration, or a member of an ensemble."""
        return step_unit(self.problem[0])

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
        """The dual gap as a share of the objective; NaN where absent or zero within rounding."""
        gap, size = self.steps.gap, np.abs(self.steps.objective)
        share: Array = np.divide(gap, size, out=np.full(len(gap), np.nan), where=size > 0)
        return np.where(share > _ROUNDING, share, np.nan)

    @cached_property
    def progress(self) -> Array:
        """The objective, scaled from its first value (1) to its lowest (0)."""
        objective = self.steps.objective
        lowest = objective.min(initial=np.inf)
        decrease = objective[:1] - lowest
        scaled: Array = (objective - lowest) / np.where(decrease > 0, decrease, 1.0)
        return scaled

    @property
    def is_proven(self) -> bool:
        """Whether the method has a dual gap."""
        return bool(np.isfinite(self.steps.gap).any())

    @property
    def is_widened(self) -> bool:
        """Whether the distance rises because the fit started again on a wider FPR range."""
        rises = bool((np.diff(self.distance) > 0).any())
        return rises and "fpr_range" in declared_params(DECLARED[self.problem[0]])


def area_name(band: Band | None) -> str:
    """Name the area that is shown."""
    return "AUC" if band is None else f"pAUC at FPR {band[0]:g} … {band[1]:g}"


def _area(scores: ScoresDuringTraining, band: Band | None) -> Array:
    return scores.auc() if band is None else scores.pauc(band)


def run_courses(run: ShownRun) -> list[Course]:
    """Return the fits of a finished run."""
    splits = run.record.splits
    return [_course_of(run, split, k, len(splits)) for k, split in enumerate(splits)]


def _course_of(run: ShownRun, split: SplitResult, k: int, count: int) -> Course:
    looks, none = split.trajectory, np.empty(0)
    times = (none, none) if looks is None else (looks.iteration.astype(np.float64), looks.seconds)

    def areas(part: str, band: Band | None) -> Array:
        return none if looks is None else _area(getattr(looks, part), band)

    problem = _problem(run.record.experiment)
    return Course(run.record.id, run.look, problem, k, count, split.curve, *times, areas)


def step_unit(method: str) -> str:
    """Name what a step of a method adds."""
    return MEMBER if method == COMBINATION else ITERATION


def _problem(experiment: Experiment) -> tuple[str, str]:
    return experiment.method, repr(sorted(experiment.params.items()))


def unready(runs: list[ShownRun]) -> list[ScoresDuringTraining]:
    """List the scores whose areas are not computed yet."""
    looks = [s.trajectory for run in runs for s in run.record.splits if s.trajectory is not None]
    return [part for look in looks for part in (look.held, look.train) if not part.is_ready]


def make_ready(waiting: list[ScoresDuringTraining], post: Callable[[object], bool]) -> None:
    """Compute areas in the background; ``post`` returns whether to stop."""
    for scores in waiting:
        if post(None):
            return
        scores.above  # noqa: B018  (computed here, cached there)


def live_course(live: LiveRun) -> Course:
    """Return the fit in progress; of very many steps every k-th and the last."""
    taken = live.points[:: max(1, len(live.points) // _LIVE_POINTS)]
    if taken and taken[-1] is not live.points[-1]:
        taken = [*taken, live.points[-1]]
    iteration, seconds, objective, gap = np.array(taken, dtype=np.float64).reshape(-1, 4).T
    stages = live.stages.stages()
    steps = TrainingCurve(iteration.astype(np.int64), seconds, objective, gap, stages)
    looks = list(live.looks)
    times = np.array([(look.iteration, look.seconds) for look in looks], dtype=np.float64)
    iteration, seconds = times.reshape(-1, 2).T

    def areas(part: str, band: Band | None) -> Array:
        return np.array([_live_area(look, part, band) for look in looks])

    problem = _problem(live.experiment)
    return Course("", live.look, problem, live.split, live.splits, steps, iteration, seconds, areas)


_live_areas: WeakKeyDictionary[Look, dict[tuple[str, Band | None], float]] = WeakKeyDictionary()


def _live_area(look: Look, part: str, band: Band | None) -> float:
    """Return an area of an evaluation of the fit in progress, computed once for a band."""
    known = _live_areas.setdefault(look, {})
    if (part, band) not in known:
        positive, scores = look.positive, look.scores
        if part == TRAIN:
            positive, scores = look.train_positive, look.train_scores
        on_the_way = ScoresDuringTraining(positive, scores[None].astype(np.float32))
        known[part, band] = float(_area(on_the_way, band)[0])
    return known[part, band]


_STEP_COLUMNS = ("seconds", "objective", "gap")
_AREA_COLUMNS = ("train_auc", "valid_auc", "train_pauc", "valid_pauc")


def course_table(courses: Sequence[Course], band: Band) -> Mapping[str, NDArray[Any]]:
    """Return one row per step or evaluation of each fit; NaN where one has no value.

    Splits count from 1. A step and a look at the same iteration are one row.
    """
    tables = [_rows(course, band) for course in courses]
    if not tables:
        return {}
    return {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}


def _rows(course: Course, band: Band) -> dict[str, NDArray[Any]]:
    """Merge the steps and the evaluations of one fit by their iteration."""
    iteration = np.union1d(course.steps.iteration, course.look_iteration)
    size = len(iteration)
    rows: dict[str, NDArray[Any]] = {
        "run": np.full(size, course.look.name, dtype=object),
        "split": np.full(size, course.split + 1),
        "iteration": iteration,
    } | {name: np.full(size, np.nan) for name in _STEP_COLUMNS + _AREA_COLUMNS}
    look = np.searchsorted(iteration, course.look_iteration)
    rows["seconds"][look] = course.look_seconds
    for part, name in ((TRAIN, "train"), (HELD, "valid")):
        rows[f"{name}_auc"][look] = course.areas(part, None)
        rows[f"{name}_pauc"][look] = course.areas(part, band)
    step = np.searchsorted(iteration, course.steps.iteration)
    for name in _STEP_COLUMNS:
        rows[name][step] = getattr(course.steps, name)
    return rows
