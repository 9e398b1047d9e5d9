"""A trained model as a file: arrays and JSON, preprocessing included; loading runs no code.

``*.aucmodel`` is a zip of ``manifest.json`` and ``arrays/NAME.npy``.
"""

from __future__ import annotations

import dataclasses
import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio import __version__
from aucstudio.engine.roc import ThresholdRule
from aucstudio.engine.scorers import Scorer, restore
from aucstudio.project.errors import InputError
from aucstudio.project.files import write_atomically
from aucstudio.project.prepare import Preparation
from aucstudio.project.table import Table

Array = NDArray[np.float64]

FORMAT = 1
_CHUNK = 65_536


@dataclasses.dataclass(frozen=True, eq=False)
class Model:
    """A scorer with its preprocessing and what it was made from.

    Attributes
    ----------
    preparation : Preparation
    scorer : Scorer
    intercept : float
        Added to the scores; a row is called positive where the sum exceeds 0.
    method : str
    params : dict
    label, positive, negative : str
        The label column and what its two classes are called.
    trained_on : str
        Which rows, in words.
    threshold : str
        Where rows begin to be called positive, in words.
    """

    preparation: Preparation
    scorer: Scorer
    intercept: float
    method: str
    params: Mapping[str, Any]
    label: str
    positive: str
    negative: str
    trained_on: str
    threshold: str = "as trained"

    def with_threshold(
        self, rule: ThresholdRule, positive: NDArray[np.bool_], scores: Array, rows: str
    ) -> Model:
        """Move the threshold to where a rule puts it.

        Parameters
        ----------
        rule : ThresholdRule
        positive, scores : ndarray
            Rows to choose it on, with scores of this very model.
        rows : str
            What these rows are, in words.
        """
        place = rule.place(positive, scores)
        words = f"where {rule.describe()} on {rows}"
        return dataclasses.replace(self, intercept=self.intercept - place, threshold=words)

    def score(self, table: Table) -> Array:
        """Score every row of a table, which need not have a label; shape (rows,).

        Raises
        ------
        InputError
            If the table's columns do not fit; the sentence names them.
        """
        parts = [
            self.scorer(
                self.preparation.apply(table, np.arange(start, min(start + _CHUNK, table.rows)))
            )
            for start in range(0, table.rows, _CHUNK)
        ]
        scores: Array = np.concatenate(parts) if parts else np.empty(0)
        scores += self.intercept
        return scores

    def to_bytes(self) -> bytes:
        """Write the model as the bytes of an ``*.aucmodel`` file."""
        arrays = {f"preparation.{k}": v for k, v in self.preparation.arrays().items()}
        arrays |= {f"scorer.{k}": v for k, v in self.scorer.arrays().items()}
        manifest = {
            "format": FORMAT,
            "program": f"AUC Studio {__version__}",
            "method": self.method,
            "params": dict(self.params),
            "label": self.label,
            "positive": self.positive,
            "negative": self.negative,
            "trained_on": self.trained_on,
            "threshold": self.threshold,
            "intercept": self.intercept,
            "preparation": self.preparation.settings(),
            "scorer": {"kind": self.scorer.kind, "settings": self.scorer.settings()},
        }
        target = io.BytesIO()
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("manifest.json", json.dumps(manifest, indent=1, ensure_ascii=False))
            for name, array in arrays.items():
                archive.writestr(f"arrays/{name}.npy", array_to_bytes(array))
        return target.getvalue()

    def save(self, path: str | Path) -> None:
        """Write the model file, wholly or not at all."""
        write_atomically(Path(path), self.to_bytes())


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


def array_to_bytes(array: NDArray[Any]) -> bytes:
    """Write one array in numpy's own format, never as pickle."""
    target = io.BytesIO()
    np.lib.format.write_array(target, np.ascontiguousarray(array), allow_pickle=False)
    return target.getvalue()


def array_from_bytes(data: bytes) -> NDArray[Any]:
    """Read what :func:`array_to_bytes` wrote; refuses anything that would need unpickling."""
    array: NDArray[Any] = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    return array
