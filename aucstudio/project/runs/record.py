"""Record of a run: immutable; all figures are computed from its scores."""

from __future__ import annotations

import dataclasses
import datetime
import functools
import platform
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from importlib import metadata
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from aucstudio import __version__
from aucstudio.engine import DECLARED, roc
from aucstudio.engine.params import declared_params
from aucstudio.notices import Notice, notice
from aucstudio.project.data.validation import FILE, FORWARD
from aucstudio.project.runs.experiment import Experiment
from aucstudio.project.runs.model import Model
from aucstudio.project.runs.tuning import Search

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

DONE, STOPPED, FAILED = "done", "stopped", "failed"
TRAINING = "training"


@dataclasses.dataclass(frozen=True, eq=False)
class TrainingCurve:
    """The steps of one fit, as arrays of equal length.

    Attributes
    ----------
    iteration : ndarray of int
    seconds, objective, gap : ndarray of float
        ``gap`` is NaN if the method has no certificate.
    stages : tuple of Stage
    """

    iteration: NDArray[np.int64]
    seconds: Array
    objective: Array
    gap: Array
    stages: tuple[Stage, ...] = ()


@dataclasses.dataclass(frozen=True, eq=False)
class SplitResult:
    """One fit and its held-out scores.

    A stored result reads its arrays, model and trajectory at first use, which raises InputError if
    they are damaged.

    Attributes
    ----------
    repeat, fold : int
    train_rows, test_rows : ndarray of int
        Row numbers in the table, or in the test file if there is one.
    train_positive, test_positive : ndarray of bool
    train_scores, test_scores : ndarray of float
    model : Model
    curve : TrainingCurve
    fit_seconds : float
        Time of the fit, without evaluations.
    objective : float
    gap : float or None
    n_iter : int or None
    converged : bool
    support_pairs : ndarray of int, shape (2, n)
        Row numbers (positive, negative) of the support pairs.
    notes : tuple of Notice
    trajectory : Trajectory or None
        Scores during training; None if nothing was trained.
    trained_range : (float, float) or None
        The FPR range that the method trained for, which may be wider than its setting; None if it
        takes no range.
    needed : float or None
        The dual gap at which training was to end; None for other stopping rules.
    train_weights, test_weights : ndarray of float, or None
        Weights of the table; None if every row counts once.
    test_groups : ndarray of int, or None
        The number of the group of each held-out row; None without groups.
    weight_kind : {"sampling", "frequency"}
    """

    repeat: int
    fold: int
    train_rows: Rows
    test_rows: Rows
    train_positive: NDArray[np.bool_]
    test_positive: NDArray[np.bool_]
    train_scores: Array
    test_scores: Array
    model: Model
    curve: TrainingCurve
    fit_seconds: float
    objective: float
    gap: float | None
    n_iter: int | None
    converged: bool
    support_pairs: NDArray[np.int64]
    notes: tuple[Notice, ...]
    trajectory: Trajectory | None
    trained_range: tuple[float, float] | None = None
    needed: float | None = None
    # Default factories, since a default would be an attribute of the class and hide __getattr__.
    train_weights: Array | None = dataclasses.field(default_factory=lambda: None)
    test_weights: Array | None = dataclasses.field(default_factory=lambda: None)
    test_groups: Rows | None = dataclasses.field(default_factory=lambda: None)
    weight_kind: str = dataclasses.field(default_factory=lambda: "sampling")

    @classmethod
    def stored(cls, values: Mapping[str, Any], read: Callable[[str], Any]) -> SplitResult:
        """Return a result of known values, and of others that ``read`` reads by name."""
        split = cls.__new__(cls)
        split.__dict__.update(values, _read=read)
        return split

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            read = self.__dict__.get("_read")
            if read is None or name not in self.__dataclass_fields__:
                raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
            return read(name)

    def __getstate__(self) -> dict[str, Any]:
        """Return all values, since another process may not have the file."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    @cached_property
    def n_train(self) -> int:
        """Number of training rows; of a stored result it is known without reading them."""
        return len(self.train_rows)

    @cached_property
    def n_test(self) -> int:
        """Number of held-out rows."""
        return len(self.test_rows)

    def class_of(self, row: int) -> bool | None:
        """Return whether a row is positive; None if the split does not have it."""
        for rows, positive in (
            (self.train_rows, self.train_positive),
            (self.test_rows, self.test_positive),
        ):
            found = np.flatnonzero(rows == row)
            if len(found):
                return bool(positive[found[0]])
        return None

    @property
    def coef(self) -> Array | None:
        """The weights of a linear scorer on the prepared features, else None."""
        weights: Array | None = getattr(self.model.scorer, "weights", None)
        return weights if self.model.scorer.kind == "linear" else None


@dataclasses.dataclass(frozen=True, eq=False)
class RunRecord:
    """A run that has ended.

    Attributes
    ----------
    experiment : Experiment
    status : {"done", "stopped", "failed"}
    splits : tuple of SplitResult
        The finished splits.
    created : str
        When the run began, ISO 8601 with offset.
    seconds : float
        Wall-clock time of the whole run.
    error : str
        One sentence if it failed.
    traceback : str
        For a bug report.
    searches : tuple of Search
        The search of each split if settings were tuned; the last one may be unfinished.
    versions : dict
        Versions of everything that determines the numbers; by default the current ones.
    id : str
        By default that of the experiment.
    """

    experiment: Experiment
    status: str
    splits: tuple[SplitResult, ...]
    created: str
    seconds: float
    error: str = ""
    traceback: str = ""
    searches: tuple[Search, ...] = ()
    versions: dict[str, str] = dataclasses.field(default_factory=lambda: versions())
    id: str = ""

    def __post_init__(self) -> None:
        if not self.id:
            object.__setattr__(self, "id", self.experiment.id)

    @staticmethod
    def now() -> str:
        """Return the current time in the format of ``created``."""
        return datetime.datetime.now().astimezone().isoformat(timespec="seconds")

    @property
    def params(self) -> Mapping[str, Any]:
        """Settings of the model: those found by tuning if there is one search, else those given."""
        chosen = self.searches[0].chosen if len(self.searches) == 1 else {}
        return {**self.experiment.params, **chosen}

    @property
    def sizes(self) -> tuple[float, float]:
        """Numbers of training and held-out rows of the first split; means if they grow.

        Forward in time the first step has the fewest training rows. With its sizes, tests at 5 %
        rejected true null hypotheses in 0 to 1 of 100 cases, with the means in 1 to 2.
        """
        counted = self.splits if self.experiment.validation.scheme == FORWARD else self.splits[:1]
        train, test = zip(*((split.n_train, split.n_test) for split in counted), strict=True)
        return sum(train) / len(counted), sum(test) / len(counted)

    @property
    def test_fraction(self) -> float:
        """Share of the held-out rows among those of a split."""
        train, test = self.sizes
        return test / (train + test)

    @property
    def planned_splits(self) -> int | None:
        """Number of splits that were planned, if fewer have finished; else None.

        Such a run was scored on other rows than finished ones, so it is never listed as the best.
        """
        planned = self.experiment.validation.splits
        return planned if len(self.splits) < planned else None

    @property
    def fit_seconds(self) -> float:
        """Mean time of a fit; NaN if none finished."""
        times = [split.fit_seconds for split in self.splits]
        return float(np.mean(times)) if times else float("nan")

    @property
    def notes(self) -> tuple[Notice, ...]:
        """Each notice of the fits, once."""
        return tuple(dict.fromkeys(note for split in self.splits for note in split.notes))

    @property
    def widened(self) -> Counter[tuple[float, float]]:
        """Wider FPR ranges that were trained for instead of the requested one, and how often."""
        asked = self.params.get("fpr_range")
        used = (split.trained_range for split in self.splits)
        return Counter(one for one in used if asked and one not in (None, tuple(asked)))

    @property
    def warnings(self) -> tuple[Notice, ...]:
        """Notices of ranges that had to be widened."""
        total, asked = len(self.splits), tuple(self.params.get("fpr_range") or ())
        return tuple(
            notice("trained_for_wider_range", asked=asked, used=used)
            if count == total
            else notice(
                "splits_trained_for_wider_range", asked=asked, used=used, count=count, total=total
            )
            for used, count in self.widened.items()
        )

    def header(self) -> dict[str, Any]:
        """Return everything but the splits as plain data."""
        return {
            "id": self.id,
            "experiment": self.experiment.as_json(),
            "status": self.status,
            "created": self.created,
            "seconds": self.seconds,
            "versions": self.versions,
            "error": self.error,
            "traceback": self.traceback,
            "searches": [search.as_json() for search in self.searches],
        }


def versions() -> dict[str, str]:
    """Return the versions of everything that determines the numbers."""
    return {
        "aucstudio": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": _version_of("scipy"),
        "scikit-learn": _version_of("scikit-learn"),
    }


_version_of = functools.cache(metadata.version)


def find_twin(experiment: Experiment, records: Iterable[RunRecord]) -> RunRecord | None:
    """Find the last finished run whose scores an experiment would reproduce exactly.

    An experiment on a test file has no twin, since the file may have changed.
    """
    if experiment.validation.scheme == FILE:
        return None
    same = (
        record
        for record in records
        if record.status == DONE and same_scores(experiment, record.experiment)
    )
    return next(reversed(list(same)), None)


def same_scores(a: Experiment, b: Experiment) -> bool:
    """Return whether two experiments give the same scores of the same rows.

    The location of files does not matter, nor do settings that have no effect with the others, nor
    the FPR range of the figures unless settings are searched by it.
    """
    return (
        a.method == b.method
        and a.tuning == b.tuning
        and a.members == b.members
        and a.preparation == b.preparation
        and a.validation.identity() == b.validation.identity()
        and _effective(a) == _effective(b)
        and (a.tuning is None or a.band == b.band)
        and a.data.sha256 == b.data.sha256
        and a.data.identity() == b.data.identity()
    )


def _effective(experiment: Experiment) -> Mapping[str, Any]:
    known, params = declared_params(DECLARED[experiment.method]), experiment.params
    return {
        name: v for name, v in params.items() if name not in known or known[name].matters(params)
    }


Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]
Item = TypeVar("Item")


@dataclasses.dataclass(frozen=True, eq=False)
class ScoresDuringTraining:
    """The scores of the same rows at several evaluations, and their areas.

    Attributes
    ----------
    positive : ndarray of bool, shape (n_rows,)
    scores : ndarray of float32, shape (n_looks, n_rows)
    weights : ndarray of shape (n_rows,) or None
        None if every row counts once.
    """

    positive: Mask
    scores: Floats
    weights: Array | None = None

    @property
    def is_ready(self) -> bool:
        """Whether :attr:`above` is computed already, so that areas take almost no time."""
        return "above" in self.__dict__ and self.weights is None

    @cached_property
    def above(self) -> Floats:
        """Share of the positives above each negative, the highest first; one row per evaluation.

        This is the height of the ROC curve over each negative's part of the FPR axis, ties
        included: every area is a weighted mean of it.
        """
        negatives = int(np.count_nonzero(~self.positive))
        if negatives in (0, len(self.positive)):
            return np.full((len(self.scores), 1), np.nan, dtype=np.float32)
        above = np.empty((len(self.scores), negatives), dtype=np.float32)
        for k, scores in enumerate(self.scores):
            above[k] = _heights(self.positive, scores)
        return above

    def auc(self) -> Array:
        """Return the AUC of each evaluation; NaN if a class has no rows."""
        if self.weights is not None:
            return self.pauc((0.0, 1.0))
        areas: Array = self.above.mean(axis=1, dtype=np.float64)
        return areas

    def pauc(self, band: tuple[float, float]) -> Array:
        """Return the partial AUC of each evaluation, normalised by the width of the band."""
        if self.weights is not None:
            return self._weighted_areas(band)
        weights = roc.rank_weights(self.above.shape[1], *band)
        used = np.flatnonzero(weights)
        areas: Array = self.above[:, used] @ weights[used] / weights.sum()
        return areas

    def _weighted_areas(self, band: tuple[float, float]) -> Array:
        """Return weighted areas of each evaluation; NaN if no row of a class counts.

        They are not cached: the scores are those of a sample of the rows.
        """
        assert self.weights is not None
        counts = (self.weights[self.positive].any(), self.weights[~self.positive].any())
        if not all(counts):
            return np.full(len(self.scores), np.nan)
        areas = (
            roc.partial_auc(self.positive, one, *band, weights=self.weights) for one in self.scores
        )
        return np.array([area.normalized for area in areas])


def _heights(positive: Mask, scores: Floats) -> Array:
    """Return the mean height of the ROC curve over each negative's part of the FPR axis."""
    s, t = np.sort(scores[positive]), np.sort(scores[~positive])
    below, at_most = roc.look_up(s, t)
    first, behind = np.searchsorted(t, t, "left"), np.searchsorted(t, t, "right")
    # Positives tied with several negatives: the curve climbs over all of these at one slope.
    climbed = (behind - np.arange(len(t)) - 0.5) / (behind - first)
    heights: Array = (len(s) - at_most + climbed * (at_most - below)) / len(s)
    return heights[::-1]


@dataclasses.dataclass(frozen=True, eq=False)
class Trajectory:
    """The stored evaluations of one fit, in order; the last is of the final scorer.

    Attributes
    ----------
    iteration : ndarray of int, shape (n_looks,)
    seconds : ndarray of float, shape (n_looks,)
        Time in the fit, without evaluations.
    train, held : ScoresDuringTraining
        Of a fixed sample of the training rows and of the held-out rows. ``held`` is empty if no
        rows were held out.
    """

    iteration: NDArray[np.int64]
    seconds: Array
    train: ScoresDuringTraining
    held: ScoresDuringTraining


@dataclasses.dataclass(frozen=True)
class Stage:
    """A stage of a fit.

    Attributes
    ----------
    name : str
    seconds : float
        Time in the fit at which it began, without evaluations.
    """

    name: str
    seconds: float
