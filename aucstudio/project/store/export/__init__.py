"""Export formats of models: Python, ONNX, SQL, JSON.

PMML is left out: ONNX and SQL serve the same purpose.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

from aucstudio.notices import text
from aucstudio.notices.words import suggestion
from aucstudio.project.errors import InputError, input_error
from aucstudio.project.runs.model import Model
from aucstudio.project.store.export import document, onnx_graph, script, sql
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
    check: Callable[[Model], None] = lambda _model: None

    def refusal(self, model: Model) -> str:
        """Return why the format cannot hold a model; empty if it can."""
        try:
            self.check(model)
        except InputError as error:
            return str(error)
        return ""


NATIVE = ExportFormat(
    "aucmodel", "AUC Studio model", ".aucmodel", text("about_aucmodel"), model_to_bytes
)
FORMATS = {
    key: ExportFormat(key, title, ending, text(about), room.write, room.check)
    for key, title, ending, about, room in (
        ("script", "Python script", ".py", "about_script", script),
        ("onnx", "ONNX", ".onnx", "about_onnx", onnx_graph),
        ("sql", "SQL", ".sql", "about_sql", sql),
        ("json", "JSON", ".json", "about_json", document),
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
        hint, known = suggestion(key, FORMATS), ", ".join(FORMATS)
        raise input_error("export_format_unknown", key=key, hint=hint, known=known)
