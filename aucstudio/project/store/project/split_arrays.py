"""Result of a split as plain values and named arrays.

What comes back holds its values; arrays and model are read, and checked, when they are asked for.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from aucstudio.project.runs.record import SplitResult, TrainingCurve
from aucstudio.project.runs.trajectory import ScoresOnTheWay, Stage, Trajectory
from aucstudio.project.store.arrays import array_from_bytes, array_to_bytes
from aucstudio.project.store.project.checksums import DamagedError
from aucstudio.project.store.project.source import ProjectSource

Count = Annotated[int, msgspec.Meta(ge=0, lt=1 << 48)]

_ARRAYS = (
    "train_rows",
    "test_rows",
    "train_positive",
    "test_positive",
    "train_scores",
    "test_scores",
    "support_pairs",
)
_SAMPLING = ("train_weights", "test_weights", "test_groups")  # where rows have such
_CURVE_ARRAYS = ("iteration", "seconds", "objective", "gap")
_MODEL = "model"
_STAGES = ("stages.name", "stages.seconds")
REQUIRED = (*_ARRAYS, *(f"curve.{name}" for name in _CURVE_ARRAYS), *_STAGES, _MODEL)
"""Parts without which a split is not whole."""


class SplitDocument(msgspec.Struct):
    """What is no array of one split; ``parts`` names the checksum of each that is."""

    repeat: Count
    fold: Count
    fit_seconds: float
    objective: float
    gap: float | None
    n_iter: int | None
    converged: bool
    notes: list[dict[str, Any]]
    n_train: Count
    n_test: Count
    parts: dict[str, str]
    trained_range: tuple[float, float] | None
    needed: float | None
    weight_kind: Literal["sampling", "frequency"]


def required(parts: Iterable[str]) -> tuple[str, ...]:
    """Name the parts without which a split that was written with some is not whole.

    Without its weights a weighted one would pass for one whose rows all count once, and without
    its groups for one whose rows are independent.
    """
    return (*REQUIRED, *(name for name in _SAMPLING if name in set(parts)))


def split_values(split: SplitResult) -> dict[str, Any]:
    """Return what is not an array as plain data."""
    names = set(SplitDocument.__struct_fields__) - {"notes", "parts"}
    values = {name: getattr(split, name) for name in sorted(names)}
    return values | {"notes": [note.document() for note in split.notes]}


def split_blobs(split: SplitResult) -> Iterator[tuple[str, bytes]]:
    """Yield each array, and the model, with its name."""
    for name in _ARRAYS:
        yield name, array_to_bytes(getattr(split, name))
    for name in _SAMPLING:
        if (values := getattr(split, name)) is not None:
            yield name, array_to_bytes(values)
    for name in _CURVE_ARRAYS:
        yield f"curve.{name}", array_to_bytes(getattr(split.curve, name))
    for name, array in (_stage_arrays(split.curve.stages) | _looks_arrays(split)).items():
        yield name, array_to_bytes(array)
    from aucstudio.project.store.model_file import model_to_bytes

    yield _MODEL, model_to_bytes(split.model)


def _stage_arrays(stages: Sequence[Stage]) -> dict[str, NDArray[Any]]:
    return {
        "stages.name": np.array([stage.name for stage in stages], dtype=np.str_),
        "stages.seconds": np.array([stage.seconds for stage in stages], dtype=np.float64),
    }


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
        **{
            f"looks.{which}_weights": standing.weights
            for which, standing in (("train", looks.train), ("held", looks.held))
            if standing.weights is not None
        },
    }


class StoredParts:
    """Reads the parts of one split.

    Parameters
    ----------
    source : ProjectSource
    parts : mapping of name to checksum
    run, title : str
        Id of the run, and what sentences call this split.
    """

    def __init__(
        self, source: ProjectSource, parts: Mapping[str, bytes], run: str, title: str
    ) -> None:
        self._source, self._parts, self._run, self._title = source, parts, run, title

    def __call__(self, attribute: str) -> Any:
        """Read an attribute of :class:`SplitResult`.

        Raises
        ------
        DamagedError
            If it is not what was written.
        """
        try:
            if attribute == "curve":
                return self._curve
            if attribute == "trajectory":
                return self._trajectory()
            if attribute in (_MODEL, "support_pairs"):
                return self._model() if attribute == _MODEL else self._pairs()
            if attribute in _SAMPLING and attribute not in self._parts:
                return None
            return self._side(attribute.partition("_")[0])[attribute]
        except (ValueError, TypeError, KeyError, IndexError, OverflowError) as error:
            raise DamagedError(
                f"{self._title} is damaged in {self._source.path}: {error}; aucstudio check "
                "--repair saves what can be saved",
                file=str(self._source.path),
                run=self._run,
            ) from error

    def _array(self, name: str, make: Callable[[bytes], tuple[Any, int]], axes: int = 1) -> Any:
        try:
            if name not in self._parts:
                raise ValueError("it is missing")
            array = self._source.value(self._parts[name], make)
            if array.ndim != axes:
                raise ValueError(f"it has {array.ndim} axes")
        except ValueError as error:
            raise ValueError(f"{name.replace('_', ' ')}: {error}") from error
        return array

    def _side(self, side: str) -> dict[str, NDArray[Any]]:
        """Read rows, classes and scores of the training or of the held-out part."""
        readers = {"rows": _rows, "positive": _flags, "scores": _scores}
        for what, reader in (("weights", _weights), ("groups", _rows)):
            if f"{side}_{what}" in self._parts:
                readers[what] = reader
        found = {f"{side}_{what}": self._array(f"{side}_{what}", readers[what]) for what in readers}
        if len({len(array) for array in found.values()}) > 1:
            raise ValueError(f"the numbers of {side} rows and scores differ")
        return found

    def _pairs(self) -> NDArray[np.int64]:
        pairs: NDArray[np.int64] = self._array("support_pairs", _rows, axes=2)
        if len(pairs) != 2:
            raise ValueError("the support pairs are damaged")
        return pairs

    def _model(self) -> Any:
        if _MODEL not in self._parts:
            raise ValueError("the model is missing")
        return self._source.value(self._parts[_MODEL], _read_model)

    @functools.cached_property
    def _curve(self) -> TrainingCurve:
        kinds = (_rows, _numbers, _numbers, _numbers)
        steps = [
            self._array(f"curve.{name}", make)
            for name, make in zip(_CURVE_ARRAYS, kinds, strict=True)
        ]
        if len({len(array) for array in steps}) > 1:
            raise ValueError("the arrays of the training progress differ in length")
        names = self._array("stages.name", _texts)
        began = self._array("stages.seconds", _numbers)
        stages = tuple(map(Stage, names.tolist(), began.tolist()))
        iteration, seconds, objective, gap = steps
        return TrainingCurve(iteration, seconds, objective, gap, stages)

    def _trajectory(self) -> Trajectory | None:
        looks = tuple(key for name, key in self._parts.items() if name.startswith("looks."))
        if not looks:
            return None
        found: Trajectory = self._source.remembered(looks, self._made_trajectory)
        return found

    def _made_trajectory(self) -> tuple[Trajectory, int]:
        iteration = self._array("looks.iteration", _rows)
        seconds = self._array("looks.seconds", _numbers)
        standings = []
        for which in ("train", "held"):
            positive = self._array(f"looks.{which}_positive", _flags)
            scores = self._array(f"looks.{which}_scores", _singles, axes=2)
            name = f"looks.{which}_weights"
            weights = self._array(name, _weights) if name in self._parts else None
            lengths = {len(positive), len(positive) if weights is None else len(weights)}
            if scores.shape != (len(iteration), len(positive)) or len(lengths) > 1:
                raise ValueError("the evaluations during the fit do not fit together")
            standings.append(ScoresOnTheWay(positive, scores, weights))
        # What views compute of it, and keep with it, takes as much again at most.
        size = 2 * sum(one.scores.nbytes for one in standings)
        return Trajectory(iteration, seconds, *standings), size


def _of(data: bytes, kinds: str) -> tuple[NDArray[Any], int]:
    array = array_from_bytes(data)
    if array.dtype.kind not in kinds:
        raise ValueError(f"it has the wrong type {array.dtype}")
    return array, array.nbytes


def _rows(data: bytes) -> tuple[NDArray[Any], int]:
    array, size = _of(data, "iu")
    if array.size and array.min() < 0:
        raise ValueError("it has negative row numbers")
    return array.astype(np.intp, copy=False), size


def _flags(data: bytes) -> tuple[NDArray[Any], int]:
    return _of(data, "b")


def _texts(data: bytes) -> tuple[NDArray[Any], int]:
    return _of(data, "U")


def _numbers(data: bytes) -> tuple[NDArray[Any], int]:
    array, size = _of(data, "f")
    return array.astype(np.float64, copy=False), size


def _scores(data: bytes) -> tuple[NDArray[Any], int]:
    array, size = _numbers(data)
    if not np.isfinite(array).all():
        raise ValueError("it has scores that are not numbers")
    return array, size


def _weights(data: bytes) -> tuple[NDArray[Any], int]:
    array, size = _scores(data)
    if array.size and array.min() < 0:
        raise ValueError("it has weights below 0")
    return array, size


def _singles(data: bytes) -> tuple[NDArray[Any], int]:
    array, size = _of(data, "f")
    return array.astype(np.float32, copy=False), size


def _read_model(data: bytes) -> tuple[Any, int]:
    from aucstudio.project.store.model_file import model_from_bytes

    return model_from_bytes(data, "the stored model"), 4 * len(data)
