"""The import preview."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QSplitter,
    QWidget,
)

from aucstudio.engine.monitor import Stopped
from aucstudio.gui.common.finding_rows import FindingRows
from aucstudio.gui.common.layouts import STRETCH, TOP, across, down, holding, scrolled
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.prompts import Dialog, WorkRow
from aucstudio.gui.common.widgets import (
    ElidedLabel,
    dialog_buttons,
    label,
    named,
    primary,
    push_button,
    show_note,
)
from aucstudio.gui.dialogs.importing.controls import ImportControls
from aucstudio.gui.dialogs.importing.preview_rows import ImportSheet
from aucstudio.gui.dialogs.importing.rejected import RejectedRows
from aucstudio.gui.state.background import Background
from aucstudio.gui.state.opening import recalled
from aucstudio.gui.state.preferences import preferences
from aucstudio.gui.state.session import Session
from aucstudio.notices.words import counted
from aucstudio.project import scratch
from aucstudio.project.data.finding import Finding, ranked
from aucstudio.project.data.import_choices import ImportChoices
from aucstudio.project.data.preview import Head, HeadReader
from aucstudio.project.data.readers.registry import BY_KEY
from aucstudio.project.errors import Cancelled, InputError
from aucstudio.project.work.job import Job, describe_failure

_SIZE = QSize(1180, 760)
_SIDE = 300
_OPEN, _DETECT = "Open with these settings", "Discard all choices and detect the settings"

Post = Callable[[tuple[float | None, str]], bool]


@dataclasses.dataclass(frozen=True, eq=False)
class _Seen:
    """The first rows, the findings about them, and the options used to read them."""

    head: Head
    findings: tuple[Finding, ...]
    choices: ImportChoices


class ImportPreview(Dialog):
    """Shows the first rows of a file as they are read with the chosen options.

    Signals
    -------
    asked(ImportChoices)
        Open the whole file with these options.

    Attributes
    ----------
    imports : bool
        Whether the whole file is being opened.
    """

    asked = Signal(object)

    def __init__(
        self,
        session: Session,
        path: Path,
        choices: ImportChoices | None,
        parent: QWidget,
    ) -> None:
        super().__init__("import_dialog", f"Import {path.name}", parent)
        self._session, self._path, self._given = session, path, choices
        self._folder: Path | None = None
        self._reader: HeadReader | None = None
        self._choices = ImportChoices() if choices is None else choices
        self._seen: _Seen | None = None
        self.imports = self._recalling = self._every_column = False
        self._reading = Background(self, self._on_read, self._on_progress)
        self.title = ElidedLabel(path.name)
        self.title.setProperty("role", "title")
        plain_tooltip(self.title, str(path))
        self.facts = label("", "muted", wrap=True, name="import_facts")
        self.controls = ImportControls()
        self.sheet = ImportSheet()
        self.findings = FindingRows()
        self.left_out = RejectedRows()
        self.caution = label("", wrap=True, name="import_caution")
        self.words = label("", "error", wrap=True, name="import_words")
        self._make_buttons()
        self._lay_out()
        self.controls.changed.connect(lambda: self._read())
        self.sheet.role_chosen.connect(self._on_role)
        self.sheet.parts_chosen.connect(self._on_parts)
        self.findings.asked.connect(self._on_action)
        session.files.opener.changed.connect(self._on_opener)
        self.fit(_SIZE)
        self._begin()

    # ------------------------------------------------------------- assembly

    def _make_buttons(self) -> None:
        self.open_button = primary(
            push_button("import_open", "&Open", "", self._on_open, accessible=_OPEN)
        )
        self.guess_button = push_button(
            *("import_guess", "&Detect everything", "", self._on_guess), accessible=_DETECT
        )
        self.buttons = dialog_buttons(QDialogButtonBox.StandardButton.Close, name="import")
        self.buttons.addButton(self.guess_button, QDialogButtonBox.ButtonRole.ResetRole)
        self.buttons.addButton(self.open_button, QDialogButtonBox.ButtonRole.ActionRole)
        self.columns_button = push_button(
            *("import_all_columns", "Show &all columns", "", self._on_every_column),
            accessible="Show all columns of the file",
        )
        for button in (self.guess_button, self.columns_button):
            button.setAutoDefault(False)
        self.columns_button.hide()
        self.buttons.rejected.connect(self.reject)
        self.progress = WorkRow("import", "the import", self._on_cancel)

    def _lay_out(self) -> None:
        found = [(widget, TOP) for widget in (self.caution, self.findings, self.left_out)]
        side = holding(down(*found, STRETCH, gap=12, around=(8, 0, 4, 0)))
        area = self.side = scrolled(side, "import_side", "What was found")
        self.split = named(
            QSplitter(Qt.Orientation.Horizontal), "import_split", "Rows and findings"
        )
        self.split.addWidget(self.sheet)
        self.split.addWidget(area)
        self.split.setStretchFactor(0, 1)
        self.split.setCollapsible(0, False)
        self.split.setSizes([_SIZE.width() - _SIDE, _SIDE])
        about = across((self.facts, 1), self.columns_button)
        split = (self.split, 1)
        parts = (self.title, about, self.controls, split, self.words, self.progress, self.buttons)
        self.setLayout(down(*parts, around=16))
        self._order_keys()

    def _order_keys(self) -> None:
        """Make Enter open the file, and set the tab order to reading order.

        Roles come before their rows.
        """
        self.open_button.setDefault(True)  # possible only inside of a dialog
        self.sheet.cards.after = self.controls.classes
        close = self.buttons.button(QDialogButtonBox.StandardButton.Close)
        for one, other in itertools.pairwise([self.guess_button, self.open_button, close]):
            QWidget.setTabOrder(one, other)

    # ------------------------------------------------------------- reading

    @property
    def busy(self) -> bool:
        """Whether the first rows are being read or summarised."""
        parts = (self.controls, self._reading, self.sheet.cards, self.left_out)
        return any(part.busy for part in parts)

    @property
    def choices(self) -> ImportChoices:
        """The present options."""
        chosen = self.controls.chosen
        return dataclasses.replace(self._choices, dialect=chosen, positive=self.controls.positive)

    def _begin(self) -> None:
        self.controls.choose(self._choices)
        try:
            self._folder = scratch.make_folder()
        except InputError as error:
            self._complain(error)
            return
        self._reader = HeadReader(self._path, self._folder)
        self._read(recall=self._given is None)

    def _read(self, *, recall: bool = False) -> None:
        """Read the first rows with the chosen settings; only the latest request counts."""
        reader, choices, every = self._reader, self.choices, self._every_column
        if reader is None:
            return
        known = preferences().now.imports if recall else ()
        self._recalling = recall

        def work(post: Post) -> _Seen:
            return _look(reader, recalled(self._path, known) or choices, post, every)

        self.facts.setText("Reading the first rows…")
        self._reading.start(choices, work)
        self._refresh()

    def _on_progress(self, message: tuple[float | None, str]) -> None:
        self.facts.setText(f"{message[1].capitalize()}…")

    def _on_read(self, _key: object, job: Job[Any, _Seen]) -> None:
        self._seen = job.result
        if job.result is None:
            self._complain(job.error)
            self.facts.setText("Cannot be read with these settings")
            self.sheet.show_table(None)
            self.findings.show_findings((), None)
            self.left_out.show_head(None)
            show_note(self.caution, "")
        else:
            self._show(job.result)
        parts = self.caution, self.findings, self.left_out
        self.side.setVisible(not all(part.isHidden() for part in parts))
        self._refresh()

    def _show(self, seen: _Seen) -> None:
        head = seen.head
        if self._recalling:  # a late result must not undo later choices
            self._recalling, self._choices = False, seen.choices
            self.controls.choose(seen.choices)
        show_note(self.words, "")
        self.controls.show_head(head)
        self.facts.setText(_facts(head))
        self.sheet.show_table(head.table)
        self.findings.show_findings(seen.findings, head.table)
        self.left_out.show_head(head)
        self.columns_button.setVisible(head.narrow is not None)
        show_note(
            self.caution,
            f"{head.problem}. Checked again on the whole file." if head.problem else "",
        )

    def _complain(self, error: BaseException | None) -> None:
        if error is not None and not isinstance(error, (Stopped, Cancelled)):
            assert isinstance(error, Exception)
            show_note(self.words, describe_failure(error)[0], "error")

    def _refresh(self) -> None:
        opening = self.imports
        self.progress.setVisible(opening)
        buttons = self.guess_button, self.columns_button
        for widget in (self.controls, self.sheet, self.findings, *buttons):
            widget.setEnabled(not opening)
        self.open_button.setEnabled(
            not opening and not self._reading.busy and self._seen is not None
        )

    # ------------------------------------------------------------- options

    def _on_role(self, name: str, role: str | None) -> None:
        only = role == "label"  # there is one label
        roles = {
            one: given
            for one, given in self._choices.roles.items()
            if one != name and not (only and given == "label")
        }
        if role is not None:
            roles[name] = role
        is_same_label = self._seen is not None and name != self._seen.head.table.label
        positive = self.controls.positive if is_same_label and role != "label" else ""
        self._choices = dataclasses.replace(self.choices, roles=roles, positive=positive)
        self.controls.choose(self._choices)
        self._read()

    def _on_parts(self, name: str, parts: tuple[str, ...]) -> None:
        chosen = {one: given for one, given in self._choices.parts.items() if one != name}
        self._choices = dataclasses.replace(
            self.choices, parts={**chosen, **({name: parts} if parts else {})}
        )
        self._read()

    def _on_action(self, change: dict[str, Any], _undo: str) -> None:
        """Apply the action of a finding."""
        now = self._choices
        ignored = dict.fromkeys(change.get("ignore", ()), "ignore")
        self._choices = dataclasses.replace(
            now,
            roles={**now.roles, **ignored, **change.get("roles", {})},
            absent={**now.absent, **change.get("absent", {})},
            same={**now.same, **change.get("same", {})},
            merge=now.merge or bool(change.get("merge", False)),
        )
        self._read()

    def _on_guess(self) -> None:
        self._choices = ImportChoices()
        self.controls.choose(self._choices)
        self._read()

    def _on_every_column(self) -> None:
        self._every_column = True
        self._read()

    # ------------------------------------------------------------- the whole file

    def _on_open(self) -> None:
        self.controls.finish()
        if self._seen is None:
            return
        self.imports = True
        self._on_opener()
        names = (column.name for column in self._seen.head.table.columns)
        seen_all = self._seen.head.narrow is None
        self.asked.emit(self.choices.among(names) if seen_all else self.choices)
        self._on_opener()

    def _on_opener(self) -> None:
        opener = self._session.files.opener
        if not self.imports:
            return
        self.progress.show_work(opener.fraction, opener.words)
        self._refresh()

    def _on_cancel(self) -> None:
        self._session.files.opener.cancel()
        self.continue_choosing()

    def refuse(self, error: Exception) -> None:
        """Show why the whole file could not be opened."""
        self.continue_choosing()
        self._complain(error)

    def continue_choosing(self) -> None:
        """Offer the options again; the file is not opened."""
        self.imports = False
        self._refresh()

    # ------------------------------------------------------------- Qt

    def done(self, result: int) -> None:
        """Cancel and close."""
        if self.imports and result == QDialog.DialogCode.Rejected:
            self._session.files.opener.cancel()
        self.imports = False
        self._reading.drop()
        self.sheet.cards.drop()
        self.left_out.drop()
        if self._folder is not None:
            scratch.remove(self._folder)
        super().done(result)


def _look(reader: HeadReader, choices: ImportChoices, post: Post, every_column: bool) -> _Seen:
    from aucstudio.project.data.findings.find import find

    head = reader.read(choices, lambda *done: post(done), every_column=every_column)

    def check(share: float) -> None:
        if post((share, "checking the table")):
            raise Cancelled

    return _Seen(head, ranked(find(head.table, check)), choices)


def _facts(head: Head) -> str:
    table = head.table
    title = BY_KEY[table.format].title
    parts = [title[:1].upper() + title[1:]]
    if table.dialect.sheet:
        parts.append(f"{table.dialect.sheet!r} of {len(table.sheets):,}")
    if head.files > 1:
        parts.append(f"the first of {head.files:,} files of one layout")
    parts.append(_columns_words(head))
    rows = counted(table.rows, "row")
    if head.whole:
        return " · ".join([*parts, rows])
    return " · ".join(
        [*parts, f"from the first {rows}; guesses are made again from the whole file"]
    )


def _columns_words(head: Head) -> str:
    narrow = head.narrow
    if narrow is None:
        return f"{len(head.table.columns):,} columns"
    last = f" and the last {narrow.right:,}" if narrow.right else ""
    return f"the first {narrow.left:,}{last} of {narrow.of:,} columns; opening the table reads all"
