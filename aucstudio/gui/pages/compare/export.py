"""Copy or save a comparison."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from aucstudio.gui.common import prompts
from aucstudio.gui.state.session import Session
from aucstudio.project.errors import InputError
from aucstudio.project.results import comparison_sheets
from aucstudio.project.results.comparison import Comparison
from aucstudio.project.store.files import write_atomically
from aucstudio.project.store.sheets import write_rows

_BOOKTABS = ".booktabs.tex"
_FORMATS = (
    f"CSV, full figures (*.csv);;Markdown (*.md);;LaTeX (*.tex);;LaTeX with booktabs (*{_BOOKTABS})"
)


def copy_tables(session: Session, found: Comparison) -> None:
    """Copy the tables as text."""
    QGuiApplication.clipboard().setText(comparison_sheets.as_csv(found, delimiter="\t"))
    session.told.emit("Tables copied")


def save_tables(parent: QWidget, session: Session, found: Comparison) -> None:
    """Ask for a file, and write the tables into it."""
    asked = "Save the comparison", "comparison.csv", _FORMATS
    _save(parent, session, asked, lambda path: table_text(path, found))


def copy_columns(session: Session, columns: Mapping[str, Sequence[object]]) -> None:
    """Copy one table as text."""
    QGuiApplication.clipboard().setText(_text_of(columns, "\t"))
    session.told.emit("Table copied")


def save_columns(
    parent: QWidget, session: Session, columns: Mapping[str, Sequence[object]]
) -> None:
    """Ask for a file, and write one table into it."""
    asked = "Save the subgroups", "subgroups.csv", "CSV (*.csv)"
    _save(parent, session, asked, lambda _path: _text_of(columns, ","))


def _save(
    parent: QWidget, session: Session, asked: tuple[str, str, str], text: Callable[[Path], str]
) -> None:
    path = prompts.ask_save_path(parent, *asked)
    if path is None:
        return
    try:
        write_atomically(Path(path), text(Path(path)))
    except InputError as error:
        session.failed.emit(str(error), "")
    else:
        session.told.emit(f"Saved {path}")


def _text_of(columns: Mapping[str, Sequence[object]], delimiter: str) -> str:
    text = io.StringIO()
    lines = zip(*columns.values(), strict=True)
    write_rows(text, [tuple(columns), *lines], delimiter)
    return text.getvalue()


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
