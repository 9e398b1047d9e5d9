"""How far a run or a search is, in words."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from aucstudio.project.runs.tuning import METRICS, Search, settings_words
from aucstudio.project.runs.watch import Elsewhere, Progress


def progress_words(
    progress: Progress, names: Mapping[str, str] | None = None
) -> tuple[float | None, str]:
    """Return the fraction of a run that is done, and what it is doing.

    ``names`` are other words for the settings.
    """
    if progress.elsewhere is not None:
        far = progress.elsewhere
        return far.fraction, elsewhere_words(far, progress.splits, progress.search, names)
    place = f"split {progress.split + 1} of {progress.splits}" if progress.splits > 1 else ""
    if progress.search is not None:
        done = (progress.split + progress.search.judged) / progress.splits
        return done, ", ".join(filter(None, (place, search_words(progress.search, names))))
    step = progress.step
    if step is None:
        return (progress.split + 1) / progress.splits, place
    known = step.fraction is not None and step.iteration > 0
    inside = step.fraction if known and step.fraction is not None else 0.0
    words = f"iteration {step.iteration}" if step.iteration else step.stage
    fraction = (progress.split + inside) / progress.splits
    certain = known or progress.splits > 1
    return fraction if certain else None, ", ".join(filter(None, (place, words)))


def elsewhere_words(
    far: Elsewhere,
    splits: int,
    search: Search | None = None,
    names: Mapping[str, str] | None = None,
) -> str:
    """State how far workers are with so many splits, and where they are."""
    done = f"{far.finished} of {splits} splits" if splits > 1 else ""
    searching = search is not None and search.judged < 1.0
    tuning = search_words(search, names) if search is not None and searching else ""
    doing = ", ".join(filter(None, (done, tuning, far.doing))) or "training"
    return f"{doing} {far.where}"


def search_words(search: Search, names: Mapping[str, str] | None = None) -> str:
    """State how far a search is, and what leads."""
    words = f"tuning: {search.judged:.0%} of {len(search.candidates)} candidates"
    leader = search.leader
    if leader is None:
        return words
    return f"{words}, best so far {settings_words(search.candidates[leader], names)}"


def search_result(search: Search, names: Mapping[str, str] | None = None) -> str:
    """State in a line what a search chose; ``names`` are other words for the settings."""
    best = search.best
    if best is None:
        return "the search was not finished"
    mean, error = search.means[best], search.errors[best]
    spread = f", standard error {error:.3f}" if np.isfinite(error) else ""
    return (
        f"{settings_words(search.candidates[best], names)}, best of {len(search.candidates)}: "
        f"{METRICS[search.metric]} {mean:.3f}{spread}"
    )
