"""A comparison of the checked runs, as the page shows it."""

from __future__ import annotations

import dataclasses
from typing import Any

from aucstudio.engine.monitor import Stopped
from aucstudio.gui.pages.compare import words
from aucstudio.gui.state.plan import RunLook
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.project.results import comparison
from aucstudio.project.results.comparison import Comparison
from aucstudio.project.runs.experiments.experiment import Band
from aucstudio.project.work.workers import Workers


@dataclasses.dataclass(frozen=True, eq=False)
class ShownComparison:
    """A comparison with its runs, the best one by the compared measure first."""

    runs: list[ShownRun]
    found: Comparison
    band: Band

    @property
    def looks(self) -> list[RunLook]:
        return [run.look for run in self.runs]

    @property
    def measure(self) -> str:
        """The compared measure in words."""
        return words.measure_words(self.found.measure, self.band)

    def shown_as(self, correction: str, runs: list[ShownRun]) -> ShownComparison:
        """Return the same with another correction and the current looks of the runs."""
        current = {run.record.id: run for run in runs}
        pairs = comparison.corrected(self.found.pairs, correction)
        return dataclasses.replace(
            self,
            runs=[current.get(run.record.id, run) for run in self.runs],
            found=dataclasses.replace(self.found, pairs=pairs),
        )

    def places(self, session: Session) -> tuple[int | None, int | None]:
        """Return the positions of the selected and the compared run."""
        listed = [run.record.id for run in self.runs]
        chosen, compared = (
            listed.index(run) if run in listed else None
            for run in (session.selected, session.compared)
        )
        return chosen, compared

    def pair(self, session: Session) -> int | None:
        """Return the position of the pair of the selected and the compared run."""
        wanted = set(self.places(session))
        places = enumerate(self.found.places())
        return next((k for k, (i, j, _) in places if {i, j} == wanted), None)


def compare_checked(
    runs: list[ShownRun], band: Band, measure: str, post: Any, workers: Workers | None
) -> ShownComparison:
    """Compute the figures of all runs and test every pair; called on another thread."""
    figures = {}
    for run in runs:
        figures[run.record.id] = comparison.run_figures(run.look.name, run.record, band)
        if post(0.0):
            raise Stopped("comparing")
    ranked = sorted(runs, key=lambda run: -figures[run.record.id].measured(measure).value)
    named_runs = [(run.look.name, run.record) for run in ranked]
    pairs = comparison.compare_runs(named_runs, band, measure, post, workers)
    found = Comparison([figures[run.record.id] for run in ranked], pairs, measure)
    return ShownComparison(ranked, found, band)
