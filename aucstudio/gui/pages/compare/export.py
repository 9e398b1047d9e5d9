"""Copy or save a comparison."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from aucstudio.gui.common import prompts
from aucstudio.gui.state.session import Session
from aucstudio.project.errors import InputError
from aucstudio.project.results.comparison import Comparison
from aucstudio.project.results.page import (
    markdown_blocks,
    tables_as_csv,
    tables_as_latex,
)
from aucstudio.project.results.report import comparison_tables
from aucstudio.project.store.files import write_atomically

_BOOKTABS = ".booktabs.tex"
_FORMATS = (
    f"CSV, full figures (*.csv);;Markdown (*.md);;LaTeX (*.tex);;LaTeX with booktabs (*{_BOOKTABS})"
)


def copy_tables(session: Session, found: Comparison) -> None:
    """Copy the tables as text."""
    QGuiApplication.clipboard().setText(tables_as_csv(comparison_tables(found), "\t"))
    session.message.emit("Tables copied")


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
        session.message.emit(f"Saved {path}")


def table_text(path: Path, found: Comparison) -> str:
    """Write both tables in the format of a file name.

    Raises
    ------
    InputError
        If its ending is none of .csv, .md and .tex.
    """
    tables, ending = comparison_tables(found), path.suffix.lower()
    if ending == ".csv":
        return tables_as_csv(tables)
    if ending == ".md":
        return f"{markdown_blocks(tables)}\n"
    if ending == ".tex":
        return tables_as_latex(tables, booktabs=path.name.lower().endswith(_BOOKTABS))
    raise InputError(
        f"a comparison is saved as .csv, .md or .tex; {path.name} has another ending",
        file=str(path),
    )
