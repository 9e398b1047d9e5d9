"""Save a comparison."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QWidget

from aucstudio.gui.common import prompts
from aucstudio.gui.state.session import Session
from aucstudio.project.errors import InputError
from aucstudio.project.results import comparison_sheets
from aucstudio.project.results.comparison import Comparison
from aucstudio.project.store.files import write_atomically

_BOOKTABS = ".booktabs.tex"
_FORMATS = (
    f"CSV, full figures (*.csv);;Markdown (*.md);;LaTeX (*.tex);;LaTeX with booktabs (*{_BOOKTABS})"
)


def save_tables(parent: QWidget, session: Session, found: Comparison) -> None:
    """Ask for a file, and write the tables into it."""
    path = prompts.ask_save_path(parent, "Save the comparison", "comparison.csv", _FORMATS)
    if path is None:
        return
    try:
        write_atomically(Path(path), table_text(Path(path), found))
    except InputError as error:
        session.failed.emit(str(error), "")
    else:
        session.told.emit(f"Saved {path}")


def table_text(path: Path, found: Comparison) -> str:
    """Write both tables in the format of a file name.

    Raises
    ------
    InputError
        If its ending is none of .csv, .md and .tex.
    """
    if path.name.lower().endswith(_BOOKTABS):
        return comparison_sheets.as_latex(found, booktabs=True)
    writers = {
        ".csv": comparison_sheets.as_csv,
        ".md": comparison_sheets.as_markdown,
        ".tex": comparison_sheets.as_latex,
    }
    writer = writers.get(path.suffix.lower())
    if writer is None:
        raise InputError(
            f"a comparison is saved as .csv, .md or .tex; {path.name} has another ending",
            file=str(path),
        )
    return writer(found)
