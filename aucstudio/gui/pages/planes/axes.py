"""What the axes of a plane are called, and what that means, for the tooltip."""

from __future__ import annotations

from aucstudio.gui.common.eliding import elided
from aucstudio.gui.pages.planes.marks import feature_words
from aucstudio.gui.pages.planes.subject import Subject
from aucstudio.project.geometry.planes import COMPONENTS, Plane

_LETTERS = 44


def axis_words(subject: Subject, plane: Plane, axis: int, of_pairs: bool) -> tuple[str, str]:
    """Name an axis (0 right, 1 up) of a plane of rows or of pairs, and explain the name."""
    if plane.features is not None:
        return _feature(subject, plane.features[axis], of_pairs)
    if plane.kind == COMPONENTS:
        return _component(axis + 1, of_pairs)
    return _spread(subject, plane) if axis else _along(subject, plane, of_pairs)


def _feature(subject: Subject, feature: int, of_pairs: bool) -> tuple[str, str]:
    name = feature_words(subject.preparation, feature)
    what = f"Positive minus negative: {name}." if of_pairs else f"{name}."
    unit = (
        "In standard deviations of the training rows."
        if feature < len(subject.preparation.numbers)
        else "1 where a row has this level, else 0."
    )
    short = elided(name, _LETTERS, len)
    return f"Δ {short}" if of_pairs else short, f"{what}\n{unit}"


def _component(number: int, of_pairs: bool) -> tuple[str, str]:
    most = "most" if number == 1 else "most across the first one"
    if of_pairs:
        title = f"z along principal direction {number} of Σ"
        return title, f"The direction in which the difference vectors vary {most}."
    return f"Principal component {number}", f"The direction in which the rows vary {most}."


def _along(subject: Subject, plane: Plane, of_pairs: bool) -> tuple[str, str]:
    if of_pairs:
        tip = "Right of 0 a pair is ranked rightly: its positive row scores higher."
        if not plane.is_straight:
            return "Score difference f(x⁺) − f(x⁻)", tip
        return _of_weights(subject, "z", "score difference", tip)
    if not plane.is_straight:
        return "Score (above 0: called positive)", "The score of each row, f(x)."
    return _of_weights(subject, "x", "score", "Along the weights: the further right, the higher.")


def _of_weights(subject: Subject, what: str, score: str, tip: str) -> tuple[str, str]:
    if subject.run is None:
        return f"{what} along the mean difference", "From the negatives' mean to the positives'."
    return f"{what} along w ({score})", tip


def _spread(subject: Subject, plane: Plane) -> tuple[str, str]:
    tip = "The direction of the largest spread among those that leave the score as it is."
    if plane.across is not None:
        return "Spread in kernel space", f"{tip}\nIn the space of the kernel."
    if len(subject.preparation.feature_names) == 1 and plane.is_straight:
        return "No other feature", "There is one feature: all rows stand on a line."
    if not plane.is_straight:
        return "Spread beside the score", (
            "The direction of the largest spread, without what goes along with the score."
        )
    if subject.run is None:
        return "Spread across the mean difference", "The direction of the largest spread across it."
    return "Spread across w", tip
