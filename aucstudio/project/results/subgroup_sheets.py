"""Subgroup results as text."""

from __future__ import annotations

import math
from collections.abc import Sequence

from aucstudio.engine import inference
from aucstudio.project.results.subgroups import Subgroups
from aucstudio.project.results.threshold_choice import Rate
from aucstudio.project.runs.experiments.experiment import Band
from aucstudio.project.words import interval_words, p_words, range_words


def as_markdown(found: Sequence[tuple[str, Subgroups]], band: Band) -> str:
    """Write a table for each run, and under it what the tests say."""
    return "\n\n".join(f"## {name}, by {of.column}\n\n{_sheet(of, band)}" for name, of in found)


def _sheet(found: Subgroups, band: Band) -> str:
    heads = [found.column, "positives", "negatives", "AUC", f"pAUC in FPR {range_words(band)}"]
    heads += [f"threshold for FPR {band[1]:g}", "TPR", "FPR"]
    rows = [
        [
            " ".join(group.level.split()).replace("|", "\\|"),
            str(group.positives),
            str(group.negatives),
            *(_area_words(area) for area in (group.auc, group.pauc)),
            "–" if math.isnan(group.threshold) else f"{group.threshold:.4g}",
            *(_rate_words(rate) for rate in (group.tpr, group.fpr)),
        ]
        for group in found.groups
    ]
    lines = [heads, ["---"] * len(heads), *rows]
    written = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    at = f"TPR and FPR at the threshold for FPR {band[1]:g} among all held-out negatives."
    auc = _verdict("AUC", found.p_auc, found.silent)
    tests = f"{auc} {_verdict('pAUC', found.p_pauc, found.silent_pauc)}"
    doubtful = [group.level for group in found.groups if group.notices]
    few = f" Estimated too high, with few negatives per split: pAUC of {', '.join(doubtful)}."
    return f"{written}\n\n{tests} {at}{few if doubtful else ''}"


def _rate_words(rate: Rate) -> str:
    """Write a rate with its interval."""
    if math.isnan(rate.value):
        return "–"
    return f"{rate.value:.3f} ({interval_words(*rate.bounds)})"


def _area_words(area: inference.Interval) -> str:
    """Write an area with its interval, or why there is none."""
    if math.isnan(area.value):
        return f"– ({area.reason})"
    bounds = area.reason or interval_words(area.low, area.high)
    return f"{area.value:.3f} ({bounds})"


def _verdict(what: str, p: float, silent: int) -> str:
    """Describe what the test of equality came to, and how many groups have too few rows for it."""
    if math.isnan(p):
        return f"{what}: too few rows to test whether the groups are equal."
    others = f" (without {silent} of too few rows)" if silent else ""
    return f"{what}: that all groups{others} are equal has {p_words(p)}."
