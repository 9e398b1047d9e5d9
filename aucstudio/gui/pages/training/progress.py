"""Progress of one fit, finished or running."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.types import Array
from aucstudio.gui.state.live_run import LiveRun
from aucstudio.gui.state.plan import RunLook
from aucstudio.gui.state.session import ShownRun
from aucstudio.project.runs.experiments.experiment import Band
from aucstudio.project.runs.progress import Look
from aucstudio.project.runs.trajectory import ScoresOnTheWay, Stage

ITERATION, SECONDS = "iteration", "seconds"
TRAIN, HELD = "train", "held"
_LIVE_POINTS = 4_000
_ROUNDING = float(np.finfo(float).eps)


class Areas(Protocol):
    """Areas of the same rows at several looks."""

    def auc(self) -> Array:
        """Return the AUC at each look."""

    def pauc(self, band: Band) -> Array:
        """Return the normalised partial AUC at each look."""


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
    iteration, seconds, objective, gap : ndarray of float
        The steps; ``gap`` is NaN where there is no dual gap.
    look_iteration, look_seconds : ndarray of float
        The looks.
    train, held : Areas
        On training rows and on held-out rows, at each look.
    stages : tuple of Stage
    """

    run: str
    look: RunLook
    split: int
    splits: int
    iteration: Array
    seconds: Array
    objective: Array
    gap: Array
    look_iteration: Array
    look_seconds: Array
    train: Areas
    held: Areas
    stages: tuple[Stage, ...] = ()

    @property
    def is_live(self) -> bool:
        return not self.run

    @property
    def is_one_step(self) -> bool:
        """Whether there is nothing to draw a line through."""
        return len(self.iteration) < 2 and len(self.look_iteration) < 2

    def steps_along(self, axis: str) -> Array:
        """Return where the steps are along the horizontal axis."""
        return self.iteration if axis == ITERATION else self.seconds

    def looks_along(self, axis: str) -> Array:
        """Return where the looks are along the horizontal axis."""
        return self.look_iteration if axis == ITERATION else self.look_seconds

    @cached_property
    def distance(self) -> Array:
        """How far the objective can still fall at most, for a logarithmic axis.

        That is the dual gap; NaN where there is none, and where it is zero within rounding.
        """
        return np.where(self.gap > _ROUNDING * np.abs(self.objective), self.gap, np.nan)

    @property
    def is_proven(self) -> bool:
        """Whether the method gives a dual gap."""
        return bool(np.isfinite(self.gap).any())

    def areas(self, part: str, band: Band | None) -> Array:
        """Return the partial AUC in a band, or the AUC, at each look at one part of the rows."""
        known = self.train if part == TRAIN else self.held
        return known.auc() if band is None else known.pauc(band)


_NOWHERE = ScoresOnTheWay(np.empty(0, dtype=bool), np.empty((0, 0), dtype=np.float32))


def run_courses(run: ShownRun) -> list[Course]:
    """Return the courses of a finished run, split by split."""
    made = []
    for k, split in enumerate(run.record.splits):
        curve, looks = split.curve, split.trajectory
        made.append(
            Course(
                run.record.id,
                run.look,
                k,
                len(run.record.splits),
                curve.iteration.astype(np.float64),
                curve.seconds,
                curve.objective,
                curve.gap,
                np.empty(0) if looks is None else looks.iteration.astype(np.float64),
                np.empty(0) if looks is None else looks.seconds,
                _NOWHERE if looks is None else looks.train,
                _NOWHERE if looks is None else looks.held,
                curve.stages,
            )
        )
    return made


def unready(runs: list[ShownRun]) -> list[ScoresOnTheWay]:
    """List the scores whose areas are not computed yet."""
    looks = [s.trajectory for run in runs for s in run.record.splits if s.trajectory is not None]
    return [part for look in looks for part in (look.held, look.train) if not part.is_ready]


def make_ready(waiting: list[ScoresOnTheWay], post: Callable[[object], bool]) -> None:
    """Compute areas in the background; ``post`` returns whether to stop."""
    for standing in waiting:
        if post(None):
            return
        standing.above  # noqa: B018  (computed here, kept there)


def live_course(live: LiveRun, known: LiveAreas) -> Course:
    """Return the course of the fit in progress; of very many steps every k-th and the last."""
    taken = live.points[:: max(1, len(live.points) // _LIVE_POINTS)]
    if taken and taken[-1] is not live.points[-1]:
        taken = [*taken, live.points[-1]]
    steps = np.array(taken, dtype=np.float64).reshape(-1, 4)
    looks = list(live.looks)
    return Course(
        "",
        live.look,
        live.split,
        live.splits,
        steps[:, 0],
        steps[:, 1],
        steps[:, 2],
        steps[:, 3],
        np.array([look.iteration for look in looks], dtype=np.float64),
        np.array([look.seconds for look in looks], dtype=np.float64),
        _LivePart(looks, TRAIN, known),
        _LivePart(looks, HELD, known),
        live.stages.stages(),
    )


class LiveAreas:
    """Areas of looks at the fit in progress, each computed once for as long as the band stays."""

    def __init__(self) -> None:
        self._standings: WeakKeyDictionary[Look, dict[str, ScoresOnTheWay]] = WeakKeyDictionary()
        self._areas: WeakKeyDictionary[Look, dict[tuple[str, Band | None], float]] = (
            WeakKeyDictionary()
        )
        self._band: Band | None = None

    def area(self, look: Look, part: str, band: Band | None) -> float:
        """Return one area of one look."""
        if band is not None and band != self._band:
            self._areas.clear()
            self._band = band
        areas = self._areas.setdefault(look, {})
        if (part, band) not in areas:
            standing = self._standing(look, part)
            areas[part, band] = float((standing.pauc(band) if band else standing.auc())[0])
        return areas[part, band]

    def _standing(self, look: Look, part: str) -> ScoresOnTheWay:
        standings = self._standings.setdefault(look, {})
        if part not in standings:
            positive, scores = look.positive, look.scores
            if part == TRAIN:
                positive, scores = look.train_positive, look.train_scores
            standings[part] = ScoresOnTheWay(positive, scores[None].astype(np.float32))
        return standings[part]


@dataclasses.dataclass(frozen=True, eq=False)
class _LivePart:
    """The areas of one part of the rows at the looks so far."""

    looks: list[Look]
    part: str
    known: LiveAreas

    def auc(self) -> Array:
        return self._areas(None)

    def pauc(self, band: Band) -> Array:
        return self._areas(band)

    def _areas(self, band: Band | None) -> Array:
        return np.array([self.known.area(look, self.part, band) for look in self.looks])


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
    """Merge the steps and the looks of one course by their iteration."""
    iteration = np.union1d(course.iteration, course.look_iteration)
    rows = {name: np.full(len(iteration), np.nan) for name in ("seconds", "objective", "gap")} | {
        name: np.full(len(iteration), np.nan) for name in _AREA_COLUMNS
    }
    rows["iteration"] = iteration
    look = np.searchsorted(iteration, course.look_iteration)
    rows["seconds"][look] = course.look_seconds
    for part, name in ((TRAIN, "train"), (HELD, "valid")):
        rows[f"{name}_auc"][look] = course.areas(part, None)
        rows[f"{name}_pauc"][look] = course.areas(part, band)
    step = np.searchsorted(iteration, course.iteration)
    for name in ("seconds", "objective", "gap"):
        rows[name][step] = getattr(course, name)
    return rows
