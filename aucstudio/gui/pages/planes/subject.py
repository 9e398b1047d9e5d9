"""The run and split that a plane shows, with lines and marks in the plane."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pyqtgraph as pg

from aucstudio.engine.scorers import LinearScorer, Scorer
from aucstudio.engine.types import Array
from aucstudio.gui.common.plain_text import elided
from aucstudio.gui.state.runner import LiveRun
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.project.data.preparing.preparation import Preparation
from aucstudio.project.data.table import Table
from aucstudio.project.errors import InputError
from aucstudio.project.geometry.planes import (
    COMPONENTS,
    Plane,
    Sample,
    labelled_sample,
    split_sample,
)
from aucstudio.project.runs.experiments.planning import read_test_table
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


def find_subject(session: Session, held_out: bool, follow: bool = False) -> Subject | str:
    """Return the subject to show, or the sentence that explains why there is none.

    ``held_out`` decides whether the held-out rows of a run are shown; ``follow`` whether a run in
    progress with a non-linear scorer is shown itself.
    """
    run, live = session.run(session.selected), session.live
    if session.table is None:
        return (
            "The table of these runs is not open: open the project with its table in place "
            "to see their rows."
            if run is not None
            else "Open a table and run a method to see its rows here."
        )
    if follow and live is not None and is_curved(live):
        return _curved_subject(live, session.table)
    if run is not None and run.record.splits:
        if run.record.experiment.data.sha256 != session.table.sha256:
            return f"{run.look.name} was trained on another table; its rows are not here."
        return _finished_subject(run, session, session.table, held_out)
    if live is not None and live.preparation is not None:
        return _live_subject(live, session.table, live.preparation)
    if run is not None:
        why = f": {run.record.error}" if run.record.error else ""
        return f"{run.look.name} has no rows to show{why}".rstrip(".") + "."
    return "No run yet: choose a method and press Run."


def left_out_words(subject: Subject, what: str) -> str:
    """State that the scores come from other fits than the one drawn; else return ""."""
    run = subject.run
    if run is None or run.record.experiment.validation.scheme != "leave-pair-out":
        return ""
    if not subject.held_out:
        return ""
    return (
        f"Scores come from fits without the rows that they rank; {what} from the fit to all rows."
    )


def split_of(run: ShownRun, session: Session) -> int:
    """Return the selected split of a run, or its last one."""
    return min(max(session.focus.split, 0), len(run.record.splits) - 1)


def is_pair(subject: Subject, pair: tuple[int, int] | None) -> bool:
    """Return whether two row numbers are a positive and a negative row of the split."""
    if pair is None or subject.split is None or not subject.in_table:
        return False
    classes = [_class_of(subject.split, row) for row in pair]
    return classes[0] is True and classes[1] is False


def _class_of(split: SplitResult, row: int) -> bool | None:
    """Return whether a row is positive; None if the split does not have it."""
    for rows, positive in (
        (split.train_rows, split.train_positive),
        (split.test_rows, split.test_positive),
    ):
        found = np.flatnonzero(rows == row)
        if len(found):
            return bool(positive[found[0]])
    return None


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


def _curved_subject(live: LiveRun, table: Table) -> Subject:
    look, preparation = live.picture, live.preparation
    assert look is not None
    assert preparation is not None

    def sample() -> Sample:
        found = labelled_sample(live.experiment.data.with_scores(table), preparation)
        return dataclasses.replace(found, scores=look.scorer(found.X))

    key = (*live_key(live), look.iteration, look.seconds)
    return Subject(key, live.look.name, preparation, None, sample, is_live=True, scorer=look.scorer)


def _live_subject(live: LiveRun, table: Table, preparation: Preparation) -> Subject:
    return Subject(
        live_key(live),
        live.look.name,
        preparation,
        None,
        lambda: labelled_sample(live.experiment.data.with_scores(table), preparation),
    )


def add_line(plot: pg.PlotWidget, z: float) -> pg.InfiniteLine:
    """Add a line that is not shown yet."""
    line = pg.InfiniteLine(movable=False)
    line.setZValue(z)
    line.setVisible(False)
    plot.addItem(line)
    return line


def add_curve(plot: pg.PlotWidget, z: float) -> pg.PlotCurveItem:
    """Add a curve without points yet."""
    curve = pg.PlotCurveItem()
    curve.setZValue(z)
    plot.addItem(curve)
    return curve


def add_marks(plot: pg.PlotWidget, symbol: str, size: int, z: float) -> pg.ScatterPlotItem:
    """Add marks without a position."""
    marks = pg.ScatterPlotItem(symbol=symbol, size=size)
    marks.setZValue(z)
    plot.addItem(marks)
    return marks


def place_line(line: pg.InfiniteLine, normal: Array, level: float) -> None:
    """Put a line where a·c = level for the normal a."""
    foot = normal * (level / float(normal @ normal))
    line.setPos((float(foot[0]), float(foot[1])))
    line.setAngle(float(np.degrees(np.arctan2(normal[0], -normal[1]))))
    line.setVisible(True)


def feature_words(preparation: Preparation, feature: int) -> str:
    """Name a prepared feature with its unit: numbers are in standard deviations, or as chosen."""
    name = preparation.feature_names[feature]
    is_number = feature < len(preparation.numbers)
    return f"{name} ({preparation.choice.unit if is_number else '0 or 1'})"


_TITLE_LETTERS = 44


def axis_words(subject: Subject, plane: Plane, axis: int, of_pairs: bool) -> tuple[str, str]:
    """Name an axis (0 right, 1 up) of a plane of rows or of pairs, and explain the name."""
    if plane.features is not None:
        return _feature(subject, plane.features[axis], of_pairs)
    if plane.kind == COMPONENTS:
        return _component(subject, axis + 1, of_pairs)
    return _spread(subject, plane) if axis else _along(subject, plane, of_pairs)


def _feature(subject: Subject, feature: int, of_pairs: bool) -> tuple[str, str]:
    name = feature_words(subject.preparation, feature)
    what = f"Positive minus negative: {name}." if of_pairs else f"{name}."
    words = subject.preparation.choice.in_units
    unit = (
        f"{words[:1].upper()}{words[1:]}."
        if feature < len(subject.preparation.numbers)
        else "1 where a row has this level, else 0."
    )
    short = elided(name, _TITLE_LETTERS, len)
    return f"Difference in {short}" if of_pairs else short, f"{what}\n{unit}"


def _component(subject: Subject, number: int, of_pairs: bool) -> tuple[str, str]:
    sd = subject.preparation.choice.unit
    most = "most" if number == 1 else "most across the first one"
    if of_pairs:
        title = f"Principal component {number} of the differences ({sd})"
        return title, f"Direction in which the differences vary {most}."
    title = f"Principal component {number} ({sd})"
    return title, f"The direction in which the rows vary {most}."


def _along(subject: Subject, plane: Plane, of_pairs: bool) -> tuple[str, str]:
    sd = subject.preparation.choice.unit
    if of_pairs:
        tip = "Right of 0 a pair is ranked correctly: its positive row scores higher."
        if not plane.is_straight:
            return "Score of the positive − score of the negative", tip
        return _of_weights(subject, f"Score of the positive − score of the negative ({sd})", tip)
    if not plane.is_straight:
        return "Score", "The score of each row, f(x)."
    return _of_weights(subject, f"Score ({sd})", "The further right, the higher the score.")


def _of_weights(subject: Subject, title: str, tip: str) -> tuple[str, str]:
    choice = subject.preparation.choice
    if subject.run is None:
        return (
            f"From the negatives' mean to the positives' ({choice.unit})",
            "The direction of the mean difference: no finished run has another direction.",
        )
    unit = f"Along the weights w, {choice.in_units}."
    return title, f"{tip}\n{unit}"


def _spread(subject: Subject, plane: Plane) -> tuple[str, str]:
    sd = subject.preparation.choice.unit
    tip = "Of all directions that do not change the score, the one in which rows vary most."
    if plane.across is not None:
        return "Widest direction at equal score (kernel)", f"{tip}\nIn the space of the kernel."
    if len(subject.preparation.feature_names) == 1 and plane.is_straight:
        return "No other feature", "There is only one feature: all rows lie on a line."
    if not plane.is_straight:
        return f"Widest direction at equal score ({sd})", (
            "Direction in which rows vary most, after removing what correlates with the score."
        )
    if subject.run is None:
        return (
            f"Widest direction across it ({sd})",
            "The direction in which rows vary most across it.",
        )
    return f"Widest direction at equal score ({sd})", tip
