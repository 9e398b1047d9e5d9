"""Result of a search: model, members, comparison, simpler alternative."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QScrollArea

from aucstudio.gui.common.widgets import (
    STRETCH,
    Part,
    across,
    down,
    holding,
    label,
    named,
    primary,
    push_button,
    show_note,
)
from aucstudio.gui.pages.best.words import measure_words, rows_words, settings, title, typeset
from aucstudio.project.tournament.standings import RUNNING, Standings, Verdict

_MOST_MEMBERS = 6


class VerdictPanel(QScrollArea):
    """The result of a search in words, with its actions.

    Signals
    -------
    taken : str
        A run is preferred.
    export_asked : str
        The model of a run is to be exported.
    """

    taken = Signal(str)
    export_asked = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        named(self, "best_verdict", "Result")
        self._best = self._simpler = ""
        self.title = label("", "title", wrap=True, name="best_title")
        self.figures = label("", wrap=True, name="best_figures")
        self.rests = label("", wrap=True, name="best_rests")
        self.settles = label("", wrap=True, name="best_settles")
        self.simpler = label("", wrap=True, name="best_simpler")
        self.prefer = push_button(
            "best_prefer_button", "Prefer it", "", lambda: self.taken.emit(self._simpler)
        )
        self.export = primary(
            push_button(
                "best_export_button",
                "Export model…",
                "The model trained on all rows, with the threshold for the range",
                lambda: self.export_asked.emit(self._best),
            )
        )
        self.simpler_head = label("SIMPLER MODEL", "heading")
        parts: list[Part] = [self.title, self.figures, across(self.export, STRETCH)]
        parts += [self.simpler_head, self.simpler, across(self.prefer, STRETCH)]
        parts += [label("COMPARISON", "heading"), self.settles]
        parts += [label("MEMBERS AND ROWS", "heading"), self.rests, STRETCH]
        self.setWidget(holding(down(*parts, around=(4, 0, 8, 0))))
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)

    def show_standings(self, standings: Standings, chosen: str | None, kept: set[str]) -> None:
        """Show the result of a search.

        Parameters
        ----------
        standings : Standings
        chosen : str or None
            The run that the pages are about.
        kept : set of str
            The runs that the study holds.
        """
        best = standings.of_run(standings.best)
        self.setVisible(standings.ended != RUNNING and best is not None)
        if best is None:
            return
        self._best, self._simpler = standings.best, standings.simpler
        more = settings(best)
        self.title.setText(title(best) + (f", {more}" if more else ""))
        text = standings.verdict or Verdict("")
        figures = _capital(text.best.partition(": ")[2])
        self.figures.setText(typeset(f"{figures} {text.threshold} {text.refit}".strip()))
        self.rests.setText(typeset(_rests(standings)))
        self.settles.setText(typeset(f"{text.choice} {text.runner_up} {text.settles}".strip()))
        self._show_simpler(standings, chosen, kept)
        self.export.setEnabled(standings.best in kept)

    def _show_simpler(self, standings: Standings, chosen: str | None, kept: set[str]) -> None:
        entry = standings.of_run(standings.simpler)
        for part in (self.simpler_head, self.prefer):
            part.setVisible(entry is not None)
        show_note(self.simpler, typeset(standings.verdict.simpler if standings.verdict else ""), "")
        if entry is not None:
            is_taken = chosen == standings.simpler
            name = title(entry)
            self.prefer.setText(f"{name} is chosen" if is_taken else f"Prefer {name}")
            self.prefer.setAccessibleName(self.prefer.text())
            self.prefer.setEnabled(not is_taken and standings.simpler in kept)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _rests(standings: Standings) -> str:
    """State the rows and the members behind the result."""
    rows = (
        f"Trained on {rows_words(standings.train)} in {standings.folds} folds; tested on "
        f"{rows_words(standings.held)} that no choice has seen. Ranking criterion: "
        f"{measure_words(standings)}."
    )
    shares = [one for one in standings.members if one.weight >= 0.005]
    named = [f"{one.title} {100 * one.weight:.0f} %" for one in shares[:_MOST_MEMBERS]]
    more = len(shares) - len(named)
    if more > 0:
        named.append(f"{more} more")
    return f"{rows} Weights: {', '.join(named)}." if named else rows
