"""The sentence about the curves, worked out once; beside the window where that takes long."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject

from aucstudio.gui.common.statement import Statement
from aucstudio.gui.pages.roc.words.sentences import roc_sentence
from aucstudio.gui.state.background import Background
from aucstudio.gui.state.session import ShownRun
from aucstudio.project.runs.experiments.experiment import Band
from aucstudio.project.work.job import Job

_LONG = 20_000  # held-out scores of all runs, which are compared in some 20 ms
_SEVERAL = 3  # runs whose pairs are all compared take longer than a window can wait
_WAIT = "Comparing the runs…"


class Saying:
    """Keeps the sentence about some runs and an FPR range.

    Parameters
    ----------
    parent : QObject
        Lives as long as sentences are worked out.
    landed : callable
        Called when one has come.
    """

    def __init__(self, parent: QObject, landed: Callable[[], object]) -> None:
        self._background = Background(parent, self._land)
        self._landed = landed
        self._runs: object = None  # whom the sentence is about
        self._band: Band | None = None
        self._said = Statement()

    @property
    def busy(self) -> bool:
        """Whether a sentence is being worked out."""
        return self._background.busy

    def words(self, runs: list[ShownRun], band: Band, *, moving: bool = False) -> Statement:
        """Return the sentence, or that it is being worked out.

        While the range is ``moving``, and until a new one is there, the last one about these runs
        stays.
        """
        about = tuple((run.record, run.look.name) for run in runs)
        if about != self._runs:
            self._runs, self._band, self._said = about, None, Statement(_WAIT)
        if self._band != band and not moving:
            self._band = band
            self._begin(runs, band)
        return self._said

    def _begin(self, runs: list[ShownRun], band: Band) -> None:
        rows = sum(len(split.test_scores) for run in runs for split in run.record.splits)
        if rows <= _LONG and len(runs) < _SEVERAL:
            self._background.drop()
            self._said = roc_sentence(runs, band)
        else:
            self._background.start((self._runs, band), lambda _post: roc_sentence(runs, band))

    def _land(self, _key: object, job: Job[Any, Statement]) -> None:
        if job.error is not None:
            raise job.error
        self._said = job.result or Statement()
        self._landed()
