"""Rows that cannot be read, with reasons and export."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QWidget

from aucstudio.gui.common import prompts
from aucstudio.gui.common.layouts import LEFT, down
from aucstudio.gui.common.widgets import label, named, push_button, show_note
from aucstudio.gui.state.background import Background
from aucstudio.notices.words import counted
from aucstudio.project.data.preview import Head
from aucstudio.project.data.table import Table
from aucstudio.project.data.text.delimited import write_rejected
from aucstudio.project.errors import InputError
from aucstudio.project.store.files import refuse_own_input
from aucstudio.project.work.job import Job, describe_failure

_CSV = "CSV (*.csv)"
_MOST_LINES = 8
_TIP = "Line, reason and text of all such rows of the file, as CSV"


class RejectedRows(QWidget):
    """Lists rows that cannot be read; hidden if there are none."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("import_rejected")
        self._table: Table | None = None
        self._writing = Background(self, self._on_written)
        self.heading = label("", "heading", wrap=True, name="import_rejected_heading")
        self.rows = named(QListWidget(), "import_rejected_rows", "Rows that are left out")
        self.rows.setWordWrap(True)
        self.rows.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.export = push_button(
            *("import_rejected_export", "E&xport…", _TIP, self._on_export),
            accessible="Export the rows that are left out",
            enter=False,
        )
        self.status = label("", "muted", wrap=True, name="import_rejected_told")
        self.setLayout(down(self.heading, self.rows, (self.export, LEFT), self.status))

    @property
    def busy(self) -> bool:
        """Whether rows are being written."""
        return self._writing.busy

    def drop(self) -> None:
        """Cancel the export."""
        self._writing.drop()

    def show_head(self, head: Head | None) -> None:
        """Show the rows that cannot be read among the first ones."""
        self._table = None if head is None else head.table
        show_note(self.status, "")
        self.rows.clear()
        if head is None or not head.table.rejected_rows:
            self.hide()
            return
        count = head.table.rejected_rows
        where = "" if head.whole else " among the first"
        self.heading.setText(f"{counted(count, 'row')} left out{where}".upper())
        for row in head.table.rejected:
            self.rows.addItem(QListWidgetItem(f"line {row.line:,}: {row.reason}"))
        lines = min(_MOST_LINES, self.rows.count())
        self.rows.setFixedHeight(lines * 2 * self.rows.fontMetrics().height() + 8)
        # Rows of a packed file or a workbook are no lines of text that could be exported.
        self.export.setVisible(head.table.format == "csv" and head.files == 1)
        self.show()

    def _on_export(self) -> None:
        table = self._table
        assert table is not None
        suggested = str(table.path.with_name(f"{table.path.stem}-rejected.csv"))
        path = prompts.ask_save_path(self, "Export the rows left out", suggested, _CSV)
        if not path:
            return
        try:
            target = prompts.with_ending(path, ".csv")
            refuse_own_input(target, table.path)
        except InputError as error:
            show_note(self.status, str(error), "error")
            return
        show_note(self.status, "Writing…")
        self.export.setEnabled(False)
        self._writing.start(target, lambda _post: write_rejected(table, target))

    def _on_written(self, target: Path, job: Job[Any, int]) -> None:
        self.export.setEnabled(True)
        if job.result is None:
            assert isinstance(job.error, Exception)
            show_note(self.status, describe_failure(job.error)[0], "error")
        else:
            rows = counted(job.result, "row")
            show_note(self.status, f"{rows} of the whole file written to {target}")
