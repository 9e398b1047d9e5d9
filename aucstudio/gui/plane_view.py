"""The frame of every picture in a plane: which run it is about, which plane, and its legend.

Rows are placed beside the window, on another thread.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from html import escape
from typing import Any, ClassVar

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QPen, QResizeEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout

from aucstudio.engine.roc import equal_error_threshold
from aucstudio.engine.scorers import LinearScorer
from aucstudio.gui.background import Background
from aucstudio.gui.live import LiveRun
from aucstudio.gui.plotting import finite_range, make_plot, run_pen
from aucstudio.gui.session import Session, ShownRun
from aucstudio.gui.theme import current_theme
from aucstudio.gui.view import View
from aucstudio.project.job import Job, describe_failure
from aucstudio.project.planes import (
    FEATURES,
    Plane,
    Sample,
    carried,
    choose_plane,
    labelled_sample,
    split_sample,
)
from aucstudio.project.prepare import Preparation
from aucstudio.project.record import SplitResult
from aucstudio.project.table import Table

Array = NDArray[np.float64]

_COLUMNS = 8
_AXIS_WIDTH = 64


@dataclasses.dataclass(frozen=True, eq=False)
class Subject:
    """What a picture is about: a split of the chosen run, or the run in flight without one.

    Attributes
    ----------
    key : tuple
        Equal keys mean the same rows.
    name : str
    preparation : Preparation
    weights : ndarray or None
        Of a linear scorer.
    sample : callable
        Prepares the rows; not for the window's thread.
    run : ShownRun or None
    split : SplitResult or None
    """

    key: tuple[object, ...]
    name: str
    preparation: Preparation
    weights: Array | None
    sample: Callable[[], Sample]
    run: ShownRun | None = None
    split: SplitResult | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class Picture:
    """Rows in a plane.

    Attributes
    ----------
    sample : Sample
    plane : Plane
    places : ndarray of shape (N, 2)
    extra : object
        What the page adds.
    """

    sample: Sample
    plane: Plane
    places: Array
    extra: Any = None


class _LegendSample(pg.ItemSample):
    """A legend's sample that does not hide what it stands for when it is clicked."""

    def mouseClickEvent(self, event: Any) -> None:
        event.ignore()


class _Legend(pg.LegendItem):
    """A legend above the plot, where it covers nothing, in as many columns as fit."""

    def __init__(self, plot: pg.PlotWidget) -> None:
        super().__init__(frame=False, horSpacing=8, colCount=_COLUMNS, sampleType=_LegendSample)
        self.layout.setContentsMargins(0, 0, 0, 4)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        place = plot.getPlotItem()
        place.layout.removeItem(place.titleLabel)
        place.layout.addItem(self, 0, 1)

    def updateSize(self) -> None:
        # The plot's layout places it, not its own arithmetic.
        self.updateGeometry()

    def fit(self, width: float) -> None:
        """Take the most columns that stay within a width."""
        for columns in range(_COLUMNS, 0, -1):
            self.setColumnCount(columns)
            if self.effectiveSizeHint(Qt.SizeHint.MinimumSize).width() <= width:
                return


class PlaneView(View):
    """A picture of prepared rows, or of their differences, in a plane that can be chosen.

    A subclass names the planes, may ``compute`` more from the placed rows on another thread,
    and draws ``picture`` of ``subject``.
    """

    planes: ClassVar[dict[str, str]]
    prefix: ClassVar[str]
    of_pairs: ClassVar[bool]
    busy_words: ClassVar[str]

    def __init__(self, session: Session, name: str, title: str) -> None:
        super().__init__(session, name, title)
        self.plot = make_plot(f"{name}_plot", "", "")
        self.body.addWidget(self.plot)
        self.legend = _Legend(self.plot)
        self.live_line = self.add_line(15)
        self.picture: Picture | None = None
        self.subject: Subject | None = None
        self._labels: dict[str, QLabel] = {}
        self._wanted: tuple[str, str] | None = None
        self._request: tuple[object, ...] = ()
        self._work = Background(self, self._land)
        self._make_controls()
        self.controls.addStretch(0)
        self.plot.scene().sigMouseClicked.connect(self._on_click)
        self.retheme()

    def figure(self) -> pg.PlotWidget:
        return self.plot

    def busy(self) -> bool:
        return self._work.busy

    # ------------------------------------------------------------- what a subclass gives

    def compute(self, subject: Subject, picture: Picture) -> object:
        """Work out what the page adds to the placed rows; called on another thread."""

    def extent(self, picture: Picture) -> Array:
        """Give places that the picture has to hold, shape (k, 2)."""
        return picture.places

    def draw(self, subject: Subject, picture: Picture) -> str:
        """Draw, and give the sentence."""
        raise TypeError(f"{type(self).__name__} does not say how it is drawn")

    def axis_label(self, subject: Subject, plane: Plane, axis: int) -> str:
        """Name an axis."""
        raise TypeError(f"{type(self).__name__} does not name its axes")

    def held_out(self, _run: ShownRun) -> bool:
        """Tell whether to show the rows that the run was tested on."""
        return False

    # ------------------------------------------------------------- controls

    def _make_controls(self) -> None:
        self.plane_combo = self.add_combo("plane_combo", "Plane", "Where the rows are seen from")
        for kind, words in self.planes.items():
            self.plane_combo.addItem(words, kind)
        # A row of their own: names of features are long, and the centre may be narrow.
        row = QHBoxLayout()
        layout = self.layout()
        assert isinstance(layout, QVBoxLayout)
        layout.insertLayout(1, row)
        self.x_feature = self.add_combo("x_feature", "Right", "The feature that runs right", row)
        self.y_feature = self.add_combo("y_feature", "Up", "The feature that runs upwards", row)
        row.addStretch(0)
        self.split_combo = self.add_combo(
            "split", "Split", "Which fit of the run: each has its own training rows"
        )
        self.plane_combo.currentIndexChanged.connect(self.mark_stale)
        self.split_combo.currentIndexChanged.connect(self.mark_stale)
        self.x_feature.currentIndexChanged.connect(lambda: self._on_feature(0))
        self.y_feature.currentIndexChanged.connect(lambda: self._on_feature(1))

    def add_combo(
        self, name: str, words: str, tip: str, row: QHBoxLayout | None = None
    ) -> QComboBox:
        """Add a choice with its label to the controls, or to a row of long names."""
        combo = QComboBox()
        combo.setObjectName(self.prefix + name)
        combo.setAccessibleName(words)
        combo.setToolTip(tip)
        combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        combo.setMinimumWidth(80)
        combo.setMaximumWidth(320)
        label = self._labels[combo.objectName()] = QLabel(words)
        label.setBuddy(combo)
        place = self.controls if row is None else row
        place.addWidget(label)
        place.addWidget(combo)
        return combo

    def show_control(self, combo: QComboBox, shown: bool) -> None:
        """Show a choice with its label only where it means something."""
        combo.setVisible(shown)
        self._labels[combo.objectName()].setVisible(shown)

    def _on_feature(self, axis: int) -> None:
        x, y = self.x_feature.currentText(), self.y_feature.currentText()
        if x == y and self.picture is not None and self.picture.plane.features is not None:
            # The same feature twice is no plane: the two change places.
            before = self.picture.plane.features[axis]
            other = self.y_feature if axis == 0 else self.x_feature
            with QSignalBlocker(other):
                other.setCurrentIndex(before)
        self._wanted = self.x_feature.currentText(), self.y_feature.currentText()
        self.mark_stale()

    def _fill_controls(self, subject: Subject | None) -> None:
        kind = self.plane_combo.currentData()
        names = [] if subject is None else subject.preparation.feature_names
        for combo in (self.x_feature, self.y_feature):
            self.show_control(combo, kind == FEATURES and len(names) > 1)
            fill_combo(combo, [(name, name) for name in names])
        run = self.session.run(self.session.selected)
        splits = 0 if run is None else len(run.record.splits)
        self.show_control(self.split_combo, splits > 1)
        fill_combo(self.split_combo, [(f"{k + 1} of {splits}", k) for k in range(splits)])

    def _features(self, subject: Subject) -> tuple[int, int] | None:
        names = subject.preparation.feature_names
        if self._wanted is None or not set(self._wanted) <= set(names):
            return None
        return names.index(self._wanted[0]), names.index(self._wanted[1])

    # ------------------------------------------------------------- subject

    def _find_subject(self) -> Subject | str:
        """Give the subject, or the sentence that says why there is none."""
        session = self.session
        run, live = session.run(session.selected), session.live
        if session.table is None:
            return (
                "The table of these runs is not open: open the project with its table in place "
                "to see their rows."
                if run is not None
                else "Open a table and run a method to see its rows here."
            )
        if run is not None and run.record.splits:
            if run.record.experiment.data.sha256 != session.table.sha256:
                return f"{run.look.name} was trained on another table; its rows are not here."
            return self._finished_subject(run, session.table)
        if live is not None and live.preparation is not None:
            return _live_subject(live, session.table, live.preparation)
        if run is not None:
            return f"{run.look.name} has nothing to show. {run.record.error}".rstrip()
        return "No run yet: choose a method and press Run."

    def _finished_subject(self, run: ShownRun, table: Table) -> Subject:
        index = min(max(self.split_combo.currentIndex(), 0), len(run.record.splits) - 1)
        split, held_out = run.record.splits[index], self.held_out(run)
        return Subject(
            (run.record.id, index, held_out),
            run.look.name,
            split.model.preparation,
            split.coef,
            lambda: split_sample(table, split, held_out),
            run,
            split,
        )

    # ------------------------------------------------------------- computing

    def refresh(self) -> None:
        found = self._find_subject()
        if isinstance(found, str):
            self._fill_controls(None)
            self._show_nothing(found)
            return
        self._fill_controls(found)
        kind, features = self.plane_combo.currentData(), self._features(found)
        request = (*found.key, kind, features if kind == FEATURES else None)
        self.subject = found
        if request != self._request:
            self._request = request
            self._start(found, kind, features)
        elif self.picture is not None:
            self._draw()

    def _show_nothing(self, sentence: str) -> None:
        self._work.drop()
        self.subject = self.picture = None
        self._request = ()
        self.legend.clear()
        self._show_items(False)
        self.sentence.setText(sentence)

    def _start(self, subject: Subject, kind: str, features: tuple[int, int] | None) -> None:
        def work(_post: object) -> Picture:
            sample = subject.sample()
            plane = choose_plane(sample, subject.weights, kind, features, self.of_pairs)
            picture = Picture(sample, plane, plane.place(sample))
            return dataclasses.replace(picture, extra=self.compute(subject, picture))

        self.picture = None
        self._work.start(work)
        if self._work.busy:
            self.sentence.setText(self.busy_words)

    def _land(self, job: Job[None, Picture]) -> None:
        if job.error is not None:
            self._show_nothing(describe_failure(job.error)[0])
        elif job.result is not None:
            self.picture = job.result
            self._name_axes()
            self.reset_range()
            self._draw()

    def _draw(self) -> None:
        assert self.subject is not None
        assert self.picture is not None
        self.legend.clear()
        self._show_items(True)
        self.sentence.setText(self.draw(self.subject, self.picture))
        self.legend.fit(self.plot.width() - _AXIS_WIDTH)
        self._move_live_line()

    def _name_axes(self) -> None:
        assert self.subject is not None
        assert self.picture is not None
        plane = self.picture.plane
        for axis, side in enumerate(("bottom", "left")):
            words = escape(self.axis_label(self.subject, plane, axis))
            self.plot.setLabel(side, words, color=current_theme().muted)
        if plane.features is not None:
            for combo, feature in zip(
                (self.x_feature, self.y_feature), plane.features, strict=True
            ):
                with QSignalBlocker(combo):
                    combo.setCurrentIndex(feature)

    def _show_items(self, shown: bool) -> None:
        for item in self.plot.getPlotItem().items:
            item.setVisible(shown and item is not self.live_line)

    def reset_range(self) -> None:
        """Show the whole picture."""
        if self.picture is not None:
            places = self.extent(self.picture)
            self.plot.setRange(
                xRange=finite_range(places[:, 0]), yRange=finite_range(places[:, 1]), padding=0.0
            )

    def _on_click(self, event: Any) -> None:
        if event.double():
            self.reset_range()

    # ------------------------------------------------------------- lines and marks

    def add_line(self, z: float) -> pg.InfiniteLine:
        """Add a line that is not shown yet."""
        line = pg.InfiniteLine(movable=False)
        line.setZValue(z)
        line.setVisible(False)
        self.plot.addItem(line)
        return line

    def add_marks(self, symbol: str, size: int, z: float) -> pg.ScatterPlotItem:
        """Add marks that stand nowhere yet."""
        marks = pg.ScatterPlotItem(symbol=symbol, size=size)
        marks.setZValue(z)
        self.plot.addItem(marks)
        return marks

    def explain_line(self, words: str, drawn: QPen) -> None:
        """Add a line to the legend."""
        self.legend.addItem(pg.PlotDataItem(pen=drawn), escape(words))

    def explain_mark(self, words: str, marks: pg.ScatterPlotItem) -> None:
        """Add marks, as they are drawn at this moment, to the legend."""
        self.legend.addItem(marks, escape(words))

    def carried(self, weights: Array, b: float, source: Preparation) -> tuple[Array, float] | None:
        """Write a linear function of another preparation on the features of the picture."""
        assert self.subject is not None
        return carried(weights, b, source, self.subject.preparation)

    def level(self, plane: Plane, weights: Array, intercept: float) -> float:
        """Give the level at which a line a·c = level is drawn."""
        return 0.0

    def refresh_live(self) -> None:
        live = self.session.live
        if self.subject is None or self.subject.run is None:
            key = (live.experiment.id, live.split) if live is not None else ()
            if self.subject is None or self.subject.key != key:
                self.refresh()
        self._move_live_line()

    def _move_live_line(self) -> None:
        live = self.session.live
        self.live_line.setVisible(False)
        if live is None or live.picture is None or live.preparation is None:
            return
        scorer = live.picture.scorer
        if self.picture is None or not isinstance(scorer, LinearScorer):
            return
        b = -equal_error_threshold(live.picture.positive, live.picture.scores)
        moved = self.carried(scorer.weights, b, live.preparation)
        normal = None if moved is None else self.picture.plane.normal(moved[0])
        if moved is not None and normal is not None:
            self.live_line.setPen(run_pen(live.look, 2.5))
            place_line(self.live_line, normal, self.level(self.picture.plane, *moved))

    def retheme(self) -> None:
        self.legend.setLabelTextColor(current_theme().text)
        super().retheme()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.legend.fit(self.plot.width() - _AXIS_WIDTH)


def _live_subject(live: LiveRun, table: Table, preparation: Preparation) -> Subject:
    return Subject(
        (live.experiment.id, live.split),
        live.look.name,
        preparation,
        None,
        lambda: labelled_sample(table, preparation),
    )


def fill_combo(combo: QComboBox, items: list[tuple[str, object]]) -> None:
    """Give a combo these items; what was chosen stays chosen if it is among them."""
    if [(combo.itemText(k), combo.itemData(k)) for k in range(combo.count())] == items:
        return
    chosen = combo.currentData()
    with QSignalBlocker(combo):
        combo.clear()
        for words, value in items:
            combo.addItem(words, value)
        combo.setCurrentIndex(max(0, combo.findData(chosen)))
    combo.view().setMinimumWidth(combo.view().sizeHintForColumn(0) + 24)


def place_line(line: pg.InfiniteLine, normal: Array, level: float) -> None:
    """Put a line where a·c = level for the normal a."""
    foot = normal * (level / float(normal @ normal))
    line.setPos((float(foot[0]), float(foot[1])))
    line.setAngle(float(np.degrees(np.arctan2(normal[0], -normal[1]))))
    line.setVisible(True)


def feature_words(preparation: Preparation, feature: int) -> str:
    """Name a prepared feature with its unit: numbers are in standard deviations."""
    name = preparation.feature_names[feature]
    return f"{name} (sd)" if feature < len(preparation.numbers) else f"{name} (0 or 1)"
