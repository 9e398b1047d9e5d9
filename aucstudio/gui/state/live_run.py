"""A running run."""

from __future__ import annotations

import dataclasses
import time

import numpy as np

from aucstudio.gui.state.plan import RunLook
from aucstudio.gui.state.project_handle import ProjectHandle
from aucstudio.project.data.preparing.preparation import Preparation
from aucstudio.project.runs.experiments.experiment import Experiment
from aucstudio.project.runs.progress import Look, Progress, StageLog, Thinned
from aucstudio.project.runs.tuning import Search, symbols

_MOST_LOOKS = 128


def _no_looks() -> Thinned[Look]:
    return Thinned(_MOST_LOOKS)


@dataclasses.dataclass(eq=False)
class LiveRun:
    """A running run, as reported so far.

    Attributes
    ----------
    experiment : Experiment
    look : RunLook
        Its name and colour.
    home : ProjectHandle or None
        Where it will be stored.
    split, splits : int
    points : list of (iteration, seconds, objective, gap)
        Of the present fit.
    picture : Look or None
        Latest picture of the scorer.
    looks : Thinned of Look
        A bounded number of pictures of the present fit.
    stages : StageLog
        Of the present fit.
    preparation : Preparation or None
        Of the present fit.
    search : Search or None
        The present or the last search for settings.
    stopping : bool
    """

    experiment: Experiment
    look: RunLook
    home: ProjectHandle | None = None
    split: int = 0
    splits: int = 1
    points: list[tuple[int, float, float, float]] = dataclasses.field(default_factory=list)
    picture: Look | None = None
    looks: Thinned[Look] = dataclasses.field(default_factory=_no_looks)
    stages: StageLog = dataclasses.field(default_factory=StageLog)
    preparation: Preparation | None = None
    search: Search | None = None
    stopping: bool = False
    began: float = dataclasses.field(default_factory=time.monotonic)
    _latest: Progress | None = None

    def update(self, progress: Progress) -> None:
        """Handle one message of the job."""
        if progress.split != self.split:
            self.split, self.points, self.picture = progress.split, [], None
            self.looks, self.stages = _no_looks(), StageLog()
        self.splits, self.preparation = progress.splits, progress.preparation
        self._latest = progress
        if progress.search is not None:
            self.search = progress.search
        step = progress.step
        if step is not None:
            self.stages.add(step, progress.seconds)
        if step is not None and step.iteration > 0 and step.objective is not None:
            gap = np.nan if step.gap is None else step.gap
            self.points.append((step.iteration, progress.seconds, step.objective, gap))
        if progress.look is not None:
            self.picture = progress.look
            self.looks.add(progress.look)

    @property
    def fraction(self) -> float | None:
        """Share of the run that is done."""
        return self._progress()[0]

    @property
    def words(self) -> str:
        """What the run is doing."""
        return self._progress()[1]

    def _progress(self) -> tuple[float | None, str]:
        # Only the last of thousands of messages a second is worded.
        if self._latest is None:
            return None, "starting"
        return self._latest.describe(symbols(self.experiment.method))

    def seconds_left(self) -> float | None:
        """Estimate the time to go, once a share of the run is done."""
        if self.fraction is None or self.fraction < 0.02:
            return None
        return (time.monotonic() - self.began) * (1.0 / self.fraction - 1.0)
