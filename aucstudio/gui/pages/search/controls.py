"""What is chosen above the pictures of a search: the split, and the setting across."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, QSignalBlocker, Signal

from aucstudio.gui.common.control_row import ControlRow
from aucstudio.gui.common.widgets import follow_check
from aucstudio.gui.pages.search.standing import Setting, over_splits
from aucstudio.project.runs.tuning import Search

_ALL_SPLITS = -1


class SearchControls(QObject):
    """Lists of splits and of searched settings, and whether the run in progress is followed.

    Attributes
    ----------
    changed : Signal(bool)
        Another choice; whether it is of the split.
    split_combo, along_combo : QComboBox
    follow_check : QCheckBox
    """

    changed = Signal(bool)

    def __init__(self, row: ControlRow) -> None:
        super().__init__(row)
        self._row = row
        self.split_combo = row.choice(
            "search_split_combo",
            "&Split",
            "Settings are searched in the training rows of each split",
            verb=lambda: self.changed.emit(True),
        )
        self.along_combo = row.choice(
            "search_along_combo",
            "&Across",
            "The setting on the horizontal axis",
            verb=lambda: self.changed.emit(False),
        )
        self.follow_check = row.put(follow_check("search_follow_check"))
        row.addStretch(1)

    def offer(self, searches: Sequence[Search], settings: Sequence[Setting]) -> None:
        """Offer the splits and the settings of a run; the setting across stays if it can."""
        blockers = [QSignalBlocker(combo) for combo in (self.split_combo, self.along_combo)]
        whole = sum(one.judged >= 1.0 for one in searches)
        self.split_combo.clear()
        if whole > 1:
            self.split_combo.addItem("All splits", _ALL_SPLITS)
        for k in range(len(searches)):
            self.split_combo.addItem(f"Split {k + 1}", k)
        kept = self.along_combo.currentData()
        self.along_combo.clear()
        for setting in settings:
            self.along_combo.addItem(setting.title, setting.name)
        numeric = [setting.name for setting in settings if setting.is_numeric]
        wanted = (self.along_combo.findData(name) for name in (kept, *numeric[:1]))
        self.along_combo.setCurrentIndex(next((k for k in wanted if k >= 0), 0))
        del blockers

    def show(self, shown: bool, settings: int) -> None:
        """Show the lists in which there is a choice."""
        self._row.show(shown and self.split_combo.count() > 1, self.split_combo)
        self._row.show(shown and settings > 1, self.along_combo)

    @property
    def is_over_splits(self) -> bool:
        """Whether all splits are looked at together."""
        return bool(self.split_combo.currentData() == _ALL_SPLITS)

    def search(self, searches: Sequence[Search]) -> Search:
        """Return the chosen split's search, or that over all splits."""
        k = self.split_combo.currentData()
        return over_splits(searches) if k == _ALL_SPLITS else searches[k]

    def along(self, settings: Sequence[Setting]) -> list[Setting]:
        """List the settings, that of the horizontal axis first."""
        name = self.along_combo.currentData()
        return sorted(settings, key=lambda setting: setting.name != name)
