"""Base class of the views of the page Model."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from numpy.typing import NDArray
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from aucstudio.gui.common.control_row import ControlRow
from aucstudio.gui.common.layouts import down, holding
from aucstudio.gui.common.plots.plot import Plot
from aucstudio.gui.common.whiskers import WhiskerChart
from aucstudio.gui.state.answer import Asker
from aucstudio.gui.state.session import ShownRun
from aucstudio.project.data.table import Table
from aucstudio.project.runs.experiments.experiment import Band
from aucstudio.project.runs.record import SplitResult

Columns = Mapping[str, Sequence[object] | NDArray[Any]]


@dataclasses.dataclass(frozen=True, eq=False)
class ModelSubject:
    """The run that the page is about.

    Attributes
    ----------
    run : ShownRun
    index : int
        The split that is pointed at.
    table : Table or None
        None where the table of the run is not open.
    band : (float, float)
    row : int or None
        The row of the table that is pointed at.
    """

    run: ShownRun
    index: int
    table: Table | None
    band: Band
    row: int | None = None

    @property
    def split(self) -> SplitResult:
        return self.run.record.splits[self.index]

    @property
    def name(self) -> str:
        return self.run.look.name


class ModelPicture(Asker, QWidget):
    """One picture: its plot, its controls and its sentence.

    Attributes
    ----------
    key, title, tip : str
        Class attributes: its name in the chooser.
    of_one_split : bool
        Class attribute: whether it shows one split, so that there is one to choose.
    plot : PlotWidget
    row, bar : ControlRow, QWidget
        Its controls, for the row above the picture.
    """

    told = Signal(object)  # Statement or str
    key: ClassVar[str]
    title: ClassVar[str]
    tip: ClassVar[str]
    of_one_split: ClassVar[bool] = False

    plot: Plot

    def __init__(self, shown: WhiskerChart | Plot) -> None:
        super().__init__()
        self.subject: ModelSubject | None = None
        self.plot = shown.plot if isinstance(shown, WhiskerChart) else shown
        self.row = ControlRow()
        self.row.setContentsMargins(0, 0, 0, 0)
        self.bar = holding(self.row)
        self.setLayout(down(shown))

    def suits(self, run: ShownRun) -> bool:
        """Return whether the picture means something for a run."""
        raise TypeError(f"{type(self).__name__} does not say which runs it suits")

    def show_subject(self, subject: ModelSubject) -> None:
        """Draw, now or when the numbers are there."""
        raise TypeError(f"{type(self).__name__} does not say how it is drawn")

    def data(self) -> Columns:
        """Return the numbers behind the picture."""
        return {}

    def leave(self) -> None:
        """Stop computations that are no longer shown."""
        self.drop_questions()
