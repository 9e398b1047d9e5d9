"""A trained model as a file: arrays and JSON, preprocessing included; loading runs no code.

``*.aucmodel`` is a zip of ``manifest.json`` and ``arrays/NAME.npy``.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio import __version__
from aucstudio.engine.scorers import restore
from aucstudio.project.data.prepare import Preparation
from aucstudio.project.errors import InputError
from aucstudio.project.runs.model import Model
from aucstudio.project.store.arrays import array_from_bytes, array_to_bytes
from aucstudio.project.store.files import write_atomically

Array = NDArray[np.float64]

FORMAT = 1


def model_to_bytes(model: Model) -> bytes:
    """Write the model as the bytes of an ``*.aucmodel`` file."""
    arrays = {f"preparation.{k}": v for k, v in model.preparation.arrays().items()}
    arrays |= {f"scorer.{k}": v for k, v in model.scorer.arrays().items()}
    manifest = {
        "format": FORMAT,
        "program": f"AUC Studio {__version__}",
        "method": model.method,
        "params": dict(model.params),
        "label": model.label,
        "positive": model.positive,
        "negative": model.negative,
        "trained_on": model.trained_on,
        "threshold": model.threshold,
        "intercept": model.intercept,
        "preparation": model.preparation.settings(),
        "scorer": {"kind": model.scorer.kind, "settings": model.scorer.settings()},
    }
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", json.dumps(manifest, indent=1, ensure_ascii=False))
        for name, array in arrays.items():
            archive.writestr(f"arrays/{name}.npy", array_to_bytes(array))
    return target.getvalue()


def save_model(model: Model, path: str | Path) -> None:
    """Write the model file, wholly or not at all."""
    write_atomically(Path(path), model_to_bytes(model))


def load_model(path: str | Path) -> Model:
    """Read an ``*.aucmodel`` file.

    Raises
    ------
    InputError
        If the file is not there, is no model, is damaged or comes from a newer program.
    """
    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"cannot read the model {path}: {error.strerror}", file=str(path)
        ) from error
    return model_from_bytes(data, str(path))


def model_from_bytes(data: bytes, name: str) -> Model:
    """Read a model from bytes; ``name`` is what errors call it."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            manifest = json.loads(archive.read("manifest.json"))
            _require_known(manifest, name)
            arrays = {
                entry.removeprefix("arrays/").removesuffix(".npy"): array_from_bytes(
                    archive.read(entry)
                )
                for entry in archive.namelist()
                if entry.startswith("arrays/")
            }
        return _assemble(manifest, arrays)
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, EOFError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"{name} is not an AUC Studio model, or is damaged ({error})", file=name
        ) from error


def _require_known(manifest: Mapping[str, Any], name: str) -> None:
    if int(manifest["format"]) > FORMAT:
        raise InputError(
            f"{name} was saved by a newer AUC Studio (model format {manifest['format']}; this "
            f"program reads up to {FORMAT}): update the program",
            file=name,
        )


def _assemble(manifest: Mapping[str, Any], arrays: Mapping[str, Array]) -> Model:
    def group(prefix: str) -> dict[str, Array]:
        return {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}

    scorer = manifest["scorer"]
    model = Model(
        Preparation.restore(manifest["preparation"], group("preparation.")),
        restore(scorer["kind"], scorer["settings"], group("scorer.")),
        float(manifest["intercept"]),
        manifest["method"],
        manifest["params"],
        manifest["label"],
        manifest["positive"],
        manifest["negative"],
        manifest["trained_on"],
        manifest.get("threshold", "as trained"),
    )
    # A scorer whose arrays do not fit the columns must fail here, not on the first table.
    model.scorer(np.zeros((1, len(model.preparation.feature_names))))
    return model
