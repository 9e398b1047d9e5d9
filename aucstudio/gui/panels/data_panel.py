"""Data card: table, label and positive class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from aucstudio.engine import METHODS
from aucstudio.gui.common.buttons import Fold, push_button
from aucstudio.gui.common.column_controls import FindingRows, is_loud
from aucstudio.gui.common.controls import fill_names
from aucstudio.gui.common.focus import order_tabs
from aucstudio.gui.common.form import Form, choice_box
from aucstudio.gui.common.layouts import STRETCH, Card, across, down, fill, keep_room
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.rows_model import file_facts
from aucstudio.gui.common.table import LEFT
from aucstudio.gui.common.widgets import label, show_error_at, show_note
from aucstudio.gui.dialogs.classes import ClassesDialog
from aucstudio.gui.state.background import Background, stopping
from aucstudio.gui.state.session import Session
from aucstudio.notices import text
from aucstudio.notices.words import as_sentence, counted
from aucstudio.project.data.finding import FORMAT, TIME_ORDER, Finding, open_findings
from aucstudio.project.data.roles import label_findings
from aucstudio.project.data.table import Table
from aucstudio.project.data.validation import FORWARD, few_rows_caution
from aucstudio.project.errors import InputError
from aucstudio.project.work.job import Job


def _find(table: Table, post: Callable[[float], bool]) -> tuple[Finding, ...]:
    from aucstudio.project.data.findings.find import find

    return find(table, stopping(post))


_CHOOSE = "choose…"
# An entry of the list of classes; no class can have this name.
SEVERAL = ("several",)
_MAX_CLASSES = 50
_MOST_NOTES = 3  # shown at once
# Notes that need no action: kinds of findings, and codes of sure detections.
_ROUTINE = ("ignored", "missing", FORMAT)
_DETECTED = ("label_guessed", "positive_guessed", "import_encoding")
_NO_TABLE = "A table with one row per case and a two-class column, in any format."
_CHANGED = "The table has changed since the dialog opened; the classes were not changed"


class _Room(QWidget):
    """Keeps the height it once needed for a table, so that nothing moves when a finding goes."""

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            self.keep()
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != self.width():  # other lines, so another height
            self.setMinimumHeight(0)
            self.keep()

    def keep(self) -> None:
        """Keep the height that the parts need now."""
        if self.isVisible():
            self.setMinimumHeight(max(self.minimumHeight(), self.heightForWidth(self.width())))


class DataPanel(Card):
    """Shows the table of the session and changes its roles."""

    open_asked = Signal()
    import_asked = Signal(dict)

    def __init__(self, session: Session) -> None:
        super().__init__("1  Data")
        self.session = session
        self.title = label("", "title", elided=True, name="data_title")
        self.facts = label("", "muted", wrap=True, name="data_facts")
        self.label_combo = choice_box("label_combo", narrow=True)
        self.positive_combo = choice_box("positive_combo", narrow=True)
        self.positive_combo.elided = Qt.TextElideMode.ElideMiddle  # the share stays visible
        self._found: tuple[Finding, ...] = ()
        self._file = ""
        self._finding = Background(self, self._on_found)
        self.check = label("", "muted", wrap=True, name="data_check")
        self.findings = FindingRows()
        self.notes = label("", "muted", wrap=True, name="data_notes")
        self.routine = label("", "muted", wrap=True, name="data_routine_notes")
        self.remarks = Fold("data_remarks_button", "Remarks", [self.routine])
        self.caution = label("", wrap=True, name="data_caution")
        # The caution depends on the Validation card below, which must not move under the pointer.
        keep_room(self.caution)
        self.caution.setMinimumHeight(self.caution.fontMetrics().lineSpacing())
        self.problem = label("", "error", wrap=True, name="data_problem")
        self.open_button = push_button("open_button", verb=self.open_asked.emit)
        self.columns_button = push_button(
            "columns_button", verb=lambda: session.asked.emit("columns", ())
        )
        self.import_button = push_button(
            "import_options_button", verb=lambda: self.import_asked.emit({})
        )
        self.import_button.setProperty("link", True)
        self._lay_out()
        self.label_combo.activated.connect(self._on_label)
        self.positive_combo.activated.connect(self._on_positive)
        self.findings.asked.connect(lambda change, undo: self._change(undo, **change))
        session.listen(self._on_table, "table")
        session.listen(self._on_plan, "plan")
        session.undo_group.indexChanged.connect(self._show_findings)
        self._on_table()

    def _lay_out(self) -> None:
        self._form = Form(self.label_combo, self.positive_combo)
        self._room = _Room()
        notes = self.check, self.findings, self.notes, self.remarks
        self._room.setLayout(down(*notes, STRETCH))
        for fold in (self.findings.more, self.remarks.button):
            fold.toggled.connect(lambda _open: self._room.setMinimumHeight(0))
        buttons = across(self.open_button, self.columns_button, STRETCH)
        above = self.title, self._form, self.problem
        # Texts that change with the roles are at the end, where they move nothing.
        below = (self.import_button, LEFT), buttons, self._room, self.facts, self.caution
        fill(self.rows, *above, *below)

    def _on_table(self) -> None:
        """Show the session's table and start to check it; keep the findings of earlier roles."""
        table = self.session.table
        file = "" if table is None else table.sha256
        if file != self._file:
            self._file, self._found = file, ()
            self._room.setMinimumHeight(0)
        self._finding.drop()
        if table is not None:
            self._finding.start(table, lambda post: _find(table, post))
        self.refresh()

    def _on_found(self, _table: Table, job: Job[Any, tuple[Finding, ...]]) -> None:
        if job.result is not None:
            if not self._found:  # notes were shown in place of the findings
                self._room.setMinimumHeight(0)
            self._found = job.result
            self._show_findings()

    def refresh(self) -> None:
        """Show the session's table."""
        table = self.session.table
        for combo in (self.label_combo, self.positive_combo):
            self._form.setRowVisible(combo, table is not None)
        for part in (self.columns_button, self.import_button, self._room):
            part.setVisible(table is not None)
        if table is None:
            self.title.setText("No table yet")
            show_note(self.facts, _NO_TABLE)
            for shown in (self.caution, self.problem):
                show_note(shown, "")
            return
        self.title.setText(table.path.name)
        plain_tooltip(self.title, str(table.path))
        self._show_facts(table)
        self._fill_label(table)
        self._fill_positive(table)
        self._show_findings()
        show_note(self.problem, _problem(table), "error")

    def _show_findings(self) -> None:
        """Show the findings, and the notes that are not among them."""
        table = self.session.table
        if table is None:
            return
        found = open_findings(self._found, table)
        if self.session.plan.validation.scheme == FORWARD:
            found = [finding for finding in found if finding.code != TIME_ORDER]
        stack = self.session.undo_stack
        done = [stack.text(k) for k in range(stack.index())]
        self.findings.show_findings(found, table, done)
        checked = "checking_table" if self._finding.busy else "no_findings"
        show_note(self.check, text(checked) if self.findings.isHidden() else "")
        order_tabs(self.rows)
        shown = {finding.sentence for finding in found if is_loud(finding)}
        notes, routine = _notes(table, shown)
        show_note(self.notes, "\n".join(map(as_sentence, notes)))
        self.routine.setText("\n".join(f"• {as_sentence(words)}" for words in routine))
        self.remarks.retitle(counted(len(routine), "remark"))
        self._room.keep()

    def _on_plan(self) -> None:
        if self.session.table is not None:
            self._show_facts(self.session.table)

    def _show_facts(self, table: Table) -> None:
        """Describe the data, and whether the validation scheme can use it."""
        plan = self.session.plan
        show_note(
            self.facts, _facts(table, METHODS[plan.method].takes_missing, plan.preparation.fill)
        )
        show_note(self.caution, *self._caution(table))

    def _caution(self, table: Table) -> tuple[str, str]:
        """Return a warning about few rows of a class for the scheme, and its style."""
        validation = self.session.plan.validation
        if table.positive is None or _problem(table):
            return "", ""
        if why := self.session.runs.why_not(validation):
            return as_sentence(why), "error"
        positives = table.classes[table.positive]
        negatives = sum(table.classes.values()) - positives
        return few_rows_caution(positives, negatives, validation), ""

    def _fill_label(self, table: Table) -> None:
        names = [] if table.label is not None else [_CHOOSE]
        names += [c.name for c in table.columns if c.kind == "number" or c.distinct <= _MAX_CLASSES]
        fill_names(self.label_combo, names)
        self.label_combo.setCurrentIndex(0 if table.label is None else names.index(table.label))

    def _fill_positive(self, table: Table) -> None:
        self.positive_combo.clear()
        total = sum(table.classes.values())
        if table.positive is None:
            self.positive_combo.addItem(_CHOOSE, None)
        for name, count in table.classes.items():
            self.positive_combo.addItem(f"{name} · {_percent(count, total)}", name)
        if table.label is not None:
            self.positive_combo.insertSeparator(self.positive_combo.count())
            is_number = table.column(table.label).kind == "number"
            cut = ", or a cut point…" if is_number else "…"
            self.positive_combo.addItem(f"Several classes{cut}", SEVERAL)
        self.positive_combo.setCurrentIndex(max(0, self.positive_combo.findData(table.positive)))
        self.positive_combo.setEnabled(bool(table.classes))

    def show_problem(self, sentence: str) -> None:
        """Show why a file could not be opened; the present table stays."""
        show_error_at(self.problem, sentence)

    def _on_label(self) -> None:
        name, table = self.label_combo.currentText(), self.session.table
        if table is None or (table.label is None and self.label_combo.currentIndex() == 0):
            return
        if table.column(name).distinct > _MAX_CLASSES and name != table.label:
            self._ask_classes(table, name)  # a number that needs a cut point
        else:
            self._change(label=name)

    def _on_positive(self) -> None:
        chosen, table = self.positive_combo.currentData(), self.session.table
        if chosen == SEVERAL and table is not None and table.label is not None:
            self._ask_classes(table, table.label)
        elif chosen is not None:
            self._change(positive=chosen)

    def _ask_classes(self, table: Table, name: str) -> None:
        """Ask for the classes of a column in a dialog."""
        self.refresh()
        dialog = ClassesDialog(table, table.column(name), self)
        dialog.chosen.connect(lambda choice: self._change_in(table, choice))
        dialog.ask()

    def _change(self, undo: str = "", /, **roles: Any) -> None:
        try:
            if "dialect" in roles:  # the file is read again
                self.import_asked.emit(roles["dialect"])
            elif "validation" in roles:
                self.session.validate(undo, **roles["validation"])
            elif roles:
                self.session.set_roles(undo, **roles)
            else:
                self.session.undo_stack.undo()
        except InputError as error:
            self.refresh()
            show_note(self.problem, str(error), "error")

    def _change_in(self, table: Table, change: dict[str, Any]) -> None:
        """Change roles as chosen in a dialog, unless the table has changed meanwhile."""
        if table is not self.session.table:
            show_note(self.problem, _CHANGED)
        else:
            self._change(**change)


def _facts(table: Table, takes_missing: bool, fill: str) -> str:
    roles = [column.role for column in table.columns]
    dates = sum(column.role == "number" and column.is_date for column in table.columns)
    numbers = roles.count("number") - dates
    facts = text(
        "table_facts",
        rows=table.rows,
        positives=None if table.positive is None else table.classes[table.positive],
        numbers=numbers if numbers or not dates else None,
        dates=dates or None,
        categories=roles.count("category") or None,
        ignored=roles.count("ignore") or None,
    )
    uses = text(
        "table_uses",
        absent=len(table.absent) or None,
        split=len(table.parts) or None,
        groups=None if table.groups is None else table.groups.describe(),
        weight=table.weight,
        missing=_missing_words(table, takes_missing, fill),
    )
    return f"{facts} · {uses}"


def _missing_words(table: Table, takes_missing: bool, fill: str) -> str:
    """Count the missing values and state how they are used."""
    incomplete = {column.role: column.missing for column in table.features if column.missing}
    if not incomplete:
        return "no missing values"
    uses = {
        "number": f"numbers: {'left to the method' if takes_missing else f'training {fill}'}",
        "category": "categories: a level of their own",
    }
    count = sum(column.missing for column in table.features)
    used = ", ".join(words for role, words in uses.items() if role in incomplete)
    return f"{counted(count, 'missing value')} in the columns used ({used})"


def _notes(table: Table, shown: set[str]) -> tuple[list[str], list[str]]:
    """Return the notes of the import that the card does not show elsewhere.

    The second list states how the table was read, which needs no action.
    """
    findings = (*table.findings, *label_findings(table))
    hidden = shown | {f.sentence for f in findings if f.code in ("import_missing", "positive_open")}
    notes: dict[str, bool] = {}
    for notice in table.notices:
        if notice.sentence not in hidden:
            notes.setdefault(notice.sentence, notice.kind in _ROUTINE or notice.code in _DETECTED)
    open_notes = [note for note, is_routine in notes.items() if not is_routine]
    routine = [note for note, is_routine in notes.items() if is_routine]
    return open_notes[:_MOST_NOTES], [*open_notes[_MOST_NOTES:], file_facts(table), *routine]


def _problem(table: Table) -> str:
    """Return what prevents training, to be shown beside the fields that fix it."""
    if table.label is None:
        return text("choose_label")
    if table.positive is None and len(table.classes) > 1:
        return text("choose_positive", label=table.label, classes=len(table.classes))
    try:
        table.require_two_classes()
    except InputError as error:
        return as_sentence(str(error))
    return ""


def _percent(count: int, total: int) -> str:
    share = 100.0 * count / total if total else 0.0
    return f"{share:.2g} %" if share < 10 else f"{share:.0f} %"
