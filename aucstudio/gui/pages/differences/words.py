"""Texts of the difference vectors."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from aucstudio.gui.pages.differences.pairs import Band
from aucstudio.gui.pages.planes.subject import PlanePicture, Subject, left_out_words
from aucstudio.gui.state.runner import LiveRun
from aucstudio.project.geometry.differences import SUPPORT_DRAWN
from aucstudio.project.geometry.pair_order import Misranked, PairOrder
from aucstudio.project.geometry.planes import FEATURES, SCORE


def caption(picture: PlanePicture, exact: bool) -> str:
    """Explain the points and the sides of the line."""
    cloud = picture.extra.cloud
    point = "Each dot is one pair: a positive row minus a negative row."
    if cloud.rows is None:
        point = "Each point is one pair, a positive row minus a negative row; stronger: more pairs."
    if not exact:
        if picture.subject.weights is None:
            return point
        return f"{point} The arrow shows where the positive scores higher."
    side = "Right of the line" if picture.plane.kind == SCORE else "On the arrow's side of the line"
    return f"{point} {side} the positive scores higher: the pair is ranked correctly."


def verdict(picture: PlanePicture, band: Band, drawn: bool) -> Iterator[str]:
    """Yield the conclusion sentence by sentence.

    ``drawn`` is whether misranked pairs are drawn one by one.
    """
    subject, pairs = picture.subject, picture.extra
    rows = "held-out" if subject.held_out else "labelled" if subject.is_live else "training"
    if pairs.order is None or pairs.misranked is None:
        count = len(picture.sample.positive)
        yield f"{subject.name} is training: {pairs.cloud.pairs:,} pairs of {count:,} labelled rows."
    else:
        yield f"{subject.name}: {_ranking(pairs.misranked, rows, drawn)}"
        if pairs.misranked.count:
            yield f"This share is 1 − AUC = {_share(pairs.misranked.share)}."
        yield from _in_band(pairs.order, pairs.misranked, band)
        yield from _support(subject)
        yield left_out_words(subject, "hyperplane")
        if subject.weights is None and picture.plane.is_straight:
            yield "Its scorer is not linear, so there is no straight hyperplane."
        elif picture.plane.kind == FEATURES and _ranked_by_more(subject, pairs.misranked):
            yield "The ranking uses all features, not only these two."
    if not np.array_equal(pairs.frame, np.stack([pairs.cloud.low, pairs.cloud.high])):
        yield "Distant pairs lie outside the frame: zoom out."
    if picture.sample.gaps:
        yield (
            f"{picture.sample.gaps:,} missing values are drawn at the training "
            f"{subject.preparation.choice.fill}; the scores are the model's own."
        )


def _ranked_by_more(subject: Subject, found: Misranked) -> bool:
    return found.rows.size > 0 and len(subject.preparation.feature_names) > 2


def _ranking(found: Misranked, rows: str, drawn: bool) -> str:
    if not found.wrong and not found.tied:
        return f"none of {found.pairs:,} {rows} pairs is ranked wrongly (AUC 1.000)."
    sampled = ""
    if drawn and found.rows.shape[1] < found.wrong + found.tied:
        sampled = "; an even sample of them is drawn"
    return (
        f"{found.wrong:,} of {found.pairs:,} {rows} pairs are ranked wrongly"
        f"{_tied(found)}{sampled}."
    )


def _tied(found: Misranked) -> str:
    return f", {found.tied:,} are tied and count half" if found.tied else ""


def _share(share: float) -> str:
    return f"{share:.4f}" if share >= 1e-4 or not share else f"{share:.1e}".replace("-", "−")


def _in_band(order: PairOrder, found: Misranked, band: Band) -> Iterator[str]:
    """State the share of errors in the FPR range; empty for the full range."""
    if band == (0.0, 1.0) or not found.count:
        return
    inside = order.misranked(0, band)
    negatives = len(order.band(*band))
    share = 100 * inside.count / found.count
    percent = f"{share:.0f}" if share in (0.0, 100.0) else f"{min(max(share, 0.1), 99.9):.3g}"
    fall = "falls" if inside.count == 1 else "fall"
    which = "the negative" if negatives == 1 else f"the {negatives:,} negatives"
    yield (
        f"{_count(inside.count)} of these errors ({percent} %) {fall} on {which} in the FPR range "
        f"{band[0]:g} … {band[1]:g}: {100 * inside.share:.3g} % of the pairs there."
    )


def _count(count: float) -> str:
    return f"{count:,.0f}" if count.is_integer() else f"{count:,.1f}"


def _support(subject: Subject) -> Iterator[str]:
    if subject.split is None or subject.held_out:
        return
    count = subject.split.support_pairs.shape[1]
    if count:
        ringed = f"; the {SUPPORT_DRAWN} strongest are ringed" if count > SUPPORT_DRAWN else ""
        yield f"{count:,} support pairs carry the solution{ringed}."


def live_words(live: LiveRun | None, band: Band) -> str:
    """State how many held-out pairs the run in progress ranks wrongly at this moment."""
    if live is None or live.picture is None:
        return ""
    look = live.picture
    if look.positive.all() or not look.positive.any():
        return ""
    order = PairOrder.of(look.positive, look.scores)
    found, inside = order.misranked(0), order.misranked(0, band)
    return (
        f"{live.look.name} is training: {found.wrong:,} of {found.pairs:,} held-out pairs are "
        f"ranked wrongly so far{_tied(found)} (1 − AUC = {_share(found.share)}), "
        f"{_count(inside.count)} in the FPR range."
    )


def other_words(subject: Subject, live: LiveRun | None) -> str:
    """State that the picture is not of the run in progress."""
    name = "the run in progress" if live is None else live.look.name
    return f"The picture shows {subject.name}; {name} has no line in it."


def row_name(number: int) -> str:
    """Name a row of the table, counted from 1 without the header."""
    return f"row {number + 1:,}"


def score_words(value: float) -> str:
    """Write a score with four digits that count."""
    if not math.isfinite(value):
        return "–"
    return f"{value:.4g}".replace("-", "−")


def pair_words(picture: PlanePicture, positive: int, negative: int) -> str:
    """Name a pair with both scores and the margin, in three lines; places in the sample."""
    sample = picture.sample
    names = [row_name(int(sample.numbers[place])) for place in (positive, negative)]
    if sample.scores is None:
        return f"positive {names[0]}\nnegative {names[1]}"
    scores = sample.scores[[positive, negative]]
    lines = [
        f"{kind} {name}: score {score_words(float(score))}"
        for kind, name, score in zip(("positive", "negative"), names, scores, strict=True)
    ]
    return "\n".join([*lines, margin_words(float(scores[0] - scores[1]))])


def margin_words(margin: float) -> str:
    """Describe what a margin means for its pair."""
    how = (
        "ranked wrongly"
        if margin < 0
        else "tied, counts half"
        if not margin
        else "ranked correctly"
    )
    return f"margin {score_words(margin)}: {how}"
