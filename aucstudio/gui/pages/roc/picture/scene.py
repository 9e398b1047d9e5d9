"""What the ROC picture shows, as every layer of it is told."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from aucstudio.gui.common.curves import Trace
from aucstudio.gui.state.focus import Focus
from aucstudio.gui.state.session import ShownRun

Array = NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class Axis:
    """How rates become places along one axis.

    Attributes
    ----------
    key, title : str
        "linear", "log" or "probit", and what a person reads.
    forward, backward : callable
        From rates to places and back; rates beyond the ends land on them.
    low, high : float
        The rates at the ends of the axis.
    """

    key: str
    title: str
    forward: Callable[[Array], Array]
    backward: Callable[[Array], Array]
    low: float = 0.0
    high: float = 1.0


@dataclasses.dataclass(frozen=True, eq=False)
class Scene:
    """What the picture shows now.

    Attributes
    ----------
    runs : tuple of ShownRun
        The checked runs, in the order of the list.
    traces : tuple of Trace
        One for each of ``runs``: its average curve, or its only one.
    chosen, compared : ShownRun or None
        The chosen run and the second one, where they are checked.
    focus : Focus
    band : (float, float)
    x, y : Axis
        Of the FPR and of the TPR.
    window : (float, float, float, float)
        Left, right, bottom and top of what is seen, as places.
    face : str
        "roc", or which other face of the curves is shown: a layer that is about rates then draws
        nothing.
    """

    runs: tuple[ShownRun, ...]
    traces: tuple[Trace, ...]
    chosen: ShownRun | None
    compared: ShownRun | None
    focus: Focus
    band: tuple[float, float]
    x: Axis
    y: Axis
    window: tuple[float, float, float, float]
    face: str = "roc"


class Layer(Protocol):
    """Something drawn over the ROC curves; its items are added to the plot when it is made."""

    def show(self, scene: Scene) -> None:
        """Draw for what the picture shows now, or nothing where the layer is switched off."""

    def dress(self) -> None:
        """Take on the present theme."""
