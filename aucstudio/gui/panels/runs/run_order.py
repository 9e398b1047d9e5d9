"""Filter, sort order and groups of the run list."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from aucstudio.gui.common.table import sorted_by
from aucstudio.gui.panels.runs.columns import COLUMNS, KEYS, RowContent
from aucstudio.gui.panels.runs.run_texts import Facts, facts_of, known_facts
from aucstudio.gui.state.session import ShownRun
from aucstudio.notices.words import runs_words

GROUPS: dict[str, tuple[str, Callable[[Facts], str]]] = {
    "": ("Not grouped", lambda facts: ""),
    "method": ("By method", lambda facts: facts.method),
    "scheme": ("By validation", lambda facts: facts.scheme),
    "table": ("By table", lambda facts: facts.table),
}


@dataclasses.dataclass(frozen=True)
class Section:
    """The head of a group of rows."""

    key: str
    count: int
    is_open: bool = True

    @property
    def title(self) -> str:
        """Text of the head."""
        return f"{'▾' if self.is_open else '▸'} {self.key} · {runs_words(self.count)}"


Row = ShownRun | Section


@dataclasses.dataclass(frozen=True)
class RunOrder:
    """Sort order, groups and filter of the runs.

    Attributes
    ----------
    column : str
        Key of the sort column; empty for the order of creation.
    descending : bool
    group : str
        Key into :data:`GROUPS`.
    needle : str
        Words that must all occur in the facts of a run.
    closed : frozenset of str
        Folded groups.
    """

    column: str = ""
    descending: bool = False
    group: str = ""
    needle: str = ""
    closed: frozenset[str] = frozenset()

    def needs_figures(self) -> bool:
        """Return whether the order depends on figures."""
        return self.column in KEYS and COLUMNS[KEYS.index(self.column)].is_figure

    def rows(
        self, runs: Sequence[ShownRun], content: Callable[[ShownRun], RowContent]
    ) -> list[Row]:
        """List the rows: runs, and the heads of their groups."""
        words = self.needle.casefold().split()
        kept = [run for run in runs if not words or _matches(run, words)]
        if self.column in KEYS:
            column = COLUMNS[KEYS.index(self.column)]
            kept = sorted_by(column, kept, content, self.descending)
        if not self.group:
            return list[Row](kept)
        groups: dict[str, list[Row]] = {}
        for run in kept:
            groups.setdefault(GROUPS[self.group][1](facts_of(run.record)), []).append(run)
        return [
            row for key in sorted(groups, key=str.casefold) for row in self._group(key, groups[key])
        ]

    def _group(self, key: str, rows: list[Row]) -> list[Row]:
        is_open = key not in self.closed
        return [Section(key, len(rows), is_open), *(rows if is_open else [])]


def _matches(run: ShownRun, words: Sequence[str]) -> bool:
    """Return whether a run matches words; a run without cached facts does not."""
    facts = known_facts(run.record)
    if facts is None:
        return False
    text = f"{run.look.name}\n{run.look.notes}".casefold()
    return all(word in text or word in facts.text for word in words)
