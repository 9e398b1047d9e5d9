"""The run and split that a plane shows, with lines and marks in the plane."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtGui import QColor

from aucstudio.engine.arrays import Array
from aucstudio.engine.scorers import LinearScorer, Scorer
from aucstudio.gui.common.plots.plot import Plot
from aucstudio.gui.state.runner import LiveRun
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.project.data.preparing.preparation import Preparation
from aucstudio.project.data.table import Table
from aucstudio.project.errors import InputError
from aucstudio.project.geometry.planes import (
    Plane,
    Sample,
    carried,
    labelled_sample,
    split_sample,
)
from aucstudio.project.runs.planning import read_test_table
from aucstudio.project.runs.progress import Look
from aucstudio.project.runs.record import SplitResult


@dataclasses.dataclass(frozen=True, eq=False)
class Subject:
    """A split of the selected run, or the run in progress.

    Attributes
    ----------
    key : tuple
        Identifies the rows.
    name : str
    preparation : Preparation
    weights : ndarray or None
        Of a linear scorer.
    sample : callable
        Prepares the rows, on another thread.
    run : ShownRun or None
    split : SplitResult or None
    held_out : bool
        Whether the rows are the held-out ones, not the training rows.
    in_table : bool
        Whether the rows are those of the open table, not of a test file.
    is_live : bool
        Whether rows have the current scores of the run in progress.
    scorer : Scorer or None
    """

    key: tuple[object, ...]
    name: str
    preparation: Preparation
    weights: Array | None
    sample: Callable[[], Sample]
    run: ShownRun | None = None
    split: SplitResult | None = None
    held_out: bool = False
    in_table: bool = True
    is_live: bool = False
    scorer: Scorer | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class PlanePicture:
    """Rows in a plane.

    Attributes
    ----------
    subject : Subject
    sample : Sample
    plane : Plane
    places : ndarray of shape (N, 2)
    extra : object
        What the page adds.
    """

    subject: Subject
    sample: Sample
    plane: Plane
    places: Array
    extra: Any = None


def find_subject(session: Session, held_out: bool, follow: bool = False) -> Subject | None:
    """Return the subject to show, if there is one.

    ``held_out`` decides whether the held-out rows of a run are shown; ``follow`` whether a run in
    progress with a non-linear scorer is shown itself.
    """
    run, live, table = session.run(session.selected), session.live, session.table
    if table is None:
        return None
    if follow and live is not None and is_curved(live):
        return _live_subject(live, table, live.picture)
    if run is not None and run.record.splits:
        return _finished_subject(run, session, table, held_out) if run.is_of(table) else None
    if live is not None and live.preparation is not None:
        return _live_subject(live, table)
    return None


def split_of(run: ShownRun, session: Session) -> int:
    """Return the selected split of a run, or its last one."""
    return min(max(session.focus.split, 0), len(run.record.splits) - 1)


def compared_split(session: Session, subject: Subject) -> tuple[ShownRun, SplitResult] | None:
    """Return the run that is compared with the subject, and its split; None if there is none."""
    other = session.run(session.compared)
    if subject.run is None or other is None or other.record.id == subject.run.record.id:
        return None
    return (other, other.record.splits[split_of(other, session)]) if other.record.splits else None


def carried_fit(
    subject: Subject, split: SplitResult, intercept: float = 0.0
) -> tuple[Array, float] | None:
    """Return weights and intercept of a linear split for the features of the subject, or None."""
    if split.coef is None:
        return None
    return carried(split.coef, intercept, split.model.preparation, subject.preparation)


def has_rows_of(subject: Subject, split: SplitResult) -> bool:
    """Return whether a split of another run has the rows of the subject."""
    own, part = subject.split, "test_rows" if subject.held_out else "train_rows"
    return own is not None and np.array_equal(getattr(own, part), getattr(split, part))


def is_pair(subject: Subject, pair: tuple[int, int] | None) -> bool:
    """Return whether two row numbers are a positive and a negative row of the split."""
    if pair is None or subject.split is None or not subject.in_table:
        return False
    return [subject.split.class_of(row) for row in pair] == [True, False]


def live_key(live: LiveRun | None) -> tuple[object, ...]:
    """Return the key of a run in progress as a subject."""
    return () if live is None else (live.experiment.id, live.split)


def _finished_subject(run: ShownRun, session: Session, table: Table, held_out: bool) -> Subject:
    index = split_of(run, session)
    split, experiment = run.record.splits[index], run.record.experiment
    in_file = held_out and experiment.validation.scheme == "file"

    def sample() -> Sample:
        rows = _test_table(run, split) if in_file else experiment.data.with_scores(table)
        return split_sample(rows, split, held_out)

    return Subject(
        (run.record.id, index, held_out),
        run.look.name,
        split.model.preparation,
        split.coef,
        sample,
        run,
        split,
        held_out,
        not in_file,
        scorer=split.model.scorer,
    )


def _test_table(run: ShownRun, split: SplitResult) -> Table:
    """Read the test file of a run, which must be unchanged."""
    table = read_test_table(run.record.experiment)
    assert table is not None
    rows = np.flatnonzero(table.labelled())
    same = np.array_equal(rows, split.test_rows)
    if not same or not np.array_equal(table.is_positive(), split.test_positive):
        raise InputError(
            f"{table.path.name} has changed since {run.look.name} was tested on it: run it again "
            "to see its rows",
            file=str(table.path),
        )
    return table


def is_curved(live: LiveRun | None) -> bool:
    """Return whether a run in progress has a non-linear scorer to show."""
    if live is None or live.picture is None or live.preparation is None:
        return False
    return not isinstance(live.picture.scorer, LinearScorer)


def _live_subject(live: LiveRun, table: Table, look: Look | None = None) -> Subject:
    """Return a run in progress, with the scores of its current scorer if these are shown."""
    preparation, scorer = live.preparation, None if look is None else look.scorer
    assert preparation is not None

    def sample() -> Sample:
        found = labelled_sample(live.experiment.data.with_scores(table), preparation)
        return found if scorer is None else dataclasses.replace(found, scores=scorer(found.X))

    moment = () if look is None else (look.iteration, look.seconds)
    key, name = (*live_key(live), *moment), live.look.name
    return Subject(key, name, preparation, None, sample, is_live=look is not None, scorer=scorer)


def add_line(plot: Plot, z: float) -> pg.InfiniteLine:
    """Add a line that is not shown yet."""
    line = pg.InfiniteLine(movable=False)
    line.setZValue(z)
    line.setVisible(False)
    plot.addItem(line)
    return line


def add_curve(plot: Plot, z: float) -> pg.PlotCurveItem:
    """Add a curve without points yet."""
    curve = pg.PlotCurveItem()
    curve.setZValue(z)
    plot.addItem(curve)
    return curve


def add_marks(plot: Plot, symbol: str, size: int, z: float) -> pg.ScatterPlotItem:
    """Add marks without a position."""
    marks = pg.ScatterPlotItem(symbol=symbol, size=size)
    marks.setZValue(z)
    plot.addItem(marks)
    return marks


def place_line(line: pg.InfiniteLine, normal: Array, level: float) -> None:
    """Put a line where a·c = level for the normal a."""
    foot = normal * (level / float(normal @ normal))
    line.setPos((float(foot[0]), float(foot[1])))
    angle = float(np.degrees(np.arctan2(normal[0], -normal[1])))
    line.setAngle(90.0 - (90.0 - angle) % 180.0)  # to the right, so that a label is upright
    line.setVisible(True)


def two_hues(below: str, above: str, opacity: Array) -> NDArray[np.uint8]:
    """Return a colour map of opacities up to 255 that is of one hue below its middle."""
    table = np.empty((len(opacity), 4), dtype=np.uint8)
    half = len(opacity) // 2
    for part, name in ((slice(half), below), (slice(half, None), above)):
        table[part, :3] = QColor(name).getRgb()[:3]  # type: ignore[index]
    table[:, 3] = opacity
    return table
