"""Results of the selected run by subgroup."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QModelIndex, Signal
from PySide6.QtWidgets import QLineEdit

from aucstudio.gui.common.controls import ControlRow, fill_combo
from aucstudio.gui.common.layouts import Panes
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.plots.roc_sketch import RocSketch
from aucstudio.gui.common.plotting import run_pen
from aucstudio.gui.common.sentence import Statement
from aucstudio.gui.common.table import Row, SheetTable, sheet_blocks, worded_columns
from aucstudio.gui.common.widgets import named, quietly
from aucstudio.gui.state.background import Answer
from aucstudio.gui.state.plan import RunLook
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.notices import text
from aucstudio.notices.words import as_sentence, interval_words
from aucstudio.project.data.table import Table
from aucstudio.project.errors import InputError
from aucstudio.project.results.page import Block
from aucstudio.project.results.subgroups import (
    MOST_LEVELS,
    Subgroup,
    Subgroups,
    held_out_table,
    read_cuts,
    subgroups,
)
from aucstudio.project.results.summary import Estimate
from aucstudio.project.results.thresholds import OWN, Target, choose
from aucstudio.project.runs.experiment import Band
from aucstudio.project.runs.record import RunRecord

_ROW = 42  # two lines
_SHARES, _HEIGHT = (3, 2), 100  # of the picture and the table; pixels of a share at first
_MOST_DRAWN, _MOST_LABELLED = 8, 4  # curves that can be told apart, or named beside the line
_HEADS, _TIPS = worded_columns("groups_table")

Key = tuple[Any, ...]


class GroupsPage(Panes):
    """Curves above, figures below, computed in the background.

    Attributes
    ----------
    concluded : Signal(object)
        The conclusion has changed.
    by_combo : ElidedCombo
    cuts_field : QLineEdit
    found : Subgroups or None
    """

    concluded = Signal(object)  # Statement or str

    def __init__(self, session: Session, row: ControlRow) -> None:
        super().__init__()
        named(self, "groups_page", "Subgroups")
        self.session = session
        self.found: Subgroups | None = None
        self._run: ShownRun | None = None
        self._words = Statement()
        self._columns: tuple[str, ...] = ()
        self._answer = Answer[Subgroups](self, self._on_found, self._on_failed)
        self._make_controls(row)
        self.picture = RocSketch("groups_plot")
        self.plot = self.picture.plot
        self.table = SheetTable("groups_table", "Figures of the levels", _HEADS, _ROW, tips=_TIPS)
        self.table.selectionModel().currentRowChanged.connect(self._on_row)
        self.addWidget(self.plot)
        self.addWidget(self.table)
        for place, share in enumerate(_SHARES):
            self.setStretchFactor(place, share)
        self.setSizes([share * _HEIGHT for share in _SHARES])  # else the plot's hint takes all

    def _make_controls(self, row: ControlRow) -> None:
        self.by_combo = row.choice("groups_by_combo", elided=True)
        self.by_combo.activated.connect(lambda _k: self._on_column())
        self.cuts_field = row.put(named(QLineEdit(), "groups_cuts_field"))
        plain_tooltip(self.cuts_field, text("groups_cuts_field", most=MOST_LEVELS))
        self.cuts_field.setMaximumWidth(180)
        self.cuts_field.editingFinished.connect(self.refresh)
        self._controls = row

    def show_controls(self, shown: bool) -> None:
        """Show or hide the controls; cut points are for numbers only."""
        self._controls.show(shown, self.by_combo)
        self.cuts_field.setVisible(shown and self._is_number())

    def leave(self) -> None:
        """Hide the controls and cancel the computation."""
        self._answer.drop()
        self.show_controls(False)

    # ------------------------------------------------------------- computing

    def refresh(self) -> None:
        """Show the selected run by the levels of the column."""
        session = self.session
        run, table = session.run(session.selected), session.table
        self._offer_columns(table)
        self.show_controls(self.by_combo.count() > 0)
        if run is None or not run.record.splits:
            self._show_none(text("groups_need_a_run"))
            return
        if table is None or not self.by_combo.count():
            self._show_none(text("groups_need_a_table"))
            return
        column = str(self.by_combo.currentData())
        try:
            cuts = read_cuts(self.cuts_field.text()) if self._is_number() else ()
        except InputError as error:
            self._show_none(as_sentence(str(error)))
            return
        target = session.focus.target
        key: Key = (run.record, table.sha256, column, cuts, session.plan.band, target)
        key = (*key, session.stakes)
        is_other = self._run is None or self._run.record is not run.record
        self._run = run

        def work(_post: object) -> Subgroups:
            record, band, stakes = run.record, session.plan.band, session.stakes
            thresholds = [
                choose(record, k, target, stakes).threshold for k in range(len(record.splits))
            ]
            rows = _rows_of(run.look.name, record, table)
            return subgroups(record, rows, column, band, cuts, thresholds)

        if self._answer.ask(key, work):
            if self.found is not None and (is_other or self.found.column != column):
                self._clear()
            self.concluded.emit(text("groups_computed", name=run.look.name, column=column))

    def _on_found(self, found: Subgroups) -> None:
        self.found = found
        self._draw()

    def _on_failed(self, words: str) -> None:
        self._clear()
        self.concluded.emit(words[:1].upper() + words[1:])

    # ------------------------------------------------------------- the column

    def _offer_columns(self, table: Table | None) -> None:
        usable = [] if table is None else [c for c in table.columns if c.role != "label"]
        names = tuple(column.name for column in usable)
        if names == self._columns:
            return
        self._columns = names
        before = self.by_combo.currentData()
        fill_combo(self.by_combo, [(name, name) for name in names])
        levels = (c.name for c in usable if c.kind == "text" and 2 <= c.distinct <= MOST_LEVELS)
        first = before if before in names else next(levels, names[0] if names else None)
        self.by_combo.setCurrentIndex(-1 if first is None else names.index(first))

    def _is_number(self) -> bool:
        table, name = self.session.table, self.by_combo.currentData()
        if table is None or name is None:
            return False
        return any(c.name == name and c.kind == "number" for c in table.columns)

    def _on_column(self) -> None:
        quietly(self.cuts_field.clear)
        self.refresh()

    # ------------------------------------------------------------- showing

    def _show_none(self, words: str) -> None:
        self._answer.drop()
        self._clear()
        self.concluded.emit(words)

    def _clear(self) -> None:
        self.found = None
        self._draw_curves(())
        self.table.show_rows([])

    def _draw(self) -> None:
        found, run = self.found, self._run
        if found is None or run is None:
            return
        self._draw_curves(found.groups)
        looks = _looks(found.groups)
        rows = [Row(_cells(group), looks.get(k)) for k, group in enumerate(found.groups)]
        if rows != self.table.sheet.rows:
            self.table.show_rows(rows)
        band, target = self.session.plan.band, self.session.focus.target
        self._words = statement(found, run.look.name, band, target)
        self.concluded.emit(self._words)

    def report_blocks(self) -> list[Block]:
        """Return the levels that are or were shown last, for a report."""
        shown = None if self._run is None else self.session.run(self._run.record.id)
        if self.found is None or self._run is None or shown is None or not shown.look.visible:
            return []
        title = f"{self._run.look.name} by {self.found.column}"
        return sheet_blocks(title, self.table, self._words.text)

    def _draw_curves(self, groups: Sequence[Subgroup]) -> None:
        chosen, looks = self.table.currentIndex().row(), _looks(groups)
        if 0 <= chosen < len(groups) and len(groups[chosen].curve[0]):
            looks.setdefault(chosen, RunLook(groups[chosen].level, _MOST_DRAWN))
        pens = [run_pen(look, 3.4 if k == chosen else 1.8) for k, look in looks.items()]
        curves = [(*groups[k].curve, pen) for k, pen in zip(looks, pens, strict=True)]
        self.picture.show(curves, self.session.plan.band if groups else None)
        if chosen in looks:
            self.picture.lines[[*looks].index(chosen)].setZValue(2)
        named = [(look.name, look) for look in looks.values()]
        is_few = len(named) <= _MOST_LABELLED
        self.picture.legend.explain(() if is_few else named)
        self.picture.label_lines([name for name, _look in named] if is_few else [])

    def _on_row(self, _index: QModelIndex) -> None:
        if self.found is not None:
            self._draw_curves(self.found.groups)

    def data(self) -> Mapping[str, Sequence[object]]:
        """Return the figures, one line per level."""
        found = self.found
        if found is None:
            return {}
        columns: dict[str, list[object]] = {
            found.column: [group.level for group in found.groups],
            "positives": [group.positives for group in found.groups],
            "negatives": [group.negatives for group in found.groups],
        }
        for name in ("auc", "pauc", "tpr", "fpr"):
            for end in ("value", "low", "high"):
                label = name if end == "value" else f"{name}_{end}"
                columns[label] = [getattr(getattr(group, name), end) for group in found.groups]
        columns["threshold"] = [group.threshold for group in found.groups]
        return columns


def _looks(groups: Sequence[Subgroup]) -> dict[int, RunLook]:
    """Return a look for each place of a drawn level: those with the most positives are drawn."""
    known = [k for k, group in enumerate(groups) if len(group.curve[0])]
    drawn = sorted(sorted(known, key=lambda k: -groups[k].positives)[:_MOST_DRAWN])
    return {k: RunLook(groups[k].level, n) for n, k in enumerate(drawn)}


def _rows_of(name: str, record: RunRecord, table: Table) -> Table:
    """Return the table with the held-out rows: the open one, or a test file."""
    data = held_out_table(name, record)
    return table if data.sha256 == table.sha256 else data.open()


def _cells(group: Subgroup) -> tuple[str, ...]:
    lacked = "negatives" if group.positives else "positives"
    return (
        group.level,
        f"{group.rows:,}\n{group.positives:,} positive",
        *(_cell(area, f"–\nno {lacked}") for area in (group.auc, group.pauc)),
        *(_cell(rate, "–") for rate in (group.tpr, group.fpr)),
    )


def _cell(found: Estimate, unknown: str) -> str:
    """Write a figure, and its interval, if there is one, below it."""
    if math.isnan(found.value):
        return unknown
    return f"{found.value:.3f}\n{interval_words(*found.bounds) if found.known else 'no interval'}"


def statement(found: Subgroups, name: str, band: Band, target: Target) -> Statement:
    """State whether the levels differ, and how that was tested."""
    known = [group for group in found.groups if not math.isnan(group.auc.value)]
    if not known:
        return Statement(text("no_level_tested", column=found.column))
    sure = sorted((one for one in known if not one.few), key=lambda one: one.auc.value)
    high = sure[-1] if len(sure) > 1 else None
    ends = text("level_range", low=sure[0], high=high, only=high is None) if sure else ""
    untested, p = math.isnan(found.p_auc), found.p_auc
    state = "untested" if untested else "differ" if p < 0.05 else "alike"
    few = [group.level for group in found.groups if group.few]
    doubtful = [group.level for group in found.groups if group.notices]
    silent = (("AUC", p, found.silent), ("pAUC", found.p_pauc, found.silent_pauc))
    counts = [
        text("count_of_area", count=count - len(few), area=area)
        for area, tested, count in silent
        if count > len(few) and not math.isnan(tested)
    ]
    no_pauc = math.isnan(found.p_pauc)
    pauc = None if no_pauc else found.p_pauc
    return Statement.of(
        text("levels_compared", state=state, name=name, column=found.column, ends=ends, p=p),
        text("partial_areas_tested", band=band, p=pauc, untested=no_pauc),
        text("rates_at_threshold", own=target.rule == OWN),
        text("levels_drawn", drawn=_MOST_DRAWN, levels=len(known))
        if len(known) > _MOST_DRAWN
        else "",
        text("levels_with_few_rows", levels=few) if few else "",
        text("levels_overestimated", levels=doubtful) if doubtful else "",
        text("levels_merged", count=found.merged) if found.merged else "",
        text("levels_left_out", counts=counts) if counts else "",
    )
