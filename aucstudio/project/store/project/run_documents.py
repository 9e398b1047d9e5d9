"""A run as a document of the project file, checked when read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec

from aucstudio.engine import DECLARED
from aucstudio.engine.params import declared_params
from aucstudio.notices import read_notice
from aucstudio.project import typed
from aucstudio.project.errors import InputError
from aucstudio.project.runs.experiments.experiment import Experiment, check_band
from aucstudio.project.runs.record import RunRecord, SplitResult
from aucstudio.project.runs.tuning import Search
from aucstudio.project.store.project.checksums import SIZE, checksum
from aucstudio.project.store.project.source import ProjectSource
from aucstudio.project.store.project.split_arrays import (
    SplitDocument,
    StoredParts,
    split_blobs,
    split_values,
)

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
