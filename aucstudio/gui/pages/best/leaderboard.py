"""The leaderboard."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QSignalBlocker, Signal

from aucstudio.engine.inference import is_significant
from aucstudio.gui.common.table import Row, SheetTable, worded_columns
from aucstudio.gui.common.theme import scaled
from aucstudio.gui.pages.best.words import (
    estimate_words,
    settings,
    short_measure,
    title,
    why_lower,
    why_untested,
)
from aucstudio.notices import text
from aucstudio.notices.words import figure_words, range_words, seconds_words
from aucstudio.project.tournament.standings import (
    COMBINATION,
    JUDGED,
    LEFT,
    READY,
    RUNNING,
    TRAINS,
    UNABLE,
    WAITS,
    Standing,
    Standings,
)

HEADS, _TIPS = worded_columns("best_table")
_LINE = 24
_SETTINGS, _AREA, _OPTIMISM, _TIME, _STATE = 1, 4, 5, 6, 7
# What is hidden where there is no room, with intervals and then without them.
_WAYS = {True: (_TIME, _OPTIMISM), False: (_TIME, _OPTIMISM, _AREA, _SETTINGS)}
_LEAST, _SHARE = 3, 0.42  # lines; of the page


class Leaderboard(SheetTable):
    """Entries in rows, the best first; one of them is chosen.

    Attributes
    ----------
    chosen : Signal
        Another row is.
    entry : Standing or None
        That of the chosen row.
    """

    chosen = Signal()

    def __init__(self) -> None:
        words = 0, _SETTINGS, _STATE
        super().__init__(
            "best_table", "Leaderboard", HEADS, _LINE, _SETTINGS, tips=_TIPS, words=words
        )
        self.horizontalHeader().setMinimumSectionSize(scaled(44))
        self._standings: Standings | None = None
        self._method = ""
        self.selectionModel().currentRowChanged.connect(self._on_row)
        self.hidden_button.toggled.connect(lambda _open: self._refit())

    @property
    def _entries(self) -> tuple[Standing, ...]:
        return () if self._standings is None else self._standings.entries

    @property
    def entry(self) -> Standing | None:
        """The entry of the chosen row."""
        return next((one for one in self._entries if one.method == self._method), None)

    def show_standings(self, standings: Standings) -> None:
        """Show entries; keep the chosen method selected."""
        self._standings = standings
        self.unneeded = () if standings.fpr_range else (_AREA,)  # the criterion is the AUC itself
        for intervals, self.rarer in _WAYS.items():
            self._show_rows(standings, intervals)
            if self.fit_columns():
                break

    def _show_rows(self, standings: Standings, intervals: bool) -> None:
        rows = [
            Row(
                cells(one, standings, intervals),
                strong=bool(one.run) and one.run == standings.best,
                tips={_STATE: why} if (why := _why(one, standings)) else {},
            )
            for one in standings.entries
        ]
        named = _heads(standings)
        if (rows, named) != (self.sheet.rows, self.sheet.heads):
            with QSignalBlocker(self.selectionModel()):
                self.show_rows(rows, named)
                self.choose(self._method)

    def choose(self, method: str) -> None:
        """Select the row of a method."""
        for row, entry in enumerate(self._entries):
            if entry.method == method:
                self.selectRow(row)

    def fit_page(self, height: int, room: int) -> None:
        """Fit the height to the entries, up to a share of the page height and to the room.

        On a low page, which scrolls, all entries are shown.
        """
        self._refit()
        self.updateGeometries()  # a list whose columns fit loses its scroll bar now, not later
        lines = int(_SHARE * height / scaled(_LINE)) - 1
        room -= self.horizontalHeader().sizeHint().height()
        lines, every = min(lines, room // scaled(_LINE)), len(self._entries)
        self.fit_rows(*((_LEAST, lines) if lines >= _LEAST else (every, every)))
        self._refit()  # widths are those of the rows in sight

    def _refit(self) -> None:
        if self._standings is not None:
            self.show_standings(self._standings)

    def _on_row(self, index: QModelIndex) -> None:
        if index.isValid():
            self._method = self._entries[index.row()].method
            self.chosen.emit()


def _heads(standings: Standings) -> tuple[str, ...]:
    """Return the heads of the columns, which name the criterion and the range."""
    named, criterion = list(HEADS), short_measure(standings)
    named[2:4] = [f"{head}\n{criterion}" for head in HEADS[2:4]]
    if standings.fpr_range is not None:
        named[_AREA] = f"Held-out pAUC {range_words(standings.fpr_range)}"
    return tuple(named)


def cells(entry: Standing, standings: Standings, intervals: bool = True) -> tuple[str, ...]:
    """Write the line of an entry, as HEADS names its cells."""
    found, optimism = (entry.inner, entry.held_out, entry.area), entry.optimism
    return (
        title(entry),
        settings(entry) or ("default" if entry.inner is not None else "–"),
        *(estimate_words(one, intervals=intervals) for one in found),
        "–" if optimism is None else figure_words(optimism, "+"),
        seconds_words(entry.seconds) if entry.seconds else "–",
        _state(entry, standings),
    )


def _why(entry: Standing, standings: Standings) -> str:
    """Explain the state of an entry where it needs a reason."""
    is_best = entry.run and entry.run == standings.best
    return why_lower(standings)[1] if is_best else why_untested(entry)


def _state(entry: Standing, standings: Standings) -> str:
    """Describe the progress of an entry, or its distance from the best."""
    is_ready, lead = entry.state in (READY, JUDGED), entry.behind
    if entry.state == UNABLE:
        return f"{UNABLE}: {entry.why.removeprefix('it ')}"
    if standings.ended == RUNNING or not is_ready:
        waits = "comes last" if entry.method == COMBINATION else "waits"
        left = "not finished" if entry.tried else "not begun"
        ready = f"ready, {entry.tried} tried" if entry.tried > 1 else "ready"
        states = {WAITS: waits, TRAINS: "in training", LEFT: left, READY: ready, JUDGED: "tested"}
        return states.get(entry.state, entry.state)
    if entry.run and entry.run == standings.best:
        return text("best_rule", rule=why_lower(standings)[0])
    if not entry.run:
        return "not tested"
    if lead is None or lead.p is None:
        return "too few rows to test"
    if not is_significant(lead.p):
        return "not significant"
    return text("best_behind", behind=lead.difference > 0, p=lead.p)
