"""Figures of listed runs, computed in the background, visible ones first."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from weakref import WeakKeyDictionary

from PySide6.QtCore import QObject, Signal

from aucstudio.gui.state.background import Background
from aucstudio.gui.state.timers import delayed
from aucstudio.project.results.summary import (
    WHOLE,
    Summary,
    auc_summary,
    band_negatives,
    measures,
    pauc_summary,
    tpr_summary,
    train_auc,
)
from aucstudio.project.runs.experiments.experiment import Band
from aucstudio.project.runs.record import RunRecord


@dataclasses.dataclass(frozen=True)
class RunFigures:
    """The held-out figures of one run for one range.

    Attributes
    ----------
    band : (float, float)
    area, part, tpr : Summary
        AUC, normalised partial AUC in the range, and TPR at the end of the range.
    training : float
        AUC on the training rows.
    measures : mapping of str to float
    negatives : int
        Number in the range, in the smallest split.
    """

    band: Band
    area: Summary
    part: Summary
    tpr: Summary
    training: float
    measures: Mapping[str, float]
    negatives: int

    @property
    def gap(self) -> float:
        """By how much the AUC is higher on the training rows."""
        return self.training - self.area.value

    @property
    def has_range(self) -> bool:
        """Whether the range is only a part of the curve."""
        return self.band != WHOLE

    @property
    def headline(self) -> Summary:
        """The main figure: the partial AUC if a range is set."""
        return self.part if self.has_range else self.area


def run_figures(record: RunRecord, band: Band) -> RunFigures:
    """Compute the figures of a run with at least one finished split."""
    return RunFigures(
        band,
        auc_summary(record),
        pauc_summary(record, band),
        tpr_summary(record, band[1]),
        train_auc(record),
        measures(record, WHOLE),
        band_negatives(record, band),
    )


class RunValues(QObject):
    """Computes and caches values of runs for the present range.

    Parameters
    ----------
    parent : QObject
    compute : callable
        Called with a record and a range on a thread.
    band : (float, float)

    Attributes
    ----------
    arrived : Signal(list of RunRecord)
    """

    arrived = Signal(object)

    def __init__(
        self, parent: QObject, compute: Callable[[RunRecord, Band], Any], band: Band
    ) -> None:
        super().__init__(parent)
        self.band = band
        self._compute = compute
        self._known: WeakKeyDictionary[RunRecord, tuple[Band, Any]] = WeakKeyDictionary()
        self._requested: dict[RunRecord, None] = {}  # the last one is computed first
        self._done: deque[tuple[RunRecord, Band, Any]] = deque()
        # Several start in one turn of the event loop, so none waits for its first result.
        finished, report = (lambda *_: self._on_computed()), (lambda _message: self._on_computed())
        self._work = Background(self, finished, report, patience=0.0)
        self._begin = delayed(self, 0, self._start)

    @property
    def busy(self) -> bool:
        """Whether a requested value is being computed."""
        return bool(self._requested or self._done) or self._work.busy

    def of(self, record: RunRecord) -> Any:
        """Return the value of a run and request it if necessary.

        Until it is computed, the value is that of an earlier range, or None.
        """
        known = self._known.get(record)
        if known is None or known[0] != self.band:
            self.ask((record,))
        return None if known is None else known[1]

    def known(self, record: RunRecord) -> Any:
        """Return the value of a run without a request."""
        known = self._known.get(record)
        return None if known is None else known[1]

    def is_current(self, record: RunRecord) -> bool:
        """Return whether the value of a run is of the present range."""
        known = self._known.get(record)
        return known is not None and known[0] == self.band

    def ask(self, records: Iterable[RunRecord]) -> None:
        """Request values, the last one first, before earlier requests."""
        for record in records:
            if not self.is_current(record):
                self._requested.pop(record, None)
                self._requested[record] = None
        if self._requested and not self._work.busy:
            self._begin.start()

    def set_band(self, band: Band) -> None:
        """Change the range and withdraw all requests."""
        self.band = band
        self._requested.clear()

    def _start(self) -> None:
        if self._requested and not self._work.busy:
            self._work.start(self.band, self._run)

    def _run(self, post: Callable[[None], bool]) -> None:
        while self._requested:
            try:
                record, _ = self._requested.popitem()
            except KeyError:  # the window has withdrawn the last request
                return
            band = self.band
            try:
                found = self._compute(record, band)
            except ValueError:  # damaged scores are reported when the project is checked
                found = None
            self._done.append((record, band, found))
            if post(None):
                return

    def _on_computed(self) -> None:
        came = []
        while self._done:
            record, band, found = self._done.popleft()
            self._known[record] = band, found
            came.append(record)
        if came:
            self.arrived.emit(came)
        if self._requested and not self._work.busy:
            self._begin.start()
