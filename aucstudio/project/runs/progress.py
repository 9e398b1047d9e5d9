"""Progress of a run: steps and evaluations."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
import scipy
from numpy.typing import NDArray

from aucstudio.engine.monitor import Step
from aucstudio.engine.scorers import EnsembleScorer, Scorer
from aucstudio.notices import text
from aucstudio.project.data.preparing.preparation import Preparation
from aucstudio.project.runs.record import (
    TRAINING,
    ScoresDuringTraining,
    SplitResult,
    Stage,
    TrainingCurve,
    Trajectory,
)
from aucstudio.project.runs.tuning import Search

if TYPE_CHECKING:
    from aucstudio.project.runs.rows import PreparedRows

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

# The scores of a fit are stored at fixed iterations: the first ones, then each a quarter further
# on, which makes 39 for 10,000 iterations and 60 for a million. They are the same in every run of
# the same fit, on every machine.
_GROWTH = 1.25
# Evaluations for live pictures come in between and are not stored. Each costs a pass over some rows
# and at most 1/26 of the time is spent on them. Within that limit they come 15 times a second: one
# of less than 3.8 ms is reported at least ten times a second.
_LOOK_EVERY = 1 / 15
_LOOK_SHARE = 25.0
_HELD_ROWS, _TRAIN_ROWS = 2_000, 1_000
# Of thousands of steps a second few are reported; the curve keeps all of them.
REPORT_EVERY = 1 / 500
MOST_LOOKS = 64  # evaluations that a fit stores
RECORD_BYTES = 16_000_000  # of the stored evaluations of all fits


@dataclasses.dataclass(frozen=True, eq=False)
class Look:
    """Scores of the current scorer on the held-out rows, or on a sample of them.

    Attributes
    ----------
    positive : ndarray of bool
    scores : ndarray of float
    scorer : Scorer
    iteration : int
    seconds : float
        Time in this fit so far, without evaluations.
    train_positive, train_scores : ndarray
        Of a sample of the training rows.
    weights, train_weights : ndarray or None
        Weights of the rows; None if every row counts once.
    """

    positive: Mask
    scores: Array
    scorer: Scorer
    iteration: int = 0
    seconds: float = 0.0
    train_positive: Mask = dataclasses.field(default_factory=lambda: np.empty(0, dtype=bool))
    train_scores: Array = dataclasses.field(default_factory=lambda: np.empty(0))
    weights: Array | None = None
    train_weights: Array | None = None


@dataclasses.dataclass(frozen=True)
class RemoteProgress:
    """Progress of a run on workers, which do several fits at a time.

    Attributes
    ----------
    fraction : float
        Share of its tasks that have ended.
    finished : int
        Number of splits that have ended.
    where : str
        For example "on 2 workers of tcp://…".
    """

    fraction: float
    finished: int
    where: str


@dataclasses.dataclass(frozen=True, eq=False)
class Progress:
    """A progress message of a run.

    Attributes
    ----------
    split, splits : int
        Number of the current fit (from 0), and of all fits.
    step : Step or None
        The engine's step, without its scorer.
    seconds : float
        Time in this fit so far, without evaluations.
    look : Look or None
        Present a few times a second.
    finished : SplitResult or None
        Present once, at the end of each fit that the run keeps.
    preparation : Preparation or None
        None if the fits are done by workers.
    search : Search or None
        The current state of a search of settings.
    remote : RemoteProgress or None
        Present if the fits are done by workers.
    fit_of : str
        What each of several fits is made for.
    """

    split: int
    splits: int
    step: Step | None
    seconds: float
    preparation: Preparation | None
    look: Look | None = None
    finished: SplitResult | None = None
    search: Search | None = None
    remote: RemoteProgress | None = None
    fit_of: str = "split"

    def describe(self, names: Mapping[str, str] | None = None) -> tuple[float | None, str]:
        """Return the fraction of the run that is done, and the current step as text.

        ``names`` replaces names of settings.
        """
        search, step, several = self.search, self.step, self.splits > 1
        if self.remote is not None:
            far = self.remote
            done = f"{far.finished} of {self.splits} splits" if several else ""
            tuning = (
                search.describe_progress(names) if search and search.fraction_done < 1.0 else ""
            )
            doing = ", ".join(filter(None, (done, tuning))) or "training"
            return far.fraction, f"{doing} {far.where}"
        place = f"{self.fit_of} {self.split + 1} of {self.splits}" if several else ""
        if search is not None:
            inside, words = search.fraction_done, search.describe_progress(names)
        elif step is None and self.split + 1 == self.splits:
            # After the last fit come its figures, whose intervals can take long.
            return None, ", ".join(filter(None, (place, "computing intervals")))
        elif step is None:
            inside, words = 1.0, ""
        else:
            known = step.fraction is not None and step.iteration > 0
            inside = (step.fraction or 0.0) if known else 0.0
            iterates = step.iteration and step.stage == Step.stage
            words = f"iteration {step.iteration}" if iterates else step.stage
            if not (known or several):
                return None, words
        return (self.split + inside) / self.splits, ", ".join(filter(None, (place, words)))

    def describe_refit(self) -> tuple[float | None, str]:
        """Return the fraction of a refit that is done, or of its stage, and the step as text."""
        fraction, words = self.describe()
        if fraction is None and self.step is not None:
            fraction = self.step.fraction
        return fraction, text("refitting", step=words)


Listener = Callable[[Progress], object]
ProgressCallback = Callable[[Progress], bool]


class Watch:
    """The engine's callback: stores the course of a fit, evaluates the scorer, forwards a stop.

    Stored are every step, and the scores of the same rows at no more than 64 fixed iterations (see
    :func:`following`): of at most 2,000 held-out rows and 1,000 training rows in single precision,
    0.8 MB a fit. A run of many fits stores fewer evaluations of each, so that its record holds at
    most 16 MB of scores (beyond some 650 fits two evaluations each).

    Parameters
    ----------
    report : callable
        Receives a :class:`Progress`; returns whether to stop.
    k, count : int
        Number of the fit, and of all fits.
    preparation : Preparation
    train : PreparedRows
        Rows of the fit.
    held : PreparedRows or None
        Held-out rows; None if every row trains. Then no picture is reported, since it would be
        optimistic.
    """

    def __init__(
        self,
        report: ProgressCallback,
        k: int,
        count: int,
        preparation: Preparation,
        train: PreparedRows,
        held: PreparedRows | None,
    ) -> None:
        self._report, self._k, self._count, self._preparation = report, k, count, preparation
        self._samples = _Samples(train, held)
        self._looks: Thinned[_Scored] = Thinned(self._samples.most_looks(count))
        self._stages = StageLog()
        self._steps: list[tuple[int, float, float, float]] = []
        self._due = 1
        self._kept: tuple[Scorer, Array] | None = None
        self._began = time.perf_counter()
        self._watching = 0.0
        self._next_look = self._next_report = 0.0

    def __call__(self, step: Step) -> bool:
        entered = time.perf_counter()
        seconds = self.seconds()
        self._stages.add(step, seconds)
        if step.iteration > 0 and step.objective is not None and not step.is_partial:
            gap = np.nan if step.gap is None else step.gap
            self._steps.append((step.iteration, seconds, step.objective, gap))
        look = self._look(step, seconds, is_frame=entered >= self._next_look)
        stop = False
        if look is not None or step.iteration == 0 or entered >= self._next_report:
            self._next_report = entered + REPORT_EVERY
            stop = self._send(dataclasses.replace(step, scorer=None), seconds, look)
        self._watching += time.perf_counter() - entered
        return stop

    def _look(self, step: Step, seconds: float, *, is_frame: bool) -> Look | None:
        """Evaluate the scorer to store its scores, or for a picture; return the picture."""
        is_kept = step.iteration >= self._due and not step.is_partial
        if step.scorer is None or not (is_frame or is_kept):
            return None
        began = time.perf_counter()
        scorer, samples = step.scorer(), self._samples
        scores = self._score(scorer)
        held, train = samples.split(scores)
        if is_kept:
            self._kept = scorer, scores
            self._looks.add(_Scored(step.iteration, seconds, _single(train), _single(held)))
            self._due = following(step.iteration)
        if not is_frame:
            return None
        took = time.perf_counter() - began
        self._next_look = began + max(_LOOK_EVERY, (_LOOK_SHARE + 1.0) * took)
        if not len(held):
            return None
        shown = samples.held.positive, held, scorer, step.iteration, seconds
        weights = samples.held.weights, samples.train.weights
        return Look(*shown, samples.train.positive, train, *weights)

    def _score(self, scorer: Scorer) -> Array:
        """Score the evaluated rows; of an ensemble, only the trees that were added since."""
        if self._kept is not None and isinstance(scorer, EnsembleScorer):
            before, scores = self._kept
            if isinstance(before, EnsembleScorer):
                extended = scorer.extended(before, scores, self._samples.rows)
                if extended is not None:
                    return extended
        return scorer(self._samples.rows)

    def _send(
        self, step: Step | None, seconds: float, look: Look | None, done: SplitResult | None = None
    ) -> bool:
        message = Progress(self._k, self._count, step, seconds, self._preparation, look, done)
        return self._report(message)

    def pulse(self, stage: str, fraction: float) -> None:
        """Report the scoring that follows the fit."""
        self._send(Step(0, stage=stage, fraction=fraction), self.seconds(), None)

    def report_finished(self, result: SplitResult) -> None:
        """Report the end of the fit."""
        self._send(None, result.fit_seconds, None, result)

    def seconds(self) -> float:
        """Seconds since the fit began, without evaluations."""
        return time.perf_counter() - self._began - self._watching

    def curve(self) -> TrainingCurve:
        """Return the steps so far."""
        columns = np.array(self._steps, dtype=np.float64).reshape(-1, 4)
        iteration = columns[:, 0].astype(np.int64)
        stages = self._stages.stages()
        return TrainingCurve(iteration, columns[:, 1], columns[:, 2], columns[:, 3], stages)

    def trajectory(self, train_scores: Array, held_scores: Array) -> Trajectory:
        """Return the stored evaluations, the last of the final scorer.

        Parameters
        ----------
        train_scores, held_scores : ndarray
            Of all rows, by the final scorer.
        """
        samples = self._samples
        iteration, seconds = self._steps[-1][:2] if self._steps else (1, self.seconds())
        scored = [look for look in self._looks if look.iteration < iteration]
        train, held = train_scores[samples.train.places], held_scores[samples.held.places]
        scored.append(_Scored(iteration, seconds, _single(train), _single(held)))
        return Trajectory(
            np.array([look.iteration for look in scored], dtype=np.int64),
            np.array([look.seconds for look in scored]),
            samples.train.course([look.train for look in scored]),
            samples.held.course([look.held for look in scored]),
        )


def following(iteration: int) -> int:
    """Return the next iteration at which scores are stored."""
    return max(iteration + 1, math.ceil(_GROWTH * iteration))


@dataclasses.dataclass(frozen=True, eq=False)
class _Scored:
    """A stored evaluation."""

    iteration: int
    seconds: float
    train: NDArray[np.float32]
    held: NDArray[np.float32]


@dataclasses.dataclass(frozen=True, eq=False)
class _Sample:
    """Some of the rows of a part: their positions, classes and weights."""

    places: NDArray[np.intp]
    positive: Mask
    weights: Array | None

    @classmethod
    def of(cls, rows: PreparedRows | None, most: int) -> _Sample:
        """Choose rows; none if there are none."""
        if rows is None:
            return cls(np.empty(0, dtype=np.intp), np.empty(0, dtype=bool), None)
        places = balanced_rows(rows.positive, most)
        weights = None if rows.weights is None else rows.weights[places]
        return cls(places, rows.positive[places], weights)

    def course(self, scores: list[Floats]) -> ScoresDuringTraining:
        """Return their scores at several evaluations."""
        return ScoresDuringTraining(self.positive, np.stack(scores), self.weights)


class _Samples:
    """Rows on which a scorer is evaluated during training, held-out rows first."""

    def __init__(self, train: PreparedRows, held: PreparedRows | None) -> None:
        self.train, self.held = _Sample.of(train, _TRAIN_ROWS), _Sample.of(held, _HELD_ROWS)
        self.rows: Any = train.X[self.train.places]
        if held is not None:
            self.rows = _beneath(held.X[self.held.places], self.rows)

    def split(self, scores: Array) -> tuple[Array, Array]:
        """Split the scores of ``rows`` into those of the held-out rows and of training rows."""
        return scores[: len(self.held.places)], scores[len(self.held.places) :]

    def most_looks(self, fits: int) -> int:
        """Return how many evaluations each of so many fits may store."""
        each = np.dtype(np.float32).itemsize * int(self.rows.shape[0])
        return max(2, min(MOST_LOOKS, RECORD_BYTES // (each * fits)))


def held_sample(positive: Mask) -> NDArray[np.intp]:
    """Choose the held-out rows to evaluate during training, as indices."""
    return balanced_rows(positive, _HELD_ROWS)


def _beneath(above: Any, below: Any) -> Any:
    if isinstance(above, np.ndarray):
        return np.concatenate([above, below])
    return scipy.sparse.vstack([above, below], format="csr")


def _single(scores: Array) -> NDArray[np.float32]:
    largest = np.finfo(np.float32).max
    return np.clip(scores, -largest, largest).astype(np.float32)


Floats = NDArray[np.float32]
Item = TypeVar("Item")


class Thinned(Generic[Item]):
    """At most ``limit`` items of a growing series, evenly spaced, the last one included.

    Whenever there are too many, every second item is dropped.

    Parameters
    ----------
    limit : int
        At least 2.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept: list[Item] = []
        self._last: list[Item] = []
        self._stride, self._count = 1, 0

    def add(self, item: Item) -> None:
        """Append an item."""
        self._last = [item]
        if self._count % self._stride == 0:
            self._kept.append(item)
            self._last = []
            if len(self._kept) >= self._limit:
                self._last = [] if len(self._kept) % 2 else [item]
                self._kept = self._kept[::2]
                self._stride *= 2
        self._count += 1

    def __iter__(self) -> Iterator[Item]:
        return iter([*self._kept, *self._last])

    def __len__(self) -> int:
        return len(self._kept) + len(self._last)


class StageLog:
    """Derives stages from steps: those before the first iteration, then training.

    A stage that returns between iterations is a part of training.
    """

    def __init__(self) -> None:
        self._before: list[Stage] = []
        self._training: Stage | None = None
        self._last = ""

    def add(self, step: Step, seconds: float) -> None:
        """Record one step."""
        if step.iteration > 0:
            self._begin_training(seconds)
        elif self._training is None:
            if step.stage != self._last:
                self._before.append(Stage(step.stage, seconds))
        else:
            self._take_back(step.stage)
        self._last = step.stage

    def stages(self) -> tuple[Stage, ...]:
        """Return the stages in order."""
        return (*self._before, self._training) if self._training else tuple(self._before)

    def _begin_training(self, seconds: float) -> None:
        # The first iteration is reported when it is done: without a stage before it, training
        # began with the fit.
        if self._training is None:
            self._training = Stage(TRAINING, seconds if self._before else 0.0)

    def _take_back(self, name: str) -> None:
        for k, stage in enumerate(self._before):
            if stage.name == name:
                self._training = Stage(TRAINING, stage.seconds if k else 0.0)
                del self._before[k:]
                return


def balanced_rows(positive: Mask, most: int) -> NDArray[np.intp]:
    """Choose at most so many rows, evenly spaced within each class, the classes balanced."""
    if len(positive) <= most:
        return np.arange(len(positive))
    classes = np.flatnonzero(positive), np.flatnonzero(~positive)
    smaller = min(most // 2, *map(len, classes))
    parts = []
    for rows in classes:
        size = smaller if len(rows) == min(map(len, classes)) else most - smaller
        parts.append(rows[np.linspace(0, len(rows) - 1, size).astype(np.intp)])
    return np.sort(np.concatenate(parts))
