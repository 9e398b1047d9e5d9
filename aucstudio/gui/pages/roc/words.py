"""Texts of the ROC page: values at the pointer, legend, conclusion."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from aucstudio.engine import inference
from aucstudio.engine.roc import cuts as cuts_of
from aucstudio.gui.common.curve_figures import (
    SCALES,
    area_words,
    chance_area,
    run_curves,
    vertex_words,
)
from aucstudio.gui.common.plain_text import Markup, joined, rich, shortened
from aucstudio.gui.common.sentence import Statement
from aucstudio.gui.pages.roc.lines import FACES, Drawn, Face
from aucstudio.gui.pages.roc.operating_point import FocusedPoint
from aucstudio.gui.state.session import ShownRun
from aucstudio.notices import text, texts
from aucstudio.notices.words import (
    figure_words,
    interval_words,
    p_words,
    p_words_corrected,
)
from aucstudio.project.results.comparison import PairComparison, compare_runs
from aucstudio.project.results.report import intervals_named
from aucstudio.project.results.summary import (
    LEVEL,
    WHOLE,
    auc_summary,
    pauc_summary,
    ranks_backwards,
    same_rows,
    standing,
    trained_elsewhere,
    trained_for,
)
from aucstudio.project.runs.experiment import Band
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.runs.tuning import PAUC

FEW_NEGATIVES = 20
_MOST_NAMES = 2


# ----------------------------------------------------------------- the conclusion


def face_sentence(face: Face, runs: list[ShownRun]) -> Statement:
    """State the best and the second run by the figure of a face, and chance level."""
    if not runs:
        return Statement()
    figures = {run: float(np.mean(_figures(face, run.record))) for run in runs}
    ranked = sorted(runs, key=lambda run: standing(run.record, face.better * figures[run]))[:2]
    shown = [figure_words(figures[run]) for run in ranked]
    share = positives_share(ranked[0].record)
    most = 1 / max(share, face.top)
    best = text(
        "best_in_face",
        state="one" if len(ranked) == 1 else "level" if shown[0] == shown[1] else "two",
        best=ranked[0].look.name,
        second=ranked[-1].look.name,
        highest="highest" if face.better > 0 else "lowest",
        figure=face.figure_words,
        value=shown[0],
        other=shown[-1],
        splits=any(len(run.record.splits) > 1 for run in ranked),
    )
    return Statement(
        best, text("chance_in_face", face=face.key, share=share, top=face.top, lift=most)
    )


def positives_share(record: RunRecord) -> float:
    """Return the share of positives among the held-out rows, over all splits."""
    return float(
        np.mean([np.average(s.test_positive, weights=s.test_weights) for s in record.splits])
    )


def roc_sentence(runs: list[ShownRun], band: Band) -> Statement:
    """State which run ranks best in the range, with its uncertainty."""
    if not runs:
        return Statement()
    ranked = sorted(runs, key=lambda run: standing(run.record, run_curves(run.record).area(band)))
    found = _one_run(ranked[0], band) if len(runs) == 1 else _best_two(ranked, band)
    reversed_runs = [
        text("run_with_auc", name=run.look.name, auc=auc_summary(run.record))
        for run in runs
        if ranks_backwards(auc_summary(run.record))
    ]
    wrong = text("ranks_in_reverse", runs=reversed_runs, count=len(reversed_runs))
    count = min(run_curves(run.record).negatives(band) for run in ranked[:2])
    weights = sorted({run.record.experiment.weight for run in runs} - {None}, key=str)
    several = any(len(run.record.splits) > 1 for run in ranked[:2])
    few = count < FEW_NEGATIVES
    return found.then(
        text("negatives_in_range", count=count, several=several, few=few),
        wrong if reversed_runs else "",
        text("weighted_by", names=weights) if weights else "",
        "" if band == WHOLE else text("chance_in_range", chance=chance_area(band)),
        *trained_words(runs, band),
    )


def compare(runs: list[ShownRun], band: Band) -> tuple[Statement, Markup]:
    """Return the comparison of the runs in a sentence, and their figures in a table."""
    return roc_sentence(runs, band), figure_table(FACES["roc"], runs, band)


def _one_run(run: ShownRun, band: Band) -> Statement:
    splits = len(run.record.splits)
    return Statement(
        text(
            "areas_of_run",
            name=run.look.name,
            auc=auc_summary(run.record),
            pauc=None if band == WHOLE else pauc_summary(run.record, band),
            band=band,
            splits=splits if splits > 1 else None,
        ),
        intervals_named([run.record], band),
    )


def _best_two(runs: list[ShownRun], band: Band) -> Statement:
    names = {"best": runs[0].look.name, "second": runs[1].look.name}
    where = text("in_range", band=None if band == WHOLE else band, whole=band == WHOLE)
    if not same_rows(runs[0].record, runs[1].record):
        a, b = (run_curves(run.record).area(band) for run in runs[:2])
        return Statement(text("lead_on_other_rows", where=where, a=a, b=b, **names))
    pair, sure = _compared(runs, band)
    code = "runs_are_level" if figure_words(pair.difference) == "0.000" else "run_leads"
    lead, significant = pair.difference, pair.significant
    found = text(code, where=where, lead=lead, significant=significant, **names)
    return Statement(" ".join((found, *texts(pair.notices))), sure)


def _compared(runs: list[ShownRun], band: Band) -> tuple[PairComparison, str]:
    """Return the comparison of the first run with the second, and its uncertainty in words.

    The two are the best of all that are shown, so p is corrected for all their pairs, as on the
    Compare page.
    """
    pairs = compare_runs([(run.look.name, run.record) for run in runs], band, PAUC)
    pair, tests = pairs[0], sum(not math.isnan(pair.p) for pair in pairs)
    splits = len(runs[0].record.splits) if len(runs[0].record.splits) > 1 else None
    if pair.reason:
        sure = text("lead_untested", splits=splits, one=splits is None, reason=pair.reason)
        return pair, sure
    known = p_words(pair.p)
    if tests > 1:
        known = f"{p_words_corrected(pair.p, pair.p_corrected, 'Holm')} ({tests} pairs)"
    bounds = (pair.low, pair.high) if np.isfinite(pair.low) else None
    sure = text("lead_tested", splits=splits, bounds=bounds, short=bounds is None, p=known)
    return pair, sure


def trained_words(runs: list[ShownRun], band: Band) -> list[str]:
    """List runs trained for another range than the one shown."""
    found = [run for run in runs if trained_elsewhere(run.record, band)]
    names = [
        text("was_trained_for", name=run.look.name, band=trained_for(run.record))
        for run in found[:_MOST_NAMES]
    ]
    more = len(found) - len(names) or None
    return [text("trained_for_others", runs=names, more=more)] if found else []


# ----------------------------------------------------------------- the pointer


def point_words(face: Face, drawn: Drawn, vertex: int) -> str:
    """Describe a point of a line."""
    shape = drawn.shape
    words = known = vertex_words(shape.trace, vertex)
    if face.key != "roc" and not (face.key == "precision" and shape.counted):
        words = text(
            "point_of_curve",
            x_title=face.x_title.lower(),
            y_title=face.y_title.lower(),
            x=float(shape.points[0][vertex]),
            y=float(shape.points[1][vertex]),
            spread=None if shape.spread is None else float(shape.spread[vertex]),
            splits=shape.trace.splits,
            mean=shape.spread is not None,
            known=known if shape.spread is None and shape.counted else "",
        )
    return f"{shortened(drawn.run.look.name)}   {words}"


def operating_words(point: FocusedPoint) -> str:
    """Describe the operating point."""
    split = run_curves(point.run.record).every[point.split]
    words = vertex_words(split, point.vertex, point.threshold)
    return f"{shortened(point.run.look.name)}   {words}"


def range_words(run: ShownRun | None, band: Band, scale: str) -> str:
    """Describe an FPR range, and the partial area of a run in it."""
    words = text("fpr_range", band=band)
    if run is None:
        return words
    known = run_curves(run.record)
    area = f"{SCALES[scale]} {area_words(known.area(band, scale), scale)}"
    least = min(known.areas(band), key=lambda area: area.negatives)
    count = f"{least.negatives:,} of {least.of_negatives:,} negatives"
    return f"{shortened(run.look.name)}   {words}   {area}   {count}"


# ----------------------------------------------------------------- the figures


def _figures(face: Face, record: RunRecord) -> list[float]:
    """Return the number of a face in each split."""
    return [face.figure(curve) for curve in run_curves(record).curves]


def figure_cells(face: Face, run: ShownRun) -> list[str]:
    """Write the figure of a picture and its 95 % interval, if any."""
    record = run.record
    if face.key == "roc":
        auc = auc_summary(record)
        return [figure_words(auc.value), interval_words(auc.low, auc.high)]
    values = _figures(face, record)
    if len(values) < 2:
        return [figure_words(values[0]), ""]
    top = np.inf if face.key == "lift" else 1.0
    once, share = record.experiment.validation.disjoint, record.test_fraction
    found = inference.splits_interval(values, LEVEL, share, bounds=(0.0, top), disjoint=once)
    return [figure_words(found.value), interval_words(found.low, found.high)]


def figure_table(face: Face, runs: Sequence[ShownRun], band: Band) -> Markup:
    """Write the figures of the runs, and partial areas on every scale with their limits."""
    if not runs:
        return joined("", ())
    heads = ["", face.figure_title, "95 %"]
    rows = [[shortened(run.look.name), *figure_cells(face, run)] for run in runs]
    title = face.title
    if face.key == "roc":
        heads += [f"pAUC, {scale}" for scale in ("raw", "normalised", "McClish")] + ["negatives"]
        rows = [cells + _area_cells(run, band) for cells, run in zip(rows, runs, strict=True)]
        limits = run_curves(runs[0].record).areas(band)[0]
        chance, best = limits.chance, limits.maximum
        ratio = f"{chance / best:.3f}"
        rows.append(["chance", "0.500", "", area_words(chance, "raw"), ratio, "0.500", ""])
        rows.append(["perfect", "1.000", "", area_words(best, "raw"), "1.000", "1.000", ""])
        title = f"ROC, {text('fpr_range', band=band)}"
    lines = [_html_row(cells) for cells in (heads, *rows)]
    return rich("<b>{}</b><table cellspacing=6>{}</table>", title, joined("", lines))


def _area_cells(run: ShownRun, band: Band) -> list[str]:
    known = run_curves(run.record)
    raw, normal, standard = (known.area(band, s) for s in ("raw", "normalized", "mcclish"))
    deciding = f"{known.negatives(band):,}"
    figures = area_words(raw, "raw"), figure_words(normal), figure_words(standard)
    return [*figures, deciding]


def _html_row(cells: Sequence[str]) -> Markup:
    name, *numbers = cells
    cut = joined("", (rich("<td align=right>{}</td>", number) for number in numbers))
    return rich("<tr><td>{}</td>{}</tr>", name, cut)


def line_columns(face: Face, lines: Sequence[Drawn]) -> dict[str, list[object]]:
    """Return the points of the lines in long form; split 0 is the average."""
    across, up = face.names
    columns: dict[str, list[object]] = {
        name: [] for name in ("run", "split", across, up, "threshold")
    }
    for drawn in lines:
        shape, curve = drawn.shape, drawn.shape.trace.curve
        x, y = shape.points
        averaged = shape.spread is not None and shape.trace.splits > 1
        cuts = (
            cuts_of(curve)
            if curve is not None
            and len(x) == len(curve.thresholds)
            and (shape.counted or face.key == "roc")
            else np.full(len(x), np.nan)
        )
        columns["run"] += [drawn.run.look.name] * len(x)
        columns["split"] += [0 if averaged else shape.trace.split + 1] * len(x)
        columns[across] += x.tolist()
        columns[up] += y.tolist()
        columns["threshold"] += np.asarray(cuts, dtype=np.float64).tolist()
    return columns
