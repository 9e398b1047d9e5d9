"""What a model met in a table that it scored: the AUC, and a small table with counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from PySide6.QtWidgets import QWidget

from aucstudio.gui.common.boxes import across, down
from aucstudio.gui.common.table import Row, SheetModel, TableView
from aucstudio.gui.common.widgets import label, tell
from aucstudio.gui.dialogs.scoring.curve import CurvePreview, TableRanking
from aucstudio.project.runs.models.model import Model
from aucstudio.project.runs.models.scoring_report import ScoringReport, some_names
from aucstudio.project.words import figure_words, interval_words

_HEADS = ("Input check", "Count", "Which")
_HEIGHT, _LEAST_ROWS = 28, 6
_NOTHING = "–"
_INDENT = "    "

Line = tuple[str, str, str]


class ScoreReport(QWidget):
    """Shows a report of scoring."""

    def __init__(self) -> None:
        super().__init__()
        self.figure = label("", "figure", name="score_auc")
        self.sentence = label("", wrap=True, name="score_sentence")
        self.model = SheetModel(_HEADS, {}, (0, 2), self)
        self.view = TableView("score_report", "Input check of the table", self.model, _HEIGHT, 2)
        self.view.setMinimumHeight(_LEAST_ROWS * _HEIGHT)
        self.curve = CurvePreview()
        words = down(self.figure, self.sentence, (self.view, 1), gap=4)
        self.setLayout(across((words, 1), self.curve, gap=16))

    def show_columns(self, model: Model, columns: Sequence[str], label: str | None) -> None:
        """Show which columns of a table a model knows, before any row is read."""
        known = model.feature_columns
        matched = tuple(name for name in columns if name in known)
        absent = tuple(name for name in known if name not in columns)
        others = tuple(name for name in columns if name not in known and name != label)
        tell(self.figure, "")
        self.curve.show_ranking(None)
        at_hand = f"the label is {label!r}" if label is not None else "there is no label"
        self.sentence.setText(
            f"{len(matched):,} of {len(known):,} columns that the model knows are here; {at_hand}."
        )
        lines = [_columns("Columns matched", matched), _columns("Columns ignored", others)]
        lines += [_columns("Columns absent", absent)] if absent else []
        self.model.show_rows([Row(cells) for cells in lines])

    def show_report(
        self, report: ScoringReport, also: str = "", ranking: TableRanking | None = None
    ) -> None:
        """Show what was met.

        Parameters
        ----------
        report : ScoringReport
        also : str
            A remark on how the table was read.
        ranking : Ranking or None
            Of the rows, where they have labels of both classes.
        """
        self.curve.show_ranking(ranking)
        area = report.auc
        tell(self.figure, "" if area is None else f"AUC {figure_words(area.value)}", "figure")
        said = [f"{report.scored:,} of {report.rows:,} rows scored"]
        said.append(_area_words(report))
        if also:
            said.append(also)
        self.sentence.setText("; ".join(said) + ".")
        self.model.show_rows([Row(cells) for cells in _lines(report)])


def _area_words(report: ScoringReport) -> str:
    if report.auc is not None:
        return f"AUC 95 % {interval_words(report.auc.low, report.auc.high)}"
    return f"no AUC, as {report.without_auc or 'the table has no label'}"


def _lines(report: ScoringReport) -> Iterator[Line]:
    yield _columns("Columns matched", report.matched)
    yield _columns("Columns ignored", report.ignored)
    if report.missing:
        yield _columns("Columns absent, as allowed", report.missing)
    yield from _cells(report)
    left_out = report.rows - report.scored
    yield "Rows left out", f"{left_out:,}", _NOTHING if not left_out else ""
    for row in report.left_out:
        yield f"{_INDENT}row {row.row:,}, line {row.line:,}", "", " ".join(row.reason.split())
    if more := left_out - len(report.left_out):
        yield f"{_INDENT}and {more:,} more", "", ""


def _columns(what: str, names: tuple[str, ...]) -> Line:
    return what, f"{len(names):,}", some_names(names) if names else _NOTHING


def _cells(report: ScoringReport) -> Iterator[Line]:
    yield from _section(
        "Unseen levels",
        [(name, met.count, some_names(met.values)) for name, met in report.unseen.items()],
    )
    yield from _section(
        "Non-numeric cells",
        [
            (name, bad.count, f"{bad.text!r}{_line_words(bad.line)}; counts as missing")
            for name, bad in report.unreadable.items()
        ],
    )
    yield from _section(
        "Cells too far from training",
        [
            (far.column, far.count, f"{far.value:.6g} in row {far.row:,}; counts as missing")
            for far in report.far
        ],
    )
    yield from _section(
        "Rows without a value",
        [(name, count, "a larger share than in training") for name, count in report.gaps.items()],
    )


def _section(what: str, columns: Sequence[tuple[str, int, str]]) -> Iterator[Line]:
    yield (what, "", "") if columns else (what, "0", _NOTHING)
    for name, count, which in columns:
        yield f"{_INDENT}{name}", f"{count:,}", " ".join(which.split())


def _line_words(line: int | None) -> str:
    return "" if line is None else f" in line {line:,}"
