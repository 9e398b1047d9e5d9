"""Import a table with a preview of its first rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QSizePolicy,
    QSplitter,
    QWidget,
)

from aucstudio.engine.monitor import Stopped
from aucstudio.gui.common.buttons import check_box, dialog_buttons, primary, push_button
from aucstudio.gui.common.column_controls import FindingRows
from aucstudio.gui.common.controls import WrappingRow, fill_combo
from aucstudio.gui.common.focus import order_tabs
from aucstudio.gui.common.form import whole_box
from aucstudio.gui.common.layouts import LEFT, STRETCH, TOP, across, down, holding, scrolled
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.prompts import Dialog, FileWriter, WorkRow
from aucstudio.gui.common.theme import scaled
from aucstudio.gui.common.widgets import (
    ElidedCombo,
    Kind,
    label,
    make_buddy,
    named,
    set_italic,
    show_note,
)
from aucstudio.gui.dialogs.import_sheet import ImportSheet
from aucstudio.gui.state.background import Background, delayed, stopping
from aucstudio.gui.state.preferences import preferences
from aucstudio.gui.state.session import Session
from aucstudio.gui.state.study_reading import recalled
from aucstudio.notices import text
from aucstudio.notices.controls import control_words
from aucstudio.notices.words import counted
from aucstudio.project.data.finding import TIME_ORDER, Finding, ranked
from aucstudio.project.data.import_choices import ImportChoices, Part
from aucstudio.project.data.labels import AS_THEY_ARE
from aucstudio.project.data.preview import Head, HeadReader
from aucstudio.project.data.readers.formats import BY_KEY
from aucstudio.project.data.readers.rejected import write_rejected
from aucstudio.project.data.table import Table
from aucstudio.project.errors import Cancelled, InputError
from aucstudio.project.work.job import Job, describe_failure

_TYPING = 150  # milliseconds after the last key
_COMBOS = ("sheet", "delimiter", "encoding", "decimal", "quote", "limits")
_MOST_SKIPPED = 10_000
_WIDEST = 200
_DETECT = -1


class ImportControls(QWidget):
    """The import options of a file; an option that is not set is detected.

    Signals
    -------
    chosen : str, object
        The user set an option, or returned it to detection: None.
    """

    chosen = Signal(str, object)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("import_controls")
        self._shown: Mapping[str, Any] = {}
        self._blocks: dict[str, QWidget] = {}
        self.combos = {part: self._combo(part) for part in _COMBOS}
        self.skip = self._add("skip", whole_box("import_skip", _DETECT, _MOST_SKIPPED))
        self.missing = self._add("missing", named(QLineEdit(), "import_missing"))
        self.strict = self._add("strict", check_box("import_strict"))
        # The classes depend on all other options.
        self.classes = self._combo("positive")
        self.skip.valueChanged.connect(
            lambda lines: self.chosen.emit("skip", None if lines == _DETECT else lines)
        )
        self._typed = delayed(self, _TYPING, self.finish)
        self.missing.textEdited.connect(lambda _text: self._typed.start())
        self.missing.editingFinished.connect(self.finish)
        self.strict.toggled.connect(lambda on: self.chosen.emit("strict", on or None))
        row = WrappingRow(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        for part, block in self._blocks.items():
            row.addWidget(block, stretch=0 if part in ("strict", "skip") else 1)

    def _combo(self, part: str) -> QComboBox:
        combo = self._add(part, named(ElidedCombo(), f"import_{part}"))
        combo.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._blocks[part].setMaximumWidth(scaled(_WIDEST))
        combo.activated.connect(lambda place: self.chosen.emit(part, combo.itemData(place)))
        return combo

    def _add(self, part: str, field: Kind) -> Kind:
        """Add a field below its title."""
        title = control_words(f"import_{part}").get("title", "")
        self._blocks[part] = holding(down(STRETCH, make_buddy(title, field), field, gap=2))
        self._blocks[part].setVisible(False)
        return field

    @property
    def busy(self) -> bool:
        """Whether the typed spellings of missing values are not yet applied."""
        return self._typed.isActive()

    def finish(self) -> None:
        """Apply the typed spellings of missing values."""
        self._typed.stop()
        words = tuple(word.strip() for word in self.missing.text().split(",") if word.strip())
        self.chosen.emit("missing", words or None)

    def show_choices(self, choices: ImportChoices, head: Head | None = None) -> None:
        """Show the options; with the first rows also how they were read with them."""
        chosen = choices.dialect
        missing = chosen.get("missing", ())
        if head is None:
            self.missing.setText(", ".join(missing) if isinstance(missing, tuple) else "")
        else:
            self._show_head(choices, head)
        for part, combo in self.combos.items():
            combo.setCurrentIndex(max(0, combo.findData(chosen.get(part))))
        with QSignalBlocker(self.skip), QSignalBlocker(self.strict):
            skip = chosen.get("skip", _DETECT)
            self.skip.setValue(skip if isinstance(skip, int) else _DETECT)
            self.strict.setChecked(bool(chosen.get("strict", False)))
        set_italic(self.skip, "skip" not in chosen)

    def _show_head(self, choices: ImportChoices, head: Head) -> None:
        """Offer the options that apply to a file."""
        table, chosen = head.table, choices.dialect
        for part, block in self._blocks.items():
            block.setVisible(part in head.settings or (part == "sheet" and len(table.sheets) > 1))
        self._blocks["positive"].setVisible(len(table.classes) > 1)
        beyond = sum(count for count, _ in table.limited.values())
        self._blocks["limits"].setVisible(beyond > 0 or "limits" in chosen)
        is_chosen = choices.positive in table.classes
        detected = "Detect" if is_chosen else f"Detected: {table.positive}"
        first = "choose…" if table.positive is None else detected
        items = [(first, ""), *((name, name) for name in table.classes)]
        _fill(self.classes, items, choices.positive if is_chosen else "")
        for part, combo in self.combos.items():
            read_as, own = getattr(table.dialect, part), chosen.get(part)
            offered = [*(table.sheets if part == "sheet" else _offered(part))]
            if part == "encoding" and head.other_encoding:
                offered.insert(0, head.other_encoding)
            values = dict.fromkeys([*offered, *([] if own is None else [str(own)])])
            first = "Detect" if own is not None else f"Detected: {_words(part, str(read_as))}"
            if part == "limits":  # which are not detected
                first = f"missing · {counted(beyond, 'cell')}" if beyond else "missing"
            items = [(_words(part, value), value) for value in values]
            if part == "encoding" and head.other_encoding:
                items[0] = (f"{head.other_encoding} (nearly as likely)", head.other_encoding)
            _fill(combo, [(first, None), *items], own)
        skipped = "Detect" if "skip" in chosen else f"Detected: {table.dialect.skip:,}"
        self.skip.setSpecialValueText(skipped)
        self.skip.setMinimumWidth(self.skip.sizeHint().width())
        if "missing" not in chosen:
            words = f"Detected: {', '.join(table.dialect.missing) or 'default'}"
            self.missing.setPlaceholderText(words)
            room = self.missing.fontMetrics().horizontalAdvance(f"{words}mm")
            self.missing.setMinimumWidth(min(room, scaled(_WIDEST)))


def _fill(combo: QComboBox, items: Sequence[tuple[str, object]], chosen: object) -> None:
    """Show items of which the first stands for detection."""
    fill_combo(combo, list(items))
    combo.setCurrentIndex(max(0, combo.findData(chosen)))
    set_italic(combo, combo.currentIndex() == 0)


def _offered(part: str) -> Sequence[str]:
    words = control_words(f"import_{part}")
    return words["values"] if part == "encoding" else [*words["choices"]]


def _words(part: str, value: str) -> str:
    known = control_words(f"import_{part}").get("choices", {})
    return value if part in ("sheet", "encoding") else known.get(value, repr(value))


_CSV = "CSV (*.csv)"
_MOST_LINES = 8


class RejectedRows(QWidget):
    """Lists rows that cannot be read; hidden if there are none."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("import_rejected")
        self._table: Table | None = None
        self._files = FileWriter(self, self._on_written, self._on_failed)
        self.heading = label("", "heading", wrap=True, name="import_rejected_heading")
        self.rows = named(QListWidget(), "import_rejected_rows")
        self.rows.setWordWrap(True)
        self.rows.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.export = push_button("import_rejected_export", verb=self._on_export, enter=False)
        self.status = label("", "muted", wrap=True, name="import_rejected_told")
        self.setLayout(down(self.heading, self.rows, (self.export, LEFT), self.status))
        self.hide()

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
            self.rows.addItem(QListWidgetItem(f"{row.where}: {row.reason}"))
        lines = min(_MOST_LINES, self.rows.count())
        self.rows.setFixedHeight(lines * 2 * self.rows.fontMetrics().height() + 8)
        # Rows of a workbook or a database are not lines of text.
        self.export.setVisible(head.table.format == "csv" and head.files == 1)
        self.show()

    def _on_export(self) -> None:
        table = self._table
        assert table is not None
        self._rows_written = 0

        def write(path: Path) -> None:
            self._rows_written = write_rejected(table, path)

        suggested = str(table.path.with_name(f"{table.path.stem}-rejected.csv"))
        title = "Export the rows left out"
        if self._files.ask(title, suggested, _CSV, write, [table.path]) and self._files.busy:
            show_note(self.status, "Writing…")
            self.export.setEnabled(False)

    def _on_written(self, target: Path) -> None:
        self.export.setEnabled(True)
        rows = counted(self._rows_written, "row")
        show_note(self.status, f"{rows} of the whole file written to {target}")

    def _on_failed(self, sentence: str, _trace: str) -> None:
        self.export.setEnabled(True)
        show_note(self.status, sentence, "error")


_SIZE = QSize(1180, 760)
_SIDE = 300

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
        self._reader: HeadReader | None = None
        self.choices = ImportChoices() if choices is None else choices
        self._seen: _Seen | None = None
        self.imports = self._recalling = self._every_column = False
        self._reading = Background(self, self._on_read, self._on_progress)
        self.title = label(path.name, "title", elided=True)
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
        self.controls.chosen.connect(self._on_option)
        self.sheet.cards.role_chosen.connect(self._on_role)
        self.sheet.cards.parts_chosen.connect(self._on_parts)
        self.findings.asked.connect(self._on_action)
        session.files.opener.changed.connect(self._on_opener)
        self.fit(_SIZE)
        self._begin()

    # ------------------------------------------------------------- assembly

    def _make_buttons(self) -> None:
        self.open_button = primary(push_button("import_open", verb=self._on_open))
        self.guess_button = push_button("import_guess", verb=self._on_guess)
        self.buttons = dialog_buttons(QDialogButtonBox.StandardButton.Close, name="import")
        self.buttons.addButton(self.guess_button, QDialogButtonBox.ButtonRole.ResetRole)
        self.buttons.addButton(self.open_button, QDialogButtonBox.ButtonRole.ActionRole)
        self.columns_button = push_button("import_all_columns", verb=self._on_every_column)
        for button in (self.guess_button, self.columns_button):
            button.setAutoDefault(False)
        self.columns_button.hide()
        self.buttons.rejected.connect(self.reject)
        self.progress = WorkRow("import", "the import", self._on_cancel)

    def _lay_out(self) -> None:
        found = [(widget, TOP) for widget in (self.caution, self.findings, self.left_out)]
        side = holding(down(*found, STRETCH, gap=12, around=(8, 0, 4, 0)))
        area = self.side = scrolled(side, "import_side", "What was found")
        self.split = named(QSplitter(Qt.Orientation.Horizontal), "import_split")
        self.split.addWidget(self.sheet)
        self.split.addWidget(area)
        self.split.setStretchFactor(0, 1)
        self.split.setCollapsible(0, False)
        self.split.setSizes([_SIZE.width() - _SIDE, _SIDE])
        about = across((self.facts, 1), self.columns_button)
        split = (self.split, 1)
        self._content = down(self.title, about, self.controls, split)
        self.lay_out(self._content, self.words, self.progress, self.buttons)
        self.open_button.setDefault(True)  # possible only inside of a dialog
        self.sheet.cards.after = self.controls.classes  # roles come before their rows

    # ------------------------------------------------------------- reading

    @property
    def busy(self) -> bool:
        """Whether the first rows are being read or summarised, or an option is being typed."""
        return self.controls.busy or super().busy

    @property
    def _is_in_force(self) -> bool:
        """Whether the open table was read with these options."""
        return self._given == self.choices

    def _begin(self) -> None:
        self.controls.show_choices(self.choices)
        try:
            self._reader = HeadReader(self._path, self.scratch_folder())
        except InputError as error:
            self._complain(error)
            return
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
            self._recalling, self.choices = False, seen.choices
            self.controls.show_choices(seen.choices)
        show_note(self.words, text("import_in_force") if self._is_in_force else "")
        self.controls.show_choices(self.choices, head)
        self.facts.setText(_facts(head))
        self.findings.show_findings(seen.findings, head.table)
        self.left_out.show_head(head)
        order_tabs(self._content)
        self.sheet.show_table(head.table)  # the heads of its columns follow the options
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
            not (opening or self._reading.busy or self._is_in_force) and self._seen is not None
        )

    # ------------------------------------------------------------- options

    def _change(self, **changes: Any) -> None:
        """Change the options and read the first rows with them."""
        choices = dataclasses.replace(self.choices, **changes)
        if choices != self.choices:
            self.choices = choices
            self._read()

    def _on_option(self, part: str, value: Any) -> None:
        dialect: dict[str, Part] = {} if part == "sheet" else dict(self.choices.dialect)
        if part == "positive":
            self._change(positive=value)
            return
        if value is None:
            dialect.pop(part, None)
        else:  # another sheet may have another layout
            dialect[part] = value
        self._change(dialect=dialect)

    def _on_role(self, name: str, role: str | None) -> None:
        only = role == "label"  # there is one label
        roles = {
            one: given
            for one, given in self.choices.roles.items()
            if one != name and not (only and given == "label")
        }
        if role is not None:
            roles[name] = role
        is_same_label = self._seen is not None and name != self._seen.head.table.label
        if not is_same_label or role == "label":
            self._change(roles=roles, positive="", rule=AS_THEY_ARE)
        else:
            self._change(roles=roles)

    def _on_parts(self, name: str, parts: tuple[str, ...]) -> None:
        chosen = {one: given for one, given in self.choices.parts.items() if one != name}
        self._change(parts={**chosen, **({name: parts} if parts else {})})

    def _on_action(self, change: dict[str, Any], _undo: str) -> None:
        now = self.choices
        for part, value in change.get("dialect", {}).items():
            self._on_option(part, value)
        ignored = dict.fromkeys(change.get("ignore", ()), "ignore")
        self._change(
            roles={**now.roles, **ignored, **change.get("roles", {})},
            absent={**now.absent, **change.get("absent", {})},
            same={**now.same, **change.get("same", {})},
            merge=now.merge or bool(change.get("merge", False)),
        )

    def _on_guess(self) -> None:
        self.choices = ImportChoices()
        self.controls.show_choices(self.choices)
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
        super().done(result)


def _look(reader: HeadReader, choices: ImportChoices, post: Post, every_column: bool) -> _Seen:
    from aucstudio.project.data.findings.find import find

    head = reader.read(choices, lambda *done: post(done), every_column=every_column)
    check = stopping(lambda share: post((share, "checking the table")))
    # How rows are held out is no matter of the import.
    findings = (one for one in find(head.table, check) if one.code != TIME_ORDER)
    return _Seen(head, ranked(findings), choices)


def _facts(head: Head) -> str:
    table, narrow, title = head.table, head.narrow, BY_KEY[head.table.format].title
    columns = f"{len(table.columns):,} columns"
    if narrow is not None:
        ends = {"left": narrow.left, "right": narrow.right or None, "of": narrow.of}
        columns = text("preview_of_columns", **ends)
    return text(
        "preview_facts",
        format=title[:1].upper() + title[1:],
        sheet=table.dialect.sheet,
        sheets=len(table.sheets),
        files=head.files if head.files > 1 else None,
        columns=columns,
        rows=table.rows,
        whole=head.whole,
    )
