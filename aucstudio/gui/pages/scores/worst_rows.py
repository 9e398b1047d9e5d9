"""Rows ranked worst or highest, and texts of the page Scores."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from functools import partial

import numpy as np
from PySide6.QtCore import QItemSelectionModel, QPoint, Qt
from PySide6.QtWidgets import QWidget

from aucstudio.engine.arrays import Array, Index, Mask
from aucstudio.gui.common.buttons import fold_mark, link_button, make_action, make_menu, push_button
from aucstudio.gui.common.layouts import LEFT, STRETCH, across, down
from aucstudio.gui.common.plain_text import PlainLabel, plain_tooltip
from aucstudio.gui.common.sentence import Statement
from aucstudio.gui.common.table import Row, SheetTable, worded_columns
from aucstudio.gui.common.theme import fix_width
from aucstudio.gui.common.threshold import CARD_WIDTH
from aucstudio.gui.common.widgets import ElidedCombo, label, named, show_note
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.notices import text
from aucstudio.notices.controls import control_words
from aucstudio.notices.words import class_words, score_words
from aucstudio.project.data.columns import cell_texts
from aucstudio.project.data.table import Table
from aucstudio.project.explain.contributions import cell_words, row_name
from aucstudio.project.results.thresholds import Confusion
from aucstudio.project.runs.experiment import Band
from aucstudio.project.runs.record import SplitResult
from aucstudio.project.survey.rows import wrong_pairs


def threshold_sentence(
    name: str, threshold: float, counts: Confusion, names: tuple[str, str]
) -> Statement:
    """State the errors of a run at a threshold."""
    positive, negative = names
    return Statement(
        text(
            "errors_at_threshold",
            default=threshold == 0,
            threshold=number(threshold) if threshold else "",
            name=name,
            counts=counts,
            positives=counts.tp + counts.fn,
            negatives=counts.fp + counts.tn,
            positive=positive,
            negative=negative,
        ),
        text(
            "rates_of_threshold",
            counts=counts,
            precision=None if math.isnan(counts.precision) else counts.precision,
        ),
    )


def band_sentence(band: Band, scores: tuple[float, float]) -> str:
    """State the scores of an FPR range; empty for the full range."""
    low, high = _bounds(*scores)
    side = "between" if low and high else "above" if low else "upto"
    return text("range_in_scores", band=band, side=side, low=low, high=high) if low or high else ""


def _bounds(low: float, high: float) -> list[str]:
    """Write both ends with equal decimals; an infinite end is empty."""
    known = [abs(end) for end in (low, high) if math.isfinite(end)]
    text = number(max(known, default=0.0))
    decimals = len(text.partition(".")[2])
    if "e" in text:
        return [number(end) if math.isfinite(end) else "" for end in (low, high)]
    digits = f".{decimals}f"
    return [score_words(end, digits) if math.isfinite(end) else "" for end in (low, high)]


def number(value: float) -> str:
    """Write a score with four significant digits, including trailing zeros: −9.670."""
    return score_words(value, "#.4g").rstrip(".")


def held_out_columns(run: ShownRun, table: Table | None) -> dict[str, list[object]]:
    """Return every held-out score of every split: run, split, class, score, row from 1.

    The identifiers of each row are added if the table of the run is open and has them.
    """
    from_file = run.record.experiment.validation.scheme == "file"
    row = "test_file_row" if from_file else "row"
    data: dict[str, list[object]] = {name: [] for name in ("run", "split", "class", "score", row)}
    for k, split in enumerate(run.record.splits):
        names = split.model.negative, split.model.positive
        rows = len(split.test_rows)
        data["run"] += [run.look.name] * rows
        data["split"] += [k + 1] * rows
        data["class"] += [names[int(of)] for of in split.test_positive.tolist()]
        data["score"] += split.test_scores.tolist()
        data[row] += (split.test_rows + 1).tolist()
    schema = run.record.experiment.data.schema
    known = table is not None and table.sha256 == schema.sha256 and not from_file
    for identifier in schema.identifiers if known else ():
        assert table is not None
        cells = cell_texts(table.column(identifier))
        name = identifier if identifier not in data else f"{identifier} (id)"
        data[name] = [cells[k] for split in run.record.splits for k in split.test_rows.tolist()]
    return data


FIRST, MOST = 8, 100  # rows that are listed at first and on demand
_LINE, _MOST_CELLS = 22, 30
_HEADS, _TIPS = worded_columns("worst_table")


@dataclasses.dataclass(frozen=True, eq=False)
class Worst:
    """Rows of one class, the worst ranked first, or of both, the highest scores first.

    Attributes
    ----------
    rows : ndarray of int
        Their numbers in the table.
    scores : ndarray
    pairs : ndarray of int
        How many rows of the other class each is ranked wrongly against; ties not counted.
    positive : ndarray of bool
    """

    rows: Index
    scores: Array
    pairs: Index
    positive: Mask

    @classmethod
    def of(cls, split: SplitResult, positive: bool | None, most: int = MOST) -> Worst:
        """Return the worst-ranked held-out rows of a class; of None, the highest scores."""
        scores = split.test_scores
        order = np.argsort(scores if positive else -scores, kind="stable")
        if positive is not None:
            order = order[split.test_positive[order] == positive]
        chosen, classes = order[:most], split.test_positive
        pairs = wrong_pairs(classes, scores).astype(np.intp)
        return cls(split.test_rows[chosen], scores[chosen], pairs[chosen], classes[chosen])


class WorstRows(QWidget):
    """The list of rows ranked worst or highest, and the cells of the selected row.

    Attributes
    ----------
    worst : Worst or None
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._verbs: dict[str, Callable[[int], object]] = {
            "data": lambda row: session.show_rows((row,)),
            "explain": session.explain_row,
            "point": lambda row: session.point_at(row=row),
        }
        named(self, "worst_rows", "Rows by score")
        fix_width(self, CARD_WIDTH)
        self.worst: Worst | None = None
        self._split: SplitResult | None = None
        self._table: Table | None = None
        self.side = named(ElidedCombo(), "worst_side_combo", "Which rows are listed")
        ends = _ends("positives", "negatives")
        self.side.addItems([*(end.capitalize() for end in ends), text("highest_of_all")])
        plain_tooltip(self.side, text("worst_side_combo"))
        self.side.currentIndexChanged.connect(self._fill)
        title = PlainLabel("Ro&ws by score")
        title.setBuddy(self.side)
        title.setProperty("role", "muted")
        self.list = SheetTable("worst_table", "Rows by score", _HEADS, _LINE, tips=_TIPS)
        self.list.selectionModel().currentRowChanged.connect(lambda: self._do("point"))
        self.list.activated.connect(lambda: self._do("explain"))
        self.list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.list.customContextMenuRequested.connect(self._on_menu)
        self.more = link_button("worst_more_button")
        self.more.toggled.connect(self._fill)
        self.data_button, self.explain_button = (
            push_button(f"worst_{what}_button", verb=partial(self._do, what), like=f"{what}_button")
            for what in ("data", "explain")
        )
        self.about = label("", "muted", wrap=True, name="row_about")
        self.sheet = SheetTable("row_cells", "Cells of the row", ("Column", "Cell"), _LINE)
        buttons = across((self.data_button, 1), (self.explain_button, 1))
        parts = title, self.side, self.list, (self.more, LEFT), self.about, self.sheet, buttons
        self.setLayout(down(*parts, STRETCH, gap=4))

    def show_split(self, split: SplitResult, table: Table | None) -> None:
        """List the rows of a split; ``table`` is None if its rows are not available."""
        if (split, table) != (self._split, self._table):
            self._split, self._table = split, table
            names = (split.model.positive, split.model.negative)
            short = (name if len(name) < 16 else f"{name[:15]}…" for name in names)
            for k, end in enumerate(_ends(*map(class_words, short))):
                self.side.setItemText(k, end)
            self._fill()

    def fit(self) -> None:
        """Set the height of the lists to that of their rows in the current size of text."""
        self.list.fit_rows(1, MOST)
        self.sheet.fit_rows(1, _MOST_CELLS)

    @property
    def has_table(self) -> bool:
        """Whether the listed rows are those of the table."""
        return self._table is not None

    def show_row(self, row: int | None) -> None:
        """Select a row of the table in the list, and show its cells."""
        self._mark(row if self.has_table else None)
        for button in (self.data_button, self.explain_button):
            button.setVisible(self.list.currentIndex().isValid())
        seen = row is not None and self._table is not None and row < self._table.rows
        self.sheet.setVisible(seen)
        if row is None or self._table is None or not seen:
            show_note(self.about, "" if self._table else text("rows_of_test_file"))
            return
        assert self._split is not None
        place = np.flatnonzero(self._split.test_rows == row)
        where = "" if len(place) else ", not held out in this split"
        show_note(self.about, f"{row_name(self._table, row)}{where}")
        self.sheet.show_rows([Row(cells) for cells in row_cells(self._table, row)])
        self.fit()

    def _fill(self) -> None:
        if self._split is None:
            return
        split, side = self._split, (True, False, None)[self.side.currentIndex()]
        self.worst = Worst.of(split, side, MOST if self.more.isChecked() else FIRST)
        words = text("worst_more", most=MOST, first=FIRST, open=self.more.isChecked())
        self.more.setText(f"{fold_mark(self.more.isChecked())} {words}")
        columns = () if self._table is None else self._table.columns
        named = next((column for column in columns if column.role == "id"), None)
        rows = self.worst.rows.tolist()
        names = [f"{row + 1:,}" if named is None else cell_words(named, row) for row in rows]
        classes = [split.model.negative, split.model.positive]
        of_rows = [classes[int(positive)] for positive in self.worst.positive]
        pairs = [f"{count:,}" for count in self.worst.pairs]
        figures = zip(names, map(number, self.worst.scores), of_rows, pairs, strict=True)
        heads = (_HEADS[0] if named is None else named.name, *_HEADS[1:])
        self.list.show_rows([Row(cells) for cells in figures], heads)
        self.list.setColumnHidden(2, side is not None)
        self.list.setColumnHidden(3, side is None)
        self.fit()

    def _mark(self, row: int | None) -> None:
        selection = self.list.selectionModel()
        if row is None or self.worst is None or row not in self.worst.rows:
            selection.clear()
            return
        found = np.flatnonzero(self.worst.rows == row)
        index = self.list.sheet.index(int(found[0]), 0)
        flags = QItemSelectionModel.SelectionFlag
        selection.setCurrentIndex(index, flags.ClearAndSelect | flags.Rows)
        self.list.scrollTo(index)

    def _on_menu(self, point: QPoint) -> None:
        """Open the menu of the selected row, which a click of either button selects."""
        index = self.list.currentIndex()
        if not index.isValid() or self.worst is None or not self.has_table:
            return
        menu = make_menu(self.list, "worst_menu")
        for name in ("data", "explain"):
            words = control_words(f"{name}_button")["text"]
            make_action(menu, f"worst_{name}_action", words, verb=partial(self._do, name))
        menu.popup(self.list.viewport().mapToGlobal(point))

    def _do(self, what: str) -> None:
        """Show the selected row of the list elsewhere, explain it, or point at it."""
        index = self.list.currentIndex()
        if index.isValid() and self.worst is not None and self._table is not None:
            self._verbs[what](int(self.worst.rows[index.row()]))


def _ends(positives: str, negatives: str) -> tuple[str, str]:
    """Name the rows of both classes that are ranked worst."""
    return text("lowest_scores", what=positives), text("highest_scores", what=negatives)


def row_cells(table: Table, row: int) -> list[tuple[str, str]]:
    """Return name and cell of every column that is not ignored, the label first."""
    columns = [column for column in table.columns if column.role != "ignore"]
    columns.sort(key=lambda column: column.role != "label")
    return [(column.name, cell_words(column, row)) for column in columns]
