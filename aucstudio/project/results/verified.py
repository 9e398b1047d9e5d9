"""Result of a verification as table and text."""

from __future__ import annotations

from collections.abc import Iterator

from aucstudio.engine.verification.verified import Verified
from aucstudio.notices import text
from aucstudio.notices.words import aligned, power_words, range_words, titled
from aucstudio.project.runs.verification import Verification

HEADINGS = ("What", "This program", "Another route", "Difference")
Line = tuple[str, str, str, str]

_SAME = 1e-9  # of the objective: smaller differences are rounding


def verified_table(verification: Verification) -> list[Line]:
    """Return one line for each thing that was compared, in the order of :data:`HEADINGS`."""
    return list(_lines(verification.found))


def _lines(found: Verified) -> Iterator[Line]:
    if found.counted is not None:
        off = abs(found.counted - found.objective)
        counted = _number(found.counted)
        yield "Objective of this scorer, recomputed", _number(found.objective), counted, _size(off)
    if found.solved is not None and found.counted is not None and found.bound is not None:
        pair = _number(found.counted), _number(found.solved)
        yield "Objective, solved again", *pair, _size(found.counted - found.solved)
        ours = "none" if found.gap is None else _size(found.gap)
        theirs = _size(max(0.0, found.counted - found.bound))
        yield "Upper bound on the distance from the optimum", ours, theirs, ""
    if found.solution_difference is not None:
        yield "Training scores of the two solutions", "", "", _size(found.solution_difference)
    if found.repeated is not None:
        yield "Training scores of a repeated fit", "", "", _size(found.repeated)
    apart = found.score_difference
    size = "no number" if apart is None else _size(apart)
    yield "Stored scores and scores of the scorer", "", "", size
    for area in found.areas:
        whole = (area.alpha, area.beta) == (0.0, 1.0)
        name = "AUC" if whole else f"pAUC at FPR {range_words((area.alpha, area.beta))}"
        values = f"{area.computed:.9f}", f"{area.counted:.9f}"
        yield f"{name}, {area.rows} rows", *values, _size(area.difference)


def verification_sentence(verification: Verification) -> str:
    """State in one or two sentences what was proven."""
    found = verification.found
    if found.faults:
        return " ".join(found.faults)
    parts = [_optimum(found), *found.reasons]
    if not found.reasons or found.solved is not None:
        parts.append(text("verified_agree"))
    return " ".join(part for part in parts if part)


def _optimum(found: Verified) -> str:
    """Describe what is known of the optimum."""
    if found.solved is None or found.bound is None or found.counted is None:
        if found.repeated is None:
            return ""
        return text("verified_repeated", weighted=found.weighted, exactly=found.repeated == 0)
    size = max(abs(found.counted), 1e-300)
    off = (found.solved - found.counted) / size
    above = max(0.0, found.counted - found.bound)
    return text(
        "verified_solved",
        route=found.route,
        off="" if abs(off) <= _SAME else _share(abs(off)),
        higher=off > 0,
        near="" if above <= 1e-6 * size else _share(above / size),
        certified=found.gap is not None,
    )


def place_words(verification: Verification) -> str:
    """State which fit was verified, where a run has several, and how long it took."""
    of = verification.splits if verification.splits > 1 else None
    seconds = verification.found.seconds
    return text("verified_place", split=verification.split, of=of, seconds=seconds)


def as_text(verification: Verification, name: str) -> str:
    """Format a verification as text."""
    head = f"{titled(name, verification.run)}. {place_words(verification)}"
    table = aligned([HEADINGS, *verified_table(verification)])
    return "\n".join([head, "", *table, "", verification_sentence(verification)])


def _number(value: float) -> str:
    return f"{value:.10g}".replace("-", "−")


def _size(value: float) -> str:
    return "0" if value == 0 else power_words(value, 1)


def _share(share: float) -> str:
    """Write a part of the objective."""
    percent = 100 * share
    return f"{percent:.2g} %" if percent >= 1e-3 or not percent else f"{power_words(percent, 1)} %"
