"""Feature space: prepared rows in a plane, with the decision lines of the checked runs.

Also the frame of every picture in a plane: which run it is about, which plane, and the
computation beside the window.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from html import escape
from typing import Any, ClassVar

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QSignalBlocker, QTimer
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QComboBox, QLabel

from aucstudio.engine.roc import equal_error_threshold
from aucstudio.engine.scorers import LinearScorer
from aucstudio.gui.plotting import dress_plot, finite_range, make_plot, pen, run_pen
from aucstudio.gui.session import LiveRun, Session, ShownRun
from aucstudio.gui.theme import current_theme
from aucstudio.gui.view import View
from aucstudio.project.differences import (
    COMPONENTS,
    FEATURES,
    SCORE,
    Plane,
    Sample,
    carried,
    choose_plane,
    labelled_sample,
    split_sample,
    thinned,
)
from aucstudio.project.job import Job
from aucstudio.project.prepare import Preparation
from aucstudio.project.record import SplitResult
from aucstudio.project.table import Table

Array = NDArray[np.float64]

POINTS_DRAWN = 5_000
# Shorter work is waited for: the picture then changes at once instead of flickering.
_WAIT_SECONDS = 0.02
_POLL_MILLISECONDS = 15


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
    mean : ndarray of shape (d,)
        Of the rows.
    """

    sample: Sample
    plane: Plane
    places: Array
    mean: Array


class _Sample(pg.ItemSample):  # type: ignore[misc]
    """A legend's sample that does not hide what it stands for when it is clicked."""

    def mouseClickEvent(self, event: Any) -> None:
        event.ignore()


class PlaneView(View):
    """A picture of prepared rows, or of their differences, in a plane that can be chosen.

    Subclasses say which planes there are, turn a picture into what they draw (``compute``, on
    another thread) and draw it.
    """

    of_pairs: ClassVar[bool]
    planes: ClassVar[dict[str, str]]
    busy_words: ClassVar[str]
    prefix: ClassVar[str]

    def __init__(self, session: Session, name: str, title: str) -> None:
        super().__init__(session, name, title)
        self.plot = make_plot(f"{name}_plot", "", "")
        self.body.addWidget(self.plot)
        self.legend = self.plot.addLegend(offset=(8, 8), labelTextSize="9pt", sampleType=_Sample)
        self.live_line = self.add_line(z=12)
        self.picture: Any = None
        self.subject: Subject | None = None
        self._wanted: tuple[str, str] | None = None
        self._request: tuple[object, ...] | None = None
        self._job: Job[None, Any] | None = None
        self._poll = QTimer(self, interval=_POLL_MILLISECONDS, timeout=self._on_poll)
        self._home: tuple[tuple[float, float], tuple[float, float]] | None = None
        self._make_controls()
        self.plot.scene().sigMouseClicked.connect(self._on_click)

    def figure(self) -> pg.PlotWidget:
        return self.plot

    # ------------------------------------------------------------- what a subclass gives

    def compute(self, picture: Picture) -> Any:
        """Turn placed rows into what is drawn; called on another thread."""
        return picture

    def extent(self) -> tuple[Array, Array]:
        """Give the corners of what the picture holds."""
        raise NotImplementedError

    def draw(self) -> None:
        """Draw ``picture`` of ``subject``."""

    def held_out(self) -> bool:
        """Whether the rows are those that the run was tested on."""
        return False

    # ------------------------------------------------------------- controls

    def _make_controls(self) -> None:
        self.plane_combo = self.add_combo(
            f"{self.prefix}plane_combo", "Plane", "The plane that the rows are seen in"
        )
        for kind, words in self.planes.items():
            self.plane_combo.addItem(words, kind)
        self.x_feature = self.add_combo(f"{self.prefix}x_feature", "x", "Feature to the right")
        self.y_feature = self.add_combo(f"{self.prefix}y_feature", "y", "Feature upwards")
        self.split_combo = self.add_combo(
            f"{self.objectName()}_split", "Split", "Which fit of the run: each has its own rows"
        )
        self.plane_combo.currentIndexChanged.connect(self.mark_stale)
        self.split_combo.currentIndexChanged.connect(self.mark_stale)
        self.x_feature.currentIndexChanged.connect(lambda: self._on_feature(self.x_feature))
        self.y_feature.currentIndexChanged.connect(lambda: self._on_feature(self.y_feature))
        self.controls.addStretch(1)

    def add_combo(self, name: str, words: str, tip: str) -> QComboBox:
        """Add a labelled choice to the controls, before the stretch."""
        combo = QComboBox(objectName=name, accessibleName=words, toolTip=tip)
        combo.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
            if name.endswith("_feature")
            else QComboBox.SizeAdjustPolicy.AdjustToContents
        )
        combo.setMinimumContentsLength(10 if name.endswith("_feature") else 3)
        combo.buddy = QLabel(words)  # type: ignore[attr-defined]
        return combo
