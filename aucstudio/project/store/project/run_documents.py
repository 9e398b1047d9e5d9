"""A run as a document of the project file and named arrays, checked when read.

What comes back holds its values; arrays and model are read, and checked, when they are asked for.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from aucstudio.engine import DECLARED
from aucstudio.engine.params import declared_params
from aucstudio.notices import read_notice, text
from aucstudio.project import typed
from aucstudio.project.errors import InputError
from aucstudio.project.runs.experiment import Experiment, require_band
from aucstudio.project.runs.record import (
    RunRecord,
    ScoresDuringTraining,
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
Count = Annotated[int, msgspec.Meta(ge=0, lt=1 << 48)]
Seconds = Annotated[float, msgspec.Meta(ge=0, le=1e12)]
Scalar = None | bool | int | float | str


class SearchDocument(msgspec.Struct):
    """A search for settings."""

    metric: Text
    candidates: list[dict[str, Scalar | list[Scalar]]]
    areas: list[list[float | None]]
    problems: dict[str, Text]
    seconds: Seconds

    def __post_init__(self) -> None:
        numbers = {str(k) for k in range(len(self.candidates))}
        if len(self.areas) != len(self.candidates) or not set(self.problems) <= numbers:
            raise ValueError("a search does not fit its candidates")
        if len(set(map(len, self.areas))) > 1:
            raise ValueError("a search has candidates with different folds")


class SplitDocument(msgspec.Struct):
    """What is no array of one split; ``parts`` names the checksum of each that is."""

    repeat: Count
    fold: Count
    fit_seconds: Seconds
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


class RunDocument(msgspec.Struct):
    """A run without its arrays."""

    id: Id
    experiment: dict[str, Any]
    status: Literal["done", "stopped", "failed"]
    created: Text
    seconds: Seconds
    versions: dict[str, str]
    splits: list[SplitDocument]
    error: Text
    traceback: Text
    searches: list[SearchDocument]


@dataclasses.dataclass(frozen=True)
class ArrayKind:
    """What the values of a stored array must be, and the type they are read as."""

    codes: str
    dtype: type | None = None
    axes: int = 1
    finite: bool = False
    not_negative: bool = False

    def read(self, data: bytes) -> tuple[NDArray[Any], int]:
        """Return the array of some bytes, and its size; ValueError if it is another."""
        array = array_from_bytes(data)
        if array.dtype.kind not in self.codes or array.ndim != self.axes:
            raise ValueError(f"it has the wrong type {array.dtype} or {array.ndim} axes")
        if self.finite and not np.isfinite(array).all():
            raise ValueError("it has values that are not numbers")
        if self.not_negative and array.size and array.min() < 0:
            raise ValueError("it has values below 0")
        read = array if self.dtype is None else array.astype(self.dtype, copy=False)
        return read, array.nbytes


_ROWS, _FLAGS = ArrayKind("iu", np.intp, not_negative=True), ArrayKind("b")
_NUMBERS, _SCORES = ArrayKind("f", np.float64), ArrayKind("f", np.float64, finite=True)
_WEIGHTS = ArrayKind("f", np.float64, finite=True, not_negative=True)
_SIDES = ("train", "test")
_ARRAYS = {
    **{f"{side}_rows": _ROWS for side in _SIDES},
    **{f"{side}_positive": _FLAGS for side in _SIDES},
    **{f"{side}_scores": _SCORES for side in _SIDES},
    **{f"{side}_weights": _WEIGHTS for side in _SIDES},
    "test_groups": _ROWS,
    "support_pairs": ArrayKind("iu", np.intp, axes=2, not_negative=True),
    "curve.iteration": _ROWS,
    **{f"curve.{name}": _NUMBERS for name in ("seconds", "objective", "gap")},
    "stages.name": ArrayKind("U"),
    "stages.seconds": _NUMBERS,
    "looks.iteration": _ROWS,
    "looks.seconds": _NUMBERS,
}
for _side in ("train", "held"):
    _ARRAYS[f"looks.{_side}_positive"] = _FLAGS
    _ARRAYS[f"looks.{_side}_weights"] = _WEIGHTS
    _ARRAYS[f"looks.{_side}_scores"] = ArrayKind("f", np.float32, axes=2)
_MODEL = "model"
_OPTIONAL = ("train_weights", "test_weights", "test_groups")
_VALUES = set(SplitDocument.__struct_fields__) - {"notes", "parts"}


def run_document(record: RunRecord) -> tuple[dict[str, Any], dict[bytes, bytes]]:
    """Write a run as a document and its arrays by their checksums."""
    from aucstudio.project.store.model_file import model_to_bytes

    blobs: dict[bytes, bytes] = {}
    splits = []
    for split in record.splits:
        arrays = {name: _array_of(split, name) for name in _ARRAYS}
        data = {name: array_to_bytes(a) for name, a in arrays.items() if a is not None}
        data[_MODEL] = model_to_bytes(split.model)
        keys = {name: checksum(content) for name, content in data.items()}
        blobs |= {keys[name]: content for name, content in data.items()}
        document = {name: getattr(split, name) for name in sorted(_VALUES)}
        document["notes"] = [note.document() for note in split.notes]
        document["parts"] = {name: key.hex() for name, key in keys.items()}
        splits.append(document)
    return record.header() | {"splits": splits}, blobs


def _array_of(split: SplitResult, name: str) -> NDArray[Any] | None:
    """Return an array of a split; None where it has none of that name."""
    group, _, field = name.rpartition(".")
    if group == "stages":
        kind = np.str_ if field == "name" else np.float64
        return np.array([getattr(stage, field) for stage in split.curve.stages], dtype=kind)
    found: Any = {"": split, "curve": split.curve, "looks": split.trajectory}[group]
    if group == "looks" and "_" in field:
        side, _, field = field.partition("_")
        found = found and getattr(found, side)
    found = None if found is None else getattr(found, field)
    return None if found is None else np.asarray(found)


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
    experiment = read_experiment(checked.experiment)
    splits = []
    for k, split in enumerate(checked.splits):
        values = {name: getattr(split, name) for name in _VALUES}
        values["notes"] = tuple(map(read_notice, split.notes))
        title = f"{experiment.title} ({run}), split {k + 1},"
        splits.append(SplitResult.stored(values, StoredParts(source, split, run, title)))
    values = msgspec.structs.asdict(checked) | {"experiment": experiment, "splits": tuple(splits)}
    searches = (Search.from_json(msgspec.to_builtins(found)) for found in checked.searches)
    return RunRecord(**values | {"searches": tuple(searches)})


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
    require_band(experiment.band)
    declared = declared_params(DECLARED[experiment.method])
    for name, value in experiment.params.items():
        if name in declared:
            declared[name].check(value)
        elif not isinstance(value, Scalar):
            raise ValueError(f"the setting {name!r} has an invalid value")
    return experiment


class StoredParts:
    """Reads the parts of one split.

    Parameters
    ----------
    source : ProjectSource
    split : SplitDocument
    run, title : str
        Id of the run, and what sentences call this split.

    Raises
    ------
    ValueError
        If the document names an invalid checksum.
    """

    def __init__(self, source: ProjectSource, split: SplitDocument, run: str, title: str) -> None:
        self._source, self._split, self._run, self._title = source, split, run, title
        self._keys = {name: bytes.fromhex(key) for name, key in split.parts.items()}
        if any(len(key) != SIZE for key in self._keys.values()):
            raise ValueError("it names an invalid checksum")

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
            if attribute == _MODEL:
                return self._part(_MODEL, _read_model)
            return self._array(attribute, required=attribute not in _OPTIONAL)
        except (ValueError, TypeError, KeyError, IndexError, OverflowError) as error:
            file = str(self._source.path)
            sentence = text("split_damaged", split=self._title, file=file, reason=error)
            raise DamagedError(sentence, file=file, run=self._run) from error

    def _part(self, name: str, read: Any) -> Any:
        try:
            if name not in self._keys:
                raise ValueError("it is missing")
            return self._source.value(self._keys[name], read)
        except ValueError as error:
            raise ValueError(f"{name.replace('_', ' ')}: {error}") from error

    def _array(self, name: str, required: bool = True) -> Any:
        if name not in self._keys and not required:
            return None
        array = self._part(name, _ARRAYS[name].read)
        rows = {"train": self._split.n_train, "test": self._split.n_test, "support": 2}
        if len(array) != rows.get(name.partition("_")[0], len(array)):
            raise ValueError(f"{name.replace('_', ' ')}: it has {len(array)} rows")
        return array

    @functools.cached_property
    def _curve(self) -> TrainingCurve:
        names = ("iteration", "seconds", "objective", "gap")
        arrays = {name: self._array(f"curve.{name}") for name in names}
        if len(set(map(len, arrays.values()))) > 1:
            raise ValueError("the arrays of the training progress differ in length")
        named, began = self._array("stages.name"), self._array("stages.seconds")
        return TrainingCurve(**arrays, stages=tuple(map(Stage, named.tolist(), began.tolist())))

    def _trajectory(self) -> Trajectory | None:
        keys = tuple(key for name, key in self._keys.items() if name.startswith("looks."))
        if not keys:
            return None
        found: Trajectory = self._source.remembered(keys, self._made_trajectory)
        return found

    def _made_trajectory(self) -> tuple[Trajectory, int]:
        iteration, seconds = (self._array(f"looks.{n}") for n in ("iteration", "seconds"))
        sides = []
        for side in ("train", "held"):
            positive, scores = (self._array(f"looks.{side}_{n}") for n in ("positive", "scores"))
            weights = self._array(f"looks.{side}_weights", required=False)
            counted = len(positive) if weights is None else len(weights)
            if scores.shape != (len(iteration), len(positive)) or counted != len(positive):
                raise ValueError("the evaluations during the fit do not fit together")
            sides.append(ScoresDuringTraining(positive, scores, weights))
        # What views compute of it, and keep with it, takes as much again at most.
        size = 2 * sum(side.scores.nbytes for side in sides)
        return Trajectory(iteration, seconds, *sides), size


def _read_model(data: bytes) -> tuple[Any, int]:
    from aucstudio.project.store.model_file import model_from_bytes

    return model_from_bytes(data, "the stored model"), 4 * len(data)


def read_through(record: RunRecord) -> None:
    """Read all of a run once; DamagedError if some of it is not what was written."""
    for split in record.splits:
        read_split(split)


def read_split(split: SplitResult) -> None:
    """Read all of a split once; DamagedError if some of it is not what was written."""
    for field in dataclasses.fields(split):
        getattr(split, field.name)
