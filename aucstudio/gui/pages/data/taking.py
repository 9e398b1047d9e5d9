"""Taking away from the page Data: selected cells to the clipboard, shown rows to a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton

from aucstudio.gui.common import prompts
from aucstudio.gui.common.plain import plain_tooltip
from aucstudio.gui.common.widgets import named
from aucstudio.gui.pages.data.lookup import FoundRows, stop_if_asked
from aucstudio.gui.pages.data.sheet import RowsSheet
from aucstudio.gui.state.background import Background
from aucstudio.gui.state.session import Session
from aucstudio.project.errors import InputError
from aucstudio.project.survey.export_rows import as_text, save_rows
from aucstudio.project.work.job import Job, describe_failure

_MOST_COPIED = 2_000_000  # cells
_SAVE, _STOP = "Save ro&ws…", "Stop sa&ving"


class Taking(QObject):
    """Copies what is selected in a sheet, and saves what is shown; either can be stopped.

    Attributes
    ----------
    found : FoundRows or None
        The rows that are shown.
    save_button : QPushButton
    """

    def __init__(self, session: Session, sheet: RowsSheet) -> None:
        super().__init__(sheet)
        self._session, self._sheet = session, sheet
        self.found: FoundRows | None = None
        self._copying = Background(self, self._on_copied)
        self._saving = Background(self, self._on_saved, self._on_saving)
        self.save_button = named(QPushButton(_SAVE), "data_save_button", "Save the rows")
        plain_tooltip(self.save_button, "All rows that are shown, as CSV")
        self.save_button.clicked.connect(self._on_save)
        sheet.copying.connect(self.copy)

    def busy(self) -> bool:
        """Return whether cells are being copied or rows saved."""
        return self._copying.busy or self._saving.busy

    def copy(self) -> None:
        """Copy the selected cells, parted by tabs."""
        columns, lines = self._sheet.selected()
        if not columns or not len(lines):
            return
        if len(columns) * len(lines) > _MOST_COPIED:
            told = f"More than {_MOST_COPIED:,} cells are not copied at once: save the rows"
            self._session.told.emit(told)
            return
        rows = self._sheet.model_.rows[lines]
        self._copying.start(
            None, lambda post: as_text(columns, rows, lambda _part: stop_if_asked(post))
        )

    def _on_copied(self, _key: object, job: Job[float, str]) -> None:
        if job.result is None:
            self._session.failed.emit(*describe_failure(job.error or RuntimeError()))
            return
        QGuiApplication.clipboard().setText(job.result)
        self._session.told.emit("Cells copied")

    def _on_save(self) -> None:
        if self._saving.busy:
            self._saving.stop()
            return
        found = self.found
        if found is None:
            return
        suggested = f"{found.asked.table.path.stem}-rows.csv"
        path = prompts.ask_save_path(self._sheet, "Save the rows", suggested, "CSV (*.csv)")
        if path is None:
            return
        columns, table = self._sheet.model_.columns, found.asked.table

        def save(post: Any) -> None:
            save_rows(
                Path(path),
                columns,
                found.rows,
                table.file_rows,
                lambda part: stop_if_asked(post, part),
            )

        self.save_button.setText(_STOP)
        self._saving.start(path, save)

    def _on_saving(self, part: float) -> None:
        self._session.told.emit(f"Saving rows: {100 * part:.0f} %")

    def _on_saved(self, path: str, job: Job[float, None]) -> None:
        self.save_button.setText(_SAVE)
        if job.error is None:
            self._session.told.emit(f"Saved {path}")
        elif isinstance(job.error, InputError):
            self._session.failed.emit(str(job.error), "")
        else:
            self._session.told.emit(f"{path} was not saved")
