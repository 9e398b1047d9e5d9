"""A run as a document of the project file and named arrays, checked when read.

What comes back holds its values; arrays and model are read, and checked, when they are asked for.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from aucstudio.engine import DECLARED
from aucstudio.engine.params import declared_params
from aucstudio.notices import read_notice
from aucstudio.project import typed
from aucstudio.project.errors import InputError
from aucstudio.project.runs.experiments.experiment import Experiment, check_band
from aucstudio.project.runs.record import (
    RunRecord,
    ScoresOnTheWay,
    SplitResult,
    Stage,
    TrainingCurve,
    Trajectory,
)
from aucstudio.project.runs.tuning import Search
from aucstudio.project.store.archive import array_from_bytes, array_to_bytes
from aucstudio.project.store.project.database import SIZE, DamagedError, ProjectSource, checksum

Id = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
Text = Annotated[str, msgspec.Meta(max_length=1 << 20)]


class SearchDocument(msgspec.Struct):
    """A search for settings."""

    metric: Text
    candidates: list[dict[str, Any]]
    areas: list[list[float | None]]
    problems: dict[str, Text]
    seconds: float


class RunDocument(msgspec.Struct):
    """A run without its arrays."""

    id: Id
    experiment: dict[str, Any]
    status: Literal["done", "stopped", "failed"]
    created: Text
    seconds: float
    versions: dict[str, str]
    splits: list[SplitDocument]
    error: Text
    traceback: Text
    searches: list[SearchDocument]


def run_document(record: RunRecord) -> tuple[dict[str, Any], dict[bytes, bytes]]:
    """Write a run as a document and its arrays by their checksums."""
    blobs: dict[bytes, bytes] = {}
    splits = []
    for split in record.splits:
        parts = {}
        for name, data in split_blobs(split):
            key = checksum(data)
            blobs[key], parts[name] = data, key.hex()
        splits.append(split_values(split) | {"parts": parts})
    return record.header() | {"splits": splits}, blobs


def read_run(document: Any, run: str, source: ProjectSource) -> RunRecord:
    """Make the record of a run, which reads its arrays when they are asked for.

    Parameters
    ----------
    document : object
        As JSON gave it.
    run : str
        The id that it is stored under.
    source : ProjectSource

    Raises
    ------
    ValueError
        If it is not what this program writes; the message names the fault.
    """
    checked = typed.convert(document, RunDocument)
    if checked.id != run:
        raise ValueError(f"it belongs to another run, {checked.id}")
    _require_finite(checked.seconds, *(split.fit_seconds for split in checked.splits))
    experiment = read_experiment(checked.experiment)
    splits = []
    for k, split in enumerate(checked.splits):
        values = msgspec.structs.asdict(split) | {"notes": tuple(map(read_notice, split.notes))}
        keys = {name: _key(text) for name, text in values.pop("parts").items()}
        title = f"{experiment.title} ({run}), split {k + 1},"
        splits.append(SplitResult.stored(values, StoredParts(source, keys, run, title)))
    return RunRecord(
        experiment,
        checked.status,
        tuple(splits),
        checked.created,
        checked.seconds,
        checked.error,
        checked.traceback,
        tuple(map(_search, checked.searches)),
        checked.versions,
        run,
    )


def read_experiment(document: Any) -> Experiment:
    """Make an experiment, after checking what its own reader takes for granted.

    Raises
    ------
    ValueError
    """
    try:
        experiment = Experiment.from_json(document)
    except InputError:
        raise
    except (TypeError, KeyError, AttributeError, msgspec.ValidationError) as error:
        raise ValueError(f"the experiment has an invalid structure ({error})") from error
    if experiment.method not in DECLARED:
        raise ValueError(f"this program has no method {experiment.method!r}")
    check_band(experiment.band)
    _check_settings(experiment.method, experiment.params)
    return experiment


def _key(text: str) -> bytes:
    key = bytes.fromhex(text)
    if len(key) != SIZE:
        raise ValueError("it names an invalid checksum")
    return key


def _check_settings(method: str, settings: Mapping[str, Any]) -> None:
    declared = declared_params(DECLARED[method])
    for name, value in settings.items():
        pair = isinstance(value, (list, tuple))
        ends = value if pair else (value,)
        known = all(
            end is None
            or isinstance(end, str | bool | int)
            or (isinstance(end, float) and math.isfinite(end))
            for end in ends
        )
        is_range = name in declared and declared[name].kind == "range"
        fits = len(ends) == 2 and all(isinstance(end, int | float) for end in ends)
        if not known or len(ends) > 64 or (is_range and value is not None and not fits):
            raise ValueError(f"the setting {name!r} has an invalid value")


def _search(found: SearchDocument) -> Search:
    _require_finite(found.seconds)
    numbers = {str(k) for k in range(len(found.candidates))}
    if len(found.areas) != len(found.candidates) or not set(found.problems) <= numbers:
        raise ValueError("a search does not fit its candidates")
    for candidate in found.candidates:
        for value in candidate.values():
            if isinstance(value, dict):
                raise ValueError("a candidate of a search has an invalid value")
    return Search.from_json(msgspec.to_builtins(found))


def _require_finite(*values: float) -> None:
    if not all(math.isfinite(value) and value >= 0 for value in values):
        raise ValueError("it holds an invalid time")


Count = Annotated[int, msgspec.Meta(ge=0, lt=1 << 48)]


@dataclasses.dataclass(frozen=True)
class _Kind:
    """What the values of a stored array must be, and the type they are read as."""

    codes: str
    dtype: type | None = None
    axes: int = 1
    finite: bool = False
    not_negative: bool = False

    def read(self, data: bytes) -> tuple[NDArray[Any], int]:
        """Return the array of some bytes, and its size.

        Raises
        ------
        ValueError
        """
        array = array_from_bytes(data)
        if array.dtype.kind not in self.codes:
            raise ValueError(f"it has the wrong type {array.dtype}")
        if array.ndim != self.axes:
            raise ValueError(f"it has {array.ndim} axes")
        if self.finite and not np.isfinite(array).all():
            raise ValueError("it has values that are not numbers")
        if self.not_negative and array.size and array.min() < 0:
            raise ValueError("it has values below 0")
        size = array.nbytes
        return array if self.dtype is None else array.astype(self.dtype, copy=False), size


_ROWS, _FLAGS, _TEXTS = _Kind("iu", np.intp, not_negative=True), _Kind("b"), _Kind("U")
_NUMBERS, _SCORES = _Kind("f", np.float64), _Kind("f", np.float64, finite=True)
_WEIGHTS = _Kind("f", np.float64, finite=True, not_negative=True)
_SAMPLING = {"train_weights": _WEIGHTS, "test_weights": _WEIGHTS, "test_groups": _ROWS}
_REQUIRED = {
    **{f"{side}_rows": _ROWS for side in ("train", "test")},
    **{f"{side}_positive": _FLAGS for side in ("train", "test")},
    **{f"{side}_scores": _SCORES for side in ("train", "test")},
    "support_pairs": _Kind("iu", np.intp, axes=2, not_negative=True),
    "curve.iteration": _ROWS,
    **{f"curve.{name}": _NUMBERS for name in ("seconds", "objective", "gap")},
    "stages.name": _TEXTS,
    "stages.seconds": _NUMBERS,
}
_LOOKS = {"looks.iteration": _ROWS, "looks.seconds": _NUMBERS}
for _side in ("train", "held"):
    _LOOKS |= {f"looks.{_side}_positive": _FLAGS, f"looks.{_side}_weights": _WEIGHTS}
    _LOOKS[f"looks.{_side}_scores"] = _Kind("f", np.float32, axes=2)
_KINDS = _REQUIRED | _SAMPLING | _LOOKS
_MODEL = "model"
REQUIRED = (*_REQUIRED, _MODEL)
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
    from aucstudio.project.store.model_file import model_to_bytes

    for name in _KINDS:
        array = _array_of(split, name)
        if array is not None:
            yield name, array_to_bytes(array)
    yield _MODEL, model_to_bytes(split.model)


def _array_of(split: SplitResult, name: str) -> NDArray[Any] | None:
    """Return an array of a split; None where it has none of that name."""
    group, _, field = name.rpartition(".")
    if not group:
        found: NDArray[Any] | None = getattr(split, name)
        return found
    if group == "stages":
        values = [getattr(stage, field) for stage in split.curve.stages]
        return np.array(values, dtype=np.str_ if field == "name" else np.float64)
    owner: Any = split.curve if group == "curve" else split.trajectory
    if "_" in field:
        side, _, field = field.partition("_")
        owner = owner and getattr(owner, side)
    return None if owner is None else getattr(owner, field)


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

    def _array(self, name: str) -> Any:
        try:
            if name not in self._parts:
                raise ValueError("it is missing")
            return self._source.value(self._parts[name], _KINDS[name].read)
        except ValueError as error:
            raise ValueError(f"{name.replace('_', ' ')}: {error}") from error

    def _side(self, side: str) -> dict[str, NDArray[Any]]:
        """Read rows, classes and scores of the training or of the held-out part."""
        names = [f"{side}_{what}" for what in ("rows", "positive", "scores")]
        names += [name for name in _SAMPLING if name.startswith(side) and name in self._parts]
        found = {name: self._array(name) for name in names}
        if len({len(array) for array in found.values()}) > 1:
            raise ValueError(f"the numbers of {side} rows and scores differ")
        return found

    def _pairs(self) -> NDArray[np.int64]:
        pairs: NDArray[np.int64] = self._array("support_pairs")
        if len(pairs) != 2:
            raise ValueError("the support pairs are damaged")
        return pairs

    def _model(self) -> Any:
        if _MODEL not in self._parts:
            raise ValueError("the model is missing")
        return self._source.value(self._parts[_MODEL], _read_model)

    @functools.cached_property
    def _curve(self) -> TrainingCurve:
        names = ("iteration", "seconds", "objective", "gap")
        iteration, seconds, objective, gap = (self._array(f"curve.{name}") for name in names)
        if len({len(array) for array in (iteration, seconds, objective, gap)}) > 1:
            raise ValueError("the arrays of the training progress differ in length")
        named, began = self._array("stages.name"), self._array("stages.seconds")
        stages = tuple(map(Stage, named.tolist(), began.tolist()))
        return TrainingCurve(iteration, seconds, objective, gap, stages)

    def _trajectory(self) -> Trajectory | None:
        looks = tuple(key for name, key in self._parts.items() if name.startswith("looks."))
        if not looks:
            return None
        found: Trajectory = self._source.remembered(looks, self._made_trajectory)
        return found

    def _made_trajectory(self) -> tuple[Trajectory, int]:
        iteration, seconds = self._array("looks.iteration"), self._array("looks.seconds")
        standings = []
        for side in ("train", "held"):
            positive, scores = (self._array(f"looks.{side}_{n}") for n in ("positive", "scores"))
            name = f"looks.{side}_weights"
            weights = self._array(name) if name in self._parts else None
            lengths = {len(positive), len(positive) if weights is None else len(weights)}
            if scores.shape != (len(iteration), len(positive)) or len(lengths) > 1:
                raise ValueError("the evaluations during the fit do not fit together")
            standings.append(ScoresOnTheWay(positive, scores, weights))
        # What views compute of it, and keep with it, takes as much again at most.
        size = 2 * sum(one.scores.nbytes for one in standings)
        return Trajectory(iteration, seconds, *standings), size


def _read_model(data: bytes) -> tuple[Any, int]:
    from aucstudio.project.store.model_file import model_from_bytes

    return model_from_bytes(data, "the stored model"), 4 * len(data)
