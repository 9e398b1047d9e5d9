"""Figures of listed runs, computed in the background, visible ones first."""

from __future__ import annotations

import dataclasses
import math
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from PySide6.QtCore import QObject, Signal

from aucstudio.engine import roc
from aucstudio.gui.state.background import Background
from aucstudio.gui.state.timers import delayed
from aucstudio.project.results.summary import (
    Summary,
    auc_summary,
    pauc_summary,
    ranking,
    train_auc,
)
from aucstudio.project.runs.experiments.experiment import Band
from aucstudio.project.runs.record import RunRecord

_NOTHING = Summary(math.nan, math.nan, math.nan)


@dataclasses.dataclass(frozen=True)
class RowFigures:
    """What the list shows of a run's results.

    Attributes
    ----------
    area, part : Summary
        Held-out AUC, and normalised partial AUC in the range.
    gap : float
        By how much the AUC is higher on the training rows.
    tpr : float
        Held-out TPR at the end of the range, the mean over splits.
    """

    area: Summary = _NOTHING
    part: Summary = _NOTHING
    gap: float = math.nan
    tpr: float = math.nan


def row_figures(record: RunRecord, band: Band) -> RowFigures:
    """Compute what the list shows of a run."""
    if not record.splits:
        return RowFigures()
    area = auc_summary(record)
    tpr = [float(roc.tpr_at(ranking(split).curve, band[1])) for split in record.splits]
    gap = train_auc(record) - area.value
    return RowFigures(area, pauc_summary(record, band), gap, float(np.mean(tpr)))


class RunValues(QObject):
    """Caches figures of runs for the present range; notifies when they are available.

    Parameters
    ----------
    parent : QObject
    compute : callable
        Of a record and a range; called on a thread.
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
        self._wanted: dict[RunRecord, None] = {}  # the last is the first to be computed
        self._done: deque[tuple[RunRecord, Band, Any]] = deque()
        self._work = Background(self, lambda *_: self._take_in(), lambda _post: self._take_in())
        self._begin = delayed(self, 0, self._start)

    @property
    def busy(self) -> bool:
        """Whether something that was asked for is still to come."""
        return bool(self._wanted or self._done) or self._work.busy

    def of(self, record: RunRecord) -> Any:
        """Return the value of a run, that of another range until the right one is there.

        None where there is none yet; in both cases the right one is asked for.
        """
        known = self._known.get(record)
        if known is None or known[0] != self.band:
            self.ask((record,))
        return None if known is None else known[1]

    def known(self, record: RunRecord) -> Any:
        """Return what :meth:`of` gives, and ask for nothing."""
        known = self._known.get(record)
        return None if known is None else known[1]

    def is_current(self, record: RunRecord) -> bool:
        """Return whether what is known of a run is of the present range."""
        known = self._known.get(record)
        return known is not None and known[0] == self.band

    def ask(self, records: Iterable[RunRecord]) -> None:
        """Request values, the last one first, before what was asked earlier."""
        for record in records:
            if not self.is_current(record):
                self._wanted.pop(record, None)
                self._wanted[record] = None
        if self._wanted and not self._work.busy:
            self._begin.start()

    def set_band(self, band: Band) -> None:
        """Change the range; drop pending requests that are no longer shown."""
        self.band = band
        self._wanted.clear()

    def _start(self) -> None:
        if self._wanted and not self._work.busy:
            self._work.start(self.band, self._run)

    def _run(self, post: Callable[[None], bool]) -> None:
        while self._wanted:
            try:
                record, _ = self._wanted.popitem()
            except KeyError:  # the window has taken the last one back
                return
            band = self.band
            try:
                found = self._compute(record, band)
            except ValueError:  # damaged scores are told of when the project is read through
                found = None
            self._done.append((record, band, found))
            if post(None):
                return

    def _take_in(self) -> None:
        came = []
        while self._done:
            record, band, found = self._done.popleft()
            self._known[record] = band, found
            came.append(record)
        if came:
            self.arrived.emit(came)
        if self._wanted and not self._work.busy:
            self._begin.start()
