"""Texts of the feature space."""

from __future__ import annotations

from aucstudio.gui.pages.features.rows import Mistakes
from aucstudio.gui.pages.planes.subject import PlanePicture
from aucstudio.project.geometry.planes import SCORE, Sample
from aucstudio.project.runs.experiments.experiment import Band


def caption(picture: PlanePicture, drawn: int) -> str:
    """Explain the points, the regions and the lines of the runs."""
    rows = len(picture.sample.positive)
    text = "Each point is one row of the table."
    if any(picture.extra.regions):
        text = (
            "Half of the rows of each class lie within its inner line, 90 % within the outer one."
        )
        if drawn:
            text += f" {drawn:,} of {rows:,} rows are drawn as points."
    if picture.subject.run is None:
        return text
    return f"{text} Each run predicts positive beyond its own line."


def verdict(
    name: str, sample: Sample, found: Mistakes, held_out: bool, own: bool
) -> tuple[str, str]:
    """Count the rows on the wrong side of the threshold; ``own`` if it is that of the model."""
    rows, wrong = "held-out" if held_out else "training", found.wrong
    threshold = f"{'its' if own else 'this'} threshold"
    missed, m = int(wrong[sample.positive].sum()), int(sample.positive.sum())
    false, n = int(wrong[~sample.positive].sum()), int((~sample.positive).sum())
    if not missed + false:
        return f"{name} puts none of {m + n:,} {rows} rows on the wrong side of {threshold}.", ""
    alarms = "a false alarm" if false == 1 else "false alarms"
    return (
        f"{name} puts {missed + false:,} of {m + n:,} {rows} rows "
        f"({100 * (missed + false) / (m + n):.1f} %) on the wrong side.",
        f"At {threshold} {missed:,} of {m:,} positives are missed, {false:,} of {n:,} negatives "
        f"are {alarms}.",
    )


def lost_words(found: Mistakes, band: Band) -> str:
    """Count the positives below the FPR range; empty if there are none."""
    lost = int(found.lost.sum())
    if not lost:
        return ""
    return (
        f"{lost:,} positive{'' if lost == 1 else 's'} below all negatives of the FPR range "
        f"{band[0]:g} … {band[1]:g} add{'s' if lost == 1 else ''} nothing to its area."
    )


def held_words(picture: PlanePicture, curved: bool) -> str:
    """State what a boundary in the plane ignores; empty if it is exact."""
    plane, features = picture.plane, len(picture.subject.preparation.feature_names)
    if not plane.is_straight:
        return ""
    if features <= 2:
        return "There are no other features, so the boundaries are exact."
    if plane.kind == SCORE and not curved:
        return ""
    what = "Lines" if not curved else "Boundaries"
    return f"{what}: all other features at their means."


def remarks(picture: PlanePicture, drawn: int) -> list[str]:
    """State what the picture omits or imputes."""
    sample, outside, words = picture.sample, picture.extra.outside, []
    if sample.gaps:
        words.append(
            f"{_counted(sample.gaps, 'missing value')} drawn at the training "
            f"{picture.subject.preparation.choice.fill}."
        )
    if outside:
        words.append(f"{_counted(outside, 'distant row')} outside the frame: zoom out.")
    if 0 < drawn < len(sample.positive):
        words.append(f"{drawn:,} of {len(sample.positive):,} rows are drawn as points.")
    return words


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
