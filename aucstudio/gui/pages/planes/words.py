"""Texts of the plane pages: axes, captions and conclusions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from aucstudio.gui.common.plain_text import elided
from aucstudio.gui.pages.planes.subject import PlanePicture, Subject
from aucstudio.gui.state.runner import LiveRun
from aucstudio.notices import text
from aucstudio.notices.words import score_words
from aucstudio.project.explain.contributions import PairDetail
from aucstudio.project.geometry.pairs import SUPPORT_DRAWN, PairOrder
from aucstudio.project.geometry.planes import COMPONENTS, FEATURES, SCORE, Plane, Sample
from aucstudio.project.runs.experiment import Band

_TITLE_LETTERS = 44


def axis_words(subject: Subject, plane: Plane, axis: int, of_pairs: bool) -> tuple[str, str]:
    """Name an axis (0 right, 1 up) of a plane of rows or of pairs, and explain the name."""
    prepared, is_live = subject.preparation, subject.run is None
    unit, units = prepared.choice.unit, prepared.choice.in_units
    if plane.features is not None:
        feature = plane.features[axis]
        number = feature < len(prepared.numbers)
        name = f"{prepared.feature_names[feature]} ({unit if number else '0 or 1'})"
        short, units = elided(name, _TITLE_LETTERS, len), units[:1].upper() + units[1:]
        tip = text("axis_feature_tip", name=name, pairs=of_pairs, units=units, number=number)
        return text("axis_feature", short=short, pairs=of_pairs), tip
    if plane.kind == COMPONENTS:
        title = text("axis_component", number=axis + 1, pairs=of_pairs, unit=unit)
        return title, text("axis_component_tip", pairs=of_pairs, first=axis == 0)
    straight = plane.is_straight
    if axis == 0 and straight and is_live:
        return text("axis_means", unit=unit), text("axis_means_tip")
    if axis == 0:
        kind = "pairs" if of_pairs else "straight" if straight else "curved"
        title = text("axis_score", pairs=of_pairs, unit=unit if straight else "")
        return title, text("axis_score_tip", kind=kind, units=units if straight else "")
    kind = "live" if is_live else "linear"
    if plane.across is not None:
        kind = "kernel"
    elif not straight:
        kind = "curved"
    elif len(prepared.feature_names) == 1:
        kind = "none"
    return text("axis_spread", kind=kind, unit=unit), text("axis_spread_tip", kind=kind)


def row_name(number: int) -> str:
    """Name a row of the table, counted from 1 without the header."""
    return f"row {number + 1:,}"


def left_out_words(subject: Subject, what: str) -> str:
    """State that the scores come from other fits than the one drawn; else return ""."""
    run = subject.run
    if run is None or run.record.experiment.validation.scheme != "leave-pair-out":
        return ""
    return text("scores_of_other_fits", what=what) if subject.held_out else ""


# ----------------------------------------------------------------- pairs


def pair_caption(picture: PlanePicture, exact: bool) -> str:
    """Explain the points and the sides of the line."""
    side = "right" if picture.plane.kind == SCORE else "line"
    if not exact:
        side = "none" if picture.subject.weights is None else "arrow"
    dots, live = picture.extra.cloud.rows is not None, picture.subject.run is None
    return text("pair_caption", dots=dots, live=live, side=side)


def pair_verdict(picture: PlanePicture, band: Band, drawn: bool) -> Iterator[str]:
    """Yield the conclusion sentence by sentence.

    ``drawn`` is whether misranked pairs are drawn one by one.
    """
    subject, pairs, name = picture.subject, picture.extra, picture.subject.name
    found = pairs.misranked
    if pairs.order is None or found is None:
        count = len(picture.sample.positive)
        yield text("pairs_in_training", name=name, pairs=pairs.cloud.pairs, rows=count)
    else:
        rows = rows_of(subject)
        sampled = drawn and found.rows.shape[1] < found.wrong + found.tied
        all_right = not found.wrong and not found.tied
        code = "no_pair_misranked" if all_right else "pairs_misranked"
        values = {} if all_right else {"tied": found.tied or None, "sampled": sampled}
        yield text(code, name=name, found=found, rows=rows, **values)
        if found.count:
            yield text("share_is_area", share=_share(found.share), weighted=is_weighted(subject))
        if band != (0.0, 1.0) and found.count:
            yield _errors_in_band(pairs.order, found.count, band)
        support = 0 if subject.split is None else subject.split.support_pairs.shape[1]
        if support and not subject.held_out:
            ringed = SUPPORT_DRAWN if support > SUPPORT_DRAWN else None
            yield text("support_pairs", count=support, ringed=ringed)
        yield left_out_words(subject, "hyperplane")
        more = found.rows.size > 0 and len(subject.preparation.feature_names) > 2
        if subject.weights is None and picture.plane.is_straight:
            yield text("no_hyperplane")
        elif picture.plane.kind == FEATURES and more:
            yield text("ranking_uses_all")
    if not np.array_equal(pairs.frame, np.stack([pairs.cloud.low, pairs.cloud.high])):
        yield text("distant_pairs")
    if picture.sample.gaps:
        fill = subject.preparation.choice.fill
        yield text("missing_drawn_for_pairs", count=picture.sample.gaps, fill=fill)


def _share(share: float) -> str:
    return f"{share:.4f}" if share >= 1e-4 or not share else score_words(share, ".1e")


def _errors_in_band(order: PairOrder, errors: float, band: Band) -> str:
    """State the share of errors in the FPR range."""
    inside, negatives = order.misranked(0, band), len(order.band(*band))
    return text(
        "errors_in_range",
        count=_count(inside.count),
        number=inside.count,
        part=part_words(inside.count / errors),
        one=negatives == 1,
        negatives=negatives,
        band=band,
        share=inside.share,
    )


def part_words(share: float) -> str:
    """Write a share in per cent; only 0 and 1 are written as 0 % and 100 %."""
    shown = share if share in (0.0, 1.0) else min(max(share, 0.001), 0.999)
    return f"{100 * shown:.3g} %"


def _count(count: float) -> str:
    return f"{count:,.0f}" if count.is_integer() else f"{count:,.1f}"


def live_pair_words(live: LiveRun | None, band: Band) -> str:
    """State how many held-out pairs the run in progress ranks wrongly at this moment."""
    look = None if live is None else live.picture
    if live is None or look is None or look.positive.all() or not look.positive.any():
        return ""
    order = PairOrder.of(look.positive, look.scores)
    found, inside = order.misranked(0), _count(order.misranked(0, band).count)
    share, tied, name = _share(found.share), found.tied or None, live.look.name
    split = f"{live.split + 1} of {live.splits}" if live.splits > 1 else None
    values = {"name": name, "split": split, "share": share, "inside": inside}
    return text("pairs_misranked_so_far", found=found, tied=tied, **values)


def rows_of(subject: Subject) -> str:
    """Name the rows that a picture has."""
    return "held-out" if subject.held_out else "labelled" if subject.is_live else "training"


def is_weighted(subject: Subject) -> bool:
    """Return whether the figures of the run weight its rows; those of a picture never do."""
    return subject.run is not None and subject.run.record.experiment.weight is not None


def pair_words(picture: PlanePicture, positive: int, negative: int) -> str:
    """Name a pair with both scores and the margin, in three lines; places in the sample."""
    sample = picture.sample
    kinds = {"positive": positive, "negative": negative}
    lines = [f"{kind} {row_name(int(sample.numbers[at]))}" for kind, at in kinds.items()]
    if sample.scores is None:
        return "\n".join(lines)
    scores = [float(sample.scores[at]) for at in kinds.values()]
    known = [f"{line}: score {score_words(one)}" for line, one in zip(lines, scores, strict=True)]
    return "\n".join([*known, margin_words(scores[0] - scores[1])])


def margin_words(margin: float) -> str:
    """Describe what a margin means for its pair."""
    side = "wrong" if margin < 0 else "right" if margin else "tied"
    return text("margin_of_pair", margin=score_words(margin), side=side)


def reasons(detail: PairDetail) -> str:
    """State the margin of the pair, and the columns that contribute most."""
    side = -1.0 if detail.margin < 0 else 1.0
    against = [part for part in detail.parts if part.contribution * side > 0][:3]
    names = [f"{part.column} ({score_words(part.contribution, '+.2g')})" for part in against]
    together = abs(detail.interplay) > 0.005 * max(abs(detail.margin), 1e-12)
    return text(
        "reasons_of_pair",
        margin=margin_words(detail.margin).capitalize(),
        names=names,
        interplay=score_words(detail.interplay, "+.2g") if together else "",
    )


# ----------------------------------------------------------------- rows


def row_caption(picture: PlanePicture, drawn: int) -> str:
    """Explain the points, the regions and the lines of the runs."""
    regions = any(picture.extra.regions)
    return text(
        "row_caption",
        regions=regions,
        live=picture.subject.run is None,
        drawn=drawn if regions and drawn else None,
        rows=len(picture.sample.positive),
        lines=picture.subject.run is not None,
    )


def row_verdict(
    name: str, sample: Sample, wrong: np.ndarray, held_out: bool, own: bool
) -> tuple[str, str]:
    """Count the rows on the wrong side of the threshold; ``own`` if it is that of the model."""
    positive, rows = sample.positive, len(sample.positive)
    values = {"name": name, "rows": rows, "held_out": held_out}
    missed, alarms = int(wrong[positive].sum()), int(wrong[~positive].sum())
    if not missed + alarms:
        return text("no_row_misplaced", **values, own=own), ""
    counted = {"missed": missed, "positives": int(positive.sum()), "alarms": alarms}
    share = f"{100 * (missed + alarms) / rows:.1f}"
    head = text("rows_misplaced", **values, wrong=missed + alarms, share=share)
    return head, text("misplaced_by_class", own=own, negatives=int((~positive).sum()), **counted)


def held_words(picture: PlanePicture, curved: bool) -> str:
    """State what a boundary in the plane ignores; empty if it is exact."""
    plane, features = picture.plane, len(picture.subject.preparation.feature_names)
    if not plane.is_straight:
        return ""
    if features <= 2:
        return text("boundaries_exact")
    return "" if plane.kind == SCORE and not curved else text("others_at_means", curved=curved)


def remarks(picture: PlanePicture, drawn: int) -> list[str]:
    """State what the picture omits or imputes."""
    sample, outside, found = picture.sample, picture.extra.outside, []
    if sample.gaps:
        fill = picture.subject.preparation.choice.fill
        found.append(text("missing_drawn", count=sample.gaps, fill=fill))
    if outside:
        found.append(text("distant_rows", count=outside))
    if 0 < drawn < len(sample.positive):
        found.append(text("rows_drawn", drawn=drawn, rows=len(sample.positive)))
    return found
