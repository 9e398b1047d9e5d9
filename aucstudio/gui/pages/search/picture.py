"""What both pictures of a search share: what they need, and their axes and key."""

from __future__ import annotations

import dataclasses

from PySide6.QtGui import QColor

from aucstudio.gui.common.plain import plot_title
from aucstudio.gui.common.plotting import dress_plot, make_plot
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.pages.search.standing import Setting
from aucstudio.project.runs.experiments.experiment import Experiment
from aucstudio.project.runs.tuning import METRICS, PAUC, Search


@dataclasses.dataclass(frozen=True, eq=False)
class SearchAxes:
    """What a picture needs beside the standing.

    Attributes
    ----------
    along : list of Setting
        That of the horizontal axis first.
    title : str
        The measure.
    unit : {"fold", "split"}
        What each area comes from.
    colour : QColor
        The run's.
    """

    along: list[Setting]
    title: str
    unit: str
    colour: QColor


class TitledPlot:
    """A plot whose axes and key are written only when they change."""

    def __init__(self, name: str) -> None:
        self.plot = make_plot(name, "", "")
        self._named: object = None

    def name_axes(self, key: str, **titles: str) -> None:
        """Write the titles of the sides, and what the marks mean on the figure itself."""
        theme = current_theme()
        named = (theme, key, tuple(titles.items()))
        if named == self._named:
            return
        self._named = named
        dress_plot(self.plot)
        for side, title in titles.items():
            self.plot.setLabel(side, title, color=theme.muted)
        plot_title(self.plot, key, color=theme.muted, size="9pt")


def area_title(experiment: Experiment, search: Search) -> str:
    """Name the measure for an axis."""
    if search.metric == PAUC:
        low, high = experiment.band
        return f"pAUC, FPR {low:g} … {high:g}"
    return METRICS[search.metric][0].upper() + METRICS[search.metric][1:]
