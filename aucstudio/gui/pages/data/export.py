"""Copy selected cells, or save the rows shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication

from aucstudio.gui.common import prompts
from aucstudio.gui.common.widgets import push_button
from aucstudio.gui.pages.data.row_query import FoundRows, stop_if_asked
from aucstudio.gui.pages.data.rows_table import RowsSheet
from aucstudio.gui.state.background import Answer
from aucstudio.gui.state.session import Session
from aucstudio.project.survey.rows import as_text, save_rows

_MOST_COPIED = 2_000_000  # cells
_SAVE, _STOP = "Save ro&ws…", "Stop sa&ving"


class RowExport(QObject):
    """Copies the selected cells and saves the shown rows; both can be stopped.

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
        self._copying = Answer(self, self._on_copied, lambda words: session.failed.emit(words, ""))
        self._saving = Answer(self, self._on_saved, self._on_unsaved, self._on_saving)
        tip = "All rows that are shown, as CSV"
        self.save_button = push_button("data_save_button", _SAVE, tip, self._on_save)
        sheet.copying.connect(self.copy)

    def copy(self) -> None:
        """Copy the selected cells, separated by tabs."""
        columns, lines = self._sheet.selected()
        if not columns or not len(lines):
            return
        if len(columns) * len(lines) > _MOST_COPIED:
            text = f"More than {_MOST_COPIED:,} cells are not copied at once: save the rows"
            self._session.message.emit(text)
            return
        rows = self._sheet.model_.rows[lines]
        self._copying.forget()
        self._copying.ask(
            "copy", lambda post: as_text(columns, rows, lambda _part: stop_if_asked(post))
        )

    def _on_copied(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self._session.message.emit("Cells copied")

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

        def save(post: Any) -> str:
            save_rows(
                Path(path),
                columns,
                found.rows,
                table.file_rows,
                lambda part: stop_if_asked(post, part),
            )
            return str(path)

        self.save_button.setText(_STOP)
        self._saving.forget()
        self._saving.ask(path, save)

    def _on_saving(self, part: float) -> None:
        self._session.message.emit(f"Saving rows: {100 * part:.0f} %")

    def _on_saved(self, path: str) -> None:
        self.save_button.setText(_SAVE)
        self._session.message.emit(f"Saved {path}")

    def _on_unsaved(self, words: str) -> None:
        self.save_button.setText(_SAVE)
        if words:
            self._session.failed.emit(words, "")
        else:
            self._session.message.emit("The rows were not saved")
