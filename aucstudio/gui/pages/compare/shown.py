"""What the Compare page shows, computed from the checked runs."""

from __future__ import annotations

import dataclasses
from typing import Any

from aucstudio.engine.monitor import Stopped
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.project.results import comparison
from aucstudio.project.results.comparison import Comparison
from aucstudio.project.runs.experiments.experiment import Band
from aucstudio.project.work.workers import Workers


@dataclasses.dataclass(frozen=True, eq=False)
class ShownComparison:
    """A comparison with the runs it is of; the best one of the chosen measure first."""

    looks: list[ShownRun]
    found: Comparison
    band: Band

    def corrected(self, correction: str) -> ShownComparison:
        """Return the same with p-values corrected otherwise."""
        pairs = comparison.corrected(self.found.pairs, correction)
        return dataclasses.replace(self, found=dataclasses.replace(self.found, pairs=pairs))

    def places(self, session: Session) -> tuple[int | None, int | None]:
        """Find the session's chosen and compared run."""
        listed = [run.record.id for run in self.looks]
        chosen, compared = session.selected, session.compared
        return (
            listed.index(chosen) if chosen in listed else None,
            listed.index(compared) if compared in listed else None,
        )

    def pair(self, session: Session) -> int | None:
        """Find the pair of the session's two runs."""
        wanted = set(self.places(session))
        places = enumerate(self.found.places())
        return next((k for k, (i, j, _) in places if {i, j} == wanted), None)


def compare_checked(
    runs: list[ShownRun], band: Band, measure: str, post: Any, workers: Workers | None
) -> ShownComparison:
    """Compute the figures of all runs and test every pair; off the window's thread."""
    figures = {}
    for run in runs:
        figures[run.record.id] = comparison.run_figures(run.look.name, run.record, band)
        if post(0.0):
            raise Stopped("comparing")
    ranked = sorted(
        runs, key=lambda run: figures[run.record.id].measured(measure).value, reverse=True
    )
    named_runs = [(run.look.name, run.record) for run in ranked]
    pairs = comparison.compare_runs(named_runs, band, measure, post, workers)
    found = Comparison([figures[run.record.id] for run in ranked], pairs, measure)
    return ShownComparison(ranked, found, band)
