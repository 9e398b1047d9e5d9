"""Export formats of models: Python, ONNX, SQL, JSON.

PMML is left out: ONNX and SQL serve the same purpose.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

from aucstudio.notices.words import suggestion
from aucstudio.project.errors import InputError
from aucstudio.project.runs.models.model import Model
from aucstudio.project.store.export import document as formulas
from aucstudio.project.store.export import onnx_graph as graph
from aucstudio.project.store.export import script, sql
from aucstudio.project.store.files import write_atomically
from aucstudio.project.store.model_file import model_to_bytes

__all__ = ["FORMATS", "NATIVE", "ExportFormat", "export_model"]


@dataclasses.dataclass(frozen=True)
class ExportFormat:
    """A way to write a model.

    Attributes
    ----------
    key, title : str
        What the command line and the window call it.
    ending : str
        Of its files, with the dot.
    about : str
        What the file is good for.
    write : callable
        Returns the content of the file; raises InputError if ``check`` does.
    check : callable
        Raises InputError with the reason if the format cannot hold a model.
    """

    key: str
    title: str
    ending: str
    about: str
    write: Callable[[Model], bytes]
    check: Callable[[Model], None]

    def refusal(self, model: Model) -> str:
        """Return why the format cannot hold a model; empty if it can."""
        try:
            self.check(model)
        except InputError as error:
            return str(error)
        return ""


NATIVE = ExportFormat(
    "aucmodel",
    "AUC Studio model",
    ".aucmodel",
    "The file holds arrays and JSON, preprocessing included; loading it runs no code. "
    "It scores new tables by File ▸ Score a table…, or aucstudio score MODEL TABLE.",
    model_to_bytes,
    lambda _model: None,
)
FORMATS = {
    made.key: made
    for made in (
        ExportFormat(
            "script",
            "Python script",
            ".py",
            "One Python file, preprocessing included, that needs numpy and nothing else. "
            "Score a new table with: python FILE TABLE -o SCORES",
            script.write_script,
            script.check,
        ),
        ExportFormat(
            "onnx",
            "ONNX",
            ".onnx",
            "A graph for ONNX runtimes, preprocessing included: one input for each column, in "
            "double precision. Outputs: score, predicted and, if the model is calibrated, "
            "probability.",
            graph.write_graph,
            graph.check,
        ),
        ExportFormat(
            "sql",
            "SQL",
            ".sql",
            "One statement for DuckDB and SQLite, preprocessing included. It adds the columns "
            "score, predicted and, if the model is calibrated, probability to a table.",
            sql.write_sql,
            sql.check,
        ),
        ExportFormat(
            "json",
            "JSON",
            ".json",
            "All numbers of the model and its preprocessing, and the formula of its score.",
            formulas.write_document,
            formulas.check,
        ),
    )
}


def export_model(model: Model, key: str, path: str | Path) -> None:
    """Write a model in another format, wholly or not at all.

    Parameters
    ----------
    model : Model
    key : str
        Of :data:`FORMATS`.
    path : str or Path
        The text ``-`` is the standard output.

    Raises
    ------
    InputError
        If there is no such format, if it cannot hold this kind of model, if a package for it is
        missing, or if the file cannot be written.
    """
    check_format(key)
    write_atomically(path, FORMATS[key].write(model))


def check_format(key: str) -> None:
    """Refuse what is no format to export to."""
    if key not in FORMATS:
        raise InputError(
            f"there is no format {key!r} to export to{suggestion(key, FORMATS)} (there are "
            f"{', '.join(FORMATS)})",
            setting="to",
        )
