"""Model files: arrays and JSON; loading runs no code.

``*.aucmodel`` is a zip of ``manifest.json``, ``arrays/PART.NAME.npy`` and ``SHA256SUMS``. The size
of an entry is checked before memory is taken for it, then its digest, then types, shapes and
numbers against each other.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import numpy as np
from numpy.typing import NDArray

from aucstudio import __version__
from aucstudio.engine import calibration
from aucstudio.engine.restoring import LARGEST, restore
from aucstudio.project import typed
from aucstudio.project.data.input_files import open_regular
from aucstudio.project.data.preparing.preparation import Preparation, PreparationSettings
from aucstudio.project.data.preparing.stored import arrays_of, restored, settings_of
from aucstudio.project.data.schema import Schema
from aucstudio.project.errors import InputError, input_error
from aucstudio.project.runs.estimate import memory_limit
from aucstudio.project.runs.model import Model
from aucstudio.project.store import archive
from aucstudio.project.store.archive import (
    Archive,
    array_from_bytes,
    array_to_bytes,
)
from aucstudio.project.store.files import write_atomically

FORMAT = 1

_MANIFEST = "manifest.json"
_PARTS = ("preparation", "scorer", "calibration", "groups")
_ENTRY = re.compile(rf"arrays/(?P<part>{'|'.join(_PARTS)})\.(?P<name>.+)\.npy")
_FACTS = ("method", "label", "positive", "negative", "trained_on", "threshold_rule")
_MOST_MANIFEST = 64_000_000
_MOST_VALUES = 4_000_000
_MOST_OF_MEMORY = 0.8

Scalar = None | bool | int | float | str
Arrays = Mapping[str, NDArray[Any]]


class _Version(msgspec.Struct):
    format: int


class _ScorerValues(msgspec.Struct, forbid_unknown_fields=True):
    kind: str
    settings: dict[str, Scalar]


class _Calibration(msgspec.Struct, forbid_unknown_fields=True):
    kind: str
    form: str
    settings: dict[str, float]
    rows: str


class _Manifest(msgspec.Struct):
    format: int
    method: str
    params: dict[str, Scalar | list[Scalar]]
    label: str
    positive: str
    negative: str
    trained_on: str
    threshold: float
    threshold_rule: str
    intercept: float
    preparation: PreparationSettings
    scorer: _ScorerValues
    schema: dict[str, Any]
    calibration: _Calibration | None = None

    @property
    def n_features(self) -> int:
        """Count the prepared columns."""
        learnt = self.preparation
        return len(learnt.numbers) + sum(map(len, learnt.levels)) + len(learnt.indicated)


def model_to_bytes(model: Model) -> bytes:
    """Write the model as the bytes of an ``*.aucmodel`` file."""
    arrays = {"preparation": arrays_of(model.preparation), "scorer": model.scorer.arrays()}
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "program": f"AUC Studio {__version__}",
        **{name: getattr(model, name) for name in _FACTS},
        "params": dict(model.params),
        "threshold": float(model.threshold),
        "intercept": float(model.intercept),
        "schema": model.schema.as_json(),
        "preparation": settings_of(model.preparation),
        "scorer": {"kind": model.scorer.kind, "settings": model.scorer.settings()},
    }
    if model.groups:
        names = model.schema.having("group")
        arrays["groups"] = {str(k): model.groups[k] for k in range(len(names))}
    if model.calibration is not None:
        made = model.calibration
        arrays["calibration"] = made.arrays()
        manifest["calibration"] = {
            "kind": made.kind,
            "form": made.form,
            "settings": made.settings(),
            "rows": model.calibrated_on,
        }
    entries = {_MANIFEST: msgspec.json.format(msgspec.json.encode(manifest), indent=1)}
    for part, named in arrays.items():
        entries |= {f"arrays/{part}.{k}.npy": array_to_bytes(v) for k, v in named.items()}
    return archive.pack(entries)


def save_model(model: Model, path: str | Path) -> None:
    """Write the model file, wholly or not at all."""
    write_atomically(Path(path), model_to_bytes(model))


def load_model(path: str | Path) -> Model:
    """Read an ``*.aucmodel`` file.

    Raises
    ------
    InputError
        If the file is not there, is no model, is damaged, would not fit in memory or comes from
        a newer program.
    """
    with open_regular(Path(path), "the model", _MOST_OF_MEMORY * memory_limit()) as file:
        return _read(file, os.fstat(file.fileno()).st_size, str(path))


def model_from_bytes(data: bytes, name: str) -> Model:
    """Read a model from bytes; ``name`` is what errors call it."""
    return _read(io.BytesIO(data), len(data), name)


def _read(file: BinaryIO, file_bytes: int, name: str) -> Model:
    try:
        entries = Archive(file, file_bytes, _MOST_OF_MEMORY * memory_limit())
        return _assemble(_manifest(entries, name), _read_arrays(entries))
    except InputError:
        raise
    except (*archive.BROKEN, msgspec.MsgspecError) as error:
        raise input_error("model_invalid", file=name, reason=error) from error
    except MemoryError as error:
        raise input_error("model_too_large", file=name) from error


def _manifest(entries: Archive, name: str) -> _Manifest:
    if _MANIFEST not in entries.names:
        raise ValueError(f"it has no {_MANIFEST}")
    if entries.size(_MANIFEST) > _MOST_MANIFEST:
        raise ValueError(f"{_MANIFEST} is too large")
    text = entries.read(_MANIFEST)
    if text.count(b",") > _MOST_VALUES:
        raise ValueError(f"{_MANIFEST} has too many values")
    found = typed.decode(text, _Version).format
    if found > FORMAT:
        raise input_error("model_newer", file=name, stated=found, known=FORMAT)
    return typed.decode(text, _Manifest)


def _read_arrays(entries: Archive) -> dict[str, dict[str, NDArray[Any]]]:
    """Read the arrays of each part of the model."""
    arrays: dict[str, dict[str, NDArray[Any]]] = {part: {} for part in _PARTS}
    for entry in entries.names:
        if entry != _MANIFEST:
            found = _ENTRY.fullmatch(entry)
            if found is None:
                raise ValueError("it has entries that do not belong to a model")
            arrays[found["part"]][found["name"]] = array_from_bytes(entries.read(entry))
    return arrays


def _assemble(manifest: _Manifest, arrays: Mapping[str, Arrays]) -> Model:
    scorer, fitted = manifest.scorer, arrays["preparation"]
    _require_names(manifest.preparation)
    if any(array.dtype != np.float64 for array in fitted.values()):
        raise ValueError("the preprocessing arrays do not match its columns")
    preparation = restored(manifest.preparation, fitted)
    model = Model(
        preparation,
        restore(scorer.kind, scorer.settings, arrays["scorer"], manifest.n_features),
        manifest.intercept,
        params=manifest.params,
        threshold=manifest.threshold,
        schema=_schema(manifest, preparation),
        calibration=_calibration(manifest, arrays["calibration"]),
        calibrated_on="" if manifest.calibration is None else manifest.calibration.rows,
        groups=_groups(manifest, arrays["groups"]),
        **{name: getattr(manifest, name) for name in _FACTS},
    )
    if abs(manifest.intercept) > LARGEST:
        raise ValueError(f"its intercept is beyond {LARGEST}")
    # What does not fit the columns must fail here, not on the first table.
    with np.errstate(all="ignore"):
        score = model.scorer(np.zeros((1, manifest.n_features)))
    if not np.isfinite(score).all():
        raise ValueError("its scores are not finite")
    return model


def _schema(manifest: _Manifest, preparation: Preparation) -> Schema:
    try:
        schema = Schema.from_json(manifest.schema)
    except InputError as error:  # which knows no file
        raise ValueError(str(error)) from error
    if not set(preparation.columns) <= set(schema.names):
        raise ValueError("its schema lacks columns of its preprocessing")
    return schema


def _calibration(manifest: _Manifest, arrays: Arrays) -> calibration.Calibration | None:
    stored = manifest.calibration
    if arrays and stored is None:
        raise ValueError("it has arrays of a calibration but no calibration")
    if any(array.dtype != np.float64 for array in arrays.values()):
        raise ValueError("the calibration arrays must be numeric")
    if stored is None:
        return None
    return calibration.restore_calibration(stored.kind, stored.form, stored.settings, arrays)


def _groups(manifest: _Manifest, arrays: Arrays) -> tuple[NDArray[np.uint64], ...]:
    columns = sum(column.get("role") == "group" for column in manifest.schema["columns"])
    names = [str(k) for k in range(columns)]
    if arrays and (
        sorted(arrays) != sorted(names) or any(a.dtype != np.uint64 for a in arrays.values())
    ):
        raise ValueError("its values of groups do not match its schema")
    return tuple(arrays[name] for name in names) if arrays else ()


def _require_names(found: PreparationSettings) -> None:
    names = (*found.numbers, *found.categories)
    sound = len(found.levels) == len(found.categories) and all(
        len(set(group)) == len(group) for group in (names, *found.levels)
    )
    if not sound:
        raise ValueError("the columns and levels of the preprocessing do not fit together")
