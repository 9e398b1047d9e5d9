"""The table of figures: a line for each checked run and map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QModelIndex, Qt, Signal

from aucstudio.gui.common.table import Row, SheetModel, TableView
from aucstudio.gui.common.theme import scaled
from aucstudio.gui.state.session import ShownRun
from aucstudio.project.results.calibration import TITLES, JudgedMaps
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.words import figure_words

# On two lines, so that the names of runs have the room.
_HEADS = ("Run", "By", "Brier", "Miscali-\nbration", "Discrimi-\nnation", "Log\nscore", "ECE")
_TIPS = {
    1: "How scores were made probabilities; None: they are read as log-odds",
    2: "Brier score: mean squared distance of the probability from 1 for positives and 0 for "
    "negatives; less is better",
    3: "Miscalibration: the part of the Brier score that a better calibration would take away",
    4: "Discrimination: what the ranking gains in the Brier score over giving each row the same "
    "probability",
    5: "Log score: mean of −ln of the probability given to what came true; less is better",
    6: "Expected calibration error: mean distance of share and probability over the bins. Chance "
    "alone keeps it above 0",
}
_HEIGHT, _LEAST = 190, 100  # pixels
_SHARE = 0.3  # of the page: the pictures come first

Found = Mapping[tuple[RunRecord, str], JudgedMaps | str]


class CalibrationTable(TableView):
    """Figures of the checked runs with every map.

    Attributes
    ----------
    chosen : Signal(str, str)
        The run and the map of a line that was clicked.
    sheet : SheetModel
    """

    chosen = Signal(str, str)

    def __init__(self) -> None:
        self.sheet = SheetModel(_HEADS, _TIPS, (0, 1), None)
        super().__init__("calibration_table", "Figures of the probabilities", self.sheet, 26, 0)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)  # names differ at their ends
        self._places: list[tuple[str, str]] = []
        self.clicked.connect(self._on_click)

    def fit_page(self, height: int) -> None:
        """Leave most of a page of this height to the pictures."""
        self.setFixedHeight(max(scaled(_LEAST), min(scaled(_HEIGHT), int(_SHARE * height))))

    def show_figures(self, runs: Sequence[ShownRun], found: Found, chosen: str) -> None:
        """Show the figures that are there; those with the chosen map stand out."""
        rows, self._places = [], []
        for run in runs:
            for kind, title in TITLES.items():
                short = title.partition(":")[0]
                one = found.get((run.record, kind))
                if isinstance(one, JudgedMaps):
                    cells = (run.look.name, short, *_figures(one))
                    rows.append(Row(cells, run.look, strong=kind == chosen))
                    self._places.append((run.record.id, kind))
        self.sheet.show_rows(rows)

    def _on_click(self, index: QModelIndex) -> None:
        self.chosen.emit(*self._places[index.row()])


def _figures(one: JudgedMaps) -> tuple[str, ...]:
    brier = one.brier
    values = (brier.value, brier.miscalibration, brier.discrimination, one.log.value, one.error)
    return tuple("–" if value != value else figure_words(value) for value in values)
