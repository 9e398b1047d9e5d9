"""A split's result as plain values and named arrays, as a project file holds it, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.runs.record import SplitResult, TrainingCurve
from aucstudio.project.runs.trajectory import Stage, Standing, Trajectory
from aucstudio.project.store.arrays import array_from_bytes, array_to_bytes
from aucstudio.project.store.model_file import model_from_bytes, model_to_bytes

_ARRAYS = (
    "train_rows",
    "test_rows",
    "train_positive",
    "test_positive",
    "train_scores",
    "test_scores",
    "support_pairs",
)
_CURVE_ARRAYS = ("iteration", "seconds", "objective", "gap")
_VALUES = (
    "repeat",
    "fold",
    "fit_seconds",
    "objective",
    "gap",
    "n_iter",
    "converged",
    "notes",
)


def split_values(split: SplitResult) -> dict[str, Any]:
    """Give what is not an array as plain data."""
    return {name: getattr(split, name) for name in _VALUES}


def split_blobs(split: SplitResult) -> Iterator[tuple[str, bytes]]:
    """Give each array, and the model, by its name."""
    for name in _ARRAYS:
        yield name, array_to_bytes(getattr(split, name))
    for name in _CURVE_ARRAYS:
        yield f"curve.{name}", array_to_bytes(getattr(split.curve, name))
    for name, array in (_stage_arrays(split.curve.stages) | _looks_arrays(split)).items():
        yield name, array_to_bytes(array)
    yield "model", model_to_bytes(split.model)


def split_from(values: Mapping[str, Any], blobs: Mapping[str, bytes]) -> SplitResult:
    """Rebuild a split's result; what an earlier program did not write is left out."""
    arrays: dict[str, Any] = {name: array_from_bytes(blobs[name]) for name in _ARRAYS}
    arrays["train_rows"] = arrays["train_rows"].astype(np.intp)
    arrays["test_rows"] = arrays["test_rows"].astype(np.intp)
    steps: dict[str, Any] = {
        name: array_from_bytes(blobs[f"curve.{name}"]) for name in _CURVE_ARRAYS
    }
    return SplitResult(
        **arrays,
        **{**values, "notes": tuple(values["notes"])},
        model=model_from_bytes(blobs["model"], "the stored model"),
        curve=TrainingCurve(**steps, stages=_stages(blobs)),
        trajectory=_looks(blobs),
    )


def _stage_arrays(stages: Sequence[Stage]) -> dict[str, NDArray[Any]]:
    return {
        "stages.name": np.array([stage.name for stage in stages], dtype=np.str_),
        "stages.seconds": np.array([stage.seconds for stage in stages], dtype=np.float64),
    }


def _stages(blobs: Mapping[str, bytes]) -> tuple[Stage, ...]:
    if "stages.name" not in blobs:
        return ()
    names, seconds = (array_from_bytes(blobs[f"stages.{part}"]) for part in ("name", "seconds"))
    return tuple(map(Stage, names.tolist(), seconds.tolist()))


def _looks_arrays(split: SplitResult) -> dict[str, NDArray[Any]]:
    looks = split.trajectory
    if looks is None:
        return {}
    return {
        "looks.iteration": looks.iteration,
        "looks.seconds": looks.seconds,
        "looks.train_positive": looks.train.positive,
        "looks.train_scores": looks.train.scores,
        "looks.held_positive": looks.held.positive,
        "looks.held_scores": looks.held.scores,
    }


def _looks(blobs: Mapping[str, bytes]) -> Trajectory | None:
    if "looks.iteration" not in blobs:
        return None

    def part(name: str) -> NDArray[Any]:
        return array_from_bytes(blobs[f"looks.{name}"])

    train, held = (
        Standing(part(f"{which}_positive"), part(f"{which}_scores")) for which in ("train", "held")
    )
    return Trajectory(part("iteration"), part("seconds"), train, held)
