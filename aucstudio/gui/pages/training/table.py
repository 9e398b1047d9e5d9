"""The numbers behind the Training picture, in long form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.gui.pages.training.course import HELD, TRAIN, Course
from aucstudio.project.runs.experiments.experiment import Band

_STEP_COLUMNS = ("iteration", "seconds", "objective", "gap")
_AREA_COLUMNS = ("train_auc", "valid_auc", "train_pauc", "valid_pauc")


def course_table(courses: Sequence[Course], band: Band) -> Mapping[str, NDArray[Any]]:
    """Give one row a step or look of each course; NaN where one of the two says nothing.

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
